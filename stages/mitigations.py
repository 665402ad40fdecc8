"""The texts of the mitigations: what each says in each language, a row of data/checkup/mitigations.csv per text.

Every command reads them with params.yaml, so that they are read without polars.
"""

import csv
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from stages.errors import DataError
from stages.protocols import Example, Mitigation, Said

MITIGATIONS_FILE = "data/checkup/mitigations.csv"
COLUMNS = ("mitigation", "language", "part", "set", "text", "options", "answer", "note")
BLANK = "____"
BETWEEN = "|"
"""Stands between the words of ``options``."""
MOST_SETS = 2
THREE = 3
_OF_EXAMPLE = ("set", "options", "answer")
_FIELDS = ("system", "reason")


@dataclass(frozen=True)
class Row:
    """One line of the file, without spaces around its cells."""

    line: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def refuse(self, column: str, says: str) -> DataError:
        """The error that its cell in ``column`` is."""
        found = repr(self[column]) if self[column] else "nothing"
        return DataError(f"{MITIGATIONS_FILE}, line {self.line}, column {column!r}: {found} {says}.")


def with_texts(root: Path, mitigations: Mapping[str, Mitigation], languages: Collection[str]) -> dict[str, Mitigation]:
    """``mitigations``, each with what it says in each of ``languages`` that it has texts in.

    :raises DataError: the file is not there or not UTF-8, or a row does not fit; the message names file, line and column.
    """
    found: dict[tuple[str, str], list[Row]] = {}
    for row in _rows(root / MITIGATIONS_FILE):
        _check(row, mitigations, languages)
        found.setdefault((row["mitigation"], row["language"]), []).append(row)
    said: dict[str, dict[str, Said]] = {name: {} for name in mitigations}
    for (name, language), rows in found.items():
        said[name][language] = _said(rows)
    return {name: each.model_copy(update={"said": said[name]}) for name, each in mitigations.items()}


def _rows(path: Path) -> Iterator[Row]:
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise DataError(f"{path} does not exist; restore it with: git checkout {MITIGATIONS_FILE}.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8.") from error
    reader = csv.reader(StringIO(content, newline=""), strict=True)
    header: list[str] = []
    try:
        for cells in reader:
            if not any(cells) or cells[0].startswith("#"):
                continue
            if not header:
                header = _header(cells)
            else:
                yield _row(reader.line_num, header, cells)
    except csv.Error as error:
        raise DataError(f"{MITIGATIONS_FILE}, line {reader.line_num}: {error}; correct the line.") from error


def _header(cells: list[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    if sorted(header) != sorted(COLUMNS):
        raise DataError(f"{MITIGATIONS_FILE} has the columns {', '.join(header)}; they must be: {', '.join(COLUMNS)}.")
    return header


def _row(line: int, header: list[str], cells: list[str]) -> Row:
    if len(cells) != len(header):
        raise DataError(
            f"{MITIGATIONS_FILE}, line {line} has {len(cells)} cells, but there are {len(header)} columns; put a text with a "
            "comma into quotes."
        )
    return Row(line, {name: cell.strip() for name, cell in zip(header, cells, strict=True)})


def _check(row: Row, mitigations: Mapping[str, Mitigation], languages: Collection[str]) -> None:
    """:raises DataError: ``row`` does not fit by itself."""
    if row["mitigation"] not in mitigations:
        raise row.refuse("mitigation", f"is no mitigation of params.yaml, which has: {', '.join(mitigations)}")
    if row["language"] not in languages:
        raise row.refuse("language", f"is no language of any benchmark; use one of: {', '.join(languages)}")
    if row["part"] not in (*_FIELDS, "example"):
        raise row.refuse("part", "is none of: system, example, reason")
    if not row["text"]:
        raise row.refuse("text", "stands there, but a text must; write it")
    if row["part"] == "example":
        _check_example(row)
        return
    if row["part"] == "reason" and mitigations[row["mitigation"]].check is None:
        raise row.refuse("part", f"goes with a check; add `check: gendered` to mitigations.{row['mitigation']}")
    for column in _OF_EXAMPLE:
        if row[column]:
            raise row.refuse(column, f"goes with part example only, not with {row['part']}")


def _check_example(row: Row) -> None:
    if row["text"].count(BLANK) != 1:
        raise row.refuse("text", f"must have the blank {BLANK} exactly once")
    if not row["set"]:
        raise row.refuse("set", "stands there, but the name of a set must, such as a")
    options = _options(row)
    if len(options) not in (2, THREE) or len(set(options)) < len(options):
        raise row.refuse("options", f"is not two or three words with {BETWEEN} between, such as he{BETWEEN}she")
    if row["answer"] not in options:
        raise row.refuse("answer", f"is none of the options {row['options']}")


def _options(row: Row) -> tuple[str, ...]:
    return tuple(word.strip() for word in row["options"].split(BETWEEN) if word.strip())


def _said(rows: list[Row]) -> Said:
    """What one mitigation says in one language."""
    texts: dict[str, str] = {}
    sets: dict[str, list[Example]] = {}
    for row in rows:
        if row["part"] == "example":
            example = Example(text=row["text"], options=_options(row), answer=row["answer"])
            sets.setdefault(row["set"], []).append(example)
        elif row["part"] in texts:
            raise row.refuse("part", f"stands there twice for {row['mitigation']} in {row['language']}; keep one")
        else:
            texts[row["part"]] = row["text"]
    _refuse_unbalanced(rows, sets)
    return Said(
        system=texts.get("system"),
        reason=texts.get("reason"),
        examples=tuple(tuple(sets[name]) for name in sorted(sets)),
    )


def _refuse_unbalanced(rows: list[Row], sets: Mapping[str, list[Example]]) -> None:
    """Two sets have one half of the orders each, in which only of three options each is met at each place equally often."""
    for row in rows:
        few = row["part"] == "example" and len(_options(row)) < THREE
        if row["set"] and (len(sets) > MOST_SETS or (len(sets) == MOST_SETS and few)):
            raise row.refuse("set", f"is one of {len(sets)} sets; two options go with one set, three with one or two")
