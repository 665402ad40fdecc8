"""Asking what a run still lacks: its model's endpoint, and every reply into the journal at once."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from stages.params import Model
from stages.query.asking import Means, Outcome, ask
from stages.query.budget import Budget, Purse
from stages.query.embedded import served, weights_file
from stages.query.endpoints import Endpoint
from stages.query.journal import Journal, journal_path
from stages.query.opening import opened
from stages.query.pace import Limits
from stages.query.prices import price_of
from stages.query.progress import Tracker
from stages.query.remote import Workers, opened_elsewhere
from stages.query.rows import answer_row
from stages.query.sheets import Sheet, finish, refuse_changed, threads

CACHE = Path(".cache/models")
LOST_SECONDS = 60.0
"""How much longer than a call may take its reply is waited for where a worker makes it: also one that is just starting."""


@dataclass
class Collector:
    """Asks the questions of one model."""

    root: Path
    key: str
    model: Model
    stop: threading.Event
    tracker: Tracker
    budget: Budget
    max_connections: int | None = None
    """Instead of what the model's entry says."""
    workers: Workers | None = None
    """Who makes the calls, where not this process."""

    async def collect(self, root: Path, sheets: Sequence[Sheet], base: str | None) -> None:
        """Ask what the journals of ``sheets`` have no answer to; a sheet that is complete becomes its file at once.

        :raises CallFailed: the model cannot be asked at all.
        :raises Stopped: the stop event was set.
        """
        began = time.monotonic()
        for each in sheets:
            with Journal(journal_path(each.path(root))) as journal:
                refuse_changed(each, journal)
                await self._ask(each, journal, base, time.monotonic() - began)
                finish(root, each, journal)

    async def _ask(self, sheet: Sheet, journal: Journal, base: str | None, elapsed: float) -> None:
        todo = threads(sheet, journal.answers, journal.drafts)
        if not todo:
            return
        limited = limits(sheet.model, self.max_connections, elapsed)
        if self._elsewhere:  # where the deadline of a call is kept, too; here it is for what is lost on the way
            limited = replace(limited, timeout=limited.timeout + LOST_SECONDS)
        async with self._endpoint(sheet, base, limited.max_connections) as endpoint:

            def record(outcome: Outcome) -> None:
                row = answer_row(sheet.facts(outcome.asked), outcome, endpoint.sent(outcome.asked.question))
                cost = outcome.reply.cost if outcome.reply else None
                if reason := sheet.objection(outcome):
                    journal.draft(row | {"reason": reason})
                    self.tracker.spend(cost)
                    return
                (journal.answer if outcome.final else journal.failure)(row)
                self.tracker.advance(failed=outcome.reply is None, cost=cost)

            proven = any(row["failure"] is None for row in journal.answers.values())
            await ask(todo, endpoint, Means(limited, record, self.stop, self._purse(), self.tracker.say, proven))

    @property
    def _elsewhere(self) -> bool:
        return self.workers is not None and not self.model.stays

    def _endpoint(self, sheet: Sheet, base: str | None, connections: int) -> AbstractAsyncContextManager[Endpoint]:
        if self.workers and self._elsewhere:
            return opened_elsewhere(sheet.model, sheet.protocol, self.workers, connections)
        words = sorted({word for question in sheet.questions for word in question.answers})
        first = sheet.put(next(iter(sheet.questions)), ()).prompt.text
        return opened(sheet.model, sheet.protocol, base, first, words)

    def _purse(self) -> Purse:
        return Purse(self.budget, None if self.budget.cap is None else price_of(self.model))


@contextmanager
def base_of(root: Path, key: str, model: Model) -> Iterator[str | None]:
    """The base URL to call: the roster's, or that of the embedded server, which runs as long as the context."""
    if model.weights is None:
        yield model.api_base
        return
    with served(weights_file(model.weights, root / CACHE), model.name(key)) as base:
        yield base


def limits(model: Model, max_connections: int | None = None, elapsed: float = 0) -> Limits:
    """What the entry allows, ``elapsed`` seconds into the run.

    An embedded server has one slot, so more than one connection would only wait there.
    """
    connections = 1 if model.is_local else max_connections or model.max_connections
    return Limits(
        max_connections=connections,
        timeout=model.timeout,
        max_attempts=model.max_attempts,
        requests_per_minute=model.requests_per_minute,
        tokens_per_minute=model.tokens_per_minute,
        run_timeout=model.run_timeout and max(0.0, model.run_timeout - elapsed),
        cool_off=model.cool_off,
    )
