"""Texts about costs: amounts of money, inputs, cost lines, prices and rents."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

from gpudesk.domain.accelerator import SystemCount
from gpudesk.domain.claim import ProviderClass
from gpudesk.domain.cost import (
    AVERAGE_OVER_PEAK,
    COST_INPUTS,
    CostAnswer,
    CostColumn,
    CostInputGroup,
    CostInputOrigin,
    CostSettings,
    DisplayCurrency,
    ProviderRent,
    ResolvedCostInput,
    SameProviderRent,
    UncertainValue,
)
from gpudesk.report.labels import format_price_dates, join_names, label_price_word
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate, join_unit, translate_unit
from gpudesk.text.messages import lower_for_sentence
from gpudesk.text.translation import tr, translate_data, trn

#: Explainable costs.
OWNED, RENTED, TOTAL = "usd_owned", "usd_rented", "usd_total"

_USD: Final = "USD"
_THOUSAND: Final = 1000.0
_SPACE: Final = "\N{NO-BREAK SPACE}"


class MoneyFormatter:
    """Formats internal US dollars; `code` is the displayed currency."""

    def __init__(self, formatter: Formatter, currency: DisplayCurrency | None = None) -> None:
        self._formatter = formatter
        self._rate = 1.0 if currency is None else currency.per_usd
        self.currency = currency
        self.code = _USD if currency is None else currency.code

    def convert_to_currency(self, usd: float) -> float:
        return usd * self._rate

    def unit(self, unit: str) -> str:
        """Return a unit of money as `USD/kWh` in the displayed currency."""
        return unit.replace(_USD, self.code)

    def add_currency(self, amount: str) -> str:
        """Return an amount for a sentence: `$1.16`, but `1.07 EUR`."""
        return self._formatter.money(amount, self.code)

    def small(self, usd: float | None) -> str:
        return self._formatter.small_amount(None if usd is None else usd * self._rate)

    def whole(self, usd: float | None) -> str:
        return MISSING_VALUE_TEXT if usd is None else self._formatter.number(usd * self._rate)

    def rounded(self, usd: float | None) -> str:
        """Return an amount with three significant digits."""
        return self._formatter.estimate(None if usd is None else usd * self._rate)

    def rounded_thousands(self, usd: float | None) -> str:
        return self._formatter.estimate(None if usd is None else usd * self._rate / _THOUSAND)

    def thousands(self, usd: float | None) -> str:
        """Return an amount in thousands, with one decimal below a hundred."""
        if usd is None:
            return MISSING_VALUE_TEXT
        amount = usd * self._rate / _THOUSAND
        return self._formatter.number(amount, 1 if abs(amount) < 99.95 else 0)

    def band(self, banded: IntervalEstimate | None) -> str:
        """Return the interval of a small amount."""
        if banded is None:
            return MISSING_VALUE_TEXT
        return f"{self.small(banded.low)}{_SPACE}–{_SPACE}{self.small(banded.high)}"

    def estimate_with_interval(self, banded: IntervalEstimate | None) -> str:
        """Return a small amount with its interval and the code."""
        if banded is None:
            return MISSING_VALUE_TEXT
        return f"{self.small(banded.value)} ({self.band(banded)}){_SPACE}{self.code}"


_INPUTS: Final[Mapping[str, str]] = {
    "throughput": "Throughput interval",
    "years": "Service life",
    "utilisation": "Utilization",
    "requests_per_user_month": "Requests per user per month",
    "price_usd": "Purchase price",
    "discount": "Discount",
    "server_share": "Server, share of price",
    "network_share": "Network, share of price",
    "rack_share": "Rack, share of price",
    "spares": "Spares",
    "residual": "Residual value",
    "capital_rate": "Cost of capital per year",
    "energy_usd_per_kwh": "Electricity price",
    "pue": "Power overhead (PUE)",
    "accelerator_w": "Accelerator power",
    "host_w": "Host power per accelerator",
    "draw": "Average power draw",
    "idle_draw": "Idle power draw",
    "demand_usd_per_kw_month": "Demand charge",
    "hosting_usd_per_kw_month": "Hosting",
    "rack_kw": "Rack power",
    "support": "Support per year",
    "staff_usd_per_year": "Staff per accelerator",
    "engineer_usd_per_year": "Cost of an engineer",
    "engineers": "Maintenance engineers",
    "porting_engineer_months": "Porting, engineer-months",
    "fleet": "Accelerators sharing software",
    "rent_usd_per_hour": "Rental price",
    "api_input_usd_per_million": "Hosted API, input",
    "api_output_usd_per_million": "Hosted API, output",
    "grid_g_per_kwh": "Grid carbon intensity",
    "embodied_kg": "Embodied carbon",
}
_LINES: Final[Mapping[str, str]] = {
    "accelerators": "Accelerators",
    "server": "Servers",
    "network": "Network",
    "rack": "Racks",
    "residual": "Residual value",
    "capital": "Cost of capital",
    "power": "Electricity",
    "cooling": "Cooling and losses",
    "demand": "Demand charge",
    "hosting": "Hosting",
    "support": "Support",
    "staff": "Staff",
    "porting": "Porting",
    "upkeep": "Software maintenance",
}
#: Related lines in the order of a bar; the residual value is subtracted.
COST_PARTS: Final[Mapping[tuple[str, ...], str]] = {
    ("accelerators",): "Accelerators",
    ("server", "network", "rack"): "Servers, network",
    ("capital",): "Capital",
    ("power", "cooling", "demand", "hosting"): "Power, hosting",
    ("support", "staff"): "Support",
    ("porting", "upkeep"): "Software",
}
_MISSING: Final[Mapping[str, str]] = {
    "price_usd": "no purchase price",
    "rent_usd_per_hour": "no rental price",
    "accelerator_w": "board power unknown",
    "throughput": "throughput at this load unknown",
}
_UNITS: Final[Mapping[str, str]] = {
    "years": "years",
    "months": "months",
    "h/month": "hours per month",
    "engineers": "engineers",
    "accelerators": "accelerators",
}
#: Inputs that are counts, with the counted items.
_COUNTED: Final[Mapping[str, str]] = {"engineers": "engineers", "fleet": "accelerators"}


def label_cost_parts() -> list[str]:
    return [tr(label) for label in COST_PARTS.values()]


def label_cost_input(name: str) -> str:
    return tr(_INPUTS[name])


def label_cost_line(name: str) -> str:
    return tr(_LINES[name])


def describe_missing_input(name: str) -> str:
    return tr(_MISSING[name])


def is_share_input(name: str) -> bool:
    """Whether an input is a share of 1, shown as a percentage."""
    spec = COST_INPUTS.get(name)
    plain = ("pue", "engineers", "fleet", "requests_per_user_month")
    return spec is not None and spec.unit is None and name not in plain


def get_input_unit(name: str, currency: DisplayCurrency | None = None) -> str:
    """Return the unit for displaying and editing an input; empty for plain numbers."""
    if name == "throughput":
        return "tok/s"
    if is_share_input(name):
        return "%"
    unit = _COUNTED.get(name) or COST_INPUTS[name].unit or ""
    unit = tr(_UNITS[unit]) if unit in _UNITS else translate_unit(unit)
    return unit if currency is None else unit.replace("USD", currency.code)


def format_input_amount(name: str, value: float, formatter: Formatter, currency: DisplayCurrency | None = None) -> str:
    """Return the value of an input without its unit."""
    if is_share_input(name):
        return formatter.exact(round(value * 100.0, 4))
    money = (COST_INPUTS[name].unit or "").startswith("USD") if name in COST_INPUTS else False
    if money and currency is not None:
        value *= currency.per_usd
    if name == "throughput":
        return formatter.estimate(value)
    if money:
        # Cents only below $100, and both of them; prices of energy are below 10 cents.
        if 0.1 <= abs(value) < 100.0:
            return formatter.number(value, 2)
        return formatter.exact(round(value, 0 if abs(value) >= 100.0 else 4))
    return formatter.exact(float(f"{value:.6g}"))


def format_input_range(
    name: str, spread: UncertainValue | None, formatter: Formatter, currency: DisplayCurrency | None = None
) -> str:
    """Return a range, `$0.14/kWh (0.08 – 0.2)`."""
    if spread is None:
        return MISSING_VALUE_TEXT
    likely = format_input_amount(name, spread.likely, formatter, currency)
    unit = get_input_unit(name, currency)
    text = likely
    if not spread.is_known:
        low, high = (format_input_amount(name, each, formatter, currency) for each in (spread.low, spread.high))
        text = f"{likely} ({low}{_SPACE}–{_SPACE}{high})"
    return join_unit(text, unit) if unit else text


def describe_input_source(cost_input: ResolvedCostInput) -> str:
    """Return the origin of an input's value."""
    if cost_input.origin is CostInputOrigin.YOURS and cost_input.source is not None:
        return tr(
            "anecdotal: {note}; {source}",
            note=translate_data(cost_input.source.note),
            source=translate_data(cost_input.source.title),
        )
    if cost_input.origin is CostInputOrigin.YOURS:
        return tr("entered by you")
    if cost_input.origin is CostInputOrigin.NOWHERE:
        return tr("no value")
    if cost_input.prices is not None:
        return _describe_price_record(cost_input)
    if cost_input.source is None:
        return tr("catalog: maximum power of systems") if cost_input.name == "host_w" else tr("catalog")
    source = cost_input.source
    if not source.title:
        return tr("assumption: {note}", note=translate_data(source.note))
    title = translate_data(source.title)
    dated = f"{title}, {Formatter().date(source.date)}" if source.date else title
    return tr("{note}; {source}", note=translate_data(source.note), source=dated)


