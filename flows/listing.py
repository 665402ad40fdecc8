"""What there is to ask, and of whom, as tables."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from flows.selection import select
from stages.entries import Entry
from stages.ledger import named, read_ledger, read_references
from stages.load import items
from stages.params import Model, Params, read_params
from stages.query.questions import expected
from stages.references import twins
from stages.schema import DOMAINS, Kind


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
                "access": _access(model),
                "api": None if model.route is None else model.api,
                "can be asked": skipped.get(key, "yes"),
            }
            for key, model in params.models.items()
        ]
    )


def _access(model: Model) -> str:
    """One of ``schema.ROUTES``: how answers of ``model`` come here."""
    if model.route is None:
        return "imported"
    return "local" if model.is_local else "api"


def references(root: Path) -> pl.DataFrame:
    """One row per pinned reference: the model it is of, the run, what it asked, and the runs of that day that asked again."""
    ledger = read_ledger(root)
    rows = [
        {
            "model": model,
            "reference": run.id,
            "asks": len(run.entry.asks),
            "asked again as": [r.id for r in twins(ledger, run)],
        }
        for model, pinned in read_references(root).items()
        for run in (named(ledger, name) for name in pinned)
    ]
    text = pl.String()
    kinds = {"model": text, "reference": text, "asks": pl.Int64(), "asked again as": pl.List(text)}
    return pl.DataFrame(rows, schema=pl.Schema(kinds))


def instruments(root: Path) -> pl.DataFrame:
    """One row per benchmark, language and plan that asks it: concepts, items, and prompts to one model.

    Concepts are those that scores rest on, without controls and untyped persons; of StereoSet its terms. A model that
    answers alike each time is asked each order once; ``prompts, once`` says how many prompts that makes. A benchmark
    whose data is not here has one row without a plan.
    """
    params = read_params(root)
    rows = []
    for benchmark, languages in params.benchmarks.items():
        found = items(root, benchmark)
        for language in languages:
            facts = {"benchmark": benchmark, "language": language, **_counts(found.filter(language=language))}
            plans = [
                facts | {"plan": plan, **_prompts(params, found, benchmark, language, plan)} for plan in params.plans
            ]
            rows += [row for row in plans if row["prompts"]] or [
                facts | {"plan": None, "prompts": 0, "prompts, once": 0}
            ]
    return pl.DataFrame(rows, schema_overrides={"plan": pl.String})


def _counts(own: pl.DataFrame) -> dict[str, int]:
    scored = own.filter(
        pl.col("domain").replace_strict(DOMAINS).is_in([Kind.CHOICE, Kind.PAIR, Kind.SENTENCE, Kind.TEXT])
    )
    return {"concepts": scored["target"].n_unique(), "items": own["item_id"].n_unique()}


def _prompts(params: Params, found: pl.DataFrame, benchmark: str, language: str, plan: str) -> dict[str, int]:
    return {
        name: _asked(params, found, benchmark, language, plan, once)
        for name, once in (("prompts", False), ("prompts, once", True))
    }


def _asked(params: Params, found: pl.DataFrame, benchmark: str, language: str, name: str, each_order_once: bool) -> int:
    """How many prompts the plan ``name`` asks of ``benchmark``, whether or not the plan itself names that benchmark."""
    plan = params.plans[name]
    entry = Entry(
        opened=datetime.now(UTC),
        plan=name,
        benchmarks=(benchmark,),
        languages=(language,),
        protocols=tuple(plan.protocols),
        styles=tuple(plan.styles),
        epochs=plan.epochs,
        each_order_once=each_order_once,
        limit=None,
    )
    protocols = [params.protocols[p] for p in plan.protocols if params.fits(benchmark, language, p)]
    return sum(len(c) for protocol in protocols for c in expected(found, language, protocol, entry))
