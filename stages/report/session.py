"""Questions in SQL, one after another: each is asked of what is recorded at that moment, and can only read.

A statement gets no more than it names, so that one over the scores opens no file of answers. What a run writes meanwhile, a
renamed file or one that is replaced, is seen whole by the next statement; one that is caught in the middle is asked again.
"""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import duckdb
import polars as pl

from stages.errors import DataError, LedgerError, UsageError
from stages.ledger import read_ledger
from stages.report import files, previous, sql
from stages.report.history import answered, opened, refused
from stages.schema import TABLES
from stages.store import VALIDATION
from stages.table import Table

Stamp = tuple[Path, int]
"""A file and when it was changed, in ns."""
READABLE = ("data", VALIDATION)
"""The folders that a query may read from, and nothing may be written to."""
TRIES, PAUSE = 10, 0.1
"""How often a statement is asked again while files change under it, and after how many seconds."""
_ALLOWED = ("SELECT", "CREATE", "DROP", "SET")
"""Kinds of statements that read, or change what is in memory alone; of SET only variables are not locked."""
_PIVOTING = ("pivot", "from", "select", "with", "(")
_BEFORE = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
"""Space and comments at the beginning."""
_EXPLAIN = re.compile(r"\bexplain\b(?:\s+analyze\b|\s*\([^)]*\))?", re.IGNORECASE)
_CATALOGUE = re.compile(
    r"\b(duckdb_\w+|information_schema|pg_\w+|sqlite_\w+|show|describe|pragma_\w+)\b", re.IGNORECASE
)


