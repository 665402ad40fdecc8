"""Contracts on the items of the open answers: letters, portraits and stories that a model is asked to write.

What their scores take for granted: both sides of a letter or a portrait differ in name and gender words alone, and no story
but a control's says what gender its person has.
"""

import polars as pl

from stages.schema import LANGUAGES, MAN, NO_STYLE, SINGLE, WOMAN
from stages.validate.contracts import Checkable, Expects, closed, contract, equal, like, present, rows, unique, unlike
from stages.validate.pairs import NAMES, words_of
from stages.validate.texts import written

BENCHMARK = "checkup-open"
NAME_PAIRS, OPENINGS = 6, 3
GROUPS = {
    ("letter", "male"): 4,
    ("letter", "female"): 4,
    ("letter", "none"): 4,
    ("success", "none"): 6,
    ("story", "male"): 10,
    ("story", "female"): 10,
    ("control", "male"): 10,
    ("control", "female"): 10,
    ("untyped", "none"): 10,
}
"""Domain and type -> how many roles, fields or concepts it has in each language."""
PAIRED = ("letter", "success")
STORIES = ("story", "control", "untyped")
_UNGENDERED = (
    r"(?i:\b(?:he|him|his|she|hers?|they|them|their|theirs|it|its|\w+self|\w+selves|mr|mrs|ms|men|women|man|woman)\b)"
    "|[他她它男女]|TA|先生|太太"
)
"""Pronouns and gender words, which the opening of a story has none of."""
STATED = {
    "male": r"(?i:\b(?:mr|man|gentleman|brother|father|grandfather|uncle|nephew|son)\b)|男|先生|哥哥|父亲|爷爷|叔叔|侄子|儿子",
    "female": r"(?i:\b(?:ms|woman|lady|sister|mother|grandmother|aunt|niece|daughter)\b)|女|姐姐|母亲|奶奶|姑姑",
}
"""Gender of a control -> the words that state it."""
_BANNED = (
    r"(?i:\b(?:(?:police|fire|sales|chair|business|spokes|camera|fore|handy|crafts|anchor)(?:wo)?m[ae]n|midwife|housewife|nanny"
    r"|maid|seamstress|waitress|actress|hostess|stewardess)\b)|月嫂|空姐|女工|老板娘|奶爸|阿姨|师傅|小哥|保姆"
)
_KEYS = ("language", "item_id", "variant")


def contracts(items: pl.DataFrame, file: str) -> list[Checkable]:
    """The contracts on ``items`` (rows of ``schema.ITEMS``), from the single item to the whole."""
    return [part(items, file) for part in (_items, _sides, _twins, _counts, _targets)]


def _items(items: pl.DataFrame, file: str) -> Checkable:
    sides, people = 2 * NAME_PAIRS, dict.fromkeys((*PAIRED, *STORIES), 0)
    for (domain, _), number in GROUPS.items():
        people[domain] += number
    total = sum(number * (sides if domain in PAIRED else OPENINGS) for domain, number in people.items())
    rules = contract(
        f"items-{BENCHMARK}-each",
        _KEYS,
        rows(len(LANGUAGES) * total),
        closed("language", LANGUAGES),
        closed("domain", people),
        closed("task", ["text"]),
        closed("style", [NO_STYLE]),
        closed("variant", [WOMAN, MAN], domain=PAIRED),
        closed("variant", [SINGLE], domain=STORIES),
        closed("status", ["high", "ordinary"], domain="story"),
        closed("status", ["none"], domain=("success", "control", "untyped")),
        present("source", typed=("male", "female")),
        written(),
        unlike("text", _BANNED, "the text names nobody by a word of one gender, as a fireman or a maid"),
        unlike("text", "_", "the text has no blank"),
        *_about_sides(),
        unlike("text", _UNGENDERED, "a story has neither pronoun nor gender word", domain=("story", "untyped")),
        *_controls(),
        unique("language", "text", says="no text occurs twice in a language"),
        equal("item_id", "id_made", "item_id is made of group, target, and name pair or opening"),
    )
    made = pl.concat_str("domain", "target", "frame", separator="-").alias("id_made")
    return Checkable(rules, items.drop("options").with_columns(made), file)


