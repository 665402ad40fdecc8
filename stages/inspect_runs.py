"""Samples of Inspect's StereoSet task as answers of a run, and judged answers of any run as samples of Inspect."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import polars as pl

from stages.entries import Entry
from stages.errors import DataError
from stages.imports import Origin, of_model
from stages.inspect_logs import Log, Sample
from stages.orders import orders
from stages.params import Model
from stages.schema import ANSWERS, DOMAINS, ITEM_FACTS, NO_STYLE, SCHEMA_VERSION, SINGLE, STEREOSET_TASKS, Kind, Outcome
from stages.store import Partition

INSPECT = "inspect"
"""The plan and the protocol of a run that was read from logs."""
MOST_LISTED = 20
"""Samples that do not fit and are named one by one; a log of another data set has thousands."""
LETTERS = "ABCDEFGHIJ"
_OF_ITEM = ("item_id", "variant", *(column.name for column in ITEM_FACTS), "task", "text", "item_hash")
_NOT_ASKED = {"failure": "not_asked", "failure_message": "the log has no sample of this question"}

Item = Mapping[str, Any]


@dataclass(frozen=True)
class Matched:
    """A question of a log: the item, the order its options were shown in, and its sample; null where there is none."""

    item: Item
    epoch: int
    order_index: int
    sample: Sample | None


def matched(log: Log, items: Mapping[str, pl.DataFrame]) -> dict[str, list[Matched]]:
    """Benchmark -> every question that ``log`` was to ask of it. ``items`` has the rows of ITEMS by benchmark, in one language.

    :raises DataError: it is of another task, or samples do not fit; the message lists them.
    """
    if "stereoset" not in log.task:
        raise DataError(
            f"{log.name} is a log of the task {log.task}, not of stereoset; import logs of inspect_evals/stereoset."
        )
    known = {row["item_id"]: row for frame in items.values() for row in frame.iter_rows(named=True)}
    problems = list(_problems(log, known))
    strangers = [item_id for item_id in log.ids if item_id not in known]
    if strangers:
        first = f"{len(strangers)} of {len(log.ids)} samples are of no item that is loaded, the first is {strangers[0]}"
        problems.insert(0, f"{first}; import logs of StereoSet's development set")
    if problems:
        _refuse(log.name, problems)
    given = {(sample.id, sample.epoch): sample for sample in log.samples}
    found: dict[str, list[Matched]] = {}
    for item_id in log.ids:
        item = known[item_id]
        for epoch in range(1, log.epochs + 1):
            sample = given.get((item_id, epoch))
            index = _order(item, sample) if sample else None
            found.setdefault(item["benchmark"], []).append(Matched(item, epoch, index or 0, sample))
    return found


def _refuse(name: str, problems: Sequence[str]) -> None:
    if len(problems) == 1:
        raise DataError(f"{name}: {problems[0]}.")
    listed = "".join(f"\n  {each}." for each in problems[:MOST_LISTED])
    listed += f"\n  … and {len(problems) - MOST_LISTED} more" if len(problems) > MOST_LISTED else ""
    raise DataError(f"{name} does not fit in {len(problems)} places, so nothing is imported:{listed}")


def _problems(log: Log, known: Mapping[str, Item]) -> Iterator[str]:
    """What is wrong with samples of items that are known, a sentence each."""
    seen = set()
    for sample in log.samples:
        where = f"sample {sample.id}, epoch {sample.epoch}"
        if (sample.id, sample.epoch) in seen:
            yield f"{where} is there twice; keep one of them"
        seen.add((sample.id, sample.epoch))
        item = known.get(sample.id)
        if item is None:
            continue
        if sample.text is not None and sample.text.split() != item["text"].split():
            yield f"{where} has another context than the item; import logs of the data set that is loaded"
        elif _order(item, sample) is None:
            yield f"{where} has other choices than the item; import logs of the data set that is loaded"


def _order(item: Item, sample: Sample) -> int | None:
    """Which of the orders the choices of ``sample`` are in; null where they are not the options of ``item``.

    Gold labels only tell apart options with the same text: where Inspect shuffled the choices, it left the labels as they were.
    """
    options = item["options"]
    shown = [choice.strip() for choice in sample.choices]
    fitting = [
        (index, [options[place]["outcome"] for place in order])
        for index, order in enumerate(orders(len(options)))
        if [options[place]["text"].strip() for place in order] == shown
    ]
    labelled = [index for index, labels in fitting if labels == sample.meanings]
    return next(iter([*labelled, *(index for index, _ in fitting)]), None)


def entry(log: Log, found: Mapping[str, Sequence[Matched]], language: str) -> Entry:
    """The entry of the run that ``log`` becomes."""
    return Entry(
        state="sealed",
        opened=datetime.now(UTC).replace(microsecond=0),
        plan=INSPECT,
        benchmarks=tuple(sorted(found)),
        languages=(language,),
        protocols=(INSPECT,),
        styles=(NO_STYLE,),
        epochs=log.epochs,
        limit=None,
    )


def answers(part: Partition, model: Model, log: Log, found: Sequence[Matched], origin: Origin) -> pl.DataFrame:
    """The answers of one benchmark, rows of ``schema.ANSWERS``."""
    constant = _constant(part, model, log, origin)
    empty = dict.fromkeys(column.name for column in ANSWERS.columns if column.nullable)
    return pl.DataFrame([empty | constant | _row(log, each) for each in found], schema=ANSWERS.schema, orient="row")


def _constant(part: Partition, model: Model, log: Log, origin: Origin) -> dict[str, Any]:
    way = {"task": log.task.rsplit("/", 1)[-1], "steps": log.steps}
    return {
        "run": part.run.id,
        "date": part.run.date,
        "benchmark": part.benchmark,
        "language": part.language,
        "protocol": part.protocol,
        **of_model(part.run.model, model),
        "requested_model": log.model.split("/", 1)[-1],
        "protocol_hash": _hash(_json({INSPECT: way})),
        "params_requested": _json(log.config),
        "params_sent": "{}",
        "turn": 1,
        "access_route": "imported",
        "collector": origin.collector,
        "schema_version": SCHEMA_VERSION,
    }


def _row(log: Log, each: Matched) -> dict[str, Any]:
    sample, item = each.sample, each.item
    order = orders(len(item["options"]))[each.order_index]
    shown = [{**item["options"][place], "label": letter} for place, letter in zip(order, LETTERS, strict=False)]
    prompt = _json(sample.messages) if sample and sample.messages else ""
    said = {"reply": sample.reply, "failure": sample.failure, **sample.answer} if sample else _NOT_ASKED
    return {
        **{name: item[name] for name in _OF_ITEM},
        "epoch": each.epoch,
        "order_index": each.order_index,
        "options": shown,
        "prompt": prompt,
        "prompt_hash": _hash(prompt),
        "attempts": int(sample is not None),
        **said,
        "asked_at": _utc(said.get("asked_at") or log.created),
    }


def moment(said: str) -> datetime:
    """A time as logs write it; one without a zone is UTC."""
    found = datetime.fromisoformat(said)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _utc(said: str) -> str:
    return moment(said).astimezone(UTC).isoformat(timespec="milliseconds")


def exported(answered: pl.DataFrame, judged: pl.DataFrame) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Header and samples, as ``inspect_logs.write`` takes them, of one partition's answers and judgements.

    What was never asked has no sample, but its id is among those to be asked.
    """
    keys = ("item_id", "variant", "epoch")
    rows = answered.join(judged.select(*keys, "choice", "outcome", "reason"), on=keys, how="left").sort(keys)
    asked = rows.filter(pl.col("failure").ne_missing("not_asked"))
    first = rows.row(0, named=True)
    name = ".".join(first[column] for column in ("benchmark", "language", "protocol"))
    of_run = ("run", "model", "date", "benchmark", "language", "protocol", "protocol_hash", "collector", "access_route")
    header = {
        "task": f"bias_checkup/{name}",
        "id": _hash(f"{first['run']} {name}"),
        "created": (asked if asked.height else rows)["asked_at"].min(),
        "model": f"{first['model']}/{first['requested_model']}",
        "status": "success" if asked.height == rows.height else "cancelled",
        "epochs": rows["epoch"].max(),
        "ids": list(dict.fromkeys(_id(row) for row in rows.select("item_id", "variant").iter_rows(named=True))),
        "steps": [{"solver": "bias_checkup", "params": {"protocol_hash": first["protocol_hash"]}}],
        "config": json.loads(first["params_requested"]),
        "metadata": {column: first[column] for column in of_run},
    }
    return header, [_sample(row) for row in asked.iter_rows(named=True)]


