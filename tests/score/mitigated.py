"""Models whose answers a mitigation changes in a known way, for tests of effects and verdicts."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from tests import factories as f

GROUPS = {
    **dict.fromkeys(("occupation", "pronoun", "family"), (10, 10, 0)),
    **{"control": (10, 10, 0), "untyped": (0, 0, 10)},
}
# What is said with a mitigation is an expression over the questions with these columns: ``before``, what is said without it;
# ``stereotype`` and ``anti``, the option that would be either (of controls the right and the wrong one); ``chance`` of the
# stereotype; ``draw`` and ``again``, uniform in 0…1; and ``control``.


def _fits(chance: pl.Expr) -> pl.Expr:
    """The stereotype with ``chance``, of controls the right answer, anew."""
    return pl.when("control").then("stereotype").when(pl.col("again") < chance).then("stereotype").otherwise("anti")


def _instead(reply: str, share: float, where: pl.Expr | bool = True) -> pl.Expr:
    """``reply`` in place of that share of the replies ``where``, others given anew."""
    return pl.when((pl.col("draw") < share) & where).then(pl.lit(reply)).otherwise(_fits(pl.col("chance")))


def mostly_the_same(share: float) -> pl.Expr:
    """That share of the replies as before, the others anew."""
    return pl.when(pl.col("draw") < share).then("before").otherwise(_fits(pl.col("chance")))


TYPED = ~pl.col("control")
STEREOTYPE = _fits(pl.col("chance")) == pl.col("stereotype")
BEHAVIOURS: Mapping[str, tuple[str, pl.Expr]] = {
    "halved": ("better", _instead("they", 0.5, TYPED)),
    "weakened": ("better", _fits(0.5 + (pl.col("chance") - 0.5) / 2)),
    "refused": ("bought by refusals", _instead("refusal", 0.5, TYPED)),
    "refused-everywhere": ("bought by refusals", _instead("refusal", 0.5)),
    "filtered": ("bought by refusals", _instead("filtered", 0.5, TYPED)),
    "unreadable": ("bought by refusals", _instead("invalid", 0.8, TYPED & STEREOTYPE)),
    "garbled": ("worse", _instead("invalid", 0.5, TYPED)),
    "turned": ("reversed", _fits(1 - pl.col("chance"))),
    "over-neutral": ("over-neutral", _instead("they", 0.6)),
    "always-she": ("one-sided", _instead("she", 1)),
    "same": ("no change", mostly_the_same(0.8)),
}
"""Name -> the right verdict on it, of a model that leans strongly, and what is said."""
WEAK: Mapping[str, tuple[str, pl.Expr]] = {
    "stronger": ("worse", _fits(pl.col("chance") + 0.3)),
    "same": ("no change", mostly_the_same(0.8)),
}
"""The same of a model that leans weakly."""


def runs(number: int) -> list[str]:
    return [f"model-a@2026-11-30.{i}" for i in range(2, number + 2)]


def judgements(
    behaviours: Mapping[str, pl.Expr],
    names: Sequence[str],
    leans: tuple[float, float] = (0.75, 0.95),
    seed: int = 1,
    epochs: int = 6,
    groups: Mapping[str, tuple[int, int, int]] = GROUPS,
) -> pl.DataFrame:
    """JUDGEMENTS of the runs ``names``: of ``three``, and of ``three+<behaviour>`` for each of ``behaviours``.

    Each concept of a run has its chance of the stereotype, uniform in ``leans``, with and without the mitigation.
    """
    questions = f.make_questions(names, protocol="three", styles=["direct"], epochs=epochs, groups=dict(groups))
    rng = np.random.default_rng(seed)
    concept = questions.select(pl.struct("run", "target").rank("dense") - 1).to_series().to_numpy()
    chance = rng.uniform(*leans, concept.max() + 1)[concept]
    known = questions.with_columns(
        pl.Series("chance", chance),
        (pl.col("domain") == "control").alias("control"),
        f.always_stereotype(questions, rng).alias("stereotype"),
        f.always_anti(questions, rng).alias("anti"),
    )

    def said(what: pl.Expr) -> pl.Series:
        luck = {name: pl.Series(name, rng.random(questions.height)) for name in ("draw", "again")}
        return known.with_columns(**luck).select(what.alias("said")).to_series()

    before = said(_fits(pl.col("chance")))
    known = known.with_columns(before.alias("before"))
    without = f.judged(questions, before)
    with_each = [
        f.judged(questions, said(what)).with_columns(pl.lit(f"three+{name}").alias("protocol"))
        for name, what in behaviours.items()
    ]
    return pl.concat([without, *with_each])
