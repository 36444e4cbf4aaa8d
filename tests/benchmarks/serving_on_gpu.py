"""Measures whole serving runs of vLLM on the GPU at hand and writes rows as data/measurements/runs-*.csv have them.

    python tests/benchmarks/serving_on_gpu.py --accelerator H200 --folder measured --group dense --seconds 500

It needs vLLM 0.25 or newer and one GPU of 140 GB on which nothing else runs; no network and no weights: models have
the dimensions of the real ones and random weights. vLLM draws them within 0.001 of zero, which FP8 rounds to zero: set
`low` and `high` in vllm/model_executor/model_loader/weight_utils.py to -0.03 and 0.03, the spread of trained ones.
Prompts are random token ids, answers have a fixed length, the prefix cache is off, sampling is at temperature 1 so that
sequences, and with them the choice of experts, stay apart. Servers of one group start together, each with memory of
its own, and are measured one after another: an idle server takes no time of the GPU.

A point is a closed loop: so many clients send one request after another over HTTP until all are done. Times are those
of the client.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any, Final

Config = dict[str, Any]

_COMMON: Final[Config] = {
    "hidden_act": "silu",
    "rms_norm_eps": 1e-5,
    "initializer_range": 0.02,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "attention_bias": False,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "use_cache": True,
}
#: FP8 with one scale a channel of the matrix and a token of the activations, as published checkpoints have it.
_FP8: Final[Config] = {
    "quant_method": "compressed-tensors",
    "format": "float-quantized",
    "quantization_status": "compressed",
    "ignore": ["lm_head"],
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {
                "num_bits": 8,
                "type": "float",
                "symmetric": True,
                "strategy": "channel",
                "dynamic": False,
                "observer": "minmax",
            },
            "input_activations": {
                "num_bits": 8,
                "type": "float",
                "symmetric": True,
                "strategy": "token",
                "dynamic": True,
            },
        }
    },
}


def _make_dense(
    architecture: str, kind: str, vocabulary: int, hidden: int, layers: int, heads: tuple[int, int], inner: int
) -> Config:
    return {
        **_COMMON,
        "architectures": [architecture],
        "model_type": kind,
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads[0],
        "num_key_value_heads": heads[1],
        "head_dim": 128,
        "max_position_embeddings": 40960,
        "rope_theta": 1e6,
    }


_LLAMA_8B: Final = _make_dense("LlamaForCausalLM", "llama", 128256, 4096, 32, (32, 8), 14336)
_LLAMA_70B: Final = _make_dense("LlamaForCausalLM", "llama", 128256, 8192, 80, (64, 8), 28672)
_QWEN_32B: Final = _make_dense("Qwen3ForCausalLM", "qwen3", 151936, 5120, 64, (64, 8), 25600)
_QWEN_30B_A3B: Final = {
    **_make_dense("Qwen3MoeForCausalLM", "qwen3_moe", 151936, 2048, 48, (32, 4), 6144),
    "moe_intermediate_size": 768,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "norm_topk_prob": True,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
}
_DEEPSEEK_V2_LITE: Final = {
    **_COMMON,
    "architectures": ["DeepseekV2ForCausalLM"],
    "model_type": "deepseek_v2",
    "vocab_size": 102400,
    "hidden_size": 2048,
    "intermediate_size": 10944,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "kv_lora_rank": 512,
    "q_lora_rank": None,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "moe_intermediate_size": 1408,
    "n_routed_experts": 64,
    "n_shared_experts": 2,
    "num_experts_per_tok": 6,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "n_group": 1,
    "topk_group": 1,
    "topk_method": "greedy",
    "scoring_func": "softmax",
    "norm_topk_prob": False,
    "routed_scaling_factor": 1.0,
    "max_position_embeddings": 40960,
    "rope_theta": 10000,
}
_GPT_OSS_20B: Final = {
    **_make_dense("GptOssForCausalLM", "gpt_oss", 201088, 2880, 24, (64, 8), 2880),
    "head_dim": 64,
    "attention_bias": True,
    "num_local_experts": 32,
    "num_experts_per_tok": 4,
    "experts_per_token": 4,
    "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention"] * 12,
    "swiglu_limit": 7.0,
    "rope_theta": 150000,
    "max_position_embeddings": 131072,
    "initial_context_length": 4096,
    "rope_scaling": {
        "rope_type": "yarn",
        "factor": 32.0,
        "beta_fast": 32.0,
        "beta_slow": 1.0,
        "original_max_position_embeddings": 4096,
        "truncate": False,
    },
    "quantization_config": {
        "quant_method": "mxfp4",
        "modules_to_not_convert": [
            "model.layers.*.self_attn",
            "model.layers.*.mlp.router",
            "model.embed_tokens",
            "lm_head",
        ],
    },
}


@dataclass(frozen=True)
class Server:
    """One model on a server: GiB of its KV cache, and points as (input, output, clients, requests)."""

    model: str
    config: Config
    weights: str
    cache_gib: int
    points: tuple[tuple[int, int, int, int], ...]
    kv: str = "bf16"


def _quantized(config: Config) -> Config:
    return {**config, "quantization_config": _FP8}


_SHORT: Final = ((1024, 256, 1, 4), (1024, 256, 16, 48), (1024, 256, 64, 160), (1024, 256, 256, 640))
_LARGE: Final = ((1024, 256, 1, 2), (1024, 256, 16, 32), (1024, 256, 64, 128))
GROUPS: Final = {
    "small": (
        Server("Llama-3.1-8B", _LLAMA_8B, "bf16", 36, (*_SHORT, (4096, 64, 16, 64), (128, 512, 128, 256))),
        Server("Qwen3-30B-A3B", _QWEN_30B_A3B, "bf16", 26, (*_SHORT, (4096, 64, 16, 64), (128, 512, 128, 256))),
    ),
    "narrow": (
        Server("Llama-3.1-8B", _quantized(_LLAMA_8B), "fp8", 36, _SHORT),
        Server("gpt-oss-20b", _GPT_OSS_20B, "mxfp4", 16, _SHORT),
    ),
    "latent": (Server("DeepSeek-V2-Lite", _DEEPSEEK_V2_LITE, "bf16", 14, (*_SHORT, (4096, 64, 16, 64))),),
    "llama-70b": (Server("Llama-3.1-70B", _quantized(_LLAMA_70B), "fp8", 34, (*_LARGE, (4096, 64, 8, 16))),),
    "qwen-32b": (Server("Qwen3-32B", _quantized(_QWEN_32B), "fp8", 34, _LARGE),),
}
MAX_BATCH: Final = 256
MAX_BATCHED_TOKENS: Final = 8192
MAX_LENGTH: Final = 8192
FIRST_PORT: Final = 8100


def say(*words: object) -> None:
    """Write a line to the terminal at once."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def write_model(folder: Path, config: Config) -> None:
    """Write configuration and a tokenizer of as many made-up words as the vocabulary has."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "generation_config.json").write_text('{"do_sample": true, "temperature": 1.0}', encoding="utf-8")
    vocabulary = {f"w{number}": number for number in range(config["vocab_size"])}
    tokenizer: Config = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "w2"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(
        json.dumps(
            {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "w0", "eos_token": "w1", "unk_token": "w2"}
        ),
        encoding="utf-8",
    )


def start_server(server: Server, folder: Path, port: int, log: Path) -> subprocess.Popen[bytes]:
    """Start a server; its output goes to `log`."""
    name = f"{server.model}-{server.weights}"
    write_model(folder / name, server.config)
    command = [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder / name)),
        *("--served-model-name", "m", "--port", str(port), "--load-format", "dummy"),
        *("--max-model-len", str(MAX_LENGTH), "--max-num-seqs", str(MAX_BATCH)),
        *("--max-num-batched-tokens", str(MAX_BATCHED_TOKENS), "--no-enable-prefix-caching"),
        # The check of free memory at the start would count that of the other servers.
        *("--gpu-memory-utilization", "0.05"),
        *("--kv-cache-memory-bytes", str(server.cache_gib << 30), "--disable-uvicorn-access-log"),
    ]
    offline = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_USE_FLASHINFER_SAMPLER": "0"}
    return subprocess.Popen(
        command,
        stdout=log.open("wb"),
        stderr=subprocess.STDOUT,
        env={**os.environ, **offline, "VLLM_USE_DEEP_GEMM": "0"},
        start_new_session=True,
    )


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """End a server and the processes that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until_ready(process: subprocess.Popen[bytes], port: int, until: float) -> bool:
    """Whether the server answers before the clock shows `until`."""
    while time.perf_counter() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                return True
        except OSError:
            time.sleep(0.5)
    return False


