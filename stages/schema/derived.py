"""The tables that are made of answers, and can be made again at any time."""

import polars as pl

from stages.schema._columns import (
    BENCHMARK,
    DATE,
    EPOCH_NUMBER,
    FLAG,
    FLOAT,
    INT,
    ITEM_FACTS,
    ITEM_ID,
    LANGUAGE,
    MODEL,
    ORDER,
    PROTOCOL,
    RUN,
    RUN_KEY,
    TASK,
    TEXT,
    VARIANT,
    VERSION,
)
from stages.schema.asked import ANSWERS
from stages.structs import COUNT, EPOCH, PICK
from stages.table import Column, Table

JUDGEMENTS = Table(
    "judgements",
    ANSWERS.grain,
    (
        *RUN_KEY,
        Column("served_model", TEXT, "the model name that the provider says it served", True),
        ITEM_ID,
        VARIANT,
        EPOCH_NUMBER,
        ORDER,
        Column("turn", INT, "1…n, place of the question in its conversation; 1 in a fresh one"),
        *ITEM_FACTS,
        TASK,
        Column("n_options", INT, "how many options were shown"),
        Column(
            "choice",
            TEXT,
            "key of the option chosen; of several their keys, sorted, with spaces; null when none was",
            True,
        ),
        Column("position", INT, "1…n, where the chosen option stood among those shown", True),
        Column("gender", pl.Int8(), "+1 male, −1 female, 0 neutral or refused or filtered; null when unusable", True),
        Column("picks", pl.List(PICK), "pairs: what was chosen, in the order shown; null without a choice", True),
        Column("code", INT, "pairs: sum of the codes of what was chosen; null without a choice", True),
        Column(
            "prefers_related",
            INT,
            "by candidate scores: 0…2, how many of stereotype and anti-stereotype score higher than the unrelated one",
            True,
        ),
        Column("outcome", TEXT, "what the answer means (see Outcome)"),
        Column("reason", TEXT, "which rule decided, e.g. the pattern's name"),
        Column(
            "answer_form",
            TEXT,
            "how the choice was given: option, letter, list, marked, sentence, mention; with -en or -zh where the word is in another language than the item",
            True,
        ),
        Column("reasoning_only", FLAG, "the reply was empty but reasoning text was there"),
        Column("log_odds", FLOAT, "ln P(male word) − ln P(female word), unconstrained; null where not reported", True),
        Column("n_words", INT, "words of the text that was written; null where none was wanted or came", True),
        Column("counts", pl.List(COUNT), "words of each category of the lexicon in that text; null as n_words", True),
        Column("reply", TEXT, "the model's text, untouched", True),
    ),
    "one row per answer",
)

VOTES = Table(
    "votes",
    ("run", "benchmark", "language", "protocol", "item_id"),
    (
        *RUN_KEY,
        ITEM_ID,
        *ITEM_FACTS,
        Column(
            "vote",
            TEXT,
            "plurality outcome of the item's answers, 'split' on a tie; of a pair by its difference (see p_value)",
        ),
        Column("choice", TEXT, "plurality choice; null when split or none, and of a pair that has a p_value", True),
        Column("n_answers", INT, "answers recorded"),
        Column("n_usable", INT, "answers with a usable outcome"),
        Column("stable", FLAG, "answers agree within each order; null with no order asked twice", True),
        Column(
            "order_decided",
            FLAG,
            "the same position wins in every order; null unless every order has a usable answer",
            True,
        ),
        Column("log_odds", FLOAT, "mean over orders of ln P(male word) − ln P(female word)", True),
        Column("delta", FLOAT, "pairs: mean of (code about a man − code about a woman) / its greatest value", True),
        Column("p_value", FLOAT, "pairs: of delta, two-sided sign-flip permutation of its epochs", True),
        Column("epochs", pl.List(EPOCH), "every answer with its outcome, reason and reply"),
    ),
    "one row per (run, benchmark, language, protocol, item_id); lists items, scores are made from answers",
)

SCORES = Table(
    "scores",
    ("run", "served_model", "benchmark", "language", "protocol", "domain", "style", "typed", "status", "metric"),
    (
        RUN,
        MODEL,
        Column("served_model", TEXT, "all, or one served model where a run was served by several (unknown: not named)"),
        DATE,
        BENCHMARK,
        LANGUAGE,
        PROTOCOL,
        Column(
            "domain",
            TEXT,
            "a group, or all (all choice groups together, all pairs, or all sentences); concepts not typed in this language count as untyped",
        ),
        Column("style", TEXT, "a wording style, or all"),
        Column("typed", TEXT, "male, female, or all"),
        Column("status", TEXT, "high, ordinary, or all"),
        Column("metric", TEXT, "name of the metric, see docs/methodology.md"),
        Column("value", FLOAT, "the score; null when undefined", True),
        Column(
            "ci_low",
            FLOAT,
            "lower end of the 95 % interval (lean_ci90, pair_lean_ci90: 90 %); null when undefined",
            True,
        ),
        Column(
            "ci_high",
            FLOAT,
            "upper end of the 95 % interval (lean_ci90, pair_lean_ci90: 90 %); null when undefined",
            True,
        ),
        Column("n", INT, "the denominator"),
        Column("coverage", FLOAT, "100 · usable / expected answers of the scope; null when nothing is expected", True),
        VERSION,
    ),
    "one row per (run, served_model, benchmark, language, protocol, domain, style, typed, status, metric)",
)

