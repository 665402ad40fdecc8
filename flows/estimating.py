"""What a check-up would take, as a table."""

from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from flows.selection import about_texts, select
from stages.ledger import planned, read_ledger
from stages.load import load_all
from stages.params import read_params
from stages.query.estimate import estimate
from stages.requests import Request


def estimates(
    root: Path, wanted: list[str], request: Request, max_connections: int | None = None
) -> tuple[pl.DataFrame, dict[str, str]]:
    """One row per model that can be asked, of what its run still lacks, and the skipped models with the reason.

    :raises UsageError: a name is unknown, or a benchmark's source was not fetched.
    """
    load_all(root)
    request = about_texts(root, request)
    params, ledger, now = read_params(root), read_ledger(root), datetime.now(UTC)
    chosen = select(params, wanted, request)
    runs = [planned(ledger, params, replace(request, model=key), now) for key in chosen.models]
    rows = [asdict(estimate(root, params, run, max_connections)) for run in runs]
    return pl.DataFrame(rows, infer_schema_length=None), chosen.skipped
