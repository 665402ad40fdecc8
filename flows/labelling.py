"""Labels by people: the sheet of texts to read, and the filled-in sheet as a sealed run that reads the run which wrote them."""

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import polars as pl

from flows.fetching import unpacked
from stages.cells import read_cells, write_cells
from stages.errors import UsageError
from stages.imports import Taken, take_in
from stages.ledger import Run, named, read_ledger, runs
from stages.load import load_all
from stages.params import Model, model_key, read_params
from stages.query import labels
from stages.requests import today
from stages.rubric import readable
from stages.schema import ANSWERS, RUBRIC
from stages.store import Partition, read

_SAME = ("item_id", "variant", "item_hash", "reply")


def export_labels(
    root: Path, run_id: str, output: Path, language: str | None, n: int | None, seed: int, headings: str
) -> str:
    """Write the sheet for the texts of ``run_id`` to ``output``; say what is in it.

    :raises UsageError: the run has no texts, none in that language, or not all of them here.
    """
    written = readable(read_ledger(root), root, run_id)
    if language and language not in written:
        raise UsageError(f"Run {run_id} wrote no texts in {language}; use one of: {', '.join(written)}.")
    load_all(root)
    params, run = read_params(root), named(read_ledger(root), run_id)
    sheets = [labels.sheet(root, params, run, each) for each in ([language] if language else written)]
    found = pl.concat(labels.blank(each, n, seed, headings) for each in sheets)
    if found.is_empty():
        raise UsageError(f"Run {run_id} wrote no pair of texts that can be read; look at them with: checkup sql.")
    write_cells(output, found)
    return (
        f"{output}: {found.height} texts; write a letter beside each question, or leave it blank, and bring them back with: "
        f"checkup import labels {output} --rater NAME."
    )


def import_labels(root: Path, file: Path, rater: str, reads: str | None, date: str | None) -> str:
    """Import a filled-in sheet as a sealed run of ``person-<rater>``; say what came of it.

    :raises UsageError: file, name or run does not fit, or the texts of ``reads`` are not all here.
    :raises DataError: cells do not fit, or the run has other labels already.
    """
    key, content, name = _key(rater), unpacked(file), file.name.removesuffix(".gz")
    load_all(root)
    params, cells = read_params(root), read_cells(content, name)
    if reads:
        readable(read_ledger(root), root, reads)
    wrote = labels.whose(root, cells, name, reads)
    sheets = [labels.sheet(root, params, wrote, language) for language in labels.languages(wrote)]
    given = labels.filled(cells, name, sheets)
    if not given:
        raise UsageError(f"{name} has no label yet; write a letter beside the questions before importing it.")
    collector = f"{rater.strip()}, {name} ({cells.encoding}), SHA-256 {sha256(content).hexdigest()}"

    def frames(run: Run, model: Model) -> dict[Partition, pl.DataFrame]:  # noqa: ARG001
        own = {each.language: each for each in sheets}
        return {
            Partition(run, RUBRIC, language, labels.PROTOCOL): labels.answers(
                own[language], run, collector, found, params
            )
            for language, found in given.items()
        }

    if known := _known(root, key, wrote, frames):
        return f"{known.id} has these labels already; nothing to do."
    entry = labels.entry(wrote, tuple(given))
    taken = Taken(entry, frames, _SAME, "labels", name, labels.SOMEBODY)
    run, _ = take_in(root, key, date or today(params.timezone, datetime.now(UTC)), taken)
    counts = ", ".join(f"{len(found)} in {language}" for language, found in given.items())
    return f"{run.id}: imported labels of {wrote.id} ({counts}); score them with: dvc repro."


def _key(rater: str) -> str:
    """The key that ``rater`` goes by.

    :raises UsageError: the name cannot name a folder.
    """
    if not rater.strip():
        raise UsageError("--rater is empty; say who read the texts, a pseudonym will do.")
    try:
        return model_key(f"{labels.PERSON}-{rater.strip()}")
    except ValueError as error:
        raise UsageError(f"--rater: {error}; a pseudonym will do, and {labels.PERSON}- comes before it.") from error


def _known(root: Path, key: str, wrote: Run, frames: "labels.Frames") -> Run | None:
    """The run of ``key`` that has these very labels of ``wrote`` already, of whatever day."""
    for run in runs(read_ledger(root)):
        if run.model == key and run.entry.reads == wrote.id:
            found = frames(run, labels.SOMEBODY)
            there = [part.path(root, ANSWERS) for part in found]
            if all(path.exists() for path in there) and all(
                read(path, ANSWERS).select(_SAME).equals(ANSWERS.conform(frame).select(_SAME))
                for path, frame in zip(there, found.values(), strict=True)
            ):
                return run
    return None
