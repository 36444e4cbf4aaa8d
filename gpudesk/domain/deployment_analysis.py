"""Derivations of figures, and analyses of one deployment: time shares, rooflines, KV cache, scaling, published runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from gpudesk.domain.answer import FigureDifference
from gpudesk.domain.claim import Source
from gpudesk.domain.estimate import Estimate, EstimateRequest
from gpudesk.domain.precision import Precision
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message
from gpudesk.text.translation import LabeledEnum

_NOT_IN_NAMES: Final = re.compile(r"\W+")


@lru_cache(maxsize=512)
def to_placeholder(name: str) -> str:
    """Return the placeholder of an input in a formula."""
    return _NOT_IN_NAMES.sub("_", name).strip("_")


def format_placeholder(name: str) -> str:
    return f"{{{to_placeholder(name)}}}"


def format_sum(names: tuple[str, ...]) -> str:
    return " + ".join(format_placeholder(name) for name in names)


@frozen_dataclass
class DerivationTerm:
    """One node of a derivation: a quantity, its formula, and the input terms.

    `formula` has its inputs by name (`domain.formulas`), or explains in words; `unit` is the internal unit; `source`
    names the claim, constant or setting behind a leaf.
    """

    name: str
    value: float | str | None
    unit: str | None = None
    formula: str | None = None
    source: str | None = None
    inputs: tuple[DerivationTerm, ...] = ()
    note: Message | None = None

    @property
    def number(self) -> float:
        """The value for further computation; 0 without one."""
        return float(self.value) if isinstance(self.value, int | float) else 0.0


def derive_term(
    name: str, value: float | str | None, unit: str | None, formula: str | None, *inputs: DerivationTerm
) -> DerivationTerm:
    """Return a quantity that is computed from others."""
    return DerivationTerm(name, value, unit, formula, inputs=inputs)


class WorkedExampleVerdict(LabeledEnum):
    """The result of checking a printed figure by calculation."""

    REPRODUCED = "reproducible", "Reproduced"
    REFUSED = "contradicted by arithmetic", "Refuted"
    NOT_DERIVABLE = "not derivable", "Cannot be derived"


@frozen_dataclass
class FigureTolerance:
    """Tolerance of a comparison: within `absolute` or `relative`; both 0 is exact."""

    absolute: float = 0.0
    relative: float = 0.0

    def holds(self, value: float, other: float) -> bool:
        """Whether two numbers agree; exact ones can differ by floating-point error."""
        room = max(self.absolute, self.relative * abs(other), 1e-9 * max(1.0, abs(other)))
        return abs(value - other) <= room


@frozen_dataclass
class WorkedExample:
    """One printed figure with the inputs that the document gives for it.

    `source` is the id of the document among the sources, None for a figure derived from several. `formula` names the
    calculation, `inputs` its numbers. The printed figure is `published`, or between `published_low` and
    `published_high`; all three are None if the document draws no conclusion. `published_text` is the printed figure
    verbatim. `expected` is the result of the formula, None if it cannot be derived.
    """

    id: str
    source: str | None
    statement: str
    formula: str | None
    inputs: Mapping[str, float] = field(default_factory=dict)
    published: float | None = None
    published_low: float | None = None
    published_high: float | None = None
    published_text: str = ""
    expected: float | None = None
    tolerance: FigureTolerance = FigureTolerance()
    verdict: WorkedExampleVerdict = WorkedExampleVerdict.NOT_DERIVABLE
    note: str = ""

    def judge(self, value: float | None) -> WorkedExampleVerdict:
        if value is None:
            return WorkedExampleVerdict.NOT_DERIVABLE
        return WorkedExampleVerdict.REPRODUCED if self._agrees(value) else WorkedExampleVerdict.REFUSED

    def _agrees(self, value: float) -> bool:
        if self.published is not None:
            return self.tolerance.holds(value, self.published)
        low, high = self.published_low, self.published_high
        above = low is None or value >= low or self.tolerance.holds(value, low)
        below = high is None or value <= high or self.tolerance.holds(value, high)
        return above and below


@frozen_dataclass
class WorkedFigure:
    """An example with its derivation; None if the printed data do not allow one."""

    example: WorkedExample
    working: DerivationTerm | None

    @property
    def verdict(self) -> WorkedExampleVerdict:
        return self.example.judge(None if self.working is None else self.working.number)


#: Name of the time share for prefilling other requests; the other shares have names of limiters.
PREFILL_SHARE = "prefill"


class TimeShare(NamedTuple):
    """A share of a time: `name` is a limiter or `PREFILL_SHARE`; shares add up to 1."""

    name: str
    share: float


@frozen_dataclass
class DeploymentTimeShares:
    """Time breakdown of one deployment under its load.

    `run` divides all decode steps and all prefill; its largest share is the limiter of the estimate, unless memory
    admits no more requests. `token` divides TPOT, including the prefill of other requests; None for a single output
    token, or without TPOT. `decode` divides one decode step, `prefill` one prefill chunk.
    """

    run: tuple[TimeShare, ...]
    token: tuple[TimeShare, ...] | None
    decode: tuple[TimeShare, ...]
    prefill: tuple[TimeShare, ...]


class RequestTimeline(NamedTuple):
    """The time of one request in seconds: queue, its own prefill, its output; together `request_s`.

    `queue_s` is the wait for cache space, for earlier prompts and for running steps. `decode_s` counts from the first
    token to the last, including prefill of other requests in between.
    """

    queue_s: float
    prefill_s: float
    decode_s: float


class RooflineCeiling(NamedTuple):
    """Limits of one accelerator: bytes/s of its memory and FLOP/s of its arithmetic."""

    bandwidth: float
    flops: float

    @property
    def ridge(self) -> float:
        """FLOP/byte above which a step is compute-bound: peak / bandwidth."""
        return self.flops / self.bandwidth

    def at(self, intensity: float) -> float:
        """FLOP/s below the roof at an arithmetic intensity: min(peak, intensity x bandwidth)."""
        return min(self.flops, intensity * self.bandwidth)


class RooflinePoint(NamedTuple):
    """One step on one accelerator: arithmetic, bytes of weights and KV read, seconds.

    `flop` and `read_bytes` cover all layers for the tokens of one micro-batch or chunk, which is the work of an
    accelerator in `seconds` even if layers are spread over pipeline stages.
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