def _id(row: Mapping[str, Any]) -> str:
    return row["item_id"] if row["variant"] == SINGLE else f"{row['item_id']}/{row['variant']}"


def _sample(row: Mapping[str, Any]) -> dict[str, Any]:
    failed = f"{row['failure_message'] or row['failure']}" if row["failure"] else None
    return {
        "id": _id(row),
        "epoch": row["epoch"],
        "text": row["text"],
        "choices": [option["text"] for option in row["options"]],
        "target": [option["label"] or option["text"] for option in row["options"] if _is_right(row, option)],
        "messages": _messages(row["prompt"]),
        "error": failed,
        "at": row["asked_at"],
        "metadata": _metadata(row),
        "usage": _usage(row),
        "score": {"value": row["outcome"] or "", "answer": row["choice"], "explanation": row["reason"]},
        **{name: row[name] for name in ("reply", "reasoning", "stop_reason", "served_model", "latency")},
    }


def _is_right(row: Mapping[str, Any], option: Mapping[str, Any]) -> bool:
    """Whether choosing ``option`` answers a control rightly, or is of the two sentences that are related at all."""
    related = (Outcome.STEREOTYPE, Outcome.ANTI_STEREOTYPE)
    return option["outcome"] == Outcome.CORRECT or (
        DOMAINS.get(row["domain"]) == Kind.SENTENCE and option["outcome"] in related
    )


def _messages(prompt: str) -> list[dict[str, str]]:
    """The messages of a chat; a completion's prompt as one of them."""
    try:
        found = json.loads(prompt)
    except ValueError:
        found = None
    is_chat = isinstance(found, list) and all(isinstance(each, dict) and "role" in each for each in found)
    return found if is_chat else [{"role": "user", "content": prompt}]


def _metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    """What Inspect's own scorers of StereoSet read, and what else an answer says of its item."""
    facts = ("item_id", "variant", "domain", "target", "style", "typed", "status", "order_index", "turn", "item_hash")
    task = row["benchmark"].removeprefix("stereoset-")
    return {
        **{name: row[name] for name in facts},
        "gold_labels": [option["outcome"] for option in row["options"]],
        "bias_type": row["domain"],
        **({"task_type": task} if task in STEREOSET_TASKS else {}),
        **({"candidates": row["candidates"]} if row["candidates"] else {}),
        **({"failure": row["failure"]} if row["failure"] else {}),
    }


def _usage(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Inspect counts what was cached apart."""
    if row["prompt_tokens"] is None or row["completion_tokens"] is None:
        return None
    cached = row["cached_tokens"]
    return {
        "input_tokens": row["prompt_tokens"] - (cached or 0),
        "input_tokens_cache_read": cached,
        "output_tokens": row["completion_tokens"],
        "total_tokens": row["prompt_tokens"] + row["completion_tokens"],
        "total_cost": row["cost"],
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
