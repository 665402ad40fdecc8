"""The mart ``changed``: the rule of scheduled check-ups, row by row, and the noise of the reference."""

import polars as pl
import pytest

from stages.references import pin
from stages.report import query
from stages.schema import SCORES
from stages.score import score, score_all
from tests import factories as f
from tests.conftest import make_project
from tests.score.compared import GROUPS

STEADY, TURNED = f.association(0.85, 0.1), f.association(0.2, 0.1)
RUNS: dict[str, tuple[f.Responder, str, str | None]] = {
    # run -> how it answers, its verdict, and whether it is a hit
    "model-a@2026-11-02": (STEADY, "", None),
    "model-a@2026-11-02.2": (STEADY, "no change seen", "no"),
    "model-a@2026-11-02.3": (f.mixed({"invalid": 0.2}, TURNED), "not comparable", "no"),
    "model-a@2026-11-09": (STEADY, "no change seen", "no"),
    "model-a@2026-11-16": (TURNED, "to be repeated", "yes"),
    "model-a@2026-11-23": (TURNED, "changed", "yes"),
    "model-a@2026-11-23.2": (TURNED, "changed", "yes"),
    "model-a@2026-11-30": (TURNED, "not repeated", "yes"),
    "model-a@2026-11-30.2": (STEADY, "no change seen", "no"),
    "model-a@2026-12-01": (STEADY, "no change seen", "no"),
    "model-a@2026-12-01.2": (TURNED, "changed", "yes"),
    "model-a@2026-12-01.3": (TURNED, "changed", "yes"),
    "model-a@2026-12-01.4": (STEADY, "no change seen", "no"),
    "model-a@2026-12-01.5": (TURNED, "to be repeated", "yes"),
    "model-a@2026-12-07": (f.mixed({"invalid": 0.2}, TURNED), "not comparable", "no"),
}


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    root = tmp_path_factory.mktemp("changed")
    make_project(root)
    rows = pl.concat(
        f.make_judgements(how, f.make_questions([run], styles=["direct"], groups=GROUPS), seed=seed)
        for seed, (run, (how, _, _)) in enumerate(RUNS.items())
    )
    f.record(root, rows, SCORES.conform(score(rows)))
    pin(root, "model-a@2026-11-02")
    score_all(root)
    return query(root, "from changed")


@pytest.mark.parametrize("run", [run for run, (_, verdict, _) in RUNS.items() if verdict])
def test_verdict(changed: pl.DataFrame, run: str) -> None:
    (found,) = changed.filter(run=run).to_dicts()
    assert (found["verdict"], found["hit"], found["reference"]) == (
        RUNS[run][1],
        RUNS[run][2] == "yes",
        "model-a@2026-11-02",
    )


def test_the_noise_is_what_differed_when_nothing_had_changed(changed: pl.DataFrame) -> None:
    again = changed.filter(run="model-a@2026-11-02.2")["value"].item()
    assert changed["noise"].to_list() == [again] * (len(RUNS) - 1)


def test_what_is_held_back_is_no_noise(changed: pl.DataFrame) -> None:
    """The third run of the reference's day lost answers; however far it lies, nothing can be said of it."""
    third = changed.filter(run="model-a@2026-11-02.3")
    assert (third["verdict"].item(), abs(third["value"].item()) > 50) == ("not comparable", True)
