"""The working of a figure: its terms give the figure, and every leaf says where it comes from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gpudesk.domain.deployment_analysis import DerivationTerm
from gpudesk.domain.estimate import Estimate, EstimateRequest, Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.estimation.estimator import Estimator
from gpudesk.text.messages import InputError
from tests.unit.domain.asking import ask, closed

LOADS = [
    Load(LoadKind.CONCURRENCY, concurrency=64),
    Load(LoadKind.BATCH, batch=16),
    Load(LoadKind.SATURATE, requests=2000),
    Load(LoadKind.REQUEST_RATE, request_rate=1.0),
    Load(LoadKind.LIMITS, ttft_ms=3000.0, tpot_ms=60.0),
]


def estimate(estimator: Estimator, load: Load, model: str = "llama-3.1-70b") -> Estimate:
    work = Workload(1000, 500, load)
    return estimator.estimate(EstimateRequest("h200-sxm", model, Precision.FP8, work, count=8))


def walk(term: DerivationTerm) -> Iterator[DerivationTerm]:
    yield term
    for each in term.inputs:
        yield from walk(each)


def named(term: DerivationTerm, name: str) -> DerivationTerm:
    return next(each for each in walk(term) if each.name == name)


def number(term: DerivationTerm) -> float:
    assert isinstance(term.value, int | float)
    return float(term.value)


@pytest.mark.parametrize("load", LOADS, ids=lambda load: str(load.kind))
@pytest.mark.parametrize("model", ["llama-3.1-70b", "deepseek-r1"])
def test_throughput_is_what_its_terms_give(estimator: Estimator, load: Load, model: str) -> None:
    estimate_of_load = estimate(estimator, load, model)
    term = estimator.explain(estimate_of_load, "output_tokens_per_s")
    assert estimate_of_load.output_tokens_per_s is not None
    assert number(term) == estimate_of_load.output_tokens_per_s.value
    *factors, round_ = (number(each) for each in term.inputs)
    assert math.prod(factors) / round_ == pytest.approx(number(term), rel=1e-9)


#: Loads under which requests wait, overlap and end in other ways: finite runs, little memory, uneven replicas.
MORE_LOADS = [
    *LOADS,
    Load(LoadKind.CONCURRENCY, concurrency=3),
    Load(LoadKind.CONCURRENCY, concurrency=200, requests=700),
    Load(LoadKind.CONCURRENCY, concurrency=5000),
    Load(LoadKind.BATCH, batch=19),
    Load(LoadKind.BATCH, batch=4000),
    Load(LoadKind.REQUEST_RATE, request_rate=0.01),
    Load(LoadKind.REQUEST_RATE, request_rate=8.0),
    Load(LoadKind.LIMITS, ttft_ms=3000.0, tpot_ms=60.0, limit="mean"),
]


@pytest.mark.parametrize("load", MORE_LOADS, ids=str)
@pytest.mark.parametrize("varied", [True, False])
@pytest.mark.parametrize(
    ("model", "plan"), [("llama-3.1-70b", {"dp": 4}), ("deepseek-r1", {}), ("qwen3-32b", {"pp": 2})]
)
def test_what_the_load_adds_makes_the_figure(
    estimator: Estimator, load: Load, varied: bool, model: str, plan: dict[str, Any]
) -> None:
    """Steps and prompts are computed for the terms, what the load adds by the solver: together they are the figure."""
    work = Workload(1500, 300, load, varied=varied)
    estimate_of_load = estimator.estimate(EstimateRequest("h200-sxm", model, Precision.FP8, work, count=8, **plan))
    round_ = estimator.explain(estimate_of_load, "output_tokens_per_s").inputs[-1]
    steps, step, running, prompt, *added = round_.inputs
    seconds = number(steps) * number(step) + number(running) * number(prompt)
    signs = {"overlap": -1.0, "waiting": 1.0, "tail": 1.0}
    seconds += sum(signs[each.name] * number(each) for each in added)
    assert seconds == pytest.approx(number(round_), rel=1e-9)
    for figure in ("ttft_ms", "tpot_ms"):
        term = estimator.explain(estimate_of_load, figure)
        first, second = term.inputs[:2]
        assert number(first) * 1e3 + number(second) == pytest.approx(number(term), rel=1e-9)
        assert not any(each.name == "limit set by physics" for each in term.inputs)


@pytest.mark.parametrize("model", ["llama-3.1-70b", "deepseek-r1", "gpt-oss-120b", "qwen3-next-80b-a3b"])
def test_a_decode_step_is_the_sum_of_its_classes(estimator: Estimator, model: str) -> None:
    estimate_of_load = estimate(estimator, LOADS[0], model)
    step = named(estimator.explain(estimate_of_load, "tpot_ms"), "decode step")
    parts = [each for each in step.inputs if each.unit == "s"]
    stretch = [number(each) for each in step.inputs if each.unit is None]
    total = sum(number(each) for each in parts)
    for factor in stretch:
        total *= factor
    assert total == pytest.approx(number(step), rel=1e-9)
    chunk = named(estimator.explain(estimate_of_load, "ttft_ms"), "chunk time")
    assert sum(number(each) for each in chunk.inputs) == pytest.approx(number(chunk), rel=1e-9)


def test_maximum_concurrency_is_what_the_pool_holds(estimator: Estimator) -> None:
    estimate_of_load = estimate(estimator, LOADS[0])
    pool, each, *groups = estimator.explain(estimate_of_load, "max_concurrency").inputs
    capacity = number(pool) // number(each) * math.prod(number(group) for group in groups)
    assert capacity == estimate_of_load.max_concurrency


@pytest.mark.parametrize(
    ("part", "model", "engine", "changes", "where"),
    [
        ("h100-sxm", "gpt-oss-120b", "vllm", {}, ("padding of experts", "setting:vllm/kernels")),
        ("h100-sxm", "gpt-oss-120b", "vllm", {}, ("sampling", "setting:vllm/logit_bytes")),
        ("h200-sxm", "qwen3-32b", "sglang", {"tp": 2}, ("of collectives", "setting:sglang/collective_bytes")),
        ("h200-sxm", "qwen3-next-80b-a3b", "sglang", {}, ("set aside with them", "setting:sglang/state_share")),
        ("b200-hgx", "gemma-3-27b", "sglang", {}, ("set aside with them", "setting:sglang/window_share")),
        ("h200-sxm", "qwen3-32b", "sglang", {"memory_fraction": 1.0}, ("a step", "setting:sglang/max_batched_tokens")),
    ],
)
def test_what_serving_engines_set_aside_is_a_term(
    estimator: Estimator, part: str, model: str, engine: str, changes: dict[str, float], where: tuple[str, str]
) -> None:
    name, source = where
    weights = "mxfp4" if model.startswith("gpt-oss") else "bf16"
    count = int(changes.get("tp", 1))
    if model.startswith("qwen3-next"):
        weights = "fp8"
    request = ask(part, model, weights, closed(8), (4000, 500), count=count, serving_engine=engine, **changes)
    estimate_of_load = estimator.estimate(request)
    term = estimator.explain(estimate_of_load, "max_concurrency")
    assert named(term, name).source == source
    assert number(named(term, name)) > 0
    pool, each = term.inputs[:2]
    assert number(pool) // number(each) == estimate_of_load.max_concurrency


def test_memory_left_free_for_attention_ranks_is_a_term(estimator: Estimator) -> None:
    request = ask("h200-sxm", "deepseek-r1", "fp8", closed(4000), (8000, 1000), count=8, tp=8, serving_engine="sglang")
    estimate_of_load = estimator.estimate(replace(request, attention_dp=True))
    (waiting_term,) = estimator.explain(estimate_of_load, "output_tokens_per_s").inputs[0].inputs
    fraction = named(waiting_term, "fraction")
    usual, ranks, free_bytes, capacity = map(number, fraction.inputs)
    assert (usual, ranks, free_bytes) == (0.9, 8, 512 * 4.5 * 2**20)
    assert number(fraction) == pytest.approx(usual - ranks * free_bytes / capacity)


def test_what_keeps_requests_waiting_is_what_runs(estimator: Estimator) -> None:
    request = ask("h200-sxm", "llama-3.1-70b", "fp8", closed(200), (4000, 1000), count=2, dp=2)
    request = replace(request, kv=Precision.FP8)
    shared = estimator.estimate(request)
    running = estimator.explain(shared, "output_tokens_per_s").inputs[0]
    (waiting_term,) = running.inputs
    assert shared.admitted is not None
    assert shared.admitted < shared.max_concurrency
    assert number(waiting_term) == shared.admitted == 2 * number(running)
    usual = named(waiting_term, "fraction")
    assert (usual.value, usual.source) == (0.92, "setting:vllm/memory_fraction")
    by_batch = estimator.estimate(replace(request, max_batch=8))
    (most,) = estimator.explain(by_batch, "output_tokens_per_s").inputs[0].inputs
    assert (most.value, most.source) == (8, "setting:vllm/max_batch")
    with_memory = estimator.estimate(replace(request, memory_fraction=0.9))
    assert named(estimator.explain(with_memory, "max_concurrency"), "fraction").source == "scenario"


def test_under_p99_limits_the_tokens_of_a_step_are_a_term(estimator: Estimator) -> None:
    load = LOADS[-1]
    estimate_of_load = estimate(estimator, load)
    term = named(estimator.explain(estimate_of_load, "output_tokens_per_s"), "running sequences in a replica")
    (most,) = term.inputs
    assert most.source == "calibration:limit_tokens"
    # Each of them brings its own token, and the prompts that replace those that end.
    work = estimate_of_load.request.workload
    stages = estimate_of_load.plan.pp * (estimate_of_load.plan.tp if estimate_of_load.plan.attention_dp else 1)
    assert number(term) * (1.0 + work.input_tokens / (work.output_tokens - 1)) <= number(most) * stages
    by_mean = estimate(estimator, replace(load, limit="mean"))
    term = named(estimator.explain(by_mean, "output_tokens_per_s"), "running sequences in a replica")
    assert not term.inputs


def test_every_term_of_memory_names_its_source(estimator: Estimator) -> None:
    term = estimator.explain(estimate(estimator, LOADS[0]), "memory")
    leaves = [each for each in walk(term) if not each.inputs and each.name != "sequences"]
    assert all(leaf.source for leaf in leaves)


def test_unknown_figure_lists_the_known_ones(estimator: Estimator) -> None:
    with pytest.raises(InputError) as refused:
        estimator.explain(estimate(estimator, LOADS[0]), "beauty")
    assert refused.value.problem.id == "explain.unknown"
    assert "tpot_ms" in str(refused.value.problem.parameters["known"])


@pytest.mark.parametrize("load", LOADS, ids=lambda load: str(load.kind))
def test_every_figure_can_be_explained(estimator: Estimator, load: Load) -> None:
    estimate_of_load = estimate(estimator, load)
    for figure in ("total_tokens_per_s", "output_tokens_per_s_per_accelerator", "request_s", "batch_s"):
        value = getattr(estimate_of_load, figure)
        assert estimator.explain(estimate_of_load, figure).value == (None if value is None else value.value)


def test_a_missing_figure_is_explained_by_its_cause(estimator: Estimator) -> None:
    flood = estimate(estimator, Load(LoadKind.REQUEST_RATE, request_rate=1e5))
    assert estimator.explain(flood, "tpot_ms").formula == "the queue grows without limit"
    tight = estimate(estimator, Load(LoadKind.LIMITS, ttft_ms=0.1, tpot_ms=0.1))
    assert estimator.explain(tight, "ttft_ms").formula == "the limits cannot be met"
