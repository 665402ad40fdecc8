"""Every table's columns, types, nulls, grain and meaning, and the closed sets of labels. The one place.

Tables are written only through :meth:`Table.conform`, so a file in ``data/`` always has exactly these
columns in this order, sorted by its grain, with no NaN and no null where none is allowed.
SQL comments, contracts and docs/tables.md are made from the same declarations.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import polars as pl

from stages.errors import DataError

SCHEMA_VERSION = 1
METRICS_VERSION = 1
ALL = "all"
"""The value of a scope column (domain, style, typed, served_model) that spans everything."""


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


UNUSABLE = (Outcome.INVALID, Outcome.EMPTY, Outcome.TRUNCATED, Outcome.ERROR)
"""Outcomes that say nothing about the item; everything else is usable."""
USABLE = tuple(o for o in Outcome if o not in UNUSABLE)
SPLIT = "split"
"""The vote of an item whose answers have no plurality."""

LANGUAGES = ("en", "zh")
TYPED = ("male", "female", "none")
STYLES = ("direct", "situational", "scene")
STATUSES = ("high", "ordinary", "none")
ROUTES = ("api", "web", "local", "imported")


@dataclass(frozen=True)
class Column:
    name: str
    dtype: pl.DataType
    doc: str
    nullable: bool = False


@dataclass(frozen=True)
class Table:
    name: str
    grain: tuple[str, ...]
    columns: tuple[Column, ...]
    doc: str

    @cached_property
    def schema(self) -> pl.Schema:
        return pl.Schema({c.name: c.dtype for c in self.columns})

    def empty(self) -> pl.DataFrame:
        return pl.DataFrame(schema=self.schema)

    def conform(self, frame: pl.DataFrame, where: str = "") -> pl.DataFrame:
        """Return ``frame`` with exactly this table's columns and types, sorted by its grain.

        Floats are rounded to 12 significant digits: parallel means differ in the last bits.

        :raises DataError: a column is missing, unknown or of another type, a key occurs twice, or a
            value is NaN or null where it must not be; the message names ``where`` and the row's key.
        """
        where = where or self.name
        if unknown := sorted(set(frame.columns) - set(self.schema)):
            raise DataError(f"{where}: column {unknown[0]!r} is not in table {self.name!r}; remove or rename it.")
        for column in self.columns:
            self._check_column(frame, column, where)
        frame = frame.select(self.schema.names()).with_columns(_rounded(self.schema)).sort(self.grain)
        duplicated = frame.filter(frame.select(self.grain).is_duplicated())
        if duplicated.height:
            raise DataError(f"{where}: the key {self._key(duplicated)} occurs more than once; keep one row.")
        return frame

    def _check_column(self, frame: pl.DataFrame, column: Column, where: str) -> None:
        if column.name not in frame.columns:
            raise DataError(f"{where}: column {column.name!r} of table {self.name!r} is missing; add it.")
        found = frame.schema[column.name]
        if found != column.dtype:
            raise DataError(f"{where}: column {column.name!r} is {found}, but must be {column.dtype}; convert it.")
        values = frame[column.name]
        if not column.nullable and values.null_count():
            row = frame.filter(values.is_null())
            raise DataError(f"{where}: column {column.name!r} is null at {self._key(row)}; give it a value.")
        if found.is_float() and values.is_nan().any():
            row = frame.filter(values.is_nan())
            raise DataError(f"{where}: column {column.name!r} is NaN at {self._key(row)}; a missing value is null.")

    def _key(self, frame: pl.DataFrame) -> str:
        row = frame.row(0, named=True)
        return "(" + ", ".join(f"{name}={row.get(name)}" for name in self.grain) + ")"


def _rounded(schema: pl.Schema) -> list[pl.Expr]:
    return [pl.col(n).round_sig_figs(12) for n, t in schema.items() if t == pl.Float64]


TEXT, INT, FLOAT, FLAG = pl.String(), pl.Int64(), pl.Float64(), pl.Boolean()
OPTION = pl.Struct({"key": pl.String, "label": pl.String, "text": pl.String, "outcome": pl.String, "gender": pl.Int8})
"""One answer that an item offers. ``key`` is its name (he, she, they …), ``label`` the letter shown before it (null
when none is shown), ``text`` what the model sees, ``outcome`` what choosing it means, ``gender`` +1 male, −1 female,
0 neutral, null when it has none."""
CANDIDATE = pl.Struct({"key": pl.String, "logprob": pl.Float64})
"""The unconstrained natural log-probability of an option's first word; null when the endpoint did not report it."""
EPOCH = pl.Struct(
    {
        "variant": pl.String,
        "epoch": pl.Int64,
        "order_index": pl.Int64,
        "choice": pl.String,
        "outcome": pl.String,
        "reason": pl.String,
        "reply": pl.String,
    }
)

