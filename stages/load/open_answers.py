"""The open answers: letters, portraits and stories that a model is asked to write -> items, each a whole instruction.

A letter and a portrait are asked for about a woman and about a man, word for word alike but for name and gender words. A
story is about one of the check-up's occupations, controls or untyped persons, each in every opening. Sources:
data/checkup/open/*.csv, and of the check-up its concepts, names and sides; described in docs/benchmarks/checkup-open.md.
"""

from pathlib import Path

import polars as pl

from stages.hashing import item_hash
from stages.load import checkup, pairs
from stages.load.sources import not_in, read_csv, refuse, refuse_blank
from stages.schema import ITEMS, LANGUAGES, MAN, NO_STYLE, SINGLE, WOMAN
from stages.structs import OPTION

BENCHMARK = "checkup-open"
STORIES = {"occupation": "story", "control": "control", "untyped": "untyped"}
"""Group of the check-up whose concepts stories are asked about -> the stories' domain."""
TEMPLATES = ("letter", "success", "story")
_ROLE_COLUMNS = ("role", "concept", "facts_en", "facts_zh", "retired", "note")
_FIELD_COLUMNS = ("field", "phrase_en", "phrase_zh", "retired", "note")
_OPENING_COLUMNS = ("opening", "text_en", "text_zh", "retired", "note")
_TEMPLATE_COLUMNS = ("group", "text_en", "text_zh", "note")
_SURNAME_COLUMNS = ("name_set", "surname_en", "note")
_PHRASE = r"\{[pP]hrase\}"
_FACTS = ("typed", "status", "source", "women_share")


def items(data: Path) -> pl.DataFrame:
    """All items, rows of ``schema.ITEMS``; retired roles, fields, openings and concepts are left out.

    :raises DataError: a source file does not fit; the message names file, line and column.
    """
    folder = data / checkup.BENCHMARK / "open"
    told = pl.concat([_letters(folder), _portraits(folder)], how="diagonal")
    people = told.join(_people(folder), on="language").with_columns(pairs.of_side(folder.parent).alias("text"))
    found = pl.concat([people, _stories(folder)], how="diagonal")
    _refuse_left(folder / "templates.csv", found.drop("line").rename({"template_line": "line"}), "text")
    return found.select(
        pl.lit(BENCHMARK).alias("benchmark"),
        "language",
        pl.concat_str("domain", "target", "frame", separator="-").alias("item_id"),
        *("variant", "domain", "target"),
        pl.lit(NO_STYLE).alias("style"),
        *(pl.col(fact).fill_null("none") for fact in ("typed", "status")),
        pl.lit("text").alias("task"),
        *("frame", "text"),
        pl.lit([], pl.List(OPTION)).alias("options"),
        *("source", "women_share"),
    ).with_columns(item_hash()).select(ITEMS.schema.names())  # fmt: skip


def _concepts(folder: Path, retired: bool = False) -> pl.DataFrame:
    """The check-up's concepts in every language."""
    found = checkup.read_concepts(folder.parent, folder.parent / "concepts.csv", retired)
    return pl.concat(checkup.in_words(found, language) for language in LANGUAGES)


def _letters(folder: Path) -> pl.DataFrame:
    """A row per role and language, its type that of the concept it names."""
    path, concepts = folder / "roles.csv", _concepts(folder, retired=True)
    roles = _read(path, _ROLE_COLUMNS, "role", "facts")
    spoken = _spoken(roles, "facts", "role", "concept")
    _refuse_left(path, spoken, "facts")
    strange = pl.col("concept").is_not_null() & not_in("concept", concepts["target"])
    refuse(path, roles.filter(strange), "concept", "is no concept of concepts.csv; correct it, or leave it blank")
    typed = concepts.select("language", pl.col("target").alias("concept"), *_FACTS)
    return (
        spoken.join(typed, on=["language", "concept"], how="left")
        .join(_template(folder, "letter"), on="language")
        .with_columns(pl.col("role").alias("target"), _put("{facts}", "facts"))
        .drop("concept", "facts", "role")
    )


