"""A Dask cluster whose workers make the calls, reached with prefect-dask's client.

Plain functions go to the workers, not Prefect's tasks: those report to Prefect's API wherever they run, which a worker elsewhere
cannot reach. Where a chunk goes is decided here, and it goes nowhere else: Dask by itself would make the calls of a lost worker
once more, and nobody would count them.
"""

import asyncio
import logging
import pickle
import random
import warnings
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
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
IMPORT_SECONDS = 60.0
"""For a worker to import the project, on a busy machine."""
LOOK_SECONDS = 0.5
"""How soon it is seen that a worker is lost, or new."""
_NOT_THERE = ("ModuleNotFoundError", "ImportError", "AttributeError")
"""What unpickling says of a module that is missing, or older."""


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
        async with _connected(self.address) as client:
            crew = Crew(self.address, client)
            await crew.first_look()
            found = await crew.told(desk.obstacles, dict(models))
        return {
            model: f"on worker {place} {reason}"
            for place, reasons in reversed(found.items())
            for model, reason in reasons.items()
        }

    @asynccontextmanager
    async def gathered(self, model: Model) -> "AsyncIterator[Crew]":
        """See ``query.Workers.gathered``.

        :raises CheckupError: no scheduler answers, it has no workers, or one of them cannot work for us.
        """
        async with _connected(self.address) as client:
            crew = Crew(self.address, client, model)
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
    client: Any = PrefectDaskClient(  # type: ignore[no-untyped-call]
        address, asynchronous=True, set_as_default=False, timeout=CONNECT_SECONDS
    )
    try:
        await _answering(client, address)
        yield client
    finally:
        await client.close()


