"""The questions of docs/sql.md: what is asked, the SQL, and the columns that it promises."""

import re
from dataclasses import dataclass

from tests.conftest import ROOT

_QUERY = re.compile(r"```sql\n(.+?)\n```\n\nColumns: ([^\n]+)\n", re.DOTALL)
_QUESTION = re.compile(r"^## (\d+)\. (.+\?)$", re.MULTILINE)


@dataclass(frozen=True)
class Recipe:
    name: str
    question: str
    query: str
    columns: list[str]


def recipes() -> list[Recipe]:
    """Every query of the cookbook, in its order."""
    text = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8")
    _, *parts = _QUESTION.split(text)
    return [
        Recipe(f"{number}{letter}", question, query, re.findall(r"`(\w+)`", columns))
        for number, question, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        for letter, (query, columns) in zip("abc", _QUERY.findall(body), strict=False)
    ]
