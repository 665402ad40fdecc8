"""Models side by side, and the same by domain, wording and type."""

from dataclasses import dataclass

from stages.report.evidence import Evidence, Setting, Subject
from stages.report.format import Figure, number
from stages.report.headline import SHOWN, verdict
from stages.report.labels import Metric
from stages.schema import ALL


@dataclass(frozen=True)
class Cell:
    figure: Figure
    note: str = ""
    hollow: bool = False
    """Whether the model failed the controls."""


@dataclass(frozen=True)
class Line:
    """One metric over all models of a setting."""

    key: str
    metric: Metric
    cells: list[Cell]


@dataclass(frozen=True)
class Group:
    code: str
    lines: list[Line]


@dataclass(frozen=True)
class PartLine:
    """Lean and default of one part (a domain, a style, a type), a pair per model."""

    code: str
    kind: str
    pairs: list[tuple[Figure, Figure]]


def side_by_side(evidence: Evidence, setting: Setting) -> list[Group]:
    """The scores of ``setting`` in groups, controls first; a row per metric, a cell per model."""
    return [
        Group(code, [_line(evidence, setting, key) for key in keys]) for code, keys in evidence.labels["metric_groups"]
    ]


def _line(evidence: Evidence, setting: Setting, key: str) -> Line:
    cells = [
        Cell(evidence.figure(s.part, key), _note(evidence, s, key), evidence.failed_controls(s.part))
        for s in setting.subjects
    ]
    return Line(key, evidence.labels.metric(key), cells)


def _note(evidence: Evidence, subject: Subject, key: str) -> str:
    """What stands below ``traditional_bias``: its value without association, its bounds where answers are missing."""
    words = evidence.labels["models"]
    if key != "traditional_bias" or evidence.value(subject.part, key) is None:
        return ""
    notes = [words["no_association"].format(value=evidence.figure(subject.part, "no_association").text)]
    low, high = (evidence.value(subject.part, f"traditional_bias_{end}") for end in ("min", "max"))
    if low is not None and high is not None and number(low, "share") != number(high, "share"):
        notes.append(words["bounds"].format(low=number(low, "share"), high=number(high, "share")))
    return "; ".join(notes)


def verdicts(evidence: Evidence, setting: Setting) -> list[tuple[str, str]]:
    """(code, name) of the camp by choices, per model."""
    found = []
    for subject in setting.subjects:
        camp = verdict(evidence, subject, {key: evidence.figure(subject.part, key) for key in SHOWN})
        found.append((camp.code, camp.name))
    return found


def verdicts_by_strength(evidence: Evidence, setting: Setting) -> list[tuple[str, str]]:
    """(code, name) of the camp by word probabilities, per model; an empty code where none were given."""
    found = []
    for subject in setting.subjects:
        code = evidence.camp(subject.part)["camp_by_strength"]
        words = evidence.labels["camps_by_strength"]
        found.append((code, words[code]["name"]) if code else ("", evidence.labels.metric("strength").short))
    return found


def breakdown(evidence: Evidence, setting: Setting) -> list[tuple[str, list[PartLine]]]:
    """(kind of part, its lines): by domain, by style, by type."""
    parts = {
        "domain": [(code, {"domain": code}) for code in (ALL, *evidence.scopes(setting, 0))],
        "style": [(code, {"style": code}) for code in evidence.scopes(setting, 1)],
        "typed": [(code, {"typed": code}) for code in ("male", "female")],
    }
    kinds = {"domain": "domains", "style": "styles", "typed": "typed"}
    return [
        (kind, [PartLine(code, kinds[kind], _pairs(evidence, setting, scope)) for code, scope in found])
        for kind, found in parts.items()
    ]


def _pairs(evidence: Evidence, setting: Setting, scope: dict[str, str]) -> list[tuple[Figure, Figure]]:
    return [
        (evidence.figure(s.part, "lean", **scope), evidence.figure(s.part, "default", **scope))
        for s in setting.subjects
    ]
