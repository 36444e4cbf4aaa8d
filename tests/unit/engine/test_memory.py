"""Memory: what fits on which part, how many sequences, and that the parts add up."""

from dataclasses import replace

import numpy as np
import pytest

from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import Attention, DenseFfn, LayerGroup, Model, MoeFfn
from gpudesk.domain.precision import Precision
from gpudesk.engine.memory import (
    MemoryBudget,
    MemorySettings,
    compute_activation_bytes,
    compute_memory_budget,
    compute_sampling_bytes,
    compute_step_bytes,
)
from gpudesk.text.units import GIB
from tests.unit.engine import published
from tests.unit.engine.bench import H200, MI325X, SETTINGS

ONE = ParallelPlan()
#: A serving engine that sets nothing aside and takes all.
BARE = MemorySettings(1.0, "total", 0, max_batch=1, max_batched_tokens=1)


def budget(
    model: Model,
    weights: Precision = Precision.FP16,
    plan: ParallelPlan = ONE,
    settings: MemorySettings = SETTINGS,
    memory_bytes: int = H200.memory_bytes,
) -> MemoryBudget:
    """Divide the memory of an H200, or of one with another memory."""
    part = replace(H200, memory_bytes=memory_bytes)
    return compute_memory_budget(part, model, weights, Precision.FP16, plan, settings)


def test_llama_70b_in_16_bits_by_hand_on_one_h200() -> None:
    memory = budget(published.llama_3_1_70b())
    capacity = 141 * 2**30
    weights = 141_107_412_992
    # 8192 tokens x (3 vectors of 8192 + 3 of 28672) x 2 bytes, more than fp32 logits of 1024 x 128256.
    activations = 8192 * (3 * 8192 + 3 * 28672) * 2
    pool = capacity * 95 // 100 - weights - activations - 10**9
    assert (memory.capacity_bytes, memory.weights_bytes) == (capacity, weights)
    assert (memory.activations_bytes, memory.runtime_bytes) == (activations, 10**9)
    assert memory.pool_bytes == pool
    assert pool < 0


def test_llama_70b_in_16_bits_fits_one_h200_at_batch_1() -> None:
    lean = SETTINGS._replace(memory_fraction=0.97, max_batched_tokens=2048, max_batch=256)
    memory = budget(published.llama_3_1_70b(), settings=lean)
    assert memory.max_sequences(2048) >= 1
    assert memory.headroom_bytes(2048) >= 0


def test_llama_405b_in_16_bits_fits_no_single_card() -> None:
    model = published.llama_3_1_405b()
    for part in (H200, MI325X, replace(MI325X, memory_bytes=288 * GIB)):
        memory = compute_memory_budget(part, model, Precision.FP16, Precision.FP16, ONE, BARE)
        assert memory.pool_bytes < 0
        assert memory.max_sequences(1) == 0
    eight = compute_memory_budget(H200, model, Precision.FP16, Precision.FP16, ParallelPlan(tp=8), SETTINGS)
    assert eight.max_sequences(8192) > 0


def test_the_pool_divides_into_whole_sequences() -> None:
    model = published.llama_3_1_70b()
    weights, sequence = 141_107_412_992, 327_680 * 1000
    activations = 8192 * 2 + 128256 * 4
    # `memory_bytes` for exactly so many sequences, and one byte short of it.
    for sequences in (1, 2, 50):
        exact = weights + activations + sequences * sequence
        assert budget(model, settings=BARE, memory_bytes=exact).max_sequences(1000) == sequences
        assert budget(model, settings=BARE, memory_bytes=exact - 1).max_sequences(1000) == sequences - 1
        assert budget(model, settings=BARE, memory_bytes=exact).headroom_bytes(1000) == ((sequences - 1) * sequence)


