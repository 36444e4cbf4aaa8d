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
    """The resource that limits a step."""

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
    """Published rows to which the constants of an estimate were fitted.

    `together` counts rows of its generation on its serving-engine family, `generation` and `family` rows of either.
    """

    together: int
    generation: int
    family: int


@dataclass(frozen=True, slots=True)
class EstimateRequest:
    """One request. Fields that are None are chosen by the program, which reports its choice.

    `count` is the number of accelerators; tp, pp, ep, dp and `attention_dp` can each be given alone. `date` is the date
    of the software (YYYY-MM). `memory_fraction` is the serving engine's setting. With `disaggregated` the accelerators
    form a prefill and a decode pool, each with its own plan.
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
        """Return the request on one deployment with `degrees` fixed and all others free."""
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
        """Return the request on one deployment with a free plan."""
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
        """Memory for further requests: free after the reserve of the serving engine."""
        return self.free_bytes - self.reserved_bytes


class PoolKind(StrEnum):
    """The role of a pool of accelerators in a disaggregated deployment."""

    PREFILL = "prefill"
    DECODE = "decode"


@dataclass(frozen=True, slots=True)
class AcceleratorPool:
    """One pool: its plan, and `busy`, its rate as a share of its highest rate alone."""

    plan: ParallelPlan
    busy: float

    @property
    def count(self) -> int:
        return self.plan.count


@dataclass(frozen=True, slots=True)
class DisaggregatedPools:
    """The pools of a disaggregated deployment.

    `transfer_ms` is the time to transfer the KV cache of one prompt, `transfer_bytes` in all, between the pools.
    `link_busy` is the share of the highest rate of the `link` between them ("scale-up", "pcie" or "node"). `binding` is
    the pool that limits the rate, None if the link does.
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

    Rates count the whole run from first submission to last token. `ttft_ms` and `tpot_ms` are means over all requests.
    A figure without meaning for the load is None. `concurrency`, `admitted` and `max_concurrency` are for the whole
    deployment. With `pools`, `count` is that of both, and plan and memory are those of the decode pool. `own_model`:
    the dimensions of the model are the user's.
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
        """Whether more requests run than memory holds at full length, thanks to on-demand allocation."""
        return self.pools is None and (self.admitted or 0) > self.max_concurrency

    @property
    def queues(self) -> bool:
        """Whether fewer requests run at once than the load asks for, or requests arrive faster than they are served."""
        load = self.request.workload.load
        concurrency = load.concurrency or load.batch
        return self.stable is False or (
            concurrency is not None and self.admitted is not None and self.admitted < concurrency
        )


@dataclass(frozen=True, slots=True)
class ConsideredPlan:
    """One considered plan, and the reasons for or against it.

    `fits` is None if something other than memory rules the plan out. Figures are None if the plan does not fit or
    misses the latency limits, or if the load has no such figure. `within_error`: it is slower than the chosen plan by
    less than the error of plan comparisons.
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
    """All plans considered for one estimate.

    The chosen plan comes first, then the others that fit, the fastest first, then those that do not fit, and finally
    those that the serving engine, the heads or the hosts rule out. No plan is chosen if none fits; there are no options
    if the accelerators do not share one plan.
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
    """Where the options were read."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class LaunchExtra:
    """An option (`name` begins with --) or environment variable that a deployment needs, with the reason.

    It is set on accelerators of `generations` and, if `mixers` are given, for models with one of these kinds.
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
    """The option names of a serving engine in one `version`; `read` names the source of each option.

    `server` and `benchmark` map the purpose of an option to its name, an empty name for a positional value; `kv` maps
    formats of the KV cache to the engine's words. `step_limits_of` says whether step limits are per attention rank or
    per replica, whose ranks then share them. `platforms` are the supported software platforms, `maintained_until` is
    the month (YYYY-MM) since which the engine is no longer developed.
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
    """How to start one replica of an estimate, and how to benchmark all of them under its load.

    Commands are text for a POSIX shell; the server has one per host of the replica, if these differ. `extras` are the
    options and variables that the accelerator needs, `notes` what the commands leave to the user.
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
        """The commands of all hosts as one text, each under its host number if there are several."""
        if len(self.servers) == 1:
            return self.servers[0]
        count = len(self.servers)
        return "\n\n".join(f"# host {host} of {count}\n{each}" for host, each in enumerate(self.servers, start=1))


@dataclass(frozen=True, slots=True)
class LaunchSettings:
    """The settings of an estimate, for one replica.

    `max_batch` (sequences) and `max_batched_tokens` are per step of one of `attention_ranks`. `memory_fraction` is the
    serving engine's own setting; `hosts` is the number of hosts of one replica of `replica` accelerators.
    `unknown_domain` is the number of accelerators that one scale-up network joins over machines of unknown size: they
    count as one host. `generation` and `platforms` are those of the accelerator, `mixers` are the kinds of attention of
    the model.
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
