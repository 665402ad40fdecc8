"""A comparison with an earlier commit as tables to print: by model and benchmark, by answer, by score."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from flows.revision import Revision
from stages.differences import BEFORE, MOVED, run_of
from stages.schema import ALL, JUDGEMENTS, SCORES
from stages.store import read_unchecked

KEY = ("model", "benchmark", "language", "protocol")
HEADLINES = ("control_accuracy", "lean", "default", "pair_lean", "ss_macro", "lms_macro", "icat_macro")
"""Of each group these scores are shown, of its latest run."""
SCOPES = ("served_model", "style", "typed", "status")
VERSIONS = (f"metrics_version{BEFORE}", "metrics_version")


def summary(found: Revision) -> pl.DataFrame:
    """One row per model, benchmark, language and protocol that is compared.

    ``changed``   answers with another outcome, ``outcomes`` from which to which;
    ``moved``     scores with another value, interval or number, ``new`` and ``gone`` those on one side only;
    ``headline``  the scores of ``HEADLINES`` over everything, of the latest run (``run``): before → after.
    """
    return (
        _answers(found)
        .join(_outcomes(found), on=KEY, how="full", coalesce=True)
        .join(_headlines(found), on=KEY, how="full", coalesce=True)
        .join(_scores(found), on=KEY, how="full", coalesce=True)
        .with_columns(pl.col("answers", "changed", "moved", "new", "gone").fill_null(0))
        .select(*KEY, "answers", "changed", "outcomes", "moved", "new", "gone", "run", "headline", *VERSIONS)
        .sort(KEY)
    )


def items(found: Revision) -> pl.DataFrame:
    """One row per answer with another outcome."""
    return _changed(found).select(
        "run", "benchmark", "language", "protocol", "item_id", "variant", "epoch",
        pl.col(f"outcome{BEFORE}").alias("before"), pl.col("outcome").alias("after"),
        f"reason{BEFORE}", "reason", "reply",
    )  # fmt: skip


def scores(found: Revision) -> pl.DataFrame:
    """One row per score that moved, is new or is gone."""
    beside = [name for value in ("value", "ci_low", "ci_high", "n", "coverage") for name in (f"{value}{BEFORE}", value)]
    return found.of(SCORES).rows.select(*SCORES.grain, "change", *beside)


def _changed(found: Revision) -> pl.DataFrame:
    return found.of(JUDGEMENTS).rows.filter(pl.col("change") == MOVED, pl.col("differing").list.contains("outcome"))


def _answers(found: Revision) -> pl.DataFrame:
    """How many answers of each group are compared."""
    rows = [
        (*_key(name), pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())
        for name, path in found.files(found.root, JUDGEMENTS).items()
    ]
    schema = {**dict.fromkeys(KEY, pl.String), "answers": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row").group_by(KEY).sum()


def _key(name: str) -> tuple[str, str, str, str]:
    """Model, benchmark, language and protocol of a file."""
    benchmark, language, protocol = Path(name).stem.split(".", 2)
    return run_of(name).split("@")[0], benchmark, language, protocol


def _outcomes(found: Revision) -> pl.DataFrame:
    by_kind = _changed(found).group_by(*KEY, f"outcome{BEFORE}", "outcome").agg(pl.len().alias("n"))
    text = pl.format("{} → {}: {}", f"outcome{BEFORE}", "outcome", "n")
    listed = by_kind.sort("n", "outcome", descending=[True, False]).group_by(KEY, maintain_order=True)
    return listed.agg(pl.col("n").sum().cast(pl.Int64).alias("changed"), text.str.join(", ").alias("outcomes"))


def _scores(found: Revision) -> pl.DataFrame:
    counts = [(pl.col("change") == kind).sum().cast(pl.Int64).alias(kind) for kind in ("moved", "new", "gone")]
    model = pl.col("run").str.split("@").list.first().alias("model")
    return found.of(SCORES).rows.drop("model", strict=False).with_columns(model).group_by(KEY).agg(counts)


def _headlines(found: Revision) -> pl.DataFrame:
    """Of the latest run of each group its headline scores, in words, and the versions of their definitions."""
    latest = _latest(found.files(found.root, SCORES))
    before, after = (_read(found.files(root, SCORES), latest) for root in (found.folder, found.root))
    both = after.join(before, on=[*KEY, "run", "metric"], how="full", coalesce=True, suffix=BEFORE)
    order = pl.col("metric").replace_strict({name: place for place, name in enumerate(HEADLINES)})
    return (
        both.with_columns(pl.struct("metric", f"value{BEFORE}", "value").map_elements(_told, pl.String).alias("text"))
        .sort(order)
        .group_by(*KEY, "run", maintain_order=True)
        .agg(pl.col("text").str.join(", ").alias("headline"), *(pl.col(name).max() for name in VERSIONS))
    )


def _latest(files: Iterable[str]) -> list[str]:
    """Of each group the file of its latest run."""
    by_date = sorted(files, key=lambda name: (_key(name), _stamp(name)))
    return [list(own)[-1] for _, own in groupby(by_date, key=_key)]


def _stamp(name: str) -> tuple[str, int]:
    stamp = run_of(name).split("@")[1]
    return stamp[:10], int(stamp[11:] or 1)


def _read(files: Mapping[str, Path], names: Iterable[str]) -> pl.DataFrame:
    """The headline scores in those of ``files``: KEY, run, metric, value, metrics_version."""
    columns = ["model", "run", "benchmark", "language", "protocol", "metric", "value", "metrics_version"]
    headline = pl.col("metric").is_in(HEADLINES) & pl.col("domain").is_in([ALL, "control"])
    found = [SCORES.upgraded(read_unchecked(files[name])) for name in names if name in files]
    kept = [
        frame.filter(headline, *(pl.col(scope) == ALL for scope in SCOPES if scope in frame.columns)).select(columns)
        for frame in found
    ]
    return pl.concat([SCORES.empty().select(columns), *kept])


def _told(row: dict[str, Any]) -> str:
    before, after = (None if row[name] is None else f"{row[name]:.1f}" for name in (f"value{BEFORE}", "value"))
    moved = f"{before or '–'} → {after or '–'}" if before != after else before or "–"
    return f"{row['metric']} {moved}"
