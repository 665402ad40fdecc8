"""Handing on to git and DVC's remote: only the ledger and dvc.lock, a message that says what was found, a sentence for each obstacle."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from flows import handing_on
from flows.handing_on import Wanted, check, commit, hand_on, message
from flows.headlines import Headline
from stages.errors import CheckupError, UsageError

DAY = "2026-12-07"
Git = Callable[..., str]


def headline(
    model: str, language: str, value: float | None, low: float | None, high: float | None, verdict: str | None
) -> Headline:
    return Headline(f"{model}@{DAY}", model, language, "two", "checkup", "lean", value, low, high, verdict)


LEANING = headline("gpt-4o", "en", 18.2, 11.4, 25.5, "traditional")
BALANCED = headline("gpt-4o", "zh", -0.4, -6.6, 7, "balanced")
NONE = headline("m", "en", None, None, None, "evasive")
STEREOSET = Headline(f"m@{DAY}", "m", "en", "choice", "stereoset", "ss", 61.6, 60.2, 63.4, None)
MESSAGES: list[tuple[list[str], list[Headline], str]] = [
    (
        [LEANING.run],
        [LEANING, BALANCED],
        f"""Check-up of {DAY}: gpt-4o en lean +18 [+11, +26] traditional; gpt-4o zh lean 0 [-7, +7] balanced

gpt-4o@{DAY} en two: lean +18 [+11, +26] traditional
gpt-4o@{DAY} zh two: lean 0 [-7, +7] balanced
""",
    ),
    (
        [LEANING.run, f"m@{DAY}", f"silent@{DAY}"],
        [LEANING, BALANCED, NONE, STEREOSET],
        f"""Check-up of {DAY}: gpt-4o en lean +18 [+11, +26] traditional; gpt-4o zh lean 0 [-7, +7] balanced; 2 more

