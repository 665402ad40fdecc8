"""What DVC records after work that was done outside it: the outputs of its stages as they are."""

import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from stages import stopping
from stages.errors import CheckupError, Stopped
from stages.ledger import read_ledger, reindex
from stages.locks import held
from stages.settings import read_yaml

STAGES = ("load", "validate", "check", "judge", "reduce", "score", "report")
WAIT_SECONDS = 120.0
"""How long another DVC command in this project is waited for."""
_BUSY = "is busy"


def commit(root: Path) -> None:
    """Record every stage's outputs, so that ``dvc status`` is clean and ``dvc repro`` has nothing to do.

    A model with an open run is left out: recorded, its missing answers would look as if they were all there.

    :raises CheckupError: DVC refused, or another DVC command held the project for too long.
    """
    reindex(root)
    ledger = read_ledger(root).runs
    sealed = [model for model, runs in sorted(ledger.items()) if all(run.state == "sealed" for run in runs.values())]
    queries = [f"query@{model}" for model in sealed]
    # Named one by one they take twice as long, and without names DVC records everything that it knows of.
    everything = len(sealed) == len(ledger) and ours_alone(root)
    names = () if everything else (*STAGES[:2], *queries, *STAGES[2:])
    with held(root, "dvc", "DVC in this project", WAIT_SECONDS):
        _dvc(root, "commit", "--force", *names)


def ours_alone(root: Path) -> bool:
    """Whether DVC knows of nothing in this project but the stages of the check-up."""
    known = read_yaml(root / "dvc.yaml")["stages"]
    return set(known) == {*STAGES, "query"} and not any(_of_dvc(root))


def _of_dvc(root: Path) -> Iterator[Path]:
    """DVC's own files outside hidden folders, but for the project's dvc.yaml."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found = (Path(folder) / name for name in names if name.endswith(".dvc") or name == "dvc.yaml")
        yield from (path for path in found if path != root / "dvc.yaml")


def push(root: Path) -> None:
    """Copy what DVC has recorded to its default remote, however long that takes.

    :raises CheckupError: DVC could not; what is recorded stays here, and a later push takes it along.
    """
    with held(root, "dvc", "DVC in this project", WAIT_SECONDS):
        _dvc(root, "push", mend="every answer is recorded here, mend that and run: dvc push", seconds=math.inf)


def has_remote(root: Path) -> bool:
    """Whether DVC has a remote to push to."""
    command = [sys.executable, "-m", "dvc", "config", "core.remote"]
    return bool(subprocess.run(command, cwd=root, env=environment(), capture_output=True, check=False).stdout.strip())


def _dvc(root: Path, *arguments: str, mend: str = "mend that and run: dvc repro", seconds: float | None = None) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        code, said = _once(root, arguments, seconds)
        if stopping.requested.is_set():
            raise Stopped("Stopped while DVC recorded the results; run again to record them.")
        if code == 0:
            return
        if _BUSY not in said or time.monotonic() > deadline:
            raise CheckupError(f"dvc {arguments[0]} failed: {_reason(said)}; {mend}.")
        time.sleep(1)


def _reason(said: str) -> str:
    """DVC's own word for what went wrong, on one line; who holds the project, where that is it."""
    if holder := re.search(r"\(PID (\d+)\): (.+)", said):
        return f"process {holder[1]} holds the project ({holder[2].strip()})"
    errors = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")]
    return (errors or [" ".join(said.split()) or "it gave no reason"])[-1].rstrip(".")


def _once(root: Path, arguments: tuple[str, ...], seconds: float | None = None) -> tuple[int, str]:
    """Run DVC in a session of its own, so that a stop can end it with all that it started; null seconds: the usual limit."""
    seconds = WAIT_SECONDS if seconds is None else seconds
    child = subprocess.Popen(
        [sys.executable, "-m", "dvc", "--wait-for-lock", *arguments],
        cwd=root,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    deadline = time.monotonic() + seconds
    while True:
        try:
            said = child.communicate(timeout=0.2)[1]
            return child.returncode, said
        except subprocess.TimeoutExpired:
            if stopping.requested.is_set() or time.monotonic() > deadline:
                os.killpg(child.pid, signal.SIGTERM)
                return child.wait(), f"no end within {seconds:g} seconds; is another DVC command running?"


def environment() -> dict[str, str]:
    """Variables for DVC and git: the project's own Python first, and no telemetry."""
    here = str(Path(sys.executable).parent)
    return {
        **os.environ,
        "DVC_NO_ANALYTICS": "1",
        "SHELL": "/bin/sh",
        "PATH": f"{here}{os.pathsep}{os.environ.get('PATH', '')}",
    }
