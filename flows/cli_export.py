"""The commands that hand something on: questions to people, runs to other programs, the history to anybody."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from flows.options import Benchmarks, Epochs, Languages, Limit, Plan, Protocols, Seed, request
from stages.store import project_root

exports = typer.Typer(help="Hand on questions, runs, or all that is recorded.", no_args_is_help=True)


class Headings(StrEnum):
    EN = "en"
    ZH = "zh"


@exports.command("questions")
def questions(
    output: Annotated[Path, typer.Option(metavar="FILE", help="Where to write: .csv, .xlsx or .jsonl.")],
    plan: Plan = None,
    benchmark: Benchmarks = None,
    language: Languages = None,
    protocol: Protocols = None,
    epochs: Epochs = None,
    limit: Limit = None,
    seed: Seed = 0,
    headings: Annotated[Headings, typer.Option(help="The language of the column headings.")] = Headings.EN,
) -> None:
    """A table for collecting answers by hand: a row per question in the order of asking."""
    from flows.collected import export_questions

    wanted = request(plan, benchmark, language, protocol, epochs=epochs, limit=limit, seed=seed)
    typer.echo(export_questions(project_root(), wanted, output, headings))


@exports.command("labels")
def labels(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="A run that wrote texts, as `checkup runs` names it.")],
    output: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write: .csv, .xlsx or .jsonl.")],
    language: Annotated[str | None, typer.Option(metavar="L", help="Only texts in this language.")] = None,
    n: Annotated[
        int | None, typer.Option("--n", min=2, help="So many texts of each group and language, half about women.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draws what --n keeps.")] = 0,
    headings: Annotated[Headings, typer.Option(help="The language of the column headings.")] = Headings.EN,
) -> None:
    """A table for people who read texts: each masked, in an order that says nothing, with the questions of the rubric."""
    from flows.labelling import export_labels

    typer.echo(export_labels(project_root(), run_id, output, language, n, seed, headings))


@exports.command("inspect")
def inspect_run(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="A run as `checkup runs` names it.")],
    output: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where to write. Default: reports/inspect/RUN.")
    ] = None,
) -> None:
    """A run as logs that `inspect view` opens: one for each benchmark, language and protocol."""
    from flows.inspecting import export_inspect

    for path in export_inspect(project_root(), run_id, output):
        typer.echo(path)


@exports.command("history")
def history(
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Where to write it. Default: reports/history.duckdb."),
    ] = None,
) -> None:
    """Everything that can be asked in SQL as one DuckDB file, which needs nothing else of this project."""
    from stages.report import write_history

    typer.echo(f"History: {write_history(project_root(), output)}")
