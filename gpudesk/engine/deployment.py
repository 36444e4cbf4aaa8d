"""Deployments with everything that does not depend on lengths or load: engine, kernel, plan, memory, step.

Built by `gpudesk.estimation.deployment`."""

from __future__ import annotations

from dataclasses import dataclass

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.deployment import ParallelPlan
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.domain.serving_engine import ServingEngine
from gpudesk.engine import engine_support
from gpudesk.engine.memory import MemoryBudget, MemorySettings
from gpudesk.engine.rates import EffectiveRates
from gpudesk.engine.step_work import HardwareCeilings, OperatingConditions, StepWork
from gpudesk.engine.steps import StepCoefficients
from gpudesk.text.messages import Message


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """One plan of a setup with its memory; `settings` are those that the memory was worked out with."""

    plan: ParallelPlan
    budget: MemoryBudget
    settings: MemorySettings

    @property
    def most_running(self) -> int:
        """Sequences that the serving engine lets one replica run at once, whatever memory holds."""
        return self.settings.max_batch * self.budget.attention_ranks

    def capacity(self, tokens: int) -> float:
        """Sequences of `tokens` that one replica runs at once, by its memory and its serving engine."""
        return self.running(self.budget.cache.sequence_bytes(tokens))

    def running(self, sequence_bytes: int) -> float:
        """Return `capacity` for sequences of so many bytes on a rank."""
        return float(min(self.budget.admitted(sequence_bytes) // self.plan.dp, self.most_running))


@dataclass(frozen=True, slots=True)
class ServingConfiguration:
    """What all plans of a setup share.

    `limit_tokens` is how many tokens a step of an attention rank takes at the most where a load sets p99
    limits, see `ServingConstants`.
    """

    accelerator: Accelerator
    model: Model
    engine: ServingEngine
    kernel: engine_support.KernelPath
    weights: Precision
    kv: Precision
    settings: MemorySettings
    mixed_steps: bool
    kv_on_demand: bool
    present_runtime: bool
    months_old: float
    months_newer: float
    limit_tokens: float
    notes: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class ResolvedDeployment:
    """A placement that is worth timing: its step coefficients, and their position in the table of rows.

    `plan_note` names the plan where the program chose it; `notes` say what is particular to the plan.
    """

    plan: ParallelPlan
    budget: MemoryBudget
    situation: OperatingConditions
    offered: HardwareCeilings
    work: StepWork
    rates: EffectiveRates
    row: StepCoefficients
    position: int
    plan_note: Message
    notes: tuple[Message, ...]
