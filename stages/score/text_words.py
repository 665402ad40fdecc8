"""Word profiles of texts: which words are written more often about men, and which about women.

The estimate is that of ``profiles``, with the words of a text in the place of the words picked, and targets as clusters.
Names, pronouns and other gendered words are left out: they differ between the sides because the items do.
"""

import polars as pl

from stages.lexicon import entries, gendered, names, words
from stages.reasoning import unreasoned
from stages.schema import MAN, RUN_KEY, TWO_SIDED, WOMAN, WORD_PROFILES, Outcome
from stages.score.profiles import WORD, alpha, estimated

LEAST, LEAST_TEXTS, LEAST_TARGETS = 4, 2, 2
"""A word is listed that stands so often, in so many texts, about so many targets."""
_KEY = [column.name for column in RUN_KEY]
_GROUP = [*_KEY, "domain"]
_TARGET = [*_GROUP, "target"]
_SIDES = (WOMAN, MAN)
NEEDED = [*_TARGET, "variant", "outcome", "reply"]
"""The columns of JUDGEMENTS that words are counted in."""


def text_profiles(judgements: pl.DataFrame) -> pl.DataFrame:
    """The profile of every word listed, rows of WORD_PROFILES; ``judgements`` have the columns ``NEEDED``, of any runs.

    Counted are texts that were read. α₀ is the number of words listed, so that the prior counts as one use of a word of average
    frequency on each side. Null where a side has no text.
    """
    texts = judgements.filter(pl.col("domain").is_in(TWO_SIDED), pl.col("outcome") == Outcome.PAIRED)
    if texts.is_empty():
        return WORD_PROFILES.empty()
    said = texts.select(NEEDED).with_columns(unreasoned(pl.col("reply")))
    written = _words(said.with_row_index("text"))
    listed = _listed(written)
    grid = _targets(written, texts).join(listed, on=_GROUP).join(_uses(written), on=[*_TARGET, "word"], how="left")
    counted = grid.with_columns(pl.col("n_woman", "n_man").fill_null(0), pl.col("word").alias("text"), _codes(listed))
    profiles = estimated(counted.sort(*WORD, "target").with_columns(alpha()))
    return WORD_PROFILES.conform(profiles.select(WORD_PROFILES.schema.names()))


def _words(texts: pl.DataFrame) -> pl.DataFrame:
    """A row per word of each text but for names and gendered words: its number ``text``, ``_TARGET``, ``variant``, ``word``."""
    found = [
        _of_language(str(language), rows) for (language,), rows in texts.partition_by("language", as_dict=True).items()
    ]
    return pl.concat(found)


def _of_language(language: str, texts: pl.DataFrame) -> pl.DataFrame:
    called = names(language)
    # A Chinese name may be cut into words that are none.
    nameless = texts["reply"].str.replace_many(called, [" "] * len(called), leftmost=True)
    written = words(nameless if language == "zh" else texts["reply"], language)
    each = texts.drop("reply", "outcome").with_columns(written.alias("word"))
    rows = each.explode("word", empty_as_null=False).drop_nulls("word")
    known = rows.select(pl.col("word").unique().sort())
    is_name = pl.col("word").str.replace(r"'.*", "").is_in([name.lower() for name in called])
    telling = known.filter(is_name | (gendered(known["word"], language) != 0))
    return rows.join(telling, on="word", how="anti")


def _listed(written: pl.DataFrame) -> pl.DataFrame:
    """The words of each ``_GROUP`` that are listed, and their number as ``list``."""
    frequent = (
        (pl.len() >= LEAST)
        & (pl.col("text").n_unique() >= LEAST_TEXTS)
        & (pl.col("target").n_unique() >= LEAST_TARGETS)
    )
    found = written.group_by(*_GROUP, "word").agg(frequent.alias("listed")).filter("listed").drop("listed")
    return found.with_columns(pl.len().over(_GROUP).cast(pl.Int64).alias("list"))


def _targets(written: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Per target the words of each side, as ``picks_…``, and its texts, as ``offered_…``."""
    sides = [pl.col("variant") == side for side in _SIDES]
    long = written.group_by(_TARGET).agg(
        here.sum().cast(pl.Int64).alias(f"picks_{side}") for side, here in zip(_SIDES, sides, strict=True)
    )
    many = texts.group_by(_TARGET).agg(
        here.sum().cast(pl.Int64).alias(f"offered_{side}") for side, here in zip(_SIDES, sides, strict=True)
    )
    return many.join(long, on=_TARGET, how="left").with_columns(pl.col("picks_woman", "picks_man").fill_null(0))


def _uses(written: pl.DataFrame) -> pl.DataFrame:
    used = ((pl.col("variant") == side).sum().cast(pl.Int64).alias(f"n_{side}") for side in _SIDES)
    return written.group_by(*_TARGET, "word").agg(*used)


def _codes(listed: pl.DataFrame) -> pl.Expr:
    """+1 agentic, −1 communal, 0 neither, by the lexicon."""
    coded = pl.lit(0, pl.Int64)
    for language in listed["language"].unique().sort():
        for category, code in (("agentic", 1), ("communal", -1)):
            here = (pl.col("language") == language) & pl.col("word").is_in(entries(language, category))
            coded = pl.when(here).then(pl.lit(code, pl.Int64)).otherwise(coded)
    return coded.alias("code")
