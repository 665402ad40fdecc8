"""Changes: paired, tested differences between a run and the run it is compared with.

The rules are those of docs/methodology.md, Changes. A pair of runs is compared on the items that both were asked, word for
word; the unit is the target.
"""

from collections.abc import Sequence

import polars as pl

from stages.schema import ALL, CHANGES, METRICS_VERSION, TOGETHER, Kind
from stages.score.alike import ASKED, PART, PROTOCOL, differing, shared
from stages.score.answers import numbered
from stages.score.bounds import HIGH, LOW, extremes
from stages.score.concepts import CONCEPT, concepts
from stages.score.estimates import FIELDS, mean, precedence
from stages.score.intervals import SHARE, UNBOUNDED, Estimates, newcombe, wilson
from stages.score.paired import DEFAULT, LEAN, LMS, PAIR_LEAN, SS, STRENGTH, TEXT_LEAN, THERE, Compared, differences
from stages.score.permutation import adjusted
from stages.score.scopes import POOLED, with_kind
from stages.score.scoring import with_those_together

COMPARED = (LEAN, DEFAULT, STRENGTH, PAIR_LEAN, TEXT_LEAN, SS, LMS)
HEADLINES = (LEAN.name, PAIR_LEAN.name, SS.name)
"""What a primary comparison is of: the score that a benchmark is read by first."""
PRIMARY, EXPLORATORY = "primary", "exploratory"
CORRECTION = {PRIMARY: "holm", EXPLORATORY: "bh"}
ALPHA = 0.05
"""Up to this corrected p a primary difference between two runs is a change."""
COVERED = 95.0
"""Percent of the shared items' answers that must be usable on both sides."""
MEASURABLE = 0.8
"""What the lower end of a control score must reach on both sides."""
CONTROLS, COVERAGE, VALUE = "controls", "coverage", "value"
SCOPE = (*PART, "domain", "style")
_SIDE = (*PART, "here")
_TARGET = ("kind", "type", "target")
_COUNTS = ("expected", "usable", "with_odds")
_COLUMNS = [compared.column for compared in COMPARED]
_SIDED = (*(f"{name}{end}" for name in _COLUMNS for end in ("", LOW, HIGH)), *_COUNTS)


def changes(sides: pl.DataFrame) -> pl.DataFrame:
    """The changes between the two sides of each ``pair`` of runs, rows of CHANGES.

    ``sides``: ``NEEDED`` columns of JUDGEMENTS and ``ASKED`` ones of ANSWERS with ``pair`` (a number) and ``here``, true for
    the run that is compared and false for its reference. What only one side was asked (benchmark, language, protocol) is left
    out.

    :raises DataError: a domain or an outcome is unknown.
    """
    rows = with_those_together(sides, ("pair", "here", "run", "language", "protocol"))
    rows = rows.filter(pl.col("here").n_unique().over(PART) == 2)
    both = shared(rows)
    if both.is_empty():
        return CHANGES.empty()
    found = _concepts(both)
    joined = _joined(found)
    compared = pl.concat([_compared(joined, metric) for metric in COMPARED])
    gated = compared.join(differing(rows), on=PART, how="left").join(_controls(found), on=PART, how="left")
    named = _families(gated.with_columns(_gate().alias("gate"))).join(_runs(rows), on="pair")
    version = pl.lit(METRICS_VERSION, pl.Int64).alias("metrics_version")
    return CHANGES.conform(named.with_columns(version).select(CHANGES.schema.names()))


def _runs(rows: pl.DataFrame) -> pl.DataFrame:
    """Per ``pair`` the run with its facts, and its ``reference``."""
    here = rows.filter("here").select("pair", "run", "model", "date").unique()
    return here.join(rows.filter(~pl.col("here")).select("pair", pl.col("run").alias("reference")).unique(), on="pair")


def _concepts(both: pl.DataFrame) -> pl.DataFrame:
    """The concepts of each side (``_SIDE``), with the columns that are compared."""
    names = both.select(_SIDE).unique().sort(_SIDE).with_row_index("partition")
    answers = numbered(
        with_kind(both.drop(ASKED).join(names, on=_SIDE)).with_columns(pl.lit(ALL).alias("served_model"))
    )
    found = _with_columns(concepts(answers))
    for end, filled in extremes(answers):
        ends = _with_columns(filled).select(*CONCEPT, pl.col(_COLUMNS).name.suffix(end))
        found = found.join(ends, on=CONCEPT, how="left", maintain_order="left")
    # Where a side misses no answer, its values are their own ends.
    own = (pl.coalesce(f"{name}{end}", name).alias(f"{name}{end}") for name in _COLUMNS for end in (LOW, HIGH))
    return found.with_columns(own).join(names, on="partition", maintain_order="left").rename({"typed": "type"})


def _with_columns(found: pl.DataFrame) -> pl.DataFrame:
    """``found`` (see ``concepts.concepts``) with those columns that are compared and not in it."""
    sign = pl.col("typed").replace_strict({"male": 1, "female": -1}, default=None, return_dtype=pl.Int64)
    return found.with_columns(
        (pl.col("log_odds") * sign).alias(STRENGTH.column),
        _share("stereotypes", pl.col("preferred")).alias(SS.column),
        _share("related", 2 * pl.col("answered")).alias(LMS.column),
    )


def _share(part: str, whole: pl.Expr) -> pl.Expr:
    return pl.when(whole > 0).then(pl.col(part) / whole)


