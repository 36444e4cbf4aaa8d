"""Worked examples: figures printed by documents, read from their table and computed again from their inputs.

Each calculation has the formula of its examples, and the meaning of its symbols.
"""

from __future__ import annotations

import ast
import csv
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from gpudesk.domain.deployment_analysis import (
    DerivationTerm,
    FigureTolerance,
    WorkedExample,
    WorkedExampleVerdict,
    WorkedFigure,
    format_placeholder,
)
from gpudesk.engine.memory import round_up_to_power_of_two
from gpudesk.files import describe_unreadable
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, explain_system_error, input_error


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


@frozen_dataclass
class Calculation:
    """The result of a formula, and its unit.

    `symbols` overrides the meaning of symbols. `text` is the formula with its inputs by name if it differs from the
    formula verbatim, or is written differently in other languages.
    """

    result: str
    unit: str | None
    symbols: Mapping[str, CalculationInput] = field(default_factory=dict)
    text: str = ""

    def term(self, formula: str, values: _Values) -> DerivationTerm:
        """Return the derivation of a result; raises KeyError for an unknown symbol."""
        symbols = {symbol: self.symbols.get(symbol) or _USUAL[symbol] for symbol in values}
        inputs = tuple(
            DerivationTerm(each.name, values[symbol] / each.scale, each.unit) for symbol, each in symbols.items()
        )
        value = _evaluate(ast.parse(formula, mode="eval").body, values)
        text = self.text or _spell_formula(formula, symbols)
        return DerivationTerm(self.result, value, self.unit, text, inputs=inputs)


_OPERATIONS: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS: Final[Mapping[str, Callable[[float], float]]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": math.log2,
    "pow2": lambda count: round_up_to_power_of_two(int(count)),
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
        case ast.Call(func=ast.Name(id=function), args=[argument]):
            return _FUNCTIONS[function](_evaluate(argument, values))
        case ast.IfExp(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]), body=body, orelse=other):
            return _evaluate(body if _evaluate(left, values) == _evaluate(right, values) else other, values)
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


MEDIA: Final[Mapping[str, Calculation]] = {
    "n*ms/1000": Calculation(
        "time of the video",
        "s",
        {"n": CalculationInput("frames"), "ms": CalculationInput("milliseconds per frame", "ms")},
    ),
    "flop_per_step*steps/t/1e12": Calculation(
        "arithmetic needed", "TFLOPS", _STEPS, text="{arithmetic_of_a_step} × {steps} ÷ {time_of_the_image}"
    ),
    "flop_per_step*steps/peak": Calculation("shortest time of the image", "s", _STEPS),
}


_CEILING: Final = "ceiling of one request"
_KV: Final = "KV cache"
_ALL: Final = "memory bandwidth of all"


RATES: Final[Mapping[str, Calculation]] = {
    "bw/weights": Calculation(_CEILING, "tok/s"),
    "bw/(params*bytes)": Calculation(_CEILING, "tok/s"),
    "bw*n*f/weights": Calculation(_CEILING, "tok/s"),
    "tok/(bw/weights)": Calculation("requests in a batch", None),
    "2*params*tok/1e12": Calculation("arithmetic needed", "TFLOPS", {"params": CalculationInput("parameters")}),
    "params*bytes*tok": Calculation("memory bandwidth needed", "GB/s"),
    "params*bytes*tok/bw*100": Calculation("share of memory bandwidth", "%"),
    "active*bpp*tok/bw*100": Calculation("share of memory bandwidth", "%"),
    "seqs*ctx*kv/1e9": Calculation(_KV, "GB"),
    "seqs*ctx*kv_bytes/1e9": Calculation(_KV, "GB"),
    "weights+seqs*ctx*kv/1e9": Calculation("weights and KV cache", "GB"),
    "floor(room/kv)": Calculation("tokens in the KV cache", None, {"room": CalculationInput("remaining memory", "B")}),
    "bw*n*(1 if n==1 else f)": Calculation(
        _ALL, "GB/s", text="{memory_bandwidth} × {accelerators} × {factor} (of one alone: × 1)"
    ),
    "bw*(1+f*(n-1))": Calculation(_ALL, "GB/s"),
    "bw*n*f**(n-1)": Calculation(_ALL, "GB/s"),
    "bw*n*f**log2(n)": Calculation(
        _ALL, "GB/s", text="{memory_bandwidth} × {accelerators} × {factor} ^ log₂ {accelerators}"
    ),
    "(1-f)*100": Calculation("overhead", "%"),
}


_ACCELERATORS: Final = "accelerators"
_LEFT: Final = "remaining memory"
_ROOM_A, _ROOM_B = CalculationInput("first label"), CalculationInput("second label")
_TWO: Final = {"a": _ROOM_A, "b": _ROOM_B}

