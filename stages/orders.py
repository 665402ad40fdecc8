"""Balanced orders: in which order the options of an item are shown at each epoch.

Two options have two orders, three have all six. An item starts at an order given by a hash of its id, so that over
items every order is met equally often, and goes through all of them as its epochs go on.
"""

from hashlib import sha256
from itertools import permutations

from stages.errors import UsageError


def orders(n_options: int) -> list[tuple[int, ...]]:
    """All orders of ``n_options`` options, each a tuple of indices into the canonical order."""
    return list(permutations(range(n_options)))


def order_index(item_id: str, epoch: int, n_orders: int) -> int:
    """Which order ``item_id`` is shown in at ``epoch`` (1…N): 0…n_orders−1."""
    start = int.from_bytes(sha256(item_id.encode()).digest()[:8], "big")
    return (epoch - 1 + start) % n_orders


def balanced_epochs(epochs: int, n_orders: int) -> int:
    """Return ``epochs`` if every item then meets each order equally often.

    :raises UsageError: it cannot; the message names the next number that can.
    """
    if epochs % n_orders:
        following = (epochs // n_orders + 1) * n_orders
        raise UsageError(f"{epochs} epochs cannot be balanced over {n_orders} orders; use --epochs {following}.")
    return epochs
