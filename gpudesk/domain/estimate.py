"""Estimates: the request for one deployment, its figures with 80% intervals, and the plans considered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from gpudesk.domain.deployment import DisaggregationRequest, ParallelPlan, PoolRequest
from gpudesk.domain.precision import Precision
from gpudesk.domain.workload import Workload
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message, message

NOTHING_TO_EXPLAIN: Final = message("explain.does_not_fit", "Estimate not available: the model does not fit")
NOTHING_TO_START: Final = message("launch.unfit", "Commands not available: the model does not fit")


class Limiter(StrEnum):
    """What binds a step."""

    CAPACITY = "capacity"
    MEMORY_BANDWIDTH = "memory bandwidth"
    COMPUTE = "compute"
    INTERCONNECT = "interconnect"
    OVERHEAD = "overhead"


class EstimateBasis(StrEnum):
    """What an estimate rests on (calibrated: rows of this generation and serving-engine family)."""

    MEASURED = "measured"
    CALIBRATED = "calibrated"
    ESTIMATED = "estimated"
    UNCALIBRATED = "uncalibrated"


class CalibrationCoverage(NamedTuple):
    """Published rows that the constants of an estimate were fitted to.

    `together` counts those of its generation on its serving-engine family, `generation` and `family` those
    that have one of the two.
    """

    together: int
    generation: int
    family: int


@dataclass(frozen=True, slots=True)
class EstimateRequest:
    """One question. Fields that are None are chosen by the program, which names its choice.

    `count` is the number of accelerators; tp, pp, ep, dp and `attention_dp` each may be given alone.
    `date` is the age of the software (YYYY-MM). `memory_fraction` is the serving engine's setting. With
    `disaggregated` the accelerators form a prefill and a decode pool, of which each has its own plan.
    """

    accelerator: str
    model: str
    weights: Precision
    workload: Workload
    kv: Precision = Precision.FP16
    count: int | None = None
    serving_engine: str | None = None
    date: str | None = None
    tp: int | None = None
    pp: int | None = None
    ep: int | None = None
    dp: int | None = None
    attention_dp: bool | None = None
    memory_fraction: float | None = None
    max_batch: int | None = None
    max_batched_tokens: int | None = None
    disaggregated: DisaggregationRequest | None = None
    id: str | int | None = None

    def with_plan(self, plan: ParallelPlan) -> EstimateRequest:
        """Return the request on one deployment of `plan`, without pools."""
        return self.with_degrees(PoolRequest(plan.count, plan.tp, plan.pp, plan.ep, plan.dp, plan.attention_dp))

    def with_degrees(self, degrees: PoolRequest) -> EstimateRequest:
        """Return the request on one deployment, of which `degrees` are fixed and all others free."""
        return replace(
            self,
            disaggregated=None,
            count=degrees.count,
            tp=degrees.tp,
            pp=degrees.pp,
            ep=degrees.ep,
            dp=degrees.dp,
            attention_dp=degrees.attention_dp,
        )

    def with_open_plan(self, count: int | None = None) -> EstimateRequest:
        """Return the request on one deployment, its plan left open."""
        return self.with_degrees(PoolRequest(count=count))


class MemoryUse(NamedTuple):
    """Bytes on the fullest accelerator; the parts and `free_bytes` add up to `capacity_bytes`.

    Of `free_bytes` the serving engine keeps `reserved_bytes` for itself; requests can take the rest.
    """

    capacity_bytes: int
    weights_bytes: int
    kv_bytes: int
    activations_bytes: int
    runtime_bytes: int
    free_bytes: int
    reserved_bytes: int

    @property
    def spare_bytes(self) -> int:
        """What further requests can take: free after the reserve of the serving engine."""
        return self.free_bytes - self.reserved_bytes


class PoolKind(StrEnum):
    """What a pool of accelerators does in a disaggregated deployment."""

    PREFILL = "prefill"
    DECODE = "decode"


@dataclass(frozen=True, slots=True)
class AcceleratorPool:
    """One pool: its plan, and `busy`, its rate as a share of the highest that it alone would reach."""

    plan: ParallelPlan
    busy: float

    @property
    def count(self) -> int:
        return self.plan.count


@dataclass(frozen=True, slots=True)
class DisaggregatedPools:
    """The pools of a disaggregated deployment.

    `transfer_ms` is the time in which the KV cache of one prompt, `transfer_bytes` in all, gets from one pool
    to the other. `link_busy` is the share of the highest rate that the `link` between them ("scale-up",
    "pcie" or "node") allows. `binding` is what sets the rate: a pool, or the link where it is None.
    """

    prefill: AcceleratorPool
    decode: AcceleratorPool
    transfer_ms: float
    transfer_bytes: int
    link: str
    link_busy: float
    binding: PoolKind | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The answer to one `EstimateRequest`.

    Rates count the whole run from first submission to last token. `ttft_ms` and `tpot_ms` are means
    over all requests. A figure without meaning for the load is None. `concurrency`, `admitted` and
    `max_concurrency` are for the whole deployment. Where there are `pools`, `count` is that of both, and plan
    and memory are those of the decode pool. `own_model`: the dimensions of the model are the user's.
    """

    request: EstimateRequest
    fits: bool
    serving_engine: str
    plan: ParallelPlan
    count: int
    memory: MemoryUse
    max_concurrency: int
    concurrency: int | None = None
    admitted: int | None = None
    limiter: Limiter | None = None
    basis: EstimateBasis = EstimateBasis.UNCALIBRATED
    output_tokens_per_s: IntervalEstimate | None = None
    total_tokens_per_s: IntervalEstimate | None = None
    output_tokens_per_s_per_accelerator: IntervalEstimate | None = None
    ttft_ms: IntervalEstimate | None = None
    tpot_ms: IntervalEstimate | None = None
    request_s: IntervalEstimate | None = None
    batch_s: IntervalEstimate | None = None
    stable: bool | None = None
    reason: Message | None = None
    needs: int | None = None
    notes: tuple[Message, ...] = ()
    pools: DisaggregatedPools | None = None
    own_model: bool = False

    @property
    def grows(self) -> bool:
        """Whether more run than memory holds at full length, since they are given it as they grow."""
        return self.pools is None and (self.admitted or 0) > self.max_concurrency

    @property
    def queues(self) -> bool:
        """Whether fewer requests run at once than the load asks for, or more arrive than can be answered."""
        load = self.request.workload.load
        concurrency = load.concurrency or load.batch
        return self.stable is False or (
            concurrency is not None and self.admitted is not None and self.admitted < concurrency
        )


