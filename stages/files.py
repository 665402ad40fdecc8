"""Writing a file whole or not at all, and reading one of a user's."""

import os
from contextlib import suppress
from pathlib import Path

from stages.errors import DataError, UsageError


def write_whole(path: Path, content: str | bytes) -> None:
    """Make ``path`` hold ``content`` (text as UTF-8), with the folders it needs; who reads sees the old file or the new.

    :raises DataError: it cannot be written; what was there is untouched, and nothing is left beside it.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(aside, path)
    except OSError as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise DataError(
            f"{path} cannot be written: {error.strerror}; make room or make its folder writable."
        ) from error


def read_text(path: Path) -> str:
    """What a user's text file says.

    :raises UsageError: it is not there, or not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; name a file that is there.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8.") from error
