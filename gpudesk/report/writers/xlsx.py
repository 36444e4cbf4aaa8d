"""Sheets and tables as an Excel workbook.

Text is written as text, so it never becomes a formula or a link; numbers keep their original digits. Columns about the
source of single figures are collapsed.
"""

from __future__ import annotations

import io
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO, Any, Final, NamedTuple

import xlsxwriter
from xlsxwriter.utility import xl_rowcol_to_cell

from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.comparison.tables import ComparisonSheet, ComparisonTable, SheetTraceRow
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

#: The content of a cell; empty text is a blank cell.
FormulaValue = float | str

#: Operator precedence. A minus before a term binds more than all others.
_BINDING: Final[Mapping[str, int]] = {"+": 1, "-": 1, "*": 2, "/": 2}
_NEGATED: Final = 3
_WHOLE: Final = 4
_OPERATIONS: Final[Mapping[str, Callable[[float, float], float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


@frozen_dataclass
class CellFormula:
    """A formula term and its value; `binding` decides on parentheses.

    Arithmetic with text gives no number: such a term is allowed only in an unused branch.
    """

    text: str
    value: FormulaValue
    binding: int = _WHOLE

    def __add__(self, other: Operand) -> CellFormula:
        return _join(self, "+", other)

    def __radd__(self, other: Operand) -> CellFormula:
        return _join(other, "+", self)

    def __sub__(self, other: Operand) -> CellFormula:
        return _join(self, "-", other)

    def __rsub__(self, other: Operand) -> CellFormula:
        return _join(other, "-", self)

    def __mul__(self, other: Operand) -> CellFormula:
        return _join(self, "*", other)

    def __truediv__(self, other: Operand) -> CellFormula:
        return _join(self, "/", other)

    def __neg__(self) -> CellFormula:
        return CellFormula(f"-{_parenthesize(self, _NEGATED)}", -_convert_to_number(self), _NEGATED)


Operand = CellFormula | float | str


def sum_cells(cells: Sequence[CellFormula]) -> CellFormula:
    return CellFormula(f"SUM({_name_span(cells)})", math.fsum(_convert_to_number(cell) for cell in cells))


def take_minimum(first: Operand, second: Operand) -> CellFormula:
    pair = (_convert_to_term(first), _convert_to_term(second))
    return CellFormula(f"MIN({pair[0].text},{pair[1].text})", min(_convert_to_number(each) for each in pair))


def take_sign(number: CellFormula) -> CellFormula:
    """Return 1 above 0, -1 below, and 0."""
    value = _convert_to_number(number)
    return CellFormula(f"SIGN({number.text})", float((value > 0.0) - (value < 0.0)))


def choose_if_blank(tested: CellFormula, then: Operand, otherwise: Operand) -> CellFormula:
    return _choose(f'{tested.text}=""', tested.value == "", then, otherwise)


def choose_if_below(low: CellFormula, high: CellFormula, then: Operand, otherwise: Operand) -> CellFormula:
    return _choose(f"{low.text}<{high.text}", _convert_to_number(low) < _convert_to_number(high), then, otherwise)


def find_first_positive(signs: Sequence[CellFormula], labels: Sequence[CellFormula], nowhere: str) -> CellFormula:
    """Return the label next to the first sign that is 1; `nowhere` without one."""
    searched = _name_span(signs)
    places = [place for place, sign in enumerate(signs) if sign.value == 1.0]
    matched = CellFormula(
        f"INDEX({_name_span(labels)},MATCH(1,{searched},0))", labels[places[0]].value if places else math.nan
    )
    return _choose(f"MAX({searched})=1", bool(places), matched, nowhere)


def _choose(condition: str, holds: bool, then: Operand, otherwise: Operand) -> CellFormula:
    one, other = _convert_to_term(then), _convert_to_term(otherwise)
    return CellFormula(f"IF({condition},{one.text},{other.text})", one.value if holds else other.value)


def _join(left_operand: Operand, sign: str, right: Operand) -> CellFormula:
    one, other, binding = _convert_to_term(left_operand), _convert_to_term(right), _BINDING[sign]
    text = f"{_parenthesize(one, binding)}{sign}{_parenthesize(other, binding + 1)}"
    return CellFormula(text, _OPERATIONS[sign](_convert_to_number(one), _convert_to_number(other)), binding)


def _parenthesize(term: CellFormula, binding: int) -> str:
    return term.text if term.binding >= binding else f"({term.text})"


def _convert_to_term(operand: Operand) -> CellFormula:
    if isinstance(operand, CellFormula):
        return operand
    if isinstance(operand, str):
        doubled = operand.replace('"', '""')
        return CellFormula(f'"{doubled}"', operand)
    return CellFormula(f"{operand:.15g}", operand)


def _convert_to_number(term: CellFormula) -> float:
    return math.nan if isinstance(term.value, str) else term.value


def _name_span(cells: Sequence[CellFormula]) -> str:
    return f"{cells[0].text}:{cells[-1].text}"


class TextFormats(NamedTuple):
    """The format of text, and of text that would become a formula if retyped."""

    plain: Any
    quoted: Any


class WorkbookFormats:
    """The formats of cells, each made once.

    `input_cell` are inputs and `share` percentages; `amount` are whole dollars, `money` has cents and `small` fractions
    of them.
    """

    def __init__(self, workbook: Any) -> None:  # noqa: ANN401 - the library has no types
        def text(**looks: object) -> TextFormats:
            both = {"valign": "top", **looks}
            return TextFormats(workbook.add_format(both), workbook.add_format({**both, "quote_prefix": True}))

        def number(pattern: str, **looks: object) -> Any:  # noqa: ANN401
            return workbook.add_format({"num_format": pattern, "valign": "top", "align": "right", **looks})

        shaded = {"bg_color": "#FFF4CC", "border": 1, "border_color": "#BFBFBF"}
        self.title = text(bold=True, font_size=14)
        self.head = text(bold=True, bottom=1, text_wrap=True)
        self.label = text()
        self.long = text(text_wrap=True)
        self.sum = text(bold=True, top=1)
        self.input_cell = number("[>=1000]#,##0;General", **shaded)
        self.share = number("0.0#%", **shaded)
        self.count = number("#,##0")
        self.number = number("#,##0.00")
        self.amount = number("#,##0")
        self.money = number("#,##0.00")
        self.small = number("#,##0.0000")
        self.total = number("#,##0", bold=True, top=1)


class FormulaSheet:
    """One sheet of a workbook; rows and columns count from 0."""

    def __init__(self, workbook: Any, name: str) -> None:  # noqa: ANN401
        self.sheet = workbook.add_worksheet(name)
        self.sheet.set_landscape()
        self.sheet.fit_to_pages(1, 0)
        doubled = name.replace("'", "''")
        self._prefix = f"'{doubled}'!"

    def write_text(self, row: int, column: int, text: str, look: TextFormats) -> None:
        """Write text that never becomes a formula or a link."""
        visible = make_visible(text)
        if visible:
            self.sheet.write_string(row, column, visible, look.quoted if looks_like_formula(visible) else look.plain)

    def write_texts(self, row: int, texts: Sequence[str], look: TextFormats) -> None:
        for column, text in enumerate(texts):
            self.write_text(row, column, text, look)

    def give(self, row: int, column: int, value: float | None, look: Any) -> CellFormula:  # noqa: ANN401
        """Write a number that the reader can change, or leave the cell blank; return the cell."""
        if value is None:
            self.sheet.write_blank(row, column, None, look)
        else:
            self.sheet.write_number(row, column, value, look)
        return CellFormula(_name_cell(row, column, fixed=True), "" if value is None else value)

    def write_formula(self, row: int, column: int, term: CellFormula, look: Any, *, fixed: bool = True) -> CellFormula:  # noqa: ANN401
        """Write a formula with its result; return the cell, which moves with copies unless `fixed`."""
        if isinstance(term.value, float) and not math.isfinite(term.value):
            raise ValueError(f"{self._prefix}{_name_cell(row, column, fixed=False)} gives no number: {term.text}")
        self.sheet.write_formula(row, column, f"={term.text}", look, term.value)
        return CellFormula(_name_cell(row, column, fixed=fixed), term.value)

    def reference_across_sheets(self, cell: CellFormula) -> CellFormula:
        return replace(cell, text=f"{self._prefix}{cell.text}")


def _name_cell(row: int, column: int, *, fixed: bool) -> str:
    return str(xl_rowcol_to_cell(row, column, row_abs=fixed, col_abs=fixed))


#: Larger whole numbers are stored as text: a spreadsheet would round them.
_LARGEST: Final = 2**53
_MOST_DECIMALS: Final = 3
_NARROWEST, _WIDEST = 8, 60
#: Width of a filter's arrow.
_ARROW: Final = 3
_OPTIONS: Final = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


def write_xlsx(tables: Sequence[ExportTable], file: IO[bytes]) -> None:
    """Write a workbook of these tables; their sources are in one sheet, each once."""
    target = io.BytesIO()
    workbook = xlsxwriter.Workbook(target, _OPTIONS)
    workbook.set_properties({"title": make_visible(tables[0].title)})
    looks = _XlsxFormats(workbook)
    # Excel reserves this name.
    used_names = {RESERVED_SHEET_NAME}
    for table in (*tables, *_list_appendix_tables(tables)):
        sheet = workbook.add_worksheet(make_sheet_name(table.title, used_names))
        for place, column in enumerate(table.head):
            cells = [row[place] for row in table.rows]
            sheet.write_string(0, place, make_visible(column.head), looks.head)
            common = looks.number(_count_decimals(cells)) if column.kind is ExportCellKind.NUMBER else None
            width = len(column.name) + _ARROW
            for line, cell in enumerate(cells, start=1):
                value = drop_not_finite(cell)
                if value is None:
                    continue
                if isinstance(value, bool):
                    sheet.write_boolean(line, place, value)
                elif isinstance(value, str) or not (-_LARGEST <= value <= _LARGEST):
                    text = make_visible(str(value))
                    sheet.write_string(line, place, text, looks.quoted if looks_like_formula(text) else None)
                    width = max(width, len(text))
                else:
                    sheet.write_number(line, place, value, common or looks.number(_count_decimals([value])))
                    width = max(width, len(f"{value:,.2f}"))
            folded = {"level": 1, "hidden": True} if column.about is not None else {}
            sheet.set_column(place, place, min(max(width, _NARROWEST), _WIDEST), None, folded)
        if table.head:
            sheet.freeze_panes(1, 1)
            sheet.autofilter(0, 0, max(len(table.rows), 1), len(table.head) - 1)
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
        #: For text that would become a formula if retyped.
        self.quoted = workbook.add_format({"quote_prefix": True})

    def number(self, decimals: int) -> Any:  # noqa: ANN401
        if decimals not in self._numbers:
            pattern = f"#,##0.{'0' * decimals}" if decimals else "#,##0"
            self._numbers[decimals] = self._workbook.add_format({"num_format": pattern})
        return self._numbers[decimals]


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
    write_xlsx([table for table in tables if table.rows], target)
    return target.getvalue()


def _build_listed_table(title: str, heads: Iterable[str], lines: Iterable[tuple[str, ...]]) -> ExportTable:
    columns = tuple(ExportColumn(head, head, kind=ExportCellKind.MIXED) for head in heads)
    return ExportTable(title, columns, [tuple(_parse_typed(text) for text in line) for line in lines])


def _list_scenario_lines(sheet: ComparisonSheet) -> list[tuple[str, ...]]:
    lines = [(tr("Name"), sheet.title, ""), (tr("Note"), sheet.note, ""), (tr("Date"), sheet.date or "", "")]
    if sheet.verdict:
        lines.append((tr("Verdict"), " ".join(sheet.verdict), ""))
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
        cells += [effect.label, _parse_typed(cell.text), _parse_typed(cell.low_text), _parse_typed(cell.high_text)]
    return tuple(cells)


def _list_xlsx_rows(table: ComparisonTable) -> Iterable[Cells]:
    for group in table.groups:
        for row in group.rows:
            cells: list[ExportValue] = [group.title or table.title, row.label, row.unit]
            for cell in row.cells:
                cells += [
                    _parse_typed(cell.text),
                    _parse_typed(cell.low_text),
                    _parse_typed(cell.high_text),
                    format_cell_marks(cell) or None,
                ]
            yield tuple(cells)


def _parse_typed(text: str | None) -> ExportValue:
    """Return a figure in the machine style as a number, other text unchanged, None for unknown values."""
    if not text or text == MISSING_VALUE_TEXT:
        return None
    if not is_number(text):
        return text
    return float(text) if set(text) & set(".eE") else int(text)
