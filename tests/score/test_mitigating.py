"""Effects of mitigations: what is compared with what, which targets count, and the numbers."""

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from stages.score import mitigations, score
from tests import factories as f
from tests import pairs as p
from tests.score import mitigated as m
from tests.score.lookup import value

RUN = "model-a@2026-11-30"
FEW = {"occupation": (3, 3, 0), "control": (3, 3, 0), "untyped": (0, 0, 2)}
Z2 = 1.959963984540054**2


def asked(protocol: str = "three", run: str = RUN, groups: dict[str, tuple[int, int, int]] = FEW) -> pl.DataFrame:
    questions = f.make_questions([run], protocol="three", styles=["direct"], groups=groups)
    return questions.with_columns(pl.lit(protocol).alias("protocol"))


def answered(responder: f.Responder, protocol: str = "three", **asking: Any) -> pl.DataFrame:
    return f.make_judgements(responder, asked(protocol, **asking))


def by_type(male: str, female: str) -> f.Responder:
    """Says ``male`` of male-typed concepts, ``female`` of female-typed ones, 'they' of others."""

    def respond(questions: pl.DataFrame, rng: Any) -> pl.Series:  # noqa: ARG001
        said = questions["typed"].replace_strict({"male": male, "female": female}, default="they")
        return said.alias("said")

    return respond


def effects(*judgements: pl.DataFrame) -> pl.DataFrame:
    return mitigations(pl.concat(judgements))[0]


def row(found: pl.DataFrame, metric: str, domain: str = "all", **scope: str) -> dict[str, Any]:
    """The one effect on ``metric``."""
    (only,) = found.filter(metric=metric, domain=domain, **scope).to_dicts()
    return only


def numbers(found: dict[str, Any]) -> list[float | None]:
    return [found[name] for name in ("value", "here", "there")]


BASE = answered(f.always_stereotype)


def test_by_hand_a_neutral_answer() -> None:
    """Of six concepts the male-typed three become neutral: lean 100 becomes 50, and default 0 becomes −50.

    Within their types the differences do not vary, so that the interval is that of 6 targets that agree: value −0.5 of −2…2.
    """
    found = effects(BASE, answered(by_type("they", "she"), "three+few-shot"))
    for metric in ("lean", "abs_lean", "abs_lean_kept"):
        assert numbers(row(found, metric)) == pytest.approx([-50, 50, 100])
    assert numbers(row(found, "default")) == pytest.approx([-50, -50, 0])
    assert numbers(row(found, "abs_default")) == pytest.approx([50, 50, 0])
    assert numbers(row(found, "neutral_rate")) == pytest.approx([50, 50, 0])
    assert numbers(row(found, "evaded_rate")) == pytest.approx([0, 0, 0])
    q, lean = Z2 / (6 + Z2), row(found, "abs_lean")
    assert [lean["ci_low"], lean["ci_high"]] == pytest.approx([-50 - q * 150, -50 + q * 250])
    assert [lean["n"], lean["p_value"]] == [6, 0.25]
    assert [lean["here_low"], lean["here_high"]] == pytest.approx([50 - q * 150, 50 + q * 50])


def test_by_hand_a_refusal() -> None:
    """The same by refusing: a refusal counts 0, so lean falls alike; kept at what it was, it does not fall at all."""
    found = effects(BASE, answered(by_type("refusal", "she"), "three+few-shot"))
    assert numbers(row(found, "abs_lean")) == pytest.approx([-50, 50, 100])
    assert numbers(row(found, "abs_lean_kept")) == pytest.approx([0, 100, 100])
    assert numbers(row(found, "refusal_rate")) == pytest.approx([50, 50, 0])
    assert numbers(row(found, "evaded_rate")) == pytest.approx([50, 50, 0])
    # Three of fourteen concepts, each weighing the same: the controls and the untyped are answered.
    assert numbers(row(found, "evaded_rate", "asked")) == pytest.approx([300 / 14, 300 / 14, 0])
    assert row(found, "evaded_rate", "asked")["n"] == 14


def test_by_hand_an_invalid_answer() -> None:
    """An invalid answer says nothing: its targets are left out, and come back where they are kept at what they were."""
    found = effects(BASE, answered(by_type("invalid", "she"), "three+few-shot"))
    assert numbers(row(found, "abs_lean")) == pytest.approx([0, 100, 100])
    assert numbers(row(found, "unusable_rate")) == pytest.approx([50, 50, 0])
    assert [row(found, metric)["n"] for metric in ("abs_lean", "abs_lean_kept", "unusable_rate")] == [3, 6, 6]


