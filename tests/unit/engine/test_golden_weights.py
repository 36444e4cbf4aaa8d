"""Weights on the most loaded accelerator, equal to the byte, computed by hand from published dimensions.

Every figure is integer arithmetic on sizes that the publishers state; nothing is taken from the program.
Sixteen-bit numbers take 2 bytes, FP8 1, MXFP4 1/2 and 1/32 of scales, NVFP4 1/2 and 1/16 of scales.
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


# Llama 3.1 70B: query and output 8192 x 8192, key and value 8192 x 1024, three of 8192 x 28672.
LLAMA_QO = 2 * 8192 * 8192
LLAMA_KV = 2 * 8192 * 1024
LLAMA_FFN = 3 * 8192 * 28672
LLAMA_LAYER = LLAMA_QO + LLAMA_KV + LLAMA_FFN
LLAMA_NORMS = 80 * 2 * 8192 * 2  # bytes: two of 8192 a layer
LLAMA_TABLE = 128256 * 8192 * 2  # bytes: embedding, and as much for the LM head
FINAL = 8192 * 2


def test_llama_70b_in_16_bits_is_the_published_checkpoint() -> None:
    by_hand = 80 * LLAMA_LAYER * 2 + LLAMA_NORMS + 2 * LLAMA_TABLE + FINAL
    assert by_hand == 141_107_412_992
    assert resident(published.llama_3_1_70b(), Precision.FP16) == by_hand
    assert resident(published.llama_3_1_70b(), Precision.BF16) == by_hand


@pytest.mark.parametrize(
    ("weights", "plan", "by_hand"),
    [
        # Half of every matrix and of both tables; norms whole.
        (Precision.FP16, ParallelPlan(tp=2), 40 * LLAMA_LAYER * 2 + LLAMA_NORMS + LLAMA_TABLE + FINAL),
        (Precision.FP16, ParallelPlan(tp=8), 10 * LLAMA_LAYER * 2 + LLAMA_NORMS + LLAMA_TABLE // 4 + FINAL),
        # 16 ranks and 8 KV heads: every key and value projection lies on two ranks.
        (
            Precision.FP16,
            ParallelPlan(tp=16),
            5 * (LLAMA_QO + LLAMA_FFN) * 2 + 10 * LLAMA_KV * 2 + LLAMA_NORMS + LLAMA_TABLE // 8 + FINAL,
        ),
        # 40 layers a stage; the last one has the LM head and the final norm.
        (Precision.FP16, ParallelPlan(pp=2), 40 * LLAMA_LAYER * 2 + LLAMA_NORMS // 2 + LLAMA_TABLE + FINAL),
        # Tables and norms stay at 16 bits.
        (Precision.FP8, ONE, 80 * LLAMA_LAYER + LLAMA_NORMS + 2 * LLAMA_TABLE + FINAL),
        (Precision.FP8, ParallelPlan(tp=8), 10 * LLAMA_LAYER + LLAMA_NORMS + LLAMA_TABLE // 4 + FINAL),
        (Precision.NVFP4, ONE, 80 * (LLAMA_LAYER // 2 + LLAMA_LAYER // 16) + LLAMA_NORMS + 2 * LLAMA_TABLE + FINAL),
        (
            Precision.NVFP4,
            ParallelPlan(tp=2, pp=2),
            20 * (LLAMA_LAYER // 2 + LLAMA_LAYER // 16) + LLAMA_NORMS // 2 + LLAMA_TABLE // 2 + FINAL,
        ),
        (Precision.MXFP4, ONE, 80 * (LLAMA_LAYER // 2 + LLAMA_LAYER // 32) + LLAMA_NORMS + 2 * LLAMA_TABLE + FINAL),
    ],
)
def test_llama_70b(weights: Precision, plan: ParallelPlan, by_hand: int) -> None:
    assert resident(published.llama_3_1_70b(), weights, plan) == by_hand


# Gemma 3 27B: query and output 5376 x 4096, key and value 5376 x 2048, three of 5376 x 21504.
GEMMA_LAYER = 2 * 5376 * 4096 + 2 * 5376 * 2048 + 3 * 5376 * 21504
GEMMA_NORMS = 62 * (4 * 5376 + 2 * 128) * 2
GEMMA_TABLE = 262208 * 5376 * 2
GEMMA_FINAL = 5376 * 2


@pytest.mark.parametrize(
    ("weights", "plan", "by_hand"),
    [
        (Precision.BF16, ONE, 62 * GEMMA_LAYER * 2 + GEMMA_NORMS + GEMMA_TABLE + GEMMA_FINAL),
        (Precision.FP8, ONE, 62 * GEMMA_LAYER + GEMMA_NORMS + GEMMA_TABLE + GEMMA_FINAL),
        (Precision.FP8, ParallelPlan(tp=8), 62 * (GEMMA_LAYER // 8) + GEMMA_NORMS + GEMMA_TABLE // 8 + GEMMA_FINAL),
        # 26 sliding and 5 global layers a stage; the tied table is on the first and on the last.
        (Precision.BF16, ParallelPlan(pp=2), 31 * GEMMA_LAYER * 2 + GEMMA_NORMS // 2 + GEMMA_TABLE + GEMMA_FINAL),
    ],
)
def test_gemma_27b(weights: Precision, plan: ParallelPlan, by_hand: int) -> None:
    assert resident(published.gemma_3_27b(), weights, plan) == by_hand


def test_gemma_27b_in_16_bits_is_the_published_checkpoint() -> None:
    assert resident(published.gemma_3_27b(), Precision.BF16) == 27_009_346_304 * 2


# gpt-oss-120b: query and output 2880 x 4096, key and value 2880 x 512, with biases; experts 3 x 2880 x 2880.
OSS_ATTENTION = 2 * 2880 * 4096 + 2 * 2880 * 512
OSS_VECTORS = 4096 + 2 * 512 + 64  # query, key and value biases, sinks: divided
OSS_WHOLE = 2880 + 2 * 2880 + 2880 * 128 + 128  # output bias, norms, router and its bias: on every rank
OSS_EXPERT = 3 * 2880 * 2880
OSS_EXPERT_BIAS = 3 * 2880
OSS_TABLE = 201088 * 2880 * 2


def test_gpt_oss_120b_as_published() -> None:
    # Experts in MXFP4, everything else BF16.
    experts = 36 * 128 * (OSS_EXPERT // 2 + OSS_EXPERT // 32 + OSS_EXPERT_BIAS * 2)
    dense = 36 * (OSS_ATTENTION + OSS_VECTORS + OSS_WHOLE) * 2
    by_hand = experts + dense + 2 * OSS_TABLE + 2880 * 2
    assert by_hand == 65_248_815_744
    assert resident(published.gpt_oss_120b(), Precision.MXFP4) == by_hand


def test_gpt_oss_120b_with_expert_parallelism() -> None:
    # 16 whole experts a rank, biases included; the rest divides over the eight tensor ranks.
    experts = 36 * 16 * (OSS_EXPERT // 2 + OSS_EXPERT // 32 + OSS_EXPERT_BIAS * 2)
    dense = 36 * (OSS_ATTENTION // 8 + OSS_VECTORS // 8 + OSS_WHOLE) * 2
    by_hand = experts + dense + OSS_TABLE // 4 + 2880 * 2
    assert resident(published.gpt_oss_120b(), Precision.MXFP4, ParallelPlan(tp=8, ep=8)) == by_hand


def test_gpt_oss_120b_widened_to_16_bits() -> None:
    assert resident(published.gpt_oss_120b(), Precision.BF16) == 116_829_156_672 * 2
