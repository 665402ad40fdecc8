"""Which questions a run asks: the grid of items and epochs, each with its options in the order shown, by conversation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import polars as pl

from stages.entries import Entry
from stages.orders import epochs_asked, order_index, orders
from stages.protocols import Protocol
from stages.schema import NO_STYLE

Key = tuple[str, str, int]
"""(item_id, variant, epoch): one answer of a partition."""
BLOCK = 20
"""Items of one carried conversation, at most: it must fit into a small model's context."""
LETTERS = "ABCDEFGHIJ"


@dataclass(frozen=True)
class Question:
    item: dict[str, Any]
    epoch: int
    order_index: int
    options: list[dict[str, Any]]
    """Structs of ``structs.OPTION`` in the order shown."""
    seed: int
    turn: int = 1
    """Place in its conversation, 1…n."""

    @property
    def key(self) -> Key:
        return (self.item["item_id"], self.item["variant"], self.epoch)

    @property
    def answers(self) -> list[str]:
        """What a reply may say, per option in the order shown: its letter where it has one, else its text."""
        return [option["label"] or option["text"] for option in self.options]


Conversation = list[Question]
"""Questions asked one after another, each after the answers to those before."""


def expected(items: pl.DataFrame, language: str, protocol: Protocol, entry: Entry) -> list[Conversation]:
    """Every question that ``entry`` asks of ``items`` in ``language`` under ``protocol``, by conversation."""
    styles = (*entry.styles, NO_STYLE)
    fitting = items.filter(pl.col("style").is_in(styles), pl.col("task").is_in(protocol.tasks))
    rows = sampled(fitting, entry).filter(pl.col("language") == language).sort("item_id", "variant")
    carried = protocol.conversation == "carried"
    once = entry.each_order_once and not carried
    questions = [q for item in rows.iter_rows(named=True) for q in _epochs(item, protocol, entry, once)]
    found = _carried(questions, entry.seed) if carried else [[question] for question in questions]
    return sorted(found, key=lambda asked: _number(f"{entry.seed}:{asked[0].key}")) if entry.shuffle else found


def sampled(items: pl.DataFrame, entry: Entry) -> pl.DataFrame:
    """At most ``entry.limit`` item ids, the same ones in every language, drawn by a hash of seed and id."""
    if entry.limit is None:
        return items
    ids = sorted(items["item_id"].unique(), key=lambda item_id: _number(f"{entry.seed}:{item_id}"))
    return items.filter(pl.col("item_id").is_in(ids[: entry.limit]))


def _epochs(item: dict[str, Any], protocol: Protocol, entry: Entry, once: bool) -> Iterator[Question]:
    offered = [option for option in item["options"] if option["gender"] != 0 or protocol.form != "two"]
    if protocol.scored:
        yield Question(item, epoch=1, order_index=0, options=offered, seed=entry.seed)
        return
    arrangements = orders(len(offered))
    for epoch in range(1, epochs_asked(entry.epochs, once, len(arrangements)) + 1):
        index = order_index(item["item_id"], epoch, len(arrangements))
        yield Question(
            item=item,
            epoch=epoch,
            order_index=index,
            options=_labelled(item["task"], [offered[i] for i in arrangements[index]]),
            seed=_number(f"{entry.seed}:{item['item_id']}:{item['variant']}:{epoch}") % 2**31,
        )


def _labelled(task: str, options: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if task != "option":
        return options
    return [{**option, "label": letter} for option, letter in zip(options, LETTERS, strict=False)]


def _carried(questions: Sequence[Question], seed: int) -> list[Conversation]:
    """Each epoch's questions in an order of its own, drawn by ``seed``, in conversations of at most ``BLOCK``."""
    found: list[Conversation] = []
    for epoch in sorted({question.epoch for question in questions}):
        drawn = sorted(
            (q for q in questions if q.epoch == epoch),
            key=lambda q: _number(f"{seed}:{q.epoch}:{q.item['item_id']}:{q.item['variant']}"),
        )
        n_blocks = -(-len(drawn) // BLOCK)
        blocks = (drawn[i::n_blocks] for i in range(n_blocks))
        found += [[replace(q, turn=turn) for turn, q in enumerate(block, start=1)] for block in blocks]
    return found


def _number(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")