def _describe_price_record(cost_input: ResolvedCostInput) -> str:
    record, system = cost_input.prices, cost_input.system
    if record is None:
        return ""
    prices = trn("{n} catalog price", "{n} catalog prices", record.count, n=record.count)
    if record.is_user_value:
        prices = trn("{n} price entered by you", "{n} prices entered by you", record.count, n=record.count)
    if system is not None:
        prices = tr("{prices} for systems of {size}, excluding the server", size=system.size, prices=prices)
    if record.classes:
        classes = ", ".join(map(label_price_word, record.classes))
        prices = tr("{prices} ({classes})", prices=prices, classes=classes)
    if COST_INPUTS[cost_input.name].group is CostInputGroup.API:
        providers = ", ".join(record.providers)
        return tr(
            "{prices} ({providers}), {dates}", prices=prices, providers=providers, dates=format_price_dates(record)
        )
    if record.newest is None:
        return tr("{prices}, undated", prices=prices)
    dated = tr("{prices}, newest {date}", prices=prices, date=Formatter().date(record.newest))
    if not record.undated:
        return dated
    return tr("{prices}; {n} undated", prices=dated, n=record.undated)


def describe_utilization(utilization: ResolvedCostInput, formatter: Formatter, *, brief: bool = False) -> str:
    """Return the utilization, with the load curve behind it unless `brief`; empty if missing.

    That of a fleet sized for its peak is a share of the peak, not of the capacity.
    """
    if utilization.spread is None:
        return ""
    if utilization.source == AVERAGE_OVER_PEAK:
        share = formatter.per_cent(utilization.spread.likely)
        if brief:
            return tr("{share} average load", share=share)
        return tr("{share} average load (of the peak)", share=share)
    if not brief and utilization.origin is CostInputOrigin.DEMAND and utilization.source is not None:
        return tr(
            "{share} utilization ({source})",
            share=formatter.per_cent(utilization.spread.likely),
            source=translate_data(utilization.source.note),
        )
    return tr("{share} utilization", share=formatter.per_cent(utilization.spread.likely))


