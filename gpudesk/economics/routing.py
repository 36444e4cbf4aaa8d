"""Requests of several kinds over pools of replicas: how many it takes, and what spreading evenly loses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpudesk.economics.owning import Amount

#: Four replicas carry four times the rate of one, though quotients of floats may lie just above.
_ROUNDING = 1e-9


def busy_replicas(rates: Sequence[float], each: Sequence[Amount]) -> Amount:
    """Return how many replicas are kept busy by kinds of requests that arrive at these rates.

    `each` is the rate of one kind that one replica answers if it does nothing else. A replica divides its
    time between the kinds, so that what they take of it adds up.
    """
    busy: Amount = 0.0
    for rate, answered in zip(rates, each, strict=True):
        busy = busy + rate / answered
    return busy


def whole_replicas(busy: Amount, cap: float) -> Amount:
    """Return how many whole replicas carry the load if each is loaded up to a share `cap`; at least one."""
    needed = np.maximum(1.0, np.ceil(np.asarray(busy) / cap - _ROUNDING))
    return float(needed) if needed.ndim == 0 else needed


def loss_of_even_spread(one: Amount, other: Amount) -> Amount:
    """Return the share of two replicas' rates that is lost where each is handed as many requests.

    The slower one sets the pace: 1 - 2 min / (one + other).
    """
    return 1.0 - 2.0 * np.minimum(one, other) / (np.asarray(one) + other)
