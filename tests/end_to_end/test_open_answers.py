"""Texts of two real models, asked for by the real command: the base model gets a page to go on with, the other a message."""

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from tests.end_to_end.checkout import Checkout, make_checkout

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    checkout = make_checkout(tmp_path_factory.mktemp("texts") / "project")
    first = checkout.call("checkup", "run", "--plan", "open", "--limit", "2")
    assert first.returncode == 0, first.stderr
    yield checkout
    assert checkout.left_after(5) == []


def answers(checkout: Checkout, model: str) -> pl.DataFrame:
    files = (checkout.root / "data" / "answers" / f"model={model}").rglob("*.parquet")
    return pl.concat(pl.read_parquet(file, hive_partitioning=False) for file in sorted(files))


def test_both_models_wrote_texts_in_both_languages(run: Checkout) -> None:
    rows = json.loads(run.call("checkup", "runs", "--format", "json").stdout)
    assert {(row["state"], row["n_answered"] == row["n_expected"]) for row in rows} == {("sealed", True)}
    for model, marks in (("gemma-3-270m", '"stop"'), ("smollm2-135m-instruct", '"max_tokens":200')):
        frame = answers(run, model)
        assert frame["item_id"].n_unique() == 2
        assert set(frame["language"]) == {"en", "zh"}
        assert frame.filter(pl.col("reply").str.len_chars() < 5).height == 0
        assert frame.filter(pl.col("completion_tokens") > 200).height == 0
        assert frame["candidates"].null_count() == frame.height
        assert frame["params_sent"].str.contains(marks, literal=True).all()
        assert not frame["reply"].str.contains("Question:|问题：").any()


def test_nothing_is_left_to_do_and_the_page_is_there(run: Checkout) -> None:
    assert run.call("dvc", "status", "--json").stdout.strip() == "{}"
    assert Path(run.root, "reports", "site", "index.html").stat().st_size > 0
