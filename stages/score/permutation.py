"""How probable a mean difference is by chance alone: the sign-flip permutation test over targets.

If the two sides were alike, each target's difference would be as likely to be there turned round. A p-value is the share of
all ways to turn signs whose sum is at least as far from 0: of every way where there are few differences, else of seeded draws.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import polars as pl
from scipy.stats import false_discovery_control

from stages.score.intervals import Array

DRAWS, SEED = 9_999, 1
EXACT = 13
"""Up to so many differences other than 0 all ways are tried: 2¹³ are fewer than ``DRAWS``."""
_BLOCK = 64
"""Rows at a time, so that memory stays bounded."""
_ROUNDING = 1e-9


def p_values(differences: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Per ``by`` the two-sided ``p_value`` of the mean of ``difference``, in which types weigh half each.

    ``differences`` have ``by``, ``type``, ``target`` and ``difference``, a row per target, none null. One that is 0 may be
    flipped or not, all the same, so that where all are 0 p is 1. The least p of draws is 1 / (draws + 1).
    """
    weighed = differences.sort(*by, "type", "target").with_columns(
        (pl.col("difference") / pl.len().over(*by, "type")).alias("part")
    )
    other = pl.col("difference").abs() > _ROUNDING  # averages of the same numbers differ in the last bits
    parts = weighed.group_by(by, maintain_order=True).agg(pl.col("part").filter(other))
    return parts.select(*by, pl.Series("p_value", _of_each(parts["part"].to_list()), pl.Float64))


def _of_each(parts: Sequence[Sequence[float]]) -> Array:
    """The p-value of each list; lists of one length are tested together."""
    found = np.ones(len(parts))
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    for length in np.unique(lengths[lengths > 0]):
        places = np.flatnonzero(lengths == length)
        for block in np.array_split(places, -(-len(places) // _BLOCK)):
            found[block] = sign_flip(np.array([parts[place] for place in block]))
    return found


def sign_flip(parts: Array) -> Array:
    """Per row of ``parts`` (rows × differences, no 0) the share of sign flips whose sum is at least as far from 0."""
    signs = _signs(parts.shape[1])
    sums, slack = np.abs(parts @ signs), _ROUNDING * np.abs(parts).sum(axis=1)
    extreme = (sums >= (np.abs(parts.sum(axis=1)) - slack)[:, None]).sum(axis=1)
    if parts.shape[1] <= EXACT:
        return np.asarray(extreme / signs.shape[1], dtype=np.float64)
    return np.asarray((extreme + 1) / (signs.shape[1] + 1), dtype=np.float64)


def _signs(n: int) -> Array:
    """Differences × ways: every way to give ``n`` differences a sign, or ``DRAWS`` of them."""
    if n <= EXACT:
        return _every(n)
    return _drawn(1 << (n - 1).bit_length())[:n]


@lru_cache(maxsize=EXACT)
def _every(n: int) -> Array:
    return np.asarray(1 - 2 * ((np.arange(2**n) >> np.arange(n)[:, None]) & 1), dtype=np.float64)


@lru_cache(maxsize=4)
def _drawn(capacity: int) -> Array:
    """Drawn row by row, so that the first rows are the same whatever the capacity."""
    return np.asarray(1 - 2 * np.random.default_rng(SEED).integers(0, 2, (capacity, DRAWS)), dtype=np.float64)


def adjusted(p: Sequence[float], method: str) -> list[float]:
    """``p`` corrected for their number: by ``holm``, or, ``bh``, by Benjamini and Hochberg."""
    if not p:
        return []
    found: Array = false_discovery_control(p) if method == "bh" else _holm(np.asarray(p, dtype=np.float64))
    return [float(value) for value in found]


def _holm(p: Array) -> Array:
    """Each p times the number of those that are not smaller, never less than a smaller one's, at most 1.

    As statsmodels' multipletests, which collects garbage at each call: most of the time of comparing a history.
    """
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    found = np.empty_like(p)
    found[order] = np.minimum(stepped, 1)
    return found
