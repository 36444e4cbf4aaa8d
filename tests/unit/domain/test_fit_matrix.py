"""The fit matrix says what the estimator says, cell by cell."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.domain.estimate import EstimateRequest, Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import FitCell, FitQuestion
from gpudesk.estimation.sizing import fit_matrix
from gpudesk.estimation.sizing.fit_matrix import FitFinder
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError

QUESTIONS = (
    FitQuestion(Precision.FP8, Precision.FP8, context=8192),
    FitQuestion(Precision.BF16, context=32_768, concurrency=48),
    FitQuestion(Precision.FP4, Precision.FP8, context=131_072, concurrency=2),
)
#: Some of each vendor and kind of memory, and models of every kind of layer.
PARTS = ("h100-sxm", "b200-hgx", "mi300x", "mi355x", "gaudi3", "l40s", "tpu-v5e", "rtx-5090")


def request(cell: FitCell, question: FitQuestion, count: int | None) -> EstimateRequest:
    load = Load(LoadKind.CONCURRENCY, concurrency=question.concurrency)
    work = Workload(question.context - 1, 1, load)
    return EstimateRequest(cell.accelerator, cell.model, question.weights, work, kv=question.kv, count=count)


def disagreement(service: GpuDeskService, cell: FitCell, question: FitQuestion) -> str | None:
    """Return how a cell differs from what the estimator says; None if both agree."""
    free = request(cell, question, None)
    free_estimate = service.estimator.estimate_many([free])[0]
    if isinstance(free_estimate, InputError) and free_estimate.problem.id == "estimate.no_peak":
        # Times need a peak; what fits does not.
        return None
    if not cell.fits:
        if isinstance(free_estimate, InputError):
            return None if cell.reason == free_estimate.problem else f"{cell.reason} for {free_estimate.problem}"
        if not free_estimate.fits:
            return None if cell.reason == free_estimate.reason else f"{cell.reason} for {free_estimate.reason}"
        needed = service.estimator.needed([free])[0]
        own = next(each for each in needed if each.weights == cell.weights)
        return None if own.load is None else f"nothing for {own.load}"
    assert cell.plan is not None
    assert cell.headroom_bytes is not None
    plan = cell.plan
    same_plan = replace(
        free, count=cell.count, tp=plan.tp, pp=plan.pp, ep=plan.ep, dp=plan.dp, attention_dp=plan.attention_dp
    )
    estimate = service.estimate(same_plan)
    room = service.estimator.compute_usable_memory(estimate)
    if not estimate.fits or estimate.max_concurrency < question.concurrency:
        return f"{cell.count} hold {estimate.max_concurrency}"
    if estimate.memory.kv_bytes and room.usable_bytes != cell.usable_bytes:
        return f"usable {cell.usable_bytes} for {room.usable_bytes}"
    if room.spare_bytes != cell.headroom_bytes:
        return f"headroom {cell.headroom_bytes} for {room.spare_bytes}"
    return None


def smaller_that_hold(service: GpuDeskService, cell: FitCell, question: FitQuestion) -> int | None:
    estimate = service.estimator.estimate_many([request(cell, replace(question, concurrency=1), None)])[0]
    return None if isinstance(estimate, InputError) or not estimate.fits else estimate.count


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_cell_agrees_with_the_estimator(service: GpuDeskService, question: FitQuestion) -> None:
    models = [model.id for model in service.catalog.models()][::5]
    matrix = service.fit_matrix(question, PARTS, models)
    assert [len(row) for row in matrix.rows] == [len(PARTS)] * len(models)
    wrong = {
        (cell.accelerator, cell.model): fault
        for row in matrix.rows
        for cell in row
        if (fault := disagreement(service, cell, question)) is not None
    }
    assert wrong == {}


@pytest.mark.thorough
@pytest.mark.parametrize("question", QUESTIONS)
def test_all_cells_of_the_catalog_agree_with_the_estimator(service: GpuDeskService, question: FitQuestion) -> None:
    matrix = service.fit_matrix(question)
    wrong = {
        (cell.accelerator, cell.model): fault
        for row in matrix.rows
        for cell in row
        if (fault := disagreement(service, cell, question)) is not None
    }
    assert wrong == {}


def test_fit_needs_no_arithmetic_peak(service: GpuDeskService) -> None:
    assert not service.catalog.accelerator("mi308x").peak_dense
    (row,) = service.fit_matrix(QUESTIONS[0], ["mi300x", "mi308x"], ["llama-3.1-70b"]).rows
    assert [cell.count for cell in row] == [1, 1]


def test_the_smallest_for_one_request_is_that_of_the_estimator(service: GpuDeskService) -> None:
    question = QUESTIONS[0]
    matrix = service.fit_matrix(question, PARTS, ["llama-3.1-405b", "deepseek-v3.1", "qwen3-32b"])
    for row in matrix.rows:
        for cell in row:
            assert cell.count == smaller_that_hold(service, cell, question)


@given(
    context=st.integers(1, 200_000),
    more=st.integers(0, 100_000),
    concurrency=st.integers(1, 600),
    further=st.integers(0, 600),
)
def test_more_to_hold_never_takes_fewer(
    service: GpuDeskService, context: int, more: int, concurrency: int, further: int
) -> None:
    models = ["llama-3.1-70b", "deepseek-v3.1", "gpt-oss-120b"]
    less = FitQuestion(Precision.FP8, Precision.FP8, context, concurrency)
    larger = replace(less, context=context + more, concurrency=concurrency + further)
    before, after = (service.fit_matrix(each, PARTS, models) for each in (less, larger))
    for old_row, new_row in zip(before.rows, after.rows, strict=True):
        for old, new in zip(old_row, new_row, strict=True):
            assert old.fits or not new.fits
            assert not new.fits or (old.count or 0) <= (new.count or 0)


def test_pairs_of_former_questions_are_forgotten_in_time(
    service: GpuDeskService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_matrix, "MOST_PAIRS", 3)
    finder = FitFinder(service.catalog, service.calibration)
    part = service.catalog.accelerator("h200-sxm")
    models = [service.catalog.model(name) for name in ("llama-3.1-8b", "llama-3.1-70b")]
    questions = [FitQuestion(weights) for weights in (Precision.FP16, Precision.FP8, Precision.FP16)]
    first, _, again = [finder.matrix(question, [part], models) for question in questions]
    assert again == first
    assert len(finder._ladders) == 3


@pytest.mark.parametrize("question", QUESTIONS)
def test_models_that_one_accelerator_holds_are_counted(service: GpuDeskService, question: FitQuestion) -> None:
    matrix = service.fit_matrix(question, PARTS)
    for place, part in enumerate(PARTS):
        assert service.count_models_held(question, part) == sum(row[place].count == 1 for row in matrix.rows)


def test_seventy_billion_in_two_bytes_is_one_or_two(service: GpuDeskService) -> None:
    question = FitQuestion(Precision.BF16, context=2048)
    matrix = service.fit_matrix(question, ["h100-sxm", "h200-sxm", "mi300x"], ["llama-3.1-70b"])
    assert [cell.count for cell in matrix.rows[0]] == [2, 1, 1]
    assert all((cell.headroom_bytes or -1) >= 0 for cell in matrix.rows[0])


@pytest.mark.parametrize(
    ("field", "question"),
    [("context", FitQuestion(Precision.FP8, context=0)), ("concurrency", FitQuestion(Precision.FP8, concurrency=0))],
)
def test_nothing_below_one_is_asked(service: GpuDeskService, field: str, question: FitQuestion) -> None:
    with pytest.raises(InputError) as caught:
        service.fit_matrix(question)
    assert caught.value.where == field
    assert caught.value.problem.id == "fit.below_one"


def test_unknown_ids_are_refused(service: GpuDeskService) -> None:
    with pytest.raises(InputError):
        service.fit_matrix(FitQuestion(Precision.FP8), ["h1000"])


def test_a_count_keeps_no_pairs(service: GpuDeskService) -> None:
    before = dict(service.fit._ladders)
    service.count_models_held(FitQuestion(Precision.NVFP4), PARTS[0])
    assert service.fit._ladders == before


def test_most_pairs_are_freed_while_no_matrix_is_shown(
    service: GpuDeskService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_matrix, "RESTING_PAIRS", 2)
    question = FitQuestion(Precision.FP8)
    before = service.fit_matrix(question, PARTS)
    service.drop_old_fits()
    assert len(service.fit._ladders) == 2
    assert service.fit_matrix(question, PARTS) == before
