"""Calculations that documents print: time spans, ratios, images and videos, rates, counts and memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from gpudesk.domain.deployment_analysis import ScalingRuleOfThumb
from gpudesk.domain.derivation import DerivationTerm
from gpudesk.domain.sizing import CapacityReadingId
from gpudesk.engine.memory import CAPACITY_READINGS, CapacityReading, round_up_to_power_of_two
from gpudesk.engine.plans import compute_stream_ceiling, scale_bandwidth
from gpudesk.text.units import GB, GIB


class CalculationInput(NamedTuple):
    """What a symbol of a formula stands for, in words and units.

    `scale` is how many of the unit that examples use make one `unit`, in which the number is shown.
    """

    name: str
    unit: str | None = None
    scale: float = 1.0


#: What symbols stand for wherever a calculation does not say otherwise.
_USUAL: Final[Mapping[str, CalculationInput]] = {
    "active": CalculationInput("active parameters", "billion"),
    "bits": CalculationInput("bits of a parameter"),
    "bpp": CalculationInput("bytes of a parameter"),
    "bw": CalculationInput("memory bandwidth", "GB/s"),
    "bytes": CalculationInput("bytes of a parameter"),
    "ctx": CalculationInput("tokens of a sequence"),
    "f": CalculationInput("factor"),
    "gib": CalculationInput("GB in a unit of the label"),
    "kv": CalculationInput("KV cache of a token", "B"),
    "kv_bytes": CalculationInput("KV cache of a token", "B"),
    "mem": CalculationInput("memory label"),
    "n": CalculationInput("accelerators"),
    "need": CalculationInput("memory needed", "GB"),
    "params": CalculationInput("parameters", "billion"),
    "seqs": CalculationInput("sequences"),
    "stacks": CalculationInput("stacks"),
    "tok": CalculationInput("tokens a second", "tok/s"),
    "u": CalculationInput("usable share"),
    "usable": CalculationInput("usable share"),
    "weights": CalculationInput("weights", "GB"),
    "wt": CalculationInput("weights", "GB"),
}


@dataclass(frozen=True, slots=True)
class Calculation:
    """One form of calculation.

    `result` and `unit` say what it gives, `text` is the formula with its inputs by name
    (`domain.formulas`), written in the units that they are shown in, and `work` gives the result from the
    numbers of the symbols as examples have them. `symbols` are those that mean something of their own here.
    """

    result: str
    unit: str | None
    text: str
    work: Callable[[Mapping[str, float]], float]
    symbols: Mapping[str, CalculationInput] = field(default_factory=dict)

    def term(self, values: Mapping[str, float]) -> DerivationTerm:
        """Return the working of a result; raises KeyError for a symbol that it does not know."""
        inputs = tuple(self._input(symbol, value) for symbol, value in values.items())
        return DerivationTerm(self.result, self.work(values), self.unit, self.text, inputs=inputs)

    def _input(self, symbol: str, value: float) -> DerivationTerm:
        quantity = self.symbols[symbol] if symbol in self.symbols else _USUAL[symbol]
        return DerivationTerm(quantity.name, value / quantity.scale, quantity.unit)


#: The formula of them all; only the statement of an example says what its dates are counted in.
SPAN: Final = "a-b"


def _compute_between(values: Mapping[str, float]) -> float:
    return values["a"] - values["b"]


#: The calculations by what is counted, which is the first word of an example's statement.
SPANS: Final[Mapping[str, Calculation]] = MappingProxyType(
    {
        # A month is given as one number: year × 12 + month, years counted from 2000.
        "months": Calculation(
            "months between",
            "months",
            "{later_month_1_is_January_2000} − {earlier_month_1_is_January_2000}",
            _compute_between,
            {
                "a": CalculationInput("later month (1 is January 2000)"),
                "b": CalculationInput("earlier month (1 is January 2000)"),
            },
        ),
        "days": Calculation(
            "days between",
            "days",
            "{later_day_of_the_month} − {earlier_day_of_the_month}",
            _compute_between,
            {"a": CalculationInput("later day of the month"), "b": CalculationInput("earlier day of the month")},
        ),
    }
)


_A, _B = CalculationInput("first figure"), CalculationInput("second figure")
_PAIR: Final = MappingProxyType({"a": _A, "b": _B})
_GAIN: Final = CalculationInput("lead over the other")
_TOTAL: Final = CalculationInput("tokens a second of all", "tok/s")

RATIOS: Final[Mapping[str, Calculation]] = MappingProxyType(
    {
        "a/b": Calculation("ratio", None, "{first_figure} ÷ {second_figure}", lambda v: v["a"] / v["b"], _PAIR),
        "a/b*100": Calculation(
            "share", "%", "{first_figure} ÷ {second_figure} × 100", lambda v: v["a"] / v["b"] * 100, _PAIR
        ),
        "(a/b-1)*100": Calculation(
            "more than the second",
            "%",
            "({first_figure} ÷ {second_figure} − 1) × 100",
            lambda v: (v["a"] / v["b"] - 1) * 100,
            _PAIR,
        ),
        "(1-a/b)*100": Calculation(
            "less than the second",
            "%",
            "(1 − {first_figure} ÷ {second_figure}) × 100",
            lambda v: (1 - v["a"] / v["b"]) * 100,
            _PAIR,
        ),
        "(b-a)/(d-a)*100": Calculation(
            "share of the gap that is closed",
            "%",
            "({middle} − {lower}) ÷ ({upper} − {lower}) × 100",
            lambda v: (v["b"] - v["a"]) / (v["d"] - v["a"]) * 100,
            {"a": CalculationInput("lower"), "b": CalculationInput("middle"), "d": CalculationInput("upper")},
        ),
        "mem/stacks": Calculation(
            "memory of a stack", "GB", "{memory_label} ÷ {stacks}", lambda v: v["mem"] / v["stacks"]
        ),
        "bw/stacks": Calculation(
            "memory bandwidth of a stack",
            "TB/s",
            "{memory_bandwidth} ÷ {stacks}",
            lambda v: v["bw"] / v["stacks"],
            {"bw": CalculationInput("memory bandwidth", "TB/s")},
        ),
        "n*g": Calculation(
            "link bandwidth of all",
            "GB/s",
            "{links} × {bandwidth_of_a_link}",
            lambda v: v["n"] * v["g"],
            {"n": CalculationInput("links"), "g": CalculationInput("bandwidth of a link", "GB/s")},
        ),
        "tf*bits": Calculation(
            "export-control score",
            None,
            "{dense_peak} × {bits_of_the_format}",
            lambda v: v["tf"] * v["bits"],
            {"tf": CalculationInput("dense peak", "TFLOPS"), "bits": CalculationInput("bits of the format")},
        ),
        "t/n": Calculation(
            "tokens a second of each",
            "tok/s",
            "{tokens_a_second_of_all} ÷ {accelerators}",
            lambda v: v["t"] / v["n"],
            {"t": _TOTAL},
        ),
        "t/(1+g)": Calculation(
            "tokens a second of the other",
            "tok/s",
            "{tokens_a_second_of_all} ÷ (1 + {lead_over_the_other})",
            lambda v: v["t"] / (1 + v["g"]),
            {"t": _TOTAL, "g": _GAIN},
        ),
        "t/(1+g)/n": Calculation(
            "tokens a second of each of the other",
            "tok/s",
            "{tokens_a_second_of_all} ÷ (1 + {lead_over_the_other}) ÷ {accelerators}",
            lambda v: v["t"] / (1 + v["g"]) / v["n"],
            {"t": _TOTAL, "g": _GAIN},
        ),
        "(1/r-1)*100": Calculation(
            "lead of the other",
            "%",
            "(1 ÷ {ratio} − 1) × 100",
            lambda v: (1 / v["r"] - 1) * 100,
            {"r": CalculationInput("ratio")},
        ),
    }
)


_TERA: Final = 1e12
_MS_PER_S: Final = 1000.0

#: Examples count arithmetic in single operations, which nobody reads: 74,362,000,000,000 of them are a step.
_STEPS: Final = MappingProxyType(
    {
        "flop_per_step": CalculationInput("arithmetic of a step", "TFLOP", _TERA),
        "steps": CalculationInput("steps"),
        "t": CalculationInput("time of the image", "s"),
        "peak": CalculationInput("dense peak", "TFLOPS", _TERA),
    }
)


def _compute_operations(values: Mapping[str, float]) -> float:
    """Return the operations of all steps, each of which goes through the model once."""
    return values["flop_per_step"] * values["steps"]


MEDIA: Final[Mapping[str, Calculation]] = MappingProxyType(
    {
        "n*ms/1000": Calculation(
            "time of the video",
            "s",
            "{frames} × {milliseconds_of_a_frame} ÷ 1000",
            lambda v: v["n"] * v["ms"] / _MS_PER_S,
            {"n": CalculationInput("frames"), "ms": CalculationInput("milliseconds of a frame", "ms")},
        ),
        "flop_per_step*steps/t/1e12": Calculation(
            "arithmetic needed",
            "TFLOPS",
            "{arithmetic_of_a_step} × {steps} ÷ {time_of_the_image}",
            lambda v: _compute_operations(v) / v["t"] / _TERA,
            _STEPS,
        ),
        "flop_per_step*steps/peak": Calculation(
            "shortest time of the image",
            "s",
            "{arithmetic_of_a_step} × {steps} ÷ {dense_peak}",
            lambda v: _compute_operations(v) / v["peak"],
            _STEPS,
        ),
    }
)


_Values = Mapping[str, float]
_CEILING: Final = "ceiling of one request"
_SCALED: Final = "memory bandwidth of all"
_KV: Final = "KV cache"


def _compute_ceiling(weights_gb: float, values: _Values, count: int = 1, factor: float = 1.0) -> float:
    bandwidth = values["bw"] * GB
    return compute_stream_ceiling(bandwidth, weights_gb * GB, count, ScalingRuleOfThumb.FLAT, factor)


def _compute_scaled(rule: ScalingRuleOfThumb, text: str) -> Calculation:
    return Calculation(_SCALED, "GB/s", text, lambda v: scale_bandwidth(v["bw"], int(v["n"]), rule, v["f"]))


def _compute_kv_gb(values: _Values) -> float:
    each = values["kv"] if "kv" in values else values["kv_bytes"]
    return values["seqs"] * values["ctx"] * each / GB


def _compute_weights_gb(values: _Values) -> float:
    return values["params"] * values["bytes"]


_KV_SHOWN: Final = "{sequences} × {tokens_of_a_sequence} × {KV_cache_of_a_token}"

RATES: Final[Mapping[str, Calculation]] = MappingProxyType(
    {
        "bw/weights": Calculation(
            _CEILING, "tok/s", "{memory_bandwidth} ÷ {weights}", lambda v: _compute_ceiling(v["weights"], v)
        ),
        "bw/(params*bytes)": Calculation(
            _CEILING,
            "tok/s",
            "{memory_bandwidth} ÷ ({parameters} × {bytes_of_a_parameter})",
            lambda v: _compute_ceiling(_compute_weights_gb(v), v),
        ),
        "bw*n*f/weights": Calculation(
            _CEILING,
            "tok/s",
            "{memory_bandwidth} × {accelerators} × {factor} ÷ {weights}",
            lambda v: _compute_ceiling(v["weights"], v, int(v["n"]), v["f"]),
        ),
        "tok/(bw/weights)": Calculation(
            "requests in a batch",
            None,
            "{tokens_a_second} ÷ ({memory_bandwidth} ÷ {weights})",
            lambda v: v["tok"] / _compute_ceiling(v["weights"], v),
        ),
        "2*params*tok/1e12": Calculation(
            "arithmetic needed",
            "TFLOPS",
            "2 × {parameters} × {tokens_a_second} ÷ 10¹²",
            lambda v: 2 * v["params"] * v["tok"] / 1e12,
            {"params": CalculationInput("parameters")},
        ),
        "params*bytes*tok": Calculation(
            "memory bandwidth needed",
            "GB/s",
            "{parameters} × {bytes_of_a_parameter} × {tokens_a_second}",
            lambda v: _compute_weights_gb(v) * v["tok"],
        ),
        "params*bytes*tok/bw*100": Calculation(
            "share of memory bandwidth",
            "%",
            "{parameters} × {bytes_of_a_parameter} × {tokens_a_second} ÷ {memory_bandwidth} × 100",
            lambda v: 100 * v["tok"] / _compute_ceiling(_compute_weights_gb(v), v),
        ),
        "active*bpp*tok/bw*100": Calculation(
            "share of memory bandwidth",
            "%",
            "{active_parameters} × {bytes_of_a_parameter} × {tokens_a_second} ÷ {memory_bandwidth} × 100",
            lambda v: 100 * v["tok"] / _compute_ceiling(v["active"] * v["bpp"], v),
        ),
        "seqs*ctx*kv/1e9": Calculation(_KV, "GB", f"{_KV_SHOWN} ÷ 10⁹", _compute_kv_gb),
        "seqs*ctx*kv_bytes/1e9": Calculation(_KV, "GB", f"{_KV_SHOWN} ÷ 10⁹", _compute_kv_gb),
        "weights+seqs*ctx*kv/1e9": Calculation(
            "weights and KV cache", "GB", f"{{weights}} + {_KV_SHOWN} ÷ 10⁹", lambda v: v["weights"] + _compute_kv_gb(v)
        ),
        "floor(room/kv)": Calculation(
            "tokens in the KV cache",
            None,
            "⌊{room_left} ÷ {KV_cache_of_a_token}⌋",
            lambda v: math.floor(v["room"] / v["kv"]),
            {"room": CalculationInput("room left", "B")},
        ),
        "bw*n*(1 if n==1 else f)": _compute_scaled(
            ScalingRuleOfThumb.FLAT, "{memory_bandwidth} × {accelerators} × {factor} (of one alone: × 1)"
        ),
        "bw*(1+f*(n-1))": _compute_scaled(
            ScalingRuleOfThumb.ADDED, "{memory_bandwidth} × (1 + {factor} × ({accelerators} − 1))"
        ),
        "bw*n*f**(n-1)": _compute_scaled(
            ScalingRuleOfThumb.COMPOUNDING, "{memory_bandwidth} × {accelerators} × {factor} ^ ({accelerators} − 1)"
        ),
        "bw*n*f**log2(n)": _compute_scaled(
            ScalingRuleOfThumb.PER_DOUBLING, "{memory_bandwidth} × {accelerators} × {factor} ^ log₂ {accelerators}"
        ),
        "(1-f)*100": Calculation("overhead", "%", "(1 − {factor}) × 100", lambda v: (1 - v["f"]) * 100),
    }
)


#: A label is read in binary units where a unit of it is so many GB.
_BINARY_UNIT: Final = GIB / GB


def _make_reading(values: _Values, *, reserved: bool) -> CapacityReading:
    """Return the reading of the label that the numbers describe; raises ValueError where there is none."""
    unit, usable = values.get("gib", 1.0), values.get("usable", values.get("u", 1.0))
    for each in CAPACITY_READINGS.values():
        same_unit = math.isclose(each.unit_bytes / GB, unit, rel_tol=1e-9)
        if same_unit and math.isclose(each.usable, usable) and (each.usable < 1.0) is reserved:
            return each
    raise ValueError(f"no reading has units of {unit} GB and {usable} of them usable")


def _compute_weights_bytes(values: _Values) -> float:
    return values["params"] * GB * values["bytes"]


def _compute_whole(values: _Values) -> float:
    """Return ceil(weights / label) by the reading without a reserve that the numbers describe."""
    return _make_reading(values, reserved=False).count(_compute_weights_bytes(values), values["mem"])


def _compute_reserved(values: _Values) -> float:
    return _make_reading(values, reserved=True).count(_compute_weights_bytes(values), values["mem"])


def _compute_reserved_unrounded(values: _Values) -> float:
    reading = _make_reading(values, reserved=True)
    return math.ceil(_compute_weights_bytes(values) / reading.usable_bytes(values["mem"]))


def _compute_decimal(weights_gb: float, values: _Values) -> int:
    return CAPACITY_READINGS[CapacityReadingId.DECIMAL].count(weights_gb * GB, values["mem"])


_WEIGHT_INPUTS: Final = "{parameters} × {bytes_of_a_parameter}"
_ACCELERATORS: Final = "accelerators"
_LEFT: Final = "room left"
_ROOM_A, _ROOM_B = CalculationInput("first label"), CalculationInput("second label")
_TWO: Final = MappingProxyType({"a": _ROOM_A, "b": _ROOM_B})

COUNTS: Final[Mapping[str, Calculation]] = MappingProxyType(
    {
        "params*bytes": Calculation("weights", "GB", _WEIGHT_INPUTS, lambda v: _compute_weights_bytes(v) / GB),
        "params*bits/8": Calculation(
            "weights", "GB", "{parameters} × {bits_of_a_parameter} ÷ 8", lambda v: v["params"] * v["bits"] / 8
        ),
        "weights/mem": Calculation(
            _ACCELERATORS, None, "{weights} ÷ {memory_label}", lambda v: v["weights"] / v["mem"]
        ),
        "ceil(weights/mem)": Calculation(
            _ACCELERATORS, None, "⌈{weights} ÷ {memory_label}⌉", lambda v: _compute_decimal(v["weights"], v)
        ),
        "ceil(params*bytes/mem)": Calculation(
            _ACCELERATORS, None, f"⌈{_WEIGHT_INPUTS} ÷ {{memory_label}}⌉", _compute_whole
        ),
        "ceil(params*bytes/(mem*gib))": Calculation(
            _ACCELERATORS,
            None,
            f"⌈{_WEIGHT_INPUTS} ÷ ({{memory_label}} × {{GB_in_a_unit_of_the_label}})⌉",
            _compute_whole,
        ),
        "ceil(params*bytes/(mem*gib*u))": Calculation(
            _ACCELERATORS,
            None,
            f"⌈{_WEIGHT_INPUTS} ÷ ({{memory_label}} × {{GB_in_a_unit_of_the_label}} × {{usable_share}})⌉",
            _compute_reserved_unrounded,
        ),
        "ceil(params*bytes/(mem*gib*usable))": Calculation(
            _ACCELERATORS,
            None,
            f"⌈{_WEIGHT_INPUTS} ÷ ({{memory_label}} × {{GB_in_a_unit_of_the_label}} × {{usable_share}})⌉",
            _compute_whole,
        ),
        "pow2(ceil(params*bytes/(mem*gib*usable)))": Calculation(
            _ACCELERATORS,
            None,
            f"next of 1, 2, 4, 8, 16 from ⌈{_WEIGHT_INPUTS} ÷ "
            "({memory_label} × {GB_in_a_unit_of_the_label} × {usable_share})⌉ on",
            _compute_reserved,
        ),
        "ceil(need/mem)": Calculation(
            _ACCELERATORS, None, "⌈{memory_needed} ÷ {memory_label}⌉", lambda v: _compute_decimal(v["need"], v)
        ),
        "pow2(ceil(need/mem))": Calculation(
            _ACCELERATORS,
            None,
            "next of 1, 2, 4, 8, 16 from ⌈{memory_needed} ÷ {memory_label}⌉ on",
            lambda v: round_up_to_power_of_two(_compute_decimal(v["need"], v)),
        ),
        "mem/bytes": Calculation(
            "largest model", "billion", "{memory_label} ÷ {bytes_of_a_parameter}", lambda v: v["mem"] / v["bytes"]
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
        "mem-weights": Calculation(_LEFT, "GB", "{memory_label} − {weights}", lambda v: v["mem"] - v["weights"]),
        "mem*gib-weights": Calculation(
            _LEFT,
            "GB",
            "{memory_label} × {GB_in_a_unit_of_the_label} − {weights}",
            lambda v: v["mem"] * v["gib"] - v["weights"],
        ),
        "mem*n": Calculation("memory of all", "GB", "{memory_label} × {accelerators}", lambda v: v["mem"] * v["n"]),
        "need/params": Calculation(
            "bytes of a parameter", None, "{memory_needed} ÷ {parameters}", lambda v: v["need"] / v["params"]
        ),
        "t-f": Calculation(
            "models beside these",
            None,
            "{models} − {models_that_fit}",
            lambda v: v["t"] - v["f"],
            {"t": CalculationInput("models"), "f": CalculationInput("models that fit")},
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
            {**_TWO, "k": CalculationInput("ratio")},
        ),
    }
)
