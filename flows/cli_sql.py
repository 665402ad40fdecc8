"""`checkup sql`: the history asked in SQL, once, from a file or a pipe, or at a prompt."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.options import Against, FileFormat
from stages.errors import UsageError
from stages.files import read_text
from stages.store import project_root

if TYPE_CHECKING:
    from stages.report import Session


def sql(
    query: Annotated[
        str | None,
        typer.Argument(
            help="DuckDB's SQL; docs/sql.md has examples. Without one, a prompt, or what comes through a pipe."
        ),
    ] = None,
    format: Annotated[FileFormat, typer.Option("--format", help="How to print, or to write.")] = FileFormat.TABLE,
    file: Annotated[Path | None, typer.Option("--file", metavar="QUERY.sql", help="Ask what this file says.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write the result of the last statement there.")
    ] = None,
    against: Against = None,
) -> None:
    """Ask the history in SQL."""
    from stages.report import Session

    root = project_root()
    if query is not None and file is not None:
        raise UsageError("A query and --file are two questions; give one of them.")
    with Session(root, _beside(root, against)) as session:
        if query is None and file is None and sys.stdin.isatty():
            _prompt(session, format, output)
        else:
            _once(session, _asked(query, file), format, output)


def _beside(root: Path, against: str | None) -> Path | None:
    from flows.past import previous

    return previous(root, against, answers=True) if against else None


def _prompt(session: "Session", format: FileFormat, output: Path | None) -> None:
    from flows.prompt import Prompt

    if output:
        raise UsageError("--output is for one query; give it one, or leave it out.")
    Prompt(session, format).run()


def _asked(query: str | None, file: Path | None) -> str:
    if query is not None:
        return query
    return read_text(file) if file else sys.stdin.read()


def _once(session: "Session", text: str, format: FileFormat, output: Path | None) -> None:
    """Show the result of every statement, or write that of the last one."""
    from flows.printing import show

    if not text.strip():
        raise UsageError('The query is empty; write one such as: checkup sql "from runs".')
    found = list(session.each(text))
    for frame in found[-1:] if output or format is FileFormat.PARQUET else found:
        show(frame, format, output)
