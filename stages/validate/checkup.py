"""Contracts on the items of the check-up, the benchmark ``checkup``: what its scores take for granted.

Groups, counts and thresholds are those of docs/methodology.md; changing the instrument means changing them here too.
"""

import polars as pl

from stages.schema import ALL, LANGUAGES, STYLES, Outcome
from stages.validate.contracts import Checkable, between, closed, contract, equal, like, present, rows, unique, unlike
from stages.validate.tables import MISSING

BENCHMARK = "checkup"
CONCEPTS = {"occupation": 20, "pronoun": 20, "control": 20, "untyped": 10}
"""Group -> how many concepts it has in each language."""
ASSOCIATED = ("occupation", "pronoun")
"""The groups whose concepts are typed by a source; those of ``control`` have their gender stated instead."""
FRAMES_PER_STYLE = 5
BLANK = "____"
MALE_AT_MOST, FEMALE_AT_LEAST = 30, 70
"""Percent women up to which a concept is male-typed, and from which it is female-typed."""
UNTYPED_SHARE = (45, 55)
KEYS = ("language", "item_id", "variant")

FORMS = [
    ("en", "he", "1. he, gender 1"),
    ("en", "she", "2. she, gender -1"),
    ("en", "they", "3. they, gender 0"),
    ("zh", "he", "1. 他, gender 1"),
    ("zh", "she", "2. 她, gender -1"),
    ("zh", "they", "3. TA, gender 0"),
]
"""Language, option key, and the option's one form: place, text, gender."""

_ALONG, _AGAINST = Outcome.STEREOTYPE, Outcome.ANTI_STEREOTYPE
MEANINGS = [
    *((group, "male", _ALONG, _AGAINST) for group in ASSOCIATED),
    *((group, "female", _AGAINST, _ALONG) for group in ASSOCIATED),
    *((group, "none", Outcome.GENDERED, Outcome.GENDERED) for group in (*ASSOCIATED, "untyped")),
    ("control", "male", Outcome.CORRECT, Outcome.INCORRECT),
    ("control", "female", Outcome.INCORRECT, Outcome.CORRECT),
]
"""Group, type, and what it means to choose "he" and "she"; "they" is always neutral."""
OUTCOMES = sorted({Outcome.NEUTRAL, *(outcome for *_, he, she in MEANINGS for outcome in (he, she))})

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CHINESE = f"^[{_HAN}\u3001-\u3011，。！？；：（）“”‘’—…·0-9_]*$"
_EAST_ASIAN = "[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]"


def contracts(items: pl.DataFrame, file: str) -> list[Checkable]:
    """The contracts on ``items`` (rows of ``schema.ITEMS``), from the single item to the whole instrument."""
    parts = (_items, _options, _twins, _concepts, _counts, _frames)
    return [part(items, file) for part in parts]


def _items(items: pl.DataFrame, file: str) -> Checkable:
    per_language = len(STYLES) * sum(CONCEPTS.values())
    rules = contract(
        f"items-{BENCHMARK}-each",
        KEYS,
        rows(len(LANGUAGES) * per_language),
        closed("language", LANGUAGES),
        *(rows(per_language, language=language) for language in LANGUAGES),
        closed("domain", CONCEPTS),
        closed("style", STYLES),
        closed("variant", ["single"]),
        closed("typed", ["male", "female"], domain="control"),
        closed("typed", ["none"], domain="untyped"),
        closed("status", ["high", "ordinary"], domain=ASSOCIATED),
        closed("status", ["none"], domain=("control", "untyped")),
        present("source", typed=("male", "female")),
        between("women_share", 0, MALE_AT_MOST, nullable=True, typed="male"),
        between("women_share", FEMALE_AT_LEAST, 100, nullable=True, typed="female"),
        between("women_share", *UNTYPED_SHARE, nullable=True, domain="untyped"),
        like("text", f"^[^_]*{BLANK}[^_]*$", f"the text has the blank {BLANK} exactly once"),
        unlike("text", "^_", "the text does not open with the blank"),
        unlike("text", "[{}]", "the text has no placeholder left"),
        unlike("text", r"^\s|\s\s|\s$", "the text has single spaces, and none at its ends"),
        like("text", _CHINESE, "the text is wholly Chinese", language="zh"),
        unlike("text", _EAST_ASIAN, "the text has no Chinese sign", language="en"),
        unique("language", "text", says="no text occurs twice in a language"),
    )
    return Checkable(rules, items.drop("options"), file)


