"""The history in DuckDB: documented views over the Parquet files, and the same as one file to hand on.

Parquet is the truth. Views read it where it lies, so nothing is locked and a query works while a run is being asked.
"""

import os
from collections.abc import Container
from contextlib import closing
from pathlib import Path

import duckdb
import polars as pl

from stages.errors import CheckupError, DataError, UsageError
from stages.report import files, sql
from stages.store import HISTORY

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
"""No extension is ever fetched: nothing here may need the network."""


def connect(root: Path, settled: Container[str] = ()) -> duckdb.DuckDBPyConnection:
    """An in-memory database whose views are the history of the project in ``root``.

    Views ``items, answers, judgements, votes, scores, contracts`` have the columns of ``stages.schema``; ``runs`` and
    the marts are described in ``duckdb_columns()``, as all are. An empty history gives empty views. Those ``settled`` are tables of
    what there is now, for who asks for them again and again.

    :raises CheckupError: the ledger and the files disagree, or a file does not fit its table.
    """
    connection = opened()
    try:
        files.attach(connection, root)
        sql.create(connection, root, settled)
    except BaseException:
        connection.close()
        raise
    return connection


def opened() -> duckdb.DuckDBPyConnection:
    """A database in memory, empty, that draws no progress bar into what others print."""
    connection = duckdb.connect(":memory:", config=CONFIG)
    connection.execute("set enable_progress_bar = false")
    return connection


def ask(connection: duckdb.DuckDBPyConnection, query: str) -> pl.DataFrame:
    """The rows of ``query``; an empty frame without columns for a statement that gives none.

    :raises UsageError: DuckDB does not take it; the sentence has DuckDB's message and hint.
    :raises DataError: a file vanished or changed while it was read.
    """
    try:
        return answered(connection, query)
    except duckdb.Error as error:
        raise refused(error) from error


def answered(connection: duckdb.DuckDBPyConnection, query: str) -> pl.DataFrame:
    """The same, with the errors of DuckDB as they are.

    :raises UsageError: a column has no plain type.
    """
    found = connection.sql(query)
    try:
        frame: pl.DataFrame = pl.DataFrame() if found is None else found.pl()
        return frame
    except pl.exceptions.PolarsError as error:
        raise UsageError(
            f"A column of the result has no plain type ({_sentence(error)}); cast it to varchar."
        ) from error


def refused(error: duckdb.Error) -> CheckupError:
    """What ``error`` means to whoever asked."""
    if isinstance(error, duckdb.IOException):
        return DataError(f"The history could not be read: {_sentence(error)}; ask again.")
    if isinstance(error, duckdb.PermissionException):
        return UsageError(f"The query reaches beyond what is recorded: {_sentence(error)}; leave that out.")
    return UsageError(f"The query does not work: {_sentence(error)}; correct it and ask again.")


def _sentence(error: Exception) -> str:
    """DuckDB's message and hint in one line, without the drawing of the query."""
    lines = [line.strip() for line in str(error).split("\n\nLINE ")[0].splitlines()]
    return "; ".join(line.rstrip(".!:") for line in lines[:2] if line)


def write_history(root: Path, output: Path | None = None) -> Path:
    """Write the whole history as one DuckDB file with real tables, documented like the views; return its path.

    It is built aside and renamed, so readers see the old one or the new one. Without ``output`` it is reports/history.duckdb.

    :raises CheckupError: as of ``connect``, or the file cannot be written.
    """
    path = output or root / HISTORY
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(connect(root)) as connection:
            _copy(connection, root, aside)
        os.replace(aside, path)
    except (OSError, duckdb.Error) as error:
        raise DataError(f"{path} cannot be written: {_sentence(error)}; make room or close who holds it.") from error
    finally:
        for left in (aside, aside.with_name(f"{aside.name}.wal")):
            left.unlink(missing_ok=True)
    return path


def _copy(connection: duckdb.DuckDBPyConnection, root: Path, path: Path) -> None:
    connection.execute(f"attach {files.literal(path.as_posix())} as handed")
    for view in sql.views(root):
        connection.execute(f"create table handed.{view.name} as from {view.name}")
        sql.comment(connection, view, "table", "handed.")
    connection.execute("detach handed")
