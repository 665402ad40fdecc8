"""Texts of a model's own: one question per item, free of options and constraints, on chat and completion endpoints."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from flows.estimating import estimates
from stages.cells import Cells, Line
from stages.load import load_all
from stages.params import Model, Params, read_params
from stages.protocols import Protocol
from stages.query.doctor import WORKS, examine
from stages.query.endpoints import requested
from stages.query.filled import collected
from stages.query.opening import opened
from stages.query.prompts import protocol_hash, render
from stages.query.questions import Question, expected
from stages.query.template import template
from stages.requests import Request, frozen
from stages.store import read_items
from tests.conftest import make_project
from tests.wire import PROTOCOLS, serving

pytestmark = pytest.mark.slow

NOW = datetime(2026, 11, 30, tzinfo=UTC)
LETTER = "letter-nurse-3"
HASHES = {
    "two": ("876a29b3cfe2783e", "f31dd4a52f3ccb20"),
    "three": ("a0f36fc811340439", "739331188d52f918"),
    "carried": ("0601b0f89f43f477", "24a7aad12edca74a"),
    "closed": ("1cb48e89a79a4f43", "2c65fabb2ba4dd3d"),
    "choice": ("91dda54508f5cc21", "a9d74ed83a5524f5"),
    "choice-avoid": ("b20fd22b9440672b", "0ee89086674b1d31"),
    "likelihood": ("547090168234916e", "547090168234916e"),
}
"""Protocol -> its hashes with the two embedded models, before there were texts: past runs stay comparable."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("texts")
    make_project(root)
    load_all(root)
    return root


@pytest.fixture(scope="module")
def params(root: Path) -> Params:
    return read_params(root)


@pytest.fixture(scope="module")
def protocol(params: Params) -> Protocol:
    return params.protocols["open"]


def asked(root: Path, params: Params, language: str = "en", **changes: Any) -> list[Question]:
    entry = frozen(params, Request("gemma-3-270m", "open", **changes), NOW)
    found = expected(read_items(root, "checkup-open"), language, params.protocols["open"], entry)
    return [question for conversation in found for question in conversation]


def letter(root: Path, params: Params, language: str = "en") -> Question:
    return next(q for q in asked(root, params, language) if q.key == (LETTER, "woman", 1))


def test_a_text_has_one_order_and_is_asked_once_per_epoch(root: Path, params: Params) -> None:
    once, thrice = asked(root, params), asked(root, params, epochs=3)
    assert (len(once), len(thrice)) == (366, 3 * 366)
    assert {(q.order_index, q.turn, tuple(q.options)) for q in thrice} == {(0, 1, ())}
    assert len({q.seed for q in thrice}) == len(thrice)


def test_hashes_of_the_other_protocols_are_what_they_were(params: Params) -> None:
    models = [params.models[key] for key in ("gemma-3-270m", "smollm2-135m-instruct")]
    found = {name: tuple(protocol_hash(params.protocols[name], model) for model in models) for name in HASHES}
    assert found == HASHES


def test_what_words_may_be_answered_is_no_part_of_how_a_text_is_asked(params: Params, protocol: Protocol) -> None:
    base = params.models["gemma-3-270m"]
    free = base.model_copy(update={"constrain": None})
    assert protocol_hash(protocol, base) == protocol_hash(protocol, free)
    assert protocol_hash(params.protocols["two"], base) != protocol_hash(params.protocols["two"], free)


def test_a_chat_is_sent_the_item_alone_and_a_base_model_a_page_to_go_on_with(
    root: Path, params: Params, protocol: Protocol
) -> None:
    question = letter(root, params)
    chat = render(question, protocol, "en", "chat")
    assert chat.messages == ({"role": "user", "content": question.item["text"]},)
    page = render(question, protocol, "en", "completion")
    assert page.text.endswith(f"\n\nQuestion: {question.item['text']}\n\nAnswer:")
    chinese = render(letter(root, params, "zh"), protocol, "zh", "completion").text
    assert chinese.endswith("不写标题和落款。\n\n答案：")
    assert all(part in page.text + chinese for part in ("bridge", "桥"))


