"""Tables that people fill in by hand: CSV, XLSX and JSONL as rows of text, each with its line; and writing such tables."""

import codecs
import csv
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import polars as pl

from stages.errors import DataError, UsageError
from stages.files import write_whole

BOMS = {"UTF-8 with BOM": "utf-8-sig", "UTF-16": "utf-16"}
_MARKS = {codecs.BOM_UTF8: "UTF-8 with BOM", codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}
_DELIMITERS = ",;\t"
_LONGEST_CELL = 10_000_000
"""Characters; Python's own limit is less than a long reply."""


@dataclass(frozen=True)
class Line:
    """One row of a table: the line it begins on, and its cells by column, without blanks at their ends."""

    number: int
    cells: dict[str, str]


@dataclass(frozen=True)
class Cells:
    """A table as it was found; rows that are wholly blank are left out."""

    encoding: str
    columns: tuple[str, ...]
    lines: list[Line]


def decoded(content: bytes, name: str) -> tuple[str, str]:
    """The text of ``content``, and what it is encoded in: as its byte order mark says, else UTF-8, else GB18030.

    :raises DataError: it is none of these; the message names ``name`` and the bytes at fault.
    """
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return _strict(content, encoding, BOMS[encoding], name), encoding
    try:
        return content.decode("utf-8"), "UTF-8"
    except UnicodeDecodeError as error:
        first = error.start
    try:
        return content.decode("gb18030"), "GB18030"
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name} is neither UTF-8 (byte {first}) nor GB18030 (byte {error.start}); save it as UTF-8."
        ) from error


def _strict(content: bytes, said: str, encoding: str, name: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise DataError(f"{name} begins as {said} but is not at byte {error.start}; save it as UTF-8.") from error


def read_cells(content: bytes, name: str) -> Cells:
    """The table in ``content``; the end of ``name`` says in which format.

    :raises UsageError: the format is none of these.
    :raises DataError: the file does not fit it; the message names ``name`` and the line.
    """
    return _READERS[_format(name)](content, name)


def _format(name: str) -> str:
    suffix = Path(name).suffix.lower()
    if suffix not in _READERS:
        raise UsageError(f"{name} does not say its format; name it {', '.join(f'*{s}' for s in _READERS)}.")
    return suffix


def _read_csv(content: bytes, name: str) -> Cells:
    text, encoding = decoded(content, name)
    return _table(_csv_rows(text, name), encoding, name)


def _csv_rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    heading = text.partition("\n")[0]
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(StringIO(text, newline=""), delimiter=max(_DELIMITERS, key=heading.count), strict=True)
    begins = 1
    try:
        for row in reader:
            yield begins, row
            begins = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{name}, line {begins} is no row of a CSV table: {error}; correct it.") from error


def _read_xlsx(content: bytes, name: str) -> Cells:
    as_it_is: dict[str, Any] = {"has_header": False, "drop_empty_rows": False, "raise_if_empty": False}
    try:
        sheet = pl.read_excel(BytesIO(content), read_options={"dtypes": "string"}, **as_it_is)
    except Exception as error:  # whatever the reader of a damaged archive says
        raise DataError(f"{name} is no Excel table; save it again as .xlsx or as .csv.") from error
    rows = enumerate(([value or "" for value in row] for row in sheet.rows()), start=1)
    return _table(rows, "XLSX", name)


def _table(rows: Iterable[tuple[int, list[str]]], encoding: str, name: str) -> Cells:
    """The first row that is not blank is the heading."""
    filled = ((number, [_trimmed(cell) for cell in row]) for number, row in rows)
    kept = [(number, row) for number, row in filled if any(row)]
    if not kept:
        raise DataError(f"{name} is empty; it must have a heading and a row for each question.")
    (_, heading), *body = kept
    columns = [cell.strip() for cell in heading]
    while columns and not columns[-1]:
        columns.pop()
    return Cells(encoding, tuple(columns), [Line(number, _cells(columns, row, number, name)) for number, row in body])


def _cells(columns: list[str], row: list[str], number: int, name: str) -> dict[str, str]:
    if any(row[len(columns) :]):
        raise DataError(f"{name}, line {number} has more cells than the heading; quote cells that have a comma.")
    padded = [*row, *[""] * (len(columns) - len(row))]
    return dict(zip(columns, padded, strict=False))


def _read_jsonl(content: bytes, name: str) -> Cells:
    text, encoding = decoded(content, name)
    lines = [
        Line(number, _object(line, number, name))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    columns = dict.fromkeys(column for line in lines for column in line.cells)
    if not columns:
        raise DataError(f"{name} is empty; it must have an object for each question.")
    whole = [Line(line.number, {column: line.cells.get(column, "") for column in columns}) for line in lines]
    return Cells(encoding, tuple(columns), [line for line in whole if any(line.cells.values())])


def _object(text: str, number: int, name: str) -> dict[str, str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name}, line {number} is no JSON; correct it.") from error
    if not isinstance(found, dict) or not all(
        value is None or isinstance(value, str | int) for value in found.values()
    ):
        raise DataError(f"{name}, line {number} is no object of texts and whole numbers; correct it.")
    return {key.strip(): "" if value is None else _trimmed(str(value)) for key, value in found.items()}


def _trimmed(cell: str) -> str:
    """A cell as it was meant: programs that write tables pad cells, and end lines as their system does."""
    return cell.replace("\r\n", "\n").rstrip()


_READERS: dict[str, Callable[[bytes, str], Cells]] = {".csv": _read_csv, ".xlsx": _read_xlsx, ".jsonl": _read_jsonl}


def write_cells(path: Path, frame: pl.DataFrame) -> None:
    """Write ``frame`` as a table that people can fill in; CSV in UTF-8 with BOM, by which Excel knows it for UTF-8.

    :raises UsageError: the end of ``path`` names no format.
    :raises DataError: it cannot be written.
    """
    write_whole(path, _WRITERS[_format(path.name)](frame))


def _csv(frame: pl.DataFrame) -> bytes:
    return codecs.BOM_UTF8 + frame.write_csv(line_terminator="\r\n").encode()


def _xlsx(frame: pl.DataFrame) -> bytes:
    content = BytesIO()
    frame.write_excel(content, autofit=False, column_widths=_WIDTH)
    return content.getvalue()


def _jsonl(frame: pl.DataFrame) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in frame.iter_rows(named=True)).encode()


_WIDTH = 180
"""Pixels of a column."""
_WRITERS: dict[str, Callable[[pl.DataFrame], bytes]] = {".csv": _csv, ".xlsx": _xlsx, ".jsonl": _jsonl}
