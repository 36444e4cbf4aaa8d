"""Constants of routed experts and of attention in prompts and over latent caches, fitted to measured kernels.

Each formula is the engine's for one layer on one rank, with constants by name: fit and report share the code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from calibration.operator_runs import ExpertRun, KernelRun, LatentRun, OperatorRuns, PromptRun
from calibration.robust_fit import (
    FAMILIES,
    Array,
    KernelTerm,
    LogNormalPrior,
    OperatorConstant,
    OperatorFormula,
    Where,
    find_library_engine,
    fit_group,
    get_accelerator,
    group_rows,
)
from gpudesk.domain.precision import KV_BYTES, Precision
from gpudesk.engine.step_work import compute_expert_skew, find_peak
from gpudesk.engine.steps import compute_coverage

#: Gives the value of a constant for every row of a formula.
KernelLookup = Callable[[str], Array]
KernelTimes = Callable[[KernelLookup], Array]

#: Elements of a token of the latent cache, and those of them that are values.
LATENT_ELEMENTS, LATENT_VALUES = 576, 512
VECTOR_BYTES: Final = 2
#: Share of the memory bandwidth that activations reach.
TYPICAL_READING: Final = 0.8
#: Ratio of the most to the least popular expert in steps with fewer choices than experts.
SPARSE_RANGE: Final = 200.0
#: In all other steps, the most popular expert gets up to this share of the tokens and the least popular one token.
LARGEST_SHARE: Final = 0.8


def compute_routing_variance(tokens: Array, choices: Array, experts: Array) -> Array:
    """Variance of expert popularity in the rows, relative to the squared mean.

    The source draws popularity from a power law of exponent 1.01, which is log-uniform within 1%. With the ratio m of
    its limits, the variance is ln(m) / 2 × (m + 1) / (m − 1) − 1.
    """
    ends = np.where(tokens * choices > experts, np.maximum(LARGEST_SHARE * tokens, 2.0), SPARSE_RANGE)
    variance: Array = 0.5 * np.log(ends) * (ends + 1.0) / (ends - 1.0) - 1.0
    return variance


def compute_expert_times(rows: Sequence[ExpertRun]) -> KernelTimes:
    tokens, bandwidth = _columns(rows, lambda row: (row.tokens, get_accelerator(row).memory_bandwidth))
    expert_share, peak = _columns(rows, lambda row: (row.top_k / row.experts, _get_peak(row, row.arithmetic)))
    stored, ranks, experts = _columns(rows, lambda row: (row.stored_bytes, row.expert_ranks, row.experts))
    flop, vector, divided = _columns(
        rows,
        lambda row: (
            2.0 * row.top_k / row.expert_ranks * row.expert_elements,
            VECTOR_BYTES * row.hidden * row.top_k,
            row.routing_divided,
        ),
    )
    variance, skew = (
        compute_routing_variance(tokens, expert_share * experts, experts),
        compute_expert_skew(ranks, experts),
    )
    touched = compute_coverage(tokens - 1.0, np.log1p(-expert_share), 1.0 / variance, skew)
    busiest = 1.0 + np.sqrt(variance) * skew
    passed = np.where(divided, busiest / ranks, 1.0)

    def compute(value: KernelLookup) -> Array:
        computed = tokens + value("expert_half_tokens") * touched / expert_share
        products = np.hypot(
            stored * touched / (bandwidth * value("expert_read_efficiency")),
            busiest * flop * computed / (peak * value("expert_gemm_efficiency")),
        )
        moved = value("routing_traffic") * passed * vector * tokens / (bandwidth * TYPICAL_READING)
        calls = value("expert_call_time") * touched * experts / ranks
        seconds: Array = value("expert_time") + products + moved + calls
        return seconds

    return compute


def compute_prompt_times(rows: Sequence[PromptRun]) -> KernelTimes:
    attended, peak = _columns(rows, lambda row: (0.5 * row.queries, _get_peak(row, Precision.BF16)))
    flop, tokens = _columns(
        rows, lambda row: (2.0 * row.q_heads * (row.head_dim + row.value_dim), row.batch * row.queries)
    )

    def compute(value: KernelLookup) -> Array:
        each = (attended + value("attention_offset")) / value("attention_efficiency")
        seconds: Array = value("prompt_time") + tokens * flop * each / peak
        return seconds

    return compute


def compute_latent_times(rows: Sequence[LatentRun]) -> KernelTimes:
    cached, element = _columns(rows, lambda row: (row.batch * row.context, KV_BYTES[row.precision]))
    bandwidth, peak = _columns(
        rows, lambda row: (get_accelerator(row).memory_bandwidth, _get_peak(row, Precision.BF16))
    )
    (flop,) = _columns(rows, lambda row: (2.0 * row.q_heads * (LATENT_ELEMENTS + LATENT_VALUES),))

    def compute(value: KernelLookup) -> Array:
        read_time = cached * element * LATENT_ELEMENTS / (bandwidth * value("kv_read_efficiency"))
        seconds: Array = value("latent_time") + np.hypot(
            read_time, cached * flop / (peak * value("decode_attention_efficiency"))
        )
        return seconds

    return compute


def _columns(rows: Sequence[Any], values: Callable[[Any], tuple[float, ...]]) -> Array:
    return np.array([values(row) for row in rows], dtype=np.float64).T


def _get_peak(row: KernelRun, arithmetic: Precision) -> float:
    peak = find_peak(get_accelerator(row), arithmetic)
    if peak is None:
        raise ValueError(f"{row.id}: {get_accelerator(row).id} states no peak for {arithmetic}")
    return peak.flops


@dataclass(frozen=True, slots=True)
class KernelClass:
    """A class of kernels: its formula, the priors of its constants, and its grouping keys.

    The last prior is the call time, which the engine counts by layer and not by kernel.
    """

    name: str
    get_rows: Callable[[OperatorRuns], Sequence[KernelRun]]
    times: Callable[[Sequence[Any]], KernelTimes]
    beliefs: Mapping[str, LogNormalPrior]
    where: Callable[[Any], Where]


#: Accelerators of one generation, and a later one without measured kernels yet.
_GENERATIONS: Final = {"blackwell-ultra": ("blackwell-ultra", "rubin")}


def _locate(row: KernelRun, **keys: tuple[str, ...]) -> Where:
    generation = get_accelerator(row).generation
    return {"generation": _GENERATIONS.get(generation, (generation,)), **keys}


#: Priors are the common values of the class: they decide if the rows of a group leave a constant open.
EXPERT_CLASS: Final = KernelClass(
    "routed experts",
    lambda rows: rows.experts,
    compute_expert_times,
    {
        "expert_read_efficiency": LogNormalPrior(0.75, 0.15),
        "expert_gemm_efficiency": LogNormalPrior(0.45, 0.5),
        "expert_half_tokens": LogNormalPrior(30.0, 0.5),
        "routing_traffic": LogNormalPrior(3.0, 0.5),
        "expert_call_time": LogNormalPrior(1e-7, 1.2),
        "expert_time": LogNormalPrior(2e-5, 1.0),
    },
    lambda row: _locate(row, precision=FAMILIES[row.precision]),
)
PROMPT_CLASS: Final = KernelClass(
    "attention in prompts",
    lambda rows: rows.prompts,
    compute_prompt_times,
    {
        "attention_efficiency": LogNormalPrior(0.5, 0.5),
        "attention_offset": LogNormalPrior(350.0, 0.7),
        "prompt_time": LogNormalPrior(1e-5, 1.0),
    },
    lambda row: _locate(row, attention=(row.attention,)),
)
LATENT_CLASS: Final = KernelClass(
    "attention over latent caches",
    lambda rows: rows.latent,
    compute_latent_times,
    {
        "kv_read_efficiency": LogNormalPrior(0.8, 0.15),
        "decode_attention_efficiency": LogNormalPrior(0.8, 0.5),
        "latent_time": LogNormalPrior(2e-5, 1.0),
    },
    lambda row: _locate(row, precision=FAMILIES[row.precision], attention=("latent", "sparse")),
)
KERNEL_CLASSES: Final = (EXPERT_CLASS, PROMPT_CLASS, LATENT_CLASS)


def fit_kernels(rows: OperatorRuns) -> list[OperatorConstant]:
    """Fit the shapes that are not held out, by serving engine and the class's grouping keys."""
    return [entry for each in KERNEL_CLASSES for entry in _fit_class(each, rows)]


def _fit_class(each: KernelClass, rows: OperatorRuns) -> list[OperatorConstant]:
    def formula(group: Sequence[KernelRun]) -> OperatorFormula:
        kernels, every = group[0].kernels, np.ones(len(group), dtype=np.bool_)
        where = {**each.where(group[0]), **find_library_engine(rows.serving_engines, kernels)}
        times, places = each.times(group), {name: place for place, name in enumerate(each.beliefs)}
        return OperatorFormula(
            tuple(KernelTerm(name, where, belief, every, kernels) for name, belief in each.beliefs.items()),
            lambda values: times(lambda name: values[places[name]]),
            [(get_accelerator(row).id, row.shape) for row in group],
        )

    fitted = (row for row in each.get_rows(rows) if not row.is_held_out)
    groups = group_rows(fitted, lambda row: (row.kernels, *map(tuple, each.where(row).values())))
    return [entry for group in groups for entry in fit_group(group, formula)]
