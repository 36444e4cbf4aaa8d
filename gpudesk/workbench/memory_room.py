"""What a deployment may use of its memory, against what its load asks for."""

from __future__ import annotations

from gpudesk.domain.estimates import Estimate
from gpudesk.domain.sizing import MemoryRoom
from gpudesk.engine.memory import MemoryBudget
from gpudesk.workbench.deployed import tokens_of


def memory_room(estimate: Estimate, budget: MemoryBudget) -> MemoryRoom:
    """Return the room of an estimate's deployment, whether it fits or not."""
    tokens = tokens_of(estimate)
    static = budget.weights_bytes + budget.activations_bytes + budget.runtime_bytes
    held = budget.use(
        _sequences(estimate, budget.admitted_sequences(tokens)), budget.cache.sequence_bytes(tokens)
    )
    return MemoryRoom(usable_bytes=static + budget.pool_bytes, needed_bytes=static + held.kv_bytes)


def _sequences(estimate: Estimate, usual: int) -> int:
    """Return how many requests memory is to hold at full length: not those that wait for the serving engine.

    `usual` is how many the engine admits; more of them run where they are given memory as they grow.
    """
    admitted, asked = max(1, estimate.admitted or 1), estimate.concurrency or 1
    if estimate.fits and estimate.max_concurrency <= admitted < asked:
        return asked
    return max(1, min(admitted, usual))
