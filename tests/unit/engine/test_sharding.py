"""Sharding: formats of tensors, shares of a rank, and what a step touches."""

from dataclasses import replace

import numpy as np
import pytest

from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import Attention, DenseFfn, LayerGroup, Model, MoeFfn
from gpudesk.domain.precision import Precision, StorageFormat
from gpudesk.engine.sharding import (
    ExpertPadding,
    TensorShare,
    compute_narrow_share,
    divide_tensors,
    get_storage_format,
    prepare_shards,
    shard_model,
    tabulate_tensors,
)
from gpudesk.engine.tensors import TensorClass, TensorSplit, WeightTensor
from gpudesk.text.units import GIB
from tests.unit.engine import published

FP8 = StorageFormat(8)
MATRIX = WeightTensor("m", TensorClass.MIXER, TensorSplit.TENSOR, 1000, is_quantizable=True)
EXPERT = WeightTensor("e", TensorClass.EXPERT, TensorSplit.EXPERT, 1000, copies=64, is_quantizable=True)
NORM = WeightTensor("n", TensorClass.NORM, TensorSplit.REPLICATED, 100)


def find_share(tensor: WeightTensor, storage_format: StorageFormat, plan: ParallelPlan) -> TensorShare:
    degrees = np.array([[plan.tp], [plan.ep], [plan.attention_dp]], dtype=np.int64)
    elements, stored_bytes = divide_tensors(tabulate_tensors([(tensor, storage_format)]), degrees)
    return TensorShare(elements.item(), stored_bytes.item())


@pytest.mark.parametrize(
    ("tensor", "plan", "elements"),
    [
        (MATRIX, ParallelPlan(tp=8), 125),
        (MATRIX, ParallelPlan(tp=3), 334),  # the fullest of three
        (MATRIX, ParallelPlan(tp=8, attention_dp=True), 1000),
        (MATRIX, ParallelPlan(pp=8), 1000),
        (replace(MATRIX, tensor_class=TensorClass.DENSE_FFN), ParallelPlan(tp=8, attention_dp=True), 125),
        (replace(MATRIX, split=TensorSplit.KV_HEADS, kv_heads=4), ParallelPlan(tp=2), 500),
        (replace(MATRIX, split=TensorSplit.KV_HEADS, kv_heads=4), ParallelPlan(tp=8), 250),
        (replace(MATRIX, split=TensorSplit.KV_HEADS, kv_heads=4), ParallelPlan(tp=8, attention_dp=True), 1000),
        (NORM, ParallelPlan(tp=8, ep=8), 100),
        (EXPERT, ParallelPlan(), 64 * 1000),
        (EXPERT, ParallelPlan(tp=8), 64 * 125),
        (EXPERT, ParallelPlan(tp=8, ep=8), 8 * 1000),
        (EXPERT, ParallelPlan(tp=8, ep=2), 32 * 250),
        (EXPERT, ParallelPlan(tp=8, dp=2, ep=16), 4 * 1000),
        (EXPERT, ParallelPlan(tp=1, dp=8, ep=8), 8 * 1000),
        (EXPERT, ParallelPlan(tp=6, ep=6), 11 * 1000),  # 64 experts over six ranks
        (EXPERT, ParallelPlan(tp=8, ep=8, attention_dp=True), 8 * 1000),
    ],
)
def test_share_of_the_fullest_rank(tensor: WeightTensor, plan: ParallelPlan, elements: int) -> None:
    assert find_share(tensor, FP8, plan) == TensorShare(elements, elements)


def test_scales_are_counted_for_each_shard() -> None:
    nvfp4 = StorageFormat(4, 16, 1)
    # 125 elements: 63 bytes and 8 scales.
    assert find_share(MATRIX, nvfp4, ParallelPlan(tp=8)) == TensorShare(125, 71)
    assert find_share(EXPERT, nvfp4, ParallelPlan(tp=8, ep=8)) == TensorShare(8000, 8 * (500 + 63))


def test_formats_of_tensors() -> None:
    llama, oss = published.llama_3_1_70b(), published.gpt_oss_120b()
    assert get_storage_format(MATRIX, llama, Precision.FP8).bits == 8
    assert get_storage_format(NORM, llama, Precision.FP8).bits == 16
    # A checkpoint that narrows its experts alone keeps the rest in 16 bits, until everything goes to FP8.
    assert get_storage_format(EXPERT, oss, Precision.MXFP4).bits == 4
    assert get_storage_format(MATRIX, oss, Precision.MXFP4).bits == 16
    assert get_storage_format(MATRIX, oss, Precision.FP8).bits == 8
    # A published group size holds for the published format only.
    grouped = replace(llama, native_precision=Precision.INT4, native_group_size=32)
    assert get_storage_format(MATRIX, grouped, Precision.INT4).block == 32
    assert get_storage_format(MATRIX, llama, Precision.INT4).block == 128
    assert get_storage_format(MATRIX, grouped, Precision.NVFP4).block == 16


