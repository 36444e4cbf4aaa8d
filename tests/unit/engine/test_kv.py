"""Cache of each kind of layer: what is stored, what a step reads of it, what a prompt computes with it."""

from dataclasses import replace

import pytest

from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import (
    MLA,
    Attention,
    AttentionIndexer,
    Compressed,
    DenseFfn,
    KimiDelta,
    LayerGroup,
    Lightning,
    Mamba2,
    Mixer,
    Model,
)
from gpudesk.domain.precision import Precision
from gpudesk.engine.memory import CacheGrowth, CacheReservation, KvCacheProfile, compute_cache_profile
from tests.unit.engine import published

ONE = ParallelPlan()


def profile(*mixers: Mixer | None, kv: Precision = Precision.FP16, plan: ParallelPlan = ONE) -> KvCacheProfile:
    groups = tuple(LayerGroup(1, mixer, DenseFfn(4096)) for mixer in mixers)
    return compute_cache_profile(Model("m", "M", "O", 1024, 1000, False, None, None, groups), kv, plan)


def test_a_token_attends_with_all_query_heads_and_reads_the_shared_keys() -> None:
    # 32 heads of 128, scores and values: 2 x 32 x (128 + 128); cache of 8 heads in 16 bits.
    growth = CacheGrowth(8 * 256 * 2, 2 * 32 * 256)
    cache = profile(Attention(32, 8, 128))
    assert cache.stored == cache.growths == (growth,)
    assert cache.step_work.patt_flop == 2 * 32 * 256
    # On 16 ranks: two query heads, and the one KV head that they share.
    assert profile(Attention(32, 8, 128), plan=ParallelPlan(tp=16)).growths == (CacheGrowth(256 * 2, 2 * 2 * 256),)


def test_a_layer_that_reuses_a_cache_stores_nothing_and_reads_and_computes_as_one_that_keeps_it() -> None:
    keeping = profile(Attention(8, 2, 256, window=512))
    reusing = profile(Attention(8, 2, 256, window=512, reuses_cache=True))
    assert reusing.stored == ()
    assert reusing.sequence_bytes(10_000) == 0
    assert reusing.growths == keeping.growths
    assert reusing.step_work == keeping.step_work
    both = profile(Attention(8, 2, 256), Attention(8, 2, 256, reuses_cache=True))
    assert both.stored == (CacheGrowth(2 * 512 * 2, 2 * 8 * 512),)
    assert both.growths == (CacheGrowth(2 * 2 * 512 * 2, 2 * 2 * 8 * 512),)


def test_values_may_be_narrower_than_keys() -> None:
    cache = profile(Attention(16, 4, 192, v_head_dim=128))
    assert cache.stored == (CacheGrowth(4 * (192 + 128) * 2, 2 * 16 * (192 + 128)),)


def test_attention_dp_keeps_a_sequence_whole() -> None:
    spread = ParallelPlan(tp=8, ep=8, attention_dp=True)
    assert profile(Attention(32, 8, 128), plan=spread) == profile(Attention(32, 8, 128))


def test_latents_are_absorbed_in_decode_and_unfolded_in_prefill() -> None:
    mixer = MLA(128, 512, 128, 128, 64, q_lora_rank=1536)
    cache = profile(mixer, plan=ParallelPlan(tp=8))
    # 16 heads: scores over 576, values over 512; in prefill keys of 192, values of 128.
    assert cache.growths == (CacheGrowth(576 * 2, 2 * 16 * (576 + 512)),)
    assert cache.step_work.patt_flop == 2 * 16 * (192 + 128)


def test_layers_with_the_same_window_add_up() -> None:
    local, whole = Attention(8, 2, 64, window=512), Attention(8, 2, 64)
    cache = profile(local, whole, local, None)
    layer, flops = 2 * 128 * 2, 2 * 8 * 128
    assert cache.growths == (CacheGrowth(layer, flops), CacheGrowth(2 * layer, 2 * flops, 512))
    assert cache.step_work.patt_flop == flops
    assert (cache.step_work.patt1_flop, cache.step_work.patt1_window) == (2 * flops, 512)


def test_windows_of_several_widths_compute_as_much_once_they_are_full() -> None:
    cache = profile(Attention(8, 2, 64, window=128), Attention(8, 2, 64, window=1024))
    assert cache.step_work.patt1_window == 1024
    assert cache.step_work.patt1_flop * 1024 == 2 * 8 * 128 * (128 + 1024)


def test_an_indexer_reads_all_its_keys_to_pick_a_few_tokens() -> None:
    indexer = AttentionIndexer(64, 128, 2048)
    mixer = MLA(128, 512, 128, 128, 64, q_lora_rank=1536, indexer=indexer)
    cache = profile(mixer)
    key = 128.0 + 4  # FP8, and a scale in fp32
    score = 2.0 * 64 * 128
    assert cache.sequence_bytes(100_000) == 100_000 * (576 * 2 + key)
    assert cache.growths == (CacheGrowth(key, score), CacheGrowth(576 * 2, 2 * 128 * (576 + 512), 2048))
    # In prefill too every token is scored against all before it.
    assert cache.step_work.patt_flop == score
    assert (cache.step_work.patt1_flop, cache.step_work.patt1_window) == (2.0 * 128 * 320, 2048)
    # On every rank, since the picks are shared.
    assert profile(mixer, plan=ParallelPlan(tp=8)).step_work.patt_flop == score
    pooled = profile(replace(mixer, indexer=replace(indexer, pool=4)))
    assert pooled.growths[0] == CacheGrowth(key / 4, score / 4)


