"""The page: one HTML file with everything in it, in each of its languages. The same recorded answers give the same bytes."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb
from itables.utils import read_package_file
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from stages.errors import DataError
from stages.files import write_whole
from stages.ledger import read_ledger
from stages.report import (
    bilingual,
    changes,
    charts,
    compared,
    drift,
    format,
    headline,
    items,
    pairs,
    published,
    readers,
    record,
    sentences,
    tables,
    texts,
    wordings,
)
from stages.report.evidence import LATEST, Evidence, Key, Setting, part_of, rows
from stages.report.history import connect
from stages.report.labels import LANGUAGES, TEMPLATES, Labels
from stages.schema import ANSWERS, SCORES
from stages.store import SITE, recorded

PAGE = "index.html"
TEMPLATE = "page.html.j2"
LEANING = ("glance", "charts", "models", "breakdown")
"""Sections about verdicts, which StereoSet has none of."""
SECTIONS = (
    *(LEANING[0], "changes", *LEANING[1:], "pairs", "texts", "readers", "wordings", "compared", "stereoset", "items"),
    *("quality", "provenance", "history", "published", "glossary"),
)
ONCE = (
    *("changes", "pairs", "texts", "readers", "wordings", "compared", "items"),
    *("provenance", "history", "published"),
)
"""Sections that stand in the page once, in all languages; the others stand in it once per language."""
SETTLED = ("served", "drift", "latest", "contested", "runs", "changed", "trend", "camps")
"""Views that the sections read again and again, each time over the whole history; on the page they are read once."""
TAGS = {"en": "en", "zh": "zh-Hans"}
"""Language of an item -> language tag for HTML."""
_DATE = re.compile(r"@?\d{4}-\d{2}-\d{2}[\w.-]*")
_HAN = re.compile("[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]+")


@dataclass(frozen=True)
class Section:
    """All that is said about one setting."""

    setting: Setting
    name: str
    keys: tuple[str, ...]
    """The main scores, that the verdicts rest on first."""
    cards: list[headline.Card]
    groups: list[tables.Group]
    verdicts: list[tuple[str, str]]
    verdicts_by_strength: list[tuple[str, str]]
    breakdown: list[tuple[str, list[tables.PartLine]]]
    pictures: dict[str, str]
    absent: dict[str, dict[str, list[str]]]
    """Chart -> why models have no point in it."""
    domains: list[str]
    hollow: list[bool]
    """Whether nothing is to be read from a model's choices, per model."""


@dataclass(frozen=True)
class Voice:
    """What the page says in one of its languages."""

    labels: Labels
    groups: list[tuple[str, list[Section]]]
    """Language of the items -> its settings."""
    models: list[str]


def report_all(root: Path) -> Path:
    """Build reports/site of the project in ``root`` from its recorded history; return the page's path.

    :raises CheckupError: the ledger and the files disagree, a file does not fit its table, or answers are not scored.
    """
    _all_scored(root)
    with closing(connect(root, SETTLED)) as connection:
        page = render(root, connection, [Labels.read(root, language) for language in LANGUAGES])
    path = root / SITE / PAGE
    write_whole(path, page)
    return path


def _all_scored(root: Path) -> None:
    ledger = read_ledger(root)
    scored = {str(part) for part in recorded(root, ledger, SCORES)}
    for part in recorded(root, ledger, ANSWERS):
        if str(part) not in scored:
            raise DataError(f"The answers of {part} are not scored yet; score them with: dvc repro score.")


def render(root: Path, connection: duckdb.DuckDBPyConnection, spoken: Sequence[Labels]) -> str:
    """The page as text, in the languages of ``spoken``."""
    evidence = Evidence(connection, spoken[0])
    heard = [evidence.spoken(labels) for labels in spoken]
    drawn = {setting: charts.drawn(evidence, setting) for setting in evidence.settings()}
    listed, n_contested = items.contested(connection)
    both = bilingual.Bilingual(spoken)
    optional = {
        "changes": changes.found(connection, heard, both),
        "pairs": pairs.found(connection, heard, both),
        "texts": texts.found(connection, heard, both),
        "wordings": wordings.found(connection, heard, both),
        "compared": compared.found(connection, spoken, both),
        "stereoset": sentences.found(connection, heard),
        "readers": readers.found(connection),
        "published": published.found(connection, heard, both),
    }
    return _environment(root).get_template(TEMPLATE).render(
        voices=[_voice(each, drawn, evidence.labels) for each in heard],
        both=both,
        ids=_sections({**optional, **dict.fromkeys(LEANING, drawn)}),
        once=ONCE,
        **optional,
        settings=list(drawn),
        stats=_stats(connection),
        items=listed,
        n_contested=n_contested,
        columns=bilingual.columns(listed),
        value=bilingual.value,
        range_of=lambda key: spoken[0].metric(key).range,
        table_options=bilingual.table_options(both, listed),
        contracts=record.contracts(connection),
        coverage=record.coverage(connection),
        failures=record.failures(connection),
        unusable=record.unusable(connection),
        provenance=record.provenance(connection),
        drift={run: both.say([drift.note(each, run) for each in heard]) for run in evidence.drift},
        earlier=_earlier(connection, heard, both),
        versions=record.versions(),
        sources=record.sources(root),
        table_script=_table_script(),
        table_style=read_package_file("html/dt_bundle.css"),
    ) + "\n"  # fmt: skip


