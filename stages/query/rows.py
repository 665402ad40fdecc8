"""What was asked and what came of it -> a row of the answers table."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from stages.params import Model
from stages.protocols import Protocol
from stages.query.asking import Asked, Outcome
from stages.query.endpoints import requested
from stages.query.journal import Row
from stages.query.prompts import canonical, protocol_hash
from stages.query.reply import Reply
from stages.schema import ANSWERS, ITEM_FACTS, SCHEMA_VERSION
from stages.store import Partition
from stages.structs import DRAFT

NOT_ASKED = "not_asked"
"""The failure of a question that a sealed run never put."""
_OF_DRAFT = tuple(field.name for field in DRAFT.fields)
_OF_ITEM = ("item_id", "variant", *(column.name for column in ITEM_FACTS), "task", "text", "item_hash")


def answer_row(facts: Row, outcome: Outcome, sent: dict[str, Any]) -> Row:
    """The answer to the question of ``facts``."""
    reply, error = outcome.reply, outcome.error
    row = {
        **facts,
        "reply": reply and reply.text,
        "reasoning": reply and reply.reasoning,
        "candidates": (reply and _candidates(reply)) or None,
        "stop_reason": reply and reply.stop_reason,
        "native_stop_reason": reply and reply.native_stop_reason,
        "failure": error and error.kind,
        "failure_message": error and str(error),
        "served_model": reply and reply.served_model,
        "fingerprint": reply and reply.fingerprint,
        "params_sent": canonical(sent),
        "prompt_tokens": reply and reply.prompt_tokens,
        "completion_tokens": reply and reply.completion_tokens,
        "cached_tokens": reply and reply.cached_tokens,
        "cost": reply and reply.cost,
        "attempts": outcome.attempts,
        "latency": outcome.latency,
        "asked_at": _now(),
    }
    return row | _with_drafts(outcome.asked.drafts, row, replied=reply is not None)


def _with_drafts(drafts: Sequence[Mapping[str, Any]], row: Row, replied: bool) -> Row:
    """What all calls for an answer took: those that ``drafts`` came of, and that of ``row``, where it was made and ``replied``."""
    if not drafts:
        return {}
    each = [*drafts, row] if replied else drafts
    took = {name: _sum([call[name] for call in each]) for name in ("prompt_tokens", "completion_tokens", "cost")}
    cached = [call["cached_tokens"] for call in each if call["cached_tokens"] is not None]
    attempts = sum(call["attempts"] for call in (*drafts, row))
    return {**took, "cached_tokens": sum(cached) if cached else None, "attempts": attempts}


def _sum(numbers: Sequence[Any]) -> Any:
    """Of all, or null where one is not known."""
    return None if None in numbers else sum(numbers)


def _candidates(reply: Reply) -> list[Row]:
    return [{"key": k, "logprob": v, "n_tokens": reply.n_tokens.get(k)} for k, v in reply.candidates.items()]


def unanswered_row(facts: Row, drafts: Sequence[Mapping[str, Any]] = ()) -> Row:
    """The row of a question that was never put, or not again after ``drafts``."""
    row = {
        **dict.fromkeys(c.name for c in ANSWERS.columns if c.nullable),
        **facts,
        "failure": NOT_ASKED,
        "failure_message": f"the run was sealed before this question was asked{' again' if drafts else ''}",
        "params_sent": "{}",
        "attempts": 0,
        "asked_at": _now(),
    }
    return row | _with_drafts(drafts, row, replied=False)


def partition_facts(partition: Partition, model: Model, protocol: Protocol) -> Row:
    """The columns of an answer that are the same throughout ``partition``."""
    return {
        "run": partition.run.id,
        "model": partition.run.model,
        "date": partition.run.date,
        "benchmark": partition.benchmark,
        "language": partition.language,
        "protocol": partition.protocol,
        "protocol_hash": protocol_hash(protocol, model),
        "requested_model": model.name(partition.run.model),
        "params_requested": canonical(requested(protocol, model)),
        "access_route": "local" if model.is_local else "api",
        "vendor": model.vendor,
        "country": model.country,
        "region": model.region,
        "collector": f"bias-checkup {version('bias-checkup')}",
        "schema_version": SCHEMA_VERSION,
    }


def question_facts(asked: Asked) -> Row:
    """The columns of an answer that are its question's own."""
    question = asked.question
    return {
        **{name: question.item[name] for name in _OF_ITEM},
        "epoch": question.epoch,
        "order_index": question.order_index,
        "turn": question.turn,
        "options": question.options,
        "prompt_hash": asked.prompt.hash,
        "prompt": asked.prompt.recorded,
        "drafts": [{field: draft[field] for field in _OF_DRAFT} for draft in asked.drafts] or None,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
