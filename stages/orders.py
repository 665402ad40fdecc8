"""Balanced orders: in which order the options of an item are shown at each epoch.

Two options have two orders, three have all six, a longer list six fixed ones. An item starts at an order given by a hash
of its id, so that over items every order is met equally often, and goes through all of them as its epochs go on. Both
sides of a pair share the id, and with it the orders.
"""

from hashlib import sha256
from itertools import permutations
from math import gcd

from stages.errors import UsageError

SHORT = 3
"""Up to so many options all orders are shown."""


def orders(n_options: int) -> list[tuple[int, ...]]:
    """The orders of ``n_options`` options, each a tuple of indices into the canonical order.

    In the six of a long list each option has the same mean place, as every order has its reverse; of ten each stands
    once or twice among the first three, and as often among the last three.
    """
    if n_options <= SHORT:
        return list(permutations(range(n_options)))
    strides = ((1, 0), (3, n_options // 3), (1, 2 * n_options // 5))
    forwards = [tuple(_stride(n_options, step, start)) for step, start in strides]
    return [order for found in forwards for order in (found, found[::-1])]


def _stride(n: int, step: int, start: int) -> list[int]:
    """All of 0…n−1 from ``start`` on, ``step`` apart (or the next step that meets all of them), round and round."""
    while gcd(step, n) > 1:
        step += 1
    return [(start + step * i) % n for i in range(n)]


def order_index(item_id: str, epoch: int, n_orders: int) -> int:
    """Which order ``item_id`` is shown in at ``epoch`` (1…N): 0…n_orders−1."""
    start = int.from_bytes(sha256(item_id.encode()).digest()[:8], "big")
    return (epoch - 1 + start) % n_orders


def half(n_options: int, index: int) -> int:
    """0 or 1: which half of the orders ``index`` belongs to. In either half each of three options is met at each place once.

    Of two options each half is one order. Of a longer list the halves are the orders that are each other's reverse.
    """
    if n_options > SHORT:
        return index % 2
    order = orders(n_options)[index]
    return sum(before > after for i, before in enumerate(order) for after in order[i + 1 :]) % 2


def epochs_asked(epochs: int, each_order_once: bool, n_orders: int) -> int:
    """How often an item is asked that a run asks ``epochs`` times, where more than each order once may only repeat it."""
    return min(epochs, n_orders) if each_order_once else epochs


def balanced_epochs(epochs: int, cycle: int, over_items: bool = False) -> int:
    """Return ``epochs`` if every item then meets each order equally often, that is, if it is a multiple of ``cycle``.

    With ``over_items`` fewer will do if they divide ``cycle``: an item then meets only some of the orders, but all items
    together meet each equally often, as they start at every one.

    :raises UsageError: it cannot be balanced; the message names what can.
    """
    fewer = [n for n in range(1, cycle) if cycle % n == 0] if over_items else []
    if epochs % cycle == 0 or epochs in fewer:
        return epochs
    following = (epochs // cycle + 1) * cycle
    instead = f"{', '.join(map(str, fewer))} or a multiple of {cycle}" if fewer else str(following)
    raise UsageError(f"{epochs} epochs cannot be balanced over {cycle} orders; use --epochs {instead}.")
