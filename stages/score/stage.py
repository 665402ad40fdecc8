"""The stage: judgements -> scores, word profiles, comparisons, changes and effects of mitigations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import polars as pl

from stages.derive import batches
from stages.ledger import Run, read_ledger
from stages.references import Pairing, pairings
from stages.schema import (
    AGREEMENT,
    ANSWERS,
    CHANGES,
    COMPARISONS,
    EFFECTS,
    GAPS,
    JUDGEMENTS,
    MITIGATIONS,
    RUN_KEY,
    SCORES,
    TOGETHER,
    WORD_PROFILES,
)
from stages.score.changes import changes
from stages.score.gaps import VALUES, gaps
from stages.score.profiles import OFFERED, TASK, word_profiles
from stages.score.readers import SAID, WROTE, read_by
from stages.score.scoring import NEEDED, mitigations, score_and_compare
from stages.score.sides import bounded, sides
from stages.score.text_words import NEEDED as WRITTEN
from stages.score.text_words import text_profiles
from stages.score.texts import lexicon_values
from stages.stamps import Stamps
from stages.store import Partition, prune, read, recorded, write
from stages.table import Table

WRITING = "text"
"""The task whose answers are texts."""
MADE = (SCORES, WORD_PROFILES, COMPARISONS, CHANGES, EFFECTS, MITIGATIONS, GAPS, AGREEMENT)
HOME = {name: benchmarks[-1] for name, benchmarks in TOGETHER.items()}
"""Benchmarks that are scored together have no file of their own: their scores lie with those of the last of them."""


def score_all(root: Path) -> int:
    """Score every recorded partition of the ledger's runs; return how many there are.

    Word profiles, comparisons, changes and effects have a file only where there is something to say.

    :raises CheckupError: the ledger and the judgements disagree, or a file does not fit its table or its place.
    """
    stamps, ledger = Stamps.read(root, "score"), read_ledger(root)
    parts = recorded(root, ledger, JUDGEMENTS)
    _score_runs(root, parts, Readers.among(root, parts), stamps)
    _compare_runs(root, pairings(root, ledger, parts), stamps)
    for table in MADE:
        prune(root, table, stamps.outputs())
    stamps.save()
    return len(parts)


@dataclass(frozen=True)
class Readers:
    """The recorded partitions of runs that read another."""

    root: Path
    parts: Mapping[str, list[Partition]]
    """The run that is read -> those that read it."""

    @classmethod
    def among(cls, root: Path, parts: Iterable[Partition]) -> "Readers":
        found: dict[str, list[Partition]] = {}
        for part in parts:
            if part.run.entry.reads:
                found.setdefault(part.run.entry.reads, []).append(part)
        return cls(root, found)

    def of(self, run: Run) -> list[Partition]:
        """Those that read ``run``."""
        return self.parts.get(run.id, [])

    def said(self, runs: Iterable[Run]) -> pl.DataFrame:
        """The judgements of all that read one of ``runs``, with the run that each ``reads``."""
        found = [
            read(part.path(self.root, JUDGEMENTS), JUDGEMENTS).select(*SAID, pl.lit(run.id).alias("reads"))
            for run in runs
            for part in self.of(run)
        ]
        none = JUDGEMENTS.empty().select(*SAID, pl.lit(None, pl.String).alias("reads"))
        return pl.concat([none, *found])


def _score_runs(root: Path, parts: Sequence[Partition], readers: Readers, stamps: Stamps) -> None:
    """Score the runs of ``parts`` that changed; what a run was asked is compared with each other.

    Of a run's texts also those who read them say something, so that it is scored anew when another does.
    """
    runs = {run: list(own) for run, own in groupby(parts, key=lambda part: part.run)}
    sources = {run: _sources(root, [*own, *readers.of(run)]) for run, own in runs.items()}
    changed = [part for run, own in runs.items() if stamps.kept(run.id, sources[run]) is None for part in own]
    for batch in batches(root, changed, JUDGEMENTS, together=lambda part: part.run.id):
        paths = {
            path for table, frame in _made(root, batch, readers).items() for path in _written(root, batch, table, frame)
        }
        for run in dict.fromkeys(part.run for part in batch):
            folders = [run.folder(root, table) for table in MADE]
            stamps.put(run.id, sources[run], [path for path in paths if path.parent in folders])


def _compare_runs(root: Path, pairs: Sequence[Pairing], stamps: Stamps) -> None:
    """Compare the runs with their references, where one of the two changed."""
    new = [pair for pair in pairs if stamps.kept(_name(pair), _both(root, pair)) is None]
    for some in bounded(new):
        compared = [part for pair in some for part in pair.parts]
        paths = _written(root, compared, CHANGES, changes(sides(root, some)))
        for pair in some:
            own = {part.path(root, CHANGES) for part in pair.parts} & paths
            stamps.put(_name(pair), _both(root, pair), own)


def _name(pair: Pairing) -> str:
    return f"{pair.run.id} {pair.reference.id}"


def _both(root: Path, pair: Pairing) -> list[Path]:
    return _sources(root, (*pair.parts, *pair.earlier))


def _sources(root: Path, parts: Iterable[Partition]) -> list[Path]:
    return [part.path(root, table) for part in parts for table in (ANSWERS, JUDGEMENTS)]


def _made(root: Path, batch: Mapping[Partition, pl.DataFrame], readers: Readers) -> dict[Table, pl.DataFrame]:
    needed, profiles, written = [], [], []
    for part, judgements in batch.items():
        needed.append(judgements.select(NEEDED))
        picking = judgements.filter(pl.col("task") == TASK)
        if picking.height:
            profiles.append(word_profiles(picking, read(part.path(root, ANSWERS), ANSWERS).select(OFFERED)))
        written.append(judgements.filter(pl.col("task") == WRITING).select(WRITTEN))
    judged = pl.concat(needed)
    scores, compared = score_and_compare(judged)
    effects, verdicts = mitigations(judged)
    words = pl.concat([WORD_PROFILES.empty(), *profiles, text_profiles(pl.concat(written))])
    values, agreed = _read(batch, readers)
    found = gaps(pl.concat([lexicon_values(judged).select(VALUES), values]))
    made = {SCORES: scores, WORD_PROFILES: words, COMPARISONS: compared}
    return made | {EFFECTS: effects, MITIGATIONS: verdicts, GAPS: found, AGREEMENT: agreed}


def _read(batch: Mapping[Partition, pl.DataFrame], readers: Readers) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What those who read texts of ``batch`` say of them, see ``readers.read_by``."""
    needed = [*(column.name for column in RUN_KEY), *WROTE]
    texts = pl.concat(judgements.select(needed) for judgements in batch.values())
    return read_by(texts, readers.said(dict.fromkeys(part.run for part in batch)))


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
