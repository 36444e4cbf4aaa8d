"""Which tensors a model has: exact counts of published checkpoints, and how each tensor is divided."""

import dataclasses

import pytest

from gpudesk.domain.model import (
    MLA,
    Attention,
    AttentionIndexer,
    Compressed,
    DenseFfn,
    GatedDeltaNet,
    KimiDelta,
    LayerGroup,
    Lightning,
    Mamba1,
    Mamba2,
    Model,
    MoeFfn,
)
from gpudesk.domain.precision import Precision
from gpudesk.engine.tensors import (
    TensorClass,
    TensorSplit,
    WeightTensor,
    count_active_parameters,
    count_parameters,
    list_layer_tensors,
    list_outer_tensors,
)


def model(hidden: int, vocab: int, *groups: LayerGroup, tied: bool = False) -> Model:
    """Build a model of which only the sizes matter."""
    return Model("m", "M", "O", hidden, vocab, tied, None, Precision.BF16, groups)


def llama(layers: int, hidden: int, heads: int, width: int, vocab: int = 128256) -> Model:
    """Build a Llama 3 or Mistral: eight KV heads of 128, gated feed-forward blocks."""
    return model(hidden, vocab, LayerGroup(layers, Attention(heads, 8, 128), DenseFfn(width)))


def qwen3(layers: int, hidden: int, heads: int, kv_heads: int, ffn: DenseFfn | MoeFfn) -> Model:
    """Build a Qwen3: norms of their own on queries and keys."""
    return model(hidden, 151936, LayerGroup(layers, Attention(heads, kv_heads, 128, qk_norm="head"), ffn))


