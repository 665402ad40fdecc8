"""Reading what people filled in: every wrong cell is named by line and column, all of them at once."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from stages.cells import Cells, Line
from stages.errors import DataError
from stages.load import load_all
from stages.params import read_params
from stages.query.filled import Collected, collected
from stages.query.template import template
from stages.requests import Request
from tests.conftest import make_project

Read = Callable[..., Collected]
NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    """Read the table of three items, in which the first two questions have a reply, with cells changed by row."""
    root = tmp_path_factory.mktemp("project")
    make_project(root)
    load_all(root)
    params = read_params(root)
    rows = template(root, params, Request("", limit=3), NOW).fill_null("").to_dicts()

    def read(changes: dict[int, dict[str, str]], backwards: bool = False) -> Collected:
        filled = [{**row, "reply": "she" if n < 2 else "", **changes.get(n, {})} for n, row in enumerate(rows)]
        ordered = filled[::-1] if backwards else filled
        lines = [Line(number, row) for number, row in enumerate(ordered, start=2)]
        return collected(root, params, Cells("UTF-8", tuple(filled[0]), lines), "answers.csv", Request(""), NOW)

    return read


FIRST = "checkup/en/two/control-stated-female-at-next-table-direct/single/1"
WRONG = {
    "unknown item": ({"id": "checkup/en/two/nobody/single/1", "item_id": ""}, "line 2, column id: the plan asks no item 'nobody' as checkup.en.two"),
    "epoch out of range": ({"id": FIRST[:-1] + "7", "epoch": ""}, "line 2, column id: epoch 7 is out of range: the plan asks this item at 1 to 2"),
    "no epoch": ({"id": FIRST[:-1] + "x", "epoch": ""}, "line 2, column id: the epoch 'x' is no whole number"),
    "variant": ({"id": FIRST.replace("single", "man"), "variant": ""}, "line 2, column id: control-stated-female-at-next-table-direct has no variant 'man', but single"),
    "twice": ({"id": FIRST[:-1] + "2", "epoch": "2", "prompt": ""}, "line 3, column id: the question of line 2 again; keep one of them"),
    "no id": ({"id": "", "language": ""}, "line 2, column id: is empty, so that nobody knows the question"),
    "half an id": ({"id": "checkup/en"}, "line 2, column id: 'checkup/en' is no question's id, such as checkup/en/two/<item>/single/1"),
    "torn row": ({"item_id": "another"}, "line 2, column item_id: 'another' is not that of the id, 'control-stated-female-at-next-table-direct'; rows must stay whole when they are sorted"),
    "language": ({"id": FIRST.replace("/en/", "/fr/"), "language": ""}, "line 2, column id: there is no language 'fr' in params.yaml"),
    "unfit": ({"id": FIRST.replace("/two/", "/choice/"), "protocol": ""}, "line 2, column id: checkup is not asked in en by choice"),
    "other question": ({"prompt": "Who is it?"}, "line 2, column prompt: is not the question of this row; the items, the wording or the row was changed since"),
    "time": ({"asked_at": "yesterday"}, "line 2, column asked_at: 'yesterday' is no time such as 2026-11-30 15:04"),
    "no such day": ({"asked_at": "2026-11-31 15:04"}, "line 2, column asked_at: '2026-11-31 15:04' is no time such as 2026-11-30 15:04"),
    "another plan": ({"plan": "quick limit=4"}, "line 3, column plan: is another than above; import the tables of two plans one after the other"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_cell_is_one_sentence_with_line_and_column(read: Read, kind: str) -> None:
    changes, sentence = WRONG[kind]
    with pytest.raises(DataError) as caught:
        read({0: changes})
    assert str(caught.value) == f"answers.csv, {sentence}."


def test_a_whole_text_in_the_wrong_column_is_cut_short(read: Read) -> None:
    with pytest.raises(DataError) as caught:
        read({0: {"id": "she said\n" * 50}})
    assert str(caught.value).startswith(r"answers.csv, line 2, column id: 'she said\nshe said\n")
    assert len(str(caught.value)) < 250


def test_wrong_cells_are_all_listed(read: Read) -> None:
    with pytest.raises(DataError) as caught:
        read(
            {
                3: {"reply": "he", "asked_at": "noon"},
                1: {"id": "?"},
                0: {"id": FIRST.replace("/en/", "/zh-TW/"), "language": ""},
            }
        )
    first, *listed = str(caught.value).splitlines()
    assert first == "answers.csv is wrong in 3 places; correct them and import it again:"
    assert [line.split(":")[0] for line in listed] == [
        "  line 2, column id",
        "  line 3, column id",
        "  line 5, column asked_at",
    ]


def test_rows_may_be_sorted_and_have_columns_of_the_collectors_own(read: Read) -> None:
    found = read({n: {"mood": "calm"} for n in range(12)}, backwards=True)
    assert found.replies == 2
    assert [part.partition.name for part, _ in found.given] == ["checkup.zh.two", "checkup.en.two"]


def test_what_is_not_in_the_table_is_not_asked(read: Read) -> None:
    found = read({0: {"reply": ""}})
    assert found.replies == 1
    assert found.entry.asks == [("checkup", "en", "two"), ("checkup", "zh", "two")]
