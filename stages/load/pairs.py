"""pairs.csv: situations told once about a woman and once about a man, word for word alike but for gendered words."""

from pathlib import Path

import polars as pl

from stages.load.options import offered
from stages.load.sources import not_in, read_csv, refuse, refuse_blank
from stages.schema import LANGUAGES, MAN, PAIR_TASKS, WOMAN

_PAIR_COLUMNS = ("concept", "group", "option_set", "name_set", "text_en", "text_zh", "retired", "note")
_NAME_COLUMNS = ("name_set", "variant", "name_en", "name_zh", "source", "note")
_SIDE_COLUMNS = ("placeholder", "variant", "text_en", "text_zh")


def texts(folder: Path) -> pl.DataFrame:
    """Both sides of every pair in every language: the columns of items but for options, with ``option_set``.

    :raises DataError: a source file does not fit; the message names file, line and column.
    """
    sides = pl.DataFrame({"variant": [WOMAN, MAN]})
    told = (
        _pairs(folder)
        .join(sides, how="cross")
        .join(read_names(folder), on=["name_set", "variant", "language"], how="left")
    )
    filled = told.with_columns(of_side(folder).alias("text"))
    left = filled.filter(pl.col("text").str.contains("[{}]")).sort("line")
    refuse(
        folder / "pairs.csv", left, "text", "has a placeholder left; use those of sides.csv, with a name_set for {name}"
    )
    return filled.select(
        "language",
        pl.concat_str("group", "concept", separator="-").alias("item_id"),
        "variant",
        pl.col("group").alias("domain"),
        pl.col("concept").alias("target"),
        pl.lit("direct").alias("style"),
        *(pl.lit("none").alias(fact) for fact in ("typed", "status")),
        pl.col("group").replace_strict(PAIR_TASKS).alias("task"),
        pl.col("concept").alias("frame"),
        "text",
        pl.lit(None, pl.String).alias("source"),
        pl.lit(None, pl.Float64).alias("women_share"),
        "option_set",
    )


def _pairs(folder: Path) -> pl.DataFrame:
    """One row per pair and language."""
    path = folder / "pairs.csv"
    frame = read_csv(path, _PAIR_COLUMNS, ("concept",)).filter(pl.col("retired").is_null())
    refuse_blank(path, frame, "concept", *(f"text_{language}" for language in LANGUAGES))
    sets = offered(folder)["option_set"].unique().drop_nulls()
    refuse(path, frame.filter(not_in("option_set", sets)), "option_set", "is no option set of options.csv")
    refuse(
        path,
        frame.filter(not_in("group", PAIR_TASKS)),
        "group",
        f"is no group of pairs; use one of {', '.join(PAIR_TASKS)}",
    )
    return pl.concat(
        frame.select(
            *("line", "concept", "group", "option_set", "name_set"),
            pl.lit(language).alias("language"),
            pl.col(f"text_{language}").alias("text"),
        )
        for language in LANGUAGES
    )


def read_names(folder: Path) -> pl.DataFrame:
    """One row per name set, side and language."""
    frame = read_csv(folder / "names.csv", _NAME_COLUMNS, ("name_set", "variant"))
    return pl.concat(
        frame.select(
            *("line", "name_set", "variant"),
            pl.lit(language).alias("language"),
            pl.col(f"name_{language}").alias("name"),
        )
        for language in LANGUAGES
    )


def of_side(folder: Path) -> pl.Expr:
    """``text`` with its placeholders filled for the row's variant and language; one that is unknown stays."""
    text = pl.col("text").str.replace_all("{name}", pl.col("name").fill_null("{name}"), literal=True)
    path = folder / "sides.csv"
    sides = read_csv(path, _SIDE_COLUMNS, ("placeholder", "variant"))
    refuse_blank(path, sides, "placeholder", *(f"text_{language}" for language in LANGUAGES))

    def told(variant: str, language: str) -> pl.Expr:
        own = sides.filter(variant=variant)
        filled = text.str.replace_many(own["placeholder"].to_list(), own[f"text_{language}"].to_list())
        return pl.when(pl.col("variant") == variant, pl.col("language") == language).then(filled)

    return pl.coalesce(told(variant, language) for variant in (WOMAN, MAN) for language in LANGUAGES)
