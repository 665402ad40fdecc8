"""A roster entry -> calls. What is special about a model stands in its entry, and what is special about a provider litellm knows."""

import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from typing import Protocol as Interface

from stages.params import Model, Price, Protocol
from stages.query.faults import HIDDEN, SHORTEST_KEY, Fault, failure, fault_of_exception, fault_of_response
from stages.query.filtering import filter_word
from stages.query.prices import cost, price_of
from stages.query.prompts import Prompt
from stages.query.questions import Question
from stages.query.reading import read_reply
from stages.query.reply import Reply
from stages.query.routes import Route, Translator, load_litellm, route_of, translator
from stages.query.transport import Response, Transport

NO_CALLS_VARIABLE = "CHECKUP_NO_CALLS"
Constraint = Mapping[str, int]
"""Word that may be answered -> its one token as it follows a prompt; given where the endpoint takes ``logit_bias``."""


class Endpoint(Interface):
    """What the asking engine needs of a model."""

    @property
    def max_tokens(self) -> int | None:
        """Of a reply, as sent; null where no limit is."""

    async def call(self, question: Question, prompt: Prompt) -> Reply: ...

    def sent(self, question: Question) -> dict[str, Any]: ...


def requested(protocol: Protocol, model: Model) -> dict[str, Any]:
    """The sampling parameters that the protocol asks for, and the roster entry changes; none where nothing is sampled.

    A text has at least the protocol's tokens: an entry's fewer are for one word and chatter around it.
    """
    if protocol.scored:
        return {}
    asked = {"temperature": protocol.temperature, "top_p": protocol.top_p, "max_tokens": protocol.max_tokens}
    found = asked | model.changes()
    if not protocol.written:
        return found
    ends = {"stop": protocol.stop} if protocol.stop and model.api == "completion" else {}
    return found | {"max_tokens": max(found["max_tokens"], protocol.max_tokens)} | ends


@asynccontextmanager
async def reached(
    model: Model, protocol: Protocol, base: str | None = None, constraint: Constraint | None = None
) -> "AsyncIterator[Endpoint]":
    """The endpoint of ``model`` under ``protocol``: over the project's own connections, or litellm's where only they can."""
    parameters = Parameters(route_of(model, base or model.api_base), model, protocol, constraint, price_of(model))
    found = translator(parameters.route, model)
    if found is None:
        async with LitellmEndpoint(parameters) as slow:
            yield slow
        return
    async with Transport(model) as transport:
        yield DirectEndpoint(parameters, found, transport)


@dataclass
class Parameters:
    """What is asked of a route beside the prompt, and what of it is sent."""

    route: Route
    model: Model
    protocol: Protocol
    constraint: Constraint | None = None
    price: Price | None = None
    _last: tuple[dict[str, Any], dict[str, Any]] = field(default=({}, {}), init=False)

    def asked(self, question: Question) -> dict[str, Any]:
        """In OpenAI's names, as litellm takes them."""
        params = requested(self.protocol, self.model)
        if self.model.seed:
            params["seed"] = question.seed
        if self.constraint:
            bias = {str(self.constraint[word]): 100 for word in question.answers}
            params |= {"max_tokens": 1, "logprobs": self.model.top_logprobs, "logit_bias": bias}
        return {name: value for name, value in params.items() if name not in self.model.omit}

    def mapped(self, question: Question) -> dict[str, Any]:
        """In the provider's names, without those that the model rejects."""
        asked = self.asked(question)
        if asked != self._last[0]:
            self._last = asked, self.route.mapped(asked)  # the last one only: seeds differ with every question
        return self._last[1]

    def sent(self, question: Question) -> dict[str, Any]:
        return {**self.mapped(question), **self.model.extra_body}

    def finished(self, reply: Reply) -> Reply:
        """``reply`` with what it cost, and without the key: some servers say what they were sent."""
        key, said = self.route.key, (reply.text, reply.reasoning, reply.native_stop_reason)
        if len(key) > SHORTEST_KEY and any(key in text for text in said if text):
            text, reasoning, native = (text and text.replace(key, HIDDEN) for text in said)
            reply = replace(reply, text=text, reasoning=reasoning, native_stop_reason=native)
        return replace(reply, cost=cost(self.price, reply))

    @property
    def max_tokens(self) -> int | None:
        if self.constraint:
            return 1
        limit: int | None = requested(self.protocol, self.model).get("max_tokens")
        return None if "max_tokens" in self.model.omit else limit


