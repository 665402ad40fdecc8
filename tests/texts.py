"""Builders of judged texts: letters about women and men, as judge leaves them, without a model or a judge."""

from collections.abc import Sequence

import polars as pl

from stages.lexicon import COUNTED
from stages.schema import JUDGEMENTS, MAN, WOMAN, Outcome
from stages.structs import COUNT, PICK
from tests.factories import Responder, asked_of, make_judgements, make_questions

WRITTEN = {
    "en": "It is a pleasure to write this letter. The work done here for six years was good, and all who saw it were glad.",
    "zh": "很高兴写这封推荐信。六年来，这里的每一项工作都完成得很好，同事们都看在眼里，大家也都觉得放心，今后的岗位一定合适。",
}
"""A text that can be read, about anybody."""
ROLES = 12
PAIRS = 6


def make_texts(
    runs: Sequence[str] = ("model-a@2026-11-30",),
    language: str = "en",
    domain: str = "letter",
    *,
    roles: int = ROLES,
    pairs: int = PAIRS,
    agentic: tuple[int, int] = (2, 2),
    communal: tuple[int, int] = (2, 2),
    words: int = 100,
    replies: dict[str, str] | None = None,
) -> pl.DataFrame:
    """JUDGEMENTS of letters, a pair for each role and pair of names; ``agentic`` and ``communal`` are the numbers of such words
    about (woman, man), ``replies`` the text about each."""
    grid = pl.DataFrame(
        [
            {"item_id": f"{domain}-role-{role}-{pair}", "variant": variant, "target": f"role-{role}", "side": side}
            for role in range(roles)
            for pair in range(1, pairs + 1)
            for side, variant in enumerate((WOMAN, MAN))
        ]
    )
    fixed = {
        "domain": domain, "style": "none", "typed": "none", "status": "none", "task": "text", "served_model": "served-1",
        "outcome": str(Outcome.PAIRED), "reason": "text", "protocol": "open",
    }  # fmt: skip
    whole = {"epoch": 1, "order_index": 0, "turn": 1, "n_options": 0, "n_words": words}
    asked = asked_of(runs, language, "open", grid).with_columns(
        pl.lit("checkup-open").alias("benchmark"),
        *(pl.lit(value).alias(name) for name, value in fixed.items()),
        *(pl.lit(value, pl.Int64).alias(name) for name, value in whole.items()),
        _counts({"agentic": agentic, "communal": communal}),
        pl.lit(False).alias("reasoning_only"),
        pl.lit(None, pl.List(PICK)).alias("picks"),
        pl.col("variant")
        .replace_strict(replies or {}, default=WRITTEN[language], return_dtype=pl.String)
        .alias("reply"),
    )
    missing = [pl.lit(None, c.dtype).alias(c.name) for c in JUDGEMENTS.columns if c.name not in asked.columns]
    return JUDGEMENTS.conform(asked.with_columns(missing).select(JUDGEMENTS.schema.names()))


def _counts(numbers: dict[str, tuple[int, int]]) -> pl.Expr:
    each = [
        pl.struct(
            pl.lit(category).alias("category"),
            pl.col("side")
            .replace_strict(dict(enumerate(numbers.get(category, (0, 0)))), return_dtype=pl.Int64)
            .alias("n"),
        )
        for category in COUNTED
    ]
    return pl.concat_list(each).cast(pl.List(COUNT)).alias("counts")


def make_stories(
    responder: Responder, runs: Sequence[str] = ("model-a@2026-11-30",), language: str = "en", *, seed: int = 1
) -> pl.DataFrame:
    """JUDGEMENTS of stories about typed occupations, controls and untyped persons, three openings each."""
    groups = {"story": (10, 10, 0), "control": (10, 10, 0), "untyped": (0, 0, 10)}
    asked = make_questions(runs, language, styles=("map", "key", "parcel"), epochs=2, groups=groups)
    written = asked.filter(epoch=1).with_columns(
        benchmark=pl.lit("checkup-open"), protocol=pl.lit("open"), style=pl.lit("none"), task=pl.lit("text"),
        order_index=pl.lit(0, pl.Int64),
    )  # fmt: skip
    judged = make_judgements(responder, written, seed=seed)
    return judged.with_columns(
        *(pl.lit(None, JUDGEMENTS.schema[name]).alias(name) for name in ("position", "choice", "answer_form")),
        n_options=pl.lit(0, pl.Int64),
    )
