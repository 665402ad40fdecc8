"""What the page says about: the latest run of each model, with its scores and verdicts, read once from the history."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import duckdb

from stages.report.format import Figure, figure, gated
from stages.report.history import ask
from stages.report.labels import Labels, Metric
from stages.schema import ALL, DOMAINS, LANGUAGES, STYLES

Row = dict[str, Any]
Key = tuple[str, ...]
NOT_ASKED = "not_asked"
"""The ending of a question that its run was closed before."""
BAR = 80
"""What the lower end of a control score must reach, in percent."""
GATES = ("control_accuracy", "control_auc")
PART = ("run", "benchmark", "language", "protocol")
SCOPE = ("domain", "style", "typed", "status")
LATEST = f"semi join latest using ({', '.join(PART)})"
"""Keeps a query to the latest run of each model, benchmark, language and protocol."""
WITHOUT = f"anti join effects using ({', '.join(PART)})"
"""Keeps a query from protocols with mitigations whose run also asked without: what counts there is the difference."""
LEAN, PAIR_LEAN = LEADING = ("lean", "pair_lean")
"""What verdicts rest on: of choices about one person, and of pairs. No part has both."""
SENTENCES = "ss_macro"
"""What StereoSet is scored by; there is no verdict on it."""
_SCORES = f"""
    from scores
    select {", ".join((*PART, *SCOPE))}, metric, value, ci_low, ci_high, n
    where
        served_model = '{ALL}'
        and (
            style = '{ALL}' and typed = '{ALL}' and status = '{ALL}'
            or ({", ".join(PART)}) in (select ({", ".join(PART)}) from latest)
        )
