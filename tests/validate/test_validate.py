"""The stage as a whole: what it writes, what it says, and that nothing slips through."""

import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from stages.errors import ContractBroken
from stages.schema import ANSWERS, CONTRACTS, ITEMS
from stages.store import read, read_unchecked
from stages.validate import validate_answers, validate_items
from stages.validate.contracts import Checkable, closed, contract, equal, rows
from stages.validate.expectations import check, to_pandas
from stages.validate.results import gate, table
from tests.conftest import ROOT

ITEMS_FILE = Path("data/items/checkup.parquet")
ANSWERS_FILE = Path("data/answers/model=gemma-3-270m/run=2026-11-30/checkup.en.two.parquet")
REPORTS = Path("reports/validation")


def written(root: Path) -> dict[str, bytes]:
    folder = root / REPORTS
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def copied(source: Path, target: Path) -> Path:
    return Path(shutil.copytree(source, target / "project", ignore=shutil.ignore_patterns("reports")))


@pytest.fixture
def copy(asked: Path, tmp_path: Path) -> Path:
    """A project of one's own to break."""
    return copied(asked, tmp_path)


@pytest.fixture(scope="module")
def validated(asked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose real items and answers were validated; only to be read."""
    project = copied(asked, tmp_path_factory.mktemp("validated"))
    validate_items(project)
    validate_answers(project)
    return project


def change(path: Path, *columns: pl.Expr) -> None:
    frame = pl.read_parquet(path, hive_partitioning=False)
    frame.with_columns(columns).write_parquet(path)


def test_real_items_and_answers_keep_their_contracts(validated: Path) -> None:
    for name in ("items", "answers"):
        results = read(validated / REPORTS / f"{name}.parquet", CONTRACTS)
        assert results["success"].all()
        assert results["rows"].min() != 0
        suites = results["suite"].unique().to_list()
        assert {f"docs-{name}/{page}.html" for page in [*suites, "index"]} <= set(written(validated))


def test_a_process_of_its_own_is_silent_and_writes_the_same_bytes(validated: Path, copy: Path) -> None:
    """Other process, other hash seed, warnings as errors."""
    environment = {**os.environ, "PYTHONHASHSEED": "7", "CHECKUP_ROOT": str(copy), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-m", "stages.validate", "items"]
    done = subprocess.run(command, env=environment, cwd=copy, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "items: all contracts hold; see reports/validation/docs-items/index.html\n"
    here = {name: page for name, page in written(validated).items() if name.startswith(("items", "docs-items"))}
    assert written(copy) == here


def test_findings_are_written_before_the_gate_falls_and_replaced_by_the_next_run(copy: Path) -> None:
    answers = copy / ANSWERS_FILE
    good = answers.read_bytes()
    change(answers, pl.when(pl.int_range(pl.len()) < 6).then(pl.lit("429")).otherwise("failure").alias("failure"))
    with pytest.raises(ContractBroken) as broken:
        validate_answers(copy)
    assert re.fullmatch(
        r"Contract broken: answers: an answer is a reply or a failure, and never both, but in "
        rf"{ANSWERS_FILE.as_posix()} 6 rows break it: (\(item_id [a-z-]+, variant single, epoch \d, ended reply and "
        r"failure\); ){4}\([^)]+\) and 1 more; 1 more rule is broken; restore the file with: dvc checkout; all findings: "
        r"reports/validation/docs-answers/index\.html",
        str(broken.value),
    )
    results = read(copy / REPORTS / "answers.parquet", CONTRACTS).filter(~pl.col("success"))
    assert results["unexpected"].to_list() == [6, 6]
    assert results["keys"].str.count_matches("item_id").to_list() == [6, 6]
    assert "6 rows break it" in (copy / REPORTS / "docs-answers" / "answers.html").read_text(encoding="utf-8")

    answers.write_bytes(good)
    validate_answers(copy)
    assert read(copy / REPORTS / "answers.parquet", CONTRACTS)["success"].all()


def test_a_column_of_another_type_or_missing_or_unknown_is_named_and_the_rest_not_judged(copy: Path) -> None:
    frame = read_unchecked(copy / ITEMS_FILE)
    changed = frame.drop("style").with_columns(pl.lit(1).alias("styel"), pl.col("women_share").cast(pl.Float32))
    changed.write_parquet(copy / ITEMS_FILE)
    with pytest.raises(ContractBroken) as broken:
        validate_items(copy)
    for finding in (
        "(column style, found missing, declared String)",
        "(column styel, found Int32, declared missing)",
        "(column women_share, found Float32, declared Float64)",
        f"in {ITEMS_FILE.as_posix()} 3 rows break it",
    ):
        assert finding in str(broken.value)
    suites = read(copy / REPORTS / "items.parquet", CONTRACTS)["suite"].unique()
    assert [s for s in suites if s.startswith("items-checkup-") and "-b" not in s and "-open" not in s] == [
        "items-checkup-columns"
    ]


def test_an_answers_file_of_another_shape_is_named(copy: Path) -> None:
    read_unchecked(copy / ANSWERS_FILE).drop("cost").write_parquet(copy / ANSWERS_FILE)
    with pytest.raises(
        ContractBroken, match=rf"in {ANSWERS_FILE.as_posix()} 1 row breaks it: \(column cost, found missing"
    ):
        validate_answers(copy)


@pytest.mark.parametrize(("file", "validate"), [(ITEMS_FILE, validate_items), (ANSWERS_FILE, validate_answers)])
def test_an_empty_file_breaks_its_contracts(copy: Path, file: Path, validate: Callable[[Path], None]) -> None:
    read_unchecked(copy / file).clear().write_parquet(copy / file)
    with pytest.raises(ContractBroken, match=rf"in {file.as_posix()}"):
        validate(copy)


def test_an_empty_ledger_has_nothing_to_break(project: Path) -> None:
    validate_answers(project)
    assert read(project / REPORTS / "answers.parquet", CONTRACTS).is_empty()
    assert set(written(project)) == {"answers.parquet", "docs-answers/index.html"}


def test_the_pages_need_no_network_no_script_and_no_other_file(validated: Path) -> None:
    pages = {name: page.decode() for name, page in written(validated).items() if name.endswith(".html")}
    suites = {
        row
        for name in ("items", "answers")
        for row in read(validated / REPORTS / f"{name}.parquet", CONTRACTS)["suite"]
    }
    assert len(pages) == len(suites) + len(["items", "answers"]) > 20
    for name, page in pages.items():
        assert not re.search(r"https?://|<script|<link|<img|src=|@import|url\(", page), name
        links = re.findall(r'href="([^"]*)"', page)
        assert {f"{Path(name).parent}/{link}" for link in links} <= set(pages), name


FRAME = pl.DataFrame({"name": ["a", "b", None], "kind": ["x", "y", "x"]})


def test_what_cannot_be_checked_has_failed() -> None:
    """Great Expectations reports an exception, raises none."""
    rules = contract("fails-closed", ["name"], closed("colour", ["red"]), closed("kind", ["x", "y"]))
    (checked,) = check([Checkable(rules, FRAME, "some.parquet")])
    assert [r.success for r in checked.results] == [True, False, False, True, True]
    with pytest.raises(
        ContractBroken,
        match=r'colour is never missing, but not in some.parquet: it could not be checked: The column "colour" in BatchData',
    ):
        gate(checked.results, "mend it", "findings")
    assert "could not be checked" in table(checked.results)["keys"][1]


def test_nothing_checked_is_no_success() -> None:
    with pytest.raises(ContractBroken, match="No contract was checked"):
        gate([], "mend it", "findings")


def test_warnings_stay_as_they_were() -> None:
    """Great Expectations changes the filters of the process when it is imported."""
    before = list(warnings.filters)
    check([Checkable(contract("warnings", ["name"], rows(3)), FRAME, "some.parquet")])
    assert list(warnings.filters) == before


def test_a_set_check_never_stands_alone() -> None:
    """In one suite with it are a row count and a not-null check under the same condition."""
    kinds = [(e.kind, e.when) for e in closed("kind", ["x"], name="a")]
    assert kinds == [
        ("ExpectTableRowCountToBeBetween", {"name": "a"}),
        ("ExpectColumnValuesToNotBeNull", {"name": "a"}),
        ("ExpectColumnValuesToBeInSet", {"name": "a"}),
    ]


@pytest.mark.parametrize("values", [[None, None], [None, "x"], []], ids=["null", "one null", "empty"])
def test_nulls_and_no_rows_break_a_closed_set_and_an_equality(values: list[str | None]) -> None:
    frame = pl.DataFrame({"a": values, "b": ["x"] * len(values)}, schema={"a": pl.String, "b": pl.String})
    for name, part in (("closed", closed("a", ["x"])), ("equal", equal("a", "b"))):
        (checked,) = check([Checkable(contract(name, ["b"], part), frame, "some.parquet")])
        assert not all(result.success for result in checked.results)


def test_a_condition_may_name_several_values_and_says_so() -> None:
    (expect,) = rows(3, kind=("x", "y"))
    assert expect.rule == "there are exactly 3 rows where kind is x or y"
    (checked,) = check([Checkable(contract("condition", ["name"], [expect]), FRAME, "some.parquet")])
    assert checked.results[0].success


@pytest.mark.parametrize("schema", [ITEMS.schema, ANSWERS.schema], ids=["items", "answers"])
def test_nested_columns_do_not_cross_the_bridge(schema: pl.Schema) -> None:
    with pytest.raises(TypeError, match="nested"):
        to_pandas(pl.DataFrame(schema=schema))


def test_integers_with_nulls_stay_integers() -> None:
    assert to_pandas(pl.DataFrame({"n": [1, None]}))["n"].tolist()[0] == 1
    assert "int64" in str(to_pandas(pl.DataFrame({"n": [1, None]}))["n"].dtype)


def test_great_expectations_is_not_imported_before_a_check() -> None:
    code = "import sys, stages.validate; sys.exit('great_expectations' in sys.modules or 'pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
