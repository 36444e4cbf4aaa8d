"""Held-out kernels: errors of the kernel fit on unseen shapes, and of the calibration on the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from accuracy_report.wording import format_count, format_factor, format_share, make_markdown_table
from calibration.kernel_constants import EXPERT_CLASS, KERNEL_CLASSES, KernelClass
from calibration.operator_constants import OperatorFit
from calibration.operator_runs import ExpertRun, KernelRun, OperatorRuns
from calibration.robust_fit import Array, find_library_engine
from gpudesk.engine.calibration import Calibration, ConstantKeys

#: Smaller log time differences between the two ways of sharing experts count as equal.
_ALIKE: Final = math.log(1.1)
#: Bars: median error of held-out kernels, and share of pairs in the right order.
KERNEL_BAR: Final = 0.12
ORDER_BAR: Final = 0.90

#: Gives the value of a constant for a kernel.
ConstantOfKernel: TypeAlias = Callable[[KernelClass, KernelRun, str], float]


@dataclass(frozen=True, slots=True)
class KernelErrors:
    """Ratios of predicted to measured seconds of the held-out kernels of a class, by both sets of constants."""

    name: str
    fitted: Array
    calibrated: Array


@dataclass(frozen=True, slots=True)
class JudgedKernels:
    """Errors by class; `expert_pairs` has ln(EP / TP) of one layer as predicted by the calibration and as measured."""

    classes: tuple[KernelErrors, ...]
    expert_pairs: Array

    @property
    def right_order(self) -> Array:
        """Share of the unequal pairs whose faster way is predicted right."""
        predicted, measured = self.expert_pairs[np.abs(self.expert_pairs[:, 1]) > _ALIKE].T
        right: Array = predicted * measured > 0
        return right


def judge_kernels(rows: OperatorRuns, operators: OperatorFit, calibration: Calibration) -> JudgedKernels:
    constant = partial(_find_calibrated, rows.serving_engines, operators, calibration)
    classes = []
    for each in KERNEL_CLASSES:
        held_out = [row for row in each.get_rows(rows) if row.unused is None and row.is_held_out]
        measured = np.array([row.seconds for row in held_out])
        fitted, calibrated = (
            _predict(each, held_out, source) / measured
            for source in (partial(_find_fitted, rows.serving_engines, operators), constant)
        )
        classes.append(KernelErrors(each.name, fitted, calibrated))
    return JudgedKernels(tuple(classes), _pair_experts(rows.experts, constant))


def _predict(each: KernelClass, rows: Sequence[KernelRun], constant: ConstantOfKernel) -> Array:
    return each.times(rows)(lambda name: np.array([constant(each, row, name) for row in rows]))


def _list_keys(serving_engines: Mapping[str, str], each: KernelClass, row: KernelRun) -> dict[str, str]:
    where = {**each.where(row), **find_library_engine(serving_engines, row.kernels)}
    return {key: values[0] for key, values in where.items()}


def _find_fitted(
    serving_engines: Mapping[str, str], operators: OperatorFit, each: KernelClass, row: KernelRun, name: str
) -> float:
    entries = operators.find(name, kernels=row.kernels, **_list_keys(serving_engines, each, row))
    return entries[0].value if entries else each.beliefs[name].value


def _find_calibrated(
    serving_engines: Mapping[str, str],
    operators: OperatorFit,
    calibration: Calibration,
    each: KernelClass,
    row: KernelRun,
    name: str,
) -> float:
    """Return the engine's constant; the call time, which the engine counts by layer, is the kernels' own."""
    if name not in calibration.constants:
        return _find_fitted(serving_engines, operators, each, row, name)
    return calibration.value(name, ConstantKeys(**_list_keys(serving_engines, each, row)))


def _pair_experts(rows: Sequence[ExpertRun], constant: ConstantOfKernel) -> Array:
    """Return ln(EP / TP) as predicted and as measured, for all layers measured both ways on as many ranks."""
    expert_rows = [row for row in rows if row.unused is None and row.tensor_ranks * row.expert_ranks > 1]
    predicted = _predict(EXPERT_CLASS, expert_rows, constant)
    pairs: dict[tuple[object, ...], dict[bool, tuple[float, float]]] = {}
    for row, seconds in zip(expert_rows, predicted, strict=True):
        key = (row.part, row.kernels, row.precision, row.scheme, row.layer, row.tokens)
        pairs.setdefault(key, {})[row.expert_ranks > 1] = (math.log(seconds), math.log(row.seconds))
    both = [(pair[True], pair[False]) for pair in pairs.values() if len(pair) == 2]
    return np.array([[shared[0] - divided[0], shared[1] - divided[1]] for shared, divided in both]).reshape(-1, 2)


def write_kernel_section(kernels: JudgedKernels | None) -> list[str]:
    lines = ["## 8. Kernels", ""]
    if kernels is None:
        return [*lines, "No kernels are available.", ""]
    body = [
        (each.name, f"{len(each.fitted):,}", *_format_errors(each.fitted), *_format_errors(each.calibrated))
        for each in kernels.classes
    ]
    head = ("class", "kernels", "median", "p90", "bias", "median, calibrated", "p90, calibrated", "bias, calibrated")
    order = kernels.right_order
    return [
        *lines,
        (
            "Constants of these kernels are fitted to kernels measured alone. One third of the shapes is held out "
            "of that fit. The calibration then moves the constants, so that they also fit whole runs. "
            f"The bar for the median is {format_share(KERNEL_BAR)}."
        ),
        "",
        *make_markdown_table(head, body),
        (
            f"Expert and tensor parallelism of one layer differ by more than 10% in "
            f"{format_count(len(order), 'pair')}. The calibration names the faster way correctly in "
            f"{format_share(float(np.mean(order)))}; the bar is {format_share(ORDER_BAR)}. The peak load of "
            "an expert-parallel rank depends on the routing, which one constant describes for all models."
        ),
        "",
    ]


def _format_errors(ratios: Array) -> tuple[str, str, str]:
    errors = np.abs(ratios - 1.0)
    median, p90 = float(np.median(errors)), float(np.quantile(errors, 0.9))
    return format_share(median), format_share(p90), format_factor(float(np.median(ratios)))
