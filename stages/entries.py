"""A ledger entry: one run as it was frozen when it was made, with all that says what is asked; and a model's file of them."""

import re
from collections.abc import Iterable
from datetime import date, datetime
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field

from stages.errors import UsageError
from stages.params import Model
from stages.settings import Settings, read_yaml, validated

Asking = tuple[str, str, str]
"""A benchmark, a language and a protocol."""

_STAMP = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:\.([2-9]|[1-9][0-9]+))?")


def every(benchmarks: Iterable[str], languages: Iterable[str], protocols: Iterable[str]) -> list[Asking]:
    return list(product(benchmarks, languages, protocols))


class Entry(Settings):
    """One run as it was frozen."""

    state: Literal["open", "sealed"] = "open"
    opened: AwareDatetime
    plan: str
    benchmarks: tuple[str, ...]
    languages: tuple[str, ...]
    protocols: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """``benchmark.language.protocol`` of those that do not fit each other and are not asked."""
    styles: tuple[str, ...]
    epochs: int = Field(ge=1)
    each_order_once: bool = False
    """The model gives the same answer to the same prompt, so that more epochs than orders would only repeat it."""
    asked_once: tuple[str, ...] = ()
    """Protocols that ask each item once, whatever the epochs: likelihoods, which would be the same again."""
    limit: int | None = Field(None, ge=1)
    seed: int = 0
    temperature: Annotated[float | None, Field(ge=0, le=2)] = None
    """Asked for instead of that of protocol and model."""
    reads: str | None = None
    """The run whose texts are read: what is asked is about them."""
    shuffle: bool = False
    """Asked in an order drawn by the seed, not in that of the items' ids; the questions are the same."""
    items: dict[str, Annotated[int, Field(ge=1)]] | None = None
    """``benchmark.language.protocol`` -> how many items (each side of a pair is one) were asked, written when the run is
    sealed, so that an answers file that loses whole items is no longer what was asked. Older entries have none."""
    retired: bool = False

    def __hash__(self) -> int:
        """Of some fields only, as ``items`` has none; equal entries have the same."""
        return hash((self.opened, self.plan, self.benchmarks, self.languages, self.protocols))

    def same_questions(self, other: "Entry") -> bool:
        """Whether the two ask each (benchmark, language, protocol) they share for the same questions."""
        return all(
            getattr(self, f) == getattr(other, f)
            for f in ("plan", "styles", "epochs", "each_order_once", "limit", "seed", "temperature", "reads")
        )

    def asked_as(self, model: Model) -> Model:
        """``model`` as this run asks it."""
        return model if self.temperature is None else model.model_copy(update={"temperature": self.temperature})

    @property
    def asks(self) -> list[Asking]:
        """What it asks: every benchmark in every language by every protocol, but for those left out."""
        asked = every(self.benchmarks, self.languages, self.protocols)
        return [asking for asking in asked if ".".join(asking) not in self.left_out]

    def grown(self, other: "Entry") -> "Entry":
        """This entry with the benchmarks, languages and protocols of ``other`` added; open again if any is new."""
        lists = {
            field: tuple(dict.fromkeys((*getattr(self, field), *getattr(other, field))))
            for field in ("benchmarks", "languages", "protocols", "asked_once")
        }
        asked = {*self.asks, *other.asks}
        if asked == set(self.asks):
            return self
        possible = every(lists["benchmarks"], lists["languages"], lists["protocols"])
        left_out = tuple(".".join(asking) for asking in possible if asking not in asked)
        return self.model_copy(update={**lists, "left_out": left_out, "state": "open"})


def stamp(text: str) -> str:
    """Return ``text`` if it is ``YYYY-MM-DD`` with an optional ``.2``, ``.3`` … for a further run of that day."""
    match = _STAMP.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a date such as '2026-11-30' or '2026-11-30.2'")
    try:
        datetime.strptime(match[1], "%Y-%m-%d")
    except ValueError as error:
        raise ValueError(f"{text!r} is not a day of the calendar") from error
    return text


Runs = dict[Annotated[str, AfterValidator(stamp)], Entry]


class ModelRuns(Settings):
    runs: Runs


def read_runs(path: Path) -> Runs | None:
    """What a model's file of the ledger holds: date[.n] -> entry; null when it is not there, as its last run was forgotten.

    :raises UsageError: it is empty, not YAML, or has a key or an entry that does not fit.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    return _parsed(path, content)


@lru_cache(maxsize=64)
def _parsed(path: Path, content: bytes) -> Runs:
    """The same of a file with this ``content``: a year's takes a second to parse, and commands read the ledger again and again."""
    found, name = read_yaml(path, content), f"{path.parent.name}/{path.name}"
    if found is None:
        raise UsageError(
            f"{name} is empty; restore it with: git checkout {name}, or delete it if the model has no runs."
        )
    bare = [key for key in found if isinstance(key, date)] if isinstance(found, dict) else []
    if bare:
        raise UsageError(
            f'{name}: the date {bare[0]} stands without quotes, so YAML takes it for no text; write "{bare[0]}":'
        )
    return validated(path, ModelRuns, {"runs": found}).runs
