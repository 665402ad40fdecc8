-- one row per run of the ledger, retired ones too
-- number: which run of the model on that date, 1…N; 1 has no suffix in its name
-- state: open (still asked for what is missing) or sealed
-- plan: name of the plan it was asked under
-- reads: the run whose texts it reads; null of a run that reads none
-- benchmarks: the benchmarks it asks
-- languages: the languages it asks in
-- protocols: the protocols it asks by
-- styles: the wording styles it asks in
-- epochs: how often each item is asked
-- item_limit: only so many items per benchmark and language; null when all
-- seed: the seed of the run
-- opened: UTC time the run was opened, ISO 8601
-- retired: hidden from every other view
-- partitions: how many answer files the run asks for: benchmarks × languages × protocols
-- partitions_recorded: how many of them are complete
-- n_expected: questions in the complete answer files; every one has a row there
-- n_answered: of these, with a reply of the model
-- n_usable: of these, with an outcome that says something about the item; null before judging
-- coverage: 100 · n_usable / n_expected; null before judging
-- n_failures: questions without a reply, see column failure of the answers
-- n_calls: attempts made, retries included
-- prompt_tokens: input tokens of the answers that report them; null when none does
-- completion_tokens: output tokens of the answers that report them; null when none does
-- cached_tokens: cached input tokens of the answers that report them; null when none does
-- cost: US dollars of the answers whose cost is known; null when of none; only with n_cost_unknown = 0 that of the run
-- n_cost_unknown: replies whose cost is unknown
-- seconds: from the first answer to the last, pauses between them included
-- seconds_asked: seconds spent in the last attempts, side by side calls each counted in full
-- first_asked: UTC time of the first answer
-- last_asked: UTC time of the last answer
-- served_models: the model names that the provider says it served, unknown where it says none; null of an imported run
-- fingerprints: the provider's fingerprints of what it served
-- drift: null, or in a sentence what is served otherwise than in the run before, or changed in the run; see the view drift
-- A run is asked in few ways: what differs from answer to answer is summed up before lists are made.
with ways as (
    select
        run, served_model, fingerprint, access_route,
        failure is null as answered,
        failure is distinct from 'not_asked' as asked,
        count(*) as n,
        count(cost) as n_cost,
        sum(attempts) as n_calls,
        sum(prompt_tokens) as prompt_tokens,
        sum(completion_tokens) as completion_tokens,
        sum(cached_tokens) as cached_tokens,
        sum(cost) as cost,
        sum(latency) as seconds_asked,
        min(asked_at) as first_asked,
        max(asked_at) as last_asked
    from files.answers
    group by run, served_model, fingerprint, access_route, answered, asked
),
asked as (
    select
        run,
        sum(n)::bigint as n_expected,
        coalesce(sum(n) filter (where answered), 0)::bigint as n_answered,
        n_expected - n_answered as n_failures,
        sum(n_calls)::bigint as n_calls,
        sum(prompt_tokens)::bigint as prompt_tokens,
        sum(completion_tokens)::bigint as completion_tokens,
        sum(cached_tokens)::bigint as cached_tokens,
        round(sum(cost), 9) as cost, -- sums of parallel parts differ in the last bits
        coalesce(sum(n - n_cost) filter (where answered), 0)::bigint as n_cost_unknown,
        round(sum(seconds_asked), 3) as seconds_asked,
        min(first_asked) filter (where asked) as first_asked,
        max(last_asked) filter (where asked) as last_asked,
        list_sort(
            list(distinct coalesce(served_model, 'unknown')) filter (where answered and access_route <> 'imported')
        ) as served_models,
        list_sort(list(distinct fingerprint) filter (where fingerprint is not null)) as fingerprints
    from ways
    group by run
),
judged as (
    select run, count(*) filter (where outcome not in ('invalid', 'empty', 'truncated', 'error', 'judge-invalid')) as n_usable
    from files.judgements
    group by run
)
select
    run, model, date, number, state, plan, reads, benchmarks, languages, protocols, styles, epochs, item_limit, seed, opened,
    retired, partitions, partitions_recorded,
    coalesce(n_expected, 0) as n_expected,
    coalesce(n_answered, 0) as n_answered,
    n_usable,
    100.0 * n_usable / n_expected as coverage,
    coalesce(n_failures, 0) as n_failures,
    coalesce(n_calls, 0) as n_calls,
    prompt_tokens, completion_tokens, cached_tokens, cost, n_cost_unknown, seconds_asked, first_asked, last_asked,
    round(epoch(try_cast(last_asked as timestamp) - try_cast(first_asked as timestamp)), 3) as seconds,
    served_models, fingerprints, drift
from files.ledger
left join asked using (run)
left join judged using (run)
left join (select run, drift from drift) using (run)
order by model, date, number
