"""Explains a cost: its amount, its calculation and the origin of each input."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.domain.answer import Answer
from gpudesk.domain.claim import PURCHASE_TERM, ClaimStatus, PriceRecord, ProviderClass
from gpudesk.domain.cost import CostColumn, CostLine, SoftwareCosts, TokenCosts, TotalCostOfOwnership
from gpudesk.domain.user_facts import list_current_prices
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.costs import (
    RENTED,
    TOTAL,
    MoneyFormatter,
    describe_input_source,
    describe_missing_input,
    describe_systems,
    describe_utilization,
    format_input_amount,
    get_input_unit,
    is_share_input,
    label_cost_input,
    label_cost_line,
)
from gpudesk.report.explanation.catalog_entry import format_price
from gpudesk.report.explanation.parts import ClaimGroup, ClaimLine, Explanation, ExplanationBasis, TermLine
from gpudesk.report.labels import format_years, label_price_word
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, join_unit
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr, translate_data
from gpudesk.text.units import HOURS_PER_MONTH, HOURS_PER_YEAR, SECONDS_PER_HOUR

_SPACE: Final = "\N{NO-BREAK SPACE}"

#: The bought accelerators, including idle ones, among the inputs of a line.
_BOUGHT: Final = "bought"
#: The factors of each line of a total.
COST_LINES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "accelerators": ("accelerators × price × (1 − discount)", (_BOUGHT, "price_usd", "discount", "spares")),
    "server": ("accelerators × price × share", (_BOUGHT, "price_usd", "server_share", "spares")),
    "network": ("accelerators × price × share", (_BOUGHT, "price_usd", "network_share", "spares")),
    "rack": ("accelerators × price × share", (_BOUGHT, "price_usd", "rack_share", "spares")),
    "residual": ("− share × all hardware", ("residual",)),
    "capital": ("rate × years × mean value of hardware", ("capital_rate", "years", "residual")),
    "power": (
        "power × draw × hours × electricity price",
        (_BOUGHT, "accelerator_w", "host_w", "draw", "idle_draw", "energy_usd_per_kwh", "years"),
    ),
    "cooling": ("electricity × (PUE − 1)", ("pue",)),
    "demand": ("power × PUE × months × charge", (_BOUGHT, "demand_usd_per_kw_month", "pue", "years")),
    "hosting": ("power × months × price", (_BOUGHT, "hosting_usd_per_kw_month", "accelerator_w", "host_w", "years")),
    "support": ("share × years × all hardware", ("support", "years")),
    "staff": ("accelerators × years × cost", (_BOUGHT, "staff_usd_per_year", "years")),
    "porting": (
        "fleet share × months ÷ 12 × cost of an engineer",
        ("porting_engineer_months", "engineer_usd_per_year", "fleet"),
    ),
    "upkeep": (
        "fleet share × engineers × years × cost of an engineer",
        ("engineers", "engineer_usd_per_year", "years", "fleet"),
    ),
}


@frozen_dataclass
class _CostContext:
    """The context of an explained cost."""

    column: CostColumn
    money: MoneyFormatter
    formatter: Formatter


def explain_cost(
    answer: Answer,
    column: CostColumn,
    deployment: str,
    name: str,
    formatter: Formatter,
    prices: Iterable[PriceRecord] = (),
) -> Explanation:
    """Explain a cost of a column; `deployment` is the column's name with its count."""
    settings = answer.scenario.costs
    context = _CostContext(column, MoneyFormatter(formatter, settings.currency), formatter)
    rented = name == RENTED
    if rented and column.rent is not None and (classes := column.rent.classes):
        prices = (price for price in prices if price.provider_class in (*classes, ProviderClass.UNKNOWN))
    groups = _group_prices(prices, settings.rent_term if rented else PURCHASE_TERM, context)
    if name == TOTAL:
        return _explain_total(context, deployment, groups)
    costs = column.rented if rented else column.owned
    title = tr("Cost per million output tokens, {deployment}, rented", deployment=deployment)
    if not rented:
        title = tr("Cost per million output tokens, {deployment}, owned", deployment=deployment)
    return _explain_tokens(context, title, costs, settings.rent_term if rented else "", groups)


def explain_purchase_price(
    answer: Answer, column: CostColumn, catalog: Explanation, formatter: Formatter, prices: Iterable[PriceRecord]
) -> Explanation:
    """Return the explanation of a catalog price with the price that costs use, its origin, and each price on record."""
    context = _CostContext(column, MoneyFormatter(formatter, answer.scenario.costs.currency), formatter)
    price, money = column.inputs["price_usd"], context.money
    if price.spread is None:
        return catalog
    groups = _group_prices(prices, PURCHASE_TERM, context)
    return replace(
        catalog,
        figure=money.whole(price.spread.likely),
        unit=money.code,
        band=tr("{low} to {high}", low=money.whole(price.spread.low), high=money.whole(price.spread.high)),
        basis=capitalize_first(describe_input_source(price)),
        claims=groups or catalog.claims,
        claims_title=tr("Catalog prices") if groups else catalog.claims_title,
    )


