"""Running a stage as a command: errors become one sentence and an exit code."""

import os
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

from stages import stopping
from stages.errors import CheckupError

DEBUG_VARIABLE = "CHECKUP_DEBUG"


def run(main: Callable[[], None]) -> NoReturn:
    """Call ``main`` and exit: 0 done, else the error's own exit code with its sentence on stderr.

    A traceback is printed only where ``CHECKUP_DEBUG`` is set (``checkup --debug`` sets it).
    """
    if "DVC_STAGE" in os.environ:
        stopping.die_with_parent()
    with stopping.on_signals():
        try:
            main()
        except CheckupError as error:
            print(report(error), file=sys.stderr)
            sys.exit(stopping.code() or error.exit_code)
        except SystemExit as ending:
            sys.exit(stopping.code() or ending.code)
    sys.exit(stopping.code())


def report(error: CheckupError) -> str:
    """The sentence to show for ``error``; with its traceback when debugging."""
    if os.environ.get(DEBUG_VARIABLE):
        return "".join(traceback.format_exception(error)).rstrip()
    return f"Error: {error}"