BENCHMARK = Column("benchmark", TEXT, "the instrument, e.g. checkup")
LANGUAGE = Column("language", TEXT, "language of the item, e.g. en, zh")
PROTOCOL = Column("protocol", TEXT, "how the benchmark was put to the model; mitigations joined by +")
ITEM_ID = Column("item_id", TEXT, "one question; the same across languages for parallel items")
VARIANT = Column("variant", TEXT, "side of a counterfactual pair; 'single' where there is no pair")
EPOCH_NUMBER = Column("epoch", INT, "1…N, which repetition of the question this is")
ORDER = Column("order_index", INT, "0…orders−1, which balanced order the options were shown in")
RUN = Column("run", TEXT, "model@date[.n], e.g. gemma-3-270m@2026-11-30")
MODEL = Column("model", TEXT, "roster key of the model")
DATE = Column("date", TEXT, "date of the run, YYYY-MM-DD, in the time zone of params.yaml")

ITEM_FACTS = (
    Column("domain", TEXT, "group of the item: occupation, pronoun, control, untyped …"),
    Column("target", TEXT, "the concept the item is about, e.g. surgeon; the unit of all statistics"),
    Column("style", TEXT, "wording style: direct, situational, scene"),
    Column(
        "typed",
        TEXT,
        "traditional association of the target in this language: male, female, none; for control the stated gender",
    ),
    Column("status", TEXT, "social status of the target: high, ordinary, none"),
)
RUN_KEY = (RUN, MODEL, DATE, BENCHMARK, LANGUAGE, PROTOCOL)

ITEMS = Table(
    "items",
    ("benchmark", "language", "item_id", "variant"),
    (
        BENCHMARK,
        LANGUAGE,
        ITEM_ID,
        VARIANT,
        *ITEM_FACTS,
        Column("frame", TEXT, "the sentence frame the target was put into"),
        Column("text", TEXT, "the text put to the model, with the blank"),
        Column("options", pl.List(OPTION), "the answers offered, in canonical order"),
        Column("source", TEXT, "id of the source of the traditional association in data/checkup/sources.csv", True),
        Column("women_share", FLOAT, "percent women according to the source, 0–100", True),
        Column("item_hash", TEXT, "hash of text and options; a used item is never edited"),
    ),
    "one row per (benchmark, language, item_id, variant)",
)

