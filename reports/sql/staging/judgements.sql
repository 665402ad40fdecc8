-- one row per answer
select
    run, model, date, benchmark, language, protocol, served_model, item_id, variant, epoch, order_index, turn,
    domain, target, style, typed, status, task, n_options, choice, position, gender, picks, code,
    prefers_related, outcome, reason, answer_form, reasoning_only, log_odds, n_words, counts, reply
from files.judgements
