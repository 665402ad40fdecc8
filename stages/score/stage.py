"""The stage: judgements -> scores, word profiles and comparisons."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

import polars as pl

from stages.derive import batches
from stages.ledger import read_ledger
from stages.schema import ANSWERS, COMPARISONS, JUDGEMENTS, SCORES, TOGETHER, WORD_PROFILES
from stages.score.profiles import OFFERED, TASK, word_profiles
from stages.score.scoring import NEEDED, score_and_compare
from stages.stamps import Stamps
from stages.store import Partition, prune, read, recorded, write
from stages.table import Table

MADE = (SCORES, WORD_PROFILES, COMPARISONS)
HOME = {name: benchmarks[-1] for name, benchmarks in TOGETHER.items()}
"""Benchmarks that are scored together have no file of their own: their scores lie with those of the last of them."""


def score_all(root: Path) -> int:
    """Score every recorded partition of the ledger's runs; return how many there are.

    Word profiles and comparisons have a file only where there is something to say.

    :raises CheckupError: the ledger and the judgements disagree, or a file does not fit its table or its place.
    """
    stamps = Stamps.read(root, "score")
    parts = recorded(root, read_ledger(root), JUDGEMENTS)
    runs = {run: list(own) for run, own in groupby(parts, key=lambda part: part.run)}
    changed = [part for run, own in runs.items() if stamps.kept(run.id, _sources(root, own)) is None for part in own]
    # What a run was asked is compared with each other.
    for batch in batches(root, changed, JUDGEMENTS, together=lambda part: part.run.id):
        paths = {path for table, frame in _made(root, batch).items() for path in _written(root, batch, table, frame)}
        for run in dict.fromkeys(part.run for part in batch):
            folders = [run.folder(root, table) for table in MADE]
            stamps.put(run.id, _sources(root, runs[run]), [path for path in paths if path.parent in folders])
    for table in MADE:
        prune(root, table, stamps.outputs())
    stamps.save()
    return len(parts)


def _sources(root: Path, parts: Iterable[Partition]) -> list[Path]:
    return [part.path(root, table) for part in parts for table in (ANSWERS, JUDGEMENTS)]


def _made(root: Path, batch: Mapping[Partition, pl.DataFrame]) -> dict[Table, pl.DataFrame]:
    needed, profiles = [], []
    for part, judgements in batch.items():
        needed.append(judgements.select(NEEDED))
        picking = judgements.filter(pl.col("task") == TASK)
        if picking.height:
            profiles.append(word_profiles(picking, read(part.path(root, ANSWERS), ANSWERS).select(OFFERED)))
    scores, compared = score_and_compare(pl.concat(needed))
    return {SCORES: scores, WORD_PROFILES: pl.concat([WORD_PROFILES.empty(), *profiles]), COMPARISONS: compared}


def _written(root: Path, parts: Iterable[Partition], table: Table, frame: pl.DataFrame) -> set[Path]:
    """Write the rows of each partition, for scores also where there are none; return the files."""
    at_home = frame.with_columns(pl.col("benchmark").replace(HOME).alias("home"))
    rows = at_home.partition_by("run", "home", "language", "protocol", as_dict=True)
    paths = set()
    for part in parts:
        own = rows.get((part.run.id, part.benchmark, part.language, part.protocol))
        if own is not None or table is SCORES:
            path = part.path(root, table)
            write(path, table, table.empty() if own is None else own.drop("home"))
            paths.add(path)
    return paths
