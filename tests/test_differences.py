"""What differs between two recordings of a table: rows by their grain, columns that both have, files by their bytes."""

import re
from pathlib import Path

import polars as pl
import pytest

from stages.differences import BEFORE, LINES, Difference, difference, files, run_of
from stages.errors import DataError
from stages.reduce import reduce
from stages.schema import JUDGEMENTS, RECORDED, SCORES, VOTES
from stages.score import score
from stages.store import write
from stages.table import Table
from tests.factories import always_stereotype, make_judgements, make_questions, record

SMALL = {"occupation": (2, 2, 0), "control": (1, 1, 0)}
NAME = "model=model-a/run=2026-11-30/checkup.en.two.parquet"


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    return make_judgements(always_stereotype, make_questions(styles=["direct"], groups=SMALL))


def laid(folder: Path, table: Table, before: pl.DataFrame, after: pl.DataFrame) -> Difference:
    """The difference of two files of ``table``, which need not have its columns."""
    paths = {side: folder / f"{side}.parquet" for side in ("before", "after")}
    before.write_parquet(paths["before"])
    after.write_parquet(paths["after"])
    return difference(table, {NAME: paths["before"]}, {NAME: paths["after"]})


def with_outcome(rows: pl.DataFrame, n: int, outcome: str) -> pl.DataFrame:
    first = pl.int_range(pl.len()) < n
    return rows.with_columns(pl.when(first).then(pl.lit(outcome)).otherwise("outcome").alias("outcome"))


def test_what_moved_is_told_with_its_reply(tmp_path: Path, rows: pl.DataFrame) -> None:
    found = laid(tmp_path, JUDGEMENTS, with_outcome(rows, 2, "invalid"), rows)
    lines = found.lines()
    assert lines.schema == LINES
    first = rows.row(0, named=True)
    assert lines.row(0, named=True) == {
        "table": "judgements", "run": first["run"], "benchmark": "checkup", "language": "en", "protocol": "two",
        "row": f"{first['item_id']} single {first['epoch']}", "change": "moved", "column": "outcome",
        "before": "invalid", "after": first["outcome"], "also": None, "reply": first["reply"],
    }  # fmt: skip
    assert lines.height == 2
    assert found.told == "judgements: 2 moved (outcome 2)"


def test_rows_of_one_side_only_are_new_or_gone(tmp_path: Path, rows: pl.DataFrame) -> None:
    found = laid(tmp_path, JUDGEMENTS, rows.slice(0, 5), rows.slice(2))
    assert found.told == f"judgements: {rows.height - 5} new, 2 gone"
    told = found.lines().filter(pl.col("change") == "gone").select("before", "after", "reply").rows()
    assert told == [(outcome, None, reply) for outcome, reply in rows.head(2).select("outcome", "reply").rows()]


def test_a_file_of_one_side_only_has_no_rows_on_the_other(tmp_path: Path, rows: pl.DataFrame) -> None:
    path = tmp_path / "x.parquet"
    write(path, JUDGEMENTS, rows)
    assert difference(JUDGEMENTS, {}, {NAME: path}).told == f"judgements: {rows.height} new"
    assert difference(JUDGEMENTS, {NAME: path}, {}).told == f"judgements: {rows.height} gone"


def test_files_with_the_same_bytes_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"not parquet, and the same on both sides")
    found = difference(JUDGEMENTS, {NAME: path}, {NAME: path})
    assert (found.n_files, found.n_same, found.rows.height) == (1, 1, 0)


def test_other_bytes_with_the_same_rows_are_no_difference(tmp_path: Path, rows: pl.DataFrame) -> None:
    found = laid(tmp_path, JUDGEMENTS, rows.reverse(), rows)
    assert (found.n_files, found.n_same, found.rows.height) == (1, 0, 0)


def test_the_version_of_the_numbers_is_no_number(tmp_path: Path, rows: pl.DataFrame) -> None:
    scores = score(rows)
    older = scores.with_columns(pl.lit(1, pl.Int64).alias("metrics_version"))
    assert laid(tmp_path, SCORES, older, scores).rows.is_empty()
    moved = older.with_columns(pl.col("n") + 1)
    found = laid(tmp_path, SCORES, moved, scores)
    assert set(found.lines()["column"]) == {"n"}
    assert found.rows.height == scores.height


def test_a_table_of_an_earlier_shape_is_compared_in_the_columns_it_has(tmp_path: Path, rows: pl.DataFrame) -> None:
    older = with_outcome(rows, 1, "invalid").drop("answer_form", "turn").with_columns(gone=pl.lit(1))
    found = laid(tmp_path, JUDGEMENTS, older, rows)
    assert found.told == "judgements: 1 moved (outcome 1)"
    assert found.rows[f"answer_form{BEFORE}"].null_count() == 1


def test_a_later_field_of_a_struct_is_no_other_type(tmp_path: Path, rows: pl.DataFrame) -> None:
    votes = reduce(rows)
    older = votes.with_columns(pl.col("epochs").list.eval(pl.struct(pl.element().struct.field("variant", "epoch"))))
    found = laid(tmp_path, VOTES, older, votes)
    assert found.told == f"votes: {votes.height} moved (epochs {votes.height})"
    assert found.lines().select("column", "before", "after").unique().rows() == [("epochs", None, None)]


def test_a_column_of_another_type_is_named_with_its_file(tmp_path: Path, rows: pl.DataFrame) -> None:
    older = rows.with_columns(pl.col("epoch").cast(pl.String))
    with pytest.raises(
        DataError, match=re.escape("before.parquet: column 'epoch' is String, which cannot be laid beside")
    ):
        laid(tmp_path, JUDGEMENTS, older, rows)


@pytest.mark.parametrize("table", RECORDED, ids=lambda table: table.name)
def test_every_recorded_table_can_be_compared(tmp_path: Path, table: Table) -> None:
    found = laid(tmp_path, table, table.empty().select(table.grain), table.empty())
    assert found.told == f"{table.name}: nothing moved"
    assert found.lines().schema == LINES


def test_the_files_of_a_project(project: Path) -> None:
    both = make_questions(["model-a@2026-11-30", "model-b@2026-11-30.2"], styles=["direct"], groups=SMALL)
    record(project, make_judgements(always_stereotype, both), SCORES.empty())
    found = files(project, JUDGEMENTS)
    assert [run_of(name) for name in found] == ["model-a@2026-11-30", "model-b@2026-11-30.2"]
    assert next(iter(found)) == NAME
    assert all(path.exists() for path in found.values())
