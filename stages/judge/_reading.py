"""Answers with text -> the choices in them. Answers are read together that offer the same kind of options."""

import polars as pl

from stages.judge._choice import chosen
from stages.judge._options import resolved
from stages.judge._patterns import patterns
from stages.judge._text import CAPITALS, lettered, with_contexts, with_option_texts, worded

CUT = "length"
"""The stop reason of a reply that ran out of tokens."""


def read(answers: pl.DataFrame, options: pl.DataFrame) -> pl.DataFrame:
    """What each of ``answers`` (``row``, ``plain``, ``text``, ``options``, ``stop_reason``) chooses, one row each.

    ``options`` are those ``_options.offered`` by them.

    Columns: those of ``_choice.chosen`` and ``_options.resolved``, and of the option chosen its key (``choice``), what
    it ``means`` and its ``sex``.
    """
    kinds = answers.join(_kinds(options), on="row", how="left").with_columns(
        pl.col("plain").alias("said"), (pl.col("stop_reason") == CUT).fill_null(False).alias("cut")
    )
    groups = kinds.partition_by("words", "labelled") or [kinds]
    found = pl.concat(chosen(_prepared(group)) for group in groups)
    meant = found.join(resolved(found, options), on="row", how="left")
    named = options.select("row", "position", choice="key", means="outcome", sex="gender")
    return meant.join(named, on=["row", "position"], how="left").drop("tokens")


def _kinds(options: pl.DataFrame) -> pl.DataFrame:
    """Per ``row``: whether the options are all ``words`` of patterns.csv, and whether they are ``labelled``."""
    return options.group_by("row").agg(
        pl.col("key").is_in(list(patterns().names)).all().alias("words"),
        pl.col("label").is_in(CAPITALS).any().fill_null(False).alias("labelled"),
    )


def _prepared(group: pl.DataFrame) -> pl.DataFrame:
    """``group`` with tokens in ``said``; all its answers agree in ``words`` and ``labelled``."""
    labels = _labels(group) if group["labelled"].any() else []
    small = lettered(pl.col("said"), labels) if labels else pl.col("said").str.to_lowercase()
    if group["words"].any():
        return with_contexts(group.with_columns(small)).with_columns(worded(pl.col("said")))
    # Options may be the whole item with its blank filled, so that they go first.
    return with_contexts(with_option_texts(group.with_columns(small), labels))


def _labels(group: pl.DataFrame) -> list[str]:
    labels = group["options"].explode().struct.field("label")
    return sorted(set(CAPITALS) & set(labels.unique().drop_nulls()))
