"""Ask llm-analysis for the figures of measured runs; runs in an environment that has it.

Lines of JSON come in, one for each run, as `run_peers.py` writes them; lines of JSON go out, one for each run
and setting. The tool knows formulas, no serving engine: a batch of requests goes through prefill and decode
together. It is told the part from the same datasheet figures as this program, and the network, whose
feed-forward width it is given so that the weights are right (it counts two matrices, not three).

- A static batch and a closed loop are asked at their batch size, the loop without a TTFT.
- Requests that are all queued at once are asked at the largest batch that fits the tool's own memory account
  and the stated limit of the serving engine.
- It knows neither latency limits nor open loops, no attention data parallelism, no latent or linear
  attention, no shared experts, and no layers that differ.

The settings are its default, where parts reach their peaks, and the 0.7 of the FLOP/s and 0.9 of the
bandwidth that its documentation proposes.
"""

from __future__ import annotations

import logging
import math

from llm_analysis.analysis import LLMAnalysis
from llm_analysis.config import DtypeConfig, GPUConfig, ModelConfig, ParallelismConfig

from tests.benchmarks.peers.answering import Figures, Run, UnansweredError, answer_lines

PEER = "llm-analysis"

#: Shares of peak FLOP/s and of peak bandwidth.
SETTINGS = {"": (1.0, 1.0), "flops-0.7-bandwidth-0.9": (0.7, 0.9)}
#: Bits of weights and of activations by weight format; a part without the narrow arithmetic uses 16.
BITS = {"bf16": (16, 16), "fp16": (16, 16), "fp8": (8, 8), "nvfp4": (4, 4), "mxfp4": (4, 4), "int4": (4, 16)}
KV_BYTES = {"fp8": 1, "bf16": 2, "fp16": 2}
#: The shortest message between two parts in one host, in seconds, as in all of the tool's own files.
_MESSAGE_S = 8e-6
#: No serving engine takes more sequences than this unless it is told to.
_MOST_SEQUENCES = 2048


def answer(run: Run) -> dict[str, Figures]:
    """Return the figures of the fastest plan by setting; raises `UnansweredError`."""
    load = run["load"]["kind"]
    if load not in ("batch", "concurrency", "saturate"):
        raise UnansweredError("load")
    if run["network"] is None or run["network"]["shared_experts"]:
        raise UnansweredError("model")
    if run["weights"] not in BITS:
        raise UnansweredError("format")
    plans = [plan for plan in run["plans"] if not plan["attention_dp"]]
    if not plans:
        raise UnansweredError("plan")
    figures_by_name = {}
    for setting, shares in SETTINGS.items():
        plan_figures = [figures for plan in plans if (figures := _planned(run, plan, shares)) is not None]
        if plan_figures:
            figures_by_name[setting] = max(plan_figures, key=lambda figures: figures["output_tokens_per_s"])
    return figures_by_name


def _planned(run: Run, plan: Run, shares: tuple[float, float]) -> Figures | None:
    """Return the figures of one plan; None if the tool's memory account refuses it."""
    tool = LLMAnalysis(
        _network(run),
        _part(run, plan),
        _formats(run),
        ParallelismConfig(tp_size=plan["tp"], pp_size=plan["pp"], ep_size=plan["ep"]),
        flops_efficiency=shares[0],
        hbm_memory_efficiency=shares[1],
    )
    load = run["load"]
    replicas = plan["dp"]
    if load["kind"] == "saturate":
        most = min(load["requests"] / replicas, run["max_batch"] or _MOST_SEQUENCES)
        result = _largest(tool, run, max(1, math.ceil(most)))
    else:
        result = _inference(tool, run, math.ceil(load["amount"] / replicas))
    if result is None:
        return None
    figures = {"output_tokens_per_s": result["total_tokens_per_sec"] * replicas}
    if run["output_tokens"] > 1:
        figures["tpot_ms"] = result["decode_latency"] * 1e3
    if load["kind"] == "batch":
        figures["ttft_ms"] = result["prefill_latency"] * 1e3
    return figures


def _largest(tool: LLMAnalysis, run: Run, most: int) -> Figures | None:
    """Return the result at the largest batch, at most `most`, that fits; None if not even one does."""
    result = _inference(tool, run, most)
    if result is not None:
        return result
    fitting, too_many = 0, most
    while too_many - fitting > 1:
        middle = (fitting + too_many) // 2
        inference = _inference(tool, run, middle)
        if inference is None:
            too_many = middle
        else:
            fitting, result = middle, inference
    return result


def _inference(tool: LLMAnalysis, run: Run, batch: int) -> Figures | None:
    try:
        result: Figures = tool.inference(
            batch_size_per_gpu=batch,
            seq_len=run["input_tokens"],
            num_tokens_to_generate=run["output_tokens"],
            kv_cache_dtype_bytes=KV_BYTES[run["kv"]],
        )
    except AssertionError:
        # How the tool says that something does not fit.
        return None
    return result


def _network(run: Run) -> ModelConfig:
    network = run["network"]
    # Two matrices a block are counted, so a gated block of three is given half as wide again.
    width = network["ffn_width"] * 3 // 2 if network["gated"] else network["ffn_width"]
    return ModelConfig(
        name=run["model"],
        num_layers=network["layers"],
        n_head=network["heads"],
        hidden_dim=network["hidden_size"],
        vocab_size=network["vocab_size"],
        num_key_value_heads=network["kv_heads"],
        ffn_embed_dim=width,
        expansion_ratio=width / network["hidden_size"],
        moe_num_experts=network["experts"] or 1,
        moe_top_k=network["experts_per_token"] or 1,
    )


def _part(run: Run, plan: Run) -> GPUConfig:
    part = run["part"]
    peaks = part["peaks"]
    wide = peaks.get("bf16") or peaks["fp16"]
    eight = peaks.get("fp8") or wide
    return GPUConfig(
        name=run["accelerator"],
        mem_per_GPU_in_GB=part["memory_bytes"] / 2**30,
        hbm_bandwidth_in_GB_per_sec=part["memory_bandwidth"] / 1e9,
        intra_node_bandwidth_in_GB_per_sec=plan["link_bandwidth"] / 1e9,
        intra_node_min_message_latency=_MESSAGE_S,
        peak_fp16_TFLOPS=wide / 1e12,
        peak_i8_TFLOPS=eight / 1e12,
        peak_i4_TFLOPS=(peaks.get("fp4") or eight) / 1e12,
    )


def _formats(run: Run) -> DtypeConfig:
    weights, activations = BITS[run["weights"]]
    peaks = run["part"]["peaks"]
    needed = {4: "fp4", 8: "fp8"}.get(activations)
    if needed is not None and not peaks.get(needed):
        activations = 16
    return DtypeConfig(weight_bits=weights, activation_bits=activations, embedding_bits=16)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    answer_lines(PEER, tuple(SETTINGS), answer)
