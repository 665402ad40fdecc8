"""A Prefect server as tests see it: by its REST API."""

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

Run = dict[str, Any]
FINAL = {"COMPLETED", "FAILED", "CANCELLED", "CRASHED"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@dataclass(frozen=True)
class Prefect:
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    def post(self, path: str, **body: Any) -> Any:
        answer = httpx.post(f"{self.url}/{path}", json=body, timeout=30)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def deployment(self, name: str, seconds: float = 60) -> str:
        """The id of the deployment ``evaluate/<name>``, once it is there."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                answer = httpx.get(f"{self.url}/deployments/name/evaluate/{name}", timeout=30)
                if answer.status_code == 200:
                    return str(answer.json()["id"])
            except httpx.TransportError:
                pass
            assert time.monotonic() < deadline, f"no deployment {name} within {seconds:g} seconds"
            time.sleep(0.2)

    def run(self, deployment: str, **parameters: Any) -> str:
        """Have ``deployment`` run as soon as may be; the id of its flow run."""
        return str(self.post(f"deployments/{deployment}/create_flow_run", parameters=parameters)["id"])

    def miss(self, deployment: str, times: int) -> None:
        """Have the yearly schedule of ``deployment`` want as many runs in the past, as if nobody had served it."""
        now = datetime.now(UTC)
        span = {"start_time": (now - timedelta(days=366 * (times + 1))).isoformat(), "end_time": now.isoformat()}
        self.post(f"deployments/{deployment}/schedule", **span, min_runs=times, max_runs=times)

    def runs(self) -> list[Run]:
        """All flow runs that were to start by now, in the order in which they were."""
        now = {"before_": datetime.now(UTC).isoformat()}
        found: list[Run] = self.post(
            "flow_runs/filter", flow_runs={"expected_start_time": now}, sort="EXPECTED_START_TIME_ASC"
        )
        return found

    def wait(self, done: Callable[[list[Run]], object], seconds: float) -> list[Run]:
        """The flow runs that were to start by now, once they are ``done`` and none is going on."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                found = self.runs()
            except httpx.TransportError:  # it does not answer yet
                found = []
            if done(found) and all(run["state_type"] in FINAL for run in found if run["start_time"]):
                return found
            assert time.monotonic() < deadline, [(run["state_name"], run["name"]) for run in found]
            time.sleep(0.5)
