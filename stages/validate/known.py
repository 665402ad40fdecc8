"""Runs whose answers were found good before: they are counted, and not checked again.

Whether a run's answers are good rests on its files, its entry in the ledger and the contracts alone. So where all that changed is
good, the whole is, and its results are those of what changed, with the numbers of rows of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from stages.ledger import Run
from stages.schema import ANSWERS
from stages.stamps import Stamps
from stages.store import Partition
from stages.validate.expectations import Checked

Rows = dict[str, int]
"""Suite -> how many rows its frame has."""


@dataclass
class Known:
    """Which of the runs are known to be good. ``parts`` are all partitions, sorted by run."""

    root: Path
    stamps: Stamps
    runs: dict[Run, list[Partition]]

    @classmethod
    def read(cls, root: Path, parts: Sequence[Partition]) -> "Known":
        stamps = Stamps.read(root, "validate", "answers")
        runs = {run: list(own) for run, own in groupby(parts, key=lambda part: part.run)}
        known = cls(root, stamps, runs)
        for run in runs:
            stamps.kept(run.id, known._paths(run), _entry(run))
        return known

    def unknown(self) -> list[Partition]:
        """The partitions of the runs to check: those not known to be good; where all are, the last run, to have results."""
        changed = [run for run in self.runs if run.id not in self.stamps.seen]
        return [part for run in changed or list(self.runs)[-1:] for part in self.runs[run]]

    def whole(self, checked: Sequence[Checked], parts: Sequence[Partition]) -> list[Checked]:
        """``checked``, of ``parts``, all good, as if every run had been checked with them; they are known from now on.

        Where a contract looks at some rows only, nothing is known, as their number is not.
        """
        now = {run: self._rows(run, checked) for run in {part.run for part in parts}}
        before = [unit.note for name, unit in self.stamps.seen.items() if name not in {run.id for run in now}]
        if all(result.checked == result.checkable.frame.height for each in checked for result in each.results):
            for run, rows in now.items():
                self.stamps.put(run.id, self._paths(run), [], _entry(run), rows)
            self.stamps.save()
        return [_with_rows(each, sum(rows[_suite(each)] for rows in [*before, *now.values()])) for each in checked]

    def _rows(self, run: Run, checked: Sequence[Checked]) -> Rows:
        files = [path.relative_to(self.root).as_posix() for path in self._paths(run)]
        frames = {_suite(each): each.results[0].checkable.frame for each in checked}
        return {suite: int(frame["file"].is_in(files).sum()) for suite, frame in frames.items()}

    def _paths(self, run: Run) -> list[Path]:
        return [part.path(self.root, ANSWERS) for part in self.runs[run]]


def _entry(run: Run) -> str:
    return run.entry.model_dump_json()


def _suite(checked: Checked) -> str:
    return checked.results[0].checkable.contract.suite


def _with_rows(checked: Checked, rows: int) -> Checked:
    """``checked`` with the number of rows that it would have of all runs, also for its page."""
    for result in checked.outcome.results:
        found: dict[str, Any] = result.result
        for name in ("element_count", "observed_value"):
            if isinstance(found.get(name), int):
                found[name] = rows
    return Checked([replace(result, checked=rows) for result in checked.results], checked.outcome)
