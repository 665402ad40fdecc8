"""Which questions a run asks: the grid of items and epochs, each with its options in the order shown."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import polars as pl

from stages.ledger import Entry
from stages.orders import order_index, orders
from stages.params import Protocol

Key = tuple[str, str, int]
"""(item_id, variant, epoch): one answer of a partition."""


@dataclass(frozen=True)
class Question:
    item: dict[str, Any]
    epoch: int
    order_index: int
    options: list[dict[str, Any]]
    """Structs of ``schema.OPTION`` in the order shown."""
    seed: int

    @property
    def key(self) -> Key:
        return (self.item["item_id"], self.item["variant"], self.epoch)


def expected(items: pl.DataFrame, language: str, protocol: Protocol, entry: Entry) -> list[Question]:
    """Every question that ``entry`` asks of ``items`` in ``language`` under ``protocol``, sorted by key."""
    chosen = sampled(items.filter(pl.col("style").is_in(entry.styles)), entry)
    rows = chosen.filter(pl.col("language") == language).sort("item_id", "variant")
    return [q for item in rows.iter_rows(named=True) for q in _epochs(item, protocol, entry)]


def sampled(items: pl.DataFrame, entry: Entry) -> pl.DataFrame:
    """At most ``entry.limit`` item ids, the same ones in every language, drawn by a hash of seed and id."""
    if entry.limit is None:
        return items
    ids = sorted(items["item_id"].unique(), key=lambda item_id: _number(f"{entry.seed}:{item_id}"))
    return items.filter(pl.col("item_id").is_in(ids[: entry.limit]))


def _epochs(item: dict[str, Any], protocol: Protocol, entry: Entry) -> Iterator[Question]:
    offered = [option for option in item["options"] if option["gender"] != 0 or protocol.form == "three"]
    arrangements = orders(len(offered))
    epochs = min(entry.epochs, len(arrangements)) if entry.each_order_once else entry.epochs
    for epoch in range(1, epochs + 1):
        index = order_index(item["item_id"], epoch, len(arrangements))
        yield Question(
            item=item,
            epoch=epoch,
            order_index=index,
            options=[offered[i] for i in arrangements[index]],
            seed=_number(f"{entry.seed}:{item['item_id']}:{item['variant']}:{epoch}") % 2**31,
        )


def _number(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")
