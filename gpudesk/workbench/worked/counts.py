"""Calculations of how many accelerators hold a model, and of what is left of their memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.domain.fit_matrix import ReadingId
from gpudesk.domain.units import GB, GIB
from gpudesk.engine.capacity_readings import READINGS, CapacityReading, power_of_two
from gpudesk.workbench.worked.calculation import Calculation, Quantity

_Values = Mapping[str, float]
#: A label is read in binary units where a unit of it is so many GB.
_BINARY_UNIT: Final = GIB / GB


def _reading(values: _Values, *, reserved: bool) -> CapacityReading:
    """Return the reading of the label that the numbers describe; raises ValueError where there is none."""
    unit, usable = values.get("gib", 1.0), values.get("usable", values.get("u", 1.0))
    for each in READINGS.values():
        same_unit = math.isclose(each.unit_bytes / GB, unit, rel_tol=1e-9)
        if same_unit and math.isclose(each.usable, usable) and (each.usable < 1.0) is reserved:
            return each
    raise ValueError(f"no reading has units of {unit} GB and {usable} of them usable")


def _weights_bytes(values: _Values) -> float:
    return values["params"] * GB * values["bytes"]


def _whole(values: _Values) -> float:
    """Return ceil(weights / label) by the reading without a reserve that the numbers describe."""
    return _reading(values, reserved=False).count(_weights_bytes(values), values["mem"])


def _reserved(values: _Values) -> float:
    """Return the count by the reading with a reserve, rounded up as that is."""
    return _reading(values, reserved=True).count(_weights_bytes(values), values["mem"])


def _reserved_unrounded(values: _Values) -> float:
    reading = _reading(values, reserved=True)
    return math.ceil(_weights_bytes(values) / reading.usable_bytes(values["mem"]))


def _decimal(weights_gb: float, values: _Values) -> int:
    return READINGS[ReadingId.DECIMAL].count(weights_gb * GB, values["mem"])


_WEIGHTS: Final = "{parameters} × {bytes_of_a_parameter}"
_ACCELERATORS: Final = "accelerators"
_LEFT: Final = "room left"
_ROOM_A, _ROOM_B = Quantity("first label"), Quantity("second label")
_TWO: Final = MappingProxyType({"a": _ROOM_A, "b": _ROOM_B})

COUNTS: Final[Mapping[str, Calculation]] = MappingProxyType(
    {
        "params*bytes": Calculation("weights", "GB", _WEIGHTS, lambda v: _weights_bytes(v) / GB),
        "params*bits/8": Calculation(
            "weights", "GB", "{parameters} × {bits_of_a_parameter} ÷ 8", lambda v: v["params"] * v["bits"] / 8
        ),
        "weights/mem": Calculation(
            _ACCELERATORS, None, "{weights} ÷ {memory_label}", lambda v: v["weights"] / v["mem"]
        ),
        "ceil(weights/mem)": Calculation(
            _ACCELERATORS,
            None,
            "⌈{weights} ÷ {memory_label}⌉",
            lambda v: _decimal(v["weights"], v),
        ),
        "ceil(params*bytes/mem)": Calculation(
            _ACCELERATORS, None, f"⌈{_WEIGHTS} ÷ {{memory_label}}⌉", _whole
        ),
        "ceil(params*bytes/(mem*gib))": Calculation(
            _ACCELERATORS, None, f"⌈{_WEIGHTS} ÷ ({{memory_label}} × {{GB_in_a_unit_of_the_label}})⌉", _whole
        ),
        "ceil(params*bytes/(mem*gib*u))": Calculation(
            _ACCELERATORS,
            None,
            f"⌈{_WEIGHTS} ÷ ({{memory_label}} × {{GB_in_a_unit_of_the_label}} × {{usable_share}})⌉",
            _reserved_unrounded,
        ),
        "ceil(params*bytes/(mem*gib*usable))": Calculation(
            _ACCELERATORS,
            None,
            f"⌈{_WEIGHTS} ÷ ({{memory_label}} × {{GB_in_a_unit_of_the_label}} × {{usable_share}})⌉",
            _whole,
        ),
        "pow2(ceil(params*bytes/(mem*gib*usable)))": Calculation(
            _ACCELERATORS,
            None,
            f"next of 1, 2, 4, 8, 16 from ⌈{_WEIGHTS} ÷ "
            "({memory_label} × {GB_in_a_unit_of_the_label} × {usable_share})⌉ on",
            _reserved,
        ),
        "ceil(need/mem)": Calculation(
            _ACCELERATORS, None, "⌈{memory_needed} ÷ {memory_label}⌉", lambda v: _decimal(v["need"], v)
        ),
        "pow2(ceil(need/mem))": Calculation(
            _ACCELERATORS,
            None,
            "next of 1, 2, 4, 8, 16 from ⌈{memory_needed} ÷ {memory_label}⌉ on",
            lambda v: power_of_two(_decimal(v["need"], v)),
        ),
        "mem/bytes": Calculation(
            "largest model",
            "billion",
            "{memory_label} ÷ {bytes_of_a_parameter}",
            lambda v: v["mem"] / v["bytes"],
        ),
        "mem*n*8/params": Calculation(
            "bits of a parameter",
            None,
            "{memory_label} × {accelerators} × 8 ÷ {parameters}",
            lambda v: v["mem"] * v["n"] * 8 / v["params"],
        ),
        "mem*n*gib*8/params": Calculation(
            "bits of a parameter",
            None,
            "{memory_label} × {accelerators} × {GB_in_a_unit_of_the_label} × 8 ÷ {parameters}",
            lambda v: v["mem"] * v["n"] * v["gib"] * 8 / v["params"],
        ),
        "mem-weights": Calculation(
            _LEFT, "GB", "{memory_label} − {weights}", lambda v: v["mem"] - v["weights"]
        ),
        "mem*gib-weights": Calculation(
            _LEFT,
            "GB",
            "{memory_label} × {GB_in_a_unit_of_the_label} − {weights}",
            lambda v: v["mem"] * v["gib"] - v["weights"],
        ),
        "mem*n": Calculation(
            "memory of all", "GB", "{memory_label} × {accelerators}", lambda v: v["mem"] * v["n"]
        ),
        "need/params": Calculation(
            "bytes of a parameter",
            None,
            "{memory_needed} ÷ {parameters}",
            lambda v: v["need"] / v["params"],
        ),
        "t-f": Calculation(
            "models beside these",
            None,
            "{models} − {models_that_fit}",
            lambda v: v["t"] - v["f"],
            {"t": Quantity("models"), "f": Quantity("models that fit")},
        ),
        "(a-wt)/(b-wt)": Calculation(
            "ratio of the room for the KV cache",
            None,
            "({first_label} − {weights}) ÷ ({second_label} − {weights})",
            lambda v: (v["a"] - v["wt"]) / (v["b"] - v["wt"]),
            _TWO,
        ),
        "(a*gib-wt)/(b*gib-wt)": Calculation(
            "ratio of the room for the KV cache",
            None,
            "({first_label} × {GB_in_a_unit_of_the_label} − {weights}) ÷ "
            "({second_label} × {GB_in_a_unit_of_the_label} − {weights})",
            lambda v: (v["a"] * v["gib"] - v["wt"]) / (v["b"] * v["gib"] - v["wt"]),
            _TWO,
        ),
        "(u*a-wt)/(u*b-wt)": Calculation(
            "ratio of the room for the KV cache",
            None,
            "({usable_share} × {first_label} − {weights}) ÷ ({usable_share} × {second_label} − {weights})",
            lambda v: (v["u"] * v["a"] - v["wt"]) / (v["u"] * v["b"] - v["wt"]),
            _TWO,
        ),
        "(a*n-wt)/(b*n-wt)": Calculation(
            "ratio of the room for the KV cache",
            None,
            "({first_label} × {accelerators} − {weights}) ÷ ({second_label} × {accelerators} − {weights})",
            lambda v: (v["a"] * v["n"] - v["wt"]) / (v["b"] * v["n"] - v["wt"]),
            _TWO,
        ),
        "(k*b-a)/(k-1)": Calculation(
            "weights at that ratio",
            "GB",
            "({ratio} × {second_label} − {first_label}) ÷ ({ratio} − 1)",
            lambda v: (v["k"] * v["b"] - v["a"]) / (v["k"] - 1),
            {**_TWO, "k": Quantity("ratio")},
        ),
    }
)
