"""Today's tables beside those of an earlier revision: what is compared, what is only named, what moved."""

import json
import shutil
from collections.abc import Callable
from hashlib import md5
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from flows.numbers import metrics_versions
from flows.past import MANIFEST
from flows.reproduction import MADE
from flows.revision import Revision, compare
from flows.revision_tables import items, scores, summary
from stages.differences import files
from stages.errors import DataError, UsageError
from stages.ledger import named, read_ledger
from stages.schema import ANSWERS, JUDGEMENTS, METRICS_VERSION, SCORES
from stages.store import forget
from tests import factories as f
from tests import sentences
from tests.conftest import make_project
from tests.report.test_stereoset import record_answers

A, B = "model-a@2026-11-30", "model-b@2026-11-30"
LATER = "model-a@2026-12-07"
SMALL = {"occupation": (2, 2, 0), "control": (1, 1, 0)}
REST = "run=2026-11-30/checkup.en.two.parquet"


def put(root: Path, *runs: str, **entry: Any) -> None:
    asked = f.make_questions(runs, styles=["direct"], groups=SMALL)
    f.record(root, f.make_judgements(f.always_stereotype, asked), SCORES.empty(), **entry)


def derive(root: Path) -> None:
    for stage in MADE:
        stage(root)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made")
    make_project(root)
    put(root, A, LATER, B)
    derive(root)
    return root


@pytest.fixture
def sides(made: Path, tmp_path: Path) -> tuple[Path, Path]:
    return laid_out(made, tmp_path)


