-- one row per (run, benchmark, language, protocol, outcome, reason, reply): replies that could not be read as an answer
-- n: answers with this reply
-- item_id: the first item that got it
select
    run, model, date, benchmark, language, protocol, outcome, reason, reply,
    count(*) as n,
    min(item_id) as item_id
from judgements
where outcome in ('invalid', 'empty', 'truncated', 'judge-invalid')
group by run, model, date, benchmark, language, protocol, outcome, reason, reply
order by run, benchmark, protocol, language, n desc, outcome, reason, reply
