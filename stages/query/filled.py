"""What people filled in -> answers by question. Every wrong cell is named by line and column, and all are named at once."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from stages.cells import Cells, Line
from stages.entries import Asking, Entry, every
from stages.errors import DataError
from stages.params import Params
from stages.query.asking import Asked
from stages.query.by_hand import ByHand, Given, entry, sheets, to_paste
from stages.query.questions import Key
from stages.query.sheets import walked
from stages.query.template import HEADINGS, PARTS, plan_read
from stages.requests import Request

LONGEST = 80
"""Characters of a cell that a sentence shows."""
Placed = tuple[Line, Asking, Key]
"""A row, and the question that it says it is about."""
_TIME = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})[ T]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}:\d{2})?"
)


@dataclass
class Filled:
    """A filled-in table, and what was found wrong in it so far."""

    cells: Cells
    name: str
    headed: Mapping[str, str]
    """Column -> its heading in the file."""
    problems: list[tuple[int, str]] = field(default_factory=list)

    def of(self, line: Line, column: str) -> str:
        """The cell of ``column``; empty where the file has no such column."""
        return line.cells.get(self.headed.get(column, ""), "")

    def refuse(self, line: Line, column: str, says: str) -> None:
        self.problems.append((line.number, f"line {line.number}, column {self.headed.get(column, column)}: {says}"))

    def settle(self) -> None:
        """:raises DataError: something is wrong; the message lists all of it, a sentence a line."""
        listed = [says for _, says in sorted(self.problems)]
        if len(listed) == 1:
            raise DataError(f"{self.name}, {listed[0]}.")
        if listed:
            rows = "".join(f"\n  {says}." for says in listed)
            raise DataError(f"{self.name} is wrong in {len(listed)} places; correct them and import it again:{rows}")


@dataclass(frozen=True)
class Failed:
    """A reply that is a client's error and no model's text."""

    line: int
    kind: str
    said: str


@dataclass(frozen=True)
class Collected:
    """What a filled-in table brings: the entry of a run, and what was given for each of its partitions."""

    entry: Entry
    given: list[tuple[ByHand, dict[Key, Given]]]
    failed: list[Failed]

    @property
    def replies(self) -> int:
        """Cells with a reply, those of errors too."""
        return sum(len(given) for _, given in self.given)


def collected(root: Path, params: Params, cells: Cells, name: str, wanted: Request, now: datetime) -> Collected:
    """The answers in ``cells`` of the file ``name``; ``wanted`` says plan, epochs, limit and seed where the file does not.

    :raises DataError: a column is missing, or cells do not fit; the message lists them all.
    :raises UsageError: the plan does not fit, or a benchmark's source was not fetched.
    """
    filled = Filled(cells, name, _headed(cells, name))
    placed = list(_placed(filled, params))
    request = _planned(filled, wanted)
    if not placed or request is None:
        filled.settle()
        raise DataError(f"{name} has no row under its heading; begin with: checkup export questions.")
    asked = _entry(params, request, [asking for _, asking, _ in placed], now)
    found = {_asking(sheet): sheet for sheet in sheets(root, params, asked)}
    zone = ZoneInfo(params.timezone)
    given = {asking: _given(filled, sheet, _own(placed, asking), zone) for asking, sheet in found.items()}
    filled.settle()
    failed = [_failed(line, each) for line, asking, key in placed if (each := given[asking].get(key)) and each.failure]
    return Collected(asked, [(sheet, given[asking]) for asking, sheet in found.items()], failed)


def _failed(line: Line, given: Given) -> Failed:
    return Failed(line.number, given.failure or "", given.reply)


def _asking(sheet: ByHand) -> Asking:
    return sheet.partition.benchmark, sheet.partition.language, sheet.partition.protocol


def _own(placed: Sequence[Placed], asking: Asking) -> list[tuple[Line, Key]]:
    return [(line, key) for line, own, key in placed if own == asking]


def _headed(cells: Cells, name: str) -> dict[str, str]:
    """Column -> its heading in ``cells``; headings that nobody knows are the collector's own.

    :raises DataError: a column that is needed is not there, or one is there twice.
    """
    meant = {spelt: column for column, headings in HEADINGS.items() for spelt in headings}
    found: dict[str, str] = {}
    for heading in cells.columns:
        column = meant.get(heading.strip().lower())
        if column in found or cells.columns.count(heading) > 1:
            raise DataError(f"{name} has the column {heading!r} twice; remove or rename one.")
        if column:
            found[column] = heading
    needed = ["reply", *([] if "id" in found else PARTS)]
    if lacking := [column for column in needed if column not in found]:
        shown = " or ".join(
            repr(heading) for heading in HEADINGS[lacking[0] if "id" in found or lacking[0] == "reply" else "id"][:2]
        )
        raise DataError(f"{name} lacks the column {shown}; keep the columns of: checkup export questions.")
    return found


def _placed(filled: Filled, params: Params) -> Iterator[Placed]:
    """The rows that say which question they are about; of a question that comes twice, the first."""
    seen: dict[tuple[Asking, Key], int] = {}
    for line in filled.cells.lines:
        parts = _parts(filled, line)
        if parts is None or not _fits(filled, line, params, parts):
            continue
        (benchmark, language, protocol, item_id, variant, _), epoch = parts, _epoch(filled, line, parts[-1])
        if epoch is None:
            continue
        asking, key = (benchmark, language, protocol), (item_id, variant, epoch)
        first = seen.setdefault((asking, key), line.number)
        if first == line.number:
            yield line, asking, key
        else:
            filled.refuse(line, _column(filled, "item_id"), f"the question of line {first} again; keep one of them")


def _column(filled: Filled, part: str) -> str:
    """Where the file says the ``part`` of a question's id."""
    return "id" if "id" in filled.headed else part


