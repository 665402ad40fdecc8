"""The check-up: concepts × sentence frames, and pairs of situations -> items.

A concept goes, in each style, into the frame of its ``frame_set``. The frames of an option set are the same for every
group that uses it, so that the contrast of types, not the frame, carries a score. A situation is told once about a woman and once about
a man (pairs.py). Sources: data/checkup/*.csv, described in docs/benchmarks/checkup.md.
"""

from pathlib import Path

import polars as pl

from stages.hashing import item_hash
from stages.load import pairs
from stages.load.options import offered
from stages.load.sources import not_in, read_csv, refuse, refuse_blank, refuse_unsourced
from stages.schema import ASSOCIATED, DOMAINS, ITEMS, LANGUAGES, SINGLE, STATUSES, STYLES, TYPED, Kind, Outcome

BENCHMARK, FORM_B = "checkup", "checkup-b"
BLANK = "____"
SHARED = [domain for domain, kind in DOMAINS.items() if kind in (Kind.CONTROL, Kind.UNTYPED)]
"""Groups that the second form shares with the first."""
GROUPS = [*ASSOCIATED, *SHARED]
_CONCEPT_COLUMNS = (
    "concept", "group", "option_set", "frame_set", "status", "phrase_en", "phrase_zh", "typed_en", "typed_zh",
    "women_share_en", "women_share_zh", "source_en", "source_zh", "retired", "note",
)  # fmt: skip
_FRAME_COLUMNS = ("frame", "style", "option_set", "frame_set", "language", "text", "note")


def items(data: Path) -> pl.DataFrame:
    """All items of the check-up, rows of ``schema.ITEMS``; retired concepts and pairs are left out.

    :raises DataError: a source file does not fit; the message names file, line and column.
    """
    folder = data / BENCHMARK
    texts = pl.concat([_in_frames(folder, read_concepts(folder, folder / "concepts.csv")), pairs.texts(folder)])
    return _items(folder, texts, BENCHMARK)


def form_b(data: Path) -> pl.DataFrame:
    """The second form: its own concepts, with the frames, controls and untyped persons of the first.

    :raises DataError: a source file does not fit; the message names file, line and column.
    """
    folder = data / BENCHMARK
    shared = read_concepts(folder, folder / "concepts.csv").filter(pl.col("group").is_in(SHARED))
    own = read_concepts(folder, folder / "form_b" / "concepts.csv")
    return _items(folder, _in_frames(folder, pl.concat([own, shared])), FORM_B)


def _items(folder: Path, texts: pl.DataFrame, benchmark: str) -> pl.DataFrame:
    facts = texts.columns
    shown = texts.join(offered(folder), on=["option_set", "language"]).with_columns(_outcome().alias("outcome"))
    listed = shown.sort("item_id", "variant", "language", "position").group_by(facts, maintain_order=True)
    option = pl.struct("key", "label", pl.col("answer").alias("text"), "outcome", "gender", "code")
    found = listed.agg(option.alias("options"))
    return found.with_columns(pl.lit(benchmark).alias("benchmark"), item_hash()).select(ITEMS.schema.names())


def _in_frames(folder: Path, concepts: pl.DataFrame) -> pl.DataFrame:
    """Every concept in its frames: the columns of items but for options, with ``option_set``."""
    phrases = pl.concat(in_words(concepts, language) for language in LANGUAGES)
    return phrases.join(_frames(folder), on=["option_set", "frame_set", "language"]).select(
        "language",
        pl.concat_str("domain", "target", "style", separator="-").alias("item_id"),
        pl.lit(SINGLE).alias("variant"),
        *("domain", "target", "style", "typed", "status"),
        pl.lit("blank").alias("task"),
        "frame",
        framed().alias("text"),
        *("source", "women_share", "option_set"),
    )


