"""What differs between two recordings of the same table: those of an earlier revision, or made again, beside those of today.

A recording is a folder that has ``data/<table>/model=…/run=…/<benchmark>.<language>.<protocol>.parquet``, as a project does. Files
with the same bytes are not read. Rows are laid beside each other by the grain of their table, and compared in the columns
that both have, so that a table of an earlier shape is compared, too.
"""

import filecmp
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import polars as pl

from stages.errors import DataError
from stages.ledger import Run
from stages.schema import JUDGEMENTS, SCORES, VOTES
from stages.store import read_unchecked
from stages.table import Table

BEFORE = "_before"
"""Ends the name of a column that holds the earlier value."""
MOVED, NEW, GONE = "moved", "new", "gone"
VERSIONS = ("metrics_version", "schema_version")
"""Columns that say how a row was made, not what it says."""
TOLD_BY = {JUDGEMENTS.name: "outcome", VOTES.name: "vote", SCORES.name: "value"}
"""Table -> the column that says most about a row; elsewhere ``value``, or else the first that differs."""
LINES = pl.Schema(
    {
        **dict.fromkeys(("table", "run", "benchmark", "language", "protocol", "row", "change"), pl.String()),
        **dict.fromkeys(("column", "before", "after", "also", "reply"), pl.String()),
    }
)
_PLACE = ("run", "benchmark", "language", "protocol")
Files = Mapping[str, Path]
"""``model=…/run=…/<benchmark>.<language>.<protocol>.parquet`` -> where that file of a table lies."""


@dataclass(frozen=True)
class Difference:
    """What differs of ``table``.

    ``n_files``  files compared, ``n_same`` of them the same bytes;
    ``rows``     the rows that differ: the grain, ``change`` (moved, new or gone), ``differing`` (names of the columns that
                 moved), and each other column with its earlier value as ``<column>_before``.
    """

    table: Table
    n_files: int
    n_same: int
    rows: pl.DataFrame

    @property
    def told(self) -> str:
        """How many rows moved (and in which columns), are new, are gone, in words: ``votes: 5 moved (vote 5, choice 3)``."""
        counts = dict(self.rows["change"].value_counts().iter_rows())
        columns = dict(self.rows["differing"].explode(empty_as_null=False).value_counts(sort=True).iter_rows())
        of_columns = f" ({', '.join(f'{name} {n:,}' for name, n in columns.items())})" if columns else ""
        each = [f"{counts[c]:,} {c}{of_columns if c == MOVED else ''}" for c in (MOVED, NEW, GONE) if c in counts]
        return f"{self.table.name}: {', '.join(each) or 'nothing moved'}"

    def lines(self) -> pl.DataFrame:
        """One row per row that differs, rows of ``LINES``: what it says before and after, as text; null of a list."""
        told = TOLD_BY.get(self.table.name, "value")
        rows = [self._line(row, told) for row in self.rows.iter_rows(named=True)]
        return pl.DataFrame(rows, schema=LINES)

    def _line(self, row: dict[str, object], told: str) -> dict[str, object]:
        differing = list(row["differing"]) if isinstance(row["differing"], list) else []
        column = told if told in row and (told in differing or not differing) else next(iter(differing), None)
        beside = [str(row[name]) for name in self.table.grain if name not in _PLACE]
        return {
            **{name: row[name] for name in (*_PLACE, "change")},
            "table": self.table.name,
            "row": " ".join(beside),
            "column": column,
            "before": _text(row.get(f"{column}{BEFORE}")),
            "after": _text(row.get(str(column))),
            "also": ", ".join(name for name in differing if name != column) or None,
            "reply": row.get("reply") or row.get(f"reply{BEFORE}"),
        }


def files(root: Path, table: Table, run: Run | None = None) -> dict[str, Path]:
    """The files of ``table`` that ``root`` has, of ``run`` or of every run."""
    folder = root / "data" / table.name
    found = run.folder(root, table).glob("*.parquet") if run else folder.glob("model=*/run=*/*.parquet")
    return {path.relative_to(folder).as_posix(): path for path in sorted(found)}


