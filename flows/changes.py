"""What changed since the reference, for some runs: sentences, and which models are to be asked again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flows.comparing import difference, note
from stages.report.session import query

CHANGED, REPEAT = "changed", "to be repeated"
"""Verdicts of the view ``changed``."""
_SAID = {
    CHANGED: "changed since {reference}, and a second run of the day says the same",
    REPEAT: "differs from {reference}; one run may be chance, ask again today to know",
    "not repeated": "differs from {reference}, but another run of the day does not",
    "not comparable": "cannot be compared with {reference}",
    "no change seen": "no change seen since {reference}",
}


def verdicts(root: Path, runs: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of the view ``changed`` about ``runs``."""
    named = ", ".join(f"'{run}'" for run in runs)
    return query(root, f"from changed where run in ({named}) order by all").to_dicts() if runs else []


def lines(root: Path, runs: Sequence[str]) -> list[str]:
    """A sentence for each headline score of ``runs`` that has a run to be compared with."""
    return [sentence(row) for row in verdicts(root, runs)]


def sentence(row: dict[str, Any]) -> str:
    """A row of the view ``changed`` in words."""
    held = f" ({said})" if (said := note(row)) else ""
    moved = "" if row["verdict"] == "not comparable" else f" {difference(row)}"
    what = f"{row['run']} {row['language']} {row['protocol']} {row['metric']}{moved}"
    return f"{what}: {_SAID[row['verdict']].format(reference=row['reference'])}{held}."


def to_repeat(root: Path, runs: Sequence[str], today: str) -> list[str]:
    """The models of ``runs`` with a difference that counts only once a second run of the day has it, too.

    A run of another day than ``today`` (gone on with, or asked over midnight) cannot be repeated any more.
    """
    found = verdicts(root, runs)
    return sorted({row["model"] for row in found if row["verdict"] == REPEAT and row["date"] == today})


def confirmed(root: Path, runs: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of the view ``changed`` about those of ``runs`` that changed."""
    return [row for row in verdicts(root, runs) if row["verdict"] == CHANGED]
