"""The two sides of a comparison between runs, read from what is recorded."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import polars as pl

from stages.errors import UsageError
from stages.ledger import Run, read_ledger
from stages.references import Pairing
from stages.schema import ANSWERS, JUDGEMENTS
from stages.score.alike import ASKED
from stages.score.changes import changes
from stages.score.scoring import NEEDED
from stages.store import Partition, read, recorded

PAIRS = 64
"""Pairs of runs compared at a time, so that memory stays bounded."""
_ANSWER = ["item_id", "variant", "epoch"]


def bounded(found: Sequence[Pairing]) -> Iterator[Sequence[Pairing]]:
    """``found``, so many at a time."""
    return (found[start : start + PAIRS] for start in range(0, len(found), PAIRS))


def sides(root: Path, pairs: Sequence[Pairing]) -> pl.DataFrame:
    """Both sides of each of ``pairs``, as ``changes.changes`` takes them.

    :raises DataError: a file does not fit its table.
    """

    @lru_cache(maxsize=PAIRS)
    def side(part: Partition) -> pl.DataFrame:
        asked = read(part.path(root, ANSWERS), ANSWERS).select(*_ANSWER, *ASKED)
        return read(part.path(root, JUDGEMENTS), JUDGEMENTS).select(NEEDED).join(asked, on=_ANSWER)

    found = [
        side(part).with_columns(pl.lit(number).alias("pair"), pl.lit(here).alias("here"))
        for number, pairing in enumerate(pairs)
        for here, parts in ((True, pairing.parts), (False, pairing.earlier))
        for part in parts
    ]
    return pl.concat(found)


def changes_between(root: Path, run: Run, reference: Run) -> pl.DataFrame:
    """How ``run`` differs from ``reference``, whichever they are: rows of CHANGES.

    :raises UsageError: they share no benchmark, language and protocol that is judged, or no item in any.
    :raises CheckupError: the ledger and the files disagree, or a file does not fit its table.
    """
    judged = recorded(root, read_ledger(root), JUDGEMENTS)
    of = {side.id: {p.name: p for p in judged if p.run.id == side.id} for side in (run, reference)}
    shared = [part for name, part in of[run.id].items() if name in of[reference.id]]
    if not shared:
        raise UsageError(
            f"{run.id} and {reference.id} share no benchmark, language and protocol that is judged, so there is nothing to "
            "compare; list what runs asked with: checkup runs."
        )
    found = changes(sides(root, [Pairing(run, reference, tuple(shared))]))
    if found.is_empty():
        raise UsageError(
            f"{run.id} and {reference.id} share no item that can be compared, word for word and typed alike; list what runs "
            "asked with: checkup runs."
        )
    return found
