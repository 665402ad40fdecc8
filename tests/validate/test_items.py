"""Every contract on items, broken by one small edit of the real ones."""

from pathlib import Path

import polars as pl
import pytest

from stages.errors import ContractBroken, DataError
from stages.load import load_all
from stages.validate import validate_items
from stages.validate.contracts import Checkable
from stages.validate.expectations import check
from stages.validate.items import contracts
from stages.validate.results import gate
from tests.validate.broken import Case, at, broken, put, put_all, rules, twice, without
from tests.validate.pair_cases import ANSWER, PAIR_SUITES, TRAIT, side

FILE = "data/items/checkup.parquet"


NURSE, SURGEON, CAR, BROTHER, DOOR = (
    "occupation-nurse-direct",
    "occupation-surgeon-scene",
    "family-washed-family-car-direct",
    "control-stated-brother-direct",
    "untyped-person-at-door-scene",
)
TEXT = pl.col("text")
ONE_WORD_LESS = pl.col("options").list.head(2)


def option(place: int, **values: object) -> pl.Expr:
    """The item's options with ``values`` in the one at ``place``."""
    changed = [pl.lit(v, None if isinstance(v, str) else pl.Int8).alias(k) for k, v in values.items()]
    one = pl.col("options").list.get(place)
    options = [one.struct.with_fields(*changed) if i == place else pl.col("options").list.get(i) for i in range(3)]
    return pl.concat_list(options)


def every(target: str, language: str | None = None) -> pl.Expr:
    return (pl.col("target") == target) & (pl.lit(language is None) | (pl.col("language") == (language or "")))


