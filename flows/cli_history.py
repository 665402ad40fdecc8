"""The history as one file for somebody else."""

from pathlib import Path
from typing import Annotated

import typer

from stages.store import project_root


def history(
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Where to write it. Default: reports/history.duckdb."),
    ] = None,
) -> None:
    """Everything that can be asked in SQL as one DuckDB file, which needs nothing else of this project."""
    from stages.report import write_history

    typer.echo(f"History: {write_history(project_root(), output)}")
