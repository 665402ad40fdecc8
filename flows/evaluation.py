"""The flow ``evaluate``: the seven stages for some models; remote models side by side, embedded ones one after another."""

from flows import settings

settings.apply()  # Prefect reads its settings once, when it is imported

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prefect import State, allow_failure, flow, task
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture
from prefect.states import Cancelled, Completed, Failed
from prefect.task_runners import ThreadPoolTaskRunner

from flows import artifacts, changes, cluster, handing_on, scheduled, versions
from flows.options import request
from flows.selection import named_runs, plan_runs
from stages import judge, load, query, reduce, report, score, stopping, validate
from stages.command import prepare, short
from stages.errors import CheckupError, Incomplete, Stopped
from stages.ledger import Run, read_ledger, runs
from stages.params import read_params
from stages.requests import Request, requested_zone, today
from stages.store import exclusive, project_root

BEFORE: dict[str, Callable[[Path], Any]] = {"load": load.load_all, "validate items": validate.validate_items}
AFTER: dict[str, Callable[[Path], Any]] = {
    "validate answers": validate.validate_answers,
    "judge": judge.judge_all,
    "reduce": reduce.reduce_all,
    "score": score.score_all,
    "report": report.report_all,
    "dvc commit": versions.commit,
    "drop journals": query.drop_journals,
}


@task(task_run_name="{name}", cache_policy=NO_CACHE, persist_result=False)
def stage(name: str) -> None:
    """One stage over the whole project; what it makes is in files, not in Prefect."""
    (BEFORE | AFTER)[name](project_root())


@task(task_run_name="query {run_id}", cache_policy=NO_CACHE, persist_result=False)
def ask(run_id: str, seal: bool, max_connections: int | None, runner: str, address: str | None) -> None:
    """Ask one run for what it lacks; the calls are made by ``runner``, the rest is done here."""
    root = project_root()
    run = next(r for r in runs(read_ledger(root)) if r.id == run_id)
    workers = cluster.workers(runner, address)
    query.ask_run(root, run, stopping.requested, PROGRESS, seal, max_connections, BUDGET, workers)


PROGRESS = query.Bars()
"""Draws the bars of all tasks of this process; tasks take ids, not objects."""
BUDGET = query.Budget()
"""What all tasks of this process may spend together."""


@flow(
    name="evaluate",
    task_runner=ThreadPoolTaskRunner(max_workers=64),  # type: ignore[arg-type]  # its own type is narrower than the flow's
    persist_result=False,
    validate_parameters=False,
)
def evaluate(
    models: Sequence[str] = (),
    plan: str | None = None,
    benchmarks: Sequence[str] = (),
    languages: Sequence[str] = (),
    protocols: Sequence[str] = (),
    mitigations: Sequence[str] = (),
    date: str | None = None,
    epochs: int | None = None,
    limit: int | None = None,
    shuffle: bool = False,
    seed: int = 0,
    temperature: float | None = None,
    reads: str | None = None,
    max_connections: int | None = None,
    budget: float | None = None,
    fresh: bool = False,
    seal: bool = False,
    timezone: str | None = None,
    push: bool = False,
    git_commit: bool = False,
    runner: str = cluster.THREADS,
    address: str | None = None,
    ask_again: bool = False,
) -> State[Any]:
    """Check the models up: load, validate, query, judge, reduce, score, report, and record it all with DVC.

    Empty means: as params.yaml says. The result are the ids of the runs.

    Args:
        models: Keys of params.yaml; none means every model that can be asked.
        plan: A plan of params.yaml, such as quick or full.
        benchmarks: Only these, instead of those of the plan.
        languages: Only these, instead of all that the benchmarks have.
        protocols: Only these, instead of those of the plan.
        mitigations: Ask the protocols that these join, without and with each; a+b joins both.
        date: Go on with the run of this date, YYYY-MM-DD or YYYY-MM-DD.n; on a schedule leave it empty.
        epochs: How often each item is asked.
        limit: Ask only so many items, the same ones in every language.
        shuffle: Ask in an order drawn by the seed.
        seed: Draws what the limit keeps, the order of asking and each answer's seed.
        temperature: Instead of that of the protocol or the model's entry.
        reads: The run whose texts are read; goes with the plan rubric.
        max_connections: Calls at once of a remote model, instead of what its entry says.
        budget: US dollars that may be spent; models without a price are refused.
        fresh: Make a further run of the day instead of going on with the one there is.
        seal: Ask nothing; close open runs with the answers there are.
        timezone: IANA zone in which the date of a new run is taken, such as Asia/Shanghai.
        push: Copy what DVC recorded to its default remote when all is done.
        git_commit: Commit the ledger and dvc.lock, and nothing else, when all is done.
        runner: threads, or dask: the workers of the Dask cluster at the address make the calls.
        address: Of the cluster's scheduler, tcp://host:8786.
        ask_again: Ask a model that seems to have changed since its reference once more, today, to know.
    """
    wanted = request(
        plan, benchmarks, languages, protocols, mitigations, date=date, epochs=epochs, limit=limit, seed=seed, fresh=fresh,
        temperature=temperature, shuffle=shuffle, timezone=timezone, reads=reads,
    )  # fmt: skip
    asking, handing = Asking(seal, max_connections, runner, address), handing_on.Wanted(push, git_commit)
    return check_up(list(models), wanted, asking, ask_again, handing, budget)