@frozen_dataclass
class Roofline:
    """The rooflines of one deployment, and the points of its prefill and decode steps.

    `paper` has the data sheet's memory bandwidth and the dense peak of `arithmetic` or, without a published one, that
    of the next wider format. `effective` has both after calibrated efficiencies:
    the bandwidth as the decode step reaches it, the peak as the prefill chunk does. A point is None without such a
    step.
    """

    arithmetic: Precision
    paper: RooflineCeiling
    effective: RooflineCeiling
    prefill: RooflinePoint | None
    decode: RooflinePoint | None


@frozen_dataclass
class KvCacheCurve:
    """Exact KV cache of one deployment by context length; arrays of one length.

    `sequence_bytes` is the whole cache of one sequence, `fullest_bytes` its share on the most loaded accelerator.
    `max_concurrency` counts the sequences of that length that the whole deployment holds. `max_context` is the model's,
    None if unknown; `tokens` is the length of the scenario's requests, one of `context` if the model supports it.
    """

    context: tuple[int, ...]
    sequence_bytes: tuple[int, ...]
    fullest_bytes: tuple[int, ...]
    max_concurrency: tuple[int, ...]
    max_context: int | None
    tokens: int


class ScalingRuleOfThumb(StrEnum):
    """Interpretations of "an overhead of 12%" in published tables of several accelerators."""

    FLAT = "flat"
    ADDED = "added"
    COMPOUNDING = "compounding"
    PER_DOUBLING = "per-doubling"