def _explain_tokens(
    context: _CostContext, title: str, costs: TokenCosts | None, term: str, groups: tuple[ClaimGroup, ...]
) -> Explanation:
    money, conditions = context.money, describe_utilization(context.column.inputs["utilisation"], context.formatter)
    if costs is None:
        return _explain_missing(context, title, conditions, groups)
    working = _derive_rented(context, costs, term) if term else _derive_owned(context, costs)
    return Explanation(
        what=title,
        conditions=capitalize_first(conditions),
        figure=money.small(costs.output.value),
        unit=money.code,
        band=tr(
            "80% interval {low} to {high}, from throughput and price",
            low=money.small(costs.output.low),
            high=money.small(costs.output.high),
        ),
        ground=ExplanationBasis.ESTIMATED,
        basis=tr("Before tax; total cost divided by output tokens"),
        working=working,
        claims_title=tr("Catalog prices"),
        claims=groups,
    )


def _explain_missing(context: _CostContext, title: str, conditions: str, groups: tuple[ClaimGroup, ...]) -> Explanation:
    lacks = "; ".join(describe_missing_input(each) for each in context.column.missing)
    return Explanation(
        what=title,
        conditions=conditions,
        band=capitalize_first(lacks),
        claims_title=tr("Catalog prices"),
        claims=groups,
    )


def _explain_total(context: _CostContext, deployment: str, groups: tuple[ClaimGroup, ...]) -> Explanation:
    tco, title = context.column.tco, tr("Total cost of ownership, {deployment}", deployment=deployment)
    if tco is None:
        return _explain_missing(context, title, "", groups)
    return Explanation(
        what=title,
        conditions=tr("{years}, whole deployment", years=format_years(tco.years, context.formatter)),
        figure=context.money.whole(tco.total_usd),
        unit=context.money.code,
        band=tr(
            "{once} upfront, {monthly} per month",
            once=context.money.whole(tco.at_once_usd),
            monthly=context.money.whole(tco.per_month_usd),
        ),
        ground=ExplanationBasis.EXACT,
        basis=tr("Before tax; exact for the inputs below"),
        working=_make_sum_term(context, tco),
        claims_title=tr("Catalog prices"),
        claims=groups,
    )


# Derivations


def _derive_owned(context: _CostContext, costs: TokenCosts) -> TermLine:
    tco = context.column.tco
    inputs = [] if tco is None else [_make_sum_term(context, tco)]
    years = context.column.inputs["years"].spread
    hours = HOURS_PER_YEAR * (1.0 if years is None else years.likely)
    inputs.append(_derive_served_tokens(context, hours, tr("Tokens, all years")))
    return _derive_cost(context, costs, inputs)


def _derive_rented(context: _CostContext, costs: TokenCosts, term: str) -> TermLine:
    rent = context.column.rent_usd_per_hour
    count = context.column.rented_count or 1
    hourly = None if rent is None else rent * count
    label = tr("Rent per hour ({term})", term=label_price_word(term))
    formula = f"{context.formatter.count(count)} × {context.money.small(rent)}"
    paid = _make_term(
        "rent",
        label,
        context.money.small(hourly),
        context.money.code,
        formula,
        [_make_input_term(context, "rent_usd_per_hour")],
    )
    software = context.column.software
    if hourly is None or software is None or not any(software):
        return _derive_cost(context, costs, [paid, _derive_served_tokens(context, 1.0, tr("Tokens per hour"))])
    return _derive_cost(context, costs, _derive_rented_with_software(context, hourly, software, paid))


def _derive_rented_with_software(
    context: _CostContext, hourly: float, software: SoftwareCosts, rent: TermLine
) -> tuple[TermLine, TermLine]:
    spread = context.column.inputs["years"].spread
    hours = HOURS_PER_YEAR * (1.0 if spread is None else spread.likely)
    months = hours / HOURS_PER_MONTH
    lines = [CostLine("porting", software.at_once_usd), CostLine("upkeep", software.per_month_usd * months)]
    term_lines = [_derive_line(context, line) for line in lines if line.usd]
    money = context.money
    paid = money.whole(hourly * hours + sum(line.usd for line in lines))
    formula = " + ".join([f"{rent.value} × {context.formatter.count(hours)}", *(each.value for each in term_lines)])
    label = tr("Rent and software, all years")
    return (
        _make_term("paid", label, paid, money.code, formula, [rent, *term_lines]),
        _derive_served_tokens(context, hours, tr("Tokens, all years")),
    )


def _derive_cost(context: _CostContext, costs: TokenCosts, inputs: Sequence[TermLine]) -> TermLine:
    formula = " ÷ ".join(each.value for each in inputs)
    unit = tr("{code}/M tokens", code=context.money.code)
    return _make_term("cost", tr("Cost"), context.money.small(costs.output.value), unit, formula, inputs)


