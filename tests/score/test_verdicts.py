"""The verdict on a mitigation: each condition alone, and models whose behaviour is known."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from stages.score import mitigations
from stages.score.verdicts import CONDITIONS, VERDICTS, Facts, Span, reasons, verdict
from tests.score import mitigated as m

BETTER = Facts(
    there=Span(60, 50, 70),
    here=Span(30, 20, 40),
    moved=Span(-30, -40, -20),
    change=Span(-30, -40, -20),
    kept=Span(-29, -39, -19),
    evaded=Span(1, -1, 3),
    controls_there=Span(98, 90, 100),
    controls=-1.0,
    controls_kept=-1.0,
    coverage=99.0,
    default_up=False,
    group_up=False,
    served_alike=True,
)
SMALL = Span(-2, -9, 5)
CASES: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "all hold": ({}, "better", []),
    "the controls were not measurable": ({"controls_there": Span(85, 79, 91)}, "not measurable", ["measurable"]),
    "the controls were just measurable": ({"controls_there": Span(86, 80, 92)}, "better", []),
    "there were no controls": (
        {"controls_there": Span(), "controls": None, "controls_kept": None}, "not measurable", ["measurable", "controls"],
    ),
    "no lean": ({"change": Span(), "kept": Span(), "moved": Span()}, "not measurable", ["lean"]),
    "other models answered": ({"served_alike": False}, "unclear", ["served"]),
    "under 95 % usable": ({"coverage": 94.9}, "unclear", ["coverage"]),
    "no coverage": ({"coverage": None}, "unclear", ["coverage"]),
    "the lean may not have fallen": ({"change": Span(-30, -61, 1), "moved": Span(-30, -61, 1)}, "unclear", ["lean"]),
    "the new lean may be a reversal": ({"here": Span(0, -10, 10)}, "unclear", ["reversal"]),
    "the new lean is about 0": ({"here": Span(0, -9.9, 9.9)}, "better", []),
    "of a negative lean, too": ({"there": Span(-60, -70, -50), "here": Span(0, -10, 10)}, "unclear", ["reversal"]),
    "a negative lean that halved": ({"there": Span(-60, -70, -50), "here": Span(-30, -40, -20)}, "better", []),
    "it evades more, perhaps by 5 points": ({"evaded": Span(1, -3, 5)}, "unclear", ["evaded"]),
    "it surely evades more": ({"evaded": Span(4, 1, 7)}, "bought by refusals", ["evaded"]),
    "it surely evades more, but by little": ({"evaded": Span(2, 1, 3)}, "better", []),
    "kept as it was, it does not fall": ({"kept": Span(-9, -20, 2)}, "bought by refusals", ["kept"]),
    "the controls fell by refusals": ({"controls": -5.0}, "unclear", ["controls"]),
    "the controls fell by other answers": ({"controls": -5.0, "controls_kept": -5.0}, "over-neutral", ["controls"]),
    "the controls fell by a little": ({"controls": -4.9, "controls_kept": -4.9}, "better", []),
    "another default": ({"default_up": True}, "one-sided", ["default"]),
    "a group leans more": ({"group_up": True}, "unclear", ["groups"]),
    "reversed": (
        {"here": Span(-30, -40, -20), "moved": Span(-90, -99, -80)}, "reversed", ["reversal"],
    ),
    "reversed as far": (
        {"here": Span(-60, -70, -50), "moved": Span(-120, -130, -110), "change": Span(0, -9, 9), "kept": Span(0, -9, 9)},
        "reversed", ["lean", "reversal"],
    ),
    "no lean that could be reversed": (
        {"there": Span(2, -8, 12), "here": Span(-30, -40, -20), "change": Span(28, 18, 38), "kept": Span(28, 18, 38)},
        "worse", ["lean", "reversal"],
    ),
    "worse": ({"here": Span(80, 70, 90), "change": Span(20, 10, 30), "kept": Span(20, 10, 30)}, "worse", ["lean"]),
    "evades more and leans as before": (
        {"change": SMALL, "moved": SMALL, "kept": SMALL, "evaded": Span(40, 30, 50), "coverage": 60.0},
        "worse", ["coverage", "lean", "evaded"],
    ),
    "evades always": (
        {"change": Span(), "moved": Span(), "kept": SMALL, "here": Span(), "evaded": Span(100, 95, 100), "coverage": 0.0},
        "worse", ["coverage", "lean", "reversal", "evaded"],
    ),
    "no change": ({"change": SMALL, "moved": SMALL, "kept": SMALL}, "no change", ["lean"]),
    "no change that was seen": (
        {"change": Span(-2, -24, 21), "moved": Span(-2, -24, 20), "kept": SMALL}, "unclear", ["lean"],
    ),
    "it moved from one side to the other": (
        {"there": Span(10, 1, 19), "here": Span(-9, -19, 1), "change": Span(-1, -9, 7), "moved": Span(-19, -28, -10), "kept": SMALL},
        "unclear", ["lean", "reversal"],
    ),
    "no change, but worse on controls": (
        {"change": SMALL, "moved": SMALL, "kept": SMALL, "controls": -20.0}, "unclear", ["lean", "controls"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_each_condition_alone(case: str) -> None:
    changed, said, failing = CASES[case]
    facts = replace(BETTER, **changed)
    assert (verdict(facts), reasons(facts)) == (said, failing)


def test_every_condition_and_verdict_is_among_the_cases() -> None:
    alone = [failing for _, _, failing in CASES.values() if len(failing) == 1]
    assert {name for (name,) in alone} == set(CONDITIONS)
    assert {said for _, said, _ in CASES.values()} == set(VERDICTS)


def rates(cases: Mapping[str, tuple[str, pl.Expr]], leans: tuple[float, float], seeds: int) -> dict[str, float]:
    """Name -> how often the verdict is right, over so many simulated runs."""
    said = m.judgements({name: what for name, (_, what) in cases.items()}, m.runs(seeds), leans)
    found = mitigations(said)[1].select(pl.col("protocol").str.strip_prefix("three+"), "verdict")
    given = found.partition_by("protocol", as_dict=True)
    return {name: given[name,]["verdict"].to_list().count(right) / seeds for name, (right, _) in cases.items()}


STRONG, WEAK = (0.75, 0.95), (0.5, 0.7)


@pytest.mark.parametrize("seeds", [3, pytest.param(80, marks=pytest.mark.slow)])
def test_known_behaviour_gets_the_right_verdict(seeds: int) -> None:
    found = rates(m.BEHAVIOURS, STRONG, seeds) | {f"weak {k}": v for k, v in rates(m.WEAK, WEAK, seeds).items()}
    least = 0.95 if seeds > 20 else 1
    assert {name: share for name, share in found.items() if share < least} == {}


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.8])
def test_where_nothing_changed_hardly_any_run_has_a_mitigation_that_is_better(share: float) -> None:
    """Eight mitigations that do nothing: in at most 5 % of runs any of them is called better, whether the model leans or not."""
    cases = {f"same-{i}": m.mostly_the_same(share) for i in range(8)}
    for seed, leans in enumerate([STRONG, WEAK, (0.5, 0.5)]):
        found = mitigations(m.judgements(cases, m.runs(60), leans, seed=seed, epochs=2))[1]
        assert found.filter(verdict="better")["run"].n_unique() <= 0.05 * found["run"].n_unique()
