"""The views of the history: reports/sql/staging/*.sql and reports/sql/marts/*.sql, one query and one view per file.

A file opens with its grain (``-- one row per …``); lines ``-- column: meaning`` below it document columns that
``stages.schema`` does not. Views are created in the order in which they read each other.
"""

import json
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import duckdb

from stages.errors import DataError
from stages.schema import TABLES

SQL = "reports/sql"
_COLUMN = re.compile(r"-- (\w+): (.+)")


@dataclass(frozen=True)
class View:
    """One SQL file. ``grain`` is its first line, ``docs`` say what its own columns mean."""

    name: str
    grain: str
    docs: dict[str, str]
    query: str
    reads: frozenset[str] = frozenset()
    """The views that it reads, and the tables of the schema files, each as ``files.<table>``."""

    @classmethod
    def read(cls, path: Path) -> "View":
        """The view of ``path``.

        :raises DataError: its first line does not say its grain.
        """
        text = path.read_text(encoding="utf-8").strip().rstrip(";")
        lines = text.splitlines()
        if not lines or not lines[0].lower().startswith("-- one row per "):
            raise DataError(f"{path} does not begin with its grain; let its first line be '-- one row per …'.")
        docs = {found[1]: found[2] for line in lines[1:] if (found := _COLUMN.fullmatch(line))}
        return cls(path.stem, lines[0].removeprefix("-- ").removesuffix("."), docs, text)


def views(root: Path) -> list[View]:
    """Every view of the project in ``root``, those that another one reads before it.

    :raises DataError: a file does not say its grain, is not one query, or views read each other in a circle.
    """
    found = {path.stem: View.read(path) for path in sorted((root / SQL).glob("*/*.sql"))}
    with duckdb.connect(":memory:") as parser:
        found = {name: replace(view, reads=_tables(parser, view)) for name, view in found.items()}
    graph = {name: sorted(view.reads & set(found) - {name}) for name, view in found.items()}
    try:
        return [found[name] for name in TopologicalSorter(graph).static_order()]
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        raise DataError(f"The views of {SQL} read each other in a circle ({circle}); take one out.") from error


def _tables(parser: duckdb.DuckDBPyConnection, view: View) -> frozenset[str]:
    """Names of what ``view`` reads."""
    row = parser.execute("select json_serialize_sql(?)", [view.query]).fetchone()
    tree = json.loads(row[0]) if row else {}
    if tree.get("error") or len(tree.get("statements", [])) != 1:
        reason = tree.get("error_message") or "it holds no single query"
        raise DataError(f"{view.name}.sql cannot be read as SQL: {reason}; write one select statement.")
    named = [(node.get("schema_name"), node["table_name"]) for node in _nodes(tree)]
    return frozenset(f"{schema}.{table}" if schema else table for schema, table in named)


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every table named in a parsed query."""
    if isinstance(tree, dict):
        if tree.get("type") == "BASE_TABLE":
            yield tree
        tree = list(tree.values())
    if isinstance(tree, list):
        for branch in tree:
            yield from _nodes(branch)


def create(connection: duckdb.DuckDBPyConnection, root: Path, settled: Container[str] = ()) -> None:
    """Create every view in ``connection``, with its comments; those ``settled`` as tables of what there is now.

    :raises DataError: as of ``views``, or a view reads what is not there.
    """
    for view in views(root):
        kind = "table" if view.name in settled else "view"
        create_view(connection, view, kind)
        comment(connection, view, kind)


def create_view(connection: duckdb.DuckDBPyConnection, view: View, kind: str = "view") -> None:
    """Create ``view``, which reads only what is there already, as a ``kind`` (view or table).

    :raises DataError: it reads something else.
    """
    try:
        connection.execute(f"create {kind} {view.name} as {view.query}")
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        problem = str(error).splitlines()[0].rstrip(".!")
        raise DataError(f"{view.name}.sql does not work: {problem}; correct the file in {SQL}.") from error


def comment(connection: duckdb.DuckDBPyConnection, view: View, kind: str, prefix: str = "") -> None:
    """Document the ``kind`` (view or table) of ``view``'s name and each of its columns."""
    name = f"{prefix}{view.name}"
    docs = column_docs(view)
    connection.execute(f"comment on {kind} {name} is {_text(view.grain)}")
    for (column,) in connection.execute(f"select column_name from (describe {name})").fetchall():
        if column in docs:
            connection.execute(f'comment on column {name}."{column}" is {_text(docs[column])}')


def column_docs(view: View) -> dict[str, str]:
    """What each column means: by the view's file, else by the table of its name, else by any table."""
    tables = [*TABLES.values(), *(t for t in TABLES.values() if t.name == view.name)]
    return {c.name: c.doc for t in tables for c in t.columns} | view.docs


def _text(words: str) -> str:
    return "'" + words.replace("'", "''") + "'"