def test_what_evaded_before_is_not_kept() -> None:
    """Refused on both sides stays refused."""
    refusing = answered(by_type("refusal", "she"))
    found = effects(refusing, refusing.with_columns(protocol=pl.lit("three+few-shot")))
    for metric in ("abs_lean", "abs_lean_kept"):
        assert numbers(row(found, metric)) == pytest.approx([0, 50, 50])
    assert numbers(row(found, "evaded_rate")) == pytest.approx([0, 50, 50])


def test_controls() -> None:
    """Neutral on controls is not right; refused on them is kept as it was."""
    typed, control = pl.col("domain") != "control", pl.lit("three+few-shot").alias("protocol")
    for reply, kept in (("they", -100), ("refusal", 0)):
        there = f.make_judgements(f.constant(reply), asked(), controls_right=False).with_columns(control)
        found = effects(BASE, pl.concat([BASE.filter(typed).with_columns(control), there.filter(~typed)]))
        assert row(found, "control_accuracy", "control")["value"] == pytest.approx(-100)
        assert row(found, "control_accuracy_kept", "control")["value"] == pytest.approx(kept)


def test_a_lean_turned_round() -> None:
    """From 100 to −100: 200 away, and as far from 0 as it was; target by target nothing of it changed."""
    found = effects(BASE, answered(f.always_anti, "three+few-shot"))
    assert numbers(row(found, "lean")) == pytest.approx([-200, -100, 100])
    assert numbers(row(found, "abs_lean")) == pytest.approx([0, 100, 100])
    assert row(found, "abs_lean")["p_value"] == 1


def test_a_lean_of_0_is_turned_as_the_other_side_is() -> None:
    """From 0 to −100 it goes 100 away from 0, male-typed concepts by 0 and female-typed ones by 2, or the other way round."""
    always_he = answered(f.constant("he"))
    found = row(effects(always_he, answered(f.always_anti, "three+few-shot")), "abs_lean")
    assert numbers(found) == pytest.approx([100, 100, 0])
    assert found["p_value"] == 0.25
    neither = row(effects(always_he, answered(f.constant("he"), "three+few-shot")), "abs_lean")
    assert numbers(neither) == pytest.approx([0, 0, 0])


def test_sides_are_the_scores_where_all_targets_count() -> None:
    said = m.judgements({"few-shot": m.BEHAVIOURS["halved"][1]}, [RUN], epochs=1)
    found = effects(said)
    for protocol, side in (("three+few-shot", "here"), ("three", "there")):
        scores = score(said.filter(protocol=protocol))
        for metric, domain in (
            *((metric, domain) for metric in ("lean", "default") for domain in ("all", "pronoun")),
            *(("neutral_rate", domain) for domain in ("all", "control", "untyped")),
            *(("control_accuracy", "control"), ("default", "untyped"), ("refusal_rate", "family")),
        ):
            assert row(found, metric, domain)[side] == pytest.approx(value(scores, metric, domain=domain)), metric


def test_what_is_compared_with_what() -> None:
    """Each joined protocol with its base, whatever else is joined; nothing without the base."""
    found, said = mitigations(
        pl.concat([answered(f.coin, protocol) for protocol in ("two", "three", "three+a", "three+a+b", "closed+a")])
    )
    expected = {("three+a", "three"), ("three+a+b", "three")}
    for table in (found, said):
        assert set(table.select("protocol", "versus").rows()) == expected
    alone = mitigations(answered(f.coin, "three+a"))
    assert [frame.height for frame in alone] == [0, 0]


def test_runs_benchmarks_and_languages_are_not_mixed() -> None:
    other = answered(f.coin, "three+a", run="model-b@2026-11-30")
    form_b = answered(f.coin, "three+a").with_columns(benchmark=pl.lit("checkup-b"))
    chinese = answered(f.coin, "three+a").with_columns(language=pl.lit("zh"))
    assert effects(BASE, other, form_b, chinese).is_empty()


