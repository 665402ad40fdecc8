"""The recorded Parquet files and the ledger as the schema ``files`` of a DuckDB connection.

Files are read where they lie, by column name: a column that came later says in older files what its absence meant, or is null. A column of another
type, or one that no table knows, is an error that names the file, because DuckDB alone would widen or drop it silently.
"""

from pathlib import Path

import duckdb
import polars as pl

from stages.errors import DataError
from stages.ledger import Ledger, Run, read_ledger, runs
from stages.schema import ANSWERS, CONTRACTS, ITEMS, PUBLISHED, TABLES
from stages.store import VALIDATION, partitions, published_path, recorded
from stages.table import Table, widened

SCHEMA = "files"
_TEXT, _LIST, _NUMBER = pl.String(), pl.List(pl.String), pl.Int64()
LEDGER_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(("run", "model", "date"), _TEXT),
        "number": _NUMBER,
        **dict.fromkeys(("state", "plan", "reads"), _TEXT),
        **dict.fromkeys(("benchmarks", "languages", "protocols", "styles"), _LIST),
        **dict.fromkeys(("epochs", "item_limit", "seed"), _NUMBER),
        "opened": _TEXT,
        "retired": pl.Boolean(),
        **dict.fromkeys(("partitions", "partitions_recorded"), _NUMBER),
    }
)
"""The columns of ``files.ledger``; reports/sql/staging/runs.sql says what they mean."""


def attach(connection: duckdb.DuckDBPyConnection, root: Path, schema: str = SCHEMA) -> None:
    """Create ``schema``: the table ``ledger`` and a view per table of ``stages.schema``.

    Answers of retired runs are there too; derived tables have what was derived so far.

    :raises DataError: a file is not Parquet, or a column in it has another type or is unknown.
    :raises LedgerError: the ledger and the recorded answers disagree.
    """
    ledger = read_ledger(root)
    begin(connection, schema)
    create_table(connection, f"{schema}.ledger", ledger_rows(root, ledger))
    for table in TABLES.values():
        show(connection, table, {path: checked(path, table) for path in table_files(root, ledger, table)}, schema)


def begin(connection: duckdb.DuckDBPyConnection, schema: str = SCHEMA) -> None:
    """Create ``schema`` with everything that there is in it, empty."""
    connection.execute(f"create schema {schema}")
    create_table(connection, f"{schema}.ledger", pl.DataFrame(schema=LEDGER_SCHEMA))
    for table in TABLES.values():
        create_table(connection, f"{schema}.{table.name}_typed", table.empty())
        show(connection, table, {}, schema)


def ledger_rows(root: Path, ledger: Ledger) -> pl.DataFrame:
    """One row per run of the ledger, retired ones too, with how many of its answer files are complete."""
    return pl.DataFrame([_ledger_row(root, run) for run in runs(ledger, retired=True)], schema=LEDGER_SCHEMA)


def _ledger_row(root: Path, run: Run) -> dict[str, object]:
    parts = [part.path(root, ANSWERS) for part in partitions(run)]
    entry = run.entry.model_dump()
    return {
        **{name: entry[name] for name in LEDGER_SCHEMA if name in entry},
        "run": run.id,
        "model": run.model,
        "date": run.date,
        "number": int(run.stamp[11:] or 1),
        "item_limit": run.entry.limit,
        "opened": run.entry.opened.isoformat(),
        "partitions": len(parts),
        "partitions_recorded": sum(path.exists() for path in parts),
    }


def table_files(root: Path, ledger: Ledger, table: Table) -> list[Path]:
    """The files of ``table`` that are there and that the ledger knows of, sorted."""
    if table is ITEMS:
        return sorted((root / "data" / ITEMS.name).glob("*.parquet"))
    if table is PUBLISHED:
        return [path for path in [published_path(root)] if path.exists()]
    if table is CONTRACTS:
        return sorted((root / VALIDATION).glob("*.parquet"))
    if table is ANSWERS:
        recorded(root, ledger, ANSWERS)
    known = (part.path(root, table) for run in runs(ledger, retired=table is ANSWERS) for part in partitions(run))
    return sorted(path for path in known if path.exists())


def checked(path: Path, table: Table) -> tuple[str, ...]:
    """The columns of the file, which all are ``table``'s."""
    try:
        with path.open("rb") as file:  # a path would be taken for a pattern
            found = pl.read_parquet_schema(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{path} cannot be read as Parquet; restore it with: dvc checkout.") from error
    for name, dtype in found.items():
        if name not in table.schema:
            raise DataError(f"{path}: column {name!r} is not in table {table.name!r}; write the file again.")
        if dtype != table.schema[name] and not widened(dtype, table.schema[name]):
            raise DataError(f"{path}: column {name!r} is {dtype}, but must be {table.schema[name]}; write it again.")
    return tuple(found)


def show(
    connection: duckdb.DuckDBPyConnection, table: Table, paths: dict[Path, tuple[str, ...]], schema: str = SCHEMA
) -> None:
    """Make the view of ``table`` one of these files, each with the columns it has."""
    body = f"select * from {schema}.{table.name}_typed"
    if paths:
        listed = ", ".join(literal(pattern(path)) for path in paths)
        # Reading by name opens every file each time a view is made, so it is asked for only where files differ.
        by_name = str(len(set(paths.values())) > 1).lower()
        body += f" union all by name select * from read_parquet([{listed}], union_by_name={by_name}, hive_partitioning=false)"
    meant = [f"coalesce({c.name}, {value(c.earlier)}) as {c.name}" for c in table.columns if c.earlier is not None]
    shown = f"* replace ({', '.join(meant)})" if meant else "*"
    connection.execute(f"create or replace view {schema}.{table.name} as select {shown} from ({body})")


def value(earlier: str | int) -> str:
    return literal(earlier) if isinstance(earlier, str) else str(earlier)


def pattern(path: Path) -> str:
    """The pattern that DuckDB takes for exactly this path."""
    return "".join(f"[{c}]" if c in "[*?" else c for c in path.as_posix())


def literal(text: str) -> str:
    """``text`` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def create_table(connection: duckdb.DuckDBPyConnection, name: str, frame: pl.DataFrame) -> None:
    connection.register("incoming", frame.to_arrow())
    connection.execute(f"create or replace table {name} as select * from incoming")
    connection.unregister("incoming")
