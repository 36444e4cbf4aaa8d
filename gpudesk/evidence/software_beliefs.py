"""Beliefs of software as a whole: its age, how it goes with parts, how it lets requests follow each other."""

from __future__ import annotations

from typing import Final

from gpudesk.evidence.conditions import (
    ADA,
    AMPERE,
    BLACKWELL,
    CDNA3,
    CDNA4,
    EIGHT,
    FOUR,
    HOPPER,
    INT4,
    RTX,
    SGLANG,
    TENSORRT,
    ULTRA,
    VLLM,
    WIDE,
    exceptions,
    where,
)
from gpudesk.evidence.parameters import Prior, PriorException, Where

#: What one generation with one serving engine and precision may differ by from all that the rest says.
_PAIRING: Final = 0.05


def software_beliefs() -> tuple[Prior, ...]:
    """Return beliefs of what the age of software and its pairing with parts make of all times."""
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
            exceptions(
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
    generations = (AMPERE, HOPPER, BLACKWELL, ULTRA, ADA, RTX, CDNA3, CDNA4)
    for generation in generations:
        for engine in ("tensorrt-llm", "vllm", "sglang"):
            if generation in (CDNA3, CDNA4) and engine == "tensorrt-llm":
                continue
            for precision in (WIDE, EIGHT, (*FOUR, *INT4)):
                if generation == AMPERE and precision == EIGHT:
                    continue
                found.append({**where(generation, precision), "serving_engine": (engine,)})
    return found


def dynamics_beliefs() -> tuple[Prior, ...]:
    """Return beliefs of how requests follow each other."""
    return (
        Prior(
            "burst_equal",
            "1",
            "share of equal requests that meet a burst in a steady closed loop, where prompts go in one step "
            "with the tokens of others",
            0.1,
            0.4,
            exceptions((TENSORRT, 0.03)),
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
        Prior(
            "tail_wave",
            "1",
            "rounds that the end of a run adds on average where memory counts who runs",
            0.8,
            0.3,
            high=1.0,
        ),
        Prior(
            "longest", "1", "longest output of requests of varied length, over the mean", 3.8, 0.2, low=1.0
        ),
        Prior(
            "first_token_time",
            "s",
            "time that a request and its first token are under way between client and replica of a server",
            0.029,
            0.4,
            exceptions((TENSORRT, 0.0054), (SGLANG, 0.019)),
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
            exceptions((TENSORRT, 0.02), (VLLM, 0.257)),
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
