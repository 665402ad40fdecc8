"""Where tables live, and reading and writing them. Parquet (zstd), written whole or not at all."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import polars as pl

from stages.errors import DataError, LedgerError, UsageError
from stages.files import write_whole
from stages.ledger import Ledger, Run, drop, runs
from stages.locks import held
from stages.params import PARAMS_FILE
from stages.schema import ANSWERS, ITEMS, PUBLISHED, RECORDED, SCHEMA_VERSION
from stages.table import Table

ROOT_VARIABLE = "CHECKUP_ROOT"
WAIT_SECONDS = 300.0
SITE = "reports/site"
VALIDATION = "reports/validation"
HISTORY = "reports/history.duckdb"
VERSION_KEY = "schema_version"
"""What every file says in its Parquet metadata: the version of the tables' shape that it was written under."""


def project_root() -> Path:
    """The project's folder: ``CHECKUP_ROOT``, or the nearest one above that has params.yaml and dvc.yaml.

    :raises UsageError: there is none.
    """
    start = Path(os.environ.get(ROOT_VARIABLE, ".")).resolve()
    for folder in (start, *start.parents):
        if (folder / PARAMS_FILE).is_file() and (folder / "dvc.yaml").is_file():
            return folder
    raise UsageError(f"There is no {PARAMS_FILE} with a dvc.yaml in {start} or above it; go to the project's folder.")


@dataclass(frozen=True)
class Partition:
    """One file of a table: the rows of one run for one benchmark, language and protocol."""

    run: Run
    benchmark: str
    language: str
    protocol: str

    def path(self, root: Path, table: Table) -> Path:
        return self.run.file(root, table, (self.benchmark, self.language, self.protocol))

    @property
    def name(self) -> str:
        """What it is called in its run: ``benchmark.language.protocol``."""
        return f"{self.benchmark}.{self.language}.{self.protocol}"

    def __str__(self) -> str:
        return f"{self.run.id} {self.name}"


def partitions(run: Run) -> Iterator[Partition]:
    """Every partition that the ledger entry of ``run`` asks for."""
    for benchmark, language, protocol in run.entry.asks:
        yield Partition(run, benchmark, language, protocol)


def recorded(root: Path, ledger: Ledger, table: Table) -> list[Partition]:
    """The partitions of ``table`` that exist, over all runs in the ledger that are not retired.

    A derived file that is missing is not made yet; answers that are missing were.

    :raises LedgerError: a sealed run's answers are missing, or a file's run is not in the ledger.
    """
    expected = {p.path(root, table): p for run in runs(ledger, retired=True) for p in partitions(run)}
    stray = sorted(set((root / "data" / table.name).glob("model=*/run=*/*.parquet")) - set(expected))
    if stray:
        raise LedgerError(
            f"{stray[0].relative_to(root)} belongs to no run in runs/; restore the ledger with: git checkout runs."
        )
    for path, partition in expected.items():
        sealed = partition.run.entry.state == "sealed" and not partition.run.entry.retired
        if table is ANSWERS and sealed and not path.exists():
            raise LedgerError(
                f"Run {partition.run.id} is sealed but {path.relative_to(root)} is not here; fetch it with: dvc pull (if dvc.lock was deleted: git checkout dvc.lock first)."
            )
    return [p for path, p in expected.items() if path.exists() and not p.run.entry.retired]


def items_path(root: Path, benchmark: str) -> Path:
    return root / "data" / ITEMS.name / f"{benchmark}.parquet"


def published_path(root: Path) -> Path:
    return root / "data" / PUBLISHED.name / f"{PUBLISHED.name}.parquet"


def read_items(root: Path, benchmark: str) -> pl.DataFrame:
    """The items of ``benchmark``, one row per (language, item_id, variant).

    :raises DataError: they were not loaded yet.
    """
    path = items_path(root, benchmark)
    if not path.exists():
        raise DataError(f"{path.relative_to(root)} is not here; make it with: dvc repro load.")
    return read(path, ITEMS)


def read(path: Path, table: Table) -> pl.DataFrame:
    """One file of ``table`` with exactly its columns; an older file gets those that came later.

    :raises DataError: it is not Parquet, or a column is missing or of another type.
    """
    return table.conform(table.upgraded(read_unchecked(path)), str(path))


def read_unchecked(path: Path) -> pl.DataFrame:
    """A Parquet file as it is; only what judges files by their contracts should need it.

    :raises DataError: it is not Parquet.
    """
    try:
        return pl.read_parquet(path, hive_partitioning=False, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(
            f"{path} cannot be read as Parquet: {_first_line(error)}; restore it with: dvc checkout."
        ) from error


def read_all(root: Path, parts: Iterable[Partition], table: Table) -> pl.DataFrame:
    """All rows of ``parts`` in one frame; an empty frame with the table's columns when there are none."""
    return pl.concat([table.empty(), *(read(p.path(root, table), table) for p in parts)])


def write(path: Path, table: Table, frame: pl.DataFrame) -> None:
    """Write ``frame`` as one file of ``table``; the same rows give the same bytes.

    :raises DataError: the frame does not fit the table, or the file cannot be written.
    """
    conformed = table.conform(frame, path.name)
    content = BytesIO()
    conformed.write_parquet(content, compression="zstd", statistics=True, metadata={VERSION_KEY: str(SCHEMA_VERSION)})
    write_whole(path, content.getvalue())


def prune(root: Path, table: Table, kept: set[Path]) -> None:
    """Delete every file of a derived table but those ``kept`` (of any table); its folder stays, also when nothing is left."""
    folder = root / "data" / table.name
    folder.mkdir(parents=True, exist_ok=True)
    for path in set(folder.rglob("*.parquet")) - kept:
        path.unlink()
    for path in sorted((p for p in folder.rglob("*") if p.is_dir()), reverse=True):
        if not any(path.iterdir()):
            path.rmdir()


def exclusive(root: Path) -> AbstractContextManager[None]:
    """Held while recorded answers become tables and while new answers join them, so that no table is half of both.

    :raises LedgerError: another process holds it for longer than judging and scoring a long history takes.
    """
    return held(root, "tables", "What is recorded in data/", WAIT_SECONDS)


def forget(root: Path, run: Run) -> None:
    """Delete what is recorded of ``run``, answers and all that was made of them, and then its entry in the ledger.

    In that order, so that what a kill leaves is still named by the ledger and can be forgotten again.

    :raises LedgerError: the run is being asked, or another command works on what is recorded.
    :raises DataError: a file cannot be deleted.
    """
    with held(root, run.id, f"Run {run.id}", 0), exclusive(root):
        for table in RECORDED:
            _remove(run.folder(root, table))
        drop(root, run)


def _remove(folder: Path) -> None:
    try:
        if folder.exists():
            shutil.rmtree(folder)
        if folder.parent.exists() and not any(folder.parent.iterdir()):
            folder.parent.rmdir()
    except OSError as error:
        raise DataError(f"{folder} cannot be deleted: {_first_line(error)}; make it writable and try again.") from error


def _first_line(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or str(error)).strip().splitlines()[0].rstrip(".")
