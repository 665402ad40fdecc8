"""A partition with all its questions, put into words turn by turn; what its journal still lacks, and its file in the end."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from stages.datasets import lacking
from stages.errors import LedgerError
from stages.ledger import Run
from stages.params import Model, Params
from stages.protocols import Protocol
from stages.query.asking import Asked, Outcome, Thread
from stages.query.checking import objection
from stages.query.journal import Journal, Row, journal_path
from stages.query.prompts import Exchange, Prompt, render
from stages.query.questions import Conversation, Key, Question, expected
from stages.query.rows import partition_facts, question_facts, unanswered_row
from stages.rubric import items, read_run
from stages.schema import ANSWERS
from stages.store import Partition, exclusive, read_items, write

Drafts = Mapping[Key, Sequence[Row]]
"""Replies that were sent back, by question."""
NO_DRAFTS: Drafts = {}


@dataclass(frozen=True)
class Sheet:
    """One partition with all that is needed to ask for it."""

    partition: Partition
    model: Model
    protocol: Protocol
    conversations: Sequence[Conversation]

    def path(self, root: Path) -> Path:
        return self.partition.path(root, ANSWERS)

    @property
    def questions(self) -> Iterator[Question]:
        return (question for conversation in self.conversations for question in conversation)

    def put(self, question: Question, before: Sequence[Exchange], drafts: Sequence[Row] = ()) -> Asked:
        """``question`` in words, after the turns ``before`` it; and once more after each of ``drafts``, its replies so far."""
        turns, prompt = tuple(before), self._rendered(question, before)
        for draft in drafts:
            turns += (Exchange(prompt.asked, draft["reply"]),)
            prompt = self._rendered(question, turns, draft["reason"])
        return Asked(question, prompt, turns, tuple(drafts))

    def _rendered(self, question: Question, before: Sequence[Exchange], reason: str | None = None) -> Prompt:
        return render(question, self.protocol, self.partition.language, self.model.api, before, reason)

    def objection(self, outcome: Outcome) -> str | None:
        """Why the reply of ``outcome`` is sent back; null when it is the answer, as is whatever comes to a second asking."""
        if outcome.asked.drafts:
            return None
        return objection(self.protocol, self.partition.language, outcome.asked.question, outcome.reply)

    def facts(self, asked: Asked) -> Row:
        """The columns of an answer that are known before it comes."""
        return self._constant | question_facts(asked)

    @cached_property
    def _constant(self) -> Row:
        return partition_facts(self.partition, self.model, self.protocol)


def sheet(root: Path, params: Params, partition: Partition) -> Sheet:
    """Every question of ``partition``, as params.yaml and the items have it today.

    :raises LedgerError: its model or protocol is no longer in params.yaml, or there is nothing to ask.
    """
    run = partition.run
    there = {
        "model": (run.model, run.model in params.models),
        "protocol": (partition.protocol, _spoken(params, partition)),
    }
    for kind, (name, is_there) in there.items():
        if not is_there:
            raise LedgerError(
                f"Run {run.id} is of the {kind} {name}, which is no longer in params.yaml; put it back, or remove the "
                f"run with: checkup forget {run.id}."
            )
    model, protocol = run.entry.asked_as(params.models[run.model]), params.protocol(partition.protocol)
    conversations = expected(_items(root, partition), partition.language, protocol, partition.run.entry)
    if not conversations and (problem := lacking(root, partition.benchmark, partition.language)):
        raise LedgerError(f"Run {run.id} cannot be asked: {problem}, and then: dvc repro load.")
    if not conversations:
        raise LedgerError(
            f"Run {run.id} asks nothing as {partition}: {_nothing(run)}; remove it with: checkup forget {run.id}."
        )
    return Sheet(partition, model, protocol, conversations)


def _spoken(params: Params, partition: Partition) -> bool:
    """Whether its protocol, and all that joined it, is still there in its language."""
    return params.has(partition.protocol) and params.protocol(partition.protocol).speaks(partition.language)


def _items(root: Path, partition: Partition) -> pl.DataFrame:
    """The items that ``partition`` asks: those of its benchmark, or of a run that reads another, made of its texts."""
    run = partition.run
    if run.entry.reads:
        return items(root, read_run(root, run), partition.language)
    return read_items(root, partition.benchmark)


def _nothing(run: Run) -> str:
    if run.entry.reads:
        return f"{run.entry.reads} wrote no pair of texts that can be read"
    return "no item has its styles"


def walked(sheet: Sheet, answers: Mapping[Key, Row], drafts: Drafts = NO_DRAFTS) -> Iterator[Asked]:
    """Every question of ``sheet`` in words, each after the turns before it as far as ``answers`` has them.

    One that has no answer yet, but ``drafts``, is put as it is asked again.
    """
    for conversation in sheet.conversations:
        before: tuple[Exchange, ...] = ()
        for question in conversation:
            row = answers.get(question.key)
            asked = sheet.put(question, before, (drafts.get(question.key) if row is None else row.get("drafts")) or ())
            yield asked
            before = _after(asked, row["reply"] if row else None)


def threads(sheet: Sheet, answers: Mapping[Key, Row], drafts: Drafts = NO_DRAFTS) -> list[Thread]:
    """A thread per conversation of ``sheet`` that lacks an answer: it asks what ``answers`` has none for.

    Where a reply is kept in ``drafts`` before its thread is sent the outcome, the thread asks once more.
    """
    return [
        _thread(sheet, conversation, answers, drafts)
        for conversation in sheet.conversations
        if any(question.key not in answers for question in conversation)
    ]


def _thread(sheet: Sheet, conversation: Conversation, answers: Mapping[Key, Row], drafts: Drafts) -> Thread:
    before: tuple[Exchange, ...] = ()
    for question in conversation:
        if row := answers.get(question.key):
            asked, reply = sheet.put(question, before, row.get("drafts") or ()), row["reply"]
        else:
            asked, outcome = yield from _answered(sheet, question, before, drafts)
            if not outcome.final:
                return  # what follows rests on its answer
            reply = outcome.reply.text if outcome.reply else None
        before = _after(asked, reply)


def _answered(
    sheet: Sheet, question: Question, before: Sequence[Exchange], drafts: Drafts
) -> Generator[Asked, Outcome, tuple[Asked, Outcome]]:
    """Ask ``question`` until its reply is not kept as a draft; how it was asked last, and how that ended."""
    while True:
        so_far = drafts.get(question.key, ())
        asked = sheet.put(question, before, so_far)
        outcome = yield asked
        if len(drafts.get(question.key, ())) == len(so_far):
            return asked, outcome


def _after(asked: Asked, reply: str | None) -> tuple[Exchange, ...]:
    """The turns after ``asked`` was answered: none more where there was no text."""
    return (*asked.before, Exchange(asked.prompt.asked, reply)) if reply else asked.before


def lacks(root: Path, sheet: Sheet) -> list[Asked]:
    """The questions of ``sheet`` in words that have no answer yet; none once its file is there."""
    if sheet.path(root).exists():
        return []
    if not journal_path(sheet.path(root)).exists():
        return list(walked(sheet, {}))
    with Journal(journal_path(sheet.path(root))) as journal:
        asked = walked(sheet, journal.answers, journal.drafts)
        return [each for each in asked if each.question.key not in journal.answers]


def missing(root: Path, sheet: Sheet) -> int:
    """How many answers ``sheet`` still lacks; 0 once its file is there."""
    if sheet.path(root).exists():
        return 0
    if not journal_path(sheet.path(root)).exists():
        return sum(1 for _ in sheet.questions)
    with Journal(journal_path(sheet.path(root))) as journal:
        return sum(question.key not in journal.answers for question in sheet.questions)


def refuse_changed(sheet: Sheet, journal: Journal) -> None:
    """See to it that what is still to be asked is asked as the rest was.

    :raises LedgerError: items, wording, answer form, model name or sampling parameters changed since the run was begun.
    """
    today = {asked.question.key: _way(sheet.facts(asked)) for asked in walked(sheet, journal.answers)}
    for key, row in [*journal.answers.items(), *_pending(journal)]:
        if today.get(key) != _way(row):
            raise LedgerError(
                f"Run {sheet.partition.run.id} was begun with other items, wording or model settings than there are now, "
                f"as {key[0]} shows; restore params.yaml and the items with git, or begin anew with: checkup run --fresh."
            )


def _pending(journal: Journal) -> Iterator[tuple[Key, Row]]:
    """The first replies that were sent back and are not answered yet."""
    return ((key, drafts[0]) for key, drafts in journal.drafts.items() if key not in journal.answers)


def _way(row: Row) -> tuple[str, ...]:
    """How a question is asked: what must not change while a run is open."""
    return tuple(row[name] for name in ("protocol_hash", "prompt_hash", "requested_model", "params_requested"))


def finish(root: Path, sheet: Sheet, journal: Journal, seal: bool = False) -> bool:
    """Turn a complete journal into the partition's file; with ``seal`` also an incomplete one. Say whether it was done.

    The journal stays until DVC has the file: what was paid for is at no moment in one place that a command may clear.
    """
    if not seal and any(question.key not in journal.answers for question in sheet.questions):
        return False
    for asked in list(walked(sheet, journal.answers, journal.drafts)):
        key = asked.question.key
        if key not in journal.answers:
            journal.answer(journal.failures.get(key) or unanswered_row(sheet.facts(asked), asked.drafts))
    rows = pl.DataFrame(list(journal.answers.values()), schema=ANSWERS.schema, orient="row")
    with exclusive(root):
        write(sheet.path(root), ANSWERS, rows)
    return True
