"""The history in DuckDB: names and columns, what is hidden, what is refused, and what is handed on."""

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from stages import ledger
from stages.errors import DataError, LedgerError, UsageError
from stages.report import ask, connect, query, write_history
from stages.report.sql import views
from stages.schema import ANSWERS, COMPARISONS, JUDGEMENTS, SCORES, TABLES, UNUSABLE, VOTES
from stages.score import score
from stages.store import partitions
from stages.table import Table
from tests import factories as f
from tests.conftest import make_project
from tests.report.conftest import EARLIER, LATEST, OTHER

SMALL = {"occupation": (1, 1, 0), "control": (1, 1, 0)}


def small(root: Path, run: str = "model-a@2026-11-30", **entry: Any) -> pl.DataFrame:
    """Record a run of eight answers."""
    rows = f.make_judgements(f.always_stereotype, f.make_questions([run], styles=["direct"], groups=SMALL))
    f.record(root, rows, score(rows), **entry)
    return rows


def only_file(root: Path, table: Table) -> Path:
    (path,) = (root / "data" / table.name).rglob("*.parquet")
    return path


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_an_empty_history_has_every_view_with_its_columns(project: Path, table: Table) -> None:
    found = query(project, f"from {table.name}")
    assert found.height == 0
    assert found.schema == table.schema


def test_an_empty_history_has_empty_marts(project: Path) -> None:
    with connect(project) as connection:
        for view in views(project):
            assert ask(connection, f"from {view.name}").height == 0, view.name


def test_views_have_the_rows_that_were_written(history: Path) -> None:
    for table in (ANSWERS, JUDGEMENTS, VOTES, SCORES, COMPARISONS):
        files = sorted((history / "data" / table.name).rglob("*.parquet"))
        written = table.conform(pl.concat(pl.read_parquet(p, hive_partitioning=False) for p in files))
        found = query(history, f"from {table.name}")
        assert table.conform(found).equals(written)


def test_every_view_and_column_is_documented(project: Path) -> None:
    undocumented = query(
        project,
        """
        select table_name || '.' || column_name as name from duckdb_columns()
        where not internal and schema_name = 'main' and coalesce(comment, '') = ''
        union all
        select view_name from duckdb_views() where not internal and schema_name = 'main' and comment not ilike 'one row per%'
        """,
    )
    assert undocumented["name"].to_list() == []


def test_comments_are_those_of_the_schema(project: Path) -> None:
    found = query(project, "select column_name, comment from duckdb_columns() where table_name = 'answers'")
    assert dict(found.rows()) == {c.name: c.doc for c in ANSWERS.columns}


def test_sql_knows_the_unusable_outcomes(project: Path) -> None:
    text = (project / "reports/sql/staging/runs.sql").read_text(encoding="utf-8")
    listed = text.split("outcome not in (")[1].split(")")[0]
    assert sorted(word.strip(" '") for word in listed.split(",")) == sorted(UNUSABLE)


def test_answers_of_a_retired_run_are_only_counted_in_runs(project: Path) -> None:
    small(project, "model-a@2026-11-29", retired=True)
    small(project, "model-a@2026-11-30")
    for name in ("answers", "provenance", "failures"):
        assert set(query(project, f"from {name}")["run"]) <= {"model-a@2026-11-30"}, name
    found = query(project, "select run, retired, n_expected from runs")
    assert found.rows() == [("model-a@2026-11-29", True, 8), ("model-a@2026-11-30", False, 8)]


def test_a_later_run_of_the_same_day_is_the_latest(project: Path) -> None:
    for stamp in ("2026-11-30", "2026-11-30.2", "2026-11-30.10"):
        small(project, f"model-a@{stamp}")
    found = query(project, "select run, previous_run from latest")
    assert found.rows() == [("model-a@2026-11-30.10", "model-a@2026-11-30.2")]


def test_a_column_that_came_later_is_null_in_older_files(project: Path) -> None:
    small(project, "model-a@2026-11-29")
    old = only_file(project, JUDGEMENTS)
    pl.read_parquet(old, hive_partitioning=False).drop("answer_form").write_parquet(old)
    small(project, "model-a@2026-11-30")
    found = query(project, "select run, count(*), count(answer_form) from judgements group by run order by run")
    assert found.rows() == [("model-a@2026-11-29", 8, 0), ("model-a@2026-11-30", 8, 8)]


def test_a_column_of_another_type_is_named_with_its_file(project: Path) -> None:
    small(project)
    path = only_file(project, JUDGEMENTS)
    pl.read_parquet(path, hive_partitioning=False).with_columns(pl.col("epoch").cast(pl.String)).write_parquet(path)
    with pytest.raises(DataError, match=r"checkup\.en\.two\.parquet: column 'epoch' is String, but must be Int64"):
        connect(project)


def test_a_column_that_no_table_knows_is_named_with_its_file(project: Path) -> None:
    small(project)
    path = only_file(project, VOTES)
    pl.read_parquet(path, hive_partitioning=False).with_columns(pl.lit(1).alias("extra")).write_parquet(path)
    with pytest.raises(DataError, match=r"checkup\.en\.two\.parquet: column 'extra' is not in table 'votes'"):
        connect(project)