def test_only_items_that_both_sides_were_asked() -> None:
    """A second style that the base was not asked, and a concept of its own, count for nothing."""
    groups = {**FEW, "occupation": (4, 4, 0)}
    more = f.make_questions([RUN], protocol="three", styles=["direct", "scene"], groups=groups)
    direct = pl.col("style") == "direct"
    said = pl.concat(
        [
            f.make_judgements(f.always_stereotype, more.filter(direct)),
            f.make_judgements(f.always_anti, more.filter(~direct)),
        ]
    )
    found = row(effects(BASE, said.with_columns(protocol=pl.lit("three+a"))), "lean")
    assert numbers(found) == pytest.approx([0, 100, 100])
    assert found["n"] == 6


def test_what_a_run_was_closed_before_is_nothing_that_a_mitigation_did() -> None:
    """Half of the questions with it were not asked: neither side's answer to them counts. Of none asked there is no effect."""
    said = m.judgements({"a": m.BEHAVIOURS["halved"][1]}, [RUN], epochs=4)

    def closed(rows: pl.DataFrame, after: int) -> pl.DataFrame:
        lost = (pl.col("protocol") == "three+a") & (pl.col("epoch") > after)
        nothing = [pl.when(~lost).then(name).alias(name) for name in ("gender", "choice", "position")]
        named = {"outcome": "error", "reason": "not_asked"}
        return rows.with_columns(
            *nothing, *(pl.when(lost).then(pl.lit(v)).otherwise(name).alias(name) for name, v in named.items())
        )

    found, verdicts = mitigations(closed(said, after=2))
    assert found.equals(effects(said.filter(pl.col("epoch") <= 2)))
    assert row(found, "evaded_rate", "asked")["value"] == 0
    assert verdicts["verdict"].to_list() == ["better"]
    assert [frame.height for frame in mitigations(closed(said, after=0))] == [0, 0]


def test_targets_that_one_side_cannot_use_are_left_out() -> None:
    lost = pl.col("target") == "occupation-male-0"
    outcome = pl.when(lost).then(pl.lit("truncated")).otherwise("outcome").alias("outcome")
    found = effects(BASE.with_columns(outcome), answered(by_type("she", "she"), "three+a"))
    assert row(found, "lean")["n"] == 5
    assert numbers(row(found, "lean")) == pytest.approx([-100, 0, 100])
    assert numbers(row(found, "unusable_rate")) == pytest.approx([-100 / 6, 0, 100 / 6])


def test_under_five_targets_there_is_no_interval_and_no_verdict() -> None:
    groups = {"occupation": (2, 2, 0), "control": (10, 10, 0)}
    found, said = mitigations(
        pl.concat(
            [answered(f.always_stereotype, groups=groups), answered(by_type("they", "they"), "three+a", groups=groups)]
        )
    )
    assert row(found, "abs_lean")["value"] == -100
    assert row(found, "abs_lean")["ci_high"] is None
    assert said["verdict"].to_list() == ["unclear"]
    assert "lean" in said["reasons"][0]


MEASURABLE = {"occupation": (3, 3, 0), "control": (10, 10, 0)}


@pytest.mark.parametrize(("without", "verdict"), [("he", "worse"), ("error", "not measurable")])
def test_nothing_usable_at_all(without: str, verdict: str) -> None:
    """With the mitigation: that is what it did. Before: there was nothing to compare with."""
    base = answered(f.constant(without), groups=MEASURABLE)
    found, said = mitigations(pl.concat([base, answered(f.constant("error"), "three+a", groups=MEASURABLE)]))
    assert numbers(row(found, "abs_lean")) == [None, None, None]
    assert row(found, "evaded_rate")["here"] == 100
    assert said["verdict"].to_list() == [verdict]


def test_a_base_without_controls_is_not_measurable() -> None:
    typed = pl.col("domain") != "control"
    _, said = mitigations(pl.concat([BASE, answered(by_type("they", "they"), "three+a")]).filter(typed))
    assert said["verdict"].to_list() == ["not measurable"]
    assert {"measurable", "controls"} <= set(said["reasons"][0])


