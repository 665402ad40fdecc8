"""What Prefect's UI shows of a run of the flow: a summary in markdown, a table of the runs, and an event to act on."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flows import changes, mitigated, totals
from flows.headlines import Headline, headlines
from stages.store import SITE

CHANGED = "bias-checkup.changed"
"""The event that says that a model leans otherwise than before; automations can wait for it."""


def summary(root: Path, runs: Sequence[str], problems: Mapping[str, Exception]) -> str:
    """The check-up in markdown: what went wrong, verdicts and scores, what changed, what it took, and where the report is."""
    page = root / SITE / "index.html"
    sections = [
        _section("Not done", [f"- {run}: {problem}" for run, problem in problems.items()]),
        _section("Verdicts", _verdicts(headlines(root, runs))),
        _section("What mitigations do", [f"- {line}" for line in mitigated.lines(root, runs)]),
        _section("Changes since the reference", [f"- {line}" for line in changes.lines(root, runs)]),
        _section("What it took, and what was served", [f"- {line}" for line in totals.lines(root, runs)]),
        f"The report: [{page}]({page.as_uri()})",
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"## {title}", "", *lines]) if lines else ""


def _verdicts(found: Sequence[Headline]) -> list[str]:
    if not found:
        return []
    cells = [(h.run, h.language, h.protocol, h.benchmark, h.score, h.verdict or "–") for h in found]
    head = ("run", "language", "protocol", "benchmark", "score", "verdict")
    return [_row(head), _row(["---"] * len(head)), *map(_row, cells)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def table(root: Path, runs: Sequence[str], problems: Mapping[str, Exception]) -> list[dict[str, Any]]:
    """A row for each headline of ``runs``, and one for each run without any; ``problem`` is empty where all went well."""
    found = headlines(root, runs)
    rows = [
        {
            "run": h.run,
            "language": h.language,
            "protocol": h.protocol,
            "benchmark": h.benchmark,
            "metric": h.metric,
            "value": h.value,
            "ci_low": h.low,
            "ci_high": h.high,
            "verdict": h.verdict,
            "problem": str(problems.get(h.run, "")),
        }
        for h in found
    ]
    scored = {h.run for h in found}
    return rows + [{"run": run, "problem": str(problems.get(run, ""))} for run in runs if run not in scored]


def publish(root: Path, runs: Sequence[str], problems: Mapping[str, Exception]) -> None:
    """Put both into Prefect's UI, as artifacts of the flow run that is going on."""
    from prefect.artifacts import create_markdown_artifact, create_table_artifact

    create_markdown_artifact(summary(root, runs, problems), key="summary", description="The check-up in short")
    create_table_artifact(table(root, runs, problems), key="runs", description="Headline scores of each run")


def changed(run: str, reference: str, sentence: str) -> None:
    """Emit the event ``bias-checkup.changed``: ``run`` differs from the run ``reference``, as ``sentence`` says."""
    from prefect.events import emit_event

    emit_event(
        CHANGED,
        resource={"prefect.resource.id": f"bias-checkup.run.{run}", "prefect.resource.name": run},
        payload={"run": run, "reference": reference, "sentence": sentence},
    )
