"""Logs of Inspect, real ones: what its own StereoSet task wrote comes in, and what goes out comes back the same.

inspect_ai and inspect_evals are in a dependency group of their own (see CONTRIBUTING.md); without them this is skipped.
"""

import json
import math
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from flows.collected import Source, export_questions, import_answers
from flows.inspecting import export_inspect, import_inspect
from stages.errors import DataError, UsageError
from stages.judge import judge, judge_all
from stages.ledger import read_ledger
from stages.query import Silent, query_model
from stages.requests import Request
from stages.schema import ANSWERS
from stages.store import read_all, recorded
from stages.validate import validate_answers
from tests.conftest import ROOT
from tests.stereoset import Raw, official, record

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect-ai is not installed: it is in the group inspect")
theirs = pytest.importorskip("inspect_evals.stereoset.stereoset", reason="inspect-evals is not installed")
task = pytest.importorskip("tests.inspect_task", reason="inspect-evals is not installed")
pytestmark = pytest.mark.inspect
RAWS: list[Raw] = task.RAWS


@pytest.fixture
def loaded(project: Path) -> Path:
    """A project whose StereoSet is ``RAWS``."""
    return with_records(project, RAWS)


def with_records(project: Path, raws: list[Raw]) -> Path:
    both = {task.TASK: raws, "intrasentence": [record("intrasentence", "gender", 0)]}
    (project / "data" / "stereoset" / "dev.json").write_bytes(official(both))
    return project


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The log of inspect_evals' task over ``RAWS``, two epochs, choices shuffled, as it is after reading it."""
    folder = tmp_path_factory.mktemp("logs")
    command = [sys.executable, "-m", "tests.inspect_task", str(folder)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True, timeout=100)
    log = inspect_ai.log.read_eval_log(said.stdout.strip().splitlines()[-1])
    assert log.status == "success", log.error
    return log


@pytest.fixture
def take(loaded: Path, real: Any, tmp_path: Path) -> Callable[..., str]:
    """Import ``real`` with the fields of it that are given."""

    def take(name: str = "log.eval", key: str = "gpt-x", date: str | None = None, **changes: Any) -> str:
        inspect_ai.log.write_eval_log(real.model_copy(update=changes, deep=True), tmp_path / name)
        return import_inspect(loaded, tmp_path / name, key, date, None)

    return take


def answers(root: Path, model: str) -> pl.DataFrame:
    return read_all(root, recorded(root, read_ledger(root), ANSWERS), ANSWERS).filter(model=model)


