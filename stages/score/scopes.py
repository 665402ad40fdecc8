"""Which answers a score is about: the domain they are scored in, and the scopes that each concept counts in."""

import polars as pl

from stages.errors import DataError
from stages.schema import ALL, DOMAINS, UNKNOWN, Kind, Outcome

UNTYPED = "untyped"
NO_TYPE = NO_STATUS = "none"
TURNED_AWAY = "filtered"
"""The reason of an answer that a filter gave in place of any model; one that a filter withheld has its stop reason."""
POOLED = [str(kind) for kind in (Kind.CHOICE, Kind.PAIR, Kind.SENTENCE)]
"""Kinds whose domains are also scored together. No partition has two of them."""


def with_kind(judgements: pl.DataFrame) -> pl.DataFrame:
    """``judgements`` with the ``domain`` they are scored in and its ``kind``.

    A concept of a choice group that no source types in this language says nothing about tradition in it; it is scored
    with the domain ``untyped`` in that language. So every answer counts in one group of concepts only. Texts are compared
    between their two sides, so that what their target is typed as weighs nothing: all targets weigh the same.

    :raises DataError: a domain has no kind.
    """
    unknown = judgements.filter(~pl.col("domain").is_in(list(DOMAINS)))
    if unknown.height:
        raise DataError(
            f"Judgements of {unknown['benchmark'][0]} have the domain {unknown['domain'][0]!r}, which no metric knows; "
            "give it a kind in stages/schema."
        )
    kind = pl.col("domain").replace_strict(DOMAINS, return_dtype=pl.String)
    untyped = (kind == Kind.CHOICE) & (pl.col("typed") == NO_TYPE)
    return judgements.with_columns(
        pl.when(untyped).then(pl.lit(UNTYPED)).otherwise("domain").alias("domain"),
        pl.when(untyped).then(pl.lit(str(Kind.UNTYPED))).otherwise(kind).alias("kind"),
        pl.when(kind.is_in([Kind.TEXT, Kind.RUBRIC])).then(pl.lit(NO_TYPE)).otherwise("typed").alias("typed"),
    )


def served_scopes(judgements: pl.DataFrame) -> pl.DataFrame:
    """Every answer under served model 'all', and again under its own where its ``run`` was served by several.

    By run and not by partition, so that where a change came between two partitions each of them is told apart, too. A call
    that failed was served by nobody and counts under 'all' only; a reply whose provider names no model, under 'unknown'.
    """
    named = judgements.with_columns(_served())
    pairs = named.select("partition", "run", "served_model").unique().drop_nulls()
    several = pairs.group_by("run").agg(pl.col("served_model").n_unique()).filter(pl.col("served_model") > 1)
    apart = named.filter(pl.col("served_model").is_not_null()).join(several.select("run"), on="run", how="semi")
    return pl.concat([judgements.with_columns(pl.lit(ALL).alias("served_model")), apart])


def _served() -> pl.Expr:
    """Who served an answer; null where a call failed or was turned away by a filter before any model."""
    outcome = pl.col("outcome")
    replied = (outcome != Outcome.ERROR) & ~((outcome == Outcome.FILTERED) & (pl.col("reason") == TURNED_AWAY))
    return pl.coalesce("served_model", pl.when(replied).then(pl.lit(UNKNOWN))).alias("served_model")


def concept_scopes(concepts: pl.DataFrame) -> pl.DataFrame:
    """Every concept in each scope it counts in; ``type`` keeps its type, ``typed`` and ``status`` are the scope's.

    Domains: its own, and 'all' where it belongs to a choice group, to a group of pairs or to sentences. Types: 'all', and
    its own where it has one. Status: 'all', and, over all styles and types, its own where it belongs to a choice group.
    Sentences have no wording styles, so they count under 'all' only.
    """
    styled = (pl.col("kind") != Kind.SENTENCE) | (pl.col("style") == ALL)
    own = (
        concepts.filter(styled)
        .rename({"status": "own_status"})
        .with_columns(pl.col("typed").alias("type"), pl.lit(ALL).alias("typed"), pl.lit(ALL).alias("status"))
    )
    pooled = own.filter(pl.col("kind").is_in(POOLED)).with_columns(pl.lit(ALL).alias("domain"))
    every = pl.concat([own, pooled])
    by_type = every.filter(pl.col("type") != NO_TYPE).with_columns(pl.col("type").alias("typed"))
    ranked = (pl.col("kind") == Kind.CHOICE) & (pl.col("style") == ALL)
    by_status = every.filter(ranked & (pl.col("own_status") != NO_STATUS)).with_columns(
        pl.col("own_status").alias("status")
    )
    return pl.concat([every, by_type, by_status]).drop("own_status")
