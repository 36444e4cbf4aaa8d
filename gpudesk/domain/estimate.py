"""Estimates: the request for one deployment with its workload and plan, its figures, and the plans considered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from gpudesk.domain.precision import Precision
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, Message, Term, input_error, join_degrees, message
from gpudesk.text.translation import LabeledEnum


@frozen_dataclass
class ParallelPlan:
    """Tensor, pipeline, expert and data parallel degrees of a deployment.

    `dp` counts independent replicas. `ep` spreads the experts over that many accelerators of the tp x dp group. With
    `attention_dp` attention runs data-parallel over the tp group while the experts stay sharded over it.
    """

    tp: int = 1
    pp: int = 1
    ep: int = 1
    dp: int = 1
    attention_dp: bool = False

    def __post_init__(self) -> None:
        """Check that degrees are at least one and that the expert degree divides its group."""
        if self.tp < 1 or self.pp < 1 or self.ep < 1 or self.dp < 1:
            name = next(name for name in ("tp", "pp", "ep", "dp") if getattr(self, name) < 1)
            value = getattr(self, name)
            raise input_error("plan.degree", "{name} is {value}; it must be at least 1", name, name=name, value=value)
        if (self.tp * self.dp) % self.ep:
            raise InputError(describe_wrong_ep(self.ep, self.tp, self.dp), "ep")

    @property
    def count(self) -> int:
        return self.tp * self.pp * self.dp

    @property
    def replica(self) -> int:
        return self.tp * self.pp

    @property
    def replica_shape(self) -> tuple[int, int, int, bool]:
        """All but the number of replicas: plans that share it need the same memory on each accelerator."""
        return self.tp, self.pp, self.ep, self.attention_dp


@frozen_dataclass
class PoolRequest:
    """What the user fixed for one pool of accelerators; None is chosen by the program."""

    count: int | None = None
    tp: int | None = None
    pp: int | None = None
    ep: int | None = None
    dp: int | None = None
    attention_dp: bool | None = None


@frozen_dataclass
class DisaggregationRequest:
    """A request for prefill and decode on different accelerators.

    The prefill pool computes prompts and transfers their KV cache to the decode pool.
    """

    prefill: PoolRequest = PoolRequest()
    decode: PoolRequest = PoolRequest()


_ATTENTION_DP: Final = Term("attention_dp", "attention DP")


def describe_degrees(plan: ParallelPlan) -> tuple[str, ...]:
    """Return the degrees of a plan as a message.

    Degrees of one are left out, unless all are one.
    """
    product = (("TP", plan.tp), ("PP", plan.pp), ("DP", plan.dp))
    degrees = " × ".join(f"{name} {degree}" for name, degree in product if degree > 1) or "TP 1"
    experts = [f"EP {plan.ep}"] if plan.ep > 1 else []
    return (degrees, *experts, *([_ATTENTION_DP] if plan.attention_dp else []))


def format_plan(plan: ParallelPlan) -> str:
    """Return the name of a parallel plan, `TP 4 × DP 2`, in the current language."""
    return join_degrees(describe_degrees(plan))


def count_parallelism_kinds(plan: ParallelPlan) -> int:
    """Count the kinds of parallelism in a plan: fewer are simpler to set up."""
    return sum((plan.tp > 1, plan.pp > 1, plan.ep > 1, plan.dp > 1, plan.attention_dp))


def describe_wrong_ep(ep: int, tp: int, dp: int) -> Message:
    return message("plan.ep", "EP {ep} does not divide TP {tp} × DP {dp}; choose an EP that does", ep=ep, tp=tp, dp=dp)


class LoadKind(StrEnum):
    """How requests arrive."""

    BATCH = "batch"
    CONCURRENCY = "concurrency"
    SATURATE = "saturate"
    REQUEST_RATE = "request_rate"
    LIMITS = "limits"


@frozen_dataclass
class Load:
    """One of: a static batch, a closed loop, all queued at once, an open loop, or latency limits.

    `batch`: this many requests start together. `concurrency`: closed loop, with `requests` a finite run, else steady
    state. `saturate`: `requests` are queued at once. `request_rate`: requests/s of an open loop. `limits`: the highest
    throughput within `ttft_ms` and `tpot_ms` (p99 or mean).
    """

    kind: LoadKind
    batch: int | None = None
    concurrency: int | None = None
    requests: int | None = None
    request_rate: float | None = None
    ttft_ms: float | None = None
    tpot_ms: float | None = None
    limit: Literal["p99", "mean"] = "p99"

    def list_stated_fields(self) -> dict[str, float]:
        """Return the numbers that are stated, by field."""
        names = ("batch", "concurrency", "requests", "request_rate", "ttft_ms", "tpot_ms")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@frozen_dataclass
class Workload:
    """Requests of `input_tokens` and `output_tokens` under a load.

    `varied` lengths spread around these means as in real traffic; otherwise all requests are equal, as in a static
    batch (`uneven`). `spread` is the excess of the longest varied output over the mean, relative to real traffic.
    `prefix_hit_rate` is the share of input tokens found in the prefix cache. `acceptance_length` is the mean number of
    tokens per step of speculative decoding.
    """

    input_tokens: int
    output_tokens: int
    load: Load
    varied: bool = True
    spread: float = 1.0
    server: bool | None = None
    prefix_hit_rate: float = 0.0
    acceptance_length: float = 1.0
    eager: bool = False

    @property
    def request_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def behind_server(self) -> bool:
        """Whether requests come through the HTTP server; by default that follows from the load."""
        if self.server is not None:
            return self.server
        return self.load.kind in (LoadKind.CONCURRENCY, LoadKind.REQUEST_RATE, LoadKind.LIMITS)

    @property
    def uneven(self) -> bool:
        """Whether requests differ in length. Those of a static batch do not: it stays full until it ends."""
        return self.varied and self.load.kind is not LoadKind.BATCH


NOTHING_TO_EXPLAIN: Final = message("explain.does_not_fit", "Estimate not available: the model does not fit")
NOTHING_TO_START: Final = message("launch.unfit", "Commands not available: the model does not fit")


class Limiter(LabeledEnum):
    """The resource that limits a step."""

    CAPACITY = "capacity", "memory capacity"
    MEMORY_BANDWIDTH = "memory bandwidth", "memory bandwidth"
    COMPUTE = "compute", "compute"
    INTERCONNECT = "interconnect", "interconnect"
    OVERHEAD = "overhead", "overhead"


#: Refusals of a request due to a missing fact rather than to the accelerator.
MISSING_FACTS: Final = frozenset({"estimate.no_peak", "diffusion.no_peak", "model.no_dimensions"})


class EstimateBasis(LabeledEnum):
    """What an estimate rests on (calibrated: rows of this generation and serving-engine family)."""

    CALIBRATED = "calibrated", "calibrated"
    ESTIMATED = "estimated", "estimated"
    UNCALIBRATED = "uncalibrated", "uncalibrated"


class CalibrationCoverage(NamedTuple):
    """Published rows to which the constants of an estimate were fitted.

    `together` counts rows of its generation on its serving-engine family, `generation` and `family` rows of either.
    """

    together: int
    generation: int
    family: int


@frozen_dataclass
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


def to_calendar_months(date: str) -> int:
    """Months from year 0 to an ISO date of at least a month."""
    return int(date[:4]) * 12 + int(date[5:7]) - 1


class MemoryUse(NamedTuple):
    """Bytes on the most loaded accelerator; the parts and `free_bytes` add up to `capacity_bytes`.

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


