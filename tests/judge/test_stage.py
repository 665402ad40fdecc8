"""The stage over a project: every recorded answer of the ledger gets its judgement."""

import subprocess
import sys
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from stages.judge import judge, judge_all
from stages.ledger import read_ledger
from stages.schema import ANSWERS, JUDGEMENTS, SCORES
from stages.store import Partition, read, recorded
from tests.factories import coin, make_answers, make_judgements, make_questions, record

RUNS = ("model-a@2026-11-30", "model-b@2026-11-30")


@pytest.fixture
def asked(project: Path) -> Path:
    """A project with two recorded runs; their judgements are not those that judging would give."""
    record(project, make_judgements(coin, make_questions(RUNS)), SCORES.empty())
    return project


def _parts(root: Path) -> list[Partition]:
    return recorded(root, read_ledger(root), ANSWERS)


def test_every_recorded_answer_is_judged(asked: Path) -> None:
    parts = _parts(asked)
    answers = [read(part.path(asked, ANSWERS), ANSWERS) for part in parts]
    assert judge_all(asked) == sum(frame.height for frame in answers) > 0
    for part, frame in zip(parts, answers, strict=True):
        assert_frame_equal(read(part.path(asked, JUDGEMENTS), JUDGEMENTS), judge(frame))


def test_judging_again_gives_the_same_bytes(asked: Path) -> None:
    paths = [part.path(asked, JUDGEMENTS) for part in _parts(asked)]
    judge_all(asked)
    first = [path.read_bytes() for path in paths]
    judge_all(asked)
    assert [path.read_bytes() for path in paths] == first


def test_the_answers_are_left_alone(asked: Path) -> None:
    paths = [part.path(asked, ANSWERS) for part in _parts(asked)]
    before = [path.read_bytes() for path in paths]
    judge_all(asked)
    assert [path.read_bytes() for path in paths] == before


def test_the_command_says_what_it_did(asked: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "stages.judge"], capture_output=True, text=True, check=False)
    expected = make_answers(make_judgements(coin, make_questions(RUNS))).height
    assert (done.returncode, done.stdout, done.stderr) == (0, f"judgements: {expected} rows\n", "")
    assert _parts(asked)
