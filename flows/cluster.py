"""A Dask cluster whose workers make the calls, reached with prefect-dask's client.

Plain functions go to the workers, not Prefect's tasks: those report to Prefect's API wherever they run, which a worker elsewhere
cannot reach. Where a chunk goes is decided here, and it goes nowhere else: Dask by itself would make the calls of a lost worker
once more, and nobody would count them.
"""

import asyncio
import logging
import random
import warnings
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from time import monotonic
from typing import Any
from uuid import uuid4

from stages.errors import CheckupError, ModelUnavailable, Transient, UsageError
from stages.params import Model
from stages.query import desk

THREADS, DASK = "threads", "dask"
CONNECT_SECONDS = 10.0
"""For the scheduler to answer, and for a first worker to be there."""
WORKERLESS_SECONDS = 30.0
"""How long a model waits for a worker when there are none any more."""
LOOK_SECONDS = 0.5
"""How soon it is seen that a worker is lost, or new."""


def workers(runner: str, address: str | None) -> "Cluster | None":
    """Who makes the calls where ``runner`` is dask: the cluster at ``address``; null where it is threads of this process.

    :raises UsageError: the two do not go together, or prefect-dask is not installed.
    """
    if runner not in (THREADS, DASK):
        raise UsageError(f"There is no runner {runner!r}; use one of: {THREADS}, {DASK}.")
    if runner == THREADS and address:
        raise UsageError("--address says where --runner dask finds its workers; add --runner dask, or leave it out.")
    if runner == THREADS:
        return None
    if not address:
        raise UsageError(
            "--runner dask needs the address of a scheduler; add --address tcp://HOST:8786, as `dask scheduler` tells it."
        )
    if find_spec("prefect_dask") is None:
        raise UsageError("--runner dask needs the extra dask, which is not installed; run: make setup.")
    return Cluster(address)


@dataclass(frozen=True)
class Cluster:
    """See ``query.Workers``."""

    address: str

    def obstacles(self, models: Mapping[str, Model]) -> dict[str, str]:
        """See ``query.Workers.obstacles``.

        :raises CheckupError: no scheduler answers, it has no workers, or one of them cannot work for us.
        """
        return asyncio.run(self._obstacles(models))

    async def _obstacles(self, models: Mapping[str, Model]) -> dict[str, str]:
        async with self.gathered() as crew:
            found = await crew.told(desk.obstacles, dict(models))
        return {
            model: f"on worker {place} {reason}"
            for place, reasons in reversed(found.items())
            for model, reason in reasons.items()
        }

    @asynccontextmanager
    async def gathered(self) -> "AsyncIterator[Crew]":
        """The workers that there are, all of them seen to be fit.

        :raises CheckupError: no scheduler answers, it has no workers, or one of them cannot work for us.
        """
        async with _connected(self.address) as client:
            crew = Crew(self.address, client)
            await crew.first_look()
            watch = asyncio.create_task(crew.watch())
            try:
                yield crew
            finally:
                watch.cancel()
                await asyncio.gather(watch, return_exceptions=True)


@asynccontextmanager
async def _connected(address: str) -> AsyncIterator[Any]:
    from prefect_dask.client import PrefectDaskClient

    for name in ("distributed", "distributed.client"):  # what goes wrong is ours to say
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other versions, which are told below where they matter
            client = await PrefectDaskClient(  # type: ignore[no-untyped-call]
                address, asynchronous=True, set_as_default=False, timeout=CONNECT_SECONDS
            )
    except (OSError, ValueError) as error:
        raise CheckupError(
            f"No Dask scheduler answers at {address}; correct --address, or start one with: dask scheduler."
        ) from error
    try:
        yield client
    finally:
        await client.close()


@dataclass
class _Place:
    """A worker: how many chunks it has, and what is done once it is lost."""

    gone: "asyncio.Future[None]"
    chunks: int = 0
    running: bool = True
    """Whether it takes chunks; Dask pauses one that is short of memory."""


