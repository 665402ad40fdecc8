"""What two runs differ in, and the languages and protocols of one run, as tables to print."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from flows.options import By
from stages.errors import DataError, UsageError
from stages.ledger import named, read_ledger
from stages.report.format import DASH, interval, number
from stages.report.session import query
from stages.schema import ALL
from stages.score import changes_between

PRIMARY = "primary"


@dataclass(frozen=True)
class Comparison:
    """How ``run`` differs from ``reference``."""

    run: str
    reference: str
    rows: pl.DataFrame
    """Rows of CHANGES."""
    flips: pl.DataFrame
    """Items, alike word for word, whose vote differs, with what was said."""

    def changed(self, alpha: float) -> pl.DataFrame:
        """The primary differences that count as a change at ``alpha``."""
        return self.rows.filter(pl.col("family") == PRIMARY, pl.col("p_adjusted") <= alpha)

    def held(self) -> pl.DataFrame:
        """The primary differences that a gate holds back."""
        return self.rows.filter(pl.col("family") == PRIMARY, pl.col("gate").is_not_null())


def between(root: Path, reference: str, run: str) -> Comparison:
    """How the run ``run`` differs from ``reference``; both as `checkup runs` names them.

    :raises UsageError: there is no such run, they are the same, or share nothing that can be compared.
    """
    ledger = read_ledger(root)
    earlier, later = named(ledger, reference), named(ledger, run)
    if earlier.id == later.id:
        raise UsageError(
            f"{run} cannot be compared with itself; name two runs, or one with --by language, protocol or mitigation."
        )
    for side in (earlier, later):
        if side.entry.retired:
            raise UsageError(f"Run {side.id} is retired, so that it has no scores; choose another one.")
    flips = query(root, _FLIPS.format(run=later.id, reference=earlier.id))
    return Comparison(later.id, earlier.id, changes_between(root, later, earlier), flips)


def within(root: Path, run: str, by: By) -> pl.DataFrame:
    """The languages, or the protocols, of one run beside each other: rows of COMPARISONS.

    :raises UsageError: there is no such run, or ``by`` is neither.
    :raises DataError: the run has nothing of the kind to compare.
    """
    named(read_ledger(root), run)
    if by not in (By.LANGUAGE, By.PROTOCOL):
        raise UsageError(
            f"One run has no other to compare its {by}s with; name two runs, or use --by language, protocol or mitigation."
        )
    found = query(root, f"from comparisons where run = '{run}' and starts_with(versus, '{by}=') order by all")
    if found.is_empty():
        raise DataError(
            f"Run {run} has nothing scored to compare by {by}; languages are compared with en, and carried with two."
        )
    return found


def shown(rows: pl.DataFrame, by: By | None) -> pl.DataFrame:
    """Those of ``rows`` (CHANGES) that span everything, or, by domain or style, also its parts."""
    whole = (pl.col("domain") == ALL) & (pl.col("style") == ALL)
    kept = {By.DOMAIN: pl.col("style") == ALL, By.STYLE: pl.col("domain") == ALL}.get(by, whole) if by else whole
    named = [str(by)] if by in (By.LANGUAGE, By.PROTOCOL) else []
    named += [name for name in ("benchmark", "language", "protocol") if name not in named]
    whole_first = [pl.col("domain") != ALL, pl.col("domain"), pl.col("style") != ALL, pl.col("style")]
    return rows.filter(kept).sort(*map(pl.col, named), *whole_first, pl.col("family") != PRIMARY, pl.col("metric"))


def in_words(rows: pl.DataFrame) -> pl.DataFrame:
    """``rows`` of CHANGES as a table for people."""
    return pl.DataFrame([_worded(row) for row in rows.iter_rows(named=True)], infer_schema_length=None)


def _worded(row: dict[str, object]) -> dict[str, object]:
    scope = {name: row[name] for name in ("benchmark", "language", "protocol", "domain", "style")}
    return {
        **scope,
        "metric": f"{row['metric']}{' *' if row['family'] == PRIMARY else ''}",
        "change": difference(row),
        "before": _number(row, "there"),
        "after": _number(row, "here"),
        "p": _p(row["p_value"]),
        "corrected": _p(row["p_adjusted"]),
        "n": row["n"],
        "effect": DASH if row["effect"] is None else f"{row['effect']:+.2f}",
        "note": note(row),
    }


def difference(row: dict[str, object]) -> str:
    """The difference of a row of CHANGES with its interval: ``+12.0 [+3.1, +20.9]``."""
    low, high = row["ci_low"], row["ci_high"]
    found = _number(row, "value", signed=True)
    if isinstance(low, float) and isinstance(high, float):
        return f"{found} {interval(low, high, 'log_odds' if row['metric'] == 'strength' else 'signed')}"
    return found


def _number(row: dict[str, object], name: str, signed: bool = False) -> str:
    value, metric = row[name], str(row["metric"])
    if not isinstance(value, float):
        return DASH
    if metric == "strength":
        return number(value, "log_odds")
    return number(value, "points" if metric in ("ss_macro", "lms_macro") and not signed else "signed")


def _p(value: object) -> str:
    if not isinstance(value, float):
        return DASH
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def note(row: dict[str, object]) -> str:
    """Why a row of CHANGES counts as no change, its bounds where answers are missing, and what is not like for like."""
    said = [_GATES[gate]] if isinstance(gate := row["gate"], str) else []
    low, high = row["bound_low"], row["bound_high"]
    lacking = isinstance(covered := row["coverage"], float) and covered < 100
    if lacking and isinstance(low, float) and isinstance(high, float):
        said.append(f"with the missing answers anywhere in {interval(low, high, 'signed')}")
    if isinstance(differs := row["differs"], list) and differs:
        said.append(f"not like for like: {', '.join(differs)}")
    return "; ".join(said)


_GATES = {
    "protocol": "asked otherwise, no test",
    "coverage": "under 95 % of the answers usable",
    "controls": "the controls are not passed",
    "value": "no answers on both sides that make a score",
}
_SIDE = """
    select
        v.*, item_hash,
        coalesce([e.reply for e in epochs if e.outcome = vote][1], epochs[1].reply, [o.text for o in options if o.key = choice][1])
            as said
    from votes v
    left join (
        select benchmark, language, protocol, item_id, any_value(item_hash) as item_hash, any_value(options) as options
        from answers where run = '{run}' group by all
    ) using (benchmark, language, protocol, item_id)
    where run = '{run}'
"""
"""The votes of a run with what was said: the first reply that means what most do, else the first; without replies the text chosen."""
_FLIPS = f"""
    select
        benchmark, language, protocol, item_id, after.domain, after.target, after.style,
        before.vote as before, after.vote as after, before.said as said_before, after.said as said_after
    from ({_SIDE.format(run="{run}")}) after
    join ({_SIDE.format(run="{reference}")}) before using (benchmark, language, protocol, item_id, item_hash)
    where before.vote <> after.vote and 'error' not in (before.vote, after.vote)
    order by all
"""
