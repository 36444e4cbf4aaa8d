"""Buying against waiting: sums worked out by hand, roots that are roots, and months that never help."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.economics.waiting import (
    Courses,
    after_usd,
    avoided_usd,
    cost_of_waiting_usd,
    gain_usd,
    gap_months,
    gap_to_tie,
    gap_usd,
    next_usd_to_tie,
    saved_usd,
)

#: 36 months at 1,000 USD on the chosen part, 600 on the next one, which comes 6 months late; 1,500 without.
BY_HAND = Courses(buy_usd=1000.0, next_usd=600.0, without_usd=1500.0, gap_months=6.0, months=36.0)

money = st.floats(1.0, 1e6)


@st.composite
def courses(draw: st.DrawFn) -> Courses:
    months = draw(st.floats(3.0, 120.0))
    return Courses(draw(money), draw(money), draw(money), draw(st.floats(0.0, 1.0)) * months, months)


def test_the_sums_are_those_worked_out_by_hand() -> None:
    assert gap_usd(BY_HAND) == 9000.0
    assert avoided_usd(BY_HAND) == 6000.0
    assert cost_of_waiting_usd(BY_HAND) == 3000.0
    assert gain_usd(BY_HAND) == 400.0 * 30
    assert saved_usd(BY_HAND) == 9000.0
    assert 1000.0 * 36 - (1500.0 * 6 + 600.0 * 30) == 9000.0


def test_the_break_evens_are_those_worked_out_by_hand() -> None:
    """400 x 36 = 900 x gap gives 16 months; 36,000 - 9,000 leaves 900 for each of 30 months."""
    assert gap_to_tie(BY_HAND) == 16.0
    assert next_usd_to_tie(BY_HAND) == 900.0


@pytest.mark.parametrize(
    ("launch", "delivery", "gap"), [(9.0, 3.0, 0.0), (9.0, 9.0, 0.0), (9.0, 13.5, 4.5), (0.0, 99.0, 36.0)]
)
def test_the_gap_lies_between_launch_and_delivery(launch: float, delivery: float, gap: float) -> None:
    assert gap_months(launch, delivery, 36.0) == gap


def test_whoever_waited_goes_on_as_before_where_that_is_cheaper() -> None:
    dear = replace(BY_HAND, next_usd=2000.0)
    assert after_usd(dear) == 1500.0
    assert saved_usd(dear) == (1000.0 - 1500.0) * 36
    assert saved_usd(replace(dear, gap_months=30.0)) == saved_usd(dear)


def test_a_next_part_that_costs_more_never_ties() -> None:
    assert math.isnan(float(gap_to_tie(replace(BY_HAND, next_usd=1200.0))))


def test_what_may_be_paid_for_the_next_part_has_ends() -> None:
    assert next_usd_to_tie(replace(BY_HAND, without_usd=1000.0)) == math.inf
    assert float(next_usd_to_tie(replace(BY_HAND, gap_months=30.0))) < 0.0
    assert next_usd_to_tie(replace(BY_HAND, gap_months=36.0)) == -math.inf


def test_draws_are_worked_out_like_numbers() -> None:
    gaps = np.array([0.0, 6.0, 16.0, 36.0])
    found = np.asarray(saved_usd(replace(BY_HAND, gap_months=gaps)))
    assert found.tolist() == [float(saved_usd(replace(BY_HAND, gap_months=gap))) for gap in gaps.tolist()]


@given(found=courses(), later=st.floats(0.0, 60.0))
def test_no_month_of_slip_favours_waiting(found: Courses, later: float) -> None:
    gap = float(gap_months(0.0, found.gap_months + later, found.months))
    slack = 1e-9 * float(found.months) * (float(found.buy_usd) + float(found.without_usd))
    assert saved_usd(replace(found, gap_months=gap)) <= float(saved_usd(found)) + slack


@given(found=courses())
def test_saving_is_what_one_course_costs_less_than_the_other(found: Courses) -> None:
    buy = float(found.buy_usd) * float(found.months)
    left = float(found.months) - float(found.gap_months)
    wait = float(gap_usd(found)) + float(after_usd(found)) * left
    assert saved_usd(found) == pytest.approx(buy - wait, rel=1e-9, abs=1e-9 * (buy + wait))


@given(found=courses())
def test_at_the_gap_that_ties_both_cost_the_same_and_on_its_sides_not(found: Courses) -> None:
    gap = float(gap_to_tie(found))
    if math.isnan(gap):
        ends = [float(saved_usd(replace(found, gap_months=each))) for each in (0.0, found.months)]
        assert (ends[0] < 0.0) or (ends[1] >= 0.0) or ends[0] == ends[1]
        return
    scale = float(found.months) * (float(found.buy_usd) + float(found.without_usd))
    assert saved_usd(replace(found, gap_months=gap)) == pytest.approx(0.0, abs=1e-9 * scale)
    sides = [float(saved_usd(replace(found, gap_months=gap * share))) for share in (0.5, 1.5)]
    assert sides[0] >= -1e-9 * scale
    assert sides[1] <= 1e-9 * scale


@given(found=courses())
def test_at_the_cost_that_ties_both_cost_the_same(found: Courses) -> None:
    month = float(next_usd_to_tie(found))
    scale = float(found.months) * (float(found.buy_usd) + float(found.without_usd))
    if month == math.inf:
        assert saved_usd(replace(found, next_usd=1e12)) >= -1e-9 * scale
    elif month < 0.0:
        assert saved_usd(replace(found, next_usd=0.0)) <= 1e-9 * scale
    else:
        assert saved_usd(replace(found, next_usd=month)) == pytest.approx(0.0, abs=1e-9 * scale)
