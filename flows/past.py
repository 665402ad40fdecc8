"""What an earlier commit recorded: its tables from DVC, its ledger from git, laid out as a project in ``.cache/previous/<commit>``."""

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from stages.command import short
from stages.errors import DataError, UsageError
from stages.ledger import FOLDER as LEDGER
from stages.locks import held
from stages.schema import ANSWERS, RECORDED

FOLDER = Path(".cache") / "previous"
MANIFEST = "answers.json"
"""Beside the tables: file of the answers -> MD5 of what it held."""
STAGES = ("judge", "reduce", "score")
"""Those that make what is recorded of answers."""
WAIT_SECONDS = 300.0
"""How long another command may fetch the same commit's tables."""
_ANSWERS = f"data/{ANSWERS.name}"


def commit_of(root: Path, rev: str) -> str:
    """The full name of the commit that ``rev`` (a commit, tag or branch) means.

    :raises UsageError: there is none, or git cannot be asked.
    """
    done = _git(root, "rev-parse", "--quiet", "--verify", "--end-of-options", f"{rev}^{{commit}}")
    if said := short(done.stderr.decode(errors="replace")):
        raise UsageError(f"git cannot tell what {rev} is ({said}); go to a project that git keeps.")
    if done.returncode:
        raise UsageError(f"There is no commit {rev!r} in this project; see what there is with: git log --oneline.")
    return done.stdout.decode().strip()


def previous(root: Path, rev: str, answers: bool = False) -> Path:
    """A folder with what commit ``rev`` recorded: its ledger, ``MANIFEST``, its derived tables, and ``answers`` where wanted.

    What is there already is not fetched again. A table that was not recorded then has no folder.

    :raises UsageError: there is no such commit, or nothing was recorded in it.
    :raises DataError: neither DVC's cache nor its remote has the tables any more.
    """
    commit = commit_of(root, rev)
    folder = root / FOLDER / commit
    wanted = [(folder, _lay_out), *([(folder / _ANSWERS, _answers)] if answers else [])]
    if all(part.exists() for part, _ in wanted):
        return folder
    if _git(root, "cat-file", "-e", f"{commit}:./dvc.lock").returncode:
        raise UsageError(f"Nothing was recorded in commit {rev}; name one of: git log --oneline -- dvc.lock.")
    with held(root, f"previous-{commit}", f"What commit {rev} recorded", WAIT_SECONDS):
        try:
            for part, fill in wanted:
                if not part.exists():
                    _whole(part, partial(fill, root, commit))
        except Exception as error:  # each kind of remote raises errors of its own
            raise DataError(
                f"The tables of commit {rev} are neither in DVC's cache nor to be had from its remote ({short(str(error))}); "
                f"push them from where they are (dvc push), or make them again: git checkout {rev} && dvc pull && dvc repro."
            ) from error
    return folder


def manifest(folder: Path) -> dict[str, str]:
    """The answers that the commit of ``folder`` recorded: ``model=…/run=…/<file>`` -> MD5."""
    found: dict[str, str] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return found


def outdated(root: Path) -> list[str]:
    """Those of the stages that judge and score whose results are not what DVC would make of the code and data there are now.

    Empty also where another DVC command holds the project, which is about to change them.
    """
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    try:
        with Repo(str(root)) as project:
            found = project.status(targets=[f"{root / 'dvc.yaml'}:{stage}" for stage in STAGES])
    except DvcException:
        return []
    return [stage for stage in STAGES if any(name.rsplit(":", 1)[-1] == stage for name in found)]


def _whole(folder: Path, fill: Callable[[Path], None]) -> None:
    """Make ``folder`` by ``fill``, which gets one aside to work in: it is there whole or not at all. Under a lock."""
    aside = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(aside, ignore_errors=True)  # what a kill left
    aside.mkdir(parents=True)
    try:
        fill(aside)
        os.replace(aside, folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _lay_out(root: Path, commit: str, aside: Path) -> None:
    recorded = _opened(root, commit)
    found = recorded.find(_ANSWERS, detail=True)
    hashes = {path.removeprefix(f"{_ANSWERS}/"): info["md5"] for path, info in found.items() if "md5" in info}
    (aside / MANIFEST).write_text(json.dumps(hashes), encoding="utf-8")
    _ledger(root, commit, aside)
    for table in RECORDED:
        path = f"data/{table.name}"
        if path != _ANSWERS and recorded.exists(path):
            recorded.get(f"{path}/", f"{aside / path}/", recursive=True)


def _answers(root: Path, commit: str, aside: Path) -> None:
    _opened(root, commit).get(f"{_ANSWERS}/", f"{aside}/", recursive=True)


def _opened(root: Path, commit: str) -> Any:
    """The files of ``commit`` as DVC knows them: each is read from its cache, else from its remote."""
    from dvc.api import DVCFileSystem

    return DVCFileSystem(str(root), rev=commit)


def _ledger(root: Path, commit: str, aside: Path) -> None:
    packed = _git(root, "archive", "--format=tar", commit, LEDGER).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as files:
        files.extractall(aside, filter="data")


def _git(root: Path, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False, stdin=subprocess.DEVNULL)