@frozen_dataclass
class ParallelismCosts:
    """What sharding costs a deployment's decode steps, under one load.

    `collectives` is the share of a decode step spent on communication, `collective_ms` the same in milliseconds per
    output token. `stage_occupancy` is the share of the time in which a pipeline stage has work: with p stages and b
    sequences in a replica min(b / p, 1), less transfers between stages. `bandwidth_share` is the used memory bandwidth
    over the data sheet's: bytes of weights and cache that a step reads over what could be read in its time. It means
    little for compute-bound steps. `overhead` is the share of launching and scheduling, `step_ms` the step per output
    token.
    """

    collectives: float
    collective_ms: float
    stage_occupancy: float
    bandwidth_share: float
    overhead: float
    step_ms: float

    @property
    def effective_share(self) -> float:
        """Share of the total memory bandwidth that is left: stage_occupancy x (1 - collectives).

        A single accelerator keeps all of it. Per-step overhead is excluded, because it occurs without sharding too.
        """
        return self.stage_occupancy * (1.0 - self.collectives)


@frozen_dataclass
class ScalingRow:
    """One replica (tp x pp = count) of this many accelerators, with the program's plan.

    `estimate` is at the load of the scenario, `single` with one request at a time; None with `problem` without a plan.
    `spread` and `single_spread` are None if it does not fit. `replicas` is a plan of as many accelerators that is
    faster with two or more replicas; None if one replica is as fast. `bandwidth` is the memory bandwidth that links
    leave at the load, in bytes/s, `bandwidth_per_s` the used part of it, `by_rule` the rules of thumb. `falls` explains
    why it is slower than fewer accelerators, if it is. Bytes are totals over all accelerators.
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


@frozen_dataclass
class AcceleratorScaling:
    """One accelerator by count. `bandwidth` is per accelerator in bytes/s, `host` the accelerators of one host."""

    accelerator: str
    bandwidth: float
    host: int
    rows: tuple[ScalingRow, ...]

    @property
    def start(self) -> ScalingRow | None:
        """The smallest count that fits, the reference for efficiency."""
        return next((row for row in self.rows if row.fits), None)

    def efficiency(self, row: ScalingRow) -> float | None:
        """Return output tokens/s per accelerator over that of the smallest count that fits."""
        start, rate = self.start, get_throughput(row.estimate)
        first = None if start is None else get_throughput(start.estimate)
        if start is None or first is None or rate is None:
            return None
        return (rate / row.count) / (first / start.count)

    @property
    def peak(self) -> ScalingRow | None:
        """The count with the highest throughput at the load; None without any."""
        answered = [row for row in self.rows if get_throughput(row.estimate) is not None]
        return max(answered, key=lambda row: get_throughput(row.estimate) or 0.0, default=None)


@frozen_dataclass
class TopologySide:
    """One side of a comparison: estimates at the load and for one request at a time, and the cost of sharding.

    `kv_room_bytes` is the total memory left for the KV cache, `bandwidth` the total memory bandwidth in bytes/s.
    `ceiling` is the output tokens/s of one request by the rule of thumb of the published table: bandwidth after a flat
    factor / bytes of the weights. The `free_*` figures are for the same deployment without communication time; None if
    the load has no such figure.
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
    def effective_bandwidth(self) -> float:
        """Bytes/s left of the total memory bandwidth at the load."""
        return self.bandwidth * self.spread.effective_share

    @property
    def single_effective_bandwidth(self) -> float:
        """Bytes/s left of it for a single request."""
        return self.bandwidth * self.single_spread.effective_share


@frozen_dataclass
class TopologyComparison:
    """Two deployments of one model with different sharding, the baseline first.

    `differences` are at the load. `sentences` summarizes the comparison, in reading order.
    """

    baseline: TopologySide
    other: TopologySide
    differences: tuple[FigureDifference, ...]
    sentences: tuple[Message, ...]


def get_throughput(estimate: Estimate | None) -> float | None:
    throughput: IntervalEstimate | None = None if estimate is None else estimate.output_tokens_per_s
    return None if throughput is None else throughput.value


class WeightLoadTime(NamedTuple):
    """Minimum loading time in seconds: over the host link, from storage, and combined.

    Reading and transfer overlap, so the slower of both decides. `seconds` is None if the link is unknown, with the
    `reason`; `storage_s` is None without a stated rate.
    """

    seconds: float | None
    link_s: float | None
    storage_s: float | None
    working: DerivationTerm
    reason: Message | None = None


