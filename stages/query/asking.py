"""The asking engine: bounded concurrency, a deadline per call, retries with backoff, a stop that works at once.

It knows neither litellm nor files: questions go in, answers and failures come out through a ``Sink``. Questions come in
threads: those of one thread are asked one after another, as each may rest on the answers before it.
"""

import asyncio
import random
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from stages.errors import CallFailed, ModelUnavailable, Stopped, Transient
from stages.query.budget import Budget, Purse
from stages.query.endpoints import Endpoint
from stages.query.pace import Limits, Pace, Say
from stages.query.prices import most
from stages.query.prompts import Exchange, Prompt
from stages.query.questions import Question
from stages.query.reply import Reply

POLL_SECONDS = 0.2
"""How soon a stop is noticed."""
BYTES_PER_TOKEN = 3
"""Of a prompt, about: what its provider is expected to count until it has told."""
_PERHAPS_PAID = ("timeout", "broken", "too_long", "worker_lost")
"""Failures after which a provider may still bill the call, as it may have replied."""


@dataclass(frozen=True)
class Asked:
    question: Question
    prompt: Prompt
    before: tuple[Exchange, ...] = ()
    """The turns of its conversation before it."""
    drafts: tuple[Mapping[str, Any], ...] = ()
    """Replies to it that were sent back, as rows of answers with ``reason``: it is asked again after each of them."""


@dataclass(frozen=True)
class Outcome:
    """How asking one question ended: with a reply, or with the error of the last attempt."""

    asked: Asked
    attempts: int
    latency: float
    reply: Reply | None = None
    error: CallFailed | None = None

    @property
    def final(self) -> bool:
        """Whether the question is answered for good: it has a reply, or an error that asking again cannot mend."""
        return not isinstance(self.error, Transient)


Sink = Callable[[Outcome], None]
Thread = Generator[Asked, Outcome, None]
"""Yields a question, is sent how it ended, and yields the next; it ends when there is nothing more to ask for now."""


@dataclass(frozen=True)
class Means:
    """What asking draws on beside the endpoint."""

    limits: Limits
    sink: Sink
    stop: threading.Event
    purse: Purse = field(default_factory=lambda: Purse(Budget(), None))
    say: Say = lambda _: None
    """Told in words what happens to the model as a whole."""
    proven: bool = False
    """Whether the model has replied before: only then is a terminal error final, as an unpaid account or a wrong parameter
    fails every question, and is mended."""


async def ask(todo: Sequence[Thread], endpoint: Endpoint, means: Means) -> None:
    """Ask every question of the threads ``todo``; hand each outcome to the sink the moment it is there.

    :raises Stopped: a stop was asked for; calls in flight were given up.
    :raises BudgetStopped: the budget leaves no room for another call.
    :raises ModelUnavailable: no question of this model can be answered; the rest was not asked.
    """
    asker = _Asker(endpoint, means, _Health(means), Pace(means.limits, means.say, means.proven))
    limit = means.limits.run_timeout
    queue, ends = iter(todo), inf if limit is None else time.monotonic() + limit
    workers = [asyncio.create_task(asker.work(queue)) for _ in range(min(means.limits.max_connections, len(todo)))]
    try:
        pending = set(workers)
        while pending:
            done, pending = await asyncio.wait(pending, timeout=POLL_SECONDS, return_when=asyncio.FIRST_EXCEPTION)
            for worker in done:
                worker.result()
            if pending:
                _heed(means.stop)
                _in_time(ends)
        asker.health.conclude()
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


def _heed(stop: threading.Event) -> None:
    if stop.is_set():
        raise Stopped("Stopped; every answer received so far is kept, run again to go on.")


def _in_time(ends: float) -> None:
    if time.monotonic() > ends:
        raise ModelUnavailable("deadline", "the run_timeout of its model is over")


