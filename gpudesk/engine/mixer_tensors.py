"""Weights of the part of a layer that looks at other tokens: attention, linear attention, state spaces."""

from __future__ import annotations

from typing import assert_never

from gpudesk.domain.models import (
    MLA,
    Attention,
    Compressed,
    GatedDeltaNet,
    Indexer,
    KimiDelta,
    Lightning,
    Mamba1,
    Mamba2,
    Mixer,
)
from gpudesk.engine.tensor_types import Split, Tensor, kv_matrix, matrix, norm, vector


def mixer_tensors(mixer: Mixer, hidden: int) -> list[Tensor]:
    """Weights of one mixer in a layer whose residual stream is `hidden` wide."""
    match mixer:
        case Attention():
            return _attention(mixer, hidden)
        case MLA():
            return _mla(mixer, hidden)
        case Compressed():
            return _compressed(mixer, hidden)
        case GatedDeltaNet():
            return _gated_delta_net(mixer, hidden)
        case KimiDelta():
            return _kimi_delta(mixer, hidden)
        case Mamba1():
            return _mamba1(mixer, hidden)
        case Mamba2():
            return _mamba2(mixer, hidden)
        case Lightning():
            return _lightning(mixer, hidden)
        case _:
            assert_never(mixer)


def _attention(mixer: Attention, hidden: int) -> list[Tensor]:
    queries = mixer.heads * mixer.head_dim
    outputs = mixer.heads * mixer.value_dim
    tensors = [matrix("q_proj", hidden * queries), matrix("o_proj", outputs * hidden)]
    if not mixer.reuses_cache:
        tensors += _keys_and_values(mixer, hidden)
    if mixer.output_gate == "element":
        tensors.append(matrix("gate_proj", hidden * outputs))
    elif mixer.output_gate == "head":
        tensors.append(matrix("gate_proj", hidden * mixer.heads, quantisable=False))
    if mixer.qkv_bias:
        tensors.append(vector("q_bias", queries, Split.TENSOR))
    if mixer.output_bias:
        tensors.append(vector("o_bias", hidden))
    if mixer.sinks:
        tensors.append(vector("sinks", mixer.heads, Split.TENSOR))
    return [*tensors, *_qk_norms(mixer), *_block_indexer(mixer.indexer, hidden)]


def _keys_and_values(mixer: Attention, hidden: int) -> list[Tensor]:
    keys = mixer.kv_heads * mixer.head_dim
    values = mixer.kv_heads * mixer.value_dim
    tensors = [kv_matrix("k_proj", hidden * keys, mixer.kv_heads)]
    if not mixer.shared_kv_projection:
        tensors.append(kv_matrix("v_proj", hidden * values, mixer.kv_heads))
    if mixer.qkv_bias:
        tensors.append(vector("kv_bias", keys + values, Split.KV_HEADS, mixer.kv_heads))
    return tensors


def _qk_norms(mixer: Attention) -> list[Tensor]:
    if mixer.qk_norm == "none":
        return []
    if mixer.qk_norm == "head":
        norms = [norm("q_norm", mixer.head_dim), norm("k_norm", mixer.head_dim)]
    else:
        norms = [
            norm("q_norm", mixer.heads * mixer.head_dim, Split.TENSOR),
            norm("k_norm", mixer.kv_heads * mixer.head_dim, Split.KV_HEADS, mixer.kv_heads),
        ]
    return norms[:1] if mixer.reuses_cache else norms


def _block_indexer(indexer: Indexer | None, hidden: int) -> list[Tensor]:
    """The indexer of grouped-query attention, which picks blocks; its queries come from the stream."""
    if indexer is None or indexer.reused:
        return []
    return [
        matrix("indexer.q_proj", hidden * indexer.heads * indexer.head_dim, split=Split.REPLICATED),
        matrix("indexer.k_proj", hidden * indexer.head_dim, split=Split.REPLICATED),
        norm("indexer.q_norm", indexer.head_dim),
        norm("indexer.k_norm", indexer.head_dim),
    ]


