"""What mitigations did, in words and as tables to print."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from stages.errors import DataError
from stages.ledger import named, read_ledger
from stages.report.format import DASH, Scale, interval, number, p_value
from stages.report.labels import Labels
from stages.report.session import query
from stages.schema import ALL

_BOTH = """
    select after.*, before.verdict as verdict_before, before.change as change_before, before.change_low as change_low_before,
        before.change_high as change_high_before
    from mitigated after
    join mitigated before using (benchmark, language, protocol)
    where after.run = '{run}' and before.run = '{reference}'
    order by benchmark, protocol, language
"""
"""What two runs found of the same mitigations."""

_PAIRS = """
    select run, language, protocol, lean.here, lean.there, moved.value as change, moved.ci_low as change_low,
        moved.ci_high as change_high
    from (from effects where metric = 'pair_lean' and domain = 'all') as lean
    join (from effects where metric = 'abs_pair_lean' and domain = 'all') as moved using (run, benchmark, language, protocol)
"""


def lines(root: Path, runs: Sequence[str]) -> list[str]:
    """A sentence for each mitigation of ``runs``: its verdict, the lean without and with it, and what better lacks.

    On pairs there is no verdict.
    """
    if not runs:
        return []
    listed = ", ".join(f"'{run}'" for run in runs)
    of_runs = f"where run in ({listed})"
    labels, verdicts = Labels.read(root), query(root, f"from mitigated {of_runs}")
    return [
        *(_sentence(row, labels) for row in verdicts.iter_rows(named=True)),
        *(_of_pairs(row) for row in query(root, f"{_PAIRS} {of_runs}").iter_rows(named=True)),
    ]


def _sentence(row: dict[str, Any], labels: Labels) -> str:
    lean = f"lean {_signed(row['lean_without'])} → {_signed(row['lean_with'])}, |lean| {_change(row)}"
    why = f"; {reasons(row, labels)}" if row["reasons"] else ""
    return f"{row['run']} {row['language']} {row['protocol']}: {row['verdict']}, {lean}{why}."


def _of_pairs(row: dict[str, Any]) -> str:
    lean = f"pair_lean {_signed(row['there'])} → {_signed(row['here'])}, |pair_lean| {_change(row)}"
    return f"{row['run']} {row['language']} {row['protocol']}: {lean}; no verdict on pairs."


def reasons(row: dict[str, Any], labels: Labels) -> str:
    """Why a row of ``mitigated`` is not better, in words; empty where it is."""
    conditions = labels["mitigations"]["conditions"]
    return "; ".join(str(conditions[code]) for code in row["reasons"])


def effects(root: Path, run: str) -> pl.DataFrame:
    """Every effect of the mitigations of ``run``: rows of EFFECTS, with ``verdict`` and ``reasons``; those of pairs have none.

    :raises UsageError: there is no such run.
    :raises DataError: it has no mitigation that is scored beside the same protocol without it.
    """
    named(read_ledger(root), run)
    found = query(
        root,
        f"""
        select effects.*, verdict, reasons
        from effects
        left join mitigations using (run, benchmark, language, protocol, versus)
        where run = '{run}'
        order by benchmark, protocol, language, domain <> 'all', domain, metric
        """,
    )
    if found.is_empty():
        raise DataError(
            f"Run {run} has no mitigation scored beside the same protocol without it; ask both with: checkup run "
            "--plan mitigations."
        )
    return found


def in_words(found: pl.DataFrame, root: Path) -> pl.DataFrame:
    """``found`` (see ``effects``) as a table for people: a row for each mitigation, and one for each of its groups."""
    labels = Labels.read(root)
    scope = ["benchmark", "language", "protocol", "domain"]
    groups = found.filter(pl.col("metric").is_in(["lean", "pair_lean"])).partition_by(scope, maintain_order=True)
    rows = {(*(row[name] for name in scope), row["metric"]): row for row in found.iter_rows(named=True)}
    return pl.DataFrame([_worded(group.row(0, named=True), rows, labels) for group in groups])


def _worded(row: dict[str, Any], rows: dict[tuple[str, ...], dict[str, Any]], labels: Labels) -> dict[str, str | None]:
    part = (row["benchmark"], row["language"], row["protocol"])
    whole = row["domain"] == ALL
    over_all = "asked" if (*part, "asked", "evaded_rate") in rows and whole else row["domain"]

    def beside(metric: str, domain: str, scale: Scale = "signed") -> str:
        found = rows.get((*part, domain, metric))
        return DASH if found is None else f"{_number(found['there'], scale)} → {_number(found['here'], scale)}"

    def change(metric: str, domain: str) -> str:
        found = rows.get((*part, domain, metric))
        return DASH if found is None else _signed(found["value"])

    moved = rows[*part, row["domain"], f"abs_{row['metric']}"]
    return {
        **{name: row[name] for name in ("benchmark", "language", "protocol", "domain")},
        "verdict": row["verdict"] if whole else "",
        "lean": beside(row["metric"], row["domain"]),
        "|lean|": _between(moved["value"], moved["ci_low"], moved["ci_high"]),
        "corrected p": p_value(moved["p_adjusted"]),
        "n": str(moved["n"]),
        "default": beside("default", row["domain"]),
        **{name: change(f"{name}_rate", over_all) for name in ("refusal", "unusable")},
        "neutral": change("neutral_rate", row["domain"]),
        "controls": beside("control_accuracy", "control", "points") if whole else "",
        "not better as": reasons(row, labels) if whole and row["reasons"] else "",
    }


def beside(root: Path, reference: str, run: str) -> pl.DataFrame:
    """The verdicts on the mitigations that two runs have in common: those of ``reference``, and those of ``run``."""
    found = query(root, _BOTH.format(run=run, reference=reference))
    rows = [
        {
            **{name: row[name] for name in ("benchmark", "language", "protocol")},
            "before": row["verdict_before"],
            "after": row["verdict"],
            "|lean| before": _between(row["change_before"], row["change_low_before"], row["change_high_before"]),
            "|lean| after": _change(row),
        }
        for row in found.iter_rows(named=True)
    ]
    names = ("benchmark", "language", "protocol", "before", "after", "|lean| before", "|lean| after")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String))


def moved(root: Path, reference: str, run: str) -> list[str]:
    """A sentence for each mitigation whose verdict in ``run`` is another than in ``reference``."""
    found = beside(root, reference, run).filter(pl.col("before") != pl.col("after"))
    return [
        f"{row['benchmark']} {row['language']} {row['protocol']}: {row['after']}, before: {row['before']}."
        for row in found.iter_rows(named=True)
    ]


def _change(row: dict[str, Any]) -> str:
    return _between(row["change"], row["change_low"], row["change_high"])


def _between(value: float | None, low: float | None, high: float | None) -> str:
    ends = "" if low is None or high is None else f" {interval(low, high, 'signed')}"
    return f"{_signed(value)}{ends}"


def _signed(value: float | None) -> str:
    return _number(value, "signed")


def _number(value: float | None, scale: Scale) -> str:
    return DASH if value is None else number(value, scale)
