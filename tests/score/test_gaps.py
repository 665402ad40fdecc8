"""Gaps in texts: a planted difference is found, a shuffled one is not, and every number by hand."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from stages.schema import ALL, MAN, WOMAN, Outcome
from stages.score.gaps import LEAST_TEXTS, gaps
from stages.score.texts import LENGTH, lexicon_values
from tests.texts import make_texts

KEY = {"model": "model-a", "date": "2026-11-30", "benchmark": "checkup-open", "language": "en", "protocol": "open"}


def values(target: str, woman: list[float | None], man: list[float | None], **fields: Any) -> list[dict[str, Any]]:
    """One row per text: the texts about a woman and a man of one pair stand at the same place of both lists."""
    return [
        {"run": "model-a@2026-11-30", **KEY, "rater": "lexicon", "domain": "letter", "measure": "agentic", "target": target,
         "pair": f"{target}-{i}", "variant": side, "value": value, **fields}
        for side, found in ((WOMAN, woman), (MAN, man))
        for i, value in enumerate(found)
    ]  # fmt: skip


def found(*rows: list[dict[str, Any]]) -> pl.DataFrame:
    return gaps(pl.DataFrame([row for some in rows for row in some], infer_schema_length=None))


def row(frame: pl.DataFrame, **key: str) -> dict[str, Any]:
    return frame.filter(**key).row(0, named=True)


def test_a_gap_by_hand() -> None:
    one = row(found(values("nurse", [1.0, 2, 3, 1, 2, 3], [2.0, 3, 4, 2, 3, 4])), target="nurse")
    assert (one["woman"], one["man"], one["value"], one["n"]) == (2, 3, 1, 1)
    assert (one["n_woman"], one["n_man"]) == (6, 6)
    # All six pairs differ the same way: of 64 ways to swap sides, two are as far from 0.
    assert one["p_value"] == one["p_adjusted"] == 2 / 64
    assert one["ci_low"] is one["ci_high"] is None


def test_the_domain_is_the_mean_over_targets() -> None:
    some = [values(f"role-{i}", [1.0] * 6, [1.0 + gap] * 6) for i, gap in enumerate((1, 2, 3, 4, 5, 6))]
    whole = row(found(*some), target=ALL)
    assert (whole["woman"], whole["man"], whole["value"], whole["n"]) == (1, 4.5, 3.5, 6)
    # t of 6 targets with a standard deviation of 1.8708: 3.5 ± 2.5706 · 0.7638
    assert (whole["ci_low"], whole["ci_high"]) == (pytest.approx(1.5367, abs=1e-3), pytest.approx(5.4633, abs=1e-3))
    assert whole["p_value"] == 2 / 64
    assert (whole["n_woman"], whole["n_man"]) == (36, 36)


def test_too_few_texts_have_a_difference_and_no_p_value() -> None:
    few = row(found(values("nurse", [1.0] * (LEAST_TEXTS - 1), [3.0] * (LEAST_TEXTS - 1))), target="nurse")
    assert (few["value"], few["p_value"], few["p_adjusted"]) == (2, None, None)


def test_a_pair_without_a_text_on_one_side_is_left_out() -> None:
    one = row(found(values("nurse", [1.0, None, 3], [2.0, 9, 4])), target="nurse")
    assert (one["woman"], one["man"], one["value"], one["n_woman"], one["n_man"]) == (2, 3, 1, 2, 2)


@pytest.mark.parametrize(("woman", "man"), [([None, None], [1.0, 2.0]), ([None], [None])])
def test_without_any_pair_everything_is_null(woman: list[float | None], man: list[float | None]) -> None:
    both = found(values("nurse", woman, man))
    assert both["target"].sort().to_list() == [ALL, "nurse"]
    for one in both.iter_rows(named=True):
        assert {one[name] for name in ("woman", "man", "value", "ci_low", "ci_high", "p_value", "p_adjusted")} == {None}
        assert (one["n"], one["n_woman"], one["n_man"]) == (0, 0, 0)


def test_nothing_gives_nothing() -> None:
    assert gaps(pl.DataFrame()).is_empty()


def test_sides_that_are_alike_have_a_p_value_of_one() -> None:
    alike = found(*(values(f"role-{i}", [float(i)] * 6, [float(i)] * 6) for i in range(6)))
    assert set(alike["p_value"]) == {1.0}
    assert set(alike["value"]) == {0.0}


def test_single_targets_are_corrected_over_all_of_a_reader_and_domains_over_their_measures() -> None:
    rng = np.random.default_rng(1)
    some = [
        values(f"role-{i}", list(rng.normal(0, 1, 6)), list(rng.normal(0.5, 1, 6)), measure=measure, rater=rater)
        for i in range(6)
        for measure in ("agentic", "communal")
        for rater in ("lexicon", "judge@2026-12-01")
    ]
    frame = found(*some)
    single, whole = frame.filter(pl.col("target") != ALL), frame.filter(target=ALL)
    for rater in ("lexicon", "judge@2026-12-01"):
        own = single.filter(rater=rater).sort("p_value")
        ranked = own["p_value"] * own.height / pl.Series(range(1, own.height + 1))
        expected = ranked.reverse().cum_min().reverse().clip(upper_bound=1)
        assert own["p_adjusted"].to_list() == pytest.approx(expected.to_list())
        first, second = whole.filter(rater=rater).sort("p_value").iter_rows(named=True)
        assert first["p_adjusted"] == pytest.approx(min(1, 2 * first["p_value"]))
        assert second["p_adjusted"] == pytest.approx(max(first["p_adjusted"], second["p_value"]))


def test_rows_in_any_order_give_the_same_bits() -> None:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        [r for i in range(6) for r in values(f"role-{i}", list(rng.normal(size=6)), list(rng.normal(size=6)))]
    )
    assert gaps(frame).equals(gaps(frame.sample(fraction=1, shuffle=True, seed=3)))


def test_what_the_lexicon_reads_in_texts() -> None:
    texts = make_texts(agentic=(2, 5), words=50)
    found = lexicon_values(texts).filter(measure="agentic")
    rates = found.group_by("variant").agg(pl.col("value").unique()).sort("variant")
    assert rates["value"].to_list() == [[10.0], [4.0]]
    lengths = lexicon_values(texts).filter(measure=LENGTH)["value"]
    assert set(lengths) == {50.0}
    unread = texts.with_columns(pl.lit(str(Outcome.INVALID)).alias("outcome"))
    assert set(lexicon_values(unread)["value"]) == {None}


def _noisy(runs: int, planted: float, seed: int) -> pl.DataFrame:
    """``runs`` letter sets of twelve roles with six texts per side, as noisy as texts are: roles and pairs differ."""
    rng = np.random.default_rng(seed)
    shape, measures = (runs, 12, 6), ("agentic", "communal", "ability", "grindstone", "standout", LENGTH)
    frames = []
    for measure in measures:
        shared = rng.normal(3, 1, (runs, 12, 1)) + rng.normal(0, 0.5, shape)
        for side in (WOMAN, MAN):
            up = planted if (side, measure) == (MAN, "agentic") else 0.0
            found = (shared + rng.normal(up, 1, shape)).ravel()
            run, role, pair = (index.ravel() for index in np.indices(shape))
            frames.append(
                pl.DataFrame({"run": run, "target": role, "pair": pair, "value": found}).with_columns(
                    pl.lit(side).alias("variant"), pl.lit(measure).alias("measure")
                )
            )
    return pl.concat(frames).with_columns(
        *(pl.col(name).cast(pl.String) for name in ("run", "target")),
        pl.concat_str("target", "pair", separator="-").alias("pair"),
        *(pl.lit(value).alias(name) for name, value in KEY.items()),
        pl.lit("lexicon").alias("rater"),
        pl.lit("letter").alias("domain"),
    )


def _shuffled(frame: pl.DataFrame, times: int, seed: int) -> pl.DataFrame:
    """``frame``, of one run, so many times, each with the sides of a random half of its pairs swapped."""
    pairs = frame.select("pair").unique(maintain_order=True)
    swaps = np.random.default_rng(seed).random((times, pairs.height)) < 0.5
    runs = [pairs.with_columns(pl.lit(str(i)).alias("run"), pl.Series("swap", swap)) for i, swap in enumerate(swaps)]
    other = pl.col("variant").replace_strict({WOMAN: MAN, MAN: WOMAN})
    joined = frame.drop("run").join(pl.concat(runs), on="pair")
    return joined.with_columns(pl.when("swap").then(other).otherwise("variant").alias("variant")).drop("swap")


def _alarms(frame: pl.DataFrame) -> list[bool]:
    """Per run, whether any measure of the domain differs."""
    whole = gaps(frame).filter(target=ALL)
    return list(whole.group_by("run").agg((pl.col("p_adjusted") <= 0.05).any().alias("alarm"))["alarm"])


def test_a_planted_difference_is_found_and_its_shuffles_raise_at_most_five_percent_of_false_alarms() -> None:
    """Of 5,000 sets without a difference 4.5 % raise an alarm."""
    planted = _noisy(runs=1, planted=1.0, seed=7)
    assert _alarms(planted) == [True]
    alarms = _alarms(_shuffled(planted, times=200, seed=9))
    assert len(alarms) == 200
    assert 0 < sum(alarms) <= 10


def test_a_planted_difference_is_found_in_nearly_every_set() -> None:
    whole = gaps(_noisy(runs=20, planted=1.0, seed=8)).filter(target=ALL)
    planted, others = whole.filter(measure="agentic"), whole.filter(pl.col("measure") != "agentic")
    assert sum(p <= 0.05 for p in planted["p_adjusted"]) >= 18
    assert sum(planted["value"]) / 20 == pytest.approx(1, abs=0.2)
    assert sum(p <= 0.05 for p in others["p_adjusted"]) <= 5
