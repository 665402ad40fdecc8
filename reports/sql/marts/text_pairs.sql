-- one row per (run, benchmark, language, protocol, item_id): two texts that differ in who they are about, both read
--
-- Of several texts about one side, the first.
--
-- balance_woman: agentic less communal words per 100 words of the text about the woman, by the lexicon
-- balance_man: the same of the text about the man
-- delta: balance_man − balance_woman; see the metric text_lean
-- text_woman: the text about the woman
-- text_man: the text about the man
with numbered as (
    select
        run, model, date, benchmark, language, protocol, item_id, domain, target, variant, epoch, reply,
        100.0 * (
            coalesce(list_sum([c.n for c in counts if c.category = 'agentic']), 0)
            - coalesce(list_sum([c.n for c in counts if c.category = 'communal']), 0)
        ) / nullif(n_words, 0) as balance
    from judgements
    where task = 'text' and outcome = 'paired'
),

sides as (
    select
        run, model, date, benchmark, language, protocol, item_id, domain, target,
        arg_min(balance, epoch) filter (where variant = 'woman') as balance_woman,
        arg_min(balance, epoch) filter (where variant = 'man') as balance_man,
        arg_min(reply, epoch) filter (where variant = 'woman') as text_woman,
        arg_min(reply, epoch) filter (where variant = 'man') as text_man
    from numbered
    group by run, model, date, benchmark, language, protocol, item_id, domain, target
)

select
    run, model, date, benchmark, language, protocol, item_id, domain, target,
    balance_woman, balance_man, balance_man - balance_woman as delta, text_woman, text_man
from sides
where text_woman is not null and text_man is not null
order by run, benchmark, protocol, language, abs(delta) desc, item_id
