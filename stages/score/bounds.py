"""What a concept's averages could have been, whatever its missing answers were: the ends of every difference."""

from collections.abc import Iterator

import polars as pl

from stages.schema import MAN
from stages.score.concepts import concepts
from stages.votes import wanted

LOW, HIGH = "_low", "_high"


def extremes(answers: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """``LOW`` and ``HIGH``, each with the concepts (see ``concepts.concepts``) of the partitions that miss answers.

    Every unusable answer is taken to be the least, then the most that it could have been, and averaged as all others are.
    A refusal is usable, and so misses nothing.
    """
    lacking = answers.filter((~pl.col("usable")).any().over("partition"))
    for end, sign in ((LOW, -1), (HIGH, 1)):
        yield end, concepts(_filled(lacking, sign))


def _filled(answers: pl.DataFrame, sign: int) -> pl.DataFrame:
    """``answers`` with the greatest value of this ``sign`` in place of each one missing; a share has 0 for −1."""
    about, share = pl.when(pl.col("variant") == MAN).then(sign).otherwise(-sign), (1 + sign) // 2
    filled = {
        "y": pl.lit(sign),
        "g": pl.lit(sign),
        "code": about * wanted(),
        "prefers": pl.lit(share),
        "related": pl.lit(2 * share),
    }
    return answers.with_columns(
        pl.when("usable").then(name).otherwise(value).cast(answers.schema[name]).alias(name)
        for name, value in filled.items()
    )