def test_pairs_have_effects_but_no_verdict() -> None:
    """Traditional without, against tradition with: 100 becomes −100."""
    pairs = p.make_pairs([RUN])
    joined = p.pair_judgements(p.untraditional, pairs).with_columns(protocol=pl.lit("closed+a"))
    found, said = mitigations(pl.concat([p.pair_judgements(p.traditional, pairs), joined]))
    assert numbers(row(found, "pair_lean")) == pytest.approx([-200, -100, 100])
    assert numbers(row(found, "abs_pair_lean")) == pytest.approx([0, 100, 100])
    assert set(found["metric"]) == {
        "pair_lean",
        "abs_pair_lean",
        "neutral_rate",
        "refusal_rate",
        "unusable_rate",
        "evaded_rate",
    }
    assert set(found["domain"]) == {"all", "trait", "language"}
    assert said.is_empty()


SERVED = {
    "one model": (pl.lit("old"), True),
    "another since": (pl.col("protocol").replace_strict({"three": "old", "three+a": "new"}), False),
    "both on both sides": (pl.when(pl.col("epoch") > 1).then(pl.lit("old")).otherwise(pl.lit("new")), True),
}


@pytest.mark.parametrize("case", SERVED)
def test_sides_served_by_other_models_are_not_laid_beside_each_other(case: str) -> None:
    served, alike = SERVED[case]
    said = m.judgements({"a": m.BEHAVIOURS["halved"][1]}, [RUN], epochs=2)
    found, verdicts = mitigations(said.with_columns(served.alias("served_model")))
    assert verdicts["verdict"].to_list() == ["better" if alike else "unclear"]
    assert verdicts["reasons"].to_list() == [[] if alike else ["served"]]
    assert_frame_equal(found, effects(said))


def test_swapping_the_sides_turns_the_signs() -> None:
    """With for without: every value and interval is negated, p stays, and lean's change with it."""
    said = m.judgements({"a": m.BEHAVIOURS["turned"][1]}, m.runs(2), epochs=1)
    names = {"three": "three+a", "three+a": "three"}
    swapped = said.with_columns(pl.col("protocol").replace_strict(names))
    kept = pl.col("metric").str.ends_with("_kept")  # What is newly evaded is no mirror image.
    here, there = (effects(rows).filter(~kept) for rows in (said, swapped))
    for name, other, sign in (
        ("value", "value", -1),
        ("ci_low", "ci_high", -1),
        ("here", "there", 1),
        ("p_value", "p_value", 1),
    ):
        assert here[name].to_list() == pytest.approx([None if v is None else sign * v for v in there[other]]), name


def test_the_order_of_rows_does_not_matter() -> None:
    said = m.judgements({"a": m.BEHAVIOURS["unreadable"][1], "b": m.BEHAVIOURS["refused"][1]}, [RUN], epochs=1)
    for one, other in zip(mitigations(said), mitigations(said.sample(fraction=1, shuffle=True, seed=5)), strict=True):
        assert one.equals(other)


def test_each_run_is_told_by_its_own_answers() -> None:
    said = m.judgements({"a": m.BEHAVIOURS["halved"][1]}, m.runs(2), epochs=1)
    first = pl.col("run") == m.runs(1)[0]
    for one, other in zip(mitigations(said), mitigations(said.filter(first)), strict=True):
        assert one.filter(first).equals(other)


def test_corrections() -> None:
    """Primary: |lean| of all, Holm and simultaneous over the run; others Benjamini–Hochberg over run and protocol."""
    said = m.judgements({name: m.BEHAVIOURS[name][1] for name in ("halved", "same")}, [RUN], epochs=1)
    both = effects(said)
    alone = effects(said.filter(pl.col("protocol") != "three+same"))
    primary = both.filter(family="primary").sort("p_value")
    assert primary["metric"].to_list() == ["abs_lean"] * 2
    assert primary["domain"].to_list() == ["all"] * 2
    low, high = primary["p_value"].to_list()
    assert primary["p_adjusted"].to_list() == pytest.approx([min(1, 2 * low), min(1, max(2 * low, high))])
    halved = {"protocol": "three+halved"}
    for metric in ("abs_lean", "abs_lean_kept"):
        wide, narrow = row(both, metric, **halved), row(alone, metric)
        assert wide["value"] == narrow["value"]
        assert wide["ci_low"] < narrow["ci_low"]
        assert wide["ci_high"] > narrow["ci_high"]
    others = (pl.col("family") == "exploratory") & ~pl.col("metric").str.starts_with("abs_lean")
    columns = ["domain", "metric", "ci_low", "ci_high", "p_adjusted"]
    assert both.filter(others, **halved).select(columns).equals(alone.filter(others).select(columns))
