"""Asking what a run still lacks, and turning replies into rows of the answers table."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from stages.errors import LedgerError
from stages.params import Model, Params, Protocol
from stages.query.asking import Asked, Limits, Outcome, ask
from stages.query.embedded import served, weights_file
from stages.query.endpoints import LitellmEndpoint, first_tokens, load_litellm, requested
from stages.query.journal import Journal, Row, journal_path
from stages.query.progress import Tracker
from stages.query.prompts import canonical, protocol_hash, render
from stages.query.questions import expected
from stages.schema import ANSWERS, SCHEMA_VERSION
from stages.store import Partition, exclusive, read_items, write

CACHE = Path(".cache/models")
NOT_ASKED = "not_asked"
"""The failure of a question that a sealed run never put."""


@dataclass(frozen=True)
class Sheet:
    """One partition with all that is needed to ask for it: every expected question, put into words."""

    partition: Partition
    model: Model
    protocol: Protocol
    asked: Sequence[Asked]

    def path(self, root: Path) -> Path:
        return self.partition.path(root, ANSWERS)


def sheet(root: Path, params: Params, partition: Partition) -> Sheet:
    """Every question of ``partition``, as params.yaml and the items have it today.

    :raises LedgerError: its model or protocol is no longer in params.yaml, or there is nothing to ask.
    """
    run = partition.run
    for kind, name, names in (("model", run.model, params.models), ("protocol", partition.protocol, params.protocols)):
        if name not in names:
            raise LedgerError(
                f"Run {run.id} is of the {kind} {name}, which is no longer in params.yaml; put it back, or remove the "
                f"run with: checkup forget {run.id}."
            )
    model, protocol = params.models[run.model], params.protocols[partition.protocol]
    items = read_items(root, partition.benchmark)
    questions = expected(items, partition.language, protocol, partition.run.entry)
    if not questions:
        raise LedgerError(
            f"Run {run.id} asks nothing as {partition}: no item has its styles; remove it with: checkup forget {run.id}."
        )
    asked = [Asked(q, render(q, protocol, partition.language, model.api)) for q in questions]
    return Sheet(partition, model, protocol, asked)


@dataclass
class Collector:
    """Asks the questions of one model."""

    root: Path
    key: str
    model: Model
    stop: threading.Event
    tracker: Tracker

    @contextmanager
    def endpoint_base(self) -> Iterator[str | None]:
        """The base URL to call: the roster's, or that of the embedded server, which runs as long as the context."""
        if self.model.weights is None:
            yield self.model.api_base
            return
        path = weights_file(self.model.weights, self.root / CACHE)
        with served(path, self.model.name(self.key)) as base:
            yield base

    async def collect(self, root: Path, sheets: Sequence[Sheet], base: str | None) -> None:
        """Ask what the journals of ``sheets`` have no answer to; a sheet that is complete becomes its file at once.

        :raises CallFailed: the model cannot be asked at all.
        :raises Stopped: the stop event was set.
        """
        for each in sheets:
            with Journal(journal_path(each.path(root))) as journal:
                refuse_changed(each, journal)
                await self._ask(each, journal, base)
                finish(root, each, journal)

    async def _ask(self, sheet: Sheet, journal: Journal, base: str | None) -> None:
        todo = [a for a in sheet.asked if a.question.key not in journal.answers]
        if not todo:
            return
        load_litellm()  # takes seconds, which are not the first call's
        endpoint = LitellmEndpoint(sheet.model, sheet.protocol, base, await self._constraint(todo, base))

        def record(outcome: Outcome) -> None:
            row = answer_row(sheet, outcome, endpoint.sent(outcome.asked.question))
            (journal.answer if outcome.final else journal.failure)(row)
            self.tracker.advance(failed=outcome.reply is None, cost=outcome.reply.cost if outcome.reply else None)

        async with endpoint:
            proven = any(row["reply"] is not None for row in journal.answers.values())
            await ask(todo, endpoint, limits(sheet.model), record, self.stop, proven)

    async def _constraint(self, todo: Sequence[Asked], base: str | None) -> dict[str, int] | None:
        if self.model.constrain is None or base is None:
            return None
        words = sorted({option["text"] for asked in todo for option in asked.question.options})
        return await first_tokens(base, todo[0].prompt.text, words)


