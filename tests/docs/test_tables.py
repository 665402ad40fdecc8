"""docs/tables.md says what stages/schema.py declares."""

from stages import schema
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
