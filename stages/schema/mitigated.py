"""What mitigations do: a protocol joined by + against the same one without it, within a run."""

import polars as pl

from stages.schema._columns import FLOAT, INT, RUN_KEY, TEXT, VERSION
from stages.table import Column, Table

JOINED = "+"
"""Joins mitigations to a protocol: three+few-shot is three with few-shot."""
ASKED = "asked"
"""The domain of what is told of every concept: those of all choice groups, the controls and the untyped ones."""
_VERSUS = Column("versus", TEXT, "the protocol without mitigations that it is compared with, e.g. three")


EFFECTS = Table(
    "effects",
    ("run", "benchmark", "language", "protocol", "versus", "domain", "metric"),
    (
        *RUN_KEY,
        _VERSUS,
        Column("domain", TEXT, "a group, all (all choice groups, or all pairs), or asked (also controls and untyped)"),
        Column(
            "metric",
            TEXT,
            "lean, abs_lean (how far lean is from 0), abs_lean_kept, default, evaded_rate …; see docs/methodology.md",
        ),
        Column("family", TEXT, "primary (abs_lean of all: Holm over the run) or exploratory (Benjamini–Hochberg)"),
        Column("value", FLOAT, "mean of the paired differences, with less without; null when undefined", True),
        Column(
            "ci_low",
            FLOAT,
            "lower end of its 95 % interval; of abs_lean and abs_lean_kept of all, of the simultaneous one (Bonferroni over the run)",
            True,
        ),
        Column("ci_high", FLOAT, "upper end, as ci_low", True),
        Column("p_value", FLOAT, "two-sided sign-flip permutation over targets; null without a value", True),
        Column("p_adjusted", FLOAT, "p_value after the correction of its family", True),
        Column("n", INT, "targets usable on both sides"),
        Column("here", FLOAT, "the metric over these targets with the mitigation", True),
        Column("here_low", FLOAT, "lower end of the 95 % interval of here", True),
        Column("here_high", FLOAT, "upper end of the 95 % interval of here", True),
        Column("there", FLOAT, "the metric over these targets without it", True),
        Column("there_low", FLOAT, "lower end of the 95 % interval of there", True),
        Column("there_high", FLOAT, "upper end of the 95 % interval of there", True),
        VERSION,
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
            "better, worse, bought by refusals, reversed, one-sided, over-neutral, no change, unclear, or not measurable",
        ),
        Column(
            "reasons",
            pl.List(TEXT),
            "the conditions of 'better' that do not hold: measurable, served, coverage, lean, reversal, evaded, kept, controls, default, groups",
        ),
        VERSION,
    ),
    "one row per (run, benchmark, language, protocol, versus): what a mitigation did to the lean of all choice groups",
)
