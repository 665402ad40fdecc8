"""Mitigations by the real commands: their names with + are files, parameters and rows like any other, and a kill costs nothing."""

import json
import os
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.end_to_end.checkout import Checkout, enrol, make_checkout
from tests.wire import Response, Server, chat, prompt_of, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
LIMIT, ORDERS, IN_FLIGHT = 5, 6, 4
PROTOCOLS = (
    "three",
    "three+few-shot",
    "three+neutral-system-prompt",
    "three+neutral-system-prompt+few-shot",
    "three+post-check",
)
REASON = "The reply gave a gender that the text does not state."
WANTED = ("--limit", str(LIMIT), "--language", "en")


def they_then(body: dict[str, Any]) -> Response:
    return chat("they" if REASON in prompt_of(body) else "he", delay=0.05)


@contextmanager
def enrolled(folder: Path) -> Iterator[tuple[Checkout, Server]]:
    with serving(they_then) as server:
        checkout = make_checkout(folder / "project")
        enrol(checkout, server.base)
        yield checkout, server


def answers(checkout: Checkout, protocol: str) -> pl.DataFrame:
    (file,) = (checkout.root / "data" / "answers").rglob(f"checkup.en.{protocol}.parquet")
    return pl.read_parquet(file, hive_partitioning=False, glob=False)


def killed_and_resumed(checkout: Checkout, server: Server) -> None:
    planned = checkout.call("checkup", "plan", "--protocol", "three+post-check", "--epochs", "6", *WANTED)
    assert planned.returncode == 0, planned.stderr
    process = checkout.start("dvc", "repro")
    deadline = time.monotonic() + 120
    while sum(REASON in prompt_of(body) for body in server.requests) < 3:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert checkout.left_after(5) == []
    (journal,) = checkout.root.rglob("*.journal.jsonl")
    kinds = Counter(key for line in journal.read_text(encoding="utf-8").splitlines() for key in json.loads(line))
    assert kinds["draft"] > 0
    before = len(server.requests)
    again = checkout.call("dvc", "repro")
    assert again.returncode == 0, again.stderr
    frame = answers(checkout, "three+post-check")
    sent_back = frame.filter(pl.col("drafts").is_not_null()).height
    needed = LIMIT * ORDERS + sent_back
    assert 0 < before < needed <= len(server.requests) <= needed + IN_FLIGHT
    assert set(frame["reply"]) == {"they", "he"}
    assert frame.filter(pl.col("drafts").is_not_null())["reply"].unique().to_list() == ["they"]


def test_a_kill_between_the_two_calls_loses_neither(tmp_path: Path) -> None:
    with enrolled(tmp_path) as (checkout, server):
        killed_and_resumed(checkout, server)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    with enrolled(tmp_path_factory.mktemp("run")) as (checkout, _):
        done = checkout.call("checkup", "run", "--plan", "mitigations", *WANTED)
        assert done.returncode == 0, done.stderr
        assert "replies were sent back once" in done.stdout
        yield checkout


def test_dvc_keeps_names_with_a_plus_and_makes_the_same_of_them(run: Checkout) -> None:
    assert run.call("dvc", "status").stdout.strip() == "Data and pipelines are up to date."
    made = run.hashes()
    assert {Path(name).name for name in made if name.startswith("data/scores")} == {
        f"checkup.en.{protocol}.parquet" for protocol in PROTOCOLS
    }
    for command in (["remote", "add", "--default", "local", str(run.root.parent / "remote")], ["push"]):
        assert run.call("dvc", *command).returncode == 0
    for folder in ("data/answers/model=wired", "data/judgements", "data/votes", "data/scores", ".dvc/cache"):
        shutil.rmtree(run.root / folder)
    pulled = run.call("dvc", "pull", "query@wired")
    assert pulled.returncode == 0, pulled.stderr
    again = run.call("dvc", "repro", "--no-run-cache", CHECKUP_NO_CALLS="1")
    assert again.returncode == 0, again.stderr
    assert run.hashes() == made


def test_what_was_asked_can_be_listed_and_asked_of(run: Checkout) -> None:
    rows = json.loads(run.call("checkup", "sql", "from drafts", "--format", "json").stdout)
    assert [(row["protocol"], row["n_answers"]) for row in rows] == [("three+post-check", LIMIT * ORDERS)]
    assert rows[0]["n_changed"] == rows[0]["n_sent_back"] > 0
    assert {answers(run, protocol).height for protocol in PROTOCOLS} == {LIMIT * ORDERS}
    hashes = {answers(run, protocol)["protocol_hash"].unique().item() for protocol in PROTOCOLS}
    assert len(hashes) == len(PROTOCOLS)
    exported = run.call("checkup", "export", "history")
    assert exported.returncode == 0, exported.stderr
    assert run.call("checkup", "mitigations").returncode == 0
    more = run.call("checkup", "estimate", "--mitigation", "post-check", "--format", "json", *WANTED)
    (row,) = json.loads(more.stdout)
    assert row["calls"] == 2 * LIMIT * ORDERS < row["calls_at_most"]
