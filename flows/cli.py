"""The command line. Everything heavy is imported inside the command that needs it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows import cli_before, cli_compare, cli_data, cli_export, cli_past, cli_schedule, cli_sql
from flows.options import (
    Address,
    As,
    Benchmarks,
    Date,
    Epochs,
    FailOnChange,
    Format,
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
    Reads,
    RunBy,
    Runner,
    Seal,
    Seed,
    Shuffle,
    Temperature,
    Timezone,
    lists,
    request,
)
from stages.command import DEBUG_VARIABLE
from stages.store import SITE, project_root

if TYPE_CHECKING:
    from flows.cluster import Cluster
    from stages.requests import Request

app = typer.Typer(
    help="A periodic check-up for language models: which way does a model lean, and did it change?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(cli_data.fetch)
app.command()(cli_before.doctor)
app.command()(cli_before.estimate)
app.command()(cli_before.mitigations)
app.command()(cli_past.reproduce)
app.command()(cli_past.diff)
app.command()(cli_compare.compare)
app.add_typer(cli_compare.reference, name="reference")
app.command()(cli_schedule.schedule)
app.add_typer(cli_data.imports, name="import")
app.add_typer(cli_export.exports, name="export")
app.command()(cli_sql.sql)


@app.callback()
def start(debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False) -> None:
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"


@app.command()
def run(
    model: Models = None,
    plan: Plan = None,
    benchmark: Benchmarks = None,
    language: Languages = None,
    protocol: Protocols = None,
    mitigation: Mitigations = None,
    date: Date = None,
    epochs: Epochs = None,
    limit: Limit = None,
    shuffle: Shuffle = False,
    seed: Seed = 0,
    temperature: Temperature = None,
    reads: Reads = None,
    max_connections: MaxConnections = None,
    budget: MostSpent = None,
    fresh: Fresh = False,
    seal: Seal = False,
    timezone: Timezone = None,
    push: Push = False,
    git_commit: GitCommit = False,
    runner: RunBy = Runner.THREADS,
    address: Address = None,
    fail_on_change: FailOnChange = False,
) -> None:
    """Ask the models, judge and score their answers, and build the report."""
    from flows import changes, cluster, evaluate, handing_on

    root = project_root()
    handing_on.check(root, handing_on.Wanted(push, git_commit))
    workers = cluster.workers(runner, address)
    if not seal:
        _say_unasked(root, model or [], request(plan, None, None, protocol, mitigation), workers)
    asked = evaluate(
        **lists(model, benchmark, language, protocol, mitigation),
        plan=plan,
        date=date,
        epochs=epochs,
        limit=limit,
        shuffle=shuffle,
        seed=seed,
        temperature=temperature,
        reads=reads,
        max_connections=max_connections,
        budget=budget,
        fresh=fresh,
        seal=seal,
        timezone=timezone,
        push=push,
        git_commit=git_commit,
        runner=runner.value,
        address=address,
        ask_again=fail_on_change,
    )
    _say_found(root, asked)
    if fail_on_change and changes.confirmed(root, asked):
        raise typer.Exit(cli_compare.CHANGED)


def _say_unasked(root: Path, models: list[str], wanted: "Request", workers: "Cluster | None") -> None:
    """List the models that cannot be asked what is ``wanted``."""
    from flows import prepare
    from flows.printing import say_skipped
    from flows.selection import select
    from stages.params import read_params

    if workers:
        prepare()  # they are reached through Prefect's client, and say themselves which models they can ask
    say_skipped(select(read_params(root), models, wanted, workers).skipped)


@app.command()
def plan(
    model: Models = None,
    plan: Plan = None,
    benchmark: Benchmarks = None,
    language: Languages = None,
    protocol: Protocols = None,
    mitigation: Mitigations = None,
    date: Date = None,
    epochs: Epochs = None,
    limit: Limit = None,
    shuffle: Shuffle = False,
    seed: Seed = 0,
    temperature: Temperature = None,
    reads: Reads = None,
    fresh: Fresh = False,
) -> None:
    """Write runs to the ledger, open, for `dvc repro` to ask."""
    from flows.printing import say_skipped
    from flows.selection import plan_runs

    sampling: dict[str, Any] = {"seed": seed, "shuffle": shuffle, "temperature": temperature, "reads": reads}
    wanted = request(
        plan, benchmark, language, protocol, mitigation, date=date, epochs=epochs, limit=limit, fresh=fresh, **sampling
    )
    runs, skipped = plan_runs(project_root(), model or [], wanted)
    for each in runs:
        typer.echo(f"{each.id}: {each.entry.state}")
    say_skipped(skipped)


@app.command()
def models(format: As = Format.TABLE) -> None:
    """The roster: what can be asked, and why not."""
    from flows.listing import roster
    from flows.printing import show

    show(roster(project_root()), format)


@app.command()
def benchmarks(format: As = Format.TABLE) -> None:
    """The instruments: concepts, items, and how many prompts each plan asks of a model."""
    from flows.listing import instruments
    from flows.printing import show

    show(instruments(project_root()), format)


@app.command()
def runs(format: As = Format.TABLE) -> None:
    """The ledger: every run, open or sealed, with its coverage, calls, tokens, cost and drift."""
    _show(project_root(), _RUNS, format)


@app.command()
def forget(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="A run as `checkup runs` names it.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a run: its answers, all that was made of them, and its entry in the ledger."""
    from stages.ledger import named, read_ledger
    from stages.rubric import unread
    from stages.store import forget as delete

    root = project_root()
    ledger = read_ledger(root)
    chosen = named(ledger, run_id)
    unread(ledger, chosen)
    if not yes:
        typer.confirm(f"Delete {chosen.id} and every answer recorded for it?", abort=True)
    delete(root, chosen)
    typer.echo(f"{chosen.id} is forgotten; build the report without it: dvc repro.")


