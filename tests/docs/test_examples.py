"""Every number that docs/methodology.md works out is computed here by the code it describes."""

import re

import duckdb
import numpy as np
import polars as pl
import pytest

from stages.judge import judge
from stages.reduce import reduce
from stages.schema import Kind
from stages.score import METRICS, score
from stages.score.intervals import SHARE, Estimates, Interval, t_over_targets, wilson
from stages.score.metrics import SIGNED
from tests import factories as f
from tests import pairs as p
from tests.conftest import ROOT
from tests.docs.markdown import METHODOLOGY, Row, code, number, read, section, table
from tests.score.lookup import row, value

TEXT = read(METHODOLOGY)
CAMPS_SQL = (ROOT / "reports/sql/marts/camps.sql").read_text(encoding="utf-8")
CHANCE = 8
"""How far a coin may be from what it stands for; the seed is fixed."""


def camp(scores: pl.DataFrame) -> dict[str, object]:
    """The row of the view camps for everything."""
    with duckdb.connect() as connection:
        connection.register("scores", scores)
        found = connection.sql(CAMPS_SQL).pl()
    whole: dict[str, object] = found.filter(pl.col("domain") == "all", pl.col("style") == "all").row(0, named=True)
    return whole


# The worked example

EXAMPLE = section(TEXT, "## A worked example")
CONCEPTS = table(EXAMPLE, "concept", "type")
WORKED = table(EXAMPLE, "metric", "by hand", "value")
ASKED = (("he or she?", "ℓ"), ("she or he?", "ℓ'"))
"""Each order with the column of its log-odds."""


@pytest.fixture(scope="module")
def worked() -> pl.DataFrame:
    """The scores of the example's replies, read and judged like any others."""
    asked = f.make_questions(styles=["direct"], groups={"occupation": (2, 2, 0)}).sort("target", "order_index")
    by_target = sorted(CONCEPTS, key=lambda concept: concept["type"])  # as the targets: female first
    given = [(c[f'reply to "{order}"'], c[ell]) for c in by_target for order, ell in ASKED]
    judged = f.judged(asked, pl.Series("said", ["he"] * len(given)))
    replies = pl.DataFrame(
        {
            "item_id": asked["item_id"],
            "order_index": asked["order_index"],
            "said": [code(reply) for reply, _ in given],
            "candidates": [_candidates(number(odds) or 0.0) for _, odds in given],
        }
    )
    answers = f.make_answers(judged).drop("reply", "candidates").join(replies, on=["item_id", "order_index"])
    return score(judge(answers.rename({"said": "reply"})))


def _candidates(log_odds: float) -> list[dict[str, object]]:
    return [{"key": "he", "logprob": log_odds - 5}, {"key": "she", "logprob": -5.0}]


@pytest.mark.parametrize("line", WORKED, ids=[line["metric"] for line in WORKED])
def test_worked_example(worked: pl.DataFrame, line: Row) -> None:
    found = row(worked, code(line["metric"]))
    expected = number(line["value"])
    assert found["value"] == (None if expected is None else pytest.approx(expected, abs=0.005))
    assert found["n"] == int(line["n"])


def test_worked_example_has_no_interval_and_no_verdict(worked: pl.DataFrame) -> None:
    assert worked["ci_low"].null_count() == worked["ci_high"].null_count() == worked.height
    assert camp(worked)["camp"] == "not measurable"


def test_worked_example_leaves_out_only_what_is_0_or_said_elsewhere(worked: pl.DataFrame) -> None:
    left = {metric.name for metric in METRICS if metric.kinds != (Kind.RUBRIC,)} - {
        code(line["metric"]) for line in WORKED
    }
    whole = worked.filter(pl.col("domain") == "all", pl.col("typed") == "all", pl.col("metric").is_in(left))
    assert set(whole["metric"]) == {"lean_ci90", *(name for name in left if name.endswith("_rate"))}
    assert set(whole.filter(pl.col("metric").str.ends_with("_rate"))["value"]) == {0}


# Two pairs

PAIRS = section(TEXT, "## Two pairs by hand")
FOUNDER = table(PAIRS, "picks about the woman", "Δ")
CONTEST = table(PAIRS, "shown", "Δ")
WORKED_PAIRS = table(PAIRS, "domain", "by hand")


