"""What mitigations do: a protocol joined by + against the same one without it, within a run."""

import polars as pl

from stages.schema._columns import FLOAT, INT, RUN_KEY, TEXT
from stages.table import Column, Table

_VERSUS = Column("versus", TEXT, "the protocol without mitigations that it is compared with, e.g. three")

EFFECTS = Table(
    "effects",
    ("run", "benchmark", "language", "protocol", "versus", "domain", "metric"),
    (
        *RUN_KEY,
        _VERSUS,
        Column("domain", TEXT, "a group, or all"),
        Column("metric", TEXT, "lean, abs_lean, default, refusal_rate, unusable_rate, evaded_rate, control_accuracy …"),
        Column("value", FLOAT, "mean of the paired differences, with less without; null when undefined", True),
        Column("ci_low", FLOAT, "lower end of its corrected 95 % interval", True),
        Column("ci_high", FLOAT, "upper end of its corrected 95 % interval", True),
        Column("p_value", FLOAT, "two-sided sign-flip permutation over targets; null without a value", True),
        Column("p_adjusted", FLOAT, "p_value after the correction of its family", True),
        Column("n", INT, "targets usable on both sides"),
        Column("here", FLOAT, "the metric over these targets with the mitigation", True),
        Column("there", FLOAT, "the metric over these targets without it", True),
        Column("metrics_version", INT, "version of the metrics' definitions"),
    ),
    "one row per (run, benchmark, language, protocol, versus, domain, metric): paired differences that a mitigation makes",
)

MITIGATIONS = Table(
    "mitigations",
    ("run", "benchmark", "language", "protocol", "versus"),
    (
        *RUN_KEY,
        _VERSUS,
        Column(
            "verdict",
            TEXT,
            "better, worse, bought by refusals, reversed, over-neutral, no change, unclear, or not measurable",
        ),
        Column("reasons", pl.List(TEXT), "the conditions of 'better' that do not hold"),
        Column("metrics_version", INT, "version of the metrics' definitions"),
    ),
    "one row per (run, benchmark, language, protocol, versus): what a mitigation did to the lean of all choice groups",
)