def _parts(filled: Filled, line: Line) -> tuple[str, ...] | None:
    """The parts of the question's id; null where the row does not tell them."""
    told = tuple(filled.of(line, part) for part in PARTS)
    said = filled.of(line, "id")
    if not said:
        column = next((part for part, value in zip(PARTS, told, strict=True) if not value), None)
        if column:
            filled.refuse(line, _column(filled, column), "is empty, so that nobody knows the question")
        return None if column else told
    pieces = said.split("/")
    if len(pieces) < len(PARTS):
        filled.refuse(line, "id", f"{_shown(said)} is no question's id, such as checkup/en/two/<item>/single/1")
        return None
    parts = (*pieces[:3], "/".join(pieces[3:-2]), *pieces[-2:])
    for part, value, meant in zip(PARTS, told, parts, strict=True):
        if value and value != meant:
            filled.refuse(
                line,
                part,
                f"{_shown(value)} is not that of the id, {meant!r}; rows must stay whole when they are sorted",
            )
            return None
    return parts


def _fits(filled: Filled, line: Line, params: Params, parts: tuple[str, ...]) -> bool:
    """Whether benchmark, language and protocol of the row are known, and fit each other."""
    there = (parts[0] in params.benchmarks, parts[1] in params.spoken, params.has(parts[2]))
    for part, value, is_there in zip(PARTS, parts, there, strict=False):
        if not is_there:
            filled.refuse(line, _column(filled, part), f"there is no {part} {_shown(value)} in params.yaml")
            return False
    if params.fits(*parts[:3]):
        return True
    filled.refuse(line, _column(filled, "protocol"), f"{parts[0]} is not asked in {parts[1]} by {parts[2]}")
    return False


def _epoch(filled: Filled, line: Line, said: str) -> int | None:
    try:
        return int(said)
    except ValueError:
        filled.refuse(line, _column(filled, "epoch"), f"the epoch {_shown(said)} is no whole number")
        return None


