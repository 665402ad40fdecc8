"""What the page and the view ``mitigated`` say of mitigations, and that no other section takes them for models."""

import re
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from stages.report import query, report_all
from stages.report.bilingual import Bilingual
from stages.report.history import connect
from stages.report.labels import LANGUAGES, Labels
from stages.report.mitigations import found
from stages.score import score_all, score_and_compare
from tests import factories as f
from tests import pairs as p
from tests.conftest import ROOT, make_project
from tests.report.test_site import Page
from tests.score import mitigated as m

pytestmark = pytest.mark.slow

EARLIER, LATEST, ALONE = "model-a@2026-11-23", "model-a@2026-11-30", "model-b@2026-11-30"
NAMES = {"halved": "neutral-system-prompt", "refused": "few-shot", "over-neutral": "neutral-system-prompt+few-shot"}


def judgements() -> pl.DataFrame:
    """A model with three mitigations, and before with one, and pairs with one; another with a mitigation alone."""
    behaviours = {NAMES[name]: m.BEHAVIOURS[name][1] for name in NAMES}
    with_base = m.judgements(behaviours, [LATEST], epochs=2)
    before = m.judgements({"few-shot": m.BEHAVIOURS["same"][1]}, [EARLIER], epochs=1)
    pairs = p.make_pairs([LATEST], groups={"trait": 6, "language": 6})
    of_pairs = [
        p.pair_judgements(p.traditional, pairs),
        p.pair_judgements(p.untraditional, pairs).with_columns(protocol=pl.lit("closed+few-shot")),
    ]
    alone = f.make_questions([ALONE], protocol="three", styles=["direct"], epochs=1)
    joined = f.make_judgements(f.coin, alone.with_columns(protocol=pl.lit("three+few-shot")))
    return pl.concat([with_base, before, *of_pairs, joined])


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mitigations")
    make_project(folder)
    rows = judgements()
    f.record(folder, rows, *score_and_compare(rows))
    score_all(folder)
    return folder


@pytest.fixture(scope="module")
def html(root: Path) -> str:
    return report_all(root).read_text(encoding="utf-8")


def section(html: str, name: str, language: str = "en") -> str:
    """The text of one section; empty where the page has none of that name."""
    found = re.search(rf'<section id="{name}".*?</section>', html, flags=re.DOTALL)
    return Page(found[0], language).text if found else ""


def test_verdicts_stand_with_the_numbers_they_rest_on(root: Path) -> None:
    listed = query(root, f"from mitigated where run = '{LATEST}'").to_dicts()
    assert {row["protocol"]: row["verdict"] for row in listed} == {
        f"three+{NAMES[name]}": m.BEHAVIOURS[name][0] for name in NAMES
    }
    effects = {
        (row["protocol"], row["domain"], row["metric"]): row
        for row in query(root, f"from effects where run = '{LATEST}'").to_dicts()
    }
    for row in listed:
        lean, change = (effects[row["protocol"], "all", metric] for metric in ("lean", "abs_lean"))
        evaded = effects[row["protocol"], "asked", "evaded_rate"]
        controls = effects[row["protocol"], "control", "control_accuracy"]
        assert [row[name] for name in ("lean_without", "lean_with", "n")] == [lean["there"], lean["here"], lean["n"]]
        assert [row[f"change{end}"] for end in ("", "_low", "_high")] == [
            change[name] for name in ("value", "ci_low", "ci_high")
        ]
        assert [row["evaded_change"], row["evaded_high"]] == [evaded["value"], evaded["ci_high"]]
        assert row["refusal_change"] + row["unusable_change"] == pytest.approx(row["evaded_change"])
        assert [row["controls_without"], row["controls_with"]] == [controls["there"], controls["here"]]


def test_the_section_says_verdict_reasons_and_numbers(html: str, root: Path) -> None:
    text = section(html, "mitigations")
    labels = Labels.read(ROOT)["mitigations"]
    for name in NAMES:
        verdict = m.BEHAVIOURS[name][0]
        (row,) = query(root, f"from mitigated where run = '{LATEST}' and verdict = '{verdict}'").to_dicts()
        assert labels["verdicts"][verdict] in text
        assert all(labels["conditions"][code] in text for code in row["reasons"])
        assert f"+{row['lean_without']:.1f} → +{row['lean_with']:.1f}" in text
    assert "neutral system prompt + worked examples" in " ".join(text.split())
    assert "+100.0 → −100.0" in text
    assert Labels.read(ROOT)["all_pairs"] in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_in_both_languages(html: str, language: str) -> None:
    words = Labels.read(ROOT, language)["mitigations"]
    text = section(html, "mitigations", language)
    assert all(words["means"][code] in text for code in words["means"])
    assert words["names"]["few-shot"] in text


def test_no_other_section_takes_a_mitigation_for_a_model(html: str) -> None:
    """But for the one that was asked without its base: its scores are all there is to say of it."""
    for name in ("glance", "charts", "models", "breakdown", "pairs", "items", "history"):
        text = section(html, name)
        assert "neutral-system-prompt" not in text
        assert "closed+few-shot" not in text
    assert "three+few-shot" in section(html, "glance").lower()
    assert "model-b" not in section(html, "mitigations")


def test_over_time_and_changes_are_of_the_model_alone(html: str, root: Path) -> None:
    assert set(query(root, "from changed")["protocol"]) == {"three"}
    assert "few-shot" not in section(html, "changes")


def test_nothing_is_said_where_nothing_was_mitigated(project: Path) -> None:
    spoken = [Labels.read(ROOT, language) for language in LANGUAGES]
    with closing(connect(project)) as connection:
        assert found(connection, spoken, Bilingual(spoken)) == []
