"""Gaps: how what was read in texts about men differs from what was read in texts about women, whoever read them.

A reader gives each text a value of each measure: the lexicon its words per 100 words, a judge model or a person 100 times a
code. Texts are compared in pairs that differ in names and gender words alone.
"""

from collections.abc import Sequence

import polars as pl

from stages.schema import ALL, GAPS, MAN, METRICS_VERSION, RUN_KEY, WOMAN
from stages.score.estimates import FIELDS, mean
from stages.score.intervals import UNBOUNDED, Estimates, columns, t_over_targets
from stages.score.permutation import adjusted, p_values

LEAST_TEXTS = 6
"""A difference of one target is tested from so many texts on each side."""
VALUES = [*(column.name for column in RUN_KEY), "rater", "domain", "measure", "target", "pair", "variant", "value"]
"""What gaps are made of: a row per text and measure, ``pair`` the same on both sides, ``value`` null where it was not read."""
_DOMAIN = VALUES[: VALUES.index("target")]
_TARGET = [*_DOMAIN, "target"]
_FAMILIES = {"bh": [name for name in _DOMAIN if name not in ("domain", "measure")], "holm": [*_DOMAIN[:-1]]}
"""Correction -> within what: of single targets all of a reader, of whole domains the measures of one."""
_SIDES = (WOMAN, MAN)


def gaps(values: pl.DataFrame) -> pl.DataFrame:
    """The gaps of every target, and of every domain over its targets, rows of GAPS; ``values`` have the columns ``VALUES``.

    Counted are pairs with a text read on both sides: of several texts of one side the mean. A target's p-value swaps the
    sides of its pairs, that of a domain the sides of its targets (sign flips, exact up to 13, else 9,999 seeded draws).
    Interval: t over targets. Corrected are single targets by Benjamini and Hochberg, a domain's measures by Holm.
    """
    if values.is_empty():
        return GAPS.empty()
    pairs = _pairs(values)
    targets = _targets(pairs)
    found = pl.concat([_corrected(targets, "bh"), _corrected(_domains(targets), "holm")], how="diagonal")
    return GAPS.conform(found.with_columns(_version()).select(GAPS.schema.names()))


def _version() -> pl.Expr:
    return pl.lit(METRICS_VERSION, pl.Int64).alias("metrics_version")


def _pairs(values: pl.DataFrame) -> pl.DataFrame:
    """Per pair the mean of each side, and how many texts it rests on; nothing where a side was not read."""
    # Values in their order, since the last bits of a mean depend on it.
    ordered = values.with_columns(pl.col("value").cast(pl.Float64)).sort(*_TARGET, "pair", "variant", "value")
    of = {side: pl.col("value").filter(pl.col("variant") == side) for side in _SIDES}
    found = ordered.group_by(*_TARGET, "pair", maintain_order=True).agg(
        *(texts.mean().alias(side) for side, texts in of.items()),
        *(texts.count().cast(pl.Int64).alias(f"n_{side}") for side, texts in of.items()),
    )
    both = pl.all_horizontal(pl.col(side).is_not_null() for side in _SIDES)
    return found.with_columns(
        *(pl.when(both).then(side).alias(side) for side in _SIDES),
        *(pl.when(both).then(f"n_{side}").otherwise(0).alias(f"n_{side}") for side in _SIDES),
    ).with_columns((pl.col(MAN) - pl.col(WOMAN)).alias("difference"))


def _targets(pairs: pl.DataFrame) -> pl.DataFrame:
    found = pairs.group_by(_TARGET, maintain_order=True).agg(
        pl.col(_SIDES).mean(),
        pl.col("difference").mean().alias("value"),
        *(pl.col(f"n_{side}").sum() for side in _SIDES),
        pl.col("difference").is_not_null().any().cast(pl.Int64).alias("n"),
    )
    tested = found.join(_tested(pairs, _TARGET, "pair"), on=_TARGET, how="left", maintain_order="left")
    enough = pl.min_horizontal(f"n_{side}" for side in _SIDES) >= LEAST_TEXTS
    nothing = (pl.lit(None, pl.Float64).alias(end) for end in ("ci_low", "ci_high"))
    return tested.with_columns(pl.when(enough).then("p_value").alias("p_value"), *nothing)


def _domains(targets: pl.DataFrame) -> pl.DataFrame:
    over = mean(pl.col("value"))
    apart = targets.with_columns(pl.lit("none").alias("type"), pl.col("value").alias("difference"))
    found = apart.drop("n").group_by(_DOMAIN, maintain_order=True).agg(
        pl.col(_SIDES).mean(),
        *(getattr(over, field).alias(field) for field in FIELDS),
        *(pl.col(f"n_{side}").sum() for side in _SIDES),
    )  # fmt: skip
    low, high = t_over_targets(Estimates.of(found), UNBOUNDED)
    ends = found.with_columns(*columns(ci_low=low, ci_high=high), pl.lit(ALL).alias("target"))
    tested = ends.join(_tested(apart, _DOMAIN, "target"), on=_DOMAIN, how="left", maintain_order="left")
    return tested.drop("variance", "targets", "freedom")


def _tested(apart: pl.DataFrame, by: Sequence[str], unit: str) -> pl.DataFrame:
    """Per ``by`` the ``p_value`` of the mean ``difference`` over the ``unit``s that have one."""
    known = apart.filter(pl.col("difference").is_not_null()).with_columns(pl.struct(by).rank("dense").alias("group"))
    units = known.select("group", pl.lit("none").alias("type"), pl.col(unit).alias("target"), "difference")
    found = p_values(units, ["group"])
    return known.select("group", *by).unique().join(found, on="group").drop("group")


def _corrected(found: pl.DataFrame, method: str) -> pl.DataFrame:
    """``found`` with ``p_adjusted`` within its family."""
    key = _FAMILIES[method]
    tested = found.filter(pl.col("p_value").is_not_null()).select(*_TARGET, "p_value")
    families = tested.partition_by(key, maintain_order=True)
    each = [
        rows.with_columns(pl.Series("p_adjusted", adjusted(rows["p_value"].to_list(), method), pl.Float64))
        for rows in families
    ]
    none = tested.with_columns(pl.lit(None, pl.Float64).alias("p_adjusted")).clear()
    corrected = pl.concat([none, *each]).drop("p_value")
    return found.join(corrected, on=_TARGET, how="left", maintain_order="left")
