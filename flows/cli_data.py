"""The commands that bring something in: data sets of others, results of others, answers collected by hand."""

from pathlib import Path
from typing import Annotated

import typer

from flows.options import Epochs, Limit, Plan, Seed, request
from stages.store import project_root

imports = typer.Typer(help="Take in results that others made, as sealed runs.", no_args_is_help=True)


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


@imports.command("labels")
def labels(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A filled-in table of `checkup export labels`.")],
    rater: Annotated[str, typer.Option(metavar="NAME", help="Who read the texts; a pseudonym will do.")],
    reads: Annotated[
        str | None, typer.Option(metavar="RUN", help="The run that wrote them. Default: found by the ids.")
    ] = None,
    date: Annotated[str | None, typer.Option(metavar="YYYY-MM-DD", help="When they were read. Default: today.")] = None,
) -> None:
    """Labels that a person gave to texts: a sealed run that reads the run which wrote them."""
    from flows.labelling import import_labels

    typer.echo(import_labels(project_root(), file, rater, reads, date))
