"""Disaggregated deployments on the real facts: the split, its working, its charts, and what cannot be."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gpudesk.domain.deployment_analysis import DerivationTerm
from gpudesk.domain.estimate import (
    DisaggregatedPools,
    DisaggregationRequest,
    Estimate,
    EstimateRequest,
    Load,
    LoadKind,
    ParallelPlan,
    PoolKind,
    PoolRequest,
)
from gpudesk.domain.estimate_json import write_estimate_json
from gpudesk.estimation.batch import answer_stream
from gpudesk.estimation.estimator import Estimator
from gpudesk.estimation.request_fields import parse_request
from gpudesk.text.messages import InputError, format_message
from tests.unit.domain.asking import ask, closed

FREE = DisaggregationRequest()
LIMITS = Load(LoadKind.LIMITS, ttft_ms=2000.0, tpot_ms=30.0)


def question(
    load: Load,
    wish: DisaggregationRequest | None = FREE,
    **rest: Any,  # noqa: ANN401 - any field of the request
) -> EstimateRequest:
    more: dict[str, Any] = {"count": 16, "serving_engine": "vllm", **rest}
    return ask("h200-sxm", "llama-3.1-70b", "fp8", load, (4000, 500), disaggregated=wish, **more)


def pools_of(estimate: Estimate) -> DisaggregatedPools:
    assert estimate.pools is not None
    return estimate.pools


def rate(estimate: Estimate) -> float:
    assert estimate.output_tokens_per_s is not None
    return estimate.output_tokens_per_s.value


def fixed(prefill: PoolRequest, decode: PoolRequest) -> DisaggregationRequest:
    return DisaggregationRequest(prefill, decode)


def line(**more: object) -> dict[str, Any]:
    return {
        "accelerator": "h200-sxm",
        "model": "llama-3.1-70b",
        "weights": "fp8",
        "input_tokens": 4000,
        "output_tokens": 500,
        "load": {"concurrency": 64},
        **more,
    }


def test_the_split_taken_is_the_best_of_all(estimator: Estimator) -> None:
    best = estimator.estimate(question(closed(256)))
    pools = pools_of(best)
    assert pools.prefill.count + pools.decode.count == best.count == 16
    for prefill in range(2, 16, 3):
        other = fixed(PoolRequest(count=prefill), PoolRequest(count=16 - prefill))
        assert rate(estimator.estimate(question(closed(256), other))) <= rate(best) * 1.002


@pytest.mark.parametrize(("ttft_ms", "tpot_ms", "pool"), [(2000.0, 1.0, "decode"), (20.0, 100.0, "prefill")])
def test_nearest_split_is_chosen_if_none_meets_the_limits(
    estimator: Estimator, ttft_ms: float, tpot_ms: float, pool: str
) -> None:
    estimate = estimator.estimate(question(Load(LoadKind.LIMITS, ttft_ms=ttft_ms, tpot_ms=tpot_ms)))
    assert estimate.output_tokens_per_s is None
    # What answers soonest is what is nearest: all ranks work at one request.
    assert getattr(pools_of(estimate), pool).plan == ParallelPlan(tp=8)


def test_limits_are_kept_with_the_split_of_the_highest_rate(estimator: Estimator) -> None:
    estimate = estimator.estimate(question(LIMITS))
    assert estimate.ttft_ms is not None
    assert estimate.tpot_ms is not None
    assert estimate.ttft_ms.value <= 2000
    assert estimate.tpot_ms.value <= 30
    pools = pools_of(estimate)
    assert pools.binding in (PoolKind.PREFILL, PoolKind.DECODE)
    assert max(pools.prefill.busy, pools.decode.busy) == pytest.approx(1.0, abs=1e-6)
    assert min(pools.prefill.busy, pools.decode.busy) < 1.0


def test_tokens_come_sooner_than_on_the_decode_pool_alone(estimator: Estimator) -> None:
    wish = fixed(PoolRequest(count=8, tp=4), PoolRequest(count=8, tp=8, pp=1))
    apart = estimator.estimate(question(closed(64), wish))
    together = estimator.estimate(question(closed(64), None, count=8, tp=8))
    assert apart.tpot_ms is not None
    assert together.tpot_ms is not None
    assert apart.tpot_ms.value < together.tpot_ms.value


def test_without_a_count_both_pools_are_as_small_as_fits(estimator: Estimator) -> None:
    estimate = estimator.estimate(question(closed(4), count=None))
    alone = estimator.estimate(question(closed(4), None, count=None))
    assert estimate.count == 2 * alone.count


def test_plans_that_are_given_are_kept(estimator: Estimator) -> None:
    wish = fixed(PoolRequest(count=4, tp=2), PoolRequest(count=12, tp=4, ep=1, pp=1, attention_dp=False))
    pools = pools_of(estimator.estimate(question(closed(64), wish, count=None)))
    assert (pools.prefill.plan.tp, pools.prefill.count) == (2, 4)
    assert pools.decode.plan == ParallelPlan(tp=4, dp=3)


def test_pools_in_one_domain_do_not_use_the_network(estimator: Estimator) -> None:
    host = estimator.estimate(question(closed(64), count=8))
    hosts = estimator.estimate(question(closed(64), count=16))
    rack = estimator.estimate(replace(question(closed(64), count=64), accelerator="gb200-nvl72"))
    assert [pools_of(each).link for each in (host, hosts, rack)] == ["scale-up", "node", "scale-up"]
    wish = fixed(PoolRequest(count=4), PoolRequest(count=4))
    cards = estimator.estimate(replace(question(closed(8), wish, count=8), accelerator="l40s"))
    assert pools_of(cards).link == "pcie"


def test_what_the_cache_of_a_prompt_takes_travels(estimator: Estimator) -> None:
    estimate = estimator.estimate(question(closed(64)))
    pools = pools_of(estimate)
    # 80 layers, keys and values of 8 heads of 128, two bytes, 4000 tokens.
    assert pools.transfer_bytes == 80 * 2 * 8 * 128 * 2 * 4000
    assert pools.transfer_ms > pools.transfer_bytes / 8 / 50e9 * 1e3


def test_notes_say_the_split_what_binds_and_how_idle_the_other_is(estimator: Estimator) -> None:
    estimate = estimator.estimate(question(closed(256)))
    texts = [format_message(note) for note in estimate.notes]
    pools = pools_of(estimate)
    assert any(text.startswith(f"Prefill pool of {pools.prefill.count}: ") for text in texts)
    assert any(text.startswith(f"Decode pool of {pools.decode.count}: ") for text in texts)
    idle = pools.prefill if pools.binding is PoolKind.DECODE else pools.decode
    assert any(text.startswith("Memory figures are for one decode accelerator") for text in texts)
    (binds,) = (text for text in texts if "limits the rate" in text)
    assert f"{round(idle.busy * 100)}%" in binds.replace("\u202f", " ").replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("wish", "count", "where"),
    [
        (fixed(PoolRequest(tp=3), PoolRequest()), 16, "disaggregated.prefill.tp"),
        (fixed(PoolRequest(), PoolRequest(pp=200)), 16, "disaggregated.decode.pp"),
        (fixed(PoolRequest(count=4), PoolRequest(count=5)), 16, "count"),
        (fixed(PoolRequest(count=16), PoolRequest()), 16, "count"),
        (FREE, 1, "count"),
        (fixed(PoolRequest(count=4, tp=8), PoolRequest()), 16, "disaggregated.prefill.count"),
    ],
)
def test_pools_that_cannot_be_are_refused_at_their_place(
    estimator: Estimator, wish: DisaggregationRequest, count: int, where: str
) -> None:
    with pytest.raises(InputError) as refused:
        estimator.estimate(question(closed(64), wish, count=count))
    assert refused.value.where == where
    assert format_message(refused.value.problem)


def test_one_plan_for_both_pools_is_refused(estimator: Estimator) -> None:
    with pytest.raises(InputError) as refused:
        estimator.estimate(question(closed(64), tp=4))
    assert refused.value.where == "tp"


def test_pools_that_do_not_fit_name_a_count_that_does(estimator: Estimator) -> None:
    estimate = estimator.estimate(replace(question(closed(8), count=2), model="llama-3.1-405b"))
    assert not estimate.fits
    assert estimate.count == 2
    assert estimate.reason is not None
    assert "No split of 2" in format_message(estimate.reason)
    assert estimate.needs is not None
    assert estimator.estimate(replace(estimate.request, count=estimate.needs)).fits
    one = fixed(PoolRequest(count=1), PoolRequest(count=8))
    estimate = estimator.estimate(replace(question(closed(8), one, count=9), model="llama-3.1-405b"))
    assert not estimate.fits
    assert estimate.reason is not None
    assert "1 ×" in format_message(estimate.reason)


LOADS = (
    closed(64),
    closed(64, 200),
    Load(LoadKind.BATCH, batch=16),
    Load(LoadKind.SATURATE, requests=2000),
    Load(LoadKind.REQUEST_RATE, request_rate=2.0),
    LIMITS,
)


@pytest.mark.parametrize("load", LOADS, ids=lambda load: f"{load.kind}")
def test_charts_are_those_of_the_pools(estimator: Estimator, load: Load) -> None:
    estimate = estimator.estimate(question(load))
    (curve,) = estimator.curves([estimate])
    assert curve.max_concurrency == estimate.max_concurrency
    if load.kind is LoadKind.CONCURRENCY:
        at = curve.concurrency.index(64)
        assert curve.output_tokens_per_s.value[at] == pytest.approx(rate(estimate), rel=1e-9)
        assert curve.limiter[at] == str(estimate.limiter)
    roofline, shares = estimator.roofline(estimate), estimator.compute_time_shares(estimate)
    assert roofline is not None
    assert roofline.prefill is not None
    assert roofline.decode is not None
    assert roofline.prefill.tokens > roofline.decode.tokens
    assert shares is not None
    assert shares.token is not None
    assert sum(share.share for share in shares.token) == pytest.approx(1.0)
    parts = estimator.request_time(estimate)
    assert parts is not None
    assert estimate.request_s is not None
    assert sum(parts) == pytest.approx(estimate.request_s.value)
    assert estimator.compute_usable_memory(estimate).usable_bytes > 0
    assert estimator.compute_kv_by_context(estimate).max_concurrency


@pytest.mark.parametrize("load", LOADS, ids=lambda load: f"{load.kind}")
@pytest.mark.parametrize("output", [1, 500])
def test_the_terms_that_the_pools_were_served_with_make_up_rate_and_ttft(
    estimator: Estimator, load: Load, output: int
) -> None:
    pool_request = question(load)
    estimate = estimator.estimate(replace(pool_request, workload=replace(pool_request.workload, output_tokens=output)))
    stay = next(
        each
        for each in walk(estimator.explain(estimate, "output_tokens_per_s"))
        if each.name == "stay in the decode pool"
    )
    steps, decode, waiting, tail = stay.inputs
    assert steps.number * decode.number + waiting.number + tail.number == pytest.approx(stay.number, rel=1e-9)
    ttft = estimator.explain(estimate, "ttft_ms")
    prefill, transfer, handover, queue = ttft.inputs
    seconds = prefill.number + transfer.number + handover.number
    assert seconds * 1e3 + queue.number == pytest.approx(ttft.number, rel=1e-9)
    assert queue.number >= 0


def walk(term: DerivationTerm) -> Iterator[DerivationTerm]:
    yield term
    for each in term.inputs:
        yield from walk(each)


def test_curves_with_and_without_pools_are_computed_together(estimator: Estimator) -> None:
    apart = estimator.estimate(question(closed(64)))
    together = estimator.estimate(question(closed(64), None))
    first, second, third = estimator.curves([together, apart, together])
    assert first == third
    assert first != second


@pytest.mark.parametrize("acceptance", [1.0, 2.5])
@pytest.mark.parametrize("kind", list(LoadKind))
def test_working_names_both_pools_and_the_transfer(estimator: Estimator, kind: LoadKind, acceptance: float) -> None:
    loads = {
        LoadKind.BATCH: Load(kind, batch=16),
        LoadKind.CONCURRENCY: closed(64),
        LoadKind.SATURATE: Load(kind, requests=2000),
        LoadKind.REQUEST_RATE: Load(kind, request_rate=2.0),
        LoadKind.LIMITS: LIMITS,
    }
    request = question(loads[kind])
    request = replace(request, workload=replace(request.workload, acceptance_length=acceptance))
    estimate = estimator.estimate(request)
    throughput = estimator.explain(estimate, "output_tokens_per_s")
    requests = throughput.inputs[1]
    names = [term.name for term in requests.inputs]
    assert "prefill pool limit" in names
    assert "link limit" in names
    assert "stay in the decode pool" in names
    ttft = estimator.explain(estimate, "ttft_ms")
    assert [term.name for term in ttft.inputs][1:3] == ["KV transfer", "handover"]
    assert estimator.explain(estimate, "memory").value == estimate.memory.spare_bytes


def test_lines_take_the_wish_and_answer_with_the_pools(estimator: Estimator) -> None:
    user_pools = {"prefill": {"count": 4, "tp": 4}, "decode": {"count": 8, "tp": 8, "attention_dp": None}}
    lines = [
        line(count=8, disaggregated=True),
        line(disaggregated=user_pools),
        line(count=8, disaggregated=False),
        line(count=8, disaggregated={"prefil": {}}),
        line(count=8, disaggregated={"prefill": {"tp": 0}}),
        line(count=8, disaggregated="yes"),
    ]
    target = io.BytesIO()
    source = io.BytesIO(b"\n".join(json.dumps(each).encode() for each in lines))
    assert answer_stream(estimator, source, target) == 3
    free, with_pools, none, *faults = [json.loads(each) for each in target.getvalue().splitlines()]
    pools = free["pools"]
    assert pools["prefill"]["count"] + pools["decode"]["count"] == free["count"] == 8
    assert 0 < pools["prefill"]["busy"] <= 1
    assert pools["transfer_ms"] > 0
    assert pools["binding"] in ("prefill", "decode", "link")
    assert with_pools["pools"]["prefill"]["parallel"]["tp"] == 4
    assert with_pools["parallel"] == with_pools["pools"]["decode"]["parallel"]
    assert with_pools["count"] == 12
    assert none["pools"] is None
    errors = [each["error"] for each in faults]
    assert errors[0].startswith("disaggregated:")
    assert errors[1].startswith("disaggregated.prefill.tp:")
    assert errors[2].startswith("disaggregated:")


def test_disaggregation_field_is_parsed() -> None:
    assert parse_request(line(disaggregated=True)).disaggregated == FREE
    assert parse_request(line(disaggregated=False)).disaggregated is None
    assert parse_request(line(disaggregated={"decode": {"tp": 8}})).disaggregated == DisaggregationRequest(
        decode=PoolRequest(tp=8)
    )


def test_estimate_without_pools_has_null_pools_in_json(estimator: Estimator) -> None:
    estimate = estimator.estimate(question(closed(64), None))
    assert estimate.pools is None
    assert write_estimate_json(estimate)["pools"] is None
