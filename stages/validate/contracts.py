"""What a contract is, and the words contracts are written in. Names and arguments only: no Great Expectations in here.

Great Expectations skips nulls in a set, pattern or range check, and passes any of them on an empty frame. So no word
below makes such a check alone: it always comes with a row count and a not-null check under the same condition.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

Expects = list["Expect"]


@dataclass(frozen=True)
class Expect:
    """One expectation: what a reader is told, the class of Great Expectations that checks it, and its arguments.

    ``when`` keeps it to rows whose columns equal a value, or one of several values.
    """

    says: str
    kind: str
    args: Mapping[str, Any] = field(default_factory=dict)
    when: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rule(self) -> str:
        """The rule as a clause, with its condition."""
        conditions = [f"{c} is {' or '.join([v] if isinstance(v, str) else v)}" for c, v in self.when.items()]
        return f"{self.says} where {' and '.join(conditions)}" if conditions else self.says

    @property
    def columns(self) -> tuple[str, ...]:
        pair = [self.args[name] for name in ("column_A", "column_B") if name in self.args]
        single = [self.args["column"]] if "column" in self.args else []
        return (*single, *self.args.get("column_list", ()), *pair)


@dataclass(frozen=True)
class Contract:
    """The expectations on one frame. ``keys`` are the columns that name a row to a person; ``suite`` names the page."""

    suite: str
    keys: tuple[str, ...]
    expects: tuple[Expect, ...]


@dataclass(frozen=True)
class Checkable:
    """A contract, the frame it is about, and the file the rows come from (a column ``file`` of the frame goes first)."""

    contract: Contract
    frame: pl.DataFrame
    file: str


def contract(suite: str, keys: Iterable[str], *parts: Expects) -> Contract:
    """A contract of all ``parts``, each expectation once, in the order they are named."""
    expects: Expects = []
    for expect in (e for part in parts for e in part):
        if expect not in expects:
            expects.append(expect)
    return Contract(suite, tuple(keys), tuple(expects))


def rows(count: int, **when: Any) -> Expects:
    return [Expect(f"there are exactly {count} rows", "ExpectTableRowCountToEqual", {"value": count}, when)]


def some_rows(**when: Any) -> Expects:
    return [Expect("there is at least one row", "ExpectTableRowCountToBeBetween", {"min_value": 1}, when)]


def present(*columns: str, **when: Any) -> Expects:
    """No value of ``columns`` is null."""
    checks = [Expect(f"{c} is never missing", "ExpectColumnValuesToNotBeNull", {"column": c}, when) for c in columns]
    return some_rows(**when) + checks


def absent(column: str, says: str, **when: Any) -> Expects:
    """Every value of ``column`` is null: it names what is wrong with the row, and nothing is."""
    return [*some_rows(**when), Expect(says, "ExpectColumnValuesToBeNull", {"column": column}, when)]


def closed(column: str, values: Iterable[Any], says: str = "", **when: Any) -> Expects:
    known = list(values)
    says = says or f"{column} is {_either(known)}"
    check = Expect(says, "ExpectColumnValuesToBeInSet", {"column": column, "value_set": known}, when)
    return [*present(column, **when), check]


def like(column: str, pattern: str, says: str, nullable: bool = False, **when: Any) -> Expects:
    """Every text has a place that fits ``pattern``, a regular expression."""
    check = Expect(says, "ExpectColumnValuesToMatchRegex", {"column": column, "regex": pattern}, when)
    return [*_rows(column, nullable, when), check]


def unlike(column: str, pattern: str, says: str, **when: Any) -> Expects:
    """No text has a place that fits ``pattern``, a regular expression."""
    check = Expect(says, "ExpectColumnValuesToNotMatchRegex", {"column": column, "regex": pattern}, when)
    return [*present(column, **when), check]


def between(
    column: str, low: float, high: float | None = None, says: str = "", nullable: bool = False, **when: Any
) -> Expects:
    """Every number is at least ``low`` and, where given, at most ``high``."""
    says = says or (f"{column} is from {low} to {high}" if high is not None else f"{column} is at least {low}")
    args = {"column": column, "min_value": low, "max_value": high}
    return [*_rows(column, nullable, when), Expect(says, "ExpectColumnValuesToBeBetween", args, when)]


def unique(*columns: str, says: str = "") -> Expects:
    """No two rows are alike in ``columns``, and none of them is missing (a key that is wholly null would be skipped)."""
    says = says or f"{' + '.join(columns)} names one row"
    args = {"column_list": list(columns)}
    if len(columns) == 1:
        return [*present(*columns), Expect(says, "ExpectColumnValuesToBeUnique", {"column": columns[0]})]
    return [*present(*columns), Expect(says, "ExpectCompoundColumnsToBeUnique", args)]


def equal(found: str, declared: str, says: str = "") -> Expects:
    """Two columns agree, and neither is missing (a null on one side makes Great Expectations raise in its check)."""
    args = {"column_A": found, "column_B": declared, "ignore_row_if": "either_value_is_missing"}
    check = Expect(says or f"{found} equals {declared}", "ExpectColumnPairValuesToBeEqual", args)
    return [*present(found, declared), check]


def _rows(column: str, nullable: bool, when: Mapping[str, Any]) -> Expects:
    return some_rows(**when) if nullable else present(column, **when)


def _either(values: list[Any]) -> str:
    *first, last = [str(value) for value in values]
    return f"{', '.join(first)} or {last}" if first else last
