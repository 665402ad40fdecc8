"""A real schedule: `checkup schedule` on a server of its own, and a work pool with a worker; a model at the wire."""

import os
import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from stages.ledger import read_ledger
from tests.conftest import ROOT
from tests.end_to_end.checkout import Checkout, commit, enrol, make_checkout, stop
from tests.end_to_end.prefect_api import Prefect, Run, free_port
from tests.wire import Server, chat, prompt_of, serving

ITEMS = 2
QUESTIONS = ITEMS * 2 * 2
NOT_NOW = ("--cron", f"0 0 1 {(datetime.now(UTC).month + 5) % 12 + 1} *", "--limit", str(ITEMS))
"""A schedule that comes once a year, in half a year."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[tuple[Checkout, Server]]:
    with serving(lambda body: chat("她" if "他" in prompt_of(body) else "he")) as server:
        checkout = make_checkout(tmp_path / "project")
        enrol(checkout, server.base)
        (checkout.root / "prefect.yaml").write_bytes((ROOT / "prefect.yaml").read_bytes())
        commit(checkout)
        for name, value in (("user.name", "me"), ("user.email", "me@localhost")):
            git(checkout, "config", name, value)
        yield checkout, server


def git(checkout: Checkout, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=checkout.root, capture_output=True, text=True, encoding="utf-8", check=True
    )
    return done.stdout.strip()


def completed(runs: list[Run]) -> list[Run]:
    return [run for run in runs if run["state_name"] == "Completed"]


def another_day(now: datetime) -> str:
    """A zone in which it is another date than in UTC, and will be for an hour."""
    return "Pacific/Kiritimati" if now.hour >= 10 else "Pacific/Pago_Pago"


def test_a_schedule_asks_once_a_day_dated_in_its_zone_commits_and_ends_at_ctrl_c(
    asked: tuple[Checkout, Server],
) -> None:
    """Another run overlaps with those that the schedule starts; whichever comes first asks, the others find nothing to do."""
    checkout, server = asked
    prefect, zone = Prefect(free_port()), another_day(datetime.now(UTC))
    options = ("--cron", "* * * * *", "--timezone", zone, "--limit", str(ITEMS), "--git-commit")
    process = checkout.start("checkup", "schedule", *options, "--port", str(prefect.port))
    try:
        prefect.run(prefect.deployment("check-up"))
        found = prefect.wait(
            lambda runs: {run["auto_scheduled"] for run in completed(runs)} == {False, True}, seconds=200
        )
    finally:
        code, seconds, said = stop(process, signal.SIGINT, to_group=True)
    assert (code, seconds < 6, checkout.left_after(3)) == (130, True, [])
    assert "Traceback" not in said
    assert {run["state_name"] for run in found if run["start_time"]} <= {"Completed", "Skipped"}
    assert len(server.requests) == QUESTIONS
    day = datetime.now(ZoneInfo(zone)).date().isoformat()
    assert list(read_ledger(checkout.root).runs["wired"]) == [day]
    assert day != datetime.now(UTC).date().isoformat()
    assert git(checkout, "log", "-1", "--format=%s").startswith(f"Check-up of {day}: wired en lean ")
    assert git(checkout, "show", "--name-only", "--format=").split() == ["dvc.lock", "runs.yaml", "runs/wired.yaml"]
    assert checkout.call("dvc", "status").stdout.strip() == "Data and pipelines are up to date."


def test_what_was_missed_is_made_up_for_once_and_a_kill_leaves_nothing(asked: tuple[Checkout, Server]) -> None:
    checkout, server = asked
    prefect = Prefect(free_port())
    command = ("checkup", "schedule", *NOT_NOW, "--port", str(prefect.port))
    process = checkout.start(*command)
    deployment = prefect.deployment("check-up")
    assert checkout.call(*command).stderr.startswith(f"Error: The schedule check-up is held by process {process.pid}")
    os.kill(process.pid, signal.SIGSTOP)  # as if nobody served it; the server goes on
    prefect.miss(deployment, 5)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert checkout.left_after(6) == []
    again = checkout.start(*command)
    try:
        found = prefect.wait(completed, seconds=120)
    finally:
        said = stop(again, signal.SIGTERM, to_group=False)[2]
    assert [run["state_name"] for run in found] == ["Skipped"] * 5 + ["Completed"]
    assert "it is made up for now" in said
    assert len(server.requests) == QUESTIONS
    assert checkout.left_after(6) == []


def test_a_work_pool_runs_what_prefect_yaml_deploys(asked: tuple[Checkout, Server]) -> None:
    checkout, server = asked
    prefect = Prefect(free_port())
    told = {"PREFECT_API_URL": prefect.url, "PREFECT_HOME": str(checkout.root / ".prefect"), "DO_NOT_TRACK": "1"}
    started = [checkout.start("prefect", "server", "start", "--port", str(prefect.port), **told)]
    try:
        assert checkout.call("prefect", "server", "status", "--wait", "--timeout", "60", **told).returncode == 0
        for command in ("work-pool create check-up --type process", "--no-prompt deploy --all"):
            done = checkout.call("prefect", *command.split(), **told)
            assert done.returncode == 0, done.stdout + done.stderr
        started.append(checkout.start("prefect", "worker", "start", "--pool", "check-up", "--limit", "1", **told))
        prefect.run(prefect.deployment("weekly"), limit=ITEMS, git_commit=True)
        (found,) = prefect.wait(completed, seconds=120)
    finally:
        for process in reversed(started):
            stop(process, signal.SIGTERM, to_group=True)
    assert found["state_name"] == "Completed", found["state"]
    assert len(server.requests) == QUESTIONS
    assert git(checkout, "log", "-1", "--format=%s").startswith("Check-up of ")
    assert checkout.left_after(5) == []
