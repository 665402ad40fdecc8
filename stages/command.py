"""Running a stage as a command: errors become one sentence and an exit code."""

import os
import shlex
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
LONGEST = 200
"""Characters of a strange error's own words; a library may quote a whole query or pattern."""


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
        except Exception as error:  # the last resort: whatever nobody foresaw is one sentence, too
            print(unforeseen(error), file=sys.stderr)
            sys.exit(stopping.code() or 1)
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
    read_keys()


def read_keys() -> None:
    """Keys from ``.env``, where they are not set yet; and no proxy between this machine and itself.

    :raises UsageError: ``.env`` is not UTF-8.
    """
    for name in ("NO_PROXY", "no_proxy"):
        told = os.environ.get(name, "").split(",")
        os.environ[name] = ",".join(dict.fromkeys(filter(None, (*told, "127.0.0.1", "localhost"))))
    try:
        load_dotenv(Path(os.environ.get("CHECKUP_ROOT", ".")) / ".env")
    except UnicodeDecodeError as error:
        raise UsageError(f".env is not UTF-8 at byte {error.start}; save it as UTF-8.") from error


def report(error: CheckupError) -> str:
    """The sentence to show for ``error``; with its traceback when debugging."""
    return _traced(error) or f"Error: {error}"


def unforeseen(error: Exception) -> str:
    """The same for an error that is none of ours: what it says, cut short, and how to see where it came from."""
    said = short(str(error))
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return (
        _traced(error)
        or f"Error: This should not happen ({what}); see where it did, and report it, with: {_debugging()}."
    )


def short(message: str) -> str:
    """The first line of what a library says, cut to a length that can stand in a sentence."""
    return next(iter(message.strip().splitlines()), "")[:LONGEST].rstrip(" .")


def _traced(error: Exception) -> str:
    return "".join(traceback.format_exception(error)).rstrip() if os.environ.get(DEBUG_VARIABLE) else ""


def _debugging() -> str:
    """The command that was given, so that it shows tracebacks; DVC gave it where this is a stage."""
    program, arguments = Path(sys.argv[0]), " ".join(shlex.quote(argument) for argument in sys.argv[1:])
    if program.suffix == ".py":
        stage = program.parent.name if program.stem == "__main__" else program.stem
        return f"{DEBUG_VARIABLE}=1 python -m stages.{stage} {arguments}".rstrip()
    return f"checkup --debug {arguments}".rstrip()
