"""Demand: what users ask of a service, from which the number of accelerators follows; and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Banded, Estimate
from gpudesk.domain.messages import Message

#: One accelerator by itself.
_ALONE: Final = ParallelPlan()


class DemandKind(StrEnum):
    """How demand is stated."""

    USERS = "users"
    REQUEST_RATE = "request_rate"
    TOKENS_PER_DAY = "tokens_per_day"


@dataclass(frozen=True, slots=True)
class Demand:
    """What is asked of a service, on average, and what it has to keep in reserve.

    `amount` is users who are active at once, requests/s, or output tokens a day, by `kind`. A user sends
    `requests_per_user_hour`. `peak_factor` is the busiest time over the average. Latency limits hold for the
    99th percentile at the peak; None sets none. `utilisation_cap` is the share of its highest rate within
    the limits that a replica is loaded with at the peak. `spare_replicas` stand by for replicas that fail.
    """

    kind: DemandKind
    amount: float
    requests_per_user_hour: float = 12.0
    peak_factor: float = 2.0
    ttft_ms: float | None = None
    tpot_ms: float | None = None
    utilisation_cap: float = 0.8
    spare_replicas: int = 1


class Bounds(NamedTuple):
    """The range of a number of a demand; with `above`, `low` itself is outside."""

    low: float
    high: float
    above: bool = False

    def hold(self, value: float) -> bool:
        """Whether a number lies in the range; nothing that is not finite does."""
        return (self.low < value if self.above else self.low <= value) and value <= self.high


#: Stands for a latency limit that was not set: an hour.
NO_LIMIT_MS: Final = 3_600_000.0
#: What each number of a demand may be. Spare replicas are whole.
RANGES: Final[Mapping[str, Bounds]] = MappingProxyType(
    {
        "amount": Bounds(0.0, 1e15, above=True),
        "requests_per_user_hour": Bounds(0.0, 36_000.0, above=True),
        "peak_factor": Bounds(1.0, 1000.0),
        "ttft_ms": Bounds(0.0, NO_LIMIT_MS, above=True),
        "tpot_ms": Bounds(0.0, NO_LIMIT_MS, above=True),
        "utilisation_cap": Bounds(0.05, 1.0),
        "spare_replicas": Bounds(0, 64),
    }
)


class Factor(NamedTuple):
    """One factor of a count: `name` is a key of words, `value` what is multiplied, `unit` its unit or None.

    The product of all factors of a candidate is its count, exactly.
    """

    name: str
    value: float
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class BoundCheck:
    """What physics alone would need for the demand, and why more are needed.

    `floor` is the fewest accelerators that could read what must be read in the time there is: peak output
    tokens/s x bytes a token / memory bandwidth, at the largest batch that their memory holds. `ratio` is the
    candidate's count over it. `reasons` explain a ratio above ten, largest first; empty below.
    """

    floor: float
    ratio: float
    reasons: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """How many of one accelerator meet a demand; count = replicas x tp x pp + spare.

    `spare` are the accelerators of the spare replicas. `output_tokens_per_s` is what all working replicas
    yield at most within the limits, without the cap; `estimate` is that of one replica there. Where nothing
    meets the demand, `reason` says why, `count` is None and what depends on it is empty.
    """

    accelerator: str
    reason: Message | None
    replicas: int = 0
    plan: ParallelPlan = _ALONE
    spare: int = 0
    count: int | None = None
    nodes: int = 0
    concurrency_per_replica: int = 0
    factors: tuple[Factor, ...] = ()
    output_tokens_per_s: Banded | None = None
    power_kw: float | None = None
    bound: BoundCheck | None = None
    estimate: Estimate | None = None
    notes: tuple[Message, ...] = ()

    @property
    def concurrency(self) -> int:
        """Requests in flight at the peak in all working replicas together."""
        return self.concurrency_per_replica * self.replicas


@dataclass(frozen=True, slots=True)
class Sizing:
    """The candidates for a demand, in the order of the scenario's accelerators.

    `requests_per_s` and `output_tokens_per_s` are those of the peak.
    """

    demand: Demand
    requests_per_s: float
    output_tokens_per_s: float
    candidates: tuple[Candidate, ...]
