"""Simulated pairs of runs: nothing changed raises few alarms, a planted change is seen (docs/methodology.md has the figures)."""

import pytest

from benchmarks.power import DESIGNS, Design, compared, shares

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
PAIRS = 200
SEEN = {
    "plan quick, drawn anew": 22,
    "plan quick, repeating": 12,
    "plan full, drawn anew": 7,
    "plan full, repeating": 5,
}
"""Design -> the change, in points of traditional_bias, that methodology.md says is seen with 80 % power at 0.05."""


def design(name: str) -> Design:
    (found,) = (each for each in DESIGNS if each.name.startswith(name))
    return found


@pytest.mark.parametrize("name", SEEN)
def test_false_alarms_and_power(name: str) -> None:
    """Of 200 pairs at most 19 alarms are within chance of 5 % (99.9 % of the time), and at least 140 hits of 80 %."""
    nothing = shares(compared(design(name), 0, PAIRS, seed=11))
    assert nothing["p ≤ 0.05"] <= 100 * 19 / PAIRS
    assert nothing["p ≤ 0.005"] <= 100 * 5 / PAIRS
    assert nothing["p ≤ 0.005, repeated"] <= 1
    assert shares(compared(design(name), SEEN[name], PAIRS, seed=12))["p ≤ 0.05"] >= 70
