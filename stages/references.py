"""Which run each run is compared with: its model's pinned reference, else the model's first run that asked the same.

References are pinned in runs.yaml, per model. A model may have several that ask different things; a run is compared with the
last pinned one that has what it was asked. One model's reference may be another model's run: the snapshot it came from.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stages.errors import LedgerError, UsageError
from stages.ledger import Ledger, Run, named, read_references, runs, write_references
from stages.params import known
from stages.store import Partition

Pinned = dict[str, list[str]]


@dataclass(frozen=True)
class Pairing:
    """A run and its reference, with the partitions of both that are compared, in the same order."""

    run: Run
    reference: Run
    parts: tuple[Partition, ...]

    @property
    def earlier(self) -> tuple[Partition, ...]:
        """The partitions of the reference."""
        return tuple(Partition(self.reference, part.benchmark, part.language, part.protocol) for part in self.parts)


def pin(root: Path, run_id: str, model: str | None = None) -> Run:
    """Make a run the reference of its model, or of ``model``, in place of others that ask any of the same; return it.

    :raises UsageError: there is no such run or model, or the run is open or retired.
    """
    pinned: list[Run] = []

    def change(ledger: Ledger, references: Pinned) -> Pinned:
        run = named(ledger, run_id)
        if run.entry.state == "open" or run.entry.retired:
            state = "retired" if run.entry.retired else "open"
            raise UsageError(f"Run {run_id} is {state}, and a reference must stay as it is; choose a sealed one.")
        key = known("model with runs", model, ledger.runs) if model else run.model
        pinned.append(run)
        asked = set(run.entry.asks)
        asks = {other.id: set(other.entry.asks) for other in runs(ledger, retired=True)}
        kept = [other for other in references.get(key, []) if other in asks and not asked & asks[other]]
        return {**references, key: [*kept, run_id]}

    write_references(root, change)
    return pinned[0]


def unpin(root: Path, run_id: str) -> list[str]:
    """Make a run nobody's reference; return the models that it was the reference of.

    :raises UsageError: it is no reference.
    """
    of = [model for model, names in read_references(root).items() if run_id in names]
    if not of:
        raise UsageError(f"Run {run_id} is no pinned reference; list them with: checkup reference list.")

    def change(_: Ledger, references: Pinned) -> Pinned:
        rest = {model: [name for name in names if name != run_id] for model, names in references.items()}
        return {model: names for model, names in rest.items() if names}

    write_references(root, change)
    return of


def twins(ledger: Ledger, run: Run) -> list[Run]:
    """Other runs of the model on that day that ask any of the same in the same way: what differs between them is noise."""
    asked = set(run.entry.asks)
    return [
        other
        for other in runs(ledger)
        if other.model == run.model and other.date == run.date and other.id != run.id
        and other.entry.same_questions(run.entry) and asked & set(other.entry.asks)
    ]  # fmt: skip


def pairings(root: Path, ledger: Ledger, parts: Iterable[Partition]) -> list[Pairing]:
    """What each of the recorded ``parts`` is compared with, run by run; runs without a reference, and those that read another, are left out.

    :raises LedgerError: a pinned run is not in the ledger.
    """
    there = {(part.run.id, *_asking(part)): part for part in parts if not part.run.entry.reads}
    order = {run.id: place for place, run in enumerate(runs(ledger))}
    pinned = {model: _runs(ledger, model, names) for model, names in read_references(root).items()}
    own = {model: [run for run in runs(ledger) if run.model == model] for model in ledger.runs}
    found: dict[tuple[Run, Run], list[Partition]] = {}
    for part in sorted(there.values(), key=lambda part: (order[part.run.id], part.name)):
        for reference in [*reversed(pinned.get(part.run.model, [])), *own[part.run.model]]:
            if (reference.id, *_asking(part)) in there:
                if _may_follow(part.run, reference, order):
                    found.setdefault((part.run, reference), []).append(part)
                break
    return [Pairing(run, reference, tuple(parts)) for (run, reference), parts in found.items()]


def _may_follow(run: Run, reference: Run, order: dict[str, int]) -> bool:
    """A run is compared with an earlier one of its own model, or with one of another model."""
    return run.model != reference.model or order[run.id] > order[reference.id]


def _asking(part: Partition) -> tuple[str, str, str]:
    return part.benchmark, part.language, part.protocol


def _runs(ledger: Ledger, model: str, names: Iterable[str]) -> list[Run]:
    by_id = {run.id: run for run in runs(ledger, retired=True)}
    for name in names:
        if name not in by_id:
            raise LedgerError(
                f"runs.yaml pins {name} as the reference of {model}, but it is not in runs/; restore it with git, or pin "
                "another one with: checkup reference set RUN."
            )
    return [by_id[name] for name in names]
