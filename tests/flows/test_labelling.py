"""Texts that people read: the sheet tells nothing, and what was written into it comes back as answers of a person."""

import csv
import io
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from flows.collected import export_questions
from flows.labelling import export_labels, import_labels
from flows.reproduction import reproduce
from flows.selection import about_texts
from stages.cells import write_cells
from stages.errors import CheckupError, DataError, UsageError
from stages.judge import judge
from stages.ledger import enter, named, read_ledger, runs
from stages.load import load_all
from stages.params import read_params
from stages.query.labels import HEADINGS
from stages.requests import Request
from stages.rubric import texts
from stages.schema import ANSWERS, MAN, WOMAN, Outcome
from stages.score import score_all
from stages.store import partitions, read_all
from stages.validate import answers as contracts
from stages.validate.expectations import check
from tests import written as w

pytestmark = pytest.mark.slow

QUESTIONS = ("agency", "ability", "praise")
DAY = "2026-11-30"
Row = dict[str, str]


@pytest.fixture
def written(project: Path) -> Path:
    w.record(project, w.answers(languages=("en", "zh")))
    return project


def sheet(
    root: Path, language: str | None = "en", n: int | None = None, seed: int = 0, headings: str = "en"
) -> list[Row]:
    export_labels(root, w.WRITER, root / "labels.csv", language, n, seed, headings)
    return list(csv.DictReader(io.StringIO((root / "labels.csv").read_text(encoding="utf-8-sig"), newline="")))


def labelled(rows: list[Row]) -> list[Row]:
    """``rows`` as somebody fills them in who finds what is planted in each text."""
    return [row | {question: letter(row, question) for question in QUESTIONS} for row in rows]


def letter(row: Row, question: str) -> str:
    return w.asked(row[HEADINGS[f"{question}_asked"][0]])[1][w.code_in(row["text"], question)]


def taken(root: Path, rows: list[Row], rater: str = "ann", encoding: str = "utf-8-sig", **options: str | None) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    (root / "filled.csv").write_bytes(text.getvalue().encode(encoding))
    return import_labels(root, root / "filled.csv", rater, options.get("reads"), options.get("date", DAY))


def answers(root: Path, run: str = f"person-ann@{DAY}") -> pl.DataFrame:
    return read_all(root, partitions(named(read_ledger(root), run)), ANSWERS)


def test_the_sheet_has_every_text_masked_and_tells_no_side(written: Path) -> None:
    rows = sheet(written, language=None)
    assert len(rows) == 2 * len(w.ROLES) * 2 * 2
    told = [
        "letter",
        WOMAN,
        *w.ROLES,
        "writer",
        *(name for pairs in w.PEOPLE.values() for pair in pairs for name in pair),
    ]
    assert [(word, cell) for row in rows for cell in row.values() for word in told if word in (cell or "")] == []
    known = texts(written, named(read_ledger(written), w.WRITER), "en")
    place = [row["text"] for row in rows if row["text"].isascii()]
    sides = [known.filter(text=text)["variant"].unique().sort().to_list() for text in place]
    assert [MAN, WOMAN] in sides, "two sides that say the same are the same to read"


def test_some_texts_are_drawn_as_many_about_women_as_about_men(written: Path) -> None:
    rows = sheet(written, n=6)
    run = named(read_ledger(written), w.WRITER)
    taken(written, labelled(rows))
    sides = answers(written).select("item_id", "variant").with_columns(pl.col("item_id").str.strip_suffix("-agency"))
    assert len(rows) == 6
    assert sides.filter(~pl.col("item_id").str.contains("ability|praise"))["variant"].value_counts()[
        "count"
    ].to_list() == [3, 3]
    assert sheet(written, n=6, seed=1) != rows == sheet(written, n=6)
    assert run.entry.languages == ("en", "zh")


def test_labels_are_answers_that_mean_what_was_written(written: Path) -> None:
    assert "(72 in en)" in taken(written, labelled(sheet(written)))
    found = answers(written)
    judged = judge(found)
    assert judged["code"].to_list() == [w.code_in(text, q) for text, q in found.select("text", "domain").iter_rows()]
    assert set(judged["outcome"]) == {Outcome.PAIRED}
    assert set(found["access_route"]) == {"person"}
    assert found["collector"][0].startswith("ann, filled.csv (UTF-8 with BOM), SHA-256 ")
    assert "person-ann" not in read_params(written).models


@pytest.mark.slow
def test_they_are_asked_in_the_orders_that_a_model_gets(written: Path) -> None:
    taken(written, labelled(sheet(written)))
    found = answers(written)
    w.enrolled(written, "http://127.0.0.1:9/v1", "reader")
    request = about_texts(written, Request("reader", plan="rubric", reads=w.WRITER))
    assert enter(written, read_params(written), request, datetime.now(UTC)).entry.reads == w.WRITER
    assert found["order_index"].n_unique() == 6
    assert found["protocol_hash"].n_unique() == 1


def test_labels_keep_the_contracts_also_where_only_one_side_was_read(written: Path) -> None:
    rows = labelled(sheet(written))
    taken(written, rows[:5])
    run = named(read_ledger(written), f"person-ann@{DAY}")
    files = contracts.declared(written, partitions(run))
    found = check(contracts.contracts(files, contracts.judgeable(answers(written), files["file"][0])))
    assert [result for each in found for result in each.results if not result.success] == []
    assert answers(written).height == 15


