"""Properties of memory that hold for every model, part and plan."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.engine.memory import CacheReservation, MemorySettings, compute_cache_profile, compute_memory_budget
from gpudesk.engine.sharding import shard_model
from gpudesk.text.units import GIB
from tests.unit.engine.strategies import PLANS, WEIGHTS, holdings, models, parts, settings

PLAN = st.sampled_from(PLANS)
WEIGHT = st.sampled_from(WEIGHTS)
TOKENS = st.one_of(st.integers(0, 5000), st.integers(0, 1_000_000))
KV = st.sampled_from([Precision.FP16, Precision.FP8, Precision.NVFP4, Precision.MXFP4])


@given(parts(), models(), WEIGHT, KV, PLAN, settings(), TOKENS, st.integers(1, 4000))
def test_the_parts_of_memory_add_up(
    part: Accelerator,
    model: Model,
    weights: Precision,
    kv: Precision,
    plan: ParallelPlan,
    settings: MemorySettings,
    tokens: int,
    sequences: int,
) -> None:
    budget = compute_memory_budget(part, model, weights, kv, plan, settings)
    each = budget.cache.sequence_bytes(tokens)
    use = budget.compute_use(sequences, each)
    parts_of_it = use.weights_bytes + use.kv_bytes + use.activations_bytes + use.runtime_bytes
    assert parts_of_it + use.free_bytes == use.capacity_bytes == part.memory_bytes
    assert min(use.weights_bytes, use.kv_bytes + 1, use.activations_bytes) > 0
    # What is admitted fits, and one more on each rank would not fit into the pool.
    most = budget.max_sequences(tokens)
    if most < 2**31:
        ranks = budget.attention_ranks * budget.replicas
        assert most // ranks * each <= max(0, budget.pool_bytes)
        assert (most // ranks + 1) * each > budget.pool_bytes
    if most > 0:
        assert budget.compute_use(most, each).free_bytes >= 0


@given(parts(), models(), WEIGHT, PLAN, settings(), TOKENS, st.integers(1, 100))
def test_more_memory_never_admits_fewer(
    part: Accelerator,
    model: Model,
    weights: Precision,
    plan: ParallelPlan,
    settings: MemorySettings,
    tokens: int,
    more: int,
) -> None:
    larger = replace(part, memory_bytes=part.memory_bytes + more * GIB)
    small, large = (
        compute_memory_budget(card, model, weights, Precision.FP16, plan, settings) for card in (part, larger)
    )
    assert large.max_sequences(tokens) >= small.max_sequences(tokens)
    assert large.headroom_bytes(tokens) >= small.headroom_bytes(tokens)


@given(models(), KV, PLAN, holdings(), TOKENS, TOKENS)
def test_the_cache_never_shrinks_with_context(
    model: Model, kv: Precision, plan: ParallelPlan, holding: CacheReservation, tokens: int, more: int
) -> None:
    cache = compute_cache_profile(model, kv, plan, holding)
    assert cache.sequence_bytes(tokens) <= cache.sequence_bytes(tokens + more)


@given(models(), KV, PLAN, holdings(), TOKENS)
def test_no_less_is_set_aside_than_a_sequence_fills(
    model: Model, kv: Precision, plan: ParallelPlan, holding: CacheReservation, tokens: int
) -> None:
    cache = compute_cache_profile(model, kv, plan, holding)
    assert cache.sequence_bytes(tokens) >= cache.compute_filled_bytes(tokens)
    assert cache.compute_filled_bytes(tokens) == compute_cache_profile(model, kv, plan).sequence_bytes(tokens)
    assert cache.compute_sequences_bytes(np.array([tokens])).tolist() == [cache.sequence_bytes(tokens)]


@given(models(), KV, st.sampled_from([2, 4, 8]), TOKENS)
def test_dividing_the_cache_never_adds_to_a_rank_and_never_loses_any(
    model: Model, kv: Precision, ranks: int, tokens: int
) -> None:
    whole = compute_cache_profile(model, kv, ParallelPlan()).sequence_bytes(tokens)
    for plan in (ParallelPlan(tp=ranks), ParallelPlan(pp=ranks)):
        one = compute_cache_profile(model, kv, plan).sequence_bytes(tokens)
        assert one <= whole <= one * ranks
    spread = ParallelPlan(tp=ranks, attention_dp=True)
    assert compute_cache_profile(model, kv, spread).sequence_bytes(tokens) == whole


@given(models(), WEIGHT, PLAN)
def test_dividing_the_weights_never_adds_to_a_rank_and_never_loses_any(
    model: Model, weights: Precision, plan: ParallelPlan
) -> None:
    whole = shard_model(model, weights, ParallelPlan())
    one = shard_model(model, weights, plan)
    assert one.resident_bytes <= whole.resident_bytes
    ranks = plan.replica * (plan.dp if plan.ep > plan.tp else 1)
    assert one.resident_bytes * ranks >= whole.resident_bytes
    assert one.active_expert_elements == whole.active_expert_elements
    assert one.dense_elements_undivided == whole.dense_elements_undivided
    assert one.experts.stored_bytes <= whole.experts.stored_bytes


@given(models(), PLAN)
def test_narrower_weights_never_take_more(model: Model, plan: ParallelPlan) -> None:
    formats = (Precision.BF16, Precision.FP8, Precision.FP6, Precision.NVFP4, Precision.MXFP4)
    bytes_by_format = [shard_model(model, weights, plan).resident_bytes for weights in formats]
    assert bytes_by_format == sorted(bytes_by_format, reverse=True)
