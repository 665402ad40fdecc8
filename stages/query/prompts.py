"""A question under a protocol -> what is sent: chat messages, or a prompt for a completion model."""

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from stages.params import Model, Protocol
from stages.query.questions import Question


@dataclass(frozen=True)
class Prompt:
    """Exactly one of ``messages`` (chat) and ``text`` (completion) is set."""

    messages: tuple[dict[str, str], ...] = ()
    text: str = ""

    @property
    def recorded(self) -> str:
        """The prompt as it stands in the answers table."""
        return canonical(list(self.messages)) if self.messages else self.text

    @property
    def hash(self) -> str:
        return short_hash(self.recorded)


def render(question: Question, protocol: Protocol, language: str, api: Literal["chat", "completion"]) -> Prompt:
    """Put ``question`` into the wording of ``protocol`` in ``language``.

    A completion prompt has no trailing space: the answer's first token brings its own.
    """
    wording = protocol.wording[language]
    options = wording.joined([option["text"] for option in question.options])
    if api == "completion":
        return Prompt(text=_filled(wording.completion, question, options))
    return Prompt(messages=({"role": "user", "content": _filled(wording.chat, question, options)},))


def _filled(template: str, question: Question, options: str) -> str:
    # Not str.format: an item may contain braces.
    before, after = template.split("{text}")
    text: str = question.item["text"]
    return before.replace("{options}", options) + text + after.replace("{options}", options)


def protocol_hash(protocol: Protocol, model: Model) -> str:
    """Hash of all that shapes how a model is asked; answers compare only where it is equal."""
    content = {
        "protocol": protocol.model_dump(mode="json", by_alias=True),
        "api": model.api,
        "constrain": model.constrain,
    }
    return short_hash(canonical(content))


def canonical(value: Any) -> str:
    """JSON with sorted keys and no ASCII escapes: equal values give equal text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def short_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
