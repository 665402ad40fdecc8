"""A whole checkout in a folder of its own, with git and DVC, driven by the real commands as a user drives them."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT, make_project

BIN = Path(sys.executable).parent
CODE = ("flows", "stages")
OURS = ("CHECKUP_", "PREFECT_", "COV_", "COVERAGE_", "POLARS_MAX_THREADS")
"""Beginnings of variables that a user would not have set."""
OUTPUTS = (
    "data/items",
    "data/published",
    "data/judgements",
    "data/votes",
    "data/scores",
    "data/word_profiles",
    "data/changes",
    "data/comparisons",
    "data/effects",
    "data/mitigations",
    "data/gaps",
    "data/agreement",
    "reports/site",
    "reports/validation/items.parquet",
)


@dataclass(frozen=True)
class Checkout:
    root: Path

    def environment(self, **changes: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
        return {**kept, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "PYTHONWARNINGS": "", **changes}

    def call(self, *command: str, **changes: str) -> "subprocess.CompletedProcess[str]":
        """Run a command of the environment to its end."""
        return subprocess.run(
            [str(BIN / command[0]), *command[1:]],
            cwd=self.root, env=self.environment(**changes), capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip

    def start(self, *command: str, **changes: str) -> "subprocess.Popen[str]":
        """Start a command as the leader of a process group of its own, as a terminal does."""
        return subprocess.Popen(
            [str(BIN / command[0]), *command[1:]],
            cwd=self.root, env=self.environment(**changes), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, encoding="utf-8", start_new_session=True,
        )  # fmt: skip

    def new_files(self, *folders: str) -> list[str]:
        """What git would add of ``folders`` (default: of all): files that it neither has nor ignores."""
        done = subprocess.run(
            ["git", "ls-files", "--others", "--exclude-standard", "--", *folders],
            cwd=self.root, capture_output=True, text=True, encoding="utf-8", check=True,
        )  # fmt: skip
        return done.stdout.splitlines()

    def hashes(self) -> dict[str, str]:
        """Path -> SHA-256 of every file that the stages make from answers."""
        files = [
            f
            for out in OUTPUTS
            for f in ([self.root / out] if (self.root / out).is_file() else (self.root / out).rglob("*"))
        ]
        return {
            str(f.relative_to(self.root)): hashlib.sha256(f.read_bytes()).hexdigest()
            for f in sorted(files)
            if f.is_file()
        }

    def processes(self) -> list[str]:
        """Command lines of the processes that work in this checkout."""
        found = []
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                if (folder / "cwd").readlink().is_relative_to(self.root):
                    found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue  # it ended meanwhile, or is not ours to look at
        return found

    def left_after(self, seconds: float) -> list[str]:
        """The processes still there after at most ``seconds``."""
        deadline = time.monotonic() + seconds
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.1)
        return self.processes()


def make_checkout(folder: Path) -> Checkout:
    folder.mkdir()
    make_project(folder)
    for name in (".gitignore", ".gitattributes", ".dvc/config", ".dvc/.gitignore", "pyproject.toml"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in CODE:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for keep in ("runs/.gitkeep", "data/answers/.gitkeep", "data/stereoset/.gitkeep"):
        (folder / keep).touch()
    if (ROOT / ".prefect").exists():  # a prepared database, as `make setup` leaves one
        shutil.copytree(ROOT / ".prefect", folder / ".prefect")
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return Checkout(folder)


def commit(checkout: Checkout) -> None:
    """Commit what there is, as a user has the project before a first run."""
    identity = ("-c", "user.name=user", "-c", "user.email=user@localhost", "-c", "commit.gpgsign=false")
    for command in (["add", "--all"], ["commit", "--quiet", "--message", "As it was cloned."]):
        subprocess.run(["git", *identity, *command], cwd=checkout.root, check=True)


def enrol(checkout: Checkout, base: str) -> None:
    """Make the model behind ``base`` the only one of the roster."""
    path = checkout.root / "params.yaml"
    before, _ = path.read_text(encoding="utf-8").split("\nmodels:\n")
    path.write_text(
        f"{before}\nmodels:\n  wired: {{route: openai/m, api_base: '{base}', max_connections: 4}}\n", encoding="utf-8"
    )


def stop(process: "subprocess.Popen[str]", number: signal.Signals, to_group: bool) -> tuple[int, float, str]:
    """Send a signal as a terminal (to the group) or as a service manager (to the leader) does; exit code, seconds, output."""
    started = time.monotonic()
    (os.killpg if to_group else os.kill)(process.pid, number)
    said, _ = process.communicate(timeout=30)
    return process.returncode, time.monotonic() - started, said
