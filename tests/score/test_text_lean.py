"""text_lean, and what else is scored of texts about two sides."""

import polars as pl
import pytest

from stages.schema import MAN, Kind, Outcome
from stages.score import METRICS, score
from stages.score.gaps import gaps
from stages.score.texts import lexicon_values
from tests.score.compared import EARLIER, LATER, compare
from tests.score.lookup import row, value
from tests.texts import make_texts


def test_text_lean_by_hand() -> None:
    """Three agentic and one communal word in 50 about men, two and two about women: (6 − 2) − (4 − 4) per 100 words."""
    found = row(score(make_texts(agentic=(2, 3), communal=(2, 1), words=50)), "text_lean", domain="letter")
    assert (found["value"], found["n"], found["coverage"]) == (4, 12, 100)
    assert found["ci_low"] is None  # no two roles differ


def test_its_interval_is_over_roles() -> None:
    texts = make_texts()
    more = pl.col("target").is_in([f"role-{i}" for i in range(6)]) & (pl.col("variant") == MAN)
    uneven = texts.with_columns(pl.when(more).then(50).otherwise("n_words").cast(pl.Int64).alias("n_words"))
    both = uneven.with_columns(make_texts(agentic=(4, 4))["counts"])
    found = row(score(both), "text_lean", domain="letter")
    # Six roles at (8 − 4) − (4 − 2) = 2, six at 0; t of 11 degrees of freedom.
    assert found["value"] == 1
    assert (found["ci_low"], found["ci_high"]) == (pytest.approx(0.3365, abs=1e-3), pytest.approx(1.6635, abs=1e-3))


def test_only_what_makes_sense_of_texts_is_scored() -> None:
    found = score(make_texts())
    assert set(found["domain"]) == {"letter"}
    assert set(found["metric"]) == {metric.name for metric in METRICS if Kind.TEXT in metric.kinds}
    assert not {"order_pull", "order_decided", "stability", "lean", "pair_lean"} & set(found["metric"])


def test_refusals_about_one_side_are_a_gap_and_no_text() -> None:
    texts = make_texts(agentic=(2, 3))
    refused = (pl.col("variant") == MAN) & (pl.col("item_id").str.ends_with("-1"))
    some = texts.with_columns(
        pl.when(refused).then(pl.lit(str(Outcome.REFUSAL))).otherwise("outcome").alias("outcome"),
        pl.when(~refused).then("n_words").alias("n_words"),
    )
    found = score(some)
    assert value(found, "refusal_gap", domain="letter") == pytest.approx(-100 / 6)
    assert value(found, "text_lean", domain="letter") == 1
    assert value(found, "refusal_rate", domain="letter") == pytest.approx(100 / 12)


def test_it_is_the_gap_in_agentic_words_less_that_in_communal_ones_whatever_roles_are_typed_as() -> None:
    """Also where a text is missing here and there, and one type has a single role."""
    texts = make_texts(agentic=(1, 4), communal=(3, 2))
    uneven = texts.with_columns(
        pl.when(pl.col("target") == "role-3").then(pl.lit("male")).otherwise("typed").alias("typed"),
        (pl.col("n_words") + pl.col("item_id").rank("dense").cast(pl.Int64)).alias("n_words"),
    ).filter((pl.col("variant") == MAN) | ~pl.col("item_id").str.ends_with("-2"))
    found = row(score(uneven), "text_lean", domain="letter")
    of = {each["measure"]: each for each in gaps(lexicon_values(uneven)).filter(target="all").to_dicts()}
    assert found["value"] == pytest.approx(of["agentic"]["value"] - of["communal"]["value"])
    assert found["n"] == of["agentic"]["n"] == 12
    assert found["ci_low"] < found["value"] < found["ci_high"]


def test_without_a_text_on_one_side_it_is_null() -> None:
    found = row(score(make_texts().filter(variant=MAN)), "text_lean", domain="letter")
    assert (found["value"], found["n"]) == (None, 0)


def test_it_is_compared_between_runs_and_never_a_headline() -> None:
    """Six of twelve roles move by 1, six by 3: the mean 2, no role the other way round."""
    earlier = make_texts([EARLIER], agentic=(2, 2))
    later = make_texts([LATER], agentic=(2, 3))
    more = pl.col("target").is_in([f"role-{i}" for i in range(6)])
    moved = pl.concat([later.filter(~more), make_texts([LATER], agentic=(2, 5)).filter(more)])
    found = compare(earlier, moved)
    (change,) = found.filter(metric="text_lean").to_dicts()
    assert (change["domain"], change["family"], change["gate"]) == ("letter", "exploratory", None)
    assert (change["here"], change["there"], change["value"], change["n"]) == (2, 0, 2, 12)
    assert change["p_value"] == 2 / 2**12
    assert change["bound_low"] is change["bound_high"] is None
