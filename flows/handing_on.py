"""What a check-up hands on when all is recorded: the answers to DVC's remote, the ledger and ``dvc.lock`` to git.

Neither can lose an answer: what is to be handed on lies in the project by then, and stays there whatever goes wrong.
"""

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from flows import versions
from flows.headlines import Headline, headlines
from stages import stopping
from stages.errors import CheckupError, Stopped, UsageError
from stages.ledger import FOLDER, INDEX_FILE
from stages.store import exclusive

PATHS = (FOLDER, INDEX_FILE, "dvc.lock")
"""All that is ever committed."""
SUBJECT = 110
"""Characters of a commit's first line: room for two languages of one model."""
GIT_SECONDS = 120.0
WAIT_SECONDS = 20.0
"""How long another git command in the project is waited for."""
_SAFE = "every answer is recorded, only the commit is missing"
_HELD = "index.lock"


@dataclass(frozen=True)
class Wanted:
    """What is handed on."""

    push: bool
    git_commit: bool


def check(root: Path, wanted: Wanted) -> None:
    """See before anything is paid whether handing on could work.

    :raises UsageError: there is no DVC remote to push to, or git would not commit here.
    """
    if wanted.push and not versions.has_remote(root):
        raise UsageError("--push: DVC has no default remote; add one with: dvc remote add --default NAME URL.")
    if wanted.git_commit and (obstacle := _obstacle(root)):
        raise UsageError(f"--git-commit: {obstacle}.")


def hand_on(root: Path, runs: Sequence[str], date: str, wanted: Wanted) -> list[CheckupError]:
    """Push and commit as asked, the push first so that no commit names answers that nobody can get; return what failed."""
    steps: list[Callable[[], None]] = []
    if wanted.push:
        steps.append(lambda: versions.push(root))
    if wanted.git_commit:
        steps.append(lambda: commit(root, message(date, runs, headlines(root, runs))))
    return [problem for step in steps if (problem := _problem(step))]


def _problem(step: Callable[[], None]) -> CheckupError | None:
    try:
        step()
    except Stopped:
        raise
    except CheckupError as error:
        return error
    return None


def message(date: str, runs: Sequence[str], found: Sequence[Headline]) -> str:
    """A commit's message: headlines in its first line, as many as fit, and a line below for each of them and each run without."""
    scored = {headline.run for headline in found}
    lines = [f"{h.run} {h.language} {h.protocol}: {h.finding}" for h in found]
    lines += [f"{run}: no scores" for run in runs if run not in scored]
    named = [f"{h.model} {h.language} {h.finding}" for h in found] or [f"{_count(len(runs), 'run')} without scores"]
    return f"{_first_line(f'Check-up of {date}: ', named)}\n\n" + "\n".join(lines) + "\n"


def _first_line(begin: str, named: Sequence[str]) -> str:
    """``begin`` and at least the first of ``named``; how many more there are, where not all of them fit."""
    for shown in range(len(named), 0, -1):
        rest = len(named) - shown
        line = begin + "; ".join([*named[:shown], *([f"{rest} more"] if rest else [])])
        if len(line) <= SUBJECT:
            break
    return line


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def commit(root: Path, text: str) -> None:
    """Commit the ledger and ``dvc.lock`` as they are, and nothing else that is changed or staged.

    :raises CheckupError: git would not; the sentence says why and how to mend it.
    """
    if obstacle := _obstacle(root):
        raise CheckupError(f"Nothing was committed: {obstacle}; {_SAFE}.")
    with exclusive(root):
        paths = [path for path in PATHS if (root / path).exists()]
        if not _said(root, "status", "--porcelain", "--", *paths):
            return
        _patiently(root, "add", "--", *paths)
        _patiently(root, "commit", "--quiet", "--message", text, "--only", "--", *paths)


def _obstacle(root: Path) -> str | None:
    """Why git would not commit here, with the mend; null when it would."""
    if _git(root, "rev-parse", "--is-inside-work-tree").returncode:
        return "the project is not in a git repository; make it one with: git init"
    if _git(root, "rev-parse", "--verify", "--quiet", "HEAD").returncode:
        return "the git repository has no commit yet; commit the project first"
    if _git(root, "symbolic-ref", "--quiet", "HEAD").returncode:
        return "HEAD is detached, so that a commit would be on no branch; check out a branch first: git switch BRANCH"
    if _git(root, "var", "GIT_COMMITTER_IDENT").returncode or _git(root, "var", "GIT_AUTHOR_IDENT").returncode:
        return 'git does not know who commits; tell it with: git config user.name "…" and git config user.email "…"'
    return None


def _patiently(root: Path, *arguments: str) -> None:
    """Run a git command, as often as another one is at work in the project."""
    deadline = time.monotonic() + WAIT_SECONDS
    while (done := _git(root, *arguments)).returncode:
        if _HELD not in done.stderr or time.monotonic() > deadline or stopping.requested.is_set():
            raise CheckupError(f"git {arguments[0]} failed: {_reason(done.stderr)}; {_SAFE}.")
        time.sleep(0.5)


def _reason(said: str) -> str:
    """Git's own word for what went wrong, on one line; what to do, where another command left its lock behind."""
    if _HELD in said:
        return f"another git command holds .git/{_HELD}, or left it behind; delete it where none is running"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    first = next((line for line in lines if line.startswith(("fatal: ", "error: "))), lines[0] if lines else "")
    return first.removeprefix("fatal: ").removeprefix("error: ").rstrip(".") or "it gave no reason"


def _said(root: Path, *arguments: str) -> str:
    done = _git(root, *arguments)
    if done.returncode:
        raise CheckupError(f"git {arguments[0]} failed: {_reason(done.stderr)}; {_SAFE}.")
    return done.stdout.strip()


def _git(root: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            ["git", *arguments], cwd=root, env=versions.environment() | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", errors="replace",
            timeout=GIT_SECONDS, check=False,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise UsageError("git is not installed; install it, or leave out --git-commit.") from error
    except subprocess.TimeoutExpired as error:
        raise CheckupError(f"git {arguments[0]} did not end within {GIT_SECONDS:g} seconds; {_SAFE}.") from error
