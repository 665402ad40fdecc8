-- one row per (run, benchmark, language, protocol, ending): how many questions ended so
-- ending: the outcome of the answer; not_asked where the run was closed before the question was asked
-- n: questions that ended so
select
    run, benchmark, language, protocol,
    if(reason is not distinct from 'not_asked', reason, outcome) as ending,
    count(*) as n
from judgements
group by all
order by run, benchmark, protocol, language, n desc, ending
