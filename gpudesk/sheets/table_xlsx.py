"""Tables as an Excel workbook: a sheet each, then the notes and the sources that figures name.

All text is written as text, so that nothing in it is a formula or a link; numbers are numbers with the
digits that they were stated with. What is folded away are the columns about the source of single figures.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, Final

import xlsxwriter

from gpudesk.sheets.export_cells import ExportCells
from gpudesk.sheets.plain_text import begins_formula, shown_text
from gpudesk.sheets.sheet_names import TAKEN, sheet_name
from gpudesk.sheets.source_table import sources_table
from gpudesk.sheets.table_export import CellKind, CellValue, Column, ExportTable, known
from gpudesk.text import tr

#: Whole numbers beyond this are kept as text: a spreadsheet would round them.
_LARGEST: Final = 2**53
_MOST_DECIMALS: Final = 3
_NARROWEST, _WIDEST = 8, 60
#: Width that the arrow of a filter takes.
_ARROW: Final = 3
_OPTIONS: Final = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


def write_xlsx(tables: Sequence[ExportTable], file: IO[bytes]) -> None:
    """Write a workbook of these tables; their sources come in one sheet, each once."""
    target = io.BytesIO()
    workbook = xlsxwriter.Workbook(target, _OPTIONS)
    workbook.set_properties({"title": shown_text(tables[0].title)})
    looks = _Looks(workbook)
    # Excel keeps this name for itself.
    taken = {TAKEN}
    for table in (*tables, *_appendix(tables)):
        sheet = workbook.add_worksheet(sheet_name(table.title, taken))
        _write_table(sheet, table, looks)
    workbook.close()
    file.write(target.getvalue())


def _appendix(tables: Sequence[ExportTable]) -> Iterator[ExportTable]:
    """Yield the sheets of notes and sources, where there are any."""
    notes = [(table.title, note) for table in tables for note in _notes(table)]
    if notes:
        head = (Column("table", tr("Table")), Column("note", tr("Note")))
        yield ExportTable(tr("Notes"), head, notes)
    sources = {source.id: source for table in tables for source in table.sources}
    if sources:
        yield sources_table(sources.values(), ExportCells())


def _notes(table: ExportTable) -> tuple[str, ...]:
    if all(column.about is None for column in table.head):
        return table.notes
    said = tr(
        "Source, kind and date of every figure stand in the columns right of it, which are folded away."
    )
    return (*table.notes, said)


class _Looks:
    """The formats of cells, each made once."""

    def __init__(self, workbook: Any) -> None:  # noqa: ANN401 - the library has no types
        self._workbook = workbook
        self._numbers: dict[int, Any] = {}
        self.head = workbook.add_format({"bold": True, "bottom": 1, "valign": "top", "text_wrap": True})
        #: For text that would become a formula if somebody typed it in again.
        self.quoted = workbook.add_format({"quote_prefix": True})

    def number(self, decimals: int) -> Any:  # noqa: ANN401
        """Return the format of numbers with so many decimals."""
        if decimals not in self._numbers:
            pattern = f"#,##0.{'0' * decimals}" if decimals else "#,##0"
            self._numbers[decimals] = self._workbook.add_format({"num_format": pattern})
        return self._numbers[decimals]


def _write_table(sheet: Any, table: ExportTable, looks: _Looks) -> None:  # noqa: ANN401
    for place, column in enumerate(table.head):
        _write_column(sheet, place, column, [row[place] for row in table.rows], looks)
    if table.head:
        sheet.freeze_panes(1, 1)
        sheet.autofilter(0, 0, max(len(table.rows), 1), len(table.head) - 1)


def _write_column(sheet: Any, place: int, column: Column, cells: Sequence[CellValue], looks: _Looks) -> None:  # noqa: ANN401
    sheet.write_string(0, place, shown_text(column.head), looks.head)
    common = looks.number(_decimals(cells)) if column.kind is CellKind.NUMBER else None
    width = len(column.name) + _ARROW
    for line, cell in enumerate(cells, start=1):
        value = known(cell)
        if value is None:
            continue
        if isinstance(value, bool):
            sheet.write_boolean(line, place, value)
        elif isinstance(value, str) or not _fits(value):
            text = shown_text(str(value))
            sheet.write_string(line, place, text, looks.quoted if begins_formula(text) else None)
            width = max(width, len(text))
        else:
            sheet.write_number(line, place, value, common or looks.number(_decimals([value])))
            width = max(width, len(f"{value:,.2f}"))
    folded = {"level": 1, "hidden": True} if column.about is not None else {}
    sheet.set_column(place, place, min(max(width, _NARROWEST), _WIDEST), None, folded)


def _fits(value: float) -> bool:
    return -_LARGEST <= value <= _LARGEST


def _decimals(cells: Iterable[CellValue]) -> int:
    """Return how many decimals keep the digits of all numbers among the cells, within a bound."""
    most = 0
    for value in cells:
        if isinstance(value, float) and not value.is_integer() and value != round(value, most):
            most = next((n for n in range(most, _MOST_DECIMALS) if value == round(value, n)), _MOST_DECIMALS)
            if most == _MOST_DECIMALS:
                break
    return most
