"""The three shapes of a metric over the concepts of a scope, as polars expressions for one ``group_by``."""

from dataclasses import dataclass, replace

import polars as pl

from stages.schema import TYPED

FIELDS = ("value", "variance", "targets", "freedom", "n")


@dataclass(frozen=True)
class Estimate:
    """What is known of a metric in a scope. Each field is an aggregation over the scope's concepts."""

    value: pl.Expr
    """On the scale of its averages (a share: 0…1); null when undefined."""
    variance: pl.Expr
    """Of ``value``, by linearisation over concepts; null when undefined."""
    targets: pl.Expr
    """Concepts it rests on: the clusters."""
    freedom: pl.Expr
    """Degrees of freedom of ``variance``."""
    n: pl.Expr
    """The denominator."""

    def gated(self, holds: pl.Expr) -> "Estimate":
        """The same, undefined unless ``holds``."""
        return replace(self, value=pl.when(holds).then(self.value))

    def over(self, n: pl.Expr) -> "Estimate":
        """The same with another denominator."""
        return replace(self, n=n)


def mean(values: pl.Expr) -> Estimate:
    """The mean over types (male, female, none: those that occur) of the mean over concepts; n = concepts with a value.

    Where as many concepts of each type have a value, which the instrument sees to, that is the mean over concepts.
    Where they have not (an answer was lost), a model that always says "she" would else seem to lean, to the side that
    has more concepts left. For the same reason the variance is that of concepts within their types, 1/types² · Σ s²/m,
    with Welch–Satterthwaite degrees of freedom: which concepts have which type is fixed, not drawn.
    """
    strata = [_stratum(values.filter(pl.col("type") == kind)) for kind in TYPED]
    types = pl.sum_horizontal((s.n > 0).cast(pl.Int64) for s in strata)
    known = pl.all_horizontal((s.n == 0) | s.variance.is_not_null() for s in strata)
    total = pl.sum_horizontal(s.variance for s in strata)
    return Estimate(
        value=pl.mean_horizontal(s.value for s in strata),
        variance=pl.when(known & (types > 0)).then(total / types.pow(2)),
        targets=pl.sum_horizontal(s.n for s in strata),
        freedom=total.pow(2) / pl.sum_horizontal(s.variance.pow(2) / s.freedom for s in strata),
        n=pl.sum_horizontal(s.n for s in strata),
    )


def _stratum(values: pl.Expr) -> Estimate:
    """The plain mean over the concepts of one type; variance s²/m."""
    targets = values.count().cast(pl.Int64)
    return Estimate(values.mean(), values.var() / targets, targets, targets - 1, targets)


def ratio_of_means(part: pl.Expr, whole: pl.Expr) -> Estimate:
    """mean of ``part`` / mean of ``whole``, linearised: the variance is that of the mean of part − value · whole."""
    below = mean(whole).value
    value = mean(part).value / below
    residual = mean(part - value * whole)
    return replace(residual, value=value, variance=residual.variance / below.pow(2))


def ratio(part: pl.Expr, whole: pl.Expr) -> Estimate:
    """Σ part / Σ whole over concepts; n = Σ whole. Neither is null, and where ``whole`` is 0 so is ``part``.

    Variance by Taylor linearisation, clusters = concepts: m/(m−1) · Σ (part − value·whole)² / (Σ whole)².
    Source: Cochran, Sampling Techniques, 3rd ed., section 6.3. The square is multiplied out, which is several times
    faster; its rounding is far below ``intervals.NO_VARIANCE``.
    """
    targets, total = (whole > 0).sum().cast(pl.Int64), whole.sum()
    value = pl.when(total > 0).then(part.sum() / total)
    squares = part.pow(2).sum() - 2 * value * (part * whole).sum() + value.pow(2) * whole.pow(2).sum()
    variance = pl.when(targets > 1).then(squares / total.pow(2) * targets / (targets - 1))
    return Estimate(value, variance, targets, targets - 1, total)


def contrast(values: pl.Expr) -> Estimate:
    """½ (mean over male-typed − mean over female-typed concepts); null unless both types have a value.

    Variance and n as of :func:`mean`: it is the mean of values turned round for female-typed concepts.
    """
    return both_types(mean(pl.when(pl.col("type") == "female").then(-values).otherwise(values)), values)


def both_types(found: Estimate, values: pl.Expr) -> Estimate:
    """``found``, undefined unless male- and female-typed concepts both have one of ``values``; then n is 0."""
    both = pl.all_horizontal(values.filter(pl.col("type") == kind).count() > 0 for kind in ("male", "female"))
    return replace(found.gated(both), n=pl.when(both).then(found.n).otherwise(0))


def precedence(column: str) -> Estimate:
    """P(male > female) over all pairs of a male- and a female-typed concept, ties half: Mann–Whitney U / pairs.

    n = pairs; no variance (its interval needs none); null unless both types have a value.
    """
    values = pl.col(column).round(9)  # averages of the same numbers differ in the last bits, and would not tie
    male = (pl.col("type") == "male") & values.is_not_null()
    female = (pl.col("type") == "female") & values.is_not_null()
    men, women = male.sum().cast(pl.Int64), female.sum().cast(pl.Int64)
    ranks = pl.when(male | female).then(values).rank("average").filter(male).sum()
    pairs = men * women
    value = pl.when(pairs > 0).then((ranks - men * (men + 1) / 2) / pairs)
    return Estimate(value, pl.lit(None, pl.Float64), men + women, pl.lit(None, pl.Int64), pairs)