def _planned(filled: Filled, wanted: Request) -> Request | None:
    """What plan, epochs, limit and seed were: as the user says, else as the file does; null where its rows differ."""
    said = {filled.of(line, "plan"): line for line in reversed(filled.cells.lines) if filled.of(line, "plan")}
    if wanted != Request("") or not said:
        return wanted
    if len(said) > 1:
        line = max(said.values(), key=lambda each: each.number)
        filled.refuse(line, "plan", "is another than above; import the tables of two plans one after the other")
        return None
    ((text, line),) = said.items()
    try:
        return plan_read(text)
    except ValueError:
        filled.refuse(line, "plan", f"{_shown(text)} is no plan as checkup export questions writes it")
        return None


def _entry(params: Params, request: Request, askings: Sequence[Asking], now: datetime) -> Entry:
    """The entry that asks ``askings``, and nothing else, as ``request`` has it."""
    benchmarks, languages, protocols = (tuple(dict.fromkeys(names)) for names in zip(*askings, strict=True))
    asked = entry(params, replace(request, benchmarks=benchmarks, languages=languages, protocols=protocols), now)
    possible = every(asked.benchmarks, asked.languages, asked.protocols)
    left_out = tuple(".".join(asking) for asking in possible if asking not in askings)
    return asked.model_copy(update={"left_out": left_out})


def _given(filled: Filled, sheet: ByHand, rows: Sequence[tuple[Line, Key]], zone: ZoneInfo) -> dict[Key, Given]:
    """What ``rows`` say about the questions of ``sheet``; a row without a reply was not asked."""
    asked = {each.question.key: each for each in walked(sheet, {})}
    found = {}
    for line, key in rows:
        if key not in asked:
            filled.refuse(line, *_unknown(filled, sheet, key, asked))
        elif reply := filled.of(line, "reply"):
            at = _time(filled, line, zone)
            _refuse_other_prompt(filled, line, asked[key])
            found[key] = Given(reply, at)
    return found


def _unknown(filled: Filled, sheet: ByHand, key: Key, asked: Mapping[Key, Asked]) -> tuple[str, str]:
    """The column at fault, and why its question is not one of ``asked``."""
    item_id, variant, epoch = key
    epochs = [other[2] for other in asked if other[:2] == (item_id, variant)]
    if epochs:
        says = f"epoch {epoch} is out of range: the plan asks this item at 1 to {max(epochs)}"
        return _column(filled, "epoch"), says
    if variants := sorted({other[1] for other in asked if other[0] == item_id}):
        return _column(filled, "variant"), f"{item_id} has no variant {variant!r}, but {' and '.join(variants)}"
    return _column(filled, "item_id"), f"the plan asks no item {_shown(item_id)} as {sheet.partition.name}"


def _refuse_other_prompt(filled: Filled, line: Line, asked: Asked) -> None:
    """Blanks and line ends do not count, as programs that write tables change them."""
    said = filled.of(line, "prompt")
    if said and said.split() != to_paste(asked).split():
        filled.refuse(
            line, "prompt", "is not the question of this row; the items, the wording or the row was changed since"
        )


def _shown(cell: str) -> str:
    """A cell in a sentence: on one line, and cut short where a whole text stands in the wrong column."""
    return repr(cell if len(cell) <= LONGEST else f"{cell[:LONGEST]}…")


def _time(filled: Filled, line: Line, zone: ZoneInfo) -> str | None:
    """The time noted, in UTC; one without a zone is in that of params.yaml."""
    said = filled.of(line, "asked_at")
    if not said:
        return None
    try:
        return _moment(said, zone).astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError):
        filled.refuse(line, "asked_at", f"{_shown(said)} is no time such as 2026-11-30 15:04")
        return None


def _moment(said: str, zone: ZoneInfo) -> datetime:
    match = _TIME.fullmatch(said.strip())
    if not match:
        raise ValueError(said)
    year, month, day, hour, minute, second = (int(number or 0) for number in match.groups()[:6])
    moment = datetime(year, month, day, hour, minute, second, tzinfo=zone)
    return moment.replace(tzinfo=datetime.fromisoformat(f"2000-01-01T00:00{match[7]}").tzinfo) if match[7] else moment
