"""Readers of dense architectures, Gemma and pruned Llama-Nemotron."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from gpudesk.catalog.importing.fields import LARGEST_SIZE, MOST_LAYERS, ConfigFields
from gpudesk.catalog.importing.huggingface.structure import (
    FULL,
    SLIDING,
    AttentionHeads,
    LayerLayout,
    LayerPart,
    ModelStructure,
    StructureReader,
    divide_hidden_size,
    make_attention,
    make_dense,
    make_interval_pattern,
    make_moe,
    make_windowed_attention,
    read_expert_count,
    read_heads,
    read_layer_count,
    read_layer_types,
    read_sliding_window,
    repeat_layer,
)
from gpudesk.domain.field_checks import MISSING_FIELD, make_type_error
from gpudesk.text.messages import InputError, Message, message, message_n

#: Whether something is there: always or never, or as the file says.
_FlagReader = Callable[[ConfigFields], bool] | bool


@dataclass(frozen=True, slots=True)
class LlamaBuild:
    """A decoder of Llama's build, and how a descendant of it differs.

    `window`: a `sliding_window` in the file holds in every layer. `tied` is the class's default.
    """

    qkv_bias: _FlagReader = False
    output_bias: _FlagReader = False
    mlp_bias: _FlagReader = False
    qk_norm: str = "none"
    head_dim: int | None = None
    norms: int = 2
    final_norms: int = 1
    tied: bool = False
    gated: bool = True
    window: bool = False

    def read(self, f: ConfigFields) -> ModelStructure:
        count = read_layer_count(f, "num_hidden_layers", "num_layers")
        mixer = make_attention(
            read_heads(f, head_dim=self.head_dim),
            window=read_sliding_window(f) if self.window else None,
            qkv_bias=_read_flag(f, self.qkv_bias),
            output_bias=_read_flag(f, self.output_bias),
            qk_norm=self.qk_norm,
        )
        ffn = make_dense(f.whole("intermediate_size"), gated=self.gated, bias=_read_flag(f, self.mlp_bias))
        layers = repeat_layer(LayerPart("attention", mixer), ffn, count, self.norms)
        return ModelStructure(layers, tied=self.tied, final_norms=self.final_norms)


def _read_flag(f: ConfigFields, told: _FlagReader) -> bool:
    return told if isinstance(told, bool) else told(f)


def _make_flag_reader(name: str, default: bool) -> Callable[[ConfigFields], bool]:
    return lambda f: f.yes(name, default=default)


_ATTENTION_BIAS: Final = _make_flag_reader("attention_bias", False)
_MLP_BIAS: Final = _make_flag_reader("mlp_bias", False)


def find_late_windows(f: ConfigFields, count: int) -> list[str]:
    """Return the kinds of layers where windows begin at a layer, if they are used at all."""
    begins = f.whole_or(28, "max_window_layers", low=0)
    used = f.yes("use_sliding_window", default=False) and read_sliding_window(f) is not None
    kinds = read_layer_types(f, count, (FULL, SLIDING), lambda number: SLIDING if used and number >= begins else FULL)
    return kinds if used else [FULL] * count


def _read_qwen(f: ConfigFields, *, qkv_bias: bool, head_dim: int | None, qk_norm: str) -> ModelStructure:
    count = read_layer_count(f)
    heads = read_heads(f, head_dim=head_dim)
    bias = f.yes("attention_bias", default=False)
    mixers = make_windowed_attention(
        heads,
        find_late_windows(f, count),
        read_sliding_window(f, 4096),
        qkv_bias=qkv_bias or bias,
        output_bias=bias and not qkv_bias,
        qk_norm=qk_norm,
    )
    ffn = make_dense(f.whole("intermediate_size"))
    return ModelStructure(tuple(LayerLayout(mixer, ffn) for mixer in mixers))


def read_sliding(
    f: ConfigFields,
    *,
    pattern: int,
    window: int | None,
    qk_norm: str = "none",
    head_dim: int | None = None,
    norms: int = 2,
    tied: bool = False,
) -> ModelStructure:
    """Read a decoder in which each `pattern`-th layer is global and the others have a window.

    A file may name another `sliding_window_pattern`, or list the kinds; without a window all are global.
    """
    count = read_layer_count(f)
    heads = read_heads(f, head_dim=head_dim)
    bias = f.yes("attention_bias", default=False)
    kinds = read_layer_types(f, count, (FULL, SLIDING), _make_global_pattern(f, pattern))
    width = read_sliding_window(f, window)
    mixers = make_windowed_attention(heads, kinds, width, qkv_bias=bias, output_bias=bias, qk_norm=qk_norm)
    ffn = make_dense(f.whole("intermediate_size"))
    return ModelStructure(tuple(LayerLayout(mixer, ffn, norms) for mixer in mixers), tied=tied)


def _make_global_pattern(f: ConfigFields, pattern: int) -> Callable[[int], str]:
    """Return the pattern as a number (each n-th is global) or as letters (`LLLG`, over and over)."""
    written = f.raw("sliding_window_pattern")
    if isinstance(written, str):
        letters = written.upper() or "G"
        return lambda number: SLIDING if letters[number % len(letters)] == "L" else FULL
    return make_interval_pattern(f.whole_or(pattern, "sliding_window_pattern"), FULL, SLIDING)


def _read_falcon(f: ConfigFields) -> ModelStructure:
    """Attention and block side by side; older builds share one key and value head among all."""
    hidden = f.whole("hidden_size", "n_embed")
    heads = f.whole("num_attention_heads", "n_head")
    new = f.yes("new_decoder_architecture", default=False)
    many = f.whole_or(heads, "num_kv_heads", "n_head_kv") if new else heads
    kv_heads = many if new or not f.yes("multi_query", default=True) else 1
    bias = f.yes("bias", default=False)
    mixer = make_attention(
        AttentionHeads(heads, kv_heads, divide_hidden_size(f, heads)), qkv_bias=bias, output_bias=bias
    )
    parallel = f.yes("parallel_attn", default=True)
    norms = f.whole_or(2 if new else 1, "num_ln_in_parallel_attn", high=2) if parallel else 2
    ffn = make_dense(f.whole_or(4 * hidden, "ffn_hidden_size"), gated=False, bias=bias)
    layers = repeat_layer(
        LayerPart("attention", mixer), ffn, read_layer_count(f, "num_hidden_layers", "n_layer"), 2 * norms
    )
    return ModelStructure(layers, tied=True, final_norms=2)


def _read_phi(f: ConfigFields) -> ModelStructure:
    """Phi 1 and 2: attention and block side by side behind one layer norm, every matrix with a bias."""
    read = LlamaBuild(qkv_bias=True, output_bias=True, mlp_bias=True, gated=False, norms=2, final_norms=2).read(f)
    return _add_head_bias_note(read, f)


def _read_gpt_j(f: ConfigFields) -> ModelStructure:
    """GPT-J: attention and block side by side behind one layer norm; only the block has biases."""
    hidden = f.whole("hidden_size", "n_embd")
    heads = f.whole("num_attention_heads", "n_head")
    if not f.missing and hidden % heads:
        divide_hidden_size(ConfigFields({"hidden_size": hidden, "num_attention_heads": heads}), heads)
    mixer = make_attention(AttentionHeads(heads, heads, max(hidden // heads, 1)))
    ffn = make_dense(f.whole_or(4 * hidden, "n_inner", "intermediate_size"), gated=False, bias=True)
    layers = repeat_layer(LayerPart("attention", mixer), ffn, read_layer_count(f, "num_hidden_layers", "n_layer"))
    return _add_head_bias_note(ModelStructure(layers, final_norms=2), f)


def _add_head_bias_note(read: ModelStructure, f: ConfigFields) -> ModelStructure:
    """Say that the bias of the LM head is not counted: one number a token of the vocabulary."""
    told = describe_head_bias(f.whole("vocab_size"))
    return ModelStructure(read.layers, tied=read.tied, final_norms=read.final_norms, notes=read.notes, left_out=(told,))


def _read_chatglm(f: ConfigFields) -> ModelStructure:
    """ChatGLM 2 and 3 and GLM-4 9B in their first build, whose fields have names of their own."""
    heads = f.whole("num_attention_heads")
    grouped = f.yes("multi_query_attention", default=False)
    kv_heads = f.whole("multi_query_group_num") if grouped else heads
    width = f.maybe("kv_channels", "head_dim") or divide_hidden_size(f, heads)
    every_bias = f.yes("add_bias_linear", default=False)
    mixer = make_attention(
        AttentionHeads(heads, kv_heads, width),
        qkv_bias=every_bias or f.yes("add_qkv_bias", default=True),
        output_bias=every_bias,
    )
    ffn = make_dense(f.whole("ffn_hidden_size", "intermediate_size"), bias=every_bias)
    return ModelStructure(
        repeat_layer(LayerPart("attention", mixer), ffn, read_layer_count(f, "num_layers", "num_hidden_layers"))
    )


#: By `model_type`. Layer norms with a bias count two vectors each.
DENSE: Final[Mapping[str, StructureReader]] = MappingProxyType(
    {
        "llama": LlamaBuild(qkv_bias=_ATTENTION_BIAS, output_bias=_ATTENTION_BIAS, mlp_bias=_MLP_BIAS).read,
        "yi": LlamaBuild().read,
        "mistral": LlamaBuild(window=True).read,
        "ministral3": LlamaBuild(window=True, head_dim=128).read,
        "ministral": partial(read_sliding, pattern=MOST_LAYERS + 1, window=None),
        "qwen2": partial(_read_qwen, qkv_bias=True, head_dim=None, qk_norm="none"),
        "qwen3": partial(_read_qwen, qkv_bias=False, head_dim=128, qk_norm="head"),
        "gemma": LlamaBuild(qkv_bias=_ATTENTION_BIAS, output_bias=_ATTENTION_BIAS, head_dim=256, tied=True).read,
        "gemma2": partial(read_sliding, pattern=2, window=4096, head_dim=256, norms=4, tied=True),
        "gemma3_text": partial(read_sliding, pattern=6, window=4096, head_dim=256, norms=4, tied=True, qk_norm="head"),
        "glm": LlamaBuild(qkv_bias=_make_flag_reader("attention_bias", True), head_dim=128).read,
        "glm4": LlamaBuild(qkv_bias=_make_flag_reader("attention_bias", True), head_dim=128, norms=4).read,
        "chatglm": _read_chatglm,
        "phi": _read_phi,
        "phi3": LlamaBuild(window=True).read,
        "cohere": lambda f: LlamaBuild(
            qkv_bias=_ATTENTION_BIAS,
            output_bias=_ATTENTION_BIAS,
            qk_norm="full" if f.yes("use_qk_norm", default=False) else "none",
            norms=1,
            tied=True,
        ).read(f),
        "cohere2": partial(read_sliding, pattern=4, window=4096, norms=1, tied=True),
        "nemotron": LlamaBuild(
            qkv_bias=_ATTENTION_BIAS,
            output_bias=_ATTENTION_BIAS,
            mlp_bias=_MLP_BIAS,
            gated=False,
            norms=4,
            final_norms=2,
        ).read,
        "falcon": _read_falcon,
        "gptj": _read_gpt_j,
        "gpt_neox": LlamaBuild(
            qkv_bias=_make_flag_reader("attention_bias", True),
            output_bias=_make_flag_reader("attention_bias", True),
            mlp_bias=True,
            gated=False,
            norms=4,
            final_norms=2,
        ).read,
        "starcoder2": LlamaBuild(
            qkv_bias=_make_flag_reader("use_bias", True),
            output_bias=_make_flag_reader("use_bias", True),
            mlp_bias=_make_flag_reader("use_bias", True),
            gated=False,
            norms=4,
            final_norms=2,
            tied=True,
            window=True,
        ).read,
        "stablelm": lambda f: LlamaBuild(
            qkv_bias=_make_flag_reader("use_qkv_bias", False),
            norms=2 if f.yes("use_parallel_residual", default=False) else 4,
            final_norms=2,
        ).read(f),
        "olmo2": LlamaBuild(qkv_bias=_ATTENTION_BIAS, output_bias=_ATTENTION_BIAS, qk_norm="full").read,
        "olmo3": partial(read_sliding, pattern=4, window=4096, qk_norm="full"),
        "granite": LlamaBuild(qkv_bias=_ATTENTION_BIAS, output_bias=_ATTENTION_BIAS, mlp_bias=_MLP_BIAS).read,
        "smollm3": LlamaBuild(
            qkv_bias=_ATTENTION_BIAS, output_bias=_ATTENTION_BIAS, mlp_bias=_MLP_BIAS, tied=True
        ).read,
        "exaone": LlamaBuild().read,
        "exaone4": partial(read_sliding, pattern=4, window=None, qk_norm="head"),
        "internlm2": LlamaBuild(
            qkv_bias=_make_flag_reader("bias", False), output_bias=_make_flag_reader("bias", False)
        ).read,
        "internlm3": LlamaBuild(
            qkv_bias=lambda f: f.yes("qkv_bias", "attention_bias", default=False),
            output_bias=lambda f: f.yes("bias", "mlp_bias", default=False),
            mlp_bias=lambda f: f.yes("bias", "mlp_bias", default=False),
        ).read,
        "baichuan": LlamaBuild().read,
        "ernie4_5": LlamaBuild(
            qkv_bias=_make_flag_reader("use_bias", False),
            output_bias=_make_flag_reader("use_bias", False),
            mlp_bias=_make_flag_reader("use_bias", False),
            head_dim=128,
            tied=True,
        ).read,
        "hunyuan_v1_dense": LlamaBuild(qkv_bias=_ATTENTION_BIAS, output_bias=_ATTENTION_BIAS, qk_norm="head").read,
        "seed_oss": LlamaBuild(
            qkv_bias=_make_flag_reader("attention_bias", True),
            output_bias=_make_flag_reader("attention_out_bias", False),
            mlp_bias=_MLP_BIAS,
            head_dim=128,
        ).read,
        "mimo": LlamaBuild(qkv_bias=_make_flag_reader("attention_bias", True)).read,
    }
)


#: Vectors a layer: before and after each block; with experts three more, and the scale before the router.
_NORMS: Final = 4
_NORMS_WITH_EXPERTS: Final = 8
#: How many layers at the end take keys and values of earlier ones.
_REUSING: Final = "num_kv_shared_layers"


def _read_gemma4(f: ConfigFields) -> ModelStructure:
    count = read_layer_count(f)
    kinds = read_layer_types(f, count, (FULL, SLIDING), make_interval_pattern(6, FULL, SLIDING))
    if kinds:
        # The class makes the last layer global whatever the list says.
        kinds[-1] = FULL
    mixers = _list_mixers(
        kinds, _read_attentions(f, _find_global_layer_fields(f, kinds)), f.whole_or(0, _REUSING, low=0)
    )
    with_experts = f.yes("enable_moe_block", default=False)
    size = f.whole("intermediate_size")
    wide = make_dense(2 * size) if f.yes("use_double_wide_mlp", default=False) else make_dense(size)
    plain = _read_gemma_moe(f, size) if with_experts else make_dense(size)
    layers = tuple(
        LayerLayout(
            mixer,
            plain if with_experts or not _reuses(mixer) else wide,
            _NORMS_WITH_EXPERTS if with_experts else _NORMS,
        )
        for mixer in mixers
    )
    return ModelStructure(layers, tied=True, sides=_read_layer_inputs(f))


def _list_mixers(kinds: list[str], attentions: tuple[LayerPart, LayerPart], reusing: int) -> list[LayerPart]:
    """Return the attention of each layer; the last `reusing` read what the last ones before them keep."""
    sliding, full = attentions
    keeping = {SLIDING: sliding, FULL: full}
    # Those after them have the same shape.
    borrowing = {
        kind: LayerPart(f"{part.name}_reusing", part.table | {"reuses_cache": True}) for kind, part in keeping.items()
    }
    first = len(kinds) - reusing
    return [(keeping if number < first else borrowing)[kind] for number, kind in enumerate(kinds)]


def _reuses(mixer: LayerPart) -> bool:
    return "reuses_cache" in mixer.table


def _find_global_layer_fields(f: ConfigFields, kinds: list[str]) -> ConfigFields:
    """Return what a newer file states for the first global layer alone, under its number; or nothing."""
    tables = f.table("per_layer_config")
    if tables is not None and FULL in kinds:
        number = kinds.index(FULL)
        for name in (str(number), f"{number:02d}", f"{number:03d}"):
            found = tables.table(name)
            if found is not None:
                return found
    return ConfigFields({}, parent=f)


def _read_attentions(f: ConfigFields, of_global: ConfigFields) -> tuple[LayerPart, LayerPart]:
    heads = f.whole("num_attention_heads")
    kv_heads = f.whole_or(heads, "num_key_value_heads")
    bias = f.yes("attention_bias", default=False)
    keys_are_values = f.yes("attention_k_eq_v", default=False)
    sliding = make_attention(
        AttentionHeads(heads, kv_heads, f.whole_or(256, "head_dim")),
        window=read_sliding_window(f, 512),
        qk_norm="head",
        qkv_bias=bias,
        output_bias=bias,
    )
    global_kv = f.whole_or(kv_heads, "num_global_key_value_heads") if keys_are_values else kv_heads
    shape = AttentionHeads(
        heads,
        of_global.whole_or(global_kv, "num_key_value_heads"),
        of_global.whole_or(f.whole_or(512, "global_head_dim"), "head_dim"),
    )
    full = make_attention(shape, qk_norm="head", qkv_bias=bias, output_bias=bias, shared_kv_projection=keys_are_values)
    return LayerPart("sliding", sliding), LayerPart("global", full)


def _read_gemma_moe(f: ConfigFields, size: int) -> LayerPart:
    """Return the experts beside the dense block; the router has one scale an expert, counted as its bias."""
    return make_moe(
        read_expert_count(f, "num_experts"),
        f.whole("top_k_experts", "num_experts_per_tok"),
        f.whole("moe_intermediate_size"),
        router_bias=True,
        parallel_dense_intermediate_size=size,
    )


def _read_gemma3n(f: ConfigFields) -> ModelStructure:
    """Read Gemma 3n, which computes one of several streams and predicts the others (AltUp)."""
    count = read_layer_count(f)
    kinds = read_layer_types(f, count, (FULL, SLIDING), make_interval_pattern(5, FULL, SLIDING))
    heads = f.whole("num_attention_heads")
    shape = AttentionHeads(heads, f.whole_or(heads, "num_key_value_heads"), f.whole_or(256, "head_dim"))
    sliding = LayerPart("sliding", make_attention(shape, window=read_sliding_window(f, 512), qk_norm="head"))
    full = LayerPart("global", make_attention(shape, qk_norm="head"))
    if f.is_list("intermediate_size"):
        listed = f.wholes("intermediate_size", count) or [1] * count
    else:
        listed = [f.whole("intermediate_size")] * count
    blocks = {size: make_dense(size) for size in set(listed)}
    mixers = _list_mixers(kinds, (sliding, full), f.whole_or(15, _REUSING, low=0))
    layers = tuple(LayerLayout(mixer, blocks[size], _NORMS) for mixer, size in zip(mixers, listed, strict=True))
    streams = f.whole_or(4, "altup_num_inputs", high=64)
    sides = _read_layer_inputs(f) | ({"altup_streams": streams} if streams > 1 else {})
    return ModelStructure(layers, tied=True, sides=sides | {"laurel_rank": f.whole_or(64, "laurel_rank")})


def _read_layer_inputs(f: ConfigFields) -> dict[str, int]:
    """Return the width of the inputs of each layer's own, and the tokens in their table."""
    width = f.whole_or(256, "hidden_size_per_layer_input", low=0)
    if width == 0:
        return {}
    tokens = f.whole_or(262144, "vocab_size_per_layer_input")
    return {"layer_input_size": width, "layer_input_vocab_size": tokens}