@pytest.mark.parametrize("name", ["log.eval", "log.json"])
def test_a_log_of_their_task_is_a_sealed_run(
    loaded: Path, take: Callable[..., str], real: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHECKUP_NO_CALLS", "1")
    day = real.eval.created[:10]
    assert take(name) == (
        f"gpt-x@{day}: imported stereoset-intersentence.en.inspect (success: 40 of 40 questions answered); score it with: dvc repro."
    )
    found = answers(loaded, "gpt-x")
    said = {(sample.id, sample.epoch): sample for sample in real.samples}
    for row in found.iter_rows(named=True):
        sample = said[row["item_id"], row["epoch"]]
        assert (row["reply"], [option["text"] for option in row["options"]]) == (
            sample.output.completion,
            sample.choices,
        )
        assert sample.messages[1].text == json.loads(row["prompt"])[1]["content"]
    kept = (
        "prompt_tokens",
        "completion_tokens",
        "cached_tokens",
        "served_model",
        "stop_reason",
        "params_requested",
        "access_route",
    )
    assert found.select(kept).unique().rows() == [(100, 4, 10, "served-x", "stop", '{"temperature":0.5}', "imported")]
    validate_answers(loaded)
    query_model(loaded, "gpt-x", threading.Event(), Silent())
    assert take(name).endswith("has these answers already; nothing to do.")


def test_what_they_score_as_related_is_what_we_judge_as_related(
    loaded: Path, take: Callable[..., str], real: Any
) -> None:
    take()
    ours = {
        (row["item_id"], row["epoch"]): row["outcome"] != "unrelated"
        for row in judge(answers(loaded, "gpt-x")).iter_rows(named=True)
    }
    scored = {(s.id, s.epoch): s.scores["multiple_choice_scorer"].value == "C" for s in real.samples}
    assert ours == scored
    assert set(ours.values()) == {True, False}


@pytest.mark.parametrize("name", ["log.eval", "log.json"])
@pytest.mark.parametrize("status", ["started", "cancelled", "error"])
def test_a_partial_log_is_taken_with_its_coverage(
    project: Path, real: Any, tmp_path: Path, name: str, status: str
) -> None:
    """Twelve of twenty samples, one of them ended by an error, one score and one time no number, the ids 1 and "01"."""
    ids: dict[str, int | str] = {RAWS[0]["id"]: 1, RAWS[1]["id"]: "01"}
    with_records(project, [{**raw, "id": str(ids.get(raw["id"], raw["id"]))} for raw in RAWS])
    partial = real.model_copy(deep=True, update={"status": status})
    partial.eval.dataset.sample_ids = [ids.get(raw["id"], raw["id"]) for raw in RAWS]
    partial.eval.config.epochs = 1
    places = {raw["id"]: place for place, raw in enumerate(RAWS)}
    partial.samples = [s for s in partial.samples if s.epoch == 1 and places[s.id] < 12]
    for sample in partial.samples:
        sample.id = ids.get(sample.id, sample.id)
    first, second, failed, *_ = partial.samples
    first.scores["multiple_choice_scorer"].value = math.nan
    second.output.time = math.inf
    failed.error = inspect_ai.log.EvalError(
        message="Error code: 401: no such key: sk-abcdefghijklmnop", traceback="", traceback_ansi=""
    )
    inspect_ai.log.write_eval_log(partial, tmp_path / name)
    said = import_inspect(project, tmp_path / name, "gpt-x", "2026-11-30", None)
    assert f"({status}: 11 of 20 questions answered)" in said
    found = answers(project, "gpt-x")
    assert {"1", "01"} <= set(found["item_id"])
    assert sorted(found["failure"].drop_nulls()) == ["inspect_error", *["not_asked"] * 8]
    assert found["latency"].is_finite().all() in (True, None)
    assert found.filter(failure="inspect_error")["failure_message"].item() == "Error code: 401: no such key: ***"
    assert f"({status})" in found["collector"][0]
    if (name, status) == ("log.eval", "error"):
        validate_answers(project)


def test_other_answers_of_the_same_day_are_refused(loaded: Path, take: Callable[..., str], real: Any) -> None:
    take()
    other = real.model_copy(deep=True)
    other.samples[0].output.choices[0].message.content = "ANSWER: Z"
    other.samples[0].output.completion = "ANSWER: Z"
    with pytest.raises(
        DataError, match=r"has other answers of stereoset-intersentence in en than log\.eval; take another --date"
    ):
        take(samples=other.samples)
    assert "imported" in take(samples=other.samples, date="2026-11-29")
    assert answers(loaded, "gpt-x").height == 80


def test_a_sample_that_was_taken_back_is_no_answer(loaded: Path, take: Callable[..., str], real: Any) -> None:
    changed = inspect_ai.log.invalidate_samples(
        real.model_copy(deep=True), [real.samples[0].uuid], inspect_ai.log.ProvenanceData(author="A. B.")
    )
    take(samples=changed.samples)
    assert answers(loaded, "gpt-x")["failure"].drop_nulls().to_list() == ["invalidated"]


@pytest.mark.parametrize(
    ("name", "content", "error", "sentence"),
    [
        ("log.eval", b"PK", DataError, r"^log\.eval cannot be read as a log of Inspect: .*; take another copy of it\.$"),
        ("log.json", b"{}", DataError, r"^log\.json cannot be read as a log of Inspect: .*; take another copy of it\.$"),
        ("log.txt", b"", UsageError, r"^log\.txt is no log of Inspect by its name; name a file that ends in \.eval or \.json\.$"),
        ("none.eval", None, UsageError, r"none\.eval is not there; name a log of Inspect\.$"),
    ],
)  # fmt: skip
def test_what_is_no_log_is_one_sentence(
    loaded: Path, tmp_path: Path, name: str, content: bytes | None, error: type[Exception], sentence: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=sentence) as caught:
        import_inspect(loaded, tmp_path / name, "gpt-x", None, None)
    assert "\n" not in str(caught.value)


def test_an_exported_run_comes_back_with_the_same_replies_and_outcomes(loaded: Path) -> None:
    export_questions(loaded, Request("", "stereoset", epochs=6, limit=10), loaded / "questions.jsonl", "en")
    rows = [json.loads(line) for line in (loaded / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    replies = [
        "ANSWER: A",
        "ANSWER: C",
        "I can't choose.",
        "Because.\n\nANSWER: B",
        "Request timed out.",
        None,
        "ANSWER: Q",
    ]
    for place, row in enumerate(rows):
        row["reply"] = replies[place % len(replies)]
    (loaded / "answers.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    import_answers(loaded, "by-hand-x", "2026-11-30", Source(loaded / "answers.jsonl", "A. B.", Request("")))
    judge_all(loaded)
    paths = export_inspect(loaded, "by-hand-x@2026-11-30", None)
    assert [path.name for path in paths] == [
        "stereoset-intersentence.en.choice.eval",
        "stereoset-intrasentence.en.choice.eval",
    ]
    for path in paths:
        import_inspect(loaded, path, "back", "2026-11-30", None)
    judge_all(loaded)
    validate_answers(loaded)
    kept = (
        "benchmark",
        "item_id",
        "epoch",
        "order_index",
        "options",
        "item_hash",
        "reply",
        "failure",
        "prompt",
        "asked_at",
    )
    there, back = (answers(loaded, model).sort("benchmark", "item_id", "epoch") for model in ("by-hand-x", "back"))
    asked = there["failure"].ne_missing("not_asked")
    assert back.filter(asked).select(kept).equals(there.filter(asked).select(kept))
    assert there["failure"].equals(back["failure"])
    outcomes = [judge(frame).sort("benchmark", "item_id", "epoch")["outcome"] for frame in (there, back)]
    assert outcomes[0].equals(outcomes[1])
    assert outcomes[0].n_unique() > 4


def test_an_exported_log_is_listed_read_and_scored_by_inspect(
    loaded: Path, take: Callable[..., str], real: Any
) -> None:
    take()
    judge_all(loaded)
    (path,) = export_inspect(loaded, f"gpt-x@{real.eval.created[:10]}", loaded / "out")
    (listed,) = inspect_ai.log.list_eval_logs(str(loaded / "out"))
    log = inspect_ai.log.read_eval_log(listed)
    assert (log.status, log.eval.task, len(log.samples)) == (
        "success",
        "bias_checkup/stereoset-intersentence.en.inspect",
        40,
    )
    assert sum(metric.value for metric in log.results.scores[0].metrics.values()) == pytest.approx(100)
    scored = inspect_ai.score(
        log, [theirs.multiple_choice_scorer()], model="none/none", display="none", action="overwrite"
    )
    assert scored.results.scores[0].metrics["accuracy"].value == real.results.scores[0].metrics["accuracy"].value
    assert path.exists()
