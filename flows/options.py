"""The options that commands share."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from stages.requests import Request


class Runner(StrEnum):
    THREADS = "threads"
    DASK = "dask"


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class FileFormat(StrEnum):
    """Those of ``Format``, and what a result in a file may be, too."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    PARQUET = "parquet"


class By(StrEnum):
    """What a comparison is broken down by."""

    DOMAIN = "domain"
    LANGUAGE = "language"
    STYLE = "style"
    PROTOCOL = "protocol"
    MITIGATION = "mitigation"


Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="KEY", help="A model of params.yaml; repeatable. Default: all that can be asked."),
]
Plan = Annotated[str | None, typer.Option(metavar="PLAN", help="A plan of params.yaml, e.g. quick or full.")]
Benchmarks = Annotated[
    list[str] | None, typer.Option("--benchmark", metavar="B", help="Only this benchmark; repeatable.")
]
Languages = Annotated[list[str] | None, typer.Option("--language", metavar="L", help="Only this language; repeatable.")]
Protocols = Annotated[list[str] | None, typer.Option("--protocol", metavar="P", help="Only this protocol; repeatable.")]
Mitigations = Annotated[
    list[str] | None,
    typer.Option(
        "--mitigation",
        metavar="M",
        help="Ask the protocols that this mitigation joins, without and with it; repeatable; A+B joins both.",
    ),
]
Date = Annotated[
    str | None,
    typer.Option(
        metavar="YYYY-MM-DD",
        help="Go on with the run of this date. Default: today, as of every new run, in the zone of --timezone.",
    ),
]
Epochs = Annotated[int | None, typer.Option(min=1, help="How often each item is asked.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Ask only so many items, the same ones in every language.")]
Shuffle = Annotated[
    bool,
    typer.Option("--shuffle/--no-shuffle", help="Ask in an order drawn by the seed; the questions are the same."),
]
Seed = Annotated[int, typer.Option(min=0, help="Draws what --limit keeps, the order of asking and each answer's seed.")]
Temperature = Annotated[
    float | None, typer.Option(min=0, max=2, help="Instead of that of the protocol or the model's entry.")
]
Reads = Annotated[
    str | None,
    typer.Option(metavar="RUN", help="The run whose texts are read, e.g. gpt-4o@2026-11-30; goes with --plan rubric."),
]
MaxConnections = Annotated[
    int | None, typer.Option(min=1, help="Calls at once of a remote model, instead of what its entry says.")
]
MostSpent = Annotated[
    float | None,
    typer.Option("--budget", min=0, metavar="USD", help="Spend no more than this; models without a price are refused."),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Make a further run of the day instead of going on with the one there is.")
]
Seal = Annotated[bool, typer.Option("--seal", help="Ask nothing; close open runs with the answers there are.")]
Against = Annotated[
    str | None,
    typer.Option(
        metavar="REV", help="A commit, tag or branch; what it recorded is there too, as previous.judgements …"
    ),
]
Timezone = Annotated[
    str | None,
    typer.Option(metavar="ZONE", help="Where the date of a new run is taken, instead of the zone of params.yaml."),
]
Push = Annotated[bool, typer.Option("--push", help="Copy what DVC recorded to its default remote when all is done.")]
GitCommit = Annotated[
    bool, typer.Option("--git-commit", help="Commit the ledger and dvc.lock, and nothing else, when all is done.")
]
FailOnChange = Annotated[
    bool,
    typer.Option(
        "--fail-on-change",
        help="Ask a model that seems to have changed once more today; exit with 3 where the second run says the same.",
    ),
]
RunBy = Annotated[
    Runner,
    typer.Option("--runner", help="Who makes the calls: threads of this process, or the workers of a Dask cluster."),
]
Address = Annotated[
    str | None, typer.Option(metavar="tcp://HOST:PORT", help="The scheduler of the Dask cluster; see docs/scaling.md.")
]
As = Annotated[Format, typer.Option("--format", help="How to print.")]


def request(
    plan: str | None,
    benchmark: Sequence[str] | None,
    language: Sequence[str] | None,
    protocol: Sequence[str] | None,
    mitigation: Sequence[str] | None = None,
    **more: Any,
) -> Request:
    """The options of one command, or the parameters of the flow, as a request; its model is filled in later."""
    given = {"benchmarks": benchmark, "languages": language, "protocols": protocol, "mitigations": mitigation}
    fields: dict[str, Any] = {**{name: tuple(names or ()) for name, names in given.items()}, **more}
    return Request("", plan, **fields)


def lists(
    model: list[str] | None,
    benchmark: list[str] | None,
    language: list[str] | None,
    protocol: list[str] | None,
    mitigation: list[str] | None = None,
) -> dict[str, list[str]]:
    """The repeatable options of one command as parameters of the flow."""
    return {
        "models": model or [],
        "benchmarks": benchmark or [],
        "languages": language or [],
        "protocols": protocol or [],
        "mitigations": mitigation or [],
    }
