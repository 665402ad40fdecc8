"""What there is to ask, as a table."""

from pathlib import Path

import polars as pl

from flows.selection import select
from stages.params import read_params


def roster(root: Path) -> pl.DataFrame:
    """One row per model of params.yaml: what it is, how it is reached, and whether it can be asked."""
    params = read_params(root)
    skipped = select(params, []).skipped
    return pl.DataFrame(
        [
            {
                "model": key,
                "name": model.name(key),
                "vendor": model.vendor,
                "country": model.country,
                "access": "local" if model.is_local else "api",
                "form": model.api,
                "can be asked": skipped.get(key, "yes"),
            }
            for key, model in params.models.items()
        ]
    )
