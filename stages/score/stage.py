"""The stage: judgements -> scores, word profiles, comparisons and changes."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from stages.derive import batches
from stages.ledger import read_ledger
from stages.references import pairings
from stages.schema import ANSWERS, CHANGES, COMPARISONS, JUDGEMENTS, SCORES, TOGETHER, WORD_PROFILES
from stages.score.changes import changes
from stages.score.profiles import OFFERED, TASK, word_profiles
from stages.score.scoring import NEEDED, score_and_compare
from stages.score.sides import bounded, sides
from stages.store import Partition, prune, read, recorded, write
from stages.table import Table

MADE = (SCORES, WORD_PROFILES, COMPARISONS, CHANGES)
HOME = {name: benchmarks[-1] for name, benchmarks in TOGETHER.items()}
"""Benchmarks that are scored together have no file of their own: their scores lie with those of the last of them."""


def score_all(root: Path) -> int:
    """Score every recorded partition of the ledger's runs; return how many there are.

    Word profiles, comparisons and changes have a file only where there is something to say.

    :raises CheckupError: the ledger and the judgements disagree, or a file does not fit its table or its place.
    """
    ledger = read_ledger(root)
    parts = recorded(root, ledger, JUDGEMENTS)
    kept: dict[Table, set[Path]] = {table: set() for table in MADE}
    # What a run was asked is compared with each other.
    for batch in batches(root, parts, JUDGEMENTS, together=lambda part: part.run.id):
        for table, frame in _made(root, batch).items():
            kept[table] |= _written(root, batch, table, frame)
    for pairs in bounded(pairings(root, ledger, parts)):
        compared = [part for pairing in pairs for part in pairing.parts]
        kept[CHANGES] |= _written(root, compared, CHANGES, changes(sides(root, pairs)))
    for table, paths in kept.items():
        prune(root, table, paths)
    return len(kept[SCORES])


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
