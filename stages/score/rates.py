"""How often the words of a category stand in a text."""

import polars as pl

PER = 100
"""Rates are of so many words."""


def rate_of(category: str) -> pl.Expr:
    """Words of ``category`` per 100 words of the text, by ``counts`` and ``n_words``; null without a text."""
    counted = pl.col("counts").list.eval(
        pl.element().struct.field("n").filter(pl.element().struct.field("category") == category)
    )
    return PER * counted.list.sum() / pl.when(pl.col("n_words") > 0).then("n_words")
