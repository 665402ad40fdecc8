"""The journal: one line per answer, written the moment it arrives, so that a kill loses only calls in flight.

It lies beside the file it becomes, as ``<name>.journal.jsonl``, and is deleted once DVC has recorded that file.
A second kind of line notes a question that failed for now: it is asked again until the run is sealed. A third keeps a reply
that was sent back, and is no answer yet: its question is asked once more, also after a kill.
"""

import errno
import json
import os
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

from stages.errors import DataError
from stages.query.questions import Key
from stages.schema import ANSWERS

Row = dict[str, Any]
_SUFFIX = ".journal.jsonl"


def journal_path(answers: Path) -> Path:
    return answers.with_suffix(_SUFFIX)


def drop_journals(root: Path) -> None:
    """Delete the journals whose file is there; call it once DVC has recorded the files."""
    for path in (root / "data" / ANSWERS.name).rglob(f"*{_SUFFIX}"):
        if path.with_name(path.name.removesuffix(_SUFFIX) + ".parquet").exists():
            path.unlink()


class Journal:
    """Append-only and flushed per line. Use as a context manager; one writer at a time (the run's lock sees to it)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answers: dict[Key, Row] = {}
        self.failures: dict[Key, Row] = {}
        self.drafts: dict[Key, tuple[Row, ...]] = {}
        """Replies that were sent back, in order; rows of answers with ``reason``."""
        self._file: FileIO | None = None

    def __enter__(self) -> "Journal":
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._read()
            self._file = FileIO(self.path, "a")  # unbuffered: a line is with the system once it is written
        except OSError as error:
            raise _unwritable(self.path, error) from error
        return self

    def __exit__(self, *_: "type[BaseException] | BaseException | TracebackType | None") -> None:
        if self._file:
            self._file.close()

    def answer(self, row: Row) -> None:
        """Record the final answer to a question.

        :raises DataError: it could not be written, e.g. the disk is full.
        """
        self._append({"answer": row})
        self.answers[_key(row)] = row

    def failure(self, row: Row) -> None:
        """Note that a question has no answer yet, and why."""
        self._append({"failure": row})
        self.failures[_key(row)] = row

    def draft(self, row: Row) -> None:
        """Keep a reply that is sent back, with its ``reason``; its question is still to be answered.

        :raises DataError: as of ``answer``.
        """
        self._append({"draft": row})
        self._take({"draft": row})

    def _append(self, line: Row) -> None:
        if self._file is None:
            raise ValueError("the journal is not open")
        data = json.dumps(line, ensure_ascii=False).encode() + b"\n"
        try:
            if self._file.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def _read(self) -> None:
        if not self.path.exists():
            return
        whole = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    break  # torn by a kill: that call is asked again
                try:
                    self._take(json.loads(line))
                except (ValueError, KeyError) as error:
                    raise DataError(
                        f"{self.path}, line {number} is damaged; delete that line, it is asked again."
                    ) from error
                whole += len(line)
        if whole < self.path.stat().st_size:
            os.truncate(self.path, whole)

    def _take(self, line: Row) -> None:
        if "answer" in line:
            self.answers[_key(line["answer"])] = line["answer"]
        elif "draft" in line:
            key = _key(line["draft"])
            self.drafts[key] = (*self.drafts.get(key, ()), line["draft"])
        else:
            self.failures[_key(line["failure"])] = line["failure"]


def _key(row: Row) -> Key:
    return (row["item_id"], row["variant"], row["epoch"])


def _unwritable(path: Path, error: OSError) -> DataError:
    reason = error.strerror or str(error)
    return DataError(
        f"{path} cannot be written: {reason}; make room or make it writable, then run again: nothing is lost."
    )