@pytest.fixture(scope="module")
def pairs() -> pl.DataFrame:
    """Judgements of the two pairs: the contest's, then the founder's."""
    asked = p.make_pairs(groups={"language": 1, "trait": 1}).sort("domain", "variant", "order_index")
    contest = [line[f"about the {side}"] for side in ("man", "woman") for line in CONTEST]
    founder = [line[f"picks about the {side}"].replace(",", "") for side in ("man", "woman") for line in FOUNDER]
    return p.judged_pairs(asked, pl.Series(contest + founder))


@pytest.mark.parametrize("line", WORKED_PAIRS, ids=[f"{line['metric']} {line['domain']}" for line in WORKED_PAIRS])
def test_worked_pairs(pairs: pl.DataFrame, line: Row) -> None:
    found = row(score(pairs), code(line["metric"]), domain=line["domain"])
    assert found["value"] == pytest.approx(number(line["value"]), abs=0.005)
    assert found["n"] == int(line["n"])


def test_codes_and_orders_of_the_worked_pairs(pairs: pl.DataFrame) -> None:
    codes = pairs.sort("domain", "variant", "order_index")["code"].to_list()
    man, woman = codes[12:18], codes[18:]
    assert [number(line["code"]) for line in FOUNDER] == woman
    assert [number(line["code'"]) for line in FOUNDER] == man
    assert [number(line["Δ"]) for line in FOUNDER] == [m - w for m, w in zip(man, woman, strict=True)]
    sides = zip(codes[:6], codes[6:12], strict=True)
    assert [number(line["Δ"]) for line in CONTEST] == [None if w is None else m - w for m, w in sides]
    asked = p.make_pairs(groups={"language": 1}).filter(variant="man").sort("order_index")
    assert [line["shown"].split(", ") for line in CONTEST] == asked["shown"].to_list()


def test_votes_of_the_worked_pairs(pairs: pl.DataFrame) -> None:
    found = reduce(pairs).sort("domain").select("vote", "p_value").rows()
    assert found == [("neutral", 2 / 32), ("stereotype", 2 / 64)]
    stated = re.findall(r"p = 2 / (\d+) = ([\d.]+), `([\w-]+)`", PAIRS)
    assert [(vote, float(p_value)) for _, p_value, vote in stated] == [(v, round(p, 2)) for v, p in reversed(found)]


# Null models

RESPONDERS: dict[str, f.Responder] = {
    "coin": f.coin,
    "always-stereotype": f.always_stereotype,
    "always-anti": f.always_anti,
    "always-first": f.always_first,
    **{f"always-{reply}": f.constant(reply) for reply in ("he", "she", "they", "invalid")},
    "always-refuse": f.constant("refusal"),
}
NULL_MODELS = table(section(TEXT, "## Null models"), "responder", "camp")


@pytest.mark.parametrize("line", NULL_MODELS, ids=[line["responder"] for line in NULL_MODELS])
def test_null_model(line: Row) -> None:
    name, _, controls = line["responder"].partition(", ")
    questions = f.make_questions(epochs=6)
    scores = score(f.make_judgements(RESPONDERS[name], questions, controls_right=not controls))
    for metric in line.keys() - {"responder", "camp"}:
        domain = "control" if code(metric) == "control_accuracy" else "all"
        expected, found = number(line[metric]), value(scores, code(metric), domain=domain)
        within = CHANCE if "≈" in line[metric] else 1e-9
        assert found == (None if expected is None else pytest.approx(expected, abs=within)), metric
    assert camp(scores)["camp"] in [code(word) for word in line["camp"].split(" or ")]
    assert camp(scores)["order_note"] == (name in ("always-first", "coin"))


def test_every_responder_is_in_the_table() -> None:
    assert {line["responder"].split(",")[0] for line in NULL_MODELS} == set(RESPONDERS)


ABOUT_PAIRS: dict[str, f.Responder] = {
    "blind": p.blind,
    "always-stereotype": p.traditional,
    "always-anti": p.untraditional,
    "always-first": p.first_shown,
    "always-refuse": f.constant("refusal"),
    "refuses about women, else blind": p.about("woman", f.constant("refusal"), p.blind),
    "always-invalid": f.constant("invalid"),
}
NULL_MODELS_OF_PAIRS = table(section(TEXT, "## Null models"), "about pairs", "camp")


