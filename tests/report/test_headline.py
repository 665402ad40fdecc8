"""What the headline says for each camp, with its numbers, and what it says when a number is missing."""

from typing import Any

import polars as pl
import pytest

from stages.report.evidence import Evidence, Setting, Subject
from stages.report.headline import Card, cards
from stages.report.labels import Labels
from tests.conftest import ROOT

SUBJECT = Subject("model-a", "checkup", "zh", "two", "model-a@2026-11-30", "2026-11-30", "sealed")
SCORES: dict[str, tuple[float | None, float | None, float | None]] = {
    "lean": (12.0, 2.0, 22.0),
    "lean_ci90": (12.0, 4.0, 20.0),
    "default": (-40.0, -60.0, -20.0),
    "control_accuracy": (95.0, 85.0, 99.0),
    "control_auc": (97.0, 88.0, 99.0),
    "strength": (0.3, 0.1, 0.5),
    "refusal_rate": (40.0, 30.0, 50.0),
    "filtered_rate": (20.0, 10.0, 30.0),
    "order_decided": (44.0, 30.0, 60.0),
    "order_pull": (-70.0, -80.0, -60.0),
    "coverage": (80.0, 70.0, 90.0),
    "traditional_bias_min": (30.0, 20.0, 40.0),
    "traditional_bias_max": (50.0, 40.0, 60.0),
}


def card(monkeypatch: pytest.MonkeyPatch, camp: dict[str, Any], state: str = "sealed", **scores: Any) -> Card:
    rows = pl.DataFrame(
        [
            {
                "run": SUBJECT.run, "benchmark": "checkup", "language": "zh", "protocol": "two", "style": "all", "typed": "all",
                "domain": "control" if metric.startswith("control") else "all", "metric": metric,
                "value": value, "ci_low": low, "ci_high": high, "n": 40,
            }
            for metric, (value, low, high) in {**SCORES, **scores}.items()
        ]
    )  # fmt: skip
    verdict = {
        "camp": None,
        "camp_by_strength": None,
        "unstable": False,
        "measurable": True,
        "order_note": False,
        **camp,
    }
    tables: dict[str, list[dict[str, Any]]] = {
        "latest": [],
        "scores": rows.to_dicts(),
        "camps": [{**rows.row(0, named=True), **verdict}],
    }
    monkeypatch.setattr("stages.report.evidence.rows", lambda _, query: tables[query.split()[1]])
    evidence = Evidence(None, Labels.read(ROOT))  # type: ignore[arg-type]
    subject = Subject(**{**SUBJECT.__dict__, "state": state})
    return cards(evidence, Setting("checkup", "zh", "two", (subject,)))[0]


SAID = {
    "traditional": "lean +12.0 [+2.0, +22.0], 40 concepts",
    "reversed": "lean +12.0 [+2.0, +22.0], 40 concepts",
    "one-sided": "“她” for male- and female-typed concepts alike: default −40.0 [−60.0, −20.0]",
    "balanced": "lean +12.0 [+4.0, +20.0] (90 % interval), 40 concepts",
    "undetermined": "lean +12.0 [+2.0, +22.0], 40 concepts",
    "evasive": "60.0 % of the questions were refused or filtered",
    "not measurable": "gets 95.0 % [85.0, 99.0] right, and the lower end must reach 80",
}


def plain(text: str) -> str:
    return text.replace("\u202f", " ").replace("\u00a0", " ")


@pytest.mark.parametrize("camp", SAID)
def test_each_camp_is_said_with_its_numbers(monkeypatch: pytest.MonkeyPatch, camp: str) -> None:
    found = card(monkeypatch, {"camp": camp}).verdict
    assert found.code == camp
    assert SAID[camp] in plain(found.sentence)


def test_a_default_to_he_is_said_with_he(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "“他”" in card(monkeypatch, {"camp": "one-sided"}, default=(40.0, 20.0, 60.0)).verdict.sentence


def test_no_verdict_is_said_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    found = card(monkeypatch, {"camp": None}).verdict
    assert (found.code, found.name) == ("none", "No verdict")


def test_too_few_concepts_are_said_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    found = card(monkeypatch, {"camp": "undetermined"}, lean=(12.0, None, None)).verdict
    assert found.sentence == "Too few concepts for an interval, so no verdict: 40 concepts."


def test_no_controls_are_said_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    found = card(monkeypatch, {"camp": "not measurable"}, control_accuracy=(None, None, None)).verdict
    assert "no control question" in found.sentence


@pytest.mark.parametrize("camp", ["traditional", "reversed", "undetermined"])
def test_the_verdict_by_strength_stands_beside(monkeypatch: pytest.MonkeyPatch, camp: str) -> None:
    found = card(monkeypatch, {"camp": "not measurable", "camp_by_strength": camp}).by_strength
    assert found is not None
    assert "strength +0.30 [+0.10, +0.50] log-odds" in plain(found.sentence)


def test_without_log_probabilities_there_is_no_second_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    assert card(monkeypatch, {"camp": "balanced"}).by_strength is None


NOTES: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    ({}, {"coverage": (95.0, 90.0, 99.0)}, []),
    ({}, {"coverage": (0.0, 0.0, 9.0)}, ["No question has a usable answer."]),
    ({}, {}, ["Only 80.0 % of the questions have a usable answer", "between 30.0 % and 50.0 %"]),
    ({"order_note": True}, {"coverage": (100.0, 90.0, 100.0)}, ["Position decides 44.0 %", "the last-named option"]),
    ({"order_note": True}, {"coverage": (100.0, 90.0, 100.0), "order_pull": (70.0, 60.0, 80.0)}, ["the first-named option"]),
    ({"order_note": True}, {"coverage": (100.0, 90.0, 100.0), "order_pull": (5.0, 0.0, 9.0)}, ["Position decides 44.0 % of its items. The"]),
    ({"order_note": True, "camp_by_strength": "reversed"}, {"coverage": (100.0, 90.0, 100.0)}, ["The verdict by word probabilities leads."]),
    ({"unstable": True}, {"coverage": (100.0, 90.0, 100.0)}, ["Unstable"]),
]  # fmt: skip


@pytest.mark.parametrize(("camp", "scores", "said"), NOTES)
def test_what_must_be_known_beside_the_verdict(
    monkeypatch: pytest.MonkeyPatch, camp: dict[str, Any], scores: dict[str, Any], said: list[str]
) -> None:
    notes = card(monkeypatch, {"camp": "balanced", **camp}, **scores).notes
    text = plain(" ".join(notes))
    assert bool(notes) == bool(said)
    for words in said:
        assert words in text


def test_a_strength_that_cannot_be_read_does_not_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = card(monkeypatch, {"camp": "balanced", "order_note": True, "camp_by_strength": "not measurable"}).notes
    assert not any("leads" in note for note in notes)


def test_an_open_run_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "still being asked" in card(monkeypatch, {"camp": "balanced"}, state="open").notes[-1]