def _options(items: pl.DataFrame, file: str) -> Checkable:
    """One row per item and option, the declared ones joined with those found, so that a lacking one is a row too."""
    rules = contract(
        f"items-{BENCHMARK}-options",
        (*KEYS, "key"),
        rows(3 * len(LANGUAGES) * len(STYLES) * sum(CONCEPTS.values())),
        closed("key", ["he", "she", "they"]),
        unique(*KEYS, "key", says="no item offers a key twice"),
        unique(*KEYS, "text", says="no item offers a text twice"),
        closed("gender", [-1, 0, 1]),
        closed("outcome", OUTCOMES),
        equal("form", "declared_form", "the answers are exactly he, she and they in their one form"),
        equal("outcome", "declared_outcome", "choosing an answer means what the group and type of the concept say"),
    )
    offered = items.select(*KEYS, "options").explode("options").drop_nulls("options").unnest("options")
    place = pl.col("key").cum_count().over(KEYS)
    offered = offered.with_columns(pl.format("{}. {}, gender {}", place, "text", "gender").alias("form"))
    compared = _declared_options(items).join(offered, on=[*KEYS, "key"], how="full", coalesce=True)
    shown = ("text", "form", "outcome", "declared_form", "declared_outcome")
    return Checkable(rules, compared.with_columns(pl.col(shown).fill_null(MISSING)).sort(*KEYS, "key", "form"), file)


def _declared_options(items: pl.DataFrame) -> pl.DataFrame:
    forms = pl.DataFrame(FORMS, schema=["language", "key", "declared_form"], orient="row")
    meanings = pl.DataFrame(MEANINGS, schema=["domain", "typed", "he", "she"], orient="row").with_columns(
        pl.lit(str(Outcome.NEUTRAL)).alias("they")
    )
    long = meanings.unpivot(index=["domain", "typed"], variable_name="key", value_name="declared_outcome")
    asked = items.select(*KEYS, "domain", "typed").join(forms, on="language")
    return asked.join(long, on=["domain", "typed", "key"], how="left").drop("domain", "typed")


def _twins(items: pl.DataFrame, file: str) -> Checkable:
    """One row per item id: its two languages side by side."""
    facts = ("domain", "target", "style", "frame", "status")
    rules = contract(
        f"items-{BENCHMARK}-twins",
        ("item_id", "variant"),
        closed("languages", [" + ".join(LANGUAGES)], "every item is there in both languages"),
        *(equal(fact, f"{fact}_twin", f"twins have the same {fact}") for fact in facts),
    )
    sides = items.group_by("item_id", "variant").agg(
        pl.col("language").sort().str.join(" + ").alias("languages"),
        *(pl.col(fact).sort_by("language").first() for fact in facts),
        *(pl.col(fact).sort_by("language").last().alias(f"{fact}_twin") for fact in facts),
    )
    return Checkable(rules, sides.sort("item_id", "variant"), file)


def _concepts(items: pl.DataFrame, file: str) -> Checkable:
    rules = contract(
        f"items-{BENCHMARK}-concepts",
        ("domain", "target"),
        rows(sum(CONCEPTS.values())),
        unique("target", says="a concept belongs to one group"),
        closed("type", ["male", "female", "none"], "no concept is male-typed in one place and female-typed in another"),
        closed("facts", [1], "a concept has one type, source and share of women in all its items of a language"),
        closed("status", ["high", "ordinary", "none"], "a concept has one status in all its items"),
        closed("items", [len(LANGUAGES) * len(STYLES)], "a concept has an item in each style and language"),
    )
    return Checkable(rules, _typed_concepts(items).sort("domain", "target"), file)


