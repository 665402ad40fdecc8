"""How often a comparison of two runs raises a false alarm, and how small a change it still sees, by simulation.

    .venv/bin/python -m benchmarks.power [PAIRS]      (400 pairs of runs a cell unless said otherwise)

Made-up models answer the concepts of a plan: each concept has a chance of its own to get the stereotype, uniform in
``SPREAD`` about the middle, and each answer is drawn by it. Between two snapshots every concept also drifts a little of its
own (``DRIFT``), with no mean: that is no change. A planted change moves all chances by the same number of points of
``traditional_bias``, half as many as ``lean`` moves. Every pair is compared by ``stages.score.changes`` itself.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from stages.schema import JUDGEMENTS
from stages.score import changes
from stages.score.intervals import Array

SPREAD, DRIFT = 0.35, 0.08
SIZES = tuple(range(2, 26))
ALPHAS = (0.05, 0.005)


@dataclass(frozen=True)
class Design:
    """What a run asks: typed concepts, half of each type, and for each so many answers."""

    name: str
    concepts: int
    styles: int
    per_order: int
    repeating: bool = False
    """The model answers a question alike each time, as at temperature 0: what is drawn is drawn once for both snapshots."""


DESIGNS = (
    Design("plan quick, drawn anew: 40 concepts, one style, each order once", 40, 1, 1),
    Design("plan quick, repeating: the same, of a model that answers alike each time", 40, 1, 1, repeating=True),
    Design("plan full, drawn anew: 60 concepts, three styles, each order three times", 60, 3, 3),
    Design("plan full, repeating: each order once", 60, 3, 1, repeating=True),
    Design("one group of plan full, drawn anew: 20 concepts", 20, 3, 3),
    Design("one group of plan full, repeating", 20, 3, 1, repeating=True),
)
STYLES = ("direct", "situational", "scene")


def compared(design: Design, points: float, pairs: int, seed: int = 0) -> pl.DataFrame:
    """The lean of ``pairs`` of runs against their references, each asked twice: ``pair``, ``again``, ``value``, ``p_value``.

    All concepts of the later runs are moved by ``points``; both times they are of the same snapshot.
    """
    rng = np.random.default_rng(seed)
    chance = 0.5 + rng.uniform(-SPREAD, SPREAD, (pairs, design.concepts))
    later = chance + rng.normal(0, DRIFT, chance.shape) + points / 100
    once = rng.random(pairs * design.concepts * design.styles * 2 * design.per_order)

    def side(chances: Array, here: bool) -> pl.DataFrame:
        return _answers(design, chances, here, once if design.repeating else rng.random(len(once)))

    reference = side(chance, here=False)
    return pl.concat(
        _leans(pl.concat([reference, side(later, here=True)])).with_columns(pl.lit(again).alias("again"))
        for again in (False, True)
    )


def _leans(sides: pl.DataFrame) -> pl.DataFrame:
    leans = changes(sides).filter(metric="lean", domain="all", style="all")
    return leans.select(pl.col("run").str.strip_prefix("model-").str.head(5).alias("pair"), "value", "p_value")


def _answers(design: Design, chance: Array, here: bool, draws: Array) -> pl.DataFrame:
    """A side of every pair, as ``changes`` takes it: concepts × styles × two orders × times."""
    grid = pl.DataFrame({"concept": range(design.concepts)}).join(
        pl.DataFrame({"style": STYLES[: design.styles]}), how="cross"
    )
    grid = grid.join(pl.DataFrame({"order_index": [0, 1]}), how="cross").join(
        pl.DataFrame({"time": range(design.per_order)}), how="cross"
    )
    rows = pl.DataFrame({"pair": range(len(chance))}).join(grid, how="cross")
    drawn = draws < chance[rows["pair"].to_numpy(), rows["concept"].to_numpy()]
    male = pl.col("concept") % 2 == 0
    day = "2026-11-30" if here else "2026-11-23"
    text = {
        "benchmark": "checkup",
        "language": "en",
        "protocol": "two",
        "variant": "single",
        "domain": "occupation",
        "status": "none",
        "task": "blank",
        "reason": "drawn",
        "date": day,
        "served_model": "served",
        "item_hash": "i",
        "prompt_hash": "p",
        "protocol_hash": "q",
        "params_sent": "{}",
        "requested_model": "asked",
        "access_route": "api",
    }
    told = ("code", "prefers_related", "log_odds", "n_words", "counts")
    empty: dict[str, pl.DataType] = {name: JUDGEMENTS.schema[name] for name in told} | {"failure": pl.String()}
    return rows.with_columns(
        pl.col("pair").cast(pl.Int32),
        pl.lit(here).alias("here"),
        pl.format("model-{}@" + day, pl.col("pair").cast(pl.String).str.zfill(5)).alias("run"),
        pl.format("model-{}", pl.col("pair").cast(pl.String).str.zfill(5)).alias("model"),
        pl.format("{}-{}", "concept", "style").alias("item_id"),
        pl.col("concept").cast(pl.String).alias("target"),
        pl.when(male).then(pl.lit("male")).otherwise(pl.lit("female")).alias("typed"),
        pl.Series("outcome", np.where(drawn, "stereotype", "anti-stereotype")),
        pl.when(pl.Series(drawn) == male).then(1).otherwise(-1).cast(pl.Int8).alias("gender"),
        (pl.col("time") * 2 + pl.col("order_index") + 1).alias("epoch"),
        pl.lit(1, pl.Int64).alias("turn"), pl.lit(2, pl.Int64).alias("n_options"), pl.lit(1, pl.Int64).alias("position"),
        pl.lit(None, pl.List(pl.Struct({"key": pl.String, "position": pl.Int64, "code": pl.Int8}))).alias("picks"),
        *(pl.lit(value).alias(name) for name, value in text.items()),
        *(pl.lit(None, kind).alias(name) for name, kind in empty.items()),
    ).drop("concept", "time")  # fmt: skip


def shares(found: pl.DataFrame) -> dict[str, float]:
    """Percent of pairs that are a change: at each of ``ALPHAS``, and at the least of them twice in the same direction."""
    first, again = (found.filter(pl.col("again") == when).sort("pair") for when in (False, True))
    least = min(ALPHAS)
    both = (first["p_value"] <= least) & (again["p_value"] <= least) & (first["value"].sign() == again["value"].sign())
    single = {f"p ≤ {alpha}": 100 * float((first["p_value"] <= alpha).mean() or 0) for alpha in ALPHAS}  # type: ignore[arg-type]
    return {**single, f"p ≤ {least}, repeated": 100 * float(both.mean() or 0)}  # type: ignore[arg-type]


def smallest(design: Design, pairs: int, sizes: Sequence[int] = SIZES) -> dict[str, int | None]:
    """Rule -> the smallest number of points that is seen in at least 80 % of pairs."""
    found: dict[str, int | None] = {}
    for points in sizes:
        for rule, share in shares(compared(design, points, pairs, seed=points)).items():
            if share >= 80:
                found.setdefault(rule, points)
        if len(found) == len(ALPHAS) + 1:
            break
    return found


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for design in DESIGNS:
        alarms = shares(compared(design, 0, pairs))
        seen = smallest(design, pairs)
        print(design.name)
        for rule, share in alarms.items():
            print(f"  {rule:20} false alarms {share:5.2f} %, seen with 80 % power from {seen.get(rule)} points on")


if __name__ == "__main__":
    main()
