"""Ctrl-C and SIGTERM as an event that long work polls. No exception is thrown into running code.

Throwing into a library in the middle of its work is what makes programs hang: Prefect waits for its tasks, a server
for its request. So a signal only asks; whoever works looks at ``requested`` and ends by itself, and where that takes
longer than ``GRACE`` seconds the process ends at once (children see their standard input close and end too).
"""

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

BOTH = (signal.SIGINT, signal.SIGTERM)
GRACE = 4.0
_PR_SET_PDEATHSIG = 1
requested = threading.Event()
_code = 0


def code() -> int:
    """The exit code a signal asks for (130 Ctrl-C, 143 SIGTERM); 0 when none came."""
    return _code


def _on_signal(number: int, _frame: object) -> None:
    global _code
    if requested.is_set():
        os._exit(128 + number)
    _code = 128 + number
    requested.set()
    deadline = threading.Timer(GRACE, _end, [_code])
    deadline.daemon = True
    deadline.start()


def _end(code: int) -> None:
    os.write(2, b"Stopped; every answer received so far is kept, run again to go on.\n")
    os._exit(code)


def die_with_parent() -> None:
    """Get SIGTERM when the parent process ends; DVC passes none on to the stage it runs (Linux only)."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(128 + signal.SIGTERM)


@contextmanager
def on_signals(numbers: Sequence[signal.Signals] = BOTH) -> Iterator[threading.Event]:
    """Handle both signals so, or only one and ignore the other; nothing changes outside the main thread.

    Used around everything and again inside a flow, since Prefect takes SIGTERM there.
    """
    if threading.current_thread() is not threading.main_thread():
        yield requested
        return
    before = {n: signal.signal(n, _on_signal if n in numbers else signal.SIG_IGN) for n in BOTH}
    try:
        yield requested
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
