"""What the lexicon reads in texts about men and women: the values that gaps are made of, with ``LEXICON`` as the reader."""

import polars as pl

from stages.lexicon import MEASURED
from stages.schema import RUN_KEY, TWO_SIDED, Outcome
from stages.score.rates import rate_of

LEXICON = "lexicon"
LENGTH = "n_words"
"""The measure that is the length of a text, in words."""
_FACTS = [*(column.name for column in RUN_KEY), "rater", "domain", "target", "pair", "variant"]


def lexicon_values(judgements: pl.DataFrame) -> pl.DataFrame:
    """A row per text of a two-sided domain and measure, see ``gaps.VALUES``; ``judgements`` are rows of JUDGEMENTS.

    Measures: each category of the lexicon, words per 100 words, and ``LENGTH``.
    """
    about = judgements.filter(pl.col("domain").is_in(TWO_SIDED))
    read = pl.when(pl.col("outcome") == Outcome.PAIRED)
    measured = about.select(
        *(column.name for column in RUN_KEY),
        pl.lit(LEXICON).alias("rater"),
        *("domain", "target", pl.col("item_id").alias("pair"), "variant"),
        *(read.then(rate_of(category)).alias(category) for category in MEASURED),
        read.then(pl.col("n_words").cast(pl.Float64)).alias(LENGTH),
    )
    return measured.unpivot([*MEASURED, LENGTH], index=_FACTS, variable_name="measure")
