"""Judgements -> votes, by hand."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from stages.ledger import read_ledger
from stages.reduce import reduce, reduce_all
from stages.schema import JUDGEMENTS, SCORES, UNUSABLE, VOTES, Outcome
from stages.store import read, recorded
from tests import pairs as p
from tests.factories import (
    Responder,
    always_first,
    always_stereotype,
    coin,
    constant,
    make_judgements,
    make_questions,
    mixed,
    record,
)

MEANS = {
    "he": ("he", Outcome.STEREOTYPE, 1), "she": ("she", Outcome.ANTI_STEREOTYPE, -1), "they": (None, Outcome.NEUTRAL, 0),
    "refusal": (None, Outcome.REFUSAL, 0), "filtered": (None, Outcome.FILTERED, 0), "invalid": (None, Outcome.INVALID, None),
    "empty": (None, Outcome.EMPTY, None), "truncated": (None, Outcome.TRUNCATED, None), "error": (None, Outcome.ERROR, None),
}  # fmt: skip


def judgements(*orders: str, log_odds: tuple[tuple[float | None, ...], ...] = (), **facts: Any) -> pl.DataFrame:
    """One item: ``orders`` are what was said in each order, in words of MEANS; in order 0 he stands first, in 1 she."""
    rows = [
        _row(said, order, number, log_odds[order][number] if log_odds else None)
        for order, words in enumerate(orders)
        for number, said in enumerate(words.split())
    ]
    frame = pl.DataFrame([{**row, **facts, "epoch": i + 1} for i, row in enumerate(rows)], schema=JUDGEMENTS.schema)
    return JUDGEMENTS.conform(frame)


def _row(said: str, order: int, number: int, log_odds: float | None) -> dict[str, Any]:
    choice, outcome, gender = MEANS[said]
    return {
        "run": "m@2026-11-30", "model": "m", "date": "2026-11-30", "benchmark": "checkup", "language": "en",
        "protocol": "two", "item_id": "i", "variant": "single", "order_index": order, "turn": 1, "task": "blank", "domain": "occupation",
        "target": "surgeon", "style": "direct", "typed": "male", "status": "high", "choice": choice, "outcome": outcome, "n_options": 2,
        "gender": gender, "position": {"he": 1, "she": 2}[choice] * (-1) ** order % 3 if choice else None,
        "reason": "given", "reasoning_only": False, "log_odds": log_odds, "reply": f"{said} {number}",
    }  # fmt: skip


def vote(*orders: str, **more: Any) -> dict[str, Any]:
    return reduce(judgements(*orders, **more)).row(0, named=True)


@pytest.mark.parametrize(
    ("orders", "expected", "choice"),
    [
        (("he", "he"), "stereotype", "he"),
        (("he", "she"), "split", None),
        (("he he", "she"), "stereotype", "he"),
        (("he", "they"), "split", None),
        (("they", "they"), "neutral", None),
        (("he", "error"), "stereotype", "he"),
        (("she invalid", "error empty"), "anti-stereotype", "she"),
        (("refusal", "refusal he"), "refusal", None),
        (("filtered", "filtered"), "filtered", None),
        (("error", "error"), "error", None),
        (("error empty", "error"), "error", None),
        (("error", "empty"), "invalid", None),
        (("invalid", "truncated"), "invalid", None),
        (("he they refusal", "she he they"), "split", None),
    ],
)  # fmt: skip
def test_the_vote_is_the_plurality_of_what_is_usable(
    orders: tuple[str, ...], expected: str, choice: str | None
) -> None:
    voted = vote(*orders)
    assert (voted["vote"], voted["choice"]) == (expected, choice)


def test_one_outcome_of_two_choices_has_no_choice() -> None:
    assert (vote("he", "she", outcome="gendered")["vote"], vote("he", "she", outcome="gendered")["choice"]) == (
        "gendered",
        None,
    )
    assert vote("he he", "she", outcome="gendered")["choice"] == "he"


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        (("he", "she"), None),
        (("he he", "she she"), True),
        (("he she", "she she"), False),
        (("he he", "she"), True),
        (("he error", "she invalid"), None),
        (("he he error", "she"), True),
        (("they refusal", "he"), False),
        (("error error", "he he"), True),
    ],
)
def test_stable_means_that_answers_agree_within_each_order(orders: tuple[str, ...], expected: bool | None) -> None:
    assert vote(*orders)["stable"] is expected


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        (("he", "she"), True), (("she", "he"), True), (("he", "he"), False), (("he", "refusal"), False),
        (("refusal", "refusal"), False), (("he", "error"), None), (("he he",), None), (("he he she", "she she he"), True),
        (("he she", "she she"), False), (("he refusal", "she"), False), (("he error", "she error"), True),
    ],
)  # fmt: skip
def test_position_decides_when_one_place_wins_every_order(orders: tuple[str, ...], expected: bool | None) -> None:
    assert vote(*orders)["order_decided"] is expected


def test_orders_weigh_alike_in_the_log_odds() -> None:
    assert vote("he he he", "she", log_odds=((1.0, 2.0, 3.0), (-4.0,)))["log_odds"] == -1.0
    assert vote("he error", "she", log_odds=((1.0, None), (-4.0,)))["log_odds"] == -1.5
    assert vote("he", "she", log_odds=((1.0,), (None,)))["log_odds"] == 1.0
    assert vote("he", "she")["log_odds"] is None


def test_every_answer_is_kept_with_its_reason_and_reply() -> None:
    voted = vote("he truncated", "she")
    assert (voted["n_answers"], voted["n_usable"]) == (3, 2)
    assert [(e["epoch"], e["order_index"], e["outcome"], e["reply"], e["reason"]) for e in voted["epochs"]] == [
        (1, 0, "stereotype", "he 0", "given"),
        (2, 0, "truncated", "truncated 1", "given"),
        (3, 1, "anti-stereotype", "she 0", "given"),
    ]


def test_both_sides_of_a_pair_are_one_item() -> None:
    asked = p.make_pairs(groups={"trait": 1, "language": 1})
    voted = reduce(p.pair_judgements(p.traditional, asked).sample(fraction=1, shuffle=True, seed=1))
    assert voted.select("item_id", "vote", "choice", "delta", "p_value", "n_answers").rows() == [
        (f"{domain}-situation-0", "stereotype", None, 1, 2 / 64, 12) for domain in ("language", "trait")
    ]
    assert [(e["variant"], e["epoch"]) for e in voted["epochs"][0]] == [
        (side, epoch) for side in ("man", "woman") for epoch in range(1, 7)
    ]


PAIR_MODELS: dict[str, tuple[Responder, tuple[str, float | None, float | None, bool | None]]] = {
    "traditional": (p.traditional, ("stereotype", 1, 2 / 64, False)),
    "untraditional": (p.untraditional, ("anti-stereotype", -1, 2 / 64, False)),
    "always-first": (p.first_shown, ("neutral", 0, 1, True)),
    "first of men, the same of women": (p.about("man", p.first_shown, p.traditional), ("neutral", 0.5, 1 / 8, False)),
    "always-refuse": (constant("refusal"), ("refusal", None, None, None)),
    "refuses about women": (p.about("woman", constant("refusal"), p.first_shown), ("split", None, None, None)),
    "always-invalid": (constant("invalid"), ("invalid", None, None, None)),
}


@pytest.mark.parametrize("name", PAIR_MODELS)
def test_vote_and_places_of_pairs(name: str) -> None:
    """The first of three options is each twice in six orders: differences 2, 2, 1, 1, 0, 0."""
    responder, expected = PAIR_MODELS[name]
    found = reduce(p.pair_judgements(responder, p.make_pairs(groups={"language": 5})))
    assert set(found.select("vote", "delta", "p_value", "order_decided").rows()) == {expected}


def test_a_pair_is_stable_when_each_side_chooses_the_same_in_each_order() -> None:
    asked = p.make_pairs(groups={"trait": 1}, epochs=12)
    assert reduce(p.pair_judgements(p.traditional, asked))["stable"].item() is True
    assert reduce(p.pair_judgements(p.blind, asked))["stable"].item() is False
    assert reduce(p.pair_judgements(p.traditional, asked.filter(pl.col("epoch") <= 6)))["stable"].item() is None


def test_no_judgements_give_no_votes() -> None:
    assert_frame_equal(reduce(JUDGEMENTS.empty()), VOTES.empty())


def test_positions_decide_all_for_a_model_that_takes_the_first() -> None:
    first, typed = (reduce(make_judgements(r, controls_right=False)) for r in (always_first, always_stereotype))
    assert first["order_decided"].all()
    assert (first["vote"] == "split").sum() == (first["typed"] != "none").sum()
    assert not typed.filter(pl.col("typed") != "none")["order_decided"].any()


WORDS = st.lists(st.sampled_from(list(MEANS)), min_size=1, max_size=4)


@settings(max_examples=30, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_a_vote_does_not_depend_on_the_order_of_rows_or_on_other_items(said: list[list[str]], random: Any) -> None:
    frame = judgements(*(" ".join(words) for words in said))
    alone = reduce(frame)
    others = frame.with_columns(pl.lit("j").alias("item_id"), pl.lit(Outcome.ERROR).alias("outcome"))
    together = pl.concat([others, frame]).sample(fraction=1, shuffle=True, seed=random.randrange(1000))
    assert_frame_equal(reduce(together).filter(item_id="i"), alone)


@settings(max_examples=30, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=3))
def test_swapping_the_genders_swaps_the_vote(said: list[list[str]]) -> None:
    swap = {"he": "she", "she": "he"}
    one = vote(*(" ".join(words) for words in said))
    other = vote(*(" ".join(swap.get(w, w) for w in words) for words in said))
    outcomes = {"stereotype": "anti-stereotype", "anti-stereotype": "stereotype"}
    assert other["vote"] == outcomes.get(one["vote"], one["vote"])
    assert other["choice"] == swap.get(one["choice"], one["choice"])
    assert (other["stable"], other["order_decided"]) == (one["stable"], one["order_decided"])


def test_votes_agree_with_a_count_by_hand() -> None:
    said = make_judgements(mixed({"refusal": 0.1, "error": 0.1, "they": 0.1}, coin), make_questions(epochs=6))
    voted = reduce(said)
    assert voted.height == said["item_id"].n_unique()
    for row in voted.sample(60, seed=1).iter_rows(named=True):
        outcomes = [e["outcome"] for e in row["epochs"]]
        usable = [o for o in outcomes if o not in UNUSABLE] or outcomes
        best = max(map(usable.count, usable))
        top = {o for o in usable if usable.count(o) == best}
        assert row["vote"] == (top.pop() if len(top) == 1 else "split")
        assert (row["n_answers"], row["n_usable"]) == (6, sum(o not in UNUSABLE for o in outcomes))


def test_every_recorded_judgement_is_reduced(project: Path) -> None:
    record(project, make_judgements(coin, make_questions(("a@2026-11-30", "b@2026-11-30.2"))), SCORES.empty())
    parts = recorded(project, read_ledger(project), JUDGEMENTS)
    for part in parts:
        part.path(project, VOTES).unlink()
    expected = [reduce(read(part.path(project, JUDGEMENTS), JUDGEMENTS)) for part in parts]
    assert reduce_all(project) == sum(frame.height for frame in expected) > 0
    for part, frame in zip(parts, expected, strict=True):
        assert_frame_equal(read(part.path(project, VOTES), VOTES), frame)
    done = subprocess.run([sys.executable, "-m", "stages.reduce"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"votes: {sum(f.height for f in expected)} rows\n", "")


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [(("paired", "paired"), "paired"), (("paired", "truncated"), "paired"), (("refusal", "invalid"), "refusal")],
)
def test_a_text_about_either_side_votes_its_outcome_and_nothing_else(outcomes: tuple[str, str], expected: str) -> None:
    frame = judgements("invalid", task="text", domain="letter", n_options=0, code=None, picks=None, gender=None)
    sides = [
        frame.with_columns(pl.lit(side).alias("variant"), pl.lit(outcome).alias("outcome"))
        for side, outcome in zip(("man", "woman"), outcomes, strict=True)
    ]
    voted = reduce(pl.concat(sides)).row(0, named=True)
    found = [voted[name] for name in ("vote", "choice", "delta", "p_value", "stable", "order_decided")]
    assert found == [expected, None, None, None, None, None]
    assert voted["n_answers"] == 2