#: By `model_type`.
GEMMA: Final[Mapping[str, StructureReader]] = MappingProxyType(
    {"gemma4_text": _read_gemma4, "gemma3n_text": _read_gemma3n}
)


#: Widths of blocks are two thirds of the multiplier times the hidden size, rounded up to this.
_ROUNDED_TO: Final = 256


def _read_nemotron_nas(f: ConfigFields) -> ModelStructure:
    count = read_layer_count(f)
    heads = f.whole("num_attention_heads")
    width = f.maybe("head_dim") or divide_hidden_size(f, heads)
    hidden = f.whole("hidden_size")
    if not f.has("block_configs"):
        raise InputError(MISSING_FIELD, f.where("block_configs"))
    mixers: dict[tuple[int, int | None], LayerPart] = {}
    blocks: dict[int, LayerPart] = {}
    layers = []
    replaced = 0
    for block in f.tables("block_configs", count):
        attended, fed = block.table("attention"), block.table("ffn")
        mixer = ffn = None
        if attended is not None and not attended.yes("no_op", default=False):
            replaced += attended.yes("replace_with_linear", default=False)
            # The field counts the query heads that share one key and value head.
            kv_heads = max(heads // attended.whole("n_heads_in_group"), 1)
            window = attended.maybe("window_length")
            mixer = mixers.setdefault(
                (kv_heads, window),
                LayerPart("attention", make_attention(AttentionHeads(heads, kv_heads, width), window=window)),
            )
        if fed is not None and not fed.yes("no_op", default=False):
            replaced += fed.yes("replace_with_linear", default=False)
            size = _read_block_width(fed, hidden)
            ffn = blocks.setdefault(size, LayerPart(f"mlp_{size}", make_dense(size).table))
        layers.append(LayerLayout(mixer, ffn, (mixer is not None) + (ffn is not None)))
    notes = (
        (
            message_n(
                "import.hf.replaced_blocks",
                "One block is replaced by one matrix; it was read as it was before",
                "{count} blocks are replaced by one matrix each; they were read as they were before",
                "count",
                count=replaced,
            ),
        )
        if replaced
        else ()
    )
    return ModelStructure(tuple(layers), notes=notes)


def _read_block_width(f: ConfigFields, hidden: int) -> int:
    """Return the width of a block: stated, or from its multiplier."""
    stated = f.maybe("intermediate_size")
    if stated is not None:
        return stated
    multiplier = f.raw("ffn_mult")
    if not isinstance(multiplier, int | float) or isinstance(multiplier, bool):
        raise make_type_error(f.where("ffn_mult"), multiplier, "number")
    size = 2 * multiplier * hidden / 3 if math.isfinite(multiplier) and abs(multiplier) < LARGEST_SIZE else -1
    if size < 1:
        raise make_type_error(f.where("ffn_mult"), multiplier, "number")
    return -(-int(size) // _ROUNDED_TO) * _ROUNDED_TO


#: By `model_type`.
PRUNED: Final[Mapping[str, StructureReader]] = MappingProxyType(
    {"nemotron-nas": _read_nemotron_nas, "nemotron_nas": _read_nemotron_nas}
)


def describe_head_bias(count: int) -> Message:
    return message("import.hf.head_bias", "The bias of the LM head, {count} numbers", count=count)
