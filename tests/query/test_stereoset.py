"""StereoSet asked by its protocols: what is sent, in which orders, and what is recorded of it."""

import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from stages.entries import Entry
from stages.errors import UsageError
from stages.ledger import Run, enter
from stages.orders import orders
from stages.params import read_params
from stages.query import Silent, ask_run
from stages.query.prompts import render
from stages.query.questions import Question, expected
from stages.requests import Request
from stages.schema import ANSWERS, ITEMS
from stages.store import items_path, partitions, read_all, write
from stages.validate import validate_answers
from tests.clusters import INTER, INTRA, LABELS, cluster, clusters
from tests.query.language_model import LanguageModel
from tests.wire import Response, chat, serving

COUNT = 5
ENTRY = Entry(
    opened=datetime(2026, 11, 30, tzinfo=UTC),
    plan="stereoset",
    benchmarks=(INTRA, INTER),
    languages=("en",),
    protocols=("choice",),
    styles=(),
    epochs=1,
    limit=None,
)


def questions(project: Path, protocol: str, count: int = COUNT, **changes: Any) -> list[Question]:
    asked = expected(
        clusters(INTER, count), "en", read_params(project).protocols[protocol], ENTRY.model_copy(update=changes)
    )
    return [question for conversation in asked for question in conversation]


@pytest.mark.parametrize("benchmark", [INTRA, INTER])
@pytest.mark.parametrize("language", ["en", "pt"])
def test_a_chat_gets_an_instruction_the_context_and_three_lettered_sentences(
    project: Path, benchmark: str, language: str
) -> None:
    item = cluster(benchmark, language=language)
    shown = [{**option, "label": letter} for letter, option in zip("ABC", item["options"], strict=True)]
    question = Question(item, 1, 0, shown, 0)
    sent = {
        name: render(question, read_params(project).protocols[name], language, "chat").messages
        for name in ("choice", "choice-avoid")
    }
    for system, user in sent.values():
        assert (system["role"], user["role"]) == ("system", "user")
        assert "ANSWER: $LETTER" in system["content"]
        assert item["text"] in user["content"]
        assert "\n".join(f"{option['label']}. {option['text']}" for option in shown) in user["content"]
    assert sent["choice"][1] == sent["choice-avoid"][1]
    assert ["stereo" in sent[name][0]["content"] or "estere" in sent[name][0]["content"] for name in sent] == [
        False,
        True,
    ]


def test_a_completion_prompt_is_one_line_that_the_letter_goes_on_from(project: Path) -> None:
    protocol = read_params(project).protocols["choice"]
    text = render(questions(project, "choice")[0], protocol, "en", "completion").text
    assert text.startswith(str(protocol.wording["en"].template("option").system))
    assert text.endswith(" ANSWER:")
    assert "\n" not in text


@pytest.mark.parametrize("epochs", [1, 2, 3, 6])
def test_each_order_is_met_equally_often_over_items_and_epochs(project: Path, epochs: int) -> None:
    count = 1200
    asked = questions(project, "choice", count, epochs=epochs)
    assert len(asked) == count * epochs
    met = Counter(tuple(option["outcome"] for option in question.options) for question in asked)
    mean = count * epochs / 6
    assert len(met) == len(orders(3))
    assert all(abs(n - mean) < 0.25 * mean for n in met.values())
    assert epochs < 6 or set(met.values()) == {mean}
    of_item = Counter((question.item["item_id"], question.order_index) for question in asked)
    assert set(of_item.values()) == {1}


def test_a_likelihood_is_asked_for_once_in_no_order_and_without_letters(project: Path) -> None:
    asked = questions(project, "likelihood", epochs=6)
    assert [(question.epoch, question.order_index) for question in asked] == [(1, 0)] * COUNT
    assert all(tuple(option["outcome"] for option in question.options) == LABELS for question in asked)
    assert {option["label"] for question in asked for option in question.options} == {None}


def test_shuffling_changes_the_order_of_asking_alone(project: Path) -> None:
    plain, shuffled, other = (
        questions(project, "choice", 50, shuffle=shuffle, seed=seed)
        for shuffle, seed in ((False, 0), (True, 0), (True, 1))
    )
    assert [q.key for q in plain] == sorted(q.key for q in plain)
    assert plain != shuffled
    assert sorted(plain, key=lambda q: q.key) == sorted(shuffled, key=lambda q: q.key)
    assert [q.key for q in other] != [q.key for q in shuffled]


