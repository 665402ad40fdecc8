"""Whether a model can be asked as its entry says: one small question, put through everything that a run goes through."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.errors import CallFailed, UsageError
from stages.params import Model, Params, Protocol
from stages.query.collect import base_of
from stages.query.endpoints import requested
from stages.query.opening import opened, scorer
from stages.query.prices import price_of
from stages.query.prompts import canonical, render
from stages.query.questions import Question
from stages.query.reply import Reply

WORKS, SKIPPED, FAILS = "works", "skipped", "fails"
_ITEM = {
    "benchmark": "doctor",
    "item_id": "sky",
    "variant": "single",
    "task": "blank",
    "text": "On a clear day the sky is ____.",
}
_OPTIONS = [{"key": word, "label": None, "text": word, "gender": 0} for word in ("blue", "green")]
QUESTION = Question(_ITEM, epoch=1, order_index=0, options=_OPTIONS, seed=1)
_SENTENCE = "On a clear day the sky is blue."


@dataclass(frozen=True)
class Finding:
    """What one call to a model showed; what was not tried, or is not there, is null."""

    model: str
    state: str
    says: str
    """The reply, or in one sentence what is wrong and how to mend it."""
    served_model: str | None = None
    seconds: float | None = None
    """Of the call, without what comes before it."""
    not_sent: str | None = None
    """Parameters asked for and left out, as the model rejects them."""
    constraint: str | None = None
    log_probabilities: str | None = None
    price: str | None = None


def examine(root: Path, params: Params, key: str) -> Finding:
    """Ask ``key`` one question by the default plan's first protocol with a blank, or else by any; an embedded model is started
    for it."""
    model = params.models[key]
    if obstacle := model.obstacle():
        return Finding(key, SKIPPED, obstacle)
    protocol = _with_blank(params)
    try:
        with base_of(root, key, model) as base:
            return asyncio.run(_examined(key, model, protocol, base))
    except CallFailed as error:
        return Finding(key, FAILS, str(error))
    except TimeoutError:
        return Finding(key, FAILS, f"no reply within {model.timeout:g} seconds")


def _with_blank(params: Params) -> Protocol:
    """:raises UsageError: no protocol asks for the word of a blank."""
    names = dict.fromkeys([*params.plans[params.default_plan].protocols, *params.protocols])
    found = next((name for name in names if "blank" in params.protocols[name].tasks), None)
    if found is None:
        raise UsageError("No protocol of params.yaml has the form two or three, by which a model is tried; add one.")
    return params.protocols[found]


async def _examined(key: str, model: Model, protocol: Protocol, base: str | None) -> Finding:
    prompt = render(QUESTION, protocol, next(iter(protocol.wording)), model.api)
    async with opened(model, protocol, base, prompt.text, QUESTION.answers) as endpoint:
        sent = endpoint.sent(QUESTION)
        began = time.monotonic()
        async with asyncio.timeout(model.timeout):
            reply = await endpoint.call(QUESTION, prompt)
        seconds = time.monotonic() - began
    price = price_of(model)
    return Finding(
        key,
        WORKS,
        (reply.text or "").strip() or f"nothing ({reply.native_stop_reason})",
        reply.served_model,
        seconds,
        _left_out(requested(protocol, model), sent),
        _heeded(model, reply),
        await _likelihoods(model, base),
        None if price is None else f"{price.input:g}/{price.output:g}",
    )


def _left_out(asked: dict[str, Any], sent: dict[str, Any]) -> str | None:
    told = canonical(sent)
    aliases = {"max_tokens": ("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict")}
    missing = [name for name in asked if not any(f'"{alias}"' in told for alias in aliases.get(name, (name,)))]
    return ", ".join(missing) or None


def _heeded(model: Model, reply: Reply) -> str | None:
    """Whether the words that may be answered were the only ones, and each had its log-probability."""
    if model.constrain is None:
        return None
    words = [option["text"] for option in _OPTIONS]
    if (reply.text or "").strip() not in words:
        return "not heeded"
    return (
        "heeded"
        if all(value is not None for value in reply.candidates.values())
        else "heeded, a log-probability is missing"
    )


async def _likelihoods(model: Model, base: str | None) -> str | None:
    if model.likelihood is None:
        return None
    try:
        async with asyncio.timeout(model.timeout), scorer(model, base or model.api_base or "") as found:
            (score,) = (await found.scores("", [_SENTENCE])).each
    except CallFailed as error:
        return str(error)
    return f"{score.total / score.n_tokens:.2f} a token"
