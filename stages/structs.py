"""What the list columns of the tables hold."""

import polars as pl

OPTION = pl.Struct(
    {
        "key": pl.String,
        "label": pl.String,
        "text": pl.String,
        "outcome": pl.String,
        "gender": pl.Int8,
        "code": pl.Int8,
    }
)
"""One answer that an item offers. ``key`` is its name (he, she, they …), ``label`` the letter shown before it (null
when none is shown), ``text`` what the model sees, ``outcome`` what choosing it means, ``gender`` +1 male, −1 female,
0 neutral, null when it has none, ``code`` (pairs, and questions about texts) +1 agentic or otherwise tied to men by tradition, −1 communal or
tied to women, 0 neither."""
PICK = pl.Struct({"key": pl.String, "position": pl.Int64, "code": pl.Int8})
"""An option chosen of those offered about one side of a pair: its key, its place among those shown (1…n), its code."""
CANDIDATE = pl.Struct({"key": pl.String, "logprob": pl.Float64, "n_tokens": pl.Int64})
"""The unconstrained natural log-probability of an option's word; null when the endpoint did not report it. Where options
are scored by likelihood, the mean over the ``n_tokens`` tokens of the option's text (null elsewhere): their product is the
log-probability of the whole. In an imported run it is the score as it came."""
EPOCH = pl.Struct(
    {
        "variant": pl.String,
        "epoch": pl.Int64,
        "order_index": pl.Int64,
        "choice": pl.String,
        "outcome": pl.String,
        "reason": pl.String,
        "reply": pl.String,
    }
)
COUNT = pl.Struct({"category": pl.String, "n": pl.Int64})
"""How many words of a category of the lexicon a text has."""
DRAFT = pl.Struct(
    {
        "reply": pl.String,
        "reason": pl.String,
        "prompt": pl.String,
        "stop_reason": pl.String,
        "prompt_tokens": pl.Int64,
        "completion_tokens": pl.Int64,
        "cost": pl.Float64,
        "asked_at": pl.String,
    }
)
"""An earlier reply to the same question that a check sent back: its text, why it was sent back, what it was the reply to,
and what it took. The answer's own tokens and cost are those of all its calls, this one's included."""
