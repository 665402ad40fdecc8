"""Two made-up runs laid beside each other, for tests of changes."""

from typing import Any

import polars as pl

from stages.score import changes
from stages.score.alike import ASKED
from stages.score.scoring import NEEDED
from tests import factories as f

EARLIER, LATER = "model-a@2026-11-23", "model-a@2026-11-30"
GROUPS = {"occupation": (10, 10, 0), "pronoun": (10, 10, 0), "control": (10, 10, 0), "untyped": (0, 0, 4)}


def answered(
    responder: f.Responder, run: str, seed: int = 1, groups: dict[str, tuple[int, int, int]] = GROUPS, **how: Any
) -> pl.DataFrame:
    """JUDGEMENTS of ``run`` in the direct style."""
    given = {name: how.pop(name) for name in ("controls_right", "log_odds") if name in how}
    return f.make_judgements(
        responder, f.make_questions([run], styles=["direct"], groups=groups, **how), seed=seed, **given
    )


def invalid(share: float, otherwise: f.Responder) -> f.Responder:
    """``otherwise``, but of the typed concepts every so-manieth answer is invalid."""
    every = round(1 / share)

    def respond(questions: pl.DataFrame, rng: Any) -> pl.Series:
        lost = pl.Series(range(questions.height)) % every == 0
        return f.constant("invalid")(questions, rng).zip_with(lost, otherwise(questions, rng))

    return respond


def side(
    judgements: pl.DataFrame, here: bool, pair: int = 0, answers: pl.DataFrame | None = None, **facts: Any
) -> pl.DataFrame:
    """One side, as ``changes`` takes it; ``facts`` are columns of its answers that are otherwise than usual."""
    answers = (f.make_answers(judgements) if answers is None else answers).with_columns(
        **{name: pl.lit(value) if isinstance(value, str) else value for name, value in facts.items()}
    )
    key = ["run", "benchmark", "language", "protocol", "item_id", "variant", "epoch"]
    rows = judgements.select(*NEEDED).join(answers.select(*key, *ASKED), on=key)
    return rows.with_columns(pl.lit(pair).alias("pair"), pl.lit(here).alias("here"))


def compare(earlier: pl.DataFrame, later: pl.DataFrame, **facts: Any) -> pl.DataFrame:
    """How ``later`` differs from ``earlier`` (JUDGEMENTS both); ``facts`` as of ``side``, of the later one."""
    return changes(pl.concat([side(earlier, False), side(later, True, **facts)]))


def row(
    found: pl.DataFrame, metric: str = "lean", domain: str = "all", style: str = "all", **more: str
) -> dict[str, Any]:
    wanted = {"metric": metric, "domain": domain, "style": style, **more}
    (only,) = found.filter(pl.all_horizontal(pl.col(name) == value for name, value in wanted.items())).to_dicts()
    return only
