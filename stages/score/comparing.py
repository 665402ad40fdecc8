"""Paired differences within one run: a language with English, a carried conversation with a fresh one."""

from dataclasses import dataclass

import polars as pl

from stages.schema import ALL, COMPARISONS, METRICS_VERSION, RUN_KEY
from stages.score.evidence import Evidence
from stages.score.paired import DEFAULT, LEAN, PAIR_LEAN, THERE, differences

_SCOPE = ("pair", "domain")
_TARGET = ("kind", "domain", "target", "type")


@dataclass(frozen=True)
class Versus:
    """Partitions of a run that differ in ``column`` alone are compared with the one that has ``base`` there."""

    column: str
    base: str
    only: str | None = None
    """What the other one has there; anything else where null."""


VERSUS = (Versus("language", "en"), Versus("protocol", "two", "carried"))
COMPARED = (LEAN, DEFAULT, PAIR_LEAN)


def comparisons(evidence: Evidence, partitions: pl.DataFrame) -> pl.DataFrame:
    """The comparisons that the ``partitions`` (RUN_KEY, and their number as ``partition``) allow, rows of COMPARISONS.

    A run asks the same items in every language and protocol, so that targets are paired as they are. One counts where both
    sides have a usable answer (for ``pair_lean`` a value), and a concept only if a source types it alike in both languages.
    Averaged as every score: types weigh half each. Interval: t over targets; p: sign-flip permutation over them.
    """
    pairs = _pairs(partitions)
    whole = (pl.col(scope) == ALL for scope in ("served_model", "style", "typed", "status"))
    own = evidence.concepts.filter(*whole, pl.col("domain") != ALL)
    sides = own.select("partition", *_TARGET, *sorted({compared.column for compared in COMPARED}))
    base = sides.rename({"partition": "base"})
    joined = pairs.join(sides, on="partition").join(base, on=["base", *_TARGET], suffix=THERE)
    pooled = pl.concat([joined, joined.with_columns(pl.lit(ALL).alias("domain"))])
    rows = pl.concat([differences(pooled, compared, _SCOPE) for compared in COMPARED])
    found = rows.join(pairs, on="pair").with_columns(pl.lit(METRICS_VERSION, pl.Int64).alias("metrics_version"))
    return COMPARISONS.conform(found.select(COMPARISONS.schema.names()))


def _pairs(partitions: pl.DataFrame) -> pl.DataFrame:
    """Every ``pair``: a ``partition`` with its RUN_KEY, and the ``base`` it is compared with, ``versus``."""
    key = [column.name for column in RUN_KEY]
    found = []
    for versus in VERSUS:
        base = pl.col(versus.column) == versus.base
        compared = pl.col(versus.column) == versus.only if versus.only else ~base
        shared = [name for name in key if name != versus.column]
        there = partitions.filter(base).select(*shared, pl.col("partition").alias("base"))
        named = pl.lit(f"{versus.column}={versus.base}").alias("versus")
        found.append(partitions.filter(compared).join(there, on=shared).with_columns(named))
    return pl.concat(found).sort(*key, "versus").with_row_index("pair")
