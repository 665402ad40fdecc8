"""The check-up on a schedule: the flow served as a Prefect deployment until Ctrl-C or SIGTERM; missed and overlapping runs."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from flows import server, settings
from stages import stopping
from stages.errors import UsageError

if TYPE_CHECKING:
    from prefect.runner import Runner

POLL_SECONDS = 5
"""How often due runs are looked for."""
PORT = 4200


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


def serve(
    times: Times,
    name: str,
    port: int,
    parameters: Mapping[str, Any],
    say: Callable[[str], None],
) -> None:
    """Serve the flow as the deployment ``name`` with ``parameters``, on a Prefect server that is started where none is named.

    Ends at a signal, as does a run that is going on and a server that was started here.

    :raises UsageError: the times or the name cannot be.
    :raises CheckupError: there is no server to be had.
    """
    if not name or set(name) & set("/%"):
        raise UsageError(f"--name: {name!r} cannot name a deployment; use letters, digits and hyphens.")
    settings.apply()
    url = server.start_whole(
        port, lambda: say(f"Next run: {times.first_after(datetime.now(UTC)):%A %Y-%m-%d %H:%M} {times.timezone}.")
    )
    from prefect.runner import Runner
    from prefect.schedules import Cron

    from flows.evaluation import evaluate

    # What is missed while nobody serves stays due, and is run once (see ``superseded``): so no pause at the end.
    runner = Runner(name=name, limit=1, query_seconds=POLL_SECONDS, prefetch_seconds=0, pause_on_shutdown=False)
    deployment = runner.add_flow(
        evaluate, name=name, schedule=Cron(times.cron, timezone=times.timezone), parameters=dict(parameters)
    )
    say(f"Serving {evaluate.name}/{name}: {url}/deployments/deployment/{deployment}")
    _run(runner)


def _run(runner: "Runner") -> None:
    """Run ``runner`` until a signal comes; in a thread, since Prefect would take SIGTERM and wait half a minute."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(asyncio.run, runner.start())
        while not running.done() and not stopping.requested.wait(0.2):
            pass
        if not running.done():
            runner.execute_in_background(runner.astop)
        running.result()


def superseded() -> bool:
    """Whether this flow run was due by its schedule, and a later one of the schedule is due by now as well.

    The date of a run is that of its start, so five missed weeks are one check-up, not five on one day.
    """
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter
    from prefect.context import FlowRunContext

    context = FlowRunContext.get()
    own = context.flow_run if context else None
    if own is None or own.deployment_id is None or not own.auto_scheduled:
        return False
    due = {
        "deployment_id": {"any_": [own.deployment_id]},
        "state": {"type": {"any_": ["SCHEDULED"]}},
        "expected_start_time": {"after_": own.expected_start_time, "before_": datetime.now(UTC)},
    }
    with get_client(sync_client=True) as client:
        found = client.read_flow_runs(flow_run_filter=FlowRunFilter.model_validate(due))
    return any(run.auto_scheduled and run.id != own.id for run in found)
