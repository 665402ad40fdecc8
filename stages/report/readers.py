"""What the page says about those who read the texts: judge models and people, how far they agree, and what they find."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import duckdb

from stages.report.evidence import LATEST, Row, rows
from stages.report.format import DASH, interval, number
from stages.schema import DOMAINS, Kind

QUESTIONS = [domain for domain, kind in DOMAINS.items() if kind is Kind.RUBRIC]
BESIDE = {"agency": ("agentic", "communal"), "ability": ("ability", "grindstone"), "praise": ("standout",)}
"""Question -> the categories of the lexicon that are about the same, shown beside what readers find."""
LEXICON, PERSON = "lexicon", "person"
_KEY = ("run", "language", "protocol")


@dataclass(frozen=True)
class Reader:
    """What one reader did with one question; numbers as texts."""

    run: str
    person: bool
    domain: str
    verdicts: int
    invalid: str
    pull: str


@dataclass(frozen=True)
class Agreed:
    domain: str
    rater: str
    versus: str
    kappa: str
    ends: str
    same: str
    n: int


@dataclass(frozen=True)
class Gap:
    """What one reader finds between men and women in one group of texts; the lexicon in words per 100."""

    group: str
    domain: str
    rater: str
    measure: str
    value: str
    ends: str
    n: int


@dataclass(frozen=True)
class Read:
    """All about the texts of one run in one language."""

    run: str
    language: str
    protocol: str
    readers: list[Reader]
    agreed: list[Agreed]
    gaps: list[Gap]

    @property
    def people(self) -> bool:
        return any(reader.person for reader in self.readers)

    @property
    def judges(self) -> int:
        return len({reader.run for reader in self.readers if not reader.person})


def found(connection: duckdb.DuckDBPyConnection) -> list[Read]:
    """What is said of the latest texts of each model that anybody read; nothing where nobody did."""
    gaps = _by(rows(connection, f"from gaps {LATEST} where target = 'all' order by all"))
    agreed = _by(rows(connection, f"from agreement {LATEST} order by all"))
    readers: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows(connection, "from readers order by reader, run, domain"):
        readers[row["reads"], row["language"]].append(row)
    read = [key for key, listed in sorted(gaps.items()) if any(row["rater"] != LEXICON for row in listed)]
    return [
        Read(
            *key,
            [_reader(row) for row in sorted(readers[key[:2]], key=_of_question)],
            [_agreed(row) for row in sorted(agreed.get(key, []), key=_of_question)],
            _gaps(gaps[key]),
        )
        for key in read
    ]


def _by(listed: Iterable[Row]) -> dict[tuple[str, str, str], list[Row]]:
    parts: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in listed:
        parts[row["run"], row["language"], row["protocol"]].append(row)
    return parts


def _of_question(row: Row) -> int:
    return QUESTIONS.index(row["domain"])


def _reader(row: Row) -> Reader:
    pull = number(row["order_pull"], "signed") if row["order_pull"] is not None else DASH
    invalid = number(row["judge_invalid_rate"], "share")
    ends = _ends(row, "order_pull_low", "order_pull_high", "signed")
    return Reader(
        row["run"], row["reader"] == PERSON, row["domain"], row["n_verdicts"], invalid, f"{pull} {ends}".strip()
    )


def _agreed(row: Row) -> Agreed:
    kappa = DASH if row["kappa"] is None else number(row["kappa"], "log_odds")
    same = number(row["agreement"], "share")
    ends = _ends(row, "ci_low", "ci_high", "log_odds")
    return Agreed(row["domain"], row["rater"], row["versus"], kappa, ends, same, row["n"])


def _gaps(listed: list[Row]) -> list[Gap]:
    """By group of texts and question: what the readers find, and then the lexicon."""
    found = []
    for group in sorted({row["domain"] for row in listed}):
        own = [row for row in listed if row["domain"] == group]
        for question, categories in BESIDE.items():
            by_readers = [row for row in own if row["measure"] == question and row["rater"] != LEXICON]
            by_words = [row for row in own if row["measure"] in categories and row["rater"] == LEXICON]
            found += [_gap(row, question) for row in (*by_readers, *by_words)]
    return found


def _gap(row: Row, question: str) -> Gap:
    value = DASH if row["value"] is None else number(row["value"], "log_odds" if row["rater"] == LEXICON else "signed")
    ends = _ends(row, "ci_low", "ci_high", "log_odds" if row["rater"] == LEXICON else "signed")
    return Gap(row["domain"], question, row["rater"], row["measure"], value, ends, row["n"])


def _ends(row: Row, low: str, high: str, scale: str) -> str:
    """The interval; empty where there is none."""
    if row[low] is None or row[high] is None:
        return ""
    return interval(row[low], row[high], "signed" if scale == "signed" else "log_odds")
