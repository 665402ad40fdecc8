"""Which run each run is compared with, and pinning one."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from stages.entries import Entry
from stages.errors import LedgerError, UsageError
from stages.ledger import Ledger, Run, drop, read_ledger, read_references, record, reindex, runs
from stages.references import pairings, pin, twins, unpin
from stages.store import partitions

DAYS = ("2026-11-09", "2026-11-16", "2026-11-16.2", "2026-11-23")


def run(model: str, stamp: str, protocols: tuple[str, ...] = ("two",), **changes: object) -> Run:
    facts: dict[str, object] = {
        "state": "sealed", "opened": datetime(2026, 11, 9, tzinfo=UTC), "plan": "quick", "benchmarks": ["checkup"],
        "languages": ["en"], "protocols": protocols, "styles": ["direct"], "epochs": 2,
    }  # fmt: skip
    return Run(model, stamp, Entry.model_validate(facts | changes))


@pytest.fixture
def root(project: Path) -> Path:
    for stamp in DAYS:
        record(project, run("model-a", stamp))
    record(project, run("model-a", "2026-11-30", ("two", "three")))
    record(project, run("model-b", "2026-11-01"))
    return project


def compared(root: Path) -> dict[str, set[tuple[str, str]]]:
    """Run -> (protocol, reference)."""
    ledger = read_ledger(root)
    found: dict[str, set[tuple[str, str]]] = {}
    for pairing in pairings(root, ledger, [part for each in runs(ledger) for part in partitions(each)]):
        assert [part.run for part in pairing.earlier] == [pairing.reference] * len(pairing.parts)
        found.setdefault(pairing.run.id, set()).update((part.protocol, pairing.reference.id) for part in pairing.parts)
    return found


def test_without_a_pin_the_first_run_that_asked_the_same(root: Path) -> None:
    first = {("two", "model-a@2026-11-09")}
    assert compared(root) == {f"model-a@{day}": first for day in (*DAYS[1:], "2026-11-30")}


def test_a_pinned_run_is_compared_with_by_later_ones(root: Path) -> None:
    assert pin(root, "model-a@2026-11-16").id == "model-a@2026-11-16"
    pinned = {("two", "model-a@2026-11-16")}
    assert compared(root) == {f"model-a@{day}": pinned for day in (*DAYS[2:], "2026-11-30")}


def test_another_model_s_run(root: Path) -> None:
    """The snapshot that a model came from; whichever of the two runs was earlier."""
    pin(root, "model-a@2026-11-23", "model-b")
    assert compared(root)["model-b@2026-11-01"] == {("two", "model-a@2026-11-23")}
    assert read_references(root) == {"model-b": ["model-a@2026-11-23"]}


def test_a_new_pin_takes_the_place_of_those_that_ask_any_of_the_same(root: Path) -> None:
    record(root, run("model-a", "2026-12-01", ("three",)))
    pin(root, "model-a@2026-11-09")
    pin(root, "model-a@2026-12-01")
    assert read_references(root) == {"model-a": ["model-a@2026-11-09", "model-a@2026-12-01"]}
    pin(root, "model-a@2026-11-30")
    assert read_references(root) == {"model-a": ["model-a@2026-11-30"]}


def test_unpinning(root: Path) -> None:
    before = compared(root)
    pin(root, "model-a@2026-11-16")
    assert unpin(root, "model-a@2026-11-16") == ["model-a"]
    assert read_references(root) == {}
    assert compared(root) == before
    with pytest.raises(UsageError, match="model-a@2026-11-16 is no pinned reference"):
        unpin(root, "model-a@2026-11-16")


def test_pins_outlive_what_is_written_to_the_ledger_but_not_their_run(root: Path) -> None:
    pin(root, "model-a@2026-11-16")
    record(root, run("model-c", "2026-12-01"))
    reindex(root)
    assert read_references(root) == {"model-a": ["model-a@2026-11-16"]}
    drop(root, run("model-a", "2026-11-16"))
    assert read_references(root) == {}


REFUSED = {
    "unknown run": (("model-a@2026-01-01", None), "There is no run model-a@2026-01-01"),
    "unknown model": (("model-a@2026-11-09", "nope"), "There is no model with runs 'nope'"),
    "open": (("model-a@2026-12-24", None), "Run model-a@2026-12-24 is open"),
    "retired": (("model-a@2026-12-25", None), "Run model-a@2026-12-25 is retired"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_pinned(root: Path, case: str) -> None:
    record(root, run("model-a", "2026-12-24", state="open"))
    record(root, run("model-a", "2026-12-25", retired=True))
    (name, model), message = REFUSED[case]
    with pytest.raises(UsageError, match=message):
        pin(root, name, model)
    assert read_references(root) == {}


def test_a_pin_without_its_run_is_named(root: Path) -> None:
    (root / "runs.yaml").write_text("asked: [model-a, model-b]\nreferences: {model-a: [model-a@2020-01-01]}\n", "utf-8")
    with pytest.raises(LedgerError, match=r"runs\.yaml pins model-a@2020-01-01 as the reference of model-a"):
        compared(root)
    pin(root, "model-a@2026-11-16")
    assert read_references(root) == {"model-a": ["model-a@2026-11-16"]}, "what the message says mends it"


def test_twins_asked_the_same_on_the_same_day(root: Path) -> None:
    record(root, run("model-a", "2026-11-16.3", epochs=4))
    ledger: Ledger = read_ledger(root)
    assert [twin.id for twin in twins(ledger, run("model-a", "2026-11-16"))] == ["model-a@2026-11-16.2"]
    assert twins(ledger, run("model-a", "2026-11-23")) == []
