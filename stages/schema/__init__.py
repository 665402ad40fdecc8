"""Every table's columns, types, nulls, grain and meaning, and the closed sets of labels. The one place.

SQL comments, contracts and docs/tables.md are made from the same declarations.
"""

from stages.schema._columns import ITEM_FACTS, RUN_KEY
from stages.schema.asked import ANSWERS, ITEMS
from stages.schema.beside import CONTRACTS, PUBLISHED
from stages.schema.derived import CHANGES, COMPARISONS, JUDGEMENTS, SCORES, VOTES, WORD_PROFILES
from stages.schema.labels import (
    ALL,
    ASSOCIATED,
    DOMAINS,
    ITEM_LANGUAGES,
    LANGUAGES,
    MAN,
    METRICS_VERSION,
    NO_STYLE,
    OPEN,
    PAIR_TASKS,
    ROUTES,
    RUBRIC,
    SCHEMA_VERSION,
    SCORED,
    SINGLE,
    SPLIT,
    STATUSES,
    STEREOSET_TASKS,
    STYLES,
    TASKS,
    TOGETHER,
    TWO_SIDED,
    TYPED,
    UNKNOWN,
    UNUSABLE,
    VARIANTS,
    WOMAN,
    Kind,
    Outcome,
)
from stages.schema.mitigated import ASKED, EFFECTS, JOINED, MITIGATIONS
from stages.schema.texts import AGREEMENT, GAPS

__all__ = [
    "AGREEMENT",
    "ALL",
    "ANSWERS",
    "ASKED",
    "ASSOCIATED",
    "CHANGES",
    "COMPARISONS",
    "CONTRACTS",
    "DOMAINS",
    "EFFECTS",
    "GAPS",
    "ITEMS",
    "ITEM_FACTS",
    "ITEM_LANGUAGES",
    "JOINED",
    "JUDGEMENTS",
    "LANGUAGES",
    "MAN",
    "METRICS_VERSION",
    "MITIGATIONS",
    "NO_STYLE",
    "OPEN",
    "PAIR_TASKS",
    "PUBLISHED",
    "RECORDED",
    "ROUTES",
    "RUBRIC",
    "RUN_KEY",
    "SCHEMA_VERSION",
    "SCORED",
    "SCORES",
    "SINGLE",
    "SPLIT",
    "STATUSES",
    "STEREOSET_TASKS",
    "STYLES",
    "TABLES",
    "TASKS",
    "TOGETHER",
    "TWO_SIDED",
    "TYPED",
    "UNKNOWN",
    "UNUSABLE",
    "VARIANTS",
    "VOTES",
    "WOMAN",
    "WORD_PROFILES",
    "Kind",
    "Outcome",
]

RECORDED = (
    *(ANSWERS, JUDGEMENTS, VOTES, SCORES, WORD_PROFILES, COMPARISONS, CHANGES),
    *(EFFECTS, MITIGATIONS, GAPS, AGREEMENT),
)
"""Tables kept in a file per run, benchmark, language and protocol."""
TABLES = {t.name: t for t in (ITEMS, *RECORDED, PUBLISHED, CONTRACTS)}
