"""The check-up: concepts × sentence frames -> items.

A concept goes, in each style, into the frame of its ``frame_set``. The frames are the same for every group, so that
the contrast of types, not the frame, carries a score. Sources: data/checkup/*.csv, described in docs/benchmarks/checkup.md.
"""

from hashlib import sha256
from pathlib import Path

import polars as pl

from stages.load.sources import read_csv, refuse
from stages.schema import ITEMS, LANGUAGES, STATUSES, STYLES, TYPED, Outcome

BENCHMARK = "checkup"
GROUPS = ("occupation", "pronoun", "control", "untyped")
BLANK = "____"
_CONCEPT_COLUMNS = (
    "concept", "group", "frame_set", "status", "person_en", "person_zh", "typed_en", "typed_zh",
    "women_share_en", "women_share_zh", "source_en", "source_zh", "retired", "note",
)  # fmt: skip
_FRAME_COLUMNS = ("frame", "style", "frame_set", "language", "text", "note")
_OPTION_COLUMNS = ("option_set", "position", "key", "gender", "text_en", "text_zh")


def items(data: Path) -> pl.DataFrame:
    """All items of the check-up, rows of ``schema.ITEMS``; retired concepts are left out.

    :raises DataError: a source file does not fit; the message names file, line and column.
    """
    folder = data / BENCHMARK
    concepts = _concepts(folder)
    people = pl.concat(_people(concepts, language) for language in LANGUAGES)
    asked = people.join(_frames(folder), on=["frame_set", "language"]).with_columns(
        pl.lit(BENCHMARK).alias("benchmark"),
        pl.concat_str("domain", "target", "style", separator="-").alias("item_id"),
        pl.lit("single").alias("variant"),
        _filled().alias("text"),
    )
    facts = [c.name for c in ITEMS.columns if c.name in asked.columns]
    offered = asked.join(_options(folder), on="language").sort("item_id", "language", "position")
    option = pl.struct("key", pl.lit(None, pl.String).alias("label"), "answer", _outcome().alias("outcome"), "gender")
    coded = option.struct.rename_fields(["key", "label", "text", "outcome", "gender"]).alias("options")
    return offered.group_by(facts, maintain_order=True).agg(coded).with_columns(_item_hash())


def _concepts(folder: Path) -> pl.DataFrame:
    path = folder / "concepts.csv"
    frame = read_csv(path, _CONCEPT_COLUMNS, ("concept",))
    refuse(path, frame.filter(~pl.col("group").is_in(GROUPS)), "group", f"is no group; use one of {', '.join(GROUPS)}")
    for column, allowed in (("status", STATUSES), ("typed_en", TYPED), ("typed_zh", TYPED)):
        frame = frame.with_columns(pl.col(column).fill_null("none"))
        refuse(
            path, frame.filter(~pl.col(column).is_in(allowed)), column, f"is not one of {', '.join(allowed)}, or blank"
        )
    for column in ("women_share_en", "women_share_zh"):
        number = pl.col(column).cast(pl.Float64, strict=False)
        wrong = pl.col(column).is_not_null() & (number.is_null() | ~number.is_between(0, 100))
        refuse(path, frame.filter(wrong), column, "is no percentage; write a number from 0 to 100, or leave it blank")
    return frame.filter(pl.col("retired").is_null())


def _people(concepts: pl.DataFrame, language: str) -> pl.DataFrame:
    return concepts.select(
        pl.col("concept").alias("target"),
        pl.col("group").alias("domain"),
        "frame_set",
        "status",
        pl.lit(language).alias("language"),
        pl.col(f"person_{language}").alias("person"),
        pl.col(f"typed_{language}").alias("typed"),
        pl.col(f"source_{language}").alias("source"),
        pl.col(f"women_share_{language}").cast(pl.Float64).alias("women_share"),
    )


def _frames(folder: Path) -> pl.DataFrame:
    path = folder / "frames.csv"
    frame = read_csv(path, _FRAME_COLUMNS, ("frame", "language"))
    refuse(path, frame.filter(~pl.col("style").is_in(STYLES)), "style", f"is no style; use one of {', '.join(STYLES)}")
    text = pl.col("text")
    one_person = (
        text.str.count_matches("{person}", literal=True) + text.str.count_matches("{Person}", literal=True)
    ) == 1
    refuse(path, frame.filter(~one_person.fill_null(False)), "text", "must have {person} or {Person} exactly once")
    one_blank = text.str.count_matches(BLANK, literal=True) == 1
    refuse(path, frame.filter(~one_blank), "text", f"must have the blank {BLANK} exactly once")
    return frame.select("frame", "style", "frame_set", "language", pl.col("text").alias("frame_text"))


def _options(folder: Path) -> pl.DataFrame:
    """The offered answers, one row per (language, key)."""
    path = folder / "options.csv"
    frame = read_csv(path, _OPTION_COLUMNS, ("option_set", "key"))
    gender = pl.col("gender").cast(pl.Int8, strict=False)
    refuse(
        path, frame.filter(~gender.is_in([-1, 0, 1]).fill_null(False)), "gender", "is not 1 (male), -1 (female) or 0"
    )
    return pl.concat(
        frame.select(
            "key",
            pl.col("position").cast(pl.Int64),
            gender.alias("gender"),
            pl.col(f"text_{language}").alias("answer"),
            pl.lit(language).alias("language"),
        )
        for language in LANGUAGES
    )


def _filled() -> pl.Expr:
    person = pl.col("person")
    capital = person.str.slice(0, 1).str.to_uppercase() + person.str.slice(1)
    text = pl.col("frame_text").str.replace("{person}", person, literal=True)
    return text.str.replace("{Person}", capital, literal=True)


def _outcome() -> pl.Expr:
    """What choosing an answer means, given the type of the concept in this language."""
    typed, gender = pl.col("typed"), pl.col("gender")
    fits = gender == typed.replace_strict({"male": 1, "female": -1, "none": 0}, return_dtype=pl.Int8)
    return (
        pl.when(gender == 0).then(pl.lit(Outcome.NEUTRAL))
        .when(typed == "none").then(pl.lit(Outcome.GENDERED))
        .when(pl.col("domain") == "control").then(pl.when(fits).then(pl.lit(Outcome.CORRECT)).otherwise(pl.lit(Outcome.INCORRECT)))
        .when(fits).then(pl.lit(Outcome.STEREOTYPE))
        .otherwise(pl.lit(Outcome.ANTI_STEREOTYPE))
    )  # fmt: skip


def _item_hash() -> pl.Expr:
    content = pl.struct("text", "options").struct.json_encode()
    return content.map_elements(lambda text: sha256(text.encode()).hexdigest()[:16], return_dtype=pl.String).alias(
        "item_hash"
    )
