"""query: ask the models what the ledger's open runs still lack; every reply is recorded at once and never asked again."""

import asyncio
import os
import threading
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from stages.errors import BudgetStopped, CallFailed, Incomplete, LedgerError, UsageError
from stages.ledger import Run, askable, read_ledger, runs
from stages.ledger import seal as seal_entry
from stages.params import Model, known, read_params
from stages.query.budget import Budget
from stages.query.collect import Collector, base_of
from stages.query.endpoints import NO_CALLS_VARIABLE
from stages.query.journal import Journal, drop_journals, journal_path
from stages.query.prices import price_of
from stages.query.progress import Bars, Progress, Silent, Tracker
from stages.query.remote import Workers, obstacles
from stages.query.sheets import Sheet, finish, missing, refuse_changed, sheet
from stages.schema import ANSWERS
from stages.store import exclusive, partitions, recorded

__all__ = ["Bars", "Budget", "Progress", "Silent", "Tracker", "Workers", "ask_run", "drop_journals", "query_model"]


def query_model(root: Path, key: str, stop: threading.Event, progress: Progress) -> None:
    """Ask every open run of model ``key`` for what it lacks, then seal it; what ``dvc repro`` runs.

    :raises LedgerError: an open run is too old to be asked, or a sealed run's answers are not here.
    :raises Incomplete: some questions have no answer yet.
    """
    ledger = read_ledger(root)
    params = read_params(root)
    known("model with runs", key, ledger.runs)
    for run in (run for run in runs(ledger) if run.model == key):
        askable(run, params, datetime.now(UTC))
        ask_run(root, run, stop, progress)
    recorded(root, read_ledger(root), ANSWERS)


def ask_run(
    root: Path,
    run: Run,
    stop: threading.Event,
    progress: Progress,
    seal: bool = False,
    max_connections: int | None = None,
    budget: Budget | None = None,
    workers: Workers | None = None,
) -> Run:
    """Ask ``run`` for what it lacks and seal it in the ledger; with ``seal`` close it with what there is, asking nothing.

    ``max_connections`` calls at once, where given, instead of what the model's entry says. ``budget`` may be shared with other
    runs; without one the settings' applies to this run. ``workers``, where given, make the calls, but those of a model that stays.

    A sealed run is not asked: a file of it that is missing is made from its journal, if that is still there.

    :raises Incomplete: some questions have no answer yet; they are asked when the run is asked again.
    :raises LedgerError: another process is asking this run.
    """
    lock = FileLock(root / ".cache" / "locks" / f"{run.id}.lock", timeout=0)
    lock_folder = Path(lock.lock_file).parent
    lock_folder.mkdir(parents=True, exist_ok=True)
    try:
        with lock:
            return _ask_locked(_Asking(root, run, stop, progress, seal, max_connections, budget, workers))
    except Timeout as error:
        raise LedgerError(f"Another process is asking run {run.id}; wait until it ends.") from error


@dataclass(frozen=True)
class _Asking:
    """What ``ask_run`` was called with."""

    root: Path
    run: Run
    stop: threading.Event
    progress: Progress
    seal: bool
    max_connections: int | None
    budget: Budget | None
    workers: Workers | None


def _ask_locked(asking: _Asking) -> Run:
    root, run, params = asking.root, asking.run, read_params(asking.root)
    lacking = [p for p in partitions(run) if not p.path(root, ANSWERS).exists()]
    if run.entry.state == "sealed":
        lacking = [p for p in lacking if journal_path(p.path(root, ANSWERS)).exists()]
    sheets = [sheet(root, params, p) for p in lacking]
    if run.entry.state == "sealed":
        _finish(root, sheets, seal=False)
        return run
    left = sum(missing(root, s) for s in sheets)
    try:
        if left and not asking.seal:
            _collect(asking, sheets, left, asking.budget or Budget(params.budget))
    except (CallFailed, BudgetStopped) as error:
        reason = str(error).rstrip(".")
        raise Incomplete(f"Run {run.id} is not complete: {reason}; what was answered is kept.") from error
    _finish(root, sheets, asking.seal)
    if left := sum(missing(root, s) for s in sheets):
        raise Incomplete(
            f"Run {run.id} lacks {left} answers, as their calls failed for now ({_commonest_failure(root, sheets)}); run "
            "again to ask only those."
        )
    with exclusive(root):
        return seal_entry(root, run)


def _finish(root: Path, sheets: list[Sheet], seal: bool) -> None:
    for each in sheets:
        if seal or journal_path(each.path(root)).exists():
            with Journal(journal_path(each.path(root))) as journal:
                refuse_changed(each, journal)
                finish(root, each, journal, seal)


def _commonest_failure(root: Path, sheets: list[Sheet]) -> str:
    messages: Counter[str] = Counter()
    for each in sheets:
        with Journal(journal_path(each.path(root))) as journal:
            messages.update(
                row["failure_message"] for key, row in journal.failures.items() if key not in journal.answers
            )
    return messages.most_common(1)[0][0].rstrip(".") if messages else "no reason was recorded"


def _collect(asking: _Asking, sheets: list[Sheet], left: int, budget: Budget) -> None:
    run, model = asking.run, sheets[0].model
    _refuse_unaskable(asking, model, sheets, budget)
    tracker = asking.progress.add(run.id, left)
    collector = Collector(
        asking.root, run.model, model, asking.stop, tracker, budget, asking.max_connections, asking.workers
    )
    with base_of(asking.root, run.model, model) as base:
        asyncio.run(collector.collect(asking.root, sheets, base))


def _refuse_unaskable(asking: _Asking, model: Model, sheets: list[Sheet], budget: Budget) -> None:
    """What can be known before any call: calls are forbidden, the model cannot be asked, or nobody knows what it costs."""
    run = asking.run
    if os.environ.get(NO_CALLS_VARIABLE):
        raise UsageError(
            f"Run {run.id} lacks answers, but {NO_CALLS_VARIABLE} forbids calls; unset it, or fetch them: dvc pull."
        )
    protocols = {each.partition.protocol: each.protocol for each in sheets}.values()
    if obstacle := obstacles({run.model: model}, protocols, asking.workers).get(run.model):
        raise UsageError(f"Run {run.id} cannot be asked: {obstacle}.")
    if budget.cap is not None and price_of(model) is None and not model.is_local:
        raise UsageError(
            f"Run {run.id} cannot be asked under a budget: what {model.route} costs is not known; add `price: {{input: …, "
            f"output: …}}` (US dollars for a million tokens) to models.{run.model} in params.yaml."
        )
