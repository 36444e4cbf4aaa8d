"""Memory of one accelerator, and deployments without lengths and load: engine, kernel path, plan and memory.

`gpudesk.estimation.search_space` builds them; `gpudesk.engine.rates` computes their step coefficients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.deployment import ParallelPlan
from gpudesk.domain.estimate import MemoryUse
from gpudesk.domain.model import DenseFfn, Ffn, Model, MoeFfn
from gpudesk.domain.precision import Precision
from gpudesk.domain.serving_engine import ServingEngine
from gpudesk.domain.sizing import CapacityReadingId
from gpudesk.engine.engine_support import KernelPath
from gpudesk.engine.kv_cache import AS_FILLED, CacheReservation, KvCacheProfile, compute_cache_profile
from gpudesk.engine.sharding import NO_PADDING, ExpertPadding, ModelShards, shard_model
from gpudesk.text.messages import Message
from gpudesk.text.units import GB, GIB

#: Bytes of an activation element.
ACTIVATION_BYTES = 2
#: Number of sequences held if they take no memory.
UNLIMITED_SEQUENCES = 2**31
#: Vectors of hidden size that a layer holds at the peak of its feed-forward block: residual, normalized input, output.
#: With the three of the block that matches vLLM's memory profile of Llama 3.1 8B: 110.6 kB per token.
HIDDEN_VECTORS = 3
#: Vectors as wide as a dense feed-forward block that it holds at once: gate, up, and their product.
FFN_VECTORS = 3


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """Memory that a serving engine reserves: its memory fraction and base, its own runtime, its step limits.

    `max_batch` is in sequences and `max_batched_tokens` in tokens per step, both of one attention rank.
    `usual_fraction` is the engine's default, used if the user set nothing. `collective_bytes` are added to the runtime
    of a replica of more than one accelerator.
    """

    memory_fraction: float
    memory_fraction_of: Literal["total", "free", "static"]
    runtime_bytes: int
    max_batch: int
    max_batched_tokens: int
    usual_fraction: float | None = None
    collective_bytes: int = 0
    logit_bytes: int = 4
    holding: CacheReservation = AS_FILLED
    padding: ExpertPadding = NO_PADDING


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """Memory breakdown of the fullest accelerator before any sequence is admitted.

    `pool_bytes` is the most that the KV cache can take (0 or less: the weights alone do not fit), `usual_pool_bytes`
    what it takes with the engine's default.
    """

    capacity_bytes: int
    weights_bytes: int
    activations_bytes: int
    runtime_bytes: int
    pool_bytes: int
    usual_pool_bytes: int
    cache: KvCacheProfile
    shards: ModelShards
    attention_ranks: int
    replicas: int

    def max_sequences(self, tokens: int) -> int:
        """Sequences of `tokens` that the whole deployment can hold at once; 0 if none fits."""
        return self.count_sequences(self.cache.sequence_bytes(tokens))

    def count_sequences(self, sequence_bytes: int) -> int:
        """Sequences of this many bytes per rank that the whole deployment can hold at once."""
        if self.pool_bytes <= 0:
            return 0
        if sequence_bytes == 0:
            return UNLIMITED_SEQUENCES
        return self.pool_bytes // sequence_bytes * self.attention_ranks * self.replicas

    def max_sequences_of(self, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return `max_sequences` of many lengths at once."""
        each = self.cache.sequences_bytes(tokens)
        if self.pool_bytes <= 0:
            return np.zeros_like(each)
        sequences = self.pool_bytes // np.maximum(each, 1) * (self.attention_ranks * self.replicas)
        return np.where(each == 0, UNLIMITED_SEQUENCES, sequences)

    def admitted_sequences_of(self, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return `admitted_sequences` of many lengths at once."""
        each = self.cache.sequences_bytes(tokens)
        usual = max(self.usual_pool_bytes, 0) // np.maximum(each, 1)
        sequences = self.max_sequences_of(tokens)
        by_usual = np.maximum(usual, 1) * (self.attention_ranks * self.replicas)
        return np.where(each == 0, sequences, np.minimum(sequences, by_usual))

    def admitted_sequences(self, tokens: int) -> int:
        """Sequences that the engine admits with its default fraction, raised if the default admits none.

        It is raised for one sequence per rank only, so that more memory never admits fewer.
        """
        return self.count_admitted(self.cache.sequence_bytes(tokens))

    def count_admitted(self, sequence_bytes: int) -> int:
        """Return `admitted_sequences` for sequences of this many bytes per rank."""
        return self.limit_admitted(self.count_sequences(sequence_bytes), sequence_bytes)

    def limit_admitted(self, sequences: int, sequence_bytes: int) -> int:
        """Return `count_admitted` from a result of `count_sequences`."""
        if sequence_bytes == 0:
            return sequences
        usual = max(1, self.usual_pool_bytes // sequence_bytes)
        return min(sequences, usual * self.attention_ranks * self.replicas)

    def headroom_bytes(self, tokens: int) -> int:
        """Bytes left (negative: missing) with one sequence of `tokens` on every attention rank."""
        return self.pool_bytes - self.cache.sequence_bytes(tokens)

    def compute_use(self, sequences: int, sequence_bytes: int) -> MemoryUse:
        """Return the breakdown with `sequences` of `sequence_bytes` each in the whole deployment."""
        kv = self.compute_kv_bytes(sequences, sequence_bytes)
        return MemoryUse(
            capacity_bytes=self.capacity_bytes,
            weights_bytes=self.weights_bytes,
            kv_bytes=kv,
            activations_bytes=self.activations_bytes,
            runtime_bytes=self.runtime_bytes,
            free_bytes=self.empty_bytes - kv,
            reserved_bytes=self.empty_bytes - self.pool_bytes,
        )

    def compute_kv_bytes(self, sequences: int, sequence_bytes: int) -> int:
        """Return the bytes on the fullest rank for `sequences` of `sequence_bytes` each in the whole deployment."""
        return -(-sequences // (self.attention_ranks * self.replicas)) * sequence_bytes

    @property
    def empty_bytes(self) -> int:
        """Free bytes without any sequence."""
        return self.capacity_bytes - self.weights_bytes - self.activations_bytes - self.runtime_bytes


def compute_activation_bytes(model: Model, plan: ParallelPlan, settings: MemorySettings) -> int:
    """Peak activations: the larger of a step and of sampling, which follow one another."""
    return max(compute_step_bytes(model, plan, settings), compute_sampling_bytes(model, settings))


def compute_step_bytes(model: Model, plan: ParallelPlan, settings: MemorySettings) -> int:
    """Activations of a step of `max_batched_tokens`.

    Under attention-DP every rank has its own tokens, so the ranks do not share them.
    """
    elements = _count_step_elements(model, 1 if plan.attention_dp else plan.tp)
    return settings.max_batched_tokens * elements * ACTIVATION_BYTES


@lru_cache(maxsize=1_000)
def _count_step_elements(model: Model, ranks: int) -> int:
    """Elements that one token of a step holds at once."""
    widest = max((_ffn_elements(group.ffn, model.hidden_size, ranks) for group in model.layers), default=0)
    # The inputs of all layers are computed before the first, and streams are predicted before they are corrected.
    inputs = model.layer_count * model.layer_input_size
    streams = 2 * (model.altup_streams - 1) * model.hidden_size
    return HIDDEN_VECTORS * model.hidden_size + widest + inputs + streams


def compute_sampling_bytes(model: Model, settings: MemorySettings) -> int:
    """Bytes to sample the tokens of `max_batch` sequences, besides the output of the last layer."""
    tokens = settings.max_batched_tokens
    sampled = min(settings.max_batch, tokens)
    return tokens * model.hidden_size * ACTIVATION_BYTES + sampled * model.vocab_size * settings.logit_bytes


def _ffn_elements(ffn: Ffn | None, hidden_size: int, ranks: int) -> int:
    """Elements that one token holds at once in the feed-forward block of a rank."""
    if isinstance(ffn, DenseFfn):
        return FFN_VECTORS * -(-ffn.intermediate_size // ranks)
    if not isinstance(ffn, MoeFfn):
        return 0
    # Tokens are copied for each of their experts. A copy needs room for gate and up, reused by its output, and for
    # their product.
    width = -(-ffn.intermediate_size // ranks)
    copies = ffn.experts_per_token * (max(2 * width, ffn.latent_size or hidden_size) + width)
    return copies + FFN_VECTORS * -(-ffn.shared_intermediate_size // ranks)


def compute_memory_budget(
    accelerator: Accelerator,
    model: Model,
    weights: Precision,
    kv: Precision,
    plan: ParallelPlan,
    settings: MemorySettings,
) -> MemoryBudget:
    """Divide the memory of the fullest accelerator of `plan`; `weights` is a concrete format.

    Raises ValueError if the model's dimensions are not known.
    """
    shards = shard_model(model, weights, plan, settings.padding)
    cache = compute_cache_profile(model, kv, plan, settings.holding)
    activations = compute_activation_bytes(model, plan, settings)
    runtime = settings.runtime_bytes + (settings.collective_bytes if plan.tp * plan.pp > 1 else 0)
    capacity = accelerator.memory_bytes
    occupied_bytes = shards.resident_bytes + activations + runtime

    def pool(fraction: float) -> int:
        if settings.memory_fraction_of == "total":
            return int(capacity * fraction) - occupied_bytes
        if settings.memory_fraction_of == "free":
            return int((capacity - occupied_bytes) * fraction)
        return min(int((capacity - runtime) * fraction) - shards.resident_bytes, capacity - occupied_bytes)

    return MemoryBudget(
        capacity_bytes=capacity,
        weights_bytes=shards.resident_bytes,
        activations_bytes=activations,
        runtime_bytes=runtime,
        pool_bytes=pool(settings.memory_fraction),
        usual_pool_bytes=pool(settings.usual_fraction or settings.memory_fraction),
        cache=cache,
        shards=shards,
        attention_ranks=plan.tp if plan.attention_dp else 1,
        replicas=plan.dp,
    )


#: Deployment sizes to which readings with a reserve round up.
OFFERED_COUNTS: Final = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class CapacityReading:
    """How a memory label is read.

    `unit_bytes` is one unit of the label, `usable` the share of it available to weights. With `rounds_up` a count is
    one of `OFFERED_COUNTS`, or the next power of two beyond them.
    """

    id: CapacityReadingId
    unit_bytes: int
    usable: float
    rounds_up: bool

    def usable_bytes(self, label: float) -> float:
        """Return the bytes available to weights on one accelerator with this memory label."""
        return label * self.unit_bytes * self.usable

    def count(self, weights_bytes: float, label: float) -> int:
        """Return how many accelerators hold the weights alone: ceil(weights / usable), then rounded.

        Raises ValueError for a label or weights that are not above 0.
        """
        if label <= 0 or weights_bytes <= 0:
            raise ValueError(f"label {label} and weights {weights_bytes} must be above 0")
        needed = math.ceil(weights_bytes / self.usable_bytes(label))
        return round_up_to_power_of_two(needed) if self.rounds_up else needed


def round_up_to_power_of_two(count: int) -> int:
    """Return the smallest power of two that is at least `count`; raises ValueError below 1."""
    if count < 1:
        raise ValueError(f"{count} is below 1")
    return 1 << (count - 1).bit_length()


#: A tenth kept free, as in the published counts with a reserve.
_RESERVED: Final = 0.9

CAPACITY_READINGS: Final = {
    each.id: each
    for each in (
        CapacityReading(CapacityReadingId.DECIMAL, GB, 1.0, rounds_up=False),
        CapacityReading(CapacityReadingId.BINARY, GIB, 1.0, rounds_up=False),
        CapacityReading(CapacityReadingId.DECIMAL_RESERVED, GB, _RESERVED, rounds_up=True),
        CapacityReading(CapacityReadingId.BINARY_RESERVED, GIB, _RESERVED, rounds_up=True),
    )
}


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """A parallel plan with its memory; `settings` are the engine settings used to compute it."""

    plan: ParallelPlan
    budget: MemoryBudget
    settings: MemorySettings

    def with_replicas(self, plan: ParallelPlan) -> MemoryPlan:
        """Return the memory of a plan that differs only in its number of replicas."""
        return MemoryPlan(plan, replace(self.budget, replicas=plan.dp), self.settings)

    @property
    def max_running(self) -> int:
        """Sequences that the serving engine lets one replica run at once, regardless of memory."""
        return self.settings.max_batch * self.budget.attention_ranks

    def compute_capacity(self, admitted: int) -> float:
        """Return how many of the sequences that the engine admits to the deployment one replica runs at once."""
        return float(min(admitted // self.plan.dp, self.max_running))

    def compute_capacity_for(self, tokens: int) -> float:
        """Return `compute_capacity` for sequences of `tokens`."""
        return self.compute_capacity(self.budget.admitted_sequences(tokens))


@dataclass(frozen=True, slots=True)
class ServingConfiguration:
    """What all plans of a request share, independent of lengths and load.

    `months_old` and `months_newer` count from the newest calibrated month backward and forward, 0 or more.
    `mixed_steps`, `kv_on_demand` and `present_runtime` are switches of the serving engine, see `EngineSetting`.
    `limit_tokens` is the most tokens in a step of an attention rank under a load with p99 limits, see
    `SchedulingConstants`.
    """

    accelerator: Accelerator
    model: Model
    engine: ServingEngine
    kernel: KernelPath
    weights: Precision
    kv: Precision
    settings: MemorySettings
    mixed_steps: bool = True
    kv_on_demand: bool = True
    present_runtime: bool = True
    eager: bool = False
    behind_server: bool = True
    acceptance_length: float = 1.0
    months_old: float = 0.0
    months_newer: float = 0.0
    limit_tokens: float = 0.0
    notes: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolvedDeployment:
    """A configuration under one plan; `position` is the index of its step coefficients in their table."""

    configuration: ServingConfiguration
    memory: MemoryPlan
    position: int = 0

    @property
    def plan(self) -> ParallelPlan:
        return self.memory.plan

    @property
    def budget(self) -> MemoryBudget:
        return self.memory.budget
