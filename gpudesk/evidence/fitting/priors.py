"""Priors of every calibration constant, and how far runs may move each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.evidence.fitting.dynamics_priors import (
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
    dynamics_beliefs,
    make_communication_priors,
    make_overrides,
    match_generations,
    software_beliefs,
)
from gpudesk.evidence.fitting.operator_constants import OperatorFit
from gpudesk.evidence.fitting.parameters import ConstantPrior, PriorOverride, Where

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


def _reading() -> tuple[ConstantPrior, ...]:
    return (
        ConstantPrior(
            "weight_read_efficiency",
            "1",
            "share of peak memory bandwidth at which a large weight matrix is read",
            0.78,
            0.07,
            make_overrides(
                (match_generations(AMPERE, WIDE), 0.78),
                (match_generations(HOPPER, WIDE), 0.85),
                (match_generations(BLACKWELLS, WIDE), 0.83),
                (match_generations(ADA, WIDE), 0.78),
                (match_generations(RTX, WIDE), 0.85),
                (match_generations(HOPPER, EIGHT), 0.83),
                (match_generations(BLACKWELLS, EIGHT), 0.82),
                (match_generations(ADA, EIGHT), 0.74),
                (match_generations(RTX, EIGHT), 0.83),
                (match_generations(BLACKWELLS, FOUR), 0.70),
                (match_generations(RTX, FOUR), 0.67),
                (match_generations(HOPPER, FOUR), 0.70),
                (match_generations(AMPERE, (*FOUR, *INT4, *EIGHT)), 0.65),
                (match_generations((*HOPPER, *ADA, *RTX), INT4), 0.65),
                (match_generations(CDNA3), 0.68),
                (match_generations(CDNA4), 0.72),
            ),
            high=0.95,
        ),
        ConstantPrior(
            "expert_read_factor", "1", "reading routed experts against reading dense matrices", 0.85, 0.15, high=1.0
        ),
        ConstantPrior(
            "kv_read_efficiency",
            "1",
            "share of peak memory bandwidth at which decode attention reads the KV cache",
            0.75,
            0.10,
            make_overrides(
                (match_generations(AMPERE), 0.80),
                (match_generations(HOPPER, WIDE), 0.85),
                (match_generations(HOPPER, EIGHT), 0.72),
                (match_generations(BLACKWELLS), 0.80),
                (match_generations(ADA), 0.78),
                (match_generations(RTX), 0.80),
                (match_generations(CDNA3), 0.60),
                (match_generations(CDNA4), 0.68),
            ),
            high=0.95,
        ),
    )


def _arithmetic() -> tuple[ConstantPrior, ...]:
    return (
        ConstantPrior(
            "gemm_efficiency",
            "1",
            "share of the dense peak that large matrix products reach",
            0.55,
            0.18,
            make_overrides(
                (match_generations(AMPERE, WIDE), 0.80),
                (match_generations(HOPPER, WIDE), 0.74),
                (match_generations(BLACKWELLS, WIDE), 0.66),
                (match_generations(ADA, WIDE), 0.62),
                (match_generations(RTX, WIDE), 0.76),
                (match_generations(HOPPER, EIGHT), 0.62),
                (match_generations(BLACKWELLS, EIGHT), 0.58),
                (match_generations(ADA, EIGHT), 0.54),
                (match_generations(RTX, EIGHT), 0.70),
                (match_generations(BLACKWELL, FOUR), 0.48),
                (match_generations(ULTRA, FOUR), 0.36),
                (match_generations(RTX, FOUR), 0.60),
                (match_generations(CDNA3, WIDE), 0.50),
                (match_generations(CDNA3, EIGHT), 0.38),
                (match_generations(CDNA4, WIDE), 0.58),
                (match_generations(CDNA4, EIGHT), 0.50),
                (match_generations(CDNA4, FOUR), 0.42),
            ),
            high=0.95,
        ),
        ConstantPrior(
            "expert_gemm_factor",
            "1",
            "grouped products of routed experts against one large product",
            0.70,
            0.2,
            make_overrides(({"precision": ("mxfp4", *INT4)}, 0.5)),
            high=1.0,
        ),
        ConstantPrior(
            "attention_efficiency",
            "1",
            "share of the dense 16-bit peak that attention arithmetic reaches",
            0.40,
            0.2,
            make_overrides(
                (match_generations(HOPPER), 0.45),
                (match_generations(BLACKWELLS), 0.42),
                (match_generations(CDNA3), 0.28),
                (match_generations(CDNA4), 0.33),
            ),
            high=0.95,
        ),
        ConstantPrior(
            "expert_half_tokens",
            "tokens",
            "tokens per expert at which grouped products reach half of their rate",
            16.0,
            0.3,
        ),
        ConstantPrior(
            "expert_evenness",
            "1",
            "how evenly routed experts are chosen: shape of the gamma distribution of how often each is",
            3.0,
            0.6,
        ),
        ConstantPrior(
            "reference_power",
            "W per TFLOP/s",
            "power limit over the dense 16-bit peak of the parts that most runs of a generation are of",
            0.0,
            0.0,
            make_overrides(
                (match_generations(HOPPER), 0.708),
                (match_generations(AMPERE), 1.282),
                (match_generations(ADA), 0.967),
                (match_generations(BLACKWELL), 0.444),
                (match_generations(("blackwell-ultra",)), 0.489),
                (match_generations(RTX), 1.191),
                (match_generations(("cdna3",)), 0.574),
                (match_generations(("cdna4",)), 0.556),
            ),
            source="datasheets of the parts with most runs: H100 SXM, A100, L40S, B200, B300, RTX PRO 6000, "
            "MI300X, MI355X",
        ),
        ConstantPrior(
            "power_exponent",
            "1",
            "how sustained arithmetic follows the power limit of parts of one generation",
            0.6,
            0.3,
            high=1.0,
        ),
    )


def _overheads() -> tuple[ConstantPrior, ...]:
    amd = {"generation": (*CDNA3, *CDNA4), "serving_engine": ("vllm", "sglang")}
    return (
        ConstantPrior(
            "layer_time",
            "s",
            "time of one layer beyond reading and arithmetic: launches, norms, residuals, attention set-up",
            14e-6,
            0.4,
            make_overrides((TENSORRT, 14e-6), (amd, 20e-6)),
            0.25,
        ),
        ConstantPrior(
            "quantise_time",
            "s",
            "added to the time of one layer by narrowing activations before its products",
            4e-6,
            0.0,
            make_overrides(({"precision": WIDE}, 0.0)),
            source="launches of the kernels; held so that a narrower format is not slower at small batches",
        ),
        ConstantPrior(
            "moe_layer_time",
            "s",
            "added by routing, permutation and grouped launch in a layer with experts",
            30e-6,
            0.4,
            make_overrides((TENSORRT, 30e-6), (SGLANG, 30e-6)),
            0.25,
        ),
        ConstantPrior("eager_factor", "1", "stretch of layer times without graph capture", 3.0, 0.2),
        ConstantPrior(
            "step_time",
            "s",
            "scheduling and sampling per step",
            0.8e-3,
            0.4,
            make_overrides((TENSORRT, 0.4e-3), (VLLM_V0, 4e-3), (SGLANG, 0.8e-3)),
        ),
        ConstantPrior(
            "sequence_time",
            "s",
            "scheduling and sampling per sequence and step",
            5e-6,
            0.5,
            make_overrides((TENSORRT_ENGINES, 1.5e-6), (TENSORRT, 6e-6), (VLLM_V0, 10e-6), (SGLANG, 5e-6)),
            0.5,
        ),
        ConstantPrior(
            "host_overlap",
            "1",
            "share of the host's scheduling that goes on while the accelerator computes",
            0.5,
            0.4,
            make_overrides((TENSORRT_ENGINES, 0.5), (TENSORRT, 0.7), (VLLM_V0, 0.2), (SGLANG, 0.5)),
            high=1.0,
        ),
        ConstantPrior(
            "request_time",
            "s",
            "server time of one request: HTTP, tokenising, detokenising",
            2e-3,
            0.3,
            make_overrides((TENSORRT, 2e-3), (SGLANG, 2e-3)),
            0.25,
        ),
        ConstantPrior(
            "offline_request_time",
            "s",
            "time of one request without a server",
            0.3e-3,
            0.4,
            make_overrides((TENSORRT, 0.3e-3)),
        ),
        ConstantPrior("activation_traffic", "1", "times a token's hidden vector passes memory per layer", 12.0, 0.3),
        ConstantPrior(
            "expert_traffic",
            "1",
            "times a token's hidden vector passes memory for each of its experts, sorting and sum included",
            4.0,
            0.4,
        ),
    )


def make_priors() -> tuple[ConstantPrior, ...]:
    return (
        *_reading(),
        *_arithmetic(),
        *_overheads(),
        *make_communication_priors(),
        *software_beliefs(),
        *dynamics_beliefs(),
    )


def pin_priors(priors: Sequence[ConstantPrior], operators: OperatorFit) -> tuple[ConstantPrior, ...]:
    """Return the beliefs with those exceptions replaced that measured operators say something of."""
    return tuple(
        replace(prior, exceptions=tuple(_pinned(prior.name, each, operators) for each in prior.exceptions))
        for prior in priors
    )


def _pinned(name: str, exception: PriorOverride, operators: OperatorFit) -> PriorOverride:
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
    return PriorOverride(exception.where, math.exp(mean), spread, pinned=True)


def _within(narrow: Where, wide: Where) -> bool:
    """Whether what `narrow` names lies in `wide`; serving engine and link of a kernel do not matter."""
    return all(key in narrow and set(narrow[key]) <= set(wide[key]) for key in wide) and not (
        {"ranks"} & set(narrow)
    ) - set(wide)
