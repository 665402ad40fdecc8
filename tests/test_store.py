import shutil
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from stages.errors import DataError, LedgerError, UsageError
from stages.ledger import Run, named, planned, read_ledger, record, runs
from stages.locks import held
from stages.params import read_params
from stages.requests import Request
from stages.schema import ANSWERS, CONTRACTS, JUDGEMENTS
from stages.store import Partition, forget, partitions, project_root, prune, read, read_items, recorded, write

ROWS = pl.DataFrame(
    [("items", 1, "a rule", None, True, 3, 0, None)], schema=CONTRACTS.schema, orient="row"
)  # fmt: skip


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.parquet", CONTRACTS, ROWS)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_any_folder_can_hold_a_table(tmp_path: Path) -> None:
    path = tmp_path / "a [b] *?" / "model=x" / "t.parquet"
    write(path, CONTRACTS, ROWS)
    assert read(path, CONTRACTS).equals(ROWS)


def test_a_file_that_is_no_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 but not really")
    with pytest.raises(DataError, match=r"t\.parquet cannot be read as Parquet: .*; restore it with: dvc checkout"):
        read(path, CONTRACTS)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write(path, CONTRACTS, ROWS)
    before = path.read_bytes()
    with pytest.raises(DataError, match="column 'rows' is null"):
        write(path, CONTRACTS, ROWS.with_columns(rows=pl.lit(None, pl.Int64)))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_project_is_found_from_below_and_missed_outside(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHECKUP_ROOT", str(project / "data" / "checkup"))
    assert project_root() == project
    monkeypatch.setenv("CHECKUP_ROOT", "/")
    with pytest.raises(UsageError, match="go to the project's folder"):
        project_root()


def test_items_that_were_not_loaded_say_how(project: Path) -> None:
    with pytest.raises(DataError, match="make it with: dvc repro load"):
        read_items(project, "checkup")


def made(project: Path, **changes: object) -> Run:
    run = planned(
        read_ledger(project),
        read_params(project),
        Request("gemma-3-270m", languages=("en",)),
        datetime(2026, 11, 30, tzinfo=UTC),
    )
    run = Run(run.model, run.stamp, run.entry.model_copy(update=changes))
    record(project, run)
    return run


def put(project: Path, part: Partition) -> Path:
    path = part.path(project, JUDGEMENTS)
    write(path, JUDGEMENTS, JUDGEMENTS.empty())
    return path


def test_recorded_are_the_files_of_runs_that_are_not_retired(project: Path) -> None:
    (part,) = partitions(made(project))
    assert recorded(project, read_ledger(project), JUDGEMENTS) == []
    put(project, part)
    assert [str(p) for p in recorded(project, read_ledger(project), JUDGEMENTS)] == [str(part)]
    made(project, retired=True)
    assert recorded(project, read_ledger(project), JUDGEMENTS) == []


def test_a_sealed_run_without_its_file_is_to_be_fetched(project: Path) -> None:
    made(project, state="sealed")
    with pytest.raises(LedgerError, match="fetch it with: dvc pull"):
        recorded(project, read_ledger(project), ANSWERS)
    assert recorded(project, read_ledger(project), JUDGEMENTS) == [], "what is derived is made, not fetched"


def test_a_forgotten_run_leaves_files_and_ledger_and_no_other_run(project: Path) -> None:
    first = made(project)
    second = Run(first.model, "2026-11-30.2", first.entry)
    record(project, second)
    paths = {run.stamp: [put(project, part) for part in partitions(run)] for run in (first, second)}
    forget(project, named(read_ledger(project), second.id))
    assert [run.id for run in runs(read_ledger(project))] == [first.id]
    assert all(path.exists() for path in paths[first.stamp])
    assert not any(path.exists() for path in paths[second.stamp])
    forget(project, first)
    assert read_ledger(project).runs == {}
    assert list((project / "data" / "judgements").iterdir()) == []
    with pytest.raises(UsageError, match="There is no run gemma-3-270m@2026-11-30"):
        named(read_ledger(project), first.id)


def test_a_run_that_is_being_asked_is_not_forgotten(project: Path) -> None:
    run = made(project)
    with (
        held(project, run.id, "it", 0),
        pytest.raises(LedgerError, match=rf"^Run {run.id} is held by process \d+; wait"),
    ):
        forget(project, run)
    assert read_ledger(project).runs != {}


def test_what_cannot_be_deleted_stays_in_the_ledger(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made(project)
    path = put(project, next(partitions(run)))

    def refused(folder: Path) -> None:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(shutil, "rmtree", refused)
    with pytest.raises(DataError, match="run=2026-11-30 cannot be deleted: Permission denied; make it writable"):
        forget(project, run)
    assert path.exists()
    assert read_ledger(project).runs != {}


def test_what_is_no_longer_derived_is_deleted(project: Path) -> None:
    (part,) = partitions(made(project))
    old = put(project, Partition(part.run, "checkup", "zh", "two"))
    write(part.path(project, JUDGEMENTS), JUDGEMENTS, JUDGEMENTS.empty())
    prune(project, JUDGEMENTS, {part.path(project, JUDGEMENTS)})
    assert part.path(project, JUDGEMENTS).exists()
    assert not old.exists()
    prune(project, JUDGEMENTS, set())
    assert list((project / "data" / "judgements").iterdir()) == []
