"""Asking by workers: questions go out in chunks, each is put once over there, and the rows are the ones that asking here makes."""

import asyncio
import pickle
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from stages.errors import CallFailed, Incomplete, ModelUnavailable, Terminal, Transient, UsageError
from stages.ledger import Run, planned, read_ledger, record, runs
from stages.load import load_all
from stages.params import Model, read_params
from stages.query import Budget, Silent, Workers, ask_run, desk
from stages.query.remote import RemoteEndpoint, obstacles
from stages.requests import Request
from stages.schema import ANSWERS
from stages.store import partitions, read_all
from tests.wire import Response, chat, error, serving

KEY = "sk-planted-0123456789abcdef"
ITEMS = 6
QUESTIONS = ITEMS * 2 * 2  # orders, languages
CONNECTIONS = 4
TIMES = ("asked_at", "latency")
LARGEST = 10_000
"""Bytes that a chunk of eight questions may have on its way. (case 40)"""


@dataclass
class Here(Workers):
    """Workers that are threads of this process; a chunk travels as it does between processes.

    The first ``lose`` chunks are answered, and lost on the way back.
    """

    number: int = 2
    lose: int = 0
    away: float = 0.0
    """Seconds that a chunk takes beside its calls."""
    sizes: list[int] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    came: list[bytes] = field(default_factory=list)

    def obstacles(self, models: Mapping[str, Model]) -> dict[str, str]:
        return desk.obstacles(models)

    @asynccontextmanager
    async def gathered(self, model: Model) -> "AsyncIterator[Here]":  # noqa: ARG002
        yield self

    async def answer(self, chunk: desk.Chunk) -> list[desk.Result]:
        self.sizes.append(len(chunk.asked))
        self.sent.append(pickle.dumps(chunk))
        number = len(self.sizes)
        results = await asyncio.to_thread(desk.answer, pickle.loads(self.sent[-1]))
        await asyncio.sleep(self.away)
        if number <= self.lose:
            raise Transient("worker_lost", "the worker was lost", retry_after=0)
        self.came.append(pickle.dumps(results))
        return list(pickle.loads(self.came[-1]))