def test_replicas_and_attention_ranks_each_hold_their_own() -> None:
    model = published.deepseek_v3()
    spread = ParallelPlan(tp=8, ep=8, attention_dp=True)
    one = budget(model, Precision.FP8, spread)
    two = budget(model, Precision.FP8, replace(spread, dp=2))
    per_rank = one.pool_bytes // (4096 * 61 * 576 * 2)
    assert per_rank > 0
    assert one.max_sequences(4096) == 8 * per_rank
    assert two.max_sequences(4096) == 16 * per_rank


def test_two_readings_of_the_memory_fraction() -> None:
    total = SETTINGS._replace(memory_fraction=0.9)
    free = total._replace(memory_fraction_of="free")
    model = published.gemma_3_27b()
    used_bytes = budget(model, settings=total).weights_bytes + budget(model).activations_bytes + 10**9
    assert budget(model, settings=total).pool_bytes == 141 * GIB * 9 // 10 - used_bytes
    assert budget(model, settings=free).pool_bytes == int((141 * GIB - used_bytes) * 0.9)
    whole = total._replace(memory_fraction=1.0)
    assert (
        budget(model, settings=whole).pool_bytes
        == budget(model, settings=whole._replace(memory_fraction_of="free")).pool_bytes
    )


def test_the_breakdown_adds_up_on_the_fullest_accelerator() -> None:
    memory = budget(published.deepseek_v3(), Precision.FP8, ParallelPlan(tp=8, ep=8, attention_dp=True))
    each = memory.cache.sequence_bytes(2000)
    for sequences, on_one_rank in ((1, 1), (8, 1), (9, 2), (64, 8)):
        use = memory.compute_use(sequences, each)
        assert use.kv_bytes == on_one_rank * each
        parts = use.weights_bytes + use.kv_bytes + use.activations_bytes + use.runtime_bytes
        assert parts + use.free_bytes == use.capacity_bytes == H200.memory_bytes


def test_a_model_without_cache_holds_sequences_without_end() -> None:
    model = Model("m", "M", "O", 1024, 1000, False, None, None, (LayerGroup(4, None, DenseFfn(4096)),))
    assert budget(model).max_sequences(1000) >= 2**31
    assert budget(model, memory_bytes=10**6).max_sequences(1000) == 0


def test_unknown_dimensions_are_refused() -> None:
    with pytest.raises(ValueError, match="mystery"):
        budget(Model("mystery", "M", "O", 0, 0, False, None, None, ()))


def moe(ffn: DenseFfn | MoeFfn) -> Model:
    """Return one layer of 1024 with `ffn`."""
    return Model("m", "M", "O", 1024, 1000, False, None, None, (LayerGroup(1, Attention(8, 8, 128), ffn),))


@pytest.mark.parametrize(
    ("ffn", "width", "divided"),
    [
        (DenseFfn(4096), 3 * 4096, 3 * 512),
        # Each of eight copies takes gate and up, or its output where that is wider, and their product.
        (MoeFfn(64, 8, 512), 8 * (1024 + 512), 8 * (1024 + 64)),
        (MoeFfn(64, 8, 1024), 8 * (2048 + 1024), 8 * (1024 + 128)),
        (MoeFfn(64, 8, 512, latent_size=256), 8 * (1024 + 512), 8 * (256 + 64)),
        (MoeFfn(64, 8, 512, shared_intermediate_size=1024), 8 * (1024 + 512) + 3 * 1024, 8 * (1024 + 64) + 3 * 128),
    ],
)
def test_activations_of_a_step_by_hand(ffn: DenseFfn | MoeFfn, width: int, divided: int) -> None:
    settings = MemorySettings(1.0, "total", 0, max_batch=16, max_batched_tokens=100)
    whole = 100 * (3 * 1024 + width) * 2
    assert compute_activation_bytes(moe(ffn), ONE, settings) == whole
    assert compute_activation_bytes(moe(ffn), ParallelPlan(tp=8), settings) == 100 * (3 * 1024 + divided) * 2
    # The tokens of eight ranks, an eighth of the work on each of them.
    assert compute_activation_bytes(moe(ffn), ParallelPlan(tp=8, attention_dp=True), settings) == whole


