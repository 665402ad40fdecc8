"""The ledger: what was asked and is to be asked, per model and date.

``runs/<model>.yaml`` holds a model's runs, ``runs.yaml`` lists the models that have any. DVC reads one small file per
stage so; with one file for all, its cost grew with the square of the history (95 s a commit at 600 runs, now 4 s).

An entry is frozen when it is made; what is missing is judged against it, never against today's params.yaml.
``open`` runs are asked for what is missing, ``sealed`` runs never again.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import AfterValidator, Field
from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from stages.entries import Asking, Entry, Runs, read_runs, stamp
from stages.errors import LedgerError, UsageError
from stages.files import write_whole
from stages.locks import held
from stages.params import Params, model_key
from stages.requests import Request, frozen, requested_zone, today
from stages.schema import ANSWERS
from stages.settings import Settings, read_yaml, validated
from stages.table import Table

INDEX_FILE = "runs.yaml"
FOLDER = "runs"
WAIT_SECONDS = 30.0
"""How long another command may write the ledger."""
_HEADER = "# Written by the program; see docs/architecture.md, The ledger.\n"


class Index(Settings):
    asked: list[Annotated[str, AfterValidator(model_key)]]
    references: dict[Annotated[str, AfterValidator(model_key)], list[str]] = Field(default_factory=dict)
    """Model -> the runs its runs are compared with, see references.py."""


class Ledger(Settings):
    """All runs: model -> date[.n] -> entry."""

    runs: dict[str, Runs]


@dataclass(frozen=True)
class Run:
    """One model, asked under one frozen plan, on one date."""

    model: str
    stamp: str
    entry: Entry

    @property
    def id(self) -> str:
        return f"{self.model}@{self.stamp}"

    @property
    def date(self) -> str:
        return self.stamp[:10]

    def folder(self, root: Path, table: Table) -> Path:
        """Where its files of ``table`` lie."""
        return root / "data" / table.name / f"model={self.model}" / f"run={self.stamp}"

    def file(self, root: Path, table: Table, asking: Asking) -> Path:
        return self.folder(root, table) / f"{'.'.join(asking)}.parquet"

    def with_state(self, state: Literal["open", "sealed"]) -> "Run":
        return replace(self, entry=self.entry.model_copy(update={"state": state}))


def read_ledger(root: Path) -> Ledger:
    """The ledger of the project in ``root``: what lies in ``runs/``; the index is DVC's.

    :raises UsageError: a file is not YAML, is misnamed, or has an entry that does not fit.
    """
    models = sorted(path.stem for path in (root / FOLDER).glob("*.yaml"))
    validated(root / INDEX_FILE, Index, {"asked": models})
    read = {model: read_runs(model_path(root, model)) for model in models}
    return Ledger(runs={model: found for model, found in read.items() if found is not None})


def model_path(root: Path, model: str) -> Path:
    return root / FOLDER / f"{model}.yaml"


def runs(ledger: Ledger, retired: bool = False) -> Iterator[Run]:
    """All runs, sorted by model and date; retired ones only when asked for."""
    for model in sorted(ledger.runs):
        for name in sorted(ledger.runs[model], key=_stamp_order):
            entry = ledger.runs[model][name]
            if retired or not entry.retired:
                yield Run(model, name, entry)


def _stamp_order(name: str) -> tuple[str, int]:
    return name[:10], int(name[11:] or 1)


def _write_model(root: Path, model: str, entries: Runs) -> None:
    content = {
        DoubleQuotedScalarString(run.stamp): run.entry.model_dump(mode="json", exclude_none=True)
        for run in runs(Ledger(runs={model: entries}), retired=True)
    }
    _write(model_path(root, model), content)


def _write(path: Path, content: dict[str, Any]) -> None:
    yaml = YAML()
    yaml.default_flow_style = None
    yaml.width = 200
    text = StringIO()
    yaml.dump(content, text)
    write_whole(path, _HEADER + text.getvalue())


def with_run(ledger: Ledger, run: Run) -> Ledger:
    """``ledger`` with ``run`` in it, in place of an entry of the same name."""
    entries = {**ledger.runs.get(run.model, {}), run.stamp: run.entry}
    return Ledger(runs={**ledger.runs, run.model: entries})


def record(root: Path, *added: Run) -> None:
    """Put runs into the ledger on disk, as they are."""
    with _locked(root):
        _put(root, *added)


def enter(root: Path, params: Params, request: Request, now: datetime) -> Run:
    """Put the run that serves ``request`` into the ledger on disk (see ``planned``), and return it."""
    with _locked(root):
        run = planned(read_ledger(root), params, request, now)
        _put(root, run)
        return run


def seal(root: Path, run: Run) -> Run:
    """Seal ``run`` on disk; where its entry has grown meanwhile it stays open, as there is more to ask."""
    with _locked(root):
        entry = read_ledger(root).runs[run.model][run.stamp]
        if entry == run.entry:
            run = counted(root, run.with_state("sealed"))
            _put(root, run)
        return run


def counted(root: Path, run: Run) -> Run:
    """``run`` with the number of items of each of its files in its entry; a number once written stays as it is."""
    files = {".".join(asking): run.file(root, ANSWERS, asking) for asking in run.entry.asks}
    known_so_far = run.entry.items or {}
    new = {name: _n_items(path) for name, path in files.items() if name not in known_so_far and path.exists()}
    return replace(run, entry=run.entry.model_copy(update={"items": {**known_so_far, **new} or None}))


def _n_items(path: Path) -> int:
    return pl.read_parquet(path, columns=["item_id", "variant"], hive_partitioning=False, glob=False).n_unique()


def _put(root: Path, *added: Run) -> None:
    ledger = functools.reduce(with_run, added, read_ledger(root))
    for model in {run.model for run in added}:
        _write_model(root, model, ledger.runs[model])
    _write_index(root, ledger.runs)


def reindex(root: Path) -> None:
    """Make the index list the models that have runs; an index that git put back would hide some from DVC."""
    with _locked(root):
        _write_index(root, read_ledger(root).runs)


def drop(root: Path, run: Run) -> None:
    """Take ``run`` out of the ledger on disk; a model without runs leaves it too."""
    with _locked(root):
        ledger = read_ledger(root).runs
        entries = {name: entry for name, entry in ledger[run.model].items() if name != run.stamp}
        if entries:
            _write_model(root, run.model, entries)
            _write_index(root, ledger.keys())
            return
        _write_index(root, ledger.keys() - {run.model})
        model_path(root, run.model).unlink()


def _locked(root: Path) -> AbstractContextManager[None]:
    return held(root, "ledger", "The ledger", WAIT_SECONDS)


def _write_index(root: Path, models: Iterable[str]) -> None:
    """List ``models``; references stay, but for those to runs that are no more."""
    there = {
        run.id for run in runs(Ledger(runs={m: r for m, r in read_ledger(root).runs.items() if m in models}), True)
    }
    pinned = {model: [run for run in named if run in there] for model, named in read_references(root).items()}
    kept = {model: named for model, named in sorted(pinned.items()) if named}
    _write(root / INDEX_FILE, {"asked": sorted(models)} | ({"references": kept} if kept else {}))


def read_references(root: Path) -> dict[str, list[str]]:
    """Model -> the runs that its runs are compared with, as far as any are pinned (see references.py)."""
    path = root / INDEX_FILE
    return validated(path, Index, read_yaml(path) or {"asked": []}).references if path.exists() else {}


def write_references(root: Path, change: Callable[[Ledger, dict[str, list[str]]], dict[str, list[str]]]) -> None:
    """Pin what ``change`` makes of the ledger and the references there are."""
    with _locked(root):
        ledger = read_ledger(root)
        pinned = change(ledger, read_references(root))
        _write(root / INDEX_FILE, {"asked": sorted(ledger.runs)} | ({"references": pinned} if pinned else {}))


def named(ledger: Ledger, run_id: str) -> Run:
    """The run of that name, retired or not.

    :raises UsageError: there is none.
    """
    return _named(list(runs(ledger, retired=True)), run_id)


def planned(ledger: Ledger, params: Params, request: Request, now: datetime) -> Run:
    """The run that serves ``request``: a new one, or one of the same day that already asks or can grow to ask it.

    :raises UsageError: the request does not fit, or it would make a run of another day than today.
    """
    entry, zone = frozen(params, request, now), requested_zone(params, request)
    date = request.date or today(zone, now)
    try:
        stamp(date)
    except ValueError as error:
        raise UsageError(f"--date: {error}; write it as YYYY-MM-DD.") from error
    same_day = [r for r in runs(ledger, retired=True) if r.model == request.model and r.date == date[:10]]
    if date != date[:10]:
        return _named(same_day, f"{request.model}@{date}")
    fitting = [r for r in same_day if r.entry.same_questions(entry) and not r.entry.retired]
    if fitting and not request.fresh:
        return _grown(fitting[-1], entry, params, now)
    if date != today(zone, now):
        raise UsageError(
            f"--date {date}: a new run is of the day it is asked on, {today(zone, now)} in {zone}; leave --date out, "
            "or name a run to go on with (see: checkup runs)."
        )
    return Run(request.model, further_stamp(same_day, date), entry)


def further_stamp(same_day: Iterable[Run], date: str) -> str:
    """The stamp of a new run of ``date`` beside those there are."""
    last = max((_stamp_order(run.stamp)[1] for run in same_day), default=0)
    return f"{date}.{last + 1}" if last else date


def _grown(run: Run, entry: Entry, params: Params, now: datetime) -> Run:
    """``run`` asking for what ``entry`` asks, too; an old one cannot: its date would be a lie."""
    grown = replace(run, entry=run.entry.grown(entry))
    askable(grown, params, now)
    return grown


def _named(candidates: list[Run], run_id: str) -> Run:
    for run in candidates:
        if run.id == run_id:
            return run
    raise UsageError(f"There is no run {run_id} in {FOLDER}/; list the runs with: checkup runs.")


def askable(run: Run, params: Params, now: datetime) -> bool:
    """Whether ``run`` is to be asked for what is missing.

    :raises LedgerError: it is open, but too old to be asked: answers of another week are another snapshot's.
    """
    if run.entry.state == "sealed":
        return False
    if now - run.entry.opened > timedelta(hours=params.resume_within):
        raise LedgerError(
            f"Run {run.id} is open but older than {params.resume_within:g} hours, so it cannot be asked "
            f"any more; close it with: checkup run --model {run.model} --date {run.stamp} --seal."
        )
    return True
