"""Estimates: one question about one deployment, and the answer to it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from gpudesk.domain.deployments import Disaggregation, ParallelPlan
from gpudesk.domain.messages import Message
from gpudesk.domain.precision import Precision
from gpudesk.domain.workloads import Workload


class Limiter(StrEnum):
    """What binds a step."""

    CAPACITY = "capacity"
    MEMORY_BANDWIDTH = "memory bandwidth"
    COMPUTE = "compute"
    INTERCONNECT = "interconnect"
    OVERHEAD = "overhead"


class Basis(StrEnum):
    """What an estimate rests on (calibrated: rows of this generation and serving-engine family)."""

    MEASURED = "measured"
    CALIBRATED = "calibrated"
    ESTIMATED = "estimated"
    UNCALIBRATED = "uncalibrated"


class Banded(NamedTuple):
    """A median estimate and the interval that holds the measured value four times in five."""

    value: float
    low: float
    high: float


class RowsBehind(NamedTuple):
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
    disaggregated: Disaggregation | None = None
    id: str | int | None = None


class MemoryUse(NamedTuple):
    """Bytes on the fullest accelerator; the parts and `free_bytes` add up to `capacity_bytes`."""

    capacity_bytes: int
    weights_bytes: int
    kv_bytes: int
    activations_bytes: int
    runtime_bytes: int
    free_bytes: int


class PoolKind(StrEnum):
    """What a pool of accelerators does in a disaggregated deployment."""

    PREFILL = "prefill"
    DECODE = "decode"


@dataclass(frozen=True, slots=True)
class Pool:
    """One pool: its plan, and `busy`, its rate as a share of the highest that it alone would reach."""

    plan: ParallelPlan
    busy: float

    @property
    def count(self) -> int:
        """Accelerators of the pool."""
        return self.plan.count


@dataclass(frozen=True, slots=True)
class Pools:
    """The pools of a disaggregated deployment.

    `transfer_ms` is the time in which the KV cache of one prompt, `transfer_bytes` in all, gets from one pool
    to the other. `link_busy` is the share of the highest rate that the `link` between them ("scale-up",
    "pcie" or "node") allows. `binding` is what sets the rate: a pool, or the link where it is None.
    """

    prefill: Pool
    decode: Pool
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
    and memory are those of the decode pool.
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
    basis: Basis = Basis.UNCALIBRATED
    output_tokens_per_s: Banded | None = None
    total_tokens_per_s: Banded | None = None
    output_tokens_per_s_per_accelerator: Banded | None = None
    ttft_ms: Banded | None = None
    tpot_ms: Banded | None = None
    request_s: Banded | None = None
    batch_s: Banded | None = None
    stable: bool | None = None
    reason: Message | None = None
    needs: int | None = None
    notes: tuple[Message, ...] = ()
    pools: Pools | None = None

    @property
    def grows(self) -> bool:
        """Whether more run than memory holds at full length, since they are given it as they grow."""
        return self.pools is None and (self.admitted or 0) > self.max_concurrency