def describe_software_share(columns: Sequence[CostColumn], formatter: Formatter) -> str:
    """Return which accelerators share the software cost; empty if there is none."""
    paid = [column for column in columns if column.software is not None and any(column.software)]
    if not paid:
        return ""
    fleet = paid[0].inputs["fleet"]
    if fleet.origin is not CostInputOrigin.YOURS or fleet.spread is None:
        return tr("software cost not shared")
    return trn(
        "software cost shared by {n} accelerator",
        "software cost shared by {n} accelerators",
        round(fleet.spread.likely),
        n=formatter.count(fleet.spread.likely),
    )


def describe_server_share(columns: Sequence[CostColumn], formatter: Formatter) -> str:
    """Return the share of the list price that servers cost; empty without one."""
    shares = (column.inputs["server_share"] for column in columns if column.tco is not None)
    share = next((each.spread for each in shares if not each.divides), None)
    return (
        "" if share is None else tr("servers add {share} to the purchase price", share=formatter.per_cent(share.likely))
    )


def describe_bought_singly(settings: CostSettings) -> str:
    """Return that costs leave out idle accelerators; empty for whole systems."""
    return tr("costs count only accelerators in use, not whole systems") if settings.single_accelerators else ""


def format_system_count(systems: SystemCount, formatter: Formatter) -> tuple[str, str]:
    """Return what is bought, `2 systems of 8`, `3 accelerators` or `1 in a system of 8`, and the idle accelerators."""
    n, size = formatter.count(systems.systems), formatter.count(systems.size)
    if systems.is_shared:
        used, total = formatter.count(systems.used), formatter.count(systems.accelerators)
        return tr("{n} in a system of {total}", n=used, total=total), ""
    if systems.size == 1:
        return trn("{n} accelerator", "{n} accelerators", systems.systems, n=n), ""
    count = trn("{n} system of {size}", "{n} systems of {size}", systems.systems, n=n, size=size)
    return count, tr("{n} idle", n=formatter.count(systems.idle)) if systems.idle else ""


