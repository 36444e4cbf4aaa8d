"""Sweeps: each point is the estimate of its question, and what cannot be has a reason."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest

from gpudesk.catalog.read import Catalog
from gpudesk.domain.estimate import Estimate, EstimateRequest, LoadKind
from gpudesk.domain.registry import list_curve_figures
from gpudesk.engine.calibration import Calibration
from gpudesk.estimation.estimator import Estimator
from gpudesk.estimation.sweep import evaluation as evaluation_module
from gpudesk.estimation.sweep.evaluation import (
    COUNT_COLUMNS,
    WORD_COLUMNS,
    SweepBlock,
    SweepEvaluation,
    format_sweep_plan,
)
from gpudesk.estimation.sweep.grid import Sweep
from gpudesk.text.messages import InputError
from tests.unit.domain.sweeps import SMALL


def requests(sweep: Sweep) -> list[EstimateRequest]:
    return [
        replace(
            sweep.base,
            accelerator=part,
            model=model,
            weights=weights,
            kv=kv,
            tp=tp,
            count=None if tp is None else tp * (sweep.base.pp or 1),
            workload=replace(
                sweep.base.workload, input_tokens=prompt_tokens, output_tokens=output_tokens, load=sweep.load_of(amount)
            ),
        )
        for part, model, weights, kv, tp, prompt_tokens, output_tokens, amount in product(*sweep.axes)
    ]


def swept(sweep: Sweep, facts: Catalog, calibration: Calibration) -> tuple[SweepEvaluation, SweepBlock]:
    evaluation = SweepEvaluation(sweep, facts, calibration)
    blocks = list(evaluation.blocks())
    assert [block.start for block in blocks] == list(np.cumsum([0, *(b.size for b in blocks)])[:-1])
    names = [each.name for each in fields(SweepBlock)[1:]]
    whole = SweepBlock(0, *(np.concatenate([getattr(b, name) for b in blocks], axis=1) for name in names))
    assert whole.size == sweep.points
    return evaluation, whole


def point(evaluation: SweepEvaluation, block: SweepBlock, at: int) -> dict[str, object]:
    words = zip(WORD_COLUMNS, block.words[:, at], strict=True)
    counts = zip(COUNT_COLUMNS, block.counts[:, at].tolist(), strict=True)
    triples = block.figures[:, at].reshape(-1, 3).tolist()
    figures = zip(
        list_curve_figures(), [None if np.isnan(each).any() else tuple(each) for each in triples], strict=True
    )
    return {**{name: evaluation.words.all(name)[code] for name, code in words}, **dict(counts), **dict(figures)}


def expected(answer: Estimate | InputError) -> dict[str, object] | str:
    if isinstance(answer, InputError):
        return sweeping_reason(answer.problem.id)
    if not answer.fits:
        assert answer.reason is not None
        return sweeping_reason(answer.reason.id)
    return {
        "reason": "",
        "plan": format_sweep_plan(answer.plan),
        "serving_engine": answer.serving_engine,
        "limiter": str(answer.limiter),
        "basis": str(answer.basis),
        **{name: getattr(answer, name) for name in (*COUNT_COLUMNS, *list_curve_figures())},
    }


def sweeping_reason(message_id: str) -> str:
    return {
        "plan.heads": "heads",
        "engine.none": "no-engine-runs-it",
        "engine.none_kv": "no-engine-keeps-kv",
        "estimate.weights_do_not_fit": "weights-do-not-fit",
        "estimate.request_does_not_fit": "request-does-not-fit",
        "estimate.fraction_too_small": "fraction-too-small",
    }[message_id]


def close(value: object, expected_value: object) -> bool:
    """Whether two values are the same; figures may differ in the last bits, as sums in other order do."""
    if isinstance(expected_value, tuple):
        return isinstance(value, tuple) and np.allclose(value, expected_value, rtol=1e-9, atol=0)
    return value == expected_value


SWEEPS = {
    "closed loop": SMALL,
    "static batch": replace(SMALL, load=LoadKind.BATCH, models=("gpt-oss-120b",)),
    "plan left open": replace(SMALL, tp=(None, 2), accelerators=("rtx-4090", "b200-hgx"), amounts=(64,)),
    "fixed settings": replace(
        SMALL,
        tp=(4,),
        base=replace(
            SMALL.base,
            pp=2,
            memory_fraction=0.5,
            date="2025-06",
            workload=replace(SMALL.base.workload, prefix_hit_rate=0.5, varied=False, eager=True),
        ),
    ),
}


@pytest.mark.parametrize("many", [1, 10**6], ids=["as grids", "as a list"])
@pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)
def test_each_point_is_the_estimate_of_its_question(
    sweep: Sweep, many: int, facts: Catalog, calibration: Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation_module, "_MANY", many)
    evaluation, block = swept(sweep, facts, calibration)
    answers = Estimator(facts, calibration).estimate_many(requests(sweep))
    reasons = set()
    for at, answer in enumerate(answers):
        value, expected_value = point(evaluation, block, at), expected(answer)
        if isinstance(expected_value, str):
            reasons.add(expected_value)
            assert (value["reason"], bool(block.fits[at])) == (expected_value, False)
            assert np.isnan(block.figures[:, at]).all()
            assert not block.counts[:, at].any()
        else:
            assert bool(block.fits[at])
            assert [name for name in expected_value if not close(value[name], expected_value[name])] == []
    assert reasons, "a sweep in which all fits shows less"
    assert evaluation.plans >= block.fits.sum()


@pytest.mark.parametrize("most", [1, 50])
def test_small_blocks_and_a_table_that_forgets_change_nothing(
    most: int, facts: Catalog, calibration: Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluation, block = swept(SMALL, facts, calibration)
    for name in ("_MOST_PLANS", "_MOST_BLOCK_POINTS", "_MOST_SETUPS"):
        monkeypatch.setattr(evaluation_module, name, most)
    monkeypatch.setattr("gpudesk.estimation.search_space.MOST_KEPT_PLANS", 2)
    again, small = swept(SMALL, facts, calibration)
    assert [again.words.all(name) for name in WORD_COLUMNS] == [evaluation.words.all(name) for name in WORD_COLUMNS]
    np.testing.assert_allclose(small.figures, block.figures, rtol=1e-9)
    np.testing.assert_array_equal(small.counts, block.counts)
    np.testing.assert_array_equal(small.words, block.words)


def test_permanent_error_is_reported_once(facts: Catalog, calibration: Calibration) -> None:
    evaluation, _ = swept(SMALL, facts, calibration)
    assert [(axis, value, reason.id) for axis, value, reason in evaluation.never()] == [("tp", "3", "plan.heads")]
    nothing, block = swept(replace(SMALL, tp=(3, 5)), facts, calibration)
    assert [(axis, value, reason.id) for axis, value, reason in nothing.never()] == [("", "", "plan.heads")]
    assert not block.fits.any()
