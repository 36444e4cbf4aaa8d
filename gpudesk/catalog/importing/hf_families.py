"""Which reader reads which architecture, where a file keeps its text model, and what is tried for others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from gpudesk.catalog.importing.file_sources import plain_text
from gpudesk.catalog.importing.hf_dense import DENSE
from gpudesk.catalog.importing.hf_fields import Fields
from gpudesk.catalog.importing.hf_gemma import GEMMA
from gpudesk.catalog.importing.hf_hybrid import HYBRID
from gpudesk.catalog.importing.hf_mla import MLA, latent
from gpudesk.catalog.importing.hf_moe import MOE, sparse_layers
from gpudesk.catalog.importing.hf_moe_windows import MOE_WINDOWS
from gpudesk.catalog.importing.hf_pruned import PRUNED
from gpudesk.catalog.importing.hf_structure import (
    Heads,
    Layer,
    Part,
    Reader,
    Structure,
    attention,
    dense,
    divided_width,
    experts,
    experts_per_token,
    layer_count,
    moe,
)
from gpudesk.domain.messages import message

READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {**DENSE, **MOE, **MOE_WINDOWS, **MLA, **GEMMA, **HYBRID, **PRUNED}
)

#: Other names of the same architecture: of classes, of text models inside others, of older builds.
_SAME: Final[Mapping[str, str]] = MappingProxyType(
    {
        "qwen2_vl": "qwen2",
        "qwen2_vl_text": "qwen2",
        "qwen2_5_vl": "qwen2",
        "qwen2_5_vl_text": "qwen2",
        "qwen3_vl_text": "qwen3",
        "qwen3_5": "qwen3_5_text",
        "qwen3_5_moe": "qwen3_5_moe_text",
        "gemma3": "gemma3_text",
        "gemma3n": "gemma3n_text",
        "gemma4": "gemma4_text",
        "llama4": "llama4_text",
        "glm4v_text": "glm4",
        "glm4v_moe": "glm4v_moe_text",
        "qwen3_vl": "qwen3",
        "qwen3_vl_moe": "qwen3_vl_moe_text",
        "minimax_m3_vl": "minimax_m3_vl_text",
        "mistral3": "mistral",
        "qwen2_5_omni_text": "qwen2",
        "qwen3_omni_moe_text": "qwen3_vl_moe_text",
        "refinedweb": "falcon",
        "refinedwebmodel": "falcon",
        "kimi_k25": "deepseek_v3",
        "kimi_k3": "kimi_linear",
        "minimaxtext01": "minimax_text_01",
        "minimaxm1": "minimax_m1",
        "internlm": "llama",
    }
)
#: The first of `architectures`, where `model_type` is missing or not known.
_CLASSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "LlamaForCausalLM": "llama",
        "MistralForCausalLM": "mistral",
        "MixtralForCausalLM": "mixtral",
        "Qwen2ForCausalLM": "qwen2",
        "Qwen2MoeForCausalLM": "qwen2_moe",
        "Qwen3ForCausalLM": "qwen3",
        "Qwen3MoeForCausalLM": "qwen3_moe",
        "Qwen3NextForCausalLM": "qwen3_next",
        "DeepseekV2ForCausalLM": "deepseek_v2",
        "DeepseekV3ForCausalLM": "deepseek_v3",
        "DeepseekV32ForCausalLM": "deepseek_v32",
        "DeepseekV4ForCausalLM": "deepseek_v4",
        "GlmMoeDsaForCausalLM": "glm_moe_dsa",
        "Glm4MoeForCausalLM": "glm4_moe",
        "DeciLMForCausalLM": "nemotron-nas",
        "KimiLinearForCausalLM": "kimi_linear",
        "ChatGLMModel": "chatglm",
        "ChatGLMForConditionalGeneration": "chatglm",
        "MiniMaxM1ForCausalLM": "minimax_m1",
        "MiniMaxText01ForCausalLM": "minimax_text_01",
        "MiniMaxM2ForCausalLM": "minimax_m2",
        "MiniMaxM3SparseForConditionalGeneration": "minimax_m3_vl_text",
        "NemotronHForCausalLM": "nemotron_h",
        "GptOssForCausalLM": "gpt_oss",
        "FalconForCausalLM": "falcon",
        "RWForCausalLM": "falcon",
        "Step3p7FlashForCausalLM": "step3p7",
        "Step3p5ForCausalLM": "step3p5",
    }
)
#: Where files of several modalities keep the text model.
_TEXT_TABLES: Final = ("text_config", "llm_config", "language_config", "thinker_config")
#: What the classes take for fields that a file leaves out; files leave them out where the text model is a
#: table inside another, since only differences are written there.
_DEFAULTS: Final[Mapping[str, Mapping[str, int]]] = MappingProxyType(
    {
        name: MappingProxyType(
            dict(
                zip(
                    (
                        "hidden_size",
                        "intermediate_size",
                        "num_hidden_layers",
                        "num_attention_heads",
                        "num_key_value_heads",
                        "vocab_size",
                        "max_position_embeddings",
                    ),
                    sizes,
                    strict=True,
                )
            )
        )
        for name, sizes in {
            "llama": (4096, 11008, 32, 32, 32, 32000, 2048),
            "mistral": (4096, 14336, 32, 32, 8, 32000, 131072),
            "gemma2": (2304, 9216, 26, 8, 4, 256000, 8192),
            "gemma3_text": (2304, 9216, 26, 8, 4, 262208, 131072),
            "gemma3n_text": (2048, 16384, 35, 8, 2, 262400, 32768),
            "gemma4_text": (2304, 9216, 30, 8, 4, 262144, 131072),
        }.items()
    }
)
#: What files of older builds leave out, which had no field for it.
_ALWAYS: Final[Mapping[str, Mapping[str, int]]] = MappingProxyType(
    {"falcon": MappingProxyType({"max_position_embeddings": 2048})}
)


def text_model(whole: Mapping[str, Any]) -> tuple[str, Fields]:
    """Return the path of the text model's table and the table: the file itself where it is of text alone."""
    fields = Fields(whole)
    for name in _TEXT_TABLES:
        inner = fields.table(name)
        if inner is not None:
            deeper = inner.table("text_config")
            return (f"{name}.text_config", deeper) if deeper is not None else (name, inner)
    return "", fields


