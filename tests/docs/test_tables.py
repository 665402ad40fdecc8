"""docs/tables.md says what stages/schema declares."""

import re

import polars as pl

from stages import schema
from stages.judge import judge
from stages.params import read_params
from stages.reduce import reduce
from stages.score import score
from tests import factories as f
from tests import pairs as p
from tests import sentences as s
from tests.conftest import ROOT
from tests.docs import tables
from tests.docs.markdown import anchors, read, section, table


def test_the_document_is_fresh() -> None:
    assert read(tables.PATH) == tables.text(), f"docs/tables.md is stale; regenerate it with: {tables.COMMAND}"


def test_every_table_and_column_is_there() -> None:
    text = tables.text()
    assert set(schema.TABLES) <= anchors(text)
    for declared in schema.TABLES.values():
        rows = table(section(text, f"## {declared.name}"), "column", "null?")
        assert [row["column"] for row in rows] == [f"`{column.name}`" for column in declared.columns]
        assert [row["null?"] == "yes" for row in rows] == [column.nullable for column in declared.columns]


def test_every_outcome_is_among_the_labels() -> None:
    rows = {row["set"]: row["labels"] for row in table(section(tables.text(), "## Labels"), "set", "labels")}
    listed = f"{rows['usable outcomes']}, {rows['unusable outcomes']}".split(", ")
    assert sorted(listed) == sorted(f"`{outcome}`" for outcome in schema.Outcome)


def documented(table_: str, column: str) -> set[str]:
    """The values that the meaning of a column lists."""
    (doc,) = (c.doc for c in schema.TABLES[table_].columns if c.name == column)
    return set(re.split(r", or |, ", doc))


def test_scopes_are_those_that_scores_have() -> None:
    asked = p.make_pairs(), f.make_questions()
    rows = [p.pair_judgements(p.traditional, asked[0]), f.make_judgements(f.coin, asked[1])]
    scores = score(pl.concat([*rows, judge(s.forced(s.made_up(), pl.lit("stereotype")))]))
    for column in ("typed", "status"):
        assert set(scores[column]) == documented("scores", column)
    assert {metric for metric in scores["metric"] if metric.endswith("_ci90")} == set(
        re.findall(r"\w+_ci90", tables.text())
    )


def test_a_pair_that_votes_by_its_difference_has_no_choice() -> None:
    votes = reduce(p.pair_judgements(p.traditional, p.make_pairs()))
    assert votes.filter(pl.col("p_value").is_not_null())["choice"].unique().to_list() == [None]
    assert "p_value" in next(c.doc for c in schema.VOTES.columns if c.name == "choice")


def test_closed_sets_hold_what_every_benchmark_can_be_asked_in() -> None:
    rows = {row["set"]: row["labels"] for row in table(section(tables.text(), "## Labels"), "set", "labels")}
    languages = {f"`{language}`" for known in read_params(ROOT).benchmarks.values() for language in known}
    assert set(rows["languages"].split(", ")) == languages
    assert set(rows["styles"].split(", ")) == {f"`{style}`" for style in (*schema.STYLES, schema.NO_STYLE)}
