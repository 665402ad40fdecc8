"""Every contract on other people's figures, broken by one small edit of the real ones; without any there is none."""

from pathlib import Path

import polars as pl
import pytest

from stages.load import load_all
from stages.report import report_all
from stages.schema import PUBLISHED
from stages.score.metrics import METRICS
from stages.store import published_path, read
from stages.validate import published, validate_items
from stages.validate.contracts import Checkable
from stages.validate.expectations import check
from stages.validate.published import contracts
from stages.validate.results import gate
from tests.validate.broken import Case, broken, put, rules, twice

FILE = "data/published/published.parquet"
FIRST = (pl.col("source") == "Cao & Bandara 2024") & (pl.col("metric") == "lms_micro")
NAMED = "(source Cao & Bandara 2024, model GPT-4, benchmark stereoset-intersentence, language en, metric lms_micro"
EACH = [
    ("no value that must be there is missing", put(FIRST, unit=None), f"{NAMED}, null_column unit)"),
    ("source + model + benchmark + language + metric names one row", twice(FIRST), NAMED),
    (
        "benchmark is checkup, checkup-b, checkup-open, stereoset-intersentence, stereoset-intrasentence or stereoset",
        put(FIRST, benchmark="stereo"),
        "benchmark stereo",
    ),
    ("language is en, zh or pt", put(FIRST, language="fr"), "language fr"),
    (
        "metric is traditional_bias, traditional_bias_vote, ss_micro, ss_macro, lms_micro, lms_macro, icat_micro or icat_macro",
        put(FIRST, metric="ss"),
        "metric ss)",
    ),
    ("protocol is a name such as choice-avoid", put(FIRST, protocol="Two!"), "protocol Two!)"),
    ("unit is percent", put(FIRST, unit="share"), f"{NAMED}, unit share)"),
    ("value is from 0 to 100", put(FIRST, value=101.0), f"{NAMED}, value 101.0)"),
    *(
        (
            "date is a year, a month or a day, such as 2024, 2024-06 or 2024-06-30",
            put(FIRST, date=date),
            f"{NAMED}, date {date})",
        )
        for date in ("last year", "2024-13", "2024-06-32", "30.6.2024")
    ),
]
CASES = [Case("published", *case) for case in EACH]


@pytest.fixture(scope="module")
def figures(asked: Path) -> pl.DataFrame:
    return read(published_path(asked), PUBLISHED)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_small_edit_breaks_the_rule_and_the_sentence_names_the_row(figures: pl.DataFrame, case: Case) -> None:
    result = broken(contracts(case.edit(figures), FILE), case)
    assert not result.success
    assert case.names in result.sentence()


def test_every_rule_has_a_case(figures: pl.DataFrame) -> None:
    found: list[Checkable] = contracts(figures, FILE)
    assert rules(found) == {(case.suite, case.rule) for case in CASES}
    for checked in check(found):
        gate(checked.results, "mend it")


def test_their_metrics_are_ours() -> None:
    assert {metric.name for metric in METRICS} >= set(published.METRICS)


@pytest.mark.parametrize("kept", [0, 1, 2], ids=["nothing", "a comment", "the header"])
def test_an_emptied_file_stops_nothing(project: Path, kept: int) -> None:
    path = project / "data" / "published.csv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:kept]), encoding="utf-8")
    load_all(project)
    validate_items(project)
    report_all(project)
    assert read(published_path(project), PUBLISHED).is_empty()