@dataclass(frozen=True)
class RequestTimes:
    """Seconds from sending to the first token, and to the last."""

    first: float
    last: float


async def send_request(port: int, prompt: Sequence[int], output: int) -> RequestTimes:
    """Send one request and read its stream to the end; raises RuntimeError for an answer that is none."""
    body = json.dumps(
        {
            "model": "m",
            "prompt": list(prompt),
            "max_tokens": output,
            "min_tokens": output,
            "ignore_eos": True,
            "temperature": 1.0,
            "stream": True,
        }
    ).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    lines = (
        "POST /v1/completions HTTP/1.1",
        "Host: m",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    head = "".join(f"{line}\r\n" for line in (*lines, ""))
    start, first, received = time.perf_counter(), 0.0, b""
    writer.write(head.encode() + body)
    await writer.drain()
    tail = b""
    while chunk := await reader.read(1 << 16):
        tail = tail[-200:] + chunk
        if not first and b"data: " in tail:
            first = time.perf_counter()
        received = chunk if not first else b""
    end = time.perf_counter()
    writer.close()
    if not first or b"[DONE]" not in tail:
        raise RuntimeError(f"no stream: {(received or tail)[:300]!r}")
    return RequestTimes(first - start, end - start)


async def run_point(port: int, vocabulary: int, input_tokens: int, output: int, clients: int, requests: int) -> Config:
    """Run a closed loop; returns rate and times in the units of metrics.toml."""
    draw = random.Random(requests)
    prompts = [[draw.randrange(10, vocabulary - 10) for _ in range(input_tokens)] for _ in range(requests)]
    times: list[RequestTimes] = []

    async def serve() -> None:
        while prompts:
            times.append(await send_request(port, prompts.pop(), output))

    start = time.perf_counter()
    await asyncio.gather(*(serve() for _ in range(clients)))
    seconds = time.perf_counter() - start
    first = [1e3 * each.first for each in times]
    token = [1e3 * (each.last - each.first) / (output - 1) for each in times]
    return {
        "output_tokens_per_s": requests * output / seconds,
        "median_ttft_ms": median(first),
        "mean_ttft_ms": mean(first),
        "p99_ttft_ms": quantiles(first, n=100, method="inclusive")[98],
        "median_tpot_ms": median(token),
        "mean_tpot_ms": mean(token),
        "p99_tpot_ms": quantiles(token, n=100, method="inclusive")[98],
        "seconds": seconds,
    }


def measure_server(server: Server, port: int, until: float) -> Iterator[Config]:
    """Measure the points of a server that start before the clock shows `until`."""
    vocabulary = server.config["vocab_size"]
    # Kernels of larger steps are compiled when they first come.
    for clients in (16, 64, 256):
        asyncio.run(run_point(port, vocabulary, 300, 8, clients, clients))
    for input_tokens, output, clients, requests in server.points:
        if time.perf_counter() > until:
            return
        try:
            figures = asyncio.run(run_point(port, vocabulary, input_tokens, output, clients, requests))
        except (OSError, RuntimeError) as error:
            say(f"{server.model}: {str(error)[:300]}")
            continue
        yield {
            "model": server.model,
            "engine_version": version("vllm"),
            "weights": server.weights,
            "kv": server.kv,
            "input_tokens": input_tokens,
            "output_tokens": output,
            "amount": clients,
            "requests": requests,
            "cache_gib": server.cache_gib,
            **{name: f"{value:.6g}" for name, value in figures.items()},
        }


def measure_group(servers: Sequence[Server], accelerator: str, folder: Path, until: float) -> None:
    """Start all servers of a group, measure one after another, stop them."""
    processes = []
    begin = time.perf_counter()
    for place, server in enumerate(servers):
        log = folder / f"{server.model}-{server.weights}.log"
        processes.append(start_server(server, folder / "models", FIRST_PORT + place, log))
    path = folder / f"runs-{'-'.join(each.model for each in servers)}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer: csv.DictWriter[str] | None = None
        try:
            ready = [wait_until_ready(process, FIRST_PORT + place, until) for place, process in enumerate(processes)]
            say(f"ready {ready} after {time.perf_counter() - begin:.0f} s")
            for place, server in enumerate(servers):
                if ready[place]:
                    for row in measure_server(server, FIRST_PORT + place, until):
                        cells = {"accelerator": accelerator, **row}
                        if writer is None:
                            writer = csv.DictWriter(file, list(cells), lineterminator="\n")
                            writer.writeheader()
                        writer.writerow(cells)
                        file.flush()
        finally:
            for process in processes:
                process.terminate()
            time.sleep(5)
            for process in processes:
                stop_group(process)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the groups that were named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--accelerator", required=True, help="name of the part as data/measurements/aliases.toml has it"
    )
    parser.add_argument("--folder", type=Path, default=Path("measured"))
    parser.add_argument("--group", nargs="+", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--seconds", type=float, default=1500.0, help="no point starts after so many")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    until = time.perf_counter() + options.seconds
    for group in options.group:
        measure_group(GROUPS[group], options.accelerator, options.folder, until)


if __name__ == "__main__":
    main()
