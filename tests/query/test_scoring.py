"""Options scored by likelihood: both kinds of server, what is scored of a text, and what they cannot do."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from stages.errors import CallFailed, ModelUnavailable, Transient
from stages.params import Model
from stages.query.opening import scorer
from stages.query.prompts import Prompt, render
from stages.query.questions import Question
from stages.query.reply import Reply
from stages.query.scoring import ScoringEndpoint, shared
from tests.clusters import LIKELIHOOD, cluster
from tests.query.language_model import BEGINNING, LanguageModel
from tests.wire import Response, Server, error, serving

KEY = "sk-planted-0123456789abcdef"
CONTEXT = "The tall neighbour waved."
WHOLE = ("The tall man slept.", "The tall man sang and slept.", "A lamp slept.")
CONTINUATIONS = tuple(f"{CONTEXT} {text}" for text in ("He slept.", "He sang and slept.", "Lamps cost much."))
BACK_ENDS = ("llama_cpp", "prompt_logprobs")


def ask(
    back_end: str,
    answer: Callable[[dict[str, Any]], Response],
    after: str = "",
    texts: tuple[str, ...] = WHOLE,
    **entry: Any,
) -> tuple[Reply, Server]:
    options = [{"key": f"id{i}", "label": None, "text": text} for i, text in enumerate(texts)]
    question = Question({"item_id": "i", "variant": "single", "task": "option"}, 1, 0, options, seed=7)

    async def run(base: str) -> Reply:
        settings = {"route": "openai/asked-1", "api_base": base, "likelihood": back_end, "api_key_env": "PLANTED_KEY"}
        model = Model.model_validate(settings | entry)
        async with scorer(model, base) as found:
            endpoint = ScoringEndpoint(found, model)
            assert endpoint.sent(question)["likelihood"] == back_end
            return await endpoint.call(question, Prompt(after, text=after, scored=texts))

    with serving(answer) as server:
        return asyncio.run(run(server.base)), server


def server_of(model: LanguageModel, back_end: str) -> Callable[[dict[str, Any]], Response]:
    return model.llama_cpp if back_end == "llama_cpp" else model.vllm


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_KEY", KEY)


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize(("after", "texts"), [("", WHOLE), (CONTEXT, CONTINUATIONS)], ids=["whole", "continuation"])
def test_a_score_is_the_mean_over_what_is_not_given(back_end: str, after: str, texts: tuple[str, ...]) -> None:
    model = LanguageModel()
    reply, _ = ask(back_end, server_of(model, back_end), after, texts)
    expected = {f"id{i}": model.score(after, text) for i, text in enumerate(texts)}
    assert reply.candidates == pytest.approx({key: total / n for key, (total, n) in expected.items()})
    assert reply.n_tokens == {key: n for key, (_, n) in expected.items()}
    assert (reply.text, reply.stop_reason, reply.served_model) == (None, "scored", "served-1")


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_the_first_word_follows_the_beginning_token_and_counts(back_end: str) -> None:
    model = LanguageModel()
    reply, _ = ask(back_end, server_of(model, back_end), texts=("Lamps slept.", "Slept."))
    assert reply.n_tokens == {"id0": 2, "id1": 1}


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_token_that_the_joint_makes_one_counts_to_the_continuation(back_end: str) -> None:
    model = LanguageModel(glued=" waved. He")
    reply, _ = ask(back_end, server_of(model, back_end), CONTEXT, CONTINUATIONS)
    assert reply.n_tokens == {"id0": 2, "id1": 4, "id2": 3}
    total, n = model.score(CONTEXT, CONTINUATIONS[0])
    assert reply.candidates["id0"] == pytest.approx(total / n)


def test_what_the_candidates_begin_with_is_asked_for_once() -> None:
    model = LanguageModel()
    _, server = ask("llama_cpp", model.llama_cpp, CONTEXT, CONTINUATIONS)
    calls = [body for body in server.requests if "prompt" in body]
    asked = [(*body["prompt"], body["logit_bias"][0][0]) for body in calls]
    different = {tuple(model.tokens(text)[:i]) for text in CONTINUATIONS for i in range(6, len(model.tokens(text)) + 1)}
    assert len(asked) == len(set(asked)) == len(different)
    assert [body["cache_prompt"] for body in calls] == [False, *[True] * (len(calls) - 1)]


@pytest.mark.parametrize("newer", [True, False])
def test_the_token_that_is_there_is_told_from_the_likeliest_in_any_order(newer: bool) -> None:
    model = LanguageModel(newer=newer)
    reply, _ = ask("prompt_logprobs", model.vllm, CONTEXT, CONTINUATIONS)
    assert reply.n_tokens == {"id0": 2, "id1": 4, "id2": 3}
    total, n = model.score(CONTEXT, CONTINUATIONS[1])
    assert reply.candidates["id1"] == pytest.approx(total / n)


def test_all_texts_of_a_question_go_into_one_request() -> None:
    model = LanguageModel()
    reply, server = ask("prompt_logprobs", model.vllm, CONTEXT, CONTINUATIONS, extra_body={"priority": 1})
    (body,) = server.requests
    assert body["prompt"] == [CONTEXT, *CONTINUATIONS]
    assert (body["model"], body["priority"]) == ("asked-1", 1)
    assert reply.prompt_tokens == sum(len(model.tokens(text)) for text in (CONTEXT, *CONTINUATIONS))


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_tokenizer_without_a_beginning_token_is_named_with_the_mend(back_end: str) -> None:
    model = LanguageModel(begins=False)
    with pytest.raises(ModelUnavailable, match="add `beginning`"):
        ask(back_end, server_of(model, back_end))
    reply, _ = ask(back_end, server_of(model, back_end), beginning=BEGINNING)
    totals = [LanguageModel().score("", text) for text in WHOLE]
    assert list(reply.candidates.values()) == pytest.approx([total / n for total, n in totals])


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_continuation_needs_no_beginning_token(back_end: str) -> None:
    model = LanguageModel(begins=False)
    reply, _ = ask(back_end, server_of(model, back_end), CONTEXT, CONTINUATIONS)
    assert reply.n_tokens == {"id0": 2, "id1": 4, "id2": 3}


def without_logprobs(body: dict[str, Any]) -> Response:
    response = LanguageModel().vllm(body)
    assert isinstance(response.body, dict)
    for choice in response.body["choices"]:
        del choice["prompt_logprobs"]
    return response


def with_gaps(body: dict[str, Any]) -> Response:
    response = LanguageModel().vllm(body)
    assert isinstance(response.body, dict)
    response.body["choices"][0]["prompt_logprobs"][1] = None
    return response


def with_one_choice(body: dict[str, Any]) -> Response:
    response = LanguageModel().vllm(body)
    assert isinstance(response.body, dict)
    response.body["choices"] = response.body["choices"][:1]
    return response


def with_nothing(body: dict[str, Any]) -> Response:
    response = LanguageModel().vllm(body)
    assert isinstance(response.body, dict)
    for choice in response.body["choices"]:
        choice["prompt_logprobs"] = []
    return response


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (with_one_choice, Transient, "answered 1 of 4 prompts"),
        (with_nothing, Transient, "told no token of a sentence"),
        (without_logprobs, ModelUnavailable, "tells no log-probabilities of a prompt; correct `likelihood`"),
        (with_gaps, Transient, "gave no log-probability of a token"),
        (lambda _: error(401, "invalid_api_key", f"bad key {KEY}"), ModelUnavailable, "check PLANTED_KEY in .env"),
        (lambda _: error(503, "busy"), Transient, "HTTP 503: no"),
        (lambda _: Response(b"<html>proxy</html>"), Transient, "Expecting value"),
    ],
    ids=["one choice", "nothing", "other server", "gap", "401", "503", "html"],
)
def test_a_server_that_cannot_tell_is_named(
    answer: Callable[[dict[str, Any]], Response], kind: type[CallFailed], says: str
) -> None:
    with pytest.raises(kind, match=says) as caught:
        ask("prompt_logprobs", answer, CONTEXT, CONTINUATIONS)
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_sentence_stands_alone_and_a_continuation_after_its_context() -> None:
    alone, follows = cluster("stereoset-intrasentence"), cluster("stereoset-intersentence")
    whole = render(Question(alone, 1, 0, alone["options"], 0), LIKELIHOOD, "en", "chat")
    assert (whole.text, whole.scored) == ("", tuple(option["text"] for option in alone["options"]))
    joined = render(Question(follows, 1, 0, follows["options"], 0), LIKELIHOOD, "en", "completion")
    assert joined.text == follows["text"]
    assert joined.scored == tuple(f"{follows['text']} {option['text']}" for option in follows["options"])
    assert whole.hash != joined.hash


@pytest.mark.parametrize(
    ("one", "other", "count"), [("", "ab", 0), ("ab", "abc", 2), ("abx", "aby", 2), ("xa", "ya", 0)]
)
def test_what_two_texts_begin_with(one: str, other: str, count: int) -> None:
    assert shared(one, other) == count
