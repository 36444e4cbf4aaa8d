"""A test bench for the engine: parts with round figures, constants without exceptions, cases as arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import LoadKind, ParallelPlan
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.domain.serving_engine import KernelPathKind, ParallelSupport, ServingEngine
from gpudesk.engine.calibration import Calibration, CalibrationConstant
from gpudesk.engine.loads import SchedulingConstants
from gpudesk.engine.memory import (
    KernelPath,
    MemoryBudget,
    MemoryPlan,
    MemorySettings,
    ResolvedDeployment,
    ServingConfiguration,
    compute_memory_budget,
)
from gpudesk.engine.rates import compute_single_step_model
from gpudesk.engine.serving import LOAD_CODES, DeploymentLoads, ServingResults, serve_loads
from gpudesk.engine.steps import COEFFICIENT_NAMES, Array, CoefficientColumns, ReplicaRequests, StepCoefficients
from gpudesk.text.units import GIB

H200 = Accelerator(
    id="h200",
    name="H200",
    vendor="NVIDIA",
    generation="hopper",
    announced=False,
    platform="CUDA",
    memory_bytes=141 * GIB,
    memory_bandwidth=4.8e12,
    scale_up_bandwidth=9e11,
    scale_up_domain=8,
    pcie_bandwidth=1.28e11,
    peak_dense=MappingProxyType({"bf16": 9.89e14, "fp16": 9.89e14, "fp8": 1.979e15}),
)
MI325X = replace(
    H200,
    id="mi325x",
    name="MI325X",
    vendor="AMD",
    generation="cdna3",
    platform="ROCm",
    memory_bytes=256 * GIB,
    memory_bandwidth=6e12,
    peak_dense=MappingProxyType({"bf16": 1.3074e15, "fp16": 1.3074e15, "fp8": 2.6149e15}),
)
#: A step that costs nothing: one rank, one stage, no window.
PLAIN = replace(
    StepCoefficients(**dict.fromkeys(COEFFICIENT_NAMES, 0.0)),
    expert_spread=1.0,
    expert_evenness=1.0,
    attention_ranks=1.0,
    stages=1.0,
    chunk_tokens=8192.0,
    tokens_per_step=1.0,
    verified_tokens=1.0,
    mixes=1.0,
    burst_equal=0.45,
    burst_varied=0.15,
    limit_queue=0.1,
)
SETTINGS = MemorySettings(0.95, "total", 10**9, max_batch=1024, max_batched_tokens=8192)
SERVING = SchedulingConstants(
    tail_wave=0.7,
    longest=4.0,
    p99_margin=0.77,
    limit_tokens=3000.0,
    kv_growth_share=0.62,
    drain_saving=0.31,
    recompute_share=0.3,
    preemption_slowdown=0.2,
    preemption_slowdown_square=0.1,
    burst_stall_factor=1.6,
)

_CONSTANTS = {
    "weight_read_efficiency": 0.8,
    "expert_read_efficiency": 0.68,
    "kv_read_efficiency": 0.75,
    "gemm_efficiency": 0.6,
    "expert_gemm_efficiency": 0.45,
    "attention_efficiency": 0.4,
    "decode_attention_efficiency": 0.4,
    "attention_offset": 0.0,
    "expert_skew": 0.0,
    "expert_call_time": 0.0,
    "prefill_layer_time": 0.0,
    "prefill_moe_time": 0.0,
    "prefill_state_time": 0.0,
    "expert_half_tokens": 16.0,
    "expert_evenness": 2.0,
    "layer_time": 12e-6,
    "quantise_time": 0.0,
    "moe_layer_time": 25e-6,
    "eager_factor": 3.0,
    "step_time": 0.6e-3,
    "sequence_time": 4e-6,
    "stream_time": 0.0,
    "host_overlap": 0.5,
    "reference_power": 0.0,
    "power_exponent": 0.6,
    "pairing": 1.0,
    "request_time": 1.9e-3,
    "first_token_time": 8e-3,
    "offline_request_time": 0.2e-3,
    "allreduce_latency": 20e-6,
    "collective_overhead": 6e-6,
    "direct_efficiency": 0.5,
    "ring_latency": 40e-6,
    "link_efficiency": 0.6,
    "node_bandwidth": 50e9,
    "routing_traffic": 4.0,
    "routing_divided": 1.0,
    "activation_traffic": 12.0,
    "state_traffic": 0.0,
    "attention_dp_imbalance": 1.2,
    "stage_bubble": 0.05,
    "burst_equal": 0.45,
    "burst_varied": 0.15,
    "limit_queue": 0.1,
    "gather_steps": 0.0,
    "age_slowdown": 0.15,
}


def calibration() -> Calibration:
    constants = {name: CalibrationConstant(name, "", "", value) for name, value in _CONSTANTS.items()}
    return Calibration("bench", "0", "2026-08", constants, (), ())


@dataclass(frozen=True, slots=True)
class Plant:
    """One deployment computed: its memory and the coefficients of its steps, real and ideal."""

    budget: MemoryBudget
    row: StepCoefficients
    ideal: StepCoefficients
    plan: ParallelPlan
    max_batch: int

    def capacity(self, tokens: int) -> float:
        """Sequences of `tokens` that one replica admits."""
        memory = self.budget.max_sequences(tokens) // self.plan.dp
        return float(min(memory, self.max_batch * self.budget.attention_ranks))


def plant(
    part: Accelerator,
    model: Model,
    plan: ParallelPlan,
    weights: Precision = Precision.FP8,
    settings: MemorySettings = SETTINGS,
    *,
    server: bool = True,
    acceptance_length: float = 1.0,
    months_old: float = 0.0,
    eager: bool = False,
) -> Plant:
    """Compute a deployment with FP16 KV cache."""
    configuration = configure(part, model, weights, settings=settings)._replace(
        behind_server=server, acceptance_length=acceptance_length, months_old=months_old, eager=eager
    )
    deployment = deploy(configuration, plan)
    steps = compute_single_step_model(deployment, calibration())
    return Plant(deployment.budget, steps.coefficients, steps.ideal, plan, settings.max_batch)


#: A serving engine of which nothing but its names is asked.
VLLM = ServingEngine(
    "vllm", "vLLM", "vllm", "total", ParallelSupport(True, True, True, True, "", ""), (), (), (), (), ()
)


def configure(
    part: Accelerator,
    model: Model,
    weights: Precision = Precision.FP8,
    arithmetic: Precision | None = None,
    settings: MemorySettings = SETTINGS,
) -> ServingConfiguration:
    """Return what all plans of a model on a part share, with FP16 KV cache."""
    kernel = KernelPath(KernelPathKind.NATIVE, arithmetic or weights)
    return ServingConfiguration(part, model, VLLM, kernel, weights, Precision.FP16, settings)


def deploy(configuration: ServingConfiguration, plan: ParallelPlan) -> ResolvedDeployment:
    resolved = configuration
    budget = compute_memory_budget(
        resolved.accelerator, resolved.model, resolved.weights, resolved.kv, plan, resolved.settings
    )
    return ResolvedDeployment(resolved, MemoryPlan(plan, budget, resolved.settings))


@dataclass(frozen=True, slots=True)
class Case:
    """One load on one row; rates in requests/s, limits in seconds."""

    row: StepCoefficients
    prompt: float
    output: float
    capacity: float
    kind: LoadKind = LoadKind.CONCURRENCY
    amount: float = 1.0
    total: float = math.inf
    ttft: float = math.inf
    tpot: float = math.inf
    p99: bool = False
    replicas: float = 1.0
    varied: bool = True
    cached: float = 0.0
    spread: float = 1.0


def rows_of(*rows: StepCoefficients) -> CoefficientColumns:
    return CoefficientColumns(CoefficientColumns.table(list(rows)))


def _column(cases: list[Case], name: str) -> Array:
    return np.array([getattr(case, name) for case in cases], dtype=np.float64)


def requests_of(cases: list[Case]) -> ReplicaRequests:
    prompt = _column(cases, "prompt")
    return ReplicaRequests(
        prompt=prompt,
        held_prompt=prompt + _column(cases, "cached"),
        output=_column(cases, "output"),
        capacity=_column(cases, "capacity"),
        varied=_column(cases, "varied") > 0,
        spread=_column(cases, "spread"),
    )


def loads_of(cases: list[Case]) -> DeploymentLoads:
    return DeploymentLoads(
        kind=np.array([LOAD_CODES[case.kind] for case in cases], dtype=np.int8),
        amount=_column(cases, "amount"),
        total=_column(cases, "total"),
        ttft=_column(cases, "ttft"),
        tpot=_column(cases, "tpot"),
        p99=_column(cases, "p99") > 0,
        replicas=_column(cases, "replicas"),
    )


def serve_cases(cases: list[Case]) -> ServingResults:
    return serve_loads(rows_of(*(case.row for case in cases)), requests_of(cases), loads_of(cases), SERVING)


@dataclass(frozen=True, slots=True)
class Figures:
    """The results of one case as plain numbers."""

    concurrency: float
    admitted: float
    running: float
    waiting: float
    rate: float
    ttft: float
    tpot: float
    duration: float
    stable: bool
    limiter: int


def serve_one(case: Case) -> Figures:
    """Serve one case alone."""
    results = serve_cases([case])
    return Figures(**{name: getattr(results, name)[0].item() for name in Figures.__slots__})