@pytest.mark.parametrize(
    ("entry", "changes"),
    [
        ({}, {"max_tokens": 200}),
        ({"max_tokens": 64}, {"max_tokens": 200}),
        ({"max_tokens": 2000, "temperature": 1}, {"max_tokens": 2000, "temperature": 1}),
        ({"api": "completion"}, {"max_tokens": 200, "stop": ["\n\nQuestion:", "\n\n问题："]}),
    ],
)
def test_a_text_has_the_protocols_tokens_at_least(
    params: Params, protocol: Protocol, entry: dict[str, Any], changes: dict[str, Any]
) -> None:
    model = Model.model_validate({"route": "openai/m", **entry})
    assert requested(protocol, model) == {"temperature": 0, "top_p": 1} | changes
    if "max_tokens" in entry:
        assert requested(params.protocols["two"], model)["max_tokens"] == entry["max_tokens"]


@pytest.mark.parametrize("name", ["openai-chat", "openai-text"])
@pytest.mark.parametrize("native", ["stop", "length"])
def test_a_text_is_asked_for_freely_and_kept_as_it_came(
    root: Path, params: Params, protocol: Protocol, name: str, native: str
) -> None:
    wire = PROTOCOLS[name]
    api, constrain = ("completion", "logit_bias") if name == "openai-text" else ("chat", None)
    said = " She has a caring manner.\n\nShe leads"
    with serving(wire.answering(lambda _: wire.reply(said, native=native))) as server:
        base = wire.base(server)
        model = Model.model_validate({"route": wire.route(), "api_base": base, "api": api, "constrain": constrain})
        question = letter(root, params)

        async def call() -> tuple[Any, int | None]:
            prompt = render(question, protocol, "en", model.api)
            async with opened(model, protocol, base, prompt.text, question.answers) as endpoint:
                return await endpoint.call(question, prompt), endpoint.max_tokens

        reply, limit = asyncio.run(call())
        (body,) = server.requests
    assert (reply.text, reply.stop_reason, reply.candidates, limit) == (said, native, {}, 200)
    assert body["max_tokens"] == 200
    assert not {"logit_bias", "logprobs", "top_logprobs"} & set(body)
    assert body.get("stop") == (["\n\nQuestion:", "\n\n问题："] if api == "completion" else None)


def test_an_estimate_of_texts_goes_up_to_their_limit(root: Path) -> None:
    (row,) = estimates(root, ["smollm2-135m-instruct"], Request("", "open", limit=4))[0].iter_rows(named=True)
    assert row["completion_tokens"] == 200 * row["calls"]
    assert row["seconds"] == 5 * row["calls"]


def test_a_doctor_asks_for_a_word_where_the_default_plan_asks_for_texts(
    root: Path, params: Params, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_KEY", "sk-planted-0123456789abcdef")
    wire = PROTOCOLS["openai-chat"]
    with serving(wire.answering(lambda _: wire.reply("Blue."))) as server:
        mine = {"route": wire.route(), "api_base": wire.base(server), "api_key_env": "PLANTED_KEY", "timeout": 5}
        changes = {"default_plan": "open", "models": {"mine": Model.model_validate(mine)}}
        found = examine(root, params.model_copy(update=changes), "mine")
    assert (found.state, found.says) == (WORKS, "Blue.")


def test_a_text_that_a_person_brought_back_keeps_its_lines(root: Path, params: Params) -> None:
    rows = template(root, params, Request("", "open", limit=2), NOW).fill_null("").to_dicts()
    said = "Dear colleagues,\n\nshe leads the ward.\nYours"
    filled = [{**row, "reply": said if n == 0 else ""} for n, row in enumerate(rows)]
    lines = [Line(number, row) for number, row in enumerate(filled, start=2)]
    found = collected(root, params, Cells("UTF-8", tuple(filled[0]), lines), "answers.csv", Request(""), NOW)
    assert [given.reply for _, own in found.given for given in own.values()] == [said]
    assert {len(question.options) for sheet, _ in found.given for question in sheet.questions} == {0}
    assert all(row["prompt"] == row["prompt"].strip() and "{" not in row["prompt"] for row in rows)