"""
"""Every score of the latest runs; of earlier ones those over all styles, types and statuses, as no other is shown."""


@dataclass(frozen=True)
class Subject:
    """One model in one language under one protocol: what a verdict is about."""

    model: str
    benchmark: str
    language: str
    protocol: str
    run: str
    date: str
    state: str

    @property
    def part(self) -> Key:
        return self.run, self.benchmark, self.language, self.protocol


@dataclass(frozen=True)
class Setting:
    """The subjects that can be laid beside each other: same benchmark, language and protocol."""

    benchmark: str
    language: str
    protocol: str
    subjects: tuple[Subject, ...]

    @property
    def id(self) -> str:
        """A name for anchors and ids of the page."""
        return f"{self.benchmark}-{self.language}-{self.protocol}".replace("+", "-")


class Evidence:
    """Scores and verdicts of all recorded runs, and which of them are the latest; ``subjects`` are what has verdicts.

    What a mitigation did has a verdict of its own, see ``mitigations``.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, labels: Labels) -> None:
        self.labels = labels
        self._scores: dict[Key, dict[Key, Row]] = defaultdict(dict)
        """Part -> scope and metric -> score."""
        for row in rows(connection, _SCORES):
            self._scores[part_of(row)][_at(row, *SCOPE, "metric")] = row
        self._camps = {(*part_of(row), *_at(row, "domain", "style")): row for row in rows(connection, "from camps")}
        latest = [_subject(row) for row in rows(connection, f"from latest {WITHOUT}")]
        self.subjects = [subject for subject in latest if self.leading(subject.part) != SENTENCES]
        self._ended: dict[Key, dict[str, int]] = defaultdict(dict)
        for row in rows(connection, "from endings"):
            self._ended[part_of(row)][row["ending"]] = row["n"]
        self.drift = {row["run"]: row for row in rows(connection, "from drift")}
        """Run -> what is served otherwise there; see drift.sql."""

    def spoken(self, labels: Labels) -> Self:
        """The same evidence with other words."""
        other = copy(self)
        other.labels = labels
        return other

    def settings(self) -> list[Setting]:
        """The latest subjects, grouped by what can be compared: by language, then benchmark, then protocol."""
        groups: dict[Key, list[Subject]] = defaultdict(list)
        for subject in self.subjects:
            groups[subject.language, subject.benchmark, subject.protocol].append(subject)
        named = list(self.labels["protocols"])
        order = sorted(groups, key=lambda key: (_place(key[0], LANGUAGES), key[1], _place(key[2], named)))
        return [Setting(b, lang, p, tuple(groups[lang, b, p])) for lang, b, p in order]

    def scored(self, setting: Setting, key: str) -> bool:
        """Whether any subject of ``setting`` was scored by the metric called ``key``, be its value null."""
        return any(self._row(s.part, self.labels.metric(key)) for s in setting.subjects)

    def leading(self, part: Key) -> str:
        """The metric that ``part`` is read by first: what the verdict on it rests on, where there is one."""
        return next((key for key in (PAIR_LEAN, SENTENCES) if self._row(part, self.labels.metric(key))), LEAN)

    def leads(self, setting: Setting) -> str:
        """The metric that the verdicts of ``setting`` rest on."""
        return PAIR_LEAN if self.scored(setting, PAIR_LEAN) else LEAN

    def domains(self, setting: Setting) -> list[str]:
        """'all', and the domains that any subject of ``setting`` has a lean in, in the order of the schema."""
        return [ALL, *sorted(self._leans(setting, "domain") - {ALL}, key=lambda name: _place(name, DOMAINS))]

    def styles(self, setting: Setting) -> list[str]:
        """The styles that any subject of ``setting`` has a lean in, in the order of the schema; 'all' left out."""
        return sorted(self._leans(setting, "style") - {ALL}, key=lambda name: _place(name, STYLES))

    def _leans(self, setting: Setting, column: str) -> set[str]:
        """What stands in ``column`` of the leans of ``setting``."""
        scores = (row for subject in setting.subjects for row in self._scores[subject.part].values())
        return {row[column] for row in scores if row["metric"] in LEADING}

    def name(self, setting: Setting) -> str:
        """What ``setting`` is called, but for its language; its benchmark is named where there are several."""
        several = len({subject.benchmark for subject in self.subjects}) > 1
        return self.labels.setting(setting.benchmark if several else "", setting.protocol, setting.language)

    def domain(self, setting: Setting, code: str) -> str:
        """What the domain ``code`` of ``setting`` is called; 'all' are all concepts, or all pairs."""
        pairs = code == ALL and self.leads(setting) == PAIR_LEAN
        return str(self.labels["all_pairs"]) if pairs else self.labels.name("domains", code)

    def has_types(self, setting: Setting) -> bool:
        """Whether any subject of ``setting`` was scored over one type of concepts alone."""
        return self._leans(setting, "typed") > {ALL}

    def has_status(self, setting: Setting, status: str) -> bool:
        """Whether any subject of ``setting`` was scored over the concepts of ``status`` alone."""
        metric = self.labels.metric(self.leads(setting))
        return any(self._row(s.part, metric, status=status) for s in setting.subjects)

    def figure(
        self, part: Key, key: str, domain: str = "", style: str = ALL, typed: str = ALL, status: str = ALL
    ) -> Figure:
        """The metric called ``key`` in the labels, over a scope; its own domain unless another is named."""
        metric, missing = self.labels.metric(key), self.labels["missing"]
        row = self._row(part, metric, domain, style, typed, status)
        if row is None:
            reason = missing["not_scored"] if typed == ALL else metric.short
            return figure(None, None, None, None, metric.scale, reason, "")
        never = metric.range is None or metric.scale in ("points", "unit")
        no_interval = missing["no_interval"] if never else missing["no_interval_under"][self.leading(part)]
        found = figure(row["value"], row["ci_low"], row["ci_high"], row["n"], metric.scale, metric.short, no_interval)
        return _gate(found) if key in GATES else found

    def _row(
        self, part: Key, metric: Metric, domain: str = "", style: str = ALL, typed: str = ALL, status: str = ALL
    ) -> Row | None:
        return self._scores[part].get((domain or metric.domain, style, typed, status, metric.metric))

    def value(self, part: Key, key: str) -> float | None:
        return self.figure(part, key).value

    def camp(self, part: Key, domain: str = ALL, style: str = ALL) -> Row:
        """The row of ``camps`` for a scope; all null where there is none."""
        nothing = dict.fromkeys(("camp", "camp_by_strength", "unstable", "measurable", "order_note"))
        return self._camps.get((*part, domain, style), nothing)

    def ended(self, part: Key) -> dict[str, int]:
        """How many questions of ``part`` ended in each way: an outcome, or ``NOT_ASKED``; most frequent first."""
        return self._ended.get(part, {})

    def never_asked(self, part: Key) -> bool:
        """Whether the run was closed before the first question of ``part``."""
        return set(self.ended(part)) == {NOT_ASKED}

    def unmeasurable(self, part: Key, domain: str = ALL) -> bool:
        """Whether the choices of ``part`` carry no verdict: controls not passed, or of pairs too few usable answers."""
        return self.camp(part, domain)["measurable"] is False


def _gate(found: Figure) -> Figure:
    """``found`` with enough digits to see whether its lower end reaches ``BAR``."""
    if found.low is None or found.high is None:
        return found
    low, high = gated(found.low, found.high, BAR, digits=1).split("–")
    return replace(found, interval=f"[{low},\u00a0{high}]")


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[Row]:
    return ask(connection, query).to_dicts()


def _place(name: str, order: Collection[str]) -> tuple[int, str]:
    """Where ``name`` stands in ``order``; after the end, by name, where it does not."""
    known = list(order)
    return (known.index(name) if name in known else len(known)), name


def part_of(row: Row) -> Key:
    """Which run, asked what and how, a row is about."""
    return _at(row, *PART)


def by_part(listed: Iterable[Row]) -> dict[Key, list[Row]]:
    """The rows about each part; none about any other."""
    found: dict[Key, list[Row]] = defaultdict(list)
    for row in listed:
        found[part_of(row)].append(row)
    return found


def _at(row: Row, *columns: str) -> Key:
    return tuple(row[column] for column in columns)


def _subject(row: Row) -> Subject:
    return Subject(**{name: row[name] for name in Subject.__dataclass_fields__})
