"""Reading works while a run is writing: a process records, judges and scores run after run, and every question is answered."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from stages import ledger
from stages.report import Session, query
from stages.score import score
from tests import factories as f
from tests.conftest import ROOT

RUNS = 12
ROWS = 8
FORGOTTEN = "model-c"
"""A model whose runs come and go."""
GROUPS = {"occupation": (1, 1, 0), "control": (1, 1, 0)}
QUESTIONS = {
    "select run, count(*) as n, count(distinct item_id) as items from answers group by run": (ROWS, 4),
    "select run, count(*) as n, count(distinct item_id) as items from judgements group by run": (ROWS, 4),
    "select run, sum(n_answers)::bigint as n, count(*) as items from votes group by run": (ROWS, 4),
    "select run, n_expected as n, 4 as items from runs where n_expected > 0": (ROWS, 4),
    "select run, sum(n)::bigint as n, 4 as items from endings group by run": (ROWS, 4),
    "select run, count(*) as n, count(*) as items from trend where metric = 'coverage' group by run": (1, 1),
}
"""Question -> the numbers that every run has in its answer, whenever it is asked."""


def write(root: Path) -> None:
    """What the process does: new partitions beside a growing journal, all derived files made again each time, runs forgotten."""
    from stages.judge import judge_all
    from stages.reduce import reduce_all
    from stages.schema import ANSWERS, SCORES
    from stages.score import score_all
    from stages.store import exclusive, forget, partitions

    for day in range(1, RUNS + 1):
        with exclusive(root):
            record(root, f"model-a@2026-11-{day:02}")
            record(root, f"{FORGOTTEN}@2026-11-{day:02}")
            (root / ".cache" / "made" / "judge.json").unlink(missing_ok=True)
            for stage in (judge_all, reduce_all, score_all):
                stage(root)
        forget(root, ledger.named(ledger.read_ledger(root), f"{FORGOTTEN}@2026-11-{day:02}"))
        (part,) = partitions(ledger.named(ledger.read_ledger(root), f"model-a@2026-11-{day:02}"))
        journal = part.path(root, ANSWERS).with_suffix(".journal.jsonl")
        with journal.open("a", encoding="utf-8") as growing:
            growing.write(f"{SCORES.name}\n" * 1000)


def record(root: Path, run: str) -> None:
    """As ``query`` does: the run is open until its answers are there."""
    rows = f.make_judgements(f.always_stereotype, f.make_questions([run], styles=["direct"], groups=GROUPS))
    f.record(root, rows, score(rows), state="open")
    ledger.record(root, ledger.named(ledger.read_ledger(root), run).with_state("sealed"))


@pytest.fixture
def writer(project: Path) -> Iterator["subprocess.Popen[bytes]"]:
    record(project, "model-b@2026-11-01")
    code = "import sys, pathlib; from tests.report.test_while_writing import write; write(pathlib.Path(sys.argv[1]))"
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(project)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE,
    )  # fmt: skip
    yield child
    child.kill()
    child.communicate()


@pytest.mark.slow
def test_every_question_is_answered_rightly_while_a_run_writes(
    project: Path, writer: "subprocess.Popen[bytes]"
) -> None:
    seen: dict[str, list[int]] = {question: [] for question in QUESTIONS}
    with Session(project) as session:
        while writer.poll() is None:
            for question, expected in QUESTIONS.items():
                for found in (session.ask(question), query(project, question)):
                    assert {tuple(row) for row in found.select("n", "items").rows()} == {expected}, question
                    seen[question].append(found.filter(~pl.col("run").str.starts_with(FORGOTTEN)).height)
        for question, expected in QUESTIONS.items():
            assert session.ask(question).select("n", "items").unique().rows() == [expected]
            assert session.ask(question).height == RUNS + 1
    assert writer.returncode == 0, writer.communicate()[1].decode()
    assert all(counts == sorted(counts) for counts in seen.values())  # what was there once stays
    assert all(len(set(counts)) > 3 for counts in seen.values())  # and it was read while it grew
