"""Prefect is a shell: it keeps no result that could stand in for another, and is told names, not data. (cases 38–40)"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import flows
from flows import cli
from stages.errors import Stopped
from tests.conftest import ROOT

LARGEST = 10_000
"""Bytes that the arguments of a flow or task may have as JSON."""
LOOK = """
import inspect, json
from flows import evaluation
from prefect import Flow, Task
from prefect.cache_policies import NO_CACHE
from prefect.settings import get_current_settings
settings = get_current_settings()
print(json.dumps({
    "tasks": {
        name: [task.cache_policy == NO_CACHE, task.cache_key_fn is None, task.persist_result, task.retries,
               sorted(str(p.annotation) for p in inspect.signature(task.fn).parameters.values())]
        for name, task in vars(evaluation).items() if isinstance(task, Task)
    },
    "flows": {name: flow.persist_result for name, flow in vars(evaluation).items() if isinstance(flow, Flow)},
    "arguments": sorted(evaluation.evaluate.parameters.properties),
    "described": sorted(n for n, p in evaluation.evaluate.parameters.properties.items() if p.get("description")),
    "caching disabled": settings.tasks.disable_caching,
    "persisted": settings.results.persist_by_default,
    "analytics": settings.server.analytics_enabled,
}))
"""


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """What a process of its own sees, as Prefect freezes its settings when it is imported."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        cwd=ROOT, env={**kept, "CHECKUP_ROOT": str(ROOT)}, capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_no_task_can_give_back_the_result_of_another_call(seen: dict[str, Any]) -> None:
    assert seen["tasks"].keys() == {"stage", "ask"}
    for name, (no_cache, no_key, persisted, retries, _) in seen["tasks"].items():
        assert (no_cache, no_key, persisted, retries) == (True, True, False, 0), name
    assert set(seen["flows"].values()) == {False}
    assert (seen["caching disabled"], seen["persisted"]) == (True, False)


def test_tasks_take_names_switches_and_numbers_only(seen: dict[str, Any]) -> None:
    kinds = {annotation for *_, annotations in seen["tasks"].values() for annotation in annotations}
    assert kinds <= {"<class 'str'>", "<class 'bool'>", "int | None", "str | None"}


def test_the_arguments_of_a_big_flow_are_small(
    project: Path, monkeypatch: pytest.MonkeyPatch, seen: dict[str, Any]
) -> None:
    """What the command hands to the flow for two hundred models with the longest keys, every option given."""
    models = [f"{number:03}-" + "x" * 36 for number in range(200)]
    with (project / "params.yaml").open("a", encoding="utf-8") as roster:
        roster.writelines(f"  {model}: {{route: openai/m, api_base: 'http://127.0.0.1:9'}}\n" for model in models)
    handed: dict[str, Any] = {}

    def evaluate(**arguments: Any) -> None:
        handed.update(arguments)
        raise Stopped("as far as the flow")

    monkeypatch.setattr(flows, "evaluate", evaluate)
    with pytest.raises(Stopped):
        cli.run(
            models, "quick", ["checkup"], ["en", "zh"], ["three"], ["few-shot"], "2026-11-30.10", epochs=6, limit=70, shuffle=True,
            seed=2**31, temperature=0.5, max_connections=16, fresh=True,
        )  # fmt: skip
    assert handed["models"] == models
    assert sorted(handed) == seen["arguments"]
    assert len(json.dumps(handed).encode()) < LARGEST


def test_prefects_ui_describes_every_parameter(seen: dict[str, Any]) -> None:
    assert seen["described"] == seen["arguments"]


def test_the_deployment_for_a_work_pool_is_of_this_flow(seen: dict[str, Any]) -> None:
    (deployment,) = YAML(typ="safe").load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]
    assert deployment["entrypoint"] == "flows/evaluation.py:evaluate"
    assert set(deployment["parameters"]) <= set(seen["arguments"])
    (schedule,) = deployment["schedules"]
    assert schedule["timezone"] == deployment["parameters"]["timezone"]


def test_nothing_phones_home(seen: dict[str, Any]) -> None:
    assert seen["analytics"] is False
