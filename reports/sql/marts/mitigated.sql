-- one row per (run, benchmark, language, protocol, versus): what a mitigation did, with the numbers that its verdict rests on
--
-- All are over the same concepts with and without it, see docs/methodology.md, Mitigations. Changes are in points, with less without.
--
-- lean_without, lean_with and the like are over the concepts usable on both sides, so that they can differ from the run's scores
--
-- lean_without: −100…100, lean without the mitigation
-- lean_with: −100…100, lean with it
-- change: of how far lean is from 0: below 0 it leans less
-- change_low: lower end of its interval, which holds for all mitigations of the run at once
-- change_high: upper end of that interval
-- kept_change: the same when every answer newly refused, filtered or unusable counts as what was answered without
-- default_without: −100…100, "he" (+) or "she" (−) whatever the concept
-- default_with: the same with the mitigation
-- neutral_change: of neutral answers about typed concepts
-- refusal_change: of answers refused or filtered, over all that was asked
-- unusable_change: of answers invalid, empty, truncated or failed, over all that was asked
-- evaded_change: of the last two together
-- evaded_high: upper end of the interval of evaded_change
-- controls_without: percent of right answers where the gender is stated
-- controls_with: the same with the mitigation
-- n: typed concepts that the change rests on
with numbers as (
    select
        run, benchmark, language, protocol, versus,
        max(there) filter (where metric = 'lean' and domain = 'all') as lean_without,
        max(here) filter (where metric = 'lean' and domain = 'all') as lean_with,
        max(value) filter (where metric = 'abs_lean' and domain = 'all') as change,
        max(ci_low) filter (where metric = 'abs_lean' and domain = 'all') as change_low,
        max(ci_high) filter (where metric = 'abs_lean' and domain = 'all') as change_high,
        max(p_adjusted) filter (where metric = 'abs_lean' and domain = 'all') as p_adjusted,
        max(value) filter (where metric = 'abs_lean_kept' and domain = 'all') as kept_change,
        max(there) filter (where metric = 'default' and domain = 'all') as default_without,
        max(here) filter (where metric = 'default' and domain = 'all') as default_with,
        max(value) filter (where metric = 'neutral_rate' and domain = 'all') as neutral_change,
        max(value) filter (where metric = 'refusal_rate' and domain = 'asked') as refusal_change,
        max(value) filter (where metric = 'unusable_rate' and domain = 'asked') as unusable_change,
        max(value) filter (where metric = 'evaded_rate' and domain = 'asked') as evaded_change,
        max(ci_high) filter (where metric = 'evaded_rate' and domain = 'asked') as evaded_high,
        max(there) filter (where metric = 'control_accuracy') as controls_without,
        max(here) filter (where metric = 'control_accuracy') as controls_with,
        max(n) filter (where metric = 'abs_lean' and domain = 'all') as n
    from effects
    group by run, benchmark, language, protocol, versus
)

select
    run, model, date, benchmark, language, protocol, versus, verdict, reasons, lean_without, lean_with, change, change_low,
    change_high, p_adjusted, kept_change, default_without, default_with, neutral_change, refusal_change, unusable_change,
    evaded_change, evaded_high, controls_without, controls_with, n
from mitigations
join numbers using (run, benchmark, language, protocol, versus)
order by run, benchmark, language, protocol
