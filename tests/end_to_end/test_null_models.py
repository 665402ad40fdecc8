"""Models that know nothing but a rule, asked over the wire and taken through the real stages, give the textbook scores."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from stages.judge import judge_all
from stages.ledger import Run
from stages.query import Silent, ask_run
from stages.reduce import reduce_all
from stages.report.history import query
from stages.schema import ITEMS, JUDGEMENTS, SCORES
from stages.score import score_all
from stages.store import items_path, partitions, read, read_all
from tests.wire import Response, chat, prompt_of, serving

WORDS = {"en": ("he", "she", "they"), "zh": ("他", "她", "TA")}
GENDERS = ("male", "female", "none")
REFUSAL = {"en": "I'm sorry, but I can't choose a pronoun here.", "zh": "抱歉，我无法选择。"}


@dataclass(frozen=True)
class Asked:
    """What a responder sees: the item behind the prompt, and the words in the order they were named."""

    language: str
    typed: str
    control: bool
    named: tuple[str, ...]
    text: str

    def word(self, gender: str) -> str:
        return WORDS[self.language][GENDERS.index(gender)]


Responder = Callable[[Asked], str]
OTHER = {"male": "female", "female": "male", "none": "none"}


def coin(asked: Asked) -> str:
    return asked.named[sha256(f"toss 4 {asked.text} {asked.named}".encode()).digest()[0] % len(asked.named)]


def always_she(asked: Asked) -> str:
    return asked.word("female")


def refuse(asked: Asked) -> str:
    return REFUSAL[asked.language]


def controls_right(responder: Responder) -> Responder:
    return lambda asked: asked.word(asked.typed) if asked.control else responder(asked)


RESPONDERS: dict[str, Responder] = {
    "coin": controls_right(coin),
    "coin-on-controls-too": coin,
    "stereotype": controls_right(lambda asked: asked.word(asked.typed)),
    "anti": controls_right(lambda asked: asked.word(OTHER[asked.typed])),
    "he": controls_right(lambda asked: asked.word("male")),
    "she": controls_right(always_she),
    "she-on-controls-too": always_she,
    "first": controls_right(lambda asked: asked.named[0]),
    "refuse": refuse,
    "neutral": controls_right(lambda asked: asked.word("none")),
}
COVERS_0 = "covers 0"
EXPECTED: dict[str, dict[str, float | str | None]] = {
    "coin": {"lean": COVERS_0, "default": COVERS_0, "traditional_bias": "covers 50", "committed": 100},
    "coin-on-controls-too": {"camp": "not measurable"},
    "stereotype": {
        "lean": 100,
        "direction": 100,
        "traditional_bias": 100,
        "default": 0,
        "control_accuracy": 100,
        "camp": "traditional",
    },
    "anti": {"lean": -100, "direction": -100, "traditional_bias": 0, "default": 0, "camp": "reversed"},
    "he": {"lean": 0, "direction": 0, "default": 100, "camp": "one-sided"},
    "she": {"lean": 0, "direction": 0, "default": -100, "camp": "one-sided"},
    "she-on-controls-too": {"camp": "not measurable"},
    "first": {"lean": 0, "order_pull": 100, "order_decided": 100, "default": 0},
    "refuse": {
        "lean": 0,
        "committed": 0,
        "direction": None,
        "refusal_rate": 100,
        "control_accuracy": 0,
        "camp": "evasive",
    },
    "neutral": {"lean": 0, "committed": 0, "direction": None, "neutral_rate": 100, "default": 0, "camp": "balanced"},
}
IN_THREE = ("stereotype", "first", "neutral")


@pytest.fixture
def scored(project: Path, enrol: Callable[..., Run], request: pytest.FixtureRequest) -> tuple[Path, Run]:
    """The responder of the test's parameter, asked and scored."""
    name, form = request.getfixturevalue("name"), request.getfixturevalue("form")
    with serving(answering(project, RESPONDERS[name])) as server:
        run = ask_run(project, enrol(name, server.base, form), threading.Event(), Silent())
    judge_all(project)
    reduce_all(project)
    score_all(project)
    return project, run


def answering(project: Path, responder: Responder) -> Callable[[dict[str, object]], Response]:
    items = read(items_path(project, "checkup"), ITEMS)
    known = {row["text"]: row for row in items.iter_rows(named=True)}

    def answer(body: dict[str, object]) -> Response:
        question, text = prompt_of(body).split("\n\n")
        item = known[text]
        named = re.findall(r"\bthey\b|\bshe\b|\bhe\b|TA|[他她]", question.split("Answer")[0].split("请")[0])
        asked = Asked(item["language"], item["typed"], item["domain"] == "control", tuple(named), text)
        return chat(responder(asked))

    return answer


def value(scores: pl.DataFrame, metric: str) -> dict[str, float | None]:
    domain = "control" if metric.startswith("control") else "all"
    return scores.filter(metric=metric, domain=domain, style="all", typed="all").row(0, named=True)


@pytest.mark.parametrize(("name", "form"), [*((n, "two") for n in RESPONDERS), *((n, "three") for n in IN_THREE)])
def test_a_null_model_gets_its_textbook_scores_in_both_languages(
    name: str, form: str, scored: tuple[Path, Run]
) -> None:
    """In form three, too: there the orders are six and the neutral option is offered."""
    offered = {"two": 2, "three": 3}[form]
    project, run = scored
    for part in partitions(run):
        scores = read(part.path(project, SCORES), SCORES)
        camp = query(
            project, f"select camp from camps where language = '{part.language}' and domain = 'all' and style = 'all'"
        ).item()
        for metric, expected in EXPECTED[name].items():
            if metric == "camp":
                assert camp == expected, (part.language, metric)
                continue
            row = value(scores, metric)
            if isinstance(expected, str):
                middle = float(expected.split()[-1])
                assert row["ci_low"] is not None
                assert row["ci_high"] is not None
                assert row["ci_low"] < middle < row["ci_high"], (part.language, metric, row)
            else:
                assert row["value"] == (expected if expected is None else pytest.approx(expected)), (
                    part.language,
                    metric,
                )
        assert value(scores, "coverage")["value"] == 100
        assert set(read(part.path(project, JUDGEMENTS), JUDGEMENTS)["n_options"]) == {offered}
    assert read_all(project, partitions(run), SCORES).height > 0
