"""Room in memory: what may be used, what the load asks for, and that both agree with the estimate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudesk.domain.estimate import Estimate, EstimateRequest, Workload
from gpudesk.domain.precision import Precision
from gpudesk.estimation.estimator import Estimator
from tests.unit.domain.asking import closed


def make_request(estimator: Estimator, concurrency: int, **fields: object) -> Estimate:
    request = EstimateRequest(
        accelerator="h200-sxm",
        model="llama-3.1-70b",
        weights=Precision.FP8,
        kv=Precision.FP8,
        workload=Workload(4000, 1000, closed(concurrency)),
        count=1,
    )
    return estimator.estimate(replace(request, **fields))  # type: ignore[arg-type]


def test_usable_memory_is_needed_plus_spare(estimator: Estimator) -> None:
    estimate = make_request(estimator, 64)
    room, use = estimator.compute_usable_memory(estimate), estimate.memory
    assert room.needed_bytes == use.capacity_bytes - use.free_bytes
    assert room.usable_bytes == pytest.approx(0.98 * use.capacity_bytes, rel=1e-9)
    assert room.spare_bytes > 0
    assert use.spare_bytes == room.spare_bytes


def test_a_memory_fraction_lowers_what_may_be_used(estimator: Estimator) -> None:
    estimate = make_request(estimator, 64, memory_fraction=0.9)
    room = estimator.compute_usable_memory(estimate)
    assert room.usable_bytes == pytest.approx(0.9 * estimate.memory.capacity_bytes, rel=1e-9)


def test_requests_that_memory_does_not_hold_are_short(estimator: Estimator) -> None:
    fewer = make_request(estimator, 64, memory_fraction=0.9)
    most = fewer.max_concurrency
    estimate = make_request(estimator, most + 10, memory_fraction=0.9)
    room = estimator.compute_usable_memory(estimate)
    each = fewer.memory.kv_bytes // 64
    used_bytes = estimate.memory.capacity_bytes - estimate.memory.free_bytes
    assert room.needed_bytes == used_bytes + 10 * each
    assert room.spare_bytes < 0
    assert estimator.compute_usable_memory(make_request(estimator, most, memory_fraction=0.9)).spare_bytes >= 0


def test_requests_that_wait_for_the_serving_engine_need_no_memory(estimator: Estimator) -> None:
    estimate = make_request(estimator, 64, max_batch=16)
    room = estimator.compute_usable_memory(estimate)
    assert estimate.admitted == 16
    assert room.needed_bytes == estimate.memory.capacity_bytes - estimate.memory.free_bytes


def test_what_does_not_fit_is_short_of_one_request(estimator: Estimator) -> None:
    estimate = make_request(estimator, 64, model="llama-3.1-405b", count=2)
    room = estimator.compute_usable_memory(estimate)
    assert not estimate.fits
    assert estimate.reason is not None
    missing = estimate.reason.parameters["missing"]
    assert isinstance(missing, tuple)
    assert -room.spare_bytes == missing[0]


def test_requests_that_grow_fill_memory_and_no_more(estimator: Estimator) -> None:
    most = make_request(estimator, 1, memory_fraction=0.98).max_concurrency
    workload = Workload(4000, 1000, closed(most + 1), varied=False)
    estimate = make_request(estimator, most + 1, workload=workload, memory_fraction=0.98)
    assert estimate.grows
    assert estimate.admitted == most + 1
    room, use = estimator.compute_usable_memory(estimate), estimate.memory
    assert room.needed_bytes == use.capacity_bytes - use.free_bytes
    assert room.spare_bytes >= 0
    cache = next(term for term in estimator.explain(estimate, "memory").inputs if term.name == "KV cache")
    sequences, each = cache.inputs
    assert sequences.number * each.number == cache.number == use.kv_bytes
