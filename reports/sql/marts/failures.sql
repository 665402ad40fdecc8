-- one row per (run, benchmark, language, protocol, failure): questions that got no reply, by kind
-- n: questions that ended so
-- n_expected: questions of this run, benchmark, language and protocol
-- example: the first message of this kind, in alphabetical order
select
    run, model, date, benchmark, language, protocol, failure,
    count(*) as n,
    any_value(n_expected) as n_expected,
    min(failure_message) as example
from answers
join (
    select run, benchmark, language, protocol, count(*) as n_expected
    from answers
    group by run, benchmark, language, protocol
) using (run, benchmark, language, protocol)
where failure is not null
group by run, model, date, benchmark, language, protocol, failure
order by run, benchmark, protocol, language, failure