GENERAL = [
    ("benchmark is checkup", put(at(NURSE), benchmark="chekup"), f"item_id {NURSE}, variant single, benchmark chekup"),
    ("benchmark + language + item_id + variant names one row", twice(at(NURSE, "zh")), f"language zh, item_id {NURSE}"),
    (
        "typed is male, female or none",
        put(at(NURSE), typed="feminine"),
        f"item_id {NURSE}, variant single, typed femin",
    ),
    ("status is high, ordinary or none", put(at(NURSE), status="low"), f"item_id {NURSE}, variant single, status low"),
    ("variant is single, woman or man", put(at(NURSE), variant="a"), f"item_id {NURSE}, variant a"),
    ("task is blank, pick, option or text", put(at(NURSE), task="draw"), f"item_id {NURSE}, variant single, task draw"),
    (
        "an item offers at least two answers, and none where a text is wanted",
        put(at(NURSE), options=pl.col("options").list.head(1)),
        f"item_id {NURSE}, variant single, options_defect 1 offered",
    ),
    (
        "an item offers at least two answers, and none where a text is wanted",
        put(at(NURSE), task="text"),
        f"item_id {NURSE}, variant single, options_defect 3 offered",
    ),
    ("item_id has no spaces", put(at(NURSE), item_id="a nurse"), "item_id a nurse"),
    (
        "no answer's key has spaces, which part the keys of several",
        put(at(NURSE), options=option(1, key="she or her")),
        f"item_id {NURSE}, variant single, spaced_key she or her",
    ),
    ("item_hash is 16 hexadecimal digits", put(at(NURSE), item_hash="none"), f"item_id {NURSE}"),
    ("women_share is from 0 to 100", put(at(NURSE), women_share=100.5), "women_share 100.5"),
    ("no number is NaN or infinite", put(at(NURSE), women_share=float("nan")), f"item_id {NURSE}"),
]
EACH = [
    ("there are exactly 540 rows", without(at(NURSE)), "found 539"),
    ("there are exactly 270 rows where language is en", without(at(NURSE)), "found 269"),
    ("there are exactly 270 rows where language is zh", twice(at(NURSE, "zh")), "found 271"),
    ("language is en or zh", put(at(NURSE), language="de"), f"language de, item_id {NURSE}"),
    ("domain is occupation, pronoun, family, control or untyped", put(at(NURSE), domain="job"), f"item_id {NURSE}"),
    ("style is direct, situational or scene", put(at(NURSE), style="poem"), f"item_id {NURSE}"),
    ("variant is single", put(at(NURSE), variant="woman"), f"item_id {NURSE}, variant woman"),
    ("task is blank", put(at(NURSE), task="pick"), f"item_id {NURSE}, variant single, task pick"),
    ("typed is male or female where domain is control", put(at(BROTHER), typed="none"), f"item_id {BROTHER}"),
    ("typed is none where domain is untyped", put(at(DOOR), typed="male"), f"item_id {DOOR}"),
    (
        "status is high or ordinary where domain is occupation or pronoun or family",
        put(at(NURSE), status="none"),
        f"item_id {NURSE}",
    ),
    ("status is none where domain is control or untyped", put(at(BROTHER), status="high"), f"item_id {BROTHER}"),
    ("women_share is from 0 to 30 where typed is male", put(at(SURGEON), women_share=30.1), f"item_id {SURGEON}"),
    ("women_share is from 70 to 100 where typed is female", put(at(NURSE), women_share=69.9), f"item_id {NURSE}"),
    ("women_share is from 45 to 55 where domain is untyped", put(at(DOOR), women_share=20.0), f"item_id {DOOR}"),
    ("the text has the blank ____ exactly once", put(at(NURSE), text=TEXT + " Then ____ left."), f"item_id {NURSE}"),
    ("the text is not blank", put(at(NURSE), text=" "), f"item_id {NURSE}, variant single, text  )"),
    ("the text does not open with the blank", put(at(NURSE), text="____ waved."), f"item_id {NURSE}"),
    ("the text has no placeholder left", put(at(NURSE), text="To {person} ____ waved."), f"item_id {NURSE}"),
    (
        "the text has single spaces, and none at its ends",
        put(at(NURSE), text=TEXT.str.replace(" ", "  ")),
        f"item_id {NURSE}",
    ),
    (
        "the text is wholly Chinese where language is zh",
        put(at(NURSE, "zh"), text=TEXT + "OK。"),
        f"language zh, item_id {NURSE}",
    ),
    (
        "the text has no Chinese sign where language is en",
        put(at(NURSE), text=TEXT.str.replace(",", "，")),
        f"language en, item_id {NURSE}",
    ),
    (
        "item_id is made of group, concept and style",
        put(at(NURSE), item_id="occupation-nurse"),
        "item_id occupation-nurse, variant single, id_made occupation-nurse-direct",
    ),
    ("no text occurs twice in a language", put(at(NURSE), text=TEXT.first()), f"item_id {NURSE}"),
]
OPTIONS = [
    ("there are exactly 1620 rows", without(at(NURSE)), "found 1617"),
    (
        "key is he, she, they, father, mother or either",
        put(at(NURSE), options=option(2, key="it")),
        f"item_id {NURSE}, variant single, key it",
    ),
    ("no item offers a key twice", put(at(NURSE), options=option(1, key="he")), f"item_id {NURSE}"),
    ("no item offers a text twice", put(at(NURSE), options=option(1, text="he")), f"item_id {NURSE}"),
    ("gender is -1, 0 or 1", put(at(NURSE), options=option(1, gender=2)), f"item_id {NURSE}"),
    ("an answer to a blank has no letter", put(at(NURSE), options=option(1, label="A")), f"item_id {NURSE}"),
    ("an answer to a blank has no code", put(at(NURSE), options=option(1, code=0)), f"item_id {NURSE}"),
    (
        "outcome is anti-stereotype, correct, gendered, incorrect, neutral or stereotype",
        put(at(NURSE), options=option(0, outcome="rude")),
        f"item_id {NURSE}, variant single, key he, outcome rude",
    ),
    (
        "the answers are exactly those of the group in their one form",
        put(at(NURSE, "zh"), options=option(2, text="ta")),
        f"item_id {NURSE}, variant single, key they, form 3. ta, gender 0, declared_form 3. TA, gender 0",
    ),
    (
        "the answers are exactly those of the group in their one form",
        put(at(NURSE), options=ONE_WORD_LESS),
        f"item_id {NURSE}, variant single, key they, form missing",
    ),
    (
        "the answers are exactly those of the group in their one form",
        put(at(CAR), options=option(0, key="he", text="he")),
        f"item_id {CAR}, variant single, key father, form missing",
    ),
    (
        "choosing an answer means what the group and type of the concept say",
        put(at(SURGEON), options=option(0, outcome="anti-stereotype")),
        f"item_id {SURGEON}, variant single, key he, outcome anti-stereotype, declared_outcome stereotype",
    ),
]
TWINS = [
    ("every item is there in both languages", without(at(NURSE)), f"item_id {NURSE}, variant single, languages zh"),
    ("twins have the same domain", put(at(NURSE), domain="pronoun"), "domain pronoun, domain_twin occupation"),
    ("twins have the same target", put(at(NURSE), target="nurses"), "target nurses, target_twin nurse"),
    ("twins have the same style", put(at(NURSE), style="scene"), "style scene, style_twin direct"),
    ("twins have the same frame", put(at(NURSE), frame="direct-1"), "frame direct-1, frame_twin direct-5"),
    ("twins have the same status", put(at(NURSE), status="ordinary"), "status ordinary, status_twin high"),
]
CONCEPTS = [
    ("there are exactly 90 rows", without(every("nurse")), "found 89"),
    ("a concept belongs to one group", put(at(NURSE), domain="pronoun"), "domain pronoun, target nurse"),
    (
        "no concept is male-typed in one place and female-typed in another",
        put_all(every("nurse", "zh"), typed="male"),
        "domain occupation, target nurse, type female + male",
    ),
    (
        "a concept has one type, source and share of women in all its items of a language",
        put(at(NURSE), women_share=88.0),
        "target nurse, facts 2",
    ),
    ("a concept has one status in all its items", put(at(NURSE), status="ordinary"), "status high + ordinary"),
    ("a concept has an item in each style and language", without(at(NURSE)), "target nurse, items 5"),
]
COUNTS = [
    (
        "a group has its number of concepts",
        without(at(NURSE, "zh")),
        "language zh, domain occupation, style direct, type all, status all, found 19, declared 20",
    ),
    (
        "a group has its number of concepts",
        put_all(every("nurse"), typed="none"),
        "domain occupation, style all, type female, status high, found 4, declared 5",
    ),
    (
        "a group has its number of concepts",
        put_all(every("nurse"), status="ordinary"),
        "domain occupation, style all, type female, status high, found 4, declared 5",
    ),
    (
        "a group has its number of concepts",
        put_all(every("stated-brother", "zh"), typed="female"),
        "language zh, domain control, style all, type female, status all, found 11, declared 10",
    ),
]
FRAMES = [
    ("there are exactly 150 rows", put(at(NURSE), frame="direct-9"), "found 154"),
    (
        "a frame serves as many male- as female-typed concepts of a group",
        put_all(every("nurse"), frame="direct-1"),
        "style direct, frame direct-1, domain occupation, male 2, female 3",
    ),
    (
        "a frame serves its share of the concepts of a group",
        put(at("untyped-person-at-door-direct"), frame="direct-2"),
        "style direct, frame direct-1, domain untyped, concepts 1, declared 2",
    ),
]


