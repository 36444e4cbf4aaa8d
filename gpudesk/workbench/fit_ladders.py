"""The deployments of one accelerator that could hold a model, smallest first, worked out as far as asked.

What depends neither on lengths nor on load is kept, so that a question with another context or concurrency
costs a few integers a deployment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import EstimateRequest
from gpudesk.domain.messages import Message, message
from gpudesk.workbench.results import unfit_reason
from gpudesk.workbench.setups import Frame, Placement, placement, plans_of

#: Plans of one size in the order in which they are preferred: one replica before copies, tensor parallelism
#: before pipeline stages, what every serving engine does before spread experts and attention-DP.
_PLAIN_FIRST: Final = attrgetter("dp", "pp", "attention_dp", "ep")


@dataclass(frozen=True, slots=True)
class Rung:
    """A deployment that holds what is asked, and what is left of the usable memory of its fullest part."""

    placement: Placement
    headroom_bytes: int

    @property
    def usable_bytes(self) -> int:
        """What the serving engine may take of one accelerator at the most."""
        budget = self.placement.budget
        return budget.weights_bytes + budget.activations_bytes + budget.runtime_bytes + budget.pool_bytes


@dataclass(slots=True)
class Ladder:
    """The plans of one accelerator and model by deployment size; `sizes` are those that are tried."""

    request: EstimateRequest
    frame: Frame
    sizes: tuple[int, ...]
    _plans: dict[int, list[ParallelPlan]] = field(default_factory=dict)
    _made: dict[int, list[Placement | None]] = field(default_factory=dict)

    def lowest(self, tokens: int, concurrency: int) -> Rung | None:
        """Return the smallest deployment that runs so many sequences of `tokens` at once; None without one.

        Of the plans of that size it is the plainest that does.
        """
        for size in self.sizes:
            for placed in self._placements(size):
                budget = placed.budget
                if budget.pool_bytes <= 0 or placed.most_running * placed.plan.dp < concurrency:
                    continue
                each = budget.cache.sequence_bytes(tokens)
                if budget.held(each) < concurrency:
                    continue
                if placed.running(each) * placed.plan.dp >= concurrency:
                    ranks = budget.attention_ranks * budget.replicas
                    return Rung(placed, budget.pool_bytes - -(-concurrency // ranks) * each)
        return None

    def reason(self, tokens: int, concurrency: int) -> Message:
        """Say why no deployment that is tried holds it."""
        every = [placed for size in self.sizes for placed in self._placements(size)]
        if not every:
            return message("plan.none", count=self.sizes[-1], model=self.frame.model.name)
        nearest = max(every, key=lambda placed: placed.budget.headroom_bytes(tokens))
        if not any(placed.budget.max_sequences(tokens) for placed in every):
            return unfit_reason(self.request, self.frame, nearest, tokens)
        return message(
            "needed.load_too_large",
            concurrency=concurrency,
            count=self.sizes[-1],
            accelerator=self.frame.accelerator.name,
        )

    def _placements(self, size: int) -> Iterator[Placement]:
        """Yield the plans of a size, each with its memory worked out when it is asked for."""
        plans = self._plans.get(size)
        if plans is None:
            plans = sorted(plans_of(self.request, self.frame, size), key=_PLAIN_FIRST)
            # In this order: two threads may ask the same.
            self._made[size] = [None] * len(plans)
            self._plans[size] = plans
        made = self._made[size]
        for place, plan in enumerate(plans):
            placed = made[place]
            if placed is None:
                placed = made[place] = placement(self.request, self.frame, plan)
            yield placed