def _mla(mixer: MLA, hidden: int) -> list[Tensor]:
    queries = mixer.heads * (mixer.qk_nope_head_dim + mixer.qk_rope_head_dim)
    outputs = mixer.heads * mixer.v_head_dim
    latent = mixer.kv_lora_rank
    tensors = [
        matrix("kv_a_proj_with_mqa", hidden * (latent + mixer.qk_rope_head_dim), split=Split.REPLICATED),
        norm("kv_a_layernorm", latent),
        matrix("kv_b_proj", latent * mixer.heads * (mixer.qk_nope_head_dim + mixer.v_head_dim)),
        matrix("o_proj", outputs * hidden),
    ]
    if mixer.q_lora_rank is None:
        tensors.append(matrix("q_proj", hidden * queries))
    else:
        tensors.append(matrix("q_a_proj", hidden * mixer.q_lora_rank, split=Split.REPLICATED))
        tensors.append(norm("q_a_layernorm", mixer.q_lora_rank))
        tensors.append(matrix("q_b_proj", mixer.q_lora_rank * queries))
    if mixer.output_gate:
        tensors.append(matrix("g_proj", hidden * outputs))
    return [*tensors, *_token_indexer(mixer.indexer, hidden, mixer.q_lora_rank or hidden)]


def _token_indexer(indexer: Indexer | None, hidden: int, query_input: int) -> list[Tensor]:
    """The indexer of latent attention, which picks tokens; its key norm has a weight and a bias."""
    if indexer is None or indexer.reused:
        return []
    return [
        matrix("indexer.wq_b", query_input * indexer.heads * indexer.head_dim, split=Split.REPLICATED),
        matrix("indexer.wk", hidden * indexer.head_dim, split=Split.REPLICATED),
        matrix("indexer.weights_proj", hidden * indexer.heads, split=Split.REPLICATED, quantisable=False),
        norm("indexer.k_norm", 2 * indexer.head_dim),
    ]


def _compressed(mixer: Compressed, hidden: int) -> list[Tensor]:
    width = mixer.heads * mixer.head_dim
    tensors = [
        matrix("q_a_proj", hidden * mixer.q_lora_rank, split=Split.REPLICATED),
        norm("q_a_norm", mixer.q_lora_rank),
        matrix("q_b_proj", mixer.q_lora_rank * width),
        matrix("kv_proj", hidden * mixer.head_dim, split=Split.REPLICATED),
        norm("kv_norm", mixer.head_dim),
        # Each group of heads is projected apart, so the first output matrix is block-diagonal.
        matrix("o_a_proj", width * mixer.o_lora_rank),
        matrix("o_b_proj", mixer.o_groups * mixer.o_lora_rank * hidden),
        vector("sinks", mixer.heads, Split.TENSOR),
    ]
    if mixer.compress_ratio is not None:
        overlap = 1 if mixer.indexer is None else 2
        tensors += _compressor("compressor", hidden, mixer.head_dim, mixer.compress_ratio, overlap)
        if mixer.indexer is not None:
            tensors += _entry_indexer(mixer.indexer, hidden, mixer.q_lora_rank, mixer.compress_ratio)
    return tensors


def _compressor(name: str, hidden: int, head_dim: int, ratio: int, overlap: int) -> list[Tensor]:
    """Projections that fold `ratio` tokens into one entry; published checkpoints keep them wide."""
    width = overlap * head_dim
    return [
        matrix(f"{name}.kv_proj", hidden * width, split=Split.REPLICATED, quantisable=False),
        matrix(f"{name}.gate_proj", hidden * width, split=Split.REPLICATED, quantisable=False),
        vector(f"{name}.position_bias", ratio * width),
        norm(f"{name}.kv_norm", head_dim),
    ]


def _entry_indexer(indexer: Indexer, hidden: int, q_lora_rank: int, ratio: int) -> list[Tensor]:
    """The indexer of compressed attention, which folds its own keys and picks folded entries."""
    return [
        matrix("indexer.q_b_proj", q_lora_rank * indexer.heads * indexer.head_dim, split=Split.REPLICATED),
        matrix("indexer.weights_proj", hidden * indexer.heads, split=Split.REPLICATED, quantisable=False),
        *_compressor("indexer", hidden, indexer.head_dim, ratio, overlap=2),
    ]


