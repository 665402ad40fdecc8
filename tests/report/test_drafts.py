"""What was sent back, how much of it changed, and what that took: in SQL, after a run, and on the page."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from flows.totals import lines
from stages.report import query, report_all
from stages.schema import ANSWERS
from stages.score import score
from stages.store import write
from tests import factories as f

RUN = "model-a@2026-11-30"
FIRST = {
    "reply": "he ", "reason": "Once more.", "prompt": "…", "stop_reason": "stop", "prompt_tokens": 10,
    "completion_tokens": 1, "cost": 0.25, "asked_at": "2026-11-30T10:00:00.000+00:00",
}  # fmt: skip
TOOK = {"prompt_tokens": 30, "completion_tokens": 3, "cost": 1.0, "attempts": 2}
FAILED = {
    "reply": None,
    "failure": "timeout",
    "failure_message": "x",
    "prompt_tokens": 10,
    "completion_tokens": 1,
    "cost": 0.25,
}
CHANGES: list[dict[str, Any]] = [
    {**TOOK, "reply": "they", "drafts": [FIRST]},
    {**TOOK, "reply": " he", "drafts": [FIRST]},
    {**FAILED, "drafts": [FIRST]},
]
"""Three of the answers: one that changed, one that did not, one whose second call failed."""


@pytest.fixture
def recorded(project: Path) -> Path:
    questions = f.make_questions([RUN], styles=["direct"], groups={"occupation": (2, 2, 0)}, language="en")
    rows = f.make_judgements(f.constant("he"), questions)
    f.record(project, rows, score(rows))
    path = next((project / "data" / "answers").rglob("*.parquet"))
    answers = pl.read_parquet(path, hive_partitioning=False).with_columns(
        prompt_tokens=10, completion_tokens=1, cost=0.5
    )
    told = [row | change for row, change in zip(answers.to_dicts(), CHANGES, strict=False)]
    put(path, told + answers.to_dicts()[len(CHANGES) :])
    return project


def send_back(root: Path) -> None:
    """As if the first answer of a file had come second."""
    path = sorted((root / "data" / "answers").rglob("*.parquet"))[0]
    first, *others = pl.read_parquet(path, hive_partitioning=False).to_dicts()
    put(path, [first | TOOK | {"drafts": [FIRST]}, *others])


def put(path: Path, rows: list[dict[str, Any]]) -> None:
    write(path, ANSWERS, pl.DataFrame(rows, schema=ANSWERS.schema, orient="row"))


def test_the_view_counts_what_was_sent_back_and_adds_up_what_it_took(recorded: Path) -> None:
    (row,) = query(recorded, "select * exclude (run, model, date) from drafts").iter_rows(named=True)
    answers = query(recorded, "from answers").height
    assert row == {
        "benchmark": "checkup", "language": "en", "protocol": "two", "n_answers": answers, "n_sent_back": 3,
        "n_changed": 1, "n_neutral": 0, "n_failed": 1, "prompt_tokens": 40, "completion_tokens": 4, "cost": 1.5,
    }  # fmt: skip


def test_what_is_not_known_of_one_is_not_known(recorded: Path) -> None:
    path = next((recorded / "data" / "answers").rglob("*.parquet"))
    rows = pl.read_parquet(path, hive_partitioning=False).to_dicts()
    rows[0] |= {"cost": None, "prompt_tokens": None}
    put(path, rows)
    assert query(recorded, "select prompt_tokens, completion_tokens, cost from drafts").row(0) == (None, 4, None)


def test_a_run_tells_at_its_end_what_was_sent_back(recorded: Path) -> None:
    (line,) = lines(recorded, [RUN])
    assert line.endswith("; 3 replies were sent back once, $1.50 of it.")


def test_the_page_tells_it_where_the_cost_stands(recorded: Path) -> None:
    page = report_all(recorded).read_text(encoding="utf-8")
    assert "3 of 8 replies, 1 of them changed, for $1.50 of the cost" in page
    assert "8 个回答中的 3 个，其中 1 个有改动，占费用中的 $1.50" in page
