"""The history in DuckDB: documented views over the Parquet files, and the same as one file to hand on.

Parquet is the truth. Views read it where it lies, so nothing is locked and a query works while a run is being asked.
"""

import os
from contextlib import closing
from pathlib import Path

import duckdb
import polars as pl

from stages.errors import DataError, UsageError
from stages.report import files, previous, sql
from stages.store import HISTORY

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
"""No extension is ever fetched: nothing here may need the network."""


def connect(root: Path) -> duckdb.DuckDBPyConnection:
    """An in-memory database whose views are the history of the project in ``root``.

    Views ``items, answers, judgements, votes, scores, contracts`` have the columns of ``stages.schema``; ``runs`` and
    the marts are described in ``duckdb_columns()``, as all are. An empty history gives empty views.

    :raises CheckupError: the ledger and the files disagree, or a file does not fit its table.
    """
    connection = duckdb.connect(":memory:", config=CONFIG)
    try:
        files.attach(connection, root)
        sql.create(connection, root)
    except BaseException:
        connection.close()
        raise
    return connection


def ask(connection: duckdb.DuckDBPyConnection, query: str) -> pl.DataFrame:
    """The rows of ``query``; an empty frame without columns for a statement that gives none.

    :raises UsageError: DuckDB does not take it; the sentence has DuckDB's message and hint.
    :raises DataError: a file vanished or changed while it was read.
    """
    try:
        found = connection.sql(query)
        frame: pl.DataFrame = pl.DataFrame() if found is None else found.pl()
        return frame
    except duckdb.IOException as error:
        raise DataError(f"The history could not be read: {_sentence(error)}; ask again.") from error
    except duckdb.Error as error:
        raise UsageError(f"The query does not work: {_sentence(error)}; correct it and ask again.") from error
    except pl.exceptions.PolarsError as error:
        raise UsageError(
            f"A column of the result has no plain type ({_sentence(error)}); cast it to varchar."
        ) from error


def _sentence(error: Exception) -> str:
    """DuckDB's message and hint in one line, without the drawing of the query."""
    lines = [line.strip() for line in str(error).split("\n\nLINE ")[0].splitlines()]
    return "; ".join(line.rstrip(".!:") for line in lines[:2] if line)


def query(root: Path, text: str, beside: Path | None = None) -> pl.DataFrame:
    """The rows of the SQL query ``text`` over the history of ``root``, with what lies in ``beside`` as ``previous``.

    :raises UsageError: the query is empty or DuckDB does not take it.
    :raises CheckupError: as of ``connect``.
    """
    if not text.strip():
        raise UsageError('The query is empty; write one such as: checkup sql "from runs".')
    with closing(connect(root)) as connection:
        if beside:
            previous.attach(connection, beside)
        return ask(connection, text)


def write_history(root: Path) -> Path:
    """Write the whole history as one DuckDB file with real tables, documented like the views; return its path.

    It is built aside and renamed, so readers see the old one or the new one.

    :raises CheckupError: as of ``connect``, or the file cannot be written.
    """
    path = root / HISTORY
    aside = path.with_suffix(".duckdb.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in (aside, aside.with_suffix(".tmp.wal")):
            left.unlink(missing_ok=True)
        with closing(connect(root)) as connection:
            _copy(connection, root, aside)
        os.replace(aside, path)
    except (OSError, duckdb.Error) as error:
        raise DataError(f"{path} cannot be written: {_sentence(error)}; make room or close who holds it.") from error
    return path


def _copy(connection: duckdb.DuckDBPyConnection, root: Path, path: Path) -> None:
    connection.execute(f"attach '{path.as_posix().replace(chr(39), chr(39) * 2)}' as handed")
    for view in sql.views(root):
        connection.execute(f"create table handed.{view.name} as from {view.name}")
        sql.comment(connection, view, "table", "handed.")
    connection.execute("detach handed")
