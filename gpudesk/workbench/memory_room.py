"""What a deployment may use of its memory, against what its load asks for."""

from __future__ import annotations

from gpudesk.domain.estimates import Estimate
from gpudesk.domain.sizing import MemoryRoom
from gpudesk.engine.memory import MemoryBudget
from gpudesk.workbench.deployed import tokens_of


def memory_room(estimate: Estimate, budget: MemoryBudget) -> MemoryRoom:
    """Return the room of an estimate's deployment, whether it fits or not."""
    static = budget.weights_bytes + budget.activations_bytes + budget.runtime_bytes
    held = budget.use(_sequences(estimate), budget.cache.sequence_bytes(tokens_of(estimate)))
    return MemoryRoom(usable_bytes=static + budget.pool_bytes, needed_bytes=static + held.kv_bytes)


def _sequences(estimate: Estimate) -> int:
    """Return how many requests memory is asked to hold: not those that wait for the serving engine."""
    admitted, asked = max(1, estimate.admitted or 1), estimate.concurrency or 1
    by_memory = estimate.max_concurrency <= admitted
    return max(admitted, asked) if estimate.fits and by_memory else admitted
