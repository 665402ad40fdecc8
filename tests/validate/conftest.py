import threading
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from stages.ledger import Ledger, planned, read_ledger, record
from stages.load import load_all
from stages.params import read_params
from stages.query import Silent, ask_run
from stages.requests import Request
from stages.schema import ANSWERS
from stages.store import read, read_items, recorded, write
from tests.conftest import make_project

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture(scope="session")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the real items and one run whose every question of the quick plan was answered; only to be read."""
    root = tmp_path_factory.mktemp("asked")
    make_project(root)
    load_all(root)
    run = planned(Ledger(runs={}), read_params(root), Request("gemma-3-270m", date="2026-11-30"), NOON)
    record(root, run)
    ask_run(root, run, threading.Event(), Silent(), seal=True)
    for part in recorded(root, read_ledger(root), ANSWERS):
        write(part.path(root, ANSWERS), ANSWERS, replied(read(part.path(root, ANSWERS), ANSWERS)))
    return root


def replied(answers: pl.DataFrame) -> pl.DataFrame:
    """``answers`` of questions never asked, as if each had been: with the first word shown, and one call that failed."""
    failed = pl.int_range(pl.len()) == 7
    when_failed = pl.when(failed)
    return answers.with_columns(
        pl.when(~failed).then(pl.col("options").list.first().struct.field("text")).alias("reply"),
        pl.when(~failed).then(pl.lit("stop")).alias("stop_reason"),
        when_failed.then(pl.lit("timeout")).alias("failure"),
        when_failed.then(pl.lit("the call took longer than 60 s")).alias("failure_message"),
        pl.lit(1, pl.Int64).alias("attempts"),
        pl.lit(0.0).alias("cost"),
        pl.lit(0.4).alias("latency"),
        pl.lit(20, pl.Int64).alias("prompt_tokens"),
    )


@pytest.fixture(scope="session")
def items(asked: Path) -> pl.DataFrame:
    return read_items(asked, "checkup")
