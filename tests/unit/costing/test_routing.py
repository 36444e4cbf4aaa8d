"""Replicas for several kinds of requests, and what one pool of unlike replicas loses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.decision.purchasing.request_mix import compute_even_spread_loss, count_busy_replicas, count_whole_replicas

rates = st.floats(1e-3, 1e3)


def test_kinds_add_up_to_the_time_they_take() -> None:
    """Eight short ones at 2 a second take four replicas, two long ones at 0.5 a second four more."""
    assert count_busy_replicas([8.0, 2.0], [2.0, 0.5]) == 8.0
    assert count_whole_replicas(8.0, 1.0) == 8.0
    assert count_whole_replicas(8.0, 0.8) == 10.0
    assert count_whole_replicas(0.1, 0.8) == 1.0


def test_quotients_of_floats_just_above_a_whole_number_take_no_further_replica() -> None:
    assert count_whole_replicas(0.3 / 0.1, 1.0) == 3.0
    assert count_whole_replicas(np.array([0.3 / 0.1, 3.1]), 1.0) == pytest.approx([3.0, 4.0])


def test_the_slower_replica_sets_the_pace() -> None:
    """At 1 and 3 requests per second each, an even spread ends at 2 of 4."""
    assert compute_even_spread_loss(1.0, 3.0) == 0.5
    assert compute_even_spread_loss(3.0, 1.0) == 0.5
    assert compute_even_spread_loss(2.0, 2.0) == 0.0


@given(one=rates, other=rates)
def test_the_loss_is_a_share_and_none_for_equals(one: float, other: float) -> None:
    loss = float(np.asarray(compute_even_spread_loss(one, other)))
    assert -1e-12 <= loss < 1.0
    smaller_share = 2.0 * min(one, other)
    assert (1.0 - loss) * (one + other) == pytest.approx(smaller_share)


@given(busy=st.floats(0.0, 1e4), more=st.floats(0.0, 100.0), cap=st.floats(0.05, 1.0))
def test_more_load_never_takes_fewer_replicas(busy: float, more: float, cap: float) -> None:
    assert float(count_whole_replicas(busy + more, cap)) >= float(count_whole_replicas(busy, cap))
