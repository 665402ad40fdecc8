"""The check-up on a schedule: the flow served as a Prefect deployment, until Ctrl-C or SIGTERM."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID
from zoneinfo import ZoneInfo

from flows import scheduled, server, settings
from stages import stopping
from stages.errors import UsageError
from stages.locks import held

if TYPE_CHECKING:
    from prefect.runner import Runner

POLL_SECONDS = 5
"""How often due runs are looked for."""


@dataclass(frozen=True)
class Times:
    """When to run: cron fields, read in an IANA time zone."""

    cron: str
    timezone: str

    def first_after(self, now: datetime) -> datetime:
        """The first time after ``now``, in the zone.

        :raises UsageError: these are no cron fields, or they never come.
        """
        from prefect._vendor.croniter.croniter import CroniterBadDateError, croniter  # what Prefect reads them with
        from prefect.client.schemas.schedules import CronSchedule
        from pydantic import ValidationError

        zone = ZoneInfo(self.timezone)
        try:
            CronSchedule(cron=self.cron, timezone=self.timezone)
            fields: Any = croniter
            found: datetime = fields(self.cron, now.astimezone(zone).replace(tzinfo=None)).get_next(datetime)
        except ValidationError as error:
            raise UsageError(f"{self._wrong(error.errors()[0]['loc'])}; correct it.") from error
        except CroniterBadDateError as error:
            raise UsageError(f"--cron: {self.cron!r} never comes; correct it.") from error
        return found.replace(tzinfo=zone)

    def _wrong(self, key: tuple[int | str, ...]) -> str:
        if key == ("timezone",):
            return f"--timezone: Prefect does not know {self.timezone!r}"
        return (
            f"--cron: {self.cron!r} is not minute, hour, day, month and weekday, such as '0 6 * * 1' for Mondays at six"
        )


def serve(root: Path, times: Times, name: str, parameters: Mapping[str, Any], port: int, catch_up: bool) -> None:
    """Serve the flow as the deployment ``name`` with ``parameters``, on a Prefect server that is started where none is named.

    ``catch_up``: run once at the start where runs were missed. Ends at a signal, as does a run that is going on and a
    server that was started here.

    :raises UsageError: the times or the name cannot be.
    :raises LedgerError: it is being served already.
    :raises CheckupError: there is no server to be had.
    """
    if not name or set(name) & set("/%\\"):
        raise UsageError(f"--name: {name!r} cannot name a deployment; use letters, digits and hyphens.")
    settings.apply()
    ours = server.VARIABLE not in os.environ
    with held(root, f"schedule-{name}", f"The schedule {name}", 0):
        url = server.start_whole(port, lambda: _say_next(times))
        runner, deployment = _deploy(times, name, parameters)
        print(f"Serving evaluate/{name}: {url}/deployments/deployment/{deployment}", flush=True)
        # On a server of ours nothing else can be running what this schedule began.
        if scheduled.close_missed(deployment, alone=ours) and catch_up:
            print("A run was missed or did not come to its end; it is made up for now.", flush=True)
            scheduled.run_now(deployment)
        _run(runner)


def _say_next(times: Times) -> None:
    first = times.first_after(datetime.now(UTC))
    print(f"Next run: {first:%A %Y-%m-%d %H:%M} {times.timezone}.", flush=True)


def _deploy(times: Times, name: str, parameters: Mapping[str, Any]) -> "tuple[Runner, UUID]":
    """A runner, and the id of the deployment that it is to run."""
    from prefect.runner import Runner
    from prefect.schedules import Cron
    from prefect.types.entrypoint import EntrypointType

    from flows.evaluation import evaluate

    # Without a pause at the end: what comes due while nobody serves stays so, and is made up for at the next start.
    runner = Runner(name=name, limit=1, query_seconds=POLL_SECONDS, prefetch_seconds=0, pause_on_shutdown=False)
    # A module's path, since each run is a process of its own: with the flow itself Prefect would pickle what it refers to.
    deployment: Any = evaluate.to_deployment(
        name,
        schedule=Cron(times.cron, timezone=times.timezone),
        parameters=dict(parameters),
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    added: Any = runner.add_deployment(deployment)
    return runner, added


def _deaf_to_ctrl_c() -> None:
    """Block SIGINT in this thread, and so in every process that it starts: the runner ends those with SIGTERM.

    A terminal sends Ctrl-C to all of them; one that is still importing Prefect would answer with a traceback.
    """
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _run(runner: "Runner") -> None:
    """Run ``runner`` until a signal comes; in a thread, since Prefect would take SIGTERM and wait half a minute."""
    with ThreadPoolExecutor(1, initializer=_deaf_to_ctrl_c) as pool:
        running = pool.submit(asyncio.run, runner.start())
        while not running.done() and not stopping.requested.wait(0.2):
            pass
        if not running.done():
            runner.execute_in_background(runner.astop)
        running.result()
