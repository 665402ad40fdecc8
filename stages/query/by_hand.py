"""Questions that a person puts to a model in its chat, and the answers brought back: the same questions as a program's.

A chat takes no instruction apart and tells no settings, so that an instruction is pasted before the question, and
the protocol hash is another than that of the same protocol asked through an API.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import polars as pl

from stages.datasets import lacking
from stages.entries import Entry
from stages.errors import UsageError
from stages.ledger import Run
from stages.params import Model, Params
from stages.query.asking import Asked
from stages.query.client_errors import failure_in
from stages.query.faults import redacted
from stages.query.journal import Row
from stages.query.prompts import Exchange, Prompt, short_hash
from stages.query.questions import Key, Question
from stages.query.reply import clean
from stages.query.rows import partition_facts, unanswered_row
from stages.query.sheets import Sheet, sheet, walked
from stages.requests import Request, frozen, requested_protocols
from stages.schema import ANSWERS, RUBRIC
from stages.store import Partition

WEB = "web"
"""The access route of what was asked by hand."""
BY_HAND = "by hand"
"""What is added to the name of its plan."""
_NOBODY = "by-hand"
"""Stands for the model while it is not known, or not in params.yaml yet."""
_UNSEEN = "the file has no reply to this question"


@dataclass(frozen=True)
class Given:
    """What a person brought back from one question."""

    reply: str
    asked_at: str | None = None
    """UTC, as answers have it; null where it was not noted."""

    @property
    def failure(self) -> str | None:
        """The kind of failure, where the reply is a client's message and no model's."""
        return failure_in(self.reply)


@dataclass(frozen=True)
class ByHand(Sheet):
    """A partition whose questions a person asks."""

    collector: str = ""

    def put(self, question: Question, before: Sequence[Exchange], drafts: Sequence[Row] = ()) -> Asked:
        asked = super().put(question, before, drafts)
        return replace(asked, prompt=pasted(asked.prompt, len(asked.before)))

    @cached_property
    def _constant(self) -> Row:
        facts = partition_facts(self.partition, self.model, self.protocol)
        return facts | {
            "protocol_hash": short_hash(f"{facts['protocol_hash']} {WEB}"),
            "params_requested": "{}",
            "access_route": WEB,
            "collector": self.collector,
        }

    def of(self, run: Run, model: Model, collector: str) -> "ByHand":
        """The same questions, put to ``model`` in ``run``."""
        part = replace(self.partition, run=run)
        return replace(self, partition=part, model=_chat(model), collector=collector)


def entry(params: Params, request: Request, now: datetime) -> Entry:
    """What ``request`` asks of a model in its chat; its plan's name says so, as no run that is asked goes on with it.

    :raises UsageError: a name is unknown, the epochs cannot be balanced, or a protocol cannot be asked by a person.
    """
    for name in requested_protocols(params, request):
        protocol = params.protocol(name)
        if protocol.scored:
            raise UsageError(f"Protocol {name} scores texts, which nobody can ask in a chat; name another --protocol.")
        if protocol.checked:
            raise UsageError(
                f"Protocol {name} checks each reply by program before it is asked again; name another --protocol."
            )
    if request.reads is None and RUBRIC in (
        request.benchmarks or params.plans[request.plan or params.default_plan].benchmarks
    ):
        raise UsageError(f"{RUBRIC} asks about texts, which people read in the table of: checkup export labels RUN.")
    found = frozen(_with_nobody(params), replace(request, model=_NOBODY), now)
    return found.model_copy(update={"plan": f"{found.plan} {BY_HAND}", "state": "sealed"})


def sheets(root: Path, params: Params, asked: Entry) -> list[ByHand]:
    """Every question of ``asked``, by partition, as params.yaml and the items have it today.

    :raises UsageError: a benchmark's source was not fetched.
    """
    for benchmark, language, _ in asked.asks:
        if problem := lacking(root, benchmark, language):
            raise UsageError(f"{problem}.")
    run = Run(_NOBODY, datetime.now(UTC).date().isoformat(), asked)
    found = [sheet(root, _with_nobody(params), Partition(run, *asking)) for asking in asked.asks]
    return [ByHand(each.partition, each.model, each.protocol, each.conversations) for each in found]


def _with_nobody(params: Params) -> Params:
    return params.model_copy(update={"models": {**params.models, _NOBODY: Model.model_validate({})}})


def _chat(model: Model) -> Model:
    """``model`` as it is met in a chat, whatever its own server takes."""
    return model.model_copy(update={"api": "chat", "constrain": None})


def pasted(prompt: Prompt, turns: int = 0) -> Prompt:
    """``prompt`` as a chat takes it, where ``turns`` were had already: instruction and examples stand before the first question."""
    beginning = len(prompt.messages) - 2 * turns
    together = "\n\n".join(message["content"] for message in prompt.messages[:beginning])
    opening = {"role": "user", "content": together}
    return replace(prompt, messages=(opening, *prompt.messages[beginning:]))


def to_paste(asked: Asked) -> str:
    """What is typed into the chat for ``asked``."""
    return asked.prompt.messages[-1]["content"]


def answers(sheet: ByHand, given: Mapping[Key, Given]) -> pl.DataFrame:
    """The answers of ``sheet``, rows of ``schema.ANSWERS``: one per question, also of those that ``given`` has none for."""
    said = {key: {"reply": clean(each.reply)} for key, each in given.items() if each.failure is None}
    rows = [_row(sheet, asked, given.get(asked.question.key)) for asked in walked(sheet, said)]
    return pl.DataFrame(rows, schema=ANSWERS.schema, orient="row")


def _row(sheet: ByHand, asked: Asked, given: Given | None) -> Row:
    beginning = f"{sheet.partition.run.date}T00:00:00.000+00:00"
    row = unanswered_row(sheet.facts(asked)) | {"asked_at": beginning, "failure_message": _UNSEEN}
    if given is None:
        return row
    row["asked_at"] = given.asked_at or beginning
    if given.failure:
        return row | {"failure": given.failure, "failure_message": redacted(given.reply, "")}
    return row | {"reply": clean(given.reply), "failure": None, "failure_message": None}
