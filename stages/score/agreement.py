"""How far two readers of a run's texts agree: Cohen's kappa, with an interval by drawing targets again.

Readers are judge models, people and the lexicon. Codes are −1, 0 and 1; weights are linear, so that an answer two steps away
counts as twice the disagreement.
"""

import numpy as np
import polars as pl

from stages.schema import AGREEMENT, METRICS_VERSION, RUN_KEY
from stages.score.intervals import Array, bootstrap, columns, drawn_again
from stages.score.texts import LEXICON

CATEGORIES = (-1, 0, 1)
BOUNDS = (-1.0, 1.0)
_PARTITION = [column.name for column in RUN_KEY]
_PAIR = [*_PARTITION, "domain", "rater", "versus"]
_TEXT = [*_PARTITION, "text", "variant", "domain", "target"]
_CELLS = [f"{a}{b}" for a in range(len(CATEGORIES)) for b in range(len(CATEGORIES))]
_DISTANCE = np.abs(np.subtract.outer(CATEGORIES, CATEGORIES)).astype(np.float64)


def agreement(coded: pl.DataFrame) -> pl.DataFrame:
    """Rows of AGREEMENT: every two raters that gave codes to the same texts.

    ``coded`` has ``RUN_KEY`` (of the texts), ``text`` and ``variant`` (which text), ``domain`` (the question), ``target``,
    ``rater`` and ``code``: the one code of a rater for a text, never null.
    """
    pairs = _paired(coded)
    if pairs.is_empty():
        return AGREEMENT.empty()
    found = [_of_pair(rows) for rows in pairs.partition_by(_PAIR, maintain_order=True)]
    version = pl.lit(METRICS_VERSION, pl.Int64).alias("metrics_version")
    return AGREEMENT.conform(pl.concat(found).with_columns(version).select(AGREEMENT.schema.names()))


def _paired(coded: pl.DataFrame) -> pl.DataFrame:
    """A row per text and two raters of it: ``_PAIR``, ``target``, ``code`` and ``code_versus``; the lexicon is never first."""
    place = pl.concat_str(pl.when(pl.col("rater") == LEXICON).then(pl.lit("1")).otherwise(pl.lit("0")), "rater")
    placed = coded.with_columns(place.alias("place"))
    both = placed.join(placed, on=_TEXT, suffix="_versus").filter(pl.col("place") < pl.col("place_versus"))
    return both.rename({"rater_versus": "versus"}).sort(*_PAIR, "target", "text", "variant")


def _of_pair(rows: pl.DataFrame) -> pl.DataFrame:
    """The row of AGREEMENT for two raters: ``rows`` of ``_paired``."""
    counts = _counts(rows)
    whole = counts.sum(axis=0)
    value, targets = np.array([kappa(whole)]), np.array([float(len(counts))])
    low, high = bootstrap(value, kappas(drawn_again(counts[None])), targets, BOUNDS)
    same = rows.select((pl.col("code") == pl.col("code_versus")).mean() * 100).item()
    return (
        rows.select(_PAIR)
        .head(1)
        .with_columns(
            *columns(kappa=value, ci_low=low, ci_high=high),
            pl.lit(same, pl.Float64).alias("agreement"),
            pl.lit(rows.height, pl.Int64).alias("n"),
        )
    )


def _counts(rows: pl.DataFrame) -> Array:
    """Targets × 9: how many texts of each target got each two codes."""
    place = {code: place for place, code in enumerate(CATEGORIES)}
    cell = pl.concat_str(pl.col(name).replace_strict(place).cast(pl.String) for name in ("code", "code_versus"))
    found = rows.with_columns(cell.alias("cell")).group_by("target", maintain_order=True).agg(
        (pl.col("cell") == name).sum().cast(pl.Float64).alias(name) for name in _CELLS
    )  # fmt: skip
    return found.select(_CELLS).to_numpy()


def kappa(counts: Array) -> float:
    """Cohen's kappa with linear weights of nine ``counts``; NaN where both raters gave one and the same code throughout."""
    from statsmodels.stats.inter_rater import cohens_kappa

    if np.isnan(kappas(counts[None, None])[0, 0]):
        return float("nan")
    table = counts.reshape(len(CATEGORIES), len(CATEGORIES))
    return float(cohens_kappa(table, wt="linear", return_results=False))


def kappas(counts: Array) -> Array:
    """The same of many tables at once, scopes × draws × 9: 1 − observed / expected disagreement."""
    tables = counts.reshape(*counts.shape[:2], len(CATEGORIES), len(CATEGORIES))
    n = tables.sum(axis=(2, 3))
    observed = (tables * _DISTANCE).sum(axis=(2, 3))
    margins = tables.sum(axis=3)[..., :, None] * tables.sum(axis=2)[..., None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = (margins * _DISTANCE).sum(axis=(2, 3)) / n
        found: Array = np.where(expected > 0, 1 - observed / expected, np.nan)
    return found
