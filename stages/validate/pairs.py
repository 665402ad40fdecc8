"""Contracts on the pairs: situations told once about a woman and once about a man, answered from a closed set."""

import polars as pl

from stages.schema import LANGUAGES, MAN, PAIR_TASKS, WOMAN, Outcome
from stages.validate.contracts import Checkable, closed, contract, equal, like, rows, unique, unlike
from stages.validate.texts import written

PAIRS = 20
"""Pairs of each group."""
CODES = {"trait": "1 -1 1 -1 0 1 -1 1 -1 0", "language": "-1 0 1"}
"""Group -> codes of its options: of a list of words in their canonical order, else sorted."""
WORD_SETS = 2
"""Lists of words; each serves as many situations."""

NAMES = {
    WOMAN: (
        "Emily",
        "Rachel",
        "Heather",
        "Katherine",
        "Laura",
        "Hannah",
        "杨婷",
        "何雪",
        "赵倩",
        "许莉",
        "周丽萍",
        "宋春燕",
    ),
    MAN: (
        "Steven",
        "Timothy",
        "Adam",
        "Patrick",
        "Nathan",
        "Samuel",
        "杨鹏",
        "何浩",
        "赵凯",
        "许龙",
        "周志伟",
        "宋文龙",
    ),
}
"""Side -> the names of names.csv, once more: sides exchanged in the source would turn the sign of every score of pairs."""
WORDS = {
    WOMAN: r"(?i:\b(?:woman|she|her|hers|herself)\b)|女|她",
    MAN: r"(?i:\b(?:man|he|him|his|himself)\b)|男|(?<!其)他",
}
"""Side -> the words, but for names, that only a text about it has; 其他 is no person."""


def words_of(side: str) -> str:
    """The words and names that only a text about ``side`` has, as a regular expression."""
    return f"{WORDS[side]}|{'|'.join(NAMES[side])}"


def contracts(benchmark: str, items: pl.DataFrame, file: str) -> list[Checkable]:
    """The contracts on ``items`` (rows of ``schema.ITEMS`` of the pair groups), from the single item to the whole."""
    return [
        part(f"items-{benchmark}-pairs", items, file) for part in (_sides, _options, _answers, _pairs, _twins, _groups)
    ]


def _sides(suite: str, items: pl.DataFrame, file: str) -> Checkable:
    rules = contract(
        f"{suite}-each",
        ("language", "item_id", "variant"),
        rows(len(LANGUAGES) * len(PAIR_TASKS) * PAIRS * 2),
        closed("language", LANGUAGES),
        closed("variant", [WOMAN, MAN]),
        *(closed("task", [task], domain=domain) for domain, task in PAIR_TASKS.items()),
        closed("style", ["direct"]),
        closed("typed", ["none"]),
        closed("status", ["none"]),
        written(),
        unlike("text", "____.*____|^____", "a text has at most one blank, and does not open with it"),
        *(like("text", words_of(side), f"the side about a {side} says so", variant=side) for side in (WOMAN, MAN)),
        unlike("text", words_of(MAN), "the side about a woman has no word or name of a man", variant=WOMAN),
        unlike("text", words_of(WOMAN), "the side about a man has no word or name of a woman", variant=MAN),
        unique("language", "text", says="no text occurs twice in a language"),
        equal("item_id", "id_made", "item_id is made of group and situation"),
    )
    made = pl.concat_str("domain", "target", separator="-").alias("id_made")
    return Checkable(rules, items.drop("options").with_columns(made), file)