@frozen_dataclass
class AcceleratorPool:
    """One pool: its plan, and `busy`, its rate as a share of its highest rate alone."""

    plan: ParallelPlan
    busy: float

    @property
    def count(self) -> int:
        return self.plan.count


@frozen_dataclass
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


@frozen_dataclass
class Estimate:
    """The answer to one `EstimateRequest`.

    Rates count the whole run from first submission to last token. `ttft_ms` and `tpot_ms` are means over all requests.
    A figure without meaning for the load is None. `concurrency`, `admitted` and `max_concurrency` are for the whole
    deployment. With `pools`, `count` is that of both, and plan and memory are those of the decode pool. `user_model`:
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
    user_model: bool = False

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


@frozen_dataclass
class ConsideredPlan:
    """One considered plan, and the reasons for or against it.

    `fits` is None if something other than memory rules the plan out. Figures are None if the plan does not fit or
    misses the latency limits, or if the load has no such figure. `within_error`: it is slower than the chosen plan by
    less than the error of plan comparisons.
    """

    plan: ParallelPlan
    fits: bool | None
    is_chosen: bool
    reasons: tuple[Message, ...]
    output_tokens_per_s: IntervalEstimate | None = None
    ttft_ms: IntervalEstimate | None = None
    tpot_ms: IntervalEstimate | None = None
    within_error: bool = False


@frozen_dataclass
class PlanChoice:
    """All plans considered for one estimate.

    The chosen plan comes first, then the others that fit, the fastest first, then those that do not fit, and finally
    those that the serving engine, the heads or the hosts rule out. No plan is chosen if none fits; there are no options
    if the accelerators do not share one plan.
    """

    options: tuple[ConsideredPlan, ...]

    @property
    def chosen(self) -> ConsideredPlan | None:
        """The plan of the estimate; None if none fits."""
        return next((option for option in self.options if option.is_chosen), None)

    @property
    def searched(self) -> bool:
        return len(self.options) > 1


@frozen_dataclass
class LaunchSource:
    """Where the options were read."""

    title: str
    url: str


@frozen_dataclass
class LaunchExtra:
    """An option (`name` begins with --) or environment variable that a deployment needs, with the reason.

    It is set on accelerators of `generations` and, if `mixers` are given, for models with one of these kinds. With
    `head_dims` it is set only for models of full attention without sinks, whose heads all have one of these sizes.
    """

    name: str
    value: str
    reason: str
    source: str
    generations: frozenset[str]
    mixers: frozenset[str] = frozenset()
    head_dims: frozenset[int] = frozenset()

    @property
    def is_option(self) -> bool:
        return self.name.startswith("--")


@frozen_dataclass
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


@frozen_dataclass
class LaunchFile:
    """A file that a command reads."""

    name: str
    text: str


@frozen_dataclass
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


@frozen_dataclass
class LaunchSettings:
    """The settings of an estimate, for one replica.

    `max_batch` (sequences) and `max_batched_tokens` are per step of one of `attention_ranks`. `memory_fraction` is the
    serving engine's own setting; `hosts` is the number of hosts of one replica of `replica` accelerators.
    `unknown_domain` is the number of accelerators that one scale-up network joins over machines of unknown size: they
    count as one host. `generation` and `platforms` are those of the accelerator, `mixers` are the kinds of attention of
    the model, and `head_dims` its head sizes, empty unless all of its attention is full and without sinks.
    """

    generation: str
    platforms: frozenset[str]
    mixers: frozenset[str]
    head_dims: frozenset[int]

    max_batch: int
    max_batched_tokens: int
    attention_ranks: int
    memory_fraction: float
    hosts: int
    replica: int
    unknown_domain: int | None
    max_context: int | None
    model: str
