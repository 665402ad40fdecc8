"""Asking from other machines: an endpoint that hands questions to workers in chunks, and what it needs of the workers.

Only the calls are made elsewhere. Attempts, pace, budget, journal and rows stay with the engine, which sees an endpoint like any other.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean
from typing import Any
from typing import Protocol as Interface

from stages.errors import CallFailed
from stages.params import Model
from stages.protocols import Protocol
from stages.query.asking import Asked
from stages.query.desk import Chunk, Result, slim
from stages.query.endpoints import Endpoint
from stages.query.opening import opened
from stages.query.prompts import Prompt
from stages.query.questions import Question
from stages.query.reply import Reply

LINGER = 0.01
"""Seconds that a question waits for others to go with."""
CHUNKS_PER_SECOND = 25
"""Of one model, about: a chunk costs some five milliseconds of processors on its way."""


class Crew(Interface):
    """The workers, while a model is asked."""

    @property
    def number(self) -> int:
        """Of workers that there are now."""

    async def answer(self, chunk: Chunk) -> list[Result]:
        """What ``desk.answer`` says of ``chunk`` on one of them.

        :raises Transient: that worker was lost; whether its calls were made nobody knows.
        :raises ModelUnavailable: there are no workers any more.
        """


class Workers(Interface):
    """Other processes that can ask."""

    def obstacles(self, models: Mapping[str, Model]) -> dict[str, str]:
        """``desk.obstacles`` of all workers: for each model that some cannot ask, why the first of them cannot."""

    def gathered(self, model: Model) -> AbstractAsyncContextManager[Crew]:
        """Those that there are, and that come, to ask ``model``; who cannot is left out."""


def obstacles(models: Mapping[str, Model], protocols: Iterable[Protocol], workers: Workers | None) -> dict[str, str]:
    """Why some of ``models`` cannot be asked, at all or by ``protocols``, with the mend: by this process, or by ``workers``."""
    asked = list(protocols)
    away = {} if workers is None else {key: model for key, model in models.items() if model.route and not model.stays}
    found = {key: model.obstacle(asked, elsewhere=key in away) for key, model in models.items()}
    theirs = workers.obstacles(away) if workers and away else {}
    return {key: reason for key in models if (reason := found[key] or theirs.get(key))}


@asynccontextmanager
async def opened_elsewhere(
    model: Model, protocol: Protocol, workers: Workers, connections: int
) -> AsyncIterator[Endpoint]:
    """The endpoint that lets ``workers`` ask ``protocol`` of ``model``, ``connections`` calls at once in all."""
    here = model.model_copy(update={"ca_bundle": None})  # that file is the workers'
    async with opened(here, protocol, model.api_base, "", ()) as alike, workers.gathered(model) as crew:
        endpoint = RemoteEndpoint(alike, model, protocol, crew, connections)
        try:
            yield endpoint
        finally:
            await endpoint.close()


@dataclass
class RemoteEndpoint:
    """Questions that wait at the same time go to the workers together."""

    alike: Endpoint
    """The endpoint that would be used here; it knows what is sent, and makes no call."""
    model: Model
    protocol: Protocol
    crew: Crew
    connections: int
    _waiting: "list[tuple[Asked, asyncio.Future[Result]]]" = field(default_factory=list)
    _sent: "set[asyncio.Task[None]]" = field(default_factory=set)
    _timer: asyncio.TimerHandle | None = None
    _seconds: float | None = None
    """That a call takes, of late."""

    @property
    def max_tokens(self) -> int | None:
        return self.alike.max_tokens

    def sent(self, question: Question) -> dict[str, Any]:
        return self.alike.sent(question)

    async def call(self, question: Question, prompt: Prompt) -> Reply:
        """See ``DirectEndpoint.call``; made by a worker, among others of its chunk.

        :raises CallFailed: there was no reply, or the worker was lost.
        """
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((Asked(question, prompt), result))
        if len(self._waiting) >= self.size:
            self._send()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LINGER, self._send)
        found = await result
        if isinstance(found, CallFailed):
            raise found
        return found

    @property
    def size(self) -> int:
        """Questions of a chunk, at most: an equal share for each worker.

        Smaller where calls take long, as a chunk comes back when the slowest of its calls does: then there is time for more chunks.
        """
        share = ceil(self.connections / max(1, self.crew.number))
        if self._seconds is None:
            return share
        return min(share, max(1, ceil(self.connections / (CHUNKS_PER_SECOND * self._seconds))))

    def _send(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = None
        self._waiting = [each for each in self._waiting if not each[1].done()]  # but for those given up
        while self._waiting:
            chunk, self._waiting = self._waiting[: self.size], self._waiting[self.size :]
            task = asyncio.create_task(self._answer(chunk))
            self._sent.add(task)
            task.add_done_callback(self._sent.discard)

    async def _answer(self, chunk: "list[tuple[Asked, asyncio.Future[Result]]]") -> None:
        try:
            results = await self.crew.answer(slim(self.model, self.protocol, [asked for asked, _ in chunk]))
        except CallFailed as error:
            results = [error] * len(chunk)
        except Exception as error:
            for _, waiting in chunk:
                if not waiting.done():
                    waiting.set_exception(error)
            return
        seconds = [result.seconds for result in results if isinstance(result, Reply) and result.seconds]
        self._seconds = fmean(seconds) if seconds else self._seconds
        for (_, waiting), result in zip(chunk, results, strict=True):
            if not waiting.done():  # given up, as by a stop
                waiting.set_result(result)

    async def close(self) -> None:
        """Give up what is under way."""
        if self._timer:
            self._timer.cancel()
        for task in (under_way := list(self._sent)):
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