def _about_sides() -> list[Expects]:
    """A letter or portrait says by name and gender word whom it is about, and nothing of the other side."""
    others = {WOMAN: MAN, MAN: WOMAN}
    return [
        *(like("text", words_of(side), f"the side about a {side} says so", variant=side) for side in others),
        *(unlike("text", words_of(other), f"the side about a {side} has no word or name of a {other}", variant=side)
          for side, other in others.items()),
    ]  # fmt: skip


def _controls() -> list[Expects]:
    others = {"male": "female", "female": "male"}
    says = "a control states its gender"
    return [
        *(like("text", STATED[typed], says, domain="control", typed=typed) for typed in others),
        *(unlike("text", STATED[other], "a control has no word of the other gender", domain="control", typed=typed)
          for typed, other in others.items()),
    ]  # fmt: skip


def _sides(items: pl.DataFrame, file: str) -> Checkable:
    """One row per letter or portrait and language: its two sides beside each other."""
    rules = contract(
        f"items-{BENCHMARK}-sides",
        ("language", "item_id"),
        closed("variants", [f"{MAN} + {WOMAN}"], "a letter or portrait is asked for about a woman and about a man"),
        closed("wordings", [1], "both sides are the same but for name and gender words"),
        closed("facts", [1], "both sides have the same target, type and status"),
    )
    names = "|".join(name for side in NAMES.values() for name in side)
    plain = pl.col("text").str.replace_all(rf"(?i)\b(?:she|he|her|him|his|woman|man)\b|[他她]|女士|男士|{names}", "·")
    found = items.filter(pl.col("domain").is_in(PAIRED)).group_by("language", "item_id").agg(
        pl.col("variant").sort().str.join(" + ").alias("variants"),
        plain.n_unique().cast(pl.Int64).alias("wordings"),
        pl.struct("domain", "target", "typed", "status", "source", "women_share", "frame").n_unique().cast(pl.Int64).alias("facts"),
    )  # fmt: skip
    return Checkable(rules, found.sort("language", "item_id"), file)


def _twins(items: pl.DataFrame, file: str) -> Checkable:
    """One row per item: its two languages side by side."""
    facts = ("domain", "target", "frame", "status")
    rules = contract(
        f"items-{BENCHMARK}-twins",
        ("item_id", "variant"),
        closed("languages", [" + ".join(LANGUAGES)], "every item is there in both languages"),
        closed("facts", [1], "twins have the same group, target, frame and status"),
    )
    found = items.group_by("item_id", "variant").agg(
        pl.col("language").sort().str.join(" + ").alias("languages"),
        pl.struct(facts).n_unique().cast(pl.Int64).alias("facts"),
    )
    return Checkable(rules, found.sort("item_id", "variant"), file)


def _counts(items: pl.DataFrame, file: str) -> Checkable:
    """One row per language and group that is declared or found, with the numbers of targets declared and found."""
    group = ("language", "domain", "typed")
    rules = contract(
        f"items-{BENCHMARK}-counts", group, equal("found", "declared", "a group has its number of targets")
    )
    declared = [(language, *of, number) for language in LANGUAGES for of, number in GROUPS.items()]
    expected = pl.DataFrame(declared, schema=[*group, "declared"], orient="row")
    found = items.group_by(group).agg(pl.col("target").n_unique().cast(pl.Int64).alias("found"))
    compared = expected.join(found, on=group, how="full", coalesce=True)
    return Checkable(rules, compared.with_columns(pl.col("found", "declared").fill_null(0)).sort(group), file)


def _targets(items: pl.DataFrame, file: str) -> Checkable:
    """One row per language and target: how often it is asked for."""
    rules = contract(
        f"items-{BENCHMARK}-targets",
        ("language", "domain", "target"),
        closed(
            "frames", [NAME_PAIRS], f"a letter or portrait is asked for with {NAME_PAIRS} name pairs", domain=PAIRED
        ),
        closed("frames", [OPENINGS], f"a story is asked for with {OPENINGS} openings", domain=STORIES),
        closed("facts", [1], "a target has one type, status, source and share of women in a language"),
    )
    found = items.group_by("language", "domain", "target").agg(
        pl.col("frame").n_unique().cast(pl.Int64).alias("frames"),
        pl.struct("typed", "status", "source", "women_share").n_unique().cast(pl.Int64).alias("facts"),
    )
    return Checkable(rules, found.sort("language", "domain", "target"), file)