@pytest.fixture
def planned_run(project: Path) -> Callable[..., Run]:
    """Plan a run of a model ``wired`` at a base URL over a few made-up clusters of both tasks."""
    for benchmark in (INTRA, INTER):
        write(items_path(project, benchmark), ITEMS, clusters(benchmark, COUNT))
    roster = project / "params.yaml"
    text = roster.read_text(encoding="utf-8")

    def plan(base: str, plan: str = "stereoset", entry: str = "likelihood: prompt_logprobs", **changes: Any) -> Run:
        wired = f"  wired: {{route: openai/m, api_base: '{base}', {entry}, max_attempts: 1}}\n"
        roster.write_text(text + wired, encoding="utf-8")
        return enter(project, read_params(project), replace(Request("wired", plan), **changes), datetime.now(UTC))

    return plan


def ask(project: Path, run: Run, max_connections: int | None = None) -> pl.DataFrame:
    sealed = ask_run(project, run, threading.Event(), Silent(), max_connections=max_connections)
    return read_all(project, partitions(sealed), ANSWERS)


def first(_: dict[str, Any]) -> Response:
    return chat("ANSWER: A", delay=0.05)


def test_a_run_by_likelihood_records_scores_and_no_reply(project: Path, planned_run: Callable[..., Run]) -> None:
    model = LanguageModel()
    with serving(model.vllm) as server:
        frame = ask(project, planned_run(server.base, "stereoset-likelihood"))
    assert frame.height == 2 * COUNT
    assert frame["reply"].null_count() == frame.height
    assert set(frame["stop_reason"]) == {"scored"}
    assert (set(frame["params_requested"]), set(frame["failure"])) == ({"{}"}, {None})
    for row in frame.iter_rows(named=True):
        sent = json.loads(row["prompt"])
        assert [candidate["key"] for candidate in row["candidates"]] == [option["key"] for option in row["options"]]
        for candidate, text in zip(row["candidates"], sent["scored"], strict=True):
            total, n = model.score(sent["after"], text)
            assert (candidate["logprob"] * candidate["n_tokens"], candidate["n_tokens"]) == (pytest.approx(total), n)
    after = dict(
        frame.group_by("benchmark").agg(pl.col("prompt").str.json_path_match("$.after").n_unique()).iter_rows()
    )
    assert after == {INTRA: 1, INTER: COUNT}, "a sentence stands alone, a continuation after its own context"


@pytest.mark.parametrize("epochs", [1, 2, 3, 6])
@pytest.mark.parametrize("seal", [False, True], ids=["asked", "sealed unasked"])
def test_the_contracts_hold_for_what_is_asked(
    project: Path, planned_run: Callable[..., Run], epochs: int, seal: bool
) -> None:
    both = {"protocols": ("choice", "likelihood"), "epochs": epochs}

    def answer(body: dict[str, Any]) -> Response:
        return first(body) if "messages" in body else LanguageModel().vllm(body)

    with serving(answer) as server:
        ask_run(project, planned_run(server.base, **both), threading.Event(), Silent(), seal)
    validate_answers(project)
    counts = {path.stem: pl.read_parquet(path).height for path in project.glob("data/answers/*/*/*.parquet")}
    once = {f"{benchmark}.en.likelihood": COUNT for benchmark in (INTRA, INTER)}
    assert counts == once | {f"{benchmark}.en.choice": COUNT * epochs for benchmark in (INTRA, INTER)}


def test_a_temperature_of_the_run_is_sent_and_recorded(project: Path, planned_run: Callable[..., Run]) -> None:
    with serving(first) as server:
        frame = ask(project, planned_run(server.base, epochs=1, temperature=0.7))
    assert {body["temperature"] for body in server.requests} == {0.7}
    assert set(frame["params_requested"].str.json_path_match("$.temperature")) == {"0.7"}
    assert set(frame["params_sent"].str.json_path_match("$.temperature")) == {"0.7"}


@pytest.mark.parametrize(("asked", "most"), [(2, 2), (None, 8)])
def test_connections_can_be_limited_for_one_command(
    project: Path, planned_run: Callable[..., Run], asked: int | None, most: int
) -> None:
    with serving(first) as server:
        ask(project, planned_run(server.base, epochs=3), asked)
    assert server.most_open == most


def test_a_model_that_no_longer_says_how_likelihoods_are_told_is_not_asked(
    project: Path, planned_run: Callable[..., Run]
) -> None:
    with serving(LanguageModel().vllm) as server:
        run = planned_run(server.base, "stereoset-likelihood")
        roster = project / "params.yaml"
        roster.write_text(
            roster.read_text(encoding="utf-8").replace("likelihood: prompt_logprobs, ", ""), encoding="utf-8"
        )
        with pytest.raises(UsageError, match=r"Run wired@.* cannot be asked: .* add `likelihood` to it"):
            ask(project, run)
    assert server.requests == []