WORD_PROFILES = Table(
    "word_profiles",
    ("run", "benchmark", "language", "protocol", "domain", "word"),
    (
        *RUN_KEY,
        Column("domain", TEXT, "group of the items: trait, or of texts letter or success"),
        Column("word", TEXT, "key of the word, the same across languages; of texts the word itself"),
        Column("text", TEXT, "the word as the model saw it, or wrote it"),
        Column("code", INT, "+1 agentic, −1 communal, 0 neither"),
        Column("n_woman", INT, "how often it was chosen, or written, about women"),
        Column("n_man", INT, "how often it was chosen, or written, about men"),
        Column(
            "offered_woman",
            INT,
            "answers about women with a choice of words, that were offered it; of texts those read",
        ),
        Column(
            "offered_man", INT, "answers about men with a choice of words, that were offered it; of texts those read"
        ),
        Column(
            "log_odds",
            FLOAT,
            "log-odds of the word, men (+) against women (−), with an informative Dirichlet prior; null when undefined",
            True,
        ),
        Column("ci_low", FLOAT, "lower end of its 95 % interval; null under five situations or targets", True),
        Column("ci_high", FLOAT, "upper end of its 95 % interval; null under five situations or targets", True),
    ),
    "one row per (run, benchmark, language, protocol, domain, word): every word offered, also those never chosen, or of texts every word often written",
)

COMPARISONS = Table(
    "comparisons",
    ("run", "benchmark", "language", "protocol", "versus", "domain", "metric"),
    (
        *RUN_KEY,
        Column("versus", TEXT, "what it is compared with in the same run: language=en, or protocol=two"),
        Column("domain", TEXT, "a group, or all"),
        Column("metric", TEXT, "lean, default or pair_lean"),
        Column("value", FLOAT, "mean of the paired differences, this side less the other; null when undefined", True),
        Column("ci_low", FLOAT, "lower end of its 95 % interval", True),
        Column("ci_high", FLOAT, "upper end of its 95 % interval", True),
        Column("p_value", FLOAT, "two-sided sign-flip permutation over these targets; null without a value", True),
        Column("n", INT, "targets usable on both sides, and typed alike on both"),
        Column("here", FLOAT, "the metric over these targets on this side", True),
        Column("there", FLOAT, "the metric over these targets on the other side", True),
        VERSION,
    ),
    "one row per (run, benchmark, language, protocol, versus, domain, metric): paired differences within a run",
)

CHANGES = Table(
    "changes",
    ("run", "benchmark", "language", "protocol", "reference", "domain", "style", "metric"),
    (
        *RUN_KEY,
        Column(
            "reference", TEXT, "the run it is compared with: pinned, else the model's first one that asked the same"
        ),
        Column("domain", TEXT, "a group, or all"),
        Column("style", TEXT, "a wording style, or all"),
        Column("metric", TEXT, "lean, default, strength, pair_lean, text_lean, ss_macro or lms_macro"),
        Column(
            "family",
            TEXT,
            "primary (Holm; it alone can be a finding; never of a protocol with mitigations) or exploratory (Benjamini–Hochberg)",
        ),
        Column(
            "value", FLOAT, "mean of the paired differences, this run less the reference; null when undefined", True
        ),
        Column("ci_low", FLOAT, "lower end of its 95 % interval", True),
        Column("ci_high", FLOAT, "upper end of its 95 % interval", True),
        Column("effect", FLOAT, "value / standard deviation of the differences; null when they do not vary", True),
        Column("p_value", FLOAT, "two-sided sign-flip permutation over targets; null without a value", True),
        Column(
            "p_adjusted", FLOAT, "p_value after the correction of its family; null where a gate holds it back", True
        ),
        Column("n", INT, "targets usable on both sides"),
        Column("here", FLOAT, "the metric over these targets in this run", True),
        Column("there", FLOAT, "the metric over these targets in the reference", True),
        Column(
            "coverage",
            FLOAT,
            "100 · usable answers (of strength: those with log-probabilities) / expected ones of the shared items, of the side that has less",
            True,
        ),
        Column("bound_low", FLOAT, "the least that value could be, whatever the missing answers had been", True),
        Column("bound_high", FLOAT, "the most that value could be", True),
        Column(
            "gate",
            TEXT,
            "why it counts as no change: protocol, coverage, controls or value; null when it may count",
            True,
        ),
        Column("differs", pl.List(TEXT), "what is not like for like, e.g. items, prompts, parameters, served model"),
        VERSION,
    ),
    "one row per (run, benchmark, language, protocol, reference, domain, style, metric): paired differences between runs",
)
