"""When a schedule comes next, and a sentence for every one that cannot be."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.flows.test_cli import Checkup, checkup

__all__ = ["checkup"]

NOW = "2026-11-30T17:30+00:00"
NEXT = [
    ("0 6 * * 1", "Asia/Shanghai", "2026-12-07T06:00:00+08:00"),
    ("0 6 * * 1", "UTC", "2026-12-07T06:00:00+00:00"),
    ("30 1 * * *", "Asia/Shanghai", "2026-12-02T01:30:00+08:00"),
    ("31 1 * * *", "Asia/Shanghai", "2026-12-01T01:31:00+08:00"),
    ("0 0 1 * *", "America/Los_Angeles", "2026-12-01T00:00:00-08:00"),
    ("@monthly", "Pacific/Kiritimati", "2027-01-01T00:00:00+14:00"),
]
CRON = "--cron: '{}' is not minute, hour, day, month and weekday, such as '0 6 * * 1' for Mondays at six; correct it."
WRONG = [
    ("", "UTC", CRON),
    ("0 6 * *", "UTC", CRON),
    ("61 6 * * 1", "UTC", CRON),
    ("every Monday", "UTC", CRON),
    ("R 6 * * 1", "UTC", CRON),
    ("0 0 31 2 *", "UTC", "--cron: '{}' never comes; correct it."),
    ("0 6 * * 1", "posix/UTC", "--timezone: Prefect does not know 'posix/UTC'; correct it."),
]
LOOK = """
import json, sys
from datetime import datetime
from flows import settings
settings.apply()
from flows.schedule import Times
from stages.errors import UsageError
def first(cron, zone):
    try:
        return Times(cron, zone).first_after(datetime.fromisoformat(sys.argv[2])).isoformat()
    except UsageError as error:
        return str(error)
print(json.dumps([first(cron, zone) for cron, zone in json.loads(sys.argv[1])]))
"""


def test_the_next_time_is_read_in_the_zone_and_a_wrong_one_is_a_sentence(tmp_path: Path) -> None:
    """In a process of its own, as Prefect freezes its settings when it is imported."""
    asked = [case[:2] for case in NEXT + WRONG]
    done = subprocess.run(
        [sys.executable, "-c", LOOK, json.dumps(asked), NOW], cwd=ROOT, check=True,
        env={**os.environ, "PREFECT_HOME": str(tmp_path)}, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    found: list[Any] = json.loads(done.stdout)
    assert found == [case[2].format(case[0]) for case in NEXT + WRONG]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--timezone", "Asia/Peking"), "--timezone: 'Asia/Peking' is not an IANA time zone such as 'Asia/Shanghai'"),
        (("--name", "a/b"), "--name: 'a/b' cannot name a deployment; use letters, digits and hyphens."),
        (("--model", "nope"), "There is no model 'nope' in params.yaml"),
        (("--epochs", "3"), "3 epochs cannot be balanced over 2 orders; use --epochs 4."),
        (("--benchmark", "stereoset-intersentence", "--plan", "stereoset"), "get them with: checkup fetch stereoset."),
        (("--git-commit",), "--git-commit: the project is not in a git repository; make it one with: git init."),
    ],
)
def test_what_no_run_could_be_asked_is_refused_at_once(
    checkup: Checkup,
    options: tuple[str, ...],
    sentence: str,
) -> None:
    code, _, said = checkup("schedule", "--cron", "0 6 * * 1", "--model", "gemma-3-270m", *options)
    assert code == 2
    assert sentence in said
    assert said.count("\n") == 1
