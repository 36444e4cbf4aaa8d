"""Worked examples: figures that documents print, read from their table and computed again from their inputs."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

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
from gpudesk.costing.worked_calculations import COUNTS, MEDIA, RATES, RATIOS, SPAN, SPANS, Calculation, CalculationInput
from gpudesk.domain.derivation import FigureTolerance, WorkedExample, WorkedExampleVerdict, WorkedFigure
from gpudesk.files import describe_unreadable
from gpudesk.text.messages import InputError, explain_system_error, input_error
from gpudesk.text.units import HOURS_PER_YEAR

_Values = Mapping[str, float]
_PER_CENT: Final = 100.0
_WATTS: Final = 1000.0
#: The weights of hardware, and of power and cooling, that one document gives.
_HARDWARE, _POWER = 0.6, 0.4

_RATE_A, _RATE_B = CalculationInput("first rate", "USD/h"), CalculationInput("second rate", "USD/h")
_PRICE_A, _PRICE_B = CalculationInput("first price", "USD"), CalculationInput("second price", "USD")
_HOURS: Final = CalculationInput("hours a month")
_LIFE: Final = CalculationInput("hours of its life")
_SAVED: Final = CalculationInput("saved an hour", "USD")
_COST: Final = CalculationInput("cost of the port", "USD")
_RATIO: Final = CalculationInput("throughput, first over second")
_SAVING: Final = CalculationInput("saving")
_KW_A, _KW_B = CalculationInput("power of the first", "kW"), CalculationInput("power of the second", "kW")
_ENERGY: Final = CalculationInput("energy price", "USD/kWh")
_INDEX: Final = MappingProxyType(
    {
        "h": CalculationInput("price, first over second"),
        "p": CalculationInput("power, first over second"),
        "r": _RATIO,
        "s": _SAVING,
        "k": CalculationInput("change of power and cooling"),
    }
)
_OWNED: Final = MappingProxyType(
    {
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
)
_TEAM: Final = MappingProxyType(
    {
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
)


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
    """Return what engineers cost: some all the time, some for months once."""
    owned = OwnershipInputs(
        accelerators=1.0,
        years=years,
        hardware=HardwareInputs(price_usd=0.0),
        running=RunningInputs(accelerator_w=0.0, energy_usd_per_kwh=0.0),
        engineering=EngineeringInputs(values["rate"], engineers, months),
    )
    return float(sum_lines(list_ownership_lines(owned)))


def _compute_energy_price(values: _Values) -> float:
    """Return the energy price at which the first costs less by the saving that is given."""
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


_WEIGHTED: Final = "(0.6 × {price_first_over_second} + 0.4 × {power_first_over_second})"
_OWN_A: Final = "({first_price} + {power_of_the_first} × {hours_of_its_life} × {energy_price})"
_OWN_B: Final = "({second_price} + {power_of_the_second} × {hours_of_its_life} × {energy_price})"
_ADDED: Final = "{other_cost_of_one} × ({saving_before} − {saving_after}) ÷ (1 − {saving_before})"

COSTS: Final[Mapping[str, Calculation]] = MappingProxyType(
    {
        "total/n": Calculation(
            "rate of one",
            "USD/h",
            "{rate_of_all} ÷ {accelerators}",
            lambda v: v["total"] / v["n"],
            {"total": CalculationInput("rate of all", "USD/h")},
        ),
        "(1/(1-c)-1)*100": Calculation(
            "premium of the other",
            "%",
            "(1 ÷ (1 − {cheaper_by}) − 1) × 100",
            lambda v: (float(compute_tie_ratio(1.0, 1.0, v["c"])) - 1.0) * _PER_CENT,
            {"c": CalculationInput("cheaper by")},
        ),
        "h*d": Calculation(
            "saved a month",
            "USD",
            "{hours_a_month} × {saved_an_hour}",
            lambda v: v["h"] * v["d"],
            {"h": _HOURS, "d": _SAVED},
        ),
        "h*(a-b)": Calculation(
            "saved a month",
            "USD",
            "{hours_a_month} × ({first_rate} − {second_rate})",
            lambda v: v["h"] * (v["a"] - v["b"]),
            {"h": _HOURS, "a": _RATE_A, "b": _RATE_B},
        ),
        "h/m": Calculation(
            "accelerators kept busy",
            None,
            "{hours_a_month} ÷ {hours_in_a_month}",
            lambda v: v["h"] / v["m"],
            {"h": _HOURS, "m": CalculationInput("hours in a month")},
        ),
        "n*months/12*rate": Calculation(
            "cost of the port",
            "USD",
            "{engineers} × {months} ÷ 12 × {cost_of_an_engineer}",
            lambda v: _compute_engineers_usd(v, 0.0, 1.0, v["n"] * v["months"]),
            _TEAM,
        ),
        "n*rate*y": Calculation(
            "engineering bill",
            "USD",
            "{engineers} × {cost_of_an_engineer} × {years}",
            lambda v: _compute_engineers_usd(v, v["n"], v["y"]),
            _TEAM,
        ),
        "bill/fleet": Calculation(
            "engineering of one", "USD", "{engineering_bill} ÷ {fleet}", lambda v: v["bill"] / v["fleet"], _TEAM
        ),
        "cost/(h*d)": Calculation(
            "months to pay it back",
            None,
            "{cost_of_the_port} ÷ ({hours_a_month} × {saved_an_hour})",
            lambda v: float(compute_payback_months(v["cost"], v["h"], v["d"])),
            {"cost": _COST, "h": _HOURS, "d": _SAVED},
        ),
        "cost/(d*T)": Calculation(
            "hours a month to pay it back",
            None,
            "{cost_of_the_port} ÷ ({saved_an_hour} × {months})",
            lambda v: float(compute_payback_hours(v["cost"], v["T"], v["d"])),
            {"cost": _COST, "d": _SAVED, "T": CalculationInput("months")},
        ),
        "p/r": Calculation(
            "hours of rent that buy it",
            None,
            "{price} ÷ {rate}",
            lambda v: v["p"] / v["r"],
            {"p": CalculationInput("price", "USD"), "r": CalculationInput("rate", "USD/h")},
        ),
        "p/mem": Calculation(
            "price of a GB",
            "USD",
            "{price} ÷ {memory_label}",
            lambda v: v["p"] / v["mem"],
            {"p": CalculationInput("price", "USD")},
        ),
        "p*(1-d)": Calculation(
            "net price",
            "USD",
            "{price} × (1 − {discount})",
            lambda v: float(HardwareInputs(v["p"], v["d"]).net_price_usd),
            {"p": CalculationInput("price", "USD"), "d": CalculationInput("discount")},
        ),
        "p*n": Calculation(
            "hardware of the fleet",
            "USD",
            "{net_price} × {fleet}",
            lambda v: v["p"] * v["n"],
            {"p": CalculationInput("net price", "USD"), "n": CalculationInput("fleet")},
        ),
        "k/(1-cut)": Calculation(
            "gap in throughput",
            None,
            "{gap_in_tokens_for_a_dollar} ÷ (1 − {price_cut})",
            lambda v: float(compute_tie_ratio(v["k"], 1.0, v["cut"])),
            {"k": CalculationInput("gap in tokens for a dollar"), "cut": CalculationInput("price cut")},
        ),
        "(a+b)/2": Calculation(
            "half way between",
            "tok/s",
            "({first_figure} + {second_figure}) ÷ 2",
            lambda v: (v["a"] + v["b"]) / 2,
            {"a": CalculationInput("first figure", "tok/s"), "b": CalculationInput("second figure", "tok/s")},
        ),
        "(a+b)/2/b": Calculation(
            "throughput, first over second",
            None,
            "({first_figure} + {second_figure}) ÷ 2 ÷ {second_figure}",
            lambda v: (v["a"] + v["b"]) / 2 / v["b"],
            {"a": CalculationInput("first figure", "tok/s"), "b": CalculationInput("second figure", "tok/s")},
        ),
        "a/b/(1-s)": Calculation(
            "throughput, first over second",
            None,
            "{first_price} ÷ {second_price} ÷ (1 − {saving})",
            lambda v: float(compute_tie_ratio(v["a"], v["b"], v["s"])),
            _OWNED,
        ),
        "(1-a/b/r)*100": Calculation(
            "saving on a token",
            "%",
            "(1 − {first_price} ÷ {second_price} ÷ {throughput_first_over_second}) × 100",
            lambda v: _compute_less(v["a"], v["b"], v["r"]),
            _OWNED,
        ),
        "(1-a*(1-da)/(b*(1-db)))*100": Calculation(
            "saving on hardware",
            "%",
            "(1 − {first_price} × (1 − {first_discount}) ÷ ({second_price} × (1 − {second_discount}))) × 100",
            lambda v: _compute_less(
                float(HardwareInputs(v["a"], v["da"]).net_price_usd),
                float(HardwareInputs(v["b"], v["db"]).net_price_usd),
            ),
            {**_OWNED, "da": CalculationInput("first discount"), "db": CalculationInput("second discount")},
        ),
        "(1-(0.6*h+0.4*p))*100": Calculation(
            "saving", "%", f"(1 − {_WEIGHTED}) × 100", lambda v: _compute_less(_compute_weighted(v), 1.0), _INDEX
        ),
        "(1-(0.6*h+0.4*p)/r)*100": Calculation(
            "saving on a token",
            "%",
            f"(1 − {_WEIGHTED} ÷ {{throughput_first_over_second}}) × 100",
            lambda v: _compute_less(_compute_weighted(v), 1.0, v["r"]),
            _INDEX,
        ),
        "(0.6*h+0.4*p)/(1-s)": Calculation(
            "throughput, first over second",
            None,
            f"{_WEIGHTED} ÷ (1 − {{saving}})",
            lambda v: float(compute_tie_ratio(_compute_weighted(v), 1.0, v["s"])),
            _INDEX,
        ),
        "1/(0.6/h+0.4/p)/(1-s)": Calculation(
            "throughput, first over second",
            None,
            "1 ÷ (0.6 ÷ {price_first_over_second} + 0.4 ÷ {power_first_over_second}) ÷ (1 − {saving})",
            lambda v: float(compute_tie_ratio(1.0, _HARDWARE / v["h"] + _POWER / v["p"], v["s"])),
            _INDEX,
        ),
        "(1-(0.6*h+0.4*k*p)/(0.6+0.4*k)/r)*100": Calculation(
            "saving on a token",
            "%",
            "(1 − (0.6 × {price_first_over_second} + 0.4 × {change_of_power_and_cooling} × "
            "{power_first_over_second}) ÷ (0.6 + 0.4 × {change_of_power_and_cooling}) ÷ "
            "{throughput_first_over_second}) × 100",
            lambda v: _compute_less(_HARDWARE * v["h"] + _POWER * v["k"] * v["p"], _HARDWARE + _POWER * v["k"], v["r"]),
            _INDEX,
        ),
        "(1-(a+k*pa)/(b+k*pb)/r)*100": Calculation(
            "saving on a token",
            "%",
            "(1 − ({first_price} + {change_of_energy} × {energy_of_the_first}) ÷ ({second_price} + "
            "{change_of_energy} × {energy_of_the_second}) ÷ {throughput_first_over_second}) × 100",
            lambda v: _compute_less(v["a"] + v["k"] * v["pa"], v["b"] + v["k"] * v["pb"], v["r"]),
            {
                **_OWNED,
                "k": CalculationInput("change of energy"),
                "pa": CalculationInput("energy of the first", "USD"),
                "pb": CalculationInput("energy of the second", "USD"),
            },
        ),
        "net*0.4/0.6/(kw*hours)": Calculation(
            "energy price",
            "USD/kWh",
            "{net_price} × 0.4 ÷ 0.6 ÷ ({power} × {hours_of_its_life})",
            lambda v: v["net"] * _POWER / _HARDWARE / _compute_owned(0.0, v["kw"], v["hours"], 1.0),
            _OWNED,
        ),
        "net/(net+kw*hours*e)*100": Calculation(
            "share of hardware",
            "%",
            "{net_price} ÷ ({net_price} + {power} × {hours_of_its_life} × {energy_price}) × 100",
            lambda v: _PER_CENT * v["net"] / _compute_owned(v["net"], v["kw"], v["hours"], v["e"]),
            _OWNED,
        ),
        "(1-(a+ka*hours*e)/(b+kb*hours*e))*100": Calculation(
            "saving",
            "%",
            f"(1 − {_OWN_A} ÷ {_OWN_B}) × 100",
            lambda v: _compute_less(*_compute_both(v, v["e"])),
            _OWNED,
        ),
        "(a+ka*hours*e)/(b+kb*hours*e)/(1-s)": Calculation(
            "throughput, first over second",
            None,
            f"{_OWN_A} ÷ {_OWN_B} ÷ (1 − {{saving}})",
            lambda v: float(compute_tie_ratio(*_compute_both(v, v["e"]), v["s"])),
            _OWNED,
        ),
        "((1-s)*b-a)/(hours*(ka-(1-s)*kb))": Calculation(
            "energy price",
            "USD/kWh",
            "((1 − {saving}) × {second_price} − {first_price}) ÷ ({hours_of_its_life} × "
            "({power_of_the_first} − (1 − {saving}) × {power_of_the_second}))",
            _compute_energy_price,
            _OWNED,
        ),
        "(1-(1-s)*(c+e)/c)*100": Calculation(
            "saving that is left",
            "%",
            "(1 − (1 − {saving}) × ({other_cost_of_one} + {engineering_of_one}) ÷ {other_cost_of_one}) × 100",
            _compute_after,
            _TEAM,
        ),
        "e/(s1-s2)*(1-s1)": Calculation(
            "other cost of one",
            "USD",
            "{engineering_of_one} ÷ ({saving_before} − {saving_after}) × (1 − {saving_before})",
            lambda v: v["e"] / float(compute_addition_to_reach(v["s1"], v["s2"], 1.0)),
            _TEAM,
        ),
        "c*(s1-s2)/(1-s1)*fleet/(rate*y)": Calculation(
            "engineers",
            None,
            f"{_ADDED} × {{fleet}} ÷ ({{cost_of_an_engineer}} × {{years}})",
            lambda v: _compute_added(v) * v["fleet"] / _compute_engineers_usd(v, 1.0, v["y"]),
            _TEAM,
        ),
        "bill/(c*(s1-s2)/(1-s1))": Calculation(
            "fleet", None, f"{{engineering_bill}} ÷ ({_ADDED})", lambda v: v["bill"] / _compute_added(v), _TEAM
        ),
        "bill/(b-a)*100": Calculation(
            "share of the saving on hardware",
            "%",
            "{engineering_bill} ÷ ({second_price} − {first_price}) × 100",
            lambda v: _PER_CENT * v["bill"] / (v["b"] - v["a"]),
            {**_OWNED, "bill": CalculationInput("engineering bill", "USD")},
        ),
        "kw*hours*e*n/(p*n)*100": Calculation(
            "share of the net price",
            "%",
            "{power} × {hours_of_its_life} × {energy_price} × {fleet} ÷ ({net_price} × {fleet}) × 100",
            lambda v: _PER_CENT * v["n"] * _compute_owned(0.0, v["kw"], v["hours"], v["e"]) / (v["p"] * v["n"]),
            {**_OWNED, "p": CalculationInput("net price", "USD"), "n": CalculationInput("fleet")},
        ),
        "kw*n": Calculation(
            "power of the fleet",
            "kW",
            "{power} × {fleet}",
            lambda v: v["kw"] * v["n"],
            {**_OWNED, "n": CalculationInput("fleet")},
        ),
        "(a-b)*n": Calculation(
            "power of the fleet",
            "kW",
            "({power_of_the_first} − {power_of_the_second}) × {fleet}",
            lambda v: (v["a"] - v["b"]) * v["n"],
            {"a": _KW_A, "b": _KW_B, "n": CalculationInput("fleet")},
        ),
    }
)


#: The calculations by the formula that examples name them with; those of dates share one, `SPAN`.
CALCULATIONS: Final[Mapping[str, Calculation]] = MappingProxyType({**COUNTS, **RATES, **RATIOS, **COSTS, **MEDIA})

_COLUMNS: Final = ("id", "seed", "statement", "inputs", "expected", "tolerance", "verdict")
_SEED: Final = re.compile(r"(\d{3})_\w+\.txt")
_STATED: Final = ("stated", "stated_low", "stated_high")
_WORDS: Final = frozenset({"expr", "note", *_STATED})


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
    """Return an example with its working; None where its form of calculation is not one of these."""
    if example.formula is None:
        return WorkedFigure(example, None)
    calculation = _find_calculation(example.formula, example.statement)
    return None if calculation is None else WorkedFigure(example, calculation.term(example.inputs))


def _find_calculation(formula: str, statement: str) -> Calculation | None:
    if formula == SPAN:
        counted, _, _ = statement.partition(" ")
        return SPANS.get(counted)
    return CALCULATIONS.get(formula)


def _parse_example(row: Mapping[str, str | None], where: str) -> WorkedExample:
    cells = {name: row[name] or "" for name in _COLUMNS}
    fields = dict(_get_field(part, where) for part in cells["inputs"].split("; "))
    formula = fields.get("expr")
    numbers = {name: _parse_number(text, where) for name, text in fields.items() if name not in _WORDS}
    # What cannot be derived is quoted as it is printed, which need not be a number.
    stated = {name: _parse_number(fields[name], where) for name in _STATED if name in fields and formula is not None}
    seed = _SEED.fullmatch(cells["seed"])
    return WorkedExample(
        id=cells["id"],
        source=None if seed is None else f"seed-{seed[1]}",
        statement=cells["statement"],
        formula=formula,
        inputs=MappingProxyType(numbers),
        stated_text=fields.get("stated", ""),
        expected=_parse_number(cells["expected"], where) if cells["expected"] else None,
        tolerance=_parse_tolerance(cells["tolerance"], where),
        verdict=_judge_example(cells["verdict"], where),
        note=fields.get("note", ""),
        **stated,
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
