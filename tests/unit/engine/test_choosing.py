"""Which plan is chosen: by its rate, or by its distance to limits that none meets."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.domain.estimate import LoadKind, ParallelPlan
from gpudesk.engine.serving import LowestLimits, find_lowest_limits, score_plans
from gpudesk.engine.steps import Array
from tests.unit.engine import published
from tests.unit.engine.bench import H200, SERVING, Case, loads_of, plant, requests_of, rows_of, serve_cases, serve_one
from tests.unit.engine.strategies import cases

PLANS = [plant(H200, published.llama_3_1_70b(), ParallelPlan(tp=tp)) for tp in (2, 4, 8)]


def least(case: Case) -> LowestLimits:
    """Return the limits of TTFT and TPOT that one request in flight meets, in seconds."""
    return find_lowest_limits(rows_of(case.row), requests_of([case]), loads_of([case]), SERVING)


def scores(cases: list[Case]) -> Array:
    """Return by what the cases are ranked."""
    rows, requests, loads = rows_of(*(case.row for case in cases)), requests_of(cases), loads_of(cases)
    return score_plans(rows, requests, loads, serve_cases(cases), SERVING)


def within(ttft: float, tpot: float, *, p99: bool = True) -> list[Case]:
    """Return the same limits in seconds for every plan."""
    one = Case(PLANS[0].row, 1000.0, 500.0, 50.0, LoadKind.LIMITS, ttft=ttft, tpot=tpot, p99=p99)
    return [replace(one, row=each.row) for each in PLANS]


@given(cases((LoadKind.LIMITS,)), st.booleans())
def test_one_request_meets_the_least_limits_and_none_below(case: Case, first: bool) -> None:
    limits = least(case)
    ttft, tpot = limits.ttft.item(), limits.tpot.item()
    within_limits = replace(case, ttft=ttft * (1 + 1e-9), tpot=math.inf if math.isnan(tpot) else tpot * (1 + 1e-9))
    assert serve_one(within_limits).running >= 1
    if first:
        assert serve_one(replace(within_limits, ttft=ttft * (1 - 1e-6))).running == 0
    elif not math.isnan(tpot):
        # Requests whose few steps share stages of a pipeline can have a mean that is lower by 0.2%.
        assert serve_one(replace(within_limits, tpot=tpot * (1 - 5e-3))).running == 0


def test_of_plans_that_meet_the_limits_the_fastest_wins() -> None:
    limits_case = within(30.0, 0.2)
    rates = serve_cases(limits_case).rate
    assert np.all(rates > 0)
    assert scores(limits_case).argmax() == rates.argmax()
    assert scores(limits_case) == pytest.approx(rates, rel=1e-3)


@pytest.mark.parametrize("p99", [True, False])
def test_where_none_meets_them_the_nearest_wins(p99: bool) -> None:
    limits_case = within(1e-3, 1e-3, p99=p99)
    missed = [least(case).compute_miss_factor(loads_of([case])).item() for case in limits_case]
    assert min(missed) > 1.0
    assert scores(limits_case) == pytest.approx([-times for times in missed])


def test_a_plan_that_meets_the_limits_is_before_all_that_do_not() -> None:
    # Between what one request needs on four and on eight accelerators.
    tpot = math.sqrt(math.prod(least(case).tpot.item() for case in within(30.0, 1.0)[1:]))
    limits_case = within(30.0, tpot)
    assert np.isnan(serve_cases(limits_case).rate).tolist() == [True, True, False]
    assert (scores(limits_case) > 0).tolist() == [False, False, True]
