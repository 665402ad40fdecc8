"""What long work shows: answers done, rate, failures, money. Nothing where nobody watches."""

import threading
from typing import Protocol as Interface

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar


class Tracker(Interface):
    """Told of each question as it ends; safe to call from several threads."""

    def advance(self, failed: bool, cost: float | None) -> None: ...

    def spend(self, cost: float | None) -> None:
        """Told of a call that its question goes on after."""

    def say(self, what: str) -> None:
        """Tell what happens to the run as a whole."""


class Progress(Interface):
    """Told of the questions to come, per run."""

    def add(self, label: str, total: int) -> Tracker: ...


class Silent:
    """Shows nothing."""

    def add(self, label: str, total: int) -> "Silent":  # noqa: ARG002
        return self

    def advance(self, failed: bool, cost: float | None) -> None:
        pass

    def spend(self, cost: float | None) -> None:
        pass

    def say(self, what: str) -> None:
        pass


class Bars:
    """One bar per run on stderr, or one line where that is no terminal; use as a context manager."""

    def __init__(self, console: Console | None = None) -> None:
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(),
            console=console or Console(stderr=True),
        )

    def __enter__(self) -> "Bars":
        if self._bar.console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar.console.is_terminal:
            self._bar.stop()

    def add(self, label: str, total: int) -> Tracker:
        if not self._bar.console.is_terminal:
            self._bar.console.print(f"Asking {label}: {total} questions.", soft_wrap=True)
        return _OneBar(self._bar, self._bar.add_task(label, total=total, note=""), label)


class _OneBar:
    def __init__(self, bar: Bar, task: TaskID, label: str) -> None:
        self._bar, self._task, self._label, self._lock = bar, task, label, threading.Lock()
        self._failures, self._cost = 0, 0.0

    def advance(self, failed: bool, cost: float | None) -> None:
        with self._lock:
            self._failures += failed
            self._cost += cost or 0
            self._bar.update(self._task, advance=1, note=self._note())

    def spend(self, cost: float | None) -> None:
        with self._lock:
            self._cost += cost or 0
            self._bar.update(self._task, note=self._note())

    def say(self, what: str) -> None:
        self._bar.console.print(f"{self._label}: {what}.", soft_wrap=True, markup=False)

    def _note(self) -> str:
        speed = next(t.finished_speed or t.speed for t in self._bar.tasks if t.id == self._task)
        return f"{speed or 0:.1f}/s · {self._failures} failed · ${self._cost:.2f}"
