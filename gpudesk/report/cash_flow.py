"""The costs of a comparison month by month, as an Excel workbook with live formulas."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Any, Final, NamedTuple

import xlsxwriter

from gpudesk.domain.cost import COST_INPUTS, CostAnswer, CostColumn, CostInputOrigin
from gpudesk.report.costs import (
    describe_input_source,
    describe_missing_input,
    get_input_unit,
    is_share_input,
    label_cost_input,
    label_cost_line,
)
from gpudesk.report.labels import format_date
from gpudesk.report.writers.safe_text import RESERVED_SHEET_NAME, make_sheet_name, make_visible
from gpudesk.report.writers.xlsx import (
    CellFormula,
    FormulaSheet,
    WorkbookFormats,
    choose_if_below,
    choose_if_blank,
    find_first_positive,
    sum_cells,
    take_minimum,
    take_sign,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT
from gpudesk.text.translation import tr
from gpudesk.text.units import HOURS_PER_YEAR, MONTHS_PER_YEAR, SECONDS_PER_HOUR

#: Names of the inputs for used accelerators, idle ones in owned whole systems and in rented whole instances, and total
#: output tokens/s.
COUNT: Final = "count"
IDLE: Final = "idle"
IDLE_RENTED: Final = "idle_rented"
THROUGHPUT: Final = "throughput"
#: Inputs that owning and renting do not use.
_OF_OTHERS: Final = frozenset(
    {
        "requests_per_user_month",
        "rack_kw",
        "api_input_usd_per_million",
        "api_output_usd_per_million",
        "grid_g_per_kwh",
        "embodied_kg",
    }
)
#: All inputs with a row, in its order.
OPEN_INPUTS: Final = (COUNT, IDLE, IDLE_RENTED, THROUGHPUT, *(name for name in COST_INPUTS if name not in _OF_OTHERS))
#: Labels of the inputs that count accelerators.
_COUNTS: Final[Mapping[str, str]] = {
    COUNT: "Accelerators",
    IDLE: "Idle accelerators",
    IDLE_RENTED: "Idle accelerators, rented",
}
#: Cells of the inputs of one accelerator, by name, in the notation of formulas on all sheets.
InputCells = Mapping[str, CellFormula]

_INPUTS_HEAD: Final = 3
#: Maximum length of a spreadsheet's message.
_LONGEST_ERROR: Final = 255


def write_inputs(
    page: FormulaSheet, columns: Sequence[CostColumn], names: Mapping[str, str], looks: WorkbookFormats
) -> dict[str, InputCells]:
    """Write the inputs, one per row, accelerators side by side; return the cells by column key.

    Values are the likely ones. Unknown values stay empty, for the reader to fill in.
    """
    last = len(columns) + 1
    page.write_text(0, 0, tr("Inputs"), looks.title)
    page.write_text(
        1, 0, tr("Edit the shaded cells; all other sheets update. Values are the most likely ones."), looks.label
    )
    heads = (tr("Input"), *(names[column.key] for column in columns), tr("Unit"), tr("Source"))
    page.write_texts(_INPUTS_HEAD, heads, looks.head)
    cells: dict[str, dict[str, CellFormula]] = {column.key: {} for column in columns}
    for row, name in enumerate(OPEN_INPUTS, start=_INPUTS_HEAD + 1):
        page.write_text(row, 0, _label_input(name), looks.label)
        for place, column in enumerate(columns, start=1):
            look = looks.share if is_share_input(name) else looks.input_cell
            # The number of accelerators of the deployment itself follows it.
            if name == "fleet" and column.count is not None and column.inputs[name].origin is CostInputOrigin.DEFAULT:
                cell = page.write_formula(row, place, cells[column.key][COUNT], look)
            else:
                cell = page.give(row, place, _get_input_value(column, name), look)
            cells[column.key][name] = page.reference_across_sheets(cell)
        if columns and name in COST_INPUTS:
            page.sheet.data_validation(row, 1, row, len(columns), _describe_allowed_range(name))
        page.write_text(row, last, "" if name in _COUNTS else get_input_unit(name), looks.label)
        page.write_text(row, last + 1, _describe_input_origin(name, columns, names), looks.long)
    page.sheet.freeze_panes(_INPUTS_HEAD + 1, 1)
    page.sheet.set_column(0, 0, 34)
    page.sheet.set_column(1, last, 16)
    page.sheet.set_column(last + 1, last + 1, 90)
    return dict(cells)


def _label_input(name: str) -> str:
    if name in _COUNTS:
        return tr(_COUNTS[name])
    return tr("Total output throughput") if name == THROUGHPUT else label_cost_input(name)


def _get_input_value(column: CostColumn, name: str) -> float | None:
    if name in _COUNTS and column.count is None:
        return None
    if name == COUNT:
        return float(column.count or 0)
    if name == IDLE:
        return float(column.systems.idle if column.systems is not None else 0)
    if name == IDLE_RENTED:
        return float(column.idle_rented)
    if name == THROUGHPUT:
        return None if column.tokens_per_s is None else float(column.tokens_per_s.value)
    spread = column.inputs[name].spread
    return None if spread is None else float(spread.likely)


def _describe_allowed_range(name: str) -> dict[str, Any]:
    """Return the range that the spreadsheet accepts: the bounds of the input, on which the rows of months rely."""
    bounds = COST_INPUTS[name].bounds
    pattern = ".0%" if is_share_input(name) else ",.15g"
    low, high = (format(each, pattern) for each in bounds[:2])
    return {
        "validate": "decimal",
        "criteria": "between",
        "minimum": bounds.low,
        "maximum": bounds.high,
        "error_message": tr("Enter a number from {low} to {high}.", low=low, high=high)[:_LONGEST_ERROR],
    }


def _describe_input_origin(name: str, columns: Sequence[CostColumn], names: Mapping[str, str]) -> str:
    """Return the origin of an input's values: once if it is the same for all accelerators."""
    if name == COUNT:
        return tr("from the comparison; if you change it, change the throughput too")
    if name == IDLE:
        return tr("owned in partly used systems")
    if name == IDLE_RENTED:
        return tr("rented in partly used instances")
    if name == THROUGHPUT:
        return tr("estimated for the load of the comparison")
    sources = [(names[column.key], describe_input_source(column.inputs[name])) for column in columns]
    if len({origin for _, origin in sources}) == 1:
        return sources[0][1]
    return "\n".join(tr("{name}: {origin}", name=each, origin=origin) for each, origin in sources)


