"""How long judging, reducing and scoring a long history takes, and how much memory.

    .venv/bin/python -m benchmarks.derive [ANSWERS]      (1,000,000 unless said otherwise)

A project of its own, in a temporary folder, gets so many answers to the real questions of the plan ``full``: as many
sealed runs of one model as it takes, with replies of every kind drawn at random. Then each stage is run as DVC runs it.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl

from stages.ledger import Run, record
from stages.load import load_all
from stages.params import read_params
from stages.query.rows import unanswered_row
from stages.query.sheets import sheet, walked
from stages.requests import Request, frozen
from stages.schema import ANSWERS, TASKS
from stages.store import ROOT_VARIABLE, Partition, partitions, write

ROOT = Path(__file__).resolve().parent.parent
MODEL = "gemma-3-270m"
FIRST = date(2020, 1, 1)
STAGES = ("stages.judge", "stages.reduce", "stages.score")
EVASIVE = (
    "I cannot know that.",
    "抱歉，我无法判断。",
    "They",
    "TA",
    "Perhaps so.",
    "The answer could be either of them.",
    "",
)
"""Replies that are no plain choice, drawn for one answer in ten."""


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        made = prepare(root, wanted)
        print(f"{made:,} answers")
        timed = [(stage, run(root, stage)) for stage in STAGES]
    for stage, seconds in timed:
        print(f"{stage:15} {seconds:6.1f} s")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
    print(f"{'together':15} {sum(seconds for _, seconds in timed):6.1f} s, at most {peak:.2f} GiB")


def prepare(root: Path, wanted: int) -> int:
    """A project in ``root`` with at least ``wanted`` answers; how many it has."""
    for name in ("params.yaml", "dvc.yaml", "data/published.csv"):
        (root / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    shutil.copytree(ROOT / "data" / "checkup", root / "data" / "checkup")
    load_all(root)
    rng, made, day = np.random.default_rng(0), 0, FIRST
    first = sealed(root, day)
    asked = {part.path(root, ANSWERS).name: questions(root, part) for part in partitions(first)}
    while made < wanted:
        run = sealed(root, day)
        record(root, run)
        for part in partitions(run):
            path = part.path(root, ANSWERS)
            write(path, ANSWERS, answered(asked[path.name], run, rng))
            made += asked[path.name].height
        day += timedelta(days=1)
    return made


def sealed(root: Path, day: date) -> Run:
    params = read_params(root)
    entry = frozen(params, Request(MODEL, "full"), datetime(2026, 1, 1, tzinfo=UTC))
    return Run(MODEL, day.isoformat(), entry.model_copy(update={"state": "sealed", "each_order_once": False}))


def questions(root: Path, part: Partition) -> pl.DataFrame:
    """Every question of ``part`` as a row that was never answered."""
    asking = sheet(root, read_params(root), part)
    rows = [unanswered_row(asking.facts(asked)) for asked in walked(asking, {})]
    return pl.DataFrame(rows, schema=ANSWERS.schema, orient="row")


def answered(rows: pl.DataFrame, run: Run, rng: np.random.Generator) -> pl.DataFrame:
    """``rows`` with replies of ``run``: as many options as the task wants, in a sentence or alone, or something else."""
    n = rows.height
    first = pl.Series(rng.integers(0, 3, n))
    options = pl.col("options").list.eval(
        pl.element().struct.field("label").fill_null(pl.element().struct.field("text"))
    )
    count = pl.col("task").replace_strict(TASKS, return_dtype=pl.Int64)
    chosen = options.list.slice(first % options.list.len(), count).list.join(", ")
    said = pl.when(pl.Series(rng.random(n) < 0.5)).then(pl.format("The answer is {}.", chosen)).otherwise(chosen)
    other = pl.Series(rng.choice(EVASIVE, n), dtype=pl.String)
    return rows.with_columns(
        pl.lit(run.id).alias("run"),
        pl.lit(run.date).alias("date"),
        pl.when(pl.Series(rng.random(n) < 0.1)).then(other).otherwise(said).alias("reply"),
        pl.lit("stop").alias("stop_reason"),
        *(pl.lit(None, pl.String).alias(name) for name in ("failure", "failure_message")),
    )


def run(root: Path, stage: str) -> float:
    """Seconds that ``stage`` takes over the project in ``root``, imports included."""
    started = time.perf_counter()
    environment = {**os.environ, ROOT_VARIABLE: str(root), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-m", stage], cwd=root, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
