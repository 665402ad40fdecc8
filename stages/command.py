"""Running a stage as a command: errors become one sentence and an exit code."""

import os
import sys
import traceback
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

from dotenv import load_dotenv

from stages import stopping
from stages.errors import CheckupError, UsageError

DEBUG_VARIABLE = "CHECKUP_DEBUG"


def run(main: Callable[[], None]) -> NoReturn:
    """Call ``main`` and exit: 0 done, else the error's own exit code with its sentence on stderr.

    A traceback is printed only where ``CHECKUP_DEBUG`` is set (``checkup --debug`` sets it).
    """
    if "DVC_STAGE" in os.environ:
        stopping.die_with_parent()
    with stopping.on_signals():
        try:
            prepare()
            main()
        except CheckupError as error:
            print(report(error), file=sys.stderr)
            sys.exit(stopping.code() or error.exit_code)
        except SystemExit as ending:
            sys.exit(stopping.code() or ending.code)
    sys.exit(stopping.code())


def prepare() -> None:
    """Output in UTF-8 whatever the locale; keys from ``.env``; and no proxy between this machine and itself.

    :raises UsageError: ``.env`` is not UTF-8.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, (os.environ.get(name), "127.0.0.1", "localhost")))
    try:
        load_dotenv(Path(os.environ.get("CHECKUP_ROOT", ".")) / ".env")
    except UnicodeDecodeError as error:
        raise UsageError(f".env is not UTF-8 at byte {error.start}; save it as UTF-8.") from error


def report(error: CheckupError) -> str:
    """The sentence to show for ``error``; with its traceback when debugging."""
    if os.environ.get(DEBUG_VARIABLE):
        return "".join(traceback.format_exception(error)).rstrip()
    return f"Error: {error}"
