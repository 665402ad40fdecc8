"""Changes between runs: the numbers, which items count, what holds a difference back, and what is not like for like."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from stages.judge import judge
from stages.schema import CHANGES
from stages.score import changes, score
from tests import factories as f
from tests import pairs as p
from tests import sentences as s
from tests.score.compared import EARLIER, GROUPS, LATER, answered, compare, invalid, row, side
from tests.score.lookup import value

STEADY = f.association(0.7, 0.3)


def test_by_hand() -> None:
    """From always "he" to always the stereotype: lean 0 to 100, default 100 to 0, every female-typed concept turned."""
    found = compare(answered(f.constant("he"), EARLIER), answered(f.always_stereotype, LATER))
    lean, default = row(found), row(found, "default")
    assert [lean[c] for c in ("value", "there", "here", "n")] == pytest.approx([100, 0, 100, 40])
    assert [default[c] for c in ("value", "there", "here", "n")] == pytest.approx([-100, 100, 0, 40])
    assert (lean["run"], lean["model"], lean["date"], lean["reference"]) == (LATER, "model-a", "2026-11-30", EARLIER)
    assert lean["p_value"] == lean["p_adjusted"] == 1 / 10_000
    assert lean["effect"] == pytest.approx(0.9874208829065749)  # 20 differences of 2 and 20 of 0: mean 1, s = √(40/39)
    assert (lean["bound_low"], lean["bound_high"], lean["coverage"]) == (100, 100, 100)
    assert (lean["gate"], lean["differs"], lean["family"]) == (None, [], "primary")


def test_the_same_answers_are_no_change() -> None:
    found = compare(answered(STEADY, EARLIER), answered(STEADY, LATER))
    assert set(found["value"].to_list()) == {0.0}
    assert set(found["p_value"].to_list()) == {1.0}
    assert set(found["effect"].to_list()) == {None}


def test_the_sides_are_the_scores_and_the_interval_is_a_paired_t() -> None:
    earlier, later = answered(STEADY, EARLIER, seed=2), answered(f.association(0.5, 0.3), LATER, seed=3)
    found = row(compare(earlier, later), domain="pronoun")
    sides = [value(score(judgements), "lean", domain="pronoun") for judgements in (later, earlier)]
    assert [found["here"], found["there"]] == pytest.approx(sides)
    only = pl.col("domain") == "pronoun"
    men = [side.filter(only, pl.col("typed") == "male") for side in (earlier, later)]
    y = pl.col("outcome").replace_strict({"stereotype": 1, "anti-stereotype": -1})
    means = [rows.sort("target").group_by("target", maintain_order=True).agg(y.mean())["outcome"] for rows in men]
    expected = ttest_1samp((means[1] - means[0]).to_numpy(), 0).confidence_interval()
    alone = row(compare(*men))
    assert (alone["ci_low"], alone["ci_high"]) == (
        pytest.approx(100 * expected.low),
        pytest.approx(100 * expected.high),
    )


@given(st.integers(0, 10**6))
@settings(max_examples=8)
def test_turned_round_all_is_turned_round(seed: int) -> None:
    earlier, later = answered(f.mixed({"invalid": 0.02}, STEADY), EARLIER, seed), answered(f.coin, LATER, seed + 1)
    there = compare(earlier, later)
    back = compare(later, earlier)
    order = ("metric", "domain", "style")
    for name in ("value", "effect"):
        assert back.sort(order)[name].to_list() == pytest.approx(
            [v if v is None else -v for v in there.sort(order)[name]]
        )
    for name in ("p_value", "p_adjusted", "n", "gate"):
        assert back.sort(order)[name].to_list() == there.sort(order)[name].to_list()


def test_only_items_that_both_were_asked_word_for_word() -> None:
    earlier, later = answered(f.constant("he"), EARLIER), answered(f.always_stereotype, LATER)
    some = later.filter(~pl.col("target").is_in(["occupation-male-0", "occupation-female-0"]))
    found = compare(earlier, some)
    assert [row(found, domain=domain)["n"] for domain in ("all", "occupation", "pronoun")] == [38, 18, 20]
    assert row(found)["differs"] == ["items"]
    other_words = (
        pl.when(pl.col("item_id").str.starts_with("pronoun-female")).then(pl.lit("other")).otherwise("item_hash")
    )
    reworded = compare(earlier, later, item_hash=other_words)
    assert [row(reworded, domain=domain)["n"] for domain in ("all", "pronoun")] == [30, 10]
    assert row(reworded)["differs"] == ["items"]


def test_only_targets_usable_on_both_sides() -> None:
    lost = pl.col("target").is_in(["pronoun-male-1", "pronoun-female-2"])
    later = answered(f.always_stereotype, LATER)
    found = compare(
        answered(f.constant("he"), EARLIER),
        later.with_columns(pl.when(lost).then(pl.lit("invalid")).otherwise("outcome").alias("outcome")),
    )
    assert row(found)["n"] == 38


GATES: dict[str, tuple[pl.DataFrame, dict[str, Any], dict[str, str | None]]] = {
    "none": (answered(STEADY, LATER), {}, {"lean": None, "default": None}),
    "protocol": (answered(STEADY, LATER), {"protocol_hash": "another"}, {"lean": "protocol"}),
    "coverage": (answered(invalid(0.1, STEADY), LATER), {}, {"lean": "coverage", "default": "coverage"}),
    "covered": (answered(invalid(0.04, STEADY), LATER), {}, {"lean": None}),
    "controls": (answered(f.coin, LATER, controls_right=False), {}, {"lean": "controls", "default": "controls"}),
    "no controls": (
        answered(STEADY, LATER, groups={k: v for k, v in GROUPS.items() if k != "control"}),
        {},
        {"lean": "controls"},
    ),
}


@pytest.mark.parametrize("case", GATES)
def test_what_holds_a_difference_back(case: str) -> None:
    later, facts, expected = GATES[case]
    found = compare(answered(STEADY, EARLIER, seed=9), later, **facts)
    for metric, gate in expected.items():
        only = row(found, metric)
        assert only["gate"] == gate
        assert (only["p_adjusted"] is None) == (gate is not None)
        assert only["p_value"] is not None
        assert only["value"] is not None


def odds(sign: float) -> f.Responder:
    def respond(questions: pl.DataFrame, rng: Any) -> pl.Series:
        way = questions["typed"].replace_strict({"male": 1.0, "female": -1.0}, default=0.0)
        control = questions["domain"] == "control"
        return ((way * sign).zip_with(control, way) + pl.Series(rng.normal(0, 0.1, questions.height))).alias("log_odds")

    return respond


def test_probabilities_have_controls_of_their_own() -> None:
    """Where choices cannot be read, log-odds may; where they are wrong about controls, they cannot."""
    earlier, later = (
        answered(f.coin, run, seed, controls_right=False, log_odds=odds(1)) for seed, run in ((1, EARLIER), (2, LATER))
    )
    found = compare(earlier, later)
    assert (row(found)["gate"], row(found, "strength")["gate"]) == ("controls", None)
    assert row(found, "strength")["n"] == 40
    assert (row(found, "strength")["here"], row(found, "strength")["there"]) == (pytest.approx(1, abs=0.1),) * 2
    wrong = answered(f.always_stereotype, LATER, log_odds=odds(-1))
    found = compare(answered(f.always_stereotype, EARLIER, log_odds=odds(1)), wrong)
    assert (row(found)["gate"], row(found, "strength")["gate"]) == (None, "controls")
    assert "strength" not in set(compare(answered(f.coin, EARLIER), answered(f.coin, LATER))["metric"])


@pytest.mark.parametrize(("choices", "with_odds", "gate"), [("invalid", 1.0, None), ("he", 0.5, "coverage")])
def test_log_odds_are_covered_by_log_odds(choices: str, with_odds: float, gate: str | None) -> None:
    """They are read before a choice is made: what cannot be read as a choice may have them, and what can may not."""
    base = answered(f.constant("he"), EARLIER, log_odds=odds(1))
    typed = pl.col("domain").is_in(["occupation", "pronoun"])
    told = pl.int_range(pl.len()) % 2 < 2 * with_odds
    later = base.with_columns(
        pl.lit(LATER).alias("run"),
        pl.when(typed & (choices == "invalid")).then(pl.lit("invalid")).otherwise("outcome").alias("outcome"),
        pl.when(~typed | told).then("log_odds").alias("log_odds"),
    )
    found = row(compare(base, later), "strength")
    assert (found["coverage"], found["gate"]) == (pytest.approx(100 * with_odds, abs=1), gate)


def test_bounds_where_answers_are_missing() -> None:
    """A tenth of 40 concepts' 80 answers is missing: 4 of each 40 … the difference may be 20 points more or less."""
    later = answered(f.always_stereotype, LATER)
    lost = (pl.col("epoch") == 1) & pl.col("target").is_in(
        [f"{d}-{t}-{n}" for d in ("occupation", "pronoun") for t in ("male", "female") for n in (1, 2)]
    )
    found = row(
        compare(
            answered(f.always_stereotype, EARLIER),
            later.with_columns(pl.when(lost).then(pl.lit("invalid")).otherwise("outcome").alias("outcome")),
        )
    )
    assert (found["coverage"], found["value"], found["gate"]) == (90, 0, "coverage")
    assert (found["bound_low"], found["bound_high"]) == (pytest.approx(-20), pytest.approx(0))


