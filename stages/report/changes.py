"""What changed: each run beside the one it is compared with, and the headline score of each model over its runs."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
from markupsafe import Markup

from stages.report.bilingual import Bilingual
from stages.report.charts import course
from stages.report.evidence import LEADING, WITHOUT, Evidence, Row, part_of, rows
from stages.report.format import Figure, figure, number, p_value

COUNTED = ("changed", "to be repeated", "not repeated", "not comparable", "no change seen")
"""Verdicts, those to look at first."""
_CHANGED = """
    from changed
    semi join (
        select model, benchmark, language, protocol, max(date) as date from changed group by all
        union
        select model, benchmark, language, protocol, date from changed where verdict in ('changed', 'to be repeated')
    ) using (model, benchmark, language, protocol, date)
    order by model, date desc, len(run) desc, run desc, benchmark, protocol, language
"""
"""The last compared day of each model, and every day with a hit that counts or may come to."""
_COURSE = f"""
    select trend.*, verdict, pinned
    from (from trend {WITHOUT}) as trend
    left join (select run, benchmark, language, protocol, metric, any_value(verdict) as verdict from changed group by all)
        using (run, benchmark, language, protocol, metric)
    left join (select distinct reference as run, benchmark, language, protocol, true as pinned from changed)
        using (run, benchmark, language, protocol)
    where metric in ('{"', '".join(LEADING)}', 'ss_macro') and value is not null
        and (not starts_with(benchmark, 'stereoset-') or (run, language, protocol) not in (
            select (run, language, protocol) from trend where benchmark = 'stereoset'
        ))
    qualify count(*) over (partition by model, benchmark, language, protocol) > 1
    order by benchmark, language, protocol, model, date, number
"""


@dataclass(frozen=True)
class Line:
    """A run beside its reference: the headline score of one benchmark, language and protocol."""

    run: str
    reference: str
    language: str
    protocol: str
    metric: Markup
    change: Figure
    values: Markup
    p: str
    verdict: str
    notes: list[Markup]


@dataclass(frozen=True)
class Course:
    """One model over its runs; the picture has no words."""

    model: str
    picture: str
    n: int


@dataclass(frozen=True)
class Courses:
    """All models of one benchmark, language and protocol that have several runs."""

    language: str
    name: Markup
    metric: str
    models: list[Course]


@dataclass(frozen=True)
class Changes:
    lines: list[Line]
    courses: list[Courses]


def found(connection: duckdb.DuckDBPyConnection, heard: Sequence[Evidence], both: Bilingual) -> Changes | None:
    """What is to be said of changes; nothing where no run has another one to be compared with."""
    lines = [_line(row, heard, both) for row in rows(connection, _CHANGED)]
    lines.sort(key=lambda line: COUNTED.index(line.verdict))
    courses = _courses(rows(connection, _COURSE), heard, both)
    return Changes(lines, courses) if lines or courses else None


def _line(row: Row, heard: Sequence[Evidence], both: Bilingual) -> Line:
    metrics = [evidence.labels.metric(row["metric"]) for evidence in heard]
    change = figure(
        row["value"], row["ci_low"], row["ci_high"], row["n"], "signed",
        str(heard[0].labels["compared"]["null"]), "",
    )  # fmt: skip
    here, there = (number(row[side], metrics[0].scale) for side in ("here", "there"))
    return Line(
        run=row["run"],
        reference=row["reference"],
        language=row["language"],
        protocol=row["protocol"],
        metric=both.say([metric.name for metric in metrics]),
        change=change,
        values=both.fill("changes", "values", there=there, here=here),
        p=p_value(row["p_adjusted"]) if row["p_adjusted"] is not None else "",
        verdict=row["verdict"],
        notes=_notes(row, both),
    )


def _notes(row: Row, both: Bilingual) -> list[Markup]:
    """Why it is held back, the bounds where answers are missing, what is not like for like, and the noise."""
    said = [both("changes", "gates", row["gate"])] if row["gate"] else []
    if row["coverage"] is not None and row["coverage"] < 100 and row["bound_low"] is not None:
        low, high = (number(row[f"bound_{end}"], "signed") for end in ("low", "high"))
        said.append(both.fill("changes", "bounds", low=low, high=high))
    if row["differs"]:
        said.append(both("changes", "unlike") + both.listed([("changes", "differs", name) for name in row["differs"]]))
    if row["noise"] is not None:
        said.append(both.fill("changes", "noise", noise=number(row["noise"], "signed")))
    return said


def _courses(listed: list[Row], heard: Sequence[Evidence], both: Bilingual) -> list[Courses]:
    settings: dict[tuple[str, ...], dict[str, list[Row]]] = {}
    for row in listed:
        key = row["benchmark"], row["language"], row["protocol"], row["metric"]
        settings.setdefault(key, {}).setdefault(row["model"], []).append(row)
    return [
        Courses(
            language,
            both.say([evidence.labels.setting(benchmark, protocol, language) for evidence in heard]),
            metric,
            [Course(model, _picture(heard[0], metric, runs), len(runs)) for model, runs in models.items()],
        )
        for (benchmark, language, protocol, metric), models in settings.items()
    ]


def _picture(evidence: Evidence, metric: str, runs: list[Row]) -> str:
    marks = [
        {
            "date": row["date"], "value": row["value"],
            "low": row["value"] if row["ci_low"] is None else row["ci_low"],
            "high": row["value"] if row["ci_high"] is None else row["ci_high"],
            "hollow": evidence.unmeasurable(part_of(row)),
            "flagged": row["verdict"] == "changed",
            "shape": "diamond" if row["verdict"] == "changed" else "square" if row["pinned"] else "circle",
        }
        for row in runs
    ]  # fmt: skip
    return course(marks, (0, 100) if metric == "ss_macro" else (-100, 100), 50 if metric == "ss_macro" else 0)
