"""Logs of Inspect: taken in as sealed runs, and written from what is recorded."""

from functools import partial
from pathlib import Path

import polars as pl

from flows.fetching import unpacked
from stages import inspect_logs, inspect_runs
from stages.datasets import lacking
from stages.errors import UsageError
from stages.imports import Origin, Taken, take_in
from stages.inspect_runs import INSPECT
from stages.ledger import Run, named, read_ledger
from stages.load import items
from stages.load.stereoset import BENCHMARKS
from stages.params import Model, read_params
from stages.query.faults import redacted
from stages.requests import today
from stages.schema import ANSWERS, JUDGEMENTS
from stages.store import Partition, partitions, read

_SAME = (*ANSWERS.grain[4:], "item_hash", "order_index", "prompt", "reply", "failure")


def import_inspect(root: Path, file: Path, key: str, date: str | None, language: str | None) -> str:
    """Import a log of inspect_evals' StereoSet task as a run of model ``key``; say what came of it.

    Without ``date`` it is the day on which the log was begun, in the time zone of params.yaml.

    :raises UsageError: inspect-ai or the data set is not there, or file, key or date does not fit.
    :raises DataError: it is no such log, samples do not fit, or the run has other answers already.
    """
    log = inspect_logs.read(file, partial(redacted, key=""))
    spoken = language or log.language or "en"
    if problem := next(filter(None, (lacking(root, benchmark, spoken) for benchmark in BENCHMARKS)), None):
        raise UsageError(f"{problem}.")
    found = inspect_runs.matched(log, {name: items(root, name).filter(language=spoken) for name in BENCHMARKS})
    origin = Origin(f"inspect log ({log.status})", file.name, unpacked(file))

    def frames(run: Run, model: Model) -> dict[Partition, pl.DataFrame]:
        parts = {name: Partition(run, name, spoken, INSPECT) for name in found}
        return {part: inspect_runs.answers(part, model, log, found[name], origin) for name, part in parts.items()}

    day = date or today(read_params(root).timezone, inspect_runs.moment(log.created))
    taken = Taken(inspect_runs.entry(log, found, spoken), frames, _SAME, "answers", file.name)
    run, new = take_in(root, key, day, taken)
    if not new:
        return f"{run.id} has these answers already; nothing to do."
    asked, given = sum(map(len, found.values())), sum(each.failure is None for each in log.samples)
    counts = f"{log.status}: {given} of {asked} questions answered"
    return f"{run.id}: imported {', '.join(part.name for part in new)} ({counts}); score it with: dvc repro."


def export_inspect(root: Path, run_id: str, output: Path | None) -> list[Path]:
    """Write a log of Inspect for each partition of the run ``run_id`` that is judged; return the files.

    :raises UsageError: inspect-ai is not installed, or there is no such run, or nothing of it is judged.
    """
    inspect_logs.inspect_log()
    run = named(read_ledger(root), run_id)
    folder = output or root / "reports" / "inspect" / run.id
    judged = [part for part in partitions(run) if part.path(root, JUDGEMENTS).exists()]
    if not judged:
        raise UsageError(f"Nothing of {run.id} is judged yet; judge it with: dvc repro.")
    return [_written(root, part, folder) for part in judged]


def _written(root: Path, part: Partition, folder: Path) -> Path:
    answers, judgements = (read(part.path(root, table), table) for table in (ANSWERS, JUDGEMENTS))
    path = folder / f"{part.name}.eval"
    inspect_logs.write(path, *inspect_runs.exported(answers, judgements))
    return path
