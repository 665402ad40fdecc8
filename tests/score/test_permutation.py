"""The sign-flip permutation test: exact where it can be, drawn where it cannot, and alike for what is alike."""

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests

from stages.score.permutation import DRAWS, EXACT, adjusted, p_values, sign_flip

parts = st.lists(st.sampled_from([-1.0, -0.5, -0.25, 0.25, 0.5, 1.0]), min_size=1, max_size=8)


def p_of(differences: list[float], types: list[str] | None = None) -> float:
    frame = pl.DataFrame(
        {
            "pair": 0,
            "type": types or ["none"] * len(differences),
            "target": [f"{n:03}" for n in range(len(differences))],
            "difference": differences,
        },
        schema_overrides={"difference": pl.Float64},
    )
    found: float = p_values(frame, ["pair"])["p_value"].item()
    return found


def by_hand(differences: list[float]) -> float:
    flips = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(flip >= abs(sum(differences)) - 1e-9 for flip in flips) / len(flips)


@given(parts)
@settings(max_examples=50)
def test_exact_where_every_way_can_be_tried(differences: list[float]) -> None:
    assert p_of(differences) == pytest.approx(by_hand(differences))


@given(parts, st.data())
@settings(max_examples=30)
def test_neither_signs_nor_order_nor_zeros_matter(differences: list[float], data: st.DataObject) -> None:
    p = p_of(differences)
    assert p_of([-d for d in differences]) == pytest.approx(p)
    assert p_of(data.draw(st.permutations(differences))) == pytest.approx(p)
    assert p_of([*differences, 0.0, 0.0]) == pytest.approx(p)


def test_nothing_differs() -> None:
    assert p_of([0.0] * 20) == 1


def test_last_bits_are_no_difference() -> None:
    """Averages of the same numbers differ in them, and may do so to one side in all targets."""
    assert p_of([5e-17] * 20) == 1
    assert p_of([5e-17] * 20 + [1.0]) == 1


def test_drawn_agrees_with_t_where_there_are_many() -> None:
    rng = np.random.default_rng(5)
    for shift in (0.0, 0.1, 0.2):
        differences = rng.normal(shift, 0.5, 60)
        assert p_of(differences.tolist()) == pytest.approx(ttest_1samp(differences, 0).pvalue, abs=0.02)


def test_the_least_p_of_draws_is_above_0() -> None:
    assert p_of([1.0] * (EXACT + 1)) == pytest.approx(1 / (DRAWS + 1), abs=3 / DRAWS)
    assert p_of([1.0] * 60) == 1 / (DRAWS + 1)


def test_a_p_does_not_depend_on_what_is_tested_beside_it() -> None:
    rng = np.random.default_rng(6)
    rows = rng.normal(0.2, 1, (70, 20))
    together = sign_flip(rows)
    assert together[3] == sign_flip(rows[3:4])[0]
    frames = [
        pl.DataFrame({"pair": n, "type": "none", "target": [f"{i:03}" for i in range(len(d))], "difference": d})
        for n, d in enumerate([rows[0], rng.normal(0, 1, 300), rows[1]])
    ]
    found = p_values(pl.concat(frames), ["pair"])["p_value"].to_list()
    assert [found[0], found[2]] == [p_of(rows[0].tolist()), p_of(rows[1].tolist())]


def test_types_weigh_half_each() -> None:
    """One female-typed concept against nine male-typed ones: its difference counts as much as all of theirs."""
    differences, types = [1.0] * 9 + [-1.0], ["male"] * 9 + ["female"]
    assert p_of(differences, types) == 1
    assert p_of(differences) < 0.05


@pytest.mark.parametrize(
    ("method", "p", "expected"),
    [
        ("holm", [0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ("bh", [0.01, 0.04, 0.03, 0.2], [0.04, 4 / 3 * 0.04, 4 / 3 * 0.04, 0.2]),
        ("holm", [], []),
        ("holm", [0.4], [0.4]),
    ],
)
def test_corrections(method: str, p: list[float], expected: list[float]) -> None:
    assert adjusted(p, method) == pytest.approx(expected)


def test_bounded_memory_for_many_rows() -> None:
    rows: Any = np.random.default_rng(7).normal(size=(200, 30))
    found = p_values(
        pl.DataFrame(
            {
                "pair": np.repeat(np.arange(200), 30),
                "type": "none",
                "target": np.tile([f"{i:02}" for i in range(30)], 200),
                "difference": rows.ravel(),
            }
        ),
        ["pair"],
    )
    assert found["p_value"].to_list() == pytest.approx(sign_flip(rows).tolist())


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=40)
def test_corrections_are_those_of_another_implementation(p: list[float]) -> None:
    for method, name in (("holm", "holm"), ("bh", "fdr_bh")):
        assert adjusted(p, method) == pytest.approx(multipletests(p, method=name)[1].tolist())
