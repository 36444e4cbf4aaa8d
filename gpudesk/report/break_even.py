"""Texts about break-even points: where two costs are equal, and what follows on either side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from gpudesk.domain.cost import BreakEven, CostAnswer
from gpudesk.report.costs import MoneyFormatter, format_input_range, get_input_unit, is_share_input
from gpudesk.report.labels import join_names
from gpudesk.text.formatting import Formatter, join_unit
from gpudesk.text.translation import tr, trn


class BreakEvenCells(NamedTuple):
    """A break-even point for a table: what is compared, where costs are equal, the value used, and what follows."""

    label: str
    value: str
    used: str
    result: str


def build_break_even_cells(
    break_even: BreakEven, names: Mapping[str, str], formatter: Formatter, money: MoneyFormatter
) -> BreakEvenCells:
    """Return a break-even point as texts; `names` are those of the columns, by key."""
    kind = break_even.name.removesuffix("_to_tie")
    label, above, always, never = _BREAK_EVENS[kind]
    values = {"name": names[break_even.key], "rival": "" if break_even.against is None else names[break_even.against]}
    result = above if break_even.value is not None else always if break_even.cheaper else never
    return BreakEvenCells(
        tr(label, **values),
        tr("none") if break_even.value is None else _format_break_even_value(kind, break_even.value, formatter, money),
        "" if break_even.used is None else format_input_range(kind, break_even.used, formatter, money.currency),
        tr(result, **values),
    )


def describe_break_even(
    break_even: BreakEven, names: Mapping[str, str], formatter: Formatter, money: MoneyFormatter
) -> str:
    """Return where two costs are equal, and what follows above it, as sentences."""
    cells = build_break_even_cells(break_even, names, formatter, money)
    if break_even.value is None:
        return cells.result
    if break_even.name == "months_to_own":
        text = "{name}: buying pays back after {months}, compared with renting 24/7."
        return tr(text, name=names[break_even.key], months=cells.value)
    values = {"label": cells.label, "value": cells.value, "used": cells.used, "result": cells.result}
    if cells.used:
        return tr("{label}: {value}; used: {used}. {result}", **values)
    return tr("{label}: {value}. {result}", **values)


def describe_break_evens(
    costs: CostAnswer, names: Mapping[str, str], formatter: Formatter, money: MoneyFormatter
) -> Iterator[str]:
    """Yield break-even points as sentences, those between accelerators only where an input may reach it.

    One sentence stands for the points of two accelerators that are all far from the values used.
    """
    ties: dict[tuple[str, str], list[BreakEven]] = {}
    without: dict[str, list[BreakEven]] = {}
    for each in costs.break_evens:
        if each.name == "hours_to_own":  # These are the utilization once more.
            continue
        if each.against is not None and each.name != "hours_to_port":
            ties.setdefault((each.key, each.against), []).append(each)
        elif each.value is None and each.against is None:
            without.setdefault(each.name, []).append(each)
        else:
            yield describe_break_even(each, names, formatter, money)
    for name, points in without.items():
        yield tr(_BREAK_EVENS[name][-1], name=join_names([names[each.key] for each in points]))
    owned = {column.key: column.owned.output.value for column in costs.columns if column.owned is not None}
    for (key, rival), points in ties.items():
        near = [each for each in points if _is_near(each)]
        for each in near:
            yield describe_break_even(each, names, formatter, money)
        if not near:
            first, second = (key, rival) if owned[key] <= owned[rival] else (rival, key)
            yield tr(
                "Owned, {name} stays cheaper than {rival} even if a price or the throughput is off by a factor of "
                "{factor}.",
                name=names[first],
                rival=names[second],
                factor=formatter.count(_NEAR),
            )


def _is_near(point: BreakEven) -> bool:
    if point.value is None or point.used is None:
        return False
    used = point.used.likely
    return used / _NEAR <= point.value <= used * _NEAR if used else point.name == "discount_to_tie"


#: An input is taken to lie within this factor of the value used.
_NEAR: Final = 3
_RIVAL_IS_CHEAPER: Final = "Above it, {rival} costs less per token."
#: Kind -> what is compared, what holds above the point where costs are equal, and where there is no such point
#: although one is cheaper or although it is not.
_BREAK_EVENS: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "months_to_own": (
        "{name}: payback period of buying",
        "Compared with renting 24/7.",
        "",
        "Buying {name} does not pay back within the service life, compared with renting 24/7.",
    ),
    "hours_to_own": (
        "{name}: break-even hours of use",
        "Above it, buying is cheaper than renting by the hour.",
        "",
        "Renting {name} by the hour is cheaper than buying, even for 24/7 use.",
    ),
    "utilisation_to_own": (
        "{name}: break-even share of hours",
        "Above it, buying is cheaper than renting by the hour.",
        "",
        "Renting {name} by the hour is cheaper than buying, even for 24/7 use.",
    ),
    "tokens_to_own": (
        "{name}: break-even output, owned",
        "Above it, buying is cheaper than the hosted API.",
        "",
        "At any load, the hosted API is cheaper than buying {name}.",
    ),
    "tokens_to_rent": (
        "{name}: break-even output, rented",
        "Above it, renting is cheaper than the hosted API.",
        "",
        "At any load, the hosted API is cheaper than renting {name}.",
    ),
    "hours_to_port": (
        "{name}: break-even rented hours",
        "Above it, the lower rent pays for the extra software cost, compared with {rival}.",
        "",
        "{name}'s extra software cost never pays back, compared with {rival}.",
    ),
    "price_usd": (
        "{name}: break-even purchase price",
        _RIVAL_IS_CHEAPER,
        "{name} costs less per token than {rival} at any purchase price of {name}.",
        "{name} costs more per token than {rival} at any purchase price of {name}.",
    ),
    "discount": (
        "{name}: break-even discount",
        "Above it, {name} costs less per token than {rival}.",
        "{name} costs less even without a discount.",
        "{name} costs more per token than {rival} at any discount on {name}.",
    ),
    "engineers": (
        "{name}: break-even engineers",
        _RIVAL_IS_CHEAPER,
        "{name} costs less per token than {rival} with any number of engineers.",
        "{name} costs more per token than {rival}, even without engineers.",
    ),
    "energy_usd_per_kwh": (
        "Break-even electricity price",
        "There, {name} and {rival} cost the same per token.",
        "{name} costs less per token than {rival} at any electricity price.",
        "{name} costs more per token than {rival} at any electricity price.",
    ),
    "throughput": (
        "{name}: break-even throughput",
        "Below it, {rival} costs less per token.",
        "{name} costs less per token than {rival} at any throughput of {name}.",
        "{name} costs more per token than {rival} at any throughput of {name}.",
    ),
}


def _format_break_even_value(kind: str, value: float, formatter: Formatter, money: MoneyFormatter) -> str:
    if kind == "price_usd":
        return money.add_currency(formatter.estimate(money.convert_to_currency(value)))
    if kind == "energy_usd_per_kwh":
        return tr("{amount}/kWh", amount=money.add_currency(money.small(value)))
    if kind == "months_to_own":
        return trn("{n} month", "{n} months", value, n=formatter.estimate(value))
    if kind in ("hours_to_own", "hours_to_port"):
        return trn("{n} hour per month", "{n} hours per month", round(value), n=formatter.count(value))
    if kind in ("tokens_to_own", "tokens_to_rent"):
        return tr("{n} million tokens per month", n=formatter.estimate(value))
    if kind == "utilisation_to_own":
        return formatter.per_cent(value)
    if kind == "engineers" and value < 1.0:
        return tr("{share} of one engineer", share=formatter.per_cent(value))
    return join_unit(formatter.estimate(value * 100.0 if is_share_input(kind) else value), get_input_unit(kind))
