"""Whether a reply is sent back, once: the mitigation ``check: gendered`` of a protocol."""

import polars as pl

from stages.lexicon import gendered
from stages.protocols import Protocol
from stages.query.questions import Question
from stages.query.reply import Reply
from stages.reasoning import unreasoned
from stages.schema import DOMAINS, Kind

_TYPED = ("male", "female")


def objection(protocol: Protocol, language: str, question: Question, reply: Reply | None) -> str | None:
    """Why ``reply`` to ``question`` is sent back, in the words of the first mitigation that does; null when it stays.

    It is sent back for words of one gender, he or mother, about a typed concept of a choice group: a gender that the text does
    not state. What names both genders, or a thought before the answer, assumes none.
    """
    if reply is None or not reply.text or not may_object(protocol, question):
        return None
    said = pl.DataFrame({"reply": [reply.text]}).select(unreasoned(pl.col("reply")))["reply"]
    if not gendered(said, language).fill_null(0).item():
        return None
    return next(each.reason for each in protocol.said(language) if each.reason)


def may_object(protocol: Protocol, question: Question) -> bool:
    """Whether some reply to ``question`` would be sent back."""
    item = question.item
    return protocol.checked and DOMAINS[item["domain"]] is Kind.CHOICE and item["typed"] in _TYPED