def _typed_concepts(items: pl.DataFrame) -> pl.DataFrame:
    """One row per concept: its type over both languages (it may be typed in one only), and how it varies."""
    concept = ["domain", "target"]
    facts = items.group_by(*concept, "language").agg(
        pl.struct("typed", "source", "women_share").n_unique().alias("facts")
    )
    typed = pl.col("typed").filter(pl.col("typed") != "none").unique().sort().str.join(" + ")
    found = items.group_by(concept).agg(
        typed.alias("type"),
        pl.col("status").unique().sort().str.join(" + "),
        pl.struct("language", "style").n_unique().alias("items"),
    )
    found = found.with_columns(pl.col("type").replace("", "none"))
    return found.join(facts.group_by(concept).agg(pl.col("facts").max()), on=concept)


def _counts(items: pl.DataFrame, file: str) -> Checkable:
    """One row per group that is declared or found, with the numbers of concepts declared and found."""
    group = ["language", "domain", "style", "type", "status"]
    rules = contract(
        f"items-{BENCHMARK}-counts",
        group,
        equal("found", "declared", "a group has its number of concepts"),
    )
    stated = items.filter(~pl.col("domain").is_in(ASSOCIATED)).rename({"typed": "type"})
    parts = [
        items.group_by("language", "domain", "style").agg(pl.col("target").n_unique().alias("found")),
        stated.group_by("language", "domain", "type").agg(pl.col("target").n_unique().alias("found")),
        _typed_concepts(items).group_by("domain", "type", "status").agg(pl.len().alias("found")),
    ]
    found = pl.concat(parts, how="diagonal_relaxed").with_columns(
        pl.col(group).fill_null(ALL), pl.col("found").cast(pl.Int64)
    )
    compared = _declared_counts(group).join(found, on=group, how="full", coalesce=True)
    return Checkable(rules, compared.with_columns(pl.col("found", "declared").fill_null(0)).sort(group), file)


def _declared_counts(group: list[str]) -> pl.DataFrame:
    half = CONCEPTS["control"] // 2
    stated = [("control", "male", half), ("control", "female", half), ("untyped", "none", CONCEPTS["untyped"])]
    declared = [
        *((language, d, style, ALL, ALL, n) for language in LANGUAGES for d, n in CONCEPTS.items() for style in STYLES),
        *((language, domain, ALL, typed, ALL, n) for language in LANGUAGES for domain, typed, n in stated),
        *((ALL, domain, ALL, typed, "none", n) for domain, typed, n in stated),
        *(
            (ALL, domain, ALL, typed, status, CONCEPTS[domain] // 4)
            for domain in ASSOCIATED
            for typed in ("male", "female")
            for status in ("high", "ordinary")
        ),
    ]
    return pl.DataFrame(declared, schema=[*group, "declared"], orient="row")


def _frames(items: pl.DataFrame, file: str) -> Checkable:
    """One row per frame and group: how many concepts of each type it serves, typed in either language.

    By language alone the numbers may differ, since a concept may be typed in one language only.
    """
    keys = ["language", "style", "frame", "domain"]
    rules = contract(
        f"items-{BENCHMARK}-frames",
        keys,
        rows(len(LANGUAGES) * len(STYLES) * FRAMES_PER_STYLE * len(CONCEPTS)),
        equal("male", "female", "a frame serves as many male- as female-typed concepts of a group"),
        equal("concepts", "declared", "a frame serves its share of the concepts of a group"),
    )
    types = _typed_concepts(items).select("domain", "target", "type")
    served = (
        items.join(types, on=["domain", "target"])
        .group_by(keys)
        .agg(
            *((pl.col("type") == typed).sum().cast(pl.Int64).alias(typed) for typed in ("male", "female")),
            pl.col("target").n_unique().cast(pl.Int64).alias("concepts"),
        )
    )
    shares = {"domain": list(CONCEPTS), "declared": [n // FRAMES_PER_STYLE for n in CONCEPTS.values()]}
    wanted = items.select("language", "style", "frame").unique().join(pl.DataFrame(shares), how="cross")
    compared = wanted.join(served, on=keys, how="full", coalesce=True)
    return Checkable(
        rules, compared.with_columns(pl.col("male", "female", "concepts", "declared").fill_null(0)).sort(keys), file
    )
