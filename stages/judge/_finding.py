"""What all ways of reading look for in a reply with tokens: the tokens, the rule that matches, a refusal."""

from collections.abc import Iterable

import polars as pl

from stages.judge._patterns import TOKEN, Patterns, Rule

_QUOTATION = r"\"[^\"\n]{8,}\"|(?:^|\s)'(?:[^'\n]|'[a-z]){8,}'(?:[\s.,!?]|$)"
"""Somebody else's words: no place to look for a refusal."""


def tokens_in(text: pl.Expr) -> pl.Expr:
    """The different tokens in ``text``, as they come; null when there is none."""
    tokens = text.str.extract_all(TOKEN).list.unique(maintain_order=True)
    return pl.when(tokens.list.len() > 0).then(tokens).alias("tokens")


def rule_in(text: pl.Expr, rules: Iterable[Rule]) -> pl.Expr:
    """The name of the first of ``rules`` that matches ``text``."""
    return pl.coalesce([pl.when(text.str.contains(rule.regex)).then(pl.lit(rule.name)) for rule in rules])


def own_words(text: pl.Expr) -> pl.Expr:
    """``text`` without what it quotes."""
    return text.str.replace_all(_QUOTATION, " ")


def with_refusals(frame: pl.DataFrame, patterns: Patterns) -> pl.DataFrame:
    """``frame`` with the name of the pattern by which ``said`` declines as ``refusal``; null where it does not."""
    # A column at a time: an expression used twice is computed twice.
    own = frame.with_columns(own_words(pl.col("said")).alias("own"))
    return own.with_columns(rule_in(pl.col("own"), patterns.refusals).alias("refusal")).drop("own")