def _portraits(folder: Path) -> pl.DataFrame:
    """A row per field and language."""
    path = folder / "fields.csv"
    fields = _spoken(_read(path, _FIELD_COLUMNS, "field", "phrase"), "phrase", "field")
    _refuse_left(path, fields, "phrase")
    filled = fields.join(_template(folder, "success"), on="language").with_columns(_put("{field}", "phrase"))
    return filled.rename({"field": "target"}).drop("phrase")


def _stories(folder: Path) -> pl.DataFrame:
    """A row per concept, opening and language."""
    path, concepts = folder / "openings.csv", _concepts(folder)
    openings = _spoken(_read(path, _OPENING_COLUMNS, "opening", "text"), "text", "opening")
    one_phrase = pl.col("text").str.count_matches(_PHRASE) == 1
    refuse(path, openings.filter(~one_phrase), "text", "must have {phrase} or {Phrase} exactly once")
    _refuse_left(path, openings.with_columns(pl.col("text").str.replace(_PHRASE, "")), "text")
    about = concepts.filter(pl.col("domain").is_in(list(STORIES))).drop("option_set", "frame_set")
    opened = about.join(openings.rename({"text": "frame_text", "opening": "frame"}), on="language")
    filled = opened.with_columns(checkup.framed().alias("opening")).join(_template(folder, "story"), on="language")
    return filled.with_columns(
        pl.col("domain").replace_strict(STORIES), pl.lit(SINGLE).alias("variant"), _put("{opening}", "opening")
    ).drop("phrase", "frame_text", "opening")


def _people(folder: Path) -> pl.DataFrame:
    """A row per name pair, side and language: the person's whole ``name``; the pair's number is the ``frame``."""
    path = folder / "surnames.csv"
    surnames = read_csv(path, _SURNAME_COLUMNS, ("name_set",))
    refuse_blank(path, surnames, "surname_en")
    named = pairs.read_names(folder.parent).join(surnames.drop("line", "note"), on="name_set", how="left")
    lost = named.filter(pl.col("surname_en").is_null()).sort("line")
    refuse(folder.parent / "names.csv", lost, "name_set", "has no surname in open/surnames.csv; add it there")
    whole = pl.when(language="en").then(pl.concat_str("name", "surname_en", separator=" ")).otherwise("name")
    return named.filter(pl.col("variant").is_in([WOMAN, MAN])).select(
        "language", "variant", pl.col("name_set").alias("frame"), whole.alias("name")
    )


def _template(folder: Path, group: str) -> pl.DataFrame:
    """The text of ``group`` by language, with its ``domain`` where the rows have none."""
    path = folder / "templates.csv"
    found = read_csv(path, _TEMPLATE_COLUMNS, ("group",))
    refuse(path, found.filter(not_in("group", TEMPLATES)), "group", f"is no group; use one of {', '.join(TEMPLATES)}")
    refuse_blank(path, found, *(f"text_{language}" for language in LANGUAGES))
    texts = _spoken(found.filter(group=group), "text").rename({"text": "template", "line": "template_line"})
    return texts if group == "story" else texts.with_columns(pl.lit(group).alias("domain"))


def _refuse_left(path: Path, rows: pl.DataFrame, column: str) -> None:
    """:raises DataError: a text has a placeholder that nothing fills."""
    left = rows.filter(pl.col(column).str.contains("[{}]")).sort("line")
    refuse(path, left, column, "has a placeholder that nothing fills; remove or correct it")


def _put(placeholder: str, column: str) -> pl.Expr:
    """The template as ``text``, with ``column`` in the place of ``placeholder``."""
    return pl.col("template").str.replace(placeholder, pl.col(column), literal=True).alias("text")


def _read(path: Path, columns: tuple[str, ...], key: str, text: str) -> pl.DataFrame:
    """The rows that are not retired; ``key`` and ``text`` in every language are there."""
    found = read_csv(path, columns, (key,)).filter(pl.col("retired").is_null())
    refuse_blank(path, found, key, *(f"{text}_{language}" for language in LANGUAGES))
    return found


def _spoken(frame: pl.DataFrame, text: str, *kept: str) -> pl.DataFrame:
    """``frame`` once per language, with the column ``text`` in it, beside ``line`` and ``kept``."""
    return pl.concat(
        frame.select("line", *kept, pl.lit(language).alias("language"), pl.col(f"{text}_{language}").alias(text))
        for language in LANGUAGES
    )
