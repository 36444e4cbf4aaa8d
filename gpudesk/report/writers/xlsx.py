"""Sheets and tables as an Excel workbook.

Text is written as text, so nothing in it is a formula or a link; numbers keep the digits they were stated with.
Columns about the source of single figures are folded away.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, Final

import xlsxwriter

from gpudesk.report.comparison.tables import ComparisonRow, ComparisonSheet, ComparisonTable, SheetTraceRow
from gpudesk.report.decision.rules import label_effect
from gpudesk.report.writers.csv import format_cell_marks, list_recommendation_items, list_sheet_columns
from gpudesk.report.writers.export_table import (
    ExportCellConverter,
    ExportCellKind,
    ExportColumn,
    ExportTable,
    ExportValue,
    build_sources_table,
    drop_not_finite,
)
from gpudesk.report.writers.export_table import ExportRow as Cells
from gpudesk.report.writers.safe_text import (
    RESERVED_SHEET_NAME,
    is_number,
    looks_like_formula,
    make_sheet_name,
    make_visible,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT
from gpudesk.text.translation import tr

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
    workbook.set_properties({"title": make_visible(tables[0].title)})
    looks = _XlsxFormats(workbook)
    # Excel keeps this name for itself.
    used_names = {RESERVED_SHEET_NAME}
    for table in (*tables, *_list_appendix_tables(tables)):
        sheet = workbook.add_worksheet(make_sheet_name(table.title, used_names))
        _write_table(sheet, table, looks)
    workbook.close()
    file.write(target.getvalue())


def _list_appendix_tables(tables: Sequence[ExportTable]) -> Iterator[ExportTable]:
    notes = [(table.title, note) for table in tables for note in _list_table_notes(table)]
    if notes:
        head = (ExportColumn("table", tr("Table")), ExportColumn("note", tr("Note")))
        yield ExportTable(tr("Notes"), head, notes)
    sources = {source.id: source for table in tables for source in table.sources}
    if sources:
        yield build_sources_table(sources.values(), ExportCellConverter())


def _list_table_notes(table: ExportTable) -> tuple[str, ...]:
    if all(column.about is None for column in table.head):
        return table.notes
    note = tr("Collapsed columns to the right of each figure show its source, kind and date.")
    return (*table.notes, note)


class _XlsxFormats:
    """The formats of cells, each made once."""

    def __init__(self, workbook: Any) -> None:  # noqa: ANN401 - the library has no types
        self._workbook = workbook
        self._numbers: dict[int, Any] = {}
        self.head = workbook.add_format({"bold": True, "bottom": 1, "valign": "top", "text_wrap": True})
        #: For text that would become a formula if somebody typed it in again.
        self.quoted = workbook.add_format({"quote_prefix": True})

    def number(self, decimals: int) -> Any:  # noqa: ANN401
        if decimals not in self._numbers:
            pattern = f"#,##0.{'0' * decimals}" if decimals else "#,##0"
            self._numbers[decimals] = self._workbook.add_format({"num_format": pattern})
        return self._numbers[decimals]


def _write_table(sheet: Any, table: ExportTable, looks: _XlsxFormats) -> None:  # noqa: ANN401
    for place, column in enumerate(table.head):
        _write_column(sheet, place, column, [row[place] for row in table.rows], looks)
    if table.head:
        sheet.freeze_panes(1, 1)
        sheet.autofilter(0, 0, max(len(table.rows), 1), len(table.head) - 1)


def _write_column(
    sheet: Any,  # noqa: ANN401
    place: int,
    column: ExportColumn,
    cells: Sequence[ExportValue],
    looks: _XlsxFormats,
) -> None:
    sheet.write_string(0, place, make_visible(column.head), looks.head)
    common = looks.number(_count_decimals(cells)) if column.kind is ExportCellKind.NUMBER else None
    width = len(column.name) + _ARROW
    for line, cell in enumerate(cells, start=1):
        value = drop_not_finite(cell)
        if value is None:
            continue
        if isinstance(value, bool):
            sheet.write_boolean(line, place, value)
        elif isinstance(value, str) or not _fits_in_double(value):
            text = make_visible(str(value))
            sheet.write_string(line, place, text, looks.quoted if looks_like_formula(text) else None)
            width = max(width, len(text))
        else:
            sheet.write_number(line, place, value, common or looks.number(_count_decimals([value])))
            width = max(width, len(f"{value:,.2f}"))
    folded = {"level": 1, "hidden": True} if column.about is not None else {}
    sheet.set_column(place, place, min(max(width, _NARROWEST), _WIDEST), None, folded)


def _fits_in_double(value: float) -> bool:
    return -_LARGEST <= value <= _LARGEST


def _count_decimals(cells: Iterable[ExportValue]) -> int:
    most = 0
    for value in cells:
        if isinstance(value, float) and not value.is_integer() and value != round(value, most):
            most = next((n for n in range(most, _MOST_DECIMALS) if value == round(value, n)), _MOST_DECIMALS)
            if most == _MOST_DECIMALS:
                break
    return most


def write_sheet_xlsx(sheet: ComparisonSheet) -> bytes:
    """Return the file's contents; the sheet must have been made in the machine style."""
    target = io.BytesIO()
    write_xlsx(_list_workbook_tables(sheet), target)
    return target.getvalue()


