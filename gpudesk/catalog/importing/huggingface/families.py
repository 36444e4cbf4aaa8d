"""Families of decoders by `model_type`: their differences from the ordinary decoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from gpudesk.catalog.importing.fields import ConfigFields
from gpudesk.catalog.importing.huggingface.decoder import (
    HIDDEN,
    LATE,
    MLP_BIAS,
    DecoderFamily,
    Flag,
    Word,
    find_sparse_layers,
)
from gpudesk.catalog.importing.huggingface.linear import (
    read_delta_net,
    read_full_rank_delta,
    read_mamba1,
    read_mamba2,
    read_pure_mamba2,
    read_short_convolution,
)
from gpudesk.catalog.importing.huggingface.structure import (
    FULL,
    LayerPart,
    ModelStructure,
    StructureReader,
    read_layer_count,
    repeat_layer,
)


def _make_word_reader(word: str, name: str, *, default: bool) -> Word:
    """Return the reader of a word that applies if a field says yes."""
    return lambda f: word if f.yes(name, default=default) else "none"


def _read_laguna_gate(f: ConfigFields) -> str:
    """Return the gate of Laguna's attention, which its configurations give as yes, no or a word."""
    gate = f.raw("gating")
    if isinstance(gate, str) and gate in {"per-head", "per-element"}:
        return gate.removeprefix("per-")
    return "head" if f.yes("gating", default=True) else "none"


def _replace_biases(family: DecoderFamily, name: str, *, default: bool) -> DecoderFamily:
    """Return a family all of whose projections have a bias if one field says so."""
    flag: Flag = (name, default)
    return replace(family, qkv_bias=flag, output_bias=flag, mlp_bias=flag)


# Parameters outside all matrices and norms, for a model with this many layers


def _count_head_bias(f: ConfigFields, _count: int) -> int:
    return f.whole("vocab_size")


def _count_positions(f: ConfigFields, _count: int) -> int:
    """Learned embeddings of positions."""
    return f.whole("n_positions", "max_position_embeddings") * f.whole(*HIDDEN)


def _count_shifted_positions(f: ConfigFields, _count: int) -> int:
    """Learned embeddings of positions, with two rows before the first."""
    return (f.whole("max_position_embeddings") + 2) * f.whole(*HIDDEN)


def _read_head_dim(f: ConfigFields) -> int:
    return f.find_whole("head_dim") or f.whole("hidden_size") // f.whole("num_attention_heads")


def _count_head_gates(f: ConfigFields, count: int) -> int:
    """One gate per head from the hidden size, in the layers with latent attention."""
    interval = f.read_whole_or(6, "layer_group_size")
    kinds = f.words("layer_types", count)
    softmax = count // interval if kinds is None else kinds.count(FULL)
    return softmax * f.whole("hidden_size") * f.whole("num_attention_heads")


