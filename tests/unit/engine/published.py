"""Models by the dimensions that their publishers state, for tables computed by hand."""

from __future__ import annotations

from gpudesk.domain.model import MLA, Attention, DenseFfn, GatedDeltaNet, LayerGroup, Mamba1, Model, MoeFfn
from gpudesk.domain.precision import Precision


def llama_3_1_70b() -> Model:
    """80 layers of 8192, 64 heads of 128 on 8 KV heads, feed-forward 28672, vocabulary 128256, untied."""
    layers = LayerGroup(80, Attention(64, 8, 128), DenseFfn(28672))
    return Model("llama-70b", "Llama 3.1 70B", "Meta", 8192, 128256, False, 131072, Precision.BF16, (layers,))


def llama_3_1_405b() -> Model:
    """126 layers of 16384, 128 heads of 128 on 8 KV heads, feed-forward 53248, vocabulary 128256, untied."""
    layers = LayerGroup(126, Attention(128, 8, 128), DenseFfn(53248))
    return Model("llama-405b", "Llama 3.1 405B", "Meta", 16384, 128256, False, 131072, Precision.BF16, (layers,))


def gemma_3_27b() -> Model:
    """62 layers of 5376: 52 in a window of 1024 and 10 global; 32 heads of 128 on 16 KV heads; tied."""
    local = Attention(32, 16, 128, window=1024, qk_norm="head")
    whole = Attention(32, 16, 128, qk_norm="head")
    layers = (LayerGroup(52, local, DenseFfn(21504), norms=4), LayerGroup(10, whole, DenseFfn(21504), norms=4))
    return Model("gemma-27b", "Gemma 3 27B", "Google", 5376, 262208, True, 131072, Precision.BF16, layers)


def deepseek_v3() -> Model:
    """61 layers of 7168 with MLA: 3 dense of 18432, 58 with 256 experts of 2048, 8 a token and one shared."""
    mixer = MLA(128, 512, 128, 128, 64, q_lora_rank=1536)
    layers = (
        LayerGroup(3, mixer, DenseFfn(18432)),
        LayerGroup(58, mixer, MoeFfn(256, 8, 2048, shared_intermediate_size=2048, router_bias=True)),
    )
    return Model("deepseek-v3", "DeepSeek V3", "DeepSeek", 7168, 129280, False, 163840, Precision.FP8, layers)


def gpt_oss_120b() -> Model:
    """36 layers of 2880, every second in a window of 128; 64 heads of 64 on 8; 128 experts, 4 a token."""
    local = Attention(64, 8, 64, window=128, qkv_bias=True, output_bias=True, sinks=True)
    whole = Attention(64, 8, 64, qkv_bias=True, output_bias=True, sinks=True)
    ffn = MoeFfn(128, 4, 2880, bias=True, router_bias=True)
    layers = (LayerGroup(18, local, ffn), LayerGroup(18, whole, ffn))
    return Model(
        "gpt-oss-120b",
        "gpt-oss-120b",
        "OpenAI",
        2880,
        201088,
        False,
        131072,
        Precision.MXFP4,
        layers,
        quantised_tensors="experts",
    )


def qwen3_next_80b() -> Model:
    """48 layers of 2048, every fourth with 16 heads of 256 on 2, the rest linear; 512 experts, 10 a token."""
    linear = GatedDeltaNet(16, 32, 128, 128, 4)
    full = Attention(16, 2, 256, qk_norm="head", output_gate="element")
    ffn = MoeFfn(512, 10, 512, shared_intermediate_size=512, shared_gate=True)
    layers = (LayerGroup(36, linear, ffn), LayerGroup(12, full, ffn))
    return Model("qwen3-next", "Qwen3-Next 80B", "Qwen", 2048, 151936, False, 262144, Precision.BF16, layers)


def jamba() -> Model:
    """32 layers of 4096: 28 Mamba of 8192 channels and 4 with attention; 16 experts in every second layer."""
    mamba = Mamba1(8192, 16, 4, 256, inner_norms=True)
    layers = (
        LayerGroup(12, mamba, DenseFfn(14336)),
        LayerGroup(16, mamba, MoeFfn(16, 2, 14336)),
        LayerGroup(4, Attention(32, 8, 128), DenseFfn(14336)),
    )
    return Model("jamba", "Jamba v0.1", "AI21", 4096, 65536, False, 262144, Precision.BF16, layers)


def llama_4_scout() -> Model:
    """48 layers of 5120, three of four in chunks of 8192; 40 heads of 128 on 8; 16 experts, 1 a token."""
    chunked = Attention(40, 8, 128, window=8192, window_kind="chunked")
    whole = Attention(40, 8, 128)
    ffn = MoeFfn(16, 1, 8192, shared_intermediate_size=8192)
    layers = (LayerGroup(36, chunked, ffn), LayerGroup(12, whole, ffn))
    return Model("scout", "Llama 4 Scout", "Meta", 5120, 202048, False, 10_485_760, Precision.BF16, layers)
