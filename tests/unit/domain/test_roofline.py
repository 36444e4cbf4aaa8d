"""Rooflines and shares: never above a roof, adding up, and of one mind with the estimate."""

from __future__ import annotations

import pytest

from gpudesk.domain.deployment_analysis import PREFILL_SHARE, RooflineCeiling, TimeShare
from gpudesk.domain.estimate import Estimate, EstimateRequest, Limiter, Load, LoadKind, ParallelPlan
from gpudesk.domain.precision import Precision
from gpudesk.estimation.estimator import Estimator
from tests.unit.domain.asking import ask, closed

LOADS = [
    closed(1),
    closed(64),
    closed(200, 1000),
    Load(LoadKind.BATCH, batch=32),
    Load(LoadKind.SATURATE, requests=500),
    Load(LoadKind.REQUEST_RATE, request_rate=0.1),
    Load(LoadKind.LIMITS, ttft_ms=20_000.0, tpot_ms=500.0),
]
DEPLOYMENTS = [
    ("h200-sxm", "llama-3.1-70b", "fp8", {"count": 1}),
    ("mi325x", "llama-3.1-405b", "bf16", {"count": 8}),
    ("b200-hgx", "gpt-oss-120b", "mxfp4", {"count": 2}),
    ("mi355x", "deepseek-r1", "mxfp4", {"count": 8}),
    ("h200-sxm", "deepseek-r1", "fp8", {"tp": 8, "ep": 8, "pp": 1, "dp": 1, "attention_dp": True}),
    ("h100-sxm", "llama-3.1-70b", "fp8", {"tp": 2, "pp": 2, "dp": 1}),
    ("a100-80gb-sxm", "gemma-3-27b", "int4", {"count": 1}),
    ("mi300x", "qwen3-next-80b-a3b", "fp8", {"count": 2}),
]
CASES = [
    ask(part, model, weights, load, (3000, 400), kv="fp8" if kind % 2 else "fp16", **rest)
    for part, model, weights, rest in DEPLOYMENTS
    for kind, load in enumerate(LOADS)
]


def fitting(estimator: Estimator, request: EstimateRequest) -> Estimate:
    estimate = estimator.estimate(request)
    assert estimate.fits
    return estimate


def test_a_roof_rises_to_its_ridge() -> None:
    roof = RooflineCeiling(bandwidth=4e12, flops=2e15)
    assert roof.ridge == 500.0
    assert roof.at(250.0) == 1e15
    assert roof.at(5000.0) == 2e15


def test_no_point_lies_above_its_roofs(subtests: pytest.Subtests, estimator: Estimator) -> None:
    for request in CASES:
        with subtests.test(part=request.accelerator, model=request.model, load=request.workload.load):
            roofline = estimator.roofline(fitting(estimator, request))
            assert roofline is not None
            assert roofline.effective.bandwidth < roofline.paper.bandwidth
            assert roofline.effective.flops < roofline.paper.flops
            assert roofline.prefill is not None
            assert roofline.decode is not None
            assert 0 < roofline.prefill.flops <= roofline.effective.at(roofline.prefill.intensity) * (1 + 1e-9)
            assert 0 < roofline.decode.flops <= roofline.effective.bandwidth * roofline.decode.intensity * (1 + 1e-9)
            assert roofline.decode.flops <= roofline.paper.at(roofline.decode.intensity) * (1 + 1e-9)
            assert roofline.decode.intensity < roofline.prefill.intensity


def test_points_of_a_dense_model_by_hand(estimator: Estimator) -> None:
    request = ask("h200-sxm", "llama-3.1-70b", "fp8", closed(64), (2000, 500), count=1, kv="fp8")
    roofline = estimator.roofline(fitting(estimator, request))
    assert roofline is not None
    assert roofline.arithmetic is Precision.FP8
    assert roofline.paper.bandwidth == 4.8e12
    assert roofline.paper.flops == pytest.approx(1.979e15, rel=1e-3)
    assert roofline.decode is not None
    assert roofline.prefill is not None
    inner, head, layers = 80 * (8192 * (2 * 8192 + 2 * 1024) + 3 * 8192 * 28672), 8192 * 128256, 80
    cache = layers * 2 * 8 * 128 * 2250
    assert roofline.decode.tokens == 64
    assert roofline.decode.read_bytes == pytest.approx(inner + 2 * head + 64 * cache, rel=1e-3)
    attention = layers * 2 * 64 * (128 + 128) * 2250
    assert roofline.decode.flop == pytest.approx(64 * (2 * inner + 2 * head + attention), rel=1e-3)
    within = layers * 2 * 64 * (128 + 128) * 1000
    chunk = roofline.prefill.tokens
    assert roofline.prefill.flop == pytest.approx(chunk * (2 * inner + within + 2 * head / 2000), rel=1e-3)


