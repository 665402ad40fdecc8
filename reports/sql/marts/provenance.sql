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
with asked as (
    select distinct run, benchmark, language, protocol, item_id, variant, item_hash from answers
),
hashed as (
    select
        run, benchmark, language, protocol,
        count(distinct item_id) as n_items,
        sha256(string_agg(item_hash, ' ' order by item_id, variant)) as items_hash
    from asked
    group by run, benchmark, language, protocol
)
select
    run, model, date, benchmark, language, protocol,
    any_value(n_items) as n_items,
    count(*) filter (where failure is distinct from 'not_asked') as n_answers,
    any_value(items_hash) as items_hash,
    list_sort(list(distinct protocol_hash)) as protocol_hashes,
    list_sort(list(distinct requested_model)) as requested_models,
    list_sort(list(distinct served_model) filter (where served_model is not null)) as served_models,
    list_sort(list(distinct fingerprint) filter (where fingerprint is not null)) as fingerprints,
    list_sort(
        list(distinct json_merge_patch(params_sent, '{"seed": null}')::varchar)
        filter (where failure is distinct from 'not_asked')
    ) as params_sent,
    list_sort(list(distinct access_route)) as access_routes,
    any_value(vendor) as vendor, any_value(country) as country, any_value(region) as region,
    list_sort(list(distinct collector)) as collectors,
    min(asked_at) filter (where failure is distinct from 'not_asked') as first_asked,
    max(asked_at) filter (where failure is distinct from 'not_asked') as last_asked
from answers
join hashed using (run, benchmark, language, protocol)
group by run, model, date, benchmark, language, protocol
order by run, benchmark, protocol, language
