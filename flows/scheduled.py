"""A flow run that a runner or a worker started: what was due by its schedule, what ends it, and what it says."""

import signal
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from stages import stopping

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.objects import FlowRun, State


SKIPPED = "Skipped"
"""The state of a flow run for which another one stands in."""
_GOING_ON = ("PENDING", "RUNNING", "CANCELLING")
_CUT_OFF = ("CANCELLED", "CRASHED")
_TAKEN_UP = (*_GOING_ON, *_CUT_OFF, "COMPLETED", "FAILED")


def superseded() -> bool:
    """Whether this flow run was due by its schedule, and a later one of the schedule is due by now as well.

    The date of a run is that of its start: what came due while another was running is one check-up, not several of one day.
    """
    from prefect.client.orchestration import get_client

    own = _own_run()
    if own is None or own.deployment_id is None or not own.auto_scheduled:
        return False
    with get_client(sync_client=True) as client:
        later = _due(client, own.deployment_id, ["SCHEDULED"], own.expected_start_time)
    return any(run.id != own.id for run in later)


def signals() -> Sequence[signal.Signals]:
    """What the flow ends at. In a process that a runner started that is SIGTERM, which comes from it, also when it dies.

    A terminal sends Ctrl-C to both, and a second signal ends a process at once.
    """
    if _own_run() is None:
        return stopping.BOTH
    stopping.die_with_parent()
    return (signal.SIGTERM,)


def tell(state: "State[Any]") -> None:
    """Say on standard output how a flow run that a runner started has ended."""
    if own := _own_run():
        print(f"{datetime.now().astimezone():%Y-%m-%d %H:%M} {own.name}: {state.name}: {state.message}", flush=True)


def close_missed(deployment: UUID, alone: bool) -> bool:
    """Close what the schedule of ``deployment`` wanted by now and nobody ran; whether there was any, or its last run was cut off.

    They would be run one after another, with the parameters of the time when they were scheduled. ``alone``: nothing of
    ``deployment`` can be running, whatever the server thinks.
    """
    from prefect.client.orchestration import get_client
    from prefect.states import Cancelled, Crashed

    skipped: State[Any] = Cancelled(name=SKIPPED, message="Nobody served the schedule at that time.")
    crashed: State[Any] = Crashed(message="The machine, or whoever served the schedule, ended during this run.")
    with get_client(sync_client=True) as client:
        missed = _due(client, deployment, ["SCHEDULED"])
        for run in missed:
            client.set_flow_run_state(run.id, skipped, force=True)
        last = _last(client, deployment)
        if last and alone and last.state_type in _GOING_ON:
            client.set_flow_run_state(last.id, crashed, force=True)
            last = _last(client, deployment)
    return bool(missed) or (last is not None and last.state_type in _CUT_OFF)


def _last(client: "SyncPrefectClient", deployment: UUID) -> "FlowRun | None":
    """The last flow run of ``deployment`` that somebody took up, or tried to."""
    from prefect.client.schemas.filters import FlowRunFilter
    from prefect.client.schemas.sorting import FlowRunSort

    state = {"type": {"any_": _TAKEN_UP}, "name": {"not_any_": [SKIPPED]}}
    wanted = FlowRunFilter.model_validate({"deployment_id": {"any_": [deployment]}, "state": state})
    found = client.read_flow_runs(flow_run_filter=wanted, sort=FlowRunSort.EXPECTED_START_TIME_DESC, limit=1)
    return next(iter(found), None)


def run_now(deployment: UUID) -> None:
    """Have ``deployment`` run as soon as somebody serves it."""
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        client.create_flow_run_from_deployment(deployment)


def _due(
    client: "SyncPrefectClient", deployment: UUID, states: Sequence[str], after: datetime | None = None
) -> list["FlowRun"]:
    """The flow runs in these states that ``deployment`` was to start by now, and not before ``after``, by its schedule."""
    from prefect.client.schemas.filters import FlowRunFilter

    wanted = {
        "deployment_id": {"any_": [deployment]},
        "state": {"type": {"any_": states}},
        "expected_start_time": {"after_": after, "before_": datetime.now(UTC)},
    }
    found = client.read_flow_runs(flow_run_filter=FlowRunFilter.model_validate(wanted))
    return [run for run in found if run.auto_scheduled]


def _own_run() -> "FlowRun | None":
    """The flow run that is going on, where a runner or worker started it for a deployment."""
    from prefect.context import FlowRunContext

    context = FlowRunContext.get()
    run = context.flow_run if context else None
    return run if run and run.deployment_id else None