_KILO: Final = 1000.0
_BOUGHT: Final = ("accelerators", "server", "network", "rack")
#: Lines of running costs, which are adjacent.
_RUNNING: Final = ("power", "cooling", "demand", "hosting", "support", "staff")
#: Rows of the block heads, and of their first lines.
_FIGURES_HEAD: Final = 3
_LINES_HEAD: Final = 10
_TOTAL: Final = 25
_CASH_HEAD: Final = 27
_CHEAPER: Final = 32
_MONTHS_HEAD: Final = 34


class OwnedCells(NamedTuple):
    """Cells of one accelerator's sheet for the summary, in the notation of formulas on all sheets."""

    total: CellFormula
    at_once: CellFormula
    per_month: CellFormula
    porting: CellFormula
    upkeep: CellFormula
    cheaper_from: CellFormula


def write_accelerator(
    page: FormulaSheet, name: str, cells: InputCells, months: int, looks: WorkbookFormats
) -> OwnedCells:
    """Write the cost lines of one accelerator and its payments by month; return cells for the summary.

    Rows of months beyond the term stay empty until the reader extends it.
    """
    page.write_text(0, 0, name, looks.title)
    page.write_text(1, 0, tr("Amounts are in US dollars, before tax."), looks.label)
    figures = _write_figures(page, cells, looks)
    lines = _write_lines(page, cells, figures, looks)
    page.write_text(_TOTAL, 0, tr("Total"), looks.sum)
    total = page.write_formula(_TOTAL, 1, sum_cells(list(lines.values())), looks.total)
    cash = _write_cash(page, cells, figures, lines, looks)
    page.write_text(_CHEAPER, 0, tr("Payback month"), looks.label)
    cheaper = _write_months(page, figures.months, cash, months, looks)
    from_month = page.write_formula(_CHEAPER, 1, cheaper, looks.count)
    page.sheet.set_column(0, 0, 42)
    page.sheet.set_column(1, 6, 18)
    totals = (total, cash.at_once, cash.per_month, lines["porting"], lines["upkeep"], from_month)
    return OwnedCells(*(page.reference_across_sheets(each) for each in totals))


class _OwningFigures(NamedTuple):
    """Cells used by several lines."""

    bought: CellFormula
    kilowatts: CellFormula
    average_kw: CellFormula
    share: CellFormula
    months: CellFormula


class _CashCells(NamedTuple):
    """Cells of upfront and monthly payments, for owning and for renting; both include software."""

    at_once: CellFormula
    per_month: CellFormula
    hired_at_once: CellFormula
    hired_per_month: CellFormula


