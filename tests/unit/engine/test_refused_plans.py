"""What the serving engines of the data refuse of a plan: parts that ranks cannot share evenly, and hosts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import Attention, DenseFfn, LayerGroup, Model, MoeFfn
from gpudesk.domain.precision import Precision
from gpudesk.engine.engine_support import find_plan_objection
from gpudesk.text.messages import format_message
from tests.unit.engine.test_support import ENGINES, H100, LLAMA, PLAIN, model

NO_MULTIPLE = "is not a multiple of the FP8 block of 128"


def with_experts(width: int = 1536, block: int | None = 128, shared: int = 0, experts: int = 128) -> Model:
    """Return a network whose FP8 checkpoint has scales for squares of `block` elements."""
    ffn = MoeFfn(experts=experts, experts_per_token=8, intermediate_size=width, shared_intermediate_size=shared)
    return replace(LLAMA, fp8_block=block, layers=(LayerGroup(count=1, mixer=PLAIN, ffn=ffn),))


def with_dense(width: int) -> Model:
    ffn = DenseFfn(intermediate_size=width)
    return replace(LLAMA, fp8_block=128, layers=(LayerGroup(count=1, mixer=PLAIN, ffn=ffn),))


def refused(engine: str, network: Model, weights: str, plan: ParallelPlan) -> str | None:
    """Return the id of the refusal, on an accelerator of which a host holds eight."""
    objection = find_plan_objection(ENGINES[engine], H100, network, Precision(weights), plan)
    return None if objection is None else objection.id


@pytest.mark.parametrize(
    ("engine", "network", "weights", "plan", "why"),
    [
        ("vllm", with_experts(), "fp8", ParallelPlan(8), "plan.block"),
        ("sglang", with_experts(), "fp8", ParallelPlan(8), "plan.block"),
        ("vllm", with_experts(), "fp8", ParallelPlan(4), None),
        ("vllm", with_experts(), "fp8", ParallelPlan(8, ep=8), None),
        ("vllm", with_experts(), "fp8", ParallelPlan(8, ep=2), None),
        ("vllm", with_experts(), "fp8", ParallelPlan(2, dp=4, ep=8), None),
        ("vllm", with_experts(block=None), "fp8", ParallelPlan(8), None),
        ("vllm", with_experts(), "bf16", ParallelPlan(8), None),
        ("vllm", with_experts(2048), "fp8", ParallelPlan(8), None),
        ("vllm", LLAMA, "fp8", ParallelPlan(8), None),
        ("tensorrt-llm", with_experts(), "fp8", ParallelPlan(8), None),
        # Expert parallelism leaves routed experts whole, and not what every token passes.
        ("vllm", with_experts(512, shared=512), "fp8", ParallelPlan(8, ep=8), "plan.block"),
        ("sglang", with_experts(512, shared=512), "fp8", ParallelPlan(8, ep=8), "plan.block"),
        ("vllm", with_experts(512, shared=512), "fp8", ParallelPlan(4, ep=4), None),
        ("vllm", with_experts(512, shared=512), "fp8", ParallelPlan(8, ep=8, attention_dp=True), None),
        ("vllm", with_dense(1536), "fp8", ParallelPlan(8), "plan.block"),
        ("vllm", with_dense(1536), "fp8", ParallelPlan(4), None),
        ("vllm", with_dense(1536), "bf16", ParallelPlan(8), None),
    ],
)
def test_nothing_is_cut_inside_a_block_of_scales(
    engine: str, network: Model, weights: str, plan: ParallelPlan, why: str | None
) -> None:
    assert refused(engine, network, weights, plan) == why


def with_heads(heads: int, kv_heads: int) -> Model:
    return model(Attention(heads=heads, kv_heads=kv_heads, head_dim=128))


@pytest.mark.parametrize(
    ("engine", "network", "plan", "why"),
    [
        ("vllm", with_heads(40, 10), ParallelPlan(3), "plan.heads"),
        ("tgi", with_heads(40, 10), ParallelPlan(3), "plan.heads"),
        ("vllm", with_heads(40, 10), ParallelPlan(4), "plan.kv_heads"),
        ("tensorrt-llm", with_heads(40, 10), ParallelPlan(4), "plan.kv_heads"),
        ("vllm", with_heads(40, 10), ParallelPlan(2), None),
        # Fewer KV heads than ranks: repeated, except by TGI.
        ("vllm", with_heads(32, 2), ParallelPlan(8), None),
        ("sglang", with_heads(32, 2), ParallelPlan(8), None),
        ("tensorrt-llm", with_heads(32, 2), ParallelPlan(8), None),
        ("tgi", with_heads(32, 2), ParallelPlan(8), "plan.kv_heads"),
        ("tgi", with_heads(32, 8), ParallelPlan(8), None),
        # Experts are spread unevenly by vLLM alone.
        ("sglang", with_experts(experts=60), ParallelPlan(8, ep=8), "plan.experts_uneven"),
        ("vllm", with_experts(experts=60), ParallelPlan(8, ep=8), None),
        # A vocabulary is filled up to a multiple of 64 first.
        ("vllm", replace(with_heads(24, 24), vocab_size=32_000), ParallelPlan(3), "plan.vocabulary"),
        ("sglang", replace(with_heads(24, 24), vocab_size=32_000), ParallelPlan(3), "plan.vocabulary"),
        ("vllm", replace(with_heads(24, 24), vocab_size=32_001), ParallelPlan(8), None),
        ("vllm", replace(with_heads(24, 24), vocab_size=191), ParallelPlan(3), None),
        ("tgi", replace(with_heads(24, 24), vocab_size=32_000), ParallelPlan(3), None),
        # One replica beyond a host
        ("tgi", with_heads(64, 64), ParallelPlan(16), "plan.one_host"),
        ("llama.cpp", with_heads(64, 64), ParallelPlan(pp=16), "plan.one_host"),
        ("llama.cpp", with_heads(64, 64), ParallelPlan(pp=8, dp=2), None),
        ("vllm", with_heads(64, 64), ParallelPlan(16), None),
        # Layers are split, and no tensors.
        ("llama.cpp", with_heads(64, 64), ParallelPlan(2), "plan.engine_tp"),
        ("llama.cpp", with_heads(64, 64), ParallelPlan(pp=2), None),
    ],
)
def test_dimension_that_ranks_cannot_split_evenly_is_refused(
    engine: str, network: Model, plan: ParallelPlan, why: str | None
) -> None:
    assert refused(engine, network, "bf16", plan) == why


@pytest.mark.parametrize(
    ("network", "plan", "sentence"),
    [
        (
            with_experts(),
            ParallelPlan(8),
            f"vLLM cannot split the experts of Some Model across 8 ranks: 1,536 / 8 {NO_MULTIPLE}",
        ),
        (
            with_experts(512, shared=512),
            ParallelPlan(8, ep=8),
            f"vLLM cannot split the shared experts of Some Model across 8 ranks: 512 / 8 {NO_MULTIPLE}",
        ),
        (
            with_dense(1536),
            ParallelPlan(8),
            f"vLLM cannot split the dense layers of Some Model across 8 ranks: 1,536 / 8 {NO_MULTIPLE}",
        ),
        (
            with_heads(40, 10),
            ParallelPlan(4),
            "vLLM can neither split nor evenly replicate the 10 KV heads of Some Model with TP 4",
        ),
    ],
)
def test_plan_objection_names_its_numbers(network: Model, plan: ParallelPlan, sentence: str) -> None:
    objection = find_plan_objection(ENGINES["vllm"], H100, network, Precision.FP8, plan)
    assert objection is not None
    assert format_message(objection) == sentence


def test_every_rule_has_a_note() -> None:
    rules = [rule for engine in ENGINES.values() for rule in engine.splits]
    assert rules
    assert all(rule.parts and rule.source and rule.note for rule in rules)
