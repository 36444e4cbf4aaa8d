"""Readers of architectures that mix attention with state spaces or linear attention, outside all families."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gpudesk.catalog.importing.fields import MOST_LAYERS, ConfigFields, describe_too_large_size
from gpudesk.catalog.importing.huggingface.decoder import find_sparse_layers, read_latent_attention
from gpudesk.catalog.importing.huggingface.linear import make_mamba2, read_kimi_delta, read_mamba1, read_mamba2
from gpudesk.catalog.importing.huggingface.structure import (
    FULL,
    LINEAR,
    AttentionHeads,
    LayerLayout,
    LayerPart,
    ModelStructure,
    StructureReader,
    make_attention,
    make_dense,
    make_interval_pattern,
    make_moe,
    read_attention,
    read_experts_per_token,
    read_heads,
    read_layer_count,
    read_layer_types,
    read_moe,
)
from gpudesk.domain.field_checks import describe_unknown_word, make_type_error, quote_value
from gpudesk.text.messages import InputError, message


def _read_jamba(f: ConfigFields) -> ModelStructure:
    count = read_layer_count(f)
    parts = (read_mamba1(f, inner_norms=True), LayerPart("attention", make_attention(read_heads(f))))
    period, offset = f.read_whole_or(8, "attn_layer_period"), f.read_whole_or(4, "attn_layer_offset", low=0)
    expert_period = f.read_whole_or(2, "expert_layer_period")
    expert_offset = f.read_whole_or(1, "expert_layer_offset", low=0)
    size = f.whole("intermediate_size")
    many = f.read_whole_or(16, "num_experts")
    routed = make_moe(many, read_experts_per_token(f), size) if many > 1 else make_dense(size)
    plain = make_dense(size)
    return ModelStructure(
        tuple(
            LayerLayout(parts[number % period == offset], routed if number % expert_period == expert_offset else plain)
            for number in range(count)
        )
    )


#: Letters of a pattern, and the words that newer files use instead.
_NEMOTRON_KINDS: Final[Mapping[str, str]] = {
    "M": "M",
    "*": "*",
    "-": "-",
    "E": "E",
    "mamba": "M",
    "linear_attention": "M",
    "attention": "*",
    "full_attention": "*",
    "mlp": "-",
    "moe": "E",
}


def _read_nemotron_h(f: ConfigFields) -> ModelStructure:
    """Nemotron-H and Nemotron 3: each layer is one block behind one norm, by a pattern of letters."""
    kinds = _read_pattern(f)
    bias = f.yes("attention_bias", default=False)
    shape = AttentionHeads(
        f.whole("num_attention_heads"),
        f.whole("num_key_value_heads"),
        f.read_whole_or(128, "head_dim", "attention_head_dim"),
    )
    mixers = {"*": LayerPart("attention", make_attention(shape, qkv_bias=bias, output_bias=bias))}
    if "M" in kinds:
        mixers["M"] = make_mamba2(
            f,
            f.whole("mamba_num_heads"),
            f.whole("mamba_head_dim"),
            f.whole("ssm_state_size"),
            f.whole("n_groups", "mamba_n_groups"),
        )
    ffns = {}
    if "-" in kinds:
        ffns["-"] = make_dense(f.whole("intermediate_size"), gated=False, bias=f.yes("mlp_bias", default=False))
    if "E" in kinds:
        shared = f.read_whole_or(0, "n_shared_experts", low=0)
        size = f.whole("moe_intermediate_size")
        ffns["E"] = read_moe(
            f,
            size,
            experts=("n_routed_experts", "num_local_experts"),
            gated=False,
            shared_intermediate_size=shared * f.read_whole_or(size, "moe_shared_expert_intermediate_size"),
            router_bias=True,
            latent_size=f.find_whole("moe_latent_size"),
        )
    return ModelStructure(tuple(LayerLayout(mixers.get(kind), ffns.get(kind), norms=1) for kind in kinds))


def _read_pattern(f: ConfigFields) -> list[str]:
    pattern: object = f.raw("hybrid_override_pattern")
    name = "hybrid_override_pattern"
    if pattern is None:
        name = "layers_block_type" if f.has("layers_block_type") else "layer_types"
        pattern = f.raw(name)
    if pattern is None:
        f.ask("hybrid_override_pattern", "word")
        return []
    if not isinstance(pattern, str | list):
        raise make_type_error(f.where(name), pattern, "text")
    if len(pattern) > MOST_LAYERS:
        raise InputError(describe_too_large_size(MOST_LAYERS), f.where(name))
    kinds = []
    for number, kind in enumerate(pattern, start=1):
        if not isinstance(kind, str) or kind not in _NEMOTRON_KINDS:
            problem = describe_unknown_word(quote_value(kind), tuple(_NEMOTRON_KINDS))
            raise InputError(problem, f"{f.where(name)}.{number}")
        kinds.append(_NEMOTRON_KINDS[kind])
    return kinds


def _read_minimax(f: ConfigFields) -> ModelStructure:
    """MiniMax Text 01 and M1: linear attention with a fixed decay, and each n-th layer softmax."""
    count = read_layer_count(f)
    heads = read_heads(f)
    listed = f.read_whole_list("attn_type_list", count)
    kinds = read_layer_types(
        f,
        count,
        (FULL, LINEAR),
        (lambda number: FULL if listed[number] else LINEAR) if listed else make_interval_pattern(2, LINEAR, FULL),
    )
    parts = {
        LINEAR: LayerPart("linear", {"kind": "lightning", "heads": heads.heads, "head_dim": heads.head_dim}),
        FULL: LayerPart("full", make_attention(heads)),
    }
    shared = f.read_whole_or(0, "shared_intermediate_size", low=0)
    experts = ("num_local_experts", "num_experts")
    routed = read_moe(f, "intermediate_size", experts=experts, shared_intermediate_size=shared)
    return ModelStructure(tuple(LayerLayout(parts[kind], routed) for kind in kinds))


def _read_kimi_linear(f: ConfigFields) -> ModelStructure:
    """Kimi Linear and K3: delta attention that forgets by channel, and latent attention without rotation."""
    count = read_layer_count(f)
    linear = f.table("linear_attn_config") or ConfigFields({}, f.where("linear_attn_config"), parent=f)
    whole_ones = linear.numbers("full_attn_layers", count)
    kinds = read_layer_types(
        f,
        count,
        (FULL, LINEAR),
        lambda number: (
            FULL if (number + 1 in whole_ones if whole_ones is not None else number and number % 4 == 0) else LINEAR
        ),
    )
    gate = f.yes("mla_use_output_gate", default=False)
    parts = {LINEAR: read_kimi_delta(f), FULL: LayerPart("full", read_latent_attention(f, output_gate=gate))}
    size = f.whole("moe_intermediate_size")
    latent_size = f.find_whole("routed_expert_hidden_size")
    routed = read_moe(
        f,
        size,
        shared_intermediate_size=f.read_whole_or(0, "num_shared_experts", "n_shared_experts", low=0) * size,
        router_bias=True,
        latent_size=latent_size,
        latent_norm=latent_size is not None and f.yes("latent_moe_use_norm", default=False),
    )
    sparse = find_sparse_layers(f, count)
    plain = None if all(sparse) else make_dense(f.whole("intermediate_size"))
    # Two norms; with residuals from earlier blocks a norm and a query vector more for each of the two.
    residual = f.has("attn_res_block_size")
    layers = tuple(
        LayerLayout(parts[kind], routed if flag else plain, 6 if residual else 2)
        for kind, flag in zip(kinds, sparse, strict=True)
    )
    return ModelStructure(layers, final_norms=3 if residual else 1)


def _read_falcon_h1(f: ConfigFields) -> ModelStructure:
    """Falcon H1: a state space and attention in parallel, counted as one layer each."""
    count = read_layer_count(f)
    mamba = read_mamba2(f.with_values({"mamba_rms_norm": f.yes("mamba_rms_norm", default=False)}))
    block = make_dense(f.whole("intermediate_size"), bias=f.yes("mlp_bias", default=False))
    layers = (LayerLayout(mamba, None, 1), LayerLayout(read_attention(f), block, 1)) * count
    note = message("import.hf.side_by_side", "Attention and state space of a layer count as two layers")
    return ModelStructure(layers, notes=(note,))


def _read_longcat(f: ConfigFields) -> ModelStructure:
    """LongCat Flash: two attentions and two dense blocks a layer, and experts of which some compute nothing."""
    count = read_layer_count(f, "num_layers", "num_hidden_layers")
    dense, experts = f.whole("ffn_hidden_size", "intermediate_size"), f.whole("n_routed_experts")
    idle = f.read_whole_or(0, "zero_expert_num", low=0)
    chosen = read_experts_per_token(f)
    computed = max(round(chosen * experts / (experts + idle)), 1)
    mixer = LayerPart("attention", read_latent_attention(f))
    routed = make_moe(
        experts,
        computed,
        f.whole("expert_ffn_hidden_size", "moe_intermediate_size"),
        router_bias=True,
        parallel_dense_intermediate_size=dense,
    )
    layers = (LayerLayout(mixer, make_dense(dense)), LayerLayout(mixer, routed)) * count
    notes = (
        message(
            "import.hf.idle_experts",
            "{idle} experts compute nothing: of {chosen} per token, {computed} compute on average",
            idle=idle,
            chosen=chosen,
            computed=computed,
        ),
    )
    # The router also scores the experts that compute nothing.
    sides = {"scalars": count * idle * (f.whole("hidden_size") + 1)} if idle else {}
    return ModelStructure(layers, sides=sides, notes=notes if idle else ())


#: Tokens of an image of four tiles of 560 pixels and 14 per patch, with one for the class each.
_IMAGE_TOKENS: Final = 4 * (40 * 40 + 1)
#: Rows of the embedding beyond the vocabulary, for image tokens.
_IMAGE_MARKS: Final = 8


def _read_llama_vision(f: ConfigFields) -> ModelStructure:
    """Llama 3.2 Vision: some layers attend to the image alone, so that their cache has its length at most."""
    count = read_layer_count(f)
    crossed = f.numbers("cross_attention_layers", count) or frozenset()
    heads = read_heads(f)
    text = LayerPart("attention", make_attention(heads))
    image = LayerPart("image", make_attention(heads, qk_norm="head", window=_IMAGE_TOKENS))
    block = make_dense(f.whole("intermediate_size"))
    layers = tuple(LayerLayout(image if number in crossed else text, block) for number in range(count))
    # Two gates in each layer that attends to the image.
    scalars = _IMAGE_MARKS * f.whole("hidden_size") + 2 * sum(number in crossed for number in range(count))
    return ModelStructure(layers, sides={"scalars": scalars})


#: By `model_type`.
HYBRID: Final[Mapping[str, StructureReader]] = {
    "jamba": _read_jamba,
    "nemotron_h": _read_nemotron_h,
    "minimax": _read_minimax,
    "minimax_m1": _read_minimax,
    "minimax_text_01": _read_minimax,
    "kimi_linear": _read_kimi_linear,
    "falcon_h1": _read_falcon_h1,
    "longcat_flash": _read_longcat,
    "mllama_text_model": _read_llama_vision,
}
