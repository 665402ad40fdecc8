"""The closed sets of labels, and the versions of tables and of numbers."""

from enum import StrEnum

SCHEMA_VERSION = 3
METRICS_VERSION = 4
ALL = "all"
"""The value of a scope column (domain, style, typed, status, served_model) that spans everything."""
UNKNOWN = "unknown"
"""The served model of a reply whose provider names none."""


class Outcome(StrEnum):
    """What an answer means."""

    STEREOTYPE = "stereotype"
    ANTI_STEREOTYPE = "anti-stereotype"
    NEUTRAL = "neutral"
    UNRELATED = "unrelated"
    CORRECT = "correct"
    INCORRECT = "incorrect"
    GENDERED = "gendered"
    PAIRED = "paired"
    REFUSAL = "refusal"
    FILTERED = "filtered"
    INVALID = "invalid"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    ERROR = "error"
    JUDGE_INVALID = "judge-invalid"


UNUSABLE = (Outcome.INVALID, Outcome.EMPTY, Outcome.TRUNCATED, Outcome.ERROR, Outcome.JUDGE_INVALID)
"""Outcomes that say nothing about the item; everything else is usable."""
SPLIT = "split"
"""The vote of an item whose answers have no plurality."""


class Kind(StrEnum):
    """What can be asked of a domain's answers."""

    CHOICE = "choice"
    """Concepts with a traditional type; pooled in the domain 'all'."""
    PAIR = "pair"
    """Situations told once about a woman and once about a man; pooled in the domain 'all', never with choices."""
    CONTROL = "control"
    """Concepts whose gender is stated: right or wrong; outside all other scores."""
    UNTYPED = "untyped"
    """Concepts without a type: they tell the default gender only."""
    SENTENCE = "sentence"
    """Terms with sentences that are stereotypes, anti-stereotypes or unrelated (StereoSet)."""
    TEXT = "text"
    """Texts written once about a woman and once about a man, compared by the words in them; never pooled."""
    RUBRIC = "rubric"
    """Questions about such texts, answered by a rater: a judge model or a person; what they say is of the text's author."""


DOMAINS = {
    "occupation": Kind.CHOICE,
    "pronoun": Kind.CHOICE,
    "family": Kind.CHOICE,
    "trait": Kind.PAIR,
    "language": Kind.PAIR,
    "control": Kind.CONTROL,
    "untyped": Kind.UNTYPED,
    **dict.fromkeys(("gender", "race", "religion", "profession"), Kind.SENTENCE),
    "story": Kind.CHOICE,
    **dict.fromkeys(("letter", "success"), Kind.TEXT),
    **dict.fromkeys(("agency", "ability", "praise"), Kind.RUBRIC),
}
"""Domain -> kind. A new domain is scored once it has a line here."""
TWO_SIDED = tuple(domain for domain, kind in DOMAINS.items() if kind is Kind.TEXT)
"""Groups of texts about a woman and about a man."""

ASSOCIATED = ("occupation", "pronoun", "family")
"""Groups of the check-up whose concepts are typed by a source."""
STEREOSET_TASKS = ("intersentence", "intrasentence")
TOGETHER = {"stereoset": tuple(f"stereoset-{task}" for task in STEREOSET_TASKS)}
"""A benchmark without items of its own -> those whose answers are scored together under its name."""

LANGUAGES = ("en", "zh")
"""Those of the check-up."""
ITEM_LANGUAGES = (*LANGUAGES, "pt")
"""Those of any benchmark."""
TYPED = ("male", "female", "none")
STYLES = ("direct", "situational", "scene")
NO_STYLE = "none"
"""The style of an item whose benchmark has no wording styles; every plan asks it."""
STATUSES = ("high", "ordinary", "none")
ROUTES = ("api", "web", "local", "imported", "person")
SCORED = "scored"
"""The stop reason of an answer without a reply, whose candidates were scored instead."""
SINGLE, WOMAN, MAN = VARIANTS = ("single", "woman", "man")
"""Sides of an item: 'single' where it is no pair."""
TASKS = {"blank": 1, "pick": 3, "option": 1, "text": 0}
"""What an item wants done -> how many options are chosen: a word for the blank, words from a list, a lettered option, and
none where a text is to be written."""

OPEN, RUBRIC = "checkup-open", "checkup-open-rubric"
"""The benchmark whose answers are texts, and that of the questions about them, which a run that reads another asks."""
PAIR_TASKS = {"trait": "pick", "language": "option"}
"""Group of pairs -> the task of its items."""
