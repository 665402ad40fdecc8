"""Importing other people's scores: a sealed run, once, and every score to the last bit."""

import gzip
import json
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from flows.importing import import_stereoset
from stages.errors import DataError, UsageError
from stages.ledger import enter, named, read_ledger
from stages.load import load_all
from stages.params import read_params
from stages.query import Silent, query_model
from stages.requests import Request
from stages.schema import ANSWERS
from stages.store import forget, read_all, recorded
from stages.validate import validate_answers
from tests.shared import shared
from tests.stereoset import Raw, official, records, scores

MADE = records()
DAY = "2021-08-01"
Import = Callable[..., str]


def score(sentence: Raw) -> float:
    """A number of its own for each sentence, with as many digits as a float has."""
    return int(sentence["id"], 16) / 3e38


def other(sentence: Raw) -> float:
    return -score(sentence)


@pytest.fixture
def take(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Import:
    """Import a prediction file of ``content`` into a project that has the made-up data set."""
    for name in ("dev.json", "dev_pt.json"):
        (project / "data" / "stereoset" / name).write_bytes(official(MADE))
    folder = tmp_path_factory.mktemp("predictions")

    def take(content: bytes, key: str = "gpt2", date: str = DAY, language: str = "en") -> str:
        (folder / "predictions.json.gz").write_bytes(gzip.compress(content))
        return import_stereoset(project, folder / "predictions.json.gz", key, date, language)

    return take


def answers(root: Path) -> pl.DataFrame:
    return read_all(root, recorded(root, read_ledger(root), ANSWERS), ANSWERS)


def files(root: Path) -> dict[str, bytes]:
    found = [root / "params.yaml", *(root / "runs").iterdir(), *(root / "data" / "answers").rglob("*.parquet")]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def test_an_import_is_a_sealed_run_of_a_model_that_joined_the_roster(project: Path, take: Import) -> None:
    said = take(scores(MADE, score))
    assert said == (
        f"gpt2@{DAY}: imported stereoset-intersentence, stereoset-intrasentence in en; score it with: dvc repro."
    )
    run = named(read_ledger(project), f"gpt2@{DAY}")
    assert (run.entry.state, run.entry.plan, run.entry.protocols) == ("sealed", "imported", ("imported",))
    assert (run.entry.epochs, run.entry.languages) == (1, ("en",))
    assert "gpt2" in read_params(project).models


def test_every_score_is_kept_exactly_and_there_is_no_reply(project: Path, take: Import) -> None:
    take(scores(MADE, score))
    found = answers(project)
    assert found["benchmark"].value_counts().sort("benchmark")["count"].to_list() == [2123, 2106]
    kept = found.select("item_id", "candidates").explode("candidates").unnest("candidates")
    declared = {s["id"]: score(s) for raws in MADE.values() for raw in raws for s in raw["sentences"]}
    assert dict(kept.select("key", "logprob").iter_rows()) == declared
    keys = pl.col("options").list.eval(pl.element().struct.field("key"))
    assert found.select((keys == pl.col("candidates").list.eval(pl.element().struct.field("key"))).all()).item()
    for column, value in {"reply": None, "stop_reason": "scored", "access_route": "imported", "attempts": 0}.items():
        assert found[column].unique().to_list() == [value]
    assert found["collector"].str.contains("stereoset-scores from predictions.json.gz, SHA-256 [0-9a-f]{64}").all()


def test_an_imported_run_keeps_the_contracts_and_is_never_asked(
    project: Path, take: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHECKUP_NO_CALLS", "1")
    take(scores(MADE, score))
    before = files(project)
    load_all(project)
    validate_answers(project)
    query_model(project, "gpt2", threading.Event(), Silent())
    assert files(project) == before


def test_the_same_file_again_changes_nothing_and_another_is_refused(project: Path, take: Import) -> None:
    take(scores(MADE, score))
    before = files(project)
    assert take(scores(MADE, score)) == f"gpt2@{DAY} has these scores already; nothing to do."
    with pytest.raises(DataError, match=rf"Run gpt2@{DAY} has other scores of .* remove it first with: checkup forget"):
        take(scores(MADE, other))
    assert files(project) == before
    forget(project, named(read_ledger(project), f"gpt2@{DAY}"))
    assert "imported" in take(scores(MADE, other))


def test_a_task_and_a_language_that_come_later_join_the_run(project: Path, take: Import) -> None:
    take(scores({"intrasentence": MADE["intrasentence"]}, score))
    assert answers(project)["benchmark"].unique().to_list() == ["stereoset-intrasentence"]
    assert "imported stereoset-intersentence in en" in take(scores(MADE, score))
    assert "imported stereoset-intersentence, stereoset-intrasentence in pt" in take(scores(MADE, other), language="pt")
    assert list(read_ledger(project).runs["gpt2"]) == [DAY]
    assert answers(project).height == 2 * (2123 + 2106)
    assert read_ledger(project).runs["gpt2"][DAY].state == "sealed"


def test_a_run_that_was_asked_that_day_is_left_alone(project: Path, take: Import) -> None:
    asked = enter(project, read_params(project), Request("gemma-3-270m"), datetime.fromisoformat(f"{DAY}T12:00+00:00"))
    take(scores(MADE, score), key="gemma-3-270m")
    entries = read_ledger(project).runs["gemma-3-270m"]
    assert entries[DAY] == asked.entry
    assert entries[f"{DAY}.2"].plan == "imported"
    assert set(answers(project)["vendor"]) == {"Google"}


def cut(content: bytes) -> bytes:
    """A prediction file that lost one sentence."""
    tasks = json.loads(content)
    return json.dumps({**tasks, "intrasentence": tasks["intrasentence"][1:]}).encode()


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"date": "2021-13-01"}, UsageError, "--date: '2021-13-01' is not a day of the calendar; write it as"),
        ({"date": f"{DAY}.2"}, UsageError, f"--date: '{DAY}.2' names a further run of a day; write it as YYYY-MM-DD."),
        ({"key": "GPT 2"}, UsageError, "--model: 'GPT 2' cannot name a model: .*'gpt-2'"),
        ({"language": "zh"}, UsageError, "There is no language 'zh' to fetch; use one of: en, pt."),
        ({"content": cut(scores(MADE, score))}, DataError, r"predictions.json.gz, intrasentence: 1 of 6318 sentences"),
        ({"content": 100_000 * b"["}, DataError, r"predictions.json.gz is not JSON: .*; take another copy of it"),
        ({"content": b"[]"}, DataError, r"predictions.json.gz is no file of StereoSet scores"),
    ],
)
def test_a_wrong_import_is_one_sentence_and_changes_nothing(
    project: Path, take: Import, changes: dict[str, str], error: type[Exception], sentence: str
) -> None:
    before = files(project)
    with pytest.raises(error, match=sentence) as caught:
        take(**{"content": scores(MADE, score), **changes})
    assert "\n" not in str(caught.value)
    assert files(project) == before


def test_before_the_data_set_was_fetched_the_sentence_says_how(project: Path, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_bytes(scores(MADE, score))
    with pytest.raises(UsageError, match=r"has no items in en yet; get them with: checkup fetch stereoset\.$"):
        import_stereoset(project, tmp_path / "p.json", "gpt2", DAY, "en")


def test_a_prediction_file_of_the_authors_is_imported_as_it_is(project: Path) -> None:
    with gzip.open(shared("stereoset/dev.json.gz")) as packed:
        (project / "data" / "stereoset" / "dev.json").write_bytes(packed.read())
    predictions = shared("stereoset/predictions/gpt2.json.gz")
    import_stereoset(project, predictions, "gpt2", DAY, "en")
    given = {
        row["id"]: row["score"]
        for rows in json.loads(gzip.decompress(predictions.read_bytes())).values()
        for row in rows
    }
    kept = answers(project)["candidates"].explode().struct.unnest()
    assert dict(kept.select("key", "logprob").iter_rows()) == given
    validate_answers(project)
