"""Answers collected by hand: the table to fill in, and what was filled in as a sealed run."""

from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import polars as pl

from flows.fetching import unpacked
from stages.cells import read_cells, write_cells
from stages.errors import DataError, UsageError
from stages.imports import Taken, take_in
from stages.ledger import Run
from stages.load import load_all
from stages.params import Model, read_params
from stages.query.by_hand import answers
from stages.query.faults import redacted
from stages.query.filled import Collected, collected
from stages.query.template import HEADINGS, SPOKEN, template
from stages.requests import Request
from stages.schema import ANSWERS
from stages.store import Partition

MOST_ERRORS = 20
"""Percent of the replies that may be a client's errors, unless the user says otherwise."""
_SAME = (*ANSWERS.grain[4:], "item_hash", "prompt", "reply", "failure")
_SHOWN = 60
"""Characters of an error that a line shows."""


def export_questions(root: Path, request: Request, output: Path, headings: str) -> str:
    """Write the table to fill in for ``request`` to ``output``; say what is in it.

    :raises UsageError: a name is unknown, a protocol cannot be asked by a person, or a benchmark was not fetched.
    """
    load_all(root)
    found = template(root, read_params(root), request, datetime.now(UTC), headings)
    write_cells(output, found)
    conversations = found[HEADINGS["conversation"][SPOKEN.index(headings)]].n_unique()
    return (
        f"{output}: {found.height} questions, {conversations} conversations; fill in the replies and bring them back with: "
        "checkup import answers."
    )


@dataclass(frozen=True)
class Source:
    """Who collected the answers of a file, and what the file says of their plan."""

    file: Path
    collector: str
    wanted: Request
    """Plan, epochs, limit and seed where the file does not tell them."""
    allow_errors: bool = False


def import_answers(root: Path, key: str, date: str, source: Source) -> list[str]:
    """Import a filled-in table as a sealed run of model ``key``; say in lines what came of it.

    :raises UsageError: file, key, date, collector or plan does not fit.
    :raises DataError: cells do not fit, too many replies are a client's errors, or the run has other answers already.
    """
    if not source.collector.strip():
        raise UsageError("--collector is empty; say who asked, by name or initials.")
    content, name = unpacked(source.file), source.file.name.removesuffix(".gz")
    load_all(root)
    cells = read_cells(content, name)
    found = collected(root, read_params(root), cells, name, source.wanted, datetime.now(UTC))
    if not found.replies:
        raise UsageError(f"{name} has no reply yet; fill in its replies before importing it.")
    _refuse_errors(found, name, source.allow_errors)
    collector = f"{source.collector.strip()}, {name} ({cells.encoding}), SHA-256 {sha256(content).hexdigest()}"

    def frames(run: Run, model: Model) -> dict[Partition, pl.DataFrame]:
        put = [(sheet.of(run, model, collector), given) for sheet, given in found.given]
        return {sheet.partition: answers(sheet, given) for sheet, given in put}

    run, new = take_in(root, key, date, Taken(found.entry, frames, _SAME, "answers", name))
    return _said(run, new, found)


def _refuse_errors(found: Collected, name: str, allowed: bool) -> None:
    """:raises DataError: too many replies are a client's errors; the message lists them."""
    if allowed or len(found.failed) * 100 <= MOST_ERRORS * found.replies:
        return
    rows = "".join(f"\n  {line}" for line in _errors(found))
    raise DataError(
        f"{len(found.failed)} of {found.replies} replies in {name} are errors of a client and no model's text; ask again, or "
        f"keep them as failures with --allow-errors:{rows}"
    )


def _errors(found: Collected) -> list[str]:
    return [f"line {each.line}: {each.kind}: {redacted(each.said, '')[:_SHOWN]}" for each in found.failed]


def _said(run: Run, new: list[Partition], found: Collected) -> list[str]:
    if not new:
        return [f"{run.id} has these answers already; nothing to do."]
    parts = ", ".join(part.name for part in new)
    answered, asked = (
        found.replies - len(found.failed),
        sum(sum(1 for _ in sheet.questions) for sheet, _ in found.given),
    )
    counts = f"{answered} answered, {len(found.failed)} failed, {asked - found.replies} not asked"
    return [f"{run.id}: imported {parts} ({counts}); score it with: dvc repro.", *_errors(found)]
