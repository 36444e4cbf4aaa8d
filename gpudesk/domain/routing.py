"""Routing of short and long requests to two accelerators: the plans and their costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.deployment import ParallelPlan
from gpudesk.domain.derivation import DerivationTerm
from gpudesk.domain.precision import Precision
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message

#: The share of long requests to begin with; nobody states it.
DEFAULT_LONG_SHARE: Final = 0.2
#: How many times as long as the scenario's own prompts those of long requests are, unless that is stated.
DEFAULT_LONG_INPUT_FACTOR: Final = 4


class RequestKind(StrEnum):
    """The two kinds of requests that are routed apart."""

    SHORT = "short"
    LONG = "long"


class RoutePlan(StrEnum):
    """Which part serves which kind; A and B are the two columns."""

    ALL_A = "all on A"
    ALL_B = "all on B"
    LONG_A = "long on A, short on B"
    LONG_B = "long on B, short on A"

    @property
    def is_split(self) -> bool:
        return self in (RoutePlan.LONG_A, RoutePlan.LONG_B)


class RequestRateOrigin(StrEnum):
    """Where the requests per second come from."""

    DEMAND = "demand"
    YOURS = "yours"
    LOAD = "load"
    BASELINE = "baseline"


@dataclass(frozen=True, slots=True)
class RequestMix:
    """What requests there are: `long_share` of them, by number, are long, all others those of the scenario.

    None is computed: the input of long requests is four times the scenario's, as far as the model's context
    goes, and their output is the scenario's. With `model`, requests of `model_kind` go to that model, in
    `weights` or in the scenario's format.
    """

    long_share: float = DEFAULT_LONG_SHARE
    long_input_tokens: int | None = None
    long_output_tokens: int | None = None
    model: str | None = None
    model_kind: RequestKind = RequestKind.LONG
    weights: Precision | None = None


@dataclass(frozen=True, slots=True)
class RequestClass:
    """One kind of requests: `requests_per_s` at the peak, `share` of all by number."""

    kind: RequestKind
    model: str
    weights: Precision
    input_tokens: int
    output_tokens: int
    share: float
    requests_per_s: float


@dataclass(frozen=True, slots=True)
class RoutedPool:
    """One pool: working and spare replicas of one part, each of `plan`.

    `key` is that of the part's column. `requests_per_s` is what one replica answers of each kind that the
    pool serves if it does nothing else. `counts` are the accelerators of the pool over the band of that.
    """

    key: str
    accelerator: str
    kinds: tuple[RequestKind, ...]
    plan: ParallelPlan
    requests_per_s: Mapping[RequestKind, IntervalEstimate]
    replicas: int
    spare_replicas: int
    counts: UncertainValue

    @property
    def count(self) -> int:
        return (self.replicas + self.spare_replicas) * self.plan.count

    @property
    def spare(self) -> int:
        return self.spare_replicas * self.plan.count


@dataclass(frozen=True, slots=True)
class RoutedPlan:
    """One plan and its cost; without pools, `reason` names the requests that cannot be served.

    `software_usd` is the part of both costs that software takes, its stacks shared with the rest of the fleet
    as inputs of costs say. `software_alone_usd` is what it takes if no other service shares them. A cost is
    None if an input is missing.
    """

    plan: RoutePlan
    pools: tuple[RoutedPool, ...]
    counts: UncertainValue | None = None
    owned_usd: UncertainValue | None = None
    rented_usd: UncertainValue | None = None
    software_usd: UncertainValue | None = None
    software_alone_usd: UncertainValue | None = None
    reason: Message | None = None

    @property
    def count(self) -> int | None:
        """Accelerators of all pools, spare ones among them."""
        return sum(pool.count for pool in self.pools) if self.pools else None

    @property
    def spare(self) -> int | None:
        return sum(pool.spare for pool in self.pools) if self.pools else None


@dataclass(frozen=True, slots=True)
class SplitSurcharge:
    """What a split costs beyond the cheaper of the plans with one part, `single`; below 0 what it saves.

    `software_usd` is how much of that is software, `software_alone_usd` how much it would be if no other
    service shared its stacks.
    """

    plan: RoutePlan
    single: RoutePlan
    usd: UncertainValue
    software_usd: UncertainValue
    software_alone_usd: UncertainValue


@dataclass(frozen=True, slots=True)
class RouteRanking:
    """Which plan costs the least, and the others that may do so too, within the error."""

    cheapest: RoutePlan
    level: tuple[RoutePlan, ...]
    beyond: tuple[SplitSurcharge, ...]

    @property
    def decided(self) -> bool:
        """Whether no other plan may be as cheap."""
        return not self.level


@dataclass(frozen=True, slots=True)
class RoutingResult:
    """The plans for a mix of requests. A ranking is None if fewer than two plans have that cost.

    `shared_loss` is the share of two unlike replicas' rates that is lost where one pool spreads requests
    evenly over both, with its working; None if one of both cannot serve all kinds.
    """

    keys: tuple[str, str]
    classes: tuple[RequestClass, ...]
    requests_per_s: float
    rate_origin: RequestRateOrigin
    utilisation_cap: float
    spare_replicas: int
    years: float
    plans: tuple[RoutedPlan, ...]
    owned: RouteRanking | None = None
    rented: RouteRanking | None = None
    shared_loss: UncertainValue | None = None
    shared_working: DerivationTerm | None = None
    notes: tuple[Message, ...] = ()
    by_plan: Mapping[RoutePlan, RoutedPlan] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        plans_by_name = MappingProxyType({each.plan: each for each in self.plans})
        object.__setattr__(self, "by_plan", plans_by_name)