def run_of(name: str) -> str:
    """The run that the file ``name`` is of."""
    model, stamp, _ = name.split("/")
    return f"{model.removeprefix('model=')}@{stamp.removeprefix('run=')}"


def difference(table: Table, before: Files, after: Files) -> Difference:
    """What differs of ``table`` between the files ``before`` and those ``after``; one that is missing has no rows.

    :raises DataError: a file is not Parquet, or a column of it has another type than today.
    """
    names = sorted({*before, *after})
    differing = [name for name in names if not _same(before.get(name), after.get(name))]
    # A model at a time, so that replies of a long history need not be in memory at once.
    found = [
        _rows(table, _read(table, before, own), _read(table, after, own))
        for _, own in ((model, list(group)) for model, group in groupby(differing, lambda name: name.split("/")[0]))
    ]
    rows = pl.concat([_rows(table, table.empty(), table.empty()), *found])
    return Difference(table, len(names), len(names) - len(differing), rows)


def _same(before: Path | None, after: Path | None) -> bool:
    return before is not None and after is not None and filecmp.cmp(before, after, shallow=False)


def _read(table: Table, recorded: Files, names: Iterable[str]) -> pl.DataFrame:
    """The rows of those of the files ``names`` that are ``recorded``, in the columns of ``table`` that they have."""
    found = [_known(table, recorded[name]) for name in names if name in recorded]
    return pl.concat(found, how="diagonal") if found else table.empty()


def _known(table: Table, path: Path) -> pl.DataFrame:
    """The rows of a file in those of its columns that ``table`` has.

    :raises DataError: it is not Parquet, or a column has another type than today.
    """
    frame = table.upgraded(read_unchecked(path))
    names = [name for name in table.schema if name in frame.columns]
    for name in names:
        if frame.schema[name] != table.schema[name]:
            raise DataError(
                f"{path}: column {name!r} is {frame.schema[name]}, which cannot be laid beside {table.schema[name]}; "
                "compare with a later commit."
            )
    return frame.select(names)


def _rows(table: Table, before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """The rows that differ, as ``Difference.rows``."""
    grain = list(table.grain)
    here, there = (_whole(table, frame).with_columns(there=pl.lit(True)) for frame in (after, before))
    both = here.join(there, on=grain, how="full", coalesce=True, suffix=BEFORE)
    is_new, is_gone = pl.col(f"there{BEFORE}").is_null(), pl.col("there").is_null()
    shared = [name for name in table.schema if name in before.columns and name in after.columns]
    values = [name for name in shared if name not in (*grain, *VERSIONS)]
    differs = {name: ~is_new & ~is_gone & pl.col(name).ne_missing(pl.col(f"{name}{BEFORE}")) for name in values}
    named = [pl.lit(None, pl.String), *(pl.when(differ).then(pl.lit(name)) for name, differ in differs.items())]
    change = pl.when(is_new).then(pl.lit(NEW)).when(is_gone).then(pl.lit(GONE)).otherwise(pl.lit(MOVED))
    return (
        both.filter(is_new | is_gone | pl.any_horizontal(pl.lit(False), *differs.values()))
        .with_columns(change.alias("change"), pl.concat_list(named).list.drop_nulls().alias("differing"))
        .drop("there", f"there{BEFORE}")
        .sort(grain)
    )


def _whole(table: Table, frame: pl.DataFrame) -> pl.DataFrame:
    """``frame`` with every column of ``table``, null where it has none."""
    lacking = [pl.lit(None, dtype).alias(name) for name, dtype in table.schema.items() if name not in frame.columns]
    return frame.with_columns(lacking).select(table.schema.names())


def _text(value: object) -> str | None:
    if value is None or isinstance(value, list):
        return None
    return f"{value:.12g}" if isinstance(value, float) else str(value)