@dataclass(frozen=True, slots=True)
class ConsideredPlan:
    """One plan that was looked at, and the reasons why it was taken or not.

    `fits` is None if memory was not asked, since something else rules the plan out. Figures are None if
    the plan does not fit, does not meet the latency limits, or where the load has no such figure.
    `within_error`: it is slower than the plan taken by less than the band of plans tells apart.
    """

    plan: ParallelPlan
    fits: bool | None
    taken: bool
    reasons: tuple[Message, ...]
    output_tokens_per_s: IntervalEstimate | None = None
    ttft_ms: IntervalEstimate | None = None
    tpot_ms: IntervalEstimate | None = None
    within_error: bool = False


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """All plans that were looked at for one estimate.

    The plan taken comes first, then the others that fit, the fastest first, then those that do not fit, and
    at last what the serving engine, the heads or the hosts rule out. No plan is taken where none fits, and
    there are no options where the accelerators do not all work by one plan.
    """

    options: tuple[ConsideredPlan, ...]

    @property
    def taken(self) -> ConsideredPlan | None:
        """The plan of the estimate; None if none fits."""
        return next((option for option in self.options if option.taken), None)

    @property
    def searched(self) -> bool:
        return len(self.options) > 1


@dataclass(frozen=True, slots=True)
class LaunchSource:
    """Where options were read."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class LaunchExtra:
    """An option (`name` begins with --) or a variable of the environment that a deployment needs, and why.

    It is set on accelerators of `generations` and, if `mixers` are given, for models that have one of these kinds.
    """

    name: str
    value: str
    reason: str
    source: str
    generations: frozenset[str]
    mixers: frozenset[str] = frozenset()

    @property
    def is_option(self) -> bool:
        return self.name.startswith("--")


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """What the options of a serving engine are called in one `version`; `read` says in which one they were read.

    `server` and `benchmark` map what an option does to its name, an empty name standing for a value without
    one; `kv` maps formats of the KV cache to the engine's words. `step_limits_of` says whether what limits a
    step is given for each attention rank or for the replica, whose ranks then share it. `platforms` are the
    software platforms on which it is started so, `maintained_until` is the month (YYYY-MM) since which its makers
    add nothing to the engine.
    """

    serving_engine: str
    name: str
    version: str
    read: str
    retrieved: str
    sources: tuple[LaunchSource, ...]
    step_limits_of: Literal["rank", "replica"]
    server_command: tuple[str, ...]
    server: Mapping[str, str]
    kv: Mapping[str, str]
    benchmark_command: tuple[str, ...]
    benchmark: Mapping[str, str]
    platforms: frozenset[str]
    extras: tuple[LaunchExtra, ...] = ()
    maintained_until: str | None = None


@dataclass(frozen=True, slots=True)
class LaunchFile:
    """A file that a command reads."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """How one replica of an estimate is started, and how all of them are measured under its load.

    Commands are text for a POSIX shell; of the server there is one for each host that the replica spans, where
    these differ. `extras` are the options and variables in them that the accelerator needs, `notes` say what the
    commands leave to whoever runs them.
    """

    estimate: Estimate
    facts: LaunchOptions
    servers: tuple[str, ...]
    benchmark: str
    extras: tuple[LaunchExtra, ...] = ()
    files: tuple[LaunchFile, ...] = ()
    notes: tuple[Message, ...] = ()

    @property
    def server(self) -> str:
        """The commands of all hosts as one text, each under the number of its host where there are several."""
        if len(self.servers) == 1:
            return self.servers[0]
        count = len(self.servers)
        return "\n\n".join(f"# host {host} of {count}\n{each}" for host, each in enumerate(self.servers, start=1))


@dataclass(frozen=True, slots=True)
class LaunchSettings:
    """Settings that an estimate was made with, for one replica.

    `max_batch` (sequences) and `max_batched_tokens` are those of a step of one of `attention_ranks`.
    `memory_fraction` is the serving engine's own setting; `hosts` is how many one replica of `replica` accelerators
    spans. `unknown_domain` is how many accelerators one scale-up network joins over machines of unknown size: they
    count as one host then.
    `generation` and `platforms` are those of the accelerator, `mixers` are the kinds of attention of the model.
    """

    generation: str
    platforms: frozenset[str]
    mixers: frozenset[str]

    max_batch: int
    max_batched_tokens: int
    attention_ranks: int
    memory_fraction: float
    hosts: int
    replica: int
    unknown_domain: int | None
    max_context: int | None
    model: str