class _Health:
    """Whether the model can be asked at all: a dead endpoint is not asked a thousand times."""

    def __init__(self, means: Means) -> None:
        self.give_up_after, self.sink, self.proven = means.limits.give_up_after, means.sink, means.proven
        self.failures, self.held = 0, list[Outcome]()
        self.unavailable: ModelUnavailable | None = None

    def note(self, outcome: Outcome) -> None:
        """Take down how one question ended; whoever comes after the model was given up hears the same reason."""
        self.failures = 0 if outcome.reply else self.failures + 1
        self.proven = self.proven or outcome.reply is not None
        if self.proven or not outcome.final:
            self.sink(outcome)
        else:
            self.held.append(outcome)
        if self.proven:
            while self.held:
                self.sink(self.held.pop(0))
        if self.unavailable is None and self.failures >= self.give_up_after and outcome.error:
            self.unavailable = ModelUnavailable(
                outcome.error.kind, f"{self.failures} questions in a row failed, the last with: {outcome.error}"
            )
        if self.unavailable:
            raise self.unavailable

    def conclude(self) -> None:
        if self.held:
            error = self.held[-1].error
            assert error is not None
            raise ModelUnavailable(error.kind, f"not one question was answered, the last failed with: {error}")


@dataclass(frozen=True)
class _Asker:
    endpoint: Endpoint
    means: Means
    health: _Health
    pace: Pace

    async def work(self, queue: Iterator[Thread]) -> None:
        """Ask threads of ``queue``, one after another, as long as there are any."""
        for thread in queue:
            asked = next(thread, None)
            while asked is not None:
                _heed(self.means.stop)
                outcome = await self._ask(asked)
                if isinstance(outcome.error, ModelUnavailable):
                    raise outcome.error
                self.health.note(outcome)
                asked = _following(thread, outcome)

    async def _ask(self, asked: Asked) -> Outcome:
        limits = self.means.limits
        for number in range(1, limits.max_attempts + 1):
            outcome = await self._call(asked, number)
            error = outcome.error
            if not isinstance(error, Transient) or number == limits.max_attempts:
                break
            await asyncio.sleep(_wait(number, error.retry_after, limits))
        return outcome

    async def _call(self, asked: Asked, number: int) -> Outcome:
        """Attempt ``number``, in its turn and within the budget."""
        tokens = most(asked.prompt, self.endpoint.max_tokens)
        expected = tokens.prompt // BYTES_PER_TOKEN + tokens.completion
        reply, error = None, None
        await self.pace.turn(expected)
        try:
            reserved = await self.means.purse.take(tokens)
            started = time.monotonic()
            try:
                reply = await attempt(self.endpoint, asked, self.means.limits.timeout)
            except CallFailed as failed:
                error = failed
            finally:
                self.means.purse.pay(reserved, _paid(reply, error))
        except BaseException:
            self.pace.given_up()
            raise
        took = time.monotonic() - started
        outcome = Outcome(
            asked, number, took if reply is None or reply.seconds is None else reply.seconds, reply, error
        )
        self._tell(outcome, started, expected)
        return outcome

    def _tell(self, outcome: Outcome, started: float, expected: int) -> None:
        """Let the pace know how a call ended; a refusal of the question itself is as good an answer as any."""
        reply, error = outcome.reply, outcome.error
        if isinstance(error, Transient):
            self.pace.failed(error, started)
        elif reply and reply.prompt_tokens:
            self.pace.answered(expected, reply.prompt_tokens + (reply.completion_tokens or 0))
        else:
            self.pace.answered(expected, None)


async def attempt(endpoint: Endpoint, asked: Asked, seconds: float) -> Reply:
    """One call, of ``seconds`` at most.

    :raises CallFailed: there was no reply.
    """
    try:
        async with asyncio.timeout(seconds):
            return await endpoint.call(asked.question, asked.prompt)
    except TimeoutError:
        raise Transient("timeout", f"no reply within {seconds:g} seconds") from None


def _paid(reply: Reply | None, error: CallFailed | None) -> float | None:
    """What a call cost, as far as a budget is concerned; null when it may have cost as much as it can."""
    if reply:
        return reply.cost
    return 0.0 if error and error.kind not in _PERHAPS_PAID else None


def _following(thread: Thread, outcome: Outcome) -> Asked | None:
    try:
        return thread.send(outcome)
    except StopIteration:
        return None


def _wait(attempt: int, retry_after: float | None, limits: Limits) -> float:
    """Seconds to wait after ``attempt``: what the server asks for, else exponential backoff with full jitter."""
    if retry_after is not None:
        return min(retry_after, limits.longest_wait)
    return random.uniform(0, min(limits.longest_wait, limits.first_wait * 2**attempt))
