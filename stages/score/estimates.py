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


def weight(values: pl.Expr) -> pl.Expr:
    """What each concept weighs in a mean of ``values``: the types that occur weigh the same, and concepts within a type.

    Where as many concepts of each type have a value, which the instrument sees to, that is 1 / concepts. Where
    they have not (an answer was lost, a concept has a type in one language only), a model that always says "she"
    would otherwise seem to lean, to the side that has more concepts left.
    """
    there, types = values.is_not_null(), (pl.col("type") == kind for kind in TYPED)
    sizes = [(of_type, (there & of_type).sum()) for of_type in types]
    size = pl.coalesce(pl.when(of_type).then(count) for of_type, count in sizes)
    occurring = pl.sum_horizontal((count > 0).cast(pl.Int64) for _, count in sizes)
    return pl.when(there).then(1 / (size * occurring))


def mean(values: pl.Expr) -> Estimate:
    """The mean of ``values`` over the concepts that have one, weighed by :func:`weight`; n = m = those concepts.

    Variance by Taylor linearisation: m/(m−1) · Σ weight² · (value − mean)², which is s²/m where all weigh the same.
    """
    weights, targets = weight(values), values.count().cast(pl.Int64)
    value = pl.mean_horizontal(values.filter(pl.col("type") == kind).mean() for kind in TYPED)
    spread = (weights * (values - value)).pow(2).sum()
    variance = pl.when(targets > 1).then(spread * targets / (targets - 1))
    return Estimate(value, variance, targets, targets - 1, targets)


def ratio_of_means(part: pl.Expr, whole: pl.Expr) -> Estimate:
    """mean of ``part`` / mean of ``whole``, both weighed by :func:`weight`; variance as of :func:`ratio`."""
    linearised = ratio((weight(part) * part).fill_null(0), (weight(part) * whole).fill_null(0))
    # From the means themselves: a sum of weighted values is off in the last bits, and would make a 0 a little of something.
    return replace(linearised, value=mean(part).value / mean(whole).value)


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


def halves(column: str, sign: int) -> Estimate:
    """½ (mean over male-typed + sign · mean over female-typed concepts); null unless both types have a value.

    Variance: a quarter of the sum of the two means' variances, with Welch–Satterthwaite degrees of freedom;
    n = concepts with a value.
    """
    male, female = (pl.col(column).filter(pl.col("type") == kind) for kind in ("male", "female"))
    parts = [(group.var() / group.count(), group.count()) for group in (male, female)]
    total = parts[0][0] + parts[1][0]
    freedom = total.pow(2) / pl.sum_horizontal(variance.pow(2) / (count - 1) for variance, count in parts)
    both = (male.count() > 0) & (female.count() > 0)
    targets = pl.when(both).then(male.count() + female.count()).otherwise(0).cast(pl.Int64)
    return Estimate((male.mean() + sign * female.mean()) / 2, total / 4, targets, freedom, targets)


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