def _list_workbook_tables(sheet: ComparisonSheet) -> list[ExportTable]:
    items = [] if sheet.recommendation is None else list_recommendation_items(sheet.recommendation)
    tables = [
        _build_listed_table(tr("Recommendation"), (tr("Item"), tr("Text")), items),
        ExportTable(
            tr("Comparison"), _build_xlsx_head(sheet), [*_list_xlsx_rows(sheet.table), *_list_xlsx_rows(sheet.whose)]
        ),
        ExportTable(tr("Accelerators needed"), _build_xlsx_head(sheet), [*_list_xlsx_rows(sheet.how_many)]),
        ExportTable(tr("Cost"), _build_xlsx_head(sheet), [*_list_xlsx_rows(sheet.costs)]),
        ExportTable(tr("Fleet"), _build_xlsx_head(sheet), [*_list_xlsx_rows(sheet.fleet_table)]),
        ExportTable(tr("Rules"), _build_trace_head(sheet), [_build_xlsx_trace_row(rule) for rule in sheet.trace]),
        _build_listed_table(tr("Scenario"), (tr("Item"), tr("Value"), tr("Detail")), _list_scenario_lines(sheet)),
        _build_listed_table(
            tr("Notes"),
            (tr("Number"), tr("Subject"), tr("Note")),
            [
                *((str(note.number), "", note.text) for note in sheet.notes),
                *(("", remark.subject, remark.text) for remark in (*sheet.sizing, *sheet.remarks)),
            ],
        ),
        _build_listed_table(
            tr("Disputes"),
            (tr("Subject"), tr("Disagreement"), tr("Verdict"), tr("Reason")),
            [(each.subject, each.disagreement, each.verdict, each.reason) for each in sheet.disputes],
        ),
        _build_listed_table(
            tr("Sources"),
            (tr("Number"), tr("Title"), tr("Publisher"), tr("Kind"), tr("Date"), tr("URL")),
            [
                (str(each.number), each.title, each.publisher, each.kind, each.date or "", each.url or "")
                for each in sheet.sources
            ],
        ),
    ]
    return [table for table in tables if table.rows]


def _build_listed_table(title: str, heads: Iterable[str], lines: Iterable[tuple[str, ...]]) -> ExportTable:
    columns = tuple(ExportColumn(head, head, kind=ExportCellKind.MIXED) for head in heads)
    return ExportTable(title, columns, [tuple(_parse_typed(text) for text in line) for line in lines])


def _list_scenario_lines(sheet: ComparisonSheet) -> list[tuple[str, ...]]:
    lines = [(tr("Name"), sheet.title, ""), (tr("Note"), sheet.note, ""), (tr("Date"), sheet.date or "", "")]
    if sheet.verdict:
        lines.append((tr("Verdict"), sheet.verdict, ""))
    lines += [(line.label, line.text, line.detail) for line in sheet.headlines]
    lines += [(fact.label, fact.value, "") for fact in (*sheet.assumptions, *sheet.foot)]
    return [line for line in lines if any(line[1:])]


def _build_xlsx_head(sheet: ComparisonSheet) -> tuple[ExportColumn, ...]:
    return tuple(ExportColumn(name, name, kind=ExportCellKind.MIXED) for name in list_sheet_columns(sheet))


def _build_trace_head(sheet: ComparisonSheet) -> tuple[ExportColumn, ...]:
    names = [tr("Rule"), tr("Title"), tr("Strength"), tr("Answer"), tr("Source"), tr("Weight"), tr("Unit")]
    for head in sheet.heads:
        names += [tr("{name} effect", name=head.name), head.name]
        names += [tr("{name} low", name=head.name), tr("{name} high", name=head.name)]
    return tuple(ExportColumn(name, name, kind=ExportCellKind.MIXED) for name in names)


def _build_xlsx_trace_row(rule: SheetTraceRow) -> Cells:
    row_cells = (rule.rule, rule.row.label, rule.strength, rule.answer, rule.source, rule.weight, rule.row.unit)
    cells: list[ExportValue] = [text or None for text in row_cells]
    for cell, effect in zip(rule.row.cells, rule.effects, strict=True):
        cells += [
            label_effect(effect),
            _parse_typed(cell.text),
            _parse_typed(cell.low_text),
            _parse_typed(cell.high_text),
        ]
    return tuple(cells)


def _list_xlsx_rows(table: ComparisonTable) -> Iterable[Cells]:
    for group in table.groups:
        for row in group.rows:
            yield _build_xlsx_row(group.title or table.title, row)


def _build_xlsx_row(section: str, row: ComparisonRow) -> Cells:
    cells: list[ExportValue] = [section, row.label, row.unit]
    for cell in row.cells:
        cells += [
            _parse_typed(cell.text),
            _parse_typed(cell.low_text),
            _parse_typed(cell.high_text),
            format_cell_marks(cell) or None,
        ]
    return tuple(cells)


def _parse_typed(text: str | None) -> ExportValue:
    """Return a figure in the machine style as a number, other text as it is, None for what is not known."""
    if not text or text == MISSING_VALUE_TEXT:
        return None
    if not is_number(text):
        return text
    return float(text) if set(text) & set(".eE") else int(text)
