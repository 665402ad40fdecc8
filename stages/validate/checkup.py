"""Contracts on the items of the check-up and of its second form: what their scores take for granted.

Groups, counts and thresholds are those of docs/methodology.md; changing the instrument means changing them here too. The
pairs have contracts of their own (pairs.py).
"""

from dataclasses import dataclass

import polars as pl

from stages.schema import ALL, ASSOCIATED, LANGUAGES, PAIR_TASKS, SINGLE, STYLES, Outcome
from stages.validate import pairs
from stages.validate.contracts import (
    Checkable,
    absent,
    between,
    closed,
    contract,
    equal,
    like,
    present,
    rows,
    unique,
    unlike,
)
from stages.validate.tables import MISSING
from stages.validate.texts import written

FRAMES_PER_STYLE = 5
BLANK = "____"
MALE_AT_MOST, FEMALE_AT_LEAST = 30, 70
"""Percent women up to which a concept is male-typed, and from which it is female-typed."""
UNTYPED_SHARE = (45, 55)
KEYS = ("language", "item_id", "variant")


@dataclass(frozen=True)
class Form:
    """A benchmark's groups with a blank: how many concepts each has in each language, and how many of them have high status."""

    benchmark: str
    concepts: dict[str, int]
    high: dict[tuple[str, str], int]
    """(group, type) -> concepts with high status; the others' is ordinary. Half of a group's concepts are of each type."""
    has_pairs: bool = False

    @property
    def n_concepts(self) -> int:
        return sum(self.concepts.values())

    @property
    def associated(self) -> list[str]:
        return [domain for domain in ASSOCIATED if domain in self.concepts]


_SHARED = {"control": 20, "untyped": 10}
FORM_A = Form(
    "checkup",
    {**dict.fromkeys(ASSOCIATED, 20), **_SHARED},
    {(domain, typed): 5 for domain in ASSOCIATED for typed in ("male", "female")},
    has_pairs=True,
)
FORM_B = Form(
    "checkup-b",
    {"occupation": 10, "pronoun": 10, **_SHARED},
    {("occupation", "male"): 3, ("occupation", "female"): 2, ("pronoun", "male"): 2, ("pronoun", "female"): 3},
)

WORDS = {
    "pronoun": {"he": ("he", "他", 1), "she": ("she", "她", -1), "they": ("they", "TA", 0)},
    "parent": {"father": ("father", "爸爸", 1), "mother": ("mother", "妈妈", -1), "either": ("either", "都可以", 0)},
}
"""Option set -> key -> its text in each of ``LANGUAGES``, and its gender; in canonical order."""
SETS = {domain: "parent" if domain == "family" else "pronoun" for domain in FORM_A.concepts}
"""Group -> its option set. Groups of one set share their frames."""

_ALONG, _AGAINST = Outcome.STEREOTYPE, Outcome.ANTI_STEREOTYPE
MEANINGS = [
    *((group, "male", _ALONG, _AGAINST) for group in ASSOCIATED),
    *((group, "female", _AGAINST, _ALONG) for group in ASSOCIATED),
    *((group, "none", Outcome.GENDERED, Outcome.GENDERED) for group in (*ASSOCIATED, "untyped")),
    ("control", "male", Outcome.CORRECT, Outcome.INCORRECT),
    ("control", "female", Outcome.INCORRECT, Outcome.CORRECT),
]
"""Group, type, and what it means to choose the male and the female answer; the third is always neutral."""
OUTCOMES = sorted({Outcome.NEUTRAL, *(outcome for *_, male, female in MEANINGS for outcome in (male, female))})


def form_a(items: pl.DataFrame, file: str) -> list[Checkable]:
    """The contracts on the items of the benchmark ``checkup`` (rows of ``schema.ITEMS``), from the single item to the whole."""
    return _contracts(FORM_A, items, file)


def form_b(items: pl.DataFrame, file: str) -> list[Checkable]:
    """The same of the benchmark ``checkup-b``, the second form."""
    return _contracts(FORM_B, items, file)


