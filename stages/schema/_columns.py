"""Columns that several tables share, and the types of columns."""

import polars as pl

from stages.table import Column

TEXT, INT, FLOAT, FLAG = pl.String(), pl.Int64(), pl.Float64(), pl.Boolean()
BENCHMARK = Column("benchmark", TEXT, "the instrument, e.g. checkup")
LANGUAGE = Column("language", TEXT, "language of the item, e.g. en, zh")
PROTOCOL = Column("protocol", TEXT, "how the benchmark was put to the model; mitigations joined by +")
ITEM_ID = Column("item_id", TEXT, "one question; the same across languages for parallel items")
VARIANT = Column("variant", TEXT, "side of a counterfactual pair: woman or man; 'single' where there is no pair")
TASK = Column(
    "task",
    TEXT,
    "what is wanted: blank (a word for it), pick (three of a list), option (one letter), text (free text)",
    since=2,
    earlier="blank",
)
EPOCH_NUMBER = Column("epoch", INT, "1…N, which repetition of the question this is")
ORDER = Column("order_index", INT, "0…orders−1, which balanced order the options were shown in")
RUN = Column("run", TEXT, "model@date[.n], e.g. gemma-3-270m@2026-11-30")
MODEL = Column("model", TEXT, "roster key of the model")
DATE = Column("date", TEXT, "date of the run, YYYY-MM-DD, in the time zone of params.yaml or of its schedule")
VERSION = Column("metrics_version", INT, "version of the metrics' definitions")

ITEM_FACTS = (
    Column("domain", TEXT, "group of the item: occupation, pronoun, control, untyped …"),
    Column("target", TEXT, "the concept the item is about, e.g. surgeon; the unit of all statistics"),
    Column("style", TEXT, "wording style: direct, situational, scene; none where a benchmark has no styles"),
    Column(
        "typed",
        TEXT,
        "traditional association of the target in this language: male, female, none; for control the stated gender",
    ),
    Column("status", TEXT, "social status of the target: high, ordinary, none"),
)
RUN_KEY = (RUN, MODEL, DATE, BENCHMARK, LANGUAGE, PROTOCOL)
