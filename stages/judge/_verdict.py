"""Choice -> judgement: what it means, and what to say where there is no choice."""

import polars as pl

from stages.judge._options import log_odds, with_menus
from stages.judge._reading import read
from stages.judge._scored import is_scored, preferences
from stages.judge._settled import CUT, cause, cause_reason, plain, reasoning_only
from stages.judge._texts import judge_texts
from stages.schema import ANSWERS, DOMAINS, JUDGEMENTS, LANGUAGES, SCORED, UNUSABLE, Kind, Outcome

TEXT_TASK = "text"
_READ = ("text", "options", "reasoning", "candidates", "stop_reason", "failure")
_NEEDED = [name for name in ANSWERS.schema if name in JUDGEMENTS.schema or name in _READ]


def judge(answers: pl.DataFrame) -> pl.DataFrame:
    """The judgement of each of ``answers`` (rows of ANSWERS, of any runs), rows of JUDGEMENTS.

    A failed call is an error, a filtered one filtered; an answer by scores means what it prefers; a reply without text is
    empty, or truncated when it ran out of tokens; a choice counts whatever else the reply says; then come refusals,
    replies cut off, and the rest is invalid. Where a text was to be written, see ``_texts``.
    """
    needed, wanted = answers.select(_NEEDED), pl.col("task") == TEXT_TASK
    ways = ((judge_choices, needed.filter(~wanted)), (judge_texts, needed.filter(wanted)))
    judged = [
        way(rows).with_columns(reasoning_only()).select(JUDGEMENTS.schema.names()) for way, rows in ways if rows.height
    ]
    return JUDGEMENTS.conform(pl.concat(judged)) if judged else JUDGEMENTS.empty()


def judge_choices(answers: pl.DataFrame) -> pl.DataFrame:
    """``answers`` that choose among options, with the columns that judging adds to JUDGEMENTS."""
    rows, options = with_menus(answers.with_row_index("row"))
    rows = rows.with_columns(plain(), is_scored().alias("scored")).with_columns(cause())
    found, ratios = _found(rows, options), log_odds(rows, options)
    known = rows.join(found, on="row", how="left").join(ratios, on="row", how="left").with_columns(_outcome())
    known = known.with_columns(_reason()).with_columns(*_of_verdicts())
    shown = pl.col("options").list.len().cast(pl.Int64).alias("n_options")
    unread = (pl.lit(None, JUDGEMENTS.schema[name]).alias(name) for name in ("n_words", "counts"))
    return known.with_columns(_gender(), _code(), _answer_form(), shown, *unread)


def _found(rows: pl.DataFrame, options: pl.DataFrame) -> pl.DataFrame:
    """What ``rows`` choose by their text or prefer by their scores; those that are settled before are left out."""
    said = read(rows.filter(pl.col("cause").is_null(), ~pl.col("scored")), options)
    return pl.concat([said, preferences(rows.filter("scored"))], how="diagonal")


def _outcome() -> pl.Expr:
    return (
        pl.when(pl.col("cause").is_not_null()).then("cause")
        .when(pl.col("means").is_not_null()).then("means")
        .when(pl.col("neutral").is_not_null()).then(pl.lit(Outcome.NEUTRAL))
        .when(pl.col("contradiction").is_null() & pl.col("rule").is_not_null()).then(pl.lit(Outcome.REFUSAL))
        .when(pl.col("stop_reason") == CUT).then(pl.lit(Outcome.TRUNCATED))
        .otherwise(pl.lit(Outcome.INVALID))
        .alias("outcome")
    )  # fmt: skip


def _of_verdicts() -> tuple[pl.Expr, pl.Expr]:
    """``outcome`` and ``neutral``: a verdict on a text that is none of its options, or was cut off before, is judge-invalid."""
    verdict = pl.col("domain").is_in([domain for domain, kind in DOMAINS.items() if kind is Kind.RUBRIC])
    unread = pl.col("outcome").is_in([Outcome.INVALID, Outcome.TRUNCATED, Outcome.NEUTRAL])
    outcome = pl.when(verdict & unread).then(pl.lit(Outcome.JUDGE_INVALID)).otherwise("outcome").alias("outcome")
    return outcome, pl.when(~verdict).then("neutral").alias("neutral")


def _reason() -> pl.Expr:
    outcome = pl.col("outcome")
    return (
        pl.when(pl.col("cause").is_not_null()).then(cause_reason())
        .when(outcome == Outcome.TRUNCATED).then(pl.lit(CUT))
        .when(pl.col("scored") & (outcome == Outcome.INVALID)).then(pl.lit("score missing"))
        .when("scored").then(pl.lit(SCORED))
        .when(outcome != Outcome.INVALID).then(pl.concat_str("rule", "neutral", separator=":", ignore_nulls=True))
        .when(pl.col("contradiction")).then(pl.lit("contradiction"))
        .when(pl.col("contradiction").is_not_null()).then(pl.lit("not offered"))
        .when(pl.col("denied")).then(pl.lit("denied"))
        .when(pl.col("named") > 0).then(pl.concat_str(pl.lit("picks: "), "named"))
        .otherwise(pl.lit("no choice"))
        .alias("reason")
    )  # fmt: skip


def _gender() -> pl.Expr:
    outcome = pl.col("outcome")
    silent = outcome.is_in([Outcome.REFUSAL, Outcome.FILTERED]) | pl.col("neutral").is_not_null()
    return pl.when(silent).then(pl.lit(0, pl.Int8)).when(~outcome.is_in(UNUSABLE)).then("sex").alias("gender")


def _code() -> pl.Expr:
    codes = pl.col("picks").list.eval(pl.element().struct.field("code").cast(pl.Int64))
    return codes.list.sum().alias("code")


def _answer_form() -> pl.Expr:
    """How the choice was given, with the language of its word where that is not the item's."""
    chose = (pl.col("means").is_not_null() | pl.col("neutral").is_not_null()) & ~pl.col("scored")
    foreign = pl.when(pl.col("spoken").is_in(LANGUAGES) & (pl.col("spoken") != pl.col("language"))).then("spoken")
    return pl.when(chose).then(pl.concat_str("form", foreign, separator="-", ignore_nulls=True)).alias("answer_form")
