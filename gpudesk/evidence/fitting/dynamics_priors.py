"""Priors of communication, software age, and scheduling; the conditions that overrides name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gpudesk.evidence.fitting.parameters import ConstantPrior, PriorOverride, Where

AMPERE: Final = ("ampere",)
HOPPER: Final = ("hopper",)
BLACKWELL: Final = ("blackwell",)
ULTRA: Final = ("blackwell-ultra", "rubin")
BLACKWELLS: Final = (*BLACKWELL, *ULTRA)
ADA: Final = ("ada",)
RTX: Final = ("blackwell-rtx",)
CDNA3: Final = ("cdna3", "cdna2")
CDNA4: Final = ("cdna4", "cdna5")

WIDE: Final = ("fp16", "bf16")
EIGHT: Final = ("fp8", "int8")
FOUR: Final = ("fp4", "nvfp4", "mxfp4", "fp6")
INT4: Final = ("int4",)

TENSORRT: Final[Where] = {"serving_engine": ("tensorrt-llm",)}
TENSORRT_ENGINES: Final[Where] = {**TENSORRT, "runtime": ("earlier",)}
SGLANG: Final[Where] = {"serving_engine": ("sglang",)}
VLLM: Final[Where] = {"serving_engine": ("vllm",)}
VLLM_V0: Final[Where] = {**VLLM, "runtime": ("earlier",)}


def match_generations(generations: Sequence[str], precisions: Sequence[str] = ()) -> Where:
    condition = {"generation": tuple(generations)}
    return {**condition, "precision": tuple(precisions)} if precisions else condition


def match_ranks(generations: Sequence[str], ranks: int) -> Where:
    return {"generation": tuple(generations), "ranks": (str(ranks),)}


def make_overrides(*pairs: tuple[Where, float]) -> tuple[PriorOverride, ...]:
    return tuple(PriorOverride(condition, value) for condition, value in pairs)


def make_communication_priors() -> tuple[ConstantPrior, ...]:
    pcie, node = {"link": ("pcie",)}, {"link": ("node",)}
    return (
        ConstantPrior(
            "allreduce_latency",
            "s",
            "fixed time of one all-reduce in which each rank sends all to each other",
            20e-6,
            0.25,
            make_overrides(
                (match_ranks(HOPPER, 2), 2.7e-6),
                (match_ranks(HOPPER, 4), 3.2e-6),
                (match_ranks(HOPPER, 8), 4.1e-6),
                (match_ranks(BLACKWELLS, 2), 4.4e-6),
                (match_ranks(BLACKWELLS, 4), 4.9e-6),
                (match_ranks(BLACKWELLS, 8), 6.1e-6),
                (match_ranks(AMPERE, 2), 4.6e-6),
                (match_ranks(AMPERE, 4), 6.1e-6),
                (match_ranks(AMPERE, 8), 8.9e-6),
                (match_generations(CDNA3), 12e-6),
                (match_generations(CDNA4), 10e-6),
                (pcie, 20e-6),
                (node, 30e-6),
            ),
        ),
        ConstantPrior(
            "direct_efficiency",
            "1",
            "share of one direction of the link that ranks reach which send all to each other at once",
            0.6,
            0.2,
            make_overrides(
                *((match_ranks(HOPPER, ranks), 0.65) for ranks in (2, 4, 8)),
                *((match_ranks(BLACKWELLS, ranks), 0.80) for ranks in (2, 4, 8)),
                *((match_ranks(AMPERE, ranks), 0.65) for ranks in (2, 4, 8)),
                (match_generations(CDNA3), 0.5),
                (pcie, 0.35),
            ),
            high=0.95,
        ),
        ConstantPrior(
            "ring_latency",
            "s",
            "fixed time of one all-reduce around a ring",
            40e-6,
            0.3,
            make_overrides(
                (match_ranks(HOPPER, 2), 8e-6),
                (match_ranks(HOPPER, 4), 12e-6),
                (match_ranks(HOPPER, 8), 19e-6),
                (match_ranks(BLACKWELLS, 2), 12e-6),
                (match_ranks(BLACKWELLS, 4), 17e-6),
                (match_ranks(BLACKWELLS, 8), 27e-6),
                (match_ranks(AMPERE, 2), 14e-6),
                (match_ranks(AMPERE, 4), 19e-6),
                (match_ranks(AMPERE, 8), 27e-6),
                (match_generations(CDNA3), 40e-6),
                (match_generations(CDNA4), 40e-6),
                (pcie, 40e-6),
                (node, 60e-6),
            ),
        ),
        ConstantPrior(
            "collective_overhead",
            "s",
            "synchronisation and the norm fused after a collective",
            8e-6,
            0.4,
            make_overrides((TENSORRT, 6e-6)),
        ),
        ConstantPrior(
            "link_efficiency",
            "1",
            "share of one direction of the link that collectives around a ring reach",
            0.7,
            0.15,
            make_overrides(
                (match_generations(HOPPER), 0.85),
                (match_generations(BLACKWELLS), 0.75),
                (match_generations(AMPERE), 0.72),
                (match_generations(CDNA3), 0.62),
                (pcie, 0.35),
                ({**pcie, "ranks": ("2",)}, 0.6),
                ({**pcie, "ranks": ("4",)}, 0.45),
                ({**pcie, "ranks": ("8",)}, 0.35),
            ),
            high=0.95,
        ),
        ConstantPrior(
            "node_bandwidth",
            "B/s",
            "one direction of the network port of one accelerator between hosts (400 Gb/s)",
            50e9,
            0.0,
        ),
        ConstantPrior("attention_dp_imbalance", "1", "slowest attention-DP rank against the mean", 1.2, 0.1, low=1.0),
        ConstantPrior("stage_bubble", "1", "time that each further pipeline stage adds", 0.05, 0.4),
    )


#: What one generation with one serving engine and precision may differ by from all that the rest says.
_PAIRING: Final = 0.05


def software_beliefs() -> tuple[ConstantPrior, ...]:
    experts = {"experts": ("yes",)}
    both = ("vllm", "sglang")
    latent = {"attention": ("latent",), "experts": ("yes",)}
    return (
        ConstantPrior(
            "age_slowdown",
            "1",
            "how much slower software was a year before the newest calibrated month, logarithmic",
            0.06,
            0.4,
            make_overrides(
                ({**experts, "serving_engine": both}, 0.2),
                (experts, 0.1),
                ({**latent, "serving_engine": both}, 0.35),
                ({**latent, "serving_engine": ("tensorrt-llm",)}, 0.35),
            ),
        ),
        ConstantPrior(
            "pairing",
            "1",
            "time of everything on this generation, serving engine and arithmetic over what all else says",
            1.0,
            0.1,
            tuple(PriorOverride(where, 1.0) for where in _pairings()),
            _PAIRING,
        ),
    )


def _pairings() -> list[Where]:
    found: list[Where] = []
    generations = (AMPERE, HOPPER, BLACKWELL, ULTRA, ADA, RTX, CDNA3, CDNA4)
    for generation in generations:
        for engine in ("tensorrt-llm", "vllm", "sglang"):
            if generation in (CDNA3, CDNA4) and engine == "tensorrt-llm":
                continue
            for precision in (WIDE, EIGHT, (*FOUR, *INT4)):
                if generation == AMPERE and precision == EIGHT:
                    continue
                found.append({**match_generations(generation, precision), "serving_engine": (engine,)})
    return found


#: Where constants come from that no published run tells apart.
_SIMULATED: Final = "set so that the closed forms follow a step-by-step simulation of a replica; held"


def _held(name: str, meaning: str, value: float) -> ConstantPrior:
    return ConstantPrior(name, "1", meaning, value, 0.0, source=_SIMULATED)


def dynamics_beliefs() -> tuple[ConstantPrior, ...]:
    return (
        ConstantPrior(
            "burst_equal",
            "1",
            "share of equal requests that meet a burst in a steady closed loop, where prompts go in one step "
            "with the tokens of others",
            0.1,
            0.4,
            make_overrides((TENSORRT, 0.03)),
            high=1.0,
        ),
        ConstantPrior(
            "burst_varied",
            "1",
            "share of requests of varied length that meet a burst in a steady closed loop",
            0.02,
            0.4,
            high=1.0,
        ),
        ConstantPrior(
            "tail_wave",
            "1",
            "rounds that the end of a run adds on average where memory counts who runs",
            0.8,
            0.3,
            high=1.0,
        ),
        ConstantPrior("longest", "1", "longest output of requests of varied length, over the mean", 3.8, 0.2, low=1.0),
        ConstantPrior(
            "first_token_time",
            "s",
            "time that a request and its first token are under way between client and replica of a server",
            0.029,
            0.4,
            make_overrides((TENSORRT, 0.0054), (SGLANG, 0.019)),
            0.3,
        ),
        ConstantPrior(
            "handover_time",
            "s",
            "what the serving engine adds to a request that changes from the prefill to the decode pool",
            0.07,
            0.0,
        ),
        ConstantPrior(
            "limit_queue",
            "1",
            "mean TTFT over its p99 limit under the highest load that it allows, beyond what a prompt takes",
            0.05,
            0.3,
            make_overrides((TENSORRT, 0.02), (VLLM, 0.257)),
            high=1.0,
        ),
        ConstantPrior("p99_margin", "1", "mean over p99 of TPOT at its limit", 0.8, 0.1, high=1.0),
        ConstantPrior(
            "limit_tokens",
            "tokens",
            "tokens in a step of one attention rank at which servers under p99 limits are run",
            3000.0,
            0.4,
        ),
        _held(
            "kv_growth_share",
            "share of their outputs that equal requests hold at once in a full cache that is given on demand",
            0.62,
        ),
        _held(
            "drain_saving",
            "share of the batch-dependent part of a step that varied requests are spared while a run drains",
            0.31,
        ),
        _held(
            "recompute_share",
            "prompt tokens computed again over output tokens, where varied requests grow in a full cache",
            0.3,
        ),
        _held(
            "preemption_slowdown",
            "what the pace of varied requests in a full cache gains for each output token over prompt token",
            0.2,
        ),
        _held("preemption_slowdown_square", "the same for the square of output over prompt", 0.1),
        _held(
            "burst_stall_factor",
            "how much more the tokens of varied outputs wait for a burst of prompts than their mean length says",
            1.6,
        ),
    )
