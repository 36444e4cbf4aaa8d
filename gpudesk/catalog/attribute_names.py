"""The attributes that things can have, and the unit of each inside; None for words, counts and yes or no."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_PEAKS: Final = (
    "fp64",
    "fp64_matrix",
    "fp32",
    "tf32",
    "bf16",
    "fp16",
    "fp8",
    "fp6",
    "fp4",
    "int8",
    "int4",
)

PEAK_DENSE: Final = "peak_dense_"
PEAK_SPARSE: Final = "peak_sparse_"

ACCELERATOR: Final[Mapping[str, str | None]] = MappingProxyType(
    {
        "status": None,
        "architecture": None,
        "process_node": None,
        "release_date": None,
        "form_factor": None,
        "memory": "B",
        "memory_label": None,
        "memory_type": None,
        "memory_stacks": "stacks",
        "memory_bandwidth": "B/s",
        "last_level_cache": "B",
        "interconnect": None,
        "scale_up_bandwidth": "B/s",
        "scale_up_domain": "accelerators",
        "pcie_generation": "generation",
        "pcie_bandwidth": "B/s",
        "tdp": "W",
        "price_low": "USD",
        "price_high": "USD",
        **{f"{prefix}{name}": "FLOP/s" for prefix in (PEAK_DENSE, PEAK_SPARSE) for name in _PEAKS},
        "software_platform": None,
        "supported_precisions": None,
    }
)

#: Without these no estimate can be made, so an accelerator needs a preferred claim for each.
ACCELERATOR_REQUIRED: Final = ("memory", "memory_bandwidth", "software_platform")

DIFFUSION: Final[Mapping[str, str | None]] = MappingProxyType(
    {
        "parameters": "parameters",
        "denoiser_weights": "B",
        "vram_low": "B",
        "vram_high": "B",
        "default_steps": None,
        "default_resolution": None,
        "recommended_hardware": None,
    }
)

#: What is known of a model beside its dimensions. `layers` is the pattern in which layer kinds alternate.
MODEL_STATED: Final[Mapping[str, str | None]] = MappingProxyType(
    {
        "release_date": None,
        "licence": None,
        "total_parameters": "parameters",
        "active_parameters": "parameters",
        "architecture": None,
        "layers": None,
    }
)

#: Last word of a dimension's path -> unit; every other dimension is a plain number or a word.
_DIMENSION_UNITS: Final = MappingProxyType({"max_context": "tokens", "window": "tokens"})


def model_unit(name: str) -> str | None:
    """Return the unit of a model's attribute, which may be the path of a dimension."""
    if name in MODEL_STATED:
        return MODEL_STATED[name]
    return _DIMENSION_UNITS.get(name.rpartition(".")[2])
