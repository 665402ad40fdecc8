"""The command that keeps the check-up going: served on a schedule."""

from typing import Annotated, Any

import typer

from flows.options import (
    Benchmarks,
    Epochs,
    Fresh,
    GitCommit,
    Languages,
    Limit,
    MaxConnections,
    Mitigations,
    Models,
    MostSpent,
    Plan,
    Protocols,
    Push,
    Seed,
    Shuffle,
    Temperature,
    Timezone,
    lists,
    request,
)
from stages.store import project_root

Cron = Annotated[
    str, typer.Option(metavar="FIELDS", help="Minute, hour, day, month, weekday, e.g. '0 6 * * 1' for Mondays at six.")
]
Name = Annotated[str, typer.Option(metavar="NAME", help="What the deployment is called in Prefect.")]
Port = Annotated[
    int,
    typer.Option(min=1, max=65535, help="Port of the Prefect server that is started where PREFECT_API_URL names none."),
]

CatchUp = Annotated[
    bool, typer.Option("--catch-up/--no-catch-up", help="Run once at the start where runs were missed.")
]
AskAgain = Annotated[
    bool,
    typer.Option(
        "--ask-again/--no-ask-again", help="Ask a model that seems to have changed once more the same day, to know."
    ),
]


def schedule(
    cron: Cron,
    timezone: Timezone = None,
    name: Name = "check-up",
    port: Port = 4200,
    model: Models = None,
    plan: Plan = None,
    benchmark: Benchmarks = None,
    language: Languages = None,
    protocol: Protocols = None,
    mitigation: Mitigations = None,
    epochs: Epochs = None,
    limit: Limit = None,
    shuffle: Shuffle = False,
    seed: Seed = 0,
    temperature: Temperature = None,
    max_connections: MaxConnections = None,
    budget: MostSpent = None,
    fresh: Fresh = False,
    catch_up: CatchUp = True,
    push: Push = False,
    git_commit: GitCommit = False,
    ask_again: AskAgain = True,
) -> None:
    """Serve the check-up on a schedule until Ctrl-C, on a Prefect server that is started where none is named."""
    from flows import handing_on
    from flows.schedule import Times, serve
    from flows.selection import plannable
    from stages.params import read_params
    from stages.requests import requested_zone

    root = project_root()
    wanted: dict[str, Any] = {
        "epochs": epochs,
        "limit": limit,
        "shuffle": shuffle,
        "seed": seed,
        "temperature": temperature,
        "fresh": fresh,
        "timezone": timezone,
    }
    asked = request(plan, benchmark, language, protocol, mitigation, **wanted)
    zone = requested_zone(read_params(root), asked)
    plannable(root, model or [], asked)
    handing_on.check(root, handing_on.Wanted(push, git_commit))
    parameters = {
        **wanted,
        **lists(model, benchmark, language, protocol, mitigation),
        "plan": plan,
        "max_connections": max_connections,
        "budget": budget,
        "timezone": zone,
        "push": push,
        "git_commit": git_commit,
        "ask_again": ask_again,
    }
    serve(root, Times(cron, zone), name, parameters, port, catch_up)
