"""Numbers as text: one table of cases, and what a score looks like as a whole."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.report import format

with (Path(__file__).parent / "data" / "format.csv").open(encoding="utf-8", newline="") as file:
    CASES = list(csv.DictReader(file))


def shown(case: dict[str, str]) -> str:
    kind, value = case["kind"], float(case["value"]) if case["value"] else None
    for scale in format.DIGITS:
        if kind == f"interval {scale}":
            return format.interval(float(case["low"]), float(case["high"]), scale)
        if kind == scale:
            return format.number(value, scale, "why")
    if kind == "count":
        return format.count(None if value is None else int(value), "why")
    function = {"p_value": format.p_value, "duration": format.duration, "money": format.money}[kind]
    return function(value, "why")


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['kind']} {c['value'] or c['low']}")
def test_a_number_is_shown_as_in_the_table(case: dict[str, str]) -> None:
    assert shown(case).replace("\u202f", " ").replace("\u00a0", " ") == case["expected"]


def test_a_score_has_its_interval_and_n() -> None:
    found = format.figure(12.34, -3.0, 27.5, 1200, "signed", "no data", "too few")
    assert (found.text, found.interval, found.n, found.missing) == ("+12.3", "[−3.0,\u00a0+27.5]", "1,200", "")
    assert found.sentence == "+12.3 [−3.0,\u00a0+27.5]"


def test_a_score_without_a_value_says_why() -> None:
    found = format.figure(None, None, None, 0, "share", "no data", "too few")
    assert (found.text, found.interval, found.n, found.missing) == ("–", "no data", "0", "no data")
    assert found.sentence == "–"


def test_a_score_without_an_interval_says_why() -> None:
    found = format.figure(50.0, None, None, 3, "share", "no data", "too few")
    assert (found.interval, found.missing) == ("too few", "")


@given(st.floats(-1e6, 1e6))
def test_the_sign_turns_with_the_number(value: float) -> None:
    turned = format.number(-value, "signed").translate(str.maketrans("+−", "−+"))
    assert format.number(value, "signed") == turned


@pytest.mark.parametrize(
    ("low", "said"), [(72.2, "72–82"), (79.4, "79–82"), (79.999, "79.99–82"), (80.0213, "80.02–82"), (80.6, "81–82")]
)
def test_an_end_near_its_bar_has_two_digits(low: float, said: str) -> None:
    assert format.gated(low, 82.0, bar=80, digits=0) == said


@pytest.mark.parametrize(
    ("log_odds", "said"), [(0.19, "1.2"), (-0.19, "1.2"), (0.0, "1.00"), (0.04, "1.04"), (2.5, "12")]
)
def test_log_odds_as_a_factor(log_odds: float, said: str) -> None:
    assert format.odds(log_odds) == said
