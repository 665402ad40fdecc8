-- one row per (run, benchmark, language, protocol): what exactly was asked, of what, and how
-- n_items: items that the run asks for
-- n_answers: questions asked, all epochs; without those that the run was closed before
-- items_hash: SHA-256 over the hashes of all items asked, sorted by item
-- protocol_hashes: hashes of how it was asked; one, unless the run was asked in two ways
-- requested_models: the model names that were asked for
-- served_models: the model names that the provider says it served
-- fingerprints: the provider's fingerprints of what it served
-- params_sent: sampling parameters sent, without the seed of each answer
-- access_routes: api, web, local or imported
-- collectors: who or what collected the answers
-- first_asked: UTC time of the first answer
-- last_asked: UTC time of the last answer
with items as (
    select run, benchmark, language, protocol, item_id, variant, min(item_hash) as item_hash
    from answers
    group by run, benchmark, language, protocol, item_id, variant
),
hashed as (
    select
        run, benchmark, language, protocol,
        count(distinct item_id) as n_items,
        sha256(string_agg(item_hash, ' ' order by item_id, variant)) as items_hash
    from items
    group by run, benchmark, language, protocol
),
-- A run is asked in few ways: what differs from answer to answer is counted before lists are made.
ways as (
    select
        run, model, date, benchmark, language, protocol, protocol_hash, requested_model, served_model, fingerprint,
        access_route, vendor, country, region, collector,
        failure is distinct from 'not_asked' as asked,
        json_merge_patch(params_sent, '{"seed": null}')::varchar as params_sent,
        count(*) as n, min(asked_at) as first_asked, max(asked_at) as last_asked
    from answers
    group by all
)
select
    run, model, date, benchmark, language, protocol,
    any_value(n_items) as n_items,
    coalesce(sum(n) filter (where asked), 0)::bigint as n_answers,
    any_value(items_hash) as items_hash,
    list_sort(list(distinct protocol_hash)) as protocol_hashes,
    list_sort(list(distinct requested_model)) as requested_models,
    list_sort(list(distinct served_model) filter (where served_model is not null)) as served_models,
    list_sort(list(distinct fingerprint) filter (where fingerprint is not null)) as fingerprints,
    list_sort(list(distinct params_sent) filter (where asked)) as params_sent,
    list_sort(list(distinct access_route)) as access_routes,
    any_value(vendor) as vendor, any_value(country) as country, any_value(region) as region,
    list_sort(list(distinct collector)) as collectors,
    min(first_asked) filter (where asked) as first_asked,
    max(last_asked) filter (where asked) as last_asked
from ways
join hashed using (run, benchmark, language, protocol)
group by run, model, date, benchmark, language, protocol
order by run, benchmark, protocol, language
