-- one row per (run, language, protocol, domain): what became of one question of the rubric where a run reads another's texts
-- reads: the run that wrote the texts
-- reader: judge model, or person
-- n_verdicts: verdicts that were to be given
-- judge_invalid_rate: percent of them that could not be read as one of the answers, or were cut off
-- coverage: percent of them that can be used, refusals among them
-- order_pull: −100…100, verdicts for the first-named answer less those for the last-named, of those with a code
-- order_pull_low: lower end of its 95 % interval
-- order_pull_high: upper end of its 95 % interval
select
    s.run, s.model, s.date, l.reads,
    if(starts_with(s.model, 'person-'), 'person', 'judge model') as reader,
    s.language, s.protocol, s.domain,
    any_value(s.n) filter (where metric = 'coverage') as n_verdicts,
    any_value(value) filter (where metric = 'judge_invalid_rate') as judge_invalid_rate,
    any_value(value) filter (where metric = 'coverage') as coverage,
    any_value(value) filter (where metric = 'order_pull') as order_pull,
    any_value(ci_low) filter (where metric = 'order_pull') as order_pull_low,
    any_value(ci_high) filter (where metric = 'order_pull') as order_pull_high
from scores as s
join files.ledger as l using (run)
where
    l.reads is not null and not l.retired
    and served_model = 'all' and style = 'all' and typed = 'all' and status = 'all'
group by s.run, s.model, s.date, l.reads, s.language, s.protocol, s.domain
order by l.reads, s.language, reader, s.run, s.domain