def gpt_oss(layers: int, experts: int) -> Model:
    """Build a gpt-oss: biases everywhere, attention sinks, every second layer in a window."""
    sliding = Attention(64, 8, 64, window=128, qkv_bias=True, output_bias=True, sinks=True)
    ffn = MoeFfn(experts, 4, 2880, bias=True, router_bias=True)
    groups = [
        LayerGroup(layers // 2, sliding, ffn),
        LayerGroup(layers // 2, dataclasses.replace(sliding, window=None), ffn),
    ]
    return model(2880, 201088, *groups)


def deepseek_v3() -> Model:
    """Build DeepSeek-V3 without its layer for multi-token prediction."""
    mixer = MLA(128, 512, 128, 128, 64, q_lora_rank=1536)
    return model(
        7168,
        129280,
        LayerGroup(3, mixer, DenseFfn(18432)),
        LayerGroup(58, mixer, MoeFfn(256, 8, 2048, shared_intermediate_size=2048, router_bias=True)),
    )


def jamba() -> Model:
    """Build Jamba v0.1: 28 Mamba layers, four with attention, experts in every second layer."""
    mamba = Mamba1(8192, 16, 4, 256, inner_norms=True)
    return model(
        4096,
        65536,
        LayerGroup(12, mamba, DenseFfn(14336)),
        LayerGroup(16, mamba, MoeFfn(16, 2, 14336)),
        LayerGroup(4, Attention(32, 8, 128), DenseFfn(14336)),
    )


def gemma(layers: int, hidden: int, vocab: int, mixer: Attention, width: int) -> Model:
    """Build a Gemma: tied embeddings, norms before and after each block."""
    return model(hidden, vocab, LayerGroup(layers, mixer, DenseFfn(width), norms=4), tied=True)


PUBLISHED = {
    "Llama 3.1 8B": (llama(32, 4096, 32, 14336), 8_030_261_248),
    "Llama 3.1 70B": (llama(80, 8192, 64, 28672), 70_553_706_496),
    "Llama 3.1 405B": (llama(126, 16384, 128, 53248), 405_853_388_800),
    "Mistral 7B v0.3": (llama(32, 4096, 32, 14336, 32768), 7_248_023_552),
    "Qwen2.5 7B": (
        model(3584, 152064, LayerGroup(28, Attention(28, 4, 128, qkv_bias=True), DenseFfn(18944))),
        7_615_616_512,
    ),
    "Qwen3 32B": (qwen3(64, 5120, 64, 8, DenseFfn(25600)), 32_762_123_264),
    "Qwen3 30B A3B": (qwen3(48, 2048, 32, 4, MoeFfn(128, 8, 768)), 30_532_122_624),
    "Mixtral 8x7B": (model(4096, 32000, LayerGroup(32, Attention(32, 8, 128), MoeFfn(8, 2, 14336))), 46_702_792_704),
    "gpt-oss-120b": (gpt_oss(36, 128), 116_829_156_672),
    "gpt-oss-20b": (gpt_oss(24, 32), 20_914_757_184),
    "Jamba v0.1": (jamba(), 51_570_323_328),
    # 671,026,404,352 weights and one correction number an expert and layer.
    "DeepSeek V3": (deepseek_v3(), 671_026_404_352 + 58 * 256),
    "Gemma 2 9B": (gemma(42, 3584, 256000, Attention(16, 8, 256), 14336), 9_241_705_984),
    "Gemma 3 27B, text": (gemma(62, 5376, 262208, Attention(32, 16, 128, qk_norm="head"), 21504), 27_009_346_304),
    "Phi-4": (model(5120, 100352, LayerGroup(40, Attention(40, 10, 128), DenseFfn(17920))), 14_659_507_200),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_count_is_that_of_the_published_checkpoint(name: str) -> None:
    built, published = PUBLISHED[name]
    assert count_parameters(built) == published


def test_only_chosen_experts_are_active() -> None:
    # Qwen3 30B A3B by hand, a layer: q and o 2048 x 4096, k and v 2048 x 512, norms 2 x 128 + 2 x 2048,
    # router 2048 x 128, eight experts of 3 x 2048 x 768; then the final norm and the LM head.
    layer = 2 * 2048 * 4096 + 2 * 2048 * 512 + 2 * 128 + 2 * 2048 + 2048 * 128 + 8 * 3 * 2048 * 768
    table = 151936 * 2048
    built = PUBLISHED["Qwen3 30B A3B"][0]
    assert count_active_parameters(built) == 48 * layer + 2048 + table
    assert count_active_parameters(built, with_embedding=True) == 48 * layer + 2048 + 2 * table


def test_tied_embedding_counts_once_and_is_active_as_lm_head() -> None:
    built = PUBLISHED["Gemma 2 9B"][0]
    assert count_active_parameters(built) == count_parameters(built)
    assert count_active_parameters(built, with_embedding=True) == count_parameters(built)
    assert [tensor.name for tensor in list_outer_tensors(built)] == ["embed_tokens", "norm"]


def test_model_without_dimensions_has_no_parameters() -> None:
    unknown = model(0, 0)
    assert not unknown.dimensions_known
    assert count_parameters(unknown) == 0
    assert count_active_parameters(unknown) == 0


def tensors_of(group: LayerGroup, hidden: int = 1024) -> dict[str, WeightTensor]:
    """Return the tensors of one layer by name, after checking that no name stands twice."""
    tensors = list_layer_tensors(model(hidden, 1000, group), group)
    named = {tensor.name: tensor for tensor in tensors}
    assert len(named) == len(tensors)
    return named


def mixer_parameters(group: LayerGroup, hidden: int) -> int:
    """Count the parameters of a layer that has only a mixer."""
    return sum(tensor.parameters for tensor in tensors_of(group, hidden).values())


def test_grouped_heads_divide_apart_from_query_heads() -> None:
    mixer = Attention(16, 4, 64, qkv_bias=True, output_bias=True, sinks=True, qk_norm="full")
    named = tensors_of(LayerGroup(1, mixer, norms=0))
    assert named["q_proj"].split is TensorSplit.TENSOR
    assert named["o_proj"].split is TensorSplit.TENSOR
    for name in ("k_proj", "v_proj", "kv_bias", "k_norm"):
        assert (named[name].split, named[name].kv_heads) == (TensorSplit.KV_HEADS, 4)
    assert named["o_bias"].split is TensorSplit.REPLICATED
    assert (named["q_norm"].elements, named["k_norm"].elements) == (16 * 64, 4 * 64)
    is_quantizable = {name for name, tensor in named.items() if tensor.is_quantizable}
    assert is_quantizable == {"q_proj", "k_proj", "v_proj", "o_proj"}


def test_attention_variants_change_the_tensors_they_name() -> None:
    plain = mixer_parameters(LayerGroup(1, Attention(16, 4, 64), norms=0), 1024)
    values = Attention(16, 4, 64, v_head_dim=32)
    assert mixer_parameters(LayerGroup(1, values, norms=0), 1024) == plain - 32 * 1024 * (4 + 16)
    shared = Attention(16, 4, 64, shared_kv_projection=True)
    assert mixer_parameters(LayerGroup(1, shared, norms=0), 1024) == plain - 1024 * 4 * 64
    by_element = Attention(16, 4, 64, output_gate="element")
    assert mixer_parameters(LayerGroup(1, by_element, norms=0), 1024) == plain + 1024 * 16 * 64
    by_head = Attention(16, 4, 64, output_gate="head")
    assert mixer_parameters(LayerGroup(1, by_head, norms=0), 1024) == plain + 1024 * 16


def test_a_layer_that_reuses_a_cache_has_no_keys_and_values() -> None:
    keeping = Attention(16, 4, 64, qkv_bias=True, qk_norm="head")
    reusing = dataclasses.replace(keeping, reuses_cache=True)
    named = tensors_of(LayerGroup(1, reusing, norms=0), 1024)
    assert set(named) == {"q_proj", "o_proj", "q_bias", "q_norm"}
    full = tensors_of(LayerGroup(1, dataclasses.replace(reusing, qk_norm="full"), norms=0), 1024)
    assert full["q_norm"].elements == 16 * 64
    assert "k_norm" not in full


def test_block_indexer_has_two_projections_and_two_norms() -> None:
    plain = mixer_parameters(LayerGroup(1, Attention(64, 4, 128), norms=0), 6144)
    sparse = Attention(64, 4, 128, indexer=AttentionIndexer(4, 128, 2048, block=128))
    assert mixer_parameters(LayerGroup(1, sparse, norms=0), 6144) - plain == 6144 * (4 + 1) * 128 + 2 * 128


def test_latent_attention_replicates_what_all_heads_share() -> None:
    named = tensors_of(LayerGroup(1, MLA(128, 512, 128, 128, 64, q_lora_rank=1536), norms=0), 7168)
    replicated = {name for name, tensor in named.items() if tensor.split is TensorSplit.REPLICATED}
    assert replicated == {"q_a_proj", "q_a_layernorm", "kv_a_proj_with_mqa", "kv_a_layernorm"}
    assert named["kv_a_proj_with_mqa"].elements == 7168 * 576
    assert named["q_b_proj"].elements == 1536 * 128 * 192
    assert named["kv_b_proj"].elements == 512 * 128 * 256
    assert named["o_proj"].elements == 128 * 128 * 7168


def test_latent_attention_projects_queries_at_once_without_a_rank() -> None:
    # DeepSeek-V2-Lite: no query compression.
    named = tensors_of(LayerGroup(1, MLA(16, 512, 128, 128, 64), norms=0), 2048)
    assert named["q_proj"].elements == 2048 * 16 * 192
    assert "q_a_proj" not in named


def test_token_indexer_adds_weights_unless_it_is_reused() -> None:
    base = MLA(128, 512, 128, 128, 64, q_lora_rank=1536)
    own = dataclasses.replace(base, indexer=AttentionIndexer(64, 128, 2048))
    reused = dataclasses.replace(base, indexer=AttentionIndexer(64, 128, 2048, reused=True))
    counts = [mixer_parameters(LayerGroup(1, mixer, norms=0), 7168) for mixer in (base, own, reused)]
    # DeepSeek-V3.2 by hand: queries from the compressed ones, one key, a weight a head, a norm with bias.
    assert counts[1] - counts[0] == 1536 * 64 * 128 + 7168 * 128 + 7168 * 64 + 2 * 128
    assert counts[2] == counts[0]


def test_output_gate_of_latent_attention_is_as_wide_as_its_output() -> None:
    base = MLA(96, 512, 128, 128, 64, q_lora_rank=1536)
    gated = dataclasses.replace(base, output_gate=True)
    counts = [mixer_parameters(LayerGroup(1, mixer, norms=0), 7168) for mixer in (base, gated)]
    assert counts[1] - counts[0] == 7168 * 96 * 128


def test_linear_attention_by_hand() -> None:
    # Qwen3-Next: q, k 16 x 128; v, z 32 x 128; a and b one a value head; convolution of four over q, k, v.
    delta = GatedDeltaNet(16, 32, 128, 128, 4)
    expected = 2048 * (2 * 2048 + 2 * 4096 + 2 * 32) + 4096 * 2048 + (2 * 2048 + 4096) * 4 + 2 * 32 + 128
    assert mixer_parameters(LayerGroup(1, delta, norms=0), 2048) == expected
    # MiniMax-M1: queries, keys, values, gate and output of 64 x 128, one norm.
    lightning = Lightning(64, 128)
    assert mixer_parameters(LayerGroup(1, lightning, norms=0), 6144) == 5 * 6144 * 8192 + 8192


def test_kimi_delta_gate_is_thin_or_full() -> None:
    thin, full = KimiDelta(96, 128, 4), KimiDelta(96, 128, 4, full_rank_gate=True)
    counts = [mixer_parameters(LayerGroup(1, mixer, norms=0), 7168) for mixer in (thin, full)]
    width = 96 * 128
    rest = 7168 * (4 * width + 128 + 96) + 128 * width + 3 * width * 4 + 96 + width + 128
    assert counts == [rest + 7168 * 128 + 128 * width, rest + 7168 * width]


def test_state_spaces_by_hand() -> None:
    # Nemotron 3 Nano: 64 heads of 64, state 128, eight groups.
    named = tensors_of(LayerGroup(1, Mamba2(64, 64, 128, 8, 4), norms=0), 2688)
    inner, shared = 4096, 2 * 8 * 128
    expected = 2688 * (2 * inner + shared + 64) + inner * 2688 + (inner + shared) * 5 + 3 * 64 + inner
    assert sum(tensor.parameters for tensor in named.values()) == expected
    assert (named["in_proj_bc"].split, named["in_proj_bc"].kv_heads) == (TensorSplit.KV_HEADS, 8)
    with_norms, without = Mamba1(8192, 16, 4, 256, inner_norms=True), Mamba1(8192, 16, 4, 256)
    counts = [mixer_parameters(LayerGroup(1, mixer, norms=0), 4096) for mixer in (with_norms, without)]
    assert counts[0] - counts[1] == 256 + 16 + 16


def test_compressed_attention_by_hand() -> None:
    # DeepSeek-V4-Flash: a window alone; folding by 128; folding by 4 with an indexer, overlapping.
    window = Compressed(64, 512, 1024, 1024, 8, 128)
    heavy = dataclasses.replace(window, compress_ratio=128)
    sparse = dataclasses.replace(window, compress_ratio=4, indexer=AttentionIndexer(64, 128, 512))
    counts = [mixer_parameters(LayerGroup(1, mixer, norms=0), 4096) for mixer in (window, heavy, sparse)]
    queries = 4096 * 1024 + 1024 + 1024 * 64 * 512
    outputs = 64 * 512 * 1024 + 8 * 1024 * 4096 + 64
    assert counts[0] == queries + 4096 * 512 + 512 + outputs
    assert counts[1] - counts[0] == 2 * 4096 * 512 + 128 * 512 + 512
    folding = 2 * 4096 * 1024 + 4 * 1024 + 512
    indexer = 1024 * 64 * 128 + 4096 * 64 + 2 * 4096 * 256 + 4 * 256 + 128
    assert counts[2] - counts[0] == folding + indexer


def test_experts_are_copies_and_divide_over_the_expert_group() -> None:
    ffn = MoeFfn(16, 2, 512, shared_intermediate_size=1024, shared_gate=True, router_bias=True, bias=True)
    named = tensors_of(LayerGroup(1, None, ffn, norms=1))
    for name in ("experts.gate_proj", "experts.up_proj", "experts.down_proj"):
        tensor = named[name]
        assert (tensor.tensor_class, tensor.split, tensor.copies) == (TensorClass.EXPERT, TensorSplit.EXPERT, 16)
        assert (tensor.elements, tensor.parameters) == (1024 * 512, 16 * 1024 * 512)
    assert named["experts.bias"].elements == 2 * 512 + 1024
    assert not named["experts.bias"].is_quantizable
    assert named["shared_expert.up_proj"].elements == 1024 * 1024
    assert named["shared_expert_gate"].elements == 1024
    assert (named["router"].split, named["router_bias"].elements) == (TensorSplit.REPLICATED, 16)
    assert not named["router"].is_quantizable


def test_latent_experts_work_on_the_narrow_vector() -> None:
    # Nemotron 3 Super: experts on 1024 of 4096, not gated, the shared one at full width.
    ffn = MoeFfn(512, 22, 2688, 5376, gated=False, latent_size=1024, latent_norm=True)
    named = tensors_of(LayerGroup(1, None, ffn, norms=0), 4096)
    assert "experts.gate_proj" not in named
    assert named["experts.up_proj"].elements == 1024 * 2688
    assert named["latent_down_proj"].elements == named["latent_up_proj"].elements == 4096 * 1024
    assert named["shared_expert.up_proj"].elements == 4096 * 5376
    assert named["router"].elements == 4096 * 512
    assert named["latent_norm"].elements == 1024


def test_dense_block_next_to_the_experts_divides_like_a_dense_one() -> None:
    # Gemma 4 26B A4B.
    ffn = MoeFfn(128, 8, 704, parallel_dense_intermediate_size=2112)
    named = tensors_of(LayerGroup(1, None, ffn, norms=0), 2816)
    beside = {"gate_proj", "up_proj", "down_proj"}
    assert {name for name in named if named[name].tensor_class is TensorClass.DENSE_FFN} == beside
    assert all(named[name].elements == 2816 * 2112 for name in beside)


def test_dense_block_with_two_matrices_and_biases() -> None:
    named = tensors_of(LayerGroup(1, None, DenseFfn(4096, gated=False, bias=True), norms=2))
    assert set(named) == {"up_proj", "down_proj", "up_bias", "down_bias", "norms"}
    assert (named["up_bias"].elements, named["down_bias"].elements) == (4096, 1024)
    assert named["norms"].elements == 2 * 1024


def test_residual_streams_add_two_mixers_a_layer_and_one_head() -> None:
    # DeepSeek-V4: four streams; 24 outputs from 4 x 4096 inputs, 24 biases, three scales, twice a layer.
    group = LayerGroup(1, None, DenseFfn(16), norms=0)
    plain = model(4096, 8, group)
    streams = dataclasses.replace(plain, residual_streams=4)
    per_layer = 2 * (24 * 4 * 4096 + 24 + 3)
    assert count_parameters(streams) - count_parameters(plain) == per_layer + 4 * 4 * 4096 + 4 + 1


def test_inputs_of_layers_add_a_table_that_a_token_reads_a_row_of() -> None:
    # Gemma 4 E2B: 35 layers of 1536, inputs of 256, a table of 262144 tokens for all layers.
    group = LayerGroup(35, None, DenseFfn(16), norms=0)
    plain = dataclasses.replace(model(1536, 1000, group), tied_embeddings=True)
    with_inputs = dataclasses.replace(plain, layer_input_size=256, layer_input_vocab_size=262144)
    table = 262144 * 35 * 256
    beside = 35 * (3 * 1536 * 256 + 1536) + 256
    assert count_parameters(with_inputs) - count_parameters(plain) == table + beside
    assert count_active_parameters(with_inputs) - count_active_parameters(plain) == beside
    whole = count_active_parameters(with_inputs, with_embedding=True) - count_active_parameters(plain)
    assert whole == table + beside
    # Without a vocabulary of its own the table has that of the model.
    short = dataclasses.replace(with_inputs, layer_input_vocab_size=None)
    assert count_parameters(with_inputs) - count_parameters(short) == (262144 - 1000) * 35 * 256


def test_alternating_updates_and_thin_paths_by_hand() -> None:
    # Gemma 3n: four streams of 2048, each but the first with a matrix in and one out; rank 64.
    group = LayerGroup(2, None, DenseFfn(16), norms=0)
    plain = model(2048, 8, group)
    streams = dataclasses.replace(plain, altup_streams=4)
    a_layer = 4 * 4 + 4 * 16 + 2048 * 4 + 2 * 2048
    assert count_parameters(streams) - count_parameters(plain) == 2 * a_layer + 2 * 3 * 2048**2
    thin = dataclasses.replace(plain, laurel_rank=64)
    assert count_parameters(thin) - count_parameters(plain) == 2 * (2 * 2048 * 64 + 2048)
