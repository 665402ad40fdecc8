"""What a client says instead of a reply, as it stands in tables that people or their programs fill in: shapes as data."""

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("client_errors.csv")


@dataclass(frozen=True)
class Shape:
    """What a message of ``client`` looks like from its beginning, whatever its case; the first that fits is taken."""

    client: str
    failure: str
    """The answer's ``failure``; words of ``faults.failure``."""
    regex: re.Pattern[str]
    example: str


@cache
def shapes() -> tuple[Shape, ...]:
    """The rows of client_errors.csv in their order."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Shape(row["client"], row["failure"], re.compile(row["regex"], re.IGNORECASE | re.DOTALL), row["example"])
            for row in csv.DictReader(file)
        )


def failure_in(reply: str) -> str | None:
    """The kind of failure that ``reply`` tells of, if it is a client's message and not a model's text."""
    text = reply.strip()
    return next((shape.failure for shape in shapes() if shape.regex.match(text)), None)
