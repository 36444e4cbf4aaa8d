"""Costs as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gpudesk.cli.tables import hanging, padded, table, text_width, wrapped
from gpudesk.domain.answers import Answer
from gpudesk.domain.cost_inputs import INPUTS
from gpudesk.domain.costs import CostAnswer, CostColumn, CostDraws, Efficiency
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.sheets.break_even_words import break_even_text
from gpudesk.sheets.cost_words import (
    api_lines,
    busy_text,
    draws_text,
    input_label,
    line_label,
    missing_lines,
    origin_text,
    range_text,
    rented_text,
)
from gpudesk.sheets.money import Money
from gpudesk.sheets.names import column_names
from gpudesk.text import tr

_Strong = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What columns are called, by key, and how amounts and lines are written."""

    names: Mapping[str, str]
    money: Money
    formatter: Formatter
    width: int
    strong: _Strong


def cost_lines(
    costs: CostAnswer, answer: Answer, draws: tuple[CostDraws, CostDraws], width: int, strong: _Strong
) -> Iterator[str]:
    """Yield tokens, all years, efficiency, break-evens and what is not known."""
    settings = answer.scenario.costs
    formatter = Formatter()
    money = Money(formatter, settings.currency)
    named = zip(costs.columns, column_names(answer), strict=True)
    shown = _Shown({column.key: name for column, name in named}, money, formatter, width, strong)
    said = tr(
        "{currency}, taxes excluded; {busy}; {rents}. What is assumed: gpudesk cost --list-inputs.",
        currency=money.code,
        busy=busy_text(costs.utilisation, formatter),
        rents=rented_text(settings.rent_term, costs.utilisation),
    )
    yield from wrapped(said, width)
    for rows in (_tokens, _all_years, _yields):
        yield ""
        yield from rows(costs, shown)
    yield ""
    for line in _said(costs, shown):
        yield from wrapped(f"{line}.", width)
    yield ""
    yield from _unknown(draws, shown)


def _said(costs: CostAnswer, shown: _Shown) -> Iterator[str]:
    """Yield what is missing and where costs are equal, as sentences without their full stops."""
    for column in costs.columns:
        yield from missing_lines(column, shown.names[column.key])
    yield from api_lines(costs)
    for found in costs.break_evens:
        yield break_even_text(found, shown.names, shown.formatter, shown.money)


def _tokens(costs: CostAnswer, shown: _Shown) -> list[str]:
    money = shown.money
    head = (
        tr("A million output tokens"),
        tr("Owned"),
        tr("Band"),
        tr("Rented"),
        tr("Band"),
        tr("Rent an hour"),
    )
    rows = [
        (
            shown.names[each.key],
            money.small(each.owned.output.value if each.owned else None),
            money.band(each.owned.output if each.owned else None),
            money.small(each.rented.output.value if each.rented else None),
            money.band(each.rented.output if each.rented else None),
            money.small(each.rent_usd_per_hour),
        )
        for each in costs.columns
    ]
    if costs.api is not None:
        api = tr("Hosted API, with prompts")
        rows.append((api, money.small(costs.api.value), money.band(costs.api), "", "", ""))
    return table(head, rows, shown.width, right=range(1, 6), strong=shown.strong)


def _all_years(costs: CostAnswer, shown: _Shown) -> list[str]:
    owned = [each for each in costs.columns if each.tco is not None]
    if not owned or owned[0].tco is None:
        return [tr("Without purchase prices there is no cost of owning.")]
    money = shown.money
    years = shown.formatter.stated(owned[0].tco.years)
    head = (
        tr("{years} years, thousand {code}", years=years, code=money.code),
        *(shown.names[each.key] for each in owned),
    )
    lines = [each.tco.lines for each in owned if each.tco is not None]
    rows = [
        (line_label(line.name), *(money.thousands(each[place].usd) for each in lines))
        for place, line in enumerate(lines[0])
        if any(each[place].usd for each in lines)
    ]
    rows.append((tr("Total"), *(money.thousands(each.tco.total_usd) for each in owned if each.tco)))
    return table(head, rows, shown.width, right=range(1, len(head)), strong=shown.strong)


def _yields(costs: CostAnswer, shown: _Shown) -> list[str]:
    head = (
        tr("For power and price"),
        tr("tok/s a kW rated"),
        tr("tok/s a rack"),
        tr("J metered"),
        tr("{code} a GiB", code=shown.money.code),
        tr("left for KV"),
        tr("Request"),
    )
    rows = [_yield_row(each, shown) for each in costs.columns]
    return table(head, rows, shown.width, right=range(1, 7), strong=shown.strong)


def _yield_row(column: CostColumn, shown: _Shown) -> tuple[str, ...]:
    name, money, formatter = shown.names[column.key], shown.money, shown.formatter
    found: Efficiency | None = column.efficiency
    tokens = column.owned or column.rented
    if found is None:
        return (name, *[UNKNOWN] * 6)
    banded = (found.tokens_per_s_per_kw, found.tokens_per_s_per_rack, found.joules_per_token)
    return (
        name,
        *(formatter.estimate(None if each is None else each.value) for each in banded),
        money.small(found.usd_per_gib),
        money.small(found.usd_per_gib_for_kv),
        money.small(None if tokens is None else tokens.request.value),
    )


def _unknown(draws: tuple[CostDraws, CostDraws], shown: _Shown) -> Iterator[str]:
    money, formatter = shown.money, shown.formatter
    for each in draws:
        if not each.cheapest:
            continue
        lead = tr("Rented: ") if each.rented else tr("Owned: ")
        ranked = sorted(each.cheapest.items(), key=lambda pair: -pair[1])
        said = ", ".join(
            tr(
                "{name} cheapest in {share} of {n} draws ({low} – {high})",
                name=shown.names[key],
                share=draws_text(share, formatter),
                n=formatter.count(each.n),
                low=money.small(each.quantiles[key][0]),
                high=money.small(each.quantiles[key][2]),
            )
            for key, share in ranked
        )
        yield from hanging(lead, f"{said}.", shown.width)


def input_lines(costs: CostAnswer, answer: Answer, width: int, strong: _Strong) -> Iterator[str]:
    """Yield the inputs of all, then those of each accelerator, with where each comes from."""
    formatter = Formatter()
    if costs.columns:
        yield strong(tr("Of all"))
        yield from _inputs(costs.columns[0], answer, formatter, width, each=False)
    for column, name in zip(costs.columns, column_names(answer), strict=True):
        yield ""
        yield strong(name)
        yield from _inputs(column, answer, formatter, width, each=True)


def _inputs(
    column: CostColumn, answer: Answer, formatter: Formatter, width: int, *, each: bool
) -> Iterator[str]:
    """Yield each input as it is set, with its value, and below it where that comes from."""
    prefix = f"{column.accelerator}." if each else ""
    shown = [found for name, found in column.inputs.items() if INPUTS[name].each is each]
    names = max(text_width(prefix + found.name) for found in shown)
    labels = max(text_width(input_label(found.name)) for found in shown)
    for found in shown:
        value = range_text(found.name, found.spread, formatter, answer.scenario.costs.currency)
        left = f"{padded(prefix + found.name, names)}  {padded(input_label(found.name), labels)}"
        yield f"{left}  {value}"
        origin = origin_text(found, answer.catalog_revision[:8])
        yield from (" " * (names + 2) + line for line in wrapped(origin, max(width - names - 2, 30)))
