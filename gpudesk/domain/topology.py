"""What spreading a model over accelerators costs: one part by count, and more parts against fewer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from gpudesk.domain.answers import Difference
from gpudesk.domain.estimates import Banded, Estimate
from gpudesk.domain.messages import Message


class ScalingRule(StrEnum):
    """The readings of "an overhead of 12 %" in published tables of several accelerators."""

    FLAT = "flat"
    ADDED = "added"
    COMPOUNDING = "compounding"
    PER_DOUBLING = "per-doubling"


@dataclass(frozen=True, slots=True)
class Spread:
    """What a deployment's decode steps are spent on because it is spread, under one load.

    `collectives` is the share of a decode step that communication takes, `collective_ms` the same in
    milliseconds for each output token. `filled` is the share of the time in which a pipeline stage has work:
    of p stages, b sequences of a replica fill min(b / p, 1), less what handing on costs the stages.
    `drawn` is the memory bandwidth in use as a share of that on the data sheet: bytes of weights and cache
    that a step reads over what could be read in its time. Where arithmetic binds it says little.
    `overhead` is the share that launching and scheduling take, `step_ms` the step for each output token.
    """

    collectives: float
    collective_ms: float
    filled: float
    drawn: float
    overhead: float
    step_ms: float

    @property
    def arriving(self) -> float:
        """Share of the memory bandwidth of all accelerators that is left: filled x (1 - collectives).

        One accelerator has all of its own. Per-step overhead is not in it: it is there without spreading too.
        """
        return self.filled * (1.0 - self.collectives)


@dataclass(frozen=True, slots=True)
class ScalingRow:
    """One replica (tp x pp = count) on so many accelerators, in the program's plan.

    `estimate` is that at the load of the scenario, `single` that of one request at a time; None with
    `problem` where there is no such plan. `spread` and `single_spread` are None where it does not fit.
    `replicas` is the plan of as many accelerators that is faster since it has two replicas or more; None
    where one replica is as fast. `bandwidth` is what links leave of the memory bandwidth of all at the load,
    in bytes/s, `drawn` what of it is read, `by_rule` what rules of thumb say. `falls` says why it is slower
    than fewer accelerators, where it is. Bytes are those of all accelerators.
    """

    count: int
    hosts: int
    memory_bytes: int
    estimate: Estimate | None = None
    single: Estimate | None = None
    replicas: Estimate | None = None
    spread: Spread | None = None
    single_spread: Spread | None = None
    bandwidth: float | None = None
    drawn: float | None = None
    by_rule: Mapping[ScalingRule, float] = field(default_factory=lambda: MappingProxyType({}))
    falls: Message | None = None
    problem: Message | None = None

    @property
    def fits(self) -> bool:
        """Whether a replica of this size holds the model and one request."""
        return self.estimate is not None and self.estimate.fits


@dataclass(frozen=True, slots=True)
class Scaling:
    """One accelerator by count. `bandwidth` is that of one in bytes/s, `host` how many one host connects."""

    accelerator: str
    bandwidth: float
    host: int
    rows: tuple[ScalingRow, ...]

    @property
    def start(self) -> ScalingRow | None:
        """The smallest count that fits, which efficiency is measured against."""
        return next((row for row in self.rows if row.fits), None)

    def efficiency(self, row: ScalingRow) -> float | None:
        """Return output tokens/s of an accelerator over that on the smallest count that fits."""
        start, rate = self.start, throughput(row.estimate)
        first = None if start is None else throughput(start.estimate)
        if start is None or first is None or rate is None:
            return None
        return (rate / row.count) / (first / start.count)

    @property
    def peak(self) -> ScalingRow | None:
        """The count with the highest throughput at the load; None where none has one."""
        known = [row for row in self.rows if throughput(row.estimate) is not None]
        return max(known, key=lambda row: throughput(row.estimate) or 0.0, default=None)


@dataclass(frozen=True, slots=True)
class Deployed:
    """One side of a comparison: an estimate at the load, one request at a time, and what spreading costs.

    `kv_room_bytes` is what all its accelerators together leave for the KV cache. `bandwidth` is the memory
    bandwidth of all in bytes/s, `arriving` and `single_arriving` what is left of it at the load and at one
    request; `ceiling` the output tokens/s of one request by the rule of thumb of the published table:
    bandwidth after a flat factor / bytes of the weights. The `free_*` figures are those of the same
    deployment if communication took no time; None where the load has no such figure.
    """

    estimate: Estimate
    single: Estimate
    spread: Spread
    single_spread: Spread
    kv_room_bytes: float
    bandwidth: float
    ceiling: float
    free_output_tokens_per_s: float | None
    free_tpot_ms: float | None
    free_single_tpot_ms: float | None

    @property
    def arriving(self) -> float:
        """Bytes/s that are left of the memory bandwidth of all at the load."""
        return self.bandwidth * self.spread.arriving

    @property
    def single_arriving(self) -> float:
        """Bytes/s that are left of it for one request at a time."""
        return self.bandwidth * self.single_spread.arriving


@dataclass(frozen=True, slots=True)
class Topology:
    """Sharding against fewer parts: two deployments of one model, the baseline first.

    `differences` are those at the load, `single_differences` those of one request at a time; the winner of
    each is judged on the band of the ratio. `said` is what the comparison comes to, in reading order.
    """

    baseline: Deployed
    other: Deployed
    differences: tuple[Difference, ...]
    single_differences: tuple[Difference, ...]
    said: tuple[Message, ...]


def throughput(estimate: Estimate | None) -> float | None:
    """Return the output tokens/s of an estimate, None where there is none."""
    found: Banded | None = None if estimate is None else estimate.output_tokens_per_s
    return None if found is None else found.value
