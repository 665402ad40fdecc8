-- one row per (run, benchmark, language, protocol, item_id) whose vote is another than in the run before, with what was said
--
-- The run before is the last scored one of the same model, benchmark, language and protocol. An item without any reply then or
-- now (a vote of error) did not flip.
--
-- run_before: the scored run before
-- vote_before: the vote there
-- replies_before: the different replies there, in alphabetical order
-- replies: the different replies now, in alphabetical order
with neighbours as (
    select run, run_before, benchmark, language, protocol
    from trend
    where metric = 'coverage' and run_before is not null
),
flipped as (
    select
        now.run, now.model, now.date, benchmark, language, protocol, item_id, now.domain, now.target, now.style, now.typed,
        now.status, run_before, before.vote as vote_before, now.vote, before.epochs as epochs_before, now.epochs
    from votes as now
    join neighbours using (run, benchmark, language, protocol)
    join votes as before using (benchmark, language, protocol, item_id)
    where before.run = run_before and now.vote <> before.vote and 'error' not in (now.vote, before.vote)
)
select
    * exclude (epochs, epochs_before),
    list_sort(list_distinct([e.reply for e in epochs_before])) as replies_before,
    list_sort(list_distinct([e.reply for e in epochs])) as replies
from flipped
order by model, benchmark, protocol, language, date, item_id
