"""The keys and tensors of published models, put down tensor by tensor as GGUF files have them.

What the reader makes of them can so be held against the shipped definitions.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.unit.catalog.importing.gguf_files import F32, MXFP4, Gguf, attention, dense, experts, head, make_gguf, norms


def llama_8b() -> Gguf:
    gguf = make_gguf(
        "llama", 4096, 128256, 32, attention__head_count=32, attention__head_count_kv=8, context_length=131072
    )
    head(gguf, 4096, 128256)
    gguf.add("rope_freqs.weight", 64)
    for layer in range(32):
        norms(gguf, layer, 4096)
        attention(gguf, layer, 4096, 32, 8, 128)
        dense(gguf, layer, 4096, 14336)
    return gguf


def mixtral() -> Gguf:
    gguf = make_gguf(
        "llama",
        4096,
        32000,
        32,
        attention__head_count=32,
        attention__head_count_kv=8,
        context_length=32768,
        expert_used_count=2,
        expert_count=8,
    )
    head(gguf, 4096, 32000)
    for layer in range(32):
        norms(gguf, layer, 4096)
        attention(gguf, layer, 4096, 32, 8, 128)
        experts(gguf, layer, 4096, 14336, 8)
    return gguf


def qwen25_7b() -> Gguf:
    gguf = make_gguf("qwen2", 3584, 152064, 28, attention__head_count=28, attention__head_count_kv=4)
    gguf.keys["qwen2.context_length"] = 131072
    head(gguf, 3584, 152064)
    for layer in range(28):
        norms(gguf, layer, 3584)
        attention(gguf, layer, 3584, 28, 4, 128, bias=True)
        dense(gguf, layer, 3584, 18944)
    return gguf


def qwen3_30b() -> Gguf:
    gguf = make_gguf(
        "qwen3moe",
        2048,
        151936,
        48,
        attention__head_count=32,
        attention__head_count_kv=4,
        attention__key_length=128,
        expert_used_count=8,
        context_length=40960,
    )
    head(gguf, 2048, 151936)
    for layer in range(48):
        norms(gguf, layer, 2048)
        attention(gguf, layer, 2048, 32, 4, 128)
        _head_norms(gguf, layer, 128)
        experts(gguf, layer, 2048, 768, 128)
    return gguf


def _head_norms(gguf: Gguf, layer: int, head_dim: int) -> None:
    gguf.add(f"blk.{layer}.attn_q_norm.weight", head_dim)
    gguf.add(f"blk.{layer}.attn_k_norm.weight", head_dim)


def qwen3_next() -> Gguf:
    gguf = make_gguf(
        "qwen3next",
        2048,
        151936,
        48,
        attention__head_count=16,
        attention__head_count_kv=2,
        attention__key_length=256,
        ssm__conv_kernel=4,
        ssm__state_size=128,
        ssm__group_count=16,
        ssm__time_step_rank=32,
        ssm__inner_size=4096,
        expert_used_count=10,
        context_length=262144,
    )
    head(gguf, 2048, 151936)
    for layer in range(48):
        norms(gguf, layer, 2048, "attn_norm", "post_attention_norm")
        if layer % 4 == 3:
            attention(gguf, layer, 2048, 16, 2, 256, gate=True)
            _head_norms(gguf, layer, 256)
        else:
            _delta_net(gguf, layer)
        experts(gguf, layer, 2048, 512, 512, shared=512)
        gguf.add(f"blk.{layer}.ffn_gate_inp_shexp.weight", 2048)
    return gguf


def _delta_net(gguf: Gguf, layer: int) -> None:
    name = f"blk.{layer}."
    gguf.add(f"{name}attn_qkv.weight", 2048, 2 * 2048 + 4096)
    gguf.add(f"{name}attn_gate.weight", 2048, 4096)
    gguf.add(f"{name}ssm_ba.weight", 2048, 64)
    gguf.add(f"{name}ssm_conv1d.weight", 4, 2 * 2048 + 4096, kind=F32)
    gguf.add(f"{name}ssm_dt.bias", 32)
    gguf.add(f"{name}ssm_a", 32)
    gguf.add(f"{name}ssm_norm.weight", 128)
    gguf.add(f"{name}ssm_out.weight", 4096, 2048)


def gpt_oss_20b() -> Gguf:
    gguf = make_gguf(
        "gpt-oss",
        2880,
        201088,
        24,
        attention__head_count=64,
        attention__head_count_kv=8,
        attention__key_length=64,
        attention__sliding_window=128,
        expert_used_count=4,
        context_length=131072,
    )
    head(gguf, 2880, 201088)
    for layer in range(24):
        norms(gguf, layer, 2880, "attn_norm", "post_attention_norm")
        attention(gguf, layer, 2880, 64, 8, 64, bias=True)
        gguf.add(f"blk.{layer}.attn_output.bias", 2880)
        gguf.add(f"blk.{layer}.attn_sinks.weight", 64)
        experts(gguf, layer, 2880, 2880, 32, kind=MXFP4)
        gguf.add(f"blk.{layer}.ffn_gate_inp.bias", 32)
        for part in ("gate", "up", "down"):
            gguf.add(f"blk.{layer}.ffn_{part}_exps.bias", 2880, 32, kind=F32)
    return gguf


def deepseek_v3(*, halves: bool = True) -> Gguf:
    gguf = make_gguf(
        "deepseek2",
        7168,
        129280,
        61,
        attention__head_count=128,
        attention__head_count_kv=1 if halves else 128,
        attention__q_lora_rank=1536,
        attention__kv_lora_rank=512,
        attention__key_length=576 if halves else 192,
        attention__value_length=512 if halves else 128,
        rope__dimension_count=64,
        expert_used_count=8,
        context_length=163840,
    )
    head(gguf, 7168, 129280)
    for layer in range(61):
        name = f"blk.{layer}.attn_"
        norms(gguf, layer, 7168)
        gguf.add(f"{name}q_a.weight", 7168, 1536)
        gguf.add(f"{name}q_a_norm.weight", 1536)
        gguf.add(f"{name}q_b.weight", 1536, 128 * 192)
        gguf.add(f"{name}kv_a_mqa.weight", 7168, 576)
        gguf.add(f"{name}kv_a_norm.weight", 512)
        if halves:
            gguf.add(f"{name}k_b.weight", 128, 512, 128)
            gguf.add(f"{name}v_b.weight", 512, 128, 128)
        else:
            gguf.add(f"{name}kv_b.weight", 512, 128 * 256)
        gguf.add(f"{name}output.weight", 128 * 128, 7168)
        if layer < 3:
            dense(gguf, layer, 7168, 18432)
        else:
            experts(gguf, layer, 7168, 2048, 256, shared=2048)
            gguf.add(f"blk.{layer}.exp_probs_b.bias", 256)
    return gguf


def gemma3_27b() -> Gguf:
    gguf = make_gguf(
        "gemma3",
        5376,
        262208,
        62,
        attention__head_count=32,
        attention__head_count_kv=16,
        attention__key_length=128,
        attention__sliding_window=1024,
        context_length=131072,
    )
    for layer in range(62):
        norms(gguf, layer, 5376, "attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm")
        attention(gguf, layer, 5376, 32, 16, 128)
        _head_norms(gguf, layer, 128)
        dense(gguf, layer, 5376, 21504)
    return gguf


def command_a() -> Gguf:
    gguf = make_gguf(
        "cohere2",
        12288,
        256000,
        64,
        attention__head_count=96,
        attention__head_count_kv=8,
        attention__sliding_window=4096,
        context_length=131072,
    )
    for layer in range(64):
        norms(gguf, layer, 12288, "attn_norm")
        attention(gguf, layer, 12288, 96, 8, 128)
        dense(gguf, layer, 12288, 36864)
    return gguf


def phi3_mini() -> Gguf:
    gguf = make_gguf(
        "phi3",
        3072,
        32064,
        32,
        attention__head_count=32,
        attention__head_count_kv=32,
        attention__sliding_window=2047,
        context_length=4096,
    )
    head(gguf, 3072, 32064)
    for layer in range(32):
        norms(gguf, layer, 3072)
        gguf.add(f"blk.{layer}.attn_qkv.weight", 3072, 3 * 3072)
        gguf.add(f"blk.{layer}.attn_output.weight", 3072, 3072)
        gguf.add(f"blk.{layer}.ffn_up.weight", 3072, 2 * 8192)
        gguf.add(f"blk.{layer}.ffn_down.weight", 8192, 3072)
    return gguf


def falcon_40b() -> Gguf:
    gguf = make_gguf(
        "falcon", 8192, 65024, 60, attention__head_count=128, attention__head_count_kv=8, context_length=2048
    )
    gguf.add("output_norm.bias", 8192)
    for layer in range(60):
        for name in ("attn_norm", "attn_norm_2"):
            gguf.add(f"blk.{layer}.{name}.weight", 8192)
            gguf.add(f"blk.{layer}.{name}.bias", 8192)
        gguf.add(f"blk.{layer}.attn_qkv.weight", 8192, (128 + 16) * 64)
        gguf.add(f"blk.{layer}.attn_output.weight", 8192, 8192)
        dense(gguf, layer, 8192, 32768, gated=False)
    return gguf


def glm_45_air() -> Gguf:
    gguf = make_gguf(
        "glm4moe",
        4096,
        151552,
        47,
        attention__head_count=96,
        attention__head_count_kv=8,
        attention__key_length=128,
        expert_used_count=8,
        nextn_predict_layers=1,
        context_length=131072,
    )
    head(gguf, 4096, 151552)
    for layer in range(47):
        norms(gguf, layer, 4096, "attn_norm", "post_attention_norm")
        attention(gguf, layer, 4096, 96, 8, 128, bias=True)
        if layer == 0:
            dense(gguf, layer, 4096, 10944)
        else:
            experts(gguf, layer, 4096, 1408, 128, shared=1408)
            gguf.add(f"blk.{layer}.exp_probs_b.bias", 128)
    gguf.add("blk.46.nextn.eh_proj.weight", 8192, 4096)
    return gguf


def minimax_m2() -> Gguf:
    gguf = make_gguf(
        "minimax-m2",
        3072,
        200064,
        62,
        attention__head_count=48,
        attention__head_count_kv=8,
        attention__key_length=128,
        expert_used_count=8,
        context_length=196608,
    )
    head(gguf, 3072, 200064)
    for layer in range(62):
        norms(gguf, layer, 3072)
        attention(gguf, layer, 3072, 48, 8, 128)
        gguf.add(f"blk.{layer}.attn_q_norm.weight", 48 * 128)
        gguf.add(f"blk.{layer}.attn_k_norm.weight", 8 * 128)
        experts(gguf, layer, 3072, 1536, 256)
        gguf.add(f"blk.{layer}.exp_probs_b.bias", 256)
    return gguf


def jamba() -> Gguf:
    gguf = make_gguf(
        "jamba",
        4096,
        65536,
        32,
        attention__head_count=32,
        attention__head_count_kv=[8 if layer % 8 == 4 else 0 for layer in range(32)],
        expert_used_count=2,
        context_length=262144,
    )
    head(gguf, 4096, 65536)
    for layer in range(32):
        norms(gguf, layer, 4096)
        if layer % 8 == 4:
            attention(gguf, layer, 4096, 32, 8, 128)
        else:
            _mamba1(gguf, layer)
        if layer % 2:
            experts(gguf, layer, 4096, 14336, 16)
        else:
            dense(gguf, layer, 4096, 14336)
    return gguf


def _mamba1(gguf: Gguf, layer: int) -> None:
    name = f"blk.{layer}.ssm_"
    gguf.add(f"{name}in.weight", 4096, 2 * 8192)
    gguf.add(f"{name}conv1d.weight", 4, 8192, kind=F32)
    gguf.add(f"{name}conv1d.bias", 8192)
    gguf.add(f"{name}x.weight", 8192, 256 + 32)
    gguf.add(f"{name}dt.weight", 256, 8192)
    gguf.add(f"{name}dt.bias", 8192)
    gguf.add(f"{name}a", 16, 8192, kind=F32)
    gguf.add(f"{name}d", 8192)
    gguf.add(f"{name}out.weight", 8192, 4096)
    gguf.add(f"{name}dt_norm.weight", 256)
    gguf.add(f"{name}b_norm.weight", 16)
    gguf.add(f"{name}c_norm.weight", 16)


def nemotron_h_56b() -> Gguf:
    """Return the layers by count, not in their order: 54 with state space, 10 with attention, 54 dense."""
    gguf = make_gguf(
        "nemotron_h",
        8192,
        131072,
        118,
        attention__head_count=64,
        attention__head_count_kv=8,
        ssm__time_step_rank=256,
        ssm__group_count=8,
        ssm__inner_size=16384,
        context_length=8192,
    )
    head(gguf, 8192, 131072)
    for layer in range(118):
        norms(gguf, layer, 8192, "attn_norm")
        if layer < 54:
            _mamba2(gguf, layer, 8192, 256, 64, 256, 8)
        elif layer < 64:
            attention(gguf, layer, 8192, 64, 8, 128)
        else:
            dense(gguf, layer, 8192, 32768, gated=False)
    return gguf


def _mamba2(gguf: Gguf, layer: int, hidden: int, heads: int, head_dim: int, state: int, groups: int) -> None:
    name, inner = f"blk.{layer}.ssm_", heads * head_dim
    channels = inner + 2 * groups * state
    gguf.add(f"{name}in.weight", hidden, inner + channels + heads)
    gguf.add(f"{name}conv1d.weight", 4, channels, kind=F32)
    gguf.add(f"{name}conv1d.bias", channels)
    gguf.add(f"{name}dt.bias", heads)
    gguf.add(f"{name}a", 1, heads, kind=F32)
    gguf.add(f"{name}d", 1, heads, kind=F32)
    gguf.add(f"{name}norm.weight", inner // groups, groups, kind=F32)
    gguf.add(f"{name}out.weight", inner, hidden)


#: Shipped model -> file of the same model.
MODELS: Mapping[str, Gguf] = {
    "llama-3.1-8b": llama_8b(),
    "mixtral-8x7b": mixtral(),
    "qwen2.5-7b": qwen25_7b(),
    "qwen3-30b-a3b": qwen3_30b(),
    "qwen3-next-80b-a3b": qwen3_next(),
    "gpt-oss-20b": gpt_oss_20b(),
    "deepseek-v3": deepseek_v3(),
    "gemma-3-27b": gemma3_27b(),
    "command-a-111b": command_a(),
    "phi-3-mini-4k": phi3_mini(),
    "falcon-40b": falcon_40b(),
    "glm-4.5-air": glm_45_air(),
    "minimax-m2": minimax_m2(),
    "jamba-v0.1": jamba(),
    "nemotron-h-56b": nemotron_h_56b(),
}
