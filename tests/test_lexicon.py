"""The lexicon: what is found in texts, what is not, and that a masked text tells nobody's sex."""

import csv
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages import lexicon
from stages.errors import DataError
from stages.lexicon import CATEGORIES, COUNTED, FEMALE, IGNORED, MALE, MEASURED

LANGUAGES = ("en", "zh")
NAMES = {"en": ["Steven", "Emily", "Anderson"], "zh": ["周志伟", "周丽萍", "杨婷"]}
FOUND = [
    ("en", "She leads; SHE excels.", {"agentic": 1, "standout": 1, "female": 2}),
    ("en", "A team player, hard-working and hard working.", {"communal": 1, "grindstone": 2}),
    ("en", "He’s self‑confident.", {"male": 1, "agentic": 1}),
    ("en", "Her leadership skills led to a plan.", {"female": 1, "agentic": 1}),
    ("en", "This kind of help; a kind, kind man", {"communal": 2, "male": 1}),
    ("en", "The theme of the heroine was written in sheets of mankind.", {}),
    ("en", "he or she, s/he, (s)he, his/her, he/she", {}),
    ("en", "It's he who won, isn't it?", {"male": 1}),
    ("en", "'he said' and she'll go", {"male": 1, "female": 1}),
    ("en", "Best regards, kind regards", {}),
    ("en", "ｈｅ ｌｅａｄｓ", {"male": 1, "agentic": 1}),
    ("zh", "其他人弹吉他，他人不知。", {}),
    ("zh", "他很自信，她很善良。", {"male": 1, "agentic": 1, "female": 1, "communal": 1}),
    ("zh", "他们都来了；她们也来了。", {"female": 1}),
    ("zh", "先生产，后生活。李先生来了。", {"male": 1}),
    ("zh", "那位大夫人很好，王夫人也好。", {"female": 1}),
    ("zh", "认真负责，不是认真", {"grindstone": 2}),
    ("zh", "可能干扰工作；他能干", {"male": 1, "ability": 1}),
    ("zh", "他/她、他（她）、TA", {}),
    ("zh", "男女平等，子女教育", {}),
    ("zh", "妳好，媽媽", {"female": 2}),
    ("zh", "良子女士有子女", {"female": 1}),
]


@pytest.mark.parametrize(("language", "text", "expected"), FOUND, ids=[text for _, text, _ in FOUND])
def test_what_is_found(language: str, text: str, expected: dict[str, int]) -> None:
    (found,) = lexicon.counts(pl.Series([text]), language)
    assert {count["category"]: count["n"] for count in found if count["n"]} == expected


def test_counts_have_every_category_and_null_for_null() -> None:
    some, none = lexicon.counts(pl.Series(["x", None]), "en")
    assert [count["category"] for count in some] == list(COUNTED)
    assert none is None


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        *(("en", "He is here.", 1), ("en", "her", -1), ("en", "he and she", 0), ("en", "they", 0), ("en", "", 0)),
        *(("zh", "他来了", 1), ("zh", "女士", -1), ("zh", "他和她的", 0), ("zh", "其他", 0), ("zh", None, None)),
    ],
)
def test_gendered(language: str, text: str | None, expected: int | None) -> None:
    found = lexicon.gendered(pl.Series("said", [text], dtype=pl.String), language)
    assert (found.to_list(), found.dtype, found.name) == ([expected], pl.Int8(), "said")


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "He thanked his mother and a woman.", (2, 1)),
        ("zh", "她的父亲和一位先生", (1, 1)),
        *(("en", "a mother", (0, 0)), ("en", None, (None, None))),
    ],
)
def test_kin_are_others(language: str, text: str | None, expected: tuple[int | None, int | None]) -> None:
    assert lexicon.sexes(pl.Series([text], dtype=pl.String), language).select(MALE, FEMALE).rows() == [expected]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "He's co-author of 3 papers: Müller’s", ["he's", "co", "author", "of", "3", "papers", "müller's"]),
        ("zh", "她是外科医生，GPT-4。\n好", ["她", "是", "外科医生", "gpt-4", "好"]),
        *(("zh", "", []), ("zh", None, None), ("en", "…", [])),
    ],
)
def test_words(language: str, text: str | None, expected: list[str] | None) -> None:
    assert lexicon.words(pl.Series([text], dtype=pl.String), language).to_list() == [expected]


def test_many_chinese_texts_are_cut_each_by_itself() -> None:
    texts = ["她是医生", "", "\n\n", None, "他是\n老师"]
    assert lexicon.words(pl.Series(texts), "zh").to_list() == [["她", "是", "医生"], [], [], None, ["他", "是", "老师"]]
    assert lexicon.words(pl.Series([], dtype=pl.String), "zh").to_list() == []


MASKED = [
    ("en", "Dear Sir or Madam, Ms. Emily Anderson is kind.", "Dear Sir or Madam, [NAME] [NAME] is kind."),
    ("en", "She is a leader, he was not. He's here; HE WON.", "They are a leader, they were not. They're here; THEY WON."),
    ("en", "I trust her. Her work and her team; I thank him for his help.", "I trust them. Their work and their team; I thank them for their help."),
    ("en", "EMILY’S husband, a gentleman himself, hE said", "[NAME]'S spouse, a person themselves, they said"),
    ("en", "He or she may; the theme of his/her book", "They may; the theme of their book"),
    ("zh", "周志伟先生（男）说，其他人都敬佩他。志伟很好！", "某某（）说，其他人都敬佩TA。某某很好！"),
    ("zh", "一位女士，她的父亲，他们", "一个人，TA的家长，TA们"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "expected"), MASKED, ids=[text for _, text, _ in MASKED])