def _sections(found: Mapping[str, object]) -> list[str]:
    """The sections to show: of those in ``found`` the ones with something to say; none where nothing was asked."""
    asked = found[LEANING[0]] or found["stereoset"]
    return [name for name in SECTIONS if found.get(name, True)] if asked else []


def _voice(evidence: Evidence, drawn: dict[Setting, dict[str, str]], drawn_in: Labels) -> Voice:
    """What the page says in the words of ``evidence``, with the pictures ``drawn`` in those of another language."""
    sections = [
        _section(evidence, setting, charts.reworded(pictures, setting, drawn_in, evidence.labels))
        for setting, pictures in drawn.items()
    ]
    groups = [(language, list(found)) for language, found in groupby(sections, key=lambda s: s.setting.language)]
    models = sorted({subject.model for subject in evidence.subjects})
    return Voice(evidence.labels, groups, models)


def _environment(root: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(root / TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=format.number, count=format.count, duration=format.duration, money=format.money, tag=_tag, han=_han,
        dated=_dated,
    )  # fmt: skip
    environment.globals.update(
        dash=format.DASH,
        interval=format.interval,
        p_value=format.p_value,
        pair_scores=pairs.SCORES,
        text_scores=texts.TEXTS,
        story_scores=texts.STORY,
    )
    return environment


def _tag(language: str) -> str:
    return TAGS.get(language, language)


def _han(text: str, words: dict[str, Any]) -> Markup:
    """``text`` for HTML, its Chinese marked as such, to get Chinese glyphs; not where all of ``words`` is Chinese."""
    safe = str(escape(text))
    if words["lang"] == TAGS["zh"]:
        return Markup(safe)
    return Markup(_HAN.sub(rf'<span lang="{TAGS["zh"]}">\g<0></span>', safe))


def _dated(text: str) -> Markup:
    """``text`` for HTML, with dates (and run names at their @) that do not break."""
    return Markup(_DATE.sub(r'<wbr><span class="nowrap">\g<0></span>', str(escape(text))))


def _section(evidence: Evidence, setting: Setting, pictures: dict[str, str]) -> Section:
    return Section(
        setting=setting,
        name=evidence.name(setting),
        keys=headline.SCALES[evidence.leads(setting)],
        cards=headline.cards(evidence, setting),
        groups=tables.side_by_side(evidence, setting),
        verdicts=tables.verdicts(evidence, setting),
        verdicts_by_strength=tables.verdicts_by_strength(evidence, setting),
        breakdown=tables.breakdown(evidence, setting),
        pictures=pictures,
        absent={chart: charts.absent(evidence, setting, chart) for chart in pictures},
        domains=[evidence.domain(setting, code) for code in charts.lean_domains(evidence, setting)],
        hollow=[evidence.unmeasurable(s.part) for s in setting.subjects],
    )


def _stats(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """The page's first numbers, over what the latest runs asked."""
    (found,) = rows(
        connection,
        f"""
        select
            count(distinct model) as models, count(distinct language) as languages,
            count(distinct (benchmark, language, item_id)) filter (where asked) as items,
            count(*) filter (where asked) as questions,
            100.0 * count(*) filter (where outcome not in ('invalid', 'empty', 'truncated', 'error'))
                / nullif(questions, 0) as usable,
            min(date) as first, max(date) as last
        from (select *, reason is distinct from 'not_asked' as asked from judgements)
        {LATEST}
        """,
    )
    return found


def _earlier(
    connection: duckdb.DuckDBPyConnection, heard: Sequence[Evidence], both: bilingual.Bilingual
) -> list[dict[str, Any]]:
    """Scored parts of runs that a later run of the same model has overtaken, newest first, with their main scores.

    StereoSet has a section of its own, with every run.
    """
    found = rows(
        connection,
        """
        select run, model, scores.date, benchmark, language, protocol, state
        from scores
        join files.ledger using (run, model)
        anti join latest using (run, benchmark, language, protocol)
        anti join stereoset using (run, benchmark, language, protocol)
        where reads is null
        group by run, model, scores.date, number, benchmark, language, protocol, state
        order by model, scores.date desc, number desc, benchmark, protocol, language
        """,
    )
    return [row | _main_scores(heard, both, part_of(row)) for row in found]


def _main_scores(heard: Sequence[Evidence], both: bilingual.Bilingual, earlier: Key) -> dict[str, Any]:
    keys = (heard[0].leading(earlier), "default", "control_accuracy", "coverage")
    figures = [both.figure([evidence.figure(earlier, key) for evidence in heard]) for key in keys]
    return {"code": heard[0].camp(earlier)["camp"], "figures": figures}


@cache
def _table_script() -> str:
    """The table library (DataTables, as itables bundles it) as an address that needs no network."""
    return "data:text/javascript;base64," + b64encode(read_package_file("html/dt_bundle.js").encode()).decode()
