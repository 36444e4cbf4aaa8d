"""Scenarios: what the user put in. One scenario is one document that is saved, reopened and compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from gpudesk.domain.cost_inputs import NO_SETTINGS, CostSettings
from gpudesk.domain.demand import Demand
from gpudesk.domain.deployments import Disaggregation
from gpudesk.domain.estimates import EstimateRequest
from gpudesk.domain.precision import Precision
from gpudesk.domain.questions import NO_DECISION, DecisionSettings
from gpudesk.domain.workloads import Workload

#: A comparison puts at most this many accelerators side by side.
MOST_ACCELERATORS = 6
#: Colours there are for parts; each has a dash and a marker of its own too.
MOST_SLOTS = 8


@dataclass(frozen=True, slots=True)
class AcceleratorChoice:
    """One column of the comparison: a part and, where the user chose them, its count and plan.

    `slot` is the place in the palette, 1 to 8, that the part took when it joined and keeps until it leaves.
    """

    accelerator: str
    count: int | None = None
    tp: int | None = None
    pp: int | None = None
    ep: int | None = None
    dp: int | None = None
    attention_dp: bool | None = None
    disaggregated: Disaggregation | None = None
    serving_engine: str | None = None
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """A model, a workload and up to six accelerators.

    A scenario that is still being made may name no model (empty) and no accelerators; it can be saved and
    gets no answer. The first accelerator is the baseline of differences. `catalog_revision` is that of the
    last save.
    `costs` is what the user says of prices and of what running takes, `decision` what they answer.
    `demand` is what users ask of the service that is to be sized; None as long as nobody asked.
    `own_records` are copies of the user's own catalog records that the scenario uses. `unknown_sections`
    hold sections of the file that this version does not know, which survive a save.
    """

    name: str
    model: str
    weights: Precision
    workload: Workload
    accelerators: tuple[AcceleratorChoice, ...]
    kv: Precision = Precision.FP16
    serving_engine: str | None = None
    date: str | None = None
    memory_fraction: float | None = None
    max_batch: int | None = None
    max_batched_tokens: int | None = None
    note: str = ""
    demand: Demand | None = None
    costs: CostSettings = NO_SETTINGS
    decision: DecisionSettings = NO_DECISION
    catalog_revision: str | None = None
    own_records: tuple[Mapping[str, object], ...] = ()
    unknown_sections: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def requests(self) -> tuple[EstimateRequest, ...]:
        """The questions to the engine, one for each accelerator, in order."""
        return tuple(
            EstimateRequest(
                accelerator=choice.accelerator,
                model=self.model,
                weights=self.weights,
                kv=self.kv,
                workload=self.workload,
                count=choice.count,
                serving_engine=choice.serving_engine or self.serving_engine,
                date=self.date,
                tp=choice.tp,
                pp=choice.pp,
                ep=choice.ep,
                dp=choice.dp,
                attention_dp=choice.attention_dp,
                memory_fraction=self.memory_fraction,
                max_batch=self.max_batch,
                max_batched_tokens=self.max_batched_tokens,
                disaggregated=choice.disaggregated,
            )
            for choice in self.accelerators
        )
