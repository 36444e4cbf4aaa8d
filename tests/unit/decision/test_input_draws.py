"""Draws with the likely value first: ranges that hold it, and the draws of costs where there are such."""

import math

import numpy as np
import pytest

from gpudesk.costing.uncertainty import (
    DRAW_SEED,
    DrawTable,
    compute_range,
    compute_share_above,
    draw_triangular,
    draw_uniform,
    get_likely,
)
from gpudesk.domain.cost import UncertainValue


def test_exact_number_is_not_simulated() -> None:
    assert DrawTable(0.5).number("a", UncertainValue.exactly(3.0)) == 3.0
    assert compute_range(3.0) == UncertainValue.exactly(3.0)
    assert compute_share_above(3.0) == 1.0
    assert compute_share_above(0.0) == 0.5


def test_a_number_that_is_not_known_has_its_likely_value_and_the_draws_of_costs() -> None:
    spread = UncertainValue(1.0, 2.0, 6.0)
    draws = np.asarray(DrawTable(0.5, count=500).number("energy_usd_per_kwh", spread))
    assert get_likely(draws) == 2.0
    same = draw_triangular(spread, draw_uniform(DRAW_SEED, "energy_usd_per_kwh", 500))
    assert draws[1:].tolist() == same.tolist()


def test_a_range_holds_four_draws_in_five_and_the_likely_value() -> None:
    draws = np.array([5.0, *np.arange(101.0)])
    assert compute_range(draws) == UncertainValue(5.0, 5.0, 90.0)
    assert compute_range(np.array([50.0, *np.arange(101.0)])) == UncertainValue(10.0, 50.0, 90.0)
    assert compute_share_above(draws, 49.5) == pytest.approx(51 / 101)


def test_an_end_may_be_infinite() -> None:
    assert compute_range(np.array([1.0, 1.0, 2.0, math.inf, math.inf, math.inf])) == UncertainValue(1.0, 1.0, math.inf)
