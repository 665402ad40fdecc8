"""Deriving one recorded table from another: the partitions of the source become the same partitions of the target."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

import polars as pl

from stages.errors import DataError
from stages.ledger import read_ledger
from stages.stamps import Stamps
from stages.store import Partition, prune, read, recorded, write
from stages.table import Table

Function = Callable[[pl.DataFrame], pl.DataFrame]
KEY = ("run", "benchmark", "language", "protocol")
BATCH = 100_000
"""Rows at which a batch is full: the fixed cost of a call no longer counts, and memory stays bounded."""


def derive(root: Path, stage: str, source: Table, target: Table, function: Function) -> int:
    """Make ``target`` of every recorded partition of ``source`` and return how many rows it has.

    ``function`` gets the rows of several partitions at once and returns rows with the same ``KEY``. A partition stays as it is
    while its source and the code of ``stage`` are what it was made of.

    :raises CheckupError: the ledger and the files disagree, or a file does not fit its table or its place.
    """
    stamps = Stamps.read(root, stage)
    parts = recorded(root, read_ledger(root), source)
    changed = [part for part in parts if stamps.kept(str(part), [part.path(root, source)]) is None]
    for batch in batches(root, changed, source):
        rows = function(pl.concat(batch.values())).partition_by(KEY, as_dict=True)
        for part in batch:
            frame = rows.get(_key(part), target.empty())
            write(part.path(root, target), target, frame)
            stamps.put(str(part), [part.path(root, source)], [part.path(root, target)], note=frame.height)
    prune(root, target, stamps.outputs())
    stamps.save()
    return sum(unit.note for unit in stamps.seen.values())


def batches(
    root: Path, parts: Iterable[Partition], source: Table, together: Callable[[Partition], object] = lambda part: part
) -> Iterator[dict[Partition, pl.DataFrame]]:
    """The partitions with their rows, as many at a time as make a full batch.

    Neighbours of which ``together`` says the same are never in two batches.

    :raises DataError: a file does not fit its table or its place.
    """
    batch: dict[Partition, pl.DataFrame] = {}
    for _, found in groupby(parts, key=together):
        batch |= {part: _rows(root, part, source) for part in found}
        if sum(frame.height for frame in batch.values()) >= BATCH:
            yield batch
            batch = {}
    if batch:
        yield batch


def _rows(root: Path, part: Partition, source: Table) -> pl.DataFrame:
    path = part.path(root, source)
    frame = read(path, source)
    strange = frame.filter(pl.concat_str(KEY, separator="\n") != "\n".join(_key(part)))
    if strange.height:
        found = " ".join(strange.select(KEY).row(0))
        raise DataError(f"{path.relative_to(root)} has rows of {found}; put the file where it belongs.")
    return frame


def _key(part: Partition) -> tuple[str, str, str, str]:
    return part.run.id, part.benchmark, part.language, part.protocol
