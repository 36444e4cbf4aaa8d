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

from gpudesk.evidence.operators import OperatorFit
from gpudesk.evidence.parameters import Prior, PriorException, Where

_AMPERE: Final = ("ampere",)
_HOPPER: Final = ("hopper",)
_BLACKWELL: Final = ("blackwell",)
_ULTRA: Final = ("blackwell-ultra", "rubin")
_BLACKWELLS: Final = (*_BLACKWELL, *_ULTRA)
_ADA: Final = ("ada",)
_RTX: Final = ("blackwell-rtx",)
_CDNA3: Final = ("cdna3", "cdna2")
_CDNA4: Final = ("cdna4", "cdna5")

_WIDE: Final = ("fp16", "bf16")
_EIGHT: Final = ("fp8", "int8")
_FOUR: Final = ("fp4", "nvfp4", "mxfp4", "fp6")
_INT4: Final = ("int4",)

_TENSORRT: Final[Where] = {"serving_engine": ("tensorrt-llm",)}
_TENSORRT_ENGINES: Final[Where] = {**_TENSORRT, "runtime": ("earlier",)}
_SGLANG: Final[Where] = {"serving_engine": ("sglang",)}
_VLLM: Final[Where] = {"serving_engine": ("vllm",)}
_VLLM_V0: Final[Where] = {**_VLLM, "runtime": ("earlier",)}

#: Whose kernels pin a constant: "" is what the libraries have in common.
_LIBRARIES: Final[Mapping[str, tuple[str, ...]]] = {
    "weight_read_efficiency": ("",),
    "gemm_efficiency": ("",),
    "kv_read_efficiency": ("vLLM",),
    "allreduce_latency": ("TensorRT-LLM",),
}
#: What kernels inside an engine may differ by from kernels alone, in the logarithm: shapes, fusion, clocks.
INSIDE_AN_ENGINE: Final = 0.07
#: What one generation with one serving engine and precision may differ by from all that the rest says.
_PAIRING: Final = 0.08


def _for(generations: Sequence[str], precisions: Sequence[str] = ()) -> Where:
    where = {"generation": tuple(generations)}
    return {**where, "precision": tuple(precisions)} if precisions else where


def _ranks(generations: Sequence[str], ranks: int) -> Where:
    return {"generation": tuple(generations), "ranks": (str(ranks),)}


def _except(*pairs: tuple[Where, float]) -> tuple[PriorException, ...]:
    return tuple(PriorException(where, value) for where, value in pairs)


