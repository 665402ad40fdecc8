"""What was recorded once is made again elsewhere without a call, and what a change of the parser moves is listed. (case 30)"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from stages.schema import METRICS_VERSION
from tests.conftest import ROOT
from tests.end_to_end.checkout import Checkout, commit, enrol, make_checkout
from tests.end_to_end.responders import Asked, answering
from tests.wire import Server, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ANSWERS, UNREAD = 100, 5
WORD = "wumbo"
"""What no pattern reads, until one does."""
PATTERN = f"clean,any,,{WORD},(?i)\\b{WORD}\\b,she,read by a later version\n"
CHANGELOG = "docs/changelog-of-numbers.md"
VERSIONS = "stages/schema/labels.py"


class Odd:
    """Right on controls, else as tradition has it, but for the first few where the answer would be he."""

    def __init__(self) -> None:
        self.left, self.lock = UNREAD, Lock()

    def __call__(self, asked: Asked) -> str:
        if not asked.control and asked.item["typed"] == "male" and asked.word("female") == "she":
            with self.lock:
                self.left -= 1
                if self.left >= 0:
                    return WORD
        return asked.word(asked.item["typed"]) if asked.item["typed"] != "none" else asked.word("female")


@dataclass(frozen=True)
class Past:
    """A project that asked a model, pushed what it recorded and committed it, and the server that was asked."""

    checkout: Checkout
    server: Server
    run: str

    def clone(self, folder: Path) -> Checkout:
        """The same commit elsewhere, with what it recorded."""
        subprocess.run(["git", "clone", "--quiet", str(self.checkout.root), str(folder)], check=True)
        (folder / "data" / "stereoset").mkdir(exist_ok=True)
        clone = Checkout(folder)
        ok(clone, "dvc", "pull")
        return clone


def ok(checkout: Checkout, *command: str, code: int = 0) -> str:
    """What a command of the checkout's own code prints; no call is allowed."""
    done = checkout.call(*command, PYTHONPATH=str(checkout.root), CHECKUP_NO_CALLS="1")
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def git(checkout: Checkout, *command: str) -> str:
    done = subprocess.run(
        ["git", *command], cwd=checkout.root, capture_output=True, text=True, encoding="utf-8", check=True
    )
    return done.stdout


def rows(checkout: Checkout, *command: str, code: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(ok(checkout, "checkup", *command, "--format", "json", code=code))
    return found


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    folder = tmp_path_factory.mktemp("past")
    checkout = make_checkout(folder / "project")
    shutil.copytree(ROOT / "docs", checkout.root / "docs")
    ok(checkout, "dvc", "repro", "load")
    ok(checkout, "dvc", "remote", "add", "--default", "store", str(folder / "remote"))
    reply = answering(checkout.root, "checkup", Odd())
    with serving(reply) as server:
        enrol(checkout, server.base)
        planned = ok(checkout, "checkup", "plan", "--language", "en", "--limit", str(ANSWERS // 2))
        assert checkout.call("dvc", "repro", PYTHONPATH=str(checkout.root)).returncode == 0
        ok(checkout, "dvc", "push")
        commit(checkout)
        assert len(server.requests) == ANSWERS
        yield Past(checkout, server, planned.split(":")[0])
        assert len(server.requests) == ANSWERS, "nothing of this may ask again"


def test_a_run_is_made_again_with_the_same_bytes(past: Past) -> None:
    before = past.checkout.hashes()
    assert ok(past.checkout, "checkup", "reproduce", past.run) == f"{past.run}: same bytes in all 3 files.\n"
    assert rows(past.checkout, "reproduce", past.run) == []
    assert past.checkout.hashes() == before


def test_a_clone_makes_everything_again_with_the_same_hashes(past: Past, tmp_path: Path) -> None:
    clone = past.clone(tmp_path / "clone")
    before = past.checkout.hashes()
    assert len(before) > 8
    assert clone.hashes() == before
    assert "Running stage 'query@wired'" in ok(clone, "dvc", "repro", "--force", "--no-run-cache")
    assert clone.hashes() == before
    assert git(clone, "status", "--short") == ""
    assert ok(clone, "dvc", "status").strip() == "Data and pipelines are up to date."
    (clone.root / "dvc.lock").unlink()
    shutil.rmtree(clone.root / "data" / "judgements")
    assert "Running stage 'query@wired'" in ok(clone, "dvc", "repro", "--no-run-cache", "score")
    assert clone.hashes() == before


def test_what_a_later_parser_moves_is_listed(past: Past, tmp_path: Path) -> None:
    clone = past.clone(tmp_path / "clone")
    before = clone.hashes()
    _change(clone)
    said = ok(clone, "checkup", "diff", "HEAD")
    assert "Not of today's code or data: judge" in said
    assert "Nothing moved since HEAD." in said
    moved = [row for row in rows(clone, "reproduce", past.run, code=1) if row["table"] == "judgements"]
    assert [(row["column"], row["before"], row["after"], row["reply"]) for row in moved] == [
        ("outcome", "invalid", "anti-stereotype", WORD)
    ] * UNREAD
    ok(clone, "dvc", "repro", "score")

    (summary,) = rows(clone, "diff", "HEAD")
    assert (summary["answers"], summary["changed"]) == (ANSWERS, UNREAD)
    assert summary["outcomes"] == f"invalid → anti-stereotype: {UNREAD}"
    assert (summary["metrics_version_before"], summary["metrics_version"]) == (METRICS_VERSION, METRICS_VERSION + 1)
    assert "lean 100.0 → " in summary["headline"]
    listed = rows(clone, "diff", "HEAD", "--items")
    assert [(row["before"], row["after"], row["reply"]) for row in listed] == [
        ("invalid", "anti-stereotype", WORD)
    ] * UNREAD
    assert {row["item_id"] for row in listed} <= {row["row"].split(" ")[0] for row in moved}
    said = ok(clone, "checkup", "diff", "HEAD", "--fail-on-change", code=3)
    assert "Compared 1 file of answers, of 1 run; the answers are untouched." in said
    assert f"METRICS_VERSION {METRICS_VERSION} → {METRICS_VERSION + 1}" in said
    assert "It reads wumbo." in said

    beside = rows(
        clone, "sql", "--against", "HEAD",
        "select p.outcome as before, j.outcome as after, count(*) as n from judgements j join previous.judgements p "
        "using (run, benchmark, language, protocol, item_id, variant, epoch) where j.outcome <> p.outcome group by all",
    )  # fmt: skip
    assert beside == [{"before": "invalid", "after": "anti-stereotype", "n": UNREAD}]
    commit(clone)
    _go_back(clone, before)


def _change(clone: Checkout) -> None:
    """A pattern more, under the next version of the numbers, with its line in the changelog."""
    with (clone.root / "stages" / "judge" / "patterns.csv").open("a", encoding="utf-8") as patterns:
        patterns.write(PATTERN)
    now = METRICS_VERSION
    for name, old, new in (
        (VERSIONS, f"METRICS_VERSION = {now}", f"METRICS_VERSION = {now + 1}"),
        (CHANGELOG, f"\n## {now}\n", f"\n## {now + 1}\n\nIt reads wumbo.\n\n## {now}\n"),
    ):
        path = clone.root / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")


def _go_back(clone: Checkout, before: dict[str, str]) -> None:
    """The past state as a whole: its code, its data, and the same results from them."""
    assert clone.hashes() != before
    git(clone, "checkout", "--quiet", "HEAD~1")
    ok(clone, "dvc", "pull")
    assert clone.hashes() == before
    ok(clone, "dvc", "repro", "--force", "--no-run-cache", "score")
    assert clone.hashes() == before