def test_a_file_that_is_not_parquet_is_named(project: Path) -> None:
    small(project)
    only_file(project, SCORES).write_bytes(b"not parquet")
    with pytest.raises(DataError, match=r"checkup\.en\.two\.parquet cannot be read as Parquet"):
        connect(project)


def test_answers_outside_the_ledger_are_refused(project: Path) -> None:
    small(project)
    stray = only_file(project, ANSWERS)
    shutil.copytree(stray.parent, stray.parent.parent / "run=2026-11-01")
    with pytest.raises(LedgerError, match="run=2026-11-01"):
        connect(project)


def test_a_history_can_be_read_while_it_is_written(project: Path) -> None:
    """Half-written files and journals of a run that is being asked are not part of the history."""
    small(project)
    run = ledger.Run("model-b", "2026-11-30", next(ledger.runs(ledger.read_ledger(project))).entry)
    ledger.record(project, run.with_state("open"))
    (path,) = (part.path(project, ANSWERS) for part in partitions(run))
    path.parent.mkdir(parents=True)
    path.with_suffix(".parquet.tmp").write_bytes(b"PAR1 half")
    path.with_suffix(".journal.jsonl").write_text(json.dumps({"answer": {}}), encoding="utf-8")
    with connect(project) as connection:
        small(project, "model-c@2026-11-30")
        assert set(ask(connection, "from answers")["model"]) == {"model-a"}
    found = query(project, "select model, state, partitions, partitions_recorded, n_expected from runs")
    assert found.rows() == [
        ("model-a", "sealed", 1, 1, 8), ("model-b", "open", 1, 0, 0), ("model-c", "sealed", 1, 1, 8)
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["a [b] *", "it's", "数据 one"])
def test_any_folder_can_hold_a_project(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    root.mkdir()
    make_project(root)
    small(root)
    assert query(root, "select count(*) from judgements").item() == 8
    assert write_history(root).exists()


def test_a_sealed_run_with_failures_has_its_coverage(history: Path) -> None:
    (found,) = query(history, f"from runs where run = '{OTHER}'").to_dicts()
    judged = query(history, f"from judgements where run = '{OTHER}'")
    unusable = judged.filter(pl.col("outcome").is_in([str(o) for o in UNUSABLE])).height
    assert found["n_expected"] == judged.height
    assert found["n_usable"] == judged.height - unusable
    assert found["n_failures"] == judged.filter(pl.col("outcome") == "error").height
    assert found["n_failures"] > 0
    assert found["coverage"] == pytest.approx(100 * found["n_usable"] / found["n_expected"])
    assert found["cost"] is None
    assert found["n_cost_unknown"] == found["n_answered"]


def test_runs_are_listed_once_each(history: Path) -> None:
    assert query(history, "from runs")["run"].to_list() == [EARLIER, LATEST, OTHER]


BAD = {
    "selec 1": "syntax error at or near",
    "select nope from runs": 'column "nope" not found in FROM clause; Candidate bindings',
    "from run": 'Table with name run does not exist; Did you mean "runs"',
    "": "empty",
    "  \n": "empty",
    "select 'x'::int": "Could not convert string 'x'",
    "select interval 1 day": "cast it to varchar",
    "from read_parquet('https://example.com/x')": "reaches beyond what is recorded",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_query_is_one_sentence_with_the_hint_of_duckdb(project: Path, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        query(project, text)
    assert BAD[text] in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith((".", '"from runs".'))


def test_a_statement_without_rows_gives_an_empty_frame(project: Path) -> None:
    assert query(project, "-- nothing").is_empty()


def test_no_extension_is_fetched(project: Path) -> None:
    for setting in ("autoinstall_known_extensions", "autoload_known_extensions"):
        assert query(project, f"select current_setting('{setting}')").item() is False


def test_what_vanished_meanwhile_is_said(project: Path) -> None:
    small(project)
    with connect(project) as connection:
        only_file(project, VOTES).unlink()
        with pytest.raises(DataError, match="ask again"):
            ask(connection, "from votes")


def test_the_history_is_handed_on_as_one_file(history: Path) -> None:
    path = write_history(history)
    with duckdb.connect(str(path), read_only=True) as handed, connect(history) as views_:
        for view in views(history):
            everything = f"from {view.name} order by all"
            assert ask(handed, everything).equals(ask(views_, everything)), view.name
        comments = ask(
            handed,
            "select comment from duckdb_tables() where not internal union all select comment from duckdb_columns() where not internal",
        )
    assert comments["comment"].null_count() == 0
    path.unlink()


def test_the_history_file_is_replaced_as_a_whole(project: Path) -> None:
    path = write_history(project)
    small(project)
    with duckdb.connect(str(path), read_only=True) as old:
        write_history(project)
        assert ask(old, "from runs").height == 0
    with duckdb.connect(str(path), read_only=True) as new:
        assert ask(new, "from runs").height == 1
    assert not list(path.parent.glob("*.tmp"))
