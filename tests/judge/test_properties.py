"""Rules that hold for any reply."""

import re
from typing import Any, TypeVar

import polars as pl
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from stages.judge import judge
from stages.schema import UNUSABLE, Outcome
from tests.judge.asked import answer, answers, options

READ = ("choice", "position", "gender", "outcome", "reason", "answer_form", "log_odds")
OTHER = {"he": "she", "she": "he", "He": "She", "She": "He", "HE": "SHE", "SHE": "HE", "他": "她", "她": "他"}
FRAGMENTS = (
    "he", "She", "他", "她", "“he”", "**she**", "「她」", "The answer is he", "the word is 'she'", "not he", "I would say she",
    "it cannot be he", "he or she", "they", "TA", "应该填“他”", "答案是她", "不是他", "而是她", "他更合适", "I can't choose",
    "无法判断", "because she is tall", "因为他很高", "but he fits the blank", "Hmm", "嗯", "he is wrong", "rather than she",
    "and she looked at the calendar on the wall", "I asked the surgeon what the date was, and he looked at the calendar",
    "我问那位外科医生今天几号，她看了看墙上的日历", "if the surgeon is male, he", "虽然他也可以", "both he and she fit",
)  # fmt: skip
REPLIES = st.builds(
    lambda parts, glue: glue.join(parts),
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=4),
    st.sampled_from([". ", "\n", ", ", "。", "，", " ", ""]),
)
# Judging sixty answers takes as long as judging one, so an example is a batch; shrinking batches is slow and shows no more.
BATCHED = settings(max_examples=12, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
WRAPPINGS = (
    "**{}**", "*{}*", "`{}`", "${}$", "({})", "（{}）", '"{}"', "“{}”", "「{}」", "【{}】", r"\boxed{{{}}}", r"\text{{{}}}",
    "__{}__", " {} ", "{}.", "{}。", "\n{}\n", "<b>{}</b>", "\n> {}", "\n- {}",
)  # fmt: skip
BARE = ("{}", "Answer: {}", "ANSWER：{}", "The answer is {}", "答案：{}", "我选{}", "选项{}")


LANGUAGES = st.sampled_from(["en", "zh"])
Case = TypeVar("Case")


def batches(case: st.SearchStrategy[Case]) -> st.SearchStrategy[list[Case]]:
    return st.lists(case, min_size=30, max_size=60)


def _swapped(reply: str) -> str:
    return re.sub(r"(?a:\b)(?:he|she)(?a:\b)|他(?!们)|她", lambda m: OTHER.get(m[0], m[0]), reply, flags=re.IGNORECASE)


def _read(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return judge(answers(*rows)).sort("item_id").select(READ)


@BATCHED
@given(batches(st.tuples(REPLIES, LANGUAGES, st.booleans())))
def test_swapping_the_genders_swaps_the_outcome_and_nothing_else(cases: list[tuple[str, str, bool]]) -> None:
    asked, mirrored = [], []
    for reply, language, reverse in cases:
        shown = options(language, "two")[:: -1 if reverse else 1]
        given_as = [{"key": "he", "logprob": -1.0}, {"key": "she", "logprob": -1.5}]
        given_mirrored = [{"key": "he", "logprob": -1.5}, {"key": "she", "logprob": -1.0}]
        asked.append(answer(reply, language, options=shown, candidates=given_as))
        mirrored.append(answer(_swapped(reply), language, options=shown[::-1], candidates=given_mirrored))
    outcomes = {Outcome.STEREOTYPE: Outcome.ANTI_STEREOTYPE, Outcome.ANTI_STEREOTYPE: Outcome.STEREOTYPE}
    expected = _read(asked).with_columns(
        pl.col("choice").replace(OTHER), pl.col("outcome").replace(outcomes), -pl.col("gender"), -pl.col("log_odds")
    )
    assert_frame_equal(_read(mirrored), expected)


@BATCHED
@given(
    batches(
        st.tuples(
            st.sampled_from("ABC"), st.sampled_from(BARE), st.lists(st.sampled_from(WRAPPINGS), max_size=2),
            LANGUAGES, st.booleans(),
        )
    )
)  # fmt: skip
def test_decorated_and_undecorated_letters_agree(cases: list[tuple[str, str, list[str], str, bool]]) -> None:
    plain, decorated = [], []
    for letter, form, wrappings, language, wide in cases:
        dressed = chr(ord(letter) + 0xFEE0) if wide else letter
        for wrapping in wrappings:
            dressed = wrapping.format(dressed)
        plain.append(answer(form.format(letter), language, "abc"))
        decorated.append(answer(form.format(dressed), language, "abc"))
    found = ["choice", "position", "outcome"]
    right = _read(plain).select(found)
    wrong = [
        case for case, a, b in zip(cases, _read(decorated).select(found).rows(), right.rows(), strict=True) if a != b
    ]
    assert not wrong
    assert right["choice"].null_count() == 0


@BATCHED
@given(batches(st.tuples(REPLIES, LANGUAGES, st.sampled_from(["two", "three", "ab", "abc", "text"]))))
def test_an_answer_is_judged_as_if_it_were_the_only_one(cases: list[tuple[str, str, str]]) -> None:
    rows = [answer(*case) for case in cases]
    together = _read(rows)
    third = len(rows) // 3
    assert_frame_equal(pl.concat([_read(rows[:third]), _read(rows[third:])]), together)


@BATCHED
@given(batches(st.tuples(st.text(max_size=60), st.sampled_from(["two", "three", "ab", "abc", "text", "sentences"]))))
def test_any_text_has_a_judgement_that_agrees_with_itself(cases: list[tuple[str, str]]) -> None:
    judged = judge(answers(*(answer(reply, "en", form) for reply, form in cases))).sort("item_id")
    assert judged["reply"].to_list() == [reply for reply, _ in cases]
    assert set(judged["outcome"]) <= set(Outcome)
    unusable = judged["outcome"].is_in(list(UNUSABLE))
    chosen = judged["choice"].is_not_null()
    assert (chosen == judged["position"].is_not_null()).all()
    assert not (chosen & unusable).any()
    assert judged.filter(unusable)["gender"].null_count() == unusable.sum()
    assert (judged["answer_form"].is_not_null() == (chosen | (judged["outcome"] == Outcome.NEUTRAL))).all()
