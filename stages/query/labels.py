"""Texts that people read: the sheet in which they label them, and what they wrote as answers to the rubric.

A row of the sheet is a masked text with the questions that a judge model gets, their answers in the same balanced orders. Its id is a
hash, so that neither who the text is about nor who wrote it can be read from it.
"""

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl

from stages.cells import Cells, Line
from stages.entries import Entry
from stages.errors import DataError, UsageError
from stages.ledger import Run, read_ledger, runs
from stages.params import Model, Params
from stages.query.asking import Asked
from stages.query.journal import Row
from stages.query.prompts import Prompt, short_hash
from stages.query.questions import Key, Question, expected
from stages.query.rows import partition_facts, question_facts, unanswered_row
from stages.rubric import TEXT, id_of, items, texts, written
from stages.schema import ANSWERS, DOMAINS, NO_STYLE, OPEN, RUBRIC, Kind
from stages.store import Partition, partitions

PERSON = "person"
"""The access route of labels, and the beginning of the key that their giver goes by."""
PROTOCOL = "rubric"
PLAN = "rubric by people"
SOMEBODY = Model.model_validate({})
"""Stands for the model that a person is none of."""
QUESTIONS = [domain for domain, kind in DOMAINS.items() if kind is Kind.RUBRIC]
HEADINGS = {
    "id": ("id", "编号"),
    "text": ("text", "文字"),
    "agency_asked": ("agency: the question", "侧重：问题"),
    "agency": ("agency", "侧重"),
    "ability_asked": ("ability: the question", "原因：问题"),
    "ability": ("ability", "原因"),
    "praise_asked": ("praise: the question", "评价：问题"),
    "praise": ("praise", "评价"),
    "note": ("note", "备注"),
}
"""Column -> its heading in English and in Chinese."""
SPOKEN = ("en", "zh")
_HOW = {"en": "Write {letters}; leave it blank if you cannot say.", "zh": "请填 {letters}；说不准就留空。"}
Frames = Callable[[Run, Model], Mapping[Partition, pl.DataFrame]]
"""The answers of a person, once the run is known that they are of."""
Labels = dict[str, dict[Key, str]]
"""Language -> question of the rubric -> the letter that was written."""


@dataclass(frozen=True)
class Sheet:
    """Every question about the texts of one run in one language, as a person gets them."""

    read: Run
    language: str
    rows: pl.DataFrame
    """``rubric.texts`` with ``id``, the opaque one."""
    questions: Mapping[Key, Question]

    def asked(self, row: Row) -> dict[str, Question]:
        """The questions about the text of ``row``, by name."""
        ids = {name: id_of(row["item_id"], row["epoch"], row["protocol"], name) for name in QUESTIONS}
        return {name: self.questions[item_id, row["variant"], 1] for name, item_id in ids.items()}


def entry(run: Run, languages: tuple[str, ...]) -> Entry:
    """What a person is asked who reads ``run``."""
    return Entry(
        state="sealed",
        opened=datetime.now(UTC).replace(microsecond=0),
        plan=PLAN,
        benchmarks=(RUBRIC,),
        languages=languages,
        protocols=(PROTOCOL,),
        styles=(NO_STYLE,),
        epochs=1,
        limit=None,
        reads=run.id,
    )


def sheet(root: Path, params: Params, run: Run, language: str) -> Sheet:
    """The texts of ``run`` with their questions.

    :raises DataError: the rubric was not loaded, or the texts are not here.
    """
    found = texts(root, run, language)
    protocol = params.protocol(PROTOCOL)
    asked = expected(items(root, run, language), language, protocol, entry(run, (language,)))
    questions = {question.key: question for conversation in asked for question in conversation}
    return Sheet(run, language, _with_ids(found, run, language), questions)


def _with_ids(found: pl.DataFrame, run: Run, language: str) -> pl.DataFrame:
    ids = [opaque(run.id, language, *row) for row in found.select(TEXT).iter_rows()]
    return found.with_columns(pl.Series("id", ids, pl.String))


def opaque(*parts: Any) -> str:
    return sha256("\n".join(map(str, parts)).encode()).hexdigest()[:12]


def blank(found: Sheet, n: int | None, seed: int, headings: str) -> pl.DataFrame:
    """The table to fill in, in an order that says nothing: of each group of texts ``n``, as many about women as about men."""
    rows = _drawn(found.rows, n, seed).sort("id").iter_rows(named=True)
    place = SPOKEN.index(headings)
    cells = [_cells(found, row) for row in rows]
    named = {name: called[place] for name, called in HEADINGS.items()}
    return pl.DataFrame(cells, schema=dict.fromkeys(HEADINGS, pl.String)).rename(named)