def _read_lfm2_size(f: ConfigFields) -> int:
    """Two thirds of the stated size, times a factor, rounded up; or that size unchanged."""
    size = f.whole("intermediate_size", "block_ff_dim")
    if not f.yes("block_auto_adjust_ff_dim", default=True):
        return size
    factor = f.raw("block_ffn_dim_multiplier")
    scaled = int(2 * size / 3)
    if isinstance(factor, int | float) and 0 < factor <= _LARGEST_FACTOR:
        scaled = int(factor * scaled)
    multiple = f.read_whole_or(256, "block_multiple_of")
    return -(-scaled // multiple) * multiple


_LARGEST_FACTOR: Final = 64
_LFM2: Final = DecoderFamily(
    qkv_bias=False, output_bias=False, qk_norm="head", tied=True, linear=read_short_convolution, linear_pattern=1
)
_NO_BIAS: Final = DecoderFamily(qkv_bias=False, output_bias=False)
_LLAMA: Final = DecoderFamily(mlp_bias=MLP_BIAS)
_QWEN2: Final = DecoderFamily(qkv_bias=True, output_bias=False, pattern=LATE, window=4096)
_QWEN3: Final = DecoderFamily(head_dim=128, qk_norm="head", pattern=LATE, window=4096)
_GEMMA: Final = DecoderFamily(head_dim=256, tied=True)
_GLM: Final = DecoderFamily(qkv_bias=("attention_bias", True), output_bias=False, head_dim=128)
_ERNIE: Final = _replace_biases(DecoderFamily(tied=True), "use_bias", default=False)
_APERTUS: Final = DecoderFamily(gated=False, qk_norm="head", scalars=lambda _, count: 2 * count)
_MIXTRAL: Final = DecoderFamily(experts=True, pattern=1)
_QWEN2_MOE: Final = DecoderFamily(
    qkv_bias=("qkv_bias", True), pattern=LATE, window=4096, experts=True, shared_gate=True
)
_QWEN3_MOE: Final = replace(_QWEN3, head_dim=None, experts=True)
_EXPERTS: Final = DecoderFamily(experts=True)
#: DeepSeek's experts, with a score correction per expert.
_CORRECTED: Final = replace(_EXPERTS, router_bias=True)
_CORRECTED_HEADS: Final = replace(_CORRECTED, qk_norm="head")
_GLM4_MOE: Final = replace(
    _CORRECTED, output_bias=False, qk_norm=_make_word_reader("head", "use_qk_norm", default=False)
)
_QWEN_NEXT: Final = DecoderFamily(
    head_dim=256,
    qk_norm="head",
    output_gate=_make_word_reader("element", "attn_output_gate", default=True),
    linear=read_delta_net,
    linear_pattern=4,
)
#: Blocks of two matrices behind layer norms with biases.
_LAYER_NORMS: Final = DecoderFamily(gated=False, norms=4, final_norms=2)
_NEOX: Final = replace(
    _LAYER_NORMS, qkv_bias=("attention_bias", True), output_bias=("attention_bias", True), mlp_bias=True
)
_GPT2: Final = replace(
    _LAYER_NORMS, qkv_bias=True, output_bias=True, mlp_bias=True, wide=True, tied=True, scalars=_count_positions
)
#: One layer norm before attention and block in parallel; a bias on the LM head.
_GPT_J: Final = replace(
    _LAYER_NORMS, qkv_bias=False, output_bias=False, mlp_bias=True, norms=2, wide=True, scalars=_count_head_bias
)

#: By `model_type`. Layer norms with a bias count two vectors each.
FAMILIES: Final[Mapping[str, DecoderFamily]] = {
    # Dense, with a gated block
    "llama": _LLAMA,
    "yi": _NO_BIAS,
    "exaone": _NO_BIAS,
    "baichuan": _NO_BIAS,
    "mistral": replace(_NO_BIAS, pattern=1),
    "ministral": DecoderFamily(pattern=1),
    "ministral3": replace(_NO_BIAS, pattern=1, head_dim=128),
    "phi3": replace(_NO_BIAS, pattern=1),
    "phi4_multimodal": replace(_NO_BIAS, pattern=1),
    # Its width is that of the gate and the value together.
    "qwen": DecoderFamily(
        qkv_bias=True, output_bias=False, block_size=lambda f: max(f.whole("intermediate_size") // 2, 1)
    ),
    "qwen2": _QWEN2,
    "qwen3": _QWEN3,
    "mimo": replace(_QWEN2, qkv_bias=("attention_bias", True), pattern=0),
    "gemma": _GEMMA,
    "gemma2": replace(_GEMMA, pattern=2, window=4096, norms=4),
    "gemma3_text": replace(_GEMMA, pattern=6, window=4096, norms=4, qk_norm="head"),
    "vaultgemma": replace(_GEMMA, pattern=2, window=4096),
    "glm": _GLM,
    "glm4": replace(_GLM, norms=4),
    "cohere": DecoderFamily(qk_norm=_make_word_reader("full", "use_qk_norm", default=False), norms=1, tied=True),
    "cohere2": DecoderFamily(pattern=4, window=4096, norms=1, tied=True),
    "olmo": DecoderFamily(norms=0, final_norms=0),
    "olmo2": DecoderFamily(qk_norm="full"),
    "olmo3": DecoderFamily(qk_norm="full", pattern=4, window=4096),
    "granite": _LLAMA,
    "granite_swa": replace(_LLAMA, sinks=True, pattern=1, tied=True),
    "helium": _LLAMA,
    "smollm3": replace(_LLAMA, tied=True),
    "exaone4": DecoderFamily(qk_norm="head", pattern=4),
    "internlm2": replace(_LLAMA, qkv_bias=("bias", False), output_bias=("bias", False), mlp_bias=False),
    "internlm3": replace(_LLAMA, qkv_bias=("qkv_bias", False), output_bias=("bias", False), mlp_bias=("bias", False)),
    "ernie4_5": replace(_ERNIE, head_dim=128),
    "hunyuan_v1_dense": DecoderFamily(qk_norm="head"),
    "seed_oss": replace(
        _LLAMA, qkv_bias=("attention_bias", True), output_bias=("attention_out_bias", False), head_dim=128
    ),
    "cwm": replace(_NO_BIAS, pattern=4, window=8192),
    "diffllama": DecoderFamily(scalars=lambda f, count: 4 * count * _read_head_dim(f)),
    "bitnet": DecoderFamily(norms=3, scalars=lambda f, count: count * f.whole("intermediate_size")),
    "minicpm3": replace(_LLAMA, tied=True),
    "youtu": DecoderFamily(tied=True),
    # Dense, with two matrices per block
    "arcee": replace(_LLAMA, gated=False),
    "apertus": _APERTUS,
    "apertus1p5_text": _APERTUS,
    "nanochat": DecoderFamily(gated=False, norms=0, final_norms=0),
    "mpt": replace(_NO_BIAS, gated=False, wide=True, tied=True),
    "nemotron": replace(_LAYER_NORMS, mlp_bias=MLP_BIAS),
    "jais2": replace(
        _LAYER_NORMS,
        qkv_bias=("attention_bias", True),
        output_bias=("attention_bias", True),
        mlp_bias=("mlp_bias", True),
    ),
    "starcoder2": replace(_replace_biases(_LAYER_NORMS, "use_bias", default=True), tied=True, pattern=1),
    "persimmon": replace(
        _NEOX, qkv_bias=True, output_bias=True, qk_norm="head", scalars=lambda f, count: 2 * count * _read_head_dim(f)
    ),
    "phi": replace(_GPT_J, qkv_bias=True, output_bias=True, wide=False),
    "gptj": _GPT_J,
    "codegen": _GPT_J,
    "gpt_neox": _NEOX,
    "gpt_neox_japanese": replace(
        _LAYER_NORMS,
        qkv_bias=False,
        output_bias=False,
        wide=True,
        tied=True,
        scalars=lambda f, _: f.whole("hidden_size"),
    ),
    "gpt2": _GPT2,
    "gpt-sw3": _GPT2,
    "gpt_neo": replace(_GPT2, qkv_bias=False, pattern=2, window=256),
    "openai-gpt": replace(_GPT2, final_norms=0),
    "opt": replace(_GPT2, scalars=_count_shifted_positions),
    "biogpt": replace(_GPT2, scalars=_count_shifted_positions),
    "xglm": replace(_GPT2, scalars=None),
    "bloom": replace(_GPT2, final_norms=4, scalars=None),
    "ctrl": replace(_GPT2, scalars=_count_head_bias),
    # Experts
    "mixtral": _MIXTRAL,
    "granitemoe": replace(_MIXTRAL, pattern=0),
    "granitemoeshared": replace(_MIXTRAL, pattern=0),
    "granitemoe_swa": replace(_MIXTRAL, sinks=True),
    "phimoe": replace(
        _MIXTRAL,
        norms=4,
        final_norms=2,
        scalars=lambda f, _: f.whole("vocab_size") if f.yes("lm_head_bias", default=False) else 0,
    ),
    "olmoe": replace(_EXPERTS, qk_norm="full"),
    "flex_olmo": replace(_EXPERTS, qk_norm="full"),
    "aria_text": replace(_EXPERTS, shared=2),
    "qwen2_moe": _QWEN2_MOE,
    "qwen3_moe": _QWEN3_MOE,
    "qwen3_vl_moe_text": replace(_QWEN3_MOE, head_dim=128),
    "mellum": replace(_QWEN3_MOE, pattern=1),
    "flint": replace(_QWEN3_MOE, pattern=1, sinks=True),
    "cohere2_moe": DecoderFamily(experts=True, pattern=4, window=4096, norms=1, tied=True),
    "deepseek": _EXPERTS,
    "bailing_moe": replace(_EXPERTS, qkv_bias=("use_qkv_bias", False), output_bias=("use_bias", False)),
    "bailing_moe_v2": replace(
        _CORRECTED_HEADS, qkv_bias=("use_qkv_bias", False), output_bias=("use_bias", False), first_dense=1
    ),
    "glm4_moe": _GLM4_MOE,
    "glm4v_moe_text": _GLM4_MOE,
    "hunyuan_v1_moe": replace(_EXPERTS, qk_norm="head", shared=1),
    "dots1": _CORRECTED_HEADS,
    "solar_open": _CORRECTED,
    "axk1": replace(_CORRECTED, scalars=lambda f, count: f.whole("hidden_size") * sum(find_sparse_layers(f, count, 1))),
    "exaone_moe": replace(_CORRECTED_HEADS, pattern=4, first_dense=1),
    "hy_v3": replace(_CORRECTED_HEADS, first_dense=1),
    "kolibri1": replace(_CORRECTED_HEADS, pattern=1, norms=4),
    "laguna": replace(_CORRECTED_HEADS, pattern=1, first_dense=1, output_gate=_read_laguna_gate),
    "beam": replace(
        _CORRECTED_HEADS,
        pattern=1,
        norms=4,
        output_gate="element",
        scalars=lambda f, count: count * f.whole("num_attention_heads"),
    ),
    "mimo_v2_flash": replace(
        _CORRECTED,
        head_dim=192,
        pattern=6,
        window=128,
        sinks=("add_full_attention_sink_bias", False),
        window_sinks=("add_swa_attention_sink_bias", True),
    ),
    "afmoe": replace(_CORRECTED_HEADS, pattern=4, window=1024, norms=4, first_dense=1, output_gate="element"),
    "minimax_m2": replace(
        _CORRECTED,
        qkv_bias=False,
        output_bias=False,
        head_dim=128,
        qk_norm=lambda f: read_minimax_norm(f, "per_layer"),
        router_bias=("use_routing_bias", True),
    ),
    "ernie4_5_moe": replace(_ERNIE, experts=True, router_bias=True, first_dense=1, shared=2),
    "gpt_oss": DecoderFamily(
        qkv_bias=("attention_bias", True),
        output_bias=("attention_bias", True),
        head_dim=64,
        sinks=True,
        pattern=2,
        window=128,
        experts=True,
        experts_bias=True,
        router_bias=True,
    ),
    # Attention among recurrent mixers
    "qwen3_next": replace(_QWEN_NEXT, experts=True, shared_gate=True),
    "qwen3_5_text": _QWEN_NEXT,
    "qwen3_5_moe_text": replace(_QWEN_NEXT, experts=True, shared_gate=True),
    "olmo_hybrid": DecoderFamily(qk_norm="full", linear=read_delta_net, linear_pattern=4),
    "lara_mini": DecoderFamily(
        qk_norm="head", pattern=1, experts=True, tied=True, linear=read_delta_net, linear_pattern=2
    ),
    "bamba": replace(_LLAMA, linear=read_mamba2),
    "granitemoehybrid": replace(
        _EXPERTS, linear=read_mamba2, block_size=lambda f: f.read_whole_or(1024, "shared_intermediate_size")
    ),
    "bailing_hybrid": replace(
        _CORRECTED, linear=read_full_rank_delta, linear_pattern=6, scalars=_count_head_gates, first_dense=2
    ),
    "lfm2": replace(_LFM2, block_size=_read_lfm2_size),
    "lfm2_moe": replace(_LFM2, experts=True, router_bias=("use_expert_bias", True)),
    "lfm3": replace(
        _LFM2, pattern=1, output_gate=_make_word_reader("head", "use_attention_gate", default=True), norms=4
    ),
}


def _read_stablelm(f: ConfigFields) -> ModelStructure:
    norms = 2 if f.yes("use_parallel_residual", default=False) else 4
    return DecoderFamily(qkv_bias=("use_qkv_bias", False), output_bias=False, norms=norms, final_norms=2).read(f)


def _read_hyperclovax(f: ConfigFields) -> ModelStructure:
    return replace(_LLAMA, norms=4 if f.yes("use_post_norm", default=False) else 2).read(f)


def _read_gpt_bigcode(f: ConfigFields) -> ModelStructure:
    return replace(_GPT2, kv_heads=1 if f.yes("multi_query", default=True) else None).read(f)


_STEP: Final = replace(
    _EXPERTS,
    head_dim=128,
    qk_norm="head",
    output_gate=_make_word_reader("head", "use_head_wise_attn_gate", default=True),
    pattern=1,
    window=512,
    router_bias=("use_moe_router_bias", True),
    first_dense=3,
)


def _read_step(f: ConfigFields) -> ModelStructure:
    """Step 3.5 and 3.7: window heads in a separate table, and the layers with experts as a text."""
    other = f.table("attention_other_setting") or ConfigFields({}, parent=f)
    values: dict[str, object] = {
        "num_key_value_heads": f.find_whole("num_key_value_heads", "num_attention_groups"),
        "swa_num_attention_heads": f.find_whole("num_sliding_attention_heads")
        or other.find_whole("num_attention_heads"),
        "swa_num_key_value_heads": other.find_whole("num_attention_groups"),
        "swa_head_dim": other.find_whole("head_dim"),
    }
    if not f.has("layer_types"):
        values["sliding_window"] = 0
    listed = f.word("moe_layers_enum")
    if listed:
        values["moe_layers"] = [int(part) for part in listed.split(",") if part.strip().isdecimal() and len(part) < 8]
    return _STEP.read(f.with_values(values))


def _read_dbrx(f: ConfigFields) -> ModelStructure:
    """DBRX, with heads and experts in separate tables."""
    tables = [f.table(name) for name in ("attn_config", "ffn_config")]
    values = {name: table.raw(name) for table in tables if table is not None for name in table.names()}
    fields = f.with_values({**values, "num_key_value_heads": values.get("kv_n_heads")})
    return replace(_EXPERTS, qkv_bias=False, output_bias=False).read(fields)


def _read_grok(f: ConfigFields) -> ModelStructure:
    """Grok 1, and Grok 2, which has a full block parallel to the experts and a separate LM head."""
    return DecoderFamily(experts=True, norms=4, tied=not f.yes("residual_moe", default=False)).read(f)


def _repeat_mixer(mixer: Callable[[ConfigFields], LayerPart], *, tied: bool) -> StructureReader:
    """Return the reader of an architecture whose layers are one mixer behind one norm."""
    return lambda f: ModelStructure(repeat_layer(mixer(f), None, read_layer_count(f), 1), tied=tied)


#: By `model_type`: families with a number that depends on a field, and those without any block.
VARIANTS: Final[Mapping[str, StructureReader]] = {
    "stablelm": _read_stablelm,
    "hyperclovax": _read_hyperclovax,
    "gpt_bigcode": _read_gpt_bigcode,
    "step3p5": _read_step,
    "step3p7": _read_step,
    "dbrx": _read_dbrx,
    "grok-1": _read_grok,
    "mamba": _repeat_mixer(read_mamba1, tied=True),
    "falcon_mamba": _repeat_mixer(read_mamba1, tied=True),
    "mamba2": _repeat_mixer(read_pure_mamba2, tied=False),
}


def read_minimax_norm(f: ConfigFields, default: str) -> str:
    if not f.yes("use_qk_norm", default=True):
        return "none"
    return "head" if f.word("qk_norm_type", default=default) == "per_head" else "full"