def _derive_served_tokens(context: _CostContext, hours: float, label: str) -> TermLine:
    rate, formatter = context.column.tokens_per_s, context.formatter
    utilisation = context.column.inputs["utilisation"].spread
    busy = 1.0 if utilisation is None else utilisation.likely
    tokens = 0.0 if rate is None else rate.value * hours * busy * SECONDS_PER_HOUR
    value = formatter.estimate(tokens / 1e6)
    rate_text = MISSING_VALUE_TEXT if rate is None else formatter.estimate(rate.value)
    formula = (
        f"{rate_text} × {formatter.count(SECONDS_PER_HOUR)} × {formatter.count(hours)} × {formatter.per_cent(busy)}"
    )
    throughput = _make_term(
        "throughput", tr("Output throughput"), rate_text, "tok/s", None, [], source=tr("estimate at this load")
    )
    return _make_term(
        "tokens", label, value, tr("M tokens"), formula, [throughput, _make_input_term(context, "utilisation")]
    )


def _make_sum_term(context: _CostContext, tco: TotalCostOfOwnership) -> TermLine:
    lines = [_derive_line(context, line) for line in tco.lines if line.usd]
    label = tr("Cost over {years}", years=format_years(tco.years, context.formatter))
    money = context.money
    return _make_term("total", label, money.whole(tco.total_usd), money.code, tr("sum of the lines"), lines)


def _derive_line(context: _CostContext, line: CostLine) -> TermLine:
    words, names = COST_LINES[line.name]
    inputs = list(_list_inputs(context, names))
    money = context.money
    return _make_term(line.name, label_cost_line(line.name), money.whole(line.usd), money.code, tr(words), inputs)


def _list_inputs(context: _CostContext, names: Sequence[str]) -> Iterator[TermLine]:
    """Yield the inputs of a line; whole systems are counted, and idle power is included if one is partly used."""
    systems, formatter = context.column.systems, context.formatter
    for name in names:
        if name == _BOUGHT:
            if systems is not None:
                count, source = formatter.count(systems.accelerators), describe_systems(systems, formatter)
                yield _make_term(name, tr("Accelerators bought"), count, None, None, [], source=source)
        elif name != "idle_draw" or (systems is not None and systems.idle):
            yield _make_input_term(context, name)


def _make_input_term(context: _CostContext, name: str) -> TermLine:
    cost_input, formatter = context.column.inputs[name], context.formatter
    value = MISSING_VALUE_TEXT
    if cost_input.spread is not None:
        value = format_input_amount(name, cost_input.spread.likely, formatter)
        if not is_share_input(name) and (get_input_unit(name)).startswith("USD"):
            value = context.money.small(cost_input.spread.likely)
    unit = context.money.unit(get_input_unit(name)) or None
    return _make_term(name, label_cost_input(name), value, unit, None, [], source=describe_input_source(cost_input))


def _make_term(
    name: str,
    label: str,
    value: str,
    unit: str | None,
    formula: str | None,
    inputs: Sequence[TermLine],
    *,
    source: str | None = None,
) -> TermLine:
    entering = tuple(inputs)
    outline = (name, tuple(each.outline for each in entering))
    enter: Callable[[], tuple[TermLine, ...]] = lambda: entering  # noqa: E731 - what a term is made with
    return TermLine(name, label, value, unit, formula, source, None, outline, enter)


# Records


def _group_prices(prices: Iterable[PriceRecord], term: str, context: _CostContext) -> tuple[ClaimGroup, ...]:
    """Return the prices of a term, the newest first, with their sources."""
    records = sorted(
        (price for price in prices if price.term == term), key=lambda price: price.date or "", reverse=True
    )
    current = {price.id for price in list_current_prices(records)}
    if not records:
        return ()
    label = (
        tr("Purchase prices") if term == PURCHASE_TERM else tr("Rental prices ({term})", term=label_price_word(term))
    )
    return (
        ClaimGroup(
            f"prices/{term}", label, tuple(_make_price_claim(price, context, price.id in current) for price in records)
        ),
    )


def _make_price_claim(price: PriceRecord, context: _CostContext, is_current: bool) -> ClaimLine:
    value, unit = format_price(price, context.formatter)
    dated = context.formatter.date(price.date or tr("undated"))
    title = price.provider or price.source.title
    origin = f"{price.kind.label} · {dated}"
    value_text = join_unit(value, unit) if unit else value
    verdict = None
    if not is_current:
        verdict = translate_data(price.note or "") if price.is_refused else tr("older than the newest list")
    return ClaimLine(
        value=value,
        unit=unit,
        stance=ClaimStatus.AGREES if is_current else ClaimStatus.REFUSED,
        title=title,
        origin=origin,
        source=price.source.title,
        verdict=verdict,
        details=(),
        sentence=f"{value_text}, {title}, {origin}",
        source_id=price.source.id,
    )