@dataclass
class _Parametrized:
    parameters: Parameters

    @property
    def max_tokens(self) -> int | None:
        return self.parameters.max_tokens

    def sent(self, question: Question) -> dict[str, Any]:
        """What is sent for ``question`` beside the prompt."""
        return self.parameters.sent(question)


@dataclass
class DirectEndpoint(_Parametrized):
    """Calls that litellm translates and the project's own connections carry."""

    translator: Translator
    transport: Transport

    async def call(self, question: Question, prompt: Prompt) -> Reply:
        """One call. Deadline and retries are the engine's.

        :raises CallFailed: there was no reply; its class says whether asking again can help.
        """
        body = json.dumps(self.translator.body(prompt, self.parameters.mapped(question)), ensure_ascii=False)
        response = await self.transport.post(self.translator.url, self.translator.headers, body.encode())
        if not 200 <= response.status < 300:
            return withheld(fault_of_response(response.status, response.headers, response.body), self.parameters.model)
        try:
            # A byte that is no character is still part of a reply that was paid for.
            parsed = json.loads(response.body.decode(errors="replace"))
            found = self.translator.read(parsed)
        except Exception as error:  # litellm trips over what is no reply in many ways
            return withheld(_unreadable(response, error), self.parameters.model)
        return self.parameters.finished(read_reply(found, parsed, question, self.parameters.constraint))


@dataclass
class LitellmEndpoint(_Parametrized):
    """Calls through litellm's own client."""

    async def __aenter__(self) -> "LitellmEndpoint":
        return self

    async def __aexit__(self, *_: object) -> None:
        await close_clients()

    async def call(self, question: Question, prompt: Prompt) -> Reply:
        """See ``DirectEndpoint.call``."""
        litellm, model, route = load_litellm(), self.parameters.model, self.parameters.route
        raw: dict[str, Any] = {}
        common = {
            "model": model.route,
            "api_base": route.base,
            "api_key": route.key,
            "max_retries": 0,
            "timeout": model.timeout,
            "drop_params": True,
            "extra_body": model.extra_body or None,
            "extra_headers": model.headers or None,
            "logger_fn": raw.update,
            **self.parameters.asked(question),
        }
        try:
            if prompt.messages:
                response = await litellm.acompletion(messages=list(prompt.messages), **common)
            else:
                response = await litellm.atext_completion(prompt=prompt.text, **common)
        except Exception as error:  # litellm raises its own tree, and at times what a library below it raised
            return withheld(fault_of_exception(error), model)
        reply = read_reply(response, raw.get("original_response"), question, self.parameters.constraint)
        return self.parameters.finished(reply)


def withheld(fault: Fault, model: Model) -> Reply:
    """The reply that a filter kept back, if that is what ``fault`` says.

    :raises CallFailed: it is a failure; nothing of what caused it goes with it, as that may carry the key.
    """
    if word := filter_word(fault):
        return Reply(text=None, stop_reason="content_filter", native_stop_reason=word)
    raise failure(fault, model) from None


def _unreadable(response: Response, error: Exception) -> Fault:
    """A success that is none: some servers put an error into it, others a page or half a body."""
    said = fault_of_response(response.status, response.headers, response.body)
    if said.codes:
        return Fault(None, said.message, said.codes, said.retry_after)
    beginning = response.body[:80].decode(errors="replace")
    return Fault(None, f"the reply is no answer of this protocol ({type(error).__name__}); it begins: {beginning}")


async def close_clients() -> None:
    """Close the HTTP clients that litellm keeps for the running event loop; those of other threads' loops stay."""
    if "litellm" not in sys.modules:
        return
    from litellm import in_memory_llm_clients_cache as kept
    from litellm.caching.llm_caching_handler import running_loop_token

    mine = [key for key in kept.cache_dict if key.endswith(f"-{running_loop_token()}")]
    for key in mine:
        client = kept.cache_dict.pop(key)
        await (client.aclose() if hasattr(client, "aclose") else client.close())