ANSWERS = Table(
    "answers",
    ("run", "benchmark", "language", "protocol", "item_id", "variant", "epoch"),
    (
        *RUN_KEY,
        ITEM_ID,
        VARIANT,
        EPOCH_NUMBER,
        ORDER,
        *ITEM_FACTS,
        Column("text", TEXT, "the item's text, with the blank"),
        Column("options", pl.List(OPTION), "the answers offered, in the order shown, with their labels"),
        Column("item_hash", TEXT, "hash of the item as it was asked"),
        Column(
            "protocol_hash",
            TEXT,
            "hash of protocol, answer constraint and chat/completion form; runs compare only within it",
        ),
        Column("prompt_hash", TEXT, "hash of the messages or prompt as sent"),
        Column("prompt", TEXT, "the messages (JSON) or the prompt as sent"),
        Column("reply", TEXT, "the model's text, untouched; null when there was none", True),
        Column("reasoning", TEXT, "reasoning text, kept apart; never read as an answer", True),
        Column("candidates", pl.List(CANDIDATE), "unconstrained log-probability of each allowed word", True),
        Column("stop_reason", TEXT, "why the reply ended: stop, length, content_filter; null when unknown", True),
        Column("native_stop_reason", TEXT, "the same as the provider worded it", True),
        Column("failure", TEXT, "kind of the terminal error, e.g. timeout; null when the model replied", True),
        Column("failure_message", TEXT, "the error's sentence, without keys", True),
        Column("requested_model", TEXT, "the model name that was asked for"),
        Column("served_model", TEXT, "the model name that the provider says it served", True),
        Column("fingerprint", TEXT, "the provider's fingerprint of what it served", True),
        Column("params_requested", TEXT, "sampling parameters asked for (JSON)"),
        Column("params_sent", TEXT, "sampling parameters sent (JSON)"),
        Column("prompt_tokens", INT, "input tokens as reported", True),
        Column("completion_tokens", INT, "output tokens as reported", True),
        Column("cached_tokens", INT, "cached input tokens as reported", True),
        Column("cost", FLOAT, "US dollars; null when unknown, never 0 for unknown", True),
        Column("attempts", INT, "calls made for this answer, retries included"),
        Column("latency", FLOAT, "seconds of the last attempt", True),
        Column("asked_at", TEXT, "UTC time of the answer, ISO 8601"),
        Column("access_route", TEXT, "api, web, local or imported"),
        Column("vendor", TEXT, "who made the model, from the roster", True),
        Column("country", TEXT, "country of origin of the model, from the roster", True),
        Column("region", TEXT, "region the model was reached in, from the roster", True),
        Column("collector", TEXT, "who or what collected the answer"),
        Column("schema_version", INT, "version of this table's shape"),
    ),
    "one row per (run, benchmark, language, protocol, item_id, variant, epoch): the recorded reply; evidence, never edited",
)

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
        *ITEM_FACTS,
        Column("n_options", INT, "how many options were shown"),
        Column("choice", TEXT, "key of the option chosen; null when none was", True),
        Column("position", INT, "1…n, where the chosen option stood among those shown", True),
        Column("gender", pl.Int8(), "+1 male, −1 female, 0 neutral or refused or filtered; null when unusable", True),
        Column("outcome", TEXT, "what the answer means (see Outcome)"),
        Column("reason", TEXT, "which rule decided, e.g. the pattern's name"),
        Column(
            "answer_form",
            TEXT,
            "how the choice was given: option, letter, marked, sentence, mention; with -en or -zh where the word is in another language than the item",
            True,
        ),
        Column("reasoning_only", FLAG, "the reply was empty but reasoning text was there"),
        Column("log_odds", FLOAT, "ln P(male word) − ln P(female word), unconstrained; null where not reported", True),
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
        Column("vote", TEXT, "plurality outcome of the item's answers; 'split' on a tie"),
        Column("choice", TEXT, "plurality choice; null when split or none", True),
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
        Column("epochs", pl.List(EPOCH), "every answer with its outcome, reason and reply"),
    ),
    "one row per (run, benchmark, language, protocol, item_id); lists items, scores are made from answers",
)

SCORES = Table(
    "scores",
    ("run", "served_model", "benchmark", "language", "protocol", "domain", "style", "typed", "metric"),
    (
        RUN,
        MODEL,
        Column("served_model", TEXT, "all, or one served model where a run was served by several"),
        DATE,
        BENCHMARK,
        LANGUAGE,
        PROTOCOL,
        Column(
            "domain",
            TEXT,
            "a group, or all (occupation and pronoun together); concepts not typed in this language count as untyped",
        ),
        Column("style", TEXT, "a wording style, or all"),
        Column("typed", TEXT, "male, female, none, or all"),
        Column("metric", TEXT, "name of the metric, see docs/methodology.md"),
        Column("value", FLOAT, "the score; null when undefined", True),
        Column("ci_low", FLOAT, "lower end of the 95 % interval (lean_ci90: 90 %); null when undefined", True),
        Column("ci_high", FLOAT, "upper end of the 95 % interval (lean_ci90: 90 %); null when undefined", True),
        Column("n", INT, "the denominator"),
        Column("coverage", FLOAT, "100 · usable / expected answers of the scope; null when nothing is expected", True),
        Column("metrics_version", INT, "version of the metrics' definitions"),
    ),
    "one row per (run, served_model, benchmark, language, protocol, domain, style, typed, metric)",
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

TABLES = {t.name: t for t in (ITEMS, ANSWERS, JUDGEMENTS, VOTES, SCORES, CONTRACTS)}
