"""Scenarios: the document of user input. Sweeps: one question at every point of a grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from types import MappingProxyType
from typing import Any, Final

from gpudesk.domain.cost import NO_COST_SETTINGS, CostSettings
from gpudesk.domain.decision import NO_DECISION_SETTINGS, DecisionSettings
from gpudesk.domain.deployment import DisaggregationRequest, ParallelPlan
from gpudesk.domain.estimate import EstimateRequest
from gpudesk.domain.fleet import NO_FLEET_SETTINGS, FleetSettings
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import Demand
from gpudesk.domain.workload import Load, LoadKind, Workload

#: Most accelerators in a comparison.
MAX_ACCELERATORS = 6
#: Colors for accelerators; each has its own dash and marker too.
MAX_PALETTE_INDEX = 8


@dataclass(frozen=True, slots=True)
class AcceleratorChoice:
    """One column of the comparison: an accelerator, with count and plan if the user chose them.

    `slot` is the palette index, 1 to 8, that the accelerator gets when added and keeps until removed.
    """

    accelerator: str
    count: int | None = None
    tp: int | None = None
    pp: int | None = None
    ep: int | None = None
    dp: int | None = None
    attention_dp: bool | None = None
    disaggregated: DisaggregationRequest | None = None
    serving_engine: str | None = None
    slot: int | None = None

    def with_plan(self, plan: ParallelPlan) -> AcceleratorChoice:
        """Return the choice with the count and all degrees of a plan."""
        return replace(
            self, count=plan.count, tp=plan.tp, pp=plan.pp, ep=plan.ep, dp=plan.dp, attention_dp=plan.attention_dp
        )


@dataclass(frozen=True, slots=True)
class Scenario:
    """A model, a workload and up to six accelerators.

    An incomplete scenario can lack a model (empty) and accelerators; it can be saved but has no answer. The first
    accelerator is the baseline of differences. `catalog_revision` is that of the last save. `costs` are the user's
    prices and operating costs, `decision` the answers. `demand` is the demand to size for; None if unset. `fleet` is
    its distribution over the day and the years, and the limits of the site. `own_records` are copies of the user's
    catalog records that the scenario uses. `unknown_sections` hold unknown sections of the file, which survive a save.
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
    fleet: FleetSettings = NO_FLEET_SETTINGS
    costs: CostSettings = NO_COST_SETTINGS
    decision: DecisionSettings = NO_DECISION_SETTINGS
    catalog_revision: str | None = None
    own_records: tuple[Mapping[str, object], ...] = ()
    unknown_sections: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def requests(self) -> tuple[EstimateRequest, ...]:
        """The requests to the engine, one per accelerator, in order."""
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


#: Larger sweeps are probably mistakes: they would take hours and fill the disk.
MAX_SWEEP_POINTS: Final = 10**9
#: Loads that a sweep can vary, all of which are a number of sequences.
SWEEP_LOADS: Final = (LoadKind.BATCH, LoadKind.CONCURRENCY)


@dataclass(frozen=True, slots=True)
class Sweep:
    """The axes of a grid, from the slowest to the fastest, and the common settings of all points.

    `tp` None leaves count and plan open: the smallest deployment that fits, with its best plan. A number is a
    deployment of one replica of that degree (times PP and DP if `base` fixes them). `amounts` are sequences of a static
    batch or of a closed loop, as in `load`. `base` is any request: its fields that are not axes apply everywhere.
    """

    accelerators: tuple[str, ...]
    models: tuple[str, ...]
    weights: tuple[Precision, ...]
    kv: tuple[Precision, ...]
    tp: tuple[int | None, ...]
    input_tokens: tuple[int, ...]
    output_tokens: tuple[int, ...]
    load: LoadKind
    amounts: tuple[int, ...]
    base: EstimateRequest

    @property
    def names(self) -> tuple[str, ...]:
        return ("accelerator", "model", "weights", "kv", "tp", "input_tokens", "output_tokens", self.load.value)

    @property
    def axes(self) -> tuple[tuple[Any, ...], ...]:
        """Values of the axes in the order of `names`."""
        return (
            self.accelerators,
            self.models,
            self.weights,
            self.kv,
            self.tp,
            self.input_tokens,
            self.output_tokens,
            self.amounts,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis) for axis in self.axes)

    @property
    def points(self) -> int:
        return prod(self.shape)

    def load_of(self, amount: int) -> Load:
        """Return the load of `amount` sequences."""
        if self.load is LoadKind.BATCH:
            return Load(LoadKind.BATCH, batch=amount)
        return Load(LoadKind.CONCURRENCY, concurrency=amount)