@dataclass(frozen=True)
class Asking:
    """How the runs of a flow are asked; see the parameters of ``evaluate``."""

    seal: bool
    max_connections: int | None
    runner: str
    address: str | None

    @property
    def workers(self) -> query.Workers | None:
        return cluster.workers(self.runner, self.address)


def check_up(
    models: list[str],
    request: Request,
    asking: Asking,
    ask_again: bool,
    handing: handing_on.Wanted,
    budget: float | None,
) -> State[Any]:
    """Everything that ``evaluate`` does, until a signal comes; nothing where another run of the schedule stands in for it."""
    prepare()
    if scheduled.superseded():
        return Cancelled(
            name=scheduled.SKIPPED, message="A later run of the schedule is due as well and stands in for this one."
        )
    BUDGET.begin(read_params(project_root()).budget if budget is None else budget)
    with stopping.on_signals(scheduled.signals()), PROGRESS:
        state = checked_up(models, request, asking, ask_again, handing)
    scheduled.tell(state)
    return state


def checked_up(
    models: list[str], request: Request, asking: Asking, ask_again: bool, handing: handing_on.Wanted
) -> State[Any]:
    """The stages, once more for what has to be repeated, and how it ended."""
    for name in BEFORE:
        stage(name)
    chosen = chosen_runs(models, request, asking)
    failed = ask_all(chosen, asking)
    recorded = record_all()
    if recorded and ask_again and not asking.seal and (again := runs_again(chosen, request, asking)):
        failed |= ask_all(again, asking)
        chosen += again
        recorded = record_all()
    if not recorded:
        return Cancelled(message="Stopped; every answer received so far is kept, run again to go on.")
    return closed(chosen, failed, handing)


def record_all() -> bool:
    """Make everything that is made of answers, and record it with DVC; whether it came to its end before a stop."""
    with exclusive(project_root()):
        for name in AFTER:
            if stopping.requested.is_set():
                return False
            stage(name)
    return True


def runs_again(chosen: list[Run], request: Request, asking: Asking) -> list[Run]:
    """A further run of today for each model of ``chosen`` with a difference that counts only when it is repeated."""
    root = project_root()
    day = today(requested_zone(read_params(root), request), datetime.now(UTC))
    models = changes.to_repeat(root, [run.id for run in chosen], day)
    return plan_runs(root, models, replace(request, fresh=True, date=None), asking.workers)[0] if models else []


def closed(chosen: list[Run], failed: dict[str, Exception], handing: handing_on.Wanted) -> State[Any]:
    """Show in Prefect's UI what is recorded, hand it on as asked, and say how the flow ended."""
    root, ids = project_root(), [run.id for run in chosen]
    artifacts.publish(root, ids, failed)
    for row in changes.confirmed(root, ids):
        artifacts.changed(row["run"], row["reference"], changes.sentence(row))
    handed = handing_on.hand_on(root, ids, max(run.date for run in chosen), handing)
    if problems := [*failed.values(), *handed]:
        error = Incomplete(" ".join(str(problem) for problem in problems))
        return Failed(message=str(error), data=error)
    return Completed(message=f"{len(ids)} run{'' if len(ids) == 1 else 's'}", data=ids)


def chosen_runs(models: list[str], request: Request, asking: Asking) -> list[Run]:
    """The runs to ask, put into the ledger; to seal, the open runs there are."""
    root = project_root()
    if asking.seal:
        return named_runs(root, models, request.date)
    return plan_runs(root, models, request, asking.workers)[0]


def ask_all(chosen: list[Run], asking: Asking) -> dict[str, Exception]:
    """Ask all runs; return what went wrong by run id. One failed model does not hold up the others."""
    roster = read_params(project_root()).models
    futures: dict[str, PrefectFuture[None]] = {}
    embedded: list[Any] = []
    for run in chosen:
        local = run.model in roster and roster[run.model].is_local
        futures[run.id] = ask.submit(run.id, **vars(asking), return_state=False, wait_for=embedded if local else [])
        if local:  # two servers on few cores are slower than one after the other
            embedded = [allow_failure(futures[run.id])]
    results = {run_id: _error(future) for run_id, future in futures.items()}
    return {run_id: error for run_id, error in results.items() if error}


def _error(future: "PrefectFuture[None]") -> Exception | None:
    future.wait()
    result = future.state.result(raise_on_failure=False)
    return result if isinstance(result, Exception) and not isinstance(result, Stopped) else None


def failure(state: State[Any]) -> Exception | None:
    """Why the flow did not do all of its work; null when it did."""
    if state.is_completed():
        return None
    if state.is_cancelled():
        return Stopped(str(state.message))
    result = state.result(raise_on_failure=False)
    if isinstance(result, CheckupError):
        return result
    return CheckupError(f"The flow failed: {short(str(state.message))}; the whole story: checkup --debug run.")
