"""Models that know nothing but a rule, asked over the wire and taken through the real stages, give the textbook scores."""

import threading
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from stages.judge import judge_all
from stages.ledger import Run
from stages.query import Silent, ask_run
from stages.reduce import reduce_all
from stages.report import query
from stages.schema import JUDGEMENTS, SCORES
from stages.score import score_all
from stages.store import partitions, read
from tests.end_to_end.responders import CHOICES, PAIRS, answering
from tests.wire import serving

COVERS_0 = "covers 0"
Expected = dict[str, dict[str, float | str | None]]
OF_CHOICES: Expected = {
    "coin": {"lean": COVERS_0, "default": COVERS_0, "traditional_bias": "covers 50", "committed": 100},
    "coin-on-controls-too": {"camp": "not measurable"},
    "stereotype": {
        "lean": 100,
        "direction": 100,
        "traditional_bias": 100,
        "traditional_bias_vote": 100,
        "default": 0,
        "control_accuracy": 100,
        "camp": "traditional",
    },
    "anti": {"lean": -100, "direction": -100, "traditional_bias": 0, "default": 0, "camp": "reversed"},
    "he": {"lean": 0, "direction": 0, "default": 100, "camp": "one-sided"},
    "she": {"lean": 0, "direction": 0, "default": -100, "camp": "one-sided"},
    "she-on-controls-too": {"camp": "not measurable"},
    "first": {"lean": 0, "order_pull": 100, "order_decided": 100, "default": 0},
    "refuse": {
        "lean": 0,
        "committed": 0,
        "direction": None,
        "refusal_rate": 100,
        "control_accuracy": 0,
        "camp": "evasive",
    },
    "neutral": {"lean": 0, "committed": 0, "direction": None, "neutral_rate": 100, "default": 0, "camp": "balanced"},
}
IN_THREE = ("stereotype", "first", "neutral")
OF_PAIRS: Expected = {
    "blind": {"pair_lean": COVERS_0, "refusal_gap": 0},
    "stereotype": {"pair_lean": 100, "traditional_bias_vote": 100, "refusal_gap": 0, "camp": "traditional"},
    "anti": {"pair_lean": -100, "traditional_bias_vote": 0, "camp": "reversed"},
    "agentic": {"pair_lean": 0, "traditional_bias_vote": 0, "camp": "balanced"},
    "first": {"pair_lean": 0, "order_pull": 100, "order_decided": 100},
    "refuse": {"pair_lean": None, "refusal_rate": 100, "refusal_gap": 0, "camp": "evasive"},
    "refuse-about-women": {"pair_lean": None, "refusal_gap": 100, "refusal_rate": 50, "camp": "evasive"},
}
CASES = [
    *(("choices", name, "two") for name in CHOICES),
    *(("choices", name, "three") for name in IN_THREE),
    *(("pairs", name, "closed") for name in PAIRS),
]
RESPONDERS, EXPECTED = {"choices": CHOICES, "pairs": PAIRS}, {"choices": OF_CHOICES, "pairs": OF_PAIRS}


def limit(name: str, form: str) -> int | None:
    """Where each item is asked in six orders, two models answer all items and the others a third: a rule is a rule."""
    return None if form == "two" or name in ("stereotype", "neutral") else 30


def asked_and_scored(project: Path, enrol: Callable[..., Run], kind: str, name: str, form: str) -> Run:
    with serving(answering(project, "checkup", RESPONDERS[kind][name])) as server:
        run = ask_run(project, enrol(name, server.base, form, limit(name, form)), threading.Event(), Silent())
    judge_all(project)
    reduce_all(project)
    score_all(project)
    return run


def value(scores: pl.DataFrame, metric: str) -> dict[str, float | None]:
    domain = "control" if metric.startswith("control") else "all"
    scope = {"domain": domain, "style": "all", "typed": "all", "status": "all"}
    return scores.filter(metric=metric, **scope).row(0, named=True)


@pytest.mark.parametrize(("kind", "name", "form"), CASES)
def test_a_null_model_gets_its_textbook_scores_in_both_languages(
    project: Path, enrol: Callable[..., Run], kind: str, name: str, form: str
) -> None:
    run = asked_and_scored(project, enrol, kind, name, form)
    for part in partitions(run):
        scores = read(part.path(project, SCORES), SCORES)
        for metric, expected in EXPECTED[kind][name].items():
            found = camp(project, part.language) if metric == "camp" else value(scores, metric)
            assert fits(found, expected), (part.language, metric, found)
        assert value(scores, "coverage")["value"] == 100
        offered = read(part.path(project, JUDGEMENTS), JUDGEMENTS)["n_options"]
        assert set(offered) == {"two": {2}, "three": {3}, "closed": {3, 10}}[form]


def camp(project: Path, language: str) -> str:
    of_all = f"language = '{language}' and domain = 'all' and style = 'all'"
    found: str = query(project, f"select camp from camps where {of_all}").item()
    return found


def fits(found: str | dict[str, float | None], expected: float | str | None) -> bool:
    if isinstance(found, str):
        return found == expected
    value, low, high = found["value"], found["ci_low"], found["ci_high"]
    if isinstance(expected, str):
        # Twice as wide: of a coin, one interval of 95 % in twenty misses.
        assert value is not None
        assert low is not None
        assert high is not None
        return 2 * low - value < float(expected.split()[-1]) < 2 * high - value
    return value == (expected if expected is None else pytest.approx(expected))
