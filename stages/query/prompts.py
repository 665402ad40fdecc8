"""A question under a protocol -> what is sent: chat messages, or a prompt for a completion model."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal

from stages.params import Model, Protocol, Wording
from stages.query.questions import Question


@dataclass(frozen=True)
class Exchange:
    """An earlier turn of a conversation: what was asked, and the reply as it came."""

    asked: str
    reply: str


@dataclass(frozen=True)
class Prompt:
    """``messages`` (chat), ``text`` (completion), or the texts to be ``scored``; ``asked`` is the question alone."""

    asked: str
    messages: tuple[dict[str, str], ...] = ()
    text: str = ""
    """Of texts to be scored: what they go on from, which is not scored."""
    scored: tuple[str, ...] = ()

    @cached_property
    def recorded(self) -> str:
        """The prompt as it stands in the answers table."""
        if self.scored:
            return canonical({"after": self.text, "scored": self.scored})
        return canonical(list(self.messages)) if self.messages else self.text

    @property
    def hash(self) -> str:
        return short_hash(self.recorded)


def render(
    question: Question,
    protocol: Protocol,
    language: str,
    api: Literal["chat", "completion"],
    before: Sequence[Exchange] = (),
) -> Prompt:
    """Put ``question`` into the wording of ``protocol`` in ``language``, after the turns ``before`` it.

    A completion prompt has no trailing space: the answer's first token brings its own.
    """
    if protocol.scored:
        return _to_score(question, protocol)
    wording = protocol.wording[language]
    template = wording.template(question.item["task"])
    if api == "completion":
        asked = _filled(template.completion, question, _listed(question, wording, between=" "))
        turns = [continued(turn.asked, turn.reply.strip()) for turn in before]
        text = "\n\n".join([*turns, asked])
        return Prompt(asked, text=continued(template.system, text) if template.system else text)
    asked = _filled(template.chat, question, _listed(question, wording, between="\n"))
    system = [_message("system", template.system)] if template.system else []
    said = [m for turn in before for m in (_message("user", turn.asked), _message("assistant", turn.reply))]
    return Prompt(asked, messages=(*system, *said, _message("user", asked)))


def _to_score(question: Question, protocol: Protocol) -> Prompt:
    """The options as texts of their own, or where the benchmark says so each after the item's text and one space."""
    item, texts = question.item, [option["text"] for option in question.options]
    if item["benchmark"] not in (protocol.continued or []):
        return Prompt(asked="", scored=tuple(texts))
    return Prompt(item["text"], text=item["text"], scored=tuple(f"{item['text']} {text}" for text in texts))


def continued(text: str, by: str) -> str:
    """``text`` and what follows it in a completion: a written word brings its space along, Chinese has none."""
    return f"{text} {by}" if text[-1:].isascii() else f"{text}{by}"


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _listed(question: Question, wording: Wording, between: str) -> str:
    """The options as the question's task shows them: words to choose from, a list of words, lettered lines, or nothing."""
    texts = [option["text"] for option in question.options]
    if question.item["task"] == "blank":
        return wording.alternatives(texts)
    if question.item["task"] == "pick":
        return wording.comma.join(texts)
    return between.join(f"{option['label']}. {option['text']}" for option in question.options)


def _filled(template: str, question: Question, options: str) -> str:
    # Not str.format: an item may contain braces.
    before, after = template.split("{text}")
    text: str = question.item["text"]
    return before.replace("{options}", options) + text + after.replace("{options}", options)


def protocol_hash(protocol: Protocol, model: Model) -> str:
    """Hash of all that shapes how a model is asked; answers compare only where it is equal.

    How many epochs the orders are balanced over shapes no question. A likelihood is the same by whatever call it is told,
    and a text is free whatever the entry says of words that may be answered.
    """
    asked = protocol.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"orders"})
    of_model = {"api": model.api, "constrain": None if protocol.written else model.constrain}
    return short_hash(canonical({"protocol": asked, **({} if protocol.scored else of_model)}))


def canonical(value: Any) -> str:
    """JSON with sorted keys and no ASCII escapes: equal values give equal text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def short_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
