"""A question under a protocol -> what is sent: chat messages, or a prompt for a completion model."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from typing import Any, Literal

from stages.lexicon import FEMALE, IGNORED, MALE, entries
from stages.orders import half, orders
from stages.params import Model
from stages.protocols import Example, Protocol, Template, Wording
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
    reason: str | None = None,
) -> Prompt:
    """Put ``question`` into the wording of ``protocol`` in ``language``, after the turns ``before`` it.

    ``reason``: why it is put once more. The protocol's mitigations say what they say before all of it, and their examples are
    turns like any other. A completion prompt has no trailing space: the answer's first token brings its own.
    """
    if protocol.scored:
        return _to_score(question, protocol)
    wording = protocol.wording[language]
    template = wording.template(question.item["task"])
    text = template.completion if api == "completion" else template.chat
    asked = _filled(
        text, question.item["text"], _listed(question, wording, between=" " if api == "completion" else "\n")
    )
    turns = [*_examples(question, protocol, language, text), *before]
    system = _system(template, protocol, language)
    if api == "completion":
        return _continuing(continued(reason, asked) if reason else asked, turns, system)
    return _conversing(f"{reason}\n\n{asked}" if reason else asked, turns, system)


def _continuing(asked: str, turns: Sequence[Exchange], system: Sequence[str]) -> Prompt:
    """The prompt of a completion model."""
    text = "\n\n".join([*(continued(turn.asked, turn.reply.strip()) for turn in turns), asked])
    for instruction in reversed(system):
        text = continued(instruction, text)
    return Prompt(asked, text=text)


def _conversing(asked: str, turns: Sequence[Exchange], system: Sequence[str]) -> Prompt:
    """The prompt of a chat model."""
    instruction = [_message("system", "\n\n".join(system))] if system else []
    said = [m for turn in turns for m in (_message("user", turn.asked), _message("assistant", turn.reply))]
    return Prompt(asked, messages=(*instruction, *said, _message("user", asked)))


def _system(template: Template, protocol: Protocol, language: str) -> list[str]:
    """What is said before everything: by the template, then by the mitigations."""
    instructions = (template.system, *(said.system for said in protocol.said(language)))
    return [instruction for instruction in instructions if instruction]


def _examples(question: Question, protocol: Protocol, language: str, template: str) -> Iterator[Exchange]:
    """The mitigations' examples as turns in the wording of ``question``: of two sets the one that goes with its order."""
    place = half(len(question.options), question.order_index)
    for said in protocol.said(language):
        for example in said.examples[place % len(said.examples)] if said.examples else ():
            yield _example(example, question.order_index, template, protocol.wording[language])


def _example(example: Example, order_index: int, template: str, wording: Wording) -> Exchange:
    """``example`` with its options in the order in which the question shows its own, so that the right one stands everywhere.

    Over the orders of an item it stands at each place equally often (see ``mitigations`` and ``orders.half``).
    """
    arrangements = orders(len(example.options))
    shown = [example.options[i] for i in arrangements[order_index % len(arrangements)]]
    return Exchange(_filled(template, example.text, wording.alternatives(shown)), example.answer)


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


def _filled(template: str, text: str, options: str) -> str:
    # Not str.format: an item may contain braces.
    before, after = template.split("{text}")
    return before.replace("{options}", options) + text + after.replace("{options}", options)


def protocol_hash(protocol: Protocol, model: Model) -> str:
    """Hash of all that shapes how a model is asked; answers compare only where it is equal.

    With the words that replies are checked for. How many epochs the orders are balanced over shapes no question, nor does what
    else a mitigation may join. A likelihood is the same by whatever call it is told, and a text is free whatever the entry says
    of words that may be answered.
    """
    shapes_nothing: dict[str, Any] = {"orders": True, "mitigations": {"__all__": {"protocols"}}}
    asked = protocol.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=shapes_nothing)
    checked = {"words": _words(tuple(protocol.wording))} if protocol.checked else {}
    of_model = {"api": model.api, "constrain": None if protocol.written else model.constrain}
    return short_hash(canonical({"protocol": asked, **checked, **({} if protocol.scored else of_model)}))


@cache
def _words(languages: tuple[str, ...]) -> str:
    """Hash of the words that a check for gendered ones goes by."""
    return short_hash(canonical({each: entries(each, MALE, FEMALE, IGNORED) for each in languages}))


def canonical(value: Any) -> str:
    """JSON with sorted keys and no ASCII escapes: equal values give equal text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def short_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