def read_concepts(folder: Path, path: Path, retired: bool = False) -> pl.DataFrame:
    """The concepts of ``path`` that are not retired, or all; each has its frames and its answers in ``folder``."""
    frame = read_csv(path, _CONCEPT_COLUMNS, ("concept",))
    refuse_blank(path, frame, "concept", *(f"phrase_{language}" for language in LANGUAGES))
    refuse(path, frame.filter(not_in("group", GROUPS)), "group", f"is no group; use one of {', '.join(GROUPS)}")
    for column, allowed in (("status", STATUSES), ("typed_en", TYPED), ("typed_zh", TYPED)):
        frame = frame.with_columns(pl.col(column).fill_null("none"))
        refuse(path, frame.filter(not_in(column, allowed)), column, f"is not one of {', '.join(allowed)}, or blank")
    for column in ("women_share_en", "women_share_zh"):
        number = pl.col(column).cast(pl.Float64, strict=False)
        wrong = pl.col(column).is_not_null() & (number.is_null() | ~number.is_between(0, 100))
        refuse(path, frame.filter(wrong), column, "is no percentage; write a number from 0 to 100, or leave it blank")
    refuse_unsourced(folder, path, frame, *(f"source_{language}" for language in LANGUAGES))
    _refuse_unplaced(folder, path, frame)
    return frame if retired else frame.filter(pl.col("retired").is_null())


def _refuse_unplaced(folder: Path, path: Path, concepts: pl.DataFrame) -> None:
    """A concept without answers or a frame would vanish from the items without a word."""
    sets = offered(folder)["option_set"].unique().drop_nulls()
    refuse(path, concepts.filter(not_in("option_set", sets)), "option_set", "is no option set of options.csv")
    frames = _frames(folder)
    for style in STYLES:
        for language in LANGUAGES:
            there = frames.filter(style=style, language=language)
            lost = concepts.join(there, on=["option_set", "frame_set"], how="anti").sort("line")
            refuse(
                path,
                lost,
                "frame_set",
                f"has no {style} frame in {language} with this option_set; add it to frames.csv",
            )


def in_words(concepts: pl.DataFrame, language: str) -> pl.DataFrame:
    """One row per concept: its ``phrase`` in ``language``, and what is known of it there."""
    return concepts.select(
        pl.col("concept").alias("target"),
        pl.col("group").alias("domain"),
        *("option_set", "frame_set", "status"),
        pl.lit(language).alias("language"),
        pl.col(f"phrase_{language}").alias("phrase"),
        pl.col(f"typed_{language}").alias("typed"),
        pl.col(f"source_{language}").alias("source"),
        pl.col(f"women_share_{language}").cast(pl.Float64).alias("women_share"),
    )


def _frames(folder: Path) -> pl.DataFrame:
    path = folder / "frames.csv"
    frame = read_csv(path, _FRAME_COLUMNS, ("frame", "language"))
    refuse(path, frame.filter(not_in("style", STYLES)), "style", f"is no style; use one of {', '.join(STYLES)}")
    text = pl.col("text")
    one_phrase = (
        text.str.count_matches("{phrase}", literal=True) + text.str.count_matches("{Phrase}", literal=True)
    ) == 1
    refuse(path, frame.filter(~one_phrase.fill_null(False)), "text", "must have {phrase} or {Phrase} exactly once")
    one_blank = text.str.count_matches(BLANK, literal=True) == 1
    refuse(path, frame.filter(not_in("language", LANGUAGES)), "language", f"is none of {', '.join(LANGUAGES)}")
    refuse(path, frame.filter(~one_blank), "text", f"must have the blank {BLANK} exactly once")
    return frame.select("frame", "style", "option_set", "frame_set", "language", pl.col("text").alias("frame_text"))


def framed() -> pl.Expr:
    """``phrase`` in its place in ``frame_text``."""
    phrase = pl.col("phrase")
    capital = phrase.str.slice(0, 1).str.to_uppercase() + phrase.str.slice(1)
    text = pl.col("frame_text").str.replace("{phrase}", phrase, literal=True)
    return text.str.replace("{Phrase}", capital, literal=True)


def _outcome() -> pl.Expr:
    """What choosing an answer means: of a pair, half of it; else given the type of the concept in this language."""
    typed, gender = pl.col("typed"), pl.col("gender")
    fits = gender == typed.replace_strict({"male": 1, "female": -1, "none": 0}, return_dtype=pl.Int8)
    return (
        pl.when(pl.col("variant") != SINGLE).then(pl.lit(Outcome.PAIRED))
        .when(gender == 0).then(pl.lit(Outcome.NEUTRAL))
        .when(typed == "none").then(pl.lit(Outcome.GENDERED))
        .when(pl.col("domain") == "control").then(pl.when(fits).then(pl.lit(Outcome.CORRECT)).otherwise(pl.lit(Outcome.INCORRECT)))
        .when(fits).then(pl.lit(Outcome.STEREOTYPE))
        .otherwise(pl.lit(Outcome.ANTI_STEREOTYPE))
    )  # fmt: skip
