"""Tables of fleets and names of what they are made of, for the page, the sheet and its files."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gpudesk.domain.fleet import FleetAnswer, FleetCost, FleetOption, LoadCurveKind, SiteCooling, Supply
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.labels import format_months
from gpudesk.report.profile_tables import ProfileCell, ProfileColumn, ProfileRow, ProfileTable
from gpudesk.report.rack_drawing import label_order, label_use
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.messages import capitalize_first, format_message, to_sentence
from gpudesk.text.translation import tr, trn

_CURVES: Final[Mapping[LoadCurveKind, str]] = MappingProxyType(
    {
        LoadCurveKind.FLAT: "Flat",
        LoadCurveKind.OFFICE: "Office hours",
        LoadCurveKind.GLOBAL: "Global",
        LoadCurveKind.OVERNIGHT: "Overnight batch",
        LoadCurveKind.OWN: "Custom",
    }
)
_SUPPLIES: Final[Mapping[Supply, str]] = MappingProxyType(
    {Supply.OWNED: "Own", Supply.RENTED: "Rent", Supply.AUTOSCALED: "Rent, autoscaled", Supply.API: "Hosted API"}
)
_COOLING: Final[Mapping[SiteCooling, str]] = MappingProxyType(
    {SiteCooling.AIR: "air only", SiteCooling.LIQUID: "air or liquid"}
)


class FleetCostUnit(StrEnum):
    """What a cost is stated for; the value is the field of `FleetCost`."""

    MONTH = "per_month_usd"
    TOTAL = "total_usd"
    USER = "per_user_month_usd"
    TOKENS = "per_million_tokens_usd"


_UNITS: Final[Mapping[FleetCostUnit, str]] = MappingProxyType(
    {
        FleetCostUnit.MONTH: "Per month",
        FleetCostUnit.TOTAL: "Total",
        FleetCostUnit.USER: "Per user-month",
        FleetCostUnit.TOKENS: "Per 1M output tokens",
    }
)


def label_load_curve(kind: LoadCurveKind) -> str:
    return tr(_CURVES[kind])


def label_supply(supply: Supply) -> str:
    return tr(_SUPPLIES[supply])


def label_cooling(cooling: SiteCooling) -> str:
    return tr(_COOLING[cooling])


def label_fleet_cost_unit(unit: FleetCostUnit) -> str:
    return tr(_UNITS[unit])


def format_hour(hour: int) -> str:
    return f"{hour:02d}:00"


def build_fleet_table(
    answer: FleetAnswer,
    looks: Mapping[str, tuple[str, int]],
    formatter: Formatter,
    money: MoneyFormatter,
    unit: FleetCostUnit,
) -> ProfileTable:
    """Return a row for each accelerator; `looks` are its name and its place in the palette."""
    columns = (
        ProfileColumn(tr("Accelerator"), stretch=1),
        ProfileColumn(tr("In use"), is_figure=True),
        ProfileColumn(tr("Power, kW"), is_figure=True),
        ProfileColumn(tr("Utilization"), is_figure=True),
        *(ProfileColumn(label_supply(supply), is_figure=True) for supply in Supply),
    )
    rows = tuple(_build_row(option, answer, looks, formatter, money, unit) for option in answer.options)
    title = tr("Fleets and their costs")
    subtitle = tr("{unit}, {code}", unit=label_fleet_cost_unit(unit), code=money.code)
    return ProfileTable("fleet", title, subtitle, columns, rows)


def _build_row(
    option: FleetOption,
    answer: FleetAnswer,
    looks: Mapping[str, tuple[str, int]],
    formatter: Formatter,
    money: MoneyFormatter,
    unit: FleetCostUnit,
) -> ProfileRow:
    name, slot = looks.get(option.accelerator, (option.accelerator, 0))
    if option.reason is not None:
        reason = capitalize_first(format_message(option.reason, formatter))
        first = ProfileCell(name, reason, slot=slot, is_strong=True)
        blank = ProfileCell(MISSING_VALUE_TEXT, is_quiet=True)
        return ProfileRow(
            option.accelerator, (first, *(blank,) * 7), f"{name}: {reason}", accelerator=option.accelerator
        )
    costs = [answer.api if supply is Supply.API else option.cost_of(supply) for supply in Supply]
    racks = len(option.racks)
    order = label_order(option, formatter)
    cells = [
        ProfileCell(name, f"{order}, {count_racks(racks, formatter)}" if racks else order, slot=slot, is_strong=True),
        ProfileCell(formatter.count(option.used), label_use(0, option.spare, option.idle, formatter)),
        _make_power_cell(option, formatter),
        ProfileCell(formatter.per_cent(option.utilization)),
        *(
            _make_cost_cell(cost, unit, _is_cheapest(answer, option, supply), money)
            for cost, supply in zip(costs, Supply, strict=True)
        ),
    ]
    words = (
        f"{label_supply(supply)}: {cell.text} {cell.detail}" for supply, cell in zip(Supply, cells[4:], strict=True)
    )
    use = label_use(option.used, option.spare, option.idle, formatter)
    sentence = "; ".join((f"{name}: {cells[0].detail}", use, *words))
    return ProfileRow(option.accelerator, tuple(cells), sentence, accelerator=option.accelerator)


def count_racks(racks: int, formatter: Formatter) -> str:
    return trn("{n} rack", "{n} racks", racks, n=formatter.count(racks))


def _is_cheapest(answer: FleetAnswer, option: FleetOption, supply: Supply) -> bool:
    # The hosted API is the same for all.
    return answer.cheapest is not None and answer.cheapest in ((option.accelerator, supply), ("", supply))


def _make_power_cell(option: FleetOption, formatter: Formatter) -> ProfileCell:
    average = option.power_average_kw
    detail = "" if average is None else tr("{n} average", n=formatter.estimate(average))
    text = formatter.estimate(option.power_max_kw)
    return ProfileCell(f"≈ {text}" if option.power_estimated else text, detail)


def _make_cost_cell(cost: FleetCost | None, unit: FleetCostUnit, is_best: bool, money: MoneyFormatter) -> ProfileCell:
    amount: IntervalEstimate | None = None if cost is None else getattr(cost, unit)
    if amount is None:
        # The sentences below the table say what is not known.
        is_open = cost is not None and cost.missing is not None
        return ProfileCell(
            MISSING_VALUE_TEXT,
            tr("no price") if is_open else "",
            icon="triangle-alert" if is_open else "",
            is_quiet=True,
        )
    text, low, high = (format_amount(each, money) for each in amount)
    return ProfileCell(text, f"{low} – {high}", is_strong=is_best, is_best=is_best)


def format_amount(usd: float, money: MoneyFormatter) -> str:
    """Return an amount with three significant digits, with cents below a hundred."""
    return money.small(usd) if abs(money.in_currency(usd)) < 100 else money.rounded(usd)


def list_fleet_notes(option: FleetOption, answer: FleetAnswer, formatter: Formatter) -> list[str]:
    """Return the sentences about one fleet: prices with their sources, growth, delivery, and what the fleet notes."""
    texts = []
    for supply in Supply:
        cost = answer.api if supply is Supply.API else option.cost_of(supply)
        said = None if cost is None else cost.missing or cost.source
        if said is not None:
            text = format_message(said, formatter).rstrip(".")
            texts.append(tr("{supply}: {text}.", supply=label_supply(supply), text=text))
    if option.months_to_next is not None:
        months = format_months(round(option.months_to_next), formatter)
        texts.append(tr("Growth needs the next system after {months}.", months=months))
    if option.delivery_weeks is not None:
        weeks = trn("{n} week", "{n} weeks", option.delivery_weeks, n=formatter.stated(option.delivery_weeks))
        texts.append(tr("Delivery: {weeks}.", weeks=weeks))
    texts += [to_sentence(format_message(note, formatter)) for note in (*option.notes, *answer.notes)]
    return texts


def describe_fleets(
    answer: FleetAnswer, looks: Mapping[str, tuple[str, int]], formatter: Formatter, money: MoneyFormatter
) -> str:
    """Return the answer in a sentence or two: what to order, what it costs and how sure that is."""
    if answer.cheapest is None:
        return tr("No fleet can be priced: enter a price or a rent.")
    accelerator, supply = answer.cheapest
    option = next((each for each in answer.options if each.accelerator == accelerator), None)
    cost = answer.api if option is None else option.cost_of(supply)
    month = None if cost is None else cost.per_month_usd
    amount = "" if month is None else money.add_currency(format_amount(month.value, money))
    if option is None:
        text = tr("Call the hosted API: {amount} per month.", amount=amount)
    elif supply is Supply.OWNED:
        text = tr("Buy {order}: {amount} per month.", order=label_order(option, formatter), amount=amount)
    else:
        name, _ = looks.get(accelerator, (accelerator, 0))
        count = formatter.count(cost.rented_count if cost is not None else None)
        rent = tr("Rent up to {n} {name} and scale down: {amount} per month.", n=count, name=name, amount=amount)
        fixed = tr("Rent {n} {name}: {amount} per month.", n=count, name=name, amount=amount)
        text = rent if supply is Supply.AUTOSCALED else fixed
    if answer.odds is None:
        return text
    return f"{text} {tr('Cheapest in {share} of simulations.', share=formatter.per_cent(answer.odds))}"
