"""A project with a model behind the wire, for tests that go through whole stages."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from stages.ledger import Run, planned, read_ledger, record
from stages.load import load_all
from stages.params import read_params
from stages.requests import Request


@pytest.fixture
def enrol(project: Path) -> Callable[..., Run]:
    """Add a chat model that is reached at a base URL to the roster, and plan its quick run by ``protocol``, of ``limit`` items."""
    load_all(project)

    def add(model: str, base: str, protocol: str = "two", limit: int | None = None) -> Run:
        path = project / "params.yaml"
        with path.open("a", encoding="utf-8") as roster:
            roster.write(f"  {model}: {{route: openai/m, api_base: '{base}', max_connections: 16}}\n")
        request = Request(model, protocols=(protocol,), epochs=2 if protocol == "two" else 6, limit=limit)
        run = planned(read_ledger(project), read_params(project), request, datetime.now(UTC))
        record(project, run)
        return run

    return add
