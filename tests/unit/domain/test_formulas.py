"""Formulas of a working can be followed: with the numbers of its inputs in place each gives its term."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from gpudesk.domain.deployment_analysis import DerivationTerm, to_placeholder
from gpudesk.domain.estimate import DisaggregationRequest, Estimate, EstimateRequest, Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.estimation.derivation.figures import EXPLAINED_FIGURES
from gpudesk.estimation.estimator import Estimator
from tests.formulas import evaluate_formula, walk

CLOSED = Load(LoadKind.CONCURRENCY, concurrency=64)
#: Weights leave nothing to the share of the memory that SGLang takes by itself.
_SPREAD: dict[str, Any] = {"serving_engine": "sglang", "attention_dp": True}
CASES: dict[str, tuple[str, int, str, Load, dict[str, Any]]] = {
    "one accelerator": ("b200-hgx", 1, "llama-3.1-70b", CLOSED, {}),
    "experts": ("mi325x", 8, "deepseek-r1", CLOSED, {}),
    "attention apart": ("mi355x", 8, "deepseek-r1", CLOSED, {"attention_dp": True}),
    "some wait": ("h200-sxm", 1, "llama-3.1-70b", Load(LoadKind.CONCURRENCY, concurrency=80), {}),
    "stages": ("h200-sxm", 8, "llama-3.1-70b", CLOSED, {"tp": 4, "pp": 2}),
    "batch": ("h200-sxm", 8, "llama-3.1-70b", Load(LoadKind.BATCH, batch=16), {}),
    "arrivals": ("h200-sxm", 8, "llama-3.1-70b", Load(LoadKind.REQUEST_RATE, request_rate=1.0), {}),
    "old software": ("h200-sxm", 4, "gpt-oss-120b", CLOSED, {"date": "2025-01"}),
    "fraction of what is free": ("h100-sxm", 2, "llama-3.1-70b", CLOSED, {"serving_engine": "tensorrt-llm"}),
    "more of the memory for one": ("b200-hgx", 4, "deepseek-v3", CLOSED, _SPREAD),
    "pools": ("h200-sxm", 16, "llama-3.1-70b", CLOSED, {"disaggregated": DisaggregationRequest()}),
    "pools for a batch": (
        "mi355x",
        16,
        "deepseek-r1",
        Load(LoadKind.BATCH, batch=16),
        {"disaggregated": DisaggregationRequest()},
    ),
    "too big": ("h200-sxm", 2, "llama-3.1-405b", CLOSED, {}),
}


def make_request(estimator: Estimator, name: str, acceptance: float = 1.0) -> Estimate:
    part, count, model, load, more = CASES[name]
    work = Workload(4000, 1000, load, acceptance_length=acceptance)
    return estimator.estimate(EstimateRequest(part, model, Precision.FP8, work, Precision.FP8, count, **more))


def terms(estimator: Estimator, estimate: Estimate) -> Iterator[DerivationTerm]:
    for figure in EXPLAINED_FIGURES if estimate.fits else ("memory", "max_concurrency"):
        yield from walk(estimator.explain(estimate, figure))


@pytest.mark.parametrize("acceptance", [1.0, 2.5])
@pytest.mark.parametrize("name", CASES)
def test_every_formula_gives_its_term(estimator: Estimator, name: str, acceptance: float) -> None:
    checked = 0
    for term in terms(estimator, make_request(estimator, name, acceptance)):
        if term.formula and "{" in term.formula and isinstance(term.value, int | float):
            value = term.value / 1e3 if term.unit == "ms" else term.value
            assert evaluate_formula(term) == pytest.approx(value, rel=1e-6), (term.name, term.formula)
            checked += 1
    assert checked > 1


@pytest.mark.parametrize("name", CASES)
def test_formulas_name_no_other_terms_than_their_inputs(estimator: Estimator, name: str) -> None:
    for term in terms(estimator, make_request(estimator, name)):
        named = set(re.findall(r"\{(\w+)\}", term.formula or ""))
        assert named <= {to_placeholder(each.name) for each in term.inputs}
        names = [each.name for each in term.inputs]
        assert len(set(names)) == len(names)


def test_a_step_yields_no_more_tokens_than_there_are_to_come(estimator: Estimator) -> None:
    load = Load(LoadKind.BATCH, batch=16)
    work = Workload(4000, 3, load, acceptance_length=4.0)
    estimate = estimator.estimate(EstimateRequest("h200-sxm", "llama-3.1-70b", Precision.FP8, work, count=8))
    steps = next(each for each in walk(estimator.explain(estimate, "output_tokens_per_s")) if _steps(each))
    assert steps.number == 1.0
    assert evaluate_formula(steps) == 1.0
    tpot = estimator.explain(estimate, "tpot_ms")
    assert evaluate_formula(tpot) == pytest.approx(tpot.number / 1e3)


def _steps(term: DerivationTerm) -> bool:
    return term.name == "decode steps"


def test_no_prompts_take_time_away_from_others(estimator: Estimator) -> None:
    """In a run that ends steps have fewer sequences at times, which takes off more than prompts add."""
    names = set()
    for load in (
        CLOSED,
        Load(LoadKind.BATCH, batch=800),
        Load(LoadKind.SATURATE, requests=800),
        Load(LoadKind.CONCURRENCY, concurrency=200, requests=200),
    ):
        work = Workload(16, 100, load)
        estimate_request = EstimateRequest("h200-sxm", "llama-3.1-8b", Precision.FP8, work, count=1)
        for term in walk(estimator.explain(estimator.estimate(estimate_request), "tpot_ms")):
            if term.name.startswith("stall"):
                names.add(term.name)
                assert term.number >= 0.0 or term.name == "stall by prefill and emptier steps"
    assert len(names) == 2


def test_what_is_short_is_what_the_needed_passes_the_usable_by(estimator: Estimator) -> None:
    term = estimator.explain(make_request(estimator, "too big"), "memory")
    assert term.name == "missing memory"
    assert isinstance(term.value, int | float)
    assert term.value > 0
