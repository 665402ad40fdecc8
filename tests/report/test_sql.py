"""The SQL files: grain, order, and for each mart given and expected rows."""

from pathlib import Path

import polars as pl
import pytest

from stages.errors import DataError
from stages.load import load_all
from stages.report import query
from stages.report.sql import SQL, views
from stages.schema import CONTRACTS, TABLES
from stages.score import score, score_all, score_and_compare
from stages.store import VALIDATION
from stages.store import write as write_table
from tests import factories as f
from tests import sentences as s
from tests import written as w
from tests.conftest import ROOT, make_project
from tests.report.conftest import every_protocol
from tests.report.test_drafts import send_back
from tests.report.test_stereoset import record_answers
from tests.texts import make_texts

DATA = Path(__file__).parent / "data"
MARTS = sorted(path.stem for path in (ROOT / SQL / "marts").glob("*.sql"))
TESTED_ELSEWHERE = {
    "readers": "tests/report/test_readers.py",
    "camps": "tests/score/test_camps.py",
    **dict.fromkeys(("reliability", "style_split"), "tests/report/test_wordings.py"),
    "stereoset": "tests/report/test_stereoset.py",
    "changed": "tests/report/test_changed.py",
    "text_pairs": "tests/report/test_texts.py",
    "mitigated": "tests/report/test_mitigations.py",
    "drafts": "tests/report/test_drafts.py",
    **dict.fromkeys(("telling_pairs", "beside_published"), "tests/report/test_sections.py"),
}
RUNS = ("model-a@2026-11-23", "model-a@2026-11-30", "model-b@2026-11-30")
GROUPS = {"occupation": (1, 1, 0), "control": (1, 1, 0)}
LISTS = (
    "protocol_hashes",
    "requested_models",
    "served_models",
    "fingerprints",
    "params_sent",
    "access_routes",
    "collectors",
    "replies",
    "replies_before",
)


def given() -> pl.DataFrame:
    """Eight answers a run: model-a always right and traditional, before that always "she"; model-b follows the order."""
    before, now, other = (f.make_questions([run], styles=["direct"], groups=GROUPS) for run in RUNS)
    steady = f.make_judgements(f.constant("she"), before), f.make_judgements(f.always_stereotype, now)
    rows = pl.concat([*steady, f.make_judgements(f.always_first, other, controls_right=False)]).with_row_index("i")
    late = max(rows.filter(pl.col("run") == "model-b@2026-11-30")["i"].to_list())
    ended = {late: "error", late - 1: "invalid"}
    outcome = pl.col("i").replace_strict(ended, default=pl.col("outcome"), return_dtype=pl.String)
    failed = pl.col("i").is_in(list(ended))
    return rows.with_columns(
        outcome.alias("outcome"),
        *(pl.when(~failed).then(c).alias(c) for c in ("choice", "position", "gender", "answer_form")),
        pl.when(pl.col("i") == late - 1).then(pl.lit("either")).when(~failed).then("reply").alias("reply"),
    ).drop("i")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marts")
    make_project(folder)
    rows = given()
    f.record(folder, rows, score(rows))
    return folder


def test_every_mart_has_expected_rows() -> None:
    assert set(MARTS) == {path.stem for path in DATA.glob("*.csv")} - {"format"} | set(TESTED_ELSEWHERE)


@pytest.mark.parametrize("mart", [m for m in MARTS if m not in TESTED_ELSEWHERE])
def test_mart_gives_the_expected_rows(root: Path, mart: str) -> None:
    found = query(root, f"from {mart}")
    flat = found.with_columns(pl.col(c).list.join(" | ") for c in LISTS if c in found.columns)
    expected = pl.read_csv(DATA / f"{mart}.csv", schema_overrides=flat.schema)
    assert flat.select(expected.columns).rows() == expected.rows()


@pytest.mark.parametrize("name", TABLES)
def test_staging_names_every_column_of_its_table(root: Path, name: str) -> None:
    assert query(root, f"from {name}").columns == TABLES[name].schema.names()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which every view has rows: both instruments, published figures, and what contracts found."""
    folder = tmp_path_factory.mktemp("filled")
    make_project(folder)
    load_all(folder)
    rows = every_protocol()
    joined = rows.filter(pl.col("protocol") == "three").with_columns(protocol=pl.lit("three+few-shot"))
    rows = pl.concat([rows, joined, make_texts(["model-d@2026-11-30"])])
    scores, compared = score_and_compare(rows)
    f.record(folder, rows, scores, compared)
    send_back(folder)
    asked = s.forced(s.made_up(), pl.lit("stereotype"), run="model-c@2026-11-30")
    # Many fingerprints, so that there is a drift too.
    record_answers(folder, asked.with_columns(protocol=pl.lit("choice-avoid"), fingerprint="item_id"))
    w.read_by(folder, w.record(folder, w.answers()), "judge-a", "person-ann")
    score_all(folder)
    facts = {"suite": "items", "expectation": "x", "column": None, "success": True, "rows": 1, "unexpected": 0}
    found = [{**facts, "position": position, "keys": None} for position in (0, 1)]
    write_table(folder / VALIDATION / "items.parquet", CONTRACTS, pl.DataFrame(found, schema=CONTRACTS.schema))
    return folder


GRAINS = {view.name: view.grain.split("(")[1].split(")")[0] for view in views(ROOT) if "(" in view.grain}


def test_most_views_name_their_key() -> None:
    assert {view.name for view in views(ROOT)} - set(GRAINS) == {"runs", "judgements"}


@pytest.mark.parametrize("name", GRAINS)
def test_the_grain_is_the_key(filled: Path, name: str) -> None:
    """A grain that lists columns in brackets is one: no two rows agree in them."""
    assert query(filled, f"from {name} limit 1").height == 1
    assert query(filled, f"select {GRAINS[name]}, count(*) as n from {name} group by all having n > 1").height == 0


def test_views_come_after_what_they_read() -> None:
    order = [view.name for view in views(ROOT)]
    assert order.index("scores") < order.index("camps") < order.index("headlines")
    assert order.index("served") < order.index("drift") < order.index("runs")
    assert order.index("scores") < order.index("latest") < order.index("contested")


def write(root: Path, **texts: str) -> Path:
    folder = root / SQL / "marts"
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / f"{name}.sql").write_text(text, encoding="utf-8")
    return root


BROKEN = {
    "no grain": ({"a": "select 1"}, "a.sql does not begin with its grain"),
    "circle": ({"a": "-- one row per x\nfrom b", "b": "-- one row per x\nfrom a"}, "read each other in a circle"),
    "no sql": ({"a": "-- one row per x\nselec 1"}, "a.sql cannot be read as SQL: syntax error"),
    "two queries": ({"a": "-- one row per x\nselect 1; select 2"}, "a.sql cannot be read as SQL"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_named(tmp_path: Path, case: str) -> None:
    texts, message = BROKEN[case]
    with pytest.raises(DataError, match=message):
        views(write(tmp_path, **texts))


def test_a_view_of_what_is_not_there_is_named(project: Path) -> None:
    (project / SQL / "marts" / "late.sql").write_text("-- one row per x\nfrom nowhere", encoding="utf-8")
    with pytest.raises(DataError, match=r"late\.sql does not work: Catalog Error: Table with name nowhere"):
        query(project, "from late")