gpt-4o@{DAY} en two: lean +18 [+11, +26] traditional
gpt-4o@{DAY} zh two: lean 0 [-7, +7] balanced
m@{DAY} en two: lean undefined evasive
m@{DAY} en choice: ss 62 [60, 63]
silent@{DAY}: no scores
""",
    ),
    ([f"a@{DAY}", f"b@{DAY}"], [], f"Check-up of {DAY}: 2 runs without scores\n\na@{DAY}: no scores\nb@{DAY}: no scores\n"),
]  # fmt: skip


@pytest.mark.parametrize(("runs", "found", "expected"), MESSAGES, ids=["all fit", "some fit", "no scores"])
def test_the_message_names_runs_and_headline_scores(runs: list[str], found: list[Headline], expected: str) -> None:
    assert message(DAY, runs, found) == expected


def test_one_headline_stands_in_the_first_line_however_long_it_is() -> None:
    long = headline("m" * 40, "en", 18, 11, 26, "one-sided and far too long for any first line")
    first = message(DAY, [long.run], [long, BALANCED]).splitlines()[0]
    assert first.endswith("for any first line; 1 more")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """All of a project that git is told of."""
    (tmp_path / "runs").mkdir()
    for name in ("params.yaml", "runs.yaml"):
        (tmp_path / name).write_text("{}\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def git(project: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """The project in a repository with one commit, and a ledger that is not committed; gives what git says."""
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(project / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    def call(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=project, capture_output=True, text=True, encoding="utf-8", check=True
        )
        return done.stdout.strip()

    call("init", "--quiet", "--initial-branch", "main")
    for name, value in (("user.useConfigOnly", "true"), ("user.name", "me"), ("user.email", "me@localhost")):
        call("config", name, value)
    call("add", "params.yaml", "runs.yaml")
    call("commit", "--quiet", "--message", "As it was.")
    (project / "runs" / "wired.yaml").write_text("{}\n", encoding="utf-8")
    (project / "runs.yaml").write_text("asked: [wired]\n", encoding="utf-8")
    (project / "dvc.lock").write_text("{}\n", encoding="utf-8")
    return call


def test_only_the_ledger_and_the_lock_are_committed_whatever_else_is_changed_or_staged(git: Git, project: Path) -> None:
    (project / "staged.txt").write_text("mine\n", encoding="utf-8")
    git("add", "staged.txt")
    with (project / "params.yaml").open("a", encoding="utf-8") as changed:
        changed.write("# mine\n")
    check(project, Wanted(push=False, git_commit=True))
    commit(project, "Check-up.\n\nruns\n")
    assert git("show", "--name-only", "--format=%s").split() == [
        "Check-up.",
        "dvc.lock",
        "runs.yaml",
        "runs/wired.yaml",
    ]
    assert git("diff", "--cached", "--name-only") == "staged.txt"
    assert git("diff", "--name-only") == "params.yaml"


def test_what_is_committed_already_makes_no_commit(git: Git, project: Path) -> None:
    commit(project, "First.")
    commit(project, "Second.")
    assert git("log", "-1", "--format=%s") == "First."


def outside(_: Git, project: Path) -> None:
    (project / ".git").rename(project / "elsewhere")


def unborn(git: Git, _: Path) -> None:
    git("checkout", "--quiet", "--orphan", "new")


def detached(git: Git, _: Path) -> None:
    git("checkout", "--quiet", "--detach")


def nameless(git: Git, _: Path) -> None:
    git("config", "--unset", "user.name")


def addressless(git: Git, _: Path) -> None:
    git("config", "--unset", "user.email")


OBSTACLES = [
    (outside, r"the project is not in a git repository; make it one with: git init"),
    (unborn, r"the git repository has no commit yet; commit the project first"),
    (detached, r"HEAD is detached, .*; check out a branch first: git switch BRANCH"),
    (nameless, r"git does not know who commits; tell it with: git config user.name"),
    (addressless, r'git does not know who commits; .* and git config user.email "…"'),
]


@pytest.mark.parametrize(("spoil", "sentence"), OBSTACLES, ids=[spoil.__name__ for spoil, _ in OBSTACLES])
def test_an_obstacle_is_named_before_anything_is_paid_and_again_at_the_end(
    git: Git, project: Path, spoil: Callable[[Git, Path], None], sentence: str
) -> None:
    spoil(git, project)
    with pytest.raises(UsageError, match=rf"^--git-commit: {sentence}"):
        check(project, Wanted(push=False, git_commit=True))
    (problem,) = hand_on(project, [], DAY, Wanted(push=False, git_commit=True))
    assert str(problem).startswith("Nothing was committed: ")
    assert str(problem).endswith("; every answer is recorded, only the commit is missing.")
    assert (project / "runs" / "wired.yaml").exists()


def test_another_git_command_is_waited_for_and_then_named(
    git: Git, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handing_on, "WAIT_SECONDS", 0.6)
    lock = project / ".git" / "index.lock"
    lock.touch()
    with pytest.raises(CheckupError, match=r"^git add failed: .* holds .git/index.lock, or left it behind; delete it"):
        commit(project, "Check-up.")
    lock.unlink()
    commit(project, "Check-up.")
    assert git("log", "-1", "--format=%s") == "Check-up."


def test_a_hook_that_refuses_is_quoted(git: Git, project: Path) -> None:
    hook = project / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'error: no commits on Mondays' >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    with pytest.raises(CheckupError, match=r"^git commit failed: no commits on Mondays; every answer is recorded"):
        commit(project, "Check-up.")
    assert git("log", "--format=%s") == "As it was."


def test_in_the_middle_of_a_merge_git_says_why_it_will_not(git: Git, project: Path) -> None:
    (project / ".git" / "MERGE_HEAD").write_text(git("rev-parse", "HEAD") + "\n", encoding="utf-8")
    with pytest.raises(
        CheckupError, match=r"^git commit failed: cannot do a partial commit during a merge; every answer"
    ):
        commit(project, "Check-up.")


def test_without_a_remote_a_push_is_refused_before_anything_is_paid(project: Path) -> None:
    with pytest.raises(UsageError, match=r"^--push: DVC has no default remote; add one with: dvc remote add"):
        check(project, Wanted(push=True, git_commit=False))
