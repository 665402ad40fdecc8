"""What is asked and what was answered: the tables that all others are made of."""

import polars as pl

from stages.schema._columns import (
    BENCHMARK,
    EPOCH_NUMBER,
    FLOAT,
    INT,
    ITEM_FACTS,
    ITEM_ID,
    LANGUAGE,
    ORDER,
    RUN_KEY,
    TASK,
    TEXT,
    VARIANT,
)
from stages.structs import CANDIDATE, DRAFT, OPTION
from stages.table import Column, Table

ITEMS = Table(
    "items",
    ("benchmark", "language", "item_id", "variant"),
    (
        BENCHMARK,
        LANGUAGE,
        ITEM_ID,
        VARIANT,
        *ITEM_FACTS,
        TASK,
        Column(
            "frame",
            TEXT,
            "the sentence frame the target was put into; name pair or opening of open answers; 'cluster' in StereoSet",
        ),
        Column("text", TEXT, "the text put to the model, with the blank"),
        Column("options", pl.List(OPTION), "the answers offered, in canonical order; none where a text is wanted"),
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
        Column("turn", INT, "1…n, place of the question in its conversation; 1 in a fresh one", since=2, earlier=1),
        *ITEM_FACTS,
        TASK,
        Column("text", TEXT, "the item's text, with the blank"),
        Column(
            "options",
            pl.List(OPTION),
            "the answers offered, in the order shown, with their labels; none where a text is wanted",
        ),
        Column("item_hash", TEXT, "hash of the item as it was asked"),
        Column(
            "protocol_hash",
            TEXT,
            "hash of protocol, answer constraint and chat/completion form; runs compare only within it",
        ),
        Column("prompt_hash", TEXT, "hash of the messages or prompt as sent"),
        Column("prompt", TEXT, "the messages (JSON), the prompt or the texts to be scored (JSON) as sent"),
        Column("reply", TEXT, "the model's text, untouched; null when there was none", True),
        Column(
            "drafts",
            pl.List(DRAFT),
            "earlier replies that the mitigation post-check sent back, in order; null without one",
            True,
            since=3,
        ),
        Column("reasoning", TEXT, "reasoning text, kept apart; never read as an answer", True),
        Column("candidates", pl.List(CANDIDATE), "score of each option: its unconstrained log-probability", True),
        Column(
            "stop_reason", TEXT, "why the reply ended: stop, length, content_filter, scored; null when unknown", True
        ),
        Column("native_stop_reason", TEXT, "the same as the provider worded it", True),
        Column("failure", TEXT, "kind of the terminal error, e.g. timeout; null when the model replied", True),
        Column("failure_message", TEXT, "the error's sentence, without keys", True),
        Column("requested_model", TEXT, "the model name that was asked for"),
        Column("served_model", TEXT, "the model name that the provider says it served", True),
        Column("fingerprint", TEXT, "the provider's fingerprint of what it served", True),
        Column("params_requested", TEXT, "sampling parameters asked for (JSON)"),
        Column("params_sent", TEXT, "sampling parameters sent (JSON)"),
        Column("prompt_tokens", INT, "input tokens as reported, of all calls that replied", True),
        Column("completion_tokens", INT, "output tokens as reported, of all calls that replied", True),
        Column("cached_tokens", INT, "cached input tokens as reported", True),
        Column("cost", FLOAT, "US dollars; null when unknown, never 0 for unknown", True),
        Column("attempts", INT, "calls made for this answer, retries included"),
        Column("latency", FLOAT, "seconds of the last attempt", True),
        Column("asked_at", TEXT, "UTC time of the answer, ISO 8601"),
        Column("access_route", TEXT, "api, web, local, imported, or person (a label that somebody gave)"),
        Column("vendor", TEXT, "who made the model, from the roster", True),
        Column("country", TEXT, "country of origin of the model, from the roster", True),
        Column("region", TEXT, "region the model was reached in, from the roster", True),
        Column("collector", TEXT, "who or what collected the answer"),
        Column("schema_version", INT, "version of this table's shape"),
    ),
    "one row per (run, benchmark, language, protocol, item_id, variant, epoch): the recorded reply; evidence, never edited",
)
