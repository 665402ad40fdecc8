"""A worker's side of asking elsewhere: a chunk of questions comes in, each is put once, and what came of each goes back.

A worker has no files of the project. It has its own keys, from its environment or from ``.env`` in the folder it was
started in, and they stay there: what goes back is masked already. Attempts, pace and budget are those of whoever sent the chunk.
"""

import asyncio
import atexit
import os
import platform
import threading
import time
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

from stages.command import read_keys
from stages.errors import CallFailed, ModelUnavailable
from stages.params import Model
from stages.protocols import Protocol
from stages.query.asking import Asked, attempt
from stages.query.endpoints import NO_CALLS_VARIABLE, Endpoint
from stages.query.opening import opened
from stages.query.prompts import Prompt
from stages.query.questions import Question
from stages.query.reply import Reply

SAME = ("bias-checkup", "litellm", "distributed")
"""Packages whose versions decide what is asked, how a reply is read, and whether both sides understand each other."""
T = TypeVar("T")
_STARTING = threading.Lock()
_CLOSING_SECONDS = 2.0


@dataclass(frozen=True)
class Chunk:
    """Questions of one model under one protocol; ``slim`` makes them small."""

    model: Model
    protocol: Protocol
    asked: tuple[Asked, ...]


Result = Reply | CallFailed


def slim(model: Model, protocol: Protocol, asked: Sequence[Asked]) -> Chunk:
    """``asked`` with what a call needs: no item, no wording, and of an option only what names it in the reply."""
    return Chunk(
        model, protocol.model_copy(update={"wording": {}, "mitigations": None}), tuple(_slim(each) for each in asked)
    )


def _slim(asked: Asked) -> Asked:
    prompt, options = asked.prompt, [{"key": option["key"]} for option in asked.question.options]
    question = Question({}, asked.question.epoch, asked.question.order_index, options, asked.question.seed)
    return Asked(question, Prompt("", prompt.messages, prompt.text, prompt.scored))


def versions() -> dict[str, str]:
    """What must be the same here and there; an absent package has an empty version."""
    return {"Python": platform.python_version().rpartition(".")[0], **{name: _version(name) for name in SAME}}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def obstacles(models: Mapping[str, Model]) -> dict[str, str]:
    """Why this process cannot ask, by model, with the mend; models that it can ask are left out."""
    read_keys()  # anew for every run: who mends .env need not start the worker again
    if os.environ.get(NO_CALLS_VARIABLE):
        return dict.fromkeys(models, f"{NO_CALLS_VARIABLE} forbids calls; unset it")
    return {key: reason for key, model in models.items() if (reason := model.keyless())}


def answer(chunk: Chunk) -> list[Result]:
    """One attempt at every question of ``chunk``, all at once; results in the same order. May be called from many threads."""
    with _STARTING:
        desk = _desk()
    return asyncio.run_coroutine_threadsafe(desk.answer(chunk), desk.loop).result()


@dataclass
class _Desk:
    """What a process keeps from chunk to chunk: an event loop of its own, and in it the endpoints with their connections."""

    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _open: dict[str, "asyncio.Task[Endpoint]"] = field(default_factory=dict)
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def answer(self, chunk: Chunk) -> list[Result]:
        if reason := chunk.model.keyless():
            return [ModelUnavailable("auth", f"on {platform.node()} {reason}")] * len(chunk.asked)
        try:
            endpoint = await self._endpoint(chunk.model, chunk.protocol)
        except CallFailed as error:
            return [error.bare()] * len(chunk.asked)
        return await asyncio.gather(*(_once(endpoint, each, chunk.model.timeout) for each in chunk.asked))

    async def _endpoint(self, model: Model, protocol: Protocol) -> Endpoint:
        """The one endpoint of these settings; what failed to open is opened anew for the next chunk."""
        name = model.model_dump_json() + protocol.model_dump_json()
        if name not in self._open or (self._open[name].done() and self._open[name].exception()):
            entered = self._stack.enter_async_context(opened(model, protocol, model.api_base, "", ()))
            self._open[name] = self.loop.create_task(_task(entered))
        return await self._open[name]

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._stack.aclose(), self.loop).result(_CLOSING_SECONDS)


@cache
def _desk() -> _Desk:
    read_keys()
    desk = _Desk()
    threading.Thread(target=desk.loop.run_forever, name="desk", daemon=True).start()
    atexit.register(desk.close)
    return desk


async def _task(entered: Coroutine[Any, Any, T]) -> T:
    return await entered


async def _once(endpoint: Endpoint, asked: Asked, limit: float) -> Result:
    began = time.monotonic()
    try:
        reply = await attempt(endpoint, asked, limit)
    except CallFailed as error:
        return error.bare()
    return replace(reply, seconds=time.monotonic() - began)