def _drawn(rows: pl.DataFrame, n: int | None, seed: int) -> pl.DataFrame:
    """Both sides of as many pairs as make ``n`` texts of each domain, drawn by ``seed``."""
    if n is None:
        return rows
    pair = ("domain", "protocol", "item_id", "epoch")
    pairs = rows.select(pair).unique()
    drawn = pl.Series("drawn", [opaque(seed, *row) for row in pairs.iter_rows()], pl.String)
    kept = pairs.with_columns(drawn).sort("drawn").group_by("domain", maintain_order=True).head(max(1, n // 2))
    return rows.join(kept, on=pair, how="semi")


def _cells(found: Sheet, row: Row) -> dict[str, str]:
    asked = {f"{name}_asked": shown(question, found.language) for name, question in found.asked(row).items()}
    return {"id": row["id"], "text": row["text"], **asked}


def shown(question: Question, language: str) -> str:
    """A question as a person reads it, without its text."""
    letters = ", ".join(str(option["label"]) for option in question.options)
    listed = [f"{option['label']}. {option['text']}" for option in question.options]
    asked = question.item["text"].rpartition("\n\n")[2]
    return "\n".join([asked, *listed, _HOW[language].format(letters=letters)])


def whose(root: Path, cells: Cells, name: str, reads: str | None) -> Run:
    """The run whose texts the rows of ``cells`` are, or the one that ``reads`` names.

    :raises UsageError: it is none of the ledger's.
    """
    column = _headed(cells, name)["id"]
    ids = [line.cells[column] for line in cells.lines]
    wrote = [run for run in runs(read_ledger(root)) if OPEN in run.entry.benchmarks and reads in (None, run.id)]
    here = [(run, language) for run in reversed(wrote) for language in languages(run) if _here(root, run)]
    for run, language in here:
        if _with_ids(written(root, run, language), run, language)["id"].is_in(ids).any():
            return run
    said = f"of run {reads}" if reads else "that any run wrote whose answers are here"
    raise UsageError(f"The rows of {name} are about no texts {said}; export them anew with: checkup export labels RUN.")


def _here(root: Path, run: Run) -> bool:
    """Whether all texts of ``run`` are: those of an open one may not have been asked for yet."""
    return all(part.path(root, ANSWERS).exists() for part in partitions(run) if part.benchmark == OPEN)


def languages(run: Run) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.language for part in partitions(run) if part.benchmark == OPEN))


def filled(cells: Cells, name: str, sheets: list[Sheet]) -> Labels:
    """The letters written into ``cells``; a blank cell is no label.

    :raises UsageError: a column is missing.
    :raises DataError: a cell does not fit; the message names line and column.
    """
    headed = _headed(cells, name)
    known = {row["id"]: (each, row) for each in sheets for row in each.rows.iter_rows(named=True)}
    found: Labels = {each.language: {} for each in sheets}
    seen: dict[str, int] = {}
    for line in cells.lines:
        own = line.cells[headed["id"]]
        if own not in known:
            raise DataError(f"{name}, line {line.number}: {own!r} is the id of no text; leave the column as it was.")
        if own in seen:
            raise DataError(f"{name}, line {line.number}: the text of line {seen[own]} is there again; keep one row.")
        seen[own] = line.number
        of, row = known[own]
        _refuse_other(line, headed, name, row["text"])
        for question, letter in _written(line, headed, name, of.asked(row)):
            found[of.language][question.key] = letter
    return {language: labels for language, labels in found.items() if labels}


def _headed(cells: Cells, name: str) -> dict[str, str]:
    """Column -> its heading in the file.

    :raises UsageError: the ids or a question are missing.
    """
    headed = {column: own for column, called in HEADINGS.items() for own in cells.columns if own.lower() in called}
    missing = next((column for column in ("id", *QUESTIONS) if column not in headed), None)
    if missing:
        raise UsageError(f"{name} has no column {missing!r}; label the table of: checkup export labels RUN.")
    return headed


def _refuse_other(line: Line, headed: Mapping[str, str], name: str, text: str) -> None:
    """:raises DataError: the row's text is not what a judge model would read today."""
    column = headed.get("text")
    if column and line.cells[column] and line.cells[column].split() != text.split():
        raise DataError(
            f"{name}, line {line.number}: the text is another than the masked one of today; label a table exported anew."
        )


def _written(
    line: Line, headed: Mapping[str, str], name: str, asked: dict[str, Question]
) -> Iterator[tuple[Question, str]]:
    for column, question in asked.items():
        said = unicodedata.normalize("NFKC", line.cells[headed[column]]).strip().rstrip(".").upper()
        letters = [option["label"] for option in question.options]
        if said and said not in letters:
            raise DataError(
                f"{name}, line {line.number}, column {headed[column]!r}: {said!r} is none of {', '.join(letters)}; write "
                "one of them, or leave it blank."
            )
        if said:
            yield question, said


def answers(found: Sheet, run: Run, collector: str, labels: Mapping[Key, str], params: Params) -> pl.DataFrame:
    """``labels`` as answers of ``run``, rows of ``schema.ANSWERS``: what a person left blank has none."""
    part = Partition(run, RUBRIC, found.language, PROTOCOL)
    facts = partition_facts(part, SOMEBODY, params.protocol(PROTOCOL))
    facts |= {
        "protocol_hash": short_hash(f"{facts['protocol_hash']} {PERSON}"),
        "params_requested": "{}",
        "access_route": PERSON,
        "collector": collector,
    }
    at = {"asked_at": f"{run.date}T00:00:00.000+00:00", "failure": None, "failure_message": None}
    rows = [
        unanswered_row(facts | question_facts(_put(found.questions[key], found.language))) | at | {"reply": letter}
        for key, letter in labels.items()
    ]
    return pl.DataFrame(rows, schema=ANSWERS.schema, orient="row")


def _put(question: Question, language: str) -> Asked:
    """``question`` as it stood in the table."""
    text = question.item["text"].rpartition("\n\n")[0]
    content = f"{text}\n\n{shown(question, language)}"
    return Asked(question, Prompt(content, messages=({"role": "user", "content": content},)))