@dataclass
class Crew:
    """The workers of a cluster as one model sees them; of one event loop. See ``query.Crew``."""

    address: str
    client: Any
    _places: dict[str, _Place] = field(default_factory=dict)
    _unfit: dict[str, str] = field(default_factory=dict)

    @property
    def number(self) -> int:
        return len(self._places)

    async def first_look(self) -> None:
        """Wait until there is a worker.

        :raises CheckupError: none came, or one of them is not fit.
        """
        ends = monotonic() + CONNECT_SECONDS
        while not self._places and not self._unfit and monotonic() < ends:
            await self._look()
            await asyncio.sleep(0 if self._places else LOOK_SECONDS)
        for reason in self._unfit.values():
            raise CheckupError(f"{reason}.")
        if not self._places:
            raise CheckupError(
                f"The Dask scheduler at {self.address} has no workers; start one where the keys are with: "
                f"dask worker {self.address}."
            )

    async def watch(self) -> None:
        """Keep up with which workers there are."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self._look()
            except (OSError, TimeoutError, CheckupError):
                for place in self._places.values():
                    place.running = False

    async def told(self, function: Any, *arguments: Any) -> dict[str, Any]:
        """What ``function`` returns on every worker, which need not be free for it.

        :raises CheckupError: it fails on one.
        """
        found = await self.client.run(function, *arguments, workers=list(self._places), on_error="return")
        for place, result in found.items():
            if isinstance(result, Exception):
                raise CheckupError(f"On worker {place}: {result}") from result
        return dict(found)

    async def answer(self, chunk: desk.Chunk) -> list[desk.Result]:
        """See ``query.Crew.answer``: on the worker that has the fewest chunks."""
        address = await self._freest()
        place = self._places[address]
        future = self.client.submit(
            _answered, chunk, key=f"ask-{uuid4()}", pure=False, workers=[address], allow_other_workers=False
        )
        place.chunks += 1
        result = asyncio.ensure_future(future.result())
        try:
            await asyncio.wait({result, place.gone}, return_when=asyncio.FIRST_COMPLETED)
            if not result.done():
                raise _lost(address)
            return list(result.result())
        except (_killed(), CancelledError) as error:
            raise _lost(address) from error
        finally:
            place.chunks -= 1
            result.cancel()
            future.release()

    async def _freest(self) -> str:
        ends = monotonic() + WORKERLESS_SECONDS
        while not (free := [address for address, place in self._places.items() if place.running]):
            if monotonic() > ends:
                raise ModelUnavailable(
                    "no_workers",
                    f"the Dask cluster at {self.address} has had no worker for {WORKERLESS_SECONDS:g} seconds"
                    f"{''.join(f' ({reason})' for reason in self._unfit.values())}; start one with: "
                    f"dask worker {self.address}, and run again",
                )
            await asyncio.sleep(LOOK_SECONDS)
        return min(free, key=lambda address: (self._places[address].chunks, random.random()))

    async def _look(self) -> None:
        async with asyncio.timeout(CONNECT_SECONDS):
            told = (await self.client.scheduler.identity(n_workers=-1))["workers"]
        for address in [address for address in self._places if address not in told]:
            self._places.pop(address).gone.set_result(None)
        for address in self._places:
            self._places[address].running = told[address]["status"] == "running"
        new = [address for address in told if address not in self._places and address not in self._unfit]
        self._unfit = {address: reason for address, reason in self._unfit.items() if address in told}
        if new:
            self._unfit |= await self._misfits(new)
        for address in new:
            if address not in self._unfit:
                self._places[address] = _Place(asyncio.get_running_loop().create_future())

    async def _misfits(self, places: Sequence[str]) -> dict[str, str]:
        """Why some of ``places`` cannot work for us, with the mend."""
        found = await self.client.run(desk.versions, workers=list(places), on_error="return")
        return {place: reason for place in places if (reason := _misfit(place, found.get(place)))}


def _misfit(place: str, told: "dict[str, str] | Exception | None") -> str | None:
    if isinstance(told, ImportError | AttributeError):
        return f"Worker {place} cannot import bias-checkup ({told}); install there what is installed here"
    if not isinstance(told, dict):
        return f"Worker {place} does not say what it has installed ({told}); start it again"
    for name, here in desk.versions().items():
        if (there := told.get(name)) != here:
            has = f"{name} {there}" if there else f"no {name}"
            return f"Worker {place} has {has} where here is {here}; install there what is installed here"
    return None


def _lost(address: str) -> Transient:
    return Transient("worker_lost", f"worker {address} was lost in the middle of its calls", retry_after=0)


def _killed() -> type[Exception]:
    from distributed.scheduler import KilledWorker

    return KilledWorker


def _answered(chunk: desk.Chunk) -> list[desk.Result]:
    """On a worker: answer outside of its pool, as its threads, one to a core, are no limit for what only waits."""
    from distributed import secede

    secede()  # type: ignore[no-untyped-call]
    return desk.answer(chunk)