def _contracts(form: Form, items: pl.DataFrame, file: str) -> list[Checkable]:
    paired = pl.col("domain").is_in(list(PAIR_TASKS)) if form.has_pairs else pl.lit(False)
    parts = (_items, _options, _twins, _concepts, _counts, _frames)
    found = [part(form, items.filter(~paired), file) for part in parts]
    return found + pairs.contracts(form.benchmark, items.filter(paired), file) if form.has_pairs else found


def _items(form: Form, items: pl.DataFrame, file: str) -> Checkable:
    per_language = len(STYLES) * form.n_concepts
    rules = contract(
        f"items-{form.benchmark}-each",
        KEYS,
        rows(len(LANGUAGES) * per_language),
        closed("language", LANGUAGES),
        *(rows(per_language, language=language) for language in LANGUAGES),
        closed("domain", form.concepts),
        closed("style", STYLES),
        closed("variant", [SINGLE]),
        closed("task", ["blank"]),
        closed("typed", ["male", "female"], domain="control"),
        closed("typed", ["none"], domain="untyped"),
        closed("status", ["high", "ordinary"], domain=form.associated),
        closed("status", ["none"], domain=("control", "untyped")),
        present("source", typed=("male", "female")),
        between("women_share", 0, MALE_AT_MOST, nullable=True, typed="male"),
        between("women_share", FEMALE_AT_LEAST, 100, nullable=True, typed="female"),
        between("women_share", *UNTYPED_SHARE, nullable=True, domain="untyped"),
        like("text", f"^[^_]*{BLANK}[^_]*$", f"the text has the blank {BLANK} exactly once"),
        unlike("text", "^_", "the text does not open with the blank"),
        written(),
        unique("language", "text", says="no text occurs twice in a language"),
        equal("item_id", "id_made", "item_id is made of group, concept and style"),
    )
    made = pl.concat_str("domain", "target", "style", separator="-").alias("id_made")
    return Checkable(rules, items.drop("options").with_columns(made), file)


def _options(form: Form, items: pl.DataFrame, file: str) -> Checkable:
    """One row per item and option, the declared ones joined with those found, so that a lacking one is a row too."""
    rules = contract(
        f"items-{form.benchmark}-options",
        (*KEYS, "key"),
        rows(3 * len(LANGUAGES) * len(STYLES) * form.n_concepts),
        closed("key", [key for words in WORDS.values() for key in words]),
        unique(*KEYS, "key", says="no item offers a key twice"),
        unique(*KEYS, "text", says="no item offers a text twice"),
        closed("gender", [-1, 0, 1]),
        absent("label", "an answer to a blank has no letter"),
        absent("code", "an answer to a blank has no code"),
        closed("outcome", OUTCOMES),
        equal("form", "declared_form", "the answers are exactly those of the group in their one form"),
        equal("outcome", "declared_outcome", "choosing an answer means what the group and type of the concept say"),
    )
    offered = items.select(*KEYS, "options").explode("options").drop_nulls("options").unnest("options")
    place = pl.col("key").cum_count().over(KEYS)
    offered = offered.with_columns(pl.format("{}. {}, gender {}", place, "text", "gender").alias("form"))
    compared = _declared_options(items).join(offered, on=[*KEYS, "key"], how="full", coalesce=True)
    shown = ("text", "form", "outcome", "declared_form", "declared_outcome")
    return Checkable(rules, compared.with_columns(pl.col(shown).fill_null(MISSING)).sort(*KEYS, "key", "form"), file)


def _declared_options(items: pl.DataFrame) -> pl.DataFrame:
    genders = {1: "male", -1: "female", 0: "neutral"}
    declared = [
        (domain, language, key, f"{place}. {texts[i]}, gender {gender}", genders[gender])
        for domain, option_set in SETS.items()
        for place, (key, (*texts, gender)) in enumerate(WORDS[option_set].items(), start=1)
        for i, language in enumerate(LANGUAGES)
    ]
    forms = pl.DataFrame(declared, schema=["domain", "language", "key", "declared_form", "side"], orient="row")
    meanings = pl.DataFrame(MEANINGS, schema=["domain", "typed", "male", "female"], orient="row").with_columns(
        pl.lit(str(Outcome.NEUTRAL)).alias("neutral")
    )
    long = meanings.unpivot(index=["domain", "typed"], variable_name="side", value_name="declared_outcome")
    asked = items.select(*KEYS, "domain", "typed").join(forms, on=["domain", "language"])
    return asked.join(long, on=["domain", "typed", "side"], how="left").drop("domain", "typed", "side")