def test_a_reused_indexer_keeps_and_computes_nothing() -> None:
    reused = Attention(32, 4, 128, indexer=AttentionIndexer(4, 128, 2048, 128, reused=True))
    cache = profile(reused)
    assert cache.sequence_bytes(10_000) == 10_000 * 4 * 256 * 2
    assert cache.step_work.patt_flop == 0
    assert (cache.step_work.patt1_flop, cache.step_work.patt1_window) == (2.0 * 32 * 256, 2048)


def test_a_folded_past_holds_one_entry_for_many_tokens() -> None:
    # One shared head of 512 in 16 bits: 128 tokens as they are, and an entry for each 128 of all.
    cache = profile(Compressed(64, 512, 1024, 1024, 8, window=128, compress_ratio=128))
    assert cache.sequence_bytes(64) == 64 * 1024 + 64 * 8
    assert cache.sequence_bytes(128_000) == 128 * 1024 + 1000 * 1024
    flops = 4.0 * 64 * 512
    assert cache.step_work.patt_flop == flops / 128
    assert (cache.step_work.patt1_flop, cache.step_work.patt1_window) == (flops, 128)
    assert profile(Compressed(64, 512, 1024, 1024, 8, window=128)).step_work.patt_flop == 0


def test_a_folded_past_with_an_indexer_attends_to_the_picked_entries() -> None:
    cache = profile(Compressed(64, 512, 1024, 1024, 8, 128, compress_ratio=4, indexer=AttentionIndexer(64, 128, 512)))
    key, score, flops = (128 + 4) / 4, 2 * 64 * 128 / 4, 4 * 64 * 512
    assert cache.stored == (CacheGrowth(1024 / 4 + key, flops / 4 + score), CacheGrowth(1024, flops, 128))
    assert cache.growths == (CacheGrowth(key, score), CacheGrowth(1024, flops, 128), CacheGrowth(256, flops / 4, 2048))
    assert cache.step_work.patt_flop == score
    assert (cache.step_work.patt1_flop, cache.step_work.patt1_window) == ((flops * 128 + flops / 4 * 2048) / 2048, 2048)


@pytest.mark.parametrize(
    ("mixer", "ranks", "state"),
    [
        # Three projections of 32 x 128, three past inputs in 16 bits; 128 x 128 in fp32 a head.
        (KimiDelta(32, 128, 4), 1, 32 * 128 * 128 * 4 + 3 * 32 * 128 * 3 * 2),
        (KimiDelta(32, 128, 4), 8, 4 * 128 * 128 * 4 + 3 * 4 * 128 * 3 * 2),
        # 128 heads of 64 x 128, and past inputs of heads and of 2 x 8 groups of 128.
        (Mamba2(128, 64, 128, 8, 4), 1, 128 * 64 * 128 * 4 + (128 * 64 + 2 * 8 * 128) * 3 * 2),
        (Mamba2(128, 64, 128, 8, 4), 16, 8 * 64 * 128 * 4 + (8 * 64 + 2 * 1 * 128) * 3 * 2),
        (Lightning(64, 96), 1, 64 * 96 * 96 * 4),
        (Lightning(64, 96), 8, 8 * 96 * 96 * 4),
    ],
)
def test_states_do_not_grow(mixer: Mixer, ranks: int, state: int) -> None:
    cache = profile(mixer, plan=ParallelPlan(tp=ranks))
    assert cache.sequence_bytes(0) == cache.sequence_bytes(1_000_000) == state
    assert cache.step_work.state_bytes == 2 * state
    assert cache.growths == ()


def test_a_step_reads_the_layers_of_all_stages() -> None:
    whole = compute_cache_profile(published.jamba(), Precision.FP16, ONE)
    staged = compute_cache_profile(published.jamba(), Precision.FP16, ParallelPlan(pp=2))
    assert staged.growths == whole.growths
    assert staged.step_work.state_bytes == 2 * whole.state_bytes
    assert staged.sequence_bytes(1000) * 2 == whole.sequence_bytes(1000)


def test_layers_with_a_window_can_hold_more_than_it() -> None:
    groups = (LayerGroup(2, Attention(32, 8, 128), None), LayerGroup(6, Attention(32, 8, 128, window=1024), None))
    model = Model("m", "M", "O", 1024, 1000, False, None, None, groups)
    token = 2 * 8 * 128 * 2
    for share, tokens_in_cache in ((0.0, 1024), (0.8, 8000), (1.0, 10_000)):
        cache = compute_cache_profile(model, Precision.FP16, ONE, CacheReservation(window_share=share))
        assert cache.sequence_bytes(10_000) == token * (2 * 10_000 + 6 * tokens_in_cache)
        assert cache.sequence_bytes(500) == token * 8 * 500
        assert cache.compute_filled_bytes(10_000) == token * (2 * 10_000 + 6 * 1024)


def test_of_two_pools_the_one_that_runs_out_first_decides() -> None:
    model = published.jamba()
    plain = compute_cache_profile(model, Precision.FP16, ONE)
    cache = compute_cache_profile(model, Precision.FP16, ONE, CacheReservation(state_share=0.25, state_slots=3))
    state = plain.state_bytes
    # Few tokens: three states of a quarter of the cache. Many: keys and values in the other three.
    assert cache.sequence_bytes(1) == state * 3 * 4
    grown = plain.sequence_bytes(10_000_000) - state
    assert cache.sequence_bytes(10_000_000) == -(-grown * 4 // 3)
    # Without states there is nothing to set apart.
    dense = published.llama_3_1_70b()
    sequences = compute_cache_profile(dense, Precision.FP16, ONE, CacheReservation(state_share=0.25)).sequence_bytes(
        1000
    )
    assert sequences == compute_cache_profile(dense, Precision.FP16, ONE).sequence_bytes(1000)
