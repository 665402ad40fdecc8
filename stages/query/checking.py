"""Whether a reply is sent back, once: the mitigation ``check: gendered`` of a protocol."""

import re

import polars as pl

from stages.lexicon import gendered
from stages.protocols import Protocol
from stages.query.questions import Question
from stages.query.reply import Reply
from stages.schema import DOMAINS, Kind

_TYPED = ("male", "female")
_THINKING = re.compile(r"(?is)<(?:[a-z]+:)?(think|thinking|thought|reasoning|analysis)>.*?(?:</(?:[a-z]+:)?\1>|\Z)")
"""A block of reasoning within a reply, also one that the reply ends in."""
_THOUGHT = re.compile(r"(?is)\A.*</(?:[a-z]+:)?(?:think|thinking|thought|reasoning|analysis)>")
"""One whose beginning the chat template wrote."""


def objection(protocol: Protocol, language: str, question: Question, reply: Reply | None) -> str | None:
    """Why ``reply`` to ``question`` is sent back, in the words of the first mitigation that does; null when it stays.

    It is sent back for words of one gender, he or mother, about a typed concept of a choice group: a gender that the text does
    not state. What names both genders, or a thought before the answer, assumes none.
    """
    if reply is None or not reply.text or not may_object(protocol, question):
        return None
    said = _THOUGHT.sub("", _THINKING.sub("", reply.text))
    if not gendered(pl.Series([said]), language).fill_null(0).item():
        return None
    return next(each.reason for each in protocol.said(language) if each.reason)


def may_object(protocol: Protocol, question: Question) -> bool:
    """Whether some reply to ``question`` would be sent back."""
    item = question.item
    return protocol.checked and DOMAINS[item["domain"]] is Kind.CHOICE and item["typed"] in _TYPED
