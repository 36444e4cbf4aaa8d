"""The sheet of one accelerator in a cash flow: the lines of its total, and what is paid month by month.

The formulas are those of the cost of owning, of the cells of the inputs. Cash is what is paid and when:
interest on what is bound, and what hardware is worth at the end, are lines of the total but no payments.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from gpudesk.domain.cost_inputs import INPUTS
from gpudesk.domain.costs import CostColumn
from gpudesk.domain.formatting import UNKNOWN
from gpudesk.domain.units import HOURS_PER_YEAR, MONTHS_PER_YEAR
from gpudesk.sheets.cash_flow_cells import (
    Looks,
    Page,
    Term,
    first_above_zero,
    if_below,
    if_blank,
    lesser,
    sign_of,
    summed,
)
from gpudesk.sheets.cash_flow_inputs import COUNT, Given
from gpudesk.sheets.cost_words import line_label
from gpudesk.text import tr

_KILO: Final = 1000.0
_BOUGHT: Final = ("accelerators", "server", "network", "rack")
#: Lines of what runs, which lie next to each other.
_RUNNING: Final = ("power", "cooling", "demand", "hosting", "support", "staff")
#: Rows of the heads of the blocks, and of what stands below them.
_FIGURES_HEAD: Final = 3
_LINES_HEAD: Final = 8
_TOTAL: Final = 23
_CASH_HEAD: Final = 25
_CHEAPER: Final = 30
_MONTHS_HEAD: Final = 32


class Owned(NamedTuple):
    """Cells of the sheet of one accelerator that a summary shows, as all sheets refer to them."""

    total: Term
    at_once: Term
    per_month: Term
    porting: Term
    upkeep: Term
    cheaper_from: Term


def months_shown(columns: Sequence[CostColumn]) -> int:
    """Return how many months have a row: those of the longest term that the reader may set."""
    terms = [column.tco.years for column in columns if column.tco is not None]
    return math.ceil(max((INPUTS["years"].bounds.high, *terms)) * MONTHS_PER_YEAR)


def write_accelerator(page: Page, name: str, given: Given, months: int, looks: Looks) -> Owned:
    """Write the lines of one accelerator and what is paid in so many months; return cells for a summary.

    Rows of months beyond the term stay empty until the reader makes it longer.
    """
    page.say(0, 0, name, looks.title)
    page.say(1, 0, tr("Amounts are US dollars, taxes excluded."), looks.label)
    figures = _write_figures(page, given, looks)
    lines = _write_lines(page, given, figures, looks)
    page.say(_TOTAL, 0, tr("Total"), looks.sum)
    total = page.work_out(_TOTAL, 1, summed(list(lines.values())), looks.total)
    cash = _write_cash(page, given, figures, lines, looks)
    page.say(_CHEAPER, 0, tr("Less cash than renting from month"), looks.label)
    cheaper = _write_months(page, figures.months, cash, months, looks)
    from_month = page.work_out(_CHEAPER, 1, cheaper, looks.count)
    page.sheet.set_column(0, 0, 42)
    page.sheet.set_column(1, 6, 18)
    shown = (total, cash.at_once, cash.per_month, lines["porting"], lines["upkeep"], from_month)
    return Owned(*(page.from_afar(each) for each in shown))


class _Figures(NamedTuple):
    """Cells that several lines are made of."""

    kilowatts: Term
    share: Term
    months: Term


class _Cash(NamedTuple):
    """Cells of what is paid at once and each month, for owning and for renting; software is in both."""

    at_once: Term
    per_month: Term
    hired_at_once: Term
    hired_per_month: Term


def _write_figures(page: Page, given: Given, looks: Looks) -> _Figures:
    page.say_all(_FIGURES_HEAD, (tr("Figure"), tr("Value"), tr("Unit")), looks.head)
    kilowatts = given[COUNT] * (given["accelerator_w"] + given["host_w"]) / _KILO
    rows = (
        (tr("Power of the machines"), kilowatts, "kW", looks.number),
        (tr("Share of the cost of software"), given[COUNT] / given["fleet"], "", looks.small),
        (tr("Term"), given["years"] * MONTHS_PER_YEAR, tr("months"), looks.number),
    )
    cells = []
    for row, (label, term, unit, look) in enumerate(rows, start=_FIGURES_HEAD + 1):
        page.say(row, 0, label, looks.label)
        cells.append(page.work_out(row, 1, term, look))
        page.say(row, 2, unit, looks.label)
    return _Figures(*cells)


def _write_lines(page: Page, given: Given, figures: _Figures, looks: Looks) -> dict[str, Term]:
    page.say_all(_LINES_HEAD, (tr("Line"), tr("Over the term, USD")), looks.head)
    cells: dict[str, Term] = {}

    def write(terms: Mapping[str, Term]) -> None:
        for row, (name, term) in enumerate(terms.items(), start=_LINES_HEAD + 1 + len(cells)):
            page.say(row, 0, line_label(name), looks.label)
            cells[name] = page.work_out(row, 1, term, looks.amount)

    write(_hardware(given))
    paid = summed([cells[name] for name in _BOUGHT])
    write(_bound(given, paid))
    write(_running(given, figures, paid))
    write(_software(given, figures))
    return cells


def _hardware(given: Given) -> dict[str, Term]:
    listed = given[COUNT] * (1.0 + given["spares"]) * given["price_usd"]
    shares = {name: listed * given[f"{name}_share"] for name in _BOUGHT[1:]}
    return {"accelerators": listed * (1.0 - given["discount"]), **shares}


def _bound(given: Given, paid: Term) -> dict[str, Term]:
    left = given["residual"]
    return {
        "residual": -left * paid,
        "capital": given["capital_rate"] * given["years"] * paid * (1.0 + left) / 2.0,
    }


def _running(given: Given, figures: _Figures, paid: Term) -> dict[str, Term]:
    kilowatts, months = figures.kilowatts, figures.months
    energy = kilowatts * given["draw"] * given["years"] * HOURS_PER_YEAR * given["energy_usd_per_kwh"]
    return {
        "power": energy,
        "cooling": energy * (given["pue"] - 1.0),
        "demand": kilowatts * given["pue"] * months * given["demand_usd_per_kw_month"],
        "hosting": kilowatts * months * given["hosting_usd_per_kw_month"],
        "support": given["support"] * given["years"] * paid,
        "staff": given[COUNT] * given["staff_usd_per_year"] * given["years"],
    }


def _software(given: Given, figures: _Figures) -> dict[str, Term]:
    each = given["engineer_usd_per_year"]
    return {
        "porting": figures.share * given["porting_engineer_months"] / MONTHS_PER_YEAR * each,
        "upkeep": figures.share * given["engineers"] * each * given["years"],
    }


def _write_cash(
    page: Page, given: Given, figures: _Figures, lines: Mapping[str, Term], looks: Looks
) -> _Cash:
    page.say_all(_CASH_HEAD, (tr("Cash"), tr("USD")), looks.head)
    bought = summed([lines[name] for name in _BOUGHT])
    running = summed([lines[name] for name in _RUNNING])
    rent = given["rent_usd_per_hour"]
    hired = given[COUNT] * rent * HOURS_PER_YEAR / MONTHS_PER_YEAR
    rows = (
        (tr("Paid at once: hardware with spares, porting"), bought + lines["porting"]),
        (tr("Paid each month: all that runs"), (running + lines["upkeep"]) / figures.months),
        (tr("Rented, paid at once: porting"), if_blank(rent, "", lines["porting"])),
        (
            tr("Rented, paid each month: rent around the clock, upkeep of software"),
            if_blank(rent, "", hired + lines["upkeep"] / figures.months),
        ),
    )
    cells = []
    for row, (label, term) in enumerate(rows, start=_CASH_HEAD + 1):
        page.say(row, 0, label, looks.label)
        cells.append(page.work_out(row, 1, term, looks.money))
    return _Cash(*cells)


def _write_months(page: Page, term: Term, cash: _Cash, months: int, looks: Looks) -> Term:
    """Write month by month; return the first month in which more would have gone for rent."""
    heads = (
        tr("Month"),
        tr("Paid, USD"),
        tr("Paid so far, USD"),
        tr("Rented, paid, USD"),
        tr("Rented, paid so far, USD"),
        tr("Rented less owned so far, USD"),
        tr("Sign: 1 where owning took less"),
    )
    page.say_all(_MONTHS_HEAD, heads, looks.head)
    rows = [_write_month(page, _MONTHS_HEAD + 1, _first(page, cash, looks), looks)]
    for number in range(1, months + 1):
        row = _MONTHS_HEAD + 1 + number
        before = rows[-1]
        month = if_blank(before.month, "", if_below(before.month, term, before.month + 1.0, ""))
        placed = page.work_out(row, 0, month, looks.count, fixed=False)
        part = lesser(1.0, term - before.month)
        paid = if_blank(placed, "", cash.per_month * part)
        rent = if_blank(placed, "", if_blank(cash.hired_per_month, "", cash.hired_per_month * part))
        rows.append(_write_month(page, row, _Month(placed, paid, rent, before), looks))
    return first_above_zero([each.sign for each in rows], [each.month for each in rows], UNKNOWN)


class _Row(NamedTuple):
    """Cells of one month that the next one, and the search for a sign, need."""

    month: Term
    so_far: Term
    rent_so_far: Term
    sign: Term


class _Month(NamedTuple):
    """What is paid in a month, and the row before it; None for month 0, when all is bought."""

    month: Term
    paid: Term
    rent: Term
    before: _Row | None


def _first(page: Page, cash: _Cash, looks: Looks) -> _Month:
    row = _MONTHS_HEAD + 1
    page.sheet.write_number(row, 0, 0, looks.count)
    return _Month(
        Term(f"A{row + 1}", 0.0), cash.at_once, if_blank(cash.hired_at_once, "", cash.hired_at_once), None
    )


def _write_month(page: Page, row: int, month: _Month, looks: Looks) -> _Row:
    """Write one month; what lies beyond the term, or has no rent, stays empty."""

    def write(column: int, term: Term) -> Term:
        return page.work_out(row, column, term, looks.money if column < 6 else looks.count, fixed=False)

    before = month.before
    paid, rent = write(1, month.paid), write(3, month.rent)
    so_far = write(2, paid if before is None else if_blank(paid, "", before.so_far + paid))
    rented = write(4, if_blank(rent, "", rent if before is None else before.rent_so_far + rent))
    ahead = write(5, if_blank(rented, "", rented - so_far))
    return _Row(month.month, so_far, rented, write(6, if_blank(ahead, "", sign_of(ahead))))
