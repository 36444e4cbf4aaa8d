"""The part of a sheet that says what the comparison costs, and on what that rests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from gpudesk.domain.answers import Answer
from gpudesk.domain.costs import CostAnswer, CostColumn, TokenCosts
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.sheets.cost_words import (
    api_lines,
    busy_text,
    input_label,
    missing_lines,
    range_text,
    rented_text,
)
from gpudesk.sheets.money import Money
from gpudesk.sheets.sheet import Cell, Group, Mark, Remark, Row, Table
from gpudesk.text import tr

#: Inputs of all that are named below the figures; the others are in the program.
_NAMED: Final = (
    "utilisation",
    "server_share",
    "residual",
    "capital_rate",
    "energy_usd_per_kwh",
    "pue",
    "hosting_usd_per_kw_month",
    "support",
)


def costs_table(answer: Answer, costs: CostAnswer, formatter: Formatter) -> Table:
    """Return what tokens cost, owned and rented, what owning costs in all, and from when on it is cheaper."""
    money = Money(formatter, answer.scenario.costs.currency)
    title = tr(
        "Cost of a million output tokens in {code}, {busy}, {rents}, taxes excluded",
        code=money.code,
        busy=busy_text(costs.utilisation, formatter),
        rents=rented_text(answer.scenario.costs.rent_term, costs.utilisation),
    )
    return Table(tr("Cost"), (Group(title, _rows(costs, money, formatter)),))


def _rows(costs: CostAnswer, money: Money, formatter: Formatter) -> tuple[Row, ...]:
    def row(label: str, unit: str | None, cell: Callable[[CostColumn], Cell]) -> Row:
        return Row(label, unit, tuple(cell(column) for column in costs.columns))

    def tokens(found: TokenCosts | None) -> Cell:
        if found is None:
            return Cell(UNKNOWN, mark=Mark.FAILS)
        value, low, high = (money.small(each) for each in found.output)
        return Cell(value, low, high)

    def months(column: CostColumn) -> Cell:
        found = (each for each in costs.break_evens if each.key == column.key)
        value = next((each.value for each in found if each.name == "months_to_own"), None)
        return Cell(UNKNOWN if value is None else formatter.number(value, 1))

    def total(column: CostColumn) -> Cell:
        if column.tco is None:
            return Cell(UNKNOWN, mark=Mark.FAILS)
        return Cell(money.thousands(column.tco.total_usd))

    def joules(column: CostColumn) -> Cell:
        found = column.efficiency.joules_per_token if column.efficiency else None
        return Cell(UNKNOWN if found is None else formatter.estimate(found.value))

    years = next((column.tco.years for column in costs.columns if column.tco is not None), None)
    rows = [
        row(tr("Owned"), money.code, lambda each: tokens(each.owned)),
        row(tr("Rented"), money.code, lambda each: tokens(each.rented)),
        row(tr("Rent of one"), money.unit("USD/h"), lambda each: Cell(money.small(each.rent_usd_per_hour))),
    ]
    if years is not None:
        label = tr("{years} years of owning", years=formatter.stated(years))
        rows.append(row(label, tr("k{code}", code=money.code), total))
        rows.append(row(tr("Below rent after"), tr("months"), months))
    rows.append(row(tr("Energy of an output token"), "J", joules))
    return tuple(rows)


def cost_remarks(
    answer: Answer, costs: CostAnswer, names: Sequence[str], formatter: Formatter
) -> tuple[Remark, ...]:
    """Return what is missing, and what is taken for granted."""
    lines = [
        Remark(tr("Cost"), line)
        for column, name in zip(costs.columns, names, strict=True)
        for line in missing_lines(column, name)
    ]
    lines += [Remark(tr("Cost"), line) for line in api_lines(costs)]
    if costs.columns:
        inputs, currency = costs.columns[0].inputs, answer.scenario.costs.currency
        said = ", ".join(
            f"{input_label(name)} {range_text(name, inputs[name].spread, formatter, currency)}"
            for name in _NAMED
            if name in inputs
        )
        lines.append(Remark(tr("Cost"), tr("Taken for granted, with what it may be: {inputs}", inputs=said)))
    return tuple(lines)
