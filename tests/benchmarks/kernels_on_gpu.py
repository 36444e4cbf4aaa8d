"""Measures kernels of LLM inference on the GPU at hand, one CSV file for each class of kernels.

    python tests/benchmarks/kernels_on_gpu.py --accelerator H200 --folder measured --seconds 420

It needs PyTorch 2.11 or newer built for CUDA and one GPU on which nothing else runs; 80 GB hold all cases, those that
do not fit are left out. Where vLLM can be imported its kernels are measured too: FlashAttention 3, FlashMLA, fused
experts, norms. Triton compiles the experts one by one in many minutes, unless ten processes with `--compile 0 10` to
`--compile 9 10` have done so before. It changes no setting of the GPU. pytest does not collect it.

Kernels run from a captured graph, so that no time of the host is in them, over as many copies of their data as the
last-level cache cannot hold. Data are random: products of zeros run faster. A time is the median of `SAMPLES`, each of
`SAMPLE_S` or one round. The cases of a class run in a random order that the seed fixes, until its share of `--seconds`
is spent, so that a run cut short still covers the whole range.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import importlib
import json
import math
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

#: The project does not install PyTorch and vLLM, so their types are not known here.
Tensor = Any
Module = Any
Call = Callable[[], object]
Cells = dict[str, str | int | float]

SAMPLES: Final = 5
SAMPLE_S: Final = 0.015
#: Kernels go round copies of their data of together this size, several times the last-level cache.
ROUND_BYTES: Final = 3 << 28
MOST_COPIES: Final = 64
#: Share of the free memory that one case may take.
ROOM: Final = 0.8
PAGE: Final = 16
EPSILON: Final = 1e-5

#: (n, k) of the matrices of real layers on one tensor-parallel rank.
MATRICES: Final = {
    "Llama 8B": ((6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336), (128256, 4096)),
    "Llama 70B": ((10240, 8192), (8192, 8192), (57344, 8192), (8192, 28672), (128256, 8192)),
    "Llama 70B TP2": ((5120, 8192), (8192, 4096), (28672, 8192), (8192, 14336)),
    "Llama 70B TP4": ((2560, 8192), (8192, 2048), (14336, 8192), (8192, 7168)),
    "Llama 70B TP8": ((1280, 8192), (8192, 1024), (7168, 8192), (8192, 3584)),
    "Llama 405B TP4": ((4608, 16384), (16384, 4096), (26624, 16384), (16384, 13312)),
    "Llama 405B TP8": ((2304, 16384), (16384, 2048), (13312, 16384), (16384, 6656)),
    "Qwen3 32B": ((10240, 5120), (5120, 8192), (51200, 5120), (5120, 25600)),
    "Qwen3 30B-A3B": ((5120, 2048), (2048, 4096)),
    "DeepSeek V3": ((2112, 7168), (24576, 1536), (7168, 16384), (4096, 7168), (7168, 2048)),
    "DeepSeek V3 TP8": ((3072, 1536), (7168, 2048), (512, 7168), (7168, 256)),
}
TOKENS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
#: Query heads, key-value heads, size of a head.
HEADS: Final = ((32, 8, 128), (64, 8, 128), (8, 1, 128), (64, 4, 128), (16, 2, 128), (64, 8, 64))
#: (experts, experts a token, hidden size, inner size of an expert on one rank)
EXPERTS: Final = {
    "Mixtral 8x7B": (8, 2, 4096, 14336),
    "Mixtral 8x7B TP2": (8, 2, 4096, 7168),
    "Qwen3 30B-A3B": (128, 8, 2048, 768),
    "Qwen3 235B-A22B TP4": (128, 8, 4096, 384),
    "Qwen3 235B-A22B TP8": (128, 8, 4096, 192),
    "DeepSeek V3 TP8": (256, 8, 7168, 256),
    "DeepSeek V2 Lite": (64, 6, 2048, 1408),
}


def say(*words: object) -> None:
    """Write a line to the terminal at once."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


