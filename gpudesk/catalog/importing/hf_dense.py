"""Architectures of one kind of attention and one dense block a layer, as their classes build them.

Norms are counted in vectors as long as the hidden size: a layer norm with a bias has two, an RMS norm one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from gpudesk.catalog.importing.hf_fields import MOST_LAYERS, Fields
from gpudesk.catalog.importing.hf_structure import (
    FULL,
    SLIDING,
    Heads,
    Layer,
    Part,
    Reader,
    Structure,
    attention,
    dense,
    divided_width,
    every,
    layer_count,
    layer_types,
    read_heads,
    same,
    sliding_window,
    windowed,
)
from gpudesk.domain.messages import message

#: Whether something is there: always or never, or as the file says.
_Told = Callable[[Fields], bool] | bool


@dataclass(frozen=True, slots=True)
class Build:
    """A decoder of Llama's build, and how a descendant of it differs.

    `window`: a `sliding_window` in the file holds in every layer. `tied` is the class's default.
    """

    qkv_bias: _Told = False
    output_bias: _Told = False
    mlp_bias: _Told = False
    qk_norm: str = "none"
    head_dim: int | None = None
    norms: int = 2
    final_norms: int = 1
    tied: bool = False
    gated: bool = True
    window: bool = False

    def read(self, f: Fields) -> Structure:
        """Read a file of this build."""
        count = layer_count(f, "num_hidden_layers", "num_layers")
        mixer = attention(
            read_heads(f, head_dim=self.head_dim),
            window=sliding_window(f) if self.window else None,
            qkv_bias=_said(f, self.qkv_bias),
            output_bias=_said(f, self.output_bias),
            qk_norm=self.qk_norm,
        )
        ffn = dense(f.whole("intermediate_size"), gated=self.gated, bias=_said(f, self.mlp_bias))
        layers = same(Part("attention", mixer), ffn, count, self.norms)
        return Structure(layers, tied=self.tied, final_norms=self.final_norms)


def _said(f: Fields, told: _Told) -> bool:
    return told if isinstance(told, bool) else told(f)


def _flag(name: str, default: bool) -> Callable[[Fields], bool]:
    return lambda f: f.yes(name, default=default)


_ATTENTION_BIAS: Final = _flag("attention_bias", False)
_MLP_BIAS: Final = _flag("mlp_bias", False)


def late_windows(f: Fields, count: int) -> list[str]:
    """Return the kinds of layers where windows begin at a layer, if they are used at all."""
    begins = f.whole_or(28, "max_window_layers", low=0)
    used = f.yes("use_sliding_window", default=False) and sliding_window(f) is not None
    kinds = layer_types(
        f, count, (FULL, SLIDING), lambda number: SLIDING if used and number >= begins else FULL
    )
    return kinds if used else [FULL] * count


def _qwen(f: Fields, *, qkv_bias: bool, head_dim: int | None, qk_norm: str) -> Structure:
    count = layer_count(f)
    heads = read_heads(f, head_dim=head_dim)
    bias = f.yes("attention_bias", default=False)
    mixers = windowed(
        heads,
        late_windows(f, count),
        sliding_window(f, 4096),
        qkv_bias=qkv_bias or bias,
        output_bias=bias and not qkv_bias,
        qk_norm=qk_norm,
    )
    ffn = dense(f.whole("intermediate_size"))
    return Structure(tuple(Layer(mixer, ffn) for mixer in mixers))


def sliding(
    f: Fields,
    *,
    pattern: int,
    window: int | None,
    qk_norm: str = "none",
    head_dim: int | None = None,
    norms: int = 2,
    tied: bool = False,
) -> Structure:
    """Read a decoder in which each `pattern`-th layer is global and the others have a window.

    A file may name another `sliding_window_pattern`, or list the kinds; without a window all are global.
    """
    count = layer_count(f)
    heads = read_heads(f, head_dim=head_dim)
    bias = f.yes("attention_bias", default=False)
    kinds = layer_types(f, count, (FULL, SLIDING), _global_each(f, pattern))
    width = sliding_window(f, window)
    mixers = windowed(heads, kinds, width, qkv_bias=bias, output_bias=bias, qk_norm=qk_norm)
    ffn = dense(f.whole("intermediate_size"))
    return Structure(tuple(Layer(mixer, ffn, norms) for mixer in mixers), tied=tied)


def _global_each(f: Fields, pattern: int) -> Callable[[int], str]:
    """Return the pattern as a number (each n-th is global) or as letters (`LLLG`, over and over)."""
    written = f.raw("sliding_window_pattern")
    if isinstance(written, str):
        letters = written.upper() or "G"
        return lambda number: SLIDING if letters[number % len(letters)] == "L" else FULL
    return every(f.whole_or(pattern, "sliding_window_pattern"), FULL, SLIDING)


def _falcon(f: Fields) -> Structure:
    """Attention and block side by side; older builds share one key and value head among all."""
    hidden = f.whole("hidden_size", "n_embed")
    heads = f.whole("num_attention_heads", "n_head")
    new = f.yes("new_decoder_architecture", default=False)
    many = f.whole_or(heads, "num_kv_heads", "n_head_kv") if new else heads
    kv_heads = many if new or not f.yes("multi_query", default=True) else 1
    bias = f.yes("bias", default=False)
    mixer = attention(Heads(heads, kv_heads, divided_width(f, heads)), qkv_bias=bias, output_bias=bias)
    parallel = f.yes("parallel_attn", default=True)
    norms = f.whole_or(2 if new else 1, "num_ln_in_parallel_attn", high=2) if parallel else 2
    ffn = dense(f.whole_or(4 * hidden, "ffn_hidden_size"), gated=False, bias=bias)
    layers = same(Part("attention", mixer), ffn, layer_count(f, "num_hidden_layers", "n_layer"), 2 * norms)
    return Structure(layers, tied=True, final_norms=2)


def _phi(f: Fields) -> Structure:
    """Phi 1 and 2: attention and block side by side behind one layer norm, every matrix with a bias."""
    read = Build(qkv_bias=True, output_bias=True, mlp_bias=True, gated=False, norms=2, final_norms=2).read(f)
    return _with_head_bias(read, f)


def _gpt_j(f: Fields) -> Structure:
    """GPT-J: attention and block side by side behind one layer norm; only the block has biases."""
    hidden = f.whole("hidden_size", "n_embd")
    heads = f.whole("num_attention_heads", "n_head")
    if not f.missing and hidden % heads:
        divided_width(Fields({"hidden_size": hidden, "num_attention_heads": heads}), heads)
    mixer = attention(Heads(heads, heads, max(hidden // heads, 1)))
    ffn = dense(f.whole_or(4 * hidden, "n_inner", "intermediate_size"), gated=False, bias=True)
    layers = same(Part("attention", mixer), ffn, layer_count(f, "num_hidden_layers", "n_layer"))
    return _with_head_bias(Structure(layers, final_norms=2), f)


def _with_head_bias(read: Structure, f: Fields) -> Structure:
    """Say that the bias of the LM head is not counted: one number a token of the vocabulary."""
    told = message("import.hf.head_bias", count=f.whole("vocab_size"))
    return Structure(
        read.layers, tied=read.tied, final_norms=read.final_norms, notes=read.notes, left_out=(told,)
    )


def _chatglm(f: Fields) -> Structure:
    """ChatGLM 2 and 3 and GLM-4 9B in their first build, whose fields have names of their own."""
    heads = f.whole("num_attention_heads")
    grouped = f.yes("multi_query_attention", default=False)
    kv_heads = f.whole("multi_query_group_num") if grouped else heads
    width = f.maybe("kv_channels", "head_dim") or divided_width(f, heads)
    every_bias = f.yes("add_bias_linear", default=False)
    mixer = attention(
        Heads(heads, kv_heads, width),
        qkv_bias=every_bias or f.yes("add_qkv_bias", default=True),
        output_bias=every_bias,
    )
    ffn = dense(f.whole("ffn_hidden_size", "intermediate_size"), bias=every_bias)
    return Structure(same(Part("attention", mixer), ffn, layer_count(f, "num_layers", "num_hidden_layers")))


#: By `model_type`. Layer norms with a bias count two vectors each.
DENSE: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "llama": Build(qkv_bias=_ATTENTION_BIAS, output_bias=_ATTENTION_BIAS, mlp_bias=_MLP_BIAS).read,
        "yi": Build().read,
        "mistral": Build(window=True).read,
        "ministral3": Build(window=True, head_dim=128).read,
        "ministral": partial(sliding, pattern=MOST_LAYERS + 1, window=None),
        "qwen2": partial(_qwen, qkv_bias=True, head_dim=None, qk_norm="none"),
        "qwen3": partial(_qwen, qkv_bias=False, head_dim=128, qk_norm="head"),
        "gemma": Build(qkv_bias=_ATTENTION_BIAS, output_bias=_ATTENTION_BIAS, head_dim=256, tied=True).read,
        "gemma2": partial(sliding, pattern=2, window=4096, head_dim=256, norms=4, tied=True),
        "gemma3_text": partial(
            sliding, pattern=6, window=4096, head_dim=256, norms=4, tied=True, qk_norm="head"
        ),
        "glm": Build(qkv_bias=_flag("attention_bias", True), head_dim=128).read,
        "glm4": Build(qkv_bias=_flag("attention_bias", True), head_dim=128, norms=4).read,
        "chatglm": _chatglm,
        "phi": _phi,
        "phi3": Build(window=True).read,
        "cohere": lambda f: Build(
            qkv_bias=_ATTENTION_BIAS,
            output_bias=_ATTENTION_BIAS,
            qk_norm="full" if f.yes("use_qk_norm", default=False) else "none",
            norms=1,
            tied=True,
        ).read(f),
        "cohere2": partial(sliding, pattern=4, window=4096, norms=1, tied=True),
        "nemotron": Build(
            qkv_bias=_ATTENTION_BIAS,
            output_bias=_ATTENTION_BIAS,
            mlp_bias=_MLP_BIAS,
            gated=False,
            norms=4,
            final_norms=2,
        ).read,
        "falcon": _falcon,
        "gptj": _gpt_j,
        "gpt_neox": Build(
            qkv_bias=_flag("attention_bias", True),
            output_bias=_flag("attention_bias", True),
            mlp_bias=True,
            gated=False,
            norms=4,
            final_norms=2,
        ).read,
        "starcoder2": Build(
            qkv_bias=_flag("use_bias", True),
            output_bias=_flag("use_bias", True),
            mlp_bias=_flag("use_bias", True),
            gated=False,
            norms=4,
            final_norms=2,
            tied=True,
            window=True,
        ).read,
        "stablelm": lambda f: Build(
            qkv_bias=_flag("use_qkv_bias", False),
            norms=2 if f.yes("use_parallel_residual", default=False) else 4,
            final_norms=2,
        ).read(f),
        "olmo2": Build(qkv_bias=_ATTENTION_BIAS, output_bias=_ATTENTION_BIAS, qk_norm="full").read,
        "olmo3": partial(sliding, pattern=4, window=4096, qk_norm="full"),
        "granite": Build(qkv_bias=_ATTENTION_BIAS, output_bias=_ATTENTION_BIAS, mlp_bias=_MLP_BIAS).read,
        "smollm3": Build(
            qkv_bias=_ATTENTION_BIAS, output_bias=_ATTENTION_BIAS, mlp_bias=_MLP_BIAS, tied=True
        ).read,
        "exaone": Build().read,
        "exaone4": partial(sliding, pattern=4, window=None, qk_norm="head"),
        "internlm2": Build(qkv_bias=_flag("bias", False), output_bias=_flag("bias", False)).read,
        "internlm3": Build(
            qkv_bias=lambda f: f.yes("qkv_bias", "attention_bias", default=False),
            output_bias=lambda f: f.yes("bias", "mlp_bias", default=False),
            mlp_bias=lambda f: f.yes("bias", "mlp_bias", default=False),
        ).read,
        "baichuan": Build().read,
        "ernie4_5": Build(
            qkv_bias=_flag("use_bias", False),
            output_bias=_flag("use_bias", False),
            mlp_bias=_flag("use_bias", False),
            head_dim=128,
            tied=True,
        ).read,
        "hunyuan_v1_dense": Build(qkv_bias=_ATTENTION_BIAS, output_bias=_ATTENTION_BIAS, qk_norm="head").read,
        "seed_oss": Build(
            qkv_bias=_flag("attention_bias", True),
            output_bias=_flag("attention_out_bias", False),
            mlp_bias=_MLP_BIAS,
            head_dim=128,
        ).read,
        "mimo": Build(qkv_bias=_flag("attention_bias", True)).read,
    }
)
