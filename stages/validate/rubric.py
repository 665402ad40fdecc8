"""Contracts on the rubric: closed questions about a text, which name no gender and whose answers have a code each."""

import polars as pl

from stages.schema import DOMAINS, LANGUAGES, RUBRIC, Kind, Outcome
from stages.validate.contracts import Checkable, closed, contract, rows, unlike
from stages.validate.pairs import WORDS
from stages.validate.texts import written

QUESTIONS = [domain for domain, kind in DOMAINS.items() if kind is Kind.RUBRIC]
CODES = "-1 0 1"
"""Of a question's answers, sorted."""


def contracts(items: pl.DataFrame, file: str) -> list[Checkable]:
    """The contracts on ``items`` (rows of ``schema.ITEMS``): the questions, and the answers they offer."""
    return [_questions(items, file), _answers(items, file)]


def _questions(items: pl.DataFrame, file: str) -> Checkable:
    codes = pl.col("options").list.eval(pl.element().struct.field("code")).list.sort()
    keys = pl.col("options").list.eval(pl.element().struct.field("key")).list.sort().list.join(" ")
    facts = items.with_columns(
        codes.cast(pl.List(pl.String)).list.join(" ").alias("codes"),
        keys.n_unique().over("item_id").alias("languages_differ"),
    )
    rules = contract(
        f"items-{RUBRIC}-questions",
        ("language", "item_id"),
        *(rows(1, language=language, domain=question) for language in LANGUAGES for question in QUESTIONS),
        rows(len(LANGUAGES) * len(QUESTIONS)),
        closed("task", ["option"]),
        closed("codes", [CODES], "a question has one answer of each code: -1, 0 and 1"),
        closed("languages_differ", [1], "a question has the same answers in every language"),
        written(),
        *(unlike("text", words, "the text names no gender") for words in WORDS.values()),
    )
    return Checkable(rules, facts.drop("options"), file)


def _answers(items: pl.DataFrame, file: str) -> Checkable:
    each = items.select("language", "item_id", "options").explode("options").unnest("options")
    rules = contract(
        f"items-{RUBRIC}-answers",
        ("language", "item_id", "key"),
        closed("outcome", [str(Outcome.PAIRED)]),
        written(),
        *(unlike("text", words, "the text names no gender") for words in WORDS.values()),
    )
    return Checkable(rules, each, file)