@dataclass(frozen=True)
class Case:
    """One kernel of one shape; `make_calls` returns one call for each copy of the data.

    `data_bytes` is what one copy reads; `shared_bytes` what is kept once next to the copies.
    """

    cells: Cells
    data_bytes: float
    make_calls: Callable[[int], list[Call]]
    shared_bytes: float = 0.0
    most_copies: int = MOST_COPIES


def copy_calls(make: Callable[..., Call], *arguments: object) -> Callable[[int], list[Call]]:
    """Return what makes so many calls, each with data of its own."""
    return lambda copies: [make(*arguments) for _ in range(copies)]


class Kernels:
    """PyTorch, vLLM where it can be imported, and the GPU."""

    def __init__(self, device: str = "cuda") -> None:
        self.torch: Module = importlib.import_module("torch")
        self.device = device
        self.bf16 = self.torch.bfloat16
        self.fp8 = self.torch.float8_e4m3fn
        self.functional = self.torch.nn.functional
        self.torch.manual_seed(0)
        try:
            self.vllm: Module | None = importlib.import_module("vllm")
            self.flash = importlib.import_module("vllm.vllm_flash_attn.flash_attn_interface").flash_attn_varlen_func
            importlib.import_module("vllm._custom_ops")
        except ImportError as error:
            say(f"without vLLM: {error}")
            self.vllm = None

    @property
    def vllm_version(self) -> str:
        return str(self.vllm.__version__) if self.vllm else ""

    def normal(self, *shape: int, dtype: object = None) -> Tensor:
        values = self.torch.randn(*shape, device=self.device, dtype=self.bf16)
        return values if dtype in (None, self.bf16) else values.to(dtype)

    def whole(self, *shape: int, value: int) -> Tensor:
        return self.torch.full(shape, value, device=self.device, dtype=self.torch.int32)

    def ones(self, *shape: int) -> Tensor:
        return self.torch.ones(shape, device=self.device, dtype=self.torch.float32)

    def free_bytes(self) -> float:
        self.torch.cuda.empty_cache()
        return float(self.torch.cuda.mem_get_info()[0])

    def read_state(self) -> Cells:
        """Clock of the multiprocessors and power; nothing where the driver's library is missing."""
        try:
            return {
                "clock_mhz": self.torch.cuda.clock_rate(),
                "power_w": round(self.torch.cuda.power_draw() / 1e3),
                "temperature_c": self.torch.cuda.temperature(),
            }
        except (ImportError, RuntimeError):
            return {"clock_mhz": "", "power_w": "", "temperature_c": ""}

    def time_kernel(self, calls: Sequence[Call]) -> float:
        """Seconds of one of `calls`, captured together as a graph and replayed."""
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for call in (calls[0], *calls):
                call()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for call in calls:
                call()
        self.time_replays(graph.replay, 1)
        repeats = max(1, round(SAMPLE_S / self.time_replays(graph.replay, 1)))
        return median(self.time_replays(graph.replay, repeats) for _ in range(SAMPLES)) / len(calls)

    def time_replays(self, replay: Call, repeats: int) -> float:
        """Seconds of one of `repeats` calls in a row, by events on the GPU."""
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(repeats):
            replay()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / 1e3 / repeats


def list_products(kernels: Kernels) -> Iterator[Case]:
    """Products of m x k activations with a stored n x k matrix, as a linear layer has them."""
    for layers, matrices in MATRICES.items():
        for n, k in matrices:
            for m in TOKENS:
                for precision, scheme in (("bf16", ""), ("fp8", "tensor"), ("fp8", "row")):
                    width = 2 if precision == "bf16" else 1
                    yield Case(
                        {"precision": precision, "scheme": scheme, "m": m, "n": n, "k": k, "note": layers},
                        width * n * k + 2 * m * (k + n),
                        copy_calls(_make_product, kernels, m, n, k, scheme),
                    )


