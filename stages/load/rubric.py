"""rubric.csv: the closed questions that are put about texts which models wrote, with their coded answers.

The items of the benchmark are its questions alone. About which texts they are put is known only when a run reads another
(stages/rubric.py).
"""

from pathlib import Path

import polars as pl

from stages.hashing import item_hash
from stages.load.sources import not_in, read_csv, refuse, refuse_blank
from stages.schema import DOMAINS, ITEMS, LANGUAGES, NO_STYLE, RUBRIC, SINGLE, Kind, Outcome
from stages.structs import OPTION

FILE = Path("checkup") / "open" / "rubric.csv"
QUESTIONS = [domain for domain, kind in DOMAINS.items() if kind is Kind.RUBRIC]
_COLUMNS = ("question", "answer", "code", "text_en", "text_zh", "note")


def items(data: Path) -> pl.DataFrame:
    """One row per question and language, rows of ``schema.ITEMS``; its answers in the order of the file.

    :raises DataError: the file does not fit; the message names it, line and column.
    """
    path = data / FILE
    frame = read_csv(path, _COLUMNS, ("question", "answer"))
    refuse_blank(path, frame, *(f"text_{language}" for language in LANGUAGES))
    refuse(path, frame.filter(not_in("question", QUESTIONS)), "question", f"is none of {', '.join(QUESTIONS)}")
    code = pl.col("code").cast(pl.Int8, strict=False)
    answers = frame.filter(pl.col("answer").is_not_null())
    wrong = answers.filter(~code.is_in([-1, 0, 1]).fill_null(False))
    refuse(path, wrong, "code", "is not 1, 0 or -1, as the code of an answer must be")
    found = pl.concat(_in_language(frame, language) for language in LANGUAGES)
    return ITEMS.conform(found.with_columns(item_hash()).select(ITEMS.schema.names()))


def _in_language(frame: pl.DataFrame, language: str) -> pl.DataFrame:
    text = pl.col(f"text_{language}")
    option = pl.struct(
        pl.col("answer").alias("key"),
        pl.lit(None, pl.String).alias("label"),
        text.alias("text"),
        pl.lit(str(Outcome.PAIRED)).alias("outcome"),
        pl.lit(None, pl.Int8).alias("gender"),
        pl.col("code").cast(pl.Int8),
    ).cast(OPTION)
    offered = frame.filter(pl.col("answer").is_not_null()).group_by("question").agg(option.alias("options"))
    asked = frame.filter(pl.col("answer").is_null()).select("question", text.alias("text"))
    constants = {
        **{"benchmark": RUBRIC, "language": language, "variant": SINGLE, "style": NO_STYLE, "typed": "none"},
        **{"status": "none", "task": "option"},
    }
    return asked.join(offered, on="question").with_columns(
        *(pl.lit(value).alias(name) for name, value in constants.items()),
        *(pl.col("question").alias(name) for name in ("item_id", "domain", "target", "frame")),
        pl.lit(None, pl.String).alias("source"),
        pl.lit(None, pl.Float64).alias("women_share"),
    )
