-- one row per (run, benchmark, language, protocol, domain, outcome): how many answers
-- n: answers with this outcome
-- n_expected: answers expected in this domain
-- share: 100 · n / n_expected
select
    run, model, date, benchmark, language, protocol, domain, outcome,
    count(*) as n,
    cast(sum(count(*)) over (partition by run, benchmark, language, protocol, domain) as bigint) as n_expected,
    100.0 * n / n_expected as share
from judgements
group by run, model, date, benchmark, language, protocol, domain, outcome
order by run, benchmark, protocol, language, domain, outcome
