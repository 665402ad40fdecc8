"""A run made again from its recorded answers, beside what is recorded of it."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from flows import reproduce
from flows.numbers import explained, schema_version, sections
from flows.reproduction import MADE
from stages.errors import CheckupError
from stages.references import pin
from stages.schema import ANSWERS, CHANGES, JUDGEMENTS, METRICS_VERSION, SCHEMA_VERSION, SCORES
from stages.score import score_all
from stages.table import Table
from tests import factories as f
from tests.conftest import ROOT, make_project
from tests.flows.test_cli import Checkup, checkup

__all__ = ["checkup"]
EARLIER, RUN, OTHER = "model-a@2026-11-23", "model-a@2026-11-30", "model-b@2026-11-30"
STRANGER = "model-c@2026-11-30"
"""Asked in another language than the others."""
FILES = 4
"""Of a run that has one to be compared with: judgements, votes, scores and changes."""
SMALL = {"occupation": (2, 2, 0), "control": (1, 1, 0)}


def put(root: Path, *runs: str, language: str = "en", **entry: Any) -> None:
    """Record ``runs``, which answer as tradition has it, and let the stages make of them what they make."""
    rows = f.make_judgements(f.always_stereotype, f.make_questions(runs, language, styles=["direct"], groups=SMALL))
    f.record(root, rows, SCORES.empty(), **entry)
    for stage in MADE:
        stage(root)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made")
    make_project(root)
    put(root, STRANGER, language="zh")
    put(root, EARLIER, RUN, OTHER)
    return root


@pytest.fixture
def root(made: Path, project: Path) -> Path:
    """A project of its own with these runs."""
    for name in ("data", "runs"):
        shutil.copytree(made / name, project / name, dirs_exist_ok=True)
    return project


def file(root: Path, table: Table) -> Path:
    return root / "data" / table.name / "model=model-a" / "run=2026-11-30" / "checkup.en.two.parquet"


def change(path: Path, function: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    function(pl.read_parquet(path, hive_partitioning=False)).write_parquet(path)


def hashes(root: Path) -> dict[str, str]:
    files = (path for path in root.rglob("*") if path.is_file() and ".cache" not in path.parts)
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_same_bytes_and_nothing_is_changed(root: Path) -> None:
    before = hashes(root)
    found = reproduce(RUN)
    assert found.same
    assert found.sentences == [f"{RUN}: same bytes in all {FILES} files."]
    assert hashes(root) == before


@pytest.mark.slow  # for time alone; that a run is compared with its model's first one, every other test here has in it
@pytest.mark.parametrize(("reference", "is_compared"), [(STRANGER, True), (RUN, False)])
def test_what_changed_since_a_pinned_reference_is_made_again_too(root: Path, reference: str, is_compared: bool) -> None:
    """A pinned run that asked none of the same is passed over; the reference itself is compared with none, also after an
    earlier run."""
    pin(root, reference, "model-a")
    score_all(root)
    assert file(root, CHANGES).exists() == is_compared
    n_files = FILES if is_compared else FILES - 1
    assert reproduce(RUN).sentences == [f"{RUN}: same bytes in all {n_files} files."]


def test_what_moved_is_listed_with_the_reason(root: Path, checkup: Checkup) -> None:
    """As if an earlier version had not understood one reply, and scored by other definitions."""
    change(file(root, JUDGEMENTS), lambda rows: rows.with_columns(
        pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("invalid")).otherwise("outcome").alias("outcome")
    ))  # fmt: skip
    change(
        file(root, SCORES),
        lambda rows: rows.with_columns(pl.col("metrics_version") - 1, pl.col("n") + 1),
    )
    (root / "docs").mkdir()
    text = f"# Numbers\n\n## {METRICS_VERSION}\n\nMore.\n\n## {METRICS_VERSION - 1}\n\nLess.\n"
    (root / "docs" / "changelog-of-numbers.md").write_text(text, encoding="utf-8")
    code, out, said = checkup("reproduce", RUN, "--format", "json")
    rows = json.loads(out)
    assert code == 1
    assert [(row["before"], row["after"], row["reply"]) for row in rows if row["table"] == "judgements"] == [
        ("invalid", "correct", "she")
    ]
    assert {row["column"] for row in rows if row["table"] == "scores"} == {"n"}
    assert f"{RUN} is not what is recorded. judgements: 1 moved (outcome 1); scores: " in said
    versions = f"METRICS_VERSION {METRICS_VERSION - 1} → {METRICS_VERSION}"
    assert f"{versions}; docs/changelog-of-numbers.md says:\n\n## {METRICS_VERSION}\n\nMore.\n" in said
    assert "Less." not in said

    code, out, said = checkup("reproduce", RUN)
    assert (code, said) == (1, "")
    assert f"… and {len(rows) - 40} more rows; all of them: --format csv." in out


def test_numbers_that_moved_under_one_version_are_to_be_declared(root: Path) -> None:
    change(file(root, SCORES), lambda rows: rows.with_columns(pl.col("n") + 1))
    assert (
        "raise it in stages/schema/labels.py and add a section to docs/changelog-of-numbers.md." in reproduce(RUN).why
    )


def test_other_bytes_with_the_same_rows_are_the_same(root: Path) -> None:
    change(file(root, JUDGEMENTS), lambda rows: rows)
    found = reproduce(RUN)
    assert found.same
    assert found.sentences == [
        f"{RUN}: same rows in all {FILES} files; 1 in other bytes, written by another version of the program or of polars."
    ]


def test_answers_of_an_earlier_version_of_their_table_are_judged_as_they_were(root: Path) -> None:
    """Files from before ``turn``, ``task`` and ``drafts`` were there. What their absence meant is what these answers say."""
    later = [column.name for column in ANSWERS.columns if column.since > 1]
    assert later == ["turn", "task", "drafts"]
    change(file(root, ANSWERS), lambda rows: rows.drop(later))
    assert reproduce(RUN).sentences == [f"{RUN}: same bytes in all {FILES} files."]


def gone(table: Table) -> Callable[[Path], None]:
    return lambda root: file(root, table).unlink()


def retire(root: Path) -> None:
    put(root, RUN, retired=True)


def reopen(root: Path) -> None:
    file(root, ANSWERS).unlink()
    path = root / "runs" / "model-a.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("sealed", "open"), encoding="utf-8")


def without_reference(root: Path) -> None:
    shutil.rmtree(root / "data" / "answers" / "model=model-a" / "run=2026-11-23")


@pytest.mark.parametrize(
    ("spoil", "run", "code", "sentence"),
    [
        (gone(ANSWERS), RUN, 1, f"Run {RUN} is sealed but data/answers/model=model-a/run=2026-11-30/checkup.en.two.parquet is not here; fetch it with: dvc pull"),
        (without_reference, RUN, 1, f"Run {EARLIER} is sealed but data/answers/model=model-a/run=2026-11-23/checkup.en.two.parquet is not here; fetch it with: dvc pull"),
        (gone(JUDGEMENTS), RUN, 1, "data/judgements/model=model-a/run=2026-11-30/checkup.en.two.parquet is not here, so there is nothing to compare with; fetch it with: dvc pull, or make it with: dvc repro."),
        (retire, RUN, 2, f"Run {RUN} is retired, so nothing is made of its answers; take `retired` out of its entry in runs/."),
        (reopen, RUN, 1, f"Run {RUN} is open and no file of its answers is complete; go on with: checkup run."),
        (lambda _: None, "model-d@2026-11-30", 2, "There is no run model-d@2026-11-30 in runs/; list the runs with: checkup runs."),
    ],
    ids=["answers gone", "answers of the reference gone", "not judged", "retired", "open", "unknown"],
)  # fmt: skip
def test_what_cannot_be_made_again_is_one_sentence(
    root: Path, spoil: Callable[[Path], None], run: str, code: int, sentence: str
) -> None:
    spoil(root)
    with pytest.raises(CheckupError) as caught:
        reproduce(run)
    assert str(caught.value).startswith(sentence)
    assert caught.value.exit_code == code


def test_every_file_says_under_which_shape_of_the_tables_it_was_written(root: Path) -> None:
    assert {schema_version(path) for path in (root / "data").rglob("model=*/**/*.parquet")} == {SCHEMA_VERSION}
    change(file(root, SCORES), lambda rows: rows)
    assert schema_version(file(root, SCORES)) is None


def test_the_changelog_has_a_section_for_every_version() -> None:
    found = sections(ROOT)
    assert set(found) == set(range(1, METRICS_VERSION + 1))
    assert explained(ROOT, {1}, {METRICS_VERSION}).count("\n## ") == METRICS_VERSION - 1
    assert explained(ROOT, {METRICS_VERSION}, {1}) == explained(ROOT, {1}, {METRICS_VERSION}).replace(
        f"1 → {METRICS_VERSION}", f"{METRICS_VERSION} → 1"
    )
    assert explained(ROOT, set(), {1}) == ""