def test_blank_cells_are_no_labels(written: Path) -> None:
    rows = labelled(sheet(written))
    rows[0] |= {"praise": "", "agency": "  "}
    taken(written, rows[:2])
    assert answers(written).height == 4


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_chinese_headings_and_encodings(written: Path, encoding: str) -> None:
    rows = sheet(written, language="zh", headings="zh")
    answered = [
        row | {HEADINGS[q][1]: w.asked(row[HEADINGS[f"{q}_asked"][1]])[1][w.code_in(row["文字"], q)] for q in QUESTIONS}
        for row in rows
    ]
    taken(written, answered, encoding=encoding)
    assert judge(answers(written))["code"].null_count() == 0


def test_a_spreadsheet_comes_back_too(written: Path) -> None:
    rows = labelled(sheet(written))
    frame = pl.DataFrame(rows).with_columns(pl.lit("").alias("__blank")).rename({"__blank": " "})
    write_cells(written / "filled.xlsx", frame)
    import_labels(written, written / "filled.xlsx", "ann", None, DAY)
    assert answers(written).height == 72


def test_the_same_file_again_changes_nothing_on_whatever_day(written: Path) -> None:
    rows = labelled(sheet(written))
    taken(written, rows)
    assert taken(written, rows, date="2026-12-07") == f"person-ann@{DAY} has these labels already; nothing to do."
    assert [run.id for run in runs(read_ledger(written)) if run.model == "person-ann"] == [f"person-ann@{DAY}"]


def test_full_width_and_small_letters_are_letters(written: Path) -> None:
    rows = labelled(sheet(written))[:2]
    wide = [row | {"agency": row["agency"].lower(), "praise": chr(ord(row["praise"]) + 0xFEE0) + "．"} for row in rows]
    taken(written, wide)
    assert answers(written).height == 6


BROKEN: list[tuple[dict[str, str], str]] = [
    ({"agency": "D"}, "line 2, column 'agency': 'D' is none of A, B, C; write one of them, or leave it blank"),
    ({"id": "x"}, "line 2: 'x' is the id of no text"),
    ({"text": "Another text."}, "line 2: the text is another than the masked one of today"),
]


@pytest.mark.parametrize(("change", "says"), BROKEN)
def test_a_cell_that_does_not_fit_is_named(written: Path, change: dict[str, str], says: str) -> None:
    first, second, *_ = labelled(sheet(written))
    with pytest.raises(DataError, match=says):
        taken(written, [first | change, second], reads=w.WRITER)
    assert [run.model for run in runs(read_ledger(written))] == ["writer"]


def test_a_row_twice_is_named(written: Path) -> None:
    first = labelled(sheet(written))[0]
    with pytest.raises(DataError, match="line 15: the text of line 2 is there again"):
        taken(written, [first, first])


@pytest.mark.parametrize(
    ("rater", "says"), [("李明", "cannot name a model: use a-z, 0-9 and '-'"), ("", "--rater is empty")]
)
def test_a_name_that_cannot_name_a_folder_is_refused(written: Path, rater: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        taken(written, labelled(sheet(written)), rater)


def test_a_sheet_of_no_run_here_is_refused(written: Path) -> None:
    rows = labelled(sheet(written))
    with pytest.raises(CheckupError, match="are about no texts that any run wrote"):
        taken(written, [row | {"id": "0"} for row in rows])


def test_a_run_that_is_still_to_be_asked_is_in_nobodys_way(written: Path) -> None:
    rows = labelled(sheet(written))
    w.enrolled(written, "http://127.0.0.1:9/v1", "zoe")
    enter(written, read_params(written), Request("zoe", plan="open"), datetime.now(UTC))
    taken(written, rows[:2])
    assert named(read_ledger(written), f"person-ann@{DAY}").entry.reads == w.WRITER
    open_run = next(run.id for run in runs(read_ledger(written)) if run.model == "zoe")
    with pytest.raises(UsageError, match=f"Run {open_run} has not all of its texts here.*ask for them first"):
        taken(written, rows[:2], reads=open_run)


def test_other_labels_of_a_day_take_another_rater(written: Path) -> None:
    rows = labelled(sheet(written))
    taken(written, rows[:2])
    with pytest.raises(DataError, match="take another --date or --rater, or remove it first"):
        taken(written, rows[:3])


def test_questions_about_texts_are_not_put_in_a_chat(written: Path) -> None:
    with pytest.raises(UsageError, match="people read in the table of: checkup export labels RUN"):
        export_questions(written, Request("", "rubric"), written / "questions.csv", "en")


@pytest.mark.slow
def test_a_run_is_reproduced_with_those_who_read_it(written: Path) -> None:
    load_all(written)
    w.read_by(written, named(read_ledger(written), w.WRITER), "judge-a", "person-ann")
    score_all(written)
    made = reproduce(written, w.WRITER)
    assert made.same, made.sentences
    gaps = {table.table.name: table for table in made.tables}["gaps"]
    assert gaps.n_files == 2


def test_nothing_labelled_is_nothing_to_import(written: Path) -> None:
    with pytest.raises(UsageError, match="has no label yet"):
        taken(written, sheet(written))