def _make_product(kernels: Kernels, m: int, n: int, k: int, scheme: str) -> Call:
    if not scheme:
        activations, matrix = kernels.normal(m, k), kernels.normal(n, k)
        return lambda: kernels.functional.linear(activations, matrix)
    activations, matrix = kernels.normal(m, k, dtype=kernels.fp8), kernels.normal(n, k, dtype=kernels.fp8).t()
    scales = (kernels.ones(m, 1), kernels.ones(1, n)) if scheme == "row" else (kernels.ones(), kernels.ones())
    return lambda: kernels.torch._scaled_mm(
        activations, matrix, scale_a=scales[0], scale_b=scales[1], out_dtype=kernels.bf16, use_fast_accum=True
    )


def list_prefill_attention(kernels: Kernels) -> Iterator[Case]:
    """Causal attention of prompts: `queries` tokens a prompt, which follow `context` - `queries` cached ones."""
    lengths = [(n, n) for n in (512, 1024, 2048, 4096, 8192, 16384, 32768)]
    lengths += [(2048, 8192), (2048, 32768), (8192, 32768), (2048, 131072)]
    #: 192 and 128: what latent attention computes with in prefill, on all heads and on those of one of 8 ranks.
    shapes = [*((q, kv, size, size) for q, kv, size in HEADS), (128, 128, 192, 128), (16, 16, 192, 128)]
    for q_heads, kv_heads, size, value_size in shapes:
        for queries, context in lengths:
            for batch in (1, 4, 16):
                if batch * context > 131072 or batch * queries * q_heads > 1 << 22:
                    continue
                shape = (batch, queries, context, q_heads, kv_heads, size, value_size)
                tokens = batch * (2 * queries * q_heads + 2 * context * kv_heads)
                for kernel, make in (("FlashAttention 3", _make_flash_prefill), ("cuDNN", _make_cudnn_prefill)):
                    if (make is _make_flash_prefill and not kernels.vllm) or (
                        make is _make_cudnn_prefill and (queries != context or value_size != size)
                    ):
                        continue
                    yield Case(
                        {
                            "kernels": "vLLM" if make is _make_flash_prefill else "PyTorch",
                            "kernel": kernel,
                            "batch": batch,
                            "queries": queries,
                            "context": context,
                            "q_heads": q_heads,
                            "kv_heads": kv_heads,
                            "head_dim": size,
                            "value_dim": value_size,
                        },
                        2 * tokens * size,
                        copy_calls(make, kernels, *shape),
                        most_copies=4,
                    )


def _make_flash_prefill(
    kernels: Kernels, batch: int, queries: int, context: int, q_heads: int, kv_heads: int, size: int, value_size: int
) -> Call:
    query = kernels.normal(batch * queries, q_heads, size)
    keys, values = (kernels.normal(batch * context, kv_heads, each) for each in (size, value_size))
    starts = [
        kernels.torch.arange(batch + 1, device=kernels.device, dtype=kernels.torch.int32) * length
        for length in (queries, context)
    ]
    return lambda: kernels.flash(
        query,
        keys,
        values,
        max_seqlen_q=queries,
        cu_seqlens_q=starts[0],
        max_seqlen_k=context,
        cu_seqlens_k=starts[1],
        causal=True,
        fa_version=3,
    )


def _make_cudnn_prefill(
    kernels: Kernels, batch: int, queries: int, context: int, q_heads: int, kv_heads: int, size: int, value_size: int
) -> Call:
    attention = importlib.import_module("torch.nn.attention")
    query = kernels.normal(batch, q_heads, queries, size)
    keys, values = (kernels.normal(batch, kv_heads, context, each) for each in (size, value_size))

    def call() -> object:
        with attention.sdpa_kernel(attention.SDPBackend.CUDNN_ATTENTION):
            return kernels.functional.scaled_dot_product_attention(
                query, keys, values, is_causal=True, enable_gqa=q_heads != kv_heads
            )

    return call