def describe_systems(systems: SystemCount, formatter: Formatter) -> str:
    """Return how many systems are owned, and how many of their accelerators are idle if any."""
    text = trn(
        "{n} system of {size} accelerators",
        "{n} systems of {size} accelerators",
        systems.systems,
        n=formatter.count(systems.systems),
        size=formatter.count(systems.size),
    )
    return tr("{systems}, {n} idle", systems=text, n=formatter.count(systems.idle)) if systems.idle else text


def list_partly_used(columns: Sequence[CostColumn], names: Mapping[str, str], formatter: Formatter) -> list[str]:
    """Return the partly used systems, those of the same size together, and the partly used instances."""
    by_systems: dict[str, list[str]] = {}
    for column in columns:
        if column.tco is not None and column.systems is not None and column.systems.idle:
            by_systems.setdefault(describe_systems(column.systems, formatter), []).append(names[column.key])
    sentences = [
        tr("{names}: {systems} each", names=join_names(owners), systems=systems)
        if len(owners) > 1
        else tr("{name}: {systems}", name=owners[0], systems=systems)
        for systems, owners in by_systems.items()
    ]
    instances = (describe_whole_instances(column, names[column.key], formatter) for column in columns)
    return [*sentences, *filter(None, instances)]


def describe_other_prices(columns: Sequence[CostColumn], names: Mapping[str, str], money: MoneyFormatter) -> str:
    """Return the prices of single accelerators that contradict system prices; empty without any."""
    prices = []
    for column in columns:
        price, share = column.inputs["price_usd"], column.inputs["server_share"].spread
        record, system = price.record, price.system
        if column.tco is None or record is None or system is None or share is None:
            continue
        if not system.price.low <= record.median * (1.0 + share.likely) * system.size <= system.price.high:
            amount = money.add_currency(money.whole(record.median))
            prices.append(tr("{name} {amount}", name=names[column.key], amount=amount))
    if not prices:
        return ""
    return tr(
        "Prices of single accelerators differ and widen the simulated range: {prices}",
        prices=", ".join(dict.fromkeys(prices)),
    )


def describe_rent_terms(term: str, costs: CostAnswer) -> str:
    """Return rental term and provider class, and that idle hours are paid if there are any."""
    if costs.busy_share >= 1.0:
        rent = tr("{term} rent", term=label_price_word(term))
    else:
        rent = tr("{term} rent including idle hours", term=label_price_word(term))
    classes = set(costs.rent_classes.values())
    if len(classes) != 1:
        return rent
    return tr("{rent} ({classes})", rent=rent, classes=", ".join(map(label_price_word, *classes)))


def format_draw_share(share: float, formatter: Formatter) -> str:
    """Return a share of draws as a percentage; rare is not zero."""
    if 0.0 < share < 0.01:
        return tr("under {share}", share=formatter.per_cent(0.01))
    return formatter.per_cent(share)


def list_missing_costs(column: CostColumn, name: str) -> list[str]:
    if column.count is None:
        return [tr("{name}: costs need a deployment that fits and is supported", name=name)]
    return [tr("{name}: {missing}", name=name, missing=describe_missing_input(each)) for each in column.missing]


def list_api_remarks(costs: CostAnswer) -> list[str]:
    """Return, as sentences, the missing price of a hosted API whose other price is known."""
    return [tr(_API_PROBLEMS[name]) for name in costs.api_missing]


def list_rent_class_remarks(costs: CostAnswer, names: Mapping[str, str]) -> list[str]:
    """Return what makes rents of different kinds of provider hard to compare; empty if all are of one kind.

    Where no specialized cloud rents an accelerator, what these usually charge says it all; else the kinds are listed.
    """
    classes = costs.rent_classes
    if len(set(classes.values())) < 2:
        return []
    by_accelerator = {column.accelerator: classes.get(column.key) for column in costs.columns}
    unlike = [each for each in costs.same_provider if by_accelerator[each.accelerator] != by_accelerator[each.against]]
    kinds = _describe_class_ratios(costs, names) or [_list_rent_classes(classes, names)]
    return [*kinds, *_describe_same_provider_rents(unlike, costs, names)]


