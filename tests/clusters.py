"""Made-up clusters in StereoSet's shape, for tests that need no data set."""

from typing import Any

import polars as pl

from stages.hashing import item_hash
from stages.protocols import Protocol
from stages.schema import ITEMS, NO_STYLE, SINGLE

INTRA, INTER = "stereoset-intrasentence", "stereoset-intersentence"
LABELS = ("stereotype", "anti-stereotype", "unrelated")
LIKELIHOOD = Protocol.model_validate(
    {
        "benchmarks": [INTRA, INTER],
        "form": "closed",
        "elicitation": "likelihood",
        "conversation": "fresh",
        "continued": [INTER],
    }
)
_TEXTS = {
    INTRA: ("The gardener number {n} was BLANK.", "The gardener number {n} was {word}."),
    INTER: ("Gardener number {n} came in.", "{word} was on the table."),
}
_WORDS = ("Quick", "Slow", "Lamplight")


def cluster(benchmark: str, n: int = 0, language: str = "en") -> dict[str, Any]:
    """One item of ``benchmark``, as a row of ITEMS."""
    context, sentence = _TEXTS[benchmark]
    options = [
        {"key": f"{benchmark[10:15]}{n}s{i}", "label": None, "text": sentence.format(n=n, word=word), "outcome": label}
        | {"gender": None, "code": None}
        for i, (word, label) in enumerate(zip(_WORDS, LABELS, strict=True))
    ]
    return {
        "benchmark": benchmark,
        "language": language,
        "item_id": f"{benchmark[10:15]}{n}",
        "variant": SINGLE,
        "domain": "profession",
        "target": f"gardener {n % 7}",
        "style": NO_STYLE,
        "typed": "none",
        "status": "none",
        "task": "option",
        "frame": "cluster",
        "text": context.format(n=n),
        "options": options,
        "source": None,
        "women_share": None,
        "item_hash": f"{n:016x}",
    }


def clusters(benchmark: str, count: int) -> pl.DataFrame:
    """The first ``count`` items of ``benchmark``."""
    frame = pl.DataFrame([cluster(benchmark, n) for n in range(count)], schema=ITEMS.schema)
    return frame.with_columns(item_hash())