def limits(model: Model) -> Limits:
    """An embedded server has one slot, so more than one connection would only wait there."""
    connections = 1 if model.is_local else model.max_connections
    return Limits(max_connections=connections, timeout=model.timeout, max_attempts=model.max_attempts)


def missing(root: Path, sheet: Sheet) -> int:
    """How many answers ``sheet`` still lacks; 0 once its file is there."""
    if sheet.path(root).exists():
        return 0
    if not journal_path(sheet.path(root)).exists():
        return len(sheet.asked)
    with Journal(journal_path(sheet.path(root))) as journal:
        return sum(a.question.key not in journal.answers for a in sheet.asked)


def refuse_changed(sheet: Sheet, journal: Journal) -> None:
    """See to it that what is still to be asked is asked as the rest was.

    :raises LedgerError: items, wording, answer form, model name or sampling parameters changed since the run was begun.
    """
    today = {a.question.key: _way(sheet, a) for a in sheet.asked}
    for key, row in journal.answers.items():
        recorded = (row["protocol_hash"], row["prompt_hash"], row["requested_model"], row["params_requested"])
        if today.get(key) != recorded:
            raise LedgerError(
                f"Run {sheet.partition.run.id} was begun with other items, wording or model settings than there are now, "
                f"as {key[0]} shows; restore params.yaml and the items with git, or begin anew with: checkup run --fresh."
            )


def _way(sheet: Sheet, asked: Asked) -> tuple[str, ...]:
    """How a question is asked: what must not change while a run is open."""
    facts = _question_facts(sheet, asked)
    return tuple(facts[name] for name in ("protocol_hash", "prompt_hash", "requested_model", "params_requested"))


def finish(root: Path, sheet: Sheet, journal: Journal, seal: bool = False) -> bool:
    """Turn a complete journal into the partition's file; with ``seal`` also an incomplete one. Say whether it was done.

    The journal stays until DVC has the file: what was paid for is at no moment in one place that a command may clear.
    """
    lacking = [a for a in sheet.asked if a.question.key not in journal.answers]
    if lacking and not seal:
        return False
    for asked in lacking:
        journal.answer(_unanswered_row(sheet, asked, journal))
    rows = pl.DataFrame(list(journal.answers.values()), schema=ANSWERS.schema, orient="row")
    with exclusive(root):
        write(sheet.path(root), ANSWERS, rows)
    return True


def answer_row(sheet: Sheet, outcome: Outcome, sent: dict[str, Any]) -> Row:
    """One row of the answers table."""
    reply, error = outcome.reply, outcome.error
    return {
        **_question_facts(sheet, outcome.asked),
        "reply": reply and reply.text,
        "reasoning": reply and reply.reasoning,
        "candidates": (reply and [{"key": k, "logprob": v} for k, v in reply.candidates.items()]) or None,
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
        "asked_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
    }


def _unanswered_row(sheet: Sheet, asked: Asked, journal: Journal) -> Row:
    failed = journal.failures.get(asked.question.key)
    if failed:
        return failed
    empty = dict.fromkeys(c.name for c in ANSWERS.columns if c.nullable)
    return {
        **empty,
        **_question_facts(sheet, asked),
        "failure": NOT_ASKED,
        "failure_message": "the run was sealed before this question was asked",
        "params_sent": "{}",
        "attempts": 0,
        "asked_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
    }


def _question_facts(sheet: Sheet, asked: Asked) -> Row:
    question, partition, model = asked.question, sheet.partition, sheet.model
    item = {
        c: question.item[c]
        for c in ("item_id", "variant", "domain", "target", "style", "typed", "status", "text", "item_hash")
    }
    return {
        **item,
        "run": partition.run.id,
        "model": partition.run.model,
        "date": partition.run.date,
        "benchmark": partition.benchmark,
        "language": partition.language,
        "protocol": partition.protocol,
        "epoch": question.epoch,
        "order_index": question.order_index,
        "options": question.options,
        "protocol_hash": protocol_hash(sheet.protocol, model),
        "prompt_hash": asked.prompt.hash,
        "prompt": asked.prompt.recorded,
        "requested_model": model.name(partition.run.model),
        "params_requested": canonical(requested(sheet.protocol) | model.changes()),
        "access_route": "local" if model.is_local else "api",
        "vendor": model.vendor,
        "country": model.country,
        "region": model.region,
        "collector": f"bias-checkup {version('bias-checkup')}",
        "schema_version": SCHEMA_VERSION,
    }
