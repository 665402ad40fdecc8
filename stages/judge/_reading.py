"""Answers with text -> the choices in them. Answers are read together that offer the same kind of options."""

from collections.abc import Sequence

import polars as pl

from stages.judge._choice import chosen
from stages.judge._options import listed, pick, resolved
from stages.judge._patterns import KEY, LIST, NO_KEY, TEXT, patterns, word_sets
from stages.judge._picks import picked
from stages.judge._settled import CUT
from stages.judge._text import CAPITALS, keys_as_texts, lettered, with_contexts, with_option_texts, worded
from stages.schema import TASKS
from stages.structs import PICK

KEY_LANGUAGE = "en"
"""The language of the options' keys."""
_SCHEMA = pl.Schema(
    {
        "row": pl.UInt32(),
        "rule": pl.String(),
        "form": pl.String(),
        "denied": pl.Boolean(),
        "named": pl.Int64(),
        "neutral": pl.String(),
        "contradiction": pl.Boolean(),
        "spoken": pl.String(),
        "choice": pl.String(),
        "position": pl.Int64(),
        "means": pl.String(),
        "sex": pl.Int8(),
        "picks": pl.List(PICK),
    }
)


def read(answers: pl.DataFrame, options: pl.DataFrame) -> pl.DataFrame:
    """What each of ``answers`` (``row``, ``plain``, ``text``, ``task``, ``menu``, ``stop_reason``) chooses, one row each.

    ``options`` are those of ``_options.with_menus``.

    Columns: ``row``, ``rule``, ``form``, ``denied`` (see ``_choice.chosen``), ``named`` (see ``_picks.picked``),
    ``neutral``, ``contradiction``, ``spoken`` (see ``_options.resolved``), and of what is chosen its key (``choice``), its
    ``position``, what it ``means``, its ``sex`` and the ``picks`` of a pair.
    """
    wanted = pl.col("task").replace_strict(TASKS, return_dtype=pl.Int64)
    kinds = answers.join(_kinds(options), on="menu", how="left").with_columns(
        pl.when(wanted > 1).then(pl.lit(LIST)).otherwise(pl.col("kind").fill_null(TEXT)).alias("kind"),
        wanted.alias("wanted"),
        pl.col("plain").alias("said"),
        (pl.col("stop_reason") == CUT).fill_null(False).alias("cut"),
    )
    groups = kinds.partition_by("kind", "wanted", "labelled", as_dict=True)
    found = [
        _several(group, options, wanted) if kind == LIST else _one(group, options, kind)
        for (kind, wanted, _), group in groups.items()
    ]
    return pl.concat([_SCHEMA.to_frame(), *map(_completed, found)])


def _kinds(options: pl.DataFrame) -> pl.DataFrame:
    """Per ``menu``: of which set of words in patterns.csv all options are (``kind``), and whether they are ``labelled``."""
    sets = [pl.when(pl.col("key").is_in(list(names)).all()).then(pl.lit(words)) for words, names in word_sets().items()]
    labelled = pl.col("label").is_in(CAPITALS).any().fill_null(False).alias("labelled")
    return options.group_by("menu").agg(pl.coalesce(sets).alias("kind"), labelled)


def _completed(frame: pl.DataFrame) -> pl.DataFrame:
    """``frame`` with the columns of ``_SCHEMA``, null where its way of reading has none."""
    missing = [pl.lit(None, dtype).alias(name) for name, dtype in _SCHEMA.items() if name not in frame.columns]
    return frame.with_columns(missing).select(_SCHEMA.names())


def _one(group: pl.DataFrame, options: pl.DataFrame, kind: str) -> pl.DataFrame:
    """What each answer of ``group`` chooses; their options are all of one ``kind``."""
    found = chosen(_prepared(group, options, kind), patterns(kind)).join(group.select("row", "menu"), on="row")
    meant = found.join(resolved(found, options), on="row", how="left")
    named = options.select("menu", "position", "code", "key", choice="key", means="outcome", sex="gender")
    paired = pl.when(pl.col("code").is_not_null()).then(pl.concat_list(pick())).alias("picks")
    return meant.join(named, on=["menu", "position"], how="left").with_columns(paired)


def _several(group: pl.DataFrame, options: pl.DataFrame, wanted: int) -> pl.DataFrame:
    """Which options each answer of ``group`` picks from its list, where it picks as many as are ``wanted``."""
    said = _prepared(group.with_columns(_numbers_apart()), options, LIST)
    by_key = pl.when(pl.col("said").str.contains(KEY) & ~pl.col("said").str.contains(NO_KEY)).then(pl.lit(KEY_LANGUAGE))
    texts = said.with_columns(by_key.alias("spoken"), keys_as_texts(pl.col("said"), options["position"]))
    found = picked(texts, wanted, patterns(LIST)).join(texts.select("row", "menu", "spoken"), on="row")
    return found.join(listed(found, options), on="row", how="left")


def _numbers_apart() -> pl.Expr:
    """``said`` with a space between number and word: "①自信②果断", made plain, is 1自信2果断."""
    before = pl.col("said").str.replace_all(r"([0-9])(\p{Han})", "${1} ${2}")
    return before.str.replace_all(r"(\p{Han})([0-9])", "${1} ${2}")


def _prepared(group: pl.DataFrame, options: pl.DataFrame, kind: str) -> pl.DataFrame:
    """``group`` with tokens in ``said``."""
    labels = _labels(group, options) if group["labelled"].any() else []
    small = group.with_columns(lettered(pl.col("said"), labels) if labels else pl.col("said").str.to_lowercase())
    if kind in word_sets():
        return with_contexts(small).with_columns(worded(pl.col("said"), kind))
    # Options may be the whole item with its blank filled, so that they go first.
    return with_contexts(with_option_texts(small.with_columns(worded(pl.col("said"), kind)), options, labels, kind))


def _labels(group: pl.DataFrame, options: pl.DataFrame) -> Sequence[str]:
    shown = options.join(group.select(pl.col("menu").unique()), on="menu")["label"]
    return sorted(set(CAPITALS) & set(shown.unique().drop_nulls()))
