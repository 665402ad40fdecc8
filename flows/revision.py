"""What moved since an earlier commit: today's derived tables beside the ones it recorded."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from flows.numbers import explained, metrics_versions, schema_version
from flows.past import manifest, outdated, previous
from flows.reproduction import DERIVED, told
from stages.differences import Difference, difference, files, run_of
from stages.errors import DataError, UsageError
from stages.ledger import read_ledger, runs
from stages.schema import ANSWERS, JUDGEMENTS, SCORES, TOGETHER
from stages.table import Table


@dataclass(frozen=True)
class Answers:
    """The files of answers of both sides (``model=…/run=…/<file>``): ``shared``, and of those ``edited`` as they hold other
    bytes; ``new`` here and ``gone`` from here."""

    shared: frozenset[str]
    edited: frozenset[str]
    new: frozenset[str]
    gone: frozenset[str]

    @property
    def sentences(self) -> list[str]:
        """What is compared, and what is not; in a sentence each."""
        of_both = {run_of(name) for name in self.shared}
        said = [
            f"Compared {_count(len(self.shared), 'file')} of answers, of {_count(len(of_both), 'run')}; {self._untouched}."
        ]
        for what, names in (("New since then", self.new), ("Gone since then", self.gone)):
            whole = sorted({run_of(name) for name in names} - of_both)
            parts = sorted(name for name in names if run_of(name) in of_both)
            listed = [*(f"run {run}" for run in whole), *(f"answers {name}" for name in parts)]
            said += [f"{what}, and not compared: {', '.join(listed)}."] if listed else []
        return said

    @property
    def _untouched(self) -> str:
        if not self.edited:
            return "the answers are untouched"
        return f"{', '.join(sorted(self.edited))} hold other answers than then, so what moved there need not be the code's doing"


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


@dataclass(frozen=True)
class Revision:
    """Today's tables beside those of commit ``rev``, which lie in ``folder``."""

    root: Path
    rev: str
    folder: Path
    answers: Answers
    tables: tuple[Difference, ...]
    outdated: tuple[str, ...]
    """Stages whose results are not of today's code: what is compared is not what it would make."""

    def of(self, table: Table) -> Difference:
        return next(found for found in self.tables if found.table is table)

    @property
    def moved(self) -> bool:
        return any(table.rows.height for table in self.tables)

    def files(self, root: Path, table: Table) -> dict[str, Path]:
        """Those files of ``table`` in ``root`` that are compared."""
        return {name: path for name, path in files(root, table).items() if name in self.answers.shared}

    @property
    def sentences(self) -> list[str]:
        """What is compared, what moved, and what is declared to have changed."""
        stages = " and ".join(self.outdated)
        said = [f"Not of today's code or data: {stages}; make it so first with: dvc repro."] if stages else []
        said += self.answers.sentences
        if not self.moved:
            return [*said, f"Nothing moved since {self.rev}."]
        versions = [metrics_versions(self.files(root, SCORES).values()) for root in (self.folder, self.root)]
        return [*said, told(self.tables), *filter(None, [self._shape, explained(self.root, *versions)])]

    @property
    def _shape(self) -> str:
        """Whether the tables have another shape now."""
        shapes = [
            {schema_version(path) for path in self.files(root, JUDGEMENTS).values()}
            for root in (self.folder, self.root)
        ]
        before, after = (", ".join(sorted(str(version or "unknown") for version in shape)) for shape in shapes)
        return (
            ""
            if before == after
            else f"SCHEMA_VERSION {before} → {after}; columns that only one side has are not compared."
        )


def diff(root: Path, rev: str, models: Sequence[str] = (), benchmarks: Sequence[str] = ()) -> Revision:
    """Compare the derived tables of the project in ``root`` with those that commit ``rev`` recorded; empty: of all models.

    :raises UsageError: there is no such commit, nothing was recorded in it, or a model or benchmark is on neither side.
    :raises DataError: the earlier tables are not to be had any more, or answers were not judged here yet.
    """
    return compare(root, previous(root, rev), rev, models, benchmarks, outdated(root))


def compare(
    root: Path, folder: Path, rev: str, models: Sequence[str], benchmarks: Sequence[str], stale: Sequence[str]
) -> Revision:
    """The same with what ``rev`` recorded in ``folder``, as ``past.previous`` lays it out; ``stale``: see ``outdated``."""
    answers = _answers(root, folder, rev, models, benchmarks)
    if unjudged := sorted(answers.shared - set(files(root, JUDGEMENTS))):
        raise DataError(
            f"data/{JUDGEMENTS.name}/{unjudged[0]} is not here; make it with: dvc repro, or fetch it with: dvc pull."
        )
    found = Revision(root, rev, folder, answers, (), tuple(stale))
    tables = (difference(table, found.files(folder, table), found.files(root, table)) for table in DERIVED)
    return replace(found, tables=tuple(tables))


def _answers(root: Path, folder: Path, rev: str, models: Sequence[str], benchmarks: Sequence[str]) -> Answers:
    hidden = {run.id for run in runs(read_ledger(root), retired=True) if run.entry.retired}
    here = {name: path for name, path in files(root, ANSWERS).items() if run_of(name) not in hidden}
    there, judged = manifest(folder), files(folder, JUDGEMENTS)
    ours, theirs = (_wanted(names, models, benchmarks) for names in (here, there))
    for kind, wanted, part in (("model", models, 0), ("benchmark", benchmarks, 1)):
        known = {_parts(name)[part] for name in (*here, *there)} | (set(TOGETHER) if part else set())
        if strange := sorted(set(wanted) - known):
            raise UsageError(
                f"Nothing of {kind} {strange[0]} is recorded, here or in {rev}; use one of: {', '.join(sorted(known))}."
            )
    shared = frozenset(ours & theirs & set(judged))
    edited = frozenset(name for name in shared if hashlib.md5(here[name].read_bytes()).hexdigest() != there[name])
    return Answers(shared, edited, frozenset(ours - shared), frozenset(theirs - ours))


def _wanted(names: Iterable[str], models: Sequence[str], benchmarks: Sequence[str]) -> set[str]:
    own = {part for benchmark in benchmarks for part in TOGETHER.get(benchmark, (benchmark,))}
    return {name for name in names if (not models or _parts(name)[0] in models) and (not own or _parts(name)[1] in own)}


def _parts(name: str) -> tuple[str, str]:
    """Model and benchmark of a file."""
    return run_of(name).split("@")[0], name.rsplit("/", 1)[1].split(".")[0]
