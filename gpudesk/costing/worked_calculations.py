"""Calculations printed by documents: each with its formula and the meaning of its symbols."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from gpudesk.costing.ownership import (
    EngineeringInputs,
    HardwareInputs,
    OwnershipInputs,
    RunningInputs,
    compute_addition_to_reach,
    compute_payback_hours,
    compute_payback_months,
    compute_saving,
    compute_saving_after,
    compute_tie_ratio,
    list_ownership_lines,
    sum_lines,
)
from gpudesk.domain.deployment_analysis import DerivationTerm, ScalingRuleOfThumb, format_placeholder
from gpudesk.domain.sizing import CapacityReadingId
from gpudesk.engine.engine_support import compute_stream_ceiling, scale_bandwidth
from gpudesk.engine.memory import CAPACITY_READINGS, CapacityReading, round_up_to_power_of_two
from gpudesk.text.units import GB, HOURS_PER_YEAR


class CalculationInput(NamedTuple):
    """The meaning of a symbol of a formula, and its units.

    `scale` is the displayed `unit` in the unit that examples use.
    """

    name: str
    unit: str | None = None
    scale: float = 1.0


#: The meaning of symbols unless a calculation overrides it.
_USUAL: Final[Mapping[str, CalculationInput]] = {
    "active": CalculationInput("active parameters", "billion"),
    "bits": CalculationInput("bits per parameter"),
    "bpp": CalculationInput("bytes per parameter"),
    "bw": CalculationInput("memory bandwidth", "GB/s"),
    "bytes": CalculationInput("bytes per parameter"),
    "ctx": CalculationInput("tokens per sequence"),
    "f": CalculationInput("factor"),
    "gib": CalculationInput("GB in a unit of the label"),
    "kv": CalculationInput("KV cache per token", "B"),
    "kv_bytes": CalculationInput("KV cache per token", "B"),
    "mem": CalculationInput("memory label"),
    "n": CalculationInput("accelerators"),
    "need": CalculationInput("memory needed", "GB"),
    "params": CalculationInput("parameters", "billion"),
    "seqs": CalculationInput("sequences"),
    "stacks": CalculationInput("stacks"),
    "tok": CalculationInput("tokens per second", "tok/s"),
    "u": CalculationInput("usable share"),
    "usable": CalculationInput("usable share"),
    "weights": CalculationInput("weights", "GB"),
    "wt": CalculationInput("weights", "GB"),
}


_Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Calculation:
    """The result of a formula, and its unit.

    `symbols` overrides the meaning of symbols. `work` computes the result with the program's own functions from the
    numbers of the symbols; without it the formula is evaluated. `text` is the formula with its inputs by name if it
    differs from the formula verbatim, or is written differently in other languages.
    """

    result: str
    unit: str | None
    symbols: Mapping[str, CalculationInput] = field(default_factory=dict)
    work: Callable[[_Values], float] | None = None
    text: str = ""

    def term(self, formula: str, values: _Values) -> DerivationTerm:
        """Return the derivation of a result; raises KeyError for an unknown symbol."""
        symbols = {symbol: self.symbols.get(symbol) or _USUAL[symbol] for symbol in values}
        inputs = tuple(
            DerivationTerm(each.name, values[symbol] / each.scale, each.unit) for symbol, each in symbols.items()
        )
        value = _evaluate(ast.parse(formula, mode="eval").body, values) if self.work is None else self.work(values)
        text = self.text or _spell_formula(formula, symbols)
        return DerivationTerm(self.result, value, self.unit, text, inputs=inputs)


_OPERATIONS: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_SIGNS: Final = {"**": " ^ ", "*": " × ", "/": " ÷ ", "+": " + ", "-": " − "}
_RAISED: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _evaluate(node: ast.expr, values: _Values) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=symbol):
            return values[symbol]
        case ast.BinOp(left=left, op=sign, right=right):
            return _OPERATIONS[type(sign)](_evaluate(left, values), _evaluate(right, values))
    raise ValueError(ast.dump(node))


def _spell_formula(formula: str, symbols: Mapping[str, CalculationInput]) -> str:

    def spell(match: re.Match[str]) -> str:
        word = match[0]
        if word in symbols:
            return format_placeholder(symbols[word].name)
        return f"10{word.removeprefix('1e').translate(_RAISED)}" if word.startswith("1e") else _SIGNS.get(word, word)

    for function, left, right in (("ceil", "⌈", "⌉"), ("floor", "⌊", "⌋")):
        formula = re.sub(rf"^{function}\((.*)\)$", rf"{left}\1{right}", formula)
    return re.sub(r"1e\d+|[A-Za-z_]\w*|\*\*|[-+*/]", spell, formula)


#: The shared formula; only the statement of an example tells what its dates count.
SPAN: Final = "a-b"

#: The calculations by what they count, which is the first word of an example's statement. A month is one number: year ×
#: 12 + month, years counted from 2000.
SPANS: Final[Mapping[str, Calculation]] = {
    "months": Calculation(
        "months between",
        "months",
        {
            "a": CalculationInput("later month (1 is January 2000)"),
            "b": CalculationInput("earlier month (1 is January 2000)"),
        },
    ),
    "days": Calculation(
        "days between",
        "days",
        {"a": CalculationInput("later day of the month"), "b": CalculationInput("earlier day of the month")},
    ),
}


_A, _B = CalculationInput("first figure"), CalculationInput("second figure")
_PAIR: Final = {"a": _A, "b": _B}
_GAIN: Final = CalculationInput("lead over the other")
_TOTAL: Final = CalculationInput("total tokens per second", "tok/s")

RATIOS: Final[Mapping[str, Calculation]] = {
    "a/b": Calculation("ratio", None, _PAIR),
    "a/b*100": Calculation("share", "%", _PAIR),
    "(a/b-1)*100": Calculation("more than the second", "%", _PAIR),
    "(1-a/b)*100": Calculation("less than the second", "%", _PAIR),
    "(b-a)/(d-a)*100": Calculation(
        "share of the gap that is closed",
        "%",
        {"a": CalculationInput("lower"), "b": CalculationInput("middle"), "d": CalculationInput("upper")},
    ),
    "mem/stacks": Calculation("memory per stack", "GB"),
    "bw/stacks": Calculation(
        "memory bandwidth per stack", "TB/s", {"bw": CalculationInput("memory bandwidth", "TB/s")}
    ),
    "n*g": Calculation(
        "link bandwidth of all",
        "GB/s",
        {"n": CalculationInput("links"), "g": CalculationInput("bandwidth per link", "GB/s")},
    ),
    "tf*bits": Calculation(
        "export-control score",
        None,
        {"tf": CalculationInput("dense peak", "TFLOPS"), "bits": CalculationInput("bits of the format")},
    ),
    "t/n": Calculation("tokens per second each", "tok/s", {"t": _TOTAL}),
    "t/(1+g)": Calculation("tokens per second of the other", "tok/s", {"t": _TOTAL, "g": _GAIN}),
    "t/(1+g)/n": Calculation("tokens per second each of the other", "tok/s", {"t": _TOTAL, "g": _GAIN}),
    "(1/r-1)*100": Calculation("lead of the other", "%", {"r": CalculationInput("ratio")}),
}


_TERA: Final = 1e12

#: Examples count single operations, in unreadably large numbers: 74,362,000,000,000 of them are a step.
_STEPS: Final = {
    "flop_per_step": CalculationInput("arithmetic of a step", "TFLOP", _TERA),
    "steps": CalculationInput("steps"),
    "t": CalculationInput("time of the image", "s"),
    "peak": CalculationInput("dense peak", "TFLOPS", _TERA),
}


def _compute_operations(values: _Values) -> float:
    """Return the operations of all steps; each step runs the model once."""
    return values["flop_per_step"] * values["steps"]


MEDIA: Final[Mapping[str, Calculation]] = {
    "n*ms/1000": Calculation(
        "time of the video",
        "s",
        {"n": CalculationInput("frames"), "ms": CalculationInput("milliseconds per frame", "ms")},
    ),
    "flop_per_step*steps/t/1e12": Calculation(
        "arithmetic needed",
        "TFLOPS",
        _STEPS,
        lambda v: _compute_operations(v) / v["t"] / _TERA,
        text="{arithmetic_of_a_step} × {steps} ÷ {time_of_the_image}",
    ),
    "flop_per_step*steps/peak": Calculation(
        "shortest time of the image", "s", _STEPS, lambda v: _compute_operations(v) / v["peak"]
    ),
}


_CEILING: Final = "ceiling of one request"
_KV: Final = "KV cache"


def _compute_ceiling(weights_gb: float, values: _Values, count: int = 1, factor: float = 1.0) -> float:
    bandwidth = values["bw"] * GB
    return compute_stream_ceiling(bandwidth, weights_gb * GB, count, ScalingRuleOfThumb.FLAT, factor)


def _make_scaled(rule: ScalingRuleOfThumb, text: str = "") -> Calculation:
    return Calculation(
        "memory bandwidth of all", "GB/s", work=lambda v: scale_bandwidth(v["bw"], int(v["n"]), rule, v["f"]), text=text
    )


def _compute_kv_gb(values: _Values) -> float:
    each = values["kv"] if "kv" in values else values["kv_bytes"]
    return values["seqs"] * values["ctx"] * each / GB


def _compute_weights_gb(values: _Values) -> float:
    return values["params"] * values["bytes"]


RATES: Final[Mapping[str, Calculation]] = {
    "bw/weights": Calculation(_CEILING, "tok/s", work=lambda v: _compute_ceiling(v["weights"], v)),
    "bw/(params*bytes)": Calculation(_CEILING, "tok/s", work=lambda v: _compute_ceiling(_compute_weights_gb(v), v)),
    "bw*n*f/weights": Calculation(
        _CEILING, "tok/s", work=lambda v: _compute_ceiling(v["weights"], v, int(v["n"]), v["f"])
    ),
    "tok/(bw/weights)": Calculation(
        "requests in a batch", None, work=lambda v: v["tok"] / _compute_ceiling(v["weights"], v)
    ),
    "2*params*tok/1e12": Calculation("arithmetic needed", "TFLOPS", {"params": CalculationInput("parameters")}),
    "params*bytes*tok": Calculation(
        "memory bandwidth needed", "GB/s", work=lambda v: _compute_weights_gb(v) * v["tok"]
    ),
    "params*bytes*tok/bw*100": Calculation(
        "share of memory bandwidth", "%", work=lambda v: 100 * v["tok"] / _compute_ceiling(_compute_weights_gb(v), v)
    ),
    "active*bpp*tok/bw*100": Calculation(
        "share of memory bandwidth", "%", work=lambda v: 100 * v["tok"] / _compute_ceiling(v["active"] * v["bpp"], v)
    ),
    "seqs*ctx*kv/1e9": Calculation(_KV, "GB", work=_compute_kv_gb),
    "seqs*ctx*kv_bytes/1e9": Calculation(_KV, "GB", work=_compute_kv_gb),
    "weights+seqs*ctx*kv/1e9": Calculation(
        "weights and KV cache", "GB", work=lambda v: v["weights"] + _compute_kv_gb(v)
    ),
    "floor(room/kv)": Calculation(
        "tokens in the KV cache",
        None,
        {"room": CalculationInput("remaining memory", "B")},
        lambda v: math.floor(v["room"] / v["kv"]),
    ),
    "bw*n*(1 if n==1 else f)": _make_scaled(
        ScalingRuleOfThumb.FLAT, "{memory_bandwidth} × {accelerators} × {factor} (of one alone: × 1)"
    ),
    "bw*(1+f*(n-1))": _make_scaled(ScalingRuleOfThumb.ADDED),
    "bw*n*f**(n-1)": _make_scaled(ScalingRuleOfThumb.COMPOUNDING),
    "bw*n*f**log2(n)": _make_scaled(
        ScalingRuleOfThumb.PER_DOUBLING, "{memory_bandwidth} × {accelerators} × {factor} ^ log₂ {accelerators}"
    ),
    "(1-f)*100": Calculation("overhead", "%"),
}


def _make_reading(values: _Values, *, reserved: bool) -> CapacityReading:
    """Return the label reading that the numbers describe; raises ValueError without one."""
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


_ACCELERATORS: Final = "accelerators"
_LEFT: Final = "remaining memory"
_ROOM_A, _ROOM_B = CalculationInput("first label"), CalculationInput("second label")
_TWO: Final = {"a": _ROOM_A, "b": _ROOM_B}

COUNTS: Final[Mapping[str, Calculation]] = {
    "params*bytes": Calculation("weights", "GB", work=lambda v: _compute_weights_bytes(v) / GB),
    "params*bits/8": Calculation("weights", "GB"),
    "weights/mem": Calculation(_ACCELERATORS, None),
    "ceil(weights/mem)": Calculation(_ACCELERATORS, None, work=lambda v: _compute_decimal(v["weights"], v)),
    "ceil(params*bytes/mem)": Calculation(_ACCELERATORS, None, work=_compute_whole),
    "ceil(params*bytes/(mem*gib))": Calculation(_ACCELERATORS, None, work=_compute_whole),
    "ceil(params*bytes/(mem*gib*u))": Calculation(_ACCELERATORS, None, work=_compute_reserved_unrounded),
    "ceil(params*bytes/(mem*gib*usable))": Calculation(_ACCELERATORS, None, work=_compute_whole),
    "pow2(ceil(params*bytes/(mem*gib*usable)))": Calculation(
        _ACCELERATORS,
        None,
        work=_compute_reserved,
        text="next of 1, 2, 4, 8, 16 from ⌈{parameters} × {bytes_per_parameter} ÷ "
        "({memory_label} × {GB_in_a_unit_of_the_label} × {usable_share})⌉ on",
    ),
    "ceil(need/mem)": Calculation(_ACCELERATORS, None, work=lambda v: _compute_decimal(v["need"], v)),
    "pow2(ceil(need/mem))": Calculation(
        _ACCELERATORS,
        None,
        work=lambda v: round_up_to_power_of_two(_compute_decimal(v["need"], v)),
        text="next of 1, 2, 4, 8, 16 from ⌈{memory_needed} ÷ {memory_label}⌉ on",
    ),
    "mem/bytes": Calculation("largest model", "billion"),
    "mem*n*8/params": Calculation("bits per parameter", None),
    "mem*n*gib*8/params": Calculation("bits per parameter", None),
    "mem-weights": Calculation(_LEFT, "GB"),
    "mem*gib-weights": Calculation(_LEFT, "GB"),
    "mem*n": Calculation("memory of all", "GB"),
    "need/params": Calculation("bytes per parameter", None),
    "t-f": Calculation(
        "other models", None, {"t": CalculationInput("models"), "f": CalculationInput("models that fit")}
    ),
    "(a-wt)/(b-wt)": Calculation("ratio of KV cache space", None, _TWO),
    "(a*gib-wt)/(b*gib-wt)": Calculation("ratio of KV cache space", None, _TWO),
    "(u*a-wt)/(u*b-wt)": Calculation("ratio of KV cache space", None, _TWO),
    "(a*n-wt)/(b*n-wt)": Calculation("ratio of KV cache space", None, _TWO),
    "(k*b-a)/(k-1)": Calculation("weights at that ratio", "GB", {**_TWO, "k": CalculationInput("ratio")}),
}


_PER_CENT: Final = 100.0
_WATTS: Final = 1000.0
#: One document's weights of hardware, and of power and cooling.
_HARDWARE, _POWER = 0.6, 0.4

_RATE_A, _RATE_B = CalculationInput("first rate", "USD/h"), CalculationInput("second rate", "USD/h")
_PRICE_A, _PRICE_B = CalculationInput("first price", "USD"), CalculationInput("second price", "USD")
_HOURS: Final = CalculationInput("hours per month")
_LIFE: Final = CalculationInput("hours of its life")
_SAVED: Final = CalculationInput("saved per hour", "USD")
_COST: Final = CalculationInput("cost of the port", "USD")
_RATIO: Final = CalculationInput("throughput, first over second")
_SAVING: Final = CalculationInput("saving")
_KW_A, _KW_B = CalculationInput("power of the first", "kW"), CalculationInput("power of the second", "kW")
_ENERGY: Final = CalculationInput("energy price", "USD/kWh")
_INDEX: Final = {
    "h": CalculationInput("price, first over second"),
    "p": CalculationInput("power, first over second"),
    "r": _RATIO,
    "s": _SAVING,
    "k": CalculationInput("change of power and cooling"),
}
_OWNED: Final = {
    "a": _PRICE_A,
    "b": _PRICE_B,
    "ka": _KW_A,
    "kb": _KW_B,
    "kw": CalculationInput("power", "kW"),
    "net": CalculationInput("net price", "USD"),
    "hours": _LIFE,
    "e": _ENERGY,
    "s": _SAVING,
    "r": _RATIO,
}
_TEAM: Final = {
    "n": CalculationInput("engineers"),
    "rate": CalculationInput("cost of an engineer", "USD/year"),
    "months": CalculationInput("months"),
    "y": CalculationInput("years"),
    "fleet": CalculationInput("fleet"),
    "bill": CalculationInput("engineering bill", "USD"),
    "c": CalculationInput("other cost of one", "USD"),
    "e": CalculationInput("engineering of one", "USD"),
    "s": _SAVING,
    "s1": CalculationInput("saving before"),
    "s2": CalculationInput("saving after"),
}


def _compute_owned(net_price: float, kilowatts: float, hours: float, energy: float) -> float:
    owned = OwnershipInputs(
        accelerators=1.0,
        years=hours / HOURS_PER_YEAR,
        hardware=HardwareInputs(price_usd=net_price),
        running=RunningInputs(accelerator_w=kilowatts * _WATTS, energy_usd_per_kwh=energy),
    )
    return float(sum_lines(list_ownership_lines(owned)))


def _compute_both(values: _Values, energy: float) -> tuple[float, float]:
    hours = values["hours"]
    first = _compute_owned(values["a"], values["ka"], hours, energy)
    return first, _compute_owned(values["b"], values["kb"], hours, energy)


def _compute_weighted(values: _Values) -> float:
    return _HARDWARE * values["h"] + _POWER * values["p"]


def _compute_engineers_usd(values: _Values, engineers: float, years: float, months: float = 0.0) -> float:
    """Return the cost of engineers: some permanently, some for months once."""
    owned = OwnershipInputs(
        accelerators=1.0,
        years=years,
        hardware=HardwareInputs(price_usd=0.0),
        running=RunningInputs(accelerator_w=0.0, energy_usd_per_kwh=0.0),
        engineering=EngineeringInputs(values["rate"], engineers, months),
    )
    return float(sum_lines(list_ownership_lines(owned)))


def _compute_energy_price(values: _Values) -> float:
    """Return the energy price at which the first option costs less by the given saving."""
    at_zero, at_one = (
        np.subtract(first, (1.0 - values["s"]) * second)
        for first, second in (_compute_both(values, energy) for energy in (0.0, 1.0))
    )
    return float(-at_zero / (at_one - at_zero))


def _compute_less(cost_a: float, cost_b: float, ratio: float = 1.0) -> float:
    return float(compute_saving(cost_a, cost_b, ratio)) * _PER_CENT


def _compute_after(values: _Values) -> float:
    return float(compute_saving_after(values["s"], values["c"], values["e"])) * _PER_CENT


def _compute_added(values: _Values) -> float:
    return float(compute_addition_to_reach(values["s1"], values["s2"], values["c"]))


COSTS: Final[Mapping[str, Calculation]] = {
    "total/n": Calculation("rate of one", "USD/h", {"total": CalculationInput("rate of all", "USD/h")}),
    "(1/(1-c)-1)*100": Calculation(
        "premium of the other",
        "%",
        {"c": CalculationInput("cheaper by")},
        lambda v: (float(compute_tie_ratio(1.0, 1.0, v["c"])) - 1.0) * _PER_CENT,
    ),
    "h*d": Calculation("saved per month", "USD", {"h": _HOURS, "d": _SAVED}),
    "h*(a-b)": Calculation("saved per month", "USD", {"h": _HOURS, "a": _RATE_A, "b": _RATE_B}),
    "h/m": Calculation("accelerators kept busy", None, {"h": _HOURS, "m": CalculationInput("hours in a month")}),
    "n*months/12*rate": Calculation(
        "cost of the port", "USD", _TEAM, lambda v: _compute_engineers_usd(v, 0.0, 1.0, v["n"] * v["months"])
    ),
    "n*rate*y": Calculation("engineering bill", "USD", _TEAM, lambda v: _compute_engineers_usd(v, v["n"], v["y"])),
    "bill/fleet": Calculation("engineering of one", "USD", _TEAM),
    "cost/(h*d)": Calculation(
        "months to pay back",
        None,
        {"cost": _COST, "h": _HOURS, "d": _SAVED},
        lambda v: float(compute_payback_months(v["cost"], v["h"], v["d"])),
    ),
    "cost/(d*T)": Calculation(
        "hours per month to pay back",
        None,
        {"cost": _COST, "d": _SAVED, "T": CalculationInput("months")},
        lambda v: float(compute_payback_hours(v["cost"], v["T"], v["d"])),
    ),
    "p/r": Calculation(
        "rental hours that cover the price",
        None,
        {"p": CalculationInput("price", "USD"), "r": CalculationInput("rate", "USD/h")},
    ),
    "p/mem": Calculation("price per GB", "USD", {"p": CalculationInput("price", "USD")}),
    "p*(1-d)": Calculation(
        "net price",
        "USD",
        {"p": CalculationInput("price", "USD"), "d": CalculationInput("discount")},
        lambda v: float(HardwareInputs(v["p"], v["d"]).net_price_usd),
    ),
    "p*n": Calculation(
        "hardware of the fleet", "USD", {"p": CalculationInput("net price", "USD"), "n": CalculationInput("fleet")}
    ),
    "k/(1-cut)": Calculation(
        "gap in throughput",
        None,
        {"k": CalculationInput("gap in tokens per dollar"), "cut": CalculationInput("price cut")},
        lambda v: float(compute_tie_ratio(v["k"], 1.0, v["cut"])),
    ),
    "(a+b)/2": Calculation(
        "midpoint",
        "tok/s",
        {"a": CalculationInput("first figure", "tok/s"), "b": CalculationInput("second figure", "tok/s")},
    ),
    "(a+b)/2/b": Calculation(
        "throughput, first over second",
        None,
        {"a": CalculationInput("first figure", "tok/s"), "b": CalculationInput("second figure", "tok/s")},
    ),
    "a/b/(1-s)": Calculation(
        "throughput, first over second", None, _OWNED, lambda v: float(compute_tie_ratio(v["a"], v["b"], v["s"]))
    ),
    "(1-a/b/r)*100": Calculation("saving per token", "%", _OWNED, lambda v: _compute_less(v["a"], v["b"], v["r"])),
    "(1-a*(1-da)/(b*(1-db)))*100": Calculation(
        "saving on hardware",
        "%",
        {**_OWNED, "da": CalculationInput("first discount"), "db": CalculationInput("second discount")},
        lambda v: _compute_less(
            float(HardwareInputs(v["a"], v["da"]).net_price_usd), float(HardwareInputs(v["b"], v["db"]).net_price_usd)
        ),
    ),
    "(1-(0.6*h+0.4*p))*100": Calculation("saving", "%", _INDEX, lambda v: _compute_less(_compute_weighted(v), 1.0)),
    "(1-(0.6*h+0.4*p)/r)*100": Calculation(
        "saving per token", "%", _INDEX, lambda v: _compute_less(_compute_weighted(v), 1.0, v["r"])
    ),
    "(0.6*h+0.4*p)/(1-s)": Calculation(
        "throughput, first over second",
        None,
        _INDEX,
        lambda v: float(compute_tie_ratio(_compute_weighted(v), 1.0, v["s"])),
    ),
    "1/(0.6/h+0.4/p)/(1-s)": Calculation(
        "throughput, first over second",
        None,
        _INDEX,
        lambda v: float(compute_tie_ratio(1.0, _HARDWARE / v["h"] + _POWER / v["p"], v["s"])),
        text="1 ÷ (0.6 ÷ {price_first_over_second} + 0.4 ÷ {power_first_over_second}) ÷ (1 − {saving})",
    ),
    "(1-(0.6*h+0.4*k*p)/(0.6+0.4*k)/r)*100": Calculation(
        "saving per token",
        "%",
        _INDEX,
        lambda v: _compute_less(_HARDWARE * v["h"] + _POWER * v["k"] * v["p"], _HARDWARE + _POWER * v["k"], v["r"]),
        text="(1 − (0.6 × {price_first_over_second} + 0.4 × {change_of_power_and_cooling} × "
        "{power_first_over_second}) ÷ (0.6 + 0.4 × {change_of_power_and_cooling}) ÷ "
        "{throughput_first_over_second}) × 100",
    ),
    "(1-(a+k*pa)/(b+k*pb)/r)*100": Calculation(
        "saving per token",
        "%",
        {
            **_OWNED,
            "k": CalculationInput("change of energy"),
            "pa": CalculationInput("energy of the first", "USD"),
            "pb": CalculationInput("energy of the second", "USD"),
        },
        lambda v: _compute_less(v["a"] + v["k"] * v["pa"], v["b"] + v["k"] * v["pb"], v["r"]),
    ),
    "net*0.4/0.6/(kw*hours)": Calculation(
        "energy price",
        "USD/kWh",
        _OWNED,
        lambda v: v["net"] * _POWER / _HARDWARE / _compute_owned(0.0, v["kw"], v["hours"], 1.0),
        text="{net_price} × 0.4 ÷ 0.6 ÷ ({power} × {hours_of_its_life})",
    ),
    "net/(net+kw*hours*e)*100": Calculation(
        "share of hardware",
        "%",
        _OWNED,
        lambda v: _PER_CENT * v["net"] / _compute_owned(v["net"], v["kw"], v["hours"], v["e"]),
    ),
    "(1-(a+ka*hours*e)/(b+kb*hours*e))*100": Calculation(
        "saving", "%", _OWNED, lambda v: _compute_less(*_compute_both(v, v["e"]))
    ),
    "(a+ka*hours*e)/(b+kb*hours*e)/(1-s)": Calculation(
        "throughput, first over second",
        None,
        _OWNED,
        lambda v: float(compute_tie_ratio(*_compute_both(v, v["e"]), v["s"])),
    ),
    "((1-s)*b-a)/(hours*(ka-(1-s)*kb))": Calculation("energy price", "USD/kWh", _OWNED, _compute_energy_price),
    "(1-(1-s)*(c+e)/c)*100": Calculation("remaining saving", "%", _TEAM, _compute_after),
    "e/(s1-s2)*(1-s1)": Calculation(
        "other cost of one", "USD", _TEAM, lambda v: v["e"] / float(compute_addition_to_reach(v["s1"], v["s2"], 1.0))
    ),
    "c*(s1-s2)/(1-s1)*fleet/(rate*y)": Calculation(
        "engineers", None, _TEAM, lambda v: _compute_added(v) * v["fleet"] / _compute_engineers_usd(v, 1.0, v["y"])
    ),
    "bill/(c*(s1-s2)/(1-s1))": Calculation("fleet", None, _TEAM, lambda v: v["bill"] / _compute_added(v)),
    "bill/(b-a)*100": Calculation(
        "share of the saving on hardware", "%", {**_OWNED, "bill": CalculationInput("engineering bill", "USD")}
    ),
    "kw*hours*e*n/(p*n)*100": Calculation(
        "share of the net price",
        "%",
        {**_OWNED, "p": CalculationInput("net price", "USD"), "n": CalculationInput("fleet")},
        lambda v: _PER_CENT * v["n"] * _compute_owned(0.0, v["kw"], v["hours"], v["e"]) / (v["p"] * v["n"]),
    ),
    "kw*n": Calculation("power of the fleet", "kW", {**_OWNED, "n": CalculationInput("fleet")}),
    "(a-b)*n": Calculation("power of the fleet", "kW", {"a": _KW_A, "b": _KW_B, "n": CalculationInput("fleet")}),
}


#: The calculations by the formula name in examples; those of dates share one, `SPAN`.
CALCULATIONS: Final[Mapping[str, Calculation]] = {**COUNTS, **RATES, **RATIOS, **COSTS, **MEDIA}
