"""Kernels of experts, prompts and latent caches: their formulas, what is held out, and how both are judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import pytest

from accuracy_report.kernels import JudgedKernels, KernelErrors, judge_kernels, write_kernel_section
from calibration.kernel_constants import EXPERT_CLASS, KERNEL_CLASSES, LATENT_CLASS, PROMPT_CLASS, KernelClass
from calibration.operator_constants import fit_operators
from calibration.operator_runs import ExpertRun, KernelRun, LatentRun, OperatorRuns, PromptRun
from gpudesk.domain.precision import Precision
from gpudesk.engine.calibration import Calibration, CalibrationConstant
from tests.unit.calibration.test_operators import PART

#: What makes the times of the rows below.
TRUE = {
    "expert_read_efficiency": 0.7,
    "expert_gemm_efficiency": 0.4,
    "expert_half_tokens": 30.0,
    "routing_traffic": 3.0,
    "expert_call_time": 2e-7,
    "expert_time": 2e-5,
    "attention_efficiency": 0.6,
    "attention_offset": 400.0,
    "prompt_time": 1e-5,
    "kv_read_efficiency": 0.8,
    "decode_attention_efficiency": 0.7,
    "latent_time": 2e-5,
}
COMMON = ("K", "bench", PART, "vLLM", None, 1.0)


def make_expert(tokens: int, tensor: int, shared: int, experts: int = 128, hidden: int = 4096) -> ExpertRun:
    return ExpertRun(*COMMON, Precision.FP8, "block", tokens, experts, 8, hidden, 1536, tensor, shared)


def make_rows() -> OperatorRuns:
    experts = [
        make_expert(tokens, tensor, 8 // tensor, experts, hidden)
        for tokens, tensor, experts, hidden in product((1, 16, 128, 1024, 8192), (1, 8), (64, 128, 256), (2048, 7168))
    ]
    prompts = [
        PromptRun(*COMMON, "heads", batch, queries, heads, 8, 128, 128)
        for batch, queries, heads in product((1, 4), (128, 512, 1024, 4096, 16384), (8, 32, 64))
    ]
    latent = [
        LatentRun(*COMMON, Precision.BF16, batch, context, heads)
        for batch, context, heads in product((1, 8, 32, 128), (1024, 4096, 16384), (16, 64, 128))
    ]
    return OperatorRuns(
        (),
        (),
        (),
        (),
        MappingProxyType({"vLLM": "vllm"}),
        make_times(EXPERT_CLASS, experts),
        make_times(PROMPT_CLASS, prompts),
        make_times(LATENT_CLASS, latent),
    )


Kernel = TypeVar("Kernel", bound=KernelRun)


def make_times(each: KernelClass, rows: Sequence[Kernel]) -> tuple[Kernel, ...]:
    seconds = each.times(rows)(lambda name: np.full(len(rows), TRUE[name]))
    return tuple(replace(row, seconds=float(value)) for row, value in zip(rows, seconds, strict=True))


def calibrate(change: Callable[[str, float], float] = lambda _, value: value) -> Calibration:
    constants = {
        name: CalibrationConstant(name, "", "", change(name, value))
        for name, value in TRUE.items()
        if not name.endswith("_time")
    }
    return Calibration("made up", "", "2026-01", constants, (), ())


def test_the_fit_finds_the_constants_that_made_the_times() -> None:
    fitted = {entry.constant: entry for entry in fit_operators(make_rows()).entries}
    assert set(TRUE) - set(fitted) <= {"expert_half_tokens"}, "which few tokens an expert decide"
    for name, entry in fitted.items():
        assert entry.value == pytest.approx(TRUE[name], rel=0.12), name
    assert fitted["routing_traffic"].where["serving_engine"] == ("vllm",)
    assert fitted["kv_read_efficiency"].where["attention"] == ("latent", "sparse")


def test_a_third_of_the_shapes_is_held_out_on_all_parts_alike() -> None:
    rows = make_rows()
    held_out = [row for row in rows.kernels if row.is_held_out]
    assert 0.2 < len(held_out) / len(rows.kernels) < 0.45
    other = replace(held_out[0], part=replace(PART, id="other"), seconds=2.0)
    assert other.is_held_out
    # What is held out has no part in the fit.
    slower = replace(
        rows, experts=tuple(replace(row, seconds=row.seconds * (9 if row.is_held_out else 1)) for row in rows.experts)
    )
    assert fit_operators(slower).entries == fit_operators(rows).entries


def test_kernels_are_judged_by_the_fit_and_by_the_calibration() -> None:
    rows = make_rows()
    operators = fit_operators(rows)
    exact = judge_kernels(rows, operators, calibrate())
    assert [each.name for each in exact.classes] == [each.name for each in KERNEL_CLASSES]
    for each in exact.classes:
        assert np.abs(each.fitted - 1.0).max() < 0.1
        assert each.calibrated == pytest.approx(1.0, rel=0.15)
    assert exact.right_order.all()
    slow = judge_kernels(rows, operators, calibrate(lambda name, value: value / (2 if "efficiency" in name else 1)))
    assert np.median(slow.classes[1].calibrated) > 1.5
    assert slow.classes[1].fitted == pytest.approx(exact.classes[1].fitted)


def test_experts_of_the_busiest_rank_take_longer_than_an_even_share() -> None:
    divided, shared = make_expert(8192, 8, 1), make_expert(8192, 1, 8)
    assert divided.stored_bytes == pytest.approx(shared.stored_bytes, rel=1e-3)
    products = {**TRUE, "routing_traffic": 0.0, "expert_call_time": 0.0}
    times = EXPERT_CLASS.times((divided, shared))(lambda name: np.full(2, products[name]))
    assert times[1] / times[0] == pytest.approx(1.0 + 2.7 * (7 / 128) ** 0.5, rel=0.1)


def test_the_section_gives_errors_by_class_and_the_order_of_both_ways() -> None:
    errors = KernelErrors("routed experts", np.array([1.1, 0.8, 1.0]), np.array([1.3, 1.3, 1.3]))
    pairs = np.log(np.array([[0.5, 0.5], [2.0, 0.5], [1.5, 1.5], [1.2, 1.02]]))
    text = "\n".join(write_kernel_section(JudgedKernels((errors,), pairs)))
    assert "| routed experts | 3 | 10.0% | 18.0% | ×1.00 | 30.0% | 30.0% | ×1.30 |" in text
    assert "differ by more than 10% in 3 pairs" in text
    assert "correctly in 66.7%" in text
    assert "No kernels are available" in "".join(write_kernel_section(None))
