-- one row per (benchmark, language, metric, source, model, protocols): a published figure, or one measured here beside it
--
-- Only benchmarks, languages and metrics with figures of both kinds. What is asked otherwise is another quantity, so a
-- published figure is held against scores of its own protocol alone, and against none where that is not known.
-- traditional_bias_vote is measured as it is published:
-- votes of the direct style of protocol two (typed concepts) and of the pairs of protocol closed, taken together, of the
-- newest run of a model that was asked by both in this language, else by one; its interval is Wilson's over votes, from five
-- on. Other metrics are the latest scores.
--
-- measured: whether it was measured here; else somebody else published it
-- source: who published it; of a measured figure its run
-- protocols: what the votes or the score are taken from, in alphabetical order; null of published votes
-- n: valid votes, or the score's n; null where published
with asked as (
    select run, model, benchmark, language, date, count(distinct protocol) as n_protocols
    from votes
    where protocol in ('two', 'closed')
    group by run, model, benchmark, language, date
),

newest as (
    select asked.run, asked.benchmark, asked.language
    from asked
    join files.ledger using (run) -- not runs, which counts every answer
    qualify
        row_number() over (
            partition by asked.model, asked.benchmark, asked.language
            order by n_protocols desc, asked.date desc, number desc
        ) = 1
),

measured_votes as (
    select
        run, model, date, benchmark, language,
        array_to_string(list_sort(list(distinct protocol)), ' ') as protocols,
        count(*) as n,
        count(*) filter (where vote = 'stereotype') / n as share
    from votes
    semi join newest using (run, benchmark, language)
    where
        vote not in ('split', 'paired', 'invalid', 'empty', 'truncated', 'error', 'judge-invalid')
        and (
            protocol = 'closed'
            or protocol = 'two' and style = 'direct'
            and domain not in ('control', 'untyped') and typed in ('male', 'female')
        )
    group by run, model, date, benchmark, language
),

wilson as (
    select
        *,
        1.959963984540054 as z,
        (share + z ** 2 / (2 * n)) / (1 + z ** 2 / n) as middle,
        z * sqrt(share * (1 - share) / n + z ** 2 / (4 * n ** 2)) / (1 + z ** 2 / n) as half
    from measured_votes
),

measured as (
    select
        benchmark, language, 'traditional_bias_vote' as metric, run, model, protocols,
        round(100 * share, 9) as value,
        case when n >= 5 then round(100 * (middle - half), 9) end as ci_low,
        case when n >= 5 then round(100 * (middle + half), 9) end as ci_high,
        n, date
    from wilson
    union all by name
    select
        s.benchmark, s.language, s.metric, s.run, s.model, s.protocol as protocols, s.value, s.ci_low, s.ci_high, s.n,
        s.date
    from scores as s
    semi join latest using (run, model, benchmark, language, protocol)
    where
        s.metric <> 'traditional_bias_vote' and s.value is not null
        and s.served_model = 'all' and s.domain = 'all' and s.style = 'all' and s.typed = 'all' and s.status = 'all'
),

figures as (
    select
        benchmark, language, metric, true as measured, run as source, model, protocols, value, ci_low, ci_high, n, date,
        null as note
    from measured
    union all by name
    select benchmark, language, metric, false as measured, source, model, protocol as protocols, value, date, note
    from published
)

select *
from figures
qualify
    count(distinct measured) over (
        partition by benchmark, language, metric, if(metric = 'traditional_bias_vote', '', protocols)
    ) = 2
order by benchmark, language, metric, measured desc, source, model, protocols
