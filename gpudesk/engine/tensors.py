"""Weight tensors of a model: the single source for memory, sharding and time."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

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
    Mixer,
    Model,
    MoeFfn,
    ShortConvolution,
)
from gpudesk.frozen_dataclass import frozen_dataclass


class TensorClass(StrEnum):
    """Role of a tensor; operators, precision and sharding depend on it."""

    EMBEDDING = "embedding"
    LAYER_EMBEDDING = "layer_embedding"
    LM_HEAD = "lm_head"
    MIXER = "mixer"
    DENSE_FFN = "dense_ffn"
    EXPERT = "expert"
    SHARED_EXPERT = "shared_expert"
    ROUTER = "router"
    NORM = "norm"
    SMALL = "small"


class TensorSplit(StrEnum):
    """Ranks over which a tensor is divided.

    REPLICATED: every rank holds it whole. TENSOR: divided over all TP ranks. KV_HEADS: divided over min(TP, heads)
    ranks and replicated beyond. EXPERT: divided over the group that shares the experts.
    """

    REPLICATED = "replicated"
    TENSOR = "tensor"
    KV_HEADS = "kv_heads"
    EXPERT = "expert"


@frozen_dataclass
class WeightTensor:
    """One weight of a layer or of the whole model.

    `elements` is per copy; `copies` counts equal tensors (one per expert). `kv_heads` is set with Split.KV_HEADS only.
    `quantisable` says whether a weight format that covers all matrices inside the blocks covers this one.
    """

    name: str
    tensor_class: TensorClass
    split: TensorSplit
    elements: int
    copies: int = 1
    kv_heads: int | None = None
    is_quantizable: bool = False

    @property
    def parameters(self) -> int:
        return self.elements * self.copies


def make_matrix(
    name: str,
    elements: int,
    tensor_class: TensorClass = TensorClass.MIXER,
    split: TensorSplit = TensorSplit.TENSOR,
    *,
    is_quantizable: bool = True,
) -> WeightTensor:
    """A matrix of a block: by default divided over the TP ranks and quantizable."""
    return WeightTensor(name, tensor_class, split, elements, is_quantizable=is_quantizable)


def make_kv_matrix(name: str, elements: int, heads: int) -> WeightTensor:
    """A matrix divided by key-value heads, or by the groups of a state space."""
    return WeightTensor(name, TensorClass.MIXER, TensorSplit.KV_HEADS, elements, kv_heads=heads, is_quantizable=True)


def make_vector(
    name: str, elements: int, split: TensorSplit = TensorSplit.REPLICATED, heads: int | None = None
) -> WeightTensor:
    """A small tensor that stays wide: a bias, a convolution, a decay, a sink."""
    return WeightTensor(name, TensorClass.SMALL, split, elements, kv_heads=heads)


def make_norm(
    name: str, elements: int, split: TensorSplit = TensorSplit.REPLICATED, heads: int | None = None
) -> WeightTensor:
    return WeightTensor(name, TensorClass.NORM, split, elements, kv_heads=heads)


def list_mixer_tensors(mixer: Mixer, hidden: int) -> list[WeightTensor]:  # noqa: PLR0911 - one per kind
    """Weights of one mixer in a layer whose residual stream is `hidden` wide."""
    match mixer:
        case Attention():
            return _list_attention_tensors(mixer, hidden)
        case MLA():
            return _list_mla_tensors(mixer, hidden)
        case Compressed():
            return _list_compressed_tensors(mixer, hidden)
        case GatedDeltaNet():
            return _list_gated_delta_net_tensors(mixer, hidden)
        case KimiDelta():
            return _list_kimi_delta_tensors(mixer, hidden)
        case Mamba1():
            return _list_mamba1_tensors(mixer, hidden)
        case Mamba2():
            return _list_mamba2_tensors(mixer, hidden)
        case Lightning():
            return _list_lightning_tensors(mixer, hidden)
        case ShortConvolution():
            return _list_short_convolution_tensors(mixer, hidden)
        case _:
            assert_never(mixer)


def _list_attention_tensors(mixer: Attention, hidden: int) -> list[WeightTensor]:
    queries = mixer.heads * mixer.head_dim
    outputs = mixer.heads * mixer.value_dim
    tensors = [make_matrix("q_proj", hidden * queries), make_matrix("o_proj", outputs * hidden)]
    if not mixer.reuses_cache:
        tensors += _list_kv_tensors(mixer, hidden)
    if mixer.output_gate == "element":
        tensors.append(make_matrix("gate_proj", hidden * outputs))
    elif mixer.output_gate == "head":
        tensors.append(make_matrix("gate_proj", hidden * mixer.heads, is_quantizable=False))
    if mixer.qkv_bias:
        tensors.append(make_vector("q_bias", queries, TensorSplit.TENSOR))
    if mixer.output_bias:
        tensors.append(make_vector("o_bias", hidden))
    if mixer.sinks:
        tensors.append(make_vector("sinks", mixer.heads, TensorSplit.TENSOR))
    return [*tensors, *_list_qk_norms(mixer), *_block_indexer(mixer.indexer, hidden)]


def _list_kv_tensors(mixer: Attention, hidden: int) -> list[WeightTensor]:
    keys = mixer.kv_heads * mixer.head_dim
    values = mixer.kv_heads * mixer.value_dim
    tensors = [make_kv_matrix("k_proj", hidden * keys, mixer.kv_heads)]
    if not mixer.shared_kv_projection:
        tensors.append(make_kv_matrix("v_proj", hidden * values, mixer.kv_heads))
    if mixer.qkv_bias:
        tensors.append(make_vector("kv_bias", keys + values, TensorSplit.KV_HEADS, mixer.kv_heads))
    return tensors


def _list_qk_norms(mixer: Attention) -> list[WeightTensor]:
    if mixer.qk_norm == "none":
        return []
    if mixer.qk_norm == "head":
        norms = [make_norm("q_norm", mixer.head_dim), make_norm("k_norm", mixer.head_dim)]
    else:
        norms = [
            make_norm("q_norm", mixer.heads * mixer.head_dim, TensorSplit.TENSOR),
            make_norm("k_norm", mixer.kv_heads * mixer.head_dim, TensorSplit.KV_HEADS, mixer.kv_heads),
        ]
    return norms[:1] if mixer.reuses_cache else norms


def _block_indexer(indexer: AttentionIndexer | None, hidden: int) -> list[WeightTensor]:
    """The indexer of grouped-query attention, which picks blocks; its queries come from the residual stream."""
    if indexer is None or indexer.reused:
        return []
    return [
        make_matrix("indexer.q_proj", hidden * indexer.heads * indexer.head_dim, split=TensorSplit.REPLICATED),
        make_matrix("indexer.k_proj", hidden * indexer.head_dim, split=TensorSplit.REPLICATED),
        make_norm("indexer.q_norm", indexer.head_dim),
        make_norm("indexer.k_norm", indexer.head_dim),
    ]


def _list_mla_tensors(mixer: MLA, hidden: int) -> list[WeightTensor]:
    queries = mixer.heads * (mixer.qk_nope_head_dim + mixer.qk_rope_head_dim)
    outputs = mixer.heads * mixer.v_head_dim
    latent = mixer.kv_lora_rank
    tensors = [
        make_matrix("kv_a_proj_with_mqa", hidden * (latent + mixer.qk_rope_head_dim), split=TensorSplit.REPLICATED),
        make_norm("kv_a_layernorm", latent),
        make_matrix("kv_b_proj", latent * mixer.heads * (mixer.qk_nope_head_dim + mixer.v_head_dim)),
        make_matrix("o_proj", outputs * hidden),
    ]
    if mixer.q_lora_rank is None:
        tensors.append(make_matrix("q_proj", hidden * queries))
    else:
        tensors.append(make_matrix("q_a_proj", hidden * mixer.q_lora_rank, split=TensorSplit.REPLICATED))
        tensors.append(make_norm("q_a_layernorm", mixer.q_lora_rank))
        tensors.append(make_matrix("q_b_proj", mixer.q_lora_rank * queries))
    if mixer.output_gate:
        tensors.append(make_matrix("g_proj", hidden * outputs))
    return [*tensors, *_list_token_indexer_tensors(mixer.indexer, hidden, mixer.q_lora_rank or hidden)]


def _list_token_indexer_tensors(indexer: AttentionIndexer | None, hidden: int, query_input: int) -> list[WeightTensor]:
    """The indexer of latent attention, which picks tokens; its key norm has a weight and a bias.

    Keys of a pool are joined by a gate, with a position embedding per place.
    """
    if indexer is None or indexer.reused:
        return []
    tensors = [
        make_matrix("indexer.wq_b", query_input * indexer.heads * indexer.head_dim, split=TensorSplit.REPLICATED),
        make_matrix("indexer.wk", hidden * indexer.head_dim, split=TensorSplit.REPLICATED),
        make_matrix("indexer.weights_proj", hidden * indexer.heads, split=TensorSplit.REPLICATED, is_quantizable=False),
        make_norm("indexer.k_norm", 2 * indexer.head_dim),
    ]
    if indexer.pool > 1:
        gate = make_matrix(
            "indexer.gate", hidden * indexer.head_dim, split=TensorSplit.REPLICATED, is_quantizable=False
        )
        tensors += [gate, make_vector("indexer.positions", indexer.pool * indexer.head_dim)]
    return tensors


def _list_compressed_tensors(mixer: Compressed, hidden: int) -> list[WeightTensor]:
    width = mixer.heads * mixer.head_dim
    tensors = [
        make_matrix("q_a_proj", hidden * mixer.q_lora_rank, split=TensorSplit.REPLICATED),
        make_norm("q_a_norm", mixer.q_lora_rank),
        make_matrix("q_b_proj", mixer.q_lora_rank * width),
        make_matrix("kv_proj", hidden * mixer.head_dim, split=TensorSplit.REPLICATED),
        make_norm("kv_norm", mixer.head_dim),
        # Each group of heads has its own projection, so the first output matrix is block-diagonal.
        make_matrix("o_a_proj", width * mixer.o_lora_rank),
        make_matrix("o_b_proj", mixer.o_groups * mixer.o_lora_rank * hidden),
        make_vector("sinks", mixer.heads, TensorSplit.TENSOR),
    ]
    if mixer.compress_ratio is not None:
        overlap = 1 if mixer.indexer is None else 2
        tensors += _list_compressor_tensors("compressor", hidden, mixer.head_dim, mixer.compress_ratio, overlap)
        if mixer.indexer is not None:
            tensors += _list_entry_indexer_tensors(mixer.indexer, hidden, mixer.q_lora_rank, mixer.compress_ratio)
    return tensors


def _list_compressor_tensors(name: str, hidden: int, head_dim: int, ratio: int, overlap: int) -> list[WeightTensor]:
    """Projections that compress `ratio` tokens into one entry; published checkpoints keep them wide."""
    width = overlap * head_dim
    return [
        make_matrix(f"{name}.kv_proj", hidden * width, split=TensorSplit.REPLICATED, is_quantizable=False),
        make_matrix(f"{name}.gate_proj", hidden * width, split=TensorSplit.REPLICATED, is_quantizable=False),
        make_vector(f"{name}.position_bias", ratio * width),
        make_norm(f"{name}.kv_norm", head_dim),
    ]


def _list_entry_indexer_tensors(
    indexer: AttentionIndexer, hidden: int, q_lora_rank: int, ratio: int
) -> list[WeightTensor]:
    """The indexer of compressed attention, which compresses its own keys and picks compressed entries."""
    return [
        make_matrix("indexer.q_b_proj", q_lora_rank * indexer.heads * indexer.head_dim, split=TensorSplit.REPLICATED),
        make_matrix("indexer.weights_proj", hidden * indexer.heads, split=TensorSplit.REPLICATED, is_quantizable=False),
        *_list_compressor_tensors("indexer", hidden, indexer.head_dim, ratio, overlap=2),
    ]


def _list_gated_delta_net_tensors(mixer: GatedDeltaNet, hidden: int) -> list[WeightTensor]:
    keys = mixer.key_heads * mixer.key_head_dim
    values = mixer.value_heads * mixer.value_head_dim
    return [
        make_matrix("in_proj_qkvz", hidden * 2 * (keys + values)),
        make_matrix("in_proj_ba", hidden * 2 * mixer.value_heads, is_quantizable=False),
        make_matrix("out_proj", values * hidden),
        make_vector("conv1d", (2 * keys + values) * mixer.conv_kernel, TensorSplit.TENSOR),
        make_vector("A_log", mixer.value_heads, TensorSplit.TENSOR),
        make_vector("dt_bias", mixer.value_heads, TensorSplit.TENSOR),
        make_norm("norm", mixer.value_head_dim),
    ]


def _list_kimi_delta_tensors(mixer: KimiDelta, hidden: int) -> list[WeightTensor]:
    width = mixer.heads * mixer.head_dim
    if mixer.full_rank_gate:
        gate = [make_matrix("g_proj", hidden * width)]
    else:
        gate = [
            make_matrix("g_a_proj", hidden * mixer.head_dim, split=TensorSplit.REPLICATED),
            make_matrix("g_b_proj", mixer.head_dim * width),
        ]
    if mixer.full_rank_decay:
        decay = [make_matrix("f_proj", hidden * width)]
    else:
        decay = [
            make_matrix("f_a_proj", hidden * mixer.head_dim, split=TensorSplit.REPLICATED),
            make_matrix("f_b_proj", mixer.head_dim * width),
        ]
    return [
        make_matrix("qkv_proj", hidden * 3 * width),
        *decay,
        *gate,
        make_matrix("b_proj", hidden * mixer.heads, is_quantizable=False),
        make_matrix("o_proj", width * hidden),
        make_vector("conv1d", 3 * width * mixer.conv_kernel, TensorSplit.TENSOR),
        make_vector("A_log", mixer.heads, TensorSplit.TENSOR),
        make_vector("dt_bias", width, TensorSplit.TENSOR),
        make_norm("o_norm", mixer.head_dim),
    ]


def _list_mamba1_tensors(mixer: Mamba1, hidden: int) -> list[WeightTensor]:
    inner, state, rank = mixer.inner_size, mixer.state_size, mixer.dt_rank
    tensors = [
        make_matrix("in_proj", hidden * 2 * inner),
        make_matrix("x_proj", inner * (rank + 2 * state), is_quantizable=False),
        make_matrix("dt_proj", rank * inner, is_quantizable=False),
        make_matrix("out_proj", inner * hidden),
        make_vector("dt_proj_bias", inner, TensorSplit.TENSOR),
        make_vector("conv1d", inner * mixer.conv_kernel, TensorSplit.TENSOR),
        make_vector("conv1d_bias", inner, TensorSplit.TENSOR),
        make_vector("A_log", inner * state, TensorSplit.TENSOR),
        make_vector("D", inner, TensorSplit.TENSOR),
    ]
    if mixer.inner_norms:
        tensors += [make_norm("dt_layernorm", rank), make_norm("b_layernorm", state), make_norm("c_layernorm", state)]
    return tensors


def _list_mamba2_tensors(mixer: Mamba2, hidden: int) -> list[WeightTensor]:
    inner, shared = mixer.inner_size, 2 * mixer.groups * mixer.state_size
    return [
        make_matrix("in_proj", hidden * (2 * inner + mixer.heads)),
        make_kv_matrix("in_proj_bc", hidden * shared, mixer.groups),
        make_matrix("out_proj", inner * hidden),
        # Kernel taps and one bias per channel.
        make_vector("conv1d", inner * (mixer.conv_kernel + 1), TensorSplit.TENSOR),
        make_vector("conv1d_bc", shared * (mixer.conv_kernel + 1), TensorSplit.KV_HEADS, mixer.groups),
        make_vector("A_log", mixer.heads, TensorSplit.TENSOR),
        make_vector("D", mixer.heads, TensorSplit.TENSOR),
        make_vector("dt_bias", mixer.heads, TensorSplit.TENSOR),
        *([make_norm("norm", inner, TensorSplit.TENSOR)] if mixer.gated_norm else []),
    ]


def _list_short_convolution_tensors(mixer: ShortConvolution, hidden: int) -> list[WeightTensor]:
    """Input projection to two gates and a value; the value is convolved."""
    return [
        make_matrix("in_proj", hidden * 3 * mixer.inner_size),
        make_matrix("out_proj", mixer.inner_size * hidden),
        make_vector("conv", mixer.inner_size * mixer.conv_kernel, TensorSplit.TENSOR),
    ]


def _list_lightning_tensors(mixer: Lightning, hidden: int) -> list[WeightTensor]:
    width = mixer.heads * mixer.head_dim
    return [
        make_matrix("qkv_proj", hidden * 3 * width),
        make_matrix("output_gate", hidden * width),
        make_matrix("out_proj", width * hidden),
        make_norm("norm", width, TensorSplit.TENSOR),
    ]


def list_layer_side_tensors(model: Model) -> list[WeightTensor]:
    """Weights of one layer outside its mixer and its feed-forward block."""
    tensors: list[WeightTensor] = []
    if model.residual_streams > 1:
        tensors += _list_hyper_connection_tensors(model)
    if model.altup_streams > 1:
        tensors += _list_altup_tensors(model)
    if model.laurel_rank:
        tensors += _list_laurel_tensors(model)
    if model.layer_input_size:
        tensors += _list_layer_input_tensors(model)
    return tensors


def list_outer_side_tensors(model: Model) -> list[WeightTensor]:
    """Weights of the same kinds that the model has once."""
    tensors: list[WeightTensor] = []
    if model.residual_streams > 1 and model.residual_head:
        streams = model.residual_streams
        tensors.append(make_vector("hyper_head", streams * streams * model.hidden_size + streams + 1))
    if model.altup_streams > 1:
        # Every stream but the first has an input matrix and an output matrix.
        size = (model.altup_streams - 1) * model.hidden_size**2
        names = ("altup_projections", "altup_unembed_projections")
        tensors += [make_matrix(name, size, TensorClass.DENSE_FFN, is_quantizable=False) for name in names]
    if model.layer_input_size:
        vocabulary = model.layer_input_vocab_size or model.vocab_size
        table = vocabulary * model.layer_count * model.layer_input_size
        tensors.append(WeightTensor("embed_tokens_per_layer", TensorClass.LAYER_EMBEDDING, TensorSplit.TENSOR, table))
        tensors.append(make_norm("per_layer_projection_norm", model.layer_input_size))
    return tensors


def _list_hyper_connection_tensors(model: Model) -> list[WeightTensor]:
    """Mixing weights of the residual streams, before the mixer and before the feed-forward block.

    Each maps all streams to one input and one output weight per stream and, if they are mixed, to a stream-by-stream
    matrix, with a bias per output and a scale for each of the two or three.
    """
    streams = model.residual_streams
    outputs = (2 + (streams if model.residual_mixing else 0)) * streams
    size = outputs * streams * model.hidden_size + outputs + (3 if model.residual_mixing else 2)
    return [make_vector("hyper_connection.mixer", size), make_vector("hyper_connection.ffn", size)]


def _list_altup_tensors(model: Model) -> list[WeightTensor]:
    """The weights that predict all streams from their mix and correct them by the computed one.

    A router over the streams, a matrix of predictions and a vector of corrections for each of its outputs, and a scale
    as wide as the stream.
    """
    streams, hidden = model.altup_streams, model.hidden_size
    return [
        make_vector("altup.modality_router", hidden * streams),
        make_vector("altup.coefficients", streams**3 + streams**2),
        make_vector("altup.correct_output_scale", hidden),
        make_norm("altup.router_norm", hidden),
    ]


def _list_laurel_tensors(model: Model) -> list[WeightTensor]:
    size = model.hidden_size * model.laurel_rank
    return [
        make_matrix("laurel.linear_left", size, TensorClass.DENSE_FFN),
        make_matrix("laurel.linear_right", size, TensorClass.DENSE_FFN),
        make_norm("laurel.post_laurel_norm", model.hidden_size),
    ]


def _list_layer_input_tensors(model: Model) -> list[WeightTensor]:
    """The gate of a per-layer input, its projection into the stream, and the projection that makes it.

    The projections of all layers are one matrix in the checkpoint, of which each layer needs a slice. Serving engines
    divide that matrix over the ranks and replicate the other two.
    """
    size = model.hidden_size * model.layer_input_size
    return [
        make_matrix("per_layer_input_gate", size, TensorClass.DENSE_FFN, TensorSplit.REPLICATED),
        make_matrix("per_layer_projection", size, TensorClass.DENSE_FFN, TensorSplit.REPLICATED),
        make_matrix("per_layer_model_projection", size, TensorClass.DENSE_FFN),
        make_norm("post_per_layer_input_norm", model.hidden_size),
    ]


def list_layer_tensors(model: Model, group: LayerGroup) -> tuple[WeightTensor, ...]:
    tensors: list[WeightTensor] = []
    if group.mixer is not None:
        tensors += list_mixer_tensors(group.mixer, model.hidden_size)
    if isinstance(group.ffn, DenseFfn):
        tensors += _list_dense_tensors(group.ffn, model.hidden_size)
    elif isinstance(group.ffn, MoeFfn):
        tensors += _list_moe_tensors(group.ffn, model.hidden_size)
    if group.norms:
        tensors.append(make_norm("norms", group.norms * model.hidden_size))
    return (*tensors, *list_layer_side_tensors(model))


def list_outer_tensors(model: Model) -> tuple[WeightTensor, ...]:
    """Weights outside the layers: embeddings, LM head unless tied to the embedding, final norm."""
    table = model.vocab_size * model.hidden_size
    tensors = [WeightTensor("embed_tokens", TensorClass.EMBEDDING, TensorSplit.TENSOR, table)]
    if not model.tied_embeddings:
        tensors.append(WeightTensor("lm_head", TensorClass.LM_HEAD, TensorSplit.TENSOR, table))
    tensors.append(make_norm("norm", model.final_norms * model.hidden_size))
    if model.scalars:
        tensors.append(make_vector("scalars", model.scalars))
    return (*tensors, *list_outer_side_tensors(model))


def count_parameters(model: Model) -> int:
    """Parameters of the text model; 0 if its dimensions are not known."""
    if not model.dimensions_known:
        return 0
    total = sum(tensor.parameters for tensor in list_outer_tensors(model))
    for group in model.layers:
        total += group.count * sum(tensor.parameters for tensor in list_layer_tensors(model, group))
    return total


def count_active_parameters(model: Model, *, with_embedding: bool = False) -> int:
    """Parameters that one token passes through: the chosen experts, everything else, and the LM head.

    Lookup tables (the embedding and the per-layer input table) are left out unless asked for. A tied embedding is the
    LM head and always counts.
    """
    if not model.dimensions_known:
        return 0
    left_out = set() if with_embedding else {TensorClass.LAYER_EMBEDDING}
    if not (model.tied_embeddings or with_embedding):
        left_out.add(TensorClass.EMBEDDING)
    outer = sum(each.parameters for each in list_outer_tensors(model) if each.tensor_class not in left_out)
    return outer + sum(group.count * _count_active_elements(model, group) for group in model.layers)


def _count_active_elements(model: Model, group: LayerGroup) -> int:
    total = 0
    for tensor in list_layer_tensors(model, group):
        copies = tensor.copies
        if tensor.tensor_class is TensorClass.EXPERT and isinstance(group.ffn, MoeFfn):
            copies = group.ffn.experts_per_token
        total += tensor.elements * copies
    return total


def _list_dense_tensors(ffn: DenseFfn, hidden: int) -> list[WeightTensor]:
    size = hidden * ffn.intermediate_size
    names = ("gate_proj", "up_proj", "down_proj") if ffn.gated else ("up_proj", "down_proj")
    tensors = [make_matrix(name, size, TensorClass.DENSE_FFN) for name in names]
    if ffn.bias:
        tensors.append(make_vector("up_bias", (len(names) - 1) * ffn.intermediate_size, TensorSplit.TENSOR))
        tensors.append(make_vector("down_bias", hidden))
    return tensors


def _list_moe_tensors(ffn: MoeFfn, hidden: int) -> list[WeightTensor]:
    width = hidden if ffn.latent_size is None else ffn.latent_size
    names = ("gate_proj", "up_proj", "down_proj") if ffn.gated else ("up_proj", "down_proj")
    tensors = [
        WeightTensor("router", TensorClass.ROUTER, TensorSplit.REPLICATED, hidden * ffn.experts),
        *(
            WeightTensor(
                f"experts.{name}",
                TensorClass.EXPERT,
                TensorSplit.EXPERT,
                width * ffn.intermediate_size,
                copies=ffn.experts,
                is_quantizable=True,
            )
            for name in names
        ),
    ]
    if ffn.bias:
        biases = (len(names) - 1) * ffn.intermediate_size + width
        tensors.append(WeightTensor("experts.bias", TensorClass.EXPERT, TensorSplit.EXPERT, biases, copies=ffn.experts))
    if ffn.router_bias:
        tensors.append(WeightTensor("router_bias", TensorClass.ROUTER, TensorSplit.REPLICATED, ffn.experts))
    return [*tensors, *_list_non_expert_tensors(ffn, hidden, names)]


def _list_non_expert_tensors(ffn: MoeFfn, hidden: int, names: tuple[str, ...]) -> list[WeightTensor]:
    tensors: list[WeightTensor] = []
    if ffn.latent_size is not None:
        size = hidden * ffn.latent_size
        names_of_latent = ("latent_down_proj", "latent_up_proj")
        tensors += [make_matrix(name, size, TensorClass.DENSE_FFN, TensorSplit.REPLICATED) for name in names_of_latent]
        if ffn.latent_norm:
            tensors.append(make_norm("latent_norm", ffn.latent_size))
    if ffn.shared_intermediate_size:
        size = hidden * ffn.shared_intermediate_size
        tensors += [make_matrix(f"shared_expert.{name}", size, TensorClass.SHARED_EXPERT) for name in names]
    if ffn.shared_gate:
        tensors.append(WeightTensor("shared_expert_gate", TensorClass.ROUTER, TensorSplit.REPLICATED, hidden))
    if ffn.parallel_dense_intermediate_size is not None:
        size = hidden * ffn.parallel_dense_intermediate_size
        tensors += [make_matrix(name, size, TensorClass.DENSE_FFN) for name in names]
    return tensors
