"""Tables of an earlier revision beside those of today, whatever shape they had. (cases 30, 46)"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl
import pytest

from stages.differences import files
from stages.errors import DataError
from stages.report import ask, previous, query
from stages.report.history import CONFIG
from stages.schema import ANSWERS, JUDGEMENTS, RECORDED, SCORES, VOTES
from stages.score import score
from stages.table import Table
from tests import factories as f

RUNS = ("model-a@2026-11-29", "model-a@2026-11-30")
SMALL = {"occupation": (1, 1, 0), "control": (1, 1, 0)}
JOINED = """
    select p.outcome as before, j.outcome as after, count(*) as n from judgements j join previous.judgements p
    using (run, benchmark, language, protocol, item_id, variant, epoch) group by all order by all
"""


@pytest.fixture
def sides(project: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A project with two runs of eight answers, and the same as an earlier revision recorded it."""
    rows = f.make_judgements(f.always_stereotype, f.make_questions(RUNS, styles=["direct"], groups=SMALL))
    f.record(project, rows, score(rows))
    for name in ("data", "runs"):
        shutil.copytree(project / name, tmp_path / "previous" / name)
    return project, tmp_path / "previous"


@contextmanager
def attached(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:", config=CONFIG) as connection:
        previous.attach(connection, folder)
        yield connection


def then(folder: Path, text: str) -> pl.DataFrame:
    """The rows of a query of what ``folder`` has alone."""
    with attached(folder) as connection:
        return ask(connection, text)


def change(folder: Path, table: Table, function: Callable[[pl.DataFrame], pl.DataFrame], n: int = 2) -> None:
    """Change the first ``n`` files of ``table``."""
    for path in list(files(folder, table).values())[:n]:
        function(pl.read_parquet(path, hive_partitioning=False)).write_parquet(path)


def test_earlier_judgements_stand_beside_the_new_ones(sides: tuple[Path, Path]) -> None:
    root, folder = sides
    change(folder, JUDGEMENTS, lambda rows: rows.with_columns(outcome=pl.lit("invalid")), 1)
    found = query(root, JOINED, folder)
    assert found.rows() == [
        ("correct", "correct", 4), ("invalid", "correct", 4), ("invalid", "stereotype", 4), ("stereotype", "stereotype", 4)
    ]  # fmt: skip
    assert then(folder, "select run, partitions_recorded from previous.ledger").rows() == [(run, 1) for run in RUNS]


def test_every_recorded_table_has_its_columns_also_where_it_was_not_there(sides: tuple[Path, Path]) -> None:
    _, folder = sides
    shutil.rmtree(folder / "data")
    with attached(folder) as connection:
        for table in RECORDED:
            assert ask(connection, f"from previous.{table.name}").schema == table.schema
            described = ask(
                connection,
                f"select column_name, comment from duckdb_columns() where schema_name = 'previous' and table_name = '{table.name}'",
            )
            assert dict(described.rows()) == {column.name: column.doc for column in table.columns}


def test_columns_that_came_later_say_what_their_absence_meant(sides: tuple[Path, Path]) -> None:
    """In every file, or in one of two."""
    root, folder = sides
    for n in (1, 2):
        change(folder, ANSWERS, lambda rows: rows.drop("turn", "task", strict=False), n)
        change(folder, JUDGEMENTS, lambda rows: rows.drop("answer_form", strict=False), n)
        found = then(folder, "select turn, task, count(*) from previous.answers group by all")
        assert found.rows() == [(1, "blank", 16)]
        assert then(folder, "select count(answer_form) from previous.judgements").item() == 8 * (2 - n)
    answers = then(folder, "from previous.answers")
    assert answers.select("item_id", "reply").equals(then(root, "select item_id, reply from previous.answers"))


def test_columns_that_are_there_no_more_can_be_read(sides: tuple[Path, Path]) -> None:
    _, folder = sides
    change(folder, SCORES, lambda rows: rows.with_columns(p_value=pl.lit(0.5)), 1)
    found = then(folder, "select run, max(p_value) from previous.scores group by run order by run")
    assert found.rows() == [(RUNS[0], 0.5), (RUNS[1], None)]


def test_fields_that_came_later_are_null(sides: tuple[Path, Path]) -> None:
    _, folder = sides
    fields = pl.element().struct.field("variant", "epoch", "outcome")
    change(folder, VOTES, lambda rows: rows.with_columns(pl.col("epochs").list.eval(pl.struct(fields))), 1)
    found = then(folder, "select run, count(epochs[1].reply) from previous.votes group by run order by run")
    assert found.rows() == [(RUNS[0], 0), (RUNS[1], 4)]


def test_files_that_disagree_in_a_type_are_named(sides: tuple[Path, Path]) -> None:
    """One type in all files of then is no conflict, though it is another today."""
    _, folder = sides
    change(folder, JUDGEMENTS, lambda rows: rows.with_columns(pl.col("epoch").cast(pl.String)), 1)
    with pytest.raises(
        DataError, match=r"run=2026-11-30/.*parquet: column 'epoch' is Int64, but String in other files"
    ):
        then(folder, "from previous.judgements")
    change(folder, JUDGEMENTS, lambda rows: rows.with_columns(pl.col("epoch").cast(pl.String)))
    assert then(folder, "select distinct typeof(epoch) from previous.judgements").item() == "VARCHAR"


def test_a_file_that_is_not_parquet_is_named_with_the_folder_to_delete(sides: tuple[Path, Path]) -> None:
    _, folder = sides
    next(iter(files(folder, VOTES).values())).write_bytes(b"not parquet")
    with pytest.raises(DataError, match=rf"cannot be read as Parquet; delete {folder} to fetch it again"):
        then(folder, "from previous.votes")