def _twins(form: Form, items: pl.DataFrame, file: str) -> Checkable:
    """One row per item id: its two languages side by side."""
    facts = ("domain", "target", "style", "frame", "status")
    rules = contract(
        f"items-{form.benchmark}-twins",
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


def _concepts(form: Form, items: pl.DataFrame, file: str) -> Checkable:
    rules = contract(
        f"items-{form.benchmark}-concepts",
        ("domain", "target"),
        rows(form.n_concepts),
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


def _counts(form: Form, items: pl.DataFrame, file: str) -> Checkable:
    """One row per group that is declared or found, with the numbers of concepts declared and found."""
    group = ["language", "domain", "style", "type", "status"]
    rules = contract(
        f"items-{form.benchmark}-counts",
        group,
        equal("found", "declared", "a group has its number of concepts"),
    )
    stated = items.filter(~pl.col("domain").is_in(form.associated)).rename({"typed": "type"})
    parts = [
        items.group_by("language", "domain", "style").agg(pl.col("target").n_unique().alias("found")),
        stated.group_by("language", "domain", "type").agg(pl.col("target").n_unique().alias("found")),
        _typed_concepts(items).group_by("domain", "type", "status").agg(pl.len().alias("found")),
    ]
    found = pl.concat(parts, how="diagonal_relaxed").with_columns(
        pl.col(group).fill_null(ALL), pl.col("found").cast(pl.Int64)
    )
    compared = _declared_counts(form, group).join(found, on=group, how="full", coalesce=True)
    return Checkable(rules, compared.with_columns(pl.col("found", "declared").fill_null(0)).sort(group), file)


def _declared_counts(form: Form, group: list[str]) -> pl.DataFrame:
    concepts, half = form.concepts, form.concepts["control"] // 2
    stated = [("control", "male", half), ("control", "female", half), ("untyped", "none", concepts["untyped"])]
    declared = [
        *((language, d, style, ALL, ALL, n) for language in LANGUAGES for d, n in concepts.items() for style in STYLES),
        *((language, domain, ALL, typed, ALL, n) for language in LANGUAGES for domain, typed, n in stated),
        *((ALL, domain, ALL, typed, "none", n) for domain, typed, n in stated),
        *((ALL, domain, ALL, typed, "high", n) for (domain, typed), n in form.high.items()),
        *((ALL, domain, ALL, typed, "ordinary", concepts[domain] // 2 - n) for (domain, typed), n in form.high.items()),
    ]
    return pl.DataFrame(declared, schema=[*group, "declared"], orient="row")


def _frames(form: Form, items: pl.DataFrame, file: str) -> Checkable:
    """One row per frame and group: how many concepts of each type it serves, typed in either language.

    By language alone the numbers may differ, since a concept may be typed in one language only.
    """
    keys = ["language", "style", "frame", "domain"]
    rules = contract(
        f"items-{form.benchmark}-frames",
        keys,
        rows(len(LANGUAGES) * len(STYLES) * FRAMES_PER_STYLE * len(form.concepts)),
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
    declared = [(d, SETS[d], n // FRAMES_PER_STYLE) for d, n in form.concepts.items()]
    shares = pl.DataFrame(declared, schema=["domain", "set", "declared"], orient="row")
    used = items.select(
        "language", "style", "frame", pl.col("domain").replace_strict(SETS, default=MISSING).alias("set")
    ).unique()
    compared = used.join(shares, on="set").drop("set").join(served, on=keys, how="full", coalesce=True)
    return Checkable(
        rules, compared.with_columns(pl.col("male", "female", "concepts", "declared").fill_null(0)).sort(keys), file
    )
