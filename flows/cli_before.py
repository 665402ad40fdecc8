"""The commands for before anything is paid: whether the models can be asked, and what it would take."""

from dataclasses import asdict

import typer

from flows.options import (
    As,
    Benchmarks,
    Date,
    Epochs,
    Format,
    Fresh,
    Languages,
    Limit,
    MaxConnections,
    Mitigations,
    Models,
    Plan,
    Protocols,
    Reads,
    Seed,
    Temperature,
    request,
)
from stages.store import project_root


def doctor(model: Models = None, format: As = Format.TABLE) -> None:
    """Ask each model one question: whether key, route and settings work, and how fast. Models without their key are skipped."""
    import polars as pl

    from flows.printing import show
    from stages.params import known, read_params
    from stages.query.doctor import FAILS, examine

    root = project_root()
    params = read_params(root)
    keys = [known("model", key, params.models) for key in model or params.models]
    findings = [examine(root, params, key) for key in dict.fromkeys(keys)]
    show(pl.DataFrame([asdict(finding) for finding in findings], infer_schema_length=None), format)
    if failing := [finding.model for finding in findings if finding.state == FAILS]:
        typer.echo(f"Not to be asked as they are: {', '.join(failing)}; what to mend stands beside each.", err=True)
        raise typer.Exit(1)


def mitigations(format: As = Format.TABLE) -> None:
    """What is meant to lessen a leaning: which protocols each mitigation may join, in which languages, and what it does."""
    from flows.listing import remedies
    from flows.printing import show

    show(remedies(project_root()), format)


def estimate(
    model: Models = None,
    plan: Plan = None,
    benchmark: Benchmarks = None,
    language: Languages = None,
    protocol: Protocols = None,
    mitigation: Mitigations = None,
    date: Date = None,
    epochs: Epochs = None,
    limit: Limit = None,
    seed: Seed = 0,
    temperature: Temperature = None,
    reads: Reads = None,
    max_connections: MaxConnections = None,
    fresh: Fresh = False,
    format: As = Format.TABLE,
) -> None:
    """Calls, tokens, US dollars and time that `run` with the same options would take; asks nothing."""
    from flows.estimating import estimates
    from flows.printing import say_skipped, show

    wanted = request(
        plan,
        benchmark,
        language,
        protocol,
        mitigation,
        date=date,
        epochs=epochs,
        limit=limit,
        seed=seed,
        temperature=temperature,
        reads=reads,
        fresh=fresh,
    )
    found, skipped = estimates(project_root(), model or [], wanted, max_connections)
    say_skipped(skipped)
    show(found, format)
