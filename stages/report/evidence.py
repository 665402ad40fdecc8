"""What the page says about: the latest run of each model, with its scores and verdicts, read once from the history."""

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from stages.report.format import Figure, figure, gated
from stages.report.history import ask
from stages.report.labels import Labels
from stages.schema import ALL, STYLES

Row = dict[str, Any]
Key = tuple[str, ...]
NOT_ASKED = "not_asked"
"""The ending of a question that its run was closed before."""
BAR = 80
"""What the lower end of a control score must reach, in percent."""
GATES = ("control_accuracy", "control_auc")


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
    """Scores and verdicts of all recorded runs, and which of them are the latest."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, labels: Labels) -> None:
        self.labels = labels
        self.subjects = [_subject(row) for row in rows(connection, "from latest")]
        scores = rows(connection, f"from scores where served_model = '{ALL}'")
        camps = rows(connection, "from camps")
        self._scores = {_scope(row, "domain", "style", "typed", "metric"): row for row in scores}
        self._camps = {_scope(row, "domain", "style"): row for row in camps}
        self._ended: dict[Key, dict[str, int]] = defaultdict(dict)
        for row in rows(connection, "from endings"):
            self._ended[_scope(row)][row["ending"]] = row["n"]

    def settings(self) -> list[Setting]:
        """The latest subjects, grouped by what can be compared."""
        groups: dict[Key, list[Subject]] = defaultdict(list)
        for subject in self.subjects:
            groups[subject.benchmark, subject.protocol, subject.language].append(subject)
        return [Setting(b, lang, p, tuple(found)) for (b, p, lang), found in sorted(groups.items())]

    def scopes(self, setting: Setting, column: int) -> list[str]:
        """The domains (``column`` 0) or styles (1) that any subject of ``setting`` has a lean in, 'all' left out.

        Styles in the order of the schema, domains by name.
        """
        parts = {subject.part for subject in setting.subjects}
        found = {key[4 + column] for key in self._scores if key[:4] in parts and key[7] == "lean"}
        return sorted(found - {ALL}, key=lambda name: (STYLES.index(name) if name in STYLES else len(STYLES), name))

    def figure(self, part: Key, key: str, domain: str = "", style: str = ALL, typed: str = ALL) -> Figure:
        """The metric called ``key`` in the labels, over a scope; its own domain unless another is named."""
        metric, missing = self.labels.metric(key), self.labels["missing"]
        row = self._scores.get((*part, domain or metric.domain, style, typed, metric.metric))
        if row is None:
            reason = missing["not_scored"] if typed == ALL else metric.short
            return figure(None, None, None, None, metric.scale, reason, "")
        no_interval = missing["no_interval_strength" if metric.range is None else "no_interval"]
        found = figure(row["value"], row["ci_low"], row["ci_high"], row["n"], metric.scale, metric.short, no_interval)
        return _gate(found) if key in GATES else found

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

    def failed_controls(self, part: Key) -> bool:
        """Whether the choices of ``part`` carry no verdict because the controls were not passed."""
        return self.camp(part)["measurable"] is False


def _gate(found: Figure) -> Figure:
    """``found`` with enough digits to see whether its lower end reaches ``BAR``."""
    if found.low is None or found.high is None:
        return found
    low, high = gated(found.low, found.high, BAR, digits=1).split("–")
    return replace(found, interval=f"[{low},\u00a0{high}]")


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[Row]:
    return ask(connection, query).to_dicts()


def _scope(row: Row, *columns: str) -> Key:
    return tuple(row[c] for c in ("run", "benchmark", "language", "protocol", *columns))


def _subject(row: Row) -> Subject:
    return Subject(**{name: row[name] for name in Subject.__dataclass_fields__})