def _list_rent_classes(classes: Mapping[str, tuple[ProviderClass, ...]], names: Mapping[str, str]) -> str:
    by_classes: dict[tuple[ProviderClass, ...], list[str]] = {}
    for key, provider_classes in classes.items():
        by_classes.setdefault(provider_classes, []).append(names[key])
    rents = ", ".join(
        f"{', '.join(map(label_price_word, provider_classes))} ({', '.join(members)})"
        for provider_classes, members in by_classes.items()
    )
    return tr("Rents come from different kinds of provider: {rents}", rents=rents)


def _describe_class_ratios(costs: CostAnswer, names: Mapping[str, str]) -> list[str]:
    """Return which rents could differ because no specialized cloud has the accelerator."""
    rents = {column.key: column.inputs["rent_usd_per_hour"] for column in costs.columns}
    return [describe_unlike_rent(rent, names[key]) for key, rent in rents.items() if rent.class_ratio is not None]


def add_provider_kind(amount: str, rent: ResolvedCostInput | None) -> str:
    """Return a rented cost with the kind of provider if no specialized cloud rents the accelerator."""
    if rent is None or rent.class_ratio is None or rent.record is None:
        return amount
    return tr("{amount} at a {kind}", amount=amount, kind=label_price_word(rent.record.classes[0]))


def describe_unlike_rent(rent: ResolvedCostInput, name: str) -> str:
    """Return that an accelerator's rent is not one of a specialized cloud, and what these usually charge."""
    assert rent.record is not None
    assert rent.class_ratio is not None
    formatter = Formatter()
    low, ratio, high = (formatter.number(each, 2) for each in rent.class_ratio)
    usual = tr(
        "{name} is priced at a {kind}; specialized clouds usually charge {ratio}× as much ({low}–{high}×)",
        name=name,
        kind=label_price_word(rent.record.classes[0]),
        ratio=ratio,
        low=low,
        high=high,
    )
    offers = (
        tr(
            "{rent}/h {term} ({provider})",
            rent=formatter.money(formatter.small_amount(each.usd_per_hour), "USD"),
            term=lower_for_sentence(label_price_word(each.term)),
            provider=each.provider,
        )
        for each in rent.other_rents
    )
    return usual if not rent.other_rents else tr("{usual}; on record: {offers}", usual=usual, offers=", ".join(offers))


def list_same_provider_rents(costs: CostAnswer, names: Mapping[str, str]) -> list[str]:
    """Return each accelerator's rent over that of the first one at providers that rent both."""
    return _describe_same_provider_rents(costs.same_provider, costs, names)


def _describe_same_provider_rents(
    compared: Sequence[SameProviderRent], costs: CostAnswer, names: Mapping[str, str]
) -> list[str]:
    formatter = Formatter()
    name_of = {column.accelerator: names[column.key] for column in reversed(costs.columns)}
    sentences = []
    for accelerator, group in groupby(compared, key=lambda each: each.accelerator):
        rents = list(group)
        ratios = sorted(each.ratio for each in rents)
        values = {"name": name_of[accelerator], "other": name_of[rents[0].against], "provider": rents[0].provider}
        values |= {"ratio": formatter.number(statistics.median(ratios), 2)}
        if len(rents) == 1:
            sentences.append(tr("At {provider}, {name} rents for {ratio}× the price of {other}", **values))
        else:
            sentences.append(
                trn(
                    "At {n} provider of both, {name} rents for {ratio}× the price of {other} ({low}–{high}×)",
                    "At {n} providers of both, {name} rents for {ratio}× the price of {other} ({low}–{high}×)",
                    len(rents),
                    n=len(rents),
                    low=formatter.number(ratios[0], 2),
                    high=formatter.number(ratios[-1], 2),
                    **values,
                )
            )
    return sentences


#: How many providers are named after the cheapest.
_NEXT_PROVIDERS: Final = 2


