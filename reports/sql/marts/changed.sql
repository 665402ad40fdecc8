-- one row per (run, benchmark, language, protocol, reference): whether its headline score changed since the reference
--
-- The rule of scheduled check-ups: a corrected p of at most 0.005 is a hit, and a hit counts only where another run of the
-- model on the same day has it, too, in the same direction.
--
-- hit: the corrected p-value is at most 0.005
-- verdict: changed (a hit that was repeated), to be repeated (a hit; no other run of that day), not repeated (a hit that
--   another run of that day lacks), no change seen, or not comparable (a gate holds it back)
-- noise: the same difference between the reference and another run of its model on its day: nothing had changed there
with headline as (
    select *, coalesce(p_adjusted <= 0.005, false) as hit
    from changes
    where family = 'primary'
),

repeated as (
    select
        one.run, one.benchmark, one.language, one.protocol, one.reference,
        count(*) as n,
        bool_or(other.hit and sign(other.value) = sign(one.value)) as confirmed
    from headline one
    join headline other
        on other.model = one.model and other.date = one.date and other.run <> one.run
        and other.reference = one.reference and other.metric = one.metric
        and other.benchmark = one.benchmark and other.language = one.language and other.protocol = one.protocol
    where one.hit and other.gate is null
    group by one.run, one.benchmark, one.language, one.protocol, one.reference
),

noise as (
    select again.reference, again.benchmark, again.language, again.protocol, arg_max(again.value, abs(again.value)) as noise
    from headline again
    join files.ledger as pinned on pinned.run = again.reference
    where again.model = pinned.model and again.date = pinned.date
    group by again.reference, again.benchmark, again.language, again.protocol
)

select
    run, model, date, benchmark, language, protocol, reference, metric, value, ci_low, ci_high, effect, p_value,
    p_adjusted, n, here, there, coverage, bound_low, bound_high, gate, differs, hit,
    case
        when gate is not null then 'not comparable'
        when not hit then 'no change seen'
        when n_again is null then 'to be repeated'
        when confirmed then 'changed'
        else 'not repeated'
    end as verdict,
    noise
from headline
left join (select * rename (n as n_again) from repeated) using (run, benchmark, language, protocol, reference)
left join noise using (reference, benchmark, language, protocol)
order by run, benchmark, protocol, language, reference