class Session:
    """A connection to the history of the project in ``root``; close it after use."""

    def __init__(self, root: Path, beside: Path | None = None) -> None:
        """``beside``: what an earlier revision recorded, laid out like a project; the schema ``previous``.

        :raises CheckupError: a view cannot be read, or is in a circle, or what lies in ``beside`` cannot.
        """
        self.root = root
        self.views = {view.name: view for view in sql.views(root)}
        self._connection = opened()
        self._created: set[str] = set()
        self._commented = False
        self.opened: dict[str, tuple[Stamp, ...]] = {}
        """Table -> the files of it that were asked so far."""
        self._columns: dict[Stamp, tuple[str, ...]] = {}
        files.begin(self._connection)
        if beside:
            previous.attach(self._connection, beside)
        _lock(self._connection, [root, *([beside] if beside else [])])

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def ask(self, text: str) -> pl.DataFrame:
        """The rows of the last statement of ``text``; an empty frame without columns where none gives any.

        :raises CheckupError: as of ``each``.
        """
        return next(reversed(list(self.each(text))), pl.DataFrame())

    def each(self, text: str) -> Iterator[pl.DataFrame]:
        """The rows of each statement of ``text`` that gives any, one after another.

        :raises UsageError: DuckDB does not take it, or it does more than read; then nothing of ``text`` is asked.
        :raises CheckupError: the ledger and the files disagree, or a file does not fit its table.
        """
        for statement in self._statements(text):
            found = self._asked(statement)
            if found.width:
                yield found

    def is_whole(self, text: str) -> bool:
        """Whether ``text`` ends with the end of a statement, and not within a string or comment."""
        try:
            return text.rstrip().endswith(";") and bool(self._connection.extract_statements(text))
        except duckdb.Error as error:
            return "unterminated" not in str(error)

    def words(self) -> dict[str, str]:
        """What a query may say: views and columns with what they mean, and SQL's own words."""
        keywords = self._connection.execute("select keyword_name from duckdb_keywords() order by all").fetchall()
        columns = {name: doc for view in self.views.values() for name, doc in sql.column_docs(view).items()}
        return {name: view.grain for name, view in self.views.items()} | columns | {word: "" for (word,) in keywords}

    def listed(self) -> pl.DataFrame:
        """Every view: its name, and what one row of it is."""
        names = sorted(self.views)
        return pl.DataFrame({"view": names, "one row": [self.views[n].grain for n in names]})

    def described(self, name: str) -> pl.DataFrame:
        """The columns of the view ``name`` with their types and meanings.

        :raises UsageError: there is no such view.
        """
        if name not in self.views:
            raise UsageError(f"There is no view {name!r}; .tables lists those there are.")
        view = self.views[name]
        columns = self.ask(f"select column_name as column, column_type as type from (describe {view.name})")
        docs = sql.column_docs(view)
        return columns.with_columns(pl.col("column").replace_strict(docs, default=None).alias("meaning"))

    def _statements(self, text: str) -> list[str]:
        try:
            statements = self._connection.extract_statements(text)
            writing = [statement for statement in statements if not self._reads(statement)]
        except duckdb.Error as error:
            raise refused(error) from error
        if writing:
            kind = writing[0].type.name.replace("_", " ")
            raise UsageError(f"Here the history is only read, so {kind} is refused; to keep a result use --output.")
        return [statement.query for statement in statements]

    def _reads(self, statement: duckdb.Statement) -> bool:
        kind, text = statement.type.name, _BEFORE.sub("", statement.query, count=1)
        if kind == "EXPLAIN":  # which, with ANALYZE, does what it explains
            return all(map(self._reads, self._connection.extract_statements(_EXPLAIN.sub("", text, count=1))))
        if kind == "MULTI":  # whatever has a pivot in it
            return text.lower().startswith(_PIVOTING)
        return kind in _ALLOWED

    def _asked(self, statement: str) -> pl.DataFrame:
        for left in reversed(range(TRIES)):
            try:
                self._prepare(self._named(statement))
                return answered(self._connection, statement)
            except duckdb.CatalogException as error:
                if not left or len(self._created) == len(self.views):
                    raise refused(error) from error
                self._prepare(set(self.views))  # the message names what there is instead
            except duckdb.Error as error:
                if not (left and _of_a_file(error)):
                    raise refused(error) from error
                time.sleep(PAUSE)
            except (DataError, LedgerError):  # a file vanished between two looks, or a run is being forgotten
                if not left:
                    raise
                time.sleep(PAUSE)
        raise AssertionError("the last try raises")

    def _named(self, statement: str) -> set[str]:
        """The views and tables that ``statement`` names, and all that they read; all, where it asks what there is."""
        words = {word.lower() for word in re.findall(r"\w+", statement)}
        whole = _CATALOGUE.search(statement) is not None
        todo = [name for name in (*self.views, *TABLES, "ledger") if whole or name in words]
        found: set[str] = set()
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += self.views[name].reads if name in self.views else ()
                if name in TABLES or name == "ledger":
                    found.add(f"files.{name}")
        return found

    def _prepare(self, names: set[str]) -> None:
        """Have ``names`` in the connection, as the files are now.

        :raises CheckupError: the ledger and the files disagree, or a file does not fit its table.
        """
        ledger = read_ledger(self.root)
        if "files.ledger" in names:
            files.create_table(self._connection, "files.ledger", files.ledger_rows(self.root, ledger))
        for table in TABLES.values():
            if f"files.{table.name}" in names:
                self._show(table, files.table_files(self.root, ledger, table))
        for name, view in self.views.items():  # those that another one reads come before it
            if name in names and name not in self._created:
                sql.create_view(self._connection, view)
                self._created.add(name)
        if len(self._created) == len(self.views) and not self._commented:
            self._comment()

    def _show(self, table: Table, paths: list[Path]) -> None:
        found = _stamped(paths)
        if self.opened.get(table.name) != found:
            for stamp in found:
                if stamp not in self._columns:
                    self._columns[stamp] = files.checked(stamp[0], table)
            files.show(self._connection, table, {stamp[0]: self._columns[stamp] for stamp in found})
            self.opened[table.name] = found

    def _comment(self) -> None:
        for view in self.views.values():
            sql.comment(self._connection, view, "view")
        self._commented = True


def _of_a_file(error: duckdb.Error) -> bool:
    """Whether a file vanished, or is another one than a moment ago."""
    if isinstance(error, duckdb.PermissionException):
        return False
    return isinstance(error, duckdb.IOException) or ".parquet" in str(error)


def _stamped(paths: list[Path]) -> tuple[Stamp, ...]:
    """``paths`` with the time of their last change; without those that vanished meanwhile."""
    found = []
    for path in paths:
        with suppress(FileNotFoundError):
            found.append((path, path.stat().st_mtime_ns))
    return tuple(found)


def _lock(connection: duckdb.DuckDBPyConnection, roots: Sequence[Path]) -> None:
    """Let ``connection`` reach no file but those that are recorded, and never again more."""
    folders = [root / folder for root in roots for folder in READABLE]
    paths = {*(folder.as_posix() for folder in folders), *(files.pattern(folder) for folder in folders)}
    allowed = ", ".join(files.literal(f"{path}/") for path in sorted(paths))
    connection.execute(f"set allowed_directories = [{allowed}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def query(root: Path, text: str, beside: Path | None = None) -> pl.DataFrame:
    """The rows of the SQL query ``text`` over the history of ``root``, with what lies in ``beside`` as ``previous``.

    :raises UsageError: the query is empty or DuckDB does not take it.
    :raises CheckupError: as of ``Session``.
    """
    if not text.strip():
        raise UsageError('The query is empty; write one such as: checkup sql "from runs".')
    with Session(root, beside) as session:
        return session.ask(text)