class QuotedLinkRate(NamedTuple):
    """A host link rate from a source document in bytes/s, and the loading time at it.

    `claim` is the id of its statement, `dated` the month of the document.
    """

    claim: str
    dated: str | None
    low_bytes_per_s: float
    high_bytes_per_s: float
    slowest_s: float
    fastest_s: float


@frozen_dataclass
class WeightLoading:
    """The time to load weights: of the most loaded accelerator alone, and of all accelerators of one host.

    `in_host` accelerators of the deployment share a host; None if unknown. `link_bytes_per_s` is one direction of one
    accelerator's link, `storage_bytes_per_s` the rate of storage per host.
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


class RunCondition(StrEnum):
    """Conditions in which a published run can differ from the request, in the order of display."""

    ACCELERATOR = "accelerator"
    COUNT = "count"
    MODEL = "model"
    WEIGHTS = "weights"
    KV = "kv"
    SERVING_ENGINE = "serving_engine"
    LENGTHS = "lengths"
    LOAD = "load"
    PLAN = "plan"
    POOLS = "pools"
    DATE = "date"
    SERVER = "server"
    SPREAD = "spread"
    EAGER = "eager"
    PREFIX = "prefix"
    SPECULATION = "speculation"
    MEMORY_FRACTION = "memory_fraction"
    MAX_BATCH = "max_batch"
    MAX_BATCHED_TOKENS = "max_batched_tokens"


@frozen_dataclass
class ComparableRun:
    """One published figure, and its prediction by a fit without any run of its publisher's harness.

    `figure` has the name used in estimates: a rate is that of the whole deployment in output tokens. `request` has the
    conditions of the run by the names of the catalog, None if unpublished, and `assumed` are those filled by judgment;
    `accelerator` and `model` are their names. `differs` are the conditions that differ from the request. `distance` is
    0 if nothing relevant differs, and `near` is whether it is small enough for the error to be informative.
    `inside_band`: the measured value is in the interval around the prediction.
    """

    run: str
    row: str
    figure: str
    measured: float
    predicted: float
    inside_band: bool | None
    request: EstimateRequest
    accelerator: str
    model: str
    engine_version: str | None
    source: Source
    differs: tuple[RunCondition, ...]
    distance: float
    near: bool
    assumed: tuple[RunCondition, ...] = ()
    note: str | None = None

    @property
    def ratio(self) -> float:
        return self.predicted / self.measured

    @property
    def as_asked(self) -> bool:
        return not self.differs


#: Least error of each run: repeats of one configuration by two publishers differ by more.
_LEAST_BIAS = 0.05
_LEAST_RUNS = 2


def find_bias(runs: Iterable[ComparableRun], accelerator: str) -> tuple[float, float] | None:
    """Return the smallest and largest prediction ÷ measurement of near runs if they lean one way; else None.

    Only two runs or more on the accelerator itself count.
    """
    ratios = sorted(run.ratio for run in runs if run.near and run.request.accelerator == accelerator)
    if len(ratios) < _LEAST_RUNS or (ratios[0] < 1.0 + _LEAST_BIAS and ratios[-1] > 1.0 - _LEAST_BIAS):
        return None
    return ratios[0], ratios[-1]


#: Figures of an estimate and the published figures behind them.
_RESTS_ON = {
    "output_tokens_per_s": "output_tokens_per_s",
    "total_tokens_per_s": "output_tokens_per_s",
    "output_tokens_per_s_per_accelerator": "output_tokens_per_s",
    "batch_s": "output_tokens_per_s",
    "ttft_ms": "ttft_ms",
    "tpot_ms": "tpot_ms",
}


def find_published_figure(estimate: Estimate, figure: str) -> str | None:
    """Return the published figure behind a figure of an estimate; None without one.

    The time of a request is based on the larger of its components: the first token, or the others.
    """
    if not isinstance(getattr(estimate, figure, None), IntervalEstimate):
        return None
    if figure != "request_s":
        return _RESTS_ON.get(figure)
    ttft, tpot = estimate.ttft_ms, estimate.tpot_ms
    others = 0.0 if tpot is None else tpot.value * (estimate.request.workload.output_tokens - 1)
    return "ttft_ms" if ttft is not None and ttft.value >= others else "tpot_ms"