async def _answering(client: Any, address: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other versions, which are told later where they matter
            await client
    except (OSError, ValueError) as error:
        raise CheckupError(
            f"No Dask scheduler answers at {address}; correct --address, or start one with: dask scheduler."
        ) from error


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
    model: Model | None = None
    _places: dict[str, _Place] = field(default_factory=dict)
    """The fit ones."""
    _unfit: dict[str, str] = field(default_factory=dict)
    """Why the others cannot work for us."""
    _seen: set[str] = field(default_factory=set)
    _heard: bool = True
    """Whether the scheduler answered the last time."""

    @property
    def number(self) -> int:
        return len(self._places)

    async def first_look(self) -> None:
        """Wait until there is a worker.

        :raises CheckupError: none came, or one of them is not fit.
        """
        ends = monotonic() + CONNECT_SECONDS
        while not (new := await self._look()):
            if monotonic() > ends:
                raise CheckupError(
                    f"The Dask scheduler at {self.address} has no workers; start one where the keys are with: "
                    f"dask worker {self.address}."
                )
            await asyncio.sleep(LOOK_SECONDS)
        await self._admit(new)
        for reason in self._unfit.values():
            raise CheckupError(f"{reason}.")

    async def watch(self) -> None:
        """Keep up with which workers there are."""
        async with asyncio.TaskGroup() as checks:
            while True:
                await asyncio.sleep(LOOK_SECONDS)
                try:
                    new = await self._look()
                except (OSError, TimeoutError):
                    self._heard = False
                    continue
                if new:
                    checks.create_task(self._admit(new))

    async def told(self, function: Any, *arguments: Any) -> dict[str, Any]:
        """What ``function`` returns on every worker.

        :raises CheckupError: it fails on one.
        """
        found = await self._asked(list(self._places), function, *arguments)
        for place, result in found.items():
            if isinstance(result, Exception):
                raise CheckupError(f"On worker {place}: {str(result) or type(result).__name__}") from result
        return found

    async def _asked(self, places: Sequence[str], function: Any, *arguments: Any) -> dict[str, Any]:
        """What ``function`` returns or raises on each of ``places``, which need not be free for it."""
        try:
            async with asyncio.timeout(IMPORT_SECONDS):
                return dict(await self.client.run(function, *arguments, workers=list(places), on_error="return"))
        except (OSError, TimeoutError) as error:
            return dict.fromkeys(places, error)

    async def answer(self, chunk: desk.Chunk) -> list[desk.Result]:
        """See ``query.Crew.answer``: on the worker that has the fewest chunks."""
        address = await self._freest()
        place = self._places[address]
        future = self.client.submit(
            pickle.loads, pickle.dumps(_Errand(chunk)), key=f"ask-{uuid4()}", pure=False, workers=[address]
        )
        place.chunks += 1
        result = asyncio.ensure_future(future.result())
        try:
            await asyncio.wait({result, place.gone}, return_when=asyncio.FIRST_COMPLETED)
            if not result.done():
                raise _lost(address)
            found: list[desk.Result] = pickle.loads(result.result())
            return found
        except (_killed(), CancelledError) as error:
            raise _lost(address) from error
        finally:
            place.chunks -= 1
            result.cancel()
            future.release()

    async def _freest(self) -> str:
        ends = monotonic() + WORKERLESS_SECONDS
        while not (free := [address for address, place in self._places.items() if place.running and self._heard]):
            if monotonic() > ends:
                raise ModelUnavailable("no_workers", self._why_none())
            await asyncio.sleep(LOOK_SECONDS)
        return min(free, key=lambda address: (self._places[address].chunks, random.random()))

    def _why_none(self) -> str:
        since = f"for {WORKERLESS_SECONDS:g} seconds"
        if not self._heard:
            return f"the Dask scheduler at {self.address} has not answered {since}; start it and its workers, and run again"
        unfit = "".join(f" ({reason})" for reason in self._unfit.values())
        return (
            f"the Dask cluster at {self.address} has had no worker {since}{unfit}; start one with: "
            f"dask worker {self.address}, and run again"
        )

    async def _look(self) -> list[str]:
        """See which workers there are; the new ones."""
        async with asyncio.timeout(CONNECT_SECONDS):
            told = (await self.client.scheduler.identity(n_workers=-1))["workers"]
        self._heard = True
        for address in self._places.keys() - told.keys():
            self._places.pop(address).gone.set_result(None)
        for address, place in self._places.items():
            place.running = told[address]["status"] == "running"
        new = told.keys() - self._seen
        self._seen = set(told)
        self._unfit = {address: reason for address, reason in self._unfit.items() if address in told}
        return sorted(new)

    async def _admit(self, new: Sequence[str]) -> None:
        """Take the workers ``new``, but for those that cannot work for us."""
        found = await self._asked(new, desk.versions)
        misfits = {address: _misfit(address, found.get(address)) for address in new}
        fit = [address for address, reason in misfits.items() if reason is None]
        if self.model and fit:
            keyless = await self._asked(fit, desk.obstacles, {"": self.model})
            misfits |= {address: _obstacle(address, keyless.get(address)) for address in fit}
        for address, reason in misfits.items():
            if reason:
                self._unfit[address] = reason
            elif address in self._seen:
                self._places[address] = _Place(asyncio.get_running_loop().create_future())


def _obstacle(place: str, told: "dict[str, str] | Exception | None") -> str | None:
    if not isinstance(told, dict):
        return f"Worker {place} does not say what it can ask ({told})"
    return f"Worker {place} cannot ask: {told['']}" if told else None


def _misfit(place: str, told: "dict[str, str] | Exception | None") -> str | None:
    if any(word in repr(told) for word in _NOT_THERE):  # Dask hands on only the words of what broke unpickling
        return f"Worker {place} cannot import bias-checkup ({told}); install there what is installed here"
    if not isinstance(told, dict):
        return f"Worker {place} does not say what it has installed ({str(told) or type(told).__name__}); start it again"
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


@dataclass(frozen=True)
class _Errand:
    """Unpickled it is what ``_answered`` returns: so the scheduler, which unpickles functions, need not have this project."""

    chunk: desk.Chunk

    def __reduce__(self) -> tuple[Callable[[desk.Chunk], bytes], tuple[desk.Chunk]]:
        return _answered, (self.chunk,)


def _answered(chunk: desk.Chunk) -> bytes:
    """On a worker: answer outside of its pool, as its threads, one to a core, are no limit for what only waits."""
    from distributed import secede

    secede()  # type: ignore[no-untyped-call]
    return pickle.dumps(desk.answer(chunk))
