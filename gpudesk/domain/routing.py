"""Routing of short and long requests to two accelerators: plans and their costs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.deployment_analysis import DerivationTerm
from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.precision import Precision
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message
from gpudesk.text.translation import LabeledEnum

#: Initial share of long requests, an assumption.
DEFAULT_LONG_SHARE: Final = 0.2
#: Default length of long prompts over the scenario's own.
DEFAULT_LONG_INPUT_FACTOR: Final = 4


class RequestKind(LabeledEnum):
    """The two kinds of requests that are routed separately."""

    SHORT = "short", "short"
    LONG = "long", "long"


class RoutePlan(StrEnum):
    """The accelerator for each kind; A and B are the two columns."""

    ALL_A = "all on A"
    ALL_B = "all on B"
    LONG_A = "long on A, short on B"
    LONG_B = "long on B, short on A"

    @property
    def is_split(self) -> bool:
        return self in (RoutePlan.LONG_A, RoutePlan.LONG_B)


class RequestRateOrigin(LabeledEnum):
    """The source of the request rate."""

    DEMAND = "demand", "peak demand of the scenario"
    YOURS = "yours", "entered by you"
    LOAD = "load", "load of the scenario"
    BASELINE = "baseline", "capacity of the first column at its load"


@frozen_dataclass
class RequestMix:
    """The mix of requests: `long_share` of them, by number, are long, all others those of the scenario.

    None is computed: the input of long requests is four times the scenario's, within the model's context, and their
    output is the scenario's. With `model`, requests of `model_kind` go to that model, in `weights` or in the scenario's
    format.
    """

    long_share: float = DEFAULT_LONG_SHARE
    long_input_tokens: int | None = None
    long_output_tokens: int | None = None
    model: str | None = None
    model_kind: RequestKind = RequestKind.LONG
    weights: Precision | None = None


@frozen_dataclass
class RequestClass:
    """One kind of requests: `requests_per_s` at the peak, `share` of all by number."""

    kind: RequestKind
    model: str
    weights: Precision
    input_tokens: int
    output_tokens: int
    share: float
    requests_per_s: float


@frozen_dataclass
class RoutedPool:
    """One pool: working and spare replicas of one accelerator, each with `plan`.

    `key` is the accelerator's column. `requests_per_s` is the rate of one replica for each kind of the pool by itself.
    `counts` is the interval of the number of accelerators.
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


@frozen_dataclass
class RoutedPlan:
    """One plan and its cost; without pools, `reason` names the requests that cannot be served.

    `software_usd` is the software share of both costs, with stacks shared with the rest of the fleet as in the cost
    inputs. `software_alone_usd` is its amount if no other service shares them. A cost is None if an input is missing.
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
        """Accelerators of all pools, including spares."""
        return sum(pool.count for pool in self.pools) if self.pools else None

    @property
    def spare(self) -> int | None:
        return sum(pool.spare for pool in self.pools) if self.pools else None


@frozen_dataclass
class SplitSurcharge:
    """The extra cost of a split over the cheaper single-accelerator plan, `single`; negative for a saving.

    `software_usd` is the software share of it, `software_alone_usd` its amount if no other service shared the stacks.
    """

    plan: RoutePlan
    single: RoutePlan
    usd: UncertainValue
    software_usd: UncertainValue
    software_alone_usd: UncertainValue


@frozen_dataclass
class RouteRanking:
    """The cheapest plan, and the others within its error."""

    cheapest: RoutePlan
    level: tuple[RoutePlan, ...]
    beyond: tuple[SplitSurcharge, ...]

    @property
    def decided(self) -> bool:
        """Whether no other plan is within the error."""
        return not self.level


@frozen_dataclass
class RoutingResult:
    """The plans for a mix of requests. A ranking is None if fewer than two plans have that cost.

    `shared_loss` is the loss of two unlike replicas' rates if one pool spreads requests evenly over both, with its
    derivation; None if one of them cannot serve all kinds.
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
