"""The table in which a person collects answers: its headings in English and in Chinese, and a row for each question."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

import polars as pl

from stages.params import Params
from stages.query.by_hand import ByHand, entry, sheets, to_paste
from stages.query.sheets import walked
from stages.requests import Request

HEADINGS = {
    "id": ("id", "编号"),
    "prompt": ("prompt", "题目", "提示词"),
    "reply": ("reply", "回答", "answer", "答案"),
    "asked_at": ("asked_at", "时间", "提问时间"),
    "note": ("note", "备注"),
    "benchmark": ("benchmark", "评测"),
    "language": ("language", "语言"),
    "protocol": ("protocol", "方式"),
    "item_id": ("item_id", "题号"),
    "variant": ("variant", "版本"),
    "epoch": ("epoch", "轮次"),
    "conversation": ("conversation", "对话"),
    "turn": ("turn", "第几问"),
    "plan": ("plan", "计划"),
}
"""Column -> its heading in English, in Chinese, and what else is understood."""
SPOKEN = ("en", "zh")
"""The languages that a table's headings are written in."""
PARTS = ("benchmark", "language", "protocol", "item_id", "variant", "epoch")
"""What a question's id is made of, with slashes between."""
_DRAWN = ("epochs", "limit", "seed")
"""Options that change which questions a plan asks."""


def template(root: Path, params: Params, request: Request, now: datetime, headings: str = "en") -> pl.DataFrame:
    """A row of texts per question of ``request``, in the order of asking; the cells to fill in are null.

    :raises UsageError: a name is unknown, a protocol cannot be asked by a person, or a benchmark was not fetched.
    """
    rows = [row for sheet in sheets(root, params, entry(params, request, now)) for row in _rows(sheet)]
    numbers = _conversations(row["turn"] for row in rows)
    plan = plan_said(request, params)
    whole = [row | {"conversation": str(number), "plan": plan} for row, number in zip(rows, numbers, strict=True)]
    place = SPOKEN.index(headings)
    named = {name: called[place] for name, called in HEADINGS.items()}
    return pl.DataFrame(whole, schema=dict.fromkeys(HEADINGS, pl.String)).rename(named)


def _rows(sheet: ByHand) -> Iterator[dict[str, str]]:
    part = sheet.partition
    for asked in walked(sheet, {}):
        item_id, variant, epoch = asked.question.key
        parts = (part.benchmark, part.language, part.protocol, item_id, variant, str(epoch))
        own = {"id": "/".join(parts), "prompt": to_paste(asked), "turn": str(asked.question.turn)}
        yield own | dict(zip(PARTS, parts, strict=True))


def _conversations(turns: Iterable[str]) -> Iterator[int]:
    """The number of the conversation that each of ``turns`` is in."""
    number = 0
    for turn in turns:
        number += turn == "1"
        yield number


def plan_said(request: Request, params: Params) -> str:
    """The plan of ``request`` as a table tells it: ``quick``, or ``quick limit=10 seed=3``."""
    drawn = [f"{name}={value}" for name in _DRAWN if (value := getattr(request, name))]
    return " ".join([request.plan or params.default_plan, *drawn])


def plan_read(said: str) -> Request:
    """The request that ``plan_said`` told so.

    :raises ValueError: it told none.
    """
    plan, *drawn = said.split()
    numbers = {name: int(value) for name, _, value in (each.partition("=") for each in drawn)}
    if unknown := numbers.keys() - set(_DRAWN):
        raise ValueError(f"{min(unknown)} is none of {', '.join(_DRAWN)}")
    return Request("", plan, epochs=numbers.get("epochs"), limit=numbers.get("limit"), seed=numbers.get("seed", 0))
