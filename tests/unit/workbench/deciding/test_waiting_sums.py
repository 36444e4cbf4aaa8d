"""Verdicts on what is known: they turn where they are said to turn, and nothing unknown is decided."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.domain.buying import Verdict
from gpudesk.domain.ranges import Range
from gpudesk.workbench.deciding.waiting_sums import (
    Known,
    PricedMonth,
    judged,
    judged_sums,
    likely_verdict,
    price_points,
    turns_of,
)

#: The case worked out by hand in the tests of the arithmetic: waiting saves 9,000 USD.
BY_HAND = Known(months=36.0, gap=6.0, buy=1000.0, following=600.0, without=1500.0, tokens=2e9)
NO_SLIP = Range.exactly(0.0)
SOON = Range.exactly(15.0)

money = st.floats(10.0, 1e5)


def verdict(known: Known) -> Verdict:
    return judged_sums(known)[1]


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        (Range(1.0, 2.0, 3.0), Verdict.WAIT),
        (Range(0.0, 0.0, 3.0), Verdict.WAIT),
        (Range(-3.0, -2.0, -1.0), Verdict.BUY),
        (Range(-3.0, 0.0, 0.0), Verdict.BUY),
        (Range(-1.0, 2.0, 3.0), Verdict.OPEN),
        (Range(0.0, 0.0, 0.0), Verdict.EQUAL),
        (Range(-1e-9, 0.0, 1e-9), Verdict.EQUAL),
    ],
)
def test_a_verdict_holds_from_end_to_end(saved: Range, said: Verdict) -> None:
    assert judged(saved, 1000.0) is said


def test_the_case_worked_out_by_hand() -> None:
    sums, said = judged_sums(BY_HAND)
    assert said is Verdict.WAIT
    assert sums is not None
    assert sums.gap_usd == Range.exactly(9000.0)
    assert sums.avoided_usd == Range.exactly(6000.0)
    assert sums.waiting_usd == Range.exactly(3000.0)
    assert sums.gain_usd == Range.exactly(12_000.0)
    assert sums.saved_usd == Range.exactly(9000.0)
    assert sums.wait_share == 1.0


def test_where_the_case_turns_was_worked_out_by_hand() -> None:
    """16 months without the next part: a delivery in month 25, a slip of 10, a launch that is past."""
    turns = turns_of(BY_HAND, 9.0, SOON, NO_SLIP)
    assert (turns.gap_months, turns.delivery_months, turns.slip_months) == (16.0, 25.0, 10.0)
    assert turns.launch_months is None
    assert turns_of(BY_HAND, 9.0, Range.exactly(20.0), Range.exactly(5.0)).launch_months == 9.0
    assert turns.usd_per_million == pytest.approx((0.45, 0.45, 0.45))


def test_a_price_that_ties_was_worked_out_by_hand() -> None:
    """A month is 100 USD and 2 for each 100 of the price, so that 900 allow for 40,000."""
    priced = replace(BY_HAND, priced=PricedMonth(100.0, 0.02))
    assert turns_of(priced, 9.0, SOON, NO_SLIP).price_usd == Range.exactly(40_000.0)
    points = price_points(priced)
    assert [point.price_usd for point in points] == [20_000.0, 30_000.0, 40_000.0, 50_000.0, 60_000.0]
    assert [point.saved_usd.likely for point in points] == [12_000.0, 6000.0, 0.0, -6000.0, -12_000.0]
    assert [point.verdict for point in points] == [
        Verdict.WAIT,
        Verdict.WAIT,
        Verdict.EQUAL,
        Verdict.BUY,
        Verdict.BUY,
    ]


def test_a_price_is_found_where_the_next_part_has_none() -> None:
    unpriced = replace(BY_HAND, following=None, priced=PricedMonth(100.0, 0.02))
    assert verdict(unpriced) is Verdict.OPEN
    assert judged_sums(unpriced)[0] is None
    assert turns_of(unpriced, 9.0, SOON, NO_SLIP).price_usd == Range.exactly(40_000.0)
    assert price_points(unpriced)[0].verdict is Verdict.WAIT


def test_what_no_price_turns_is_told_without_one() -> None:
    """No month is left for the next part in the one case, rent is as cheap as owning in the other."""
    unpriced = replace(BY_HAND, following=None, priced=PricedMonth(100.0, 0.02), chosen_price_usd=20_000.0)
    too_late = replace(unpriced, gap=36.0)
    assert verdict(too_late) is Verdict.BUY
    assert turns_of(too_late, 9.0, SOON, NO_SLIP).price_usd is None
    assert {point.verdict for point in price_points(too_late)} == {Verdict.BUY}
    cheap_rent = replace(unpriced, without=800.0)
    assert verdict(cheap_rent) is Verdict.WAIT
    assert turns_of(cheap_rent, 9.0, SOON, NO_SLIP).price_usd is None
    assert {point.verdict for point in price_points(cheap_rent)} == {Verdict.WAIT}


def test_a_month_without_need_not_cost_anything_that_is_known_where_there_is_none() -> None:
    in_time = replace(BY_HAND, gap=0.0, without=None)
    sums, said = judged_sums(in_time)
    assert said is Verdict.WAIT
    assert sums is not None
    assert sums.saved_usd == Range.exactly(400.0 * 36)
    assert verdict(replace(in_time, gap=1.0)) is Verdict.OPEN


@pytest.mark.parametrize(
    "known",
    [
        replace(BY_HAND, gap=None),
        replace(BY_HAND, buy=None),
        replace(BY_HAND, following=None),
        replace(BY_HAND, without=None),
    ],
)
def test_nothing_unknown_is_decided(known: Known) -> None:
    assert verdict(known) is Verdict.OPEN
    assert likely_verdict(known) is Verdict.OPEN
    assert judged_sums(known)[0] is None


def test_the_gap_that_ties_is_known_before_the_delivery_is() -> None:
    turns = turns_of(replace(BY_HAND, gap=None), 9.0, None, NO_SLIP)
    assert (turns.gap_months, turns.delivery_months, turns.slip_months) == (16.0, 25.0, None)


def test_without_a_next_part_waiting_is_going_on_without() -> None:
    none = replace(BY_HAND, following=None, waits=False, gap=36.0)
    sums, said = judged_sums(none)
    assert said is Verdict.BUY
    assert sums is not None
    assert sums.saved_usd == Range.exactly(-500.0 * 36)
    turns = turns_of(none, 9.0, None, NO_SLIP)
    assert (turns.gap_months, turns.usd_per_million) == (None, None)


def test_a_doubt_that_spans_both_leaves_it_open_and_says_what_is_likely() -> None:
    """The first of an array is likely, all others are draws."""
    gaps = np.array([6.0, *np.linspace(0.0, 30.0, 1000)])
    sums, said = judged_sums(replace(BY_HAND, gap=gaps))
    assert said is Verdict.OPEN
    assert likely_verdict(replace(BY_HAND, gap=gaps)) is Verdict.WAIT
    assert sums is not None
    assert sums.saved_usd.likely == 9000.0
    assert sums.wait_share == pytest.approx(16 / 30, abs=0.01)


@given(buy=money, following=money, without=money, launch=st.floats(0.0, 24.0), later=st.floats(0.1, 12.0))
def test_the_verdict_turns_exactly_at_its_break_even(
    buy: float, following: float, without: float, launch: float, later: float
) -> None:
    known = Known(months=36.0, gap=0.0, buy=buy, following=following, without=without)
    turns = turns_of(known, launch, Range.exactly(0.0), NO_SLIP)
    if turns.gap_months is None:
        said = {verdict(replace(known, gap=gap)) for gap in np.linspace(0.0, 36.0, 13).tolist()}
        assert len(said - {Verdict.EQUAL}) <= 1
        return
    assert turns.delivery_months == pytest.approx(launch + turns.gap_months)
    assert verdict(replace(known, gap=turns.gap_months)) is Verdict.EQUAL
    if turns.gap_months >= later and without > min(following, without) * 1.001:
        assert verdict(replace(known, gap=turns.gap_months - later)) is Verdict.WAIT
    if turns.gap_months + later <= 36.0 and without > min(following, without) * 1.001:
        assert verdict(replace(known, gap=turns.gap_months + later)) is Verdict.BUY


@given(buy=money, without=money, gap=st.floats(0.0, 35.0), slope=st.floats(1e-4, 1.0))
def test_the_verdict_turns_exactly_at_its_price(buy: float, without: float, gap: float, slope: float) -> None:
    known = Known(36.0, gap, buy, None, without, priced=PricedMonth(5.0, slope))
    price = turns_of(known, 0.0, Range.exactly(gap), NO_SLIP).price_usd
    if price is None:
        return
    assert math.isfinite(price.likely)
    at = [verdict(replace(known, following=5.0 + slope * price.likely * share)) for share in (0.5, 1.0, 1.5)]
    assert at[1] is Verdict.EQUAL
    if slope * price.likely > 1.0 and without > buy * 1.001:
        assert at[0] is Verdict.WAIT
        assert at[2] is Verdict.BUY


#: From the verdict that waiting likes least to the one that it likes most.
_LEANING = (Verdict.BUY, Verdict.OPEN, Verdict.EQUAL, Verdict.WAIT)


@given(buy=money, following=money, without=money, gap=st.floats(0.0, 30.0), later=st.floats(0.0, 30.0))
def test_no_slip_leans_to_waiting(
    buy: float, following: float, without: float, gap: float, later: float
) -> None:
    known = Known(months=36.0, gap=gap, buy=buy, following=following, without=without)
    late = replace(known, gap=min(gap + later, 36.0))
    assert _LEANING.index(verdict(late)) <= _LEANING.index(verdict(known))
