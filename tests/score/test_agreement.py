"""How far readers agree: kappas worked by hand, by another implementation, at their ends; and whose codes are laid side by side."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from stages.judge import judge
from stages.schema import GAPS, RUN_KEY
from stages.score.agreement import agreement, kappa, kappas
from stages.score.gaps import gaps
from stages.score.readers import read_by
from tests import written as w

FACTS = dict.fromkeys((column.name for column in RUN_KEY), "x")
HAND = [[3, 1, 0], [0, 2, 1], [0, 1, 2]]
"""Texts by the codes −1, 0, 1 of two readers. Disagreement: 3 of 10 texts by one step, 0.3; by the margins (4, 3, 3 and 3, 4, 3)
it would be (16 + 2·12 + 9 + 9 + 2·9 + 12) / 100 = 0.88; kappa = 1 − 0.3 / 0.88."""


def coded(table: list[list[int]], targets: int = 5, raters: tuple[str, str] = ("a@1", "b@1")) -> pl.DataFrame:
    """The codes of two readers that give ``table``, over texts of so many targets in turn."""
    both = [(i - 1, j - 1) for i in range(3) for j in range(3) for _ in range(table[i][j])]
    rows = [
        {**FACTS, "text": str(n), "variant": "woman", "domain": "agency", "target": str(n % targets), "rater": rater, "code": code}
        for n, codes in enumerate(both)
        for rater, code in zip(raters, codes, strict=True)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def only(found: pl.DataFrame) -> dict[str, Any]:
    assert found.height == 1
    return found.row(0, named=True)


def test_a_kappa_by_hand() -> None:
    row = only(agreement(coded(HAND)))
    assert row["kappa"] == pytest.approx(1 - 0.3 / 0.88)
    assert (row["agreement"], row["n"], row["rater"], row["versus"]) == (70, 10, "a@1", "b@1")
    assert -1 <= row["ci_low"] < row["kappa"] < row["ci_high"] <= 1


def test_kappas_of_many_tables_are_those_of_statsmodels() -> None:
    tables = np.random.default_rng(1).integers(0, 9, (200, 9)).astype(np.float64)
    theirs = [cohens_kappa(table.reshape(3, 3), wt="linear", return_results=False) for table in tables]
    assert kappas(tables[None])[0] == pytest.approx(np.array(theirs))
    assert [kappa(table) for table in tables[:5]] == pytest.approx(theirs[:5])


ENDS = [
    ([[4, 0, 0], [0, 4, 0], [0, 0, 4]], 1.0, "they agree"),
    ([[0, 0, 4], [0, 0, 0], [4, 0, 0]], -1.0, "each says the opposite"),
    ([[0, 0, 0], [4, 4, 4], [0, 0, 0]], 0.0, "one says one thing of all texts: no better than chance"),
    ([[0, 0, 0], [0, 9, 0], [0, 0, 0]], None, "both say one and the same of all texts: nothing to agree on"),
]


@pytest.mark.parametrize(("table", "expected", "why"), ENDS)
def test_the_ends_of_kappa(table: list[list[int]], expected: float | None, why: str) -> None:
    row = only(agreement(coded(table)))
    assert row["kappa"] == expected, why
    if expected is None:
        assert (row["ci_low"], row["ci_high"], row["agreement"]) == (None, None, 100)
    else:
        assert -1 <= row["ci_low"] <= expected <= row["ci_high"] <= 1
        assert row["ci_low"] < row["ci_high"], "no interval is of zero width"


def test_under_five_targets_there_is_no_interval() -> None:
    row = only(agreement(coded(HAND, targets=4)))
    assert (row["kappa"], row["ci_low"], row["ci_high"]) == (pytest.approx(0.659, abs=0.001), None, None)


def test_the_lexicon_is_always_the_other() -> None:
    row = only(agreement(coded(HAND, raters=("lexicon", "z@1"))))
    assert (row["rater"], row["versus"]) == ("z@1", "lexicon")


WRITTEN = judge(w.answers(w.leaning))


def said(rater: str, code: pl.Expr, rows: pl.DataFrame = WRITTEN) -> pl.DataFrame:
    """A reader's judgements of all texts, to the question of agency."""
    return rows.select(
        pl.lit(rater).alias("run"),
        "language",
        pl.concat_str("item_id", pl.lit("-1-agency")).alias("item_id"),
        "variant",
        pl.lit("agency").alias("domain"),
        code.cast(pl.Int64).alias("code"),
        pl.lit(w.WRITER).alias("reads"),
    )


