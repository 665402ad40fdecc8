"""What asking gains from more connections, more models at once and more processes, in one table.

    .venv/bin/python -m benchmarks.scaling [--n 2123] [--latency 50]

The same run is asked over and over from this process and by the two workers of a Dask cluster on this machine. Each case comes
twice, and the second counts: by then everything is imported and every connection open. Asking is measured whole, from the
ledger to the Parquet file. Ratios are within one table; on a busy machine the seconds mean nothing.
"""

import shutil
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]
from rich.console import Console

from benchmarks.asking import environment, made_project, mock, table
from benchmarks.cases import ADDRESS, ROUTES
from flows.cluster import Cluster
from stages.ledger import read_ledger, runs
from stages.query import Silent, ask_run
from tests.end_to_end.clusters import Dask, dask

WORKERS = 2


@dataclass(frozen=True)
class Case:
    """``models`` runs side by side, each with ``connections`` calls at once, made here or by workers."""

    runner: str
    models: int
    connections: int


CASES = [
    Case(runner, models, connections)
    for runner in ("threads", "dask")
    for models, connections in ((1, 8), (1, 32), (1, 100), (4, 8), (4, 25))
]


@dataclass(frozen=True)
class Took:
    """Seconds; of processors those of this process, of the scheduler and of the workers."""

    wall: float
    here: float
    scheduler: float
    workers: float


def main() -> None:
    parser = ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--n", type=int, default=2123, help="calls of a run")
    parser.add_argument("--latency", type=float, default=50, help="milliseconds of a call")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, mock(latency=options.latency) as address:
        made = Path(folder) / "made"
        (made.parent / "cluster").mkdir()
        made.mkdir()
        calls = made_project(made, options.n)
        roster = made / "params.yaml"
        roster.write_text(roster.read_text(encoding="utf-8").replace(ADDRESS, address), encoding="utf-8")
        with dask(made.parent / "cluster") as cluster:
            for _ in range(WORKERS):
                cluster.add(**environment(cluster.folder))
            found = [(case, measured(case, made, cluster)) for case in CASES]
    show(found, calls, options.latency)


def measured(case: Case, made: Path, cluster: Dask) -> Took:
    """What asking takes the second time."""
    print(f"{case.runner}: {case.models} x {case.connections}", file=sys.stderr)
    asked(case, made, cluster)
    return asked(case, made, cluster)


def asked(case: Case, made: Path, cluster: Dask) -> Took:
    """Ask ``case.models`` copies of the project ``made`` side by side."""
    copies = [made.with_name(f"asked-{number}") for number in range(case.models)]
    for copy in copies:
        shutil.copytree(made, copy)
    before, began = cpu(cluster), time.perf_counter()
    with ThreadPoolExecutor(case.models) as pool:
        list(pool.map(lambda copy: ask(copy, case, cluster.address), copies))
    wall = time.perf_counter() - began
    used = [after - earlier for after, earlier in zip(cpu(cluster), before, strict=True)]
    for copy in copies:
        shutil.rmtree(copy)
    return Took(wall, *used)


def ask(folder: Path, case: Case, address: str) -> None:
    run = next(run for run in runs(read_ledger(folder)) if run.model == ROUTES["openai"].key)
    workers = Cluster(address) if case.runner == "dask" else None
    ask_run(folder, run, threading.Event(), Silent(), max_connections=case.connections, workers=workers)


def cpu(cluster: Dask) -> Sequence[float]:
    """Seconds of processors so far: of this process, the scheduler, and the workers together."""
    scheduler, *workers = (_seconds(each.pid) for each in cluster.processes)
    return time.process_time(), scheduler, sum(workers)


def _seconds(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def show(found: Sequence[tuple[Case, Took]], calls: int, latency: float) -> None:
    names = (
        "runner",
        "models",
        "connections",
        "calls/s",
        "of what latency allows",
        "CPU ms/call here",
        "scheduler",
        "workers",
    )
    rows = []
    for case, took in found:
        made = calls * case.models
        most = case.models * case.connections * 1000 / latency
        each = [f"{seconds / made * 1000:.2f}" for seconds in (took.here, took.scheduler, took.workers)]
        rows.append(
            (
                case.runner,
                str(case.models),
                str(case.connections),
                f"{made / took.wall:,.0f}",
                f"{made / took.wall / most:.0%}",
                *each,
            )
        )
    Console(width=120).print(table(names, rows))


if __name__ == "__main__":
    main()
