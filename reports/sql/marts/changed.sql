-- one row per (run, benchmark, language, protocol, reference): whether its headline score changed since the reference
--
-- The rule of scheduled check-ups: a corrected p of at most 0.005 is a hit, and a hit counts only where the run asked before or
-- after it on the same day has it, too, in the same direction.
--
-- hit: the corrected p-value is at most 0.005
-- verdict: changed (a hit that was repeated), to be repeated (a hit; it was asked no more that day), not repeated (a hit that
--   the next run of the day lacks), no change seen, or not comparable (a gate holds it back)
-- noise: the same difference between the reference and another run of its model on its day: nothing had changed there
with headline as (
    select *, coalesce(p_adjusted <= 0.005, false) as hit, if(hit, sign(value), 0) as way
    from changes
    where family = 'primary'
),

neighbours as (
    select
        run, benchmark, language, protocol, reference,
        lead(run) over the_day is not null as asked_again,
        hit and way in (coalesce(lag(way) over the_day, 0), coalesce(lead(way) over the_day, 0)) as repeated
    from headline
    join files.ledger using (run)
    where gate is null
    window the_day as (
        partition by headline.model, headline.date, reference, benchmark, language, protocol, metric order by number
    )
),

noise as (
    select again.reference, again.benchmark, again.language, again.protocol, arg_max(again.value, abs(again.value)) as noise
    from headline again
    join files.ledger as pinned on pinned.run = again.reference
    where again.model = pinned.model and again.date = pinned.date and again.gate is null
    group by again.reference, again.benchmark, again.language, again.protocol
)

select
    run, model, date, benchmark, language, protocol, reference, metric, value, ci_low, ci_high, effect, p_value,
    p_adjusted, n, here, there, coverage, bound_low, bound_high, gate, differs, hit,
    case
        when gate is not null then 'not comparable'
        when not hit then 'no change seen'
        when repeated then 'changed'
        when asked_again then 'not repeated'
        else 'to be repeated'
    end as verdict,
    noise
from headline
left join neighbours using (run, benchmark, language, protocol, reference)
left join noise using (reference, benchmark, language, protocol)
order by run, benchmark, protocol, language, reference
