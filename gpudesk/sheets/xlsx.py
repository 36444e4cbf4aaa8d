"""The sheet as an Excel workbook: the comparison, what it assumes, its notes, disputes and sources."""

from __future__ import annotations

import io
from collections.abc import Iterable

from gpudesk.domain.formatting import UNKNOWN
from gpudesk.sheets.csv import heads, mark_text, recommendation_items
from gpudesk.sheets.plain_text import is_number
from gpudesk.sheets.rule_words import effect_text
from gpudesk.sheets.sheet import Row, Sheet, Table, TraceRow
from gpudesk.sheets.table_export import CellKind, CellValue, Column, ExportTable
from gpudesk.sheets.table_export import Row as Cells
from gpudesk.sheets.table_xlsx import write_xlsx
from gpudesk.text import tr


def sheet_xlsx(sheet: Sheet) -> bytes:
    """Return the file's contents; the sheet must have been made in the machine style."""
    target = io.BytesIO()
    write_xlsx(_tables(sheet), target)
    return target.getvalue()


def _tables(sheet: Sheet) -> list[ExportTable]:
    said = [] if sheet.recommendation is None else recommendation_items(sheet.recommendation)
    tables = [
        _listed(tr("Recommendation"), (tr("Item"), tr("Text")), said),
        ExportTable(tr("Comparison"), _head(sheet), [*_rows(sheet.table), *_rows(sheet.whose)]),
        ExportTable(tr("How many"), _head(sheet), [*_rows(sheet.how_many)]),
        ExportTable(tr("Cost"), _head(sheet), [*_rows(sheet.costs)]),
        ExportTable(tr("Trace"), _trace_head(sheet), [_trace_row(rule) for rule in sheet.trace]),
        _listed(tr("Scenario"), (tr("Item"), tr("Value"), tr("Detail")), _scenario(sheet)),
        _listed(
            tr("Notes"),
            (tr("Number"), tr("Subject"), tr("Note")),
            [
                *((str(note.number), "", note.text) for note in sheet.notes),
                *(("", remark.subject, remark.text) for remark in (*sheet.sizing, *sheet.remarks)),
            ],
        ),
        _listed(
            tr("Disputes"),
            (tr("Subject"), tr("Disagreement"), tr("Verdict"), tr("Reason")),
            [(each.subject, each.disagreement, each.verdict, each.reason) for each in sheet.disputes],
        ),
        _listed(
            tr("Sources"),
            (tr("Number"), tr("Title"), tr("Publisher"), tr("Kind"), tr("Date"), tr("Address")),
            [
                (str(each.number), each.title, each.publisher, each.kind, each.date or "", each.url or "")
                for each in sheet.sources
            ],
        ),
    ]
    return [table for table in tables if table.rows]


def _listed(title: str, heads: Iterable[str], lines: Iterable[tuple[str, ...]]) -> ExportTable:
    columns = tuple(Column(head, head, kind=CellKind.MIXED) for head in heads)
    return ExportTable(title, columns, [tuple(_typed(text) for text in line) for line in lines])


def _scenario(sheet: Sheet) -> list[tuple[str, ...]]:
    lines = [(tr("Name"), sheet.title, ""), (tr("Note"), sheet.note, ""), (tr("Date"), sheet.date or "", "")]
    lines += [(line.question, line.answer, line.detail) for line in sheet.headlines]
    lines += [(fact.label, fact.value, "") for fact in (*sheet.assumptions, *sheet.foot)]
    return [line for line in lines if any(line[1:])]


def _head(sheet: Sheet) -> tuple[Column, ...]:
    return tuple(Column(name, name, kind=CellKind.MIXED) for name in heads(sheet))


def _trace_head(sheet: Sheet) -> tuple[Column, ...]:
    names = [tr("Rule"), tr("Title"), tr("Strength"), tr("Answer"), tr("Source"), tr("Weight"), tr("Unit")]
    for head in sheet.heads:
        names += [tr("{name} effect", name=head.name), head.name]
        names += [tr("{name} low", name=head.name), tr("{name} high", name=head.name)]
    return tuple(Column(name, name, kind=CellKind.MIXED) for name in names)


def _trace_row(rule: TraceRow) -> Cells:
    said = (rule.rule, rule.row.label, rule.strength, rule.answer, rule.source, rule.weight, rule.row.unit)
    cells: list[CellValue] = [text or None for text in said]
    for cell, effect in zip(rule.row.cells, rule.effects, strict=True):
        cells += [effect_text(effect), _typed(cell.text), _typed(cell.low), _typed(cell.high)]
    return tuple(cells)


def _rows(table: Table) -> Iterable[Cells]:
    for group in table.groups:
        for row in group.rows:
            yield _row(group.title or table.title, row)


def _row(section: str, row: Row) -> Cells:
    cells: list[CellValue] = [section, row.label, row.unit]
    for cell in row.cells:
        cells += [_typed(cell.text), _typed(cell.low), _typed(cell.high), mark_text(cell) or None]
    return tuple(cells)


def _typed(text: str | None) -> CellValue:
    """Return a figure in the machine style as a number, other text as it is, None for what is not known."""
    if not text or text == UNKNOWN:
        return None
    if not is_number(text):
        return text
    return float(text) if set(text) & set(".eE") else int(text)
