"""Another DVC command in the same project is waited for, and named when it does not end. (case 35)"""

import json
import os
from pathlib import Path

import pytest

from flows import versions
from stages.errors import CheckupError
from tests.end_to_end.checkout import make_checkout


def test_whoever_holds_the_project_for_too_long_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = make_checkout(tmp_path / "project")
    assert checkout.call("dvc", "repro", "load").returncode == 0
    lock = checkout.root / ".dvc" / "tmp" / "rwlock"
    holder = {"pid": os.getpid(), "cmd": "dvc repro elsewhere"}
    held = {"write": {str(checkout.root / "data" / "items"): holder}, "read": {}}
    lock.write_text(json.dumps(held), encoding="utf-8")
    tries: list[int] = []
    once = versions._once

    def counted(root: Path, arguments: tuple[str, ...], seconds: float | None) -> tuple[int, str]:
        tries.append(1)
        return once(root, arguments, seconds)

    monkeypatch.setattr(versions, "WAIT_SECONDS", 4.0)
    monkeypatch.setattr(versions, "_once", counted)
    with pytest.raises(CheckupError, match=f"{os.getpid()}.*dvc repro elsewhere"):
        versions.commit(checkout.root)
    assert len(tries) > 1, "it must be waited for"


def test_what_others_track_in_the_project_is_left_alone(project: Path) -> None:
    """Without names, `dvc commit` would record also what a user added and has not decided on."""
    assert versions.ours_alone(project)
    added = project / "data" / "mine" / "table.csv.dvc"
    added.parent.mkdir()
    added.touch()
    assert not versions.ours_alone(project)
    added.unlink()
    (project / ".cache").mkdir(exist_ok=True)
    (project / ".cache" / "dvc.yaml").touch()
    assert versions.ours_alone(project)
    with (project / "dvc.yaml").open("a", encoding="utf-8") as stages:
        stages.write("  mine:\n    cmd: true\n")
    assert not versions.ours_alone(project)
