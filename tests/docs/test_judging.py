"""What docs/methodology.md says of outcomes and replies is what judge and score do."""

import re

import polars as pl
import pytest

from stages.judge import judge
from stages.schema import UNUSABLE, Kind, Outcome
from stages.score.answers import numbered
from stages.structs import COUNT, PICK
from tests.docs.markdown import METHODOLOGY, Row, code, number, read, section, table
from tests.judge.asked import answer, answers

SECTION = section(read(METHODOLOGY), "## How replies are judged")
OUTCOMES = {code(row["outcome"]): row for row in table(SECTION, "outcome", "usable")}
REPLIES = table(SECTION, "ended by", "outcome")
PAIRS = table(SECTION, "ended by", "read as")
KINDS = {"gendered": Kind.UNTYPED, "correct": Kind.CONTROL, "incorrect": Kind.CONTROL, "paired": Kind.PAIR}
KINDS |= {"unrelated": Kind.SENTENCE}
SILENT = ("neutral", "refusal", "filtered")


def test_every_outcome_is_explained() -> None:
    assert set(OUTCOMES) == set(Outcome)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_an_outcome_counts_as_its_row_says(outcome: str) -> None:
    row, found = OUTCOMES[outcome], _numbered(outcome)
    assert (row["usable"] == "yes") == found["usable"] == (outcome not in UNUSABLE)
    assert number(row["y"]) == found["y"]
    assert {"±1": 1, "0": 0, "none": None}[row["g"]] == found["g"]


def _numbered(outcome: str) -> dict[str, int | bool | None]:
    none = outcome in (*UNUSABLE, Outcome.PAIRED, Outcome.UNRELATED)
    gender = None if none else 0 if outcome in SILENT else 1
    facts = {"partition": 0, "kind": KINDS.get(outcome, Kind.CHOICE), "outcome": outcome, "gender": gender}
    asked = {"order_index": 0, "task": "blank", "n_options": 2, "position": 1, "picks": None, "prefers_related": None}
    unread = {"n_words": None, "counts": None, "item_id": "item", "variant": "single", "epoch": 1}
    types = {"picks": pl.List(PICK), "counts": pl.List(COUNT)}
    frame = pl.DataFrame([{**facts, **asked, **unread}], schema_overrides=types)
    return numbered(frame).select("usable", "y", "g").row(0, named=True)


@pytest.mark.parametrize("row", REPLIES, ids=[row[next(iter(row))] for row in REPLIES])
def test_a_reply_is_judged_as_its_row_says(row: Row) -> None:
    reply = code(row[next(iter(row))])
    assert judge(answers(answer(reply, stop_reason=row["ended by"])))["outcome"].item() == code(row["outcome"])


@pytest.mark.parametrize("row", PAIRS, ids=[row[next(iter(row))] for row in PAIRS])
def test_a_reply_about_a_pair_is_read_as_its_row_says(row: Row) -> None:
    reply = code(row[next(iter(row))])
    judged = judge(answers(answer(reply, form=row["task"], language=_language(reply), stop_reason=row["ended by"])))
    said = judged.select(pl.coalesce("choice", "outcome"), pl.col("outcome")).row(0)
    chosen = not row["read as"].startswith("`")
    assert said == (code(row["read as"]), Outcome.PAIRED if chosen else code(row["read as"]))


def _language(reply: str) -> str:
    return "en" if reply.isascii() else "zh"


def test_failures_are_judged_first() -> None:
    failed = [answer(None, failure=failure, stop_reason=None) for failure in ("filtered", "timeout", "not_asked")]
    assert judge(answers(*failed)).sort("item_id")["outcome"].to_list() == ["filtered", "error", "error"]


def test_the_precedence_ends_in_every_outcome_without_a_choice() -> None:
    steps = re.findall(r"^\d\. (?:.|\n   )+", SECTION, flags=re.MULTILINE)
    ends = [set(re.findall(r"`(\w+)`", step)) for step in steps]
    assert ends == [
        {"filtered", "error"},
        {"truncated", "empty"},
        set(),
        {"neutral"},
        {"refusal"},
        {"truncated"},
        {"invalid"},
    ]
