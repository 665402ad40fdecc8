"""A run judged, reduced and scored again from its recorded answers, beside what is recorded of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from flows.numbers import explained, metrics_versions
from stages.differences import LINES, Difference, difference, files
from stages.errors import DataError, UsageError
from stages.judge import judge_all
from stages.ledger import Run, named, read_ledger, read_references, record, runs, write_references
from stages.reduce import reduce_all
from stages.references import pairings
from stages.schema import ANSWERS, JUDGEMENTS, METRICS_VERSION, RECORDED, SCORES
from stages.score import score_all
from stages.store import partitions, recorded

MADE = (judge_all, reduce_all, score_all)
DERIVED = tuple(table for table in RECORDED if table is not ANSWERS)


@dataclass(frozen=True)
class Reproduction:
    """What came of it. ``versions`` are those of the definitions that the recorded scores were made with."""

    run: str
    tables: tuple[Difference, ...]
    versions: set[int]
    why: str

    @property
    def moved(self) -> pl.DataFrame:
        """One row per row that is another now, rows of ``differences.LINES``."""
        return pl.concat([pl.DataFrame(schema=LINES), *(table.lines() for table in self.tables)])

    @property
    def same(self) -> bool:
        return not any(table.rows.height for table in self.tables)

    @property
    def sentences(self) -> list[str]:
        """What came of it, and why, for people."""
        n_files = sum(table.n_files for table in self.tables)
        n_other = n_files - sum(table.n_same for table in self.tables)
        if not n_other:
            return [f"{self.run}: same bytes in all {n_files} files."]
        if self.same:
            return [
                f"{self.run}: same rows in all {n_files} files; {n_other} in other bytes, written by another version of the "
                "program or of polars."
            ]
        return [f"{self.run} is not what is recorded. {told(self.tables)}", *filter(None, [self.why])]


def told(tables: Iterable[Difference]) -> str:
    """What moved in each of ``tables`` of which anything did, in one line."""
    return "; ".join(table.told for table in tables if table.rows.height) + "."


def reproduce(root: Path, run_id: str) -> Reproduction:
    """Judge, reduce and score the run ``run_id`` again, aside, and compare with what is recorded; ``data/`` is only read.

    :raises UsageError: there is no such run, or it is retired, so that nothing is made of it.
    :raises LedgerError: answers of it are missing.
    :raises DataError: nothing is made of it yet, or a file cannot be read.
    """
    run = named(read_ledger(root), run_id)
    if run.entry.retired:
        raise UsageError(
            f"Run {run_id} is retired, so nothing is made of its answers; take `retired` out of its entry in runs/."
        )
    with TemporaryDirectory(prefix="checkup-") as name:
        aside = Path(name)
        _make(root, run, aside)
        _refuse_unmade(root, run, aside)
        tables = tuple(difference(table, files(root, table, run), files(aside, table, run)) for table in DERIVED)
    versions = metrics_versions(files(root, SCORES, run).values())
    return Reproduction(run.id, tables, versions, explained(root, versions, {METRICS_VERSION}))


def _make(root: Path, run: Run, aside: Path) -> None:
    """Let the stages make their tables in ``aside``, a project that has this run, those it is compared with and its readers."""
    beside = _compared(root, run) | _readers(root, run)
    for own in {run.id: run, **beside}.values():
        answers = own.folder(aside, ANSWERS)
        answers.parent.mkdir(parents=True, exist_ok=True)
        answers.symlink_to(own.folder(root, ANSWERS).resolve(), target_is_directory=True)
        record(aside, own)
    write_references(aside, lambda *_: {run.model: read_references(root).get(run.model, [])})
    if not any(part.run == run for part in recorded(aside, read_ledger(aside), ANSWERS)):
        raise DataError(f"Run {run.id} is open and no file of its answers is complete; go on with: checkup run.")
    for stage in MADE:
        stage(aside)


def _compared(root: Path, run: Run) -> dict[str, Run]:
    """The runs that ``run`` is compared with, and those pinned for its model, which may stand in the way of others."""
    ledger = read_ledger(root)
    # Answers of a sealed run are somewhere, also where they are not here: without them nothing can be said of the change.
    there = [
        part
        for own in runs(ledger)
        for part in partitions(own)
        if own.entry.state == "sealed" or part.path(root, ANSWERS).exists()
    ]
    pinned = [named(ledger, name) for name in read_references(root).get(run.model, [])]
    references = [pairing.reference for pairing in pairings(root, ledger, there) if pairing.run == run]
    return {other.id: other for other in (*pinned, *references)}


def _readers(root: Path, run: Run) -> dict[str, Run]:
    """The runs that read the texts of ``run``: what they say of them is scored with it."""
    reading = [other for other in runs(read_ledger(root)) if other.entry.reads == run.id]
    return {other.id: other for other in reading if other.folder(root, ANSWERS).exists()}


def _refuse_unmade(root: Path, run: Run, aside: Path) -> None:
    """Whatever has judgements now must have had some before."""
    missing = sorted({*files(aside, JUDGEMENTS, run)} - {*files(root, JUDGEMENTS, run)})
    if missing:
        raise DataError(
            f"data/{JUDGEMENTS.name}/{missing[0]} is not here, so there is nothing to compare with; "
            "fetch it with: dvc pull, or make it with: dvc repro."
        )
