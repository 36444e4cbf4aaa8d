"""What the engine says of single kernels: the operator classes of a step that holds nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.precision import KV_BYTES, STORAGE_FORMATS, Precision
from gpudesk.engine.calibration import Calibration, ConstantKeys
from gpudesk.engine.rates import EffectiveRates, KeyGroup, compute_coefficients, compute_rates, look_up_rates
from gpudesk.engine.step_work import StepWork, find_peak
from gpudesk.engine.steps import (
    CoefficientColumns,
    compute_decode_operators,
    compute_prefill_operators,
    stack_coefficients,
)

Array = NDArray[np.float64]

#: Elements of a token of the latent cache, and those of them that are values.
LATENT, LATENT_VALUES = 576, 512
VECTOR_BYTES: Final = 2
#: The measured routing is even, while the engine takes some experts to be chosen more often than others.
EVEN: Final = 1e6


class KernelPredictor:
    """Seconds that the engine gives to kernels of one accelerator under vLLM, by class and row."""

    def __init__(self, part: Accelerator, calibration: Calibration) -> None:
        self._part = part
        self._calibration = calibration

    def predict(self, kind: str, row: Mapping[str, str]) -> float:
        """Return the seconds of a row of the class `kind`; raises KeyError for a class without a prediction."""
        return {
            "gemm": self._predict_product,
            "experts": self._predict_experts,
            "prefill-attention": self._predict_prefill,
            "decode-attention": self._predict_decode,
            "latent-attention": self._predict_latent,
            "elementwise": self._predict_stream,
            "layer": self._predict_layer,
        }[kind](row)

    @lru_cache(maxsize=32)  # noqa: B019 - lives as long as one test
    def _rates(self, precision: Precision, attention: str, experts: str) -> EffectiveRates:
        keys = ConstantKeys(
            generation=self._part.generation,
            precision=precision.value,
            serving_engine="vllm",
            ranks="1",
            link="scale-up",
            experts=experts,
            attention=attention,
            runtime="present",
        )
        constants = look_up_rates(self._calibration, [dict.fromkeys(KeyGroup, keys)])
        rates = compute_rates(constants, self._work())
        scalars = (np.asarray(getattr(rates, each.name)).item() for each in fields(rates))
        return replace(EffectiveRates(*scalars), expert_evenness=EVEN)

    def _work(self, precision: Precision = Precision.BF16, **work: float) -> StepWork:
        part = self._part
        peak, wide = find_peak(part, precision), find_peak(part, Precision.BF16)
        assert peak is not None
        assert wide is not None
        ones = ("link_bandwidth", "dispatch_bandwidth", "stage_bandwidth", "attention_ranks", "stages")
        values = {each.name: 0.0 for each in fields(StepWork)} | dict.fromkeys(ones, 1.0)
        values |= {
            "bandwidth": part.memory_bandwidth,
            "dense_peak": peak.flops,
            "expert_peak": peak.flops,
            "attention_peak": wide.flops,
            "power": (part.tdp_w or 0.0) / wide.flops * 1e12,
            "expert_spread": 1.0,
            "chunk_tokens": 1e9,
            "step_batch_cap": 1e9,
            "tokens_per_step": 1.0,
            "verified_tokens": 1.0,
        }
        return StepWork(**(values | work))

    def _columns(
        self, precision: Precision, attention: str = "heads", experts: str = "no", **work: float
    ) -> CoefficientColumns:
        rates = self._rates(precision, attention, experts)
        coefficients = compute_coefficients(self._work(precision, **work), rates)
        return CoefficientColumns(stack_coefficients(coefficients, 1))

    def _predict_product(self, row: Mapping[str, str]) -> float:
        m, n, k, precision = int(row["m"]), int(row["n"]), int(row["k"]), Precision(row["precision"])
        columns = self._columns(
            precision, dense_bytes=STORAGE_FORMATS[precision].compute_tensor_bytes(n * k), dense_flop=2.0 * n * k
        )
        return _join(compute_decode_operators(columns, _array(m), _array(0)).dense)

    def _predict_experts(self, row: Mapping[str, str]) -> float:
        """Products, the traffic of the copies of each token, and the time that a layer with experts always takes."""
        experts, active_experts, hidden, inner = (
            int(row[name]) for name in ("experts", "top_k", "hidden", "intermediate")
        )
        tokens, precision = int(row["tokens"]), Precision(row["precision"])
        elements = 3 * hidden * inner
        columns = self._columns(
            precision,
            experts="yes",
            has_experts=1.0,
            active_share=active_experts / experts,
            log_miss=math.log1p(-active_experts / experts),
            expert_bytes=STORAGE_FORMATS[precision].compute_tensor_bytes(experts * elements),
            expert_flop=2.0 * active_experts * elements,
            expert_vectors=active_experts * VECTOR_BYTES * hidden,
            moe_layers=1.0,
            expert_calls=float(experts),
            gathered_ranks=1.0,
        )
        operators = compute_decode_operators(columns, _array(tokens), _array(0))
        products = _join(operators.experts) + float(operators.expert_calls[0])
        return products + float(columns.activation_token[0]) * tokens + float(columns.overhead_fixed[0])

    def _predict_prefill(self, row: Mapping[str, str]) -> float:
        heads, size, value_size = (int(row[name]) for name in ("q_heads", "head_dim", "value_dim"))
        batch, queries, context = (int(row[name]) for name in ("batch", "queries", "context"))
        columns = self._columns(
            Precision.BF16, "heads" if size == value_size else "latent", patt_flop=2.0 * heads * (size + value_size)
        )
        tokens = _array(batch * queries)
        operators = compute_prefill_operators(columns, _array(queries), tokens, tokens, _array(context - queries))
        return float(operators.attention[1][0])

    def _predict_decode(self, row: Mapping[str, str]) -> float:
        heads, cached_heads, size = (int(row[name]) for name in ("q_heads", "kv_heads", "head_dim"))
        precision = Precision(row["kv_precision"])
        columns = self._columns(
            precision, kv_bytes=2.0 * cached_heads * size * KV_BYTES[precision], att_flop=4.0 * heads * size
        )
        return _attend(columns, row)

    def _predict_latent(self, row: Mapping[str, str]) -> float:
        columns = self._columns(
            Precision.BF16,
            "latent",
            kv_bytes=LATENT * KV_BYTES[Precision.BF16],
            att_flop=2.0 * int(row["q_heads"]) * (LATENT + LATENT_VALUES),
        )
        return _attend(columns, row)

    def _predict_stream(self, row: Mapping[str, str]) -> float:
        """The engine knows no single norm: bytes at the rate at which activations pass memory."""
        return float(row["bytes"]) / (
            self._part.memory_bandwidth * self._rates(Precision.BF16, "heads", "no").dense_read_efficiency
        )

    def _predict_layer(self, row: Mapping[str, str]) -> float:
        hidden, heads, cached, inner = {"Llama 8B": (4096, 32, 8, 14336), "Llama 70B TP8": (8192, 8, 1, 3584)}[
            row["note"]
        ]
        elements = hidden * 128 * (2 * heads + 2 * cached) + 3 * hidden * inner
        eager = 1.0 if row["kernel"] == "eager" else 0.0
        rates = self._rates(Precision.BF16, "heads", "no")
        factor = self._calibration.value("eager_factor", ConstantKeys()) if eager else 1.0
        work = self._work(
            dense_bytes=2.0 * elements,
            dense_flop=2.0 * elements,
            kv_bytes=4.0 * cached * 128,
            att_flop=4.0 * heads * 128,
            layers=1.0,
            layer_vectors=VECTOR_BYTES * hidden,
        )
        coefficients = compute_coefficients(work, replace(rates, layer_s=rates.layer_s * factor))
        columns = CoefficientColumns(stack_coefficients(coefficients, 1))
        batch, context = int(row["batch"]), int(row["context"])
        operators = compute_decode_operators(columns, _array(batch), _array(context))
        rest = float(columns.activation_token[0]) * batch + float(columns.overhead_fixed[0])
        return _join(operators.dense) + _join(operators.attention) + rest


def _array(value: float) -> Array:
    return np.array([float(value)])


def _join(parts: tuple[Array, Array]) -> float:
    return math.hypot(float(parts[0][0]), float(parts[1][0]))


def _attend(columns: CoefficientColumns, row: Mapping[str, str]) -> float:
    batch, context = _array(int(row["batch"])), _array(int(row["context"]))
    return _join(compute_decode_operators(columns, batch, context).attention)
