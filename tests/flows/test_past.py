"""What a commit recorded, from a real DVC cache and a real remote: whole, once, and by any number of processes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flows.past import FOLDER, commit_of, manifest, outdated, previous
from stages.errors import DataError, UsageError
from stages.schema import RECORDED, SCORES
from tests import factories as f
from tests.conftest import ROOT
from tests.flows.test_cli import Checkup, checkup

__all__ = ["checkup"]

RUN = "model-a@2026-11-30"
FILE = "model=model-a/run=2026-11-30/checkup.en.two.parquet"
TABLES = [table.name for table in RECORDED if table.name != "answers"]
STAGES = """
stages:
  query:
    cmd: "true"
    outs: [{data/answers/model=model-a: {persist: true}}]
  judge:
    cmd: "true"
    deps: [data/answers, patterns]
    outs: [data/judgements]
  reduce:
    cmd: "true"
    deps: [data/judgements]
    outs: [data/votes]
  score:
    cmd: "true"
    deps: [data/judgements]
    outs: [data/scores, data/word_profiles]
"""
"""As dvc.yaml has it, but for comparisons, which this project of an earlier time did not record."""


def run(root: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def git(root: Path, *command: str) -> str:
    identity = ("-c", "user.name=user", "-c", "user.email=user@localhost", "-c", "commit.gpgsign=false")
    return run(root, "git", *identity, *command)


def dvc(root: Path, *command: str) -> str:
    return run(root, sys.executable, "-m", "dvc", *command)


@pytest.fixture
def unrecorded(project: Path) -> Path:
    """A project in git that never recorded anything."""
    git(project, "init", "--quiet")
    git(project, "add", "params.yaml")
    git(project, "commit", "--quiet", "--message", "Begun.")
    return project


@pytest.fixture
def recorded(unrecorded: Path) -> Path:
    """The same after a run was recorded, committed as v1, and pushed to a remote beside it."""
    root = unrecorded
    rows = f.make_judgements(f.always_stereotype, f.make_questions([RUN], groups={"occupation": (1, 1, 0)}))
    f.record(root, rows, SCORES.empty())
    (root / "data" / "word_profiles").mkdir(exist_ok=True)
    (root / "patterns").write_text("1\n", encoding="utf-8")
    (root / "dvc.yaml").write_text(STAGES, encoding="utf-8")
    dvc(root, "init", "--quiet")
    (root / ".gitignore").write_text("/data/*\n/.cache/\n", encoding="utf-8")
    dvc(root, "commit", "--force", "--quiet")
    dvc(root, "remote", "add", "--default", "store", str(root.parent / f"{root.name}-remote"))
    dvc(root, "push", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "A run.")
    git(root, "tag", "v1")
    return root


@pytest.mark.parametrize("rev", ["nope", "--all", "HEAD~5", ""])
def test_a_commit_that_is_not_there_is_named(unrecorded: Path, rev: str) -> None:
    with pytest.raises(
        UsageError, match=rf"^There is no commit '{rev}' in this project; see what there is with: git log"
    ):
        commit_of(unrecorded, rev)


def test_a_project_that_git_does_not_keep_is_said(checkup: Checkup) -> None:
    code, out, said = checkup("diff", "HEAD")
    assert (code, out) == (2, "")
    assert said == (
        "Error: git cannot tell what HEAD is (fatal: not a git repository (or any of the parent directories): .git); "
        "go to a project that git keeps.\n"
    )
    assert checkup("sql", "from runs", "--against", "HEAD")[0] == 2


def test_one_list_at_a_time(checkup: Checkup) -> None:
    code, _, said = checkup("diff", "HEAD", "--items", "--scores")
    assert (code, said) == (2, "Error: --items and --scores list different tables; give one of them.\n")


def test_a_commit_that_recorded_nothing_is_named(unrecorded: Path) -> None:
    with pytest.raises(
        UsageError, match=r"^Nothing was recorded in commit HEAD; name one of: git log --oneline -- dvc.lock"
    ):
        previous(unrecorded, "HEAD")
    assert not (unrecorded / FOLDER).exists()


@pytest.mark.slow
def test_what_was_recorded_lies_there_as_in_a_project(recorded: Path) -> None:
    folder = previous(recorded, "v1")
    assert folder == recorded / FOLDER / git(recorded, "rev-parse", "v1").strip()
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there == {
        "answers.json",
        "runs/model-a.yaml",
        *(f"data/{name}/{FILE}" for name in ("judgements", "votes", "scores")),
    }
    for name in ("judgements", "votes", "scores"):
        assert (folder / "data" / name / FILE).read_bytes() == (recorded / "data" / name / FILE).read_bytes()
    assert (folder / "data" / "word_profiles").is_dir(), "recorded, and empty"
    assert not (folder / "data" / "comparisons").exists(), "not recorded then"
    assert list(manifest(folder)) == [FILE]
    (folder / "data" / "votes" / FILE).unlink()
    assert previous(recorded, "HEAD") == folder
    assert not (folder / "data" / "votes" / FILE).exists(), "what is there is not fetched again"
    previous(recorded, "v1", answers=True)
    assert (folder / "data" / "answers" / FILE).read_bytes() == (recorded / "data" / "answers" / FILE).read_bytes()


@pytest.mark.slow
def test_from_the_remote_where_the_cache_lacks_it_and_else_a_sentence(recorded: Path) -> None:
    shutil.rmtree(recorded / ".dvc" / "cache")
    folder = previous(recorded, "v1", answers=True)
    assert (folder / "data" / "scores" / FILE).exists()
    shutil.rmtree(recorded / FOLDER)
    shutil.rmtree(recorded.parent / f"{recorded.name}-remote")
    with pytest.raises(
        DataError, match=r"^The tables of commit v1 are neither in DVC's cache nor to be had from its remote \("
    ) as caught:
        previous(recorded, "v1")
    assert "\n" not in str(caught.value)
    assert list((recorded / FOLDER).iterdir()) == [], "nothing half of it is left"


@pytest.mark.slow
def test_several_processes_at_once_and_what_a_kill_left(recorded: Path) -> None:
    commit = commit_of(recorded, "v1")
    half = recorded / FOLDER / f".{commit}.tmp" / "data"
    half.mkdir(parents=True)
    (half / "judgements").write_bytes(b"half")
    code = "import sys; from pathlib import Path; from flows.past import previous; print(previous(Path(sys.argv[1]), 'v1', True))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(recorded)],
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
        )
        for _ in range(3)
    ]
    said = {child.communicate()[0].strip() for child in children}
    assert said == {str(recorded / FOLDER / commit)}
    assert [path.name for path in (recorded / FOLDER).iterdir()] == [commit]
    assert json.loads((recorded / FOLDER / commit / "answers.json").read_text(encoding="utf-8")).keys() == {FILE}


@pytest.mark.slow
def test_results_that_are_not_of_todays_code_are_known(recorded: Path) -> None:
    assert outdated(recorded) == []
    (recorded / "patterns").write_text("2\n", encoding="utf-8")
    assert outdated(recorded) == ["judge"]
