"""What a difference could be, whatever the missing answers had been: every one of them filled in, and compared again."""

import polars as pl
import pytest

from stages.judge import judge
from stages.schema import CHANGES
from stages.score import changes
from tests import factories as f
from tests import pairs as p
from tests import sentences as s
from tests.score.compared import EARLIER, LATER, answered, compare, row, side

UNBALANCED = {"occupation": (7, 3, 0), "pronoun": (2, 1, 0), "control": (10, 10, 0)}


def filled(judgements: pl.DataFrame, outcome: str) -> pl.DataFrame:
    lost = (pl.col("outcome") == "invalid") & (pl.col("domain") != "control")
    return judgements.with_columns(pl.when(lost).then(pl.lit(outcome)).otherwise("outcome").alias("outcome"))


@pytest.mark.parametrize("epochs", [(2, 6), (6, 2)])
def test_of_choices_with_unlike_epochs_and_types(epochs: tuple[int, int]) -> None:
    """An order that lost an answer weighs as much as one that lost none, in the bounds as in the value."""
    earlier, later = (
        answered(
            f.mixed({"invalid": 0.15, "refusal": 0.1}, f.association(male, 0.3)), run, seed, UNBALANCED, epochs=times
        )
        for male, run, seed, times in ((0.8, EARLIER, 3, epochs[0]), (0.4, LATER, 4, epochs[1]))
    )
    found = row(compare(earlier, later))
    least = compare(filled(earlier, "stereotype"), filled(later, "anti-stereotype"))
    most = compare(filled(earlier, "anti-stereotype"), filled(later, "stereotype"))
    assert (found["bound_low"], found["bound_high"]) == pytest.approx((row(least)["value"], row(most)["value"]))
    assert found["bound_low"] < found["value"] < found["bound_high"]


def test_of_pairs() -> None:
    """An answer about the man that is missing may have been anything; a refusal is none, and stays one."""

    def asked(run: str) -> pl.DataFrame:
        return p.pair_judgements(p.tending(0.9, 0.1), p.make_pairs([run], groups={"language": 5}), seed=2)

    earlier, later = asked(EARLIER), asked(LATER)
    one = (pl.col("target") == "language-situation-0") & (pl.col("epoch") == 1) & (pl.col("variant") == "man")

    def turned(outcome: str, code: int | None) -> pl.DataFrame:
        return later.with_columns(
            pl.when(one).then(pl.lit(outcome)).otherwise("outcome").alias("outcome"),
            pl.when(one).then(pl.lit(code, pl.Int64)).otherwise("code").alias("code"),
        )

    found, least, most = (
        row(compare(earlier, turned(*said)), "pair_lean") for said in (("invalid", None), ("paired", -1), ("paired", 1))
    )
    assert (found["bound_low"], found["bound_high"]) == pytest.approx((least["value"], most["value"]))
    assert found["bound_low"] < found["bound_high"]
    refused = row(compare(earlier, turned("refusal", None)), "pair_lean")
    assert refused["bound_low"] == refused["value"] == refused["bound_high"] == found["value"]


def test_of_sentences() -> None:
    """One answer of four about a term is lost: its share of stereotypes, 2 of 2 with one unrelated, may be 2 of 3."""
    asked = s.made_up(terms={"gender": 6})
    there, here = (s.forced(asked, pl.lit("stereotype"), run=run) for run in (EARLIER, LATER))
    earlier, later = judge(there), judge(here)
    term = later["target"].unique().sort()[0]
    own = later.filter(target=term)["item_id"].sort()
    lost = pl.when(pl.col("item_id") == own[0]).then(pl.lit("invalid"))
    said = lost.when(pl.col("item_id") == own[1]).then(pl.lit("unrelated")).otherwise("outcome")
    turned = later.with_columns(said.alias("outcome"))
    found = changes(pl.concat([side(earlier, False, answers=there), side(turned, True, answers=here)]))
    ss, lms = (row(found, metric, benchmark="stereoset") for metric in ("ss_macro", "lms_macro"))
    answers, terms = len(own), 6
    assert (ss["value"], ss["bound_high"]) == (0, 0)
    assert ss["bound_low"] == pytest.approx(-100 / (answers - 1) / terms)
    # What cannot be read is no preference for what is related; had it been one, one answer less would be amiss.
    assert (lms["value"], lms["bound_low"]) == (pytest.approx(-200 / answers / terms),) * 2
    assert lms["bound_high"] == pytest.approx(-100 / answers / terms)


def test_where_nothing_was_asked_of_one_side() -> None:
    """A run sealed before its first question: nothing is known, and that is said."""
    found = CHANGES.conform(
        compare(answered(f.always_stereotype, EARLIER), answered(f.constant("error"), LATER), failure="not_asked")
    )
    lean = row(found)
    assert (lean["value"], lean["n"], lean["coverage"], lean["gate"]) == (None, 0, 0, "coverage")
    assert (lean["bound_low"], lean["bound_high"], lean["differs"]) == (-200, 0, [])