def list_decode_attention(kernels: Kernels) -> Iterator[Case]:
    """Decode attention: one new token of each sequence attends to its cache, in random pages of 16 tokens."""
    for q_heads, kv_heads, size in HEADS:
        for context in (512, 2048, 8192, 32768, 131072):
            for batch in (1, 4, 16, 64, 128, 256):
                for precision, make in (("bf16", _make_paged), ("fp8", _make_paged), ("bf16", _make_dense_decode)):
                    flash = make is _make_paged
                    cache = 2 * batch * context * kv_heads * size * (2 if precision == "bf16" else 1)
                    if cache > 36e9 or (flash and not kernels.vllm) or (precision == "fp8" and size == 64):
                        continue
                    yield Case(
                        {
                            "kernels": "vLLM" if flash else "PyTorch",
                            "kernel": "FlashAttention 3, paged" if flash else "scaled_dot_product_attention",
                            "kv_precision": precision,
                            "batch": batch,
                            "context": context,
                            "q_heads": q_heads,
                            "kv_heads": kv_heads,
                            "head_dim": size,
                        },
                        cache,
                        copy_calls(make, kernels, precision, batch, context, q_heads, kv_heads, size),
                    )


def _make_paged(
    kernels: Kernels, precision: str, batch: int, context: int, q_heads: int, kv_heads: int, size: int
) -> Call:
    torch, narrow = kernels.torch, precision == "fp8"
    pages = batch * context // PAGE
    kind = kernels.fp8 if narrow else kernels.bf16
    query = kernels.normal(batch, q_heads, size, dtype=kind)
    keys, values = (kernels.normal(pages, PAGE, kv_heads, size, dtype=kind) for _ in range(2))
    table = torch.randperm(pages, device=kernels.device).to(torch.int32).view(batch, -1)
    starts = torch.arange(batch + 1, device=kernels.device, dtype=torch.int32)
    lengths = kernels.whole(batch, value=context)
    scales = dict.fromkeys(("q_descale", "k_descale", "v_descale"), kernels.ones(batch, kv_heads)) if narrow else {}
    return lambda: kernels.flash(
        query,
        keys,
        values,
        max_seqlen_q=1,
        cu_seqlens_q=starts,
        max_seqlen_k=context,
        seqused_k=lengths,
        block_table=table,
        causal=True,
        fa_version=3,
        **scales,
    )


