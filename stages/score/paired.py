"""Paired differences between two sides, target by target: what is compared, and the numbers of each comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from stages.schema import Kind
from stages.score.estimates import FIELDS, Estimate, both_types, mean
from stages.score.intervals import NO_VARIANCE, SHARE, UNBOUNDED, Estimates, Range, columns, t_over_targets
from stages.score.permutation import p_values

SIGNED: Range = (-1.0, 1.0)
THERE = "_there"
"""Marks what is of the other side."""


@dataclass(frozen=True)
class Compared:
    """A metric that is compared: the mean of ``column`` over targets, types weighing half each."""

    name: str
    column: str
    kind: Kind
    bounds: Range
    """Range of ``column``."""
    scale: float = 100
    needs_both_types: bool = False
    counted: str = "usable"
    """The number of a concept's answers that it is made of."""

    def estimate(self, values: pl.Expr) -> Estimate:
        found = mean(values)
        return both_types(found, values) if self.needs_both_types else found

    @property
    def difference(self) -> Range:
        """How far two values can lie apart."""
        low, high = self.bounds
        return low - high, high - low


LEAN = Compared("lean", "y", Kind.CHOICE, SIGNED)
DEFAULT = Compared("default", "g", Kind.CHOICE, SIGNED, needs_both_types=True)
PAIR_LEAN = Compared("pair_lean", "delta", Kind.PAIR, SIGNED)
STRENGTH = Compared("strength", "association", Kind.CHOICE, UNBOUNDED, 1, needs_both_types=True, counted="with_odds")
TEXT_LEAN = Compared("text_lean", "text_delta", Kind.TEXT, UNBOUNDED, 1)
SS = Compared("ss_macro", "ss", Kind.SENTENCE, SHARE)
LMS = Compared("lms_macro", "lms", Kind.SENTENCE, SHARE)


def differences(joined: pl.DataFrame, compared: Compared, by: Sequence[str]) -> pl.DataFrame:
    """One row per ``by``: ``metric``, ``value``, ``ci_low``, ``ci_high``, ``effect``, ``p_value``, ``here``, ``there``, ``n``.

    ``joined`` has a row per target of both sides with ``by``, ``kind``, ``type``, ``target`` and the column compared, once as
    it is and once with ``THERE``. Targets that have it on both sides count. Interval: t over targets; ``effect``: the plain
    mean of the differences / their standard deviation, null when they do not vary.
    """
    own = joined.filter(pl.col("kind") == compared.kind)
    here, there = pl.col(compared.column), pl.col(f"{compared.column}{THERE}")
    both = here.is_not_null() & there.is_not_null()
    apart = compared.estimate(here - there)
    spread = pl.when((here - there).var() > NO_VARIANCE).then((here - there).std())
    found = own.group_by(by).agg(
        *(getattr(apart, field).alias(field) for field in FIELDS),
        compared.estimate(pl.when(both).then(here)).value.alias("here"),
        compared.estimate(pl.when(both).then(there)).value.alias("there"),
        ((here - there).mean() / spread).alias("effect"),
    )
    tested = own.filter(both).with_columns((here - there).alias("difference"))
    found = found.join(p_values(tested, by), on=by, how="left")
    low, high = t_over_targets(Estimates.of(found), compared.difference)
    defined = pl.col("value").is_not_null()
    return found.with_columns(*columns(ci_low=low, ci_high=high)).select(
        *by,
        pl.lit(compared.name).alias("metric"),
        pl.col("value", "ci_low", "ci_high", "here", "there") * compared.scale,
        *(pl.when(defined).then(name).alias(name) for name in ("effect", "p_value")),
        pl.col("n").cast(pl.Int64),
    )
