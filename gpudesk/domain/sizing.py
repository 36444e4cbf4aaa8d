"""Sizing: service demand, the accelerators it needs, the fit matrix, and remedies if nothing fits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from gpudesk.domain.accelerator import Accelerator, OwnedSystems
from gpudesk.domain.estimate import Estimate, Load, LoadKind, ParallelPlan
from gpudesk.domain.field_checks import (
    FieldCheck,
    accept_number,
    accept_whole,
    describe_not_above,
    describe_out_of_range,
)
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, Message

#: One accelerator by itself.
_ALONE: Final = ParallelPlan()


class DemandKind(StrEnum):
    """How demand is stated."""

    USERS = "users"
    REQUEST_RATE = "request_rate"
    TOKENS_PER_DAY = "tokens_per_day"
    CONCURRENCY = "concurrency"


#: Of deployments for the shortest time, a smaller one is chosen if this share of its time is no longer than the best.
ALIKE_TIME: Final = 0.97
#: More accelerators than this, each doubling of them has to cut the time of a request at least to this share.
_ONE_MACHINE, _WORTH_DOUBLING = 8, 0.8


def exceeds_one_machine(count: int, cards_per_host: int) -> bool:
    """Return whether accelerators need more than one machine; of a rack, more than a machine has elsewhere."""
    return count > min(cards_per_host, _ONE_MACHINE)


def weigh_request_time(seconds: float, count: int) -> float:
    """Return the seconds of a request, longer beyond one machine, by which a number of accelerators is chosen."""
    doublings = math.log2(max(1.0, count / _ONE_MACHINE))
    return seconds * math.pow(_WORTH_DOUBLING, -doublings)


#: The TPOT limit in ms if users wait and state none: 10 tokens/s, twice the speed of silent reading, which is 238 words
#: per minute (M. Brysbaert, Journal of Memory and Language 109, 2019) or about 5 tokens/s.
READING_TPOT_MS: Final = 100.0
#: The default peak factor of a demand.
DEFAULT_PEAK_FACTOR: Final = 2.0


@frozen_dataclass
class Demand:
    """The demand on a service, on average, and its reserves.

    `amount` is concurrent users, requests/s, output tokens per day, or requests in flight at the peak, by `kind`. A
    user sends `requests_per_user_hour`. `peak_factor` is peak over average. Latency limits are for the 99th percentile
    at the peak; None sets none. `utilisation_cap` is the share of its highest rate within the limits to which a replica
    is loaded at the peak. `spare_replicas` are reserves for failures.
    """

    kind: DemandKind
    amount: float
    requests_per_user_hour: float = 12.0
    peak_factor: float = DEFAULT_PEAK_FACTOR
    ttft_ms: float | None = None
    tpot_ms: float | None = None
    utilisation_cap: float = 0.8
    spare_replicas: int = 1

    @property
    def states_peak(self) -> bool:
        """Whether the user stated the peak over the average; requests in flight are those of the peak."""
        return self.peak_factor != DEFAULT_PEAK_FACTOR and self.kind is not DemandKind.CONCURRENCY


class NumberBounds(NamedTuple):
    """The range of a number; with `above`, `low` itself is excluded."""

    low: float
    high: float
    above: bool = False

    def hold(self, value: float) -> bool:
        """Whether a number is in the range; NaN and infinities are not."""
        return (self.low < value if self.above else self.low <= value) and value <= self.high

    def check(self, value: float | None, where: str) -> None:
        """Check that a number, if any, is in the range; raises `InputError` at `where`."""
        if value is not None and not self.hold(value):
            describe = describe_not_above if self.above else describe_out_of_range
            raise InputError(describe(value, self.low, self.high), where)

    def make_check(self, *, whole: bool = False) -> FieldCheck:
        """Return the check of a field from outside."""
        low, high, above = self
        return accept_whole(int(low), int(high)) if whole else accept_number(low, high, above=above)


#: Stands for an unset latency limit: an hour.
NO_LIMIT_MS: Final = 3_600_000.0
#: Bounds of each number of the demand. Spare replicas are whole.
DEMAND_BOUNDS: Final[Mapping[str, NumberBounds]] = {
    "amount": NumberBounds(0.0, 1e15, above=True),
    "requests_per_user_hour": NumberBounds(0.0, 36_000.0, above=True),
    "peak_factor": NumberBounds(1.0, 1000.0),
    "ttft_ms": NumberBounds(0.0, NO_LIMIT_MS, above=True),
    "tpot_ms": NumberBounds(0.0, NO_LIMIT_MS, above=True),
    "utilisation_cap": NumberBounds(0.05, 1.0),
    "spare_replicas": NumberBounds(0, 64),
}


class SizingFactor(NamedTuple):
    """One factor of a count: `name` is a key of words, `value` the factor, `unit` its unit or None.

    The product of all factors of a candidate is exactly its count.
    """

    name: str
    value: float
    unit: str | None = None


@frozen_dataclass
class PhysicalBoundCheck:
    """The lower bound by physics alone, and the reasons why more are needed.

    `floor` is the number of accelerators that could read the required bytes in time: peak output tokens/s x bytes per
    token / memory bandwidth, at the largest batch that their memory holds. `ratio` is the candidate's count over it.
    `reasons` explain a ratio above ten, largest first; empty below.
    """

    floor: float
    ratio: float
    reasons: tuple[Message, ...]


@frozen_dataclass
class SizingOption:
    """How many of one accelerator meet a demand; count = replicas x tp x pp + spare.

    `spare` are the accelerators of the spare replicas. `output_tokens_per_s` is the maximum of all working replicas
    within the limits, without the cap; `estimate` is that of one replica there. `peak_output_tokens_per_s` is that of
    all working replicas under the peak. `systems` are the whole systems that
    hold the accelerators, None if single ones are bought. If the demand cannot be met, `reason` explains why, `count`
    is None and dependent fields are empty.
    """

    accelerator: str
    reason: Message | None
    replicas: int = 0
    plan: ParallelPlan = _ALONE
    spare: int = 0
    count: int | None = None
    nodes: int = 0
    concurrency_per_replica: int = 0
    factors: tuple[SizingFactor, ...] = ()
    output_tokens_per_s: IntervalEstimate | None = None
    peak_output_tokens_per_s: IntervalEstimate | None = None
    power_kw: float | None = None
    bound: PhysicalBoundCheck | None = None
    estimate: Estimate | None = None
    notes: tuple[Message, ...] = ()
    systems: OwnedSystems | None = None

    @property
    def replica_capacity(self) -> float:
        """The capacity of one replica within the limits, without the cap: requests/s, or requests in flight."""
        each = next(factor for factor in self.factors if factor.name in ("replica_seconds", "replica_in_flight"))
        return 1.0 / each.value

    @property
    def concurrency(self) -> int:
        """Requests in flight at the peak in all working replicas together."""
        return self.concurrency_per_replica * self.replicas


@frozen_dataclass
class SizingResult:
    """The candidates for a demand, in the order of the scenario's accelerators.

    `requests_per_s` and `output_tokens_per_s` are those of the peak; None if the demand is requests in flight, which
    each accelerator answers at its own rate.
    """

    demand: Demand
    requests_per_s: float | None
    output_tokens_per_s: float | None
    candidates: tuple[SizingOption, ...]

    @property
    def peak_load(self) -> Load:
        """The load of all working replicas together at the peak."""
        if self.requests_per_s is None:
            return Load(LoadKind.CONCURRENCY, concurrency=math.ceil(self.demand.amount))
        return Load(LoadKind.REQUEST_RATE, request_rate=self.requests_per_s)


@frozen_dataclass
class DeploymentSize:
    """The size of a deployment and its plan."""

    count: int
    plan: ParallelPlan


@frozen_dataclass
class SmallestDeployments:
    """The smallest deployments of one accelerator that hold a model with its weights in one format.

    `bits` is the requested width, `weights` the format of that width that runs there. `one` holds one request of the
    scenario's length, `load` all requests in flight; `load` is None too if the load does not determine their number.
    `reason` explains why `one`, or else `load`, is None.
    """

    accelerator: str
    bits: int
    weights: Precision
    one: DeploymentSize | None
    load: DeploymentSize | None
    reason: Message | None = None


@frozen_dataclass
class AcceleratorNeeds:
    """The accelerators that a scenario needs: by column and weight format, and for its demand, if any."""

    needed: tuple[tuple[SmallestDeployments, ...], ...]
    sizing: SizingResult | None = None


class UsableMemory(NamedTuple):
    """Usable bytes on the most loaded accelerator, and the bytes that its load needs.

    `usable_bytes` is the serving engine's memory fraction of the capacity. `needed_bytes` is weights, activations,
    runtime and the KV cache of all requests in flight that memory has to hold, or of one if not even one fits.
    """

    usable_bytes: int
    needed_bytes: int

    @property
    def spare_bytes(self) -> int:
        """Free usable memory; negative: missing."""
        return self.usable_bytes - self.needed_bytes


class FitRemedyKind(StrEnum):
    """What a remedy changes so that a deployment fits."""

    FRACTION = "memory_fraction"
    COUNT = "count"
    WEIGHTS = "weights"
    KV = "kv"
    CONCURRENCY = "concurrency"


@frozen_dataclass
class FitRemedy:
    """One way to make a deployment fit, tested: `works` is the result, `reason` explains a failure.

    `value` is the new memory fraction, count, format or concurrency. `estimate` is the answer with it, None without
    one. A changed count has a plan of the program's choice.
    """

    kind: FitRemedyKind
    value: int | float | Precision
    works: bool
    estimate: Estimate | None
    reason: Message | None = None


class CapacityReadingId(StrEnum):
    """Readings of a memory label in published counts; estimates use none of these.

    As GB or as GiB, whole or with a tenth kept free.
    """

    DECIMAL = "decimal"
    BINARY = "binary"
    DECIMAL_RESERVED = "decimal-reserved"
    BINARY_RESERVED = "binary-reserved"


@frozen_dataclass
class FitQuestion:
    """The common question of all cells of a matrix: formats, sequences of `context` tokens, and their number.

    `context` counts input and output tokens together. Models with a shorter context are included.
    """

    weights: Precision
    kv: Precision = Precision.FP16
    context: int = 8192
    concurrency: int = 1
    serving_engine: str | None = None
    memory_fraction: float | None = None


@frozen_dataclass
class FitCell:
    """The smallest deployment of one accelerator that holds a model and all requests in flight.

    `weights` and `kv` are concrete formats (FP4 as that of the vendor). `headroom_bytes` is the free usable memory on
    the most loaded accelerator. Without a deployment `fits` is False, `reason` explains why, and count, plan and
    headroom are None.
    """

    accelerator: str
    model: str
    weights: Precision
    kv: Precision
    fits: bool
    serving_engine: str | None = None
    count: int | None = None
    plan: ParallelPlan | None = None
    usable_bytes: int | None = None
    headroom_bytes: int | None = None
    reason: Message | None = None


@frozen_dataclass
class FitMatrix:
    """All cells of a question: one row per model, with one cell per accelerator."""

    question: FitQuestion
    accelerators: tuple[Accelerator, ...]
    models: tuple[Model, ...]
    rows: tuple[tuple[FitCell, ...], ...]
