"""What mitigations do: each protocol joined by + beside the same one without it, in the latest run of each model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import duckdb
from markupsafe import Markup

from stages.report.bilingual import Bilingual
from stages.report.evidence import LATEST, LEADING, Row, rows
from stages.report.format import DASH, Figure, Scale, figure, number
from stages.report.labels import Labels
from stages.schema import ALL, JOINED

_ORDER = "order by language, benchmark, versus, model, len(protocol), protocol"
_EFFECTS = f"""
    from effects {LATEST}
    where metric in ('lean', 'pair_lean', 'abs_lean', 'abs_pair_lean', 'default', 'neutral_rate', 'evaded_rate')
        and domain <> 'asked'
    {_ORDER}, domain <> '{ALL}', domain
"""
VERDICTS = (
    *("better", "no change", "worse", "reversed", "one-sided", "over-neutral", "bought by refusals", "unclear"),
    "not measurable",
)
"""In the order in which the page explains them."""


@dataclass(frozen=True)
class Line:
    """One mitigation of one model; texts are those without and with it."""

    model: str
    date: str
    mitigation: Markup
    verdict: str
    reasons: list[Markup]
    lean: str
    change: Figure
    """Of how far the lean is from 0."""
    default: str
    refused: str
    unusable: str
    controls: str


@dataclass(frozen=True)
class Part:
    """One group of one mitigation of one model."""

    model: str
    mitigation: Markup
    domain: tuple[str, ...]
    """Path of its label."""
    lean: str
    change: Figure
    default: str
    neutral: str
    evaded: str


@dataclass(frozen=True)
class Mitigated:
    """All mitigations of one benchmark, language and protocol."""

    language: str
    name: Markup
    lines: list[Line]
    parts: list[Part]


def found(connection: duckdb.DuckDBPyConnection, spoken: Sequence[Labels], both: Bilingual) -> list[Mitigated]:
    """The mitigations of the latest runs; nothing where no run has any beside the same protocol without it."""
    verdicts = _by_base(rows(connection, f"from mitigated {LATEST} {_ORDER}"))
    effects = _by_base(rows(connection, _EFFECTS))
    found = [
        Mitigated(
            language,
            both.say([labels.setting(benchmark, versus, language) for labels in spoken]),
            [_line(row, spoken, both) for row in verdicts.get((language, benchmark, versus), [])],
            _parts(listed, spoken, both),
        )
        for (language, benchmark, versus), listed in effects.items()
    ]
    return sorted(found, key=lambda table: not table.lines)


def _by_base(listed: Iterable[Row]) -> dict[tuple[str, str, str], list[Row]]:
    key = ("language", "benchmark", "versus")
    return {at: list(own) for at, own in groupby(listed, lambda row: tuple(row[name] for name in key))}


def _line(row: Row, spoken: Sequence[Labels], both: Bilingual) -> Line:
    return Line(
        model=row["model"],
        date=row["date"],
        mitigation=_mitigation(row["protocol"], both),
        verdict=row["verdict"],
        reasons=[both("mitigations", "conditions", code) for code in row["reasons"]],
        lean=_beside(row["lean_without"], row["lean_with"], "signed"),
        change=_change(row["change"], row["change_low"], row["change_high"], row["n"], LEADING[0], spoken, both),
        default=_beside(row["default_without"], row["default_with"], "signed"),
        refused=_moved(row["refusal_change"]),
        unusable=_moved(row["unusable_change"]),
        controls=_beside(row["controls_without"], row["controls_with"], "points"),
    )


def _parts(listed: list[Row], spoken: Sequence[Labels], both: Bilingual) -> list[Part]:
    """A part for each group that has a lean; a pair has a lean of its own and no default."""
    found = []
    for _, own in groupby(listed, lambda row: (row["model"], row["protocol"], row["domain"])):
        scored = {row["metric"]: row for row in own}
        leading = next((metric for metric in LEADING if metric in scored), None)
        if leading is not None:
            found.append(_part(scored, leading, spoken, both))
    return found


def _part(scored: dict[str, Row], leading: str, spoken: Sequence[Labels], both: Bilingual) -> Part:
    lean = scored[leading]
    moved = scored[f"abs_{leading}"]
    pairs = leading != LEADING[0]
    return Part(
        model=lean["model"],
        mitigation=_mitigation(lean["protocol"], both),
        domain=("all_pairs",) if pairs and lean["domain"] == ALL else ("domains", lean["domain"]),
        lean=_beside(lean["there"], lean["here"], "signed"),
        change=_change(moved["value"], moved["ci_low"], moved["ci_high"], moved["n"], leading, spoken, both),
        default=_beside(scored["default"]["there"], scored["default"]["here"], "signed")
        if "default" in scored
        else DASH,
        neutral=_moved(scored["neutral_rate"]["value"]),
        evaded=_moved(scored["evaded_rate"]["value"]),
    )


def _mitigation(protocol: str, both: Bilingual) -> Markup:
    """What joins ``protocol``, by name."""
    return Markup(" + ").join(both("mitigations", "names", name) for name in protocol.split(JOINED)[1:])


def _change(
    value: float | None,
    low: float | None,
    high: float | None,
    n: int,
    leading: str,
    spoken: Sequence[Labels],
    both: Bilingual,
) -> Figure:
    figures = [
        figure(
            value, low, high, n, "signed",
            labels["compared"]["null"], labels["missing"]["no_interval_under"][leading],
        )
        for labels in spoken
    ]  # fmt: skip
    return both.figure(figures)


def _beside(without: float | None, with_it: float | None, scale: Scale) -> str:
    if without is None or with_it is None:
        return DASH
    return f"{number(without, scale)} → {number(with_it, scale)}"


def _moved(points: float | None) -> str:
    return DASH if points is None else number(points, "signed")
