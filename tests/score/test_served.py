"""A run that was served by several models: beside the scores over all of them those of each, in every scope and metric."""

import polars as pl
import pytest

from stages.judge import judge
from stages.schema import RUBRIC, SCORES, Outcome
from stages.score import METRICS, score, score_and_compare
from tests import sentences as s
from tests.factories import coin, make_judgements, make_questions
from tests.pairs import blind, make_pairs, pair_judgements
from tests.score.lookup import row
from tests.texts import make_texts

RUN, OTHER = "a@2026-11-30", "b@2026-11-30"
MODELS = ("new", "old", "unknown")
LATER = pl.when(pl.col("epoch") % 2 == 0)


def every_instrument() -> pl.DataFrame:
    """Answers of one run to all there is, before anybody served them."""
    return pl.concat(
        [
            make_judgements(coin, make_questions([RUN], epochs=6), seed=3),
            make_judgements(coin, make_questions([RUN], language="zh", protocol="three"), seed=4),
            pair_judgements(blind, make_pairs([RUN])),
            make_texts([RUN], agentic=(1, 3)),
            verdicts(),
            judge(s.forced(s.made_up(), pl.lit("stereotype"), 6)).with_columns(
                run=pl.lit(RUN), model=pl.lit("a"), date=pl.lit("2026-11-30")
            ),
        ]
    )


def verdicts() -> pl.DataFrame:
    """A closed choice about each side of a pair, as readers of texts make it."""
    closed = pair_judgements(blind, make_pairs([RUN], groups={"language": 12}))
    facts = {"benchmark": RUBRIC, "protocol": "rubric", "domain": "agency"}
    return closed.with_columns(pl.lit(value).alias(name) for name, value in facts.items())


def served(judgements: pl.DataFrame, model: pl.Expr) -> pl.DataFrame:
    return judgements.with_columns(model.alias("served_model"))


@pytest.fixture(scope="module")
def mixed() -> pl.DataFrame:
    """English by two models in turn, Chinese by one of them alone, StereoSet by one that is named and one that is not."""
    sentences = pl.col("benchmark").str.starts_with("stereoset")
    model = pl.when(pl.col("language") == "zh").then(pl.lit("new")).otherwise(
        LATER.then(pl.when(~sentences).then(pl.lit("new"))).otherwise(pl.lit("old"))
    )  # fmt: skip
    return served(every_instrument(), model)


@pytest.fixture(scope="module")
def scores(mixed: pl.DataFrame) -> pl.DataFrame:
    return score(mixed)


def under(scores: pl.DataFrame, model: str) -> pl.DataFrame:
    return SCORES.conform(scores.with_columns(pl.lit(model).alias("served_model")))


@pytest.mark.parametrize("model", MODELS)
def test_the_scores_of_a_served_model_are_those_of_its_answers_alone(
    mixed: pl.DataFrame, scores: pl.DataFrame, model: str
) -> None:
    """Every metric in every scope, its interval, n and coverage; so expected are the answers which that model gave."""
    own = mixed.filter(pl.col("served_model").fill_null("unknown") == model)
    assert own.height
    assert scores.filter(served_model=model).equals(under(score(own), model))


def test_every_metric_is_split(scores: pl.DataFrame) -> None:
    names = {metric.name for metric in METRICS}
    assert set(scores["metric"]) == names
    assert set(scores.filter(pl.col("served_model") != "all")["metric"]) == names


def test_a_change_between_partitions_is_one_within_the_run(scores: pl.DataFrame) -> None:
    """What was asked in Chinese had one model only, and is scored as that model's beside what it gave in English."""
    chinese = scores.filter(language="zh")
    assert set(chinese["served_model"]) == {"all", "new"}
    assert under(chinese.filter(served_model="new"), "all").equals(SCORES.conform(chinese.filter(served_model="all")))


def test_scores_over_all_and_comparisons_do_not_depend_on_who_served(mixed: pl.DataFrame, scores: pl.DataFrame) -> None:
    by_one, compared = score_and_compare(served(mixed, pl.lit("new")))
    assert scores.filter(served_model="all").equals(by_one)
    assert score_and_compare(mixed)[1].equals(compared)


NOBODY = {"call failed": (Outcome.ERROR, "timeout"), "turned away": (Outcome.FILTERED, "filtered")}
SOMEBODY = {"withheld": (Outcome.FILTERED, "content_filter"), "blank": (Outcome.EMPTY, "blank")}


@pytest.mark.parametrize("case", [*NOBODY, *SOMEBODY])
def test_an_answer_that_names_no_model(case: str) -> None:
    """Of a call that no model replied to it says nothing; of a reply it is a model of its own."""
    outcome, reason = (NOBODY | SOMEBODY)[case]
    hit = pl.col("target") == "pronoun-male-0"
    unnamed = make_judgements(coin, make_questions([RUN])).with_columns(
        pl.when(hit).then(pl.lit(None, pl.String)).otherwise("served_model").alias("served_model"),
        pl.when(hit).then(pl.lit(str(outcome))).otherwise("outcome").alias("outcome"),
        pl.when(hit).then(pl.lit(reason)).otherwise("reason").alias("reason"),
    )
    expected = {"all"} if case in NOBODY else {"all", "served-1", "unknown"}
    assert set(score(unnamed)["served_model"]) == expected


def test_where_nobody_names_a_model_there_is_one() -> None:
    """As of an imported run, or of a provider that never says."""
    assert set(score(served(every_instrument(), pl.lit(None, pl.String)))["served_model"]) == {"all"}


def test_runs_are_told_apart_each_by_its_own_answers() -> None:
    both = make_judgements(coin, make_questions([RUN, OTHER]), seed=3)
    failed = (pl.col("target") == "pronoun-male-0") & (pl.col("domain") != "control")
    found = score(
        served(both, pl.when((pl.col("run") == OTHER) & (pl.col("epoch") == 2)).then(pl.lit("served-2")).otherwise(
            "served_model"
        )).with_columns(
            pl.when(failed).then(None).otherwise("served_model").alias("served_model"),
            pl.when(failed).then(pl.lit("error")).otherwise("outcome").alias("outcome"),
        )
    )  # fmt: skip
    kinds = found.group_by("run").agg(pl.col("served_model").unique().sort()).sort("run")
    assert kinds["served_model"].to_list() == [["all"], ["all", "served-1", "served-2"]]
    of_other = found.filter(run=OTHER)
    # Six calls failed: they are expected of the run and of nobody in it.
    assert [row(of_other, "coverage", served=m)["n"] for m in ("all", "served-1", "served-2")] == [240, 117, 117]
    assert [row(of_other, "coverage", served=m)["value"] for m in ("all", "served-1")] == [97.5, 100.0]
