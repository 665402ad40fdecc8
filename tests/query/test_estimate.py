"""What a run will take, before anything is paid; and what it took."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from flows.estimating import estimates
from stages.ledger import Run
from stages.query.estimate import ASSUMED, SEEN
from stages.query.questions import sampled
from stages.requests import Request
from stages.store import read_items
from tests.query.test_ask_run import QUESTIONS, answers, ask, he, wired
from tests.query.test_questions import ENTRY as WHOLE
from tests.wire import serving

__all__ = ["wired"]  # a fixture
ENTRY = WHOLE.model_copy(update={"limit": 6})


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


def test_files_of_earlier_versions_are_seen_too(project: Path, wired: Callable[[str], Run]) -> None:
    with serving(he) as server:
        run = wired(server.base)
        priced(project)
        ask(project, run)
    english = sorted((project / "data" / "answers").rglob("*.parquet"))[0]
    pl.read_parquet(english, hive_partitioning=False).drop("drafts", "turn", "task").write_parquet(english)
    (again,) = estimates(project, ["wired"], Request("", limit=6, fresh=True))[0].iter_rows(named=True)
    assert (again["calls"], again["calls_at_most"], again["basis"]) == (QUESTIONS, QUESTIONS, SEEN)


def test_what_may_be_sent_back_may_take_twice_the_calls(project: Path, wired: Callable[[str], Run]) -> None:
    wired("http://127.0.0.1:9/v1")
    priced(project)
    asked = Request("", limit=6, epochs=6, languages=("en",))
    without, checked = (
        estimates(project, ["wired"], replace(asked, protocols=(name,)))[0].row(0, named=True)
        for name in ("three", "three+post-check")
    )
    typed = sampled(
        read_items(project, "checkup").filter(pl.col("task") == "blank", pl.col("style") == "direct"), ENTRY
    )
    again = typed.filter(pl.col("language") == "en", pl.col("domain").is_in(["occupation", "pronoun", "family"])).height
    assert 0 < again < 6
    assert checked["calls"] == without["calls"] == without["calls_at_most"] == 6 * 6
    assert checked["calls_at_most"] == 6 * (6 + again)
    assert checked["cost"] == without["cost"]
    assert checked["cost_at_most"] > without["cost_at_most"] * (6 + again) / 6, "a second prompt is longer"


def test_limits_a_minute_lengthen_it_and_an_unknown_price_is_null(project: Path, wired: Callable[[str], Run]) -> None:
    wired("http://127.0.0.1:9/v1")
    roster = project / "params.yaml"
    text = roster.read_text(encoding="utf-8")
    roster.write_text(text.replace("{route: openai/m,", "{route: openai/m, requests_per_minute: 1,"), encoding="utf-8")
    (row,) = estimates(project, ["wired"], Request("", limit=6))[0].iter_rows(named=True)
    assert row["seconds"] == 60 * QUESTIONS
    assert (row["cost"], row["cost_at_most"]) == (None, None)