def test_activations_are_those_of_drawing_tokens_where_that_takes_more() -> None:
    model = moe(DenseFfn(4096))
    settings = MemorySettings(1.0, "total", 0, max_batch=64, max_batched_tokens=100, logit_bytes=38)
    drawing = 100 * 1024 * 2 + 64 * 1000 * 38
    assert drawing > compute_step_bytes(model, ParallelPlan(tp=8), settings)
    assert compute_activation_bytes(model, ParallelPlan(tp=8), settings) == drawing
    # No more tokens are drawn than a step has.
    few = settings._replace(max_batched_tokens=10)
    assert compute_sampling_bytes(model, few) == 10 * 1024 * 2 + 10 * 1000 * 38


def test_a_static_fraction_is_of_weights_and_cache_and_leaves_room_for_activations() -> None:
    model = published.gemma_3_27b()
    static = SETTINGS._replace(memory_fraction=0.8, memory_fraction_of="static")
    memory = budget(model, settings=static)
    before_loading = 141 * GIB - 10**9
    assert memory.pool_bytes == before_loading * 8 // 10 - memory.weights_bytes
    whole = budget(model, settings=static._replace(memory_fraction=1.0))
    used_bytes = whole.weights_bytes + whole.activations_bytes + whole.runtime_bytes
    assert whole.pool_bytes == 141 * GIB - used_bytes


def test_ranks_that_talk_take_their_buffers() -> None:
    settings = SETTINGS._replace(collective_bytes=2 * 10**9)
    model = published.llama_3_1_70b()
    assert budget(model, Precision.FP8, settings=settings).runtime_bytes == 10**9
    for plan in (ParallelPlan(tp=2), ParallelPlan(pp=2)):
        assert budget(model, Precision.FP8, plan, settings).runtime_bytes == 3 * 10**9
    assert budget(model, Precision.FP8, ParallelPlan(dp=2), settings).runtime_bytes == 10**9


@pytest.mark.parametrize("kv", [Precision.FP16, Precision.FP8, Precision.NVFP4])
@pytest.mark.parametrize("model", [published.llama_3_1_70b(), published.gemma_3_27b(), published.jamba()])
def test_many_lengths_at_once_are_each_as_alone(model: Model, kv: Precision) -> None:
    tokens = np.array([1, 7, 1023, 1024, 4097, 131_072, 99_999_999])
    for memory_gib in (40, 141, 288):
        part = replace(H200, memory_bytes=memory_gib * GIB)
        memory = compute_memory_budget(part, model, Precision.FP8, kv, ParallelPlan(tp=2, dp=3), SETTINGS)
        each = [memory.cache.sequence_bytes(length) for length in tokens.tolist()]
        assert memory.cache.compute_sequences_bytes(tokens).tolist() == each
        counts = [memory.max_sequences(length) for length in tokens.tolist()]
        assert memory.count_max_by_length(tokens).tolist() == counts


def test_more_memory_never_admits_fewer_by_the_usual_share() -> None:
    settings = SETTINGS._replace(memory_fraction=0.98, usual_fraction=0.9)
    admitted = [
        budget(published.llama_3_1_70b(), Precision.FP8, settings=settings, memory_bytes=gib * GIB)
        for gib in range(70, 200)
    ]
    for tokens in (500, 4000, 30_000):
        counts = [each.count_admitted_sequences(tokens) for each in admitted]
        assert counts == sorted(counts)
        assert all(count <= each.max_sequences(tokens) for count, each in zip(counts, admitted, strict=True))
        many = [int(each.count_admitted_by_length(np.array([tokens]))[0]) for each in admitted]
        assert many == counts
    # The usual share holds none of the longest, so it is raised for one.
    tight = next(each for each in admitted if each.usual_pool_bytes <= 0 < each.max_sequences(500))
    assert tight.count_admitted_sequences(500) == 1
