"""A request, and what it asks for: the ledger entry that it is frozen into."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from math import lcm
from typing import Any
from zoneinfo import ZoneInfo

from stages.entries import Entry, every
from stages.errors import UsageError
from stages.mitigations import MITIGATIONS_FILE
from stages.orders import balanced_epochs
from stages.params import JOIN, Params, Plan, known, time_zone
from stages.schema import RUBRIC


@dataclass(frozen=True)
class Request:
    """What a user asks for; ``None`` and empty mean: as the plan says."""

    model: str
    plan: str | None = None
    benchmarks: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    mitigations: tuple[str, ...] = ()
    """Each joins the protocols that it may join, which are then asked without and with it; ``a+b`` are joined together."""
    date: str | None = None
    epochs: int | None = None
    limit: int | None = None
    seed: int = 0
    fresh: bool = False
    temperature: float | None = None
    reads: str | None = None
    """The run whose texts are read."""
    shuffle: bool = False
    timezone: str | None = None
    """Where the date of a new run is taken, instead of that of params.yaml."""


def requested_zone(params: Params, request: Request) -> str:
    """The time zone in which the date of a new run is taken: that of ``request``, or else of params.yaml.

    :raises UsageError: the request names none that there is.
    """
    try:
        return time_zone(request.timezone or params.timezone)
    except ValueError as error:
        raise UsageError(f"--timezone: {error}; correct it.") from error


def today(zone: str, now: datetime) -> str:
    """The date of a run that starts at ``now`` in the time zone ``zone``."""
    return now.astimezone(ZoneInfo(zone)).date().isoformat()


def frozen(params: Params, request: Request, now: datetime) -> Entry:
    """The entry that ``request`` asks for.

    :raises UsageError: a name is unknown, the epochs cannot be balanced over the orders, or the model cannot be asked so.
    """
    model = params.models[known("model", request.model, params.models)]
    plan_name = known("plan", request.plan or params.default_plan, params.plans)
    plan = params.plans[plan_name]
    benchmarks = _each("benchmark", request.benchmarks or plan.benchmarks, params.benchmarks)
    protocols = requested_protocols(params, request)
    languages = _languages(params, request, benchmarks, protocols)
    epochs = request.epochs or _epochs(params, plan, protocols)
    _refuse_unread(request, benchmarks)
    _refuse_unfit(params, request, protocols, epochs)
    return Entry(
        opened=now.astimezone(UTC).replace(microsecond=0),
        plan=plan_name,
        benchmarks=benchmarks,
        languages=languages,
        protocols=protocols,
        left_out=_left_out(params, benchmarks, languages, protocols),
        styles=tuple(plan.styles),
        epochs=epochs,
        # What is drawn at a temperature differs from time to time.
        each_order_once=model.deterministic and request.epochs is None and not request.temperature,
        asked_once=tuple(name for name in protocols if params.protocol(name).scored),
        limit=request.limit,
        seed=request.seed,
        temperature=request.temperature,
        reads=request.reads,
        shuffle=request.shuffle,
    )


def requested_protocols(params: Params, request: Request) -> tuple[str, ...]:
    """The protocols that ``request`` names, or else its plan; with its mitigations those that they join, without and with them.

    :raises UsageError: a name is unknown, or a mitigation may join none of them.
    """
    plan = params.plans[known("plan", request.plan or params.default_plan, params.plans)]
    named = tuple(dict.fromkeys(params.joined(name) for name in request.protocols or plan.protocols))
    if not request.mitigations:
        return named
    bases = tuple(dict.fromkeys(name.split(JOIN)[0] for name in named))
    joined = [_joinings(params, wanted, bases, chosen=bool(request.protocols)) for wanted in request.mitigations]
    found = [name for each in joined for name in each]
    return tuple(dict.fromkeys([*(name.split(JOIN)[0] for name in found), *found]))


def _joinings(params: Params, wanted: str, bases: tuple[str, ...], chosen: bool) -> list[str]:
    """The mitigations ``wanted`` joined to each of ``bases`` that they may join, or to their own protocols where to none.

    :raises UsageError: one is unknown, they have no protocol in common, or the user ``chosen`` none of theirs.
    """
    names = wanted.split(JOIN)
    each = [params.mitigations[known("mitigation", name, params.mitigations)].protocols for name in names]
    common = [protocol for protocol in each[0] if all(protocol in others for others in each)]
    fitting = [base for base in bases if base in common]
    if not common or (chosen and not fitting):
        may = f"it may join {', '.join(common)} only" if common else "they may join no protocol in common"
        raise UsageError(f"--mitigation {wanted} cannot be put so: {may}; name another --protocol or --mitigation.")
    return [params.joined(JOIN.join([base, *names])) for base in fitting or common]


def _epochs(params: Params, plan: Plan, protocols: tuple[str, ...]) -> int:
    """Those of ``plan``, as often per order as it asks its own protocols where mitigations brought others."""
    own = lcm(*(params.protocol(name).cycle for name in plan.protocols))
    cycle = lcm(*(params.protocol(name).cycle for name in protocols))
    brought = any(JOIN in name and name not in plan.protocols for name in protocols)
    return plan.epochs * cycle // own if brought and plan.epochs % own == 0 else plan.epochs


def _each(kind: str, wanted: Iterable[str], names: dict[str, Any] | list[str]) -> tuple[str, ...]:
    """What is ``wanted`` of ``names``, each once."""
    return tuple(known(kind, name, names) for name in dict.fromkeys(wanted))


def _languages(
    params: Params, request: Request, benchmarks: tuple[str, ...], protocols: tuple[str, ...]
) -> tuple[str, ...]:
    """The languages that ``request`` names, or else those of params.yaml that anything asked is there in."""
    if request.languages:
        return _each("language", request.languages, params.spoken)
    possible = every(benchmarks, params.languages, protocols)
    fitting = {language for benchmark, language, protocol in possible if params.fits(benchmark, language, protocol)}
    return tuple(language for language in params.languages if language in fitting or not fitting)


def _refuse_unfit(params: Params, request: Request, protocols: tuple[str, ...], epochs: int) -> None:
    """:raises UsageError: the epochs cannot be balanced, or the model cannot be asked by one of ``protocols``."""
    asked = [params.protocol(name) for name in protocols]
    for protocol in asked:
        balanced_epochs(epochs, protocol.cycle, protocol.orders == "over_items")
    if obstacle := params.models[request.model].unscorable(asked):
        raise UsageError(f"Model {request.model} cannot be asked: {obstacle}.")
    if request.temperature is not None and all(protocol.scored for protocol in asked):
        raise UsageError(f"--temperature draws no answer of {', '.join(protocols)}, which scores texts; leave it out.")


def _refuse_unread(request: Request, benchmarks: tuple[str, ...]) -> None:
    """:raises UsageError: questions about texts are asked of none, or others of some."""
    if request.reads and benchmarks != (RUBRIC,):
        raise UsageError(
            f"--reads goes with {RUBRIC} alone, and {', '.join(benchmarks)} is not about texts; use --plan rubric."
        )
    if RUBRIC in benchmarks and not request.reads:
        raise UsageError(f"{RUBRIC} asks about the texts of another run; name it with --reads RUN (see: checkup runs).")


def _left_out(
    params: Params, benchmarks: tuple[str, ...], languages: tuple[str, ...], protocols: tuple[str, ...]
) -> tuple[str, ...]:
    """What of ``benchmarks``, ``languages`` and ``protocols`` does not fit each other.

    :raises UsageError: one of them would not be asked at all.
    """
    possible = every(benchmarks, languages, protocols)
    asked = [asking for asking in possible if params.fits(*asking)]
    for place, kind in enumerate(("benchmark", "language", "protocol")):
        for name in (benchmarks, languages, protocols)[place]:
            if not any(asking[place] == name for asking in asked):
                others = " and ".join(
                    ", ".join(names) for i, names in enumerate((benchmarks, languages, protocols)) if i != place
                )
                raise UsageError(
                    f"{kind.capitalize()} {name} does not fit {others}{_speechless(params, languages, protocols)}; see what does: "
                    "checkup benchmarks."
                )
    return tuple(".".join(asking) for asking in possible if asking not in asked)


def _speechless(params: Params, languages: tuple[str, ...], protocols: tuple[str, ...]) -> str:
    """That a mitigation among ``protocols`` has no text in one of ``languages``, where that is so."""
    names = dict.fromkeys(mitigation for name in protocols for mitigation in name.split(JOIN)[1:])
    lacking = [f"{name} in {each}" for name in names for each in languages if not params.mitigations[name].speaks(each)]
    return f", as there is no text of mitigation {lacking[0]} in {MITIGATIONS_FILE}" if lacking else ""
