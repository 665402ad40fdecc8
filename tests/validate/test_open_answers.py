"""Every contract on the open answers, broken by one small edit of the real items."""

from pathlib import Path

import polars as pl
import pytest

from stages.errors import ContractBroken
from stages.store import read_items
from stages.structs import OPTION
from stages.validate.expectations import check
from stages.validate.items import contracts
from stages.validate.open_answers import BENCHMARK
from stages.validate.results import gate
from tests.validate.broken import Case, at, broken, put, rules, without
from tests.validate.pair_cases import side

pytestmark = pytest.mark.slow

FILE = "data/items/checkup-open.parquet"
LETTER, PORTRAIT = "letter-nurse-3", "success-music-1"
STORY, AUNT, BROTHER, DOOR = (
    "story-surgeon-key",
    "control-stated-aunt-map",
    "control-stated-brother-map",
    "untyped-person-at-door-key",
)
TEXT = pl.col("text")
SWAP = {
    "woman": TEXT.str.replace_many(["Heather", "She"], ["Adam", "He"]),
    "man": TEXT.str.replace_many(["Adam", "He"], ["Heather", "She"]),
}


@pytest.fixture(scope="module")
def letters(asked: Path) -> pl.DataFrame:
    return read_items(asked, BENCHMARK)


EACH = [
    ("there are exactly 732 rows", without(at(STORY)), "found 731"),
    ("language is en or zh", put(at(STORY), language="de"), "language de"),
    ("domain is letter, success, story, control or untyped", put(at(STORY), domain="occupation"), STORY),
    ("task is text", put(at(STORY), task="blank"), "task blank"),
    ("style is none", put(at(STORY), style="scene"), "style scene"),
    ("variant is woman or man where domain is letter or success", put(side(LETTER), variant="single"), LETTER),
    ("variant is single where domain is story or control or untyped", put(at(STORY), variant="man"), STORY),
    ("status is high or ordinary where domain is story", put(at(STORY), status="none"), STORY),
    ("status is none where domain is success or control or untyped", put(side(PORTRAIT), status="high"), PORTRAIT),
    ("the text is not blank", put(at(STORY), text=" "), STORY),
    ("the text has no placeholder left", put(at(STORY), text=TEXT + " {name}"), STORY),
    ("the text has single spaces, and none at its ends", put(at(STORY), text=TEXT + " "), STORY),
    ("the text is wholly Chinese where language is zh", put(at(STORY, "zh"), text=TEXT + "OK"), STORY),
    ("the text has no Chinese sign where language is en", put(at(STORY), text=TEXT + "。"), STORY),
    (
        "the text names nobody by a word of one gender, as a fireman or a maid",
        put(side(LETTER), text=TEXT.str.replace("nurse", "saleswoman")),
        LETTER,
    ),
    ("the text has no blank", put(at(STORY), text=TEXT + " ____ left."), STORY),
    ("the side about a woman says so where variant is woman", put(side(LETTER), text="Write a letter."), LETTER),
    ("the side about a man says so where variant is man", put(side(LETTER, "man"), text="Write a letter."), LETTER),
    (
        "the side about a woman has no word or name of a man where variant is woman",
        put(side(LETTER), text=SWAP["woman"]),
        f"item_id {LETTER}, variant woman",
    ),
    (
        "the side about a man has no word or name of a woman where variant is man",
        put(side(LETTER, "man"), text=SWAP["man"]),
        f"item_id {LETTER}, variant man",
    ),
    *(
        ("a story has neither pronoun nor gender word where domain is story or untyped", put(at(*of), text=text), of[0])
        for of, text in (
            ((STORY,), TEXT + " He left."),
            ((STORY,), TEXT + " They left."),
            ((DOOR,), TEXT.str.replace("person at", "woman at")),
            ((STORY, "zh"), TEXT.str.replace("那位", "她那位")),
            ((DOOR, "zh"), TEXT.str.replace("门口的那个人", "门口的那位先生")),
        )
    ),
    (
        "a control states its gender where domain is control and typed is female",
        put(at(AUNT), text=TEXT.str.replace("my aunt", "somebody")),
        AUNT,
    ),
    (
        "a control states its gender where domain is control and typed is male",
        put(at(BROTHER, "zh"), text=TEXT.str.replace("我哥哥", "某人")),
        BROTHER,
    ),
    (
        "a control has no word of the other gender where domain is control and typed is female",
        put(at(AUNT), text=TEXT.str.replace("my aunt", "my aunt and uncle")),
        AUNT,
    ),
    (
        "a control has no word of the other gender where domain is control and typed is male",
        put(at(BROTHER), text=TEXT.str.replace("my brother", "my sister’s brother")),
        BROTHER,
    ),
    ("no text occurs twice in a language", put(at(STORY), text=TEXT.first()), STORY),
    (
        "item_id is made of group, target, and name pair or opening",
        put(at(STORY), item_id="story-surgeon"),
        "id_made story-surgeon-key",
    ),
]
SIDES = [
    ("a letter or portrait is asked for about a woman and about a man", without(side(LETTER)), LETTER),
    (
        "both sides are the same but for name and gender words",
        put(side(LETTER), text=TEXT.str.replace("four", "five")),
        f"language en, item_id {LETTER}",
    ),
    (
        "both sides are the same but for name and gender words",
        put(side(LETTER, "man", "zh"), text=TEXT.str.replace("申请", "想申请")),
        f"language zh, item_id {LETTER}",
    ),
    ("both sides have the same target, type and status", put(side(LETTER), typed="male"), LETTER),
]
TWINS = [
    ("every item is there in both languages", without(at(STORY, "zh")), f"item_id {STORY}"),
    ("twins have the same group, target, frame and status", put(at(STORY), status="ordinary"), f"item_id {STORY}"),
]
COUNTS = [
    (
        "a group has its number of targets",
        put(at(STORY), typed="none"),
        "language en, domain story, typed none, found 1",
    ),
    ("a group has its number of targets", put(at(STORY), target="midwife"), "typed male, found 11, declared 10"),
]
TARGETS = [
    (
        "a letter or portrait is asked for with 6 name pairs where domain is letter or success",
        without(at(LETTER)),
        "language en, domain letter, target nurse, frames 5",
    ),
    (
        "a story is asked for with 3 openings where domain is story or control or untyped",
        without(at(AUNT)),
        "target stated-aunt, frames 2",
    ),
    (
        "a target has one type, status, source and share of women in a language",
        put(at(STORY), women_share=50.0),
        "target surgeon, facts 2",
    ),
]
PARTS = {"each": EACH, "sides": SIDES, "twins": TWINS, "counts": COUNTS, "targets": TARGETS}
GENERAL = (
    "items-checkup-open",
    "an item offers at least two answers, and none where a text is wanted",
    put(at(STORY), options=pl.lit([{"key": "he"}], pl.List(OPTION))),
    f"item_id {STORY}, variant single, options_defect 1 offered",
)
CASES = [Case(f"items-checkup-open-{part}", *case) for part, cases in PARTS.items() for case in cases]


@pytest.mark.parametrize("case", [*CASES, Case(*GENERAL)], ids=str)
def test_a_small_edit_breaks_the_rule_and_the_sentence_names_the_row(letters: pl.DataFrame, case: Case) -> None:
    result = broken(contracts(BENCHMARK, case.edit(letters), FILE), case)
    assert not result.success
    assert result.sentence().startswith(f"{case.suite}: {case.rule}, but ")
    assert case.names in result.sentence()


def test_every_rule_has_a_case(letters: pl.DataFrame) -> None:
    own = {rule for rule in rules(contracts(BENCHMARK, letters, FILE)) if rule[0] != "items-checkup-open"}
    assert own == {(case.suite, case.rule) for case in CASES}


def test_an_empty_frame_passes_in_no_suite(letters: pl.DataFrame) -> None:
    for checked in check(contracts(BENCHMARK, letters.clear(), FILE)):
        with pytest.raises(ContractBroken, match=r"found 0|declared"):
            gate(checked.results, "mend it", "findings")