def _joined(found: pl.DataFrame) -> pl.DataFrame:
    """Each target of both sides in the scopes it counts in: its domain, and where it is pooled 'all', and 'all' by style."""
    scored = found.filter(pl.col("kind").is_in([*POOLED, TEXT_LEAN.kind]))
    here, there = (scored.filter(pl.col("here") == side).drop("here") for side in (True, False))
    on = [*SCOPE, *_TARGET]
    joined = here.select(*on, *_SIDED).join(there.select(*on, *_SIDED), on=on, suffix=THERE)
    own = joined.filter(pl.col("style") == ALL)
    styled = (pl.col("style") == ALL) | (pl.col("kind") == Kind.CHOICE)
    pooled = joined.filter(styled, pl.col("kind").is_in(POOLED))
    return pl.concat([own, pooled.with_columns(pl.lit(ALL).alias("domain"))])


def _compared(joined: pl.DataFrame, metric: Compared) -> pl.DataFrame:
    own = joined.filter(pl.col("kind") == metric.kind)
    if metric is STRENGTH:
        own = own.filter(pl.col(STRENGTH.column).is_not_null().any().over(SCOPE))
    beside = own.group_by(SCOPE).agg(_coverage(metric.counted), *_bounds(metric))
    found = differences(own, metric, SCOPE).join(beside, on=SCOPE)
    return found.select(sorted(found.columns))


def _coverage(counted: str) -> pl.Expr:
    sides = [pl.col(f"{counted}{side}").sum() / pl.col(f"expected{side}").sum() for side in ("", THERE)]
    return (100 * pl.min_horizontal(sides)).alias("coverage")


def _bounds(metric: Compared) -> list[pl.Expr]:
    """The least and the most that the difference could be, whatever the missing answers had been.

    What has no ends, as log-odds, has no bounds.
    """
    if metric.bounds == UNBOUNDED:
        return [pl.lit(None, pl.Float64).alias(name) for name in ("bound_low", "bound_high")]
    low, high = (
        pl.col(f"{metric.column}{here}") - pl.col(f"{metric.column}{there}{THERE}")
        for here, there in ((LOW, HIGH), (HIGH, LOW))
    )
    bounds = {"bound_low": low, "bound_high": high}
    return [(metric.estimate(end).value * metric.scale).alias(name) for name, end in bounds.items()]


def _controls(found: pl.DataFrame) -> pl.DataFrame:
    """Per ``PART`` whether both sides pass the controls, by ``choices`` and by ``probabilities``."""
    own = found.filter(pl.col("kind") == Kind.CONTROL, pl.col("style") == ALL)
    sides = own.group_by(_SIDE).agg(*_fields("right", mean(pl.col("right"))), *_fields("auc", precedence("log_odds")))
    accuracy = wilson(Estimates.of(sides, "right."), SHARE)[0] >= MEASURABLE
    auc = newcombe(Estimates.of(sides, "auc."), SHARE)[0] > MEASURABLE
    passed = sides.select(_SIDE).with_columns(pl.Series("choices", accuracy), pl.Series("probabilities", auc))
    return passed.group_by(PART).agg(((pl.len() == 2) & pl.col(name).all()).alias(name) for name in passed.columns[-2:])


def _fields(name: str, estimate: object) -> list[pl.Expr]:
    return [getattr(estimate, field).alias(f"{name}.{field}") for field in FIELDS]


def _gate() -> pl.Expr:
    """Why a difference counts as no change; null when it may."""
    by_choice = pl.col("metric").is_in([LEAN.name, DEFAULT.name]) & ~pl.col("choices").fill_null(False)
    by_odds = (pl.col("metric") == STRENGTH.name) & ~pl.col("probabilities").fill_null(False)
    return (
        pl.when(pl.col("differs").list.contains(PROTOCOL)).then(pl.lit(PROTOCOL))
        .when(pl.col("coverage") < COVERED).then(pl.lit(COVERAGE))
        .when(by_choice | by_odds).then(pl.lit(CONTROLS))
        .when(pl.col("value").is_null()).then(pl.lit(VALUE))
    )  # fmt: skip


def _families(found: pl.DataFrame) -> pl.DataFrame:
    """``found`` with ``family``, and ``p_adjusted`` within the family of its pair."""
    parts_of = {part: whole for whole, parts in TOGETHER.items() for part in parts}
    whole = pl.col("benchmark").replace_strict(parts_of, default=None, return_dtype=pl.String)
    pooled = found.select("pair", "language", "protocol", pl.col("benchmark").alias("whole")).unique()
    marked = found.with_columns(whole.alias("whole")).join(
        pooled.with_columns(pl.lit(True).alias("is_part")), on=["pair", "language", "protocol", "whole"], how="left"
    )
    headline = pl.col("metric").is_in(HEADLINES) & (pl.col("domain") == ALL) & (pl.col("style") == ALL)
    primary = headline & pl.col("is_part").is_null()
    named = marked.with_columns(pl.when(primary).then(pl.lit(PRIMARY)).otherwise(pl.lit(EXPLORATORY)).alias("family"))
    key = ("pair", "family", "benchmark", "language", "protocol", "domain", "style", "metric")
    tested = named.filter(pl.col("gate").is_null(), pl.col("p_value").is_not_null()).sort(key)
    groups = tested.partition_by("pair", "family", maintain_order=True)
    corrected = [rows.with_columns(_adjusted(rows)).select(*key, "p_adjusted") for rows in groups]
    none = tested.select(*key, pl.lit(None, pl.Float64).alias("p_adjusted")).clear()
    return named.join(pl.concat([none, *corrected]), on=key, how="left")


def _adjusted(rows: pl.DataFrame) -> pl.Series:
    values: Sequence[float] = rows["p_value"].to_list()
    return pl.Series("p_adjusted", adjusted(values, CORRECTION[rows["family"][0]]), pl.Float64)
