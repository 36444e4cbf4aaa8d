"""Calculations of images and videos: the time that they take, and the arithmetic behind it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.workbench.worked.calculation import Calculation, Quantity

_TERA: Final = 1e12
_MS_PER_S: Final = 1000.0

#: Examples count arithmetic in single operations, which nobody reads: 74,362,000,000,000 of them are a step.
_STEPS: Final = MappingProxyType(
    {
        "flop_per_step": Quantity("arithmetic of a step", "TFLOP", _TERA),
        "steps": Quantity("steps"),
        "t": Quantity("time of the image", "s"),
        "peak": Quantity("dense peak", "TFLOPS", _TERA),
    }
)


def _operations(values: Mapping[str, float]) -> float:
    """Return the operations of all steps, each of which goes through the model once."""
    return values["flop_per_step"] * values["steps"]


MEDIA: Final[Mapping[str, Calculation]] = MappingProxyType(
    {
        "n*ms/1000": Calculation(
            "time of the video",
            "s",
            "{frames} × {milliseconds_of_a_frame} ÷ 1000",
            lambda v: v["n"] * v["ms"] / _MS_PER_S,
            {"n": Quantity("frames"), "ms": Quantity("milliseconds of a frame", "ms")},
        ),
        "flop_per_step*steps/t/1e12": Calculation(
            "arithmetic needed",
            "TFLOPS",
            "{arithmetic_of_a_step} × {steps} ÷ {time_of_the_image}",
            lambda v: _operations(v) / v["t"] / _TERA,
            _STEPS,
        ),
        "flop_per_step*steps/peak": Calculation(
            "shortest time of the image",
            "s",
            "{arithmetic_of_a_step} × {steps} ÷ {dense_peak}",
            lambda v: _operations(v) / v["peak"],
            _STEPS,
        ),
    }
)
