from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.errors import UsageError
from stages.orders import balanced_epochs, order_index, orders


@pytest.mark.parametrize(("options", "count"), [(2, 2), (3, 6)])
def test_all_orders_of_the_options(options: int, count: int) -> None:
    assert len(set(orders(options))) == count


@given(st.text(min_size=1), st.sampled_from([2, 6]), st.integers(1, 4))
def test_an_item_meets_each_order_equally_often(item_id: str, n_orders: int, rounds: int) -> None:
    met = Counter(order_index(item_id, epoch, n_orders) for epoch in range(1, n_orders * rounds + 1))
    assert set(met.values()) == {rounds}
    assert len(met) == n_orders


def test_items_start_at_every_order_about_equally_often() -> None:
    starts = Counter(order_index(f"occupation-{n}-direct", 1, 2) for n in range(1000))
    assert 420 < starts[0] < 580


def test_epochs_that_cannot_be_balanced_are_refused_with_the_next_that_can() -> None:
    assert balanced_epochs(6, 2) == 6
    with pytest.raises(UsageError, match="--epochs 12"):
        balanced_epochs(7, 6)
