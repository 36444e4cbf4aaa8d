"""Deployments: how many accelerators, and how a model is spread over them."""

from __future__ import annotations

from dataclasses import dataclass

from gpudesk.domain.messages import InputError, message


@dataclass(frozen=True, slots=True)
class ParallelPlan:
    """Tensor, pipeline, expert and data parallel degrees of a deployment.

    `dp` counts independent replicas. `ep` spreads the experts over that many accelerators of the
    tp x dp group. With `attention_dp` attention runs data-parallel over the tp group while the experts
    stay sharded over it.
    """

    tp: int = 1
    pp: int = 1
    ep: int = 1
    dp: int = 1
    attention_dp: bool = False

    def __post_init__(self) -> None:
        """Refuse degrees below one and an expert degree that does not divide its group."""
        for name in ("tp", "pp", "ep", "dp"):
            if getattr(self, name) < 1:
                raise InputError(message("plan.degree", name=name, value=getattr(self, name)), name)
        if (self.tp * self.dp) % self.ep:
            raise InputError(message("plan.ep", ep=self.ep, tp=self.tp, dp=self.dp), "ep")

    @property
    def count(self) -> int:
        """Accelerators that the plan takes."""
        return self.tp * self.pp * self.dp

    @property
    def replica(self) -> int:
        """Accelerators of one replica."""
        return self.tp * self.pp


@dataclass(frozen=True, slots=True)
class PoolWish:
    """What the user fixed of one pool of accelerators; None is chosen by the program."""

    count: int | None = None
    tp: int | None = None
    pp: int | None = None
    ep: int | None = None
    dp: int | None = None
    attention_dp: bool | None = None


@dataclass(frozen=True, slots=True)
class Disaggregation:
    """The wish that prompts are computed on other accelerators than those that generate.

    The prefill pool computes prompts and hands their KV cache to the decode pool.
    """

    prefill: PoolWish = PoolWish()
    decode: PoolWish = PoolWish()
