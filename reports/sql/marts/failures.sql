-- one row per (run, benchmark, language, protocol, failure): questions that got no reply, by kind
-- n: questions that ended so
-- n_expected: questions of this run, benchmark, language and protocol
-- example: the first message of this kind, in alphabetical order
select
    run, model, date, benchmark, language, protocol, failure,
    count(*) as n,
    cast(sum(count(*)) over (partition by run, benchmark, language, protocol) as bigint) as n_expected,
    min(failure_message) as example
from answers
group by run, model, date, benchmark, language, protocol, failure
qualify failure is not null
order by run, benchmark, protocol, language, failure
