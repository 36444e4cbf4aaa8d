"""Memory: the one authority for what fits, and for how many sequences the KV cache admits.

All figures are bytes on the fullest accelerator, exact integers. Two readings of a serving engine's
memory fraction exist: of the whole memory (weights, activations and cache stay below fraction x total), or
of what is free once the weights are loaded (the cache takes fraction x the rest).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import MemoryUse
from gpudesk.domain.models import DenseFfn, Model, MoeFfn
from gpudesk.domain.precision import Precision
from gpudesk.engine.kv import CacheProfile, cache_profile
from gpudesk.engine.sharding import Shards, shard

#: Bytes of an activation; logits are sampled in fp32.
ACTIVATION_BYTES = 2
LOGIT_BYTES = 4
#: How many sequences are held that take no memory.
WITHOUT_END = 2**31
#: Vectors of hidden size that a layer holds at once: residual, normalised input, queries, keys with
#: values, attention output, block output.
HIDDEN_VECTORS = 6
#: Vectors as wide as the feed-forward block that it holds at once: gate, up, and their product.
FFN_VECTORS = 3


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """What a serving engine sets aside: its memory fraction and of what, its own runtime, its step limits.

    `max_batch` is in sequences and `max_batched_tokens` in tokens a step, both of one attention rank.
    `usual_fraction` is what the serving engine takes unasked, where the user asked for nothing.
    """

    memory_fraction: float
    memory_fraction_of: Literal["total", "free"]
    runtime_bytes: int
    max_batch: int
    max_batched_tokens: int
    usual_fraction: float | None = None


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """Where the memory of the fullest accelerator goes before any sequence is admitted.

    `pool_bytes` is what the KV cache may take at the most (0 or less: the weights alone do not fit),
    `usual_pool_bytes` what it takes by the usual setting of the serving engine.
    """

    capacity_bytes: int
    weights_bytes: int
    activations_bytes: int
    runtime_bytes: int
    pool_bytes: int
    usual_pool_bytes: int
    cache: CacheProfile
    shards: Shards
    attention_ranks: int
    replicas: int

    def max_sequences(self, tokens: int) -> int:
        """Sequences of `tokens` that the whole deployment can hold at once; 0 where none fits."""
        return self.held(self.cache.sequence_bytes(tokens))

    def held(self, sequence_bytes: int) -> int:
        """Sequences of so many bytes on a rank that the whole deployment can hold at once."""
        if self.pool_bytes <= 0:
            return 0
        if sequence_bytes == 0:
            return WITHOUT_END
        return self.pool_bytes // sequence_bytes * self.attention_ranks * self.replicas

    def max_sequences_of(self, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return `max_sequences` of many lengths at once."""
        each = self.cache.sequences_bytes(tokens)
        if self.pool_bytes <= 0:
            return np.zeros_like(each)
        held = self.pool_bytes // np.maximum(each, 1) * (self.attention_ranks * self.replicas)
        return np.where(each == 0, WITHOUT_END, held)

    def admitted_sequences_of(self, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return `admitted_sequences` of many lengths at once."""
        each = self.cache.sequences_bytes(tokens)
        usual = max(self.usual_pool_bytes, 0) // np.maximum(each, 1)
        held = self.max_sequences_of(tokens)
        by_usual = np.maximum(usual, 1) * (self.attention_ranks * self.replicas)
        return np.where(each == 0, held, np.minimum(held, by_usual))

    def admitted_sequences(self, tokens: int) -> int:
        """Sequences that the serving engine admits as it is usually set, or raised where that admits none.

        It is raised for one sequence on every rank only, so that more memory never admits fewer.
        """
        return self.admitted(self.cache.sequence_bytes(tokens))

    def admitted(self, sequence_bytes: int) -> int:
        """Return `admitted_sequences` of so many bytes on a rank."""
        held = self.held(sequence_bytes)
        if sequence_bytes == 0:
            return held
        usual = max(1, self.usual_pool_bytes // sequence_bytes)
        return min(held, usual * self.attention_ranks * self.replicas)

    def headroom_bytes(self, tokens: int) -> int:
        """Bytes left (negative: missing) when one sequence of `tokens` runs on every attention rank."""
        return self.pool_bytes - self.cache.sequence_bytes(tokens)

    def use(self, sequences: int, sequence_bytes: int) -> MemoryUse:
        """Return the breakdown with `sequences` of `sequence_bytes` each in the whole deployment."""
        kv = -(-sequences // (self.attention_ranks * self.replicas)) * sequence_bytes
        taken = self.weights_bytes + self.activations_bytes + self.runtime_bytes + kv
        return MemoryUse(
            capacity_bytes=self.capacity_bytes,
            weights_bytes=self.weights_bytes,
            kv_bytes=kv,
            activations_bytes=self.activations_bytes,
            runtime_bytes=self.runtime_bytes,
            free_bytes=self.capacity_bytes - taken,
        )


def activation_bytes(model: Model, plan: ParallelPlan, settings: MemorySettings) -> int:
    """Peak activations of one step of `max_batched_tokens`, and the logits of `max_batch` sequences.

    Under attention-DP every rank brings its own tokens, so that the ranks share no work on them.
    """
    tokens = settings.max_batched_tokens
    ranks = 1 if plan.attention_dp else plan.tp
    widest = 0
    for group in model.layers:
        if isinstance(group.ffn, DenseFfn):
            width = -(-group.ffn.intermediate_size // ranks)
        elif isinstance(group.ffn, MoeFfn):
            # Routed tokens are copied for each of their experts; shards divide the copies or their width.
            routed = group.ffn.experts_per_token * group.ffn.intermediate_size
            width = -(-(routed + group.ffn.shared_intermediate_size) // ranks)
        else:
            continue
        widest = max(widest, width)
    vectors = HIDDEN_VECTORS * model.hidden_size + FFN_VECTORS * widest
    sampled = min(settings.max_batch, tokens)
    return tokens * vectors * ACTIVATION_BYTES + sampled * model.vocab_size * LOGIT_BYTES


def memory_budget(
    accelerator: Accelerator,
    model: Model,
    weights: Precision,
    kv: Precision,
    plan: ParallelPlan,
    settings: MemorySettings,
) -> MemoryBudget:
    """Divide the memory of the fullest accelerator of `plan`; `weights` is a concrete format.

    Raises ValueError where the model's dimensions are not known.
    """
    shards = shard(model, weights, plan)
    cache = cache_profile(model, kv, plan)
    activations = activation_bytes(model, plan, settings)
    capacity = accelerator.memory_bytes
    taken = shards.resident_bytes + activations + settings.runtime_bytes

    def pool(fraction: float) -> int:
        if settings.memory_fraction_of == "total":
            return int(capacity * fraction) - taken
        return int((capacity - taken) * fraction)

    return MemoryBudget(
        capacity_bytes=capacity,
        weights_bytes=shards.resident_bytes,
        activations_bytes=activations,
        runtime_bytes=settings.runtime_bytes,
        pool_bytes=pool(settings.memory_fraction),
        usual_pool_bytes=pool(settings.usual_fraction or settings.memory_fraction),
        cache=cache,
        shards=shards,
        attention_ranks=plan.tp if plan.attention_dp else 1,
        replicas=plan.dp,
    )