@pytest.mark.parametrize(
    ("facts", "differs"),
    [
        ({}, []),
        ({"prompt_hash": "other"}, ["prompts"]),
        ({"params_sent": '{"seed":7,"temperature":0}'}, []),
        ({"params_sent": '{"temperature":1}'}, ["parameters"]),
        ({"params_sent": '{"extra_body":{"random_seed":7},"temperature":0}'}, ["parameters"]),
        ({"params_sent": '{"temperature":0,"random_seed":7}'}, []),
        ({"access_route": "web"}, ["access route"]),
        ({"protocol_hash": "other", "prompt_hash": "other"}, ["protocol", "prompts"]),
        ({"requested_model": "asked-2"}, []),
    ],
)
def test_what_is_not_like_for_like(facts: dict[str, str], differs: list[str]) -> None:
    assert row(compare(answered(STEADY, EARLIER), answered(STEADY, LATER), **facts))["differs"] == differs


def by_item(column: str, *of: str) -> dict[str, Any]:
    """A fact of answers that is its own for each value of the columns ``of``."""
    return {column: pl.concat_str(pl.lit('{"of":"'), *of, pl.lit('"}'))}


def test_prompts_and_parameters_are_laid_beside_each_other_only_where_both_sides_have_them() -> None:
    """A constraint sends other words for other items, conversations open with other items, and some questions are not asked."""
    facts = by_item("prompt_hash", "item_id", "order_index") | by_item("params_sent", "domain")
    earlier, later = answered(STEADY, EARLIER), answered(STEADY, LATER)
    last = pl.col("epoch") == 2

    def differs(rows: pl.DataFrame, **more: Any) -> object:
        return row(changes(pl.concat([side(earlier, False, **facts), side(rows, True, **facts | more)])))["differs"]

    assert differs(later) == []
    assert differs(later.filter(pl.col("domain") != "pronoun")) == ["items"]
    assert differs(later, failure=pl.when(last).then(pl.lit("not_asked"))) == []
    assert differs(later, turn=pl.when(last).then(1).otherwise(2).cast(pl.Int64)) == []
    assert differs(later, **by_item("prompt_hash", "item_id")) == ["prompts"]


