"""The reader of ordinary decoders: a family of data/model_architectures/ describes the differences of its layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from gpudesk.catalog.importing.fields import MOST_EXPERTS, MOST_LAYERS, ConfigFields
from gpudesk.catalog.importing.huggingface.linear import (
    read_delta_net,
    read_full_rank_delta,
    read_mamba2,
    read_short_convolution,
)
from gpudesk.catalog.importing.huggingface.structure import (
    CHUNKED,
    FULL,
    LINEAR,
    SLIDING,
    AttentionHeads,
    DefinitionTable,
    LayerLayout,
    LayerPart,
    ModelStructure,
    divide_hidden_size,
    drop_defaults,
    make_attention,
    make_dense,
    make_moe,
    read_layer_count,
)
from gpudesk.domain.field_checks import describe_unknown_word, quote_value
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError

#: Names of one size in the dialects of configurations; if all are missing, the first is asked for.
LAYERS: Final = ("num_hidden_layers", "num_layers", "n_layers", "n_layer")
HIDDEN: Final = ("hidden_size", "n_embd", "n_embed", "d_model", "dim")
_HEADS: Final = ("num_attention_heads", "n_heads", "n_head", "num_heads", "attention_heads")
_KV_HEADS: Final = ("num_key_value_heads", "num_kv_heads", "n_kv_heads", "multi_query_group_num")
_HEAD_DIM: Final = ("head_dim", "kv_channels", "attention_head_dim")
_SIZE: Final = ("intermediate_size", "ffn_hidden_size", "ffn_dim", "n_inner", "dff", "d_ff")
_DENSE_SIZE: Final = ("dense_intermediate_size", "intermediate_size_mlp", "prefix_dense_intermediate_size", *_SIZE)
EXPERTS: Final = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
_PER_TOKEN: Final = (
    "num_experts_per_tok",
    "num_experts_per_token",
    "experts_per_token",
    "moe_topk",
    "moe_top_k",
    "moe_k",
    "top_k_experts",
)
_EXPERT_SIZE: Final = ("moe_intermediate_size", "expert_ffn_hidden_size", *_SIZE)
_SHARED_SIZE: Final = (
    "shared_expert_intermediate_size",
    "shared_experts_intermediate_size",
    "shared_intermediate_size",
    "share_expert_dim",
    "share_expert_dims",
    "moe_shared_expert_intermediate_size",
)
_SHARED: Final = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert")
_WINDOW: Final = ("sliding_window", "sliding_window_size", "window_size")
#: Per-layer lists, and the field that each replaces; the same names without a suffix work too.
_LISTED: Final = (
    *(*_HEADS, *_KV_HEADS, *_HEAD_DIM, *_SIZE),
    *("moe_intermediate_size", "sliding_window", "num_experts", "moe_topk", "num_shared_expert"),
)
_LIST_ENDS: Final = ("", "_per_layer", "_list")

#: Names of layer kinds in configurations; every kind that is neither global nor windowed is one other mixer.
_KIND_LISTS: Final = ("layer_types", "layers_block_type", "attention_layers")
_KINDS: Final = {
    FULL: FULL,
    "attention": FULL,
    "global": FULL,
    "global_attention": FULL,
    SLIDING: SLIDING,
    "local": SLIDING,
    "local_attention": SLIDING,
    CHUNKED: CHUNKED,
    LINEAR: LINEAR,
    "mamba": LINEAR,
    "conv": LINEAR,
}

#: Lists of the layers with softmax attention.
_SOFTMAX_LISTS: Final = ("attn_layer_indices", "full_attn_idxs")

#: A yes or no: fixed, or as a field says, with the default of the class.
Flag = bool | tuple[str, bool]
#: A word of a dimension: fixed, or if a field says so, with the default of the class.
Word = str | tuple[str, str, bool]
ATTENTION_BIAS: Final = ("attention_bias", False)
#: `pattern` of families whose windows start at a layer, if used at all.
LATE: Final = -1


@frozen_dataclass
class DecoderFamily:
    """How the layers of a family differ from attention and a gated block, each behind one norm.

    `pattern`: each n-th layer is global and the others have a window (1: all have one, 0: none has, `LATE`: from a
    layer on); `window` is the default width of the class. A file that lists kinds of layers overrides the pattern.
    `window_sinks` is for layers with a window, if that is another flag than `sinks`. `linear` names the mixer of layers
    without softmax attention, each `linear_pattern`-th layer being softmax. `wide`: a block is 4 times the hidden size
    if no size is stated; `block_size` names its computation if it differs from the stated size. `first_dense` counts
    the dense layers before the experts, `shared` the shared experts, without a field. `norms` and `final_norms` count
    vectors as long as the hidden size; a layer norm with a bias has two. The product of `scalars`, which are numbers,
    fields and names of sizes, is the number of parameters outside all matrices and norms; empty for none. `asks`: open
    fields are asked for.
    """

    qkv_bias: Flag = ATTENTION_BIAS
    output_bias: Flag = ATTENTION_BIAS
    mlp_bias: Flag = False
    qk_norm: Word = "none"
    gated: bool = True
    head_dim: int = 0
    kv_heads: int | None = None
    output_gate: Word = "none"
    sinks: Flag = False
    window_sinks: Flag | None = None
    pattern: int = 0
    window: int | None = None
    experts: bool = False
    first_dense: int = 0
    shared: int = 0
    router_bias: Flag = False
    shared_gate: bool = False
    experts_bias: bool = False
    linear: str | None = None
    linear_pattern: int = 0
    norms: int = 2
    final_norms: int = 1
    tied: bool = False
    wide: bool = False
    block_size: str | None = None
    scalars: tuple[int | str, ...] = ()
    asks: bool = False

    @property
    def is_linear_by_default(self) -> bool:
        """Whether all layers are recurrent if none with softmax attention is named."""
        return not self.linear_pattern and not self.asks

    def read(self, f: ConfigFields) -> ModelStructure:
        count = read_layer_count(f, *LAYERS)
        kinds = _find_layer_kinds(f, self, count)
        sparse = find_sparse_layers(f, count, self.first_dense) if has_experts(f, self) else [False] * count
        mixers: dict[tuple[int, str], LayerPart] = {}
        blocks: dict[tuple[int, bool], LayerPart] = {}
        layers = []
        for own, kind, routed in zip(list_layer_fields(f, count), kinds, sparse, strict=True):
            mixer, block = (id(own), kind), (id(own), routed)
            if mixer not in mixers:
                mixers[mixer] = self._read_mixer(own, kind, windowed=SLIDING in kinds or CHUNKED in kinds)
            if block not in blocks:
                blocks[block] = self._read_moe(own) if routed else self._read_dense(own, mixed=any(sparse))
            layers.append(LayerLayout(mixers[mixer], blocks[block], self.norms))
        factors = () if f.missing else self.scalars
        scalars = math.prod(_read_factor(f, each, count) for each in factors)
        sides = {"scalars": scalars} if factors and scalars else {}
        return ModelStructure(tuple(layers), tied=self.tied, final_norms=self.final_norms, sides=sides)

    def _read_mixer(self, f: ConfigFields, kind: str, *, windowed: bool) -> LayerPart:
        if kind == LINEAR and self.linear is not None:
            return _MIXERS[self.linear](f)
        name = {SLIDING: "sliding", CHUNKED: "chunked"}.get(kind, "global" if windowed else "attention")
        if f.has("kv_lora_rank"):
            return LayerPart(name, read_latent_attention(f))
        heads = self.read_heads(f, kind)
        value = ("swa_v_head_dim", "v_head_dim") if kind == SLIDING else ("v_head_dim",)
        value_dim = f.find_whole(*value)
        table = make_attention(
            heads,
            v_head_dim=None if value_dim == heads.head_dim else value_dim,
            qkv_bias=read_flag(f, self.qkv_bias),
            output_bias=read_flag(f, self.output_bias),
            qk_norm=_read_word(f, self.qk_norm),
            output_gate=_read_word(f, self.output_gate),
            sinks=read_flag(f, self.sinks if kind != SLIDING or self.window_sinks is None else self.window_sinks),
        )
        if kind == SLIDING:
            table["window"] = read_window(f, self.window) or 1
        elif kind == CHUNKED:
            table |= {"window": f.whole("attention_chunk_size"), "window_kind": "chunked"}
        return LayerPart(name, table)

    def read_heads(self, f: ConfigFields, kind: str = FULL) -> AttentionHeads:
        """Return the heads of a layer; windowed layers can have other numbers and another width."""
        near = f if kind == SLIDING else ConfigFields({}, "-", parent=f)
        heads = near.find_whole("swa_num_attention_heads", "num_sliding_attention_heads") or f.whole(*_HEADS)
        kv = near.find_whole("swa_num_key_value_heads") or f.find_whole(*_KV_HEADS)
        if kv is None:
            kv = f.whole(*_KV_HEADS) if self.asks else self.kv_heads or heads
        width = (
            near.find_whole("swa_head_dim") or f.find_whole(*_HEAD_DIM) or self.head_dim or divide_hidden_size(f, heads)
        )
        return AttentionHeads(heads, kv, width)

    def _read_dense(self, f: ConfigFields, *, mixed: bool) -> LayerPart:
        names = _DENSE_SIZE if mixed else _SIZE
        size = f.find_whole(*names) if self.block_size is None else _BLOCK_SIZES[self.block_size](f)
        if size is None:
            size = 4 * f.whole(*HIDDEN) if self.wide else f.whole(*_SIZE)
        return make_dense(size, gated=self.gated, bias=read_flag(f, self.mlp_bias))

    def _read_moe(self, f: ConfigFields) -> LayerPart:
        size = f.whole(*_EXPERT_SIZE)
        shared = read_shared_size(f, size, self.shared)
        return make_moe(
            f.whole(*EXPERTS, high=MOST_EXPERTS),
            f.whole(*_PER_TOKEN, high=MOST_EXPERTS),
            size,
            gated=self.gated,
            shared_intermediate_size=shared,
            shared_gate=self.shared_gate and shared > 0,
            bias=self.experts_bias,
            parallel_dense_intermediate_size=f.whole(*_SIZE) if f.yes("residual_moe", default=False) else None,
            router_bias=read_flag(f, self.router_bias),
        )


def read_flag(f: ConfigFields, flag: Flag) -> bool:
    return flag if isinstance(flag, bool) else f.yes(flag[0], default=flag[1])


def _read_word(f: ConfigFields, word: Word) -> str:
    if isinstance(word, str):
        return word
    value = f.raw(word[1])
    if isinstance(value, str) and value in {"per-head", "per-element"}:
        # The gate of Laguna's attention, which other configurations give as yes or no.
        return value.removeprefix("per-")
    return word[0] if f.yes(word[1], default=word[2]) else "none"


_MIXERS: Final[Mapping[str, Callable[[ConfigFields], LayerPart]]] = {
    "delta_net": read_delta_net,
    "full_rank_delta": read_full_rank_delta,
    "mamba2": read_mamba2,
    "short_convolution": read_short_convolution,
}
_LARGEST_FACTOR: Final = 64


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


_BLOCK_SIZES: Final[Mapping[str, Callable[[ConfigFields], int]]] = {
    "half": lambda f: max(f.whole("intermediate_size") // 2, 1),
    "lfm2": _read_lfm2_size,
    "shared": lambda f: f.read_whole_or(1024, "shared_intermediate_size"),
}


def _read_factor(f: ConfigFields, factor: int | str, count: int) -> int:
    """Return a number, a size of a model with `count` layers, or the value of a field."""
    if isinstance(factor, int):
        return factor
    return _SIZES[factor](f, count) if factor in _SIZES else f.whole(factor)


def _count_softmax_layers(f: ConfigFields, count: int) -> int:
    interval = f.read_whole_or(6, "layer_group_size")
    kinds = f.words("layer_types", count)
    return count // interval if kinds is None else kinds.count(FULL)


_SIZES: Final[Mapping[str, Callable[[ConfigFields, int], int]]] = {
    "head_bias": lambda f, _: f.whole("vocab_size") if f.yes("lm_head_bias", default=False) else 0,
    "head_dim": lambda f, _: f.find_whole("head_dim") or f.whole("hidden_size") // f.whole("num_attention_heads"),
    "hidden_size": lambda f, _: f.whole(*HIDDEN),
    "layers": lambda _, count: count,
    "positions": lambda f, _: f.whole("n_positions", "max_position_embeddings"),
    # With two rows before the first position.
    "shifted_positions": lambda f, _: f.whole("max_position_embeddings") + 2,
    "softmax_layers": _count_softmax_layers,
    "sparse_layers": lambda f, count: sum(find_sparse_layers(f, count, 1)),
}


def has_experts(f: ConfigFields, family: DecoderFamily) -> bool:
    """Whether the file has experts at all; some families name none, or 0 of them, for their dense models."""
    if not family.experts:
        return False
    return f.read_whole_or(0, *EXPERTS, low=0, high=MOST_EXPERTS) > 0 if f.has(*EXPERTS) else not family.asks


def read_window(f: ConfigFields, default: int | None) -> int | None:
    """Return the width of the windows; 0 is none."""
    return f.read_whole_or(default or 0, *_WINDOW, low=0) or None


def read_shared_size(f: ConfigFields, size: int, default: int = 0) -> int:
    """Return the total width of the shared experts: a width alone, or their number times a width."""
    shared_width = f.find_whole(*_SHARED_SIZE, low=0)
    many = f.find_whole(*_SHARED, low=0)
    if many is None and shared_width is not None:
        return shared_width
    return (default if many is None else many) * (shared_width or size)


def list_layer_fields(f: ConfigFields, count: int) -> list[ConfigFields]:
    """Return the fields of each layer: its entry of every list, and values for it alone."""
    lists = {
        name: f.read_whole_list(name + end, count) or []
        for name in _LISTED
        for end in _LIST_ENDS
        if f.is_list(name + end)
    }
    overrides = f.table("per_layer_config") or ConfigFields({}, parent=f)
    fields_by_prefix: dict[str, ConfigFields] = {"{}": f}
    layers = []
    for number in range(count):
        values: dict[str, object] = {name: numbers[number] for name, numbers in lists.items()}
        for key in (str(number), f"{number:02d}", f"{number:03d}"):
            alone = overrides.table(key)
            values |= {} if alone is None else {name: alone.raw(name) for name in alone.names()}
        layers.append(fields_by_prefix.setdefault(repr(values), f.with_values(values) if values else f))
    return layers


def _find_layer_kinds(f: ConfigFields, family: DecoderFamily, count: int) -> list[str]:
    """Return the kind of each layer as listed in the file, or as computed by the class from the number."""
    listed = _read_listed_kinds(f, family, count)
    has_window = read_window(f, family.window) is not None
    if family.pattern == LATE:
        used = has_window and f.yes("use_sliding_window", default=False)
        begins = f.read_whole_or(28, "max_window_layers", low=0)
        late = [SLIDING if used and number >= begins else FULL for number in range(count)]
        return late if listed is None or not used else listed
    softmax = f.numbers(next((name for name in _SOFTMAX_LISTS if f.has(name)), _SOFTMAX_LISTS[0]), count)
    if listed is None and family.linear is not None and (softmax is not None or family.is_linear_by_default):
        listed = [FULL if number in (softmax or ()) else LINEAR for number in range(count)]
    if listed is None and family.linear_pattern:
        interval = f.read_whole_or(family.linear_pattern, "full_attention_interval", "layer_group_size")
        listed = [FULL if (number + 1) % interval == 0 else LINEAR for number in range(count)]
    if listed is None:
        listed = _make_window_pattern(f, family, count)
    return listed if has_window else [FULL if kind == SLIDING else kind for kind in listed]


def _read_listed_kinds(f: ConfigFields, family: DecoderFamily, count: int) -> list[str] | None:
    name = next((each for each in _KIND_LISTS if f.has(each)), _KIND_LISTS[0])
    words = f.words(name, count)
    if words is None:
        return None
    allowed: tuple[str, ...] = (FULL, SLIDING, *((CHUNKED,) if family.asks else ()))
    allowed += () if family.linear is None else (LINEAR,)
    kinds = []
    for number, word in enumerate(words, start=1):
        kind = _KINDS.get(word, "")
        if kind not in allowed and family.asks:
            # What cannot be computed is noted with every result.
            f.read_names.discard(f.where(name))
            kind = FULL
        if kind not in allowed:
            raise InputError(describe_unknown_word(quote_value(word), allowed), f"{f.where(name)}.{number}")
        kinds.append(kind)
    return kinds


def _make_window_pattern(f: ConfigFields, family: DecoderFamily, count: int) -> list[str]:
    """Return the pattern as letters (`LLLG`, repeated), or as a number: each n-th layer is global."""
    if family.pattern == 0 and not family.asks:
        return [FULL] * count
    pattern = f.raw("sliding_window_pattern")
    if isinstance(pattern, str):
        letters = pattern.upper() or "G"
        return [SLIDING if letters[number % len(letters)] == "L" else FULL for number in range(count)]
    if family.pattern == 1 and pattern is None:
        return [SLIDING] * count
    listed = f.read_whole_list("hybrid_layer_pattern", count)
    if listed is not None:
        return [SLIDING if flag else FULL for flag in listed]
    interval = f.find_whole("sliding_window_pattern", "global_attn_every_n_layers")
    if interval is None and family.pattern == 0:
        # Nothing shows which layers have the window, so it is not used.
        f.read_names.difference_update(map(f.where, _WINDOW))
    interval = interval or family.pattern or 1
    return [FULL if (number + 1) % interval == 0 else SLIDING for number in range(count)]


def find_sparse_layers(f: ConfigFields, count: int, first_dense: int = 0) -> list[bool]:
    """Return which layers have experts: listed in words, flags or numbers, or from a layer on in steps."""
    kinds = f.words("mlp_layer_types", count)
    if kinds is not None:
        return [kind != "dense" for kind in kinds]
    if f.is_list("moe_layer_freq"):
        return [bool(flag) for flag in f.read_whole_list("moe_layer_freq", count) or ()]
    listed = f.numbers("moe_layers", MOST_LAYERS)
    if listed is not None:
        return [number in listed for number in range(count)]
    dense_ones = f.numbers("mlp_only_layers", MOST_LAYERS) or frozenset()
    first = f.read_whole_or(
        first_dense, "first_k_dense_replace", "num_dense_layers", "n_dense_layers", "moe_layer_start_index", low=0
    )
    last = f.read_whole_or(-1, "moe_layer_end_index", low=-1)
    every = f.read_whole_or(1, "moe_layer_freq")
    step = f.read_whole_or(1, "decoder_sparse_step", "moe_layer_interval", "interleave_moe_layer_step")
    return [
        number >= first
        and number not in dense_ones
        and number % every == 0
        and (number + 1) % step == 0
        and (last < 0 or number <= last)
        for number in range(count)
    ]


def read_latent_attention(f: ConfigFields, **more: object) -> DefinitionTable:
    """Return the table of latent attention; without `q_lora_rank` queries are projected in one step."""
    return {
        "kind": "mla",
        "heads": f.whole("num_attention_heads"),
        "kv_lora_rank": f.whole("kv_lora_rank"),
        "qk_nope_head_dim": f.whole("qk_nope_head_dim"),
        "qk_rope_head_dim": f.whole("qk_rope_head_dim", low=0),
        "v_head_dim": f.whole("v_head_dim"),
    } | drop_defaults({"q_lora_rank": f.find_whole("q_lora_rank"), **more})
