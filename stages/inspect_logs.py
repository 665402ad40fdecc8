"""Logs of Inspect: read and written with its own classes, and known nowhere else. ``inspect_ai`` is an extra of the project."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from stages.errors import DataError, UsageError

SUFFIXES = (".eval", ".json")
ENDED = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter"}
"""Our stop reason -> theirs."""
_ENDED_HERE = {theirs: ours for ours, theirs in ENDED.items()} | {"model_length": "length"}
NO_OUTPUT, ERROR, INVALIDATED = "no_output", "inspect_error", "invalidated"
"""Failures of a sample: nothing came back, an error ended it, somebody took it back."""
SCORER = "bias_checkup"


@dataclass(frozen=True)
class Sample:
    """One sample of a log, in the terms of answers; what the log does not tell is null."""

    id: str
    epoch: int
    text: str | None
    choices: list[str]
    meanings: list[str]
    """The gold labels of ``choices``, where the log has them."""
    messages: list[dict[str, str]]
    """Those before the reply."""
    reply: str | None
    failure: str | None
    answer: dict[str, Any]
    """Further columns of ``schema.ANSWERS``."""


@dataclass(frozen=True)
class Log:
    """A log with what its samples have in common."""

    name: str
    task: str
    model: str
    status: str
    """success, or how it ended before: started, cancelled, error."""
    created: str
    ids: list[str]
    """Of every sample that was to be asked, where the log tells; else of those there are."""
    epochs: int
    language: str | None
    """Where it was exported from here; null elsewhere."""
    steps: list[dict[str, Any]]
    config: dict[str, Any]
    samples: list[Sample] = field(default_factory=list)


def inspect_log() -> ModuleType:
    """``inspect_ai.log``.

    :raises UsageError: it is not installed.
    """
    try:
        from inspect_ai import log
    except ImportError as error:
        raise UsageError(
            "Logs of Inspect need the library inspect-ai, which is not installed; install the project's extra inspect as "
            "docs/collecting.md says."
        ) from error
    return log  # type: ignore[no-any-return]


def read(path: Path, hide: Callable[[str], str]) -> Log:
    """The log in ``path``; ``hide`` takes keys out of the messages of errors.

    :raises UsageError: inspect-ai is not installed, or there is no such file.
    :raises DataError: it is no log of Inspect.
    """
    reader = inspect_log()
    if path.suffix not in SUFFIXES:
        raise UsageError(
            f"{path.name} is no log of Inspect by its name; name a file that ends in {' or '.join(SUFFIXES)}."
        )
    if not path.is_file():
        raise UsageError(f"{path} is not there; name a log of Inspect.")
    try:
        found = reader.read_eval_log(path, resolve_attachments=True)
    except Exception as error:  # whatever zip, JSON and pydantic say of a file that is none
        said = str(error).strip().partition("\n")[0][:120].rstrip(".")
        raise DataError(f"{path.name} cannot be read as a log of Inspect: {said}; take another copy of it.") from error
    return _log(path.name, found, hide)


def _log(name: str, found: Any, hide: Callable[[str], str]) -> Log:
    samples = [_sample(sample, hide) for sample in found.samples or []]
    config = found.plan.config.model_dump(mode="json", exclude_none=True)
    return Log(
        name=name,
        task=found.eval.task,
        model=found.eval.model,
        status=found.status,
        created=found.eval.created,
        ids=list(dict.fromkeys([*map(str, found.eval.dataset.sample_ids or []), *(each.id for each in samples)])),
        epochs=max([found.eval.config.epochs or 1, *(each.epoch for each in samples)]),
        language=(found.eval.metadata or {}).get("language"),
        steps=[{"solver": step.solver, "params": step.params} for step in found.plan.steps],
        config=found.eval.model_generate_config.model_dump(mode="json", exclude_none=True) | config,
        samples=samples,
    )


def _sample(sample: Any, hide: Callable[[str], str]) -> Sample:
    failure, said = _failure(sample)
    metadata, output = sample.metadata, sample.output
    choice = None if failure else output.choices[0]
    return Sample(
        id=str(sample.id),
        epoch=sample.epoch,
        text=sample.input if isinstance(sample.input, str) else None,
        choices=list(sample.choices or []),
        meanings=[str(each) for each in metadata.get("gold_labels") or []],
        messages=_before_reply(sample.messages),
        reply=choice.message.text if choice else None,
        failure=failure,
        answer={
            "failure_message": hide(said) if failure else None,
            "reasoning": _reasoning(choice.message) if choice else None,
            "stop_reason": _ENDED_HERE.get(choice.stop_reason) if choice else None,
            "native_stop_reason": choice.stop_reason if choice else None,
            "served_model": (output.model or None) if choice else None,
            "latency": _finite(output.time),
            "asked_at": sample.completed_at or sample.started_at,
            **_usage(output.usage),
        },
    )


def _failure(sample: Any) -> tuple[str | None, str]:
    """The kind of failure of ``sample``, null where it has an output, and what is said of it."""
    if sample.invalidation:
        return INVALIDATED, "somebody took the sample back"
    if sample.error:
        return str(sample.metadata.get("failure") or ERROR), sample.error.message
    if not sample.output.choices:
        return NO_OUTPUT, sample.output.error or "the sample has no output"
    return None, ""


def _before_reply(messages: Sequence[Any]) -> list[dict[str, str]]:
    replies = [place for place, message in enumerate(messages) if message.role == "assistant"]
    asked = messages[: replies[-1]] if replies else messages
    return [{"role": message.role, "content": message.text} for message in asked]


def _reasoning(message: Any) -> str | None:
    parts = [] if isinstance(message.content, str) else message.content
    return "\n".join(part.reasoning for part in parts if part.type == "reasoning") or None


def _usage(usage: Any) -> dict[str, Any]:
    if usage is None:
        return dict.fromkeys(("prompt_tokens", "completion_tokens", "cached_tokens", "cost"))
    cached = usage.input_tokens_cache_read
    return {
        "prompt_tokens": usage.input_tokens + (cached or 0) + (usage.input_tokens_cache_write or 0),
        "completion_tokens": usage.output_tokens,
        "cached_tokens": cached,
        "cost": _finite(usage.total_cost),
    }


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def write(path: Path, header: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write ``rows`` (judged answers, as ``inspect_runs.exported`` makes them) as a log to ``path``.

    ``header`` has ``task``, ``id``, ``created``, ``model``, ``status``, ``epochs``, ``ids``, ``steps``, ``config``, ``metadata``.

    :raises UsageError: inspect-ai is not installed.
    """
    lib = inspect_log()
    outcomes = [row["score"]["value"] for row in rows]
    shares = {each: 100 * outcomes.count(each) / len(outcomes) for each in sorted(set(outcomes))}
    metrics = {name: lib.EvalMetric(name=name, value=share) for name, share in shares.items()}
    score = lib.EvalScore(name="outcome", scorer=SCORER, scored_samples=len(rows), metrics=metrics)
    log = lib.EvalLog(
        status=header["status"],
        eval=_spec(lib, header),
        plan=lib.EvalPlan(
            steps=[lib.EvalPlanStep(**step) for step in header["steps"]], config=_config(header["config"])
        ),
        results=lib.EvalResults(
            total_samples=len(header["ids"]) * header["epochs"],
            completed_samples=sum(row["error"] is None for row in rows),
            scores=[score],
        ),
        stats=lib.EvalStats(started_at=header["created"], completed_at=max((row["at"] for row in rows), default="")),
        samples=[_eval_sample(lib, row) for row in rows],
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    lib.write_eval_log(log, path)


def _spec(lib: ModuleType, header: Mapping[str, Any]) -> Any:
    ids = header["ids"]
    return lib.EvalSpec(
        eval_id=header["id"],
        run_id=header["id"],
        task_id=header["id"],
        created=header["created"],
        task=header["task"],
        model=header["model"],
        dataset=lib.EvalDataset(name=header["task"], samples=len(ids), sample_ids=ids, shuffled=False),
        config=lib.EvalConfig(epochs=header["epochs"]),
        metadata=header["metadata"],
    )


def _config(known: Mapping[str, Any]) -> Any:
    """What Inspect knows of the sampling parameters."""
    from inspect_ai.model import GenerateConfig

    return GenerateConfig(**{name: value for name, value in known.items() if name in GenerateConfig.model_fields})


def _eval_sample(lib: ModuleType, row: Mapping[str, Any]) -> Any:
    from inspect_ai.scorer import Score

    output, reply = _output(row)
    return lib.EvalSample(
        id=row["id"],
        epoch=row["epoch"],
        input=row["text"],
        choices=row["choices"] or None,  # a text is chosen among none
        target=row["target"],
        messages=[*map(_message, row["messages"]), *reply],
        output=output,
        scores={SCORER: Score(**row["score"])},
        metadata=row["metadata"],
        completed_at=row["at"],
        error=row["error"] and lib.EvalError(message=row["error"], traceback="", traceback_ansi=""),
    )


def _message(said: Mapping[str, str]) -> Any:
    from inspect_ai import model

    kinds = {"system": model.ChatMessageSystem, "user": model.ChatMessageUser, "assistant": model.ChatMessageAssistant}
    return kinds[said["role"]](content=said["content"])


def _output(row: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """The output of a sample and the message with its reply, where it has one."""
    from inspect_ai import model

    if row["error"] or row["reply"] is None:
        return model.ModelOutput(model=row["served_model"] or ""), []
    text = row["reply"]
    thought = row["reasoning"]
    content = [model.ContentReasoning(reasoning=thought), model.ContentText(text=text)] if thought else text
    message = model.ChatMessageAssistant(content=content, model=row["served_model"], source="generate")
    ended = model.ChatCompletionChoice(message=message, stop_reason=ENDED.get(row["stop_reason"] or "", "unknown"))
    usage = model.ModelUsage(**row["usage"]) if row["usage"] else None
    output = model.ModelOutput(model=row["served_model"] or "", choices=[ended], usage=usage, time=row["latency"])
    return output, [message]
