"""Contracts that follow from schema alone: which columns a file has, and what no value may be."""

from collections.abc import Mapping

import polars as pl

from stages.table import Table
from stages.validate.contracts import Checkable, contract, equal

MISSING = "missing"


def columns(suite: str, table: Table, files: Mapping[str, pl.Schema], folder: str) -> Checkable:
    """The columns and types of ``files`` (path -> schema) against those of ``table``, one row per file and column.

    Types are compared here and not by Great Expectations, which sees only those that pandas has.
    """
    rules = contract(
        suite,
        ("column", "found", "declared"),
        equal("found", "declared", "every column is there, is known, and has its declared type"),
    )
    declared = _types(table.schema, "declared")
    compared = [
        declared.join(_types(schema, "found"), on="column", how="full", coalesce=True).select(
            pl.lit(file).alias("file"), "column", pl.col("found", "declared").fill_null(MISSING)
        )
        for file, schema in files.items()
    ]
    empty = pl.DataFrame(schema=dict.fromkeys(("file", "column", "found", "declared"), pl.String))
    return Checkable(rules, pl.concat([empty, *compared]).sort("file", "column"), folder)


def fits(table: Table, schema: pl.Schema) -> bool:
    """Whether a file with ``schema`` has the columns of ``table``, so that its rows can be judged."""
    return dict(schema) == dict(table.schema)


def _types(schema: pl.Schema, name: str) -> pl.DataFrame:
    return pl.DataFrame(
        {"column": schema.names(), name: [str(t) for t in schema.dtypes()]},
        schema={"column": pl.String, name: pl.String},
    )


def required(table: Table) -> list[str]:
    """The columns of ``table`` that are never null."""
    return [c.name for c in table.columns if not c.nullable]


def null_column(table: Table) -> pl.Expr:
    """Name of the row's first column that is null though it must not be; null when there is none."""
    return pl.coalesce(pl.when(pl.col(name).is_null()).then(pl.lit(name)) for name in required(table))


def unreal_column(table: Table) -> pl.Expr:
    """Name of the row's first column that holds NaN or an infinite number; null when there is none."""
    floats = [name for name, dtype in table.schema.items() if dtype == pl.Float64]
    return pl.coalesce(pl.when(~pl.col(name).is_finite()).then(pl.lit(name)) for name in floats)
