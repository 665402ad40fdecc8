"""Words of texts: what is counted, what is left out, and that a planted difference stands at its end."""

from typing import Any

import polars as pl
import pytest

from stages.schema import MAN, WOMAN, Outcome
from stages.score.text_words import LEAST, text_profiles
from tests.texts import make_texts

EN = {
    WOMAN: "Emily's work is warm. She helps Ms. Collins, and the team thanks her for a warm heart.",
    MAN: "Steven's work is bold. He leads Mr. Collins, and the team thanks him for a bold plan.",
}
ZH = {
    WOMAN: "杨婷工作很耐心。她帮助同事，周丽萍女士和丽萍的团队都感谢她的耐心。",
    MAN: "杨鹏工作很果断。他带领同事，周志伟先生和志伟的团队都感谢他的果断。",
}


def profiles(replies: dict[str, str], language: str = "en", **made: Any) -> pl.DataFrame:
    return text_profiles(make_texts(language=language, replies=replies, **made))


def row(found: pl.DataFrame, word: str) -> dict[str, Any]:
    return found.row(by_predicate=pl.col("word") == word, named=True)


@pytest.fixture(scope="module")
def english() -> pl.DataFrame:
    return profiles(EN)


def test_a_word_of_one_side_stands_at_its_end(english: pl.DataFrame) -> None:
    ranked = english.sort("log_odds")["word"].to_list()
    assert (ranked[0], ranked[-1]) == ("warm", "bold")
    bold, shared = row(english, "bold"), row(english, "team")
    assert bold["ci_low"] > 0
    assert (shared["log_odds"], shared["n_woman"], shared["n_man"]) == (pytest.approx(0, abs=1e-9), 72, 72)


def test_what_is_counted(english: pl.DataFrame) -> None:
    bold = row(english, "bold")
    assert (bold["n_woman"], bold["n_man"], bold["offered_woman"], bold["offered_man"]) == (0, 144, 72, 72)
    assert (bold["text"], bold["code"], row(english, "warm")["code"], row(english, "team")["code"]) == (
        "bold",
        1,
        -1,
        0,
    )


def test_names_and_gendered_words_are_left_out(english: pl.DataFrame) -> None:
    words = set(english["word"])
    assert not words & {"emily's", "emily", "steven's", "she", "he", "her", "him", "ms", "mr"}
    assert {"warm", "bold", "team", "work"} <= words


def test_chinese_words_are_cut_and_names_are_no_words() -> None:
    found = profiles(ZH, "zh")
    assert row(found, "果断")["log_odds"] > 0 > row(found, "耐心")["log_odds"]
    assert (row(found, "果断")["code"], row(found, "耐心")["code"]) == (1, -1)
    assert not [word for word in found["word"] if any(sign in word for sign in "她他婷鹏丽志")]


def test_a_seldom_word_is_not_listed() -> None:
    texts = make_texts(roles=6, pairs=1, replies=EN)
    rare = (pl.col("target") == "role-1") & (pl.col("variant") == MAN)
    words = pl.lit(" Zebra" * LEAST)
    once = texts.with_columns(pl.when(rare).then(pl.col("reply") + words).otherwise("reply").alias("reply"))
    assert "zebra" not in set(text_profiles(once)["word"])
    two = pl.col("target").is_in(["role-1", "role-2"]) & (pl.col("variant") == MAN)
    twice = texts.with_columns(pl.when(two).then(pl.col("reply") + words).otherwise("reply").alias("reply"))
    assert "zebra" in set(text_profiles(twice)["word"])


def test_under_five_targets_there_is_no_interval() -> None:
    found = profiles(EN, roles=4)
    assert set(found["ci_low"]) == {None}
    assert None not in set(found["log_odds"])


def test_one_side_alone_has_no_log_odds() -> None:
    one = make_texts(replies=EN).filter(variant=WOMAN)
    assert set(text_profiles(one)["log_odds"]) == {None}


def test_texts_that_were_not_read_are_not_counted() -> None:
    texts = make_texts(replies=EN)
    assert text_profiles(texts.with_columns(pl.lit(str(Outcome.REFUSAL)).alias("outcome"))).is_empty()
    assert text_profiles(texts.clear()).is_empty()


def test_reasoning_is_no_part_of_a_text() -> None:
    thought = {side: f"<think>{'pondering ' * 5}</think>{reply}" for side, reply in EN.items()}
    assert "pondering" not in profiles(thought)["word"].to_list()
    assert profiles(thought).equals(profiles(EN))


def test_rows_in_any_order_give_the_same_bits() -> None:
    texts = make_texts(replies=EN)
    again = texts.sample(fraction=1, shuffle=True, seed=1)
    key = ["run", "domain", "word"]
    assert text_profiles(texts).sort(key).equals(text_profiles(again).sort(key))
