"""What the page says about pairs: scores of each group, the words that make them, and the pairs that tell most."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
from markupsafe import Markup

from stages.report import charts
from stages.report.bilingual import Bilingual
from stages.report.evidence import LATEST, PAIR_LEAN, Evidence, Key, Row, Setting, by_part, rows
from stages.report.format import Figure
from stages.schema import ALL

SCORES = ("pair_lean", "refusal_gap", "coverage", "order_pull", "order_decided")
TOLD = 6
"""So many of a model's most telling pairs are shown at most."""
LEAST = 5
EACH_WAY = 5
"""So many words are drawn at most on either side of 0."""
Rows = dict[Key, list[Row]]


@dataclass(frozen=True)
class Line:
    """One group of pairs: its scores, whether position decides it, whether nothing is to be read from it."""

    domain: tuple[str, ...]
    """Path of its label."""
    scores: list[Figure]
    position: bool
    hollow: bool


@dataclass(frozen=True)
class Model:
    name: str
    lines: list[Line]
    telling: list[Row]
    """The pairs that tell most, of ``n_telling``."""
    n_telling: int
    picture: str
    """The words that differ most; empty where no word was chosen."""
    words: list[Row]
    """Every word offered, those for men first."""


@dataclass(frozen=True)
class Pairs:
    """All of one setting."""

    setting: Setting
    name: Markup
    models: list[Model]

    @property
    def hollow(self) -> bool:
        """Whether there is a score from which nothing is to be read."""
        return any(line.hollow for model in self.models for line in model.lines)


def found(connection: duckdb.DuckDBPyConnection, heard: Sequence[Evidence], both: Bilingual) -> list[Pairs]:
    """What is said of each setting of pairs; nothing where there is none."""
    settings = [setting for setting in heard[0].settings() if heard[0].leads(setting) == PAIR_LEAN]
    if not settings:
        return []
    telling = by_part(rows(connection, f"from telling_pairs {LATEST} order by p_value, abs(delta) desc, item_id"))
    words = by_part(
        rows(connection, f"from word_profiles {LATEST} where domain = 'trait' order by log_odds desc nulls last, word")
    )
    return [_pairs(heard, both, setting, telling, words) for setting in settings]


def _pairs(heard: Sequence[Evidence], both: Bilingual, setting: Setting, telling: Rows, words: Rows) -> Pairs:
    drawn = {subject.part: differing(words[subject.part]) for subject in setting.subjects}
    reach = max((abs(end) for listed in drawn.values() for row in listed for end in ends(row)), default=0.0)
    models = [
        Model(
            subject.model,
            _lines(heard, both, setting, subject.part),
            telling[subject.part][:TOLD],
            len(telling[subject.part]),
            charts.words(drawn[subject.part], reach, heard[0].unmeasurable(subject.part, "trait")),
            words[subject.part],
        )
        for subject in setting.subjects
    ]
    return Pairs(setting, both.say([evidence.name(setting) for evidence in heard]), models)


def _lines(heard: Sequence[Evidence], both: Bilingual, setting: Setting, part: Key) -> list[Line]:
    first, found = heard[0], []
    for domain in first.domains(setting):
        scores = [both.figure([e.figure(part, key, domain=domain) for e in heard]) for key in SCORES]
        path = ("all_pairs",) if domain == ALL else ("domains", domain)
        position = bool(first.camp(part, domain)["order_note"])
        found.append(Line(path, scores, position, first.unmeasurable(part, domain)))
    return found


def differing(words: list[Row]) -> list[Row]:
    """Of ``words``, sorted, those that differ most: at most ``EACH_WAY`` for men, and as many for women.

    Words chosen less often than ``LEAST`` times in all are left out: their log-odds are large by chance.
    """
    often = [row for row in words if row["n_woman"] + row["n_man"] >= LEAST]
    men = [row for row in often if (row["log_odds"] or 0) > 0]
    women = [row for row in often if (row["log_odds"] or 0) < 0]
    return men[:EACH_WAY] + women[-EACH_WAY:]


def ends(row: Row) -> tuple[float, float]:
    """The interval of a word's log-odds; the value twice where it has none."""
    low, high = (row["log_odds"] if row[end] is None else row[end] for end in ("ci_low", "ci_high"))
    return low, high
