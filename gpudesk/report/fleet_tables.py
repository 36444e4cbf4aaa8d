"""Tables of fleets and names of their components, for the page, the sheet and its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from gpudesk.domain.answer import LeadVerdict, judge_odds
from gpudesk.domain.fleet import FleetAnswer, FleetCost, FleetOption, Supply
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.comparison.tables import (
    CellMarking,
    ComparisonCell,
    ComparisonGroup,
    ComparisonHead,
    ComparisonRow,
    ComparisonTable,
    SheetFleet,
)
from gpudesk.report.costs import MoneyFormatter, describe_cheapest_rents
from gpudesk.report.data_table import DataCell, DataColumn, DataRow, DataTable
from gpudesk.report.labels import format_months, format_odds, format_years, label_price_word, label_system
from gpudesk.report.rack_drawing import label_order, label_use, sketch_fleets
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.messages import capitalize_first, format_message, lower_for_sentence, to_sentence
from gpudesk.text.translation import LabeledEnum, tr, trn

_RUNNERS_UP: Final[Mapping[Supply, str]] = {
    Supply.OWNED: "{lead}: buying {name}, {amount} per month.",
    Supply.RENTED: "{lead}: renting {name}, {amount} per month.",
    Supply.AUTOSCALED: "{lead}: renting {name} with autoscaling, {amount} per month.",
    Supply.API: "The hosted API costs {amount} per month.",
}


class FleetCostUnit(LabeledEnum):
    """The unit of a cost; the value is the field of `FleetCost`."""

    MONTH = "per_month_usd", "Per month, average"
    TOTAL = "total_usd", "Total"
    USER = "per_user_month_usd", "Per user-month"
    TOKENS = "per_million_tokens_usd", "Per 1M output tokens"


def format_hour(hour: int) -> str:
    return f"{hour:02d}:00"


def name_fleet_cost(supply: Supply, unit: FleetCostUnit) -> str:
    """Return the explainable figure of a cost: `fleet_owned_month`, `fleet_api_tokens`."""
    return f"fleet_{supply.value}_{unit.name.lower()}"


def list_fleet_figures(unit: FleetCostUnit) -> tuple[str, ...]:
    """Return the explainable figure of each column of the table."""
    costs = (name_fleet_cost(supply, unit) for supply in Supply)
    return ("fleet_systems", "fleet_accelerators", "fleet_power", "fleet_utilization", *costs)


def build_fleet_table(
    answer: FleetAnswer,
    looks: Mapping[str, tuple[str, int]],
    formatter: Formatter,
    money: MoneyFormatter,
    unit: FleetCostUnit,
) -> DataTable:
    """Return a row for each accelerator; `looks` are its name and palette index."""
    columns = (
        DataColumn(tr("Accelerator"), stretch=1),
        DataColumn(tr("Use + spare, year 1") if answer.growth_per_year else tr("In use + spare"), is_figure=True),
        DataColumn(tr("kW, max"), is_figure=True),
        DataColumn(tr("Utilization"), is_figure=True),
        *(DataColumn(supply.label, is_figure=True) for supply in Supply),
    )
    rows = tuple(_build_row(option, answer, looks, formatter, money, unit) for option in answer.options)
    title = tr("Fleets and their costs")
    subtitle = tr("{unit}, {code}", unit=unit.label, code=money.code)
    return DataTable("fleet", title, subtitle, columns, rows)


def _build_row(
    option: FleetOption,
    answer: FleetAnswer,
    looks: Mapping[str, tuple[str, int]],
    formatter: Formatter,
    money: MoneyFormatter,
    unit: FleetCostUnit,
) -> DataRow:
    name, slot = looks.get(option.accelerator, (option.accelerator, 0))
    if option.reason is not None:
        reason = capitalize_first(format_message(option.reason, formatter))
        first = DataCell(name, reason, slot=slot, is_strong=True)
        blank = DataCell(MISSING_VALUE_TEXT, is_quiet=True)
        return DataRow(option.accelerator, (first, *(blank,) * 7), f"{name}: {reason}", accelerator=option.accelerator)
    costs = [answer.api if supply is Supply.API else option.find_supply_cost(supply) for supply in Supply]
    racks = len(option.racks)
    order = label_order(option, formatter)
    total = option.used + option.spare + option.idle
    counts = " + ".join(formatter.count(each) for each in (option.used, option.spare) if each)
    average, is_cheapest = option.power_average_kw, partial(_is_cheapest, answer, option)
    detail = "" if average is None else tr("{n} average", n=formatter.estimate(average))
    cells = [
        DataCell(name, f"{order}, {count_racks(racks, formatter)}" if racks else order, slot=slot, is_strong=True),
        DataCell(counts, tr("of {n}", n=formatter.count(total))),
        DataCell(_format_power(option, formatter), detail),
        DataCell(formatter.per_cent(option.utilization)),
        *(
            _make_cost_cell(cost, unit, _describe_idle_rented(option, cost), money, is_best=is_cheapest(supply))
            for cost, supply in zip(costs, Supply, strict=True)
        ),
    ]
    words = (f"{supply.label}: {cell.text} {cell.detail}" for supply, cell in zip(Supply, cells[4:], strict=True))
    use = label_use(option.used, option.spare, option.idle, formatter)
    sentence = "; ".join((f"{name}: {cells[0].detail}", use, *words))
    return DataRow(option.accelerator, tuple(cells), sentence, accelerator=option.accelerator)


def count_racks(racks: int, formatter: Formatter) -> str:
    return trn("{n} rack", "{n} racks", racks, n=formatter.count(racks))


def _is_cheapest(answer: FleetAnswer, option: FleetOption, supply: Supply) -> bool:
    # The hosted API is the same for all.
    return answer.cheapest is not None and answer.cheapest in ((option.accelerator, supply), ("", supply))


def _format_power(option: FleetOption, formatter: Formatter) -> str:
    text = formatter.estimate(option.power_max_kw)
    return f"≈ {text}" if option.power_estimated else text


def _describe_idle_rented(option: FleetOption, cost: FleetCost | None) -> str:
    """Return how many accelerators a rent pays for if these are more than are used and spare; else nothing."""
    if (
        cost is None
        or cost.supply is not Supply.RENTED
        or cost.rented_count is None
        or cost.rented_count <= option.used + option.spare
    ):
        return ""
    return tr("for {n}", n=Formatter().count(cost.rented_count))


def _make_cost_cell(
    cost: FleetCost | None, unit: FleetCostUnit, paid: str, money: MoneyFormatter, *, is_best: bool
) -> DataCell:
    amount: IntervalEstimate | None = None if cost is None else getattr(cost, unit)
    if amount is None:
        # The sentences below the table name the unknown values.
        is_open = cost is not None and cost.missing is not None
        return DataCell(MISSING_VALUE_TEXT, tr("no price") if is_open else "", is_quiet=True)
    text, low, high = (format_amount(each, money) for each in amount)
    # A list price has no interval.
    interval = f"{low} – {high}" if low != high else ""
    return DataCell(text, f"{paid}: {interval}" if paid else interval, is_strong=is_best, is_best=is_best)


def format_amount(usd: float, money: MoneyFormatter) -> str:
    """Return an amount with three significant digits, with cents below a hundred."""
    return money.small(usd) if abs(money.convert_to_currency(usd)) < 100 else money.rounded(usd)


def list_fleet_notes(
    option: FleetOption, answer: FleetAnswer, name: str, formatter: Formatter, money: MoneyFormatter
) -> list[str]:
    """Return the sentences about one fleet: prices with their sources, growth, delivery, and its notes.

    `name` is that of the accelerator.
    """
    texts, price_notes = [], []
    for supply in Supply:
        cost = answer.api if supply is Supply.API else option.find_supply_cost(supply)
        price_note = None if cost is None else cost.missing or cost.source
        if price_note is not None and price_note not in price_notes:
            price_notes.append(price_note)
            text = format_message(price_note, formatter).rstrip(".")
            if cost is not None and cost.provider_classes:
                classes = ", ".join(map(label_price_word, cost.provider_classes))
                text = tr("{rent} ({classes})", rent=text, classes=classes)
            if paid := _describe_idle_rented(option, cost):
                text = tr("{rent}, {paid} accelerators in whole instances", rent=text, paid=paid)
            texts.append(tr("{supply}: {text}.", supply=supply.label, text=text))
    if providers := describe_cheapest_rents(option.provider_rents, name, money):
        texts.append(to_sentence(providers))
    if option.months_to_next is not None:
        months = format_months(round(option.months_to_next), formatter)
        texts.append(tr("Growth needs the next system after {months}.", months=months))
    if option.delivery_weeks is not None:
        weeks = trn("{n} week", "{n} weeks", option.delivery_weeks, n=formatter.exact(option.delivery_weeks))
        texts.append(tr("Delivery: {weeks}.", weeks=weeks))
    texts += [to_sentence(format_message(note, formatter)) for note in (*option.notes, *answer.notes)]
    if answer.costed_utilization is not None and not option.reason:
        share, costed = (formatter.per_cent(each) for each in (option.utilization, answer.costed_utilization))
        texts.append(
            tr(
                "Utilization: {share}, rounded up to whole replicas. Cost assumes {costed}, without rounding up.",
                share=share,
                costed=costed,
            )
        )
    return texts


def describe_fleets(
    answer: FleetAnswer, looks: Mapping[str, tuple[str, int]], formatter: Formatter, money: MoneyFormatter
) -> list[str]:
    """Return the answer in sentences: what to order, its cost with its odds, and what comes next."""
    if answer.cheapest is None:
        return [tr("No fleet can be priced: enter a price or a rent.")]
    accelerator, supply = answer.cheapest
    option = next((each for each in answer.options if each.accelerator == accelerator), None)
    name, _ = looks.get(accelerator, (accelerator, 0))
    cost = answer.api if option is None else option.find_supply_cost(supply)
    month = None if cost is None else cost.per_month_usd
    amount = "" if month is None else money.add_currency(format_amount(month.value, money))
    # Costs are averages of the years, in which demand can grow.
    years = format_years(answer.horizon_years, formatter)
    order, terms = tr("Call the hosted API"), tr("on average over {years}", years=years)
    if option is not None:
        order = _describe_order(option, supply, name, formatter)
        order = tr("{order} in year 1", order=order) if answer.growth_per_year else order
    values = {"order": order, "amount": amount, "terms": terms}
    if answer.odds is None:
        return [tr("{order}: {amount} per month {terms}.", **values)]
    values["share"] = format_odds(answer.odds, formatter)
    if judge_odds(answer.odds) is LeadVerdict.TOO_CLOSE:
        text = "{order}: {amount} per month {terms}; too close to call ({share} odds of being the cheapest)."
    else:
        text = "{order}: {amount} per month {terms} ({share} odds of being the cheapest)."
    sentences = [tr(text, **values)]
    # The nearest alternative is often another way to pay for the same accelerator.
    alternatives = dict.fromkeys(each for each in (answer.nearest, answer.runner_up) if each is not None)
    for (other, how), usd in alternatives:
        name, _ = looks.get(other, (other, 0))
        per_month = money.add_currency(format_amount(usd, money))
        lead = tr("Next cheapest") if other == accelerator else tr("Best other accelerator")
        sentences.append(tr(_RUNNERS_UP[how], lead=lead, name=name, amount=per_month))
    return sentences


def _describe_order(option: FleetOption, supply: Supply, name: str, formatter: Formatter) -> str:
    if supply is Supply.OWNED:
        order = f"{formatter.count(option.used + option.spare + option.idle)} {name}"
        if option.system is not None:
            order = tr("{systems} with {accelerators}", systems=label_order(option, formatter), accelerators=order)
        return tr("Buy {order}", order=order)
    cost = option.find_supply_cost(supply)
    count = formatter.count(cost.rented_count if cost is not None else None)
    if supply is Supply.AUTOSCALED:
        return tr("Rent up to {n} {name} with autoscaling", n=count, name=name)
    return tr("Rent {n} {name}", n=count, name=name)


@frozen_dataclass
class _SheetFleetCells:
    """The cells of a fleet on a sheet."""

    answer: FleetAnswer
    formatter: Formatter
    money: MoneyFormatter

    def order(self, option: FleetOption) -> ComparisonCell:
        formatter = self.formatter
        if option.reason is not None:
            reason = capitalize_first(format_message(option.reason, formatter))
            return ComparisonCell(MISSING_VALUE_TEXT, detail=reason, mark=CellMarking.FAILS)
        if option.system is None:
            return ComparisonCell(label_order(option, formatter))
        return ComparisonCell(formatter.count(option.systems), option.systems, detail=label_system(option.system.name))

    def use(self, option: FleetOption) -> ComparisonCell:
        detail = label_use(0, option.spare, option.idle, self.formatter) or None
        return ComparisonCell(self.formatter.count(option.used), option.used, detail=detail)

    def racks(self, option: FleetOption) -> ComparisonCell:
        return ComparisonCell(self.formatter.count(len(option.racks)), len(option.racks))

    def power(self, option: FleetOption) -> ComparisonCell:
        return ComparisonCell(_format_power(option, self.formatter), option.power_max_kw)

    def utilization(self, option: FleetOption) -> ComparisonCell:
        return ComparisonCell(self.formatter.per_cent(option.utilization), option.utilization)

    def next_system(self, option: FleetOption) -> ComparisonCell:
        months = None if option.months_to_next is None else round(option.months_to_next)
        return ComparisonCell(self.formatter.count(months), months)

    def cost(self, supply: Supply, option: FleetOption) -> ComparisonCell:
        supply_cost = self.answer.api if supply is Supply.API else option.find_supply_cost(supply)
        amount = None if supply_cost is None else supply_cost.per_month_usd
        if amount is None:
            return ComparisonCell(MISSING_VALUE_TEXT, reason=tr("no price"))
        value, low, high = (self.money.convert_to_currency(each) for each in amount)
        texts = [format_amount(each, self.money) for each in amount]
        paid = _describe_idle_rented(option, supply_cost) or None
        mark = CellMarking.BEST if _is_cheapest(self.answer, option, supply) else None
        return ComparisonCell(texts[0], value, low, high, texts[1], texts[2], detail=paid, mark=mark)


def build_sheet_fleet(
    answer: FleetAnswer,
    looks: Mapping[str, tuple[str, int]],
    heads: tuple[ComparisonHead, ...],
    formatter: Formatter,
    money: MoneyFormatter,
) -> SheetFleet:
    """Return the fleets for a sheet, in the columns of `heads`."""

    def row(key: str, label: str, unit: str | None, cell: Callable[[FleetOption], ComparisonCell]) -> ComparisonRow:
        failed = ComparisonCell(MISSING_VALUE_TEXT)
        cells = (failed if option.reason is not None else cell(option) for option in answer.options)
        return ComparisonRow(f"fleet.{key}", label, unit, tuple(cells))

    cells = _SheetFleetCells(answer, formatter, money)
    rows = [
        ComparisonRow("fleet.systems", tr("Systems"), None, tuple(map(cells.order, answer.options))),
        row("used", tr("Accelerators in use"), None, cells.use),
        row("racks", tr("Racks"), None, cells.racks),
        row("power", tr("Power, max"), "kW", cells.power),
        row("utilization", tr("Utilization, whole replicas"), None, cells.utilization),
    ]
    for supply in Supply:
        label = tr("{supply}, per month", supply=supply.label)
        rows.append(row(supply, label, money.code, partial(cells.cost, supply)))
    if any(option.months_to_next is not None for option in answer.options):
        rows.append(row("next", tr("Next system after"), tr("months"), cells.next_system))
    years, curve = format_years(answer.horizon_years, formatter), answer.curve.kind.label
    curve = lower_for_sentence(curve)
    title = tr("Fleet over {years}: {curve}", years=years, curve=curve)
    if answer.growth_per_year:
        title = tr("Fleet in year 1, average costs over {years}: {curve}", years=years, curve=curve)
    table = ComparisonTable(heads, (ComparisonGroup("fleet", title, tuple(rows)),), tr("Fleet"))
    sentences = describe_fleets(answer, looks, formatter, money)
    order = tr("Fleet for the demand: {order}", order=sentences[0])
    if answer.cheapest is not None and answer.cheapest[1] is Supply.AUTOSCALED:
        # A recommendation to buy or rent around the clock knows no scaling.
        order = tr("Cheaper if capacity follows the load: {order}", order=lower_for_sentence(sentences[0]))
    return SheetFleet(tuple(sentences), order, table, sketch_fleets(answer, looks, formatter, money))