def _write_figures(page: FormulaSheet, input_cells: InputCells, looks: WorkbookFormats) -> _OwningFigures:
    page.write_texts(_FIGURES_HEAD, (tr("Figure"), tr("Value"), tr("Unit")), looks.head)
    count, idle, draw = input_cells[COUNT], input_cells[IDLE], input_cells["draw"]
    accelerator_w, host_w = input_cells["accelerator_w"], input_cells["host_w"]
    average_kw = count * (accelerator_w + host_w) * draw / _KILO
    average_kw = average_kw + idle * (accelerator_w * input_cells["idle_draw"] + host_w * draw) / _KILO
    kilowatts = (count + idle) * (accelerator_w + host_w) / _KILO
    rows = (
        (tr("Accelerators bought"), count + idle, "", looks.count),
        (tr("Total power"), kilowatts, "kW", looks.number),
        (tr("Average power"), average_kw, "kW", looks.number),
        (tr("Share of software cost"), count / input_cells["fleet"], "", looks.small),
        (tr("Service life"), input_cells["years"] * MONTHS_PER_YEAR, tr("months"), looks.number),
    )
    cells = []
    for row, (label, term, unit, look) in enumerate(rows, start=_FIGURES_HEAD + 1):
        page.write_text(row, 0, label, looks.label)
        cells.append(page.write_formula(row, 1, term, look))
        page.write_text(row, 2, unit, looks.label)
    return _OwningFigures(*cells)


def _write_lines(
    page: FormulaSheet, input_cells: InputCells, figures: _OwningFigures, looks: WorkbookFormats
) -> dict[str, CellFormula]:
    page.write_texts(_LINES_HEAD, (tr("Cost item"), tr("Total, USD")), looks.head)
    cells: dict[str, CellFormula] = {}

    def write(terms: Mapping[str, CellFormula]) -> None:
        for row, (name, term) in enumerate(terms.items(), start=_LINES_HEAD + 1 + len(cells)):
            page.write_text(row, 0, label_cost_line(name), looks.label)
            cells[name] = page.write_formula(row, 1, term, looks.amount)

    listed = figures.bought * (1.0 + input_cells["spares"]) * input_cells["price_usd"]
    shares = {name: listed * input_cells[f"{name}_share"] for name in _BOUGHT[1:]}
    write({"accelerators": listed * (1.0 - input_cells["discount"]), **shares})
    paid = sum_cells([cells[name] for name in _BOUGHT])
    write(_make_capital_formulas(input_cells, paid))
    write(_build_running_lines(input_cells, figures, paid))
    write(_build_software_lines(input_cells, figures))
    return cells


def _make_capital_formulas(cells: InputCells, paid: CellFormula) -> dict[str, CellFormula]:
    residual = cells["residual"]
    return {
        "residual": -residual * paid,
        "capital": cells["capital_rate"] * cells["years"] * paid * (1.0 + residual) / 2.0,
    }


def _build_running_lines(cells: InputCells, figures: _OwningFigures, paid: CellFormula) -> dict[str, CellFormula]:
    kilowatts, months = figures.kilowatts, figures.months
    energy = figures.average_kw * cells["years"] * HOURS_PER_YEAR * cells["energy_usd_per_kwh"]
    return {
        "power": energy,
        "cooling": energy * (cells["pue"] - 1.0),
        "demand": kilowatts * cells["pue"] * months * cells["demand_usd_per_kw_month"],
        "hosting": kilowatts * months * cells["hosting_usd_per_kw_month"],
        "support": cells["support"] * cells["years"] * paid,
        "staff": figures.bought * cells["staff_usd_per_year"] * cells["years"],
    }


def _build_software_lines(cells: InputCells, figures: _OwningFigures) -> dict[str, CellFormula]:
    each = cells["engineer_usd_per_year"]
    return {
        "porting": figures.share * cells["porting_engineer_months"] / MONTHS_PER_YEAR * each,
        "upkeep": figures.share * cells["engineers"] * each * cells["years"],
    }