def _reading() -> tuple[Prior, ...]:
    return (
        Prior(
            "weight_read_efficiency",
            "1",
            "share of peak memory bandwidth at which a large weight matrix is read",
            0.78,
            0.07,
            _except(
                (_for(_AMPERE, _WIDE), 0.78),
                (_for(_HOPPER, _WIDE), 0.85),
                (_for(_BLACKWELLS, _WIDE), 0.83),
                (_for(_ADA, _WIDE), 0.78),
                (_for(_RTX, _WIDE), 0.85),
                (_for(_HOPPER, _EIGHT), 0.83),
                (_for(_BLACKWELLS, _EIGHT), 0.82),
                (_for(_ADA, _EIGHT), 0.74),
                (_for(_RTX, _EIGHT), 0.83),
                (_for(_BLACKWELLS, _FOUR), 0.70),
                (_for(_RTX, _FOUR), 0.67),
                (_for(_HOPPER, _FOUR), 0.70),
                (_for(_AMPERE, (*_FOUR, *_INT4, *_EIGHT)), 0.65),
                (_for((*_HOPPER, *_ADA, *_RTX), _INT4), 0.65),
                (_for(_CDNA3), 0.68),
                (_for(_CDNA4), 0.72),
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
            _except(
                (_for(_AMPERE), 0.80),
                (_for(_HOPPER, _WIDE), 0.85),
                (_for(_HOPPER, _EIGHT), 0.72),
                (_for(_BLACKWELLS), 0.80),
                (_for(_ADA), 0.78),
                (_for(_RTX), 0.80),
                (_for(_CDNA3), 0.60),
                (_for(_CDNA4), 0.68),
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
            _except(
                (_for(_AMPERE, _WIDE), 0.80),
                (_for(_HOPPER, _WIDE), 0.74),
                (_for(_BLACKWELLS, _WIDE), 0.66),
                (_for(_ADA, _WIDE), 0.62),
                (_for(_RTX, _WIDE), 0.76),
                (_for(_HOPPER, _EIGHT), 0.62),
                (_for(_BLACKWELLS, _EIGHT), 0.58),
                (_for(_ADA, _EIGHT), 0.54),
                (_for(_RTX, _EIGHT), 0.70),
                (_for(_BLACKWELL, _FOUR), 0.48),
                (_for(_ULTRA, _FOUR), 0.36),
                (_for(_RTX, _FOUR), 0.60),
                (_for(_CDNA3, _WIDE), 0.50),
                (_for(_CDNA3, _EIGHT), 0.38),
                (_for(_CDNA4, _WIDE), 0.58),
                (_for(_CDNA4, _EIGHT), 0.50),
                (_for(_CDNA4, _FOUR), 0.42),
            ),
            high=0.95,
        ),
        Prior(
            "expert_gemm_factor",
            "1",
            "grouped products of routed experts against one large product",
            0.70,
            0.2,
            _except(({"precision": ("mxfp4", *_INT4)}, 0.5)),
            high=1.0,
        ),
        Prior(
            "attention_efficiency",
            "1",
            "share of the dense 16-bit peak that attention arithmetic reaches",
            0.40,
            0.2,
            _except(
                (_for(_HOPPER), 0.45),
                (_for(_BLACKWELLS), 0.42),
                (_for(_CDNA3), 0.28),
                (_for(_CDNA4), 0.33),
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
            "reference_power",
            "W per TFLOP/s",
            "power limit over the dense 16-bit peak of the parts that most runs of a generation are of",
            0.0,
            0.0,
            _except(
                (_for(_HOPPER), 0.708),
                (_for(_AMPERE), 1.282),
                (_for(_ADA), 0.967),
                (_for(_BLACKWELL), 0.444),
                (_for(("blackwell-ultra",)), 0.489),
                (_for(_RTX), 1.191),
                (_for(("cdna3",)), 0.574),
                (_for(("cdna4",)), 0.556),
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
    amd = {"generation": (*_CDNA3, *_CDNA4), "serving_engine": ("vllm", "sglang")}
    return (
        Prior(
            "layer_time",
            "s",
            "time of one layer beyond reading and arithmetic: launches, norms, residuals, attention set-up",
            14e-6,
            0.4,
            _except((_TENSORRT_ENGINES, 12e-6), (_TENSORRT, 14e-6), (amd, 20e-6)),
            0.25,
        ),
        Prior(
            "quantise_time",
            "s",
            "added to the time of one layer by narrowing activations before its products",
            4e-6,
            0.0,
            _except(({"precision": _WIDE}, 0.0)),
            source="launches of the kernels; held so that a narrower format is not slower at small batches",
        ),
        Prior(
            "moe_layer_time",
            "s",
            "added by routing, permutation and grouped launch in a layer with experts",
            30e-6,
            0.4,
            _except((_TENSORRT, 30e-6), (_SGLANG, 30e-6)),
            0.25,
        ),
        Prior("eager_factor", "1", "stretch of layer times without graph capture", 3.0, 0.2),
        Prior(
            "step_time",
            "s",
            "scheduling and sampling per step",
            0.8e-3,
            0.4,
            _except((_TENSORRT_ENGINES, 0.4e-3), (_TENSORRT, 2e-3), (_VLLM_V0, 4e-3), (_SGLANG, 0.8e-3)),
        ),
        Prior(
            "sequence_time",
            "s",
            "scheduling and sampling per sequence and step",
            5e-6,
            0.5,
            _except((_TENSORRT_ENGINES, 1.5e-6), (_TENSORRT, 6e-6), (_VLLM_V0, 10e-6), (_SGLANG, 5e-6)),
            0.5,
        ),
        Prior(
            "host_overlap",
            "1",
            "share of the host's scheduling that goes on while the accelerator computes",
            0.5,
            0.4,
            _except((_TENSORRT_ENGINES, 0.5), (_TENSORRT, 0.7), (_VLLM_V0, 0.2), (_SGLANG, 0.5)),
            high=1.0,
        ),
        Prior(
            "request_time",
            "s",
            "server time of one request: HTTP, tokenising, detokenising",
            2e-3,
            0.3,
            _except((_TENSORRT, 2e-3), (_SGLANG, 2e-3)),
            0.25,
        ),
        Prior(
            "offline_request_time",
            "s",
            "time of one request without a server",
            0.3e-3,
            0.4,
            _except((_TENSORRT, 0.3e-3)),
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


def _communication() -> tuple[Prior, ...]:
    pcie, node = {"link": ("pcie",)}, {"link": ("node",)}
    return (
        Prior(
            "allreduce_latency",
            "s",
            "fixed time of one all-reduce",
            20e-6,
            0.25,
            _except(
                (_ranks(_HOPPER, 2), 2.7e-6),
                (_ranks(_HOPPER, 4), 3.2e-6),
                (_ranks(_HOPPER, 8), 4.1e-6),
                (_ranks(_BLACKWELLS, 2), 4.4e-6),
                (_ranks(_BLACKWELLS, 4), 4.9e-6),
                (_ranks(_BLACKWELLS, 8), 6.1e-6),
                (_ranks(_AMPERE, 2), 4.6e-6),
                (_ranks(_AMPERE, 4), 6.1e-6),
                (_ranks(_AMPERE, 8), 8.9e-6),
                (_for(_CDNA3), 12e-6),
                (_for(_CDNA4), 10e-6),
                (pcie, 20e-6),
                (node, 30e-6),
            ),
        ),
        Prior(
            "collective_overhead",
            "s",
            "synchronisation and the norm fused after a collective",
            8e-6,
            0.4,
            _except((_TENSORRT, 6e-6)),
        ),
        Prior(
            "link_efficiency",
            "1",
            "share of one direction of the link that collectives reach",
            0.7,
            0.15,
            _except(
                (_for(_HOPPER), 0.85),
                (_for(_BLACKWELLS), 0.75),
                (_for(_AMPERE), 0.72),
                (_for(_CDNA3), 0.62),
                (pcie, 0.35),
                ({**pcie, "ranks": ("2",)}, 0.6),
                ({**pcie, "ranks": ("4",)}, 0.45),
                ({**pcie, "ranks": ("8",)}, 0.35),
            ),
            high=0.95,
        ),
        Prior(
            "node_bandwidth",
            "B/s",
            "one direction of the network port of one accelerator between hosts (400 Gb/s)",
            50e9,
            0.0,
        ),
        Prior("attention_dp_imbalance", "1", "slowest attention-DP rank against the mean", 1.2, 0.1, low=1.0),
        Prior("stage_bubble", "1", "time that each further pipeline stage adds", 0.05, 0.4),
    )


def _software() -> tuple[Prior, ...]:
    experts = {"experts": ("yes",)}
    both = ("vllm", "sglang")
    latent = {"attention": ("latent",), "experts": ("yes",)}
    return (
        Prior(
            "age_slowdown",
            "1",
            "how much slower software was a year before the newest calibrated month, logarithmic",
            0.06,
            0.4,
            _except(
                ({**experts, "serving_engine": both}, 0.2),
                (experts, 0.1),
                ({**latent, "serving_engine": both}, 0.35),
                ({**latent, "serving_engine": ("tensorrt-llm",)}, 0.35),
            ),
        ),
        Prior(
            "pairing",
            "1",
            "time of everything on this generation, serving engine and arithmetic over what all else says",
            1.0,
            0.1,
            tuple(PriorException(where, 1.0) for where in _pairings()),
            _PAIRING,
        ),
    )


def _pairings() -> list[Where]:
    """Return the generations, serving engines and precisions that go together."""
    found: list[Where] = []
    generations = (_AMPERE, _HOPPER, _BLACKWELL, _ULTRA, _ADA, _RTX, _CDNA3, _CDNA4)
    for generation in generations:
        for engine in ("tensorrt-llm", "vllm", "sglang"):
            if generation in (_CDNA3, _CDNA4) and engine == "tensorrt-llm":
                continue
            for precision in (_WIDE, _EIGHT, (*_FOUR, *_INT4)):
                if generation == _AMPERE and precision == _EIGHT:
                    continue
                found.append({**_for(generation, precision), "serving_engine": (engine,)})
    return found


def _dynamics() -> tuple[Prior, ...]:
    return (
        Prior(
            "burst_equal",
            "1",
            "share of equal requests that meet a burst in a steady closed loop, where prompts go in one step "
            "with the tokens of others",
            0.1,
            0.4,
            _except((_TENSORRT, 0.03)),
            high=1.0,
        ),
        Prior(
            "burst_varied",
            "1",
            "share of requests of varied length that meet a burst in a steady closed loop",
            0.02,
            0.4,
            high=1.0,
        ),
        Prior("tail_wave", "1", "share of a started last wave that is paid", 0.27, 0.3, high=1.0),
        Prior(
            "longest", "1", "longest output of requests of varied length, over the mean", 3.8, 0.2, low=1.0
        ),
        Prior(
            "first_token_time",
            "s",
            "time that a request and its first token are under way between client and replica of a server",
            0.029,
            0.4,
            _except((_TENSORRT, 0.0054), (_SGLANG, 0.019)),
            0.3,
        ),
        Prior(
            "handover_time",
            "s",
            "what the serving engine adds to a request that changes from the prefill to the decode pool",
            0.07,
            0.0,
        ),
        Prior(
            "limit_queue",
            "1",
            "mean TTFT over its p99 limit under the highest load that it allows, beyond what a prompt takes",
            0.05,
            0.3,
            _except((_TENSORRT, 0.02), (_VLLM, 0.257)),
            high=1.0,
        ),
        Prior("p99_margin", "1", "mean over p99 of TPOT at its limit", 0.8, 0.1, high=1.0),
        Prior(
            "limit_tokens",
            "tokens",
            "tokens in a step of one attention rank at which servers under p99 limits are run",
            3000.0,
            0.4,
        ),
    )


def beliefs() -> tuple[Prior, ...]:
    """Return what is believed of every constant without any measurement."""
    return (
        *_reading(),
        *_arithmetic(),
        *_overheads(),
        *_communication(),
        *_software(),
        *_dynamics(),
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