@pytest.mark.parametrize(("requested", "differs"), [("asked-1", ["served model"]), ("asked-2", [])])
def test_another_model_under_the_same_name(requested: str, differs: list[str]) -> None:
    """Two models that were asked for by two names are not the same, of course."""
    later = answered(STEADY, LATER).with_columns(pl.lit("served-2").alias("served_model"))
    assert row(compare(answered(STEADY, EARLIER), later, requested_model=requested))["differs"] == differs


def test_families() -> None:
    """Of two languages the two leans are primary, corrected by Holm; all else is exploratory, apart from them."""
    sides = [
        side(answered(responder, run, seed, language=language), run == LATER)
        for seed, (language, run, responder) in enumerate(
            [
                ("en", EARLIER, STEADY),
                ("en", LATER, f.coin),
                ("zh", EARLIER, STEADY),
                ("zh", LATER, f.association(0.5, 0.4)),
            ]
        )
    ]
    found = changes(pl.concat(sides))
    primary = found.filter(pl.col("family") == "primary").sort("p_value")
    assert set(primary.select("metric", "domain", "style").rows()) == {("lean", "all", "all")}
    assert sorted(primary["language"]) == ["en", "zh"]
    least, most = primary["p_value"].to_list()
    assert primary["p_adjusted"].to_list() == pytest.approx([min(1, 2 * least), max(most, min(1, 2 * least))])
    rest = found.filter(pl.col("family") == "exploratory")
    assert set(rest["metric"]) == {"lean", "default"}
    assert (rest["p_adjusted"] >= rest["p_value"] - 1e-12).all()


