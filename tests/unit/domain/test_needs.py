"""What is needed and what would help: each count and each remedy holds up when it is estimated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpudesk.domain.estimate import Estimate, EstimateRequest, Load, LoadKind
from gpudesk.domain.precision import STORAGE_FORMATS, Precision
from gpudesk.domain.sizing import FitRemedy, FitRemedyKind, SmallestDeployments
from gpudesk.estimation.estimator import Estimator
from gpudesk.estimation.operation import list_context_lengths
from gpudesk.text.messages import format_message
from tests.unit.domain.asking import ask, closed

PARTS = ("h200-sxm", "mi325x", "b200-hgx", "mi355x", "a100-80gb-sxm", "gaudi3", "rtx-5090", "mi210")
MODELS = (("llama-3.1-70b", "fp8"), ("llama-3.1-405b", "bf16"), ("gpt-oss-120b", "mxfp4"), ("deepseek-r1", "fp8"))
SIZES = (1, 2, 4, 8, 16, 32, 64)


def at(
    request: EstimateRequest, deployment: SmallestDeployments, count: int, load: Load | None = None
) -> EstimateRequest:
    work = request.workload if load is None else replace(request.workload, load=load)
    return replace(request, weights=deployment.weights, count=count, workload=work)


@pytest.mark.parametrize(("model", "weights"), MODELS)
@pytest.mark.parametrize("part", PARTS)
def test_counts_are_those_that_the_estimator_finds(estimator: Estimator, part: str, model: str, weights: str) -> None:
    request = ask(part, model, weights, closed(64), (2000, 500))
    (row,) = estimator.needed([request])
    assert [deployment.bits for deployment in row] == [16, 8, 4]
    for deployment in row:
        assert STORAGE_FORMATS[deployment.weights].bits == deployment.bits
        assert deployment.accelerator == part
        if deployment.one is not None:
            holds_one(estimator, request, deployment)
        if deployment.load is not None:
            holds_all(estimator, request, deployment)
        assert (deployment.reason is None) == (deployment.load is not None)
        if deployment.reason is not None:
            assert format_message(deployment.reason)


def holds_one(estimator: Estimator, request: EstimateRequest, deployment: SmallestDeployments) -> None:
    assert deployment.one is not None
    there = estimator.estimate(at(request, deployment, deployment.one.count, closed(1)))
    assert there.fits
    assert there.plan == deployment.one.plan
    if deployment.one.count in SIZES[1:]:
        fewer = estimator.estimate(at(request, deployment, SIZES[SIZES.index(deployment.one.count) - 1]))
        assert not fewer.fits
        assert fewer.needs == deployment.one.count


def holds_all(estimator: Estimator, request: EstimateRequest, deployment: SmallestDeployments) -> None:
    assert deployment.one is not None
    assert deployment.load is not None
    there = estimator.estimate(at(request, deployment, deployment.load.count))
    assert there.admitted == there.concurrency == 64
    assert there.plan == deployment.load.plan
    if deployment.load.count > deployment.one.count and deployment.load.count in SIZES:
        fewer = estimator.estimate(at(request, deployment, SIZES[SIZES.index(deployment.load.count) - 1]))
        assert (fewer.admitted or 0) < 64


def test_all_parts_at_once_are_each_alone(estimator: Estimator) -> None:
    requests = [ask(part, "llama-3.1-70b", "fp8", closed(64), count=1) for part in PARTS]
    assert estimator.needed(requests) == tuple(estimator.needed([request])[0] for request in requests)


def test_the_four_bit_format_is_what_runs_there(estimator: Estimator) -> None:
    def four_bits(part: str, model: str, weights: str = "fp8") -> Precision:
        (row,) = estimator.needed([ask(part, model, weights, closed(1))])
        return next(deployment.weights for deployment in row if deployment.bits == 4)

    assert four_bits("b200-hgx", "llama-3.1-70b") is Precision.NVFP4
    assert four_bits("mi355x", "llama-3.1-70b") is Precision.MXFP4
    assert four_bits("h200-sxm", "llama-3.1-70b") is Precision.INT4
    assert four_bits("h200-sxm", "gpt-oss-120b") is Precision.MXFP4
    assert four_bits("b200-hgx", "llama-3.1-70b", "int4") is Precision.INT4


def test_a_width_of_the_scenario_beyond_the_usual_has_its_row(estimator: Estimator) -> None:
    (row,) = estimator.needed([ask("mi355x", "llama-3.1-70b", "fp6", closed(1))])
    assert [deployment.bits for deployment in row] == [16, 8, 6, 4]


def test_load_without_a_concurrency_needs_one_request(estimator: Estimator) -> None:
    limits = Load(LoadKind.LIMITS, ttft_ms=2000.0, tpot_ms=50.0)
    (row,) = estimator.needed([ask("h200-sxm", "llama-3.1-70b", "fp8", limits)])
    assert all(
        deployment.one is not None and deployment.load is None and deployment.reason is None for deployment in row
    )


def test_load_that_no_count_holds_has_a_reason(estimator: Estimator) -> None:
    (row,) = estimator.needed([ask("h200-sxm", "llama-3.1-70b", "fp8", closed(10**6), (100_000, 1000))])
    assert all(deployment.one is not None and deployment.load is None for deployment in row)
    assert {deployment.reason.id for deployment in row if deployment.reason} == {"needed.load_too_large"}
    (row,) = estimator.needed([ask("h200-sxm", "devstral-2-123b", "fp8", closed(1))])
    assert {deployment.reason.id for deployment in row if deployment.reason} == {"model.no_dimensions"}


# What would make it fit


def estimate_with_remedies(
    estimator: Estimator, request: EstimateRequest
) -> tuple[Estimate, dict[FitRemedyKind, FitRemedy]]:
    estimate = estimator.estimate(request)
    remedies = estimator.remedies(estimate)
    return estimate, {remedy.kind: remedy for remedy in remedies}


def test_model_that_fits_needs_no_remedy(estimator: Estimator) -> None:
    fits = estimator.estimate(ask("h200-sxm", "llama-3.1-70b", "fp8", closed(8), count=1))
    assert estimator.remedies(fits) == ()
    queued = Load(LoadKind.SATURATE, requests=5000)
    assert estimator.remedies(estimator.estimate(ask("h200-sxm", "llama-3.1-70b", "fp8", queued))) == ()


def test_weights_that_do_not_fit_take_more_parts_or_fewer_bits(estimator: Estimator) -> None:
    request = ask("b200-hgx", "llama-3.1-405b", "fp8", closed(64), (4000, 1000), count=2)
    estimate, remedies = estimate_with_remedies(estimator, request)
    assert not estimate.fits
    assert list(remedies) == [FitRemedyKind.COUNT, FitRemedyKind.WEIGHTS, FitRemedyKind.CONCURRENCY]
    assert remedies[FitRemedyKind.COUNT].works
    assert remedies[FitRemedyKind.WEIGHTS].value is Precision.NVFP4
    assert remedies[FitRemedyKind.WEIGHTS].works
    fewer = remedies[FitRemedyKind.CONCURRENCY]
    assert not fewer.works
    assert fewer.reason is not None
    assert fewer.reason.id == "estimate.weights_do_not_fit"


def test_the_count_that_is_needed_and_the_one_that_holds_all_are_told_apart(estimator: Estimator) -> None:
    request = ask("h100-sxm", "llama-3.1-70b", "bf16", closed(256), (4000, 1000), count=1)
    estimate = estimator.estimate(request)
    counts = [remedy for remedy in estimator.remedies(estimate) if remedy.kind is FitRemedyKind.COUNT]
    one, all_ = counts
    assert one.value == estimate.needs
    assert one.works
    assert all_.works
    assert one.estimate is not None
    assert all_.estimate is not None
    assert all_.estimate.count > one.estimate.count
    assert all_.estimate.admitted == 256


@pytest.mark.parametrize(
    "changes", [{}, {"kv": Precision.FP8}, {"tp": 1, "pp": 1, "dp": 1}], ids=["free", "fp8 cache", "plan"]
)
def test_too_many_requests_are_held_by_each_remedy_that_works(estimator: Estimator, changes: dict[str, Any]) -> None:
    request = ask("h100-sxm", "llama-3.1-70b", "fp8", closed(30), (1000, 500), count=1, **changes)
    estimate, deployment = estimate_with_remedies(estimator, request)
    assert estimate.fits
    assert (estimate.admitted or 0) < 30
    assert deployment[FitRemedyKind.CONCURRENCY].value == estimate.admitted
    assert (FitRemedyKind.KV in deployment) == (request.kv is not Precision.FP8)
    for remedy in deployment.values():
        assert remedy.estimate is not None
        enough = remedy.estimate.fits and remedy.estimate.admitted == remedy.estimate.concurrency
        assert remedy.works == enough
        assert remedy.works == (remedy.reason is None)
    assert deployment[FitRemedyKind.COUNT].works
    assert deployment[FitRemedyKind.CONCURRENCY].works
    assert deployment[FitRemedyKind.WEIGHTS].works


def test_more_of_the_memory_helps_where_the_usual_share_keeps_requests_waiting(estimator: Estimator) -> None:
    def make_request(clients: int, **changes: Any) -> EstimateRequest:  # noqa: ANN401 - any field of the request
        return ask("h100-sxm", "llama-3.1-70b", "fp8", closed(clients), (1000, 500), count=2, **changes)

    crowded = estimator.estimate(make_request(5000))
    usual, most = crowded.admitted or 0, crowded.max_concurrency
    assert usual < most < 5000
    for clients, helps in ((usual, False), (usual + 1, True), (most, True), (most + 1, False)):
        estimate, deployment = estimate_with_remedies(estimator, make_request(clients))
        assert (FitRemedyKind.FRACTION in deployment) is helps
        if helps:
            assert next(iter(deployment)) is FitRemedyKind.FRACTION
            remedy = deployment[FitRemedyKind.FRACTION]
            assert remedy.works
            with_more_memory = estimator.estimate(make_request(clients, memory_fraction=remedy.value))
            assert with_more_memory.admitted == clients > (estimate.admitted or 0)


def test_a_fraction_that_is_too_small_is_raised_to_what_is_safe(estimator: Estimator) -> None:
    request = ask("h200-sxm", "llama-3.1-70b", "fp16", closed(1), count=1, memory_fraction=0.9)
    estimate, deployment = estimate_with_remedies(estimator, request)
    assert not estimate.fits
    remedy = deployment[FitRemedyKind.FRACTION]
    assert remedy.works
    assert isinstance(remedy.value, float)
    crowded = replace(request, memory_fraction=remedy.value, workload=ask("", "", "fp16", closed(64)).workload)
    assert FitRemedyKind.FRACTION not in estimate_with_remedies(estimator, crowded)[1]


def test_weights_that_cannot_be_narrower_are_no_remedy(estimator: Estimator) -> None:
    _, deployment = estimate_with_remedies(estimator, ask("b200-hgx", "llama-3.1-405b", "nvfp4", closed(1), count=1))
    assert FitRemedyKind.WEIGHTS not in deployment
    assert deployment[FitRemedyKind.COUNT].works


def test_format_remedy_that_does_not_fit_has_a_reason(estimator: Estimator) -> None:
    _, deployment = estimate_with_remedies(estimator, ask("h100-sxm", "llama-3.1-405b", "bf16", closed(4), count=1))
    weights = deployment[FitRemedyKind.WEIGHTS]
    assert not weights.works
    assert STORAGE_FORMATS[Precision(str(weights.value))].bits == 4
    assert weights.reason is not None
    assert weights.reason.id == "estimate.weights_do_not_fit"


def test_batch_too_large_is_reduced(estimator: Estimator) -> None:
    batch = Load(LoadKind.BATCH, batch=64)
    estimate, deployment = estimate_with_remedies(estimator, ask("h100-sxm", "llama-3.1-70b", "fp8", batch, count=1))
    assert deployment[FitRemedyKind.CONCURRENCY].works
    assert deployment[FitRemedyKind.CONCURRENCY].value == estimate.admitted


# KV against context


def test_lengths_are_powers_of_two_the_maximum_and_the_scenario() -> None:
    assert list_context_lengths(10_000, 2500) == (1024, 2048, 2500, 4096, 8192, 10_000)
    assert list_context_lengths(8192, 500) == (500, 1024, 2048, 4096, 8192)
    assert list_context_lengths(8192, 9000) == (1024, 2048, 4096, 8192)
    assert list_context_lengths(None, 500)[-1] == 131_072
    assert list_context_lengths(None, 200_000)[-1] == 200_000


@pytest.mark.parametrize(
    ("part", "model", "weights", "count"),
    [
        ("h200-sxm", "llama-3.1-70b", "fp8", 2),
        ("h200-sxm", "deepseek-r1", "fp8", 8),
        ("mi325x", "gemma-3-27b", "bf16", 1),
    ],
)
def test_the_cache_against_context_is_that_of_estimates(
    estimator: Estimator, part: str, model: str, weights: str, count: int
) -> None:
    estimate = estimator.estimate(ask(part, model, weights, closed(8), (2000, 500), count=count))
    curve = estimator.compute_kv_by_context(estimate)
    own = curve.context.index(2500)
    assert curve.tokens == 2500
    assert curve.max_concurrency[own] == estimate.max_concurrency
    assert curve.context[-1] == curve.max_context
    assert list(curve.max_concurrency) == sorted(curve.max_concurrency, reverse=True)
    assert list(curve.sequence_bytes) == sorted(curve.sequence_bytes)
    plan = estimate.plan
    for length, fullest, most in zip(curve.context, curve.fullest_bytes, curve.max_concurrency, strict=True):
        there = estimator.estimate(
            ask(
                part,
                model,
                weights,
                closed(1),
                (length - 1, 1),
                tp=plan.tp,
                pp=plan.pp,
                ep=plan.ep,
                dp=plan.dp,
                attention_dp=plan.attention_dp,
            )
        )
        assert there.max_concurrency == most
        assert there.memory.kv_bytes == fullest


def test_the_cache_of_one_sequence_does_not_depend_on_the_plan(estimator: Estimator) -> None:
    one, eight = (
        estimator.compute_kv_by_context(
            estimator.estimate(ask("h200-sxm", "llama-3.1-70b", "fp8", closed(8), tp=tp, pp=1, dp=1))
        )
        for tp in (1, 8)
    )
    assert one.sequence_bytes == eight.sequence_bytes == one.fullest_bytes
    assert one.sequence_bytes[0] == 1024 * 80 * 2 * 8 * 128 * 2
    assert eight.fullest_bytes[0] == one.sequence_bytes[0] // 8


def test_the_cache_is_shown_for_what_does_not_fit(estimator: Estimator) -> None:
    unfit = estimator.estimate(ask("h200-sxm", "llama-3.1-405b", "fp16", closed(1), count=1))
    curve = estimator.compute_kv_by_context(unfit)
    assert set(curve.max_concurrency) == {0}
    assert curve.fullest_bytes[0] > 0
