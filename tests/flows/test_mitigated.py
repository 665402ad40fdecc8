"""What the commands say of mitigations: checkup compare --by mitigation, and the lines at the end of a run."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from flows import artifacts, entry, mitigated
from flows.headlines import headlines
from stages.schema import EFFECTS
from stages.score import score_all, score_and_compare
from tests import factories as f
from tests.conftest import make_project
from tests.score import mitigated as m

pytestmark = pytest.mark.slow

EARLIER, LATER = "model-a@2026-11-23", "model-a@2026-11-30"
Call = Callable[..., tuple[int, str, str]]


def judgements() -> pl.DataFrame:
    """A prompt that refuses at first and halves the lean later; worked examples that do nothing, asked later only."""

    def asked(run: str, **behaviours: str) -> pl.DataFrame:
        said = {name.replace("_", "-"): m.BEHAVIOURS[behaviour][1] for name, behaviour in behaviours.items()}
        return m.judgements(said, [run], epochs=2)

    earlier = asked(EARLIER, neutral_system_prompt="refused")
    return pl.concat([earlier, asked(LATER, neutral_system_prompt="halved", few_shot="same")])


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mitigated")
    make_project(root)
    rows = judgements()
    f.record(root, rows, *score_and_compare(rows))
    score_all(root)
    return root


@pytest.fixture
def checkup(recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    monkeypatch.setenv("CHECKUP_ROOT", str(recorded))
    monkeypatch.setenv("CHECKUP_DEBUG", "")

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["checkup", *arguments])
        with pytest.raises(SystemExit) as ending:
            entry.main()
        said = capsys.readouterr()
        return int(ending.value.code or 0), said.out, said.err

    return call


def test_a_run_is_compared_with_itself_without(checkup: Call) -> None:
    code, out, _ = checkup("compare", LATER, "--by", "mitigation")
    assert code == 0
    (better,) = (line for line in out.splitlines() if "three+neutral-system-prompt  all" in line)
    assert " better " in better
    assert "100.0 → 100.0" in better
    (same,) = (line for line in out.splitlines() if " no change " in line)
    assert "three+few-shot" in same
    assert same.rstrip().endswith("lean not surely nearer to 0")
    assert sum(" family " in line for line in out.splitlines()) == 2


def test_effects_as_json_are_the_table_with_the_verdict(checkup: Call) -> None:
    _, out, _ = checkup("compare", LATER, "--by", "mitigation", "--format", "json")
    rows = json.loads(out)
    assert set(rows[0]) == {*EFFECTS.schema, "verdict", "reasons"}
    assert {row["verdict"] for row in rows if row["protocol"] == "three+few-shot"} == {"no change"}


def test_two_runs_say_which_verdicts_moved(checkup: Call) -> None:
    _, out, _ = checkup("compare", EARLIER, LATER)
    moved = "checkup en three+neutral-system-prompt: better, before: bought by refusals."
    assert out.splitlines()[-1] == moved
    assert all("*" not in line for line in out.splitlines() if " three+neutral-system-prompt " in line)
    _, out, _ = checkup("compare", EARLIER, LATER, "--by", "mitigation")
    (line,) = (line for line in out.splitlines() if "three+" in line)
    assert line.index("bought by refusals") < line.index("better")


def test_a_run_ends_with_a_line_for_each(recorded: Path) -> None:
    said = mitigated.lines(recorded, [LATER])
    assert [line.split(",")[0] for line in said] == [
        f"{LATER} en three+few-shot: no change",
        f"{LATER} en three+neutral-system-prompt: better",
    ]
    assert mitigated.lines(recorded, []) == []
    assert [headline.protocol for headline in headlines(recorded, [LATER])] == ["three"]
    assert f"## What mitigations do\n\n- {said[0]}" in artifacts.summary(recorded, [LATER], {})


def test_a_run_without_is_told_how_to_ask(checkup: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_project(tmp_path)
    rows = f.make_judgements(f.coin, f.make_questions([LATER], styles=["direct"], groups={"occupation": (2, 2, 0)}))
    f.record(tmp_path, rows, *score_and_compare(rows))
    monkeypatch.setenv("CHECKUP_ROOT", str(tmp_path))
    code, out, err = checkup("compare", LATER, "--by", "mitigation")
    assert (code, out) == (1, "")
    assert err.strip().endswith("ask both with: checkup run --plan mitigations.")
    assert "There is no run" in checkup("compare", "nobody@2026-11-30", "--by", "mitigation")[2]
