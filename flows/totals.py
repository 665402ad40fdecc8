"""What runs took, in a line for each: calls, tokens, dollars; and whether something else was served than before."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stages.report import query
from stages.report.format import count, money


def lines(root: Path, runs: Sequence[str]) -> list[str]:
    """A line for each of ``runs`` that has recorded answers, over all that was ever asked in it."""
    named = ", ".join(f"'{run}'" for run in runs)
    if not runs:
        return []
    found = query(root, f"from runs where run in ({named}) and n_expected > 0 order by run")
    again = {row["run"]: row for row in query(root, _SENT_BACK.format(runs=named)).iter_rows(named=True)}
    return [_line(row, again.get(row["run"])) for row in found.iter_rows(named=True)]


_SENT_BACK = """
    select run, sum(n_sent_back)::bigint as n, if(count(cost) < count(*), null, sum(cost)) as cost
    from drafts where run in ({runs}) group by run
"""


def _line(row: dict[str, Any], again: dict[str, Any] | None) -> str:
    calls = f"{count(row['n_calls'])} call{'' if row['n_calls'] == 1 else 's'}"
    drift = f"; {row['drift']}" if row["drift"] else ""
    return f"{row['run']}: {calls}, {_tokens(row)}, {_cost(row)}{_sent_back(again) if again else ''}{drift}."


def _sent_back(again: dict[str, Any]) -> str:
    """What mitigations had asked once more."""
    cost = f", {money(again['cost'])} of it" if again["cost"] is not None else ""
    return f"; {count(again['n'])} repl{'y was' if again['n'] == 1 else 'ies were'} sent back once{cost}"


def _tokens(row: dict[str, Any]) -> str:
    read, written, cached = (row[f"{kind}_tokens"] for kind in ("prompt", "completion", "cached"))
    if read is None and written is None:
        return "tokens unknown"
    of_cached = f" ({count(cached)} cached)" if cached else ""
    return f"{count(read)} tokens in{of_cached} and {count(written)} out"


def _cost(row: dict[str, Any]) -> str:
    if row["cost"] is None:
        return "cost unknown"
    unknown = row["n_cost_unknown"]
    return f"{money(row['cost'])}{f' and cost unknown of {count(unknown)} answers' if unknown else ''}"
