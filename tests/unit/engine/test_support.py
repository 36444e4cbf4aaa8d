"""What the serving engines of the data run on which parts, and what they set by themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as FilePath

import pytest

from catalog_build.serving_engines import read_serving_engines
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.model import (
    MLA,
    Attention,
    Compressed,
    DenseFfn,
    GatedDeltaNet,
    LayerGroup,
    Lightning,
    Mixer,
    Model,
)
from gpudesk.domain.precision import Precision
from gpudesk.domain.serving_engine import (
    EngineCondition,
    EnginePreferenceRule,
    EngineSetting,
    EngineSettingRule,
    KernelPathKind,
    KernelRule,
    KvCacheRule,
    ParallelSupport,
    PlatformRule,
    ServingEngine,
    UnsupportedModelRule,
)
from gpudesk.engine import engine_support
from gpudesk.text.messages import Message, format_message

GIB = 2**30
ENGINES = {engine.id: engine for engine in read_serving_engines(FilePath(__file__).parents[3] / "data")}


def part(generation: str, memory_gib: float = 80, platform: str = "CUDA", vendor: str = "NVIDIA") -> Accelerator:
    return Accelerator(
        id=generation,
        name=generation.upper(),
        vendor=vendor,
        generation=generation,
        announced=False,
        platform=platform,
        memory_bytes=round(memory_gib * GIB),
        memory_bandwidth=1e12,
    )


A100 = part("ampere")
V100 = part("volta", 32)
T4 = part("turing", 15)
H100 = part("hopper")
H200 = part("hopper", 141)
L40S = part("ada", 45)
B200 = part("blackwell", 180)
RTX_5090 = part("blackwell-rtx", 32)
MI250X = part("cdna2", 128, "ROCm", "AMD")
MI300X = part("cdna3", 192, "ROCm", "AMD")
MI355X = part("cdna4", 288, "ROCm", "AMD")
GAUDI3 = part("gaudi3", 128, "SynapseAI", "Intel")
TPU_V5E = part("tpu-v5", 16, "JAX/XLA", "Google")
TPU_V6E = part("tpu-v6", 32, "JAX/XLA", "Google")
TPU_V7 = part("tpu-v7", 192, "JAX/XLA, PyTorch", "Google")
TRAINIUM2 = part("neuron-v3", 96, "Neuron SDK", "AWS")
INFERENTIA2 = part("neuron-v2", 32, "Neuron SDK", "AWS")
ALL_PARTS = (
    *(A100, H100, H200, L40S, B200, RTX_5090, MI250X, MI300X, MI355X, GAUDI3),
    *(TPU_V5E, TPU_V6E, TPU_V7, TRAINIUM2, INFERENTIA2),
)

PLAIN = Attention(heads=32, kv_heads=8, head_dim=128)
LATENT = MLA(heads=16, kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128)
FOLDED = Compressed(heads=64, head_dim=512, q_lora_rank=1024, o_lora_rank=1024, o_groups=8, window=128)
DELTA = GatedDeltaNet(key_heads=16, value_heads=32, key_head_dim=128, value_head_dim=128, conv_kernel=4)


def model(*mixers: Mixer) -> Model:
    ffn = DenseFfn(intermediate_size=8192)
    return Model(
        id="some-model",
        name="Some Model",
        organisation="Someone",
        hidden_size=4096,
        vocab_size=32000,
        tied_embeddings=False,
        max_context=None,
        native_precision=Precision.BF16,
        layers=tuple(LayerGroup(count=1, mixer=mixer, ffn=ffn) for mixer in mixers),
    )


LLAMA = model(PLAIN)


@pytest.mark.parametrize(
    ("engine", "accelerator", "weights", "path", "arithmetic"),
    [
        # Weight-only where the part has no arithmetic for the format
        ("vllm", A100, "fp8", KernelPathKind.WEIGHT_ONLY, "bf16"),
        ("vllm", A100, "int4", KernelPathKind.WEIGHT_ONLY, "bf16"),
        ("vllm", A100, "nvfp4", KernelPathKind.WEIGHT_ONLY, "bf16"),
        ("vllm", H100, "mxfp4", KernelPathKind.WEIGHT_ONLY, "bf16"),
        ("vllm", MI300X, "mxfp4", KernelPathKind.WEIGHT_ONLY, "bf16"),
        ("sglang", H200, "mxfp4", KernelPathKind.WEIGHT_ONLY, "bf16"),
        ("sglang", A100, "mxfp4", KernelPathKind.WEIGHT_ONLY, "bf16"),
        ("tensorrt-llm", H100, "mxfp4", KernelPathKind.WEIGHT_ONLY, "bf16"),
        ("vllm", RTX_5090, "mxfp4", KernelPathKind.WEIGHT_ONLY, "bf16"),
        ("vllm", B200, "int8", KernelPathKind.WEIGHT_ONLY, "bf16"),
        ("vllm", TPU_V6E, "fp8", KernelPathKind.WEIGHT_ONLY, "bf16"),
        ("vllm", MI355X, "fp6", KernelPathKind.WEIGHT_ONLY, "bf16"),
        ("tgi", L40S, "fp8", KernelPathKind.WEIGHT_ONLY, "bf16"),
        ("llama.cpp", H100, "int4", KernelPathKind.WEIGHT_ONLY, "int8"),
        ("vllm", T4, "fp8", KernelPathKind.WEIGHT_ONLY, "fp16"),
        ("vllm", T4, "nvfp4", KernelPathKind.WEIGHT_ONLY, "fp16"),
        ("vllm", V100, "int4", KernelPathKind.WEIGHT_ONLY, "fp16"),
        # Native
        ("vllm", T4, "bf16", KernelPathKind.NATIVE, "fp16"),
        ("vllm", V100, "bf16", KernelPathKind.NATIVE, "fp16"),
        ("vllm", T4, "int8", KernelPathKind.NATIVE, "int8"),
        ("vllm", H100, "fp8", KernelPathKind.NATIVE, "fp8"),
        ("vllm", L40S, "fp8", KernelPathKind.NATIVE, "fp8"),
        ("vllm", MI300X, "fp8", KernelPathKind.NATIVE, "fp8"),
        ("vllm", A100, "int8", KernelPathKind.NATIVE, "int8"),
        ("vllm", B200, "nvfp4", KernelPathKind.NATIVE, "nvfp4"),
        ("vllm", B200, "mxfp4", KernelPathKind.NATIVE, "fp8"),
        ("vllm", MI355X, "mxfp4", KernelPathKind.NATIVE, "mxfp4"),
        ("vllm", GAUDI3, "fp8", KernelPathKind.NATIVE, "fp8"),
        ("vllm", TPU_V7, "fp8", KernelPathKind.NATIVE, "fp8"),
        ("vllm", TRAINIUM2, "fp8", KernelPathKind.NATIVE, "fp8"),
        ("vllm", TPU_V5E, "fp16", KernelPathKind.NATIVE, "bf16"),
        ("vllm", H100, "fp16", KernelPathKind.NATIVE, "fp16"),
        ("sglang", RTX_5090, "mxfp4", KernelPathKind.NATIVE, "fp8"),
        ("llama.cpp", RTX_5090, "mxfp4", KernelPathKind.NATIVE, "mxfp4"),
        # The vendor's own four-bit format
        ("vllm", B200, "fp4", KernelPathKind.NATIVE, "nvfp4"),
        ("vllm", MI355X, "fp4", KernelPathKind.NATIVE, "mxfp4"),
        # Not at all
        ("vllm", V100, "fp8", KernelPathKind.NONE, "fp8"),
        ("vllm", V100, "int8", KernelPathKind.NONE, "int8"),
        ("vllm", T4, "mxfp4", KernelPathKind.NONE, "mxfp4"),
        ("vllm", T4, "fp6", KernelPathKind.NONE, "fp6"),
        ("vllm", MI250X, "fp8", KernelPathKind.NONE, "fp8"),
        ("vllm", INFERENTIA2, "fp8", KernelPathKind.NONE, "fp8"),
        ("vllm", TPU_V5E, "fp8", KernelPathKind.NONE, "fp8"),
        ("vllm", TRAINIUM2, "mxfp4", KernelPathKind.NONE, "mxfp4"),
        ("tensorrt-llm", A100, "fp8", KernelPathKind.NONE, "fp8"),
        ("tensorrt-llm", B200, "int4", KernelPathKind.NONE, "int4"),
        ("llama.cpp", H100, "fp8", KernelPathKind.NONE, "fp8"),
        ("sglang", TPU_V6E, "fp8", KernelPathKind.NONE, "fp8"),
        # Not on this platform, in any format
        ("tensorrt-llm", MI300X, "bf16", KernelPathKind.NONE, "bf16"),
        ("llama.cpp", GAUDI3, "bf16", KernelPathKind.NONE, "bf16"),
        ("tgi", B200, "bf16", KernelPathKind.NONE, "bf16"),
        ("sglang", V100, "bf16", KernelPathKind.NONE, "bf16"),
        ("tensorrt-llm", T4, "bf16", KernelPathKind.NONE, "bf16"),
    ],
)
def test_kernel_path(
    engine: str, accelerator: Accelerator, weights: str, path: KernelPathKind, arithmetic: str
) -> None:
    kernel = engine_support.find_kernel_path(ENGINES[engine], accelerator, Precision(weights))
    assert (kernel.path, str(kernel.arithmetic)) == (path, arithmetic)
    assert (kernel.reason is None) == (path is not KernelPathKind.NONE)


def test_refused_weights_name_what_runs() -> None:
    reason = engine_support.find_kernel_path(ENGINES["tensorrt-llm"], A100, Precision.FP8).reason
    assert reason is not None
    assert reason.id == "engine.no_kernel"
    assert reason.parameters["formats"] == ("bf16", "fp16", "int4", "int8")


def test_a_refused_format_is_not_among_those_that_run() -> None:
    """FP6 runs on most of the platform, except on this generation."""
    reason = engine_support.find_kernel_path(ENGINES["vllm"], T4, Precision.FP6).reason
    assert reason is not None
    assert reason.parameters["formats"] == ("bf16", "fp16", "fp8", "int4", "int8", "nvfp4")


def test_software_grows() -> None:
    before = engine_support.find_kernel_path(ENGINES["sglang"], RTX_5090, Precision.MXFP4, "2026-01-15")
    assert (before.path, before.arithmetic) == (KernelPathKind.WEIGHT_ONLY, Precision.BF16)


def test_half_precision_runs_on_every_part(subtests: pytest.Subtests) -> None:
    for weights in [Precision.FP16, Precision.BF16]:
        for accelerator in ALL_PARTS:
            with subtests.test(accelerator=accelerator.id, weights=weights):
                best = engine_support.choose_engine(tuple(ENGINES.values()), accelerator, LLAMA, weights, weights)
                assert best is ENGINES["vllm"]


@pytest.mark.parametrize(
    ("engine", "accelerator", "mixer", "kv", "is_supported"),
    [
        ("vllm", A100, PLAIN, "fp8", True),
        ("vllm", H100, LATENT, "fp8", True),
        ("vllm", MI300X, PLAIN, "fp8", True),
        ("vllm", MI250X, PLAIN, "fp8", False),
        ("vllm", TPU_V6E, PLAIN, "fp8", True),
        ("vllm", TPU_V5E, PLAIN, "fp8", False),
        ("vllm", B200, PLAIN, "nvfp4", True),
        ("vllm", B200, PLAIN, "fp4", True),
        ("vllm", H100, PLAIN, "nvfp4", False),
        ("sglang", H100, PLAIN, "int8", True),
        ("sglang", H100, LATENT, "int8", False),
        ("tensorrt-llm", A100, PLAIN, "fp8", True),
        ("tensorrt-llm", B200, PLAIN, "int8", False),
        ("llama.cpp", H100, PLAIN, "int4", True),
        ("llama.cpp", H100, PLAIN, "fp8", False),
        ("tgi", MI300X, PLAIN, "fp8", False),
    ],
)
def test_kv_cache(engine: str, accelerator: Accelerator, mixer: Mixer, kv: str, is_supported: bool) -> None:
    reason = engine_support.find_kv_objection(ENGINES[engine], accelerator, model(mixer), Precision(kv))
    assert (reason is None) == is_supported
    if reason is not None:
        formats = reason.parameters["formats"]
        assert isinstance(formats, tuple)
        assert {"bf16", "fp16"} <= set(formats)
        assert kv not in formats


@pytest.mark.parametrize(
    ("engine", "accelerator", "mixers", "date", "against"),
    [
        ("vllm", H100, (PLAIN, DELTA), None, []),
        ("vllm", A100, (FOLDED,), None, ["engine.no_model"]),
        ("sglang", L40S, (FOLDED,), None, ["engine.no_model"]),
        ("vllm", TRAINIUM2, (PLAIN,), None, []),
        ("vllm", TRAINIUM2, (LATENT,), None, ["engine.no_model"]),
        ("tensorrt-llm", H100, (FOLDED,), None, ["engine.no_model"]),
        ("tensorrt-llm", B200, (FOLDED,), None, []),
        ("tgi", H100, (PLAIN, DELTA), None, ["engine.no_model"]),
        ("tgi", INFERENTIA2, (LATENT,), None, ["engine.no_model"]),
        ("tgi", H100, (LATENT,), None, []),
        ("llama.cpp", H100, (Lightning(heads=64, head_dim=128),), "2026-07-31", ["engine.no_model"]),
        ("llama.cpp", H100, (Lightning(heads=64, head_dim=128),), "2026-08-01", []),
        # Elsewhere nothing else matters
        ("tensorrt-llm", MI300X, (FOLDED,), None, ["engine.no_platform"]),
    ],
)
def test_models(
    engine: str, accelerator: Accelerator, mixers: tuple[Mixer, ...], date: str | None, against: list[str]
) -> None:
    reasons = engine_support.find_objections(
        ENGINES[engine], accelerator, model(*mixers), Precision.BF16, Precision.BF16, date
    )
    assert [reason.id for reason in reasons] == against


def test_every_reason_is_given() -> None:
    reasons = engine_support.find_objections(ENGINES["tgi"], A100, model(DELTA), Precision.NVFP4, Precision.NVFP4)
    assert [reason.id for reason in reasons] == ["engine.no_model", "engine.no_kernel", "engine.no_kv"]


def best(accelerator: Accelerator, weights: str, kv: str = "fp16") -> ServingEngine | Message:
    every = tuple(ENGINES.values())
    return engine_support.choose_engine(every, accelerator, LLAMA, Precision(weights), Precision(kv))


def test_best_engine_is_the_first_with_support() -> None:
    assert best(H100, "fp8", "fp8") is ENGINES["vllm"]
    assert best(MI250X, "nvfp4") is ENGINES["vllm"]
    without_vllm = tuple(engine for engine in ENGINES.values() if engine.id != "vllm")
    engine_choice = engine_support.choose_engine(without_vllm, H100, LLAMA, Precision.FP8, Precision.FP8)
    assert engine_choice is ENGINES["tensorrt-llm"]
    assert engine_support.choose_engine(without_vllm, A100, LLAMA, Precision.FP8, Precision.FP8) is ENGINES["sglang"]
    engine_choice = engine_support.choose_engine(without_vllm, MI300X, LLAMA, Precision.FP8, Precision.FP8)
    assert engine_choice is ENGINES["sglang"]


def test_best_engine_does_not_depend_on_the_order() -> None:
    tied = replace(ENGINES["vllm"], id="zz")
    assert (
        engine_support.choose_engine((tied, ENGINES["vllm"]), H100, LLAMA, Precision.FP8, Precision.FP8)
        is (ENGINES["vllm"])
    )


def test_nothing_runs_the_weights() -> None:
    refusal = best(MI250X, "fp8")
    assert isinstance(refusal, Message)
    assert refusal.id == "engine.none"
    assert refusal.parameters["formats"] == ("bf16", "fp16", "fp6", "int4", "int8", "mxfp4", "nvfp4")
    assert format_message(refusal).endswith("; supported: BF16, FP16, FP6, INT4, INT8, MXFP4, NVFP4")


def test_nothing_serves_the_model() -> None:
    """No format is offered instead: none would help."""
    every = tuple(ENGINES.values())
    refusal = engine_support.choose_engine(every, TRAINIUM2, model(LATENT), Precision.BF16, Precision.BF16)
    assert isinstance(refusal, Message)
    assert (refusal.id, refusal.parameters["formats"]) == ("engine.none", ())


def test_nothing_keeps_the_cache() -> None:
    refusal = best(TPU_V5E, "bf16", "fp8")
    assert isinstance(refusal, Message)
    assert refusal.id == "engine.none_kv"
    assert refusal.parameters["formats"] == ("bf16", "fp16")


@pytest.mark.parametrize(
    ("engine", "accelerator", "date", "server", "max_batch", "max_batched_tokens"),
    [
        ("vllm", H100, "2025-10", True, 1024, 8192),
        ("vllm", H100, "2025-10", False, 1024, 16384),
        ("vllm", MI300X, "2025-10", True, 1024, 8192),
        ("vllm", A100, "2025-10", True, 256, 2048),
        ("vllm", A100, "2025-10", False, 256, 8192),
        ("vllm", L40S, "2025-10", True, 256, 2048),
        ("vllm", H100, "2024-09", True, 256, 8192),
        ("vllm", TPU_V5E, "2025-10", True, 256, 512),
        ("vllm", TPU_V6E, "2025-10", False, 256, 2048),
        ("vllm", GAUDI3, "2025-10", True, 256, 2048),
        ("sglang", H100, "2026-01", True, 2048, 8192),
        ("sglang", MI355X, "2026-01", True, 2048, 16384),
        ("sglang", RTX_5090, "2026-01", True, 2048, 2048),
        ("tensorrt-llm", B200, "2026-01", True, 2048, 8192),
        ("llama.cpp", H100, "2026-01", True, 256, 512),
    ],
)
def test_batch_limits(
    engine: str, accelerator: Accelerator, date: str, server: bool, max_batch: int, max_batched_tokens: int
) -> None:
    limits = engine_support.resolve_engine_limits(ENGINES[engine], accelerator, date, server)
    assert (limits.max_batch, limits.max_batched_tokens) == (max_batch, max_batched_tokens)


def test_memory_fraction_of_the_day() -> None:
    vllm = ENGINES["vllm"]
    assert engine_support.resolve_engine_limits(vllm, H100, "2026-04", True).memory_fraction == 0.9
    assert engine_support.resolve_engine_limits(vllm, H100, "2026-05", True).memory_fraction == 0.92
    assert engine_support.resolve_engine_limits(vllm, H100).memory_fraction == 0.92
    assert vllm.memory_fraction_of == "total"
    assert ENGINES["tensorrt-llm"].memory_fraction_of == "free"


def test_limits_are_usable_everywhere(subtests: pytest.Subtests) -> None:
    for accelerator in ALL_PARTS:
        for engine in ENGINES.values():
            with subtests.test(engine=engine.id, accelerator=accelerator.id):
                for date in (None, "2023-06", "2025-06", "2026-11"):
                    for server in (None, False, True):
                        limits = engine_support.resolve_engine_limits(engine, accelerator, date, server)
                        assert 0 < limits.memory_fraction <= limits.safe_memory_fraction < 1
                        assert limits.max_batch <= limits.max_batched_tokens
                        assert 0 < limits.runtime_bytes < 4 * GIB
                        assert isinstance(limits.max_batch, int)
                        assert isinstance(limits.runtime_bytes, int)


def test_sglang_leaves_memory_free_for_attention_ranks() -> None:
    sglang = ENGINES["sglang"]

    def read_mebibytes(accelerator: Accelerator, date: str) -> float:
        return engine_support.resolve_engine_limits(sglang, accelerator, date).attention_rank_bytes / 2**20

    assert read_mebibytes(H200, "2026-07") == 512 * 4.5
    assert read_mebibytes(replace(H200, memory_bytes=24 * GIB), "2026-07") == 160 * 3
    assert read_mebibytes(H200, "2025-03") == 0
    assert engine_support.resolve_engine_limits(ENGINES["vllm"], H200, "2026-07").attention_rank_bytes == 0


def test_states_of_sglang_take_more_slots_since_steps_overlap() -> None:
    sglang = ENGINES["sglang"]
    dates = ("2026-05", "2026-06")
    slots = [engine_support.resolve_engine_limits(sglang, H200, date).holding.state_slots for date in dates]
    assert slots == [3, 5]


def test_llama_70b_in_half_precision_fits_one_h200() -> None:
    h200 = replace(H200, memory_bytes=151_397_597_184)
    limits = engine_support.resolve_engine_limits(ENGINES["vllm"], h200, "2026-11", True)
    weights = 141_107_412_992
    one_sequence = 4096 * 80 * 2 * 8 * 128 * 2
    assert weights + limits.runtime_bytes + one_sequence < h200.memory_bytes * limits.safe_memory_fraction
    # The default of the engine would refuse it.
    assert weights + limits.runtime_bytes > h200.memory_bytes * limits.memory_fraction


def test_chunked_prefill() -> None:
    assert engine_support.resolve_engine_limits(ENGINES["vllm"], H100, "2025-10").chunked_prefill
    assert not engine_support.resolve_engine_limits(ENGINES["vllm"], H100, "2024-10").chunked_prefill
    assert not engine_support.resolve_engine_limits(ENGINES["tensorrt-llm"], H100, "2025-10").chunked_prefill


#: An engine of few rules, for what the data does not happen to have.
FEW = ServingEngine(
    id="some-engine",
    name="Some Engine",
    family="some-engine",
    memory_fraction_of="total",
    parallel=ParallelSupport(pp=False, ep=False, attention_dp=False, hosts=False, source="a", note="b"),
    platforms=(PlatformRule("a", "b", EngineCondition(platforms=frozenset({"CUDA"}))),),
    settings=(),
    kernels=(KernelRule(frozenset({Precision.BF16}), KernelPathKind.NATIVE, "a", "b"),),
    kv=(KvCacheRule(frozenset({Precision.BF16}), "a", "b"),),
    preference=(EnginePreferenceRule(1, "c"),),
)


def test_first_rule_that_holds_decides() -> None:
    rules = (
        KernelRule(
            frozenset({Precision.FP8}),
            KernelPathKind.NONE,
            "a",
            "b",
            when=EngineCondition(generations=frozenset({"ada"})),
        ),
        KernelRule(frozenset({Precision.FP8}), KernelPathKind.NATIVE, "a", "b"),
    )
    engine = replace(FEW, kernels=rules)
    assert engine_support.find_kernel_path(engine, L40S, Precision.FP8).path is KernelPathKind.NONE
    assert engine_support.find_kernel_path(engine, H100, Precision.FP8).path is KernelPathKind.NATIVE


def test_a_model_can_be_named() -> None:
    engine = replace(FEW, cannot_serve=(UnsupportedModelRule("a", "b", models=frozenset({"some-model"})),))
    (reason,) = engine_support.find_objections(engine, H100, LLAMA, Precision.BF16, Precision.BF16)
    assert dict(reason.parameters) == {"engine": "Some Engine", "model": "Some Model"}
    assert (
        engine_support.find_objections(engine, H100, replace(LLAMA, id="other"), Precision.BF16, Precision.BF16) == ()
    )


def test_a_feed_forward_block_can_be_named() -> None:
    engine = replace(FEW, cannot_serve=(UnsupportedModelRule("a", "b", ffns=frozenset({"dense"})),))
    (reason,) = engine_support.find_objections(engine, H100, LLAMA, Precision.BF16, Precision.BF16)
    assert reason.id == "engine.no_model"


def test_a_setting_left_open_is_an_error() -> None:
    open_ended = EngineSettingRule(EngineSetting.MAX_BATCH, 8, "a", "b", EngineCondition(until="2025-01"))
    with pytest.raises(ValueError, match="some-engine: max_batch on hopper"):
        engine_support.resolve_engine_limits(replace(FEW, settings=(open_ended,)), H100, "2025-01")
