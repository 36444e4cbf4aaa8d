"""Buying against waiting: sums computed by hand, roots that are roots, and months that never help."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.decision.purchasing.deferral_costs import (
    DeferralCourses,
    compute_after_usd,
    compute_avoided_usd,
    compute_gain_usd,
    compute_gap_months,
    compute_gap_usd,
    compute_saved_usd,
    compute_waiting_cost_usd,
    solve_tied_gap,
    solve_tied_next_usd,
)

#: 36 months at 1,000 USD on the chosen part, 600 on the next one, which comes 6 months late; 1,500 without.
BY_HAND = DeferralCourses(buy_usd=1000.0, next_usd=600.0, without_usd=1500.0, gap_months=6.0, months=36.0)

money = st.floats(1.0, 1e6)


@st.composite
def courses(draw: st.DrawFn) -> DeferralCourses:
    months = draw(st.floats(3.0, 120.0))
    return DeferralCourses(draw(money), draw(money), draw(money), draw(st.floats(0.0, 1.0)) * months, months)


def test_sums_match_the_calculation_by_hand() -> None:
    assert compute_gap_usd(BY_HAND) == 9000.0
    assert compute_avoided_usd(BY_HAND) == 6000.0
    assert compute_waiting_cost_usd(BY_HAND) == 3000.0
    assert compute_gain_usd(BY_HAND) == 400.0 * 30
    assert compute_saved_usd(BY_HAND) == 9000.0
    assert 1000.0 * 36 - (1500.0 * 6 + 600.0 * 30) == 9000.0


def test_break_evens_match_the_calculation_by_hand() -> None:
    """400 x 36 = 900 x gap gives 16 months; 36,000 - 9,000 leaves 900 for each of 30 months."""
    assert solve_tied_gap(BY_HAND) == 16.0
    assert solve_tied_next_usd(BY_HAND) == 900.0


@pytest.mark.parametrize(
    ("launch", "delivery", "gap"), [(9.0, 3.0, 0.0), (9.0, 9.0, 0.0), (9.0, 13.5, 4.5), (0.0, 99.0, 36.0)]
)
def test_the_gap_lies_between_launch_and_delivery(launch: float, delivery: float, gap: float) -> None:
    assert compute_gap_months(launch, delivery, 36.0) == gap


def test_waiting_continues_as_before_if_cheaper() -> None:
    dear = replace(BY_HAND, next_usd=2000.0)
    assert compute_after_usd(dear) == 1500.0
    assert compute_saved_usd(dear) == (1000.0 - 1500.0) * 36
    assert compute_saved_usd(replace(dear, gap_months=30.0)) == compute_saved_usd(dear)


def test_a_next_part_that_costs_more_never_ties() -> None:
    assert math.isnan(float(solve_tied_gap(replace(BY_HAND, next_usd=1200.0))))


def test_what_may_be_paid_for_the_next_part_has_ends() -> None:
    assert solve_tied_next_usd(replace(BY_HAND, without_usd=1000.0)) == math.inf
    assert float(solve_tied_next_usd(replace(BY_HAND, gap_months=30.0))) < 0.0
    assert solve_tied_next_usd(replace(BY_HAND, gap_months=36.0)) == -math.inf


def test_draws_are_computed_like_numbers() -> None:
    gaps = np.array([0.0, 6.0, 16.0, 36.0])
    saved = np.asarray(compute_saved_usd(replace(BY_HAND, gap_months=gaps)))
    assert saved.tolist() == [float(compute_saved_usd(replace(BY_HAND, gap_months=gap))) for gap in gaps.tolist()]


@given(deferral_courses=courses(), later=st.floats(0.0, 60.0))
def test_no_month_of_slip_favors_waiting(deferral_courses: DeferralCourses, later: float) -> None:
    gap = float(compute_gap_months(0.0, deferral_courses.gap_months + later, deferral_courses.months))
    slack = (
        1e-9 * float(deferral_courses.months) * (float(deferral_courses.buy_usd) + float(deferral_courses.without_usd))
    )
    assert (
        compute_saved_usd(replace(deferral_courses, gap_months=gap))
        <= float(compute_saved_usd(deferral_courses)) + slack
    )


@given(deferral_courses=courses())
def test_saving_is_what_one_course_costs_less_than_the_other(deferral_courses: DeferralCourses) -> None:
    buy = float(deferral_courses.buy_usd) * float(deferral_courses.months)
    left = float(deferral_courses.months) - float(deferral_courses.gap_months)
    wait = float(compute_gap_usd(deferral_courses)) + float(compute_after_usd(deferral_courses)) * left
    assert compute_saved_usd(deferral_courses) == pytest.approx(buy - wait, rel=1e-9, abs=1e-9 * (buy + wait))


@given(deferral_courses=courses())
def test_costs_are_equal_only_at_the_tied_gap(deferral_courses: DeferralCourses) -> None:
    gap = float(solve_tied_gap(deferral_courses))
    if math.isnan(gap):
        ends = [
            float(compute_saved_usd(replace(deferral_courses, gap_months=each)))
            for each in (0.0, deferral_courses.months)
        ]
        assert (ends[0] < 0.0) or (ends[1] >= 0.0) or ends[0] == ends[1]
        return
    scale = float(deferral_courses.months) * (float(deferral_courses.buy_usd) + float(deferral_courses.without_usd))
    assert compute_saved_usd(replace(deferral_courses, gap_months=gap)) == pytest.approx(0.0, abs=1e-9 * scale)
    sides = [float(compute_saved_usd(replace(deferral_courses, gap_months=gap * share))) for share in (0.5, 1.5)]
    assert sides[0] >= -1e-9 * scale
    assert sides[1] <= 1e-9 * scale


@given(deferral_courses=courses())
def test_at_the_cost_that_ties_both_cost_the_same(deferral_courses: DeferralCourses) -> None:
    month = float(solve_tied_next_usd(deferral_courses))
    scale = float(deferral_courses.months) * (float(deferral_courses.buy_usd) + float(deferral_courses.without_usd))
    if month == math.inf:
        assert compute_saved_usd(replace(deferral_courses, next_usd=1e12)) >= -1e-9 * scale
    elif month < 0.0:
        assert compute_saved_usd(replace(deferral_courses, next_usd=0.0)) <= 1e-9 * scale
    else:
        assert compute_saved_usd(replace(deferral_courses, next_usd=month)) == pytest.approx(0.0, abs=1e-9 * scale)
