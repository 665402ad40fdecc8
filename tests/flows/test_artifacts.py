"""What Prefect's UI shows of a flow run, as text and rows."""

from pathlib import Path

from flows.artifacts import summary, table
from stages.errors import Incomplete
from stages.schema import SCORES
from stages.score import score
from tests import factories as f
from tests.flows.test_closing import stereoset
from tests.report.test_drift import X, Y, record_run

RUN = "model-c@2026-11-30"


def record(root: Path) -> None:
    """A run of all stereotypes in the check-up, and two runs of another model that was replaced between them."""
    rows = f.make_judgements(f.always_stereotype, f.make_questions([RUN], styles=["direct"]))
    f.record(root, rows, SCORES.conform(score(rows)))


def test_the_summary_has_verdicts_problems_cost_and_the_report(project: Path) -> None:
    record(project)
    stuck = Incomplete("Run m@2026-11-30 lacks 3 answers; run again.")
    text = summary(project, [RUN, "m@2026-11-30"], {"m@2026-11-30": stuck})
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Not done",
        "## Verdicts",
        "## What it took, and what was served",
    ]
    assert f"- m@2026-11-30: {stuck}" in text
    assert f"| {RUN} | en | two | checkup | lean +100 [+82, +100] | traditional |" in text
    page = project / "reports" / "site" / "index.html"
    assert text.endswith(f"The report: [{page}]({page.as_uri()})\n")


def test_what_it_took_and_drift_stand_in_lines_of_their_own(project: Path) -> None:
    record_run(project, "model-a@2026-11-23", [X], cost=0.5)
    record_run(project, "model-a@2026-11-30", [Y], cost=0.5)
    text = summary(project, ["model-a@2026-11-30"], {})
    assert "- model-a@2026-11-30: 8 calls, tokens unknown, $4.00; served by y, the run before" in text
    assert "## Verdicts" not in text


def test_the_table_has_a_row_for_each_headline_and_for_each_run_without_one(project: Path) -> None:
    stereoset(project)
    rows = table(project, ["model-a@2026-11-30", "m@2026-11-30"], {"m@2026-11-30": Incomplete("It lacks 3.")})
    assert [
        (row["run"], row.get("benchmark"), row.get("metric"), row.get("value"), row["problem"]) for row in rows
    ] == [
        ("model-a@2026-11-30", "stereoset-intersentence", "ss", 0.0, ""),
        ("m@2026-11-30", None, None, None, "It lacks 3."),
    ]
    assert table(project, [], {}) == []
