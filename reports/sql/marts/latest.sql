-- one row per (model, benchmark, language, protocol): its latest run that was scored, and the one before
-- Runs that read another are left out: what they say is about that run, see gaps and agreement.
-- previous_run: the scored run of the same model, benchmark, language and protocol before this one; null when none
-- number: which run of the model on that date, 1…N
-- state: open (still asked for what is missing) or sealed
with scored as (
    select distinct run, model, date, number, state, benchmark, language, protocol
    from scores
    join files.ledger using (run, model, date) -- not runs, which counts every answer
    where reads is null
)
select
    model, benchmark, language, protocol, run, date, number, state,
    lead(run) over newest as previous_run
from scored
window newest as (partition by model, benchmark, language, protocol order by date desc, number desc)
qualify row_number() over newest = 1
order by benchmark, protocol, language, model
