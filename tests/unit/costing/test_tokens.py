"""What a token costs, and where costs are equal: known cases, roots, and directions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.costing.accelerator_costs import (
    compute_api_usd_per_million,
    compute_hours_to_own,
    compute_joules_per_token,
    compute_months_to_own,
    compute_owned_usd_per_million,
    compute_payback_hours,
    compute_rented_usd_per_million,
    compute_utilization_to_own,
    solve_linear_root,
)

positive = st.floats(0.01, 1e6)


def test_a_rented_accelerator() -> None:
    assert compute_rented_usd_per_million(1.95, 989.0, 1.0) == pytest.approx(0.5477, abs=1e-4)
    assert compute_rented_usd_per_million(1.95, 989.0, 0.5) == pytest.approx(2 * 0.5477, abs=2e-4)


@given(positive, positive, st.floats(0.5, 10), st.floats(0.01, 1.0))
def test_owning_at_the_price_of_rent_costs_the_same(rent: float, rate: float, years: float, used: float) -> None:
    owned_usd_per_million = compute_owned_usd_per_million(rent * years * 8760, rate, years, used)
    assert owned_usd_per_million == pytest.approx(compute_rented_usd_per_million(rent, rate, used), rel=1e-9)


def test_an_api_charges_prompts_too() -> None:
    assert compute_api_usd_per_million(0.5, 1.5, 4000, 1000) == pytest.approx(3.5)


def test_joules_of_a_token() -> None:
    assert compute_joules_per_token(1.0, 1000.0) == pytest.approx(1.0)


@given(st.floats(-1e6, 1e6), st.floats(0.001, 1e3), st.booleans())
def test_a_root_is_where_the_difference_is_nothing(at_zero: float, slope: float, falls: bool) -> None:
    rise = -slope if falls else slope
    root = solve_linear_root(lambda x: at_zero + rise * x)
    assert isinstance(root, float)
    assert at_zero + rise * root == pytest.approx(0.0, abs=1e-6 * max(1.0, abs(at_zero)))


def test_what_never_crosses_has_no_root() -> None:
    assert math.isnan(solve_linear_root(lambda x: 5.0 + 0.0 * x))
    roots = solve_linear_root(lambda x: np.array([1.0, 2.0]) - np.array([0.0, 4.0]) * x)
    assert np.isnan(roots[0])  # type: ignore[index]
    assert roots[1] == 0.5  # type: ignore[index]


def test_buying_is_cheaper_after_what_rent_has_saved() -> None:
    assert compute_months_to_own(24_000.0, 200.0, 1_200.0) == 24.0
    assert compute_months_to_own(24_000.0, 1_200.0, 1_200.0) == math.inf
    assert list(compute_months_to_own(24_000.0, np.array([200.0, 2_000.0]), 1_200.0)) == [24.0, math.inf]  # type: ignore[arg-type]


@given(positive, st.floats(0.5, 10), st.floats(0.1, 100))
def test_at_the_break_even_hours_rent_is_what_owning_costs(total_usd: float, years: float, rent: float) -> None:
    hours = compute_hours_to_own(total_usd, years, rent)
    assert hours * rent * years * 12 == pytest.approx(total_usd)
    assert compute_utilization_to_own(total_usd, years, rent) == pytest.approx(hours / 730)


def test_a_port_that_is_paid_back() -> None:
    assert compute_payback_hours(70_000, 12, 2) == pytest.approx(2916.67, abs=0.01)
