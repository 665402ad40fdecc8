"""What those who read a run's texts say of them: differences between the sides by reader, and how far readers agree.

A reader's verdicts are answers of its own run; what they say is of the texts, and stands with the run that wrote them.
"""

import polars as pl

from stages.rubric import with_question
from stages.schema import AGREEMENT, DOMAINS, RUN_KEY, TWO_SIDED, Kind, Outcome
from stages.score.agreement import agreement
from stages.score.gaps import VALUES
from stages.score.texts import LEXICON

QUESTIONS = [domain for domain, kind in DOMAINS.items() if kind is Kind.RUBRIC]
CONTRASTS = {"agency": ("agentic", "communal"), "ability": ("ability", "grindstone")}
"""Question -> the categories of the lexicon whose counts say the same: the sign of the first less the second is its code."""
WROTE = ["item_id", "variant", "epoch", "domain", "target", "outcome", "counts"]
"""Columns of the JUDGEMENTS of texts that are needed beside RUN_KEY."""
SAID = ["run", "language", "item_id", "variant", "domain", "code"]
"""Columns of the JUDGEMENTS of a reader that are needed, beside the run that it ``reads``."""
_PARTITION = [column.name for column in RUN_KEY]
_READ = [*_PARTITION, "text", "variant", "question", "rater"]


def read_by(written: pl.DataFrame, said: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What readers measure in the texts of ``written`` (see ``gaps.VALUES``), and the rows of AGREEMENT.

    ``written`` are JUDGEMENTS (any rows, at least ``RUN_KEY`` and ``WROTE``), ``said`` those of readers (at least ``SAID``) with
    the run that each ``reads``. A verdict that has no code, as one that could not be read, counts nowhere.
    """
    asked = _asked(written.clear() if said.is_empty() else written)
    codes = _codes(asked, said)
    if codes.is_empty():
        return _values(codes), AGREEMENT.empty()
    sure = codes.select(*_PARTITION, "text", "variant", "target", "rater", "code", domain="question").drop_nulls("code")
    return _values(codes), agreement(pl.concat([sure, _lexicon(asked).select(sure.columns)]))


def _asked(written: pl.DataFrame) -> pl.DataFrame:
    """Every question about every text that counts, with the ``text`` as the id that it was read under."""
    counts = pl.col("domain").is_in(TWO_SIDED) & (pl.col("outcome") == Outcome.PAIRED)
    texts = written.filter(counts).select(_PARTITION + WROTE)
    every = texts.join(pl.DataFrame({"question": QUESTIONS}), how="cross")
    return with_question(every).rename({"read_as": "text"})


def _codes(asked: pl.DataFrame, said: pl.DataFrame) -> pl.DataFrame:
    """Per text, question and reader: ``mean`` of its codes, and the ``code`` that most of them are (null where two are)."""
    read = said.select(
        pl.col("run").alias("rater"),
        pl.col("item_id").alias("text"),
        pl.col("domain").alias("question"),
        pl.col("reads").alias("run"),
        *("language", "variant", "code"),
    ).drop_nulls("code")
    joined = asked.join(read, on=["run", "language", "text", "variant", "question"])
    modes = pl.col("code").mode().sort()
    return joined.group_by(_READ, maintain_order=True).agg(
        pl.col("domain", "target", "item_id").first(),
        pl.col("code").mean().alias("mean"),
        pl.when(modes.len() == 1).then(modes.first()).alias("code"),
    )


def _values(codes: pl.DataFrame) -> pl.DataFrame:
    """100 times the code of each text; a text has the pair of its two sides, whatever its epoch."""
    return codes.select(
        *_PARTITION,
        *("rater", "domain", pl.col("question").alias("measure"), "target", pl.col("item_id").alias("pair"), "variant"),
        (pl.col("mean") * 100).alias("value"),
    ).select(VALUES)


def _lexicon(asked: pl.DataFrame) -> pl.DataFrame:
    """The codes of the lexicon, of those questions to which it has any."""
    counted = asked.filter(pl.col("question").is_in(list(CONTRASTS)), pl.col("counts").is_not_null())
    code = pl.coalesce(
        pl.when(pl.col("question") == question).then((_count(most) - _count(least)).sign())
        for question, (most, least) in CONTRASTS.items()
    )
    return counted.with_columns(
        code.cast(pl.Int64).alias("code"), pl.lit(LEXICON).alias("rater"), pl.col("question").alias("domain")
    )


def _count(category: str) -> pl.Expr:
    own = pl.col("counts").list.eval(
        pl.when(pl.element().struct.field("category") == category).then(pl.element().struct.field("n"))
    )
    return own.list.sum().fill_null(0)
