"""A Dask cluster of real processes makes the calls: workers die, keys stay with them, and nothing is lost or asked twice."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from flows import cluster
from stages.errors import CheckupError, Incomplete
from stages.ledger import Run, read_ledger, runs
from stages.params import read_params
from stages.query import Silent, ask_run
from stages.schema import ANSWERS
from stages.store import partitions, read_all
from tests.end_to_end.checkout import Checkout, make_checkout, stop
from tests.end_to_end.clusters import WITHOUT, Dask, dask
from tests.wire import Response, Server, chat, serving

KEY = "sk-planted-0123456789abcdef"
QUESTIONS = 90 * 2 * 2
CONNECTIONS = 8
ENTRY = "  wired: {{route: openai/m, api_base: '{base}', api_key_env: PLANTED_KEY, max_connections: {connections}, cool_off: 0.05}}\n"
TIMES = ("asked_at", "latency")
OLDER = "from stages.query import desk\ndesk._version = lambda name: '0.1' if name == 'litellm' else __import__('importlib.metadata').metadata.version(name)\n"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def telling(_: dict[str, object]) -> Response:
    return chat(f"he, and your key is {KEY}", delay=0.1)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(telling) as found:
        yield found


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[Dask]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    with dask(folder) as found:
        yield found


@pytest.fixture
def checkout(tmp_path: Path, server: Server) -> Checkout:
    """A project without keys, with one model that needs one."""
    found = make_checkout(tmp_path / "project")
    path = found.root / "params.yaml"
    before, _ = path.read_text(encoding="utf-8").split("\nmodels:\n")
    path.write_text(f"{before}\nmodels:\n{ENTRY.format(base=server.base, connections=CONNECTIONS)}", encoding="utf-8")
    return found


def wait_for_calls(server: Server, count: int, process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 120
    while len(server.requests) < count:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def answers(root: Path) -> pl.DataFrame:
    (run,) = runs(read_ledger(root))
    return read_all(root, partitions(run), ANSWERS)


def test_a_worker_killed_in_the_middle_costs_its_calls_and_nothing_else(
    checkout: Checkout, server: Server, scheduler: Dask, monkeypatch: pytest.MonkeyPatch
) -> None:
    doomed, _ = scheduler.add(PLANTED_KEY=KEY), scheduler.add(PLANTED_KEY=KEY)
    process = checkout.start("checkup", "run", "--runner", "dask", "--address", scheduler.address)
    wait_for_calls(server, 100, process)
    doomed.kill()
    said = process.communicate(timeout=200)[0]
    assert process.returncode == 0, said
    assert QUESTIONS <= len(server.requests) <= QUESTIONS + CONNECTIONS
    assert server.most_open <= CONNECTIONS + CONNECTIONS / 2, "a lost worker's calls are still open over there"
    frame = answers(checkout.root)
    assert frame.height == frame.select("language", "item_id", "variant", "epoch").n_unique() == QUESTIONS
    assert set(frame["reply"]) == {"he, and your key is ***"}
    assert {call.headers["authorization"] for call in server.calls} == {f"Bearer {KEY}"}
    assert checkout.call("dvc", "status").stdout.strip() == "Data and pipelines are up to date."
    assert no_file_has_the_key(checkout.root, scheduler.folder)
    the_rows_are_those_of_threads(checkout.root, frame, monkeypatch)


def no_file_has_the_key(*folders: Path) -> bool:
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(files) > 100
    return [path for path in files if KEY.encode() in path.read_bytes()] == []


def the_rows_are_those_of_threads(root: Path, frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the same run again, from here."""
    (run,) = runs(read_ledger(root))
    for part in partitions(run):
        part.path(root, ANSWERS).unlink()
    monkeypatch.setenv("PLANTED_KEY", KEY)
    ask_run(
        root, Run(run.model, run.stamp, run.entry.model_copy(update={"state": "open"})), threading.Event(), Silent()
    )
    once = frame.filter(attempts=1)
    assert frame.height - once.height <= CONNECTIONS
    assert frame.drop(*TIMES, "attempts").equals(answers(root).drop(*TIMES, "attempts"))


def test_a_signal_ends_it_within_five_seconds_and_the_rest_is_asked_later(
    checkout: Checkout, server: Server, scheduler: Dask
) -> None:
    scheduler.add(PLANTED_KEY=KEY)
    command = ("checkup", "run", "--runner", "dask", "--address", scheduler.address)
    process = checkout.start(*command)
    wait_for_calls(server, 50, process)
    code, seconds, said = stop(process, signal.SIGINT, to_group=True)
    assert seconds < 5
    assert code == 128 + signal.SIGINT
    assert "Traceback" not in said
    assert "every answer received so far is kept" in said
    assert len(server.requests) < QUESTIONS
    again = checkout.call(*command)
    assert again.returncode == 0, again.stderr
    assert QUESTIONS <= len(server.requests) <= QUESTIONS + CONNECTIONS


