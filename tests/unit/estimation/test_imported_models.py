"""Estimates and workings of imported models with what no shipped model has."""

from __future__ import annotations

import re

import pytest

from gpudesk.catalog.read import Catalog
from gpudesk.documents.imports import assign_free_id
from gpudesk.domain.estimate import EstimateRequest, Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.domain.user_facts import UserFacts
from gpudesk.engine.calibration import Calibration
from gpudesk.estimation.derivation.figures import EXPLAINED_FIGURES
from gpudesk.estimation.estimator import Estimator
from tests.formulas import evaluate_formula, walk
from tests.unit.catalog.importing.configs import propose

CLOSED = Load(LoadKind.CONCURRENCY, concurrency=64)


@pytest.fixture(scope="module")
def imported(facts: Catalog, calibration: Calibration) -> Estimator:
    names = ("gemma-4-e2b", "gemma-3n-e4b", "gemma-4-31b-nvfp4")
    proposals = [assign_free_id(propose(name), facts) for name in names]
    user_facts = UserFacts.of(fact for proposal in proposals for fact in proposal.facts)
    return Estimator(facts.with_user_facts(user_facts), calibration)


def make_request(accelerator: str, model: str, weights: Precision) -> EstimateRequest:
    return EstimateRequest(accelerator, model, weights, Workload(4000, 1000, CLOSED), count=1)


CASES = [
    make_request("h100-sxm", "gemma-4-e2b", Precision.BF16),
    make_request("rtx-4090", "gemma-3n-e4b", Precision.FP8),
    make_request("b200-hgx", "gemma-4-31b-nvfp4", Precision.NVFP4),
    make_request("h200-sxm", "gemma-4-31b-nvfp4", Precision.NVFP4),
]


@pytest.mark.parametrize("request_", CASES)
def test_every_formula_gives_its_term(imported: Estimator, request_: EstimateRequest) -> None:
    estimate = imported.estimate(request_)
    assert estimate.fits
    for figure in EXPLAINED_FIGURES:
        for term in walk(imported.explain(estimate, figure)):
            if term.formula and "{" in term.formula and isinstance(term.value, int | float):
                value = term.value / 1e3 if term.unit == "ms" else term.value
                assert evaluate_formula(term) == pytest.approx(value, rel=1e-6), (term.name, term.formula)


def test_calculation_shows_reused_and_looked_up_terms(imported: Estimator) -> None:
    estimate = imported.estimate(CASES[0])
    terms = {term.name: term for term in walk(imported.explain(estimate, "memory"))}
    assert "with the table of the layers' own inputs" in (terms["weights"].formula or "")
    assert "except layers that reuse the cache of another" in (terms["bytes of one sequence"].formula or "")
    # 3 global layers of 2048 bytes per token, 12 of 1024 bytes in windows of 512 tokens.
    assert terms["bytes of one sequence"].value == 5000 * 3 * 2048 + 512 * 12 * 1024


def test_the_working_joins_the_peaks_of_two_formats(imported: Estimator) -> None:
    estimate = imported.estimate(CASES[2])
    peaks = [term for term in walk(imported.explain(estimate, "tpot_ms")) if term.name == "peak" and term.inputs]
    assert peaks
    sources = [each.source or "" for each in peaks[0].inputs]
    assert [bool(re.search(r"peak_dense_(fp4|bf16)$", source)) for source in sources] == [False, True, False, True]
    # Attention stays in 16 bits: more than half of the bytes of a model of which a quarter it is.
    blocks = 60 * 3 * 5376 * 21504
    assert estimate.memory.weights_bytes > blocks * (4 + 8 / 16) / 8 + (30_697_345_280 - blocks) * 2 * 0.999