def test_what_changes_of_a_mitigation_is_exploratory() -> None:
    """It takes no part in the correction of the model's own scores, and is no finding."""
    protocols = ("two", "two+few-shot")

    def asked(run: str, responder: f.Responder) -> pl.DataFrame:
        return pl.concat([answered(responder, run).with_columns(protocol=pl.lit(protocol)) for protocol in protocols])

    found = compare(asked(EARLIER, f.always_stereotype), asked(LATER, f.always_anti))
    own, joined = (row(found, protocol=protocol) for protocol in protocols)
    assert [own["family"], joined["family"]] == ["primary", "exploratory"]
    assert own["p_adjusted"] == own["p_value"] == joined["p_value"]


def test_pairs_of_runs_do_not_mix() -> None:
    """What is found of two pairs of runs at once is what is found of each alone."""
    models = ("model-a", "model-b")
    made = [
        (answered(STEADY, f"{model}@2026-11-23", n), answered(f.coin, f"{model}@2026-11-30", n + 5))
        for n, model in enumerate(models)
    ]
    sides = [
        side(rows, here, pair) for pair, two in enumerate(made) for here, rows in zip((False, True), two, strict=True)
    ]
    assert changes(pl.concat(sides)).equals(CHANGES.conform(pl.concat([compare(*two) for two in made])))


def test_styles_and_what_only_one_side_was_asked() -> None:
    both = (
        f.make_judgements(STEADY, f.make_questions([EARLIER], groups=GROUPS)),
        f.make_judgements(f.coin, f.make_questions([LATER], groups=GROUPS)),
    )
    assert set(compare(*both).filter(domain="all", metric="lean")["style"]) == {"all", "direct", "situational", "scene"}
    chinese = answered(STEADY, LATER, language="zh")
    assert compare(both[0], chinese).is_empty()
    assert CHANGES.conform(compare(both[0], chinese)).is_empty()


def test_pairs() -> None:
    earlier, later = (
        p.pair_judgements(p.tending(*tendency), p.make_pairs([run], groups={"trait": 12, "language": 12}))
        for run, tendency in ((EARLIER, (0.9, 0.1)), (LATER, (0.5, 0.5)))
    )
    found = row(compare(earlier, later), "pair_lean")
    assert (found["family"], found["gate"], found["n"]) == ("primary", None, 24)
    assert found["value"] < 0
    assert found["there"] == pytest.approx(value(score(earlier), "pair_lean"))


def test_a_side_that_only_refuses_is_no_side_without_change() -> None:
    """A refusal about a pair is usable, but no choice: nothing is left to compare."""
    answers = (p.tending(0.9, 0.1), f.constant("refusal"))
    asked = (p.make_pairs([run], groups={"language": 12}) for run in (EARLIER, LATER))
    found = row(compare(*(p.pair_judgements(how, rows) for how, rows in zip(answers, asked, strict=True))), "pair_lean")
    assert (found["value"], found["n"], found["coverage"]) == (None, 0, 100)
    assert (found["gate"], found["p_adjusted"]) == ("value", None)


def test_stereoset() -> None:
    """Both tasks together are primary, each of them is exploratory; at random nothing is gated by controls."""
    chosen = ((EARLIER, "stereotype"), (LATER, "anti-stereotype"))
    earlier, later = (
        side(judge(asked), run == LATER, answers=asked)
        for run, choice in chosen
        for asked in [s.forced(s.made_up(), pl.lit(choice), run=run)]
    )
    found = changes(pl.concat([earlier, later]))
    assert set(found.filter(family="primary").select("benchmark", "metric").rows()) == {("stereoset", "ss_macro")}
    only = row(found, "ss_macro", benchmark="stereoset")
    assert (only["value"], only["there"], only["here"], only["gate"]) == (-100, 100, 0, None)
    assert row(found, "lms_macro", benchmark="stereoset")["value"] == 0