@pytest.mark.parametrize("line", NULL_MODELS_OF_PAIRS, ids=[line["about pairs"] for line in NULL_MODELS_OF_PAIRS])
def test_null_model_of_pairs(line: Row) -> None:
    scores = score(p.pair_judgements(ABOUT_PAIRS[line["about pairs"]]))
    for metric in line.keys() - {"about pairs", "camp"}:
        expected, found = number(line[metric]), value(scores, code(metric))
        within = CHANCE if "≈" in line[metric] else 1e-9
        assert found == (None if expected is None else pytest.approx(expected, abs=within)), metric
    assert camp(scores)["camp"] in [code(word) for word in line["camp"].split(" or ")]
    assert camp(scores)["order_note"] == (line["about pairs"] == "always-first")


def test_every_responder_about_pairs_is_in_the_table() -> None:
    assert {line["about pairs"] for line in NULL_MODELS_OF_PAIRS} == set(ABOUT_PAIRS)


# Intervals and camps


@pytest.mark.parametrize("line", table(section(TEXT, "## Intervals"), "low", "high"), ids=lambda line: line["metric"])
def test_interval_by_hand(line: Row) -> None:
    formula, bounds = {"`lean`": (t_over_targets, SIGNED), "`traditional_bias`": (wilson, SHARE)}[line["metric"]]
    averages = [number(cell) or 0.0 for cell in line["averages of the concepts"].split(": ")[1].split(", ")]
    assert 100 * np.mean(averages) == pytest.approx(number(line["value"]))
    assert _over_concepts(averages, formula, bounds) == pytest.approx(
        (number(line["low"]), number(line["high"])), abs=0.05
    )


def _over_concepts(
    averages: list[float], formula: Interval, bounds: tuple[float, float], level: float = 0.95
) -> list[float]:
    """The interval of the mean of ``averages``, one per concept, times 100."""
    m = len(averages)
    fields = (np.mean(averages), np.var(averages, ddof=1) / m, m, m - 1, m)
    ends = formula(Estimates(*(np.array([field], np.float64) for field in fields)), bounds, level)
    return [100 * float(end.item()) for end in ends]


CONTROLS = {
    "none": [],
    "1 concept in one order": [0.5],
    "3 concepts in one order each": [0.5] * 3,
    "4 concepts in one order each": [0.5] * 4,
    "1 concept in both orders": [0.0],
}
PASSING = table(section(TEXT, "## Camps"), "wrong answers", "measurable")


@pytest.mark.parametrize("line", PASSING, ids=lambda line: line["wrong answers"])
def test_what_passes_the_controls(line: Row) -> None:
    slips = CONTROLS[line["wrong answers"]]
    shares = slips + [1.0] * (20 - len(slips))
    low, _ = _over_concepts(shares, wilson, SHARE)
    assert 100 * np.mean(shares) == pytest.approx(number(line["`control_accuracy`"]))
    assert low == pytest.approx(number(line["lower end"]), abs=0.05)
    assert (line["measurable"] == "yes") == (low >= 80)


def test_camps_stand_in_the_order_of_their_rules() -> None:
    rules = CAMPS_SQL.split("end as camp,")[0].rsplit("case", 1)[1]
    tried = [word.split("'")[1] for word in rules.split("then")[1:]] + [rules.split("else")[1].split("'")[1]]
    assert [code(line["camp"]) for line in table(section(TEXT, "## Camps"), "camp", "rule")] == tried


# Limits

LIMITS = section(TEXT, "## Limits")


@pytest.mark.parametrize("line", table(LIMITS, "concepts", "95 %"), ids=lambda line: line["concepts"])
def test_half_width_of_lean(line: Row) -> None:
    m, spread = int(line["concepts"]), 0.65
    averages = np.tile([spread, -spread], m // 2) * np.sqrt((m - 1) / m)  # standard deviation exactly 0.65
    for level in (95, 90):
        low, high = _over_concepts(list(averages), t_over_targets, SIGNED, level / 100)
        assert (high - low) / 2 == pytest.approx(number(line[f"{level} %"]), abs=0.05)


def test_types_weigh_half_each_and_untyped_concepts_are_apart() -> None:
    scores = score(f.make_judgements(f.constant("he"), f.make_questions(groups={"occupation": (9, 11, 3)})))
    assert value(scores, "lean") == pytest.approx(0)
    assert row(scores, "lean")["n"] == 20
    assert (value(scores, "default", domain="untyped"), row(scores, "default", domain="untyped")["n"]) == (100, 3)