def laid_out(made: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A project, and the same as an earlier revision recorded it."""
    root, folder = tmp_path / "root", tmp_path / "previous"
    shutil.copytree(made, root, ignore=shutil.ignore_patterns("root", "previous"))
    for name in ("data", "runs"):
        shutil.copytree(made / name, folder / name)
    hashes = {name: md5(path.read_bytes()).hexdigest() for name, path in files(root, ANSWERS).items()}
    (folder / MANIFEST).write_text(json.dumps(hashes), encoding="utf-8")
    return root, folder


def compared(sides: tuple[Path, Path], *models: str, benchmarks: tuple[str, ...] = ()) -> Revision:
    return compare(*sides, "v1", models, benchmarks, ())


def change(path: Path, function: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    function(pl.read_parquet(path, hive_partitioning=False)).write_parquet(path)


def unread(folder: Path, model: str, n: int) -> None:
    """As if the earlier revision had not understood the first ``n`` replies."""

    def outcome(rows: pl.DataFrame) -> pl.DataFrame:
        first = pl.int_range(pl.len()) < n
        return rows.with_columns(pl.when(first).then(pl.lit("invalid")).otherwise("outcome").alias("outcome"))

    change(files(folder, JUDGEMENTS)[f"model={model}/{REST}"], outcome)


def test_nothing_moved(sides: tuple[Path, Path]) -> None:
    found = compared(sides)
    assert not found.moved
    assert found.sentences == [
        "Compared 3 files of answers, of 3 runs; the answers are untouched.",
        "Nothing moved since v1.",
    ]
    assert summary(found).select("model", "answers", "changed", "moved", "run").rows() == [
        ("model-a", 24, 0, 0, LATER),
        ("model-b", 12, 0, 0, B),
    ]
    assert items(found).is_empty()
    assert scores(found).is_empty()


def test_what_moved_is_counted_by_model_and_listed(sides: tuple[Path, Path]) -> None:
    root, folder = sides
    unread(folder, "model-b", 5)

    def other(rows: pl.DataFrame) -> pl.DataFrame:
        lean = (pl.col("metric") == "lean") & (pl.col("domain") == "all") & (pl.col("typed") == "all")
        return rows.filter(pl.col("metric") != "default").with_columns(
            pl.when(lean).then(50.0).otherwise("value").alias("value"),
            pl.lit(METRICS_VERSION - 1, pl.Int64).alias("metrics_version"),
        )

    change(files(folder, SCORES)[f"model=model-b/{REST}"], other)
    found = compared(sides)
    _, row = summary(found).to_dicts()
    assert row["changed"] == 5
    assert row["outcomes"] == "invalid → correct: 4, invalid → stereotype: 1"
    assert (row["metrics_version_before"], row["metrics_version"]) == (METRICS_VERSION - 1, METRICS_VERSION)
    assert "lean 50.0 → 100.0" in row["headline"]
    assert "default – → 0.0" in row["headline"]
    assert row["new"] == scores(found).filter(pl.col("change") == "new").height > 0
    moved = scores(found).filter(pl.col("change") == "moved")
    assert moved.select("metric", "value_before", "value").unique().rows() == [("lean", 50.0, 100.0)]
    assert row["moved"] == moved.height
    listed = items(found)
    assert set(listed["run"]) == {B}
    assert listed["before"].unique().to_list() == ["invalid"]
    assert listed["reply"].null_count() == 0
    assert found.moved
    assert "judgements: 5 moved (outcome 5); scores: " in " ".join(found.sentences)
    assert compared(sides, "model-a").sentences[-1] == "Nothing moved since v1."
    assert metrics_versions(found.files(root, SCORES).values()) == {METRICS_VERSION}


def test_runs_that_only_one_side_has_are_named_and_not_counted(sides: tuple[Path, Path]) -> None:
    root, _ = sides
    forget(root, named(read_ledger(root), B))
    put(root, "model-c@2026-12-07")
    derive(root)
    found = compared(sides)
    assert not found.moved
    assert found.sentences[:3] == [
        "Compared 2 files of answers, of 2 runs; the answers are untouched.",
        "New since then, and not compared: run model-c@2026-12-07.",
        f"Gone since then, and not compared: run {B}.",
    ]


def test_a_retired_run_is_not_compared(sides: tuple[Path, Path]) -> None:
    root, _ = sides
    put(root, B, retired=True)
    derive(root)
    assert compared(sides).sentences[1] == f"Gone since then, and not compared: run {B}."


def test_answers_that_were_not_judged_then_are_new(sides: tuple[Path, Path]) -> None:
    _, folder = sides
    files(folder, JUDGEMENTS)[f"model=model-b/{REST}"].unlink()
    assert compared(sides).sentences[1] == f"New since then, and not compared: run {B}."


def test_a_run_that_grew_is_compared_in_what_it_had(sides: tuple[Path, Path]) -> None:
    root, _ = sides
    asked = [f.make_questions([B], language, styles=["direct"], groups=SMALL) for language in ("en", "zh")]
    f.record(root, pl.concat(f.make_judgements(f.always_stereotype, each) for each in asked), SCORES.empty())
    derive(root)
    found = compared(sides, "model-b")
    assert found.sentences[1] == (
        "New since then, and not compared: answers model=model-b/run=2026-11-30/checkup.zh.two.parquet."
    )
    assert summary(found)["language"].to_list() == ["en"]


def test_answers_that_are_not_those_of_then_are_named(sides: tuple[Path, Path]) -> None:
    root, _ = sides
    change(files(root, ANSWERS)[f"model=model-b/{REST}"], lambda rows: rows)
    assert (
        f"; model=model-b/{REST} hold other answers than then, so what moved there need not be the code's doing."
        in (compared(sides).sentences[0])
    )


def test_an_earlier_shape_of_the_tables_is_compared_and_said(sides: tuple[Path, Path]) -> None:
    _, folder = sides
    unread(folder, "model-b", 1)
    for path in files(folder, JUDGEMENTS).values():
        change(path, lambda rows: rows.drop("reason", "turn"))
    shutil.rmtree(folder / "data" / "votes")
    found = compared(sides, "model-b")
    assert items(found)["reason_before"].to_list() == [None]
    assert any(sentence.startswith("SCHEMA_VERSION unknown → ") for sentence in found.sentences)
    assert "votes: 6 new" in " ".join(found.sentences)


def test_benchmarks_that_are_scored_together_are_compared_together(project: Path, tmp_path: Path) -> None:
    record_answers(project, sentences.forced(sentences.made_up(), pl.lit("stereotype")))
    root, folder = laid_out(project, tmp_path)
    found = compared((root, folder), benchmarks=("stereoset",))
    assert summary(found).select("benchmark", "answers").rows() == [
        ("stereoset", 0), ("stereoset-intersentence", 48), ("stereoset-intrasentence", 48)
    ]  # fmt: skip
    assert "ss_macro 100.0" in summary(found)["headline"][0]
    assert len(compared((root, folder), benchmarks=("stereoset-intersentence",)).answers.shared) == 1


def test_what_is_recorded_nowhere_or_not_judged_is_one_sentence(sides: tuple[Path, Path]) -> None:
    root, _ = sides
    with pytest.raises(
        UsageError, match="Nothing of model nope is recorded, here or in v1; use one of: model-a, model-b"
    ):
        compared(sides, "nope")
    with pytest.raises(
        UsageError, match="Nothing of benchmark nope is recorded, here or in v1; use one of: checkup, st"
    ):
        compared(sides, benchmarks=("nope",))
    files(root, JUDGEMENTS)[f"model=model-b/{REST}"].unlink()
    with pytest.raises(DataError, match=r"data/judgements/model=model-b/.* is not here; make it with: dvc repro"):
        compared(sides)


def test_what_is_not_of_todays_code_is_said_first(sides: tuple[Path, Path]) -> None:
    found = compare(*sides, "v1", (), (), ("judge", "score"))
    assert found.sentences[0] == "Not of today's code or data: judge and score; make it so first with: dvc repro."
