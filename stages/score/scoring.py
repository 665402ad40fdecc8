"""Judgements -> scores, and what can be compared within a run."""

from collections.abc import Iterator, Sequence

import polars as pl

from stages.schema import ALL, COMPARISONS, EFFECTS, METRICS_VERSION, MITIGATIONS, RUN_KEY, SCORES, TOGETHER
from stages.score.answers import numbered
from stages.score.comparing import comparisons
from stages.score.concepts import concepts
from stages.score.estimates import FIELDS
from stages.score.evidence import SCOPE, Evidence, Part, covered, in_scopes
from stages.score.intervals import Estimates
from stages.score.metrics import METRICS, Apart, Estimated
from stages.score.mitigating import effects, mitigated
from stages.score.scopes import concept_scopes, served_scopes, with_kind
from stages.score.verdicts import verdicts

PARTITION = [column.name for column in RUN_KEY]
NEEDED = [
    *PARTITION,
    *("served_model", "item_id", "variant", "epoch", "order_index", "domain", "target", "style", "typed", "status"),
    *("task", "n_options", "position", "gender", "picks", "code", "prefers_related", "outcome", "reason", "log_odds"),
    *("n_words", "counts"),
]
"""The columns of JUDGEMENTS that scores are made of."""
NOT_ASKED = "not_asked"
"""The reason of what was not asked before its run was closed."""


def score(judgements: pl.DataFrame) -> pl.DataFrame:
    """The scores of ``judgements`` (JUDGEMENTS, or its ``NEEDED`` columns; any number of runs), rows of SCORES.

    A scope has rows for the metrics that make sense in it, and only when anything was expected there; an undefined
    metric is a null with its ``n``. Each (run, benchmark, language, protocol) is scored by its own answers alone; where a
    run has all benchmarks of one in ``schema.TOGETHER``, they are scored under its name, too.

    :raises DataError: a domain or an outcome is unknown.
    """
    return score_and_compare(judgements)[0]


def score_and_compare(judgements: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The scores of ``judgements``, and what they allow to compare within each run, rows of COMPARISONS.

    :raises DataError: a domain or an outcome is unknown.
    """
    if judgements.is_empty():
        return SCORES.empty(), COMPARISONS.empty()
    evidence, partitions = _gathered(judgements)
    return _scores(evidence, partitions), comparisons(evidence, partitions)


def mitigations(judgements: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What mitigations do in the runs of ``judgements``, rows of EFFECTS, and the verdicts on them, rows of MITIGATIONS.

    :raises DataError: a domain or an outcome is unknown.
    """
    pairs = mitigated(_partitions(judgements))
    if pairs.is_empty():
        return EFFECTS.empty(), MITIGATIONS.empty()
    own = judgements.join(pairs.select("run").unique(), on="run", how="semi")
    # Closing a run before it is asked is nothing that a mitigation did.
    answers, partitions = _answers(own.filter(pl.col("reason") != NOT_ASKED).select(NEEDED))
    pairs = mitigated(partitions)
    found = effects(answers, pairs)
    return found, verdicts(found, answers, pairs)


def _gathered(judgements: pl.DataFrame) -> tuple[Evidence, pl.DataFrame]:
    """The evidence in ``judgements``, and its partitions: RUN_KEY and their number."""
    served, partitions = _answers(with_those_together(judgements.select(NEEDED), ("run", "language", "protocol")))
    return Evidence(served, concept_scopes(concepts(served))), partitions


def _answers(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """``rows`` (``NEEDED``) as the answers of ``Evidence``, and their partitions."""
    partitions = _partitions(rows)
    answers = numbered(with_kind(rows.join(partitions, on=PARTITION)))
    return served_scopes(answers).drop(PARTITION, "reason"), partitions


def _partitions(rows: pl.DataFrame) -> pl.DataFrame:
    """The partitions of ``rows``: RUN_KEY, and their number."""
    return rows.select(PARTITION).unique().sort(PARTITION).with_row_index("partition")


def with_those_together(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """``rows``, and those of benchmarks that are scored together once more under the name they have together.

    Only where all of them are there: per ``by``, what was asked by one model in one way.
    """
    found = [rows]
    for name, benchmarks in TOGETHER.items():
        own = rows.filter(pl.col("benchmark").is_in(benchmarks))
        whole = pl.col("benchmark").n_unique().over(by) == len(benchmarks)
        found.append(own.filter(whole).with_columns(pl.lit(name).alias("benchmark")))
    return pl.concat(found)


def _scores(evidence: Evidence, partitions: pl.DataFrame) -> pl.DataFrame:
    scores = (
        pl.concat(part(evidence) for part in PARTS)
        .join(partitions, on="partition")
        .with_columns(pl.lit(METRICS_VERSION, pl.Int64).alias("metrics_version"))
    )
    return SCORES.conform(scores.select(SCORES.schema.names()), "scores")


def registered(evidence: Evidence) -> pl.DataFrame:
    """The scores that the registry declares, each one estimate over the concepts of a scope.

    Kind by kind: an estimate in every scope takes most of the time, and most metrics make sense in few.
    """
    kinds = evidence.concepts.partition_by("kind", as_dict=True).items()
    return pl.concat(rows for (kind,), scoped in kinds for rows in _of_kind(str(kind), scoped))


def _of_kind(kind: str, scoped: pl.DataFrame) -> Iterator[pl.DataFrame]:
    metrics = [metric for metric in ESTIMATED if kind in metric.kinds]
    found = _estimated(metrics, scoped)
    return (_rows(metric, number, found) for number, metric in enumerate(metrics))


ESTIMATED = [metric for metric in METRICS if isinstance(metric, Estimated)]
PARTS: tuple[Part, ...] = (registered, *dict.fromkeys(metric.part for metric in METRICS if isinstance(metric, Apart)))
"""What scores are made by; each part gives some of the rows."""


def _estimated(metrics: list[Estimated], scoped: pl.DataFrame) -> pl.DataFrame:
    """One row per scope: its coverage, and the fields of every metric as ``<number of the metric>.<field>``."""
    fields = (
        getattr(metric.estimate, field).alias(f"{number}.{field}")
        for number, metric in enumerate(metrics)
        for field in FIELDS
    )
    return scoped.group_by(SCOPE).agg(covered(), *fields)


def _rows(metric: Estimated, number: int, found: pl.DataFrame) -> pl.DataFrame:
    """The rows of ``metric``, one per scope in which it makes sense."""
    rows = found if metric.by_type else found.filter(pl.col("typed") == ALL)
    estimates = Estimates.of(rows, f"{number}.")
    low, high = metric.interval(estimates, metric.bounds, metric.level)
    figures = (array * metric.scale for array in (estimates.value, low, high))
    return in_scopes(rows, metric.name, pl.col(f"{number}.n"), *figures)
