"""Fetching StereoSet: from the network, from a copy, and never half of it."""

import gzip
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from flows.fetching import fetch
from flows.selection import plan_runs
from stages import download
from stages.datasets import DATASETS, PROVENANCE, blob_id, lacking
from stages.errors import CheckupError, ContractBroken, DataError, LedgerError, UsageError
from stages.load import items, load_all
from stages.query import Silent, ask_run
from stages.requests import Request
from tests.files import FileServer, Sent, sending
from tests.shared import shared
from tests.stereoset import as_hugging_face, official, records

MADE = records()
CONTENT = official(MADE)
PLACE = Path("data/stereoset/dev.json")
Copy = Callable[[bytes], Path]


@pytest.fixture
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A file of a user's, outside the project."""
    folder = tmp_path_factory.mktemp("downloads")

    def make(content: bytes, name: str = "copy.json") -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return make


def recorded(project: Path, name: str = PLACE.name) -> dict[str, object]:
    found: dict[str, object] = json.loads((project / PLACE.parent / PROVENANCE).read_bytes())[name]
    return found


def pinned(monkeypatch: pytest.MonkeyPatch, server: FileServer, content: bytes) -> None:
    """Make ``server`` the owners' repository, with ``content`` as the pinned file."""
    source = replace(DATASETS["stereoset"]["en"], base=server.base, blob=blob_id(content))
    monkeypatch.setitem(DATASETS["stereoset"], "en", source)
    monkeypatch.setattr(download, "PAUSES", (0.0, 0.0))


@pytest.mark.parametrize("packed", [False, True])
def test_a_copy_with_the_right_counts_is_taken_and_said_not_to_be_verified(
    project: Path, copy: Copy, packed: bool
) -> None:
    said = fetch(project, "stereoset", "en", [copy(gzip.compress(CONTENT) if packed else CONTENT)])
    assert said == f"{PLACE} is here now, with the right counts, but not byte for byte verified (CC BY-SA 4.0)."
    assert (project / PLACE).read_bytes() == CONTENT
    found = recorded(project)
    assert (found["verified"], found["blob"], found["came_from"]) == (False, blob_id(CONTENT), "copy.json")
    assert found["commit"] == "ead7d086a64a192a1eca88e0dd2fd163de375218"
    assert found["official_blob"] == "637b1e3d284a3c629b74a4659c583b8eca9bd13e"
    assert items(project, "stereoset-intrasentence").height == 2106
    assert items(project, "stereoset-intersentence").height == 2123


def test_both_files_of_the_copy_on_hugging_face_become_one(project: Path, copy: Copy, tmp_path: Path) -> None:
    files = []
    for task, raws in MADE.items():
        files.append(tmp_path / f"{task}.jsonl")
        files[-1].write_text("\n".join(json.dumps(as_hugging_face(raw)) for raw in raws), encoding="utf-8")
    fetch(project, "stereoset", "en", files)
    assert recorded(project)["came_from"] == "intersentence.jsonl, intrasentence.jsonl"
    before = {task: items(project, f"stereoset-{task}") for task in MADE}
    fetch(project, "stereoset", "en", [copy(CONTENT)])
    assert all(items(project, f"stereoset-{task}").equals(frame) for task, frame in before.items())


def test_the_same_copy_again_changes_nothing(project: Path, copy: Copy) -> None:
    fetch(project, "stereoset", "en", [copy(CONTENT)])
    before = {path: path.read_bytes() for path in (project / PLACE.parent).iterdir()}
    assert fetch(project, "stereoset", "en", [copy(CONTENT)]) == f"{PLACE} is here already, with the same content."
    assert {path: path.read_bytes() for path in (project / PLACE.parent).iterdir()} == before


NO_RECORDS = (b"<html>", b'{"data": {"intersentence": [], "intrasentence": 5}}', 100_000 * b"[", b'{"data": 5}', b"5")


@pytest.mark.parametrize(
    ("content", "error", "sentence"),
    [
        (official({**MADE, "intersentence": MADE["intersentence"][1:]}), ContractBroken, "exactly 2123 rows where"),
        (official({"intersentence": MADE["intersentence"]}), DataError, "no records of the task intrasentence"),
        *((content, DataError, "copy.json holds no records of StereoSet") for content in NO_RECORDS),
        (gzip.compress(CONTENT)[:-20], UsageError, "copy.json cannot be read: it is cut off or no gzip"),
    ],
    ids=["one less", "one task", *("no data" for _ in NO_RECORDS), "cut off"],
)
def test_a_copy_that_is_not_the_data_set_leaves_the_one_there_is(
    project: Path, copy: Copy, content: bytes, error: type[CheckupError], sentence: str
) -> None:
    (project / PLACE).write_bytes(b"the one there is")
    with pytest.raises(error, match=sentence) as caught:
        fetch(project, "stereoset", "en", [copy(content)])
    assert "\n" not in str(caught.value)
    assert [path.read_bytes() for path in (project / PLACE.parent).iterdir()] == [b"the one there is"]


