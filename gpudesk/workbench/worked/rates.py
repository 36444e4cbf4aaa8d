"""Calculations of tokens a second, of the KV cache that they read, and of what several accelerators yield."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.domain.topology import ScalingRule
from gpudesk.domain.units import GB
from gpudesk.engine.scaling_rules import scaled_bandwidth, stream_ceiling
from gpudesk.workbench.worked.calculation import Calculation, Quantity

_Values = Mapping[str, float]
_CEILING: Final = "ceiling of one request"
_SCALED: Final = "memory bandwidth of all"
_KV: Final = "KV cache"


def _ceiling(weights_gb: float, values: _Values, count: int = 1, factor: float = 1.0) -> float:
    bandwidth = values["bw"] * GB
    return stream_ceiling(bandwidth, weights_gb * GB, count, ScalingRule.FLAT, factor)


def _scaled(rule: ScalingRule, shown: str) -> Calculation:
    return Calculation(_SCALED, "GB/s", shown, lambda v: scaled_bandwidth(v["bw"], int(v["n"]), rule, v["f"]))


def _kv_gb(values: _Values) -> float:
    each = values["kv"] if "kv" in values else values["kv_bytes"]
    return values["seqs"] * values["ctx"] * each / GB


def _weights_gb(values: _Values) -> float:
    return values["params"] * values["bytes"]


_KV_SHOWN: Final = "{sequences} × {tokens_of_a_sequence} × {KV_cache_of_a_token}"

RATES: Final[Mapping[str, Calculation]] = MappingProxyType(
    {
        "bw/weights": Calculation(
            _CEILING, "tok/s", "{memory_bandwidth} ÷ {weights}", lambda v: _ceiling(v["weights"], v)
        ),
        "bw/(params*bytes)": Calculation(
            _CEILING,
            "tok/s",
            "{memory_bandwidth} ÷ ({parameters} × {bytes_of_a_parameter})",
            lambda v: _ceiling(_weights_gb(v), v),
        ),
        "bw*n*f/weights": Calculation(
            _CEILING,
            "tok/s",
            "{memory_bandwidth} × {accelerators} × {factor} ÷ {weights}",
            lambda v: _ceiling(v["weights"], v, int(v["n"]), v["f"]),
        ),
        "tok/(bw/weights)": Calculation(
            "requests in a batch",
            None,
            "{tokens_a_second} ÷ ({memory_bandwidth} ÷ {weights})",
            lambda v: v["tok"] / _ceiling(v["weights"], v),
        ),
        "2*params*tok/1e12": Calculation(
            "arithmetic needed",
            "TFLOPS",
            "2 × {parameters} × {tokens_a_second} ÷ 10¹²",
            lambda v: 2 * v["params"] * v["tok"] / 1e12,
            {"params": Quantity("parameters")},
        ),
        "params*bytes*tok": Calculation(
            "memory bandwidth needed",
            "GB/s",
            "{parameters} × {bytes_of_a_parameter} × {tokens_a_second}",
            lambda v: _weights_gb(v) * v["tok"],
        ),
        "params*bytes*tok/bw*100": Calculation(
            "share of memory bandwidth",
            "%",
            "{parameters} × {bytes_of_a_parameter} × {tokens_a_second} ÷ {memory_bandwidth} × 100",
            lambda v: 100 * v["tok"] / _ceiling(_weights_gb(v), v),
        ),
        "active*bpp*tok/bw*100": Calculation(
            "share of memory bandwidth",
            "%",
            "{active_parameters} × {bytes_of_a_parameter} × {tokens_a_second} ÷ {memory_bandwidth} × 100",
            lambda v: 100 * v["tok"] / _ceiling(v["active"] * v["bpp"], v),
        ),
        "seqs*ctx*kv/1e9": Calculation(_KV, "GB", f"{_KV_SHOWN} ÷ 10⁹", _kv_gb),
        "seqs*ctx*kv_bytes/1e9": Calculation(_KV, "GB", f"{_KV_SHOWN} ÷ 10⁹", _kv_gb),
        "weights+seqs*ctx*kv/1e9": Calculation(
            "weights and KV cache",
            "GB",
            f"{{weights}} + {_KV_SHOWN} ÷ 10⁹",
            lambda v: v["weights"] + _kv_gb(v),
        ),
        "floor(room/kv)": Calculation(
            "tokens in the KV cache",
            None,
            "⌊{room_left} ÷ {KV_cache_of_a_token}⌋",
            lambda v: math.floor(v["room"] / v["kv"]),
            {"room": Quantity("room left", "B")},
        ),
        "bw*n*(1 if n==1 else f)": _scaled(
            ScalingRule.FLAT, "{memory_bandwidth} × {accelerators} × {factor} (of one alone: × 1)"
        ),
        "bw*(1+f*(n-1))": _scaled(
            ScalingRule.ADDED, "{memory_bandwidth} × (1 + {factor} × ({accelerators} − 1))"
        ),
        "bw*n*f**(n-1)": _scaled(
            ScalingRule.COMPOUNDING, "{memory_bandwidth} × {accelerators} × {factor} ^ ({accelerators} − 1)"
        ),
        "bw*n*f**log2(n)": _scaled(
            ScalingRule.PER_DOUBLING,
            "{memory_bandwidth} × {accelerators} × {factor} ^ log₂ {accelerators}",
        ),
        "(1-f)*100": Calculation("overhead", "%", "(1 − {factor}) × 100", lambda v: (1 - v["f"]) * 100),
    }
)
