"""What asking a run will take, before anything is paid: calls, tokens, money, time; from what was seen before where it was."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from stages.ledger import Run
from stages.params import Model, Params, Price
from stages.query.endpoints import requested
from stages.query.prices import Tokens, most, most_cost, price_of
from stages.query.sheets import Sheet, lacks, sheet
from stages.schema import ANSWERS
from stages.store import partitions

SEEN, ASSUMED = "recorded answers", "rule of thumb"


@dataclass(frozen=True)
class Habits:
    """What one call of a model is like, on average."""

    basis: str
    bytes_per_token: float
    """Of a prompt in UTF-8."""
    completion: float
    """Tokens of a reply."""
    seconds: float


BEGINNER = Habits(ASSUMED, bytes_per_token=3.5, completion=8, seconds=1.0)
"""English has about four bytes to a token and Chinese three; the questions ask for a word."""
WRITER = Habits(ASSUMED, bytes_per_token=3.5, completion=math.inf, seconds=5.0)
"""Of texts: as many tokens as are allowed."""


@dataclass(frozen=True)
class Estimate:
    """Of what a run still lacks. Costs are in US dollars and null where the price is not known; times in seconds."""

    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    cost_at_most: float | None
    seconds: float
    basis: str


def estimate(root: Path, params: Params, run: Run, connections: int | None = None) -> Estimate:
    """What asking ``run`` for what it lacks will take; it need not be in the ledger.

    :raises LedgerError: it cannot be asked.
    """
    sheets = [sheet(root, params, part) for part in partitions(run)]
    model, price = params.models[run.model], price_of(params.models[run.model])
    kinds = [_kind(root, run.model, sheets, texts) for texts in (False, True)]
    sizes = [size for kind in kinds for size in kind.sizes]
    tokens = Tokens(round(sum(kind.prompt for kind in kinds)), round(sum(kind.completion for kind in kinds)))
    return Estimate(
        run.model,
        len(sizes),
        tokens.prompt,
        tokens.completion,
        None if price is None else most_cost(price, tokens),
        None if price is None else _at_most(price, sizes),
        _seconds(model, connections, sum(kind.seconds for kind in kinds), len(sizes), tokens),
        " and ".join(dict.fromkeys(kind.habits.basis for kind in kinds if kind.sizes)) or kinds[0].habits.basis,
    )


@dataclass(frozen=True)
class _Kind:
    """The calls for texts that a run lacks, or its others: what they are like, the bytes of their prompts, and the most of each."""

    habits: Habits
    bytes: int
    sizes: list[Tokens]

    @property
    def prompt(self) -> float:
        return self.bytes / self.habits.bytes_per_token

    @property
    def completion(self) -> float:
        return sum(min(self.habits.completion, size.completion) for size in self.sizes)

    @property
    def seconds(self) -> float:
        """One after another."""
        return len(self.sizes) * self.habits.seconds


def _kind(root: Path, model: str, sheets: Iterable[Sheet], texts: bool) -> _Kind:
    own = [each for each in sheets if each.protocol.written == texts]
    lacking = [(each, asked.prompt) for each in own for asked in lacks(root, each)]
    sizes = [most(prompt, requested(of.protocol, of.model).get("max_tokens", 1)) for of, prompt in lacking]
    habits = seen(root, model, texts) or (WRITER if texts else BEGINNER)
    return _Kind(habits, sum(len(prompt.recorded.encode()) for _, prompt in lacking), sizes)


def seen(root: Path, model: str, texts: bool = False) -> Habits | None:
    """What the recorded answers of ``model`` say of its calls, of those for ``texts`` or of the others; null when there are none."""
    files = sorted((root / "data" / ANSWERS.name / f"model={model}").rglob("*.parquet"))
    if not files:
        return None
    replied = pl.scan_parquet(files, hive_partitioning=False).filter(
        pl.col("failure").is_null(), pl.col("prompt_tokens") > 0, (pl.col("task") == "text") == texts
    )
    means = replied.select(
        pl.col("prompt").str.len_bytes().sum() / pl.col("prompt_tokens").sum(),
        pl.col("completion_tokens").mean(),
        pl.col("latency").mean(),
    ).collect()
    bytes_per_token, completion, seconds = means.row(0)
    if not bytes_per_token or not seconds:
        return None
    return Habits(SEEN, bytes_per_token, completion or BEGINNER.completion, seconds)


def _at_most(price: Price, sizes: Iterable[Tokens]) -> float:
    return sum(most_cost(price, size) for size in sizes)


def _seconds(model: Model, connections: int | None, work: float, calls: int, tokens: Tokens) -> float:
    """By whatever is slowest: the calls at once, ``work`` seconds one after another, or the requests or tokens a minute."""
    bounds = [work / (1 if model.is_local else connections or model.max_connections)]
    bounds += [calls * 60 / model.requests_per_minute] if model.requests_per_minute else []
    bounds += [(tokens.prompt + tokens.completion) * 60 / model.tokens_per_minute] if model.tokens_per_minute else []
    return max(bounds)
