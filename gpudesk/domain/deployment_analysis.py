"""Analyses of one deployment: time shares, rooflines, KV cache by context, scaling and weight loading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from gpudesk.domain.answer import FigureDifference
from gpudesk.domain.derivation import DerivationTerm
from gpudesk.domain.estimate import Estimate
from gpudesk.domain.precision import Precision
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message

#: Name of the share of time in which other requests are prefilled; the others have names of limiters.
PREFILL_SHARE = "prefill"


class TimeShare(NamedTuple):
    """A part of a time by what takes it: the name of a limiter, or `PREFILL_SHARE`; shares add up to 1."""

    name: str
    share: float


@dataclass(frozen=True, slots=True)
class DeploymentTimeShares:
    """Where the time of one deployment goes under its load.

    `run` divides all decode steps and all prefill; its largest share is the limiter of the estimate, except
    where memory admits no more. `token` divides the time of one output token (TPOT), in which the prefill
    of other requests is mixed; None for a single output token, or where there is no TPOT. `decode` divides
    one decode step, `prefill` one prefill chunk.
    """

    run: tuple[TimeShare, ...]
    token: tuple[TimeShare, ...] | None
    decode: tuple[TimeShare, ...]
    prefill: tuple[TimeShare, ...]


class RequestTimeline(NamedTuple):
    """The time of one request in seconds: waiting, its own prefill, its output; together `request_s`.

    `queue_s` is waiting for a place in the cache, for the prompts before it and for steps under way.
    `decode_s` counts from the first token to the last, with the prefill of others that comes between.
    """

    queue_s: float
    prefill_s: float
    decode_s: float


class RooflineCeiling(NamedTuple):
    """What one accelerator can do at most: bytes/s of its memory and FLOP/s of its arithmetic."""

    bandwidth: float
    flops: float

    @property
    def ridge(self) -> float:
        """FLOP/byte from which on arithmetic limits: peak / bandwidth."""
        return self.flops / self.bandwidth

    def at(self, intensity: float) -> float:
        """FLOP/s that the roof admits at an arithmetic intensity: min(peak, intensity x bandwidth)."""
        return min(self.flops, intensity * self.bandwidth)


class RooflinePoint(NamedTuple):
    """One step as one accelerator sees it: arithmetic done, bytes of weights and KV read, seconds taken.

    `flop` and `read_bytes` are those of all layers for the tokens of one micro-batch or chunk, which is
    what an accelerator works off in `seconds` also where layers are spread over pipeline stages.
    """

    tokens: float
    flop: float
    read_bytes: float
    seconds: float

    @property
    def intensity(self) -> float:
        return self.flop / self.read_bytes

    @property
    def flops(self) -> float:
        return self.flop / self.seconds


@dataclass(frozen=True, slots=True)
class Roofline:
    """The roofs over one deployment, and where its prefill and its decode stand under them.

    `paper` has the memory bandwidth and the dense peak of the data sheet, the peak as stated for
    `peak_precision`, which is that of `arithmetic` or, where the part states none, the next wider one.
    `effective` has what calibrated efficiencies leave of both: of the bandwidth for what the decode step
    reads, of the peak for what the prefill chunk computes. A point is None if there is no such step.
    """

    arithmetic: Precision
    peak_precision: str
    paper: RooflineCeiling
    effective: RooflineCeiling
    prefill: RooflinePoint | None
    decode: RooflinePoint | None


@dataclass(frozen=True, slots=True)
class KvCacheCurve:
    """KV cache of one deployment against context length, exact; arrays of one length.

    `sequence_bytes` is the cache of one sequence undivided, `fullest_bytes` what of it lies on the fullest
    accelerator. `max_concurrency` counts the sequences of that length that the whole deployment holds.
    `max_context` is the model's, None if it is not known; `tokens` is the length of the scenario's
    requests, one of `context` where the model reads as much.
    """

    context: tuple[int, ...]
    sequence_bytes: tuple[int, ...]
    fullest_bytes: tuple[int, ...]
    max_concurrency: tuple[int, ...]
    max_context: int | None
    tokens: int


class ScalingRuleOfThumb(StrEnum):
    """The readings of "an overhead of 12%" in published tables of several accelerators."""

    FLAT = "flat"
    ADDED = "added"
    COMPOUNDING = "compounding"
    PER_DOUBLING = "per-doubling"


@dataclass(frozen=True, slots=True)
class ParallelismCosts:
    """What a deployment's decode steps are spent on because it is spread, under one load.

    `collectives` is the share of a decode step that communication takes, `collective_ms` the same in
    milliseconds for each output token. `filled` is the share of the time in which a pipeline stage has work:
    of p stages, b sequences of a replica fill min(b / p, 1), less what handing on costs the stages.
    `bandwidth_share` is the memory bandwidth in use as a share of that on the data sheet: bytes of weights and cache
    that a step reads over what could be read in its time. Where arithmetic binds it says little.
    `overhead` is the share that launching and scheduling take, `step_ms` the step for each output token.
    """

    collectives: float
    collective_ms: float
    filled: float
    bandwidth_share: float
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
    `problem` where there is no such plan. `spread` and `single_spread` are None if it does not fit.
    `replicas` is the plan of as many accelerators that is faster since it has two replicas or more; None
    where one replica is as fast. `bandwidth` is what links leave of the memory bandwidth of all at the load,
    in bytes/s, `bandwidth_per_s` what of it is read, `by_rule` what rules of thumb say. `falls` says why it is slower
    than fewer accelerators, where it is. Bytes are those of all accelerators.
    """

    count: int
    hosts: int
    memory_bytes: int
    estimate: Estimate | None = None
    single: Estimate | None = None
    replicas: Estimate | None = None
    spread: ParallelismCosts | None = None
    single_spread: ParallelismCosts | None = None
    bandwidth: float | None = None
    bandwidth_per_s: float | None = None
    by_rule: Mapping[ScalingRuleOfThumb, float] = field(default_factory=lambda: MappingProxyType({}))
    falls: Message | None = None
    problem: Message | None = None

    @property
    def fits(self) -> bool:
        return self.estimate is not None and self.estimate.fits


