"""What is settled before any reading, of whatever was asked: failed calls, filtered replies, replies without a text."""

import polars as pl

from stages.judge._text import cleaned, without_reasoning
from stages.reasoning import reasons
from stages.schema import Outcome

CUT = "length"
"""The stop reason of a reply that ran out of tokens."""
FILTERED = "content_filter"
"""The stop reason of a reply that the provider's filter withheld; ``filtered`` is the failure that says the same."""


def plain() -> pl.Expr:
    """The reply, normalised and without reasoning; blank where there is none."""
    return cleaned(without_reasoning(pl.col("reply"))).fill_null("").alias("plain")


def cause() -> pl.Expr:
    """The outcome of ``plain`` replies that is settled before any reading; null where there is a text to read."""
    filtered = (pl.col("failure") == "filtered") | (pl.col("failure").is_null() & (pl.col("stop_reason") == FILTERED))
    blank = pl.col("plain") == ""
    return (
        pl.when(filtered).then(pl.lit(Outcome.FILTERED))
        .when(pl.col("failure").is_not_null()).then(pl.lit(Outcome.ERROR))
        .when("scored").then(None)
        .when(blank & (pl.col("stop_reason") == CUT)).then(pl.lit(Outcome.TRUNCATED))
        .when(blank).then(pl.lit(Outcome.EMPTY))
        .alias("cause")
    )  # fmt: skip


def cause_reason() -> pl.Expr:
    """The reason of a ``cause``."""
    return (
        pl.when(pl.col("cause").is_in([Outcome.ERROR, Outcome.FILTERED])).then(pl.coalesce("failure", "stop_reason"))
        .when(pl.col("cause") == Outcome.EMPTY).then(pl.lit("blank"))
        .when(pl.col("cause") == Outcome.TRUNCATED).then(pl.lit(CUT))
    )  # fmt: skip


def reasoning_only() -> pl.Expr:
    """Whether a reply without a text came with reasoning."""
    blank = pl.col("cause").is_in([Outcome.EMPTY, Outcome.TRUNCATED])
    apart = pl.col("reasoning").str.strip_chars().fill_null("") != ""
    within = reasons(pl.col("reply")).fill_null(False)
    return (blank & (apart | within)).fill_null(False).alias("reasoning_only")
