"""Curves: through the estimates that they belong to, up to where memory ends, and computed once."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import pytest

from gpudesk.domain.answer import ConcurrencyCurve, LimiterShares
from gpudesk.domain.estimate import Estimate, EstimateRequest, Load, LoadKind
from gpudesk.estimation.estimator import Estimator
from gpudesk.estimation.operation import list_curve_points
from tests.unit.domain.asking import ask, closed

FIGURES = ("output_tokens_per_s", "output_tokens_per_s_per_accelerator", "ttft_ms", "tpot_ms")

SEVENTY = ask("h200-sxm", "llama-3.1-70b", "fp8", closed(77), count=1, kv="fp8")
REQUESTS = [
    SEVENTY,
    ask("mi325x", "llama-3.1-70b", "fp8", closed(64), count=2),
    ask("b200-hgx", "gpt-oss-120b", "mxfp4", closed(500), count=8),
    ask("h200-sxm", "deepseek-r1", "fp8", closed(37), count=8),
    ask("mi355x", "qwen3-235b-a22b", "fp8", closed(100, 500), count=8),
    ask("h100-sxm", "gemma-3-27b", "fp8", closed(13), (9000, 300), count=4),
]


def make_curves(estimator: Estimator, request: EstimateRequest) -> tuple[Estimate, ConcurrencyCurve]:
    estimate = estimator.estimate(request)
    (curve,) = estimator.curves([estimate])
    return estimate, curve


def at_plan_of(estimate: Estimate, load: Load) -> EstimateRequest:
    plan = estimate.plan
    return replace(
        estimate.request,
        count=estimate.count,
        serving_engine=estimate.serving_engine,
        tp=plan.tp,
        pp=plan.pp,
        ep=plan.ep,
        dp=plan.dp,
        attention_dp=plan.attention_dp,
        workload=replace(estimate.request.workload, load=load),
    )


def test_points_are_one_powers_of_two_and_the_end() -> None:
    points = list_curve_points(469)
    assert points[0] == 1
    assert points[-1] == 469
    assert {1, 2, 4, 8, 16, 32, 64, 128, 256} < set(points)
    assert list(points) == sorted(set(points))
    assert list_curve_points(1) == (1,)
    assert list_curve_points(3) == (1, 2, 3)


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.model)
def test_the_estimate_is_a_point_of_its_curve(estimator: Estimator, request_: EstimateRequest) -> None:
    estimate, curve = make_curves(estimator, request_)
    assert estimate.concurrency == request_.workload.load.concurrency
    place = curve.concurrency.index(estimate.concurrency)
    for name in FIGURES:
        assert getattr(curve, name)[place] == getattr(estimate, name)
    assert curve.limiter[place] == estimate.limiter
    assert list(curve.concurrency) == sorted(set(curve.concurrency))
    assert curve.concurrency[-1] == curve.max_concurrency == estimate.max_concurrency
    lengths = {len(getattr(curve, name)) for name in (*FIGURES, "limiter", "concurrency")}
    assert lengths == {len(curve.concurrency)}


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.model)
def test_every_point_equals_the_estimate(estimator: Estimator, request_: EstimateRequest) -> None:
    estimate, curve = make_curves(estimator, request_)
    finite = request_.workload.load.requests
    for place in range(0, len(curve.concurrency), 7):
        point = curve.concurrency[place]
        if finite is not None and (point * finite) % (request_.workload.load.concurrency or 1):
            continue
        run = None if finite is None else point * finite // (request_.workload.load.concurrency or 1)
        there = estimator.estimate(at_plan_of(estimate, closed(point, run)))
        assert there.plan == estimate.plan
        assert curve.limiter[place] == there.limiter
        for name in FIGURES:
            assert getattr(curve, name)[place] == pytest.approx(getattr(there, name), rel=1e-12)


def test_many_curves_at_once_are_those_of_each_alone(estimator: Estimator) -> None:
    estimates = [estimator.estimate(request) for request in REQUESTS]
    together = estimator.curves(estimates)
    assert together == tuple(estimator.curves([estimate])[0] for estimate in estimates)
    assert estimator.curves([]) == ()


def test_dragging_the_concurrency_moves_one_point(estimator: Estimator) -> None:
    _, before = make_curves(estimator, SEVENTY)
    _, after = make_curves(estimator, replace(SEVENTY, workload=replace(SEVENTY.workload, load=closed(78))))
    points = [point for point in before.concurrency if point not in (77, 78)]
    assert points == [point for point in after.concurrency if point not in (77, 78)]
    assert 78 in after.concurrency
    for point in points:
        one, two = before.concurrency.index(point), after.concurrency.index(point)
        assert before.output_tokens_per_s[one] == after.output_tokens_per_s[two]


def test_more_in_flight_than_memory_holds_is_no_point(estimator: Estimator) -> None:
    request = ask("h100-sxm", "llama-3.1-70b", "fp8", closed(64), count=1)
    estimate, curve = make_curves(estimator, request)
    assert estimate.max_concurrency < 64
    assert curve.concurrency[-1] == estimate.max_concurrency


@pytest.mark.parametrize(
    "load",
    [
        Load(LoadKind.BATCH, batch=48),
        Load(LoadKind.SATURATE, requests=500),
        Load(LoadKind.REQUEST_RATE, request_rate=2.0),
        Load(LoadKind.LIMITS, ttft_ms=2000.0, tpot_ms=50.0),
    ],
    ids=lambda load: load.kind,
)
def test_any_other_load_gets_the_closed_loop_of_its_deployment(estimator: Estimator, load: Load) -> None:
    request = ask("mi300x", "llama-3.1-70b", "fp8", load, count=8)
    estimate, curve = make_curves(estimator, request)
    assert curve.max_concurrency == estimate.max_concurrency
    assert curve.concurrency == list_curve_points(estimate.max_concurrency)
    work = request.workload
    # The requests of a batch are equal, in its closed loop too.
    alike = replace(work, server=work.behind_server, varied=work.uneven)
    same = replace(estimate.request, workload=alike)
    there = estimator.estimate(at_plan_of(replace(estimate, request=same), closed(64)))
    place = curve.concurrency.index(64)
    assert curve.output_tokens_per_s[place] == pytest.approx(there.output_tokens_per_s, rel=1e-12)


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.model)
def test_shares_add_up_and_the_largest_limits(estimator: Estimator, request_: EstimateRequest) -> None:
    _, curve = make_curves(estimator, request_)
    names = [field.name for field in fields(LimiterShares)]
    for place, limiter in enumerate(curve.limiter):
        shares = {name.replace("_", " "): getattr(curve.shares, name)[place] for name in names}
        assert sum(shares.values()) == pytest.approx(1.0, abs=1e-12)
        assert min(shares.values()) >= 0.0
        if limiter != "capacity":
            assert max(shares, key=lambda name: shares[name]) == limiter


def test_where_the_serving_engine_admits_fewer_than_memory_capacity_limits(estimator: Estimator) -> None:
    request = ask("mi325x", "llama-3.1-8b", "fp8", closed(16), (200, 200), count=1, max_batch=32)
    _, curve = make_curves(estimator, request)
    beyond = {limiter for point, limiter in zip(curve.concurrency, curve.limiter, strict=True) if point > 32}
    below = {limiter for point, limiter in zip(curve.concurrency, curve.limiter, strict=True) if point <= 32}
    assert beyond == {"capacity"}
    assert "capacity" not in below


def test_a_single_output_token_has_no_tpot(estimator: Estimator) -> None:
    _, curve = make_curves(estimator, ask("h200-sxm", "llama-3.1-8b", "fp8", closed(4), (100, 1), count=1))
    assert all(math.isnan(value) for value in curve.tpot_ms.value)
    assert all(value > 0 for value in curve.ttft_ms.low)