def test_a_format_of_feed_forward_blocks_leaves_attention_as_published() -> None:
    blocks = replace(published.llama_3_1_70b(), native_precision=Precision.NVFP4, quantised_tensors="ffn")
    gate = WeightTensor("gate_proj", TensorClass.DENSE_FFN, TensorSplit.TENSOR, 1000, is_quantizable=True)
    assert get_storage_format(gate, blocks, Precision.NVFP4).bits == 4
    assert get_storage_format(EXPERT, blocks, Precision.NVFP4).bits == 4
    assert get_storage_format(MATRIX, blocks, Precision.NVFP4).bits == 16
    # What others make of it in eight bits covers all, but what is published in eight does not.
    assert get_storage_format(MATRIX, blocks, Precision.FP8).bits == 8
    in_eight = replace(blocks, native_precision=Precision.FP8)
    assert get_storage_format(MATRIX, in_eight, Precision.FP8).bits == 16
    assert get_storage_format(gate, in_eight, Precision.FP8).bits == 8


def test_share_of_the_matrices_that_a_format_covers() -> None:
    llama = published.llama_3_1_70b()
    assert compute_narrow_share(llama, Precision.NVFP4) == 1.0
    assert compute_narrow_share(published.gpt_oss_120b(), Precision.MXFP4) == 0.0
    blocks = replace(llama, id="blocks", quantised_tensors="ffn")
    attention, ffn = 2 * 8192 * (8192 + 1024), 3 * 8192 * 28672
    assert compute_narrow_share(blocks, Precision.NVFP4) == ffn / (attention + ffn)
    assert compute_narrow_share(blocks, Precision.FP8) == 1.0