COUNTS: Final[Mapping[str, Calculation]] = {
    "params*bytes": Calculation("weights", "GB"),
    "params*bits/8": Calculation("weights", "GB"),
    "weights/mem": Calculation(_ACCELERATORS, None),
    "ceil(weights/mem)": Calculation(_ACCELERATORS, None),
    "ceil(params*bytes/mem)": Calculation(_ACCELERATORS, None),
    "ceil(params*bytes/(mem*gib))": Calculation(_ACCELERATORS, None),
    "ceil(params*bytes/(mem*gib*u))": Calculation(_ACCELERATORS, None),
    "ceil(params*bytes/(mem*gib*usable))": Calculation(_ACCELERATORS, None),
    "pow2(ceil(params*bytes/(mem*gib*usable)))": Calculation(
        _ACCELERATORS,
        None,
        text="next of 1, 2, 4, 8, 16 from ⌈{parameters} × {bytes_per_parameter} ÷ "
        "({memory_label} × {GB_in_a_unit_of_the_label} × {usable_share})⌉ on",
    ),
    "ceil(need/mem)": Calculation(_ACCELERATORS, None),
    "pow2(ceil(need/mem))": Calculation(
        _ACCELERATORS, None, text="next of 1, 2, 4, 8, 16 from ⌈{memory_needed} ÷ {memory_label}⌉ on"
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


COSTS: Final[Mapping[str, Calculation]] = {
    "total/n": Calculation("rate of one", "USD/h", {"total": CalculationInput("rate of all", "USD/h")}),
    "(1/(1-c)-1)*100": Calculation("premium of the other", "%", {"c": CalculationInput("cheaper by")}),
    "h*d": Calculation("saved per month", "USD", {"h": _HOURS, "d": _SAVED}),
    "h*(a-b)": Calculation("saved per month", "USD", {"h": _HOURS, "a": _RATE_A, "b": _RATE_B}),
    "h/m": Calculation("accelerators kept busy", None, {"h": _HOURS, "m": CalculationInput("hours in a month")}),
    "n*months/12*rate": Calculation("cost of the port", "USD", _TEAM),
    "n*rate*y": Calculation("engineering bill", "USD", _TEAM),
    "bill/fleet": Calculation("engineering of one", "USD", _TEAM),
    "cost/(h*d)": Calculation("months to pay back", None, {"cost": _COST, "h": _HOURS, "d": _SAVED}),
    "cost/(d*T)": Calculation(
        "hours per month to pay back", None, {"cost": _COST, "d": _SAVED, "T": CalculationInput("months")}
    ),
    "p/r": Calculation(
        "rental hours that cover the price",
        None,
        {"p": CalculationInput("price", "USD"), "r": CalculationInput("rate", "USD/h")},
    ),
    "p/mem": Calculation("price per GB", "USD", {"p": CalculationInput("price", "USD")}),
    "p*(1-d)": Calculation(
        "net price", "USD", {"p": CalculationInput("price", "USD"), "d": CalculationInput("discount")}
    ),
    "p*n": Calculation(
        "hardware of the fleet", "USD", {"p": CalculationInput("net price", "USD"), "n": CalculationInput("fleet")}
    ),
    "k/(1-cut)": Calculation(
        "gap in throughput",
        None,
        {"k": CalculationInput("gap in tokens per dollar"), "cut": CalculationInput("price cut")},
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
    "a/b/(1-s)": Calculation("throughput, first over second", None, _OWNED),
    "(1-a/b/r)*100": Calculation("saving per token", "%", _OWNED),
    "(1-a*(1-da)/(b*(1-db)))*100": Calculation(
        "saving on hardware",
        "%",
        {**_OWNED, "da": CalculationInput("first discount"), "db": CalculationInput("second discount")},
    ),
    "(1-(0.6*h+0.4*p))*100": Calculation("saving", "%", _INDEX),
    "(1-(0.6*h+0.4*p)/r)*100": Calculation("saving per token", "%", _INDEX),
    "(0.6*h+0.4*p)/(1-s)": Calculation("throughput, first over second", None, _INDEX),
    "1/(0.6/h+0.4/p)/(1-s)": Calculation(
        "throughput, first over second",
        None,
        _INDEX,
        text="1 ÷ (0.6 ÷ {price_first_over_second} + 0.4 ÷ {power_first_over_second}) ÷ (1 − {saving})",
    ),
    "(1-(0.6*h+0.4*k*p)/(0.6+0.4*k)/r)*100": Calculation(
        "saving per token",
        "%",
        _INDEX,
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
    ),
    "net*0.4/0.6/(kw*hours)": Calculation(
        "energy price", "USD/kWh", _OWNED, text="{net_price} × 0.4 ÷ 0.6 ÷ ({power} × {hours_of_its_life})"
    ),
    "net/(net+kw*hours*e)*100": Calculation("share of hardware", "%", _OWNED),
    "(1-(a+ka*hours*e)/(b+kb*hours*e))*100": Calculation("saving", "%", _OWNED),
    "(a+ka*hours*e)/(b+kb*hours*e)/(1-s)": Calculation("throughput, first over second", None, _OWNED),
    "((1-s)*b-a)/(hours*(ka-(1-s)*kb))": Calculation("energy price", "USD/kWh", _OWNED),
    "(1-(1-s)*(c+e)/c)*100": Calculation("remaining saving", "%", _TEAM),
    "e/(s1-s2)*(1-s1)": Calculation("other cost of one", "USD", _TEAM),
    "c*(s1-s2)/(1-s1)*fleet/(rate*y)": Calculation("engineers", None, _TEAM),
    "bill/(c*(s1-s2)/(1-s1))": Calculation("fleet", None, _TEAM),
    "bill/(b-a)*100": Calculation(
        "share of the saving on hardware", "%", {**_OWNED, "bill": CalculationInput("engineering bill", "USD")}
    ),
    "kw*hours*e*n/(p*n)*100": Calculation(
        "share of the net price",
        "%",
        {**_OWNED, "p": CalculationInput("net price", "USD"), "n": CalculationInput("fleet")},
    ),
    "kw*n": Calculation("power of the fleet", "kW", {**_OWNED, "n": CalculationInput("fleet")}),
    "(a-b)*n": Calculation("power of the fleet", "kW", {"a": _KW_A, "b": _KW_B, "n": CalculationInput("fleet")}),
}


#: The calculations by the formula name in examples; those of dates share one, `SPAN`.
CALCULATIONS: Final[Mapping[str, Calculation]] = {**COUNTS, **RATES, **RATIOS, **COSTS, **MEDIA}


_COLUMNS: Final = ("id", "seed", "statement", "inputs", "expected", "tolerance", "verdict")
_SEED: Final = re.compile(r"(\d{3})_\w+\.txt")
#: The fields of a printed figure by their names in the file.
_PUBLISHED: Final = {"stated": "published", "stated_low": "published_low", "stated_high": "published_high"}
_WORDS: Final = frozenset({"expr", "note", *_PUBLISHED})


def read_worked_examples(path: Path) -> tuple[WorkedExample, ...]:
    """Return all examples of a table; raises `InputError` that names file, line and what is wrong."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            if tuple(rows.fieldnames or ()) != _COLUMNS:
                raise input_error(
                    "worked.columns", "has different columns than {known}; restore the file", str(path), known=_COLUMNS
                )
            return tuple(_parse_example(row, f"{path}:{rows.line_num}") for row in rows)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(describe_unreadable(explain_system_error(error)), str(path)) from error


def compute_worked_figure(example: WorkedExample) -> WorkedFigure | None:
    """Return an example with its derivation; None for an unknown calculation."""
    if example.formula is None:
        return WorkedFigure(example, None)
    calculation = _find_calculation(example.formula, example.statement)
    return None if calculation is None else WorkedFigure(example, calculation.term(example.formula, example.inputs))


def _find_calculation(formula: str, statement: str) -> Calculation | None:
    if formula == SPAN:
        span_name, _, _ = statement.partition(" ")
        return SPANS.get(span_name)
    return CALCULATIONS.get(formula)


def _parse_example(row: Mapping[str, str | None], where: str) -> WorkedExample:
    cells = {name: row[name] or "" for name in _COLUMNS}
    fields = dict(_get_field(part, where) for part in cells["inputs"].split("; "))
    formula = fields.get("expr")
    numbers = {name: _parse_number(text, where) for name, text in fields.items() if name not in _WORDS}
    # A figure that cannot be derived is quoted as printed, which need not be a number.
    published_values = {
        field: _parse_number(fields[name], where)
        for name, field in _PUBLISHED.items()
        if name in fields and formula is not None
    }
    seed = _SEED.fullmatch(cells["seed"])
    return WorkedExample(
        id=cells["id"],
        source=None if seed is None else f"seed-{seed[1]}",
        statement=cells["statement"],
        formula=formula,
        inputs=MappingProxyType(numbers),
        published_text=fields.get("stated", ""),
        expected=_parse_number(cells["expected"], where) if cells["expected"] else None,
        tolerance=_parse_tolerance(cells["tolerance"], where),
        verdict=_judge_example(cells["verdict"], where),
        note=fields.get("note", ""),
        **published_values,
    )


def _get_field(text: str, where: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise input_error("worked.input", "{given} must have the form name=value; restore the file", where, given=text)
    return name, value


def _parse_number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise input_error("worked.number", "{given} is not a number; restore the file", where, given=text) from None


def _parse_tolerance(text: str, where: str) -> FigureTolerance:
    kind, _, amount = text.partition(" ")
    if kind in ("", "exact"):
        return FigureTolerance()
    if kind == "abs":
        return FigureTolerance(absolute=_parse_number(amount, where))
    if kind == "rel" and amount.endswith("%"):
        return FigureTolerance(relative=_parse_number(amount.removesuffix("%"), where) / 100.0)
    raise input_error(
        "worked.tolerance",
        "{given} is not a tolerance, such as exact, abs 0.1 or rel 5%; restore the file",
        where,
        given=text,
    )


def _judge_example(text: str, where: str) -> WorkedExampleVerdict:
    try:
        return WorkedExampleVerdict(text)
    except ValueError:
        verdicts = tuple(each.value for each in WorkedExampleVerdict)
        raise input_error(
            "worked.verdict", "{given} is not one of {known}; restore the file", where, given=text, known=verdicts
        ) from None
