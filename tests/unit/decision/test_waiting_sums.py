"""Verdicts on what is known: they turn where they are said to turn, and nothing unknown is decided."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.decision.purchasing.deferral_costs import (
    CourseAmounts,
    MonthlyCostByPrice,
    compute_price_points,
    find_turns,
    judge_deferral,
    judge_likely,
    judge_saving,
)
from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.purchase import DeferralVerdict

#: The case computed by hand in the tests of the arithmetic: waiting saves 9,000 USD.
BY_HAND = CourseAmounts(months=36.0, gap=6.0, buy=1000.0, following=600.0, without=1500.0, tokens=2e9)
NO_SLIP = UncertainValue.exactly(0.0)
SOON = UncertainValue.exactly(15.0)

money = st.floats(10.0, 1e5)


def judge(amounts: CourseAmounts) -> DeferralVerdict:
    return judge_deferral(amounts)[1]


@pytest.mark.parametrize(
    ("saved", "verdict"),
    [
        (UncertainValue(1.0, 2.0, 3.0), DeferralVerdict.WAIT),
        (UncertainValue(0.0, 0.0, 3.0), DeferralVerdict.WAIT),
        (UncertainValue(-3.0, -2.0, -1.0), DeferralVerdict.BUY),
        (UncertainValue(-3.0, 0.0, 0.0), DeferralVerdict.BUY),
        (UncertainValue(-1.0, 2.0, 3.0), DeferralVerdict.OPEN),
        (UncertainValue(0.0, 0.0, 0.0), DeferralVerdict.EQUAL),
        (UncertainValue(-1e-9, 0.0, 1e-9), DeferralVerdict.EQUAL),
    ],
)
def test_a_verdict_holds_from_end_to_end(saved: UncertainValue, verdict: DeferralVerdict) -> None:
    assert judge_saving(saved, 1000.0) is verdict


def test_case_matches_the_calculation_by_hand() -> None:
    sums, verdict = judge_deferral(BY_HAND)
    assert verdict is DeferralVerdict.WAIT
    assert sums is not None
    assert sums.gap_usd == UncertainValue.exactly(9000.0)
    assert sums.avoided_usd == UncertainValue.exactly(6000.0)
    assert sums.waiting_usd == UncertainValue.exactly(3000.0)
    assert sums.gain_usd == UncertainValue.exactly(12_000.0)
    assert sums.saved_usd == UncertainValue.exactly(9000.0)
    assert sums.wait_share == 1.0


def test_tipping_points_match_the_calculation_by_hand() -> None:
    """16 months without the next part: a delivery in month 25, a slip of 10, a launch that is past."""
    turns = find_turns(BY_HAND, 9.0, SOON, NO_SLIP)
    assert (turns.gap_months, turns.delivery_months, turns.slip_months) == (16.0, 25.0, 10.0)
    assert turns.launch_months is None
    assert find_turns(BY_HAND, 9.0, UncertainValue.exactly(20.0), UncertainValue.exactly(5.0)).launch_months == 9.0
    assert turns.usd_per_million == pytest.approx((0.45, 0.45, 0.45))


def test_break_even_price_matches_the_calculation_by_hand() -> None:
    """A month is 100 USD and 2 for each 100 of the price, so that 900 allow for 40,000."""
    priced = replace(BY_HAND, priced=MonthlyCostByPrice(100.0, 0.02))
    assert find_turns(priced, 9.0, SOON, NO_SLIP).price_usd == UncertainValue.exactly(40_000.0)
    points = compute_price_points(priced)
    assert [point.price_usd for point in points] == [20_000.0, 30_000.0, 40_000.0, 50_000.0, 60_000.0]
    assert [point.saved_usd.likely for point in points] == [12_000.0, 6000.0, 0.0, -6000.0, -12_000.0]
    assert [point.verdict for point in points] == [
        DeferralVerdict.WAIT,
        DeferralVerdict.WAIT,
        DeferralVerdict.EQUAL,
        DeferralVerdict.BUY,
        DeferralVerdict.BUY,
    ]


def test_a_price_is_found_where_the_next_part_has_none() -> None:
    unpriced = replace(BY_HAND, following=None, priced=MonthlyCostByPrice(100.0, 0.02))
    assert judge(unpriced) is DeferralVerdict.OPEN
    assert judge_deferral(unpriced)[0] is None
    assert find_turns(unpriced, 9.0, SOON, NO_SLIP).price_usd == UncertainValue.exactly(40_000.0)
    assert compute_price_points(unpriced)[0].verdict is DeferralVerdict.WAIT


def test_no_price_is_reported_if_none_changes_the_verdict() -> None:
    """No month is left for the next part in the one case, rent is as cheap as owning in the other."""
    unpriced = replace(BY_HAND, following=None, priced=MonthlyCostByPrice(100.0, 0.02), chosen_price_usd=20_000.0)
    too_late = replace(unpriced, gap=36.0)
    assert judge(too_late) is DeferralVerdict.BUY
    assert find_turns(too_late, 9.0, SOON, NO_SLIP).price_usd is None
    assert {point.verdict for point in compute_price_points(too_late)} == {DeferralVerdict.BUY}
    cheap_rent = replace(unpriced, without=800.0)
    assert judge(cheap_rent) is DeferralVerdict.WAIT
    assert find_turns(cheap_rent, 9.0, SOON, NO_SLIP).price_usd is None
    assert {point.verdict for point in compute_price_points(cheap_rent)} == {DeferralVerdict.WAIT}


def test_unknown_cost_of_a_gap_matters_only_if_there_is_a_gap() -> None:
    in_time = replace(BY_HAND, gap=0.0, without=None)
    sums, verdict = judge_deferral(in_time)
    assert verdict is DeferralVerdict.WAIT
    assert sums is not None
    assert sums.saved_usd == UncertainValue.exactly(400.0 * 36)
    assert judge(replace(in_time, gap=1.0)) is DeferralVerdict.OPEN


@pytest.mark.parametrize(
    "amounts",
    [
        replace(BY_HAND, gap=None),
        replace(BY_HAND, buy=None),
        replace(BY_HAND, following=None),
        replace(BY_HAND, without=None),
    ],
)
def test_unknown_facts_decide_nothing(amounts: CourseAmounts) -> None:
    assert judge(amounts) is DeferralVerdict.OPEN
    assert judge_likely(amounts) is DeferralVerdict.OPEN
    assert judge_deferral(amounts)[0] is None


def test_the_gap_that_ties_is_known_before_the_delivery_is() -> None:
    turns = find_turns(replace(BY_HAND, gap=None), 9.0, None, NO_SLIP)
    assert (turns.gap_months, turns.delivery_months, turns.slip_months) == (16.0, 25.0, None)


def test_without_a_next_part_waiting_is_going_on_without() -> None:
    none = replace(BY_HAND, following=None, waits=False, gap=36.0)
    sums, verdict = judge_deferral(none)
    assert verdict is DeferralVerdict.BUY
    assert sums is not None
    assert sums.saved_usd == UncertainValue.exactly(-500.0 * 36)
    turns = find_turns(none, 9.0, None, NO_SLIP)
    assert (turns.gap_months, turns.usd_per_million) == (None, None)


def test_wide_uncertainty_leaves_the_verdict_open_with_a_likely_one() -> None:
    """The first of an array is likely, all others are draws."""
    gaps = np.array([6.0, *np.linspace(0.0, 30.0, 1000)])
    sums, verdict = judge_deferral(replace(BY_HAND, gap=gaps))
    assert verdict is DeferralVerdict.OPEN
    assert judge_likely(replace(BY_HAND, gap=gaps)) is DeferralVerdict.WAIT
    assert sums is not None
    assert sums.saved_usd.likely == 9000.0
    assert sums.wait_share == pytest.approx(16 / 30, abs=0.01)


@given(buy=money, following=money, without=money, launch=st.floats(0.0, 24.0), later=st.floats(0.1, 12.0))
def test_the_verdict_turns_exactly_at_its_break_even(
    buy: float, following: float, without: float, launch: float, later: float
) -> None:
    amounts = CourseAmounts(months=36.0, gap=0.0, buy=buy, following=following, without=without)
    turns = find_turns(amounts, launch, UncertainValue.exactly(0.0), NO_SLIP)
    if turns.gap_months is None:
        verdicts = {judge(replace(amounts, gap=gap)) for gap in np.linspace(0.0, 36.0, 13).tolist()}
        assert len(verdicts - {DeferralVerdict.EQUAL}) <= 1
        return
    assert turns.delivery_months == pytest.approx(launch + turns.gap_months)
    assert judge(replace(amounts, gap=turns.gap_months)) is DeferralVerdict.EQUAL
    if turns.gap_months >= later and without > min(following, without) * 1.001:
        assert judge(replace(amounts, gap=turns.gap_months - later)) is DeferralVerdict.WAIT
    if turns.gap_months + later <= 36.0 and without > min(following, without) * 1.001:
        assert judge(replace(amounts, gap=turns.gap_months + later)) is DeferralVerdict.BUY


@given(buy=money, without=money, gap=st.floats(0.0, 35.0), slope=st.floats(1e-4, 1.0))
def test_the_verdict_turns_exactly_at_its_price(buy: float, without: float, gap: float, slope: float) -> None:
    amounts = CourseAmounts(36.0, gap, buy, None, without, priced=MonthlyCostByPrice(5.0, slope))
    price = find_turns(amounts, 0.0, UncertainValue.exactly(gap), NO_SLIP).price_usd
    if price is None:
        return
    assert math.isfinite(price.likely)
    at = [judge(replace(amounts, following=5.0 + slope * price.likely * share)) for share in (0.5, 1.0, 1.5)]
    assert at[1] is DeferralVerdict.EQUAL
    if slope * price.likely > 1.0 and without > buy * 1.001:
        assert at[0] is DeferralVerdict.WAIT
        assert at[2] is DeferralVerdict.BUY


#: From the verdict that waiting likes least to the one that it likes most.
_LEANING = (DeferralVerdict.BUY, DeferralVerdict.OPEN, DeferralVerdict.EQUAL, DeferralVerdict.WAIT)


@given(buy=money, following=money, without=money, gap=st.floats(0.0, 30.0), later=st.floats(0.0, 30.0))
def test_no_slip_leans_to_waiting(buy: float, following: float, without: float, gap: float, later: float) -> None:
    amounts = CourseAmounts(months=36.0, gap=gap, buy=buy, following=following, without=without)
    late = replace(amounts, gap=min(gap + later, 36.0))
    assert _LEANING.index(judge(late)) <= _LEANING.index(judge(amounts))