def test_a_run_that_loses_all_its_workers_is_incomplete_and_goes_on_with_a_new_one(
    project: Path, server: Server, scheduler: Dask, enrol: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "WORKERLESS_SECONDS", 2.0)
    run, only = enrol("wired", server.base, limit=40), scheduler.add()
    there = cluster.Cluster(scheduler.address)
    threading.Thread(target=kill_after, args=(server, 40, only)).start()
    began = time.monotonic()
    with pytest.raises(
        Incomplete, match=r"has had no worker for 2 seconds; start one with: dask worker tcp://"
    ) as raised:
        ask_run(project, run, threading.Event(), Silent(), workers=there)
    assert str(raised.value).endswith("what was answered is kept.")
    assert time.monotonic() - began < 60
    first, left = len(server.requests), 40 * 4
    scheduler.add()
    ask_run(project, run, threading.Event(), Silent(), workers=there)
    assert answers(project).height == left
    assert first < left <= len(server.requests) <= left + 16


def test_a_worker_that_comes_later_takes_over_if_it_can(
    project: Path, server: Server, scheduler: Dask, enrol: Callable[..., Run]
) -> None:
    """One without the key is left out; the next one finds it in the folder."""
    run, first = enrol("wired", server.base, limit=20), scheduler.add(PLANTED_KEY=KEY)
    roster = project / "params.yaml"
    keyed = roster.read_text(encoding="utf-8").replace("openai/m, api", "openai/m, api_key_env: PLANTED_KEY, api")
    roster.write_text(keyed, encoding="utf-8")

    def replace() -> None:
        kill_after(server, 20, first)
        scheduler.add()
        (scheduler.folder / ".env").write_text(f"PLANTED_KEY={KEY}\n", encoding="utf-8")
        scheduler.add()

    replacing = threading.Thread(target=replace)
    replacing.start()
    ask_run(project, run, threading.Event(), Silent(), workers=cluster.Cluster(scheduler.address))
    replacing.join()
    assert answers(project).height == 20 * 4
    assert 20 * 4 <= len(server.requests) <= 20 * 4 + 16
    assert {call.headers["authorization"] for call in server.calls} == {f"Bearer {KEY}"}


def kill_after(server: Server, count: int, worker: "subprocess.Popen[bytes]") -> None:
    while len(server.requests) < count:
        time.sleep(0.02)
    worker.kill()


def test_what_is_wrong_with_a_cluster_is_said_before_anything_is_asked(
    project: Path, server: Server, scheduler: Dask, enrol: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 2.0)
    run = enrol("wired", server.base)
    there = cluster.Cluster(scheduler.address)

    def sentence(of: cluster.Cluster, kind: type[CheckupError] = CheckupError) -> str:
        with pytest.raises(kind) as raised:
            ask_run(project, run, threading.Event(), Silent(), workers=of)
        assert server.requests == []
        return str(raised.value)

    nowhere = "tcp://127.0.0.1:9"
    assert sentence(cluster.Cluster(nowhere)) == (
        f"No Dask scheduler answers at {nowhere}; correct --address, or start one with: dask scheduler."
    )
    assert sentence(cluster.Cluster("http://127.0.0.1:9")).startswith(
        "No Dask scheduler answers at http://127.0.0.1:9;"
    )
    assert sentence(there) == (
        f"The Dask scheduler at {scheduler.address} has no workers; start one where the keys are with: "
        f"dask worker {scheduler.address}."
    )
    for code, words in ((WITHOUT, "cannot import bias-checkup"), (OLDER, "has litellm 0.1 where here is")):
        (scheduler.folder / "preload.py").write_text(code, encoding="utf-8")
        worker = scheduler.add("--preload", str(scheduler.folder / "preload.py"))
        assert words in sentence(there)
        worker.terminate()
        worker.wait()
    with (project / "params.yaml").open("a", encoding="utf-8") as roster:
        roster.write(ENTRY.format(base=server.base, connections=2).replace("wired", "keyed"))
    keyed = read_params(project).models["keyed"]
    scheduler.add(PLANTED_KEY=KEY)
    scheduler.add()
    found = there.obstacles({"keyed": keyed})["keyed"]
    assert found.startswith("on worker tcp://127.0.0.1:")
    assert found.endswith(" its key PLANTED_KEY is not set; put it into .env or the environment")


def test_a_worker_finds_its_keys_in_the_folder_it_was_started_in(scheduler: Dask, project: Path) -> None:
    with (project / "params.yaml").open("a", encoding="utf-8") as roster:
        roster.write(ENTRY.format(base="http://127.0.0.1:9/v1", connections=2))
    keyed = {"wired": read_params(project).models["wired"]}
    scheduler.add()
    there = cluster.Cluster(scheduler.address)
    assert "PLANTED_KEY is not set" in there.obstacles(keyed)["wired"]
    (scheduler.folder / ".env").write_text(f"PLANTED_KEY={KEY}\n", encoding="utf-8")
    assert there.obstacles(keyed) == {}
    assert "PLANTED_KEY" not in os.environ
