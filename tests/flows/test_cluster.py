"""Who makes the calls: the options, and what is said of a worker that cannot."""

import json
import subprocess
import sys

import pytest

from flows import cluster
from flows.options import Runner
from stages.errors import UsageError
from stages.query import desk
from tests.conftest import ROOT


def test_threads_are_the_default_and_need_no_cluster() -> None:
    assert cluster.workers("threads", None) is None
    assert [runner.value for runner in Runner] == [cluster.THREADS, cluster.DASK]


def test_dask_is_a_cluster_at_an_address() -> None:
    assert cluster.workers("dask", "tcp://127.0.0.1:8786") == cluster.Cluster("tcp://127.0.0.1:8786")


@pytest.mark.parametrize(
    ("runner", "address", "sentence"),
    [
        ("threads", "tcp://127.0.0.1:8786", "--address says where --runner dask finds its workers; add --runner dask, or leave it out."),
        ("dask", None, "--runner dask needs the address of a scheduler; add --address tcp://HOST:8786, as `dask scheduler` tells it."),
        ("ray", None, "There is no runner 'ray'; use one of: threads, dask."),
    ],
)  # fmt: skip
def test_runner_and_address_go_together(runner: str, address: str | None, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        cluster.workers(runner, address)
    assert str(raised.value) == sentence


def test_the_extra_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match="needs the extra dask, which is not installed; run: make setup"):
        cluster.workers("dask", "tcp://127.0.0.1:8786")


HERE = desk.versions()


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (HERE, None),
        (HERE | {"litellm": "1.0"}, f"Worker w has litellm 1.0 where here is {HERE['litellm']}; install there what is installed here"),
        (HERE | {"bias-checkup": ""}, f"Worker w has no bias-checkup where here is {HERE['bias-checkup']}; install there what is installed here"),
        (ModuleNotFoundError("No module named 'stages'"), "Worker w cannot import bias-checkup (No module named 'stages'); install there what is installed here"),
        (OSError("Timed out"), "Worker w does not say what it has installed (Timed out); start it again"),
        (None, "Worker w does not say what it has installed (None); start it again"),
    ],
)  # fmt: skip
def test_a_worker_must_have_what_is_here(told: "dict[str, str] | Exception | None", reason: str | None) -> None:
    assert cluster._misfit("w", told) == reason


def test_what_a_worker_imports_is_neither_prefect_nor_litellm() -> None:
    """A worker starts fast, and works where Prefect has no API to talk to."""
    code = "import json, sys, flows.cluster; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert {"prefect", "litellm", "dvc", "duckdb"} & set(json.loads(done.stdout)) == set()
