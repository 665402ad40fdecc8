"""Answers that were found good before are not checked again, and what is said of all is the same."""

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from stages.errors import ContractBroken
from stages.ledger import Run, named, read_ledger, record
from stages.schema import ANSWERS
from stages.stamps import FOLDER
from stages.store import forget, partitions, read, write
from stages.validate import answers, validate_answers
from tests.validate.test_validate import copied, written

pytestmark = pytest.mark.slow
FIRST, SECOND = "gemma-3-270m@2026-11-30", "gemma-3-270m@2026-12-07"


def again(root: Path) -> Run:
    """The run of ``asked`` once more, a week later."""
    run = named(read_ledger(root), FIRST)
    later = Run(run.model, SECOND.split("@")[1], run.entry)
    for part, copy in zip(partitions(run), partitions(later), strict=True):
        rows = read(part.path(root, ANSWERS), ANSWERS)
        write(copy.path(root, ANSWERS), ANSWERS, rows.with_columns(run=pl.lit(later.id), date=pl.lit(later.date)))
    record(root, later)
    return later


@pytest.fixture(scope="module")
def good(asked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose only run was found good."""
    project = copied(asked, tmp_path_factory.mktemp("good"))
    validate_answers(project)
    return project


@pytest.fixture
def root(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it; ``checked`` has the files that are checked from then on."""
    project = Path(shutil.copytree(good, tmp_path / "project"))
    plain = answers.judgeable
    checked.clear()

    def watched(frame: pl.DataFrame, file: str) -> pl.DataFrame:
        checked.append(file)
        return plain(frame, file)

    monkeypatch.setattr(answers, "judgeable", watched)
    return project


checked: list[str] = []


def from_nothing(root: Path) -> dict[str, bytes]:
    shutil.rmtree(root / FOLDER)
    validate_answers(root)
    return written(root)


def test_a_new_run_alone_is_checked_and_all_are_counted(root: Path) -> None:
    again(root)
    validate_answers(root)
    assert [file.split("/")[3] for file in checked] == ["run=2026-12-07"] * 2
    found = written(root)
    assert from_nothing(root) == found
    assert len(checked) == 6


def test_without_anything_new_one_run_gives_the_results(root: Path) -> None:
    before = written(root)
    again(root)
    validate_answers(root)
    both = written(root)
    assert both != before
    validate_answers(root)
    assert written(root) == both
    assert len(checked) == 4
    forget(root, named(read_ledger(root), SECOND))
    validate_answers(root)
    assert written(root) == before


BROKEN: dict[str, tuple[str, Callable[[Path], None]]] = {
    "the new run": (
        SECOND,
        lambda path: change(path, reply=pl.lit(None, pl.String), stop_reason=pl.lit(None, pl.String)),
    ),
    "the old run": (FIRST, lambda path: change(path, attempts=pl.lit(-1, pl.Int64))),
}


def change(path: Path, **columns: pl.Expr) -> None:
    pl.read_parquet(path, hive_partitioning=False).with_columns(**columns).write_parquet(path)


@pytest.mark.parametrize("case", BROKEN)
def test_where_anything_is_broken_it_is_said_of_all(root: Path, case: str) -> None:
    again(root)
    name, break_it = BROKEN[case]
    break_it(next(partitions(named(read_ledger(root), name))).path(root, ANSWERS))
    with pytest.raises(ContractBroken) as found:
        validate_answers(root)
    said = written(root)
    shutil.rmtree(root / FOLDER)
    with pytest.raises(ContractBroken) as whole:
        validate_answers(root)
    assert str(found.value) == str(whole.value)
    assert written(root) == said


def test_another_entry_in_the_ledger_is_checked_again(root: Path) -> None:
    run = named(read_ledger(root), FIRST)
    record(root, Run(run.model, run.stamp, run.entry.model_copy(update={"limit": 1})))
    with pytest.raises(ContractBroken, match="no more items than the ledger's limit"):
        validate_answers(root)
