"""Reading source files that people write: UTF-8 CSV with a canary line on top and one header line."""

from io import BytesIO
from pathlib import Path

import polars as pl

from stages.errors import DataError


def read_csv(path: Path, columns: tuple[str, ...], key: tuple[str, ...]) -> pl.DataFrame:
    """The rows of ``path`` as text, blanks as null, with their line numbers in ``line``.

    :raises DataError: the file is missing or not UTF-8, a column is missing or unknown, or a key occurs twice; the
        message names file, line and column.
    """
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise DataError(f"{path} does not exist; restore it with: git checkout {path.name}.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8.") from error
    try:
        frame = pl.read_csv(BytesIO(content.encode()), comment_prefix="#", infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path} is not a CSV table: {str(error).splitlines()[0]}; correct the file.") from error
    for column in columns:
        if column not in frame.columns:
            raise DataError(f"{path} lacks the column {column!r}; add it (the columns are: {', '.join(columns)}).")
    if unknown := [c for c in frame.columns if c not in columns]:
        raise DataError(f"{path} has the unknown column {unknown[0]!r}; remove or rename it.")
    comments = sum(line.startswith("#") for line in content.splitlines())
    frame = frame.with_row_index("line", offset=comments + 2)
    _refuse_duplicates(path, frame, key)
    return frame


def _refuse_duplicates(path: Path, frame: pl.DataFrame, key: tuple[str, ...]) -> None:
    twice = frame.filter(frame.select(key).is_duplicated()).sort(*key, "line")
    if twice.height:
        first, second = twice.row(0, named=True), twice.row(1, named=True)
        name = ", ".join(f"{k}={first[k]}" for k in key)
        raise DataError(f"{path}: {name} stands in line {first['line']} and again in line {second['line']}; keep one.")


def refuse(path: Path, rows: pl.DataFrame, column: str, problem: str) -> None:
    """Raise for the first of ``rows``, which break a rule in ``column``; nothing when there are none.

    :raises DataError: there is a row; the message names file, line, column, value and ``problem``.
    """
    if rows.height:
        row = rows.row(0, named=True)
        raise DataError(f"{path}, line {row['line']}, column {column!r}: {row[column]!r} {problem}.")
