"""What a table is: its columns, and how a frame is made to have exactly them.

Tables are written only through :meth:`Table.conform`, so a file in ``data/`` always has exactly its table's columns in
their order, sorted by its grain, with no NaN and no null where none is allowed. Which tables there are stands in stages/schema.
"""

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from stages.errors import DataError


@dataclass(frozen=True)
class Column:
    name: str
    dtype: pl.DataType
    doc: str
    nullable: bool = False
    since: int = 1
    """The schema version that brought it."""
    earlier: str | int | None = None
    """What an earlier file means, which has no such column; it is read as if it had it."""


@dataclass(frozen=True)
class Table:
    name: str
    grain: tuple[str, ...]
    columns: tuple[Column, ...]
    doc: str

    @cached_property
    def schema(self) -> pl.Schema:
        return pl.Schema({c.name: c.dtype for c in self.columns})

    def empty(self) -> pl.DataFrame:
        return pl.DataFrame(schema=self.schema)

    def upgraded(self, frame: pl.DataFrame) -> pl.DataFrame:
        """``frame``, of this or an earlier version of the table, with the columns and fields that came later.

        A later column says what its absence meant (``Column.earlier``), a later field of a struct is null.
        """
        late = [c for c in self.columns if c.since > 1 and c.name not in frame.columns]
        grown = [c for c in self.columns if c.name in frame.columns and widened(frame.schema[c.name], c.dtype)]
        return frame.with_columns(
            *(pl.lit(c.earlier, c.dtype).alias(c.name) for c in late), *(pl.col(c.name).cast(c.dtype) for c in grown)
        )

    def conform(self, frame: pl.DataFrame, where: str = "") -> pl.DataFrame:
        """Return ``frame`` with exactly this table's columns and types, sorted by its grain.

        Floats are rounded to 12 significant digits: parallel means differ in the last bits.

        :raises DataError: a column is missing, unknown or of another type, a key occurs twice, or a
            value is NaN or null where it must not be; the message names ``where`` and the row's key.
        """
        where = where or self.name
        if unknown := sorted(set(frame.columns) - set(self.schema)):
            raise DataError(f"{where}: column {unknown[0]!r} is not in table {self.name!r}; remove or rename it.")
        for column in self.columns:
            self._check_column(frame, column, where)
        frame = frame.select(self.schema.names()).with_columns(_rounded(self.schema)).sort(self.grain)
        duplicated = frame.filter(frame.select(self.grain).is_duplicated())
        if duplicated.height:
            raise DataError(f"{where}: the key {self._key(duplicated)} occurs more than once; keep one row.")
        return frame

    def _check_column(self, frame: pl.DataFrame, column: Column, where: str) -> None:
        if column.name not in frame.columns:
            raise DataError(f"{where}: column {column.name!r} of table {self.name!r} is missing; add it.")
        found = frame.schema[column.name]
        if found != column.dtype:
            raise DataError(f"{where}: column {column.name!r} is {found}, but must be {column.dtype}; convert it.")
        values = frame[column.name]
        if not column.nullable and values.null_count():
            row = frame.filter(values.is_null())
            raise DataError(f"{where}: column {column.name!r} is null at {self._key(row)}; give it a value.")
        if found.is_float() and values.is_nan().any():
            row = frame.filter(values.is_nan())
            raise DataError(f"{where}: column {column.name!r} is NaN at {self._key(row)}; a missing value is null.")

    def _key(self, frame: pl.DataFrame) -> str:
        row = frame.row(0, named=True)
        return "(" + ", ".join(f"{name}={row.get(name)}" for name in self.grain) + ")"


def widened(found: pl.DataType, declared: pl.DataType) -> bool:
    """Whether ``declared`` is the list of structs ``found`` with fields that came later."""
    if found == declared or not (isinstance(found, pl.List) and isinstance(declared, pl.List)):
        return False
    if not (isinstance(found.inner, pl.Struct) and isinstance(declared.inner, pl.Struct)):
        return False
    return set(found.inner.fields) <= set(declared.inner.fields)


def _rounded(schema: pl.Schema) -> list[pl.Expr]:
    return [pl.col(n).round_sig_figs(12) for n, t in schema.items() if t == pl.Float64]
