-- one row per (run) in which, or before which, what is served under the requested name changed
--
-- The run before is the last one of the same model and requested name that has replies; retired and imported ones are none.
--
-- change: mixed (several served models in the run), replaced (others than in the run before), fingerprint (one that the run
--   before, which had some, had not) or fingerprints (several in the run); the first of these that holds
-- served: the run's served models, the one with most replies first
-- n_served: how many replies each of them gave
-- run_before: the run before; null when none
-- served_before: its served models, the one with most replies first
-- n_fingerprints: different fingerprints in the run
-- drift: what changed, in one sentence
with every as materialized ( -- over all answers, which are to be read once
    select run, requested_model, served_model, fingerprint, n_answers from served
),
models as (
    select run, min(requested_model) as requested_model, served_model, sum(n_answers)::bigint as n
    from every
    group by run, served_model
),
prints as (
    select run, list(distinct fingerprint) filter (where fingerprint is not null) as fingerprints
    from every
    group by run
),
seen as (
    select
        run, min(requested_model) as requested_model,
        list(served_model order by n desc, served_model) as served,
        list(n order by n desc, served_model) as n_served,
        list(served_model || ' (' || n || ')' order by n desc, served_model) as counted
    from models
    group by run
),
beside as (
    select
        run, served, n_served, counted,
        coalesce(fingerprints, []) as fingerprints,
        lag(run) over earlier as run_before,
        lag(served) over earlier as served_before,
        coalesce(lag(fingerprints) over earlier, []) as fingerprints_before
    from seen
    join prints using (run)
    join files.ledger using (run)
    window earlier as (partition by model, requested_model order by date, number)
),
changed as (
    select
        * exclude (fingerprints, fingerprints_before), len(fingerprints) as n_fingerprints,
        case
            when len(served) > 1 then 'mixed'
            when list_sort(served) <> list_sort(served_before) then 'replaced'
            when len(fingerprints_before) > 0 and not list_has_all(fingerprints_before, fingerprints) then 'fingerprint'
            when len(fingerprints) > 1 then 'fingerprints'
        end as change
    from beside
)
select
    run, change, served, n_served, run_before, served_before, n_fingerprints,
    case change
        when 'mixed' then 'served by ' || array_to_string(counted[:-2], ', ') || ' and ' || counted[-1]
        when 'replaced' then
            'served by ' || served[1] || ', the run before (' || run_before || ') by '
            || if(len(served_before) > 1, array_to_string(served_before[:-2], ', ') || ' and ', '') || served_before[-1]
        when 'fingerprint' then 'fingerprint changed since ' || run_before
        when 'fingerprints' then 'fingerprint changed within the run: ' || n_fingerprints || ' of them'
    end as drift
from changed
where change is not null
order by run