def _write_cash(
    page: FormulaSheet,
    input_cells: InputCells,
    figures: _OwningFigures,
    lines: Mapping[str, CellFormula],
    looks: WorkbookFormats,
) -> _CashCells:
    page.write_texts(_CASH_HEAD, (tr("Cash"), tr("USD")), looks.head)
    bought = sum_cells([lines[name] for name in _BOUGHT])
    running = sum_cells([lines[name] for name in _RUNNING])
    rent = input_cells["rent_usd_per_hour"]
    hired = (input_cells[COUNT] + input_cells[IDLE_RENTED]) * rent * HOURS_PER_YEAR / MONTHS_PER_YEAR
    rows = (
        (tr("Buy, upfront: hardware with spares, porting"), bought + lines["porting"]),
        (tr("Buy, per month: running costs"), (running + lines["upkeep"]) / figures.months),
        (tr("Rent, upfront: porting"), choose_if_blank(rent, "", lines["porting"])),
        (
            tr("Rent, per month: rent around the clock, software maintenance"),
            choose_if_blank(rent, "", hired + lines["upkeep"] / figures.months),
        ),
    )
    cells = []
    for row, (label, term) in enumerate(rows, start=_CASH_HEAD + 1):
        page.write_text(row, 0, label, looks.label)
        cells.append(page.write_formula(row, 1, term, looks.money))
    return _CashCells(*cells)


def _write_months(
    page: FormulaSheet, term: CellFormula, cash: _CashCells, months: int, looks: WorkbookFormats
) -> CellFormula:
    """Write the months; return the first month in which renting would have cost more."""
    heads = (
        tr("Month"),
        tr("Buy, USD"),
        tr("Buy, cumulative, USD"),
        tr("Rent, USD"),
        tr("Rent, cumulative, USD"),
        tr("Rent minus buy, cumulative, USD"),
        tr("1 if buying is cheaper"),
    )
    page.write_texts(_MONTHS_HEAD, heads, looks.head)
    rows = [_write_month(page, _MONTHS_HEAD + 1, _build_first_month(page, cash, looks), looks)]
    for number in range(1, months + 1):
        row = _MONTHS_HEAD + 1 + number
        before = rows[-1]
        month = choose_if_blank(before.month, "", choose_if_below(before.month, term, before.month + 1.0, ""))
        month_cell = page.write_formula(row, 0, month, looks.count, fixed=False)
        part = take_minimum(1.0, term - before.month)
        paid = choose_if_blank(month_cell, "", cash.per_month * part)
        rent = choose_if_blank(month_cell, "", choose_if_blank(cash.hired_per_month, "", cash.hired_per_month * part))
        rows.append(_write_month(page, row, _MonthCells(month_cell, paid, rent, before), looks))
    return find_first_positive([each.sign for each in rows], [each.month for each in rows], MISSING_VALUE_TEXT)


class _FigureRow(NamedTuple):
    """Cells of one month that the next month and the break-even search need."""

    month: CellFormula
    so_far: CellFormula
    rent_so_far: CellFormula
    sign: CellFormula


class _MonthCells(NamedTuple):
    """Payments of a month, and the previous row; None for month 0, the purchase."""

    month: CellFormula
    paid: CellFormula
    rent: CellFormula
    before: _FigureRow | None


def _build_first_month(page: FormulaSheet, cash: _CashCells, looks: WorkbookFormats) -> _MonthCells:
    row = _MONTHS_HEAD + 1
    page.sheet.write_number(row, 0, 0, looks.count)
    return _MonthCells(
        CellFormula(f"A{row + 1}", 0.0), cash.at_once, choose_if_blank(cash.hired_at_once, "", cash.hired_at_once), None
    )


def _write_month(page: FormulaSheet, row: int, month: _MonthCells, looks: WorkbookFormats) -> _FigureRow:
    """Write one month; cells beyond the term or without a rent stay empty."""

    def write(column: int, term: CellFormula) -> CellFormula:
        return page.write_formula(row, column, term, looks.money if column < 6 else looks.count, fixed=False)

    before = month.before
    paid, rent = write(1, month.paid), write(3, month.rent)
    so_far = write(2, paid if before is None else choose_if_blank(paid, "", before.so_far + paid))
    rented = write(4, choose_if_blank(rent, "", rent if before is None else before.rent_so_far + rent))
    ahead = write(5, choose_if_blank(rented, "", rented - so_far))
    return _FigureRow(month.month, so_far, rented, write(6, choose_if_blank(ahead, "", take_sign(ahead))))


_MILLION: Final = 1e6
#: Without it there is no comparison with owning, but owning still has its total.
_ONLY_RENT: Final = "rent_usd_per_hour"
_SUMMARY_HEAD: Final = 4
#: Default date of a workbook: the earliest date that a ZIP entry can have.
_LONG_AGO: Final = date(1980, 1, 1)
_OPTIONS: Final = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


