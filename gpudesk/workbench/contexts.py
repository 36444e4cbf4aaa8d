"""KV cache against context length, by the memory code that decides what fits."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from gpudesk.domain.charts import KvCurve
from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Estimate
from gpudesk.engine.kv import cache_profile
from gpudesk.workbench.deployed import tokens_of
from gpudesk.workbench.setups import Frame, Placement

#: Where the curve begins, and where it ends for a model that states no maximum; tokens.
SHORTEST: Final = 1024
LONGEST_ASSUMED: Final = 131_072


@lru_cache(maxsize=128)
def context_lengths(max_context: int | None, tokens: int) -> tuple[int, ...]:
    """Return powers of two up to the model's maximum, that itself, and the length of the scenario."""
    most = max_context or max(LONGEST_ASSUMED, tokens)
    powers = [1 << exponent for exponent in range(SHORTEST.bit_length() - 1, most.bit_length())]
    own = [tokens] if tokens <= most else []
    return tuple(sorted({*powers, most, *own}))


def kv_against_context(estimate: Estimate, frame: Frame, placed: Placement) -> KvCurve:
    """Return what one sequence takes at each context length, and how many of it the deployment holds."""
    tokens = tokens_of(estimate)
    lengths = context_lengths(frame.model.max_context, tokens)
    undivided = cache_profile(frame.model, frame.kv, ParallelPlan())
    return KvCurve(
        context=lengths,
        sequence_bytes=tuple(undivided.sequence_bytes(length) for length in lengths),
        fullest_bytes=tuple(placed.budget.cache.sequence_bytes(length) for length in lengths),
        max_concurrency=tuple(placed.budget.max_sequences(length) for length in lengths),
        max_context=frame.model.max_context,
        tokens=tokens,
    )
