"""Where a belief holds: generations, formats and serving engines, as the exceptions of beliefs name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gpudesk.evidence.parameters import PriorException, Where

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


def where(generations: Sequence[str], precisions: Sequence[str] = ()) -> Where:
    """Return the condition of generations, and of formats where some are given."""
    condition = {"generation": tuple(generations)}
    return {**condition, "precision": tuple(precisions)} if precisions else condition


def by_ranks(generations: Sequence[str], ranks: int) -> Where:
    """Return the condition of generations with so many ranks in a group."""
    return {"generation": tuple(generations), "ranks": (str(ranks),)}


def exceptions(*pairs: tuple[Where, float]) -> tuple[PriorException, ...]:
    """Return what is believed where a condition holds, for each pair of both."""
    return tuple(PriorException(condition, value) for condition, value in pairs)
