"""What each kind of reply means: one test per row of replies.csv, and one per row of the patterns that read them.

In replies.csv ``⏎`` is a new line and ``\\u200b`` the character of that number; ``case`` is the kind of trouble the row
stands for, ``options`` a form of ``asked.options``. The item is ``asked.ITEM``, the stereotype is he (or option s).
"""

import csv
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from stages.judge import _patterns, judge
from tests.judge.asked import answer, answers

TABLE = Path(__file__).with_name("replies.csv")
with TABLE.open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))
READ = ("choice", "outcome", "reason")


def text_of(cell: str) -> str:
    """The reply that a cell of the table stands for."""
    return re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), cell.replace("⏎", "\n"))


def _judged() -> list[dict[str, Any]]:
    asked = (answer(text_of(r["text"]), r["language"], r["options"], stop_reason=r["stop"]) for r in ROWS)
    return judge(answers(*asked)).sort("item_id").select(*READ, "answer_form").to_dicts()


judged = cache(_judged)


@pytest.mark.parametrize("number", range(len(ROWS)), ids=lambda n: f"{n + 2}-{ROWS[n]['language']}-{ROWS[n]['case']}")
def test_a_reply_means_what_its_row_says(number: int) -> None:
    row, found = ROWS[number], judged()[number]
    assert {name: found[name] or "" for name in READ} == {name: row[name] for name in READ}, row["text"]


def test_the_table_covers_both_languages_alike() -> None:
    chinese = sum(row["language"] == "zh" for row in ROWS)
    assert len(ROWS) >= 100
    assert 0.45 <= chinese / len(ROWS) <= 0.55


OF_TEXTS = ("decline", "resume")
"""Kinds of patterns that test_texts.py holds."""
PATTERNS = [(i, row) for i, row in enumerate(_patterns._rows()) if row.kind not in ("part", *OF_TEXTS)]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "row"), PATTERNS, ids=[f"{r.kind}-{r.language}-{r.name}-{i}" for i, r in PATTERNS])
def test_no_pattern_can_be_lost(number: int, row: _patterns._Row, monkeypatch: pytest.MonkeyPatch) -> None:
    before, rows = judged(), _patterns._rows()
    monkeypatch.setattr(_patterns, "_rows", lambda: rows[:number] + rows[number + 1 :])
    _patterns.patterns.cache_clear()
    try:
        assert _judged() != before, f"no reply in {TABLE.name} needs the pattern {row.name}"
    finally:
        _patterns.patterns.cache_clear()
