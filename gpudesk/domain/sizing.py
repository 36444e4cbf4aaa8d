"""How many accelerators are needed, and what would make a deployment fit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from gpudesk.domain.demand import Sizing
from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.messages import Message
from gpudesk.domain.precision import Precision


@dataclass(frozen=True, slots=True)
class Size:
    """A deployment: how many accelerators, in which plan."""

    count: int
    plan: ParallelPlan


@dataclass(frozen=True, slots=True)
class Needed:
    """The smallest deployments of one part that hold a model with its weights in one format.

    `bits` is the width that was asked for, `weights` the format of that width that runs there. `one` holds
    one request of the scenario's length, `load` all requests that it has in flight; `load` is None as well
    where the load does not say how many. `reason` says why `one`, or else `load`, is None.
    """

    accelerator: str
    bits: int
    weights: Precision
    one: Size | None
    load: Size | None
    reason: Message | None = None


@dataclass(frozen=True, slots=True)
class HowMany:
    """How many accelerators a scenario takes: each column by weight format, and for its demand, if any."""

    needed: tuple[tuple[Needed, ...], ...]
    sizing: Sizing | None = None


class MemoryRoom(NamedTuple):
    """Bytes on the fullest accelerator that a deployment may use, and those that its load asks for.

    `usable_bytes` is what the serving engine's memory fraction leaves of the capacity. `needed_bytes` is
    weights, activations, runtime and the KV cache of all requests in flight that memory is to hold, or of one
    where not even one fits.
    """

    usable_bytes: int
    needed_bytes: int

    @property
    def spare_bytes(self) -> int:
        """What is left of the usable memory; negative: what is short."""
        return self.usable_bytes - self.needed_bytes


class RemedyKind(StrEnum):
    """What is changed so that a deployment fits."""

    FRACTION = "memory_fraction"
    COUNT = "count"
    WEIGHTS = "weights"
    KV = "kv"
    CONCURRENCY = "concurrency"


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way to make a deployment fit, tried out: `works` says whether it does, `reason` why not.

    `value` is the new memory fraction, count, format or concurrency. `estimate` is the answer with it, None
    where there is nothing to answer. A changed count is with a plan of the program's choice.
    """

    kind: RemedyKind
    value: int | float | Precision
    works: bool
    estimate: Estimate | None
    reason: Message | None = None
