"""KV cache of one sequence on the most loaded accelerator, to the byte, computed by hand.

A layer of grouped heads holds 2 x KV heads x head width x bytes per token, up to its window; latent attention
holds one latent and one rotary key; linear and Mamba layers hold a state that does not grow: fp32 for the
recurrent part, 16 bits for the last inputs of the convolution.
"""

import pytest

from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.engine.memory import compute_cache_profile
from tests.unit.engine import published

ONE = ParallelPlan()


def count_held(model: Model, tokens: int, kv: Precision = Precision.FP16, plan: ParallelPlan = ONE) -> int:
    """Bytes of a sequence of `tokens`."""
    return compute_cache_profile(model, kv, plan).sequence_bytes(tokens)


@pytest.mark.parametrize(
    ("kv", "plan", "per_token"),
    [
        (Precision.FP16, ONE, 80 * 2 * 8 * 128 * 2),  # 327,680
        (Precision.FP8, ONE, 80 * 2 * 8 * 128),
        (Precision.NVFP4, ONE, 80 * 2 * 8 * 128 * 9 // 16),
        (Precision.FP16, ParallelPlan(tp=2), 80 * 2 * 4 * 128 * 2),
        (Precision.FP16, ParallelPlan(tp=8), 80 * 2 * 1 * 128 * 2),
        (Precision.FP16, ParallelPlan(tp=16), 80 * 2 * 1 * 128 * 2),  # each head on two ranks
        (Precision.FP16, ParallelPlan(pp=2), 40 * 2 * 8 * 128 * 2),
        (Precision.FP16, ParallelPlan(pp=3), 27 * 2 * 8 * 128 * 2),  # the fullest of three stages
        (Precision.FP16, ParallelPlan(dp=4), 80 * 2 * 8 * 128 * 2),
    ],
)
@pytest.mark.parametrize("tokens", [0, 1, 8192, 131072])
def test_llama_70b_grows_with_every_token(kv: Precision, plan: ParallelPlan, per_token: int, tokens: int) -> None:
    assert count_held(published.llama_3_1_70b(), tokens, kv, plan) == tokens * per_token


@pytest.mark.parametrize(
    ("tokens", "sliding", "whole"),
    [(1, 1, 1), (1023, 1023, 1023), (1024, 1024, 1024), (1025, 1024, 1025), (131072, 1024, 131072)],
)
@pytest.mark.parametrize(("plan", "heads"), [(ONE, 16), (ParallelPlan(tp=8), 2), (ParallelPlan(tp=32), 1)])
def test_gemma_27b_keeps_a_window_of_1024(
    tokens: int, sliding: int, whole: int, plan: ParallelPlan, heads: int
) -> None:
    layer = 2 * heads * 128 * 2
    assert count_held(published.gemma_3_27b(), tokens, plan=plan) == layer * (52 * sliding + 10 * whole)


def test_gemma_27b_in_two_stages_and_fp8() -> None:
    # 26 sliding layers and 5 global ones.
    expected = 2 * 16 * 128 * (26 * 1024 + 5 * 8192)
    assert count_held(published.gemma_3_27b(), 8192, Precision.FP8, ParallelPlan(pp=2)) == expected


@pytest.mark.parametrize(
    ("kv", "plan", "per_token"),
    [
        (Precision.FP16, ONE, 61 * (512 + 64) * 2),  # 70,272
        (Precision.FP8, ONE, 61 * (512 + 64)),
        (Precision.FP16, ParallelPlan(tp=8), 61 * (512 + 64) * 2),  # a latent does not divide
        (Precision.FP16, ParallelPlan(tp=8, ep=8, attention_dp=True), 61 * (512 + 64) * 2),
        (Precision.FP16, ParallelPlan(tp=8, pp=2), 31 * (512 + 64) * 2),  # 2 dense layers and 29
    ],
)
def test_deepseek_v3_holds_latents(kv: Precision, plan: ParallelPlan, per_token: int) -> None:
    for tokens in (1, 4096, 163840):
        assert count_held(published.deepseek_v3(), tokens, kv, plan) == tokens * per_token


@pytest.mark.parametrize(("tokens", "sliding"), [(64, 64), (128, 128), (129, 128), (8192, 128)])
@pytest.mark.parametrize(
    ("plan", "heads", "layers"),
    [(ONE, 8, 18), (ParallelPlan(tp=8, ep=8), 1, 18), (ParallelPlan(tp=16), 1, 18), (ParallelPlan(pp=2), 8, 9)],
)
def test_gpt_oss_keeps_128_tokens_in_every_second_layer(
    tokens: int, sliding: int, plan: ParallelPlan, heads: int, layers: int
) -> None:
    layer = 2 * heads * 64 * 2
    assert count_held(published.gpt_oss_120b(), tokens, plan=plan) == layer * layers * (sliding + tokens)


# One linear layer of Qwen3-Next: 32 heads x 128 x 128 in fp32, and three past inputs of
# 2 x 16 x 128 + 32 x 128 channels in 16 bits.
NEXT_STATE = 32 * 128 * 128 * 4 + (2 * 16 * 128 + 32 * 128) * 3 * 2


@pytest.mark.parametrize(
    ("plan", "state", "per_token"),
    [
        (ONE, 36 * NEXT_STATE, 12 * 2 * 2 * 256 * 2),
        (ParallelPlan(tp=2), 36 * NEXT_STATE // 2, 12 * 2 * 1 * 256 * 2),
        (ParallelPlan(tp=8), 36 * NEXT_STATE // 8, 12 * 2 * 1 * 256 * 2),  # two KV heads on eight ranks
        (ParallelPlan(tp=8, ep=8, attention_dp=True), 36 * NEXT_STATE, 12 * 2 * 2 * 256 * 2),
        (ParallelPlan(pp=2), 18 * NEXT_STATE, 6 * 2 * 2 * 256 * 2),
    ],
)
@pytest.mark.parametrize("tokens", [0, 1000, 262144])
def test_qwen3_next_holds_states(plan: ParallelPlan, state: int, per_token: int, tokens: int) -> None:
    assert count_held(published.qwen3_next_80b(), tokens, plan=plan) == state + tokens * per_token


def test_states_do_not_narrow_with_the_kv_cache() -> None:
    expected = 36 * NEXT_STATE + 1000 * 12 * 2 * 2 * 256
    assert 36 * NEXT_STATE == 77_266_944
    assert count_held(published.qwen3_next_80b(), 1000, Precision.FP8) == expected


# One Mamba layer of Jamba: 8192 channels x 16 in fp32, and three past inputs of 8192 in 16 bits.
JAMBA_STATE = 8192 * 16 * 4 + 8192 * 3 * 2


@pytest.mark.parametrize(
    ("plan", "state", "per_token"),
    [
        (ONE, 28 * JAMBA_STATE, 4 * 2 * 8 * 128 * 2),
        (ParallelPlan(tp=2), 28 * JAMBA_STATE // 2, 4 * 2 * 4 * 128 * 2),
        (ParallelPlan(tp=8), 28 * JAMBA_STATE // 8, 4 * 2 * 1 * 128 * 2),
        (ParallelPlan(pp=2), 14 * JAMBA_STATE, 2 * 2 * 8 * 128 * 2),
    ],
)
@pytest.mark.parametrize("tokens", [0, 4096, 262144])
def test_jamba_holds_states(plan: ParallelPlan, state: int, per_token: int, tokens: int) -> None:
    assert count_held(published.jamba(), tokens, plan=plan) == state + tokens * per_token


@pytest.mark.parametrize(("tokens", "chunked"), [(8191, 8191), (8192, 8192), (8193, 8192), (1_000_000, 8192)])
@pytest.mark.parametrize(
    ("kv", "plan", "layer"),
    [
        (Precision.FP16, ONE, 2 * 8 * 128 * 2),
        (Precision.FP8, ONE, 2 * 8 * 128),
        (Precision.FP16, ParallelPlan(tp=8), 2 * 1 * 128 * 2),
    ],
)
def test_llama_4_scout_keeps_a_chunk_of_8192(
    tokens: int, chunked: int, kv: Precision, plan: ParallelPlan, layer: int
) -> None:
    assert count_held(published.llama_4_scout(), tokens, kv, plan) == layer * (36 * chunked + 12 * tokens)
