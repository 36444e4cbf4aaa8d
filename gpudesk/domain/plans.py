"""Why a parallel plan was taken: every plan looked at, what it does and what speaks against it."""

from __future__ import annotations

from dataclasses import dataclass

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Banded
from gpudesk.domain.messages import Message


@dataclass(frozen=True, slots=True)
class PlanOption:
    """One plan that was looked at, and the reasons why it was taken or not.

    `fits` is None where memory was not asked, since something else rules the plan out. Figures are None where
    the plan does not fit, does not meet the latency limits, or where the load has no such figure.
    `within_error`: it is slower than the plan taken by less than the band of plans tells apart.
    """

    plan: ParallelPlan
    fits: bool | None
    taken: bool
    reasons: tuple[Message, ...]
    output_tokens_per_s: Banded | None = None
    ttft_ms: Banded | None = None
    tpot_ms: Banded | None = None
    within_error: bool = False


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """All plans that were looked at for one estimate.

    The plan taken comes first, then the others that fit, the fastest first, then those that do not fit, and
    at last what the serving engine, the heads or the hosts rule out. No plan is taken where none fits, and
    there are no options where the accelerators do not all work by one plan.
    """

    options: tuple[PlanOption, ...]

    @property
    def taken(self) -> PlanOption | None:
        """The plan of the estimate; None where none fits."""
        return next((option for option in self.options if option.taken), None)

    @property
    def searched(self) -> bool:
        """Whether there was a choice."""
        return len(self.options) > 1


def plan_degrees(plan: ParallelPlan) -> tuple[str, ...]:
    """Return the degrees of a plan as a message carries them; `attention_dp` is a word to be translated.

    Degrees of one are left out, unless all are one.
    """
    product = (("TP", plan.tp), ("PP", plan.pp), ("DP", plan.dp))
    named = " × ".join(f"{name} {degree}" for name, degree in product if degree > 1) or "TP 1"
    beside = [f"EP {plan.ep}"] if plan.ep > 1 else []
    return (named, *beside, *(["attention_dp"] if plan.attention_dp else []))


def kinds_of(plan: ParallelPlan) -> int:
    """Count the kinds of parallelism that a plan combines: the fewer, the simpler to set up."""
    return sum((plan.tp > 1, plan.pp > 1, plan.ep > 1, plan.dp > 1, plan.attention_dp))
