-- one row per (run, benchmark, language, protocol): answers whose first reply a mitigation sent back, and what that took; where there are any
-- n_answers: questions asked
-- n_sent_back: of these, with a reply that was sent back
-- n_changed: of these, with another second reply, but for spaces
-- n_neutral: of these, with a second reply that is judged neutral; null before judging
-- n_failed: of these, without a second reply
-- prompt_tokens: input tokens of the calls after the first; null when unknown of one
-- completion_tokens: output tokens of the calls after the first; null when unknown of one
-- cost: US dollars of the calls after the first; null when unknown of one
with asked as (
    select
        run, model, date, benchmark, language, protocol, drafts is not null as sent_back, reply,
        trim(reply) is distinct from trim(drafts[-1].reply) as changed,
        outcome = 'neutral' as neutral,
        prompt_tokens - list_sum([draft.prompt_tokens for draft in drafts]) as more_prompt_tokens,
        completion_tokens - list_sum([draft.completion_tokens for draft in drafts]) as more_completion_tokens,
        cost - list_sum([draft.cost for draft in drafts]) as more_cost
    from answers
    left join (
        select run, benchmark, language, protocol, item_id, variant, epoch, outcome from judgements
    ) using (run, benchmark, language, protocol, item_id, variant, epoch)
    where failure is distinct from 'not_asked' or drafts is not null
)
select
    run, model, date, benchmark, language, protocol,
    count(*) as n_answers,
    count(*) filter (where sent_back) as n_sent_back,
    count(*) filter (where sent_back and changed and reply is not null) as n_changed,
    if(count(neutral) = 0, null, count(*) filter (where sent_back and neutral)) as n_neutral,
    count(*) filter (where sent_back and reply is null) as n_failed,
    if(count(more_prompt_tokens) < n_sent_back, null, sum(more_prompt_tokens))::bigint as prompt_tokens,
    if(count(more_completion_tokens) < n_sent_back, null, sum(more_completion_tokens))::bigint as completion_tokens,
    if(count(more_cost) < n_sent_back, null, round(sum(more_cost), 9)) as cost
from asked
group by run, model, date, benchmark, language, protocol
having n_sent_back > 0
order by run, benchmark, protocol, language