SUITES = {
    "items-checkup": GENERAL,
    "items-checkup-each": EACH,
    "items-checkup-options": OPTIONS,
    "items-checkup-twins": TWINS,
    "items-checkup-concepts": CONCEPTS,
    "items-checkup-counts": COUNTS,
    "items-checkup-frames": FRAMES,
    **PAIR_SUITES,
}
CASES = [Case(suite, *case) for suite, cases in SUITES.items() for case in cases]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_small_edit_breaks_the_rule_and_the_sentence_names_the_row(items: pl.DataFrame, case: Case) -> None:
    result = broken(contracts("checkup", case.edit(items), FILE), case)
    assert not result.success
    assert result.sentence().startswith(f"{case.suite}: {case.rule}, but ")
    assert f"in {FILE}" in result.sentence()
    assert case.names in result.sentence()


def test_every_rule_has_a_case(items: pl.DataFrame) -> None:
    assert rules(contracts("checkup", items, FILE)) == {(case.suite, case.rule) for case in CASES}


NULLS = [
    *(("items-checkup", column, "") for column in ("language", "domain", "style", "typed", "status", "text", "frame")),
    ("items-checkup-each", "source", " where typed is male or female"),
    ("items-checkup-each", "typed", " where domain is control"),
    ("items-checkup-each", "status", " where domain is control or untyped"),
]


@pytest.mark.parametrize(("suite", "column", "where"), NULLS)
def test_a_missing_value_is_named(items: pl.DataFrame, suite: str, column: str, where: str) -> None:
    case = Case(suite, f"{column} is never missing{where}", put(at(BROTHER), **{column: None}), f"{column} null")
    result = broken(contracts("checkup", case.edit(items), FILE), case)
    assert not result.success
    assert BROTHER in result.sentence()
    assert case.names in result.sentence()


@pytest.mark.parametrize("name", ["sides.csv", "names.csv"])
def test_sides_that_were_exchanged_in_their_source_are_found(project: Path, name: str) -> None:
    path = project / "data" / "checkup" / name
    text = path.read_text(encoding="utf-8")
    exchanged = text.replace(",woman,", ",?,").replace(",man,", ",woman,").replace(",?,", ",man,")
    path.write_text(exchanged, encoding="utf-8")
    load_all(project)
    with pytest.raises(ContractBroken, match=r"has no word or name of a man|says so"):
        validate_items(project)


def test_a_pair_that_offers_no_text_is_named(items: pl.DataFrame) -> None:
    edit = put(
        side(TRAIT),
        options=pl.col("options").list.eval(pl.element().struct.with_fields(pl.lit(None, pl.String).alias("text"))),
    )
    case = Case("items-checkup-pairs-answers", "answer is never missing", edit, ANSWER)
    assert f"{ANSWER}, answer null)" in broken(contracts("checkup", edit(items), FILE), case).sentence()


def test_an_option_without_a_key_or_an_outcome_is_named(items: pl.DataFrame) -> None:
    nameless = put(at(NURSE), options=pl.concat_list(_emptied(0, "key"), *_rest(0)))
    case = Case("items-checkup-options", "key is never missing", nameless, f"item_id {NURSE}")
    assert case.names in broken(contracts("checkup", nameless(items), FILE), case).sentence()


def _emptied(place: int, field: str) -> pl.Expr:
    return pl.col("options").list.get(place).struct.with_fields(pl.lit(None, pl.String).alias(field))


def _rest(place: int) -> list[pl.Expr]:
    return [pl.col("options").list.get(i) for i in range(3) if i != place]


def test_an_empty_frame_passes_in_no_suite(items: pl.DataFrame) -> None:
    empty: list[Checkable] = contracts("checkup", items.clear(), FILE)
    for checked in check(empty):
        with pytest.raises(ContractBroken, match=r"found 0|declared"):
            gate(checked.results, "mend it", "findings")


def test_a_benchmark_without_contracts_is_refused(items: pl.DataFrame) -> None:
    with pytest.raises(DataError, match="'stereoset' has no contracts"):
        contracts("stereoset", items, FILE)
