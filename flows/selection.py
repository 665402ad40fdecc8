"""Which models a command is about, and the runs that serve it."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from stages.datasets import lacking
from stages.errors import UsageError
from stages.ledger import Run, enter, read_ledger, runs
from stages.params import Params, known, read_params
from stages.query.remote import Workers, obstacles
from stages.requests import Request, frozen, requested_protocols
from stages.rubric import readable


@dataclass(frozen=True)
class Selection:
    """Models that can be asked, and those that cannot with the reason."""

    models: list[str]
    skipped: dict[str, str]


def select(
    params: Params, wanted: list[str], request: Request | None = None, workers: Workers | None = None
) -> Selection:
    """The wanted models; without any, every model that can be asked (as ``request`` says), the others listed as skipped.

    ``workers``, where given, do the asking, and have the keys.

    :raises UsageError: a wanted model is unknown, or cannot be asked.
    """
    asked = [params.protocol(name) for name in requested_protocols(params, request)] if request else []
    problems = obstacles(params.models, asked, workers)
    for key in wanted:
        if known("model", key, params.models) in problems:
            raise UsageError(f"Model {key} cannot be asked: {problems[key]}.")
    if wanted:
        return Selection(list(dict.fromkeys(wanted)), {})
    return Selection([key for key in params.models if key not in problems], problems)


def plan_runs(
    root: Path, wanted: list[str], request: Request, workers: Workers | None = None
) -> tuple[list[Run], dict[str, str]]:
    """Put the runs that serve ``request`` for the wanted models into the ledger; return them and the skipped models.

    ``request.model`` is a placeholder here.

    :raises UsageError: as of ``plannable``.
    """
    params, now = read_params(root), datetime.now(UTC)
    request = about_texts(root, request)
    chosen = plannable(root, wanted, request, workers)
    made = []
    for key in chosen.models:
        made.append(enter(root, params, replace(request, model=key), now))
    return made, chosen.skipped


def about_texts(root: Path, request: Request) -> Request:
    """``request``, which asks about texts in the languages in which those were written, unless it names its own.

    :raises UsageError: the run that it reads has no texts, or not all of them yet, or none in a language that is named.
    """
    if request.reads is None:
        return request
    written = readable(read_ledger(root), root, request.reads)
    for language in request.languages:
        if language not in written:
            raise UsageError(f"Run {request.reads} wrote no texts in {language}; use one of: {', '.join(written)}.")
    return replace(request, languages=request.languages or written)


def plannable(root: Path, wanted: list[str], request: Request, workers: Workers | None = None) -> Selection:
    """The wanted models, of which each could have a run that serves ``request``.

    :raises UsageError: a name is unknown, no model can be asked, or a benchmark's source was not fetched.
    """
    params, now = read_params(root), datetime.now(UTC)
    chosen = select(params, wanted, request, workers)
    if not chosen.models:
        raise UsageError(
            "No model can be asked; set a key in .env or add a model to params.yaml (see: checkup models)."
        )
    for benchmark, language, _ in frozen(params, replace(request, model=chosen.models[0]), now).asks:
        if problem := lacking(root, benchmark, language):
            raise UsageError(f"{problem}.")
    return chosen


def named_runs(root: Path, wanted: list[str], date: str | None) -> list[Run]:
    """The open runs of the wanted models (all when none), of ``date`` where given: what --seal closes."""
    chosen = [
        run
        for run in runs(read_ledger(root))
        if (not wanted or run.model in wanted) and date in (None, run.stamp, run.date) and run.entry.state == "open"
    ]
    if not chosen:
        raise UsageError("There is no open run of that model and date to seal; list the runs with: checkup runs.")
    return chosen
