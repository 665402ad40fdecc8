"""Contracts on items: those that hold for every benchmark, and which benchmark brings which of its own."""

from collections.abc import Callable

import polars as pl

from stages.datasets import BENCHMARKS as FETCHED
from stages.errors import DataError
from stages.schema import ITEMS, STATUSES, TASKS, TYPED, VARIANTS
from stages.validate import checkup, open_answers, stereoset
from stages.validate.contracts import Checkable, absent, between, closed, contract, like, present, unique
from stages.validate.offered import options_defect
from stages.validate.tables import required, unreal_column

OWN: dict[str, Callable[[pl.DataFrame, str], list[Checkable]]] = {
    checkup.FORM_A.benchmark: checkup.form_a,
    checkup.FORM_B.benchmark: checkup.form_b,
    open_answers.BENCHMARK: open_answers.contracts,
    **{f"stereoset-{task}": stereoset.contracts(task) for task in stereoset.CLUSTERS},
}
"""Benchmark -> function from its items and their file to the contracts that only it has."""


def contracts(benchmark: str, items: pl.DataFrame, file: str) -> list[Checkable]:
    """The contracts on the items of ``benchmark``, as they stand in ``file``; the general ones first.

    Where the benchmark's source is fetched and was not yet, there are no items, and nothing to hold them to.

    :raises DataError: the benchmark has no contracts of its own, so its items could not be trusted.
    """
    if benchmark not in OWN:
        raise DataError(
            f"Benchmark {benchmark!r} has no contracts, so its items cannot be asked; add them to stages/validate/items.py."
        )
    if benchmark in FETCHED and items.is_empty():
        return []
    return [_general(benchmark, items, file), *OWN[benchmark](items, file)]


def _general(benchmark: str, items: pl.DataFrame, file: str) -> Checkable:
    rules = contract(
        f"items-{benchmark}",
        ITEMS.grain[1:],
        present(*(c for c in required(ITEMS) if c != "options")),
        closed("benchmark", [benchmark]),
        unique(*ITEMS.grain),
        closed("typed", TYPED),
        closed("status", STATUSES),
        closed("variant", VARIANTS),
        closed("task", TASKS),
        like("item_id", r"^\S+$", "item_id has no spaces"),
        absent("spaced_key", "no answer's key has spaces, which part the keys of several"),
        absent("options_defect", "an item offers at least two answers, and none where a text is wanted"),
        like("item_hash", "^[0-9a-f]{16}$", "item_hash is 16 hexadecimal digits"),
        between("women_share", 0, 100, nullable=True),
        absent("unreal_column", "no number is NaN or infinite"),
    )
    keys = pl.col("options").list.eval(pl.element().struct.field("key"))
    spaced = keys.list.eval(pl.element().filter(~pl.element().str.contains(r"^\S+$"))).list.first()
    facts = items.with_columns(
        options_defect().alias("options_defect"),
        spaced.alias("spaced_key"),
        unreal_column(ITEMS).alias("unreal_column"),
    )
    return Checkable(rules, facts.drop("options"), file)
