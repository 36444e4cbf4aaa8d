"""Scales: round ticks with room, ranges that end at ticks, logarithms by kind."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.desktop.charts.scales import (
    Counts,
    Linear,
    OneTwoFive,
    Scale,
    even_ticks,
    round_step,
    tick_texts,
)
from gpudesk.domain.formatting import ENGLISH, Formatter

FORMATTER = Formatter(ENGLISH)


@pytest.mark.parametrize(
    ("least", "step"), [(0.9, 1.0), (1.0, 1.0), (1.1, 2.0), (2.1, 2.5), (26.0, 50.0), (510.0, 1000.0)]
)
def test_steps_are_round(least: float, step: float) -> None:
    assert round_step(least) == pytest.approx(step)


@given(st.floats(1e-3, 1e9), st.integers(2, 8))
def test_a_linear_range_begins_at_zero_and_ends_at_its_last_tick(high: float, most: int) -> None:
    low, end = Linear().fitted(0.0, high, most)
    assert low == 0.0
    assert end >= high * (1 - 1e-5)
    ticks = Linear().ticks(low, end, most)
    assert ticks[0] == 0.0
    assert ticks[-1] == pytest.approx(end)
    assert len(ticks) <= most


@given(st.floats(0.01, 1e6), st.floats(1.01, 1e5), st.integers(2, 9))
def test_logarithmic_ticks_lie_within_the_range_and_have_room(low: float, span: float, most: int) -> None:
    for scale in (Counts(), OneTwoFive()):
        start = max(low, 1.0) if isinstance(scale, Counts) else low
        ticks = scale.ticks(start, start * span, most)
        assert all(start * 0.999 <= tick <= start * span * 1.001 for tick in ticks)
        assert list(ticks) == sorted(set(ticks))
        assert len(ticks) <= most + 2


def test_counts_are_powers_of_two_with_room_beyond_the_last() -> None:
    low, high = Counts().fitted(1.0, 276.0, 10)
    assert low == 1.0
    assert high > 276.0
    assert Counts().ticks(low, high, 10) == (1, 2, 4, 8, 16, 32, 64, 128, 256)
    assert Counts().ticks(low, high, 5) == (1, 4, 16, 64, 256)


def test_a_close_look_at_counts_has_whole_ticks() -> None:
    assert Counts().ticks(60.0, 70.0, 6) == (60.0, 62.0, 64.0, 66.0, 68.0, 70.0)


def test_times_are_one_two_five_or_decades() -> None:
    assert OneTwoFive().fitted(130.0, 6300.0, 7) == pytest.approx((100.0, 10000.0))
    assert OneTwoFive().ticks(100.0, 10000.0, 7) == pytest.approx(
        (100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0)
    )
    assert OneTwoFive().ticks(100.0, 10000.0, 4) == pytest.approx((100.0, 1000.0, 10000.0))


@pytest.mark.parametrize("scale", [Linear(), Counts(), OneTwoFive()])
def test_places_lead_back_to_values(scale: Scale) -> None:
    for value in (1.0, 7.5, 4096.0):
        assert scale.value_at(scale.place_of(value)) == pytest.approx(value)


def test_even_ticks_share_their_decimals_and_others_do_not() -> None:
    assert tick_texts(Linear(), (0.0, 0.5, 1.0), FORMATTER) == ("0.0", "0.5", "1.0")
    assert tick_texts(OneTwoFive(), (0.5, 1.0, 1000.0), FORMATTER) == ("0.5", "1", "1,000")
    assert tick_texts(Linear(), (0.0, 1000.0), FORMATTER) == ("0", "1,000")


def test_a_range_of_nothing_has_one_tick() -> None:
    assert even_ticks(3.0, 3.0, 5) == (3.0,)
    assert not math.isnan(Linear().fitted(0.0, 0.0, 5)[1])
