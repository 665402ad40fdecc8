"""Every way a provider can answer, put on the wire and read back."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from stages.errors import CallFailed, ModelUnavailable, Terminal, Transient
from stages.params import Model
from stages.protocols import Protocol
from stages.query.endpoints import Parameters, reached, requested
from stages.query.faults import redacted
from stages.query.prompts import Prompt
from stages.query.questions import Question
from stages.query.reply import Reply
from stages.query.routes import route_of
from tests.wire import Response, Server, chat, completion, error, serving

KEY = "sk-planted-0123456789abcdef"
WORDING = {"comma": ", ", "or": "/", "blank": {"chat": "{options} {text}", "completion": "{options} {text}"}}
PROTOCOL = Protocol.model_validate(
    {
        "benchmarks": ["b"],
        "form": "two",
        "elicitation": "choice",
        "conversation": "fresh",
        "wording": {"en": WORDING},
    }
)
OPTIONS = [{"key": "she", "label": None, "text": "she"}, {"key": "he", "label": None, "text": "he"}]
QUESTION = Question({"item_id": "i", "variant": "single"}, 1, 0, OPTIONS, seed=7)
CHAT = Prompt("Who?", messages=({"role": "user", "content": "Who?"},))


def model(**changes: Any) -> Model:
    return Model.model_validate({"route": "openai/asked-1", "api_key_env": "PLANTED_KEY", "timeout": 5} | changes)


def parameters(**changes: Any) -> Parameters:
    changed = model(**changes)
    return Parameters(route_of(changed, "http://127.0.0.1:9/v1"), changed, PROTOCOL)


def call(
    answer: Callable[[dict[str, Any]], Response],
    prompt: Prompt = CHAT,
    constraint: dict[str, int] | None = None,
    **changes: Any,
) -> tuple[Reply, Server]:
    async def run(base: str) -> Reply:
        async with reached(model(**changes), PROTOCOL, base, constraint) as endpoint:
            return await endpoint.call(QUESTION, prompt)

    with serving(answer) as server:
        return asyncio.run(run(server.base)), server


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_KEY", KEY)


def test_a_plain_reply_with_all_that_the_provider_reports() -> None:
    reply, server = call(lambda _: chat(" he"))
    assert reply == Reply(
        text=" he", stop_reason="stop", native_stop_reason="stop", served_model="served-1", fingerprint="fp-1",
        prompt_tokens=12, completion_tokens=1,
    )  # fmt: skip
    assert server.requests[0]["model"] == "asked-1"
    assert {k: server.requests[0][k] for k in ("temperature", "top_p", "max_tokens")} == requested(PROTOCOL, model())


def test_the_cost_of_an_unknown_model_is_unknown() -> None:
    assert call(lambda _: chat("he"))[0].cost is None


@pytest.mark.parametrize(
    ("response", "text", "stop_reason", "native"),
    [
        (chat(None, "content_filter"), None, "content_filter", "content_filter"),
        (error(400, "content_filter"), None, "content_filter", "content_filter"),
        (Response(completion([])), None, "content_filter", "no choices"),
        (chat(None, "stop", refusal="I can't help"), None, "content_filter", "refusal: I can't help"),
        (chat(None, "length", reasoning_content="He is…"), None, "length", "length"),
        (chat("", "stop"), "", "stop", "stop"),
        (chat("he", "strange_reason"), "he", "stop", "strange_reason"),
        (chat("h\ud83d e"), "h\ufffd e", "stop", "stop"),
    ],
    ids=[
        "filtered",
        "filtered by status",
        "no choices",
        "refusal field",
        "only reasoning",
        "empty",
        "odd reason",
        "half a character",
    ],
)
def test_every_reply_is_final_and_keeps_its_native_reason(
    response: Response, text: str | None, stop_reason: str, native: str
) -> None:
    reply, server = call(lambda _: response)
    assert (reply.text, reply.stop_reason, reply.native_stop_reason) == (text, stop_reason, native)
    assert len(server.requests) == 1


def test_bytes_that_are_no_characters_do_not_spoil_a_reply_that_was_paid_for() -> None:
    good = b'{"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "h\xff"}}]}'
    assert call(lambda _: Response(good))[0].text == "h\ufffd"


def test_reasoning_is_kept_apart() -> None:
    assert call(lambda _: chat(None, "length", reasoning_content="He is…"))[0].reasoning == "He is…"


@pytest.mark.parametrize(
    ("response", "kind", "error_class", "retry_after"),
    [
        (error(429, "rate_limit_exceeded", Retry_After="7"), "rate_limited", Transient, 7.0),
        (error(429, "insufficient_quota"), "quota", ModelUnavailable, None),
        (error(401, "invalid_api_key"), "auth", ModelUnavailable, None),
        (error(403, "forbidden"), "auth", ModelUnavailable, None),
        (error(404, "model_not_found"), "not_found", ModelUnavailable, None),
        (error(500, "server"), "server_error", Transient, None),
        (error(503, "busy", Retry_After="2"), "server_error", Transient, 2.0),
        (error(400, "unsupported_value"), "bad_request", Terminal, None),
        (Response(b"<html>proxy</html>"), "broken", Transient, None),
        (Response(b'{"choices": [{"mess'), "broken", Transient, None),
        (Response({}), "broken", Transient, None),
        (Response(b"x" * 5_000_000), "too_long", Terminal, None),
    ],
    ids=["429", "quota", "401", "403", "404", "500", "503", "400", "html", "cut off", "no choices", "5 MB"],
)
def test_every_failure_says_whether_asking_again_can_help(
    response: Response, kind: str, error_class: type, retry_after: float | None
) -> None:
    with pytest.raises(CallFailed) as caught:
        call(lambda _: response)
    assert (caught.value.kind, type(caught.value), caught.value.retry_after) == (kind, error_class, retry_after)


def test_nobody_listening_is_transient() -> None:
    async def run() -> None:
        async with reached(model(), PROTOCOL, "http://127.0.0.1:9/v1") as endpoint:
            await endpoint.call(QUESTION, CHAT)

    with pytest.raises(Transient):
        asyncio.run(run())


def test_a_key_never_stands_in_an_error() -> None:
    with pytest.raises(ModelUnavailable) as caught:
        call(lambda _: error(401, "invalid_api_key", f"Incorrect API key provided: {KEY}, and sk-another-9999999999"))
    assert "0123456789" not in str(caught.value)
    assert "9999999999" not in str(caught.value)
    assert "PLANTED_KEY" in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_long_or_many_lined_message_becomes_one_short_line() -> None:
    assert redacted("a\n" * 1000, "none").count("\n") == 0
    assert len(redacted("a" * 5000, "none")) == 300


def test_the_roster_entry_changes_what_is_sent() -> None:
    _, server = call(lambda _: chat("he"), temperature=1, max_tokens=40, seed=True, extra_body={"cache_prompt": False})
    sent = {k: server.requests[0].get(k) for k in ("temperature", "max_tokens", "seed", "cache_prompt")}
    assert sent == {"temperature": 1, "max_tokens": 40, "seed": 7, "cache_prompt": False}


def constrained(body: dict[str, Any]) -> Response:
    top = [{"id": 5, "token": " a", "logprob": -0.5}, {"id": 10, "token": " he", "logprob": -2.0}]
    content = [{"id": 11, "token": " she", "logprob": -3.5, "top_logprobs": top[: body["logprobs"]]}]
    return Response(
        completion([{"index": 0, "text": " she", "finish_reason": "length", "logprobs": {"content": content}}])
    )


def test_a_constrained_answer_keeps_the_unconstrained_log_probability_of_every_word() -> None:
    reply, server = call(
        constrained,
        Prompt("Q", text="Q Answer:"),
        {"he": 10, "she": 11},
        api="completion",
        top_logprobs=2,
        route="text-completion-openai/asked-1",
    )
    assert reply.text == " she"
    assert reply.candidates == {"she": -3.5, "he": -2.0}
    body = server.requests[0]
    assert (body["prompt"], body["max_tokens"], body["logit_bias"]) == ("Q Answer:", 1, {"10": 100, "11": 100})


def test_a_word_that_was_not_reported_has_no_log_probability() -> None:
    reply, _ = call(
        constrained,
        Prompt("Q", text="Q"),
        {"he": 10, "she": 11},
        api="completion",
        top_logprobs=1,
        route="text-completion-openai/asked-1",
    )
    assert reply.candidates == {"she": -3.5, "he": None}
