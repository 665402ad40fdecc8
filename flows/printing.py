"""Printing a table, or writing it to a file: for people, and in the formats that programs read."""

import sys
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stages.errors import UsageError
from stages.files import write_whole

_FEW = 3


def say_skipped(skipped: dict[str, str]) -> None:
    """Name the models that are not asked, with the reason each as long as they are few."""
    if len(skipped) > _FEW:
        print(f"Skipped: {', '.join(skipped)}; why, says: checkup models.", file=sys.stderr)
        return
    for key, reason in skipped.items():
        print(f"{key}: skipped, {reason}.", file=sys.stderr)


def show(frame: pl.DataFrame, form: str, output: Path | None = None) -> None:
    """Print ``frame`` as ``table``, ``json`` (one array of objects), ``csv``, ``markdown`` or ``parquet``, or write it to ``output``.

    :raises UsageError: Parquet would go to a terminal, which cannot show it.
    :raises DataError: the file cannot be written.
    """
    if form == "parquet":
        _parquet(frame, output)
    elif output:
        write_whole(output, _text(frame, form))
    elif form == "table" and sys.stdout.isatty():
        Console().print(_table(frame))
    else:
        sys.stdout.write(_text(frame, form))


def _text(frame: pl.DataFrame, form: str) -> str:
    if form == "json":
        return frame.write_json() + "\n"
    if form == "csv":
        return _flat(frame).write_csv()
    if form == "markdown":
        return _markdown(frame)
    # Piped output is for programs and files: no wrapping there, whatever width the terminal had.
    console = Console(width=10_000, file=StringIO())
    with console.capture() as printed:
        console.print(_table(frame))
    return printed.get()


def _parquet(frame: pl.DataFrame, output: Path | None) -> None:
    content = BytesIO()
    frame.write_parquet(content, compression="zstd")
    if output:
        write_whole(output, content.getvalue())
        return
    if sys.stdout.isatty():
        raise UsageError(
            "Parquet cannot be shown in a terminal; name a file with --output, or send it there with > FILE."
        )
    sys.stdout.buffer.write(content.getvalue())
    sys.stdout.buffer.flush()


def _markdown(frame: pl.DataFrame) -> str:
    numeric = [dtype.is_numeric() for dtype in frame.schema.dtypes()]
    cells = [[_escaped(_cell(value)) for value in row] for row in frame.iter_rows()]
    rows = [[_escaped(name) for name in frame.columns], ["--:" if right else "---" for right in numeric], *cells]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\r", "").replace("\n", "<br>")


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """CSV has no lists and structs: they become text."""
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    return frame.with_columns(
        pl.Series(n, [None if v is None else str(v) for v in frame[n].to_list()], pl.String) for n in nested
    )


def _table(frame: pl.DataFrame) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name, dtype in frame.schema.items():
        table.add_column(Text(name), justify="right" if dtype.is_numeric() else "left", overflow="fold")
    for row in frame.iter_rows():
        table.add_row(*(Text(_cell(value)) for value in row))  # a reply is text: Rich would read [she] as markup
    return table


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
