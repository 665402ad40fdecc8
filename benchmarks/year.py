"""How fast everything is at the size of a simulated year: 12 models × 52 weekly dates × about 1,000 answers.

    .venv/bin/python -m benchmarks.year [FOLDER]      (without one a temporary folder, which is deleted again)

What is measured is what the commands do, each in a process of its own: every stage from nothing, ``dvc commit`` and ``dvc
status``; then, three times, the bookkeeping of a new week, all that ``checkup run`` does but the calls; then each question of
docs/sql.md, the second time in an open connection, and as a command. Seconds on the clock, and of processors in brackets: those
tell more where other programs run, too. The exit code is 1 where a target is missed.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.simulated import ROOT, add, make
from stages.store import ROOT_VARIABLE
from tests.docs.cookbook import recipes

MODELS, WEEKS, REPEATS = 12, 52, 3
STAGES = ("load", "validate items", "validate answers", "judge", "reduce", "score", "report")
COMMIT = "from pathlib import Path; from flows.versions import commit; commit(Path())"
CHECKUP = "from flows.entry import main; main()"
TARGETS = {"question": 2.0, "dvc status": 30.0, "new week": 30.0}
"""Seconds on an idle machine with two cores."""


@dataclass(frozen=True)
class Took:
    """Seconds on the clock, and of processors."""

    clock: float
    processors: float
    said: str = ""

    def __str__(self) -> str:
        return f"{self.clock:7.2f} s ({self.processors:.2f})"


def main() -> None:
    if sys.argv[1:2] == ["--new-week"]:
        print(json.dumps(new_week(Path(sys.argv[2]))))
    elif sys.argv[1:2] == ["--questions"]:
        print(json.dumps(questions(Path(sys.argv[2]))))
    elif len(sys.argv) > 1:
        sys.exit(measure(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            sys.exit(measure(Path(folder) / "year"))


def measure(root: Path) -> int:
    """Make the year in ``root``, measure, and print; 1 where a target is missed, else 0."""
    if not root.exists():
        root.parent.mkdir(parents=True, exist_ok=True)
        print(f"made in {timed(partial(make, root, MODELS, WEEKS))}")
    for stage in STAGES:
        name, *arguments = stage.split()
        say(stage, timed(partial(python, root, "-m", f"stages.{name}", *arguments)))
    say(
        "dvc commit",
        timed(partial(python, root, "-c", COMMIT)),
    )
    status = best(partial(python, root, "-m", "dvc", "status", "--quiet"))
    say("dvc status", status)
    week = new_weeks(root)
    slowest = asked(root)
    missed = [
        name
        for name, took in (("dvc status", status), ("new week", week), ("question", slowest))
        if took.clock > TARGETS[name]
    ]
    print(f"missed: {', '.join(missed)}" if missed else "every target is met")
    return bool(missed)


def new_weeks(root: Path) -> Took:
    """The best of some weeks that come after those there are."""
    last = len(list((root / "data/answers").glob("model=*/run=*"))) // MODELS
    found = []
    for week in range(last, last + REPEATS):
        for place in range(MODELS):
            add(root, place, range(week, week + 1))
        found.append(timed(partial(python, root, "-m", "benchmarks.year", "--new-week", str(root))))
    took = min(found, key=lambda week: week.clock)
    say("new week", took)
    print("   " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in json.loads(took.said).items()))
    return took


def new_week(root: Path) -> dict[str, float]:
    """Seconds of each step of the flow ``evaluate`` but the calls, in one process as there."""
    from flows import versions
    from stages import judge, load, reduce, report, score, validate

    steps: dict[str, Callable[[Path], Any]] = {
        "load": load.load_all,
        "validate items": validate.validate_items,
        "validate answers": validate.validate_answers,
        "judge": judge.judge_all,
        "reduce": reduce.reduce_all,
        "score": score.score_all,
        "report": report.report_all,
        "dvc commit": versions.commit,
    }
    return {name: timed(partial(step, root)).clock for name, step in steps.items()}


def asked(root: Path) -> Took:
    """The slowest question, asked for the second time."""
    warm = {
        name: Took(*took)
        for name, took in json.loads(python(root, "-m", "benchmarks.year", "--questions", str(root))).items()
    }
    for recipe in recipes():
        command = timed(partial(python, root, "-c", CHECKUP, "sql", recipe.query, "--format", "csv"))
        say(f"{recipe.name} {recipe.question}", warm[recipe.name], f"as a command {command}")
    return max(warm.values(), key=lambda took: took.clock)


def questions(root: Path) -> dict[str, tuple[float, float]]:
    """Seconds of each question of the cookbook, the best of those after the first."""
    from stages.report import Session

    found = {}
    with Session(root) as session:
        for recipe in recipes():
            session.ask(recipe.query)
            took = best(partial(session.ask, recipe.query))
            found[recipe.name] = (took.clock, took.processors)
    return found


def best(work: Callable[[], object]) -> Took:
    return min((timed(work) for _ in range(REPEATS)), key=lambda took: took.clock)


def timed(work: Callable[[], object]) -> Took:
    clock, processors = time.perf_counter(), used()
    said = work()
    return Took(time.perf_counter() - clock, used() - processors, str(said))


def used() -> float:
    """Seconds of processors that this process and its children took so far."""
    found = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in found)


def say(what: str, took: Took, more: str = "") -> None:
    print(f"{what:60} {took} {more}".rstrip(), flush=True)


def python(root: Path, *arguments: str) -> str:
    """What Python says, run in the project; its code there is that of this checkout."""
    kept = {name: value for name, value in os.environ.items() if name != "POLARS_MAX_THREADS"}  # which tests set to 1
    environment = {**kept, ROOT_VARIABLE: str(root), "PYTHONPATH": f"{root}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    return done.stdout


if __name__ == "__main__":
    main()
