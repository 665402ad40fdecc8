"""One client that asks every prompt of a made project, in a process of its own, and what it took.

python -m benchmarks.clients CLIENT PROTOCOL FOLDER ADDRESS        FOLDER is what benchmarks.making made, with ADDRESS put in

Prints as JSON the seconds, and the seconds of processor time, from the first call to the last. Before that come
``CONNECTIONS`` calls that are not counted: they import, connect and fill caches.
"""

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.cases import CONNECTIONS, MAX_TOKENS, PROMPTS, ROUTES, TEMPERATURE, TIMEOUT, TOP_P

Json = dict[str, Any]
Messages = list[dict[str, str]]
Call = Callable[[Messages], Awaitable[str]]
Opened = Callable[[str, str], AbstractAsyncContextManager[Call]]
"""From a protocol and its base to what makes a call."""
SAMPLING = {"temperature": TEMPERATURE, "top_p": TOP_P, "max_tokens": MAX_TOKENS}


@asynccontextmanager
async def raw(protocol: str, base: str) -> AsyncIterator[Call]:
    """One aiohttp session and nothing around it: about the least that Python can do."""
    from aiohttp import ClientSession, TCPConnector

    model = ROUTES[protocol].route.partition("/")[2]
    headers = {"Authorization": "Bearer none", "Content-Type": "application/json"}
    async with ClientSession(connector=TCPConnector(limit=CONNECTIONS), headers=headers) as session:

        async def call(messages: Messages) -> str:
            body = json.dumps({"model": model, "messages": messages, **SAMPLING}).encode()
            async with session.post(f"{base}/chat/completions", data=body) as response:
                response.raise_for_status()
                text: str = json.loads(await response.read())["choices"][0]["message"]["content"]
                return text

        yield call


@asynccontextmanager
async def litellm(protocol: str, base: str) -> AsyncIterator[Call]:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    from litellm import acompletion

    given = {"model": ROUTES[protocol].route, "api_base": base, "api_key": "none", "max_retries": 0, "timeout": TIMEOUT}

    async def call(messages: Messages) -> str:
        response = await acompletion(messages=messages, **given, **SAMPLING)
        text: str = response.choices[0].message.content
        return text

    yield call


PLAIN: dict[str, Opened] = {"aiohttp": raw, "litellm": litellm}
"""Clients that only make calls."""


async def plain(opened: Opened, protocol: str, folder: Path, address: str) -> Json:
    prompts: list[Messages] = json.loads((folder / PROMPTS).read_bytes())
    async with opened(protocol, ROUTES[protocol].at(address)) as call:
        await _asked(call, islice(prompts, CONNECTIONS))
        took = Took()
        await _asked(call, prompts)
        return took.so_far()


async def _asked(call: Call, prompts: Iterable[Messages]) -> None:
    queue = iter(prompts)
    await asyncio.gather(*(_work(call, queue) for _ in range(CONNECTIONS)))


async def _work(call: Call, queue: Iterator[Messages]) -> None:
    for messages in queue:
        text = await call(messages)
        if not text.startswith("ANSWER: "):
            raise SystemExit(f"A call was answered with {text!r}.")


async def ours(protocol: str, folder: Path) -> Json:
    """The project's own endpoint and engine, with every answer in a journal as a run has it."""
    from stages.ledger import read_ledger, runs
    from stages.params import read_params
    from stages.query.asking import Means, ask
    from stages.query.collect import limits
    from stages.query.opening import opened
    from stages.query.sheets import sheet, threads
    from stages.store import partitions

    params = read_params(folder)
    run = replace(next(runs(read_ledger(folder))), model=ROUTES[protocol].key)
    sheets = [sheet(folder, params, part) for part in partitions(run)]
    warming = Means(limits(sheets[0].model), lambda _: None, threading.Event())
    async with opened(sheets[0].model, sheets[0].protocol, sheets[0].model.api_base, "", ()) as endpoint:
        await ask(threads(sheets[0], {})[:CONNECTIONS], endpoint, warming)
        took = Took()
        for number, each in enumerate(sheets):
            await _journalled(each, endpoint, folder / f"{number}.journal.jsonl")
        return took.so_far()


async def _journalled(sheet: Any, endpoint: Any, path: Path) -> None:
    """As ``stages.query.collect.Collector`` asks one sheet."""
    from stages.query.asking import Means, Outcome, ask
    from stages.query.collect import limits
    from stages.query.journal import Journal
    from stages.query.rows import answer_row
    from stages.query.sheets import threads

    with Journal(path) as journal:

        def record(outcome: Outcome) -> None:
            journal.answer(answer_row(sheet.facts(outcome.asked), outcome, endpoint.sent(outcome.asked.question)))

        await ask(threads(sheet, {}), endpoint, Means(limits(sheet.model), record, threading.Event()))
        failed = sum(row["failure"] is not None for row in journal.answers.values())
        if failed:
            raise SystemExit(f"{failed} calls failed.")


class Took:
    """Seconds since it was made, and seconds that the processors worked for this process."""

    def __init__(self) -> None:
        self.began = time.perf_counter(), time.process_time()

    def so_far(self) -> Json:
        return {"wall": time.perf_counter() - self.began[0], "cpu": time.process_time() - self.began[1]}


async def main() -> None:
    client, protocol, folder, address = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4]
    took = await (ours(protocol, folder) if client == "endpoint" else plain(PLAIN[client], protocol, folder, address))
    print(json.dumps(took), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