def test_the_table_of_layer_inputs_lies_on_the_first_stage_and_no_step_reads_it() -> None:
    plain = published.gemma_3_27b()
    with_inputs = replace(plain, id="given", layer_input_size=256)
    table = 262208 * 62 * 256
    # On two ranks half of the table and of the projection that makes the inputs, gate and way back whole.
    beside = 62 * (2 * 5376 * 256 + 5376 * 256 // 2)
    norms = 62 * 5376 * 2 + 256 * 2
    two = ParallelPlan(tp=2)
    one_stage = shard_model(with_inputs, Precision.FP8, two), shard_model(plain, Precision.FP8, two)
    assert one_stage[0].resident_bytes - one_stage[1].resident_bytes == table + beside + norms
    assert one_stage[0].dense.stored_bytes - one_stage[1].dense.stored_bytes == beside + 62 * 5376 * 2
    assert one_stage[0].head == one_stage[1].head
    assert one_stage[0].embedding_lookup_bytes == 0
    stages = ParallelPlan(tp=1, pp=2)
    first = shard_model(with_inputs, Precision.FP8, stages).resident_bytes
    layers = 31 * (3 * 5376 * 256 + 5376 * 2)
    # The first stage has both tables, the last the tied one, which both had before.
    assert first - shard_model(plain, Precision.FP8, stages).resident_bytes == 2 * table + layers - 5376 * 2


def test_what_a_step_touches_by_hand() -> None:
    shard = shard_model(published.deepseek_v3(), Precision.FP8, ParallelPlan(tp=8, ep=8))
    expert, table = 3 * 7168 * 2048, 129280 * 7168
    assert shard.active_expert_elements == 58 * 8 * expert
    assert shard.experts.stored_bytes == 58 * 32 * expert
    assert shard.head == TensorShare(table // 8, table // 4)
    assert shard.embedding_lookup_bytes == table // 4
    assert (shard.layers, shard.moe_layers, shard.collectives) == (61, 58, 122)
    assert (shard.experts_per_token, shard.expert_count) == (8, 256)
    attention = 7168 * (576 + 1536) + 512 * 128 * 256 + 1536 * 128 * 192 + 128 * 128 * 7168
    assert shard.dense_elements_undivided == 61 * attention + 3 * 3 * 7168 * 18432 + 58 * expert


def test_a_tied_table_is_the_head_and_is_not_looked_up_apart() -> None:
    shard = shard_model(published.gemma_3_27b(), Precision.FP8, ParallelPlan(tp=2))
    assert shard.head == TensorShare(262208 * 5376 // 2, 262208 * 5376)
    assert shard.embedding_lookup_bytes == 0


def test_a_step_passes_the_layers_of_all_stages() -> None:
    model = published.llama_3_1_70b()
    whole = shard_model(model, Precision.FP8, ParallelPlan(tp=2))
    staged = shard_model(model, Precision.FP8, ParallelPlan(tp=2, pp=4))
    assert staged.dense == whole.dense
    assert staged.resident_bytes < whole.resident_bytes


PLANS = [
    ParallelPlan(tp, pp, ep, dp, attention_dp)
    for tp, pp, ep, dp, attention_dp in (
        (1, 1, 1, 1, False),
        (2, 1, 1, 1, False),
        (4, 1, 1, 1, False),
        (8, 1, 1, 1, False),
        (8, 1, 8, 1, False),
        (8, 1, 8, 1, True),
        (8, 1, 16, 2, False),
        (2, 4, 1, 1, False),
        (1, 8, 1, 1, False),
        (1, 3, 1, 1, False),
        (4, 2, 4, 1, False),
    )
]
MODELS = [
    published.llama_3_1_70b(),
    published.gemma_3_27b(),
    published.deepseek_v3(),
    published.gpt_oss_120b(),
    published.qwen3_next_80b(),
    published.jamba(),
    published.llama_4_scout(),
    # Nothing divides evenly.
    Model("odd", "O", "O", 1000, 999, True, None, None, (LayerGroup(7, Attention(7, 7, 33), DenseFfn(777)),)),
    Model("odd", "O", "O", 100, 99, False, None, None, (LayerGroup(5, Attention(9, 3, 7), MoeFfn(7, 2, 55)),)),
]


def test_shards_are_smaller_than_the_whole_and_together_no_less(subtests: pytest.Subtests) -> None:
    for weights in [Precision.BF16, Precision.FP8, Precision.NVFP4, Precision.MXFP4]:
        for model in MODELS:
            with subtests.test(model=model.name, weights=weights):
                whole = shard_model(model, weights, ParallelPlan()).resident_bytes
                for plan in PLANS:
                    one = shard_model(model, weights, plan).resident_bytes
                    assert one <= whole
                    # Replicas that share their experts hold them once.
                    ranks = plan.replica * (plan.dp if plan.ep > plan.tp else 1)
                    assert one * ranks >= whole


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_more_ranks_and_narrower_formats_never_take_more(model: Model) -> None:
    for weights in (Precision.BF16, Precision.FP8, Precision.MXFP4):
        for plans in ([ParallelPlan(tp=n) for n in (1, 2, 4, 8)], [ParallelPlan(pp=n) for n in (1, 2, 4, 8)]):
            bytes_by_format = [shard_model(model, weights, plan).resident_bytes for plan in plans]
            assert bytes_by_format == sorted(bytes_by_format, reverse=True)
    formats = (Precision.BF16, Precision.FP8, Precision.FP6, Precision.NVFP4, Precision.MXFP4)
    bytes_by_format = [shard_model(model, weights, ParallelPlan(tp=2)).resident_bytes for weights in formats]
    assert bytes_by_format == sorted(bytes_by_format, reverse=True)


def test_shards_of_many_cases_at_once_are_those_of_each_alone() -> None:
    paddings = ExpertPadding(1, 1), ExpertPadding(256, 128)
    cases = [
        (replace(model, name="many"), weights, plan, padding)
        for model in MODELS
        for weights in (Precision.BF16, Precision.MXFP4)
        for plan in PLANS
        for padding in paddings
    ]
    prepare_shards((model, weights, plan.replica_shape, padding) for model, weights, plan, padding in cases)
    for model, weights, plan, padding in cases:
        alone = replace(model, name="alone")
        assert shard_model(model, weights, plan, padding) == shard_model(alone, weights, plan, padding)


def test_unknown_dimensions_are_refused() -> None:
    with pytest.raises(ValueError, match="mystery"):
        shard_model(Model("mystery", "M", "O", 0, 0, False, None, None, ()), Precision.FP8, ParallelPlan())


def test_experts_filled_up_by_kernels_are_those_of_the_logs() -> None:
    model = published.gpt_oss_120b()
    bare = shard_model(model, Precision.MXFP4, ParallelPlan())
    assert bare.padding_bytes == 0
    # 65.97 GiB with Marlin kernels (vllm-issue-23278) and 64.38 with Triton's (vllm-issue-33155).
    for padding, printed in ((ExpertPadding(256, 128), 65.97), (ExpertPadding(256, 1), 64.38)):
        shard = shard_model(model, Precision.MXFP4, ParallelPlan(), padding)
        assert shard.resident_bytes == bare.resident_bytes + shard.padding_bytes
        assert shard.resident_bytes / GIB == pytest.approx(printed, rel=0.004)
        assert shard.experts == bare.experts


def test_each_rank_fills_up_its_own_share() -> None:
    model = published.gpt_oss_120b()
    two, eight = (shard_model(model, Precision.MXFP4, ParallelPlan(tp=tp), ExpertPadding(1, 128)) for tp in (2, 8))
    # 1440 to 1536, and 360 to 384.
    assert two.padding_bytes == two.experts.stored_bytes * 1536 // 1440 - two.experts.stored_bytes
    assert eight.padding_bytes == eight.experts.stored_bytes * 384 // 360 - eight.experts.stored_bytes
    whole = shard_model(model, Precision.MXFP4, ParallelPlan(tp=2, ep=2), ExpertPadding(1, 64))
    assert whole.padding_bytes == 0
