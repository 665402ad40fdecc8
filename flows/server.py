"""The Prefect API that a flow talks to: the user's (``PREFECT_API_URL``), else a child process that ends with us.

Prefect's own temporary server gets the terminal's Ctrl-C before the flow does and outlives a SIGTERM; this one is in a
session of its own and ends when its standard input closes.

Run as a module it prepares the database, which takes a first flow in a fresh home a dozen noisy seconds otherwise.
"""

import atexit
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from flows import settings
from stages import stopping
from stages.errors import CheckupError, Stopped

VARIABLE = "PREFECT_API_URL"
START_SECONDS = 90.0


def start() -> Callable[[], None]:
    """Set ``PREFECT_API_URL`` where it is not set; return what waits until our server answers.

    In between is the time to import Prefect, which reads the variable then: both take seconds.

    :raises CheckupError: the user's server does not answer.
    """
    if VARIABLE in os.environ:
        _expect_users()
        return lambda: None
    child = _child()
    os.environ[VARIABLE] = _url(_port_of(child))
    return lambda: _expect(child)


def start_whole(port: int, prepare: Callable[[], None]) -> str:
    """Start a Prefect server on ``port`` that starts runs on time and has the UI, unless ``PREFECT_API_URL`` names one.

    Before that, when the variable is set and Prefect may be imported, ``prepare`` is called. Returns the address for a
    browser once the server answers.

    :raises CheckupError: the port is taken, or no server answers.
    """
    ours = VARIABLE not in os.environ
    url = os.environ.setdefault(VARIABLE, _url(port))
    prepare()
    if not ours:
        _expect_users()
        return url.removesuffix("/api")
    child = _child(str(port))
    if not _port_of(child):
        raise CheckupError(_taken(port))
    _expect(child)
    return url.removesuffix("/api")


def _taken(port: int) -> str:
    if _answers(_url(port), timeout=5):
        return f"A Prefect server is on port {port} already; use it with {VARIABLE}={_url(port)}, or choose another --port."
    return f"Port {port} of this machine is taken; choose another with --port."


def _url(port: int | str) -> str:
    return f"http://127.0.0.1:{port}/api"


def _port_of(child: "subprocess.Popen[bytes]") -> str:
    assert child.stdout is not None
    return child.stdout.readline().decode().strip()


def _expect_users() -> None:
    url = os.environ[VARIABLE]
    if not _answers(url, timeout=5):
        raise CheckupError(
            f"No Prefect server answers at {VARIABLE}={url}; start it with: prefect server start, or unset {VARIABLE}."
        )


def _expect(child: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_SECONDS
    while child.poll() is None and time.monotonic() < deadline:
        if stopping.requested.is_set():
            raise Stopped("Stopped before anything was asked.")
        if _answers(os.environ[VARIABLE], timeout=0.5):
            return
        time.sleep(0.1)
    raise CheckupError(f"The local Prefect server did not start; its last words are in {_log()}.")


def _log() -> Path:
    return Path(os.environ["PREFECT_HOME"]) / "server.log"


def _child(*arguments: str) -> "subprocess.Popen[bytes]":
    _log().parent.mkdir(parents=True, exist_ok=True)
    with _log().open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "flows.server_child", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            env={**os.environ, "PREFECT_SERVER_LOGGING_LEVEL": "ERROR"},
        )
    atexit.register(_stop, child)  # Prefect hands in its last events when threads end, which is before this
    return child


def _stop(child: "subprocess.Popen[bytes]") -> None:
    child.terminate()
    try:
        child.wait(1.5)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _answers(url: str, timeout: float) -> bool:
    try:
        return httpx.get(f"{url.rstrip('/')}/health", timeout=timeout).text.strip() == "true"
    except (httpx.HTTPError, httpx.InvalidURL):
        return False


if __name__ == "__main__":
    settings.apply()
    start()()