def _gated_delta_net(mixer: GatedDeltaNet, hidden: int) -> list[Tensor]:
    keys = mixer.key_heads * mixer.key_head_dim
    values = mixer.value_heads * mixer.value_head_dim
    return [
        matrix("in_proj_qkvz", hidden * 2 * (keys + values)),
        matrix("in_proj_ba", hidden * 2 * mixer.value_heads, quantisable=False),
        matrix("out_proj", values * hidden),
        vector("conv1d", (2 * keys + values) * mixer.conv_kernel, Split.TENSOR),
        vector("A_log", mixer.value_heads, Split.TENSOR),
        vector("dt_bias", mixer.value_heads, Split.TENSOR),
        norm("norm", mixer.value_head_dim),
    ]


def _kimi_delta(mixer: KimiDelta, hidden: int) -> list[Tensor]:
    width = mixer.heads * mixer.head_dim
    if mixer.full_rank_gate:
        gate = [matrix("g_proj", hidden * width)]
    else:
        gate = [
            matrix("g_a_proj", hidden * mixer.head_dim, split=Split.REPLICATED),
            matrix("g_b_proj", mixer.head_dim * width),
        ]
    return [
        matrix("qkv_proj", hidden * 3 * width),
        matrix("f_a_proj", hidden * mixer.head_dim, split=Split.REPLICATED),
        matrix("f_b_proj", mixer.head_dim * width),
        *gate,
        matrix("b_proj", hidden * mixer.heads, quantisable=False),
        matrix("o_proj", width * hidden),
        vector("conv1d", 3 * width * mixer.conv_kernel, Split.TENSOR),
        vector("A_log", mixer.heads, Split.TENSOR),
        vector("dt_bias", width, Split.TENSOR),
        norm("o_norm", mixer.head_dim),
    ]


def _mamba1(mixer: Mamba1, hidden: int) -> list[Tensor]:
    inner, state, rank = mixer.inner_size, mixer.state_size, mixer.dt_rank
    tensors = [
        matrix("in_proj", hidden * 2 * inner),
        matrix("x_proj", inner * (rank + 2 * state), quantisable=False),
        matrix("dt_proj", rank * inner, quantisable=False),
        matrix("out_proj", inner * hidden),
        vector("dt_proj_bias", inner, Split.TENSOR),
        vector("conv1d", inner * mixer.conv_kernel, Split.TENSOR),
        vector("conv1d_bias", inner, Split.TENSOR),
        vector("A_log", inner * state, Split.TENSOR),
        vector("D", inner, Split.TENSOR),
    ]
    if mixer.inner_norms:
        tensors += [norm("dt_layernorm", rank), norm("b_layernorm", state), norm("c_layernorm", state)]
    return tensors


def _mamba2(mixer: Mamba2, hidden: int) -> list[Tensor]:
    inner, shared = mixer.inner_size, 2 * mixer.groups * mixer.state_size
    return [
        matrix("in_proj", hidden * (2 * inner + mixer.heads)),
        kv_matrix("in_proj_bc", hidden * shared, mixer.groups),
        matrix("out_proj", inner * hidden),
        # Kernel taps and one bias a channel.
        vector("conv1d", inner * (mixer.conv_kernel + 1), Split.TENSOR),
        vector("conv1d_bc", shared * (mixer.conv_kernel + 1), Split.KV_HEADS, mixer.groups),
        vector("A_log", mixer.heads, Split.TENSOR),
        vector("D", mixer.heads, Split.TENSOR),
        vector("dt_bias", mixer.heads, Split.TENSOR),
        norm("norm", inner, Split.TENSOR),
    ]


def _lightning(mixer: Lightning, hidden: int) -> list[Tensor]:
    width = mixer.heads * mixer.head_dim
    return [
        matrix("qkv_proj", hidden * 3 * width),
        matrix("output_gate", hidden * width),
        matrix("out_proj", width * hidden),
        norm("norm", width, Split.TENSOR),
    ]