SIDE = pl.when(pl.col("variant") == "man").then(1).otherwise(-1)


def test_all_who_read_are_laid_beside_each_other() -> None:
    readers = ("judge-a@2026-11-30", "judge-b@2026-11-30", "person-ann@2026-11-30")
    _, found = read_by(WRITTEN, pl.concat(said(reader, SIDE) for reader in readers))
    assert set(found["run"]) == {w.WRITER}
    assert sorted(found.select("rater", "versus").rows()) == sorted(
        [(readers[0], readers[1]), (readers[0], readers[2]), (readers[1], readers[2])]
        + [(reader, "lexicon") for reader in readers]
    )
    assert set(found.filter(pl.col("versus") != "lexicon")["kappa"]) == {1}


def test_a_verdict_without_a_code_counts_nowhere() -> None:
    first = pl.int_range(pl.len()) > 0
    rows = said("judge-a@1", pl.when(first).then(SIDE))
    values, found = read_by(WRITTEN, pl.concat([rows, said("judge-b@1", SIDE)]))
    assert values.filter(rater="judge-a@1").height == WRITTEN.height - 1
    assert found.filter(rater="judge-a@1", versus="judge-b@1")["n"].item() == WRITTEN.height - 1


def test_texts_that_do_not_count_have_no_verdict() -> None:
    refused = WRITTEN.with_columns(
        pl.when(pl.int_range(pl.len()) > 1).then("outcome").otherwise(pl.lit("refusal")).alias("outcome")
    )
    values, _ = read_by(refused, said("judge-a@1", SIDE))
    assert values.height == WRITTEN.height - 2


def test_who_reads_another_run_says_nothing_of_this_one() -> None:
    values, found = read_by(WRITTEN, said("judge-a@1", SIDE).with_columns(pl.lit("other@2026-11-29").alias("reads")))
    assert (values.height, found.height) == (0, 0)


def test_the_most_frequent_code_is_agreed_on_and_all_of_them_are_measured() -> None:
    three = pl.concat([said("judge-a@1", SIDE), said("judge-a@1", SIDE), said("judge-a@1", pl.lit(0))])
    values, found = read_by(WRITTEN, pl.concat([three, said("judge-b@1", SIDE)]))
    assert found.filter(rater="judge-a@1", versus="judge-b@1")["kappa"].item() == 1
    assert set(values.filter(rater="judge-a@1")["value"].round(3)) == {66.667, -66.667}


def test_of_two_codes_as_frequent_neither_is_agreed_on() -> None:
    two = pl.concat([said("judge-a@1", SIDE), said("judge-a@1", pl.lit(0)), said("judge-b@1", SIDE)])
    _, found = read_by(WRITTEN, two)
    assert found.filter(rater="judge-a@1").is_empty()


def test_a_planted_difference_is_measured_beside_the_lexicon() -> None:
    values, _ = read_by(WRITTEN, said("judge-a@1", SIDE))
    found = GAPS.conform(gaps(values)).filter(target="all").row(0, named=True)
    assert (found["rater"], found["measure"], found["value"], found["n"]) == ("judge-a@1", "agency", 200, len(w.ROLES))


def test_codes_by_a_coin_are_rarely_taken_for_a_difference() -> None:
    """Of 40 judges that toss a coin about each text at most 7 find a difference (binomial with 5 %, 99.9 %)."""
    rng = np.random.default_rng(3)
    tossed = [
        read_by(WRITTEN, said(f"judge-{i}@1", pl.lit(pl.Series(rng.integers(-1, 2, WRITTEN.height)))))[0]
        for i in range(40)
    ]
    found = gaps(pl.concat(tossed)).filter(target="all")
    assert found.height == 40
    assert (found["p_value"] <= 0.05).sum() <= 7
