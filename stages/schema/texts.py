"""What is found in texts that models write, and how far those who read them agree."""

from stages.schema._columns import FLOAT, INT, RUN_KEY, TEXT, VERSION
from stages.table import Column, Table

GAPS = Table(
    "gaps",
    ("run", "benchmark", "language", "protocol", "domain", "target", "rater", "measure"),
    (
        *RUN_KEY,
        Column("domain", TEXT, "a group of texts: letter or success"),
        Column("target", TEXT, "the pair, e.g. a role; or all of the domain"),
        Column("rater", TEXT, "lexicon, or the run of the judge model or person that read the texts"),
        Column("measure", TEXT, "category of the lexicon (words per 100), or question of the rubric (100 · mean code)"),
        Column("woman", FLOAT, "the measure over the texts about women", True),
        Column("man", FLOAT, "the measure over the texts about men", True),
        Column("value", FLOAT, "man − woman; of all targets the mean; null when undefined", True),
        Column("ci_low", FLOAT, "lower end of its 95 % interval; null under five targets and of one pair", True),
        Column("ci_high", FLOAT, "upper end of its 95 % interval; null under five targets and of one pair", True),
        Column("p_value", FLOAT, "two-sided, of the permutation distribution of the sides; null without a value", True),
        Column("p_adjusted", FLOAT, "p_value after the correction of its family", True),
        Column("n", INT, "targets with texts on both sides"),
        Column("n_woman", INT, "texts about women that were read"),
        Column("n_man", INT, "texts about men that were read"),
        VERSION,
    ),
    "one row per (run, benchmark, language, protocol, domain, target, rater, measure): how texts about men and women differ",
)

AGREEMENT = Table(
    "agreement",
    ("run", "benchmark", "language", "protocol", "domain", "rater", "versus"),
    (
        *RUN_KEY,
        Column("domain", TEXT, "the question of the rubric: agency, ability or praise"),
        Column("rater", TEXT, "the run of a judge model or of a person that read the texts"),
        Column("versus", TEXT, "another such run, or lexicon"),
        Column("kappa", FLOAT, "Cohen's kappa of their codes, linear weights; null when undefined", True),
        Column("ci_low", FLOAT, "lower end of its 95 % interval", True),
        Column("ci_high", FLOAT, "upper end of its 95 % interval", True),
        Column("agreement", FLOAT, "100 · share of texts that both give the same code", True),
        Column("n", INT, "texts that both gave a code"),
        VERSION,
    ),
    "one row per (run, benchmark, language, protocol, domain, rater, versus): how far two readers of a run's texts agree",
)