def family(whole: Mapping[str, Any], text: Fields) -> str | None:
    """Return the name of the architecture in `READERS`, or None where it is not known."""
    outer = Fields(whole)
    for fields in (text, outer):
        for found in (_by_type(fields), _by_class(fields)):
            if found is not None:
                return found
    return None


def _by_type(fields: Fields) -> str | None:
    written = fields.raw("model_type")
    if not isinstance(written, str):
        return None
    name = written.lower()
    name = _SAME.get(name, name)
    return name if name in READERS else None


def _by_class(fields: Fields) -> str | None:
    written = fields.raw("architectures")
    first = written[0] if isinstance(written, list) and written else None
    return _CLASSES.get(first) if isinstance(first, str) else None


def class_defaults(name: str | None, *, inside: bool) -> Mapping[str, int]:
    """Return what the class takes for what a file leaves out; `inside`: the table is one inside another."""
    defaults = _DEFAULTS if inside else _ALWAYS
    return defaults.get(name or "", MappingProxyType({}))


#: Words in names of fields that a reading like Llama does not understand.
_HINTS: Final = ("mamba", "ssm", "linear_", "conv", "rwkv", "index_", "attn_type", "sliding", "layer_types")


def generic(f: Fields) -> Structure:
    """Read an unknown architecture like Llama, asking for everything that a reading could be wrong in."""
    count = layer_count(f, "num_hidden_layers", "num_layers", "n_layers", "n_layer")
    hidden = f.whole("hidden_size", "d_model", "n_embd", "dim")
    qk_norm = f.word("qk_norm")
    if qk_norm not in {"none", "head", "full"}:
        f.ask("qk_norm", "word", ("none", "head", "full"))
    bias = _asked(f, "attention_bias", "use_bias", "qkv_bias", "bias")
    gated = _asked(f, "gated_mlp")
    mixer = Part("attention", _generic_attention(f, hidden, qk_norm, bias=bias))
    sparse, routed, plain = _generic_blocks(f, count, gated=gated)
    layers = tuple(Layer(mixer, routed if flag else plain) for flag in sparse)
    odd = sorted(name for name in f.names() if any(hint in name for hint in _HINTS))
    hints = tuple(plain_text(name, 60) for name in odd[:8])
    notes = (message("import.hf.unread", names=hints),) if hints else ()
    return Structure(layers, notes=notes)


def _asked(f: Fields, *names: str) -> bool:
    """Return a yes or no that is asked for where the file does not say."""
    if not f.has(*names):
        f.ask(names[0], "yes_no")
    return f.yes(*names, default=False)


def _generic_attention(f: Fields, hidden: int, qk_norm: str, *, bias: bool) -> dict[str, Any]:
    if f.has("kv_lora_rank"):
        return latent(f)
    heads = f.whole("num_attention_heads", "n_heads", "n_head")
    kv_heads = f.whole("num_key_value_heads", "num_kv_heads", "n_kv_heads", "multi_query_group_num")
    width = f.maybe("head_dim", "kv_channels", "attention_head_dim")
    if width is None:
        table = Fields({"hidden_size": hidden, "num_attention_heads": heads}, parent=f)
        width = divided_width(table, heads)
    return attention(
        Heads(heads, kv_heads, width), qkv_bias=bias, output_bias=bias, qk_norm=qk_norm or "none"
    )


def _generic_blocks(f: Fields, count: int, *, gated: bool) -> tuple[list[bool], Part | None, Part | None]:
    size_names = ("intermediate_size", "ffn_hidden_size", "ffn_dim", "d_ff", "n_inner")
    expert_names = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
    if not f.has(*expert_names):
        return [False] * count, None, dense(f.whole(*size_names), gated=gated)
    size = f.whole("moe_intermediate_size", "expert_ffn_hidden_size", *size_names)
    shared = f.whole_or(0, "n_shared_experts", "num_shared_experts", low=0) * size
    routed = moe(
        experts(f, *expert_names),
        experts_per_token(f, "num_experts_per_tok", "moe_topk", "moe_k", "num_experts_per_token"),
        size,
        gated=gated,
        shared_intermediate_size=f.whole_or(shared, "shared_expert_intermediate_size", low=0),
    )
    sparse = sparse_layers(f, count)
    return sparse, routed, None if all(sparse) else dense(f.whole(*size_names), gated=gated)


def read_structure(name: str | None, f: Fields) -> Structure:
    """Return the structure by the reader of the architecture, or like Llama where it is not known."""
    return generic(f) if name is None else READERS[name](f)
