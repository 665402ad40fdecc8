"""Differences within a run: a language with English, a conversation with questions asked afresh."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
from markupsafe import Markup

from stages.report.bilingual import Bilingual
from stages.report.evidence import LATEST, LEADING, WITHOUT, Row, rows
from stages.report.format import figure, number
from stages.report.labels import Labels
from stages.report.tables import Cell

METRICS = (*LEADING[:1], "default", *LEADING[1:])
"""In the order of columns."""


@dataclass(frozen=True)
class Line:
    model: str
    domain: tuple[str, ...]
    """Path of its label."""
    cells: list[Cell | None]
    """Differences; the note of one has the two values it is one of."""


@dataclass(frozen=True)
class Compared:
    """All models of one benchmark, language and protocol beside the other side that ``versus`` names."""

    column: str
    """What the sides differ in: language or protocol."""
    sides: Markup
    """What is less what."""
    shared: tuple[str, str]
    """Path of the label of what both sides have."""
    metrics: list[str]
    lines: list[Line]


def found(connection: duckdb.DuckDBPyConnection, spoken: Sequence[Labels], both: Bilingual) -> list[Compared]:
    """Every comparison of the latest runs, languages first; nothing where there is none."""
    listed: dict[tuple[str, ...], list[Row]] = {}
    query = f"""
        from comparisons
        {LATEST}
        {WITHOUT}
        order by versus, benchmark, language, protocol, model, domain <> 'all', domain, metric
    """
    for row in rows(connection, query):
        listed.setdefault((row["versus"], row["benchmark"], row["language"], row["protocol"]), []).append(row)
    return [_compared(key, compared, spoken, both) for key, compared in listed.items()]


def _compared(key: tuple[str, ...], listed: list[Row], spoken: Sequence[Labels], both: Bilingual) -> Compared:
    versus, _, language, protocol = key
    column, base = versus.split("=")
    metrics = [name for name in METRICS if name in {row["metric"] for row in listed}]
    cells = {(row["model"], row["domain"], row["metric"]): _cell(row, spoken, both) for row in listed}
    places = dict.fromkeys((row["model"], row["domain"]) for row in listed)
    pairs = LEADING[1] in metrics
    lines = [
        Line(model, _domain(domain, pairs), [cells.get((model, domain, metric)) for metric in metrics])
        for model, domain in places
    ]
    kinds = {"language": ("languages", language), "protocol": ("protocol_codes", protocol)}
    kind, here = kinds.pop(column)
    (shared,) = kinds.values()
    sides = [
        labels["compared"]["sides"].format(here=labels.name(kind, here), there=labels.name(kind, base))
        for labels in spoken
    ]
    return Compared(column, both.say(sides), shared, metrics, lines)


def _domain(domain: str, pairs: bool) -> tuple[str, ...]:
    return ("all_pairs",) if pairs and domain == "all" else ("domains", domain)


def _cell(row: Row, spoken: Sequence[Labels], both: Bilingual) -> Cell:
    missing = "pair_lean" if row["metric"] == "pair_lean" else "lean"
    gaps = [
        figure(
            row["value"], row["ci_low"], row["ci_high"], row["n"], "signed",
            labels["compared"]["null"], labels["missing"]["no_interval_under"][missing],
        )
        for labels in spoken
    ]  # fmt: skip
    known = {side: number(row[side], "signed") for side in ("here", "there") if row[side] is not None}
    return Cell(both.figure(gaps), both.fill("compared", "values", **known) if len(known) == 2 else "")