def describe_cheapest_rents(rents: Sequence[ProviderRent], name: str, money: MoneyFormatter) -> str:
    """Return the cheapest providers of an accelerator; empty without any on record.

    The first of `rents` is the cheapest.
    """
    if not rents:
        return ""
    first, *others = (
        tr(
            "{provider} ({kind}, {date}) {rent}",
            provider=each.provider,
            kind=label_price_word(each.provider_class),
            date=Formatter().date(each.date) if each.date else tr("undated"),
            rent=money.add_currency(money.small(each.usd_per_hour)),
        )
        for each in rents[: 1 + _NEXT_PROVIDERS]
    )
    cheapest = tr(
        "Cheapest {term} rent of {name} per accelerator-hour: {rent}",
        term=lower_for_sentence(label_price_word(rents[0].term)),
        name=name,
        rent=first,
    )
    return cheapest if not others else tr("{cheapest}; next: {others}", cheapest=cheapest, others=", ".join(others))


def describe_whole_instances(column: CostColumn, name: str, formatter: Formatter) -> str:
    """Return how many idle accelerators are rented with those used; empty for none."""
    if column.rented is None or not column.idle_rented:
        return ""
    return trn(
        "{name}: only whole instances are rented; its rental cost includes {n} idle accelerator",
        "{name}: only whole instances are rented; its rental cost includes {n} idle accelerators",
        column.idle_rented,
        name=name,
        n=formatter.count(column.idle_rented),
    )


def list_provider_rent_heads() -> tuple[str, ...]:
    return (
        tr("Rents by provider"),
        tr("Accelerator"),
        tr("Provider type"),
        tr("Per accelerator-hour"),
        tr("Per million tokens"),
        tr("Date"),
    )


def list_provider_rent_rows(
    costs: CostAnswer, names: Mapping[str, str], money: MoneyFormatter
) -> list[tuple[str, ...]]:
    """Return all rents on record by provider, those with the cheapest tokens first."""
    rents = [(each, names[column.key]) for column in costs.columns for each in column.provider_rents]
    rents.sort(key=lambda pair: (pair[0].usd_per_million_output or math.inf, pair[0].usd_per_hour))
    return [
        (
            each.provider,
            name,
            label_price_word(each.provider_class),
            money.add_currency(money.small(each.usd_per_hour)),
            MISSING_VALUE_TEXT
            if each.usd_per_million_output is None
            else money.add_currency(money.small(each.usd_per_million_output)),
            Formatter().date(each.date) if each.date else tr("undated"),
        )
        for each, name in rents
    ]


_API_PROBLEMS: Final[Mapping[str, str]] = {
    "api_input_usd_per_million": "hosted API: price of input tokens unknown",
    "api_output_usd_per_million": "hosted API: price of output tokens unknown",
}


def describe_prices_used(columns: Sequence[CostColumn], names: Mapping[str, str], money: MoneyFormatter) -> str:
    """Return the purchase price behind each cost, and the date of its newest price."""
    prices = []
    for column in columns:
        price = column.inputs["price_usd"]
        if price.spread is None:
            continue
        amount, record = money.add_currency(money.whole(price.spread.likely)), price.prices
        date = tr("undated") if record is None or record.newest is None else Formatter().date(record.newest)
        values = {"name": names[column.key], "amount": amount, "date": date}
        if price.system is not None:
            system_usd = money.add_currency(money.whole(price.system.price.median))
            prices.append(
                tr(
                    "{name} {amount} (system of {size} for {system}, {date})",
                    size=price.system.size,
                    system=system_usd,
                    **values,
                )
            )
        elif record is None or record.is_user_value or price.origin is CostInputOrigin.YOURS:
            prices.append(tr("{name} {amount} (entered by you)", **values))
        else:
            prices.append(tr("{name} {amount} ({date})", **values))
    return tr("Purchase prices used (median in the catalog): {prices}", prices=", ".join(prices)) if prices else ""


def describe_old_prices(columns: Sequence[CostColumn], names: Mapping[str, str], formatter: Formatter) -> str:
    """Return which prices are old, with their dates and the factors that widen their ranges; empty without any."""
    dated = (
        (names[column.key], price)
        for column in columns
        for price in (column.inputs["price_usd"], column.inputs["rent_usd_per_hour"])
        if price.is_old
    )
    prices = ", ".join(
        tr(
            "{name} {price} ({date}, factor {factor})",
            name=name,
            price=lower_for_sentence(label_cost_input(price.name)),
            date=formatter.date(price.prices.newest),
            factor=formatter.number(price.drift, 1),
        )
        for name, price in dated
        if price.prices is not None and price.prices.newest is not None
    )
    if not prices:
        return ""
    return tr("Prices older than 12 months may have risen or fallen by a factor: {prices}", prices=prices)