def test_the_pinned_file_is_downloaded_once_and_verified(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with sending(Sent(b"busy", 503), Sent(CONTENT[:100], announced=len(CONTENT)), Sent(CONTENT)) as server:
        pinned(monkeypatch, server, CONTENT)
        assert fetch(project, "stereoset", "en") == (
            f"{PLACE} is here now, byte for byte as moinnadeem/StereoSet has it (CC BY-SA 4.0)."
        )
        url = "/moinnadeem/StereoSet/ead7d086a64a192a1eca88e0dd2fd163de375218/data/dev.json"
        assert server.paths == [url] * 3
        assert (recorded(project)["verified"], recorded(project)["came_from"]) == (True, server.base + url)
        assert "here already, byte for byte" in fetch(project, "stereoset", "en")
        assert len(server.paths) == 3


def test_another_body_is_never_put_into_place(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with sending(Sent(official({**MADE, "intersentence": []}))) as server:
        pinned(monkeypatch, server, CONTENT)
        with pytest.raises(CheckupError, match="what came is not the file"):
            fetch(project, "stereoset", "en")
    assert list((project / PLACE.parent).iterdir()) == []


def test_without_a_network_the_sentence_names_the_other_way(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pinned(monkeypatch, FileServer([], base="http://127.0.0.1:9"), CONTENT)
    mend = r"or take a copy that you have: checkup fetch stereoset --from FILE\.$"
    with pytest.raises(CheckupError, match=mend):
        fetch(project, "stereoset", "en")


def test_a_file_that_lost_its_record_is_put_on_record_again(project: Path, copy: Copy) -> None:
    fetch(project, "stereoset", "en", [copy(CONTENT)])
    (project / PLACE.parent / PROVENANCE).unlink()
    assert "is here now" in fetch(project, "stereoset", "en", [copy(CONTENT)])
    assert recorded(project)["blob"] == blob_id(CONTENT)


@pytest.mark.parametrize("content", ["[]", '{"dev.json": 5}', "{", 100_000 * "["])
def test_a_damaged_record_says_what_to_do(project: Path, copy: Copy, content: str) -> None:
    (project / PLACE.parent / PROVENANCE).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=r"provenance\.json is no.*; delete it and fetch the data set again"):
        fetch(project, "stereoset", "en", [copy(CONTENT)])


def test_what_is_lacking_is_said_with_the_command(project: Path) -> None:
    assert lacking(project, "checkup", "en") is None
    assert lacking(project, "stereoset-intersentence", "zh") is None, "there is none, fetched or not"
    assert lacking(project, "stereoset-intersentence", "pt") == (
        "stereoset-intersentence has no items in pt yet; get them with: checkup fetch stereoset --language pt"
    )
    (project / "data" / "stereoset" / "dev_pt.json").touch()
    assert lacking(project, "stereoset-intersentence", "pt") is None


def asking(project: Path) -> Request:
    """A request for one task of StereoSet, under a protocol that asks it."""
    path = project / "params.yaml"
    text = path.read_text(encoding="utf-8")
    closed = "    benchmarks: [checkup]\n    form: closed\n"
    assert closed in text
    path.write_text(
        text.replace(closed, closed.replace("checkup", "checkup, stereoset-intersentence")), encoding="utf-8"
    )
    return Request("", "full", ("stereoset-intersentence",), ("en",), ("closed",))


def test_what_was_not_fetched_is_not_planned(project: Path, copy: Copy) -> None:
    request = asking(project)
    sentence = r"^stereoset-intersentence has no items in en yet; get them with: checkup fetch stereoset\.$"
    with pytest.raises(UsageError, match=sentence):
        plan_runs(project, ["gemma-3-270m"], request)
    assert list((project / "runs").iterdir()) == []
    fetch(project, "stereoset", "en", [copy(CONTENT)])
    assert [run.model for run in plan_runs(project, ["gemma-3-270m"], request)[0]] == ["gemma-3-270m"]


def test_a_planned_run_whose_data_set_went_away_says_how_to_get_it_back(project: Path, copy: Copy) -> None:
    fetch(project, "stereoset", "en", [copy(CONTENT)])
    (run,), _ = plan_runs(project, ["gemma-3-270m"], asking(project))
    (project / PLACE).unlink()
    load_all(project)
    with pytest.raises(LedgerError, match=r"cannot be asked: .* checkup fetch stereoset, and then: dvc repro load\.$"):
        ask_run(project, run, threading.Event(), Silent())


def test_the_real_copies_are_taken_and_the_translation_is_verified(project: Path) -> None:
    english = fetch(project, "stereoset", "en", [shared("stereoset/dev.json.gz")])
    assert "not byte for byte verified" in english
    assert "byte for byte as" in fetch(project, "stereoset", "pt", [shared("stereoset-ptbr/dev_ptbr.json.gz")])
    assert {"dev.json", "dev_pt.json"} == set(json.loads((project / PLACE.parent / PROVENANCE).read_bytes()))
