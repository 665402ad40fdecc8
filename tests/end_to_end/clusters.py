"""A Dask cluster of real processes on this machine: a scheduler, and workers that can be killed."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import ROOT
from tests.end_to_end.checkout import OURS

START_SECONDS = 60
WITHOUT = "import sys\nsys.modules |= dict.fromkeys(('flows', 'stages'))\n"
"""Code that makes a process one where this project is not installed."""
_HERE = ("--host", "127.0.0.1", "--no-dashboard")


@dataclass
class Dask:
    """``folder`` is where its processes run and say what they do."""

    folder: Path
    address: str
    workers: "list[subprocess.Popen[bytes]]" = field(default_factory=list)
    processes: "list[subprocess.Popen[bytes]]" = field(default_factory=list)

    def add(self, *options: str, **environment: str) -> "subprocess.Popen[bytes]":
        """Start a worker in ``environment`` and wait until it says that it is there."""
        name = f"worker-{len(self.processes)}"
        started = _start(
            self,
            "dask_worker",
            name,
            self.address,
            "--no-nanny",
            "--nthreads",
            "1",
            "--name",
            name,
            *options,
            **environment,
        )
        _await(self.folder / f"{name}.log", "Registered to", started)
        self.workers.append(started)
        return started


def _start(dask: Dask, program: str, name: str, *options: str, **environment: str) -> "subprocess.Popen[bytes]":
    kept = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
    with (dask.folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{program}", *options, *_HERE],
            cwd=dask.folder, env={**kept, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "", **environment}, stdout=log, stderr=log,
        )  # fmt: skip
    dask.processes.append(process)
    return process


def _await(log: Path, words: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_SECONDS
    while words not in (said := log.read_text(encoding="utf-8")):
        assert process.poll() is None, said
        assert time.monotonic() < deadline, said
        time.sleep(0.05)


@contextmanager
def dask(folder: Path) -> Iterator[Dask]:
    """A scheduler without workers, and without this project, for as long as the context; what was started ends with it."""
    found = Dask(folder, "")
    where, without = folder / "scheduler.json", folder / "without.py"
    without.write_text(WITHOUT, encoding="utf-8")
    options = ("--port", "0", "--scheduler-file", str(where), "--preload", str(without))
    try:
        scheduler = _start(found, "dask_scheduler", "scheduler", *options)
        _await(folder / "scheduler.log", "Scheduler at", scheduler)
        deadline = time.monotonic() + START_SECONDS
        while not where.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        found.address = json.loads(where.read_text(encoding="utf-8"))["address"]
        yield found
    finally:
        for process in reversed(found.processes):
            process.kill()
        for process in found.processes:
            process.wait()
