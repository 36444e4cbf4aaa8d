"""What attributes, figures, kinds and limiters are called in tables."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from gpudesk.text import tr

_ATTRIBUTES: Final = MappingProxyType(
    {
        "status": "Status",
        "architecture": "Architecture",
        "process_node": "Process",
        "release_date": "Release",
        "form_factor": "Form factor",
        "memory": "Capacity",
        "memory_label": "Capacity as sold",
        "memory_type": "Memory type",
        "memory_stacks": "Memory stacks",
        "memory_bandwidth": "Bandwidth",
        "last_level_cache": "Last-level cache",
        "interconnect": "Interconnect",
        "scale_up_bandwidth": "Scale-up link, both ways",
        "scale_up_domain": "Scale-up domain",
        "pcie_generation": "PCIe generation",
        "pcie_bandwidth": "PCIe, both ways",
        "tdp": "Board power",
        "price_low": "Price, low",
        "price_high": "Price, high",
        "software_platform": "Software platform",
        "supported_precisions": "Precisions",
        "licence": "Licence",
        "total_parameters": "Parameters",
        "active_parameters": "Active parameters",
        "peak_dense": "{precision}, dense",
        "peak_sparse": "{precision}, sparse",
    }
)

_FIGURES: Final = MappingProxyType(
    {
        "output_tokens_per_s": "Output throughput",
        "output_tokens_per_s_per_accelerator": "Output per accelerator",
        "total_tokens_per_s": "Input and output throughput",
        "ttft_ms": "Time to first token",
        "tpot_ms": "Time per output token",
        "request_s": "Time of a request",
        "batch_s": "Time of the batch",
        "max_concurrency": "Most requests in flight",
    }
)

FIGURE_UNITS: Final = MappingProxyType(
    {
        "output_tokens_per_s": "tok/s",
        "output_tokens_per_s_per_accelerator": "tok/s",
        "total_tokens_per_s": "tok/s",
        "ttft_ms": "ms",
        "tpot_ms": "ms",
        "request_s": "s",
        "batch_s": "s",
        "max_concurrency": None,
    }
)

_KINDS: Final = MappingProxyType(
    {
        "vendor_datasheet": "vendor data sheet",
        "vendor_claim": "vendor claim",
        "config_copy": "published configuration",
        "measured_vendor": "measured by the vendor",
        "measured_mlperf": "measured for MLPerf",
        "measured_independent": "measured independently",
        "independent": "independent",
        "press": "press",
        "estimate": "estimate",
        "user": "own",
    }
)

_LIMITERS: Final = MappingProxyType(
    {
        "capacity": "capacity",
        "memory bandwidth": "memory bandwidth",
        "compute": "compute",
        "interconnect": "interconnect",
        "overhead": "overhead",
    }
)

_BASES: Final = MappingProxyType(
    {
        "measured": "measured",
        "calibrated": "calibrated",
        "estimated": "estimated",
        "uncalibrated": "uncalibrated",
    }
)

_ENGINES: Final = MappingProxyType(
    {
        "vllm": "vLLM",
        "sglang": "SGLang",
        "tensorrt-llm": "TensorRT-LLM",
        "llama.cpp": "llama.cpp",
        "tgi": "TGI",
    }
)

#: What was about to happen to the file when a backup was made.
_BACKUP_REASONS: Final = MappingProxyType(
    {
        "day": "the first change of a day",
        "edit": "a change of many facts",
        "migration": "an update of the file",
        "restore": "a backup was restored",
    }
)


def attribute_label(name: str) -> str:
    """Return what an attribute is called; a dimension of a model is called by its path."""
    for peak in ("peak_dense", "peak_sparse"):
        if name.startswith(f"{peak}_"):
            precision = precision_name(name.removeprefix(f"{peak}_"))
            return tr(_ATTRIBUTES[peak], precision=precision)
    return tr(_ATTRIBUTES[name]) if name in _ATTRIBUTES else name


def figure_label(name: str) -> str:
    """Return what a figure of an estimate is called."""
    return tr(_FIGURES[name])


def kind_label(kind: str) -> str:
    """Return how a source came to its figures."""
    return tr(_KINDS[kind])


def backup_reason_label(reason: str) -> str:
    """Return what a backup was made before."""
    return tr(_BACKUP_REASONS[reason])


def limiter_label(limiter: str) -> str:
    """Return what binds a step."""
    return tr(_LIMITERS[limiter])


def basis_label(basis: str) -> str:
    """Return what an estimate rests on."""
    return tr(_BASES[basis])


def engine_name(engine: str) -> str:
    """Return the name that a serving engine writes itself with."""
    return _ENGINES.get(engine, engine)


def precision_name(precision: str) -> str:
    """Return a number format as people write it: FP8, MXFP4, FP64 matrix."""
    name, _, units = precision.partition("_")
    return f"{name.upper()} {units}".rstrip()


def throughput_title(*, closed_loop: bool) -> str:
    """Return the title of curves of throughput, which are of closed loops whatever the scenario asks."""
    unit = FIGURE_UNITS["output_tokens_per_s"]
    if closed_loop:
        return f"{figure_label('output_tokens_per_s')}, {unit}"
    return tr("{figure} in closed loops, {unit}", figure=figure_label("output_tokens_per_s"), unit=unit)
