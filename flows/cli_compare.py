"""The commands about what changed: two runs beside each other, and the runs that others are compared with."""

from typing import TYPE_CHECKING, Annotated

import typer

from flows.options import As, By, Format
from stages.errors import UsageError
from stages.store import project_root

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from flows.comparing import Comparison

CHANGED = 3
"""Exit code of --fail-on-change where something did."""
Run = Annotated[str, typer.Argument(metavar="RUN", help="A run as `checkup runs` names it.")]
reference = typer.Typer(help="The runs that later ones are compared with, one or more per model.", no_args_is_help=True)


def compare(
    run: Run,
    other: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="The later one; how it differs is shown.")
    ] = None,
    by: Annotated[
        By | None,
        typer.Option(help="Break down by this; of one run, compare its languages, protocols or mitigations with none."),
    ] = None,
    items: Annotated[bool, typer.Option("--items", help="List the items that flipped, with both replies.")] = False,
    alpha: Annotated[
        float, typer.Option(min=0, max=1, help="Up to this corrected p a headline score has changed.")
    ] = 0.05,
    fail_on_change: Annotated[
        bool, typer.Option("--fail-on-change", help="Exit with 3 where a headline score changed.")
    ] = False,
    format: As = Format.TABLE,
) -> None:
    """How one run differs from another, target by target and tested; or the languages, protocols or mitigations of one run."""
    from flows import mitigated
    from flows.comparing import between, in_words, shown, within
    from flows.printing import show

    root = project_root()
    if other is None:
        _refuse_of_one(run, {"--items": items, "--fail-on-change": fail_on_change})
        show(
            _of_mitigations(root, run, format) if by is By.MITIGATION else within(root, run, by or By.LANGUAGE), format
        )
        return
    found = between(root, run, other)
    if items:
        show(found.flips, format)
    elif by is By.MITIGATION:
        show(mitigated.beside(root, run, other), format)
    elif format is Format.TABLE:
        show(in_words(shown(found.rows, by)), format)
        typer.echo("\n" + "\n".join([_closing(found, alpha), *mitigated.moved(root, run, other)]))
    else:
        show(shown(found.rows, by), format)
    if fail_on_change and found.changed(alpha).height:
        raise typer.Exit(CHANGED)


def _of_mitigations(root: "Path", run: str, format: Format) -> "pl.DataFrame":
    """The effects of the mitigations of ``run``: as they are recorded, or, as a table, in words."""
    from flows.mitigated import effects, in_words

    found = effects(root, run)
    return in_words(found, root) if format is Format.TABLE else found


def _refuse_of_one(run: str, options: dict[str, bool]) -> None:
    for name in (name for name, given in options.items() if given):
        raise UsageError(f"{name} needs two runs, and {run} stands alone; name the later one, too.")


def _closing(found: "Comparison", alpha: float) -> str:
    changed, held = found.changed(alpha).height, found.held().height
    finding = (
        f"{changed} headline score{'s' if changed != 1 else ''} (*) changed"
        if changed
        else "No headline score (*) changed"
    )
    beside = f"{held} cannot be compared, the note says why; " if held else ""
    return (
        f"{finding} at {alpha:g} after correction; {beside}{found.flips.height} items flipped, list them with --items."
    )


@reference.command("set")
def set_reference(
    run: Run,
    model: Annotated[
        str | None, typer.Option("--for", metavar="KEY", help="Of this model instead of the run's own.")
    ] = None,
) -> None:
    """Pin a run: what its model is asked from now on is compared with it."""
    from stages.ledger import read_ledger
    from stages.references import pin, twins

    root = project_root()
    pinned = pin(root, run, model)
    typer.echo(
        f"{pinned.id} is the reference of {model or pinned.model}; what is recorded is compared with it by: dvc repro."
    )
    if not twins(read_ledger(root), pinned):
        typer.echo(
            "It was asked once on its day, so that how far scores move by themselves is not known; on that day you can ask "
            f"again with: checkup run --model {pinned.model} --fresh."
        )


@reference.command("unset")
def unset_reference(run: Run) -> None:
    """Unpin a run; its model is compared with its first run again."""
    from stages.references import unpin

    typer.echo(f"{run} is no longer the reference of {', '.join(unpin(project_root(), run))}.")


@reference.command("list")
def list_references(format: As = Format.TABLE) -> None:
    """The pinned runs, and whether each was asked a second time on its day."""
    from flows.listing import references
    from flows.printing import show

    show(references(project_root()), format)
