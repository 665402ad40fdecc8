import json
import resource
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from stages.errors import DataError
from stages.query.journal import Journal


def row(item: str, epoch: int = 1, reply: str = "he") -> dict[str, object]:
    return {"item_id": item, "variant": "single", "epoch": epoch, "reply": reply}


def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.journal.jsonl"
    with Journal(path) as journal:
        journal.answer(row("a", reply="‑ 他 🙂 \u2028 \n"))
        journal.failure(row("b"))
    with Journal(path) as journal:
        assert journal.answers == {("a", "single", 1): row("a", reply="‑ 他 🙂 \u2028 \n")}
        assert journal.failures.keys() == {("b", "single", 1)}


def test_an_answer_is_in_the_file_before_the_call_returns(tmp_path: Path) -> None:
    path = tmp_path / "a.journal.jsonl"
    with Journal(path) as journal:
        journal.answer(row("a"))
        assert json.loads(path.read_text(encoding="utf-8"))["answer"]["item_id"] == "a"


def test_a_line_torn_by_a_kill_is_dropped_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.journal.jsonl"
    with Journal(path) as journal:
        journal.answer(row("a"))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    with Journal(path) as journal:
        journal.answer(row("b"))
    with Journal(path) as journal:
        assert [key[0] for key in journal.answers] == ["a", "b"]


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.journal.jsonl"
    path.write_text('{"answer": {"item\n{"failure": {}}\n', encoding="utf-8")
    with pytest.raises(DataError, match="line 1 is damaged; delete that line"), Journal(path):
        pass


@pytest.fixture
def small_files() -> Iterator[None]:
    """The system refuses to let any file grow beyond 4 kB, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def write_without_end(journal: Journal) -> None:
    for number in count():
        journal.answer(row(str(number)))


@pytest.mark.usefixtures("small_files")
def test_a_full_disk_is_one_sentence_and_keeps_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "a.journal.jsonl"
    with Journal(path) as journal, pytest.raises(DataError, match=r"cannot be written: .*; make room"):
        write_without_end(journal)
    with Journal(path) as journal:
        assert len(journal.answers) > 10
        assert list(journal.answers) == [(str(n), "single", 1) for n in range(len(journal.answers))]


def test_a_read_only_folder_is_one_sentence(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be written"), Journal(blocked / "a.journal.jsonl"):
        pass
