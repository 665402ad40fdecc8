"""The commands that bring something in or take it out: data sets, results of others, answers collected by hand."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from flows.options import Benchmarks, Epochs, Languages, Limit, Plan, Protocols, Seed, request
from stages.store import project_root

imports = typer.Typer(help="Take in results that others made, as sealed runs.", no_args_is_help=True)
exports = typer.Typer(help="Write questions and runs for other programs, and for people.", no_args_is_help=True)


class Headings(StrEnum):
    EN = "en"
    ZH = "zh"


Key = Annotated[
    str, typer.Option("--model", metavar="KEY", help="The model; it joins params.yaml where it is not there.")
]
Day = Annotated[str, typer.Option("--date", metavar="YYYY-MM-DD", help="The date of the run.")]
Language = Annotated[str, typer.Option(metavar="L", help="The data set in this language.")]


def fetch(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="A data set of others, e.g. stereoset.")],
    language: Language = "en",
    copies: Annotated[
        list[Path] | None,
        typer.Option("--from", metavar="FILE", help="Take this copy instead of the network; repeatable, gzip or not."),
    ] = None,
) -> None:
    """Get a data set that is not shipped with the project, from its owners or from a copy of yours."""
    from flows.fetching import fetch as get

    typer.echo(get(project_root(), dataset, language, copies or []))


@imports.command("stereoset-scores")
def stereoset_scores(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON of the authors' format, gzip or not.")],
    model: Key,
    date: Day,
    language: Language = "en",
) -> None:
    """A score for every sentence of StereoSet, as its authors' programs write them."""
    from flows.importing import import_stereoset

    typer.echo(import_stereoset(project_root(), file, model, date, language))


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


@imports.command("answers")
def answers(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The filled-in table: .csv, .xlsx or .jsonl.")],
    model: Key,
    date: Day,
    collector: Annotated[str, typer.Option(metavar="NAME", help="Who asked the questions.")],
    plan: Plan = None,
    epochs: Epochs = None,
    limit: Limit = None,
    seed: Seed = 0,
    allow_errors: Annotated[
        bool, typer.Option("--allow-errors", help="However many replies are errors of a client: keep them as failures.")
    ] = False,
) -> None:
    """Answers that were collected by hand in a table of `export questions`.

    Plan, epochs, limit and seed are needed only where the table has lost its column `plan`.
    """
    from flows.collected import Source, import_answers

    wanted = request(plan, None, None, None, epochs=epochs, limit=limit, seed=seed)
    for line in import_answers(project_root(), model, date, Source(file, collector, wanted, allow_errors)):
        typer.echo(line)


@imports.command("inspect")
def inspect_log(
    file: Annotated[
        Path, typer.Argument(metavar="LOG", help="A log of inspect_evals' StereoSet task: .eval or .json.")
    ],
    model: Key,
    date: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="The date of the run. Default: the day the log was begun.")
    ] = None,
    language: Annotated[str | None, typer.Option(metavar="L", help="The data set it asked. Default: en.")] = None,
) -> None:
    """Answers to StereoSet from a log of Inspect, whole or partial."""
    from flows.inspecting import import_inspect

    typer.echo(import_inspect(project_root(), file, model, date, language))


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
