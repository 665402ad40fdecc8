"""What an earlier revision recorded, as the schema ``previous`` beside the history of today."""

from pathlib import Path

import duckdb
import polars as pl

from stages.errors import DataError
from stages.ledger import read_ledger
from stages.report.files import create_table, ledger_rows, literal, pattern, value
from stages.report.sql import View, comment
from stages.schema import RECORDED
from stages.table import Column, Table, widened


def attach(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Create the schema ``previous``: its ``ledger``, and a view for each table that is recorded run by run.

    ``folder`` is laid out like a project. Files are read by column name. A view has today's columns, those that came later as
    their absence meant, or null, and after them the columns that there are no more. A table that was not recorded then is empty.

    :raises DataError: a file is not Parquet, or files of one table have a column in different types.
    """
    connection.execute("create schema previous")
    create_table(connection, "previous.ledger", ledger_rows(folder, read_ledger(folder)))
    for table in RECORDED:
        _attach(connection, table, sorted((folder / "data" / table.name).glob("model=*/run=*/*.parquet")))
        comment(connection, View(table.name, f"{table.doc}, as recorded then", {}, ""), "view", "previous.")


def _attach(connection: duckdb.DuckDBPyConnection, table: Table, paths: list[Path]) -> None:
    there = _columns(paths)
    types = dict(zip(table.schema, connection.from_arrow(table.empty().to_arrow()).types, strict=True))
    own = [_own(column, str(types[column.name]), column.name in there) for column in table.columns]
    retired = [f'"{name}"' for name in there if name not in table.schema]
    listed = ", ".join(literal(pattern(path)) for path in paths)
    source = (
        f"read_parquet([{listed}], union_by_name=true, hive_partitioning=false)" if paths else "(select 1) where false"
    )
    connection.execute(f"create view previous.{table.name} as select {', '.join((*own, *retired))} from {source}")


def _own(column: Column, type_: str, there: bool) -> str:
    """The column in SQL: as it is in the files, with what its absence meant where they lack it."""
    meant = "null" if column.earlier is None else value(column.earlier)
    if not there:
        return f'{meant}::{type_} as "{column.name}"'
    return f'"{column.name}"' if column.earlier is None else f'coalesce("{column.name}", {meant}) as "{column.name}"'


def _columns(paths: list[Path]) -> dict[str, pl.DataType]:
    """The columns of the files and their types, which a list of structs may have with fewer fields."""
    found: dict[str, pl.DataType] = {}
    for path in paths:
        try:
            with path.open("rb") as file:  # a path would be taken for a pattern
                own = pl.read_parquet_schema(file)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise DataError(f"{path} cannot be read as Parquet; delete {path.parents[4]} to fetch it again.") from error
        for name, dtype in own.items():
            other = found.setdefault(name, dtype)
            if dtype != other and not widened(dtype, other) and not widened(other, dtype):
                raise DataError(
                    f"{path}: column {name!r} is {dtype}, but {other} in other files; ask of another revision."
                )
    return found