@dataclass(frozen=True, slots=True)
class AcceleratorScaling:
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
        start, rate = self.start, get_throughput(row.estimate)
        first = None if start is None else get_throughput(start.estimate)
        if start is None or first is None or rate is None:
            return None
        return (rate / row.count) / (first / start.count)

    @property
    def peak(self) -> ScalingRow | None:
        """The count with the highest throughput at the load; None if none has one."""
        answered = [row for row in self.rows if get_throughput(row.estimate) is not None]
        return max(answered, key=lambda row: get_throughput(row.estimate) or 0.0, default=None)


@dataclass(frozen=True, slots=True)
class TopologySide:
    """One side of a comparison: an estimate at the load, one request at a time, and what spreading costs.

    `kv_room_bytes` is what all its accelerators together leave for the KV cache. `bandwidth` is the memory
    bandwidth of all in bytes/s, `arriving` and `single_arriving` what is left of it at the load and at one
    request; `ceiling` the output tokens/s of one request by the rule of thumb of the published table:
    bandwidth after a flat factor / bytes of the weights. The `free_*` figures are those of the same
    deployment if communication took no time; None if the load has no such figure.
    """

    estimate: Estimate
    single: Estimate
    spread: ParallelismCosts
    single_spread: ParallelismCosts
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
        return self.bandwidth * self.single_spread.arriving


@dataclass(frozen=True, slots=True)
class TopologyComparison:
    """Sharding against fewer parts: two deployments of one model, the baseline first.

    `differences` are those at the load, `single_differences` those of one request at a time. `sentences` is what
    the comparison comes to, in reading order.
    """

    baseline: TopologySide
    other: TopologySide
    differences: tuple[FigureDifference, ...]
    single_differences: tuple[FigureDifference, ...]
    sentences: tuple[Message, ...]


def get_throughput(estimate: Estimate | None) -> float | None:
    throughput: IntervalEstimate | None = None if estimate is None else estimate.output_tokens_per_s
    return None if throughput is None else throughput.value


class WeightLoadTime(NamedTuple):
    """What loading takes at least, in seconds: over the host link, from storage, and both at once.

    What is read is passed on while more is read, so that the slower of both sets the time. `seconds` is None
    where the link is not known, and `reason` says why; `storage_s` is None if nobody stated a rate.
    """

    seconds: float | None
    link_s: float | None
    storage_s: float | None
    working: DerivationTerm
    reason: Message | None = None


class QuotedLinkRate(NamedTuple):
    """A rate of the host link that a source document states, in bytes/s, and what loading would take at it.

    `claim` is the id of its statement, `dated` the month of the document.
    """

    claim: str
    dated: str | None
    low_bytes_per_s: float
    high_bytes_per_s: float
    slowest_s: float
    fastest_s: float


@dataclass(frozen=True, slots=True)
class WeightLoading:
    """The time to load weights: of the fullest accelerator alone, and of all that one host has of them.

    `in_host` accelerators of the deployment share a host; None if that is not known. `link_bytes_per_s`
    is one direction of one accelerator's link, `storage_bytes_per_s` what storage gives to one host.
    """

    accelerator: str
    weights_bytes: int
    in_host: int | None
    link_bytes_per_s: float | None
    storage_bytes_per_s: float | None
    one: WeightLoadTime
    host: WeightLoadTime
    quoted: tuple[QuotedLinkRate, ...] = ()
    notes: tuple[Message, ...] = ()
