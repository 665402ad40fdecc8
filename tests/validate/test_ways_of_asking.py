"""Answers keep their contracts in whatever way they were asked, and in each an exchanged item is found."""

import threading
from pathlib import Path

import polars as pl
import pytest

from stages.errors import ContractBroken
from stages.ledger import Ledger, planned, read_ledger, record
from stages.load import load_all
from stages.params import read_params
from stages.query import Silent, ask_run
from stages.requests import Request
from stages.schema import ANSWERS
from stages.store import Partition, read, recorded, write
from stages.validate import validate_answers
from tests.conftest import make_project
from tests.stereoset import official, records
from tests.validate.conftest import NOON, replied

REQUESTS = (
    Request("smollm2-135m-instruct", "full", date="2026-11-30"),
    Request("smollm2-135m-instruct", "carry-over", date="2026-11-30", limit=30),
    Request("smollm2-135m-instruct", "open", date="2026-11-30", limit=30),
    Request("gemma-3-270m", "open", date="2026-11-30", limit=6, epochs=3),
    Request(
        "gemma-3-270m", "stereoset", protocols=("choice", "likelihood"), languages=("en",), limit=40, date="2026-11-30"
    ),
)


@pytest.fixture(scope="module")
def every_way(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ways")
    make_project(root)
    (root / "data" / "stereoset" / "dev.json").write_bytes(official(records()))
    load_all(root)
    for request in REQUESTS:
        run = planned(
            read_ledger(root) if any((root / "runs").iterdir()) else Ledger(runs={}), read_params(root), request, NOON
        )
        record(root, run)
        ask_run(root, run, threading.Event(), Silent(), seal=True)
    for part in (part for part in answered(root) if part.protocol != "likelihood"):
        write(part.path(root, ANSWERS), ANSWERS, replied(read(part.path(root, ANSWERS), ANSWERS)))
    return root


def answered(root: Path) -> list[Partition]:
    return recorded(root, read_ledger(root), ANSWERS)


def test_answers_asked_in_every_way_keep_their_contracts(every_way: Path) -> None:
    protocols = {part.protocol for part in answered(every_way)}
    assert protocols == {"two", "three", "closed", "carried", "choice", "likelihood", "open"}
    validate_answers(every_way)


@pytest.mark.parametrize("protocol", ["three", "closed", "choice", "open"])
def test_an_item_that_was_exchanged_no_longer_fits_its_hash(every_way: Path, protocol: str) -> None:
    part = next(part for part in answered(every_way) if part.protocol == protocol)
    path = part.path(every_way, ANSWERS)
    good = path.read_bytes()
    frame = pl.read_parquet(path, hive_partitioning=False)
    first = pl.col("item_id") == frame["item_id"][0]
    frame.with_columns(pl.when(first).then(pl.lit("Another text ____.")).otherwise("text").alias("text")).write_parquet(
        path
    )
    try:
        with pytest.raises(ContractBroken, match="item_hash is that of the item's text and answers, wherever all were"):
            validate_answers(every_way)
    finally:
        path.write_bytes(good)