def _options(suite: str, items: pl.DataFrame, file: str) -> Checkable:
    """One row per side: its options as a whole."""
    rules = contract(
        f"{suite}-options",
        ("language", "item_id", "variant"),
        *(
            closed("codes", [codes], f"the codes of {domain} are {codes}", domain=domain)
            for domain, codes in CODES.items()
        ),
        equal("n_keys", "n_options", "no item offers a key twice"),
        equal("n_texts", "n_options", "no item offers a text twice"),
        closed("n_gendered", [0], "no answer has a gender of its own"),
        closed("n_labelled", [0], "no answer has a letter before it is shown"),
        closed("outcomes", [str(Outcome.PAIRED)], "choosing an answer is half of a pair"),
    )
    each = pl.col("options").list
    codes = each.eval(pl.element().struct.field("code").cast(pl.String).fill_null("?"))
    sorted_codes = each.eval(pl.element().struct.field("code").sort().cast(pl.String).fill_null("?"))
    facts = items.select(
        *("language", "item_id", "variant", "domain"),
        pl.when(pl.col("task") == "pick")
        .then(codes.list.join(" "))
        .otherwise(sorted_codes.list.join(" "))
        .alias("codes"),
        each.len().cast(pl.Int64).alias("n_options"),
        *(
            each.eval(pl.element().struct.field(f)).list.n_unique().cast(pl.Int64).alias(f"n_{f}s")
            for f in ("key", "text")
        ),
        *(
            each.eval(pl.element().struct.field(field).is_not_null()).list.sum().cast(pl.Int64).alias(name)
            for field, name in (("gender", "n_gendered"), ("label", "n_labelled"))
        ),
        each.eval(pl.element().struct.field("outcome")).list.unique().list.join(" ").alias("outcomes"),
    )
    return Checkable(rules, facts, file)


def _answers(suite: str, items: pl.DataFrame, file: str) -> Checkable:
    """One row per side and answer."""
    rules = contract(f"{suite}-answers", ("language", "item_id", "variant", "key"), written("answer"))
    each = items.select("language", "item_id", "variant", "options").explode("options").drop_nulls("options")
    answers = each.unnest("options").select("language", "item_id", "variant", "key", pl.col("text").alias("answer"))
    return Checkable(rules, answers, file)


def _pairs(suite: str, items: pl.DataFrame, file: str) -> Checkable:
    """One row per pair and language: its two sides beside each other."""
    rules = contract(
        f"{suite}-sides",
        ("language", "item_id"),
        closed("variants", [f"{MAN} + {WOMAN}"], "a pair is told about a woman and about a man"),
        closed("offers", [1], "both sides of a pair offer the same answers"),
        closed("lengths", [1], "both sides of a pair have as many words (Chinese: characters)"),
    )
    length = (
        pl.when(language="zh").then(pl.col("text").str.len_chars()).otherwise(pl.col("text").str.count_matches(" "))
    )
    found = items.group_by("language", "item_id").agg(
        pl.col("variant").sort().str.join(" + ").alias("variants"),
        pl.col("options").n_unique().cast(pl.Int64).alias("offers"),
        length.n_unique().cast(pl.Int64).alias("lengths"),
    )
    return Checkable(rules, found.sort("language", "item_id"), file)


def _twins(suite: str, items: pl.DataFrame, file: str) -> Checkable:
    """One row per side: its two languages beside each other."""
    rules = contract(
        f"{suite}-twins",
        ("item_id", "variant"),
        closed("languages", [" + ".join(LANGUAGES)], "every pair is there in both languages"),
        closed("offers", [1], "twins offer the same answers with the same codes"),
    )
    answers = pl.col("options").list.eval(pl.format("{} {}", pl.element().struct[0], pl.element().struct.field("code")))
    found = items.group_by("item_id", "variant").agg(
        pl.col("language").sort().str.join(" + ").alias("languages"),
        answers.list.join(", ").n_unique().cast(pl.Int64).alias("offers"),
    )
    return Checkable(rules, found.sort("item_id", "variant"), file)


def _groups(suite: str, items: pl.DataFrame, file: str) -> Checkable:
    """One row per language and group."""
    rules = contract(
        f"{suite}-groups",
        ("language", "domain"),
        rows(len(LANGUAGES) * len(PAIR_TASKS)),
        closed("pairs", [PAIRS], f"a group has {PAIRS} pairs"),
        closed("sets", [WORD_SETS], f"there are {WORD_SETS} lists of words", domain="trait"),
        closed("served", [PAIRS // WORD_SETS], "each list of words serves as many situations", domain="trait"),
    )
    keys = pl.col("options").list.eval(pl.element().struct.field("key")).list.join(" ")
    sets = items.group_by("language", "domain", keys.alias("keys")).agg(pl.col("target").n_unique().alias("served"))
    found = sets.group_by("language", "domain").agg(
        pl.col("served").sum().cast(pl.Int64).alias("pairs"),
        pl.len().cast(pl.Int64).alias("sets"),
        pl.col("served").min().cast(pl.Int64),
    )
    return Checkable(rules, found.sort("language", "domain"), file)
