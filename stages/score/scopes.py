"""Which answers a score is about: the kinds of domains, and the scopes that each concept counts in."""

from enum import StrEnum

import polars as pl

from stages.errors import DataError
from stages.schema import ALL


class Kind(StrEnum):
    """What can be asked of a domain's answers."""

    CHOICE = "choice"
    """Concepts with a traditional type; pooled in the domain 'all'."""
    CONTROL = "control"
    """Concepts whose gender is stated: right or wrong; outside all other scores."""
    UNTYPED = "untyped"
    """Concepts without a type: they tell the default gender only."""


KINDS = {
    "occupation": Kind.CHOICE,
    "pronoun": Kind.CHOICE,
    "control": Kind.CONTROL,
    "untyped": Kind.UNTYPED,
}
"""Domain -> kind. A new domain is scored once it has a line here."""

UNTYPED = "untyped"
NO_TYPE = "none"


def with_kind(judgements: pl.DataFrame) -> pl.DataFrame:
    """``judgements`` with the ``domain`` they are scored in and its ``kind``.

    A concept of a choice group that no source types in this language says nothing about tradition in it; it is scored
    with the domain ``untyped`` in that language. So every answer counts in one group of concepts only.

    :raises DataError: a domain has no kind.
    """
    unknown = judgements.filter(~pl.col("domain").is_in(list(KINDS)))
    if unknown.height:
        raise DataError(
            f"Judgements of {unknown['benchmark'][0]} have the domain {unknown['domain'][0]!r}, which no metric knows; "
            "give it a kind in stages/score/scopes.py."
        )
    kind = pl.col("domain").replace_strict(KINDS, return_dtype=pl.String)
    untyped = (kind == Kind.CHOICE) & (pl.col("typed") == NO_TYPE)
    return judgements.with_columns(
        pl.when(untyped).then(pl.lit(UNTYPED)).otherwise("domain").alias("domain"),
        pl.when(untyped).then(pl.lit(str(Kind.UNTYPED))).otherwise(kind).alias("kind"),
    )


def served_scopes(judgements: pl.DataFrame) -> pl.DataFrame:
    """Every answer under served model 'all', and again under its own where its partition was served by several.

    An answer without a served model (nobody served it) counts under 'all' only.
    """
    several = pl.col("served_model").n_unique().over("partition") > 1
    apart = judgements.filter(pl.col("served_model").is_not_null()).filter(several)
    return pl.concat([judgements.with_columns(pl.lit(ALL).alias("served_model")), apart])


def concept_scopes(concepts: pl.DataFrame) -> pl.DataFrame:
    """Every concept in each scope it counts in; ``type`` keeps its type, ``typed`` is the scope's.

    Domains: its own, and 'all' where it belongs to a choice group. Types: 'all', and its own where it has one.
    """
    own = concepts.with_columns(pl.col("typed").alias("type"), pl.lit(ALL).alias("typed"))
    pooled = own.filter(pl.col("kind") == Kind.CHOICE).with_columns(pl.lit(ALL).alias("domain"))
    every = pl.concat([own, pooled])
    by_type = every.filter(pl.col("type") != NO_TYPE).with_columns(pl.col("type").alias("typed"))
    return pl.concat([every, by_type])
