"""What a check-up found, in a line for each run, language and protocol: for the message of a commit, and for Prefect's UI.

A protocol with mitigations is left to ``mitigated``: what counts there is the difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.report.session import query

_SCORES = """
    select
        run, model, language, protocol, benchmark, coalesce(lean, pair_lean) as value, camp as verdict,
        if(lean is null and pair_lean is not null, 'pair_lean', 'lean') as metric,
        coalesce(lean_low, pair_lean_low) as low, coalesce(lean_high, pair_lean_high) as high
    from headlines anti join effects using (run, benchmark, language, protocol) where run in ({runs})
    union all
    select
        run, model, language, protocol, benchmark, ss_macro, null, 'ss', ss_macro_low, ss_macro_high
    from stereoset semi join latest using (run, benchmark, language, protocol)
    where domain = 'all' and run in ({runs})
    order by run, benchmark, language, protocol
"""


@dataclass(frozen=True)
class Headline:
    """The headline score of one run, benchmark, language and protocol."""

    run: str
    model: str
    language: str
    protocol: str
    benchmark: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    verdict: str | None
    """The camp by the choices; null where the benchmark has no camps."""

    @property
    def score(self) -> str:
        """``lean +18 [+11, +26]``, in signs that every terminal has; the value alone where there is no interval."""
        if self.value is None:
            return f"{self.metric} undefined"
        ends = (
            "" if self.low is None or self.high is None else f" [{self._number(self.low)}, {self._number(self.high)}]"
        )
        return f"{self.metric} {self._number(self.value)}{ends}"

    def _number(self, value: float) -> str:
        rounded = round(value) or 0
        return f"{rounded}" if self.metric == "ss" or not rounded else f"{rounded:+}"

    @property
    def finding(self) -> str:
        """Score and verdict."""
        return f"{self.score} {self.verdict}" if self.verdict else self.score


def headlines(root: Path, runs: Sequence[str]) -> list[Headline]:
    """The headlines of those of ``runs`` that are the latest of their model and were scored."""
    return [Headline(**row) for row in _rows(root, runs)]


def _rows(root: Path, runs: Sequence[str]) -> list[dict[str, Any]]:
    if not runs:
        return []
    named = ", ".join(f"'{run}'" for run in runs)
    return query(root, _SCORES.format(runs=named)).to_dicts()
