"""Weights of mixtures of experts and hybrids on the most loaded accelerator, to the byte, computed by hand.

As in the table of the dense models: integer arithmetic on published sizes, two bytes for all that a narrow
format does not cover (tables, norms, routers, convolutions, decays).
"""

import pytest

from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.engine.sharding import shard_model
from tests.unit.engine import published

ONE = ParallelPlan()


def resident(model: Model, weights: Precision, plan: ParallelPlan = ONE) -> int:
    return shard_model(model, weights, plan).resident_bytes


# DeepSeek V3, attention: down-projections 7168 x 576 and 7168 x 1536 on every rank; divided are the
# up-projections 512 x 128 x (128 + 128) and 1536 x 128 x (128 + 64), and the output 128 x 128 x 7168.
V3_DOWN = 7168 * (512 + 64) + 7168 * 1536
V3_UP = 512 * 128 * 256 + 1536 * 128 * 192 + 128 * 128 * 7168
V3_NORMS = (512 + 1536 + 2 * 7168) * 2
V3_DENSE = 3 * 7168 * 18432
V3_EXPERT = 3 * 7168 * 2048  # and one shared expert of the same size
V3_ROUTER = (7168 * 256 + 256) * 2
V3_TABLE = 129280 * 7168 * 2
V3_FINAL = 7168 * 2
V3_WIDE = 61 * V3_NORMS + 58 * V3_ROUTER + V3_FINAL