@app.command()
def report(
    open_it: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Build the report from what is recorded; asks no model."""
    from stages.report import report_all

    page = report_all(project_root())
    typer.echo(f"Report: {page}")
    if open_it:
        typer.launch(page.as_uri())


_HEADLINE = """
    select model, language, protocol,
        printf('%+.0f [%+.0f, %+.0f]', coalesce(lean, pair_lean), coalesce(lean_low, pair_lean_low),
            coalesce(lean_high, pair_lean_high)) as lean,
        camp as "by choices", camp_by_strength as "by probabilities"
    from headlines anti join effects using (run, benchmark, language, protocol) order by model, language, protocol
"""
_SENTENCES = """
    select model, language, protocol, benchmark,
        printf('%.1f', ss_macro) || coalesce(printf(' [%.1f, %.1f]', ss_macro_low, ss_macro_high), '') as ss,
        printf('%.1f', lms_macro) || coalesce(printf(' [%.1f, %.1f]', lms_macro_low, lms_macro_high), '') as lms,
        printf('%.1f', icat_macro) || coalesce(printf(' [%.1f, %.1f]', icat_macro_low, icat_macro_high), '') as icat
    from stereoset semi join latest using (run, benchmark, language, protocol)
    where domain = 'all' order by language, protocol, model, benchmark
"""
"""Rows of one language and protocol stand together: what is asked otherwise is another quantity."""
_RUNS = """
    select run, state, plan, reads, partitions_recorded || '/' || partitions as files, n_expected, n_answered, n_failures, coverage,
        n_calls, prompt_tokens, completion_tokens, cached_tokens, cost, n_cost_unknown, seconds, drift
    from runs order by model, date, number
"""


def _say_found(root: Path, runs: Sequence[str]) -> None:
    """What ``runs`` found, what they took, what changed, and where the report is."""
    from flows import changes, mitigated, totals

    _show_any(root, _HEADLINE, _SENTENCES)
    for line in [*mitigated.lines(root, runs), *totals.lines(root, runs), *changes.lines(root, runs)]:
        typer.echo(line)
    typer.echo(f"Report: {root / SITE / 'index.html'}")


def _show_any(root: Path, *queries: str) -> None:
    """Print those of ``queries`` that have rows, a blank line between them."""
    from flows.printing import show
    from stages.report.session import query as ask

    for place, frame in enumerate(found for query in queries if (found := ask(root, query)).height):
        if place:
            typer.echo()
        show(frame, Format.TABLE)


def _show(root: Path, query: str, format: Format) -> None:
    from flows.printing import show
    from stages.report.session import query as ask

    show(ask(root, query), format)
