"""What others measured or collected as a sealed run; scores of others have the access route ``imported``.

An imported run has a plan and a protocol of its own, so nothing that was asked here is ever taken for one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from stages.entries import Entry, stamp
from stages.errors import DataError, UsageError
from stages.ledger import Run, counted, further_stamp, read_ledger, record, runs
from stages.params import Model
from stages.roster import enrol
from stages.schema import ANSWERS, ITEM_FACTS, NO_STYLE, SCHEMA_VERSION, SCORED
from stages.store import Partition, exclusive, read, write

IMPORTED = "imported"
"""The plan and the protocol of an imported run."""


@dataclass(frozen=True)
class Scored:
    """What is imported for one benchmark and language: its items, and the ``candidates`` of each (by ``item_id``)."""

    benchmark: str
    language: str
    items: pl.DataFrame
    candidates: pl.DataFrame


@dataclass(frozen=True)
class Origin:
    """Where imported scores came from: the name of the format, and the file."""

    form: str
    file: str
    content: bytes

    @property
    def collector(self) -> str:
        digest = sha256(self.content).hexdigest()
        return f"bias-checkup {version('bias-checkup')}, {self.form} from {self.file}, SHA-256 {digest}"


def import_scores(root: Path, key: str, date: str, parts: list[Scored], origin: Origin) -> tuple[Run, list[str]]:
    """Record ``parts`` as answers of model ``key`` on ``date``; return the run and the benchmarks that were not there yet.

    A model that is not in params.yaml joins it.

    :raises UsageError: ``date`` is no day, or ``key`` cannot name a model.
    :raises DataError: the run has other scores for one of them already.
    """

    def frames(run: Run, model: Model) -> dict[Partition, pl.DataFrame]:
        return {_partition(run, part): _frame(run, key, model, part, origin) for part in parts}

    taken = Taken(_entry(parts), frames, ("item_id", "item_hash", "candidates"), "scores", origin.file)
    run, new = take_in(root, key, date, taken)
    return run, [part.benchmark for part in new]


@dataclass(frozen=True)
class Taken:
    """What is taken in as a run of its own: its entry, and its answers once run and model are known."""

    entry: Entry
    frames: Callable[[Run, Model], Mapping[Partition, pl.DataFrame]]
    """Rows of ``schema.ANSWERS``."""
    same: tuple[str, ...]
    """The columns in which answers are the same when the same file is imported again."""
    called: str
    """What the answers are, for the sentence: scores, answers."""
    file: str
    model: Model | None = None
    """Who gave them, where that is nobody to be enrolled in params.yaml, as a person is."""


def take_in(root: Path, key: str, date: str, taken: Taken) -> tuple[Run, list[Partition]]:
    """Record ``taken`` as a sealed run of model ``key`` on ``date``; return it and the partitions that were not there yet.

    A run of that day that was taken in under the same plan grows by it. A model that is not in params.yaml joins it, unless
    ``taken`` brings its own.

    :raises UsageError: ``date`` is no day, or ``key`` cannot name a model.
    :raises DataError: the run has other answers for one of the partitions already.
    """
    day = _day(date)
    with exclusive(root):
        model = taken.model or enrol(root, key)
        run = _run(root, key, day, taken.entry)
        found = taken.frames(run, model)
        new = [part for part, frame in found.items() if not _is_there(root, part, frame, taken)]
        for part in new:
            write(part.path(root, ANSWERS), ANSWERS, found[part])
        run = counted(root, run)
        record(root, run)
        return run, new


def _day(date: str) -> str:
    try:
        if stamp(date) == date[:10]:
            return date
        raise ValueError(f"{date!r} names a further run of a day")
    except ValueError as error:
        raise UsageError(f"--date: {error}; write it as YYYY-MM-DD.") from error


def _run(root: Path, key: str, date: str, entry: Entry) -> Run:
    """The run of that day that asks the same as ``entry``, grown by it; a new one where there is none."""
    same_day = [run for run in runs(read_ledger(root), retired=True) if run.model == key and run.date == date]
    for run in same_day:
        if run.entry.same_questions(entry) and not run.entry.retired:
            return replace(run, entry=run.entry.grown(entry)).with_state("sealed")
    return Run(key, further_stamp(same_day, date), entry)


def _entry(parts: list[Scored]) -> Entry:
    return Entry(
        state="sealed",
        opened=datetime.now(UTC).replace(microsecond=0),
        plan=IMPORTED,
        benchmarks=tuple(dict.fromkeys(part.benchmark for part in parts)),
        languages=tuple(dict.fromkeys(part.language for part in parts)),
        protocols=(IMPORTED,),
        styles=(NO_STYLE,),
        epochs=1,
        limit=None,
    )


def _partition(run: Run, part: Scored) -> Partition:
    return Partition(run, part.benchmark, part.language, IMPORTED)


def _is_there(root: Path, part: Partition, frame: pl.DataFrame, taken: Taken) -> bool:
    """Whether the run has these very answers already.

    :raises DataError: it has others.
    """
    path = part.path(root, ANSWERS)
    if not path.exists():
        return False
    if read(path, ANSWERS).select(taken.same).equals(ANSWERS.conform(frame).select(taken.same)):
        return True
    run, giver = part.run.id, "--rater" if taken.model else "--model"
    raise DataError(
        f"Run {run} has other {taken.called} of {part.benchmark} in {part.language} than {taken.file}; take another --date or "
        f"{giver}, or remove it first with: checkup forget {run}."
    )


def _frame(run: Run, key: str, model: Model, part: Scored, origin: Origin) -> pl.DataFrame:
    """One answer per item, rows of ``schema.ANSWERS``: its candidates' scores, and no reply."""
    of_item = ("item_id", "variant", *(column.name for column in ITEM_FACTS), "task", "text", "options", "item_hash")
    constants = {**_constants(run, part, origin), **of_model(key, model)}
    typed = [pl.lit(value, ANSWERS.schema[name]).alias(name) for name, value in constants.items()]
    known = part.items.select(of_item).join(part.candidates, on="item_id").with_columns(typed)
    missing = [pl.lit(None, c.dtype).alias(c.name) for c in ANSWERS.columns if c.name not in known.columns]
    return known.with_columns(missing).select(ANSWERS.schema.names())


def _constants(run: Run, part: Scored, origin: Origin) -> Mapping[str, Any]:
    return {
        "run": run.id,
        "date": run.date,
        "benchmark": part.benchmark,
        "language": part.language,
        "protocol": IMPORTED,
        "epoch": 1,
        "order_index": 0,
        "turn": 1,
        "protocol_hash": _hash(f"{IMPORTED} {origin.form}"),
        "prompt_hash": _hash(""),
        "prompt": "",
        "stop_reason": SCORED,
        "params_requested": "{}",
        "params_sent": "{}",
        "attempts": 0,
        "asked_at": f"{run.date}T00:00:00.000+00:00",
        "access_route": IMPORTED,
        "collector": origin.collector,
        "schema_version": SCHEMA_VERSION,
    }


def of_model(key: str, model: Model) -> Mapping[str, Any]:
    """The columns of an answer that are its model's."""
    return {
        "model": key,
        "requested_model": model.name(key),
        "vendor": model.vendor,
        "country": model.country,
        "region": model.region,
    }


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
