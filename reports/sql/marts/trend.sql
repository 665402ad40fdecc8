-- one row per (run, benchmark, language, protocol, metric): a main score of every scored run, and what moved since the run before
--
-- Over all groups, styles and concepts; control_accuracy over the controls. The run before is the last scored one of the same
-- model, benchmark, language and protocol. A difference alone is no finding: the intervals overlap where nothing changed.
--
-- number: which run of the model on that date, 1…N
-- run_before: the scored run before; null when none
-- value_before: its score
-- difference: value − value_before
with main as (
    select run, model, date, number, benchmark, language, protocol, metric, value, ci_low, ci_high, n
    from scores
    join files.ledger using (run, model, date) -- not runs, which counts every answer
    where
        served_model = 'all' and style = 'all' and typed = 'all' and status = 'all'
        and domain = if(metric in ('control_accuracy', 'control_auc'), 'control', 'all')
        and metric in (
            'lean', 'pair_lean', 'default', 'committed', 'strength', 'order_pull', 'control_accuracy', 'refusal_rate',
            'invalid_rate', 'coverage', 'ss_macro', 'lms_macro', 'icat_macro'
        )
)
select
    run, model, date, number, benchmark, language, protocol, metric, value, ci_low, ci_high, n,
    lag(run) over earlier as run_before,
    lag(value) over earlier as value_before,
    value - value_before as difference
from main
window earlier as (partition by model, benchmark, language, protocol, metric order by date, number)
order by model, benchmark, protocol, language, metric, date, number
