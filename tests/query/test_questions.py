from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from stages.ledger import Entry
from stages.load import load_all
from stages.params import read_params
from stages.query.prompts import protocol_hash, render
from stages.query.questions import Question, expected
from stages.store import read_items

ENTRY = Entry(
    opened=datetime(2026, 11, 30, tzinfo=UTC),
    plan="quick",
    benchmarks=("checkup",),
    languages=("en", "zh"),
    protocols=("two",),
    styles=("direct",),
    epochs=2,
    limit=None,
)


@pytest.fixture
def items(project: Path) -> pl.DataFrame:
    load_all(project)
    return read_items(project, "checkup")


def questions(project: Path, items: pl.DataFrame, language: str = "en", **changes: object) -> list[Question]:
    protocol = read_params(project).protocols["two"]
    return expected(items, language, protocol, ENTRY.model_copy(update=changes))


def test_every_item_of_the_styles_is_asked_at_every_epoch(project: Path, items: pl.DataFrame) -> None:
    asked = questions(project, items, styles=("direct", "scene"), epochs=4)
    assert len({q.key for q in asked}) == len(asked) == 70 * 2 * 4
    assert {q.item["style"] for q in asked} == {"direct", "scene"}


def test_each_item_is_shown_in_each_order_equally_often(project: Path, items: pl.DataFrame) -> None:
    shown = Counter((q.item["item_id"], q.options[0]["key"]) for q in questions(project, items, epochs=4))
    assert set(shown.values()) == {2}
    assert len(shown) == 140


def test_only_the_options_of_the_protocol_are_offered(project: Path, items: pl.DataFrame) -> None:
    assert {option["text"] for q in questions(project, items, "zh") for option in q.options} == {"他", "她"}


def test_a_limit_draws_the_same_items_in_every_language_and_more_of_them_when_raised(
    project: Path, items: pl.DataFrame
) -> None:
    def ids(language: str, limit: int, seed: int = 0) -> set[str]:
        return {q.item["item_id"] for q in questions(project, items, language, limit=limit, seed=seed)}

    assert ids("en", 5) == ids("zh", 5)
    assert len(ids("en", 5)) == 5
    assert ids("en", 5) < ids("en", 9)
    assert ids("en", 5, seed=1) != ids("en", 5)


def test_every_answer_has_a_seed_of_its_own(project: Path, items: pl.DataFrame) -> None:
    seeds = [q.seed for q in questions(project, items)]
    assert len(set(seeds)) == len(seeds)
    assert seeds == [q.seed for q in questions(project, items)]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_completion_prompt_is_one_line_without_trailing_space(
    project: Path, items: pl.DataFrame, language: str
) -> None:
    protocol = read_params(project).protocols["two"]
    for question in questions(project, items, language):
        prompt = render(question, protocol, language, "completion")
        assert prompt.text == prompt.text.strip()
        assert "\n" not in prompt.text
        assert question.item["text"] in prompt.text


def test_a_chat_prompt_names_the_options_in_the_order_shown(project: Path, items: pl.DataFrame) -> None:
    protocol = read_params(project).protocols["two"]
    first, second = questions(project, items)[:2]
    texts = [render(q, protocol, "en", "chat").messages[0]["content"] for q in (first, second)]
    assert sorted("he or she" in t for t in texts) == [False, True]
    assert sorted("she or he" in t for t in texts) == [False, True]


def test_braces_in_an_item_are_text(project: Path, items: pl.DataFrame) -> None:
    protocol = read_params(project).protocols["two"]
    odd = items.with_columns(pl.lit("The {options} of {text} said ____ slept {0}.").alias("text"))
    question = questions(project, odd)[0]
    assert (
        "The {options} of {text} said ____ slept {0}."
        in render(question, protocol, "en", "chat").messages[0]["content"]
    )


def test_the_protocol_hash_tells_apart_what_is_not_comparable(project: Path) -> None:
    params = read_params(project)
    protocol, model = params.protocols["two"], params.models["gemma-3-270m"]
    assert protocol_hash(protocol, model) == protocol_hash(protocol, model.model_copy(update={"vendor": "x"}))
    assert protocol_hash(protocol, model) != protocol_hash(protocol, model.model_copy(update={"constrain": None}))
    assert protocol_hash(protocol, model) != protocol_hash(protocol.model_copy(update={"top_p": 0.5}), model)
