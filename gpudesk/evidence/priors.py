"""What is believed of every constant before any run is looked at, and how far runs may move it.

Beliefs are round figures of the trade, wide where little is known. Where single operators were measured,
these pin the belief instead (`pinned`): the fit to whole engines then moves a constant only as far as kernels
inside an engine may differ from kernels alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.evidence.communication_beliefs import communication_beliefs
from gpudesk.evidence.conditions import (
    ADA,
    AMPERE,
    BLACKWELL,
    BLACKWELLS,
    CDNA3,
    CDNA4,
    EIGHT,
    FOUR,
    HOPPER,
    INT4,
    RTX,
    SGLANG,
    TENSORRT,
    TENSORRT_ENGINES,
    ULTRA,
    VLLM_V0,
    WIDE,
    exceptions,
    where,
)
from gpudesk.evidence.operators import OperatorFit
from gpudesk.evidence.parameters import Prior, PriorException, Where
from gpudesk.evidence.software_beliefs import dynamics_beliefs, software_beliefs

#: Whose kernels pin a constant: "" is what the libraries have in common.
_LIBRARIES: Final[Mapping[str, tuple[str, ...]]] = {
    "weight_read_efficiency": ("",),
    "gemm_efficiency": ("",),
    "kv_read_efficiency": ("vLLM",),
    "allreduce_latency": ("TensorRT-LLM",),
    "direct_efficiency": ("TensorRT-LLM",),
    "ring_latency": ("NCCL",),
}
#: What kernels inside an engine may differ by from kernels alone, in the logarithm: shapes, fusion, clocks.
INSIDE_AN_ENGINE: Final = 0.07


def _reading() -> tuple[Prior, ...]:
    return (
        Prior(
            "weight_read_efficiency",
            "1",
            "share of peak memory bandwidth at which a large weight matrix is read",
            0.78,
            0.07,
            exceptions(
                (where(AMPERE, WIDE), 0.78),
                (where(HOPPER, WIDE), 0.85),
                (where(BLACKWELLS, WIDE), 0.83),
                (where(ADA, WIDE), 0.78),
                (where(RTX, WIDE), 0.85),
                (where(HOPPER, EIGHT), 0.83),
                (where(BLACKWELLS, EIGHT), 0.82),
                (where(ADA, EIGHT), 0.74),
                (where(RTX, EIGHT), 0.83),
                (where(BLACKWELLS, FOUR), 0.70),
                (where(RTX, FOUR), 0.67),
                (where(HOPPER, FOUR), 0.70),
                (where(AMPERE, (*FOUR, *INT4, *EIGHT)), 0.65),
                (where((*HOPPER, *ADA, *RTX), INT4), 0.65),
                (where(CDNA3), 0.68),
                (where(CDNA4), 0.72),
            ),
            high=0.95,
        ),
        Prior(
            "expert_read_factor",
            "1",
            "reading routed experts against reading dense matrices",
            0.85,
            0.15,
            high=1.0,
        ),
        Prior(
            "kv_read_efficiency",
            "1",
            "share of peak memory bandwidth at which decode attention reads the KV cache",
            0.75,
            0.10,
            exceptions(
                (where(AMPERE), 0.80),
                (where(HOPPER, WIDE), 0.85),
                (where(HOPPER, EIGHT), 0.72),
                (where(BLACKWELLS), 0.80),
                (where(ADA), 0.78),
                (where(RTX), 0.80),
                (where(CDNA3), 0.60),
                (where(CDNA4), 0.68),
            ),
            high=0.95,
        ),
    )


def _arithmetic() -> tuple[Prior, ...]:
    return (
        Prior(
            "gemm_efficiency",
            "1",
            "share of the dense peak that large matrix products reach",
            0.55,
            0.18,
            exceptions(
                (where(AMPERE, WIDE), 0.80),
                (where(HOPPER, WIDE), 0.74),
                (where(BLACKWELLS, WIDE), 0.66),
                (where(ADA, WIDE), 0.62),
                (where(RTX, WIDE), 0.76),
                (where(HOPPER, EIGHT), 0.62),
                (where(BLACKWELLS, EIGHT), 0.58),
                (where(ADA, EIGHT), 0.54),
                (where(RTX, EIGHT), 0.70),
                (where(BLACKWELL, FOUR), 0.48),
                (where(ULTRA, FOUR), 0.36),
                (where(RTX, FOUR), 0.60),
                (where(CDNA3, WIDE), 0.50),
                (where(CDNA3, EIGHT), 0.38),
                (where(CDNA4, WIDE), 0.58),
                (where(CDNA4, EIGHT), 0.50),
                (where(CDNA4, FOUR), 0.42),
            ),
            high=0.95,
        ),
        Prior(
            "expert_gemm_factor",
            "1",
            "grouped products of routed experts against one large product",
            0.70,
            0.2,
            exceptions(({"precision": ("mxfp4", *INT4)}, 0.5)),
            high=1.0,
        ),
        Prior(
            "attention_efficiency",
            "1",
            "share of the dense 16-bit peak that attention arithmetic reaches",
            0.40,
            0.2,
            exceptions(
                (where(HOPPER), 0.45),
                (where(BLACKWELLS), 0.42),
                (where(CDNA3), 0.28),
                (where(CDNA4), 0.33),
            ),
            high=0.95,
        ),
        Prior(
            "expert_half_tokens",
            "tokens",
            "tokens per expert at which grouped products reach half of their rate",
            16.0,
            0.3,
        ),
        Prior(
            "expert_evenness",
            "1",
            "how evenly routed experts are chosen: shape of the gamma distribution of how often each is",
            3.0,
            0.6,
        ),
        Prior(
            "reference_power",
            "W per TFLOP/s",
            "power limit over the dense 16-bit peak of the parts that most runs of a generation are of",
            0.0,
            0.0,
            exceptions(
                (where(HOPPER), 0.708),
                (where(AMPERE), 1.282),
                (where(ADA), 0.967),
                (where(BLACKWELL), 0.444),
                (where(("blackwell-ultra",)), 0.489),
                (where(RTX), 1.191),
                (where(("cdna3",)), 0.574),
                (where(("cdna4",)), 0.556),
            ),
            source="datasheets of the parts with most runs: H100 SXM, A100, L40S, B200, B300, RTX PRO 6000, "
            "MI300X, MI355X",
        ),
        Prior(
            "power_exponent",
            "1",
            "how sustained arithmetic follows the power limit of parts of one generation",
            0.6,
            0.3,
            high=1.0,
        ),
    )


def _overheads() -> tuple[Prior, ...]:
    amd = {"generation": (*CDNA3, *CDNA4), "serving_engine": ("vllm", "sglang")}
    return (
        Prior(
            "layer_time",
            "s",
            "time of one layer beyond reading and arithmetic: launches, norms, residuals, attention set-up",
            14e-6,
            0.4,
            exceptions((TENSORRT, 14e-6), (amd, 20e-6)),
            0.25,
        ),
        Prior(
            "quantise_time",
            "s",
            "added to the time of one layer by narrowing activations before its products",
            4e-6,
            0.0,
            exceptions(({"precision": WIDE}, 0.0)),
            source="launches of the kernels; held so that a narrower format is not slower at small batches",
        ),
        Prior(
            "moe_layer_time",
            "s",
            "added by routing, permutation and grouped launch in a layer with experts",
            30e-6,
            0.4,
            exceptions((TENSORRT, 30e-6), (SGLANG, 30e-6)),
            0.25,
        ),
        Prior("eager_factor", "1", "stretch of layer times without graph capture", 3.0, 0.2),
        Prior(
            "step_time",
            "s",
            "scheduling and sampling per step",
            0.8e-3,
            0.4,
            exceptions((TENSORRT, 0.4e-3), (VLLM_V0, 4e-3), (SGLANG, 0.8e-3)),
        ),
        Prior(
            "sequence_time",
            "s",
            "scheduling and sampling per sequence and step",
            5e-6,
            0.5,
            exceptions((TENSORRT_ENGINES, 1.5e-6), (TENSORRT, 6e-6), (VLLM_V0, 10e-6), (SGLANG, 5e-6)),
            0.5,
        ),
        Prior(
            "host_overlap",
            "1",
            "share of the host's scheduling that goes on while the accelerator computes",
            0.5,
            0.4,
            exceptions((TENSORRT_ENGINES, 0.5), (TENSORRT, 0.7), (VLLM_V0, 0.2), (SGLANG, 0.5)),
            high=1.0,
        ),
        Prior(
            "request_time",
            "s",
            "server time of one request: HTTP, tokenising, detokenising",
            2e-3,
            0.3,
            exceptions((TENSORRT, 2e-3), (SGLANG, 2e-3)),
            0.25,
        ),
        Prior(
            "offline_request_time",
            "s",
            "time of one request without a server",
            0.3e-3,
            0.4,
            exceptions((TENSORRT, 0.3e-3)),
        ),
        Prior("activation_traffic", "1", "times a token's hidden vector passes memory per layer", 12.0, 0.3),
        Prior(
            "expert_traffic",
            "1",
            "times a token's hidden vector passes memory for each of its experts, sorting and sum included",
            4.0,
            0.4,
        ),
    )


def beliefs() -> tuple[Prior, ...]:
    """Return what is believed of every constant without any measurement."""
    return (
        *_reading(),
        *_arithmetic(),
        *_overheads(),
        *communication_beliefs(),
        *software_beliefs(),
        *dynamics_beliefs(),
    )


def pinned(priors: Sequence[Prior], operators: OperatorFit) -> tuple[Prior, ...]:
    """Return the beliefs with those exceptions replaced that measured operators say something of."""
    return tuple(
        replace(prior, exceptions=tuple(_pinned(prior.name, each, operators) for each in prior.exceptions))
        for prior in priors
    )


def _pinned(name: str, exception: PriorException, operators: OperatorFit) -> PriorException:
    libraries = _LIBRARIES.get(name, ())
    inside = [
        entry
        for entry in operators.entries
        if entry.constant == name and entry.kernels in libraries and _within(entry.where, exception.where)
    ]
    if not inside:
        return exception
    weights = [entry.sigma**-2 for entry in inside]
    mean = sum(w * math.log(each.value) for w, each in zip(weights, inside, strict=True)) / sum(weights)
    spread = math.hypot(INSIDE_AN_ENGINE, min(entry.sigma for entry in inside))
    return PriorException(exception.where, math.exp(mean), spread, pinned=True)


def _within(narrow: Where, wide: Where) -> bool:
    """Whether what `narrow` names lies in `wide`; serving engine and link of a kernel do not matter."""
    return all(key in narrow and set(narrow[key]) <= set(wide[key]) for key in wide) and not (
        {"ranks"} & set(narrow)
    ) - set(wide)