@pytest.mark.parametrize(
    ("weights", "plan", "by_hand"),
    [
        (Precision.FP8, ONE, 61 * (V3_DOWN + V3_UP) + 3 * V3_DENSE + 58 * 257 * V3_EXPERT + V3_WIDE + 2 * V3_TABLE),
        # TP 8: every matrix but the down-projections in eight parts, each expert too.
        (
            Precision.FP8,
            ParallelPlan(tp=8),
            61 * (V3_DOWN + V3_UP // 8) + 3 * V3_DENSE // 8 + 58 * 257 * V3_EXPERT // 8 + V3_WIDE + V3_TABLE // 4,
        ),
        # TP 8, EP 8: 32 whole experts a rank, which is as much.
        (
            Precision.FP8,
            ParallelPlan(tp=8, ep=8),
            61 * (V3_DOWN + V3_UP // 8)
            + 3 * V3_DENSE // 8
            + 58 * (32 * V3_EXPERT + V3_EXPERT // 8)
            + V3_WIDE
            + V3_TABLE // 4,
        ),
        # Attention-DP: attention, shared expert and tables whole on each rank; dense blocks stay divided.
        (
            Precision.FP8,
            ParallelPlan(tp=8, ep=8, attention_dp=True),
            61 * (V3_DOWN + V3_UP) + 3 * V3_DENSE // 8 + 58 * (32 * V3_EXPERT + V3_EXPERT) + V3_WIDE + 2 * V3_TABLE,
        ),
        # Two replicas of 8 that share one set of experts, 16 a rank.
        (
            Precision.FP8,
            ParallelPlan(tp=8, dp=2, ep=16),
            61 * (V3_DOWN + V3_UP // 8)
            + 3 * V3_DENSE // 8
            + 58 * (16 * V3_EXPERT + V3_EXPERT // 8)
            + V3_WIDE
            + V3_TABLE // 4,
        ),
        # Two stages: two dense layers and 29 with experts on the most loaded, one table next to them.
        (
            Precision.FP8,
            ParallelPlan(tp=8, pp=2),
            31 * (V3_DOWN + V3_UP // 8 + V3_NORMS)
            + 2 * V3_DENSE // 8
            + 29 * (257 * V3_EXPERT // 8 + V3_ROUTER)
            + V3_TABLE // 8
            + V3_FINAL,
        ),
        (
            Precision.NVFP4,
            ParallelPlan(tp=8, ep=8),
            61 * (V3_DOWN * 9 // 16 + V3_UP // 8 * 9 // 16)
            + 3 * V3_DENSE // 8 * 9 // 16
            + 58 * (32 * V3_EXPERT * 9 // 16 + V3_EXPERT // 8 * 9 // 16)
            + V3_WIDE
            + V3_TABLE // 4,
        ),
    ],
)
def test_deepseek_v3(weights: Precision, plan: ParallelPlan, by_hand: int) -> None:
    assert resident(published.deepseek_v3(), weights, plan) == by_hand


# Qwen3-Next 80B. Linear layer: queries and keys 16 x 128, values and gates 32 x 128, output; divided but
# wide: two numbers a value head, four taps for 8192 channels, two vectors of 32.
NEXT_LINEAR = 2048 * (2 * 16 * 128 + 2 * 32 * 128) + 32 * 128 * 2048
NEXT_LINEAR_WIDE = 2048 * 64 + 8192 * 4 + 32 + 32
# Full layer: query and gate 2048 x 4096 each, output 4096 x 2048, key and value 2048 x 512 each.
NEXT_FULL = 3 * 2048 * 4096
NEXT_FULL_KV = 2 * 2048 * 512
NEXT_EXPERT = 3 * 2048 * 512  # and one shared expert of the same size, with a gate of 2048
NEXT_WHOLE = 2 * 2048 + 2048 * 512 + 2048
NEXT_NORMS = 36 * 128 + 12 * (256 + 256) + 2048
NEXT_TABLE = 151936 * 2048 * 2


@pytest.mark.parametrize(
    ("weights", "plan", "by_hand"),
    [
        (
            Precision.BF16,
            ONE,
            2
            * (
                36 * (NEXT_LINEAR + NEXT_LINEAR_WIDE)
                + 12 * (NEXT_FULL + NEXT_FULL_KV)
                + 48 * (513 * NEXT_EXPERT + NEXT_WHOLE)
                + NEXT_NORMS
            )
            + 2 * NEXT_TABLE,
        ),
        (
            Precision.FP8,
            ONE,
            36 * (NEXT_LINEAR + NEXT_LINEAR_WIDE * 2)
            + 12 * (NEXT_FULL + NEXT_FULL_KV)
            + 48 * (513 * NEXT_EXPERT + NEXT_WHOLE * 2)
            + NEXT_NORMS * 2
            + 2 * NEXT_TABLE,
        ),
        # Eight ranks, two KV heads: key and value in two parts.
        (
            Precision.BF16,
            ParallelPlan(tp=8),
            2
            * (
                36 * (NEXT_LINEAR + NEXT_LINEAR_WIDE) // 8
                + 12 * (NEXT_FULL // 8 + NEXT_FULL_KV // 2)
                + 48 * (513 * NEXT_EXPERT // 8 + NEXT_WHOLE)
                + NEXT_NORMS
            )
            + NEXT_TABLE // 4,
        ),
    ],
)
def test_qwen3_next(weights: Precision, plan: ParallelPlan, by_hand: int) -> None:
    assert resident(published.qwen3_next_80b(), weights, plan) == by_hand


# Jamba. Mamba: in 4096 x 16384 and out 8192 x 4096; wide: x 8192 x (256 + 2 x 16), step 256 x 8192, its
# bias, four taps and a bias a channel, decays 8192 x 16, skip; norms of 256, 16 and 16.
JAMBA_MAMBA = 4096 * 16384 + 8192 * 4096
JAMBA_MAMBA_WIDE = 8192 * (256 + 32) + 256 * 8192 + 8192 + 5 * 8192 + 8192 * 16 + 8192
JAMBA_ATTENTION = 2 * 4096 * 4096 + 2 * 4096 * 1024
JAMBA_FFN = 3 * 4096 * 14336
JAMBA_WHOLE = 28 * (256 + 16 + 16) + 32 * 2 * 4096 + 4096 + 16 * 4096 * 16
JAMBA_TABLE = 65536 * 4096 * 2
JAMBA_MATRICES = 28 * JAMBA_MAMBA + 4 * JAMBA_ATTENTION + (16 + 16 * 16) * JAMBA_FFN


@pytest.mark.parametrize(
    ("weights", "plan", "by_hand"),
    [
        (Precision.BF16, ONE, 2 * (JAMBA_MATRICES + 28 * JAMBA_MAMBA_WIDE + JAMBA_WHOLE) + 2 * JAMBA_TABLE),
        (
            Precision.FP8,
            ParallelPlan(tp=2),
            JAMBA_MATRICES // 2 + 28 * JAMBA_MAMBA_WIDE + 2 * JAMBA_WHOLE + JAMBA_TABLE,
        ),
        # Half of each kind of layer on a stage.
        (
            Precision.BF16,
            ParallelPlan(pp=2),
            JAMBA_MATRICES + 28 * JAMBA_MAMBA_WIDE + (JAMBA_WHOLE - 4096) + 2 * 4096 + JAMBA_TABLE,
        ),
    ],
)
def test_jamba(weights: Precision, plan: ParallelPlan, by_hand: int) -> None:
    assert resident(published.jamba(), weights, plan) == by_hand


def test_jamba_in_16_bits_is_the_published_checkpoint() -> None:
    assert resident(published.jamba(), Precision.BF16) == 51_570_323_328 * 2


# Llama 4 Scout: query and output 5120 x 5120, key and value 5120 x 1024; experts 3 x 5120 x 8192.
SCOUT_ATTENTION = 2 * 5120 * 5120 + 2 * 5120 * 1024
SCOUT_EXPERT = 3 * 5120 * 8192  # sixteen, and one shared
SCOUT_WHOLE = 48 * (2 * 5120 + 5120 * 16) + 5120
SCOUT_TABLE = 202048 * 5120 * 2


@pytest.mark.parametrize(
    ("weights", "plan", "by_hand"),
    [
        (Precision.BF16, ONE, 2 * 48 * (SCOUT_ATTENTION + 17 * SCOUT_EXPERT) + 2 * SCOUT_WHOLE + 2 * SCOUT_TABLE),
        (
            Precision.NVFP4,
            ONE,
            48 * (SCOUT_ATTENTION + 17 * SCOUT_EXPERT) * 9 // 16 + 2 * SCOUT_WHOLE + 2 * SCOUT_TABLE,
        ),
        (
            Precision.FP8,
            ParallelPlan(tp=8, ep=8),
            48 * (SCOUT_ATTENTION // 8 + 2 * SCOUT_EXPERT + SCOUT_EXPERT // 8) + 2 * SCOUT_WHOLE + SCOUT_TABLE // 4,
        ),
    ],
)
def test_llama_4_scout(weights: Precision, plan: ParallelPlan, by_hand: int) -> None:
    assert resident(published.llama_4_scout(), weights, plan) == by_hand