@pytest.fixture
def wired(project: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Plan a small run of a model that is reached at the given base URL, its entry with ``more``."""
    load_all(project)
    monkeypatch.setenv("PLANTED_KEY", KEY)
    text = (project / "params.yaml").read_text(encoding="utf-8")

    def plan(base: str, more: str = "") -> Run:
        entry = f"  wired: {{route: openai/m, api_base: '{base}', api_key_env: PLANTED_KEY, max_connections: {CONNECTIONS}{more}}}\n"
        (project / "params.yaml").write_text(text + entry, encoding="utf-8")
        request = Request("wired", limit=ITEMS, fresh=True)
        run = planned(read_ledger(project), read_params(project), request, datetime.now(UTC))
        record(project, run)
        return run

    return plan


def ask(project: Path, run: Run, workers: Workers | None = None, budget: Budget | None = None) -> pl.DataFrame:
    """Ask ``run``; its rows."""
    ask_run(project, run, threading.Event(), Silent(), budget=budget, workers=workers)
    return read_all(project, partitions(run), ANSWERS)


def telling(_: dict[str, Any]) -> Response:
    return chat(f"he, and your key is {KEY}", delay=0.01)


def test_the_rows_are_the_same_but_for_times(project: Path, wired: Callable[..., Run]) -> None:
    workers = Here(away=0.1)
    with serving(telling) as server:
        here = ask(project, wired(server.base, ", seed: true"))
        run, seed = wired(server.base, ", seed: true"), "seed"
        there = ask(project, run, workers)
    assert there.drop("run", *TIMES).equals(here.drop("run", *TIMES))
    assert set(there["reply"]) == {"he, and your key is ***"}
    assert 0.01 <= there["latency"].min() < workers.away  # type: ignore[operator]
    assert len(server.requests) == 2 * QUESTIONS
    assert sorted(body[seed] for body in server.requests[:QUESTIONS]) == sorted(
        body[seed] for body in server.requests[QUESTIONS:]
    )


def test_chunks_are_shares_of_the_calls_that_may_be_open(project: Path, wired: Callable[..., Run]) -> None:
    workers = Here()
    with serving(lambda _: chat("he")) as server:
        ask(project, wired(server.base), workers)
    assert sum(workers.sizes) == len(server.requests) == QUESTIONS
    assert max(workers.sizes) == CONNECTIONS / workers.number
    assert server.most_open <= CONNECTIONS


def test_a_chunk_is_small_and_has_neither_item_nor_wording_nor_key(project: Path, wired: Callable[..., Run]) -> None:
    workers = Here(number=1)
    with serving(lambda _: chat("he")) as server:
        ask(project, wired(server.base), workers)
    assert max(workers.sizes) == CONNECTIONS
    assert max(map(len, workers.sent)) / CONNECTIONS * 8 < LARGEST
    assert [word for word in (b"item_id", b"domain", b"comma", KEY.encode()) if word in b"".join(workers.sent)] == []


def test_a_lost_chunk_is_asked_again_and_counts_as_spent(project: Path, wired: Callable[..., Run]) -> None:
    budget, workers = Budget(1.0), Here(lose=1)
    with serving(lambda _: chat("he")) as server:
        frame = ask(project, wired(server.base, ", price: {input: 1, output: 10}"), workers, budget)
    lost = workers.sizes[0]
    assert frame.height == QUESTIONS
    assert len(server.requests) == QUESTIONS + lost
    assert frame.filter(pl.col("attempts") == 2).height == lost
    assert budget.spent > frame["cost"].sum()
    assert budget.open == 0


def test_the_deadline_of_a_call_is_kept_over_there(project: Path, wired: Callable[..., Run]) -> None:
    with serving(lambda _: chat("he", delay=0.5)) as server:
        run = wired(server.base, ", timeout: 0.1, max_attempts: 1, cool_off: 0.05")
        with pytest.raises(Incomplete, match=r"no reply within 0\.1 seconds"):
            ask(project, run, Here())
    assert len(server.requests) <= QUESTIONS


def test_what_a_provider_says_is_heard_here(project: Path, wired: Callable[..., Run]) -> None:
    with serving(lambda _: error(401, "invalid_api_key", f"Incorrect API key provided: {KEY}")) as server:
        run = wired(server.base)
        with pytest.raises(Incomplete, match=r"check PLANTED_KEY in \.env \(HTTP 401: [^)]*\*\*\*"):
            ask(project, run, Here())
    assert next(runs(read_ledger(project))).entry.state == "open"


def test_of_an_error_only_what_it_says_comes_back(project: Path, wired: Callable[..., Run]) -> None:
    import distributed  # noqa: F401  # from then on causes and tracebacks are pickled along

    workers = Here()
    with pytest.raises(Incomplete, match=r"127\.0\.0\.1:9"):
        ask(project, wired("http://127.0.0.1:9/v1", ", max_attempts: 1, cool_off: 0.05"), workers)
    assert workers.came
    assert [word for word in (b"ClientConnectorError", b"tblib") if word in b"".join(workers.came)] == [b"tblib"]


@pytest.mark.parametrize("kind", [CallFailed, Transient, Terminal, ModelUnavailable])
def test_an_error_travels_whole_but_without_its_cause(kind: type[CallFailed]) -> None:
    import distributed  # noqa: F401  # from then on causes and tracebacks are pickled along

    with pytest.raises(kind) as raised:
        raise kind("rate_limited", "slowly", 1.5) from ValueError(KEY)
    assert KEY.encode() in pickle.dumps(raised.value)
    packed = pickle.dumps(raised.value.bare())
    found = pickle.loads(packed)
    assert (type(found), found.kind, str(found), found.retry_after) == (kind, "rate_limited", "slowly", 1.5)
    assert KEY.encode() not in packed


@pytest.mark.parametrize(
    ("connections", "workers", "seconds", "size"),
    [(8, 1, None, 8), (8, 2, None, 4), (9, 2, None, 5), (8, 0, None, 8), (1, 4, None, 1), (100, 2, 0.1, 40), (100, 2, 0.05, 50), (100, 2, 1.0, 4), (8, 2, 1.0, 1)],
)  # fmt: skip
def test_a_chunk_is_an_equal_share_and_smaller_where_calls_take_long(
    connections: int, workers: int, seconds: float | None, size: int
) -> None:
    endpoint = RemoteEndpoint(None, None, None, Here(workers), connections)  # type: ignore[arg-type]
    endpoint._seconds = seconds
    assert endpoint.size == size


def test_a_key_is_needed_where_the_calls_are_made(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    class There(Here):
        def obstacles(self, models: Mapping[str, Model]) -> dict[str, str]:
            return {key: "on worker w it cannot" for key in models if key == "keyless"}

    monkeypatch.delenv("PLANTED_KEY", raising=False)
    entry = Model.model_validate({"route": "openai/m", "api_key_env": "PLANTED_KEY"})
    roster = {
        "away": entry,
        "keyless": entry,
        "none": Model.model_validate({}),
        "stays": entry.model_copy(update={"constrain": "logit_bias"}),
    }
    assert obstacles(roster, [], There()) == {
        "keyless": "on worker w it cannot",
        "none": roster["none"].obstacle(),
        "stays": entry.keyless(),
    }
    assert obstacles({"local": read_params(project).models["gemma-3-270m"]}, [], There()) == {}


def test_a_worker_may_forbid_calls(project: Path, wired: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    run = wired("http://127.0.0.1:9/v1")

    class Forbidding(Here):
        def obstacles(self, models: Mapping[str, Model]) -> dict[str, str]:
            with monkeypatch.context() as patch:
                patch.setenv("CHECKUP_NO_CALLS", "1")
                return desk.obstacles(models)

    with pytest.raises(UsageError, match="CHECKUP_NO_CALLS forbids calls; unset it"):
        ask(project, run, Forbidding())
