"""Deriving a table: partition by partition, in batches, nothing left over."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from stages import derive as module
from stages.derive import derive
from stages.errors import DataError
from stages.ledger import read_ledger
from stages.schema import ANSWERS, JUDGEMENTS, SCORES
from stages.store import read, recorded, write
from tests.factories import coin, make_judgements, make_questions, record

RUNS = tuple(f"model-{letter}@2026-11-30" for letter in "abcde")


@pytest.fixture
def asked(project: Path) -> Path:
    record(project, make_judgements(coin, make_questions(RUNS)), SCORES.empty())
    return project


@pytest.mark.parametrize("batch", [1, 600, 10**9])
def test_batches_change_nothing(asked: Path, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    parts = recorded(asked, read_ledger(asked), JUDGEMENTS)
    before = [read(part.path(asked, JUDGEMENTS), JUDGEMENTS) for part in parts]
    seen: list[int] = []
    monkeypatch.setattr(module, "BATCH", batch)

    def same(frame: pl.DataFrame) -> pl.DataFrame:
        seen.append(frame["run"].n_unique())
        return frame.sort("item_id", descending=True)

    assert derive(asked, "judge", JUDGEMENTS, JUDGEMENTS, same) == sum(frame.height for frame in before)
    for part, frame in zip(parts, before, strict=True):
        assert_frame_equal(read(part.path(asked, JUDGEMENTS), JUDGEMENTS), frame)
    assert sum(seen) == len(RUNS)
    assert (len(seen) == 1) == (batch > 600)


def test_what_no_longer_belongs_is_removed(asked: Path) -> None:
    stray = asked / "data" / "judgements" / "model=gone" / "run=2025-01-01" / "checkup.en.two.parquet"
    write(stray, JUDGEMENTS, JUDGEMENTS.empty())
    judgements = make_judgements(coin, make_questions(RUNS))
    derive(asked, "judge", ANSWERS, JUDGEMENTS, lambda _: judgements)
    assert not stray.parent.parent.exists()


def test_a_file_in_the_wrong_place_is_named(asked: Path) -> None:
    here, there = (part.path(asked, ANSWERS) for part in recorded(asked, read_ledger(asked), ANSWERS)[:2])
    here.write_bytes(there.read_bytes())
    with pytest.raises(
        DataError, match=r"model=model-a/.* has rows of model-b@2026-11-30 checkup en two; put the file"
    ):
        derive(asked, "judge", ANSWERS, JUDGEMENTS, lambda frame: frame)


def test_nothing_recorded_gives_nothing(project: Path) -> None:
    assert derive(project, "judge", ANSWERS, JUDGEMENTS, lambda frame: frame) == 0