def test_ranks_share_the_bytes_and_the_arithmetic(estimator: Estimator) -> None:
    one, two = (
        estimator.roofline(fitting(estimator, ask("mi325x", "llama-3.1-70b", "fp8", closed(8), tp=tp, pp=1, dp=1)))
        for tp in (1, 2)
    )
    assert one is not None
    assert two is not None
    assert one.decode is not None
    assert two.decode is not None
    assert two.decode.flop == pytest.approx(one.decode.flop / 2, rel=1e-3)
    assert two.decode.read_bytes == pytest.approx(one.decode.read_bytes / 2, rel=1e-3)


def test_idle_pipeline_stages_do_no_arithmetic(estimator: Estimator) -> None:
    plan = ParallelPlan(tp=1, pp=2)
    request = ask("mi325x", "llama-3.1-70b", "fp8", closed(1), tp=plan.tp, pp=plan.pp, dp=1)
    one = estimator.roofline(fitting(estimator, request))
    alone = estimator.roofline(fitting(estimator, ask("mi325x", "llama-3.1-70b", "fp8", closed(1), count=1)))
    assert one is not None
    assert alone is not None
    assert one.decode is not None
    assert alone.decode is not None
    assert one.decode.flops < 0.55 * alone.decode.flops


def test_a_single_output_token_has_no_decode_point(estimator: Estimator) -> None:
    request = ask("h200-sxm", "llama-3.1-8b", "fp8", closed(4), (500, 1), count=1)
    estimate = fitting(estimator, request)
    roofline, shares = estimator.roofline(estimate), estimator.compute_time_shares(estimate)
    assert roofline is not None
    assert shares is not None
    assert roofline.decode is None
    assert roofline.prefill is not None
    assert shares.token is None


def adds_up(shares: tuple[TimeShare, ...]) -> bool:
    return sum(share for _, share in shares) == pytest.approx(1.0, abs=1e-12) and min(shares)[1] >= 0


def test_shares_add_up_and_the_largest_is_the_limiter(subtests: pytest.Subtests, estimator: Estimator) -> None:
    for request in CASES:
        with subtests.test(part=request.accelerator, model=request.model, load=request.workload.load):
            estimate = fitting(estimator, request)
            shares = estimator.compute_time_shares(estimate)
            assert shares is not None
            for parts in (shares.run, shares.decode, shares.prefill, shares.token):
                assert parts is not None
                assert adds_up(parts)
            if estimate.limiter is not Limiter.CAPACITY:
                assert max(shares.run, key=lambda each: each.share).name == estimate.limiter


def test_prefill_is_mixed_into_the_tokens_of_many_but_not_of_one(estimator: Estimator) -> None:
    alone, busy = (
        estimator.compute_time_shares(
            fitting(estimator, ask("h200-sxm", "llama-3.1-70b", "fp8", closed(n), (4000, 200), count=1, kv="fp8"))
        )
        for n in (1, 32)
    )
    assert alone is not None
    assert busy is not None
    assert alone.token is not None
    assert busy.token is not None
    assert dict(alone.token)[PREFILL_SHARE] == pytest.approx(0.0, abs=1e-9)
    assert dict(busy.token)[PREFILL_SHARE] > 0.2


def test_the_time_of_a_request_is_divided_without_rest(subtests: pytest.Subtests, estimator: Estimator) -> None:
    for request in CASES:
        with subtests.test(part=request.accelerator, model=request.model, load=request.workload.load):
            estimate = fitting(estimator, request)
            time = estimator.request_time(estimate)
            assert estimate.request_s is not None
            assert estimate.ttft_ms is not None
            assert time is not None
            assert sum(time) == pytest.approx(estimate.request_s.value, rel=1e-12)
            assert time.queue_s + time.prefill_s == pytest.approx(estimate.ttft_ms.value / 1e3, rel=1e-12)
            assert time.queue_s >= 0
            assert time.prefill_s > 0
            assert time.decode_s > 0


def test_roofline_and_times_are_none_without_fit_or_with_overload(estimator: Estimator) -> None:
    unfit = estimator.estimate(ask("h200-sxm", "llama-3.1-405b", "fp16", closed(1), count=1))
    assert estimator.roofline(unfit) is None
    assert estimator.compute_time_shares(unfit) is None
    assert estimator.request_time(unfit) is None
    overload = Load(LoadKind.REQUEST_RATE, request_rate=1e6)
    endless = fitting(estimator, ask("h200-sxm", "llama-3.1-8b", "fp8", overload, count=1))
    assert estimator.request_time(endless) is None
    shares = estimator.compute_time_shares(endless)
    assert shares is not None
    assert shares.token is None


def test_limits_that_nothing_meets_leave_the_roofs(estimator: Estimator) -> None:
    load = Load(LoadKind.LIMITS, ttft_ms=1.0, tpot_ms=0.01)
    roofline = estimator.roofline(fitting(estimator, ask("h200-sxm", "llama-3.1-70b", "fp8", load, count=8)))
    assert roofline is not None
    assert roofline.decode is None
    assert roofline.prefill is None
    assert roofline.effective.ridge > 0