def test_masked(language: str, text: str, expected: str) -> None:
    assert lexicon.masked(pl.Series([text]), language, NAMES[language]).to_list() == [expected]


PAIRS = {
    "en": (
        ["{n}", "{s}", "{S} is", "{o}", "{p}", "{r}", "Mr.|Ms.", "man|woman", "A gentleman|A lady", "father|mother", "said.",
         "to", "and", "work", "Dear Sir or Madam,", "He or she", "theme", "\n", "'s", "quickly", "HIS|HER", "husband|wife"],
        {"{n}": "Steven|Emily", "{s}": "he|she", "{S} is": "He is|She is", "{o}": "him|her", "{p}": "his|her", "{r}": "himself|herself"},
    ),
    "zh": (
        ["周志伟|周丽萍", "他|她", "先生|女士", "男|女", "父亲|母亲", "一位男士|一位女士", "其他", "说。", "们",
         "哥哥|姐姐", "儿子|女儿", "大哥哥|大姐姐", "夫人", "TA"],
        {},
    ),
}  # fmt: skip


@st.composite
def sides(draw: st.DrawFn, language: str) -> tuple[str, str]:
    """A text about a man and the same about a woman."""
    parts, spelled = PAIRS[language]
    chosen = [spelled.get(part, part) for part in draw(st.lists(st.sampled_from(parts), max_size=12))]
    both = [part.split("|") if "|" in part else [part, part] for part in chosen]
    joint = " " if language == "en" else "，"
    return joint.join(man for man, _ in both), joint.join(woman for _, woman in both)


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=40)
@given(data=st.data())
def test_two_sides_become_one_when_they_are_masked(language: str, data: st.DataObject) -> None:
    man, woman = data.draw(sides(language))
    found = lexicon.masked(pl.Series([man, woman]), language, NAMES[language])
    assert found[0] == found[1], (man, woman)


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=40)
@given(data=st.data())
def test_a_masked_text_has_no_gendered_word(language: str, data: st.DataObject) -> None:
    words = lexicon.entries(language, *CATEGORIES)
    part = st.one_of(st.sampled_from(words), st.sampled_from(words).map(str.title), st.text(max_size=3))
    text = "".join(data.draw(st.lists(st.tuples(part, st.sampled_from(["", " ", "-", "/"])).map("".join), max_size=8)))
    masked = lexicon.masked(pl.Series([text]), language, NAMES[language])
    (found,) = lexicon.counts(masked, language)
    assert not [count for count in found if count["category"] in (MALE, FEMALE) and count["n"]], (text, masked[0])


def _rows() -> list[dict[str, Any]]:
    with lexicon.FILE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def test_the_file_has_enough_words_of_each_category_and_a_source_for_each() -> None:
    sources = set(pl.read_csv(lexicon.FILE.with_name("sources.csv"), comment_prefix="#")["source"])
    rows = _rows()
    for language in LANGUAGES:
        for category in CATEGORIES:
            own = [row for row in rows if row["category"] == category and row["language"] == language]
            assert len(own) >= (25 if category in MEASURED else 20), (language, category)
    assert {row["source"] for row in rows} <= sources


def test_every_word_is_found_as_what_it_is() -> None:
    for language in LANGUAGES:
        for category in CATEGORIES:
            words = pl.Series(lexicon.entries(language, category))
            found = lexicon._found(words, language)
            assert words.filter(found != pl.Series([[category]])).to_list() == [], (language, category)


def test_neutral_words_are_neutral() -> None:
    for language in LANGUAGES:
        neutral = pl.Series([r["neutral"] for r in _rows() if r["language"] == language and r["neutral"]])
        assert set(lexicon.gendered(neutral, language)) == {0}
    assert {row["category"] for row in _rows() if row["neutral"]} == {MALE, FEMALE, IGNORED}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("fr,agentic,hardi,,lexicon-own,", "language 'fr' of 'hardi' is unknown; use one of en, zh."),
        ("en,agentik,bold,,lexicon-own,", "category 'agentik' of 'bold' is unknown; use one of agentic"),
        ("en,agentic,bold,,lexicon-own,\nen,communal,bold,,lexicon-own,", "'bold' \\(en\\) stands twice; keep one"),
        ("en,agentic,,,lexicon-own,", "a row of 'agentic' \\(en\\) has no word; write one"),
        ("en,agentic,bold,,lexicon-own,,more", "the row .* has more or fewer cells than the heading"),
        ("en,agentic,bold", "the row 'en, agentic, bold' has more or fewer cells than the heading"),
        ('en,agentic,"bold,,lexicon-own,', "is not here, or is no CSV table in UTF-8 "),
    ],
)
def test_a_mistake_in_the_file_is_named(
    row: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lexicon.csv"
    file.write_text(f"language,category,word,neutral,source,note\n{row}\n", encoding="utf-8")
    monkeypatch.setattr(lexicon, "FILE", file)
    lexicon._entries.cache_clear()
    try:
        with pytest.raises(DataError, match=rf"lexicon\.csv:? {message}"):
            lexicon.entries("en", "agentic")
    finally:
        lexicon._entries.cache_clear()


def test_names_may_stand_alone() -> None:
    assert {"Emily", "Steven"} <= set(lexicon.names("en"))
    assert {"周丽萍", "丽萍", "杨婷"} <= set(lexicon.names("zh"))
