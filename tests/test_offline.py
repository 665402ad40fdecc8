"""Nothing but asking needs the network, a UTF-8 locale or undeclared packages. (cases 28, 47, 49)"""

import ast
import os
import re
import socket
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import polars as pl
import pytest

from stages.score import score
from tests import factories as f
from tests.conftest import ROOT

BLOCKED = """
import socket

def refused(*_arguments, **_options):
    raise AssertionError("the network was touched")

socket.socket.connect = socket.socket.connect_ex = refused
socket.getaddrinfo = socket.create_connection = refused
"""
IMPORT_ALL = """
import importlib, pkgutil, sys
import flows.cli, flows.evaluation, stages
for module in pkgutil.walk_packages(stages.__path__, "stages."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
assert not {"litellm", "great_expectations"} & set(sys.modules)
"""
COMMAND = "import sys; from flows.entry import main; sys.argv = {arguments!r}; main()"
DERIVE = """
from stages.judge import judge_all
from stages.reduce import reduce_all
from stages.report import report_all
from stages.score import score_all
from stages.store import project_root
root = project_root()
judge_all(root), reduce_all(root), score_all(root), report_all(root)
"""
SMALL = {"occupation": (1, 1, 0), "control": (1, 1, 0)}


def run(code: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "LC_", "LANG"))}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, env={**kept, **environment}, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip


def small(root: Path) -> None:
    """Record a run in Chinese whose replies have signs outside every small character set."""
    rows = f.make_judgements(f.coin, f.make_questions(language="zh", styles=["direct"], groups=SMALL))
    rows = rows.with_columns(reply=pl.lit("她\u2011\U0001f642"))
    f.record(root, rows, score(rows))


def test_a_test_that_looks_for_another_machine_fails(loopback_only: list[object]) -> None:
    with pytest.raises(OSError, match="look up"):
        socket.getaddrinfo("example.org", 80)
    with socket.socket() as connection, pytest.raises(OSError, match="reach"):
        connection.connect(("192.0.2.1", 80))
    assert loopback_only == ["example.org", ("192.0.2.1", 80)]
    loopback_only.clear()


def test_importing_touches_no_network_and_loads_no_client() -> None:
    done = run(BLOCKED + IMPORT_ALL)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["models"], ["runs"], ["report"]], ids=" ".join)
def test_commands_that_ask_nothing_need_no_network(arguments: list[str]) -> None:
    done = run(BLOCKED + COMMAND.format(arguments=["checkup", *arguments]))
    assert done.returncode == 0, done.stderr


def test_judging_scoring_and_reporting_need_no_network(project: Path) -> None:
    small(project)
    done = run(BLOCKED + DERIVE)
    assert done.returncode == 0, done.stderr


def test_the_locale_changes_no_byte(project: Path) -> None:
    small(project)
    made: list[dict[str, bytes]] = []
    for locale in ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONUTF8": "1"}):
        done = run(DERIVE, **locale)
        assert done.returncode == 0, done.stderr
        files = [*(project / "data").rglob("*.parquet"), *(project / "reports" / "site").rglob("*.html")]
        made.append({str(path): path.read_bytes() for path in files})
    assert made[0] == made[1]
    (judged,) = (project / "data" / "judgements").rglob("*.parquet")
    assert set(pl.read_parquet(judged, hive_partitioning=False)["reply"]) == {"她\u2011\U0001f642"}


def test_every_import_is_a_declared_dependency() -> None:
    """Transitive packages may go at any update; duckdb and polars exchange through pyarrow without importing it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [
        *project["dependencies"],
        *(name for e in ("local", "dask", "inspect") for name in project["optional-dependencies"][e]),
    ]
    declared = {re.split(r"[<>=\[ ]", name, maxsplit=1)[0].lower() for name in listed}
    owners = packages_distributions()
    used = set()
    for path in [*(ROOT / "stages").rglob("*.py"), *(ROOT / "flows").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
            used |= {name.split(".")[0] for name in names}
    strangers = used - set(sys.stdlib_module_names) - {"stages", "flows"}
    missing = {
        name for name in strangers if not {re.sub(r"[._]", "-", d.lower()) for d in owners.get(name, [name])} & declared
    }
    assert missing <= {"markupsafe"}, "markupsafe comes with jinja2, whose filters must return its type"
    assert "pyarrow" in declared
