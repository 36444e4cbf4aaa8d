"""Deployments: parallel degrees, and requests for separate prefill and decode pools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gpudesk.text.messages import InputError, Message, Term, input_error, join_degrees, message


@dataclass(frozen=True, slots=True)
class ParallelPlan:
    """Tensor, pipeline, expert and data parallel degrees of a deployment.

    `dp` counts independent replicas. `ep` spreads the experts over that many accelerators of the tp x dp group. With
    `attention_dp` attention runs data-parallel over the tp group while the experts stay sharded over it.
    """

    tp: int = 1
    pp: int = 1
    ep: int = 1
    dp: int = 1
    attention_dp: bool = False

    def __post_init__(self) -> None:
        """Check that degrees are at least one and that the expert degree divides its group."""
        if self.tp < 1 or self.pp < 1 or self.ep < 1 or self.dp < 1:
            name = next(name for name in ("tp", "pp", "ep", "dp") if getattr(self, name) < 1)
            value = getattr(self, name)
            raise input_error("plan.degree", "{name} is {value}; it must be at least 1", name, name=name, value=value)
        if (self.tp * self.dp) % self.ep:
            raise InputError(describe_wrong_ep(self.ep, self.tp, self.dp), "ep")

    @property
    def count(self) -> int:
        return self.tp * self.pp * self.dp

    @property
    def replica(self) -> int:
        return self.tp * self.pp

    @property
    def replica_shape(self) -> tuple[int, int, int, bool]:
        """All but the number of replicas: plans that share it need the same memory on each accelerator."""
        return self.tp, self.pp, self.ep, self.attention_dp


@dataclass(frozen=True, slots=True)
class PoolRequest:
    """What the user fixed for one pool of accelerators; None is chosen by the program."""

    count: int | None = None
    tp: int | None = None
    pp: int | None = None
    ep: int | None = None
    dp: int | None = None
    attention_dp: bool | None = None


@dataclass(frozen=True, slots=True)
class DisaggregationRequest:
    """A request for prefill and decode on different accelerators.

    The prefill pool computes prompts and transfers their KV cache to the decode pool.
    """

    prefill: PoolRequest = PoolRequest()
    decode: PoolRequest = PoolRequest()


_ATTENTION_DP: Final = Term("attention_dp", "attention DP")


def describe_degrees(plan: ParallelPlan) -> tuple[str, ...]:
    """Return the degrees of a plan as a message.

    Degrees of one are left out, unless all are one.
    """
    product = (("TP", plan.tp), ("PP", plan.pp), ("DP", plan.dp))
    degrees = " × ".join(f"{name} {degree}" for name, degree in product if degree > 1) or "TP 1"
    beside = [f"EP {plan.ep}"] if plan.ep > 1 else []
    return (degrees, *beside, *([_ATTENTION_DP] if plan.attention_dp else []))


def format_plan(plan: ParallelPlan) -> str:
    """Return the name of a parallel plan, `TP 4 × DP 2`, in the current language."""
    return join_degrees(describe_degrees(plan))


def count_parallelism_kinds(plan: ParallelPlan) -> int:
    """Count the kinds of parallelism in a plan: fewer are simpler to set up."""
    return sum((plan.tp > 1, plan.pp > 1, plan.ep > 1, plan.dp > 1, plan.attention_dp))


def describe_wrong_ep(ep: int, tp: int, dp: int) -> Message:
    return message("plan.ep", "EP {ep} does not divide TP {tp} × DP {dp}; choose an EP that does", ep=ep, tp=tp, dp=dp)
