"""What is said of a cell of the fit matrix, and into which class of room it falls."""

import pytest

from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import FitCell, FitQuestion
from gpudesk.report.sizing import (
    HeadroomLevel,
    classify_headroom,
    compute_headroom_share,
    describe_fit_cell,
    describe_matrix_question,
    describe_reading,
    describe_reading_cell,
    label_reading,
)
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter
from gpudesk.text.messages import message
from gpudesk.text.units import GB, GIB

FORMATTER = Formatter(ENGLISH_NUMBERS)
QUESTION = FitQuestion(Precision.FP8, Precision.FP16, 8192, 1)
MODEL = Model("m", "Small 8B", "Someone", 4096, 32_000, False, 4096, None, ())


def make_cell(count: int | None, left: float = 0.5, usable: int = 100 * GIB) -> FitCell:
    plan = None if count is None else ParallelPlan(tp=count)
    reason = (
        None
        if count is not None
        else message(
            "model.no_dimensions",
            "the dimensions of {model} are unpublished, so estimates are not available",
            model="Small 8B",
        )
    )
    room = None if count is None else (usable, int(usable * left))
    return FitCell(
        "p",
        "m",
        Precision.FP8,
        Precision.FP16,
        fits=count is not None,
        serving_engine="vllm",
        count=count,
        plan=plan,
        usable_bytes=None if room is None else room[0],
        headroom_bytes=None if room is None else room[1],
        reason=reason,
    )


@pytest.mark.parametrize(
    ("left", "room"),
    [
        (0.9, HeadroomLevel.AMPLE),
        (0.25, HeadroomLevel.AMPLE),
        (0.246, HeadroomLevel.AMPLE),
        (0.244, HeadroomLevel.SOME),
        (0.096, HeadroomLevel.SOME),
        (0.0949, HeadroomLevel.TIGHT),
        (0.0, HeadroomLevel.TIGHT),
    ],
)
def test_room_falls_into_the_class_of_the_per_cent_that_are_shown(left: float, room: HeadroomLevel) -> None:
    assert classify_headroom(compute_headroom_share(make_cell(1, left))) is room


def test_nothing_leaves_nothing() -> None:
    assert compute_headroom_share(make_cell(None)) == 0.0


def test_deployment_is_described_with_plan_engine_and_headroom() -> None:
    question = FitQuestion(Precision.FP8, Precision.FP16, 4096)
    assert describe_fit_cell(make_cell(2, 0.12), "B", MODEL, question, FORMATTER) == (
        "Small 8B on B, FP8 weights: fits on 2 with vLLM, TP 2; at least 12.0 of 100.0 GiB free on each (12%)"
    )
    assert "fits on 1 with vLLM; " in describe_fit_cell(make_cell(1), "B", MODEL, question, FORMATTER)


def test_more_tokens_than_the_model_reads_are_reported() -> None:
    description = describe_fit_cell(make_cell(1), "B", MODEL, QUESTION, FORMATTER)
    assert description.endswith("The model's context limit is 4,096 tokens")


def test_without_a_deployment_the_reason_is_reported() -> None:
    description = describe_fit_cell(make_cell(None), "B", MODEL, QUESTION, FORMATTER)
    assert description.startswith("Small 8B on B, FP8 weights: no deployment. ")
    assert describe_reading_cell(make_cell(None), "B", MODEL, FORMATTER).startswith(
        "Small 8B on B: no count with this reading. "
    )


def test_capacity_reading_is_described_with_its_arithmetic() -> None:
    cell = make_cell(2, 0.125, 80 * GB)
    assert describe_reading_cell(cell, "B", MODEL, FORMATTER) == (
        "Small 8B on B: 2 with this reading. FP8 weights need 140.0 GB; each accelerator has 80.0 GB"
    )


def test_readings_have_a_name_and_a_purpose() -> None:
    keys = ("decimal", "binary", "decimal-reserved", "binary-reserved")
    assert len({label_reading(key) for key in keys}) == 4
    assert all("Only for checking published counts" in describe_reading(key) for key in keys)


def test_question_has_singular_and_plural() -> None:
    assert describe_matrix_question(QUESTION, FORMATTER) == "FP8 weights, FP16 KV cache, 1 sequence of 8,192 tokens"
    many = FitQuestion(Precision.FP4, Precision.FP8, 100, 12)
    assert describe_matrix_question(many, FORMATTER) == "FP4 weights, FP8 KV cache, 12 sequences of 100 tokens"
