"""Sheets and tables as CSV (RFC 4180, UTF-8): numbers have a decimal point and no separators, unknown is empty.

Text that a spreadsheet would run as a formula gets an apostrophe.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from gpudesk.report.comparison.tables import (
    CellMarking,
    ComparisonCell,
    ComparisonSheet,
    ComparisonTable,
    SheetRecommendation,
    SheetTraceRow,
)
from gpudesk.report.writers.export_table import ExportTable, ExportValue, drop_not_finite
from gpudesk.report.writers.safe_text import quote_formula, quote_formula_cell
from gpudesk.text.formatting import MISSING_VALUE_TEXT
from gpudesk.text.translation import tr


def write_table_csv(table: ExportTable) -> bytes:
    """Return the file's contents: a line of heads, then the rows. Spreadsheets run no text in it."""
    lines = [[quote_formula(column.head) for column in table.head]]
    lines += [[_write_csv_value(value) for value in row] for row in table.rows]
    return join_csv(lines).encode()


def join_csv(lines: Iterable[Iterable[str]]) -> str:
    """Return lines of safe cells as CSV; lines end as in RFC 4180."""
    target = io.StringIO()
    csv.writer(target).writerows(lines)
    return target.getvalue()


def _write_csv_value(value: ExportValue) -> str:
    if isinstance(value, str):
        return quote_formula(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if drop_not_finite(value) is None:
        return ""
    return repr(value)


def write_sheet_csv(sheet: ComparisonSheet) -> str:
    """Return the file's contents; the sheet must have been made in the machine style."""
    return join_csv(
        [quote_formula_cell(text) for text in line] for line in (list_sheet_columns(sheet), *_list_sheet_lines(sheet))
    )


def list_sheet_columns(sheet: ComparisonSheet) -> list[str]:
    """Return the column names: section, item, unit, and four for each accelerator."""
    columns = [tr("Section"), tr("Item"), tr("Unit")]
    for head in sheet.heads:
        columns += [head.name, tr("{name} low", name=head.name), tr("{name} high", name=head.name)]
        columns.append(tr("{name} mark", name=head.name))
    return columns


def _list_sheet_lines(sheet: ComparisonSheet) -> Iterable[list[str]]:
    width = 3 + 4 * len(sheet.heads)

    def filled(*texts: str) -> list[str]:
        return [*texts, *[""] * (width - len(texts))]

    yield filled(tr("Scenario"), tr("Name"), "", sheet.title)
    for fact in sheet.assumptions:
        yield filled(tr("Scenario"), fact.label, "", fact.value)
    if sheet.verdict:
        yield filled(tr("Summary"), tr("Verdict"), "", " ".join(sheet.verdict))
    for headline in sheet.headlines:
        yield filled(tr("Summary"), headline.label, "", headline.text, headline.detail)
    if sheet.recommendation is not None:
        for item, text in list_recommendation_items(sheet.recommendation):
            yield filled(tr("Recommendation"), item, "", text)
    for table in (sheet.table, sheet.how_many, sheet.costs, sheet.fleet_table, sheet.whose):
        yield from _list_table_lines(table)
    for rule in sheet.trace:
        yield _list_trace_cells(rule)
    for line in _list_appendix_lines(sheet):
        yield filled(*line)


def _list_appendix_lines(sheet: ComparisonSheet) -> list[tuple[str, ...]]:
    """Return notes, remarks, disputes, sources and foot: section, item, unit, texts."""
    notes = [(tr("Notes"), str(note.number), "", note.text) for note in sheet.notes]
    remarks = [(sheet.how_many.title, remark.subject, "", remark.text) for remark in sheet.sizing]
    if sheet.fleet is not None:
        remarks.append((sheet.fleet.table.title, "", "", " ".join(sheet.fleet.verdict)))
    remarks += [(tr("About these estimates"), remark.subject, "", remark.text) for remark in sheet.remarks]
    disputes = [
        (tr("Also in dispute"), entry.subject, "", entry.disagreement, entry.verdict, entry.reason)
        for entry in sheet.disputes
    ]
    sources = [
        (tr("Sources"), str(source.number), "", source.title, source.publisher, source.date or "")
        for source in sheet.sources
    ]
    foot = [(tr("Basis"), fact.label, "", fact.value) for fact in sheet.foot]
    return [*notes, *remarks, *disputes, *sources, *foot]


def _list_table_lines(table: ComparisonTable) -> Iterable[list[str]]:
    for group in table.groups:
        for row in group.rows:
            line = [group.title or table.title, row.label, row.unit or ""]
            for cell in row.cells:
                line += _list_cell_texts(cell)
            yield line


def list_recommendation_items(recommendation: SheetRecommendation) -> list[tuple[str, str]]:
    """Return the verdict, the reasons, the candidates with their odds, and further texts: item and text."""
    compared = (
        tr("{name}: {value}, {odds} odds", name=each.deployment, value=each.value, odds=each.odds_text)
        for each in recommendation.candidates
    )
    return [
        (tr("Verdict"), recommendation.verdict),
        *(((tr("Why"), recommendation.reason),) if recommendation.reason else ()),
        *((tr("Compared"), text) for text in compared),
        *((line.subject, line.text) for line in recommendation.lines),
    ]


def _list_trace_cells(rule: SheetTraceRow) -> list[str]:
    section = tr("Rules: {strength}", strength=rule.strength)
    label = f"{rule.rule} {rule.row.label}; {rule.row.detail}"
    line = [section, label, rule.row.unit or ""]
    for cell, effect in zip(rule.row.cells, rule.effects, strict=True):
        line += [*_list_cell_texts(cell)[:3], effect.label]
    return line


def _list_cell_texts(cell: ComparisonCell) -> tuple[str, str, str, str]:
    text = "" if cell.text == MISSING_VALUE_TEXT else cell.text
    return text, cell.low_text or "", cell.high_text or "", format_cell_marks(cell)


def format_cell_marks(cell: ComparisonCell) -> str:
    """Return the marks of a cell, its second line and the numbers of its notes."""
    marks = [_label_mark(cell.mark)] if cell.mark is not None else []
    if cell.detail:
        marks.append(cell.detail)
    if cell.notes:
        marks.append(tr("notes {numbers}", numbers=" ".join(map(str, cell.notes))))
    return "; ".join(marks)


def _label_mark(mark: CellMarking) -> str:
    return {
        CellMarking.BEST: tr("best"),
        CellMarking.TIED: tr("among the best, too close to call"),
        CellMarking.OPEN: tr("too close to call"),
        CellMarking.QUEUES: tr("requests queue"),
        CellMarking.FAILS: tr("does not fit"),
    }[mark]
