"""Every question of docs/sql.md is answered over a recorded history, with the columns that it promises."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from stages.ledger import named, read_ledger
from stages.load import load_all
from stages.report import Session
from stages.schema import ANSWERS, CONTRACTS, Outcome
from stages.score import score_all, score_and_compare
from stages.store import VALIDATION, partitions, read, write
from tests import factories as f
from tests import pairs as p
from tests import written as w
from tests.conftest import make_project
from tests.docs.cookbook import Recipe, recipes
from tests.texts import make_texts

FORMER, LATEST, OTHER = "gpt-4o@2026-11-23", "gpt-4o@2026-11-30", "qwen-plus@2026-11-30"
MITIGATED = "kimi-32k@2026-11-30"
GROUPS = {"occupation": (6, 6, 0), "control": (10, 10, 0)}
TOLD = {"pronoun": (6, 6, 0), "control": (10, 10, 0)}
ANSWERING = {
    FORMER: f.always_stereotype,
    LATEST: f.mixed({"refusal": 0.05, "invalid": 0.1, "error": 0.02}, f.coin),
    "qwen-plus@2026-11-23": f.mixed({"refusal": 0.2}, f.always_first),
    OTHER: f.mixed({"refusal": 0.2}, f.always_first),
}


def judgements() -> pl.DataFrame:
    found = []
    for language in ("en", "zh"):
        for run, responder in ANSWERING.items():
            asked = f.make_questions([run], language, groups=GROUPS)
            found.append(f.make_judgements(responder, asked))
        found.append(make_texts([LATEST], language, agentic=(1, 3)))
        pairs = p.make_pairs([LATEST], language, groups={"trait": 12, "language": 4})
        found.append(p.pair_judgements(p.tending(0.95, 0.05), pairs))
    for protocol, responder in (("three", f.always_stereotype), ("three+few-shot", f.constant("they"))):
        asked = f.make_questions([MITIGATED], protocol="three", epochs=1, groups=TOLD)
        found.append(f.make_judgements(responder, asked.with_columns(protocol=pl.lit(protocol))))
    rows = pl.concat(found)
    said = pl.when(pl.col("outcome") == Outcome.INVALID).then(pl.lit("perhaps")).otherwise("reply")
    served = pl.when(pl.col("run") == LATEST).then(pl.lit("served-2")).otherwise("served_model")
    return rows.with_columns(said.alias("reply"), served.alias("served_model"))


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("cookbook")
    make_project(root)
    load_all(root)
    rows = judgements()
    scores, compared = score_and_compare(rows)
    f.record(root, rows, scores, compared)
    w.read_by(root, w.record(root, w.answers(w.leaning)), "judge-a", "person-ann")
    score_all(root)
    for part in partitions(named(read_ledger(root), LATEST)):
        path = part.path(root, ANSWERS)
        if path.exists():
            write(
                path,
                ANSWERS,
                read(path, ANSWERS).with_columns(
                    cost=pl.lit(0.001), prompt_tokens=pl.lit(30, pl.Int64), completion_tokens=pl.lit(2, pl.Int64)
                ),
            )
    broken = {"suite": "answers", "position": 0, "expectation": "x", "column": "reply", "success": False, "rows": 9}
    found = pl.DataFrame([{**broken, "unexpected": 1, "keys": "a row"}], schema=CONTRACTS.schema)
    write(root / VALIDATION / "answers.parquet", CONTRACTS, found)
    return root


@pytest.fixture(scope="module")
def session(history: Path) -> Iterator[Session]:
    with Session(history) as opened:
        yield opened


def test_the_cookbook_has_its_questions() -> None:
    assert len({recipe.question for recipe in recipes()}) >= 15


@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: recipe.name)
def test_a_question_is_answered(session: Session, recipe: Recipe) -> None:
    found = session.ask(recipe.query)
    assert found.columns == recipe.columns
    assert found.height > 0
    assert all(found[name].null_count() < found.height for name in recipe.columns if name not in UNKNOWN)


UNKNOWN = {"note", "ci_low", "ci_high"}
"""Columns that may be null in every row of so small a history."""


def of(session: Session, name: str) -> pl.DataFrame:
    (recipe,) = (each for each in recipes() if each.name == name)
    return session.ask(recipe.query)


def test_the_answers_are_right(session: Session) -> None:
    """Where the made-up history says what must come out."""
    assert of(session, "1a").filter(date="2026-11-23")["value"].to_list() == [100.0, 100.0]
    assert of(session, "1a")["difference"].null_count() == 2
    assert set(of(session, "3a")["vote_before"]) == {"stereotype"}
    assert of(session, "8a")["served"].to_list() == [["served-2"]]
    assert of(session, "9a").filter(outcome="invalid")["reply"].unique().to_list() == ["perhaps"]
    assert dict(of(session, "16a").select("run", "verdict").rows()) == {
        LATEST: "not comparable",
        OTHER: "no change seen",
    }
    assert set(of(session, "10a").filter(model="qwen-plus")["order_pull"]) == {100.0}
    assert of(session, "19a").select("lean_without", "lean_with", "reasons").rows() == [
        (100, 0, ["reversal", "evaded"])
    ]
    assert of(session, "14a")["model"].unique().sort().to_list() == ["gpt-4o", "qwen-plus"]
