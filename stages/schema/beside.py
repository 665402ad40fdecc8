"""The tables beside the history: figures that others published, and what the last validation found."""

from stages.schema._columns import BENCHMARK, FLAG, FLOAT, INT, LANGUAGE, TEXT
from stages.table import Column, Table

PUBLISHED = Table(
    "published",
    ("source", "model", "benchmark", "language", "metric"),
    (
        Column("source", TEXT, "who published it; not measured here"),
        Column("model", TEXT, "the model as they name it"),
        BENCHMARK,
        LANGUAGE,
        Column("metric", TEXT, "name of the metric, by their rule"),
        Column("protocol", TEXT, "whose scores are of the same kind; null when not known, and of votes", True, since=2),
        Column("value", FLOAT, "the figure"),
        Column("unit", TEXT, "its unit"),
        Column("date", TEXT, "when it was published, as far as known", True),
        Column("note", TEXT, "how it was obtained, and what it cannot be compared with", True),
    ),
    "one row per (source, model, benchmark, language, metric): somebody else's figures, never part of the history",
)

CONTRACTS = Table(
    "contracts",
    ("suite", "position"),
    (
        Column("suite", TEXT, "items or answers, and the table checked"),
        Column("position", INT, "place of the expectation in its suite"),
        Column("expectation", TEXT, "what must hold, in words"),
        Column("column", TEXT, "column checked, if one", True),
        Column("success", FLAG, "whether it held"),
        Column("rows", INT, "rows checked"),
        Column("unexpected", INT, "rows that broke it"),
        Column("keys", TEXT, "keys of the first rows that broke it", True),
    ),
    "one row per expectation of the last validation",
)
