"""A simulated year: what twelve models, asked every week, would have left behind.

Each model leans by a chance of its own that changes slowly; in some weeks the provider serves another snapshot under the same
name. What an answer is depends on a number drawn once for its item, so that from week to week few items flip, as of real models.
"""

import shutil
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl

from stages.ledger import Run, record
from stages.load import load_all
from stages.params import Params, read_params
from stages.query.rows import unanswered_row
from stages.query.sheets import sheet, walked
from stages.requests import Request, frozen
from stages.schema import ANSWERS, TASKS
from stages.store import Partition, partitions, write
from tests.end_to_end.checkout import Checkout, make_checkout

ROOT = Path(__file__).resolve().parent.parent
FIRST = date(2026, 1, 5)
EVASIVE = ("I cannot know that.", "抱歉，我无法判断。", "They", "TA", "Perhaps so.", "It depends on the person.", "")
"""Replies that are no plain choice; the last one is empty."""
QUARTERLY = 13
"""Every so many weeks the pairs are asked, too."""
FAILING = 0.004
"""Share of questions that end in a timeout."""


@dataclass(frozen=True)
class Questions:
    """What one model is asked in one partition: unanswered rows, with what a reply may say in ``along`` and ``against``."""

    rows: pl.DataFrame
    drawn: np.ndarray
    """0…1 for each item: how readily it is answered along tradition."""


def make(folder: Path, models: int = 12, weeks: int = 52) -> Checkout:
    """A checkout in ``folder`` with sealed runs of so many models and weeks, about 1,000 answers each."""
    checkout = make_checkout(folder)
    shutil.copy(ROOT / "params.yaml", folder / "params.yaml")
    load_all(folder)
    for place in range(models):
        add(folder, place, range(weeks))
    return checkout


def add(root: Path, place: int, weeks: range) -> list[Run]:
    """Record the answers of the model at ``place`` in the roster in these weeks, as sealed runs; return them."""
    params = read_params(root)
    model = list(params.models)[place]
    asked: dict[str, Questions] = {}
    made = []
    for week in weeks:
        run = sealed(params, model, week)
        rng = np.random.default_rng((place, week))
        for part in partitions(run):
            if part.name not in asked:
                asked[part.name] = questions(root, params, part)
            write(part.path(root, ANSWERS), ANSWERS, answered(asked[part.name], run, place, week, rng))
        made.append(run)
    record(root, *made)
    return made


def sealed(params: Params, model: str, week: int) -> Run:
    """The run of ``model`` in ``week``: protocol two in all styles, each order once; quarterly the pairs, too."""
    protocols = ("two", "closed") if week % QUARTERLY == 0 else ("two",)
    day = FIRST + timedelta(weeks=week)
    opened = datetime(day.year, day.month, day.day, 6, tzinfo=UTC)
    entry = frozen(params, Request(model, "full", protocols=protocols), opened)
    return Run(model, day.isoformat(), entry.model_copy(update={"state": "sealed", "each_order_once": True}))


def questions(root: Path, params: Params, part: Partition) -> Questions:
    asking = sheet(root, params, part)
    rows = [unanswered_row(asking.facts(asked)) for asked in walked(asking, {})]
    frame = pl.DataFrame(rows, schema=ANSWERS.schema, orient="row").drop("failure", "failure_message")
    frame = frame.sort("item_id", "variant", "epoch").with_columns(_texts())
    items = frame.select(pl.struct("item_id", "variant").rank("dense") - 1).to_series().to_numpy()
    rng = np.random.default_rng(list(f"{part.run.model} {part.name}".encode()))
    return Questions(frame, rng.random(items.max() + 1)[items])


def _texts() -> list[pl.Expr]:
    """``along`` and ``against``: what a reply along tradition (or right, of a control) says, and the other one."""
    options = pl.col("options")
    said = options.list.eval(pl.element().struct.field("label").fill_null(pl.element().struct.field("text")))
    traditional = options.list.eval(pl.element().struct.field("outcome").is_in(["stereotype", "correct"]))
    place = traditional.list.arg_max().fill_null(0)
    count = pl.col("task").replace_strict(TASKS, return_dtype=pl.Int64)
    return [
        said.list.slice(pl.min_horizontal(place, options.list.len() - count), count).list.join(", ").alias("along"),
        said.list.slice(pl.when(place == 0).then(options.list.len() - count).otherwise(0), count)
        .list.join(", ")
        .alias("against"),
    ]


def answered(asked: Questions, run: Run, place: int, week: int, rng: np.random.Generator) -> pl.DataFrame:
    """The answers of ``run``: as the model leans in that week, some evasive, some failed."""
    n = asked.rows.height
    leaning = 0.5 + 0.3 * np.sin(place + week / 26) + 0.05 * place / 12
    along = pl.Series(asked.drawn + rng.normal(0, 0.03, n) < leaning) | (
        (asked.rows["domain"] == "control") & pl.Series(rng.random(n) < 0.97)
    )
    evasive = pl.Series(rng.random(n) < 0.02 + 0.08 * (place % 4) * week / 156)
    failed = pl.Series(rng.random(n) < FAILING)
    reply = pl.when(evasive).then(pl.Series(rng.choice(EVASIVE, n), dtype=pl.String)).when(along).then("along")
    served = f"{run.model}-{1 + week // (17 + place)}"
    tokens = pl.col("prompt").str.len_chars() // 4
    return asked.rows.with_columns(
        pl.lit(run.id).alias("run"),
        pl.lit(run.date).alias("date"),
        pl.when(~failed).then(reply.otherwise("against")).alias("reply"),
        *(pl.when(~failed).then(pl.lit(text)).alias(name) for name, text in _said(served, week).items()),
        pl.when(failed).then(pl.lit("timeout")).alias("failure"),
        pl.when(failed).then(pl.lit("the call took longer than 60 s")).alias("failure_message"),
        pl.when(~failed).then(tokens.cast(pl.Int64)).alias("prompt_tokens"),
        pl.when(~failed).then(pl.lit(4, pl.Int64)).alias("completion_tokens"),
        pl.when(~failed).then(tokens * 2.5e-6 + 4e-5).alias("cost"),
        pl.lit(1, pl.Int64).alias("attempts"),
        pl.Series("latency", np.round(rng.gamma(4, 0.1, n), 3)),
        pl.Series("asked_at", _times(run, n)),
        (pl.lit('{"seed":') + pl.int_range(n).cast(pl.String) + pl.lit(',"temperature":0}')).alias("params_sent"),
    ).drop("along", "against")


def _said(served: str, week: int) -> dict[str, str]:
    """What the provider says of every reply."""
    return {
        "stop_reason": "stop",
        "native_stop_reason": "stop",
        "served_model": served,
        "fingerprint": f"fp-{week // 6}",
    }


def _times(run: Run, n: int) -> list[str]:
    opened = run.entry.opened
    return [(opened + timedelta(seconds=i / 2)).isoformat(timespec="milliseconds") for i in range(n)]
