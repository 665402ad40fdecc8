"""Builders of answers about pairs, as those of factories.py. A responder gives for each question the keys that it
chooses, in any order and joined by a space, or an outcome such as ``refusal``.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from stages.orders import order_index, orders
from stages.schema import JUDGEMENTS, MAN, TASKS, WOMAN, Outcome
from stages.structs import PICK
from tests.factories import CODES, Responder, asked_of

TASK_OF = {"trait": "pick", "language": "option"}
PAIRS = {"trait": 20, "language": 20}
"""Group of pairs -> how many situations."""


def make_pairs(
    runs: Sequence[str] = ("model-a@2026-11-30",),
    language: str = "en",
    epochs: int = 6,
    groups: dict[str, int] = PAIRS,
) -> pl.DataFrame:
    """The grid of every run: each situation about a woman and about a man, ``epochs`` times, both in the same orders.

    Columns: those of JUDGEMENTS that are known before a reply, and ``shown``, the options' keys in the order shown.
    """
    rows = [
        {**item, "variant": variant, "epoch": epoch, "order_index": index, "turn": 1, "shown": _shown(domain, index)}
        for domain, count in groups.items()
        for item in (_item(domain, i) for i in range(count))
        for variant in (WOMAN, MAN)
        for epoch in range(1, epochs + 1)
        for index in [order_index(item["item_id"], epoch, len(orders(len(CODES[domain]))))]
    ]
    return asked_of(runs, language, "closed", pl.DataFrame(rows))


def _item(domain: str, i: int) -> dict[str, str]:
    name = f"{domain}-situation-{i}"
    facts = {"item_id": name, "target": name, "domain": domain, "task": TASK_OF[domain]}
    return {**facts, "style": "direct", "typed": "none", "status": "none"}


def _shown(domain: str, index: int) -> list[str]:
    keys = list(CODES[domain])
    return [keys[i] for i in orders(len(keys))[index]]


def judged_pairs(questions: pl.DataFrame, replies: pl.Series) -> pl.DataFrame:
    """JUDGEMENTS of ``questions`` answered by ``replies``, without fail."""
    asked = questions.with_row_index("row").with_columns(replies.alias("said"))
    frame = asked.join(_picks(asked), on="row", how="left")
    chosen = pl.col("picks").is_not_null()
    keys = pl.col("picks").list.eval(pl.element().struct.field("key"))
    only = pl.when(pl.col("task") == "option").then(pl.col("picks").list.first().struct.field("position"))
    outcome = pl.when(chosen).then(pl.lit(Outcome.PAIRED)).otherwise("said")
    return JUDGEMENTS.conform(
        frame.select(
            *(c for c in JUDGEMENTS.schema.names() if c in questions.columns),
            pl.when(outcome != Outcome.ERROR).then(pl.lit("served-1")).alias("served_model"),
            pl.col("shown").list.len().cast(pl.Int64).alias("n_options"),
            keys.list.sort().list.join(" ").alias("choice"),
            only.alias("position"),
            pl.when(outcome.is_in(["refusal", "filtered"])).then(0).cast(pl.Int8).alias("gender"),
            pl.col("picks").cast(pl.List(PICK)),
            pl.col("code"),
            pl.lit(None, pl.Int64).alias("prefers_related"),
            outcome.alias("outcome"),
            pl.lit("given").alias("reason"),
            pl.when(chosen).then(pl.lit("option")).alias("answer_form"),
            pl.lit(False).alias("reasoning_only"),
            *(pl.lit(None, JUDGEMENTS.schema[name]).alias(name) for name in ("n_words", "counts")),
            pl.lit(None, pl.Float64).alias("log_odds"),
            pl.when(chosen).then(keys.list.join(", ")).alias("reply"),
        )
    )


def _picks(asked: pl.DataFrame) -> pl.DataFrame:
    codes = [{"domain": d, "key": key, "code": code} for d, keys in CODES.items() for key, code in keys.items()]
    shown = asked.select(
        *("row", "domain", "said"),
        pl.col("shown").alias("key"),
        pl.int_ranges(1, pl.col("shown").list.len() + 1).alias("position"),
    ).explode("key", "position", empty_as_null=False)
    picked = shown.filter(pl.col("said").str.split(" ").list.contains(pl.col("key")))
    coded = picked.join(pl.DataFrame(codes), on=["domain", "key"], maintain_order="left")
    return coded.group_by("row").agg(
        pl.struct("key", "position", pl.col("code").cast(pl.Int8)).sort_by("position").alias("picks"),
        pl.col("code").sum(),
    )


def pair_judgements(responder: Responder, questions: pl.DataFrame | None = None, *, seed: int = 1) -> pl.DataFrame:
    """JUDGEMENTS of ``responder`` over ``questions`` (default: the whole grid, one run)."""
    asked = make_pairs() if questions is None else questions
    return judged_pairs(asked, responder(asked, np.random.default_rng(seed)))


def traditional(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:  # noqa: ARG001
    """Says of a man all that is coded +1, of a woman all that is coded −1."""
    return _coded(questions, {MAN: 1, WOMAN: -1})


def untraditional(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:  # noqa: ARG001
    return _coded(questions, {MAN: -1, WOMAN: 1})


def _coded(questions: pl.DataFrame, wanted: dict[str, int]) -> pl.Series:
    said = {
        (domain, side): " ".join([key for key, code in keys.items() if code == wanted[side]][: TASKS[TASK_OF[domain]]])
        for domain, keys in CODES.items()
        for side in (WOMAN, MAN)
    }
    names = {f"{domain} {side}": reply for (domain, side), reply in said.items()}
    return questions.select(pl.concat_str("domain", "variant", separator=" ").replace_strict(names)).to_series()


def first_shown(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:  # noqa: ARG001
    return questions.select(pl.col("shown").list.head(_wanted()).list.join(" ")).to_series()


def last_shown(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:  # noqa: ARG001
    return questions.select(pl.col("shown").list.tail(_wanted()).list.join(" ")).to_series()


def blind(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:
    """Picks at random, whoever it is about."""
    wanted = questions.select(_wanted()).to_series()
    chosen = [rng.permutation(shown)[:k] for shown, k in zip(questions["shown"].to_list(), wanted, strict=True)]
    return pl.Series([" ".join(keys) for keys in chosen])


def _wanted() -> pl.Expr:
    return pl.col("task").replace_strict(TASKS, return_dtype=pl.Int64)


def tending(mean: float, spread: float) -> Responder:
    """Answers as ``traditional`` with a chance of its own for each situation of a run: uniform in mean ± spread (0…1)."""

    def respond(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:
        situation = questions.select(pl.struct("run", "target").rank("dense") - 1).to_series().to_numpy()
        chance = rng.uniform(mean - spread, mean + spread, situation.max() + 1)[situation]
        fits = pl.Series(rng.random(questions.height) < chance)
        return traditional(questions, rng).zip_with(fits, untraditional(questions, rng))

    return respond


def about(side: str, said: Responder, otherwise: Responder) -> Responder:
    """Answers as ``said`` about one side, as ``otherwise`` about the other."""

    def respond(questions: pl.DataFrame, rng: np.random.Generator) -> pl.Series:
        here = questions["variant"] == side
        return said(questions, rng).zip_with(here, otherwise(questions, rng))

    return respond
