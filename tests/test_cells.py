"""Tables that people fill in: the same rows whatever program wrote them, and a sentence for what is no table."""

import json
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

from stages.cells import read_cells, write_cells
from stages.errors import CheckupError

ROWS = [("a/1", "她。\n因为……"), ("a/2", "「she」，\u2011😀"), ("a/3", "")]


def csv(delimiter: str = ",", end: str = "\n", padding: str = "") -> str:
    cells = [("编号", "回答"), *((name, f'"{reply}{padding}"' if reply else padding) for name, reply in ROWS)]
    return "".join(f"{name}{delimiter}{reply}{delimiter * len(padding)}{end}" for name, reply in cells)


CSV = {
    "UTF-8": (csv().encode(), "UTF-8"),
    "a byte order mark and CRLF": (csv(end="\r\n").encode("utf-8-sig"), "UTF-8 with BOM"),
    "Excel in Chinese, with trailing blanks": (csv(end="\r\n", padding="  ").encode("gb18030") + b",,,\r\n \r\n", "GB18030"),
    "Excel's Unicode text": (csv("\t").encode("utf-16"), "UTF-16"),
    "semicolons": (csv(";").encode(), "UTF-8"),
    "CRLF within cells": (csv().replace("\n因", "\r\n因").encode(), "UTF-8"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CSV)
def test_a_csv_file_has_the_same_rows_however_it_was_saved(kind: str) -> None:
    content, encoding = CSV[kind]
    found = read_cells(content, "answers.csv")
    assert [(line.cells["编号"], line.cells["回答"]) for line in found.lines] == ROWS
    assert [line.number for line in found.lines] == [2, 4, 5]
    assert (found.encoding, found.columns) == (encoding, ("编号", "回答"))


def test_jsonl_has_the_same_rows() -> None:
    objects = [{"编号": name, "回答": reply or None} for name, reply in ROWS]
    content = "\r\n\r\n".join(json.dumps(each, ensure_ascii=False) for each in objects).encode()
    found = read_cells(content, "answers.jsonl")
    assert [(line.number, *line.cells.values()) for line in found.lines] == [(n, *row) for n, row in zip((1, 3, 5), ROWS, strict=True)]  # fmt: skip


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".jsonl"])
def test_what_is_written_is_read_again(tmp_path: Path, suffix: str) -> None:
    if suffix == ".xlsx":
        pytest.importorskip("xlsxwriter", reason="xlsxwriter is not installed")
    frame = pl.DataFrame({"id": [name for name, _ in ROWS], "reply": [reply or None for _, reply in ROWS]})
    write_cells(tmp_path / f"table{suffix}", frame)
    found = read_cells((tmp_path / f"table{suffix}").read_bytes(), f"table{suffix}")
    assert [tuple(line.cells.values()) for line in found.lines] == ROWS


def test_csv_is_written_as_excel_reads_it(tmp_path: Path) -> None:
    write_cells(tmp_path / "table.csv", pl.DataFrame({"编号": ["甲"]}))
    assert (tmp_path / "table.csv").read_bytes() == "\ufeff编号\r\n甲\r\n".encode()


def test_numbers_and_times_of_a_spreadsheet_are_text() -> None:
    pytest.importorskip("xlsxwriter", reason="xlsxwriter is not installed")
    content = BytesIO()
    rows = {"id": ["a", None, "b"], "epoch": [1, None, 2], "asked_at": [None, None, "2026-11-30 15:04:00"]}
    pl.DataFrame(rows).with_columns(pl.col("asked_at").str.to_datetime()).write_excel(content)
    found = read_cells(content.getvalue(), "table.xlsx")
    assert [(line.number, *line.cells.values()) for line in found.lines] == [
        (2, "a", "1", ""),
        (4, "b", "2", "2026-11-30 15:04:00"),
    ]


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (b"id\n\xff\xfe", "a.csv", r"a\.csv is neither UTF-8 \(byte 3\) nor GB18030 \(byte 3\); save it as UTF-8\.$"),
        ("id,回答\na,她".encode() + b"\xff", "a.csv", r"neither UTF-8 \(byte 15\) nor GB18030 \(byte \d+\)"),
        (b"\xef\xbb\xbfid\n\xff", "a.csv", r"begins as UTF-8 with BOM but is not at byte \d+; save"),
        (b"", "a.csv", r"a\.csv is empty; it must have a heading"),
        (b"\n", "a.jsonl", r"a\.jsonl is empty; it must have an object"),
        (b'id,reply\na,"x"y', "a.csv", r"a\.csv, line 2 is no row of a CSV table: .*; correct it\.$"),
        (b"id,reply\na,yes, she", "a.csv", r"a\.csv, line 2 has more cells than the heading; quote cells that have a comma\.$"),
        (b'{"id": "a"}\nid', "a.jsonl", r"a\.jsonl, line 2 is no JSON"),
        (b'{"id": ["a"]}', "a.jsonl", r"a\.jsonl, line 1 is no object of texts"),
        (b"PK\x03\x04", "a.xlsx", r"a\.xlsx is no Excel table; save it again"),
        (b"id", "a.txt", r"a\.txt does not say its format; name it \*\.csv, \*\.xlsx, \*\.jsonl\.$"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_one_sentence(content: bytes, name: str, sentence: str) -> None:
    with pytest.raises(CheckupError, match=sentence) as caught:
        read_cells(content, name)
    assert "\n" not in str(caught.value)
