"""Calculations of prices, rents, paybacks, and of what owning two accelerators costs against each other."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from gpudesk.domain.units import HOURS_PER_YEAR
from gpudesk.economics.break_even import added_to_reach, payback_hours_per_month, payback_months, saving_after
from gpudesk.economics.owning import Engineering, Hardware, Ownership, Running, ownership_lines, total
from gpudesk.economics.tokens import saving, tie_ratio
from gpudesk.workbench.worked.calculation import Calculation, Quantity

_Values = Mapping[str, float]
_PER_CENT: Final = 100.0
_WATTS: Final = 1000.0
#: The weights of hardware, and of power and cooling, that one document gives.
_HARDWARE, _POWER = 0.6, 0.4

_RATE_A, _RATE_B = Quantity("first rate", "USD/h"), Quantity("second rate", "USD/h")
_PRICE_A, _PRICE_B = Quantity("first price", "USD"), Quantity("second price", "USD")
_HOURS: Final = Quantity("hours a month")
_LIFE: Final = Quantity("hours of its life")
_SAVED: Final = Quantity("saved an hour", "USD")
_COST: Final = Quantity("cost of the port", "USD")
_RATIO: Final = Quantity("throughput, first over second")
_SAVING: Final = Quantity("saving")
_KW_A, _KW_B = Quantity("power of the first", "kW"), Quantity("power of the second", "kW")
_ENERGY: Final = Quantity("energy price", "USD/kWh")
_INDEX: Final = MappingProxyType(
    {
        "h": Quantity("price, first over second"),
        "p": Quantity("power, first over second"),
        "r": _RATIO,
        "s": _SAVING,
        "k": Quantity("change of power and cooling"),
    }
)
_OWNED: Final = MappingProxyType(
    {
        "a": _PRICE_A,
        "b": _PRICE_B,
        "ka": _KW_A,
        "kb": _KW_B,
        "kw": Quantity("power", "kW"),
        "net": Quantity("net price", "USD"),
        "hours": _LIFE,
        "e": _ENERGY,
        "s": _SAVING,
        "r": _RATIO,
    }
)
_TEAM: Final = MappingProxyType(
    {
        "n": Quantity("engineers"),
        "rate": Quantity("cost of an engineer", "USD/year"),
        "months": Quantity("months"),
        "y": Quantity("years"),
        "fleet": Quantity("fleet"),
        "bill": Quantity("engineering bill", "USD"),
        "c": Quantity("other cost of one", "USD"),
        "e": Quantity("engineering of one", "USD"),
        "s": _SAVING,
        "s1": Quantity("saving before"),
        "s2": Quantity("saving after"),
    }
)


def _owned(net_price: float, kilowatts: float, hours: float, energy: float) -> float:
    """Return hardware and energy of one accelerator over so many hours."""
    owned = Ownership(
        accelerators=1.0,
        years=hours / HOURS_PER_YEAR,
        hardware=Hardware(price_usd=net_price),
        running=Running(accelerator_w=kilowatts * _WATTS, energy_usd_per_kwh=energy),
    )
    return float(total(ownership_lines(owned)))


def _both(values: _Values, energy: float) -> tuple[float, float]:
    hours = values["hours"]
    first = _owned(values["a"], values["ka"], hours, energy)
    return first, _owned(values["b"], values["kb"], hours, energy)


def _weighted(values: _Values) -> float:
    return _HARDWARE * values["h"] + _POWER * values["p"]


def _engineers_usd(values: _Values, engineers: float, years: float, months: float = 0.0) -> float:
    """Return what engineers cost: some all the time, some for months once."""
    owned = Ownership(
        accelerators=1.0,
        years=years,
        hardware=Hardware(price_usd=0.0),
        running=Running(accelerator_w=0.0, energy_usd_per_kwh=0.0),
        engineering=Engineering(values["rate"], engineers, months),
    )
    return float(total(ownership_lines(owned)))


def _energy_price(values: _Values) -> float:
    """Return the energy price at which the first costs less by the saving that is given."""
    at_zero, at_one = (
        np.subtract(first, (1.0 - values["s"]) * second)
        for first, second in (_both(values, energy) for energy in (0.0, 1.0))
    )
    return float(-at_zero / (at_one - at_zero))


def _less(cost_a: float, cost_b: float, ratio: float = 1.0) -> float:
    return float(saving(cost_a, cost_b, ratio)) * _PER_CENT


def _after(values: _Values) -> float:
    return float(saving_after(values["s"], values["c"], values["e"])) * _PER_CENT


def _added(values: _Values) -> float:
    return float(added_to_reach(values["s1"], values["s2"], values["c"]))


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
            {"total": Quantity("rate of all", "USD/h")},
        ),
        "(1/(1-c)-1)*100": Calculation(
            "premium of the other",
            "%",
            "(1 ÷ (1 − {cheaper_by}) − 1) × 100",
            lambda v: (float(tie_ratio(1.0, 1.0, v["c"])) - 1.0) * _PER_CENT,
            {"c": Quantity("cheaper by")},
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
            {"h": _HOURS, "m": Quantity("hours in a month")},
        ),
        "n*months/12*rate": Calculation(
            "cost of the port",
            "USD",
            "{engineers} × {months} ÷ 12 × {cost_of_an_engineer}",
            lambda v: _engineers_usd(v, 0.0, 1.0, v["n"] * v["months"]),
            _TEAM,
        ),
        "n*rate*y": Calculation(
            "engineering bill",
            "USD",
            "{engineers} × {cost_of_an_engineer} × {years}",
            lambda v: _engineers_usd(v, v["n"], v["y"]),
            _TEAM,
        ),
        "bill/fleet": Calculation(
            "engineering of one",
            "USD",
            "{engineering_bill} ÷ {fleet}",
            lambda v: v["bill"] / v["fleet"],
            _TEAM,
        ),
        "cost/(h*d)": Calculation(
            "months to pay it back",
            None,
            "{cost_of_the_port} ÷ ({hours_a_month} × {saved_an_hour})",
            lambda v: float(payback_months(v["cost"], v["h"], v["d"])),
            {"cost": _COST, "h": _HOURS, "d": _SAVED},
        ),
        "cost/(d*T)": Calculation(
            "hours a month to pay it back",
            None,
            "{cost_of_the_port} ÷ ({saved_an_hour} × {months})",
            lambda v: float(payback_hours_per_month(v["cost"], v["T"], v["d"])),
            {"cost": _COST, "d": _SAVED, "T": Quantity("months")},
        ),
        "p/r": Calculation(
            "hours of rent that buy it",
            None,
            "{price} ÷ {rate}",
            lambda v: v["p"] / v["r"],
            {"p": Quantity("price", "USD"), "r": Quantity("rate", "USD/h")},
        ),
        "p/mem": Calculation(
            "price of a GB",
            "USD",
            "{price} ÷ {memory_label}",
            lambda v: v["p"] / v["mem"],
            {"p": Quantity("price", "USD")},
        ),
        "p*(1-d)": Calculation(
            "net price",
            "USD",
            "{price} × (1 − {discount})",
            lambda v: float(Hardware(v["p"], v["d"]).net_price_usd),
            {"p": Quantity("price", "USD"), "d": Quantity("discount")},
        ),
        "p*n": Calculation(
            "hardware of the fleet",
            "USD",
            "{net_price} × {fleet}",
            lambda v: v["p"] * v["n"],
            {"p": Quantity("net price", "USD"), "n": Quantity("fleet")},
        ),
        "k/(1-cut)": Calculation(
            "gap in throughput",
            None,
            "{gap_in_tokens_for_a_dollar} ÷ (1 − {price_cut})",
            lambda v: float(tie_ratio(v["k"], 1.0, v["cut"])),
            {"k": Quantity("gap in tokens for a dollar"), "cut": Quantity("price cut")},
        ),
        "(a+b)/2": Calculation(
            "half way between",
            "tok/s",
            "({first_figure} + {second_figure}) ÷ 2",
            lambda v: (v["a"] + v["b"]) / 2,
            {"a": Quantity("first figure", "tok/s"), "b": Quantity("second figure", "tok/s")},
        ),
        "(a+b)/2/b": Calculation(
            "throughput, first over second",
            None,
            "({first_figure} + {second_figure}) ÷ 2 ÷ {second_figure}",
            lambda v: (v["a"] + v["b"]) / 2 / v["b"],
            {"a": Quantity("first figure", "tok/s"), "b": Quantity("second figure", "tok/s")},
        ),
        "a/b/(1-s)": Calculation(
            "throughput, first over second",
            None,
            "{first_price} ÷ {second_price} ÷ (1 − {saving})",
            lambda v: float(tie_ratio(v["a"], v["b"], v["s"])),
            _OWNED,
        ),
        "(1-a/b/r)*100": Calculation(
            "saving on a token",
            "%",
            "(1 − {first_price} ÷ {second_price} ÷ {throughput_first_over_second}) × 100",
            lambda v: _less(v["a"], v["b"], v["r"]),
            _OWNED,
        ),
        "(1-a*(1-da)/(b*(1-db)))*100": Calculation(
            "saving on hardware",
            "%",
            "(1 − {first_price} × (1 − {first_discount}) ÷ ({second_price} × (1 − {second_discount}))) × 100",
            lambda v: _less(
                float(Hardware(v["a"], v["da"]).net_price_usd), float(Hardware(v["b"], v["db"]).net_price_usd)
            ),
            {**_OWNED, "da": Quantity("first discount"), "db": Quantity("second discount")},
        ),
        "(1-(0.6*h+0.4*p))*100": Calculation(
            "saving", "%", f"(1 − {_WEIGHTED}) × 100", lambda v: _less(_weighted(v), 1.0), _INDEX
        ),
        "(1-(0.6*h+0.4*p)/r)*100": Calculation(
            "saving on a token",
            "%",
            f"(1 − {_WEIGHTED} ÷ {{throughput_first_over_second}}) × 100",
            lambda v: _less(_weighted(v), 1.0, v["r"]),
            _INDEX,
        ),
        "(0.6*h+0.4*p)/(1-s)": Calculation(
            "throughput, first over second",
            None,
            f"{_WEIGHTED} ÷ (1 − {{saving}})",
            lambda v: float(tie_ratio(_weighted(v), 1.0, v["s"])),
            _INDEX,
        ),
        "1/(0.6/h+0.4/p)/(1-s)": Calculation(
            "throughput, first over second",
            None,
            "1 ÷ (0.6 ÷ {price_first_over_second} + 0.4 ÷ {power_first_over_second}) ÷ (1 − {saving})",
            lambda v: float(tie_ratio(1.0, _HARDWARE / v["h"] + _POWER / v["p"], v["s"])),
            _INDEX,
        ),
        "(1-(0.6*h+0.4*k*p)/(0.6+0.4*k)/r)*100": Calculation(
            "saving on a token",
            "%",
            "(1 − (0.6 × {price_first_over_second} + 0.4 × {change_of_power_and_cooling} × "
            "{power_first_over_second}) ÷ (0.6 + 0.4 × {change_of_power_and_cooling}) ÷ "
            "{throughput_first_over_second}) × 100",
            lambda v: _less(
                _HARDWARE * v["h"] + _POWER * v["k"] * v["p"], _HARDWARE + _POWER * v["k"], v["r"]
            ),
            _INDEX,
        ),
        "(1-(a+k*pa)/(b+k*pb)/r)*100": Calculation(
            "saving on a token",
            "%",
            "(1 − ({first_price} + {change_of_energy} × {energy_of_the_first}) ÷ ({second_price} + "
            "{change_of_energy} × {energy_of_the_second}) ÷ {throughput_first_over_second}) × 100",
            lambda v: _less(v["a"] + v["k"] * v["pa"], v["b"] + v["k"] * v["pb"], v["r"]),
            {
                **_OWNED,
                "k": Quantity("change of energy"),
                "pa": Quantity("energy of the first", "USD"),
                "pb": Quantity("energy of the second", "USD"),
            },
        ),
        "net*0.4/0.6/(kw*hours)": Calculation(
            "energy price",
            "USD/kWh",
            "{net_price} × 0.4 ÷ 0.6 ÷ ({power} × {hours_of_its_life})",
            lambda v: v["net"] * _POWER / _HARDWARE / _owned(0.0, v["kw"], v["hours"], 1.0),
            _OWNED,
        ),
        "net/(net+kw*hours*e)*100": Calculation(
            "share of hardware",
            "%",
            "{net_price} ÷ ({net_price} + {power} × {hours_of_its_life} × {energy_price}) × 100",
            lambda v: _PER_CENT * v["net"] / _owned(v["net"], v["kw"], v["hours"], v["e"]),
            _OWNED,
        ),
        "(1-(a+ka*hours*e)/(b+kb*hours*e))*100": Calculation(
            "saving",
            "%",
            f"(1 − {_OWN_A} ÷ {_OWN_B}) × 100",
            lambda v: _less(*_both(v, v["e"])),
            _OWNED,
        ),
        "(a+ka*hours*e)/(b+kb*hours*e)/(1-s)": Calculation(
            "throughput, first over second",
            None,
            f"{_OWN_A} ÷ {_OWN_B} ÷ (1 − {{saving}})",
            lambda v: float(tie_ratio(*_both(v, v["e"]), v["s"])),
            _OWNED,
        ),
        "((1-s)*b-a)/(hours*(ka-(1-s)*kb))": Calculation(
            "energy price",
            "USD/kWh",
            "((1 − {saving}) × {second_price} − {first_price}) ÷ ({hours_of_its_life} × "
            "({power_of_the_first} − (1 − {saving}) × {power_of_the_second}))",
            _energy_price,
            _OWNED,
        ),
        "(1-(1-s)*(c+e)/c)*100": Calculation(
            "saving that is left",
            "%",
            "(1 − (1 − {saving}) × ({other_cost_of_one} + {engineering_of_one}) ÷ {other_cost_of_one}) × 100",
            _after,
            _TEAM,
        ),
        "e/(s1-s2)*(1-s1)": Calculation(
            "other cost of one",
            "USD",
            "{engineering_of_one} ÷ ({saving_before} − {saving_after}) × (1 − {saving_before})",
            lambda v: v["e"] / float(added_to_reach(v["s1"], v["s2"], 1.0)),
            _TEAM,
        ),
        "c*(s1-s2)/(1-s1)*fleet/(rate*y)": Calculation(
            "engineers",
            None,
            f"{_ADDED} × {{fleet}} ÷ ({{cost_of_an_engineer}} × {{years}})",
            lambda v: _added(v) * v["fleet"] / _engineers_usd(v, 1.0, v["y"]),
            _TEAM,
        ),
        "bill/(c*(s1-s2)/(1-s1))": Calculation(
            "fleet", None, f"{{engineering_bill}} ÷ ({_ADDED})", lambda v: v["bill"] / _added(v), _TEAM
        ),
        "bill/(b-a)*100": Calculation(
            "share of the saving on hardware",
            "%",
            "{engineering_bill} ÷ ({second_price} − {first_price}) × 100",
            lambda v: _PER_CENT * v["bill"] / (v["b"] - v["a"]),
            {**_OWNED, "bill": Quantity("engineering bill", "USD")},
        ),
        "kw*hours*e*n/(p*n)*100": Calculation(
            "share of the net price",
            "%",
            "{power} × {hours_of_its_life} × {energy_price} × {fleet} ÷ ({net_price} × {fleet}) × 100",
            lambda v: _PER_CENT * v["n"] * _owned(0.0, v["kw"], v["hours"], v["e"]) / (v["p"] * v["n"]),
            {**_OWNED, "p": Quantity("net price", "USD"), "n": Quantity("fleet")},
        ),
        "kw*n": Calculation(
            "power of the fleet",
            "kW",
            "{power} × {fleet}",
            lambda v: v["kw"] * v["n"],
            {**_OWNED, "n": Quantity("fleet")},
        ),
        "(a-b)*n": Calculation(
            "power of the fleet",
            "kW",
            "({power_of_the_first} − {power_of_the_second}) × {fleet}",
            lambda v: (v["a"] - v["b"]) * v["n"],
            {"a": _KW_A, "b": _KW_B, "n": Quantity("fleet")},
        ),
    }
)