def build_cash_flow_workbook(
    costs: CostAnswer, names: Mapping[str, str], *, title: str, revision: str, made_on: str
) -> bytes:
    """Return the workbook's file: a summary, the inputs, and a sheet for each accelerator with a total.

    `names` are those of the columns by key, `revision` is that of the catalog, `made_on` an ISO date. All amounts are
    US dollars without taxes, regardless of the displayed currency. Equal content makes equal files.
    """
    owned = [column for column in costs.columns if column.tco is not None]
    target = io.BytesIO()
    workbook = xlsxwriter.Workbook(target, _OPTIONS)
    # The creation time for the file: not the current time, so that equal content makes equal files.
    try:
        day = date.fromisoformat(made_on)
    except ValueError:
        day = _LONG_AGO
    workbook.set_properties({"title": make_visible(title), "created": datetime.combine(day, time(), UTC)})
    looks = WorkbookFormats(workbook)
    used_names = {RESERVED_SHEET_NAME}
    summary, inputs, *pages = (
        FormulaSheet(workbook, make_sheet_name(name, used_names))
        for name in (tr("Summary"), tr("Inputs"), *(names[column.key] for column in owned))
    )
    input_cells = write_inputs(inputs, owned, names, looks)
    # Months have rows up to the longest term that the reader can set.
    terms = [column.tco.years for column in owned if column.tco is not None]
    months = math.ceil(max((COST_INPUTS["years"].bounds.high, *terms)) * MONTHS_PER_YEAR)
    rows = []
    for column, page in zip(owned, pages, strict=True):
        name, cells = names[column.key], input_cells[column.key]
        rows.append((name, cells, write_accelerator(page, name, cells, months, looks)))
    _write_about(summary, title, revision, made_on, looks)
    _write_totals(summary, rows, looks)
    left_out = [column for column in costs.columns if column.tco is None]
    _write_left_out(summary, _SUMMARY_HEAD + len(rows) + 2, left_out, names, looks)
    workbook.close()
    return target.getvalue()


def _write_about(page: FormulaSheet, title: str, revision: str, made_on: str, looks: WorkbookFormats) -> None:
    page.write_text(0, 0, title, looks.title)
    page.write_text(1, 0, tr("Amounts are in US dollars, before tax."), looks.label)
    page.write_text(
        2, 0, tr("Catalog {revision}, created on {date}.", revision=revision, date=format_date(made_on)), looks.label
    )
    page.sheet.set_column(0, 0, 34)
    page.sheet.set_column(1, 8, 18)


def _write_totals(
    page: FormulaSheet, rows: Sequence[tuple[str, InputCells, OwnedCells]], looks: WorkbookFormats
) -> None:
    heads = (
        tr("Accelerator"),
        tr("Accelerators"),
        tr("Years"),
        tr("Total, owned, USD"),
        tr("Upfront, owned, USD"),
        tr("Monthly, owned, USD"),
        tr("Per million output tokens, owned, USD"),
        tr("Total, rented around the clock, USD"),
        tr("Payback month"),
    )
    page.write_texts(_SUMMARY_HEAD, heads, looks.head)
    for row, (name, cells, owned) in enumerate(rows, start=_SUMMARY_HEAD + 1):
        page.write_text(row, 0, name, looks.label)
        page.write_formula(row, 1, cells[COUNT], looks.count)
        page.write_formula(row, 2, cells["years"], looks.number)
        total = page.write_formula(row, 3, owned.total, looks.amount)
        page.write_formula(row, 4, owned.at_once, looks.amount)
        page.write_formula(row, 5, owned.per_month, looks.money)
        busy = cells["years"] * HOURS_PER_YEAR * cells["utilisation"]
        tokens = busy * SECONDS_PER_HOUR * cells[THROUGHPUT]
        page.write_formula(row, 6, total / tokens * _MILLION, looks.small)
        rent = cells["rent_usd_per_hour"]
        rented = (cells[COUNT] + cells[IDLE_RENTED]) * rent * cells["years"] * HOURS_PER_YEAR
        page.write_formula(
            row, 7, choose_if_blank(rent, MISSING_VALUE_TEXT, rented + owned.porting + owned.upkeep), looks.amount
        )
        page.write_formula(row, 8, owned.cheaper_from, looks.count)


def _write_left_out(
    page: FormulaSheet, row: int, columns: Sequence[CostColumn], names: Mapping[str, str], looks: WorkbookFormats
) -> None:
    if not columns:
        return
    page.write_texts(row, (tr("Not included"), tr("Reason")), looks.head)
    for line, column in enumerate(columns, start=row + 1):
        page.write_text(line, 0, names[column.key], looks.label)
        why = [describe_missing_input(name) for name in column.missing if name != _ONLY_RENT]
        page.write_text(line, 1, ", ".join(why), looks.label)
