"""Sweeps for tests: the real facts and constants, and small grids over them."""

from __future__ import annotations

from typing import Any

from gpudesk.domain.estimate import LoadKind
from gpudesk.domain.precision import Precision
from gpudesk.estimation.sweep.grid import Sweep
from tests.unit.domain.asking import ask, closed

#: What fits, what does not, and what cannot be (TP 3), over two vendors and two kinds of model.
SMALL = Sweep(
    accelerators=("h100-sxm", "mi325x", "rtx-4090"),
    models=("llama-3.1-70b", "gpt-oss-120b"),
    weights=(Precision.FP8, Precision.MXFP4),
    kv=(Precision.FP16, Precision.FP8),
    tp=(1, 3, 8),
    input_tokens=(100, 30_000),
    output_tokens=(1, 2000),
    load=LoadKind.CONCURRENCY,
    amounts=(1, 7, 5000),
    base=ask("h100-sxm", "llama-3.1-70b", "fp8", closed(1)),
)


def sweep_of(**axes: Any) -> Sweep:  # noqa: ANN401 - any field
    fields: dict[str, Any] = {
        "accelerators": ("h200-sxm",),
        "models": ("llama-3.1-70b",),
        "weights": (Precision.FP8,),
        "kv": (Precision.FP16,),
        "tp": (4,),
        "input_tokens": (1000,),
        "output_tokens": (100,),
        "load": LoadKind.CONCURRENCY,
        "amounts": (16,),
        "base": SMALL.base,
    }
    return Sweep(**{**fields, **axes})
