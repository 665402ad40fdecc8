"""The section about changes: what stands in it, in both languages, and its pictures."""

import re
from pathlib import Path

import polars as pl
import pytest

from stages.references import pin
from stages.report import report_all
from stages.schema import SCORES
from stages.score import score, score_all
from tests import factories as f
from tests.conftest import make_project
from tests.score.compared import GROUPS

STEADY, TURNED = f.association(0.85, 0.1), f.association(0.2, 0.1)
RUNS = {
    "model-a@2026-11-02": STEADY,
    "model-a@2026-11-09": STEADY,
    "model-a@2026-11-16": TURNED,
    "model-a@2026-11-16.2": TURNED,
    "model-b@2026-11-16": f.mixed({"invalid": 0.3}, STEADY),
}


def section(root: Path) -> str:
    page = report_all(root).read_text(encoding="utf-8")
    found = re.search(r'<section id="changes".*?</section>', page, flags=re.DOTALL)
    return found[0] if found else ""


def recorded(root: Path, runs: dict[str, f.Responder]) -> Path:
    make_project(root)
    rows = pl.concat(
        f.make_judgements(how, f.make_questions([run], styles=["direct"], groups=GROUPS), seed=seed)
        for seed, (run, how) in enumerate(runs.items())
    )
    f.record(root, rows, SCORES.conform(score(rows)))
    return root


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = recorded(tmp_path_factory.mktemp("changes"), RUNS)
    pin(root, "model-a@2026-11-02", "model-b")
    score_all(root)
    return section(root)


def test_the_last_day_of_each_model_stands_there_with_its_verdict(html: str) -> None:
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", html, flags=re.DOTALL)
    runs = [re.sub("<[^>]+>", "", row.split("</th>")[0]) for row in rows]
    assert runs == ["model-a@2026-11-16.2", "model-a@2026-11-16", "model-b@2026-11-16"]
    changed, _, held = rows
    assert 'class="verdict changed"' in changed
    assert "有变化" in changed
    assert "not comparable" in held
    assert "under 95\u202f% of the answers usable" in held
    assert re.search(r"with the missing answers between −\d+\.\d and \+?−?\d+\.\d", held)


def test_a_picture_of_each_model_with_several_runs(html: str) -> None:
    assert re.findall(r"<figcaption><b>(.*?)</b>", html) == ["model-a"]
    (picture,) = re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL)
    assert set(re.findall(r"\d{4}-\d\d-\d\d", picture)) == {"2026-11-02", "2026-11-16"}
    assert "#aa5511" in picture, "the change is flagged"
    assert not re.search(r"\sid=", picture)


def test_nothing_to_compare_is_no_section(tmp_path: Path) -> None:
    assert section(recorded(tmp_path, {"model-a@2026-11-02": STEADY})) == ""