def _make_dense_decode(
    kernels: Kernels, precision: str, batch: int, context: int, q_heads: int, kv_heads: int, size: int
) -> Call:
    """The query heads of a group go in as rows of one query, so that each key and value is read once."""
    query = kernels.normal(batch, kv_heads, q_heads // kv_heads, size)
    keys, values = (kernels.normal(batch, kv_heads, context, size) for _ in range(2))
    return lambda: kernels.functional.scaled_dot_product_attention(query, keys, values)


def list_latent_attention(kernels: Kernels) -> Iterator[Case]:
    """Decode attention over the latent cache of DeepSeek models, 576 elements a token, in pages of 64."""
    if not kernels.vllm:
        return
    for q_heads in (16, 128):
        for context in (1024, 4096, 16384, 65536):
            for batch in (1, 4, 16, 64, 128, 256):
                if (cache := 2 * 576 * batch * context) < 30e9:
                    yield Case(
                        {"kernel": "FlashMLA", "batch": batch, "context": context, "q_heads": q_heads},
                        cache,
                        copy_calls(_make_latent, kernels, batch, context, q_heads),
                    )


def _make_latent(kernels: Kernels, batch: int, context: int, q_heads: int) -> Call:
    torch, latent = kernels.torch, importlib.import_module("vllm.third_party.flashmla.flash_mla_interface")
    query, cache = kernels.normal(batch, 1, q_heads, 576), kernels.normal(batch * context // 64, 64, 1, 576)
    table = torch.randperm(cache.shape[0], device=kernels.device).to(torch.int32).view(batch, -1)
    lengths, (plan, _) = kernels.whole(batch, value=context), latent.get_mla_metadata()
    return lambda: latent.flash_mla_with_kvcache(query, cache, table, lengths, 512, plan, causal=True)


def list_experts(kernels: Kernels) -> Iterator[Case]:
    """Routed experts of one layer: products, activation, permutation and weighted sum; routing is even."""
    for model, (experts, active, hidden, inner) in EXPERTS.items():
        for tokens in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384):
            for scheme in ("", "tensor", "block", "grouped"):
                if (scheme in {"", "tensor", "block"} and not kernels.vllm) or (scheme == "block" and inner % 128):
                    continue
                width = 2 if scheme in {"", "grouped"} else 1
                touched = experts * -math.expm1(tokens * math.log1p(-active / experts))
                copies_bytes = touched * 3 * hidden * inner * width
                yield Case(
                    {
                        "kernels": "PyTorch" if scheme == "grouped" else "vLLM",
                        "kernel": "torch._grouped_mm, two products" if scheme == "grouped" else "fused_experts",
                        "precision": "bf16" if width == 2 else "fp8",
                        "scheme": "" if scheme == "grouped" else scheme,
                        "tokens": tokens,
                        "experts": experts,
                        "top_k": active,
                        "hidden": hidden,
                        "intermediate": inner,
                        "note": model,
                    },
                    copies_bytes,
                    partial(_make_experts, kernels, (tokens, experts, active, hidden, inner), scheme),
                    shared_bytes=2.5 * experts * 3 * hidden * inner + 6 * tokens * active * (hidden + 3 * inner),
                    most_copies=16,
                )


def _make_experts(kernels: Kernels, shape: tuple[int, int, int, int, int], scheme: str, copies: int) -> list[Call]:
    """One set of experts and as many routings as copies: each touches experts of its own."""
    torch, (tokens, experts, active, hidden, inner) = kernels.torch, shape
    kind = kernels.bf16 if scheme in {"", "grouped"} else kernels.fp8
    widen, narrow = (kernels.normal(experts, *shape, dtype=kind) for shape in ((2 * inner, hidden), (hidden, inner)))
    activations = kernels.normal(tokens, hidden)
    calls: list[Call] = []
    for _ in range(copies):
        picks = torch.rand(tokens, experts, device=kernels.device).topk(active, dim=1).indices.to(torch.int32)
        shares = torch.rand(tokens, active, device=kernels.device, dtype=torch.float32)
        if scheme == "grouped":
            ends = torch.bincount(picks.flatten(), minlength=experts).cumsum(0).to(torch.int32)
            calls.append(_make_grouped(kernels, kernels.normal(tokens * active, hidden), widen, narrow, ends))
        else:
            calls.append(_make_fused(kernels, activations, widen, narrow, shares, picks, scheme))
    return calls


def _make_grouped(kernels: Kernels, rows: Tensor, widen: Tensor, narrow: Tensor, ends: Tensor) -> Call:
    inner = kernels.normal(rows.shape[0], narrow.shape[2])

    def call() -> object:
        kernels.torch._grouped_mm(rows, widen.transpose(1, 2), offs=ends)
        return kernels.torch._grouped_mm(inner, narrow.transpose(1, 2), offs=ends)

    return call


def _make_fused(
    kernels: Kernels, activations: Tensor, widen: Tensor, narrow: Tensor, shares: Tensor, picks: Tensor, scheme: str
) -> Call:
    fused = importlib.import_module("vllm.model_executor.layers.fused_moe.fused_moe")
    config = importlib.import_module("vllm.model_executor.layers.fused_moe.config")
    quantized = None
    if scheme:
        parts = [[-(-size // 128) for size in each.shape[1:]] if scheme == "block" else [] for each in (widen, narrow)]
        quantized = config.fp8_w8a8_moe_quant_config(
            *(kernels.ones(widen.shape[0], *each) for each in parts),
            block_shape=[128, 128] if scheme == "block" else None,
        )
    return lambda: fused.fused_experts(activations, widen, narrow, shares, picks, quant_config=quantized)


def list_elementwise(kernels: Kernels) -> Iterator[Case]:
    """Norms, activations and narrowing of hidden vectors, and streaming; `bytes` read and written."""
    ops = getattr(kernels.torch.ops, "_C", None) if kernels.vllm else None
    for tokens in (1, 16, 64, 256, 1024, 4096, 16384):
        for width in (2048, 4096, 8192, 16384):
            for kernel, make, per_element in _VECTOR_KERNELS:
                library = "PyTorch" if kernel.startswith("torch") else "vLLM"
                if ops or library == "PyTorch":
                    yield Case(
                        {
                            "kernels": library,
                            "kernel": kernel,
                            "tokens": tokens,
                            "width": width,
                            "bytes": per_element * tokens * width,
                        },
                        per_element * tokens * width,
                        copy_calls(make, kernels, ops, tokens, width),
                    )
    for power in range(20, 33):
        for kernel, count in (("read", 1), ("copy", 2), ("add", 3)):
            yield Case(
                {"kernels": "PyTorch", "kernel": kernel, "tokens": "", "width": "", "bytes": count << power},
                count << power,
                copy_calls(_make_stream, kernels, kernel, 1 << power),
            )


def _make_norm(kernels: Kernels, ops: Module, tokens: int, width: int) -> Call:
    vectors, residual, weight = kernels.normal(tokens, width), kernels.normal(tokens, width), kernels.normal(width)
    return lambda: ops.fused_add_rms_norm(vectors, residual, weight, EPSILON)


def _make_plain_norm(kernels: Kernels, _ops: Module, tokens: int, width: int) -> Call:
    vectors, weight = kernels.normal(tokens, width), kernels.normal(width)
    return lambda: kernels.functional.rms_norm(vectors, (width,), weight, EPSILON)


def _make_gate(kernels: Kernels, ops: Module, tokens: int, width: int) -> Call:
    both, out = kernels.normal(tokens, 2 * width), kernels.normal(tokens, width)
    return lambda: ops.silu_and_mul(out, both)


def _make_narrowing(kernels: Kernels, ops: Module, tokens: int, width: int) -> Call:
    vectors, out = kernels.normal(tokens, width), kernels.normal(tokens, width, dtype=kernels.fp8)
    scales = kernels.ones(tokens, 1)
    return lambda: ops.dynamic_per_token_scaled_fp8_quant(out, vectors, scales, None)


#: Name, maker, bytes read and written of one element of a vector.
_VECTOR_KERNELS: Final = (
    ("fused_add_rms_norm", _make_norm, 8),
    ("torch rms_norm", _make_plain_norm, 4),
    ("silu_and_mul", _make_gate, 6),
    ("dynamic_per_token_scaled_fp8_quant", _make_narrowing, 3),
)


def _make_stream(kernels: Kernels, kernel: str, size: int) -> Call:
    first = kernels.normal(size // 2)
    if kernel == "read":
        return lambda: kernels.torch.sum(first)
    second = kernels.normal(size // 2)
    if kernel == "copy":
        return lambda: second.copy_(first)
    third = kernels.normal(size // 2)
    return lambda: kernels.torch.add(first, second, out=third)


def measure_layers(kernels: Kernels) -> Iterator[Cells]:
    """Decode layers of dense models with vLLM's kernels: started one by one, and from a captured graph.

    Eight layers with matrices of their own run one after another; a time is that of one.
    """
    if not kernels.vllm:
        return
    for model, hidden, q_heads, kv_heads, inner in (
        ("Llama 8B", 4096, 32, 8, 14336),
        ("Llama 70B TP8", 8192, 8, 1, 3584),
    ):
        for batch in (1, 16, 64, 256):
            layers = [_make_layer(kernels, batch, 2048, hidden, q_heads, kv_heads, inner) for _ in range(8)]
            cells: Cells = {"note": model, "batch": batch, "context": 2048, "metric": "layer_time"}
            eager = median(_time_on_host(kernels, layers) for _ in range(SAMPLES))
            yield {**cells, "kernel": "eager", "value": eager}
            yield {**cells, "kernel": "captured graph", "value": kernels.time_kernel(layers)}


def _make_layer(
    kernels: Kernels, batch: int, context: int, hidden: int, q_heads: int, kv_heads: int, inner: int
) -> Call:
    ops, linear = kernels.torch.ops._C, kernels.functional.linear
    queries, cached = q_heads * 128, kv_heads * 128
    weights = [
        kernels.normal(*shape)
        for shape in ((queries + 2 * cached, hidden), (hidden, queries), (2 * inner, hidden), (hidden, inner))
    ]
    vectors, residual, norm = kernels.normal(batch, hidden), kernels.normal(batch, hidden), kernels.normal(hidden)
    positions = kernels.torch.full((batch,), context - 1, device=kernels.device, dtype=kernels.torch.int64)
    angles = kernels.normal(context, 128)
    attend = _make_paged(kernels, "bf16", batch, context, q_heads, kv_heads, 128)
    gated = kernels.normal(batch, inner)

    def call() -> object:
        ops.fused_add_rms_norm(vectors, residual, norm, EPSILON)
        query, key, _ = linear(vectors, weights[0]).split((queries, cached, cached), dim=1)
        ops.rotary_embedding(positions, query, key, 128, angles, True)
        attended: Tensor = attend()
        out = linear(attended.view(batch, queries), weights[1])
        ops.fused_add_rms_norm(out, residual, norm, EPSILON)
        ops.silu_and_mul(gated, linear(out, weights[2]))
        return linear(gated, weights[3])

    return call


def _time_on_host(kernels: Kernels, calls: Sequence[Call]) -> float:
    """Seconds of one call where the host starts kernel after kernel, 20 rounds in a row."""
    for call in calls:
        call()
    kernels.torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(20):
        for call in calls:
            call()
    kernels.torch.cuda.synchronize()
    return (time.perf_counter() - start) / 20 / len(calls)


def measure_launches(kernels: Kernels) -> Iterator[Cells]:
    """Seconds after which one tiny kernel follows another."""
    one = kernels.ones(1)
    calls = [lambda: one.add_(1.0)] * 2000
    yield {"kernel": "one by one", "metric": "launch_time", "value": _time_on_host(kernels, calls)}
    yield {"kernel": "captured graph", "metric": "launch_time", "value": kernels.time_kernel(calls)}


def run_calls(calls: Sequence[Call]) -> None:
    for call in calls:
        call()


def measure_sustained(kernels: Kernels) -> Iterator[Cells]:
    """The rate of one large product over 4 seconds without a pause: how far the power limit lowers the clock."""
    n = 8192
    for scheme in ("", "tensor"):
        calls = [_make_product(kernels, n, n, n, scheme) for _ in range(4)]
        for call in calls:
            call()
        begin = time.perf_counter()
        while (passed := time.perf_counter() - begin) < 4.0:
            seconds = kernels.time_replays(partial(run_calls, calls), 32) / len(calls)
            yield {
                "precision": "fp8" if scheme else "bf16",
                "scheme": scheme,
                "elapsed_s": round(passed, 2),
                "metric": "rate",
                "value": 2.0 * n**3 / seconds,
                **kernels.read_state(),
            }


#: Class, share of the seconds, cases.
CLASSES: Final = (
    ("gemm", 0.36, list_products),
    ("experts", 0.24, list_experts),
    ("prefill-attention", 0.14, list_prefill_attention),
    ("decode-attention", 0.14, list_decode_attention),
    ("latent-attention", 0.05, list_latent_attention),
    ("elementwise", 0.07, list_elementwise),
)
EXTRAS: Final = (("launch", measure_launches), ("layer", measure_layers), ("sustained", measure_sustained))


class Recorder:
    """Writes the rows of one class as they come."""

    def __init__(self, folder: Path, name: str, accelerator: str, kernels: Kernels) -> None:
        self._file = (folder / f"{name}.csv").open("w", encoding="utf-8", newline="")
        self._writer: csv.DictWriter[str] | None = None
        self._fixed: Cells = {"accelerator": accelerator}
        self._versions = {"PyTorch": kernels.torch.__version__, "vLLM": kernels.vllm_version}

    def write(self, cells: Cells, default_library: str) -> None:
        library = str(cells.get("kernels", default_library))
        row: Cells = {**self._fixed, "kernels": library, "version": self._versions[library], **cells}
        row["value"] = f"{float(row['value']):.5g}"
        note = row.pop("note", "")
        row["note"] = note
        if self._writer is None:
            self._writer = csv.DictWriter(self._file, list(row), restval="", lineterminator="\n")
            self._writer.writeheader()
        self._writer.writerow(row)
        self._file.flush()


def measure_class(kernels: Kernels, cases: Sequence[Case], recorder: Recorder, library: str, seconds: float) -> str:
    """Measure cases until `seconds` are spent; returns what was done and left out."""
    order, begin, measured = list(cases), time.perf_counter(), 0
    random.Random(0).shuffle(order)
    refused: dict[str, int] = {}
    for case in order:
        if time.perf_counter() - begin > seconds:
            break
        copies = max(1, min(case.most_copies, -(-ROUND_BYTES // max(1, round(case.data_bytes)))))
        if 1.6 * copies * case.data_bytes + case.shared_bytes > ROOM * kernels.free_bytes():
            continue
        try:
            calls = case.make_calls(copies)
            value = kernels.time_kernel(calls)
            del calls
        except (RuntimeError, ValueError, TypeError, AttributeError, AssertionError, NotImplementedError) as error:
            reason = f"{case.cells.get('kernel', '')} {case.cells.get('scheme', '')}: {str(error)[:160]}"
            refused[reason] = refused.get(reason, 0) + 1
            if "CUDA error" in reason:
                raise
            continue
        kernels_of_case: Cells = {"metric": "kernel_time", "value": value}
        recorder.write({**case.cells, **kernels_of_case}, library)
        measured += 1
    return f"{measured} of {len(order)} in {time.perf_counter() - begin:.0f} s; refused: {refused}"


def compile_experts(kernels: Kernels, worker: int, workers: int) -> None:
    """Run every case of the experts once, shared out among processes: Triton keeps what it compiles."""
    for place, case in enumerate(list_experts(kernels)):
        if place % workers == worker and case.cells["kernel"] == "fused_experts":
            with contextlib.suppress(RuntimeError, ValueError, AssertionError):
                case.make_calls(1)[0]()
    kernels.torch.cuda.synchronize()


def describe_conditions(kernels: Kernels, accelerator: str) -> dict[str, object]:
    """Versions and the device, as the series states them."""
    torch, about = kernels.torch, kernels.torch.cuda.get_device_properties(0)
    triton = importlib.import_module("triton")
    return {
        "accelerator": accelerator,
        "device": about.name,
        "multiprocessors": about.multi_processor_count,
        "cache_bytes": about.L2_cache_size,
        "memory_bytes": about.total_memory,
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "triton": triton.__version__,
        "vllm": kernels.vllm_version,
        "before": kernels.read_state(),
        "samples": SAMPLES,
        "sample_s": SAMPLE_S,
        "round_bytes": ROUND_BYTES,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all classes and write one file each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--accelerator", required=True, help="name of the part as data/measurements/aliases.toml has it"
    )
    parser.add_argument("--folder", type=Path, default=Path("measured"))
    parser.add_argument("--seconds", type=float, default=420.0, help="time for all cases together")
    parser.add_argument("--classes", nargs="*", help="only these classes")
    parser.add_argument("--library", choices=("PyTorch", "vLLM"), help="only its kernels")
    parser.add_argument("--compile", nargs=2, type=int, metavar=("WORKER", "WORKERS"), help="only compile experts")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    kernels = Kernels()
    if options.compile:
        compile_experts(kernels, *options.compile)
        return
    about = describe_conditions(kernels, options.accelerator)
    say(about)
    for name, measure in EXTRAS:
        if options.classes and name not in options.classes:
            continue
        recorder = Recorder(options.folder, name, options.accelerator, kernels)
        try:
            for cells in measure(kernels):
                recorder.write(cells, "vLLM" if name == "layer" else "PyTorch")
        except (RuntimeError, TypeError, AttributeError, ImportError) as error:
            say(name, "failed:", str(error)[:300])
    for name, share, list_cases in CLASSES:
        if options.classes and name not in options.classes:
            continue
        recorder = Recorder(options.folder, name, options.accelerator, kernels)
        library = "vLLM" if name == "latent-attention" else "PyTorch"
        cases = [case for case in list_cases(kernels) if options.library in {None, case.cells.get("kernels", library)}]
        measured_count = measure_class(kernels, cases, recorder, library, share * options.seconds)
        say(name, measured_count, kernels.read_state())
    (options.folder / "conditions.json").write_text(json.dumps(about, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
