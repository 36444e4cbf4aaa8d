"""The costs of a comparison month by month as an Excel workbook with live formulas, to check and change."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Final

import xlsxwriter

from gpudesk.domain.costs import CostAnswer, CostColumn
from gpudesk.domain.formatting import UNKNOWN
from gpudesk.domain.units import HOURS_PER_YEAR, SECONDS_PER_HOUR
from gpudesk.sheets.cash_flow_cells import Looks, Page, if_blank
from gpudesk.sheets.cash_flow_inputs import COUNT, THROUGHPUT, Given, write_inputs
from gpudesk.sheets.cash_flow_owned import Owned, months_shown, write_accelerator
from gpudesk.sheets.cost_words import missing_text
from gpudesk.sheets.plain_text import shown_text
from gpudesk.sheets.sheet_names import TAKEN, sheet_name
from gpudesk.text import tr

_MILLION: Final = 1e6
#: For want of it there is nothing to compare owning with, but owning has its total.
_ONLY_RENT: Final = "rent_usd_per_hour"
_HEAD: Final = 4
#: When a workbook was made of which nobody knows: the first day of the files that hold its parts.
_LONG_AGO: Final = date(1980, 1, 1)
_OPTIONS: Final = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


def cash_flow_workbook(
    costs: CostAnswer, names: Mapping[str, str], *, title: str, revision: str, made_on: str
) -> bytes:
    """Return the workbook's file: a summary, the inputs, and a sheet for each accelerator with a total.

    `names` are those of the columns by key, `revision` is that of the catalog, `made_on` an ISO date. All
    amounts are US dollars without taxes, whatever currency is shown elsewhere. What does not change makes the
    same file.
    """
    owned = [column for column in costs.columns if column.tco is not None]
    target = io.BytesIO()
    workbook = xlsxwriter.Workbook(target, _OPTIONS)
    workbook.set_properties({"title": shown_text(title), "created": _created(made_on)})
    looks = Looks(workbook)
    taken = {TAKEN}
    summary, inputs, *pages = (
        Page(workbook, sheet_name(name, taken))
        for name in (tr("Summary"), tr("Inputs"), *(names[column.key] for column in owned))
    )
    given = write_inputs(inputs, owned, names, revision, looks)
    months = months_shown(owned)
    rows = []
    for column, page in zip(owned, pages, strict=True):
        name, cells = names[column.key], given[column.key]
        rows.append((name, cells, write_accelerator(page, name, cells, months, looks)))
    _write_about(summary, title, revision, made_on, looks)
    _write_totals(summary, rows, looks)
    left_out = [column for column in costs.columns if column.tco is None]
    _write_left_out(summary, _HEAD + len(rows) + 2, left_out, names, looks)
    workbook.close()
    return target.getvalue()


def _created(made_on: str) -> datetime:
    """Return the time that the file says it was made at: no time of the clock, or no two were the same."""
    try:
        day = date.fromisoformat(made_on)
    except ValueError:
        day = _LONG_AGO
    return datetime.combine(day, time(), UTC)


def _write_about(page: Page, title: str, revision: str, made_on: str, looks: Looks) -> None:
    page.say(0, 0, title, looks.title)
    page.say(1, 0, tr("Amounts are US dollars, taxes excluded."), looks.label)
    page.say(2, 0, tr("Catalog {revision}, made on {date}.", revision=revision, date=made_on), looks.label)
    page.sheet.set_column(0, 0, 34)
    page.sheet.set_column(1, 8, 18)


def _write_totals(page: Page, rows: Sequence[tuple[str, Given, Owned]], looks: Looks) -> None:
    heads = (
        tr("Accelerator"),
        tr("Accelerators"),
        tr("Years"),
        tr("Total over the term, USD"),
        tr("Paid at once, USD"),
        tr("Paid each month, USD"),
        tr("A million output tokens, USD"),
        tr("Rented around the clock with software over the term, USD"),
        tr("Less cash than renting from month"),
    )
    page.say_all(_HEAD, heads, looks.head)
    for row, (name, given, owned) in enumerate(rows, start=_HEAD + 1):
        page.say(row, 0, name, looks.label)
        page.work_out(row, 1, given[COUNT], looks.count)
        page.work_out(row, 2, given["years"], looks.number)
        total = page.work_out(row, 3, owned.total, looks.amount)
        page.work_out(row, 4, owned.at_once, looks.amount)
        page.work_out(row, 5, owned.per_month, looks.money)
        busy = given["years"] * HOURS_PER_YEAR * given["utilisation"]
        tokens = busy * SECONDS_PER_HOUR * given[THROUGHPUT]
        page.work_out(row, 6, total / tokens * _MILLION, looks.small)
        rent = given["rent_usd_per_hour"]
        rented = given[COUNT] * rent * given["years"] * HOURS_PER_YEAR
        page.work_out(row, 7, if_blank(rent, UNKNOWN, rented + owned.porting + owned.upkeep), looks.amount)
        page.work_out(row, 8, owned.cheaper_from, looks.count)


def _write_left_out(
    page: Page, row: int, columns: Sequence[CostColumn], names: Mapping[str, str], looks: Looks
) -> None:
    """Write which accelerators have no total, and for want of what."""
    if not columns:
        return
    page.say_all(row, (tr("Left out"), tr("Why")), looks.head)
    for line, column in enumerate(columns, start=row + 1):
        page.say(line, 0, names[column.key], looks.label)
        why = [missing_text(name) for name in column.missing if name != _ONLY_RENT]
        page.say(line, 1, ", ".join(why), looks.label)
