"""Deployments without lengths and load: engine, kernel path, plan and memory.

`gpudesk.estimation.search_space` builds them; `gpudesk.engine.rates` computes their step coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.deployment import ParallelPlan
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.domain.serving_engine import ServingEngine
from gpudesk.engine.engine_support import KernelPath
from gpudesk.engine.memory import MemoryBudget, MemorySettings
from gpudesk.text.messages import Message


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """A parallel plan with its memory; `settings` are the engine settings used to compute it."""

    plan: ParallelPlan
    budget: MemoryBudget
    settings: MemorySettings

    def with_replicas(self, plan: ParallelPlan) -> MemoryPlan:
        """Return the memory of a plan that differs only in its number of replicas."""
        return MemoryPlan(plan, replace(self.budget, replicas=plan.dp), self.settings)

    @property
    def max_running(self) -> int:
        """Sequences that the serving engine lets one replica run at once, regardless of memory."""
        return self.settings.max_batch * self.budget.attention_ranks

    def compute_capacity(self, admitted: int) -> float:
        """Return how many of the sequences that the engine admits to the deployment one replica runs at once."""
        return float(min(admitted // self.plan.dp, self.max_running))

    def compute_capacity_for(self, tokens: int) -> float:
        """Return `compute_capacity` for sequences of `tokens`."""
        return self.compute_capacity(self.budget.admitted_sequences(tokens))


@dataclass(frozen=True, slots=True)
class ServingConfiguration:
    """What all plans of a request share, independent of lengths and load.

    `months_old` and `months_newer` count from the newest calibrated month backward and forward, 0 or more.
    `mixed_steps`, `kv_on_demand` and `present_runtime` are switches of the serving engine, see `EngineSetting`.
    `limit_tokens` is the most tokens in a step of an attention rank under a load with p99 limits, see
    `SchedulingConstants`.
    """

    accelerator: Accelerator
    model: Model
    engine: ServingEngine
    kernel: KernelPath
    weights: Precision
    kv: Precision
    settings: MemorySettings
    mixed_steps: bool = True
    kv_on_demand: bool = True
    present_runtime: bool = True
    eager: bool = False
    behind_server: bool = True
    acceptance_length: float = 1.0
    months_old: float = 0.0
    months_newer: float = 0.0
    limit_tokens: float = 0.0
    notes: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolvedDeployment:
    """A configuration under one plan; `position` is the index of its step coefficients in their table."""

    configuration: ServingConfiguration
    memory: MemoryPlan
    position: int = 0

    @property
    def plan(self) -> ParallelPlan:
        return self.memory.plan

    @property
    def budget(self) -> MemoryBudget:
        return self.memory.budget
