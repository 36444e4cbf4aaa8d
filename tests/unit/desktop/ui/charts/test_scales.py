"""Axis scales: round ticks, ranges that end near ticks, logarithmic scales."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.desktop.ui.charts.scales import (
    AxisScale,
    DecadeScale,
    LinearScale,
    PowerOfTwoScale,
    format_ticks,
    make_even_ticks,
    round_up_step,
)
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter

FORMATTER = Formatter(ENGLISH_NUMBERS)


@pytest.mark.parametrize(
    ("least", "step"), [(0.9, 1.0), (1.0, 1.0), (1.1, 2.0), (2.1, 2.5), (26.0, 50.0), (510.0, 1000.0)]
)
def test_steps_are_round(least: float, step: float) -> None:
    assert round_up_step(least) == pytest.approx(step)


@given(st.floats(1e-3, 1e9), st.integers(2, 8))
def test_linear_range_starts_at_zero_and_ends_near_the_highest_value(high: float, most: int) -> None:
    low, end = LinearScale().fitted(0.0, high, most)
    assert low == 0.0
    assert high * (1 - 1e-5) <= end <= high * 1.3
    ticks = LinearScale().ticks(low, end, most)
    assert ticks[0] == 0.0
    assert end - (ticks[1] - ticks[0]) < ticks[-1] <= end * (1 + 1e-5)
    assert 2 <= len(ticks) <= most


@given(st.floats(0.01, 1e6), st.floats(1.01, 1e5), st.integers(2, 9))
def test_logarithmic_ticks_are_few_and_within_the_range(low: float, span: float, most: int) -> None:
    for scale in (PowerOfTwoScale(), DecadeScale()):
        start = max(low, 1.0) if isinstance(scale, PowerOfTwoScale) else low
        ticks = scale.ticks(start, start * span, most)
        assert all(start * 0.999 <= tick <= start * span * 1.001 for tick in ticks)
        assert list(ticks) == sorted(set(ticks))
        assert len(ticks) <= most + 2


def test_count_ticks_are_powers_of_two() -> None:
    low, high = PowerOfTwoScale().fitted(1.0, 276.0, 10)
    assert low == 1.0
    assert high > 276.0
    assert PowerOfTwoScale().ticks(low, high, 10) == (1, 2, 4, 8, 16, 32, 64, 128, 256)
    assert PowerOfTwoScale().ticks(low, high, 5) == (1, 4, 16, 64, 256)


def test_zoomed_counts_have_whole_ticks() -> None:
    assert PowerOfTwoScale().ticks(60.0, 70.0, 6) == (60.0, 62.0, 64.0, 66.0, 68.0, 70.0)


def test_time_ticks_are_one_two_five_or_decades() -> None:
    assert DecadeScale().fitted(130.0, 6300.0, 7) == pytest.approx((100.0, 10000.0))
    assert DecadeScale().ticks(100.0, 10000.0, 7) == pytest.approx(
        (100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0)
    )
    assert DecadeScale().ticks(100.0, 10000.0, 4) == pytest.approx((100.0, 1000.0, 10000.0))


def test_few_decades_have_intermediate_ticks() -> None:
    assert DecadeScale().ticks(0.2, 50.0, 4) == pytest.approx((0.3, 1.0, 3.0, 10.0, 30.0))


@pytest.mark.parametrize("scale", [LinearScale(), PowerOfTwoScale(), DecadeScale()])
def test_positions_convert_back_to_values(scale: AxisScale) -> None:
    for value in (1.0, 7.5, 4096.0):
        assert scale.value_at(scale.place_of(value)) == pytest.approx(value)


def test_only_even_ticks_share_their_decimals() -> None:
    assert format_ticks(LinearScale(), (0.0, 0.5, 1.0), FORMATTER) == ("0.0", "0.5", "1.0")
    assert format_ticks(DecadeScale(), (0.5, 1.0, 1000.0), FORMATTER) == ("0.5", "1", "1,000")
    assert format_ticks(LinearScale(), (0.0, 1000.0), FORMATTER) == ("0", "1,000")


def test_empty_range_has_one_tick() -> None:
    assert make_even_ticks(3.0, 3.0, 5) == (3.0,)
    assert not math.isnan(LinearScale().fitted(0.0, 0.0, 5)[1])
