"""load: source files -> items. One module per benchmark; a new benchmark is a module and a line in ``LOADERS``."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl

from stages.load import checkup, open_answers, stereoset
from stages.load.published import published
from stages.params import known, read_params
from stages.schema import ITEMS, PUBLISHED
from stages.store import items_path, prune, published_path, write

LOADERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    checkup.BENCHMARK: checkup.items,
    checkup.FORM_B: checkup.form_b,
    open_answers.BENCHMARK: open_answers.items,
    **{benchmark: partial(stereoset.fetched, task) for benchmark, task in stereoset.BENCHMARKS.items()},
}
"""Benchmark -> function from the project's ``data`` folder to its items."""

__all__ = ["LOADERS", "items", "load_all"]


def items(root: Path, benchmark: str) -> pl.DataFrame:
    """The items of ``benchmark`` as their sources have them today, rows of ``schema.ITEMS``.

    :raises UsageError: nothing loads that benchmark.
    :raises DataError: a source file is missing, lacks a column, or has a row that does not fit; the message names it.
    """
    loader = LOADERS[known("loader for benchmark", benchmark, list(LOADERS))]
    return ITEMS.conform(loader(root / "data"), benchmark)


def load_all(root: Path) -> dict[str, int]:
    """Write the items of every benchmark that params.yaml names, and other people's figures; return how many rows each has.

    Items of a benchmark that it no longer names are deleted.

    :raises DataError: a source file is missing, lacks a column, or has a row that does not fit; the message names it.
    """
    counts = {}
    for benchmark in read_params(root).benchmarks:
        frame = items(root, benchmark)
        write(items_path(root, benchmark), ITEMS, frame)
        counts[benchmark] = frame.height
    prune(root, ITEMS, {items_path(root, benchmark) for benchmark in counts})
    figures = published(root / "data")
    write(published_path(root), PUBLISHED, figures)
    return counts | {"published figures": figures.height}
