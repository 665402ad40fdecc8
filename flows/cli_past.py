"""The commands about what was recorded earlier: making it again, and what moved since."""

from typing import Annotated

import typer

from flows.options import As, Benchmarks, Format
from stages.errors import UsageError
from stages.store import project_root

FEW = 40
"""So many rows of what moved are shown to people; programs get all."""
MOVED = 3
"""The exit code of ``--fail-on-change`` where something moved."""
Models = Annotated[
    list[str] | None, typer.Option("--model", metavar="KEY", help="Only this model; repeatable. Default: all.")
]


def reproduce(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run as `checkup runs` names it.")],
    format: As = Format.TABLE,
) -> None:
    """Judge, reduce and score a run again from its recorded answers, and compare with what is recorded; exit code 1 if it moved."""
    from flows.printing import show
    from flows.reproduction import reproduce as again

    found = again(project_root(), run)
    moved = found.moved
    if moved.height or format is not Format.TABLE:
        show(moved.head(FEW) if format is Format.TABLE else moved, format)
    if format is Format.TABLE and moved.height > FEW:
        typer.echo(f"… and {moved.height - FEW:,} more rows; all of them: --format csv.")
    _say(found.sentences, format)
    if not found.same:
        raise typer.Exit(1)


def diff(
    rev: Annotated[
        str, typer.Argument(metavar="REV", help="A commit, tag or branch whose recorded tables to compare with.")
    ],
    model: Models = None,
    benchmark: Benchmarks = None,
    items: Annotated[
        bool, typer.Option("--items", help="List each answer with another outcome, with its reply.")
    ] = False,
    scores: Annotated[bool, typer.Option("--scores", help="List each score that moved, is new or is gone.")] = False,
    fail_on_change: Annotated[
        bool, typer.Option("--fail-on-change", help=f"Exit with code {MOVED} if anything moved.")
    ] = False,
    format: As = Format.TABLE,
) -> None:
    """What moved since a commit, by model and benchmark: outcomes and scores, after patterns or metrics changed and `dvc repro`."""
    from flows import revision_tables
    from flows.printing import show
    from flows.revision import diff as compare

    if items and scores:
        raise UsageError("--items and --scores list different tables; give one of them.")
    found = compare(project_root(), rev, model or [], benchmark or [])
    listed = revision_tables.items if items else revision_tables.scores if scores else revision_tables.summary
    show(listed(found), format)
    _say(found.sentences, format)
    if fail_on_change and found.moved:
        raise typer.Exit(MOVED)


def _say(sentences: list[str], format: Format) -> None:
    """Print them under a table; beside data that a program reads, on stderr."""
    for sentence in sentences:
        typer.echo(sentence, err=format is not Format.TABLE)
