"""What a run will take, before anything is paid; and what it took."""

from collections.abc import Callable
from pathlib import Path

import pytest

from flows.estimating import estimates
from stages.ledger import Run
from stages.query.estimate import ASSUMED, SEEN
from stages.requests import Request
from tests.query.test_ask_run import QUESTIONS, answers, ask, he, wired
from tests.wire import serving

__all__ = ["wired"]  # a fixture


def priced(project: Path) -> None:
    roster = project / "params.yaml"
    text = roster.read_text(encoding="utf-8")
    priced = text.replace("{route: openai/m,", "{route: openai/m, price: {input: 1000, output: 2000}, max_tokens: 5,")
    roster.write_text(priced, encoding="utf-8")


def test_an_estimate_of_what_was_never_asked_is_a_rule_of_thumb(project: Path, wired: Callable[[str], Run]) -> None:
    wired("http://127.0.0.1:9/v1")
    priced(project)
    frame, skipped = estimates(project, ["wired"], Request("", limit=6))
    (row,) = frame.iter_rows(named=True)
    assert skipped == {}
    assert (row["model"], row["calls"], row["basis"]) == ("wired", QUESTIONS, ASSUMED)
    assert row["completion_tokens"] == QUESTIONS * 5, "no more than may be sent"
    assert 0 < row["cost"] < row["cost_at_most"]
    assert row["cost"] == pytest.approx((row["prompt_tokens"] * 1000 + row["completion_tokens"] * 2000) / 1e6)
    assert row["seconds"] == pytest.approx(QUESTIONS / 4)


def test_what_was_seen_is_what_is_expected_and_only_of_what_is_lacking(
    project: Path, wired: Callable[[str], Run]
) -> None:
    with serving(he) as server:
        run = wired(server.base)
        priced(project)
        ask(project, run)
    tokens = answers(project).select("prompt_tokens", "completion_tokens", "cost").sum().row(0)
    (done,) = estimates(project, ["wired"], Request("", limit=6))[0].iter_rows(named=True)
    assert (done["calls"], done["cost"]) == (0, 0)
    (again,) = estimates(project, ["wired"], Request("", limit=6, fresh=True))[0].iter_rows(named=True)
    assert (again["calls"], again["basis"]) == (QUESTIONS, SEEN)
    assert again["prompt_tokens"] == pytest.approx(tokens[0], rel=0.01)
    assert again["completion_tokens"] == tokens[1]
    assert again["cost"] == pytest.approx(tokens[2], rel=0.01)
    assert again["seconds"] < QUESTIONS / 4


def test_limits_a_minute_lengthen_it_and_an_unknown_price_is_null(project: Path, wired: Callable[[str], Run]) -> None:
    wired("http://127.0.0.1:9/v1")
    roster = project / "params.yaml"
    text = roster.read_text(encoding="utf-8")
    roster.write_text(text.replace("{route: openai/m,", "{route: openai/m, requests_per_minute: 1,"), encoding="utf-8")
    (row,) = estimates(project, ["wired"], Request("", limit=6))[0].iter_rows(named=True)
    assert row["seconds"] == 60 * QUESTIONS
    assert (row["cost"], row["cost_at_most"]) == (None, None)
