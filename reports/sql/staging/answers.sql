-- one row per (run, benchmark, language, protocol, item_id, variant, epoch): the recorded reply; evidence, never edited
select
    run, model, date, benchmark, language, protocol, item_id, variant, epoch, order_index, turn, domain,
    target, style, typed, status, task, text, options, item_hash, protocol_hash, prompt_hash, prompt, reply, drafts,
    reasoning, candidates, stop_reason, native_stop_reason, failure, failure_message, requested_model,
    served_model, fingerprint, params_requested, params_sent, prompt_tokens, completion_tokens,
    cached_tokens, cost, attempts, latency, asked_at, access_route, vendor, country, region, collector,
    schema_version
from files.answers
where run not in (select run from files.ledger where retired)
