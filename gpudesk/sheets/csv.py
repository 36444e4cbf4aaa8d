"""The sheet as CSV for spreadsheets: one row a figure, its band in columns beside it.

Numbers have a point and no separators. Text that a spreadsheet would run as a formula gets an apostrophe.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpudesk.domain.formatting import UNKNOWN
from gpudesk.sheets.plain_text import safe_cell
from gpudesk.sheets.rule_words import effect_text
from gpudesk.sheets.sheet import Cell, Recommendation, Row, Sheet, Table, TraceRow
from gpudesk.sheets.table_csv import csv_text
from gpudesk.text import tr


def sheet_csv(sheet: Sheet) -> str:
    """Return the file's contents; the sheet must have been made in the machine style."""
    return csv_text([safe_cell(text) for text in line] for line in (heads(sheet), *_lines(sheet)))


def heads(sheet: Sheet) -> list[str]:
    """Return what the columns are called: section, item, unit, and four for each accelerator."""
    columns = [tr("Section"), tr("Item"), tr("Unit")]
    for head in sheet.heads:
        columns += [head.name, tr("{name} low", name=head.name), tr("{name} high", name=head.name)]
        columns.append(tr("{name} mark", name=head.name))
    return columns


def _lines(sheet: Sheet) -> Iterable[list[str]]:
    width = 3 + 4 * len(sheet.heads)

    def filled(*texts: str) -> list[str]:
        return [*texts, *[""] * (width - len(texts))]

    yield filled(tr("Scenario"), tr("Name"), "", sheet.title)
    for fact in sheet.assumptions:
        yield filled(tr("Scenario"), fact.label, "", fact.value)
    for headline in sheet.headlines:
        yield filled(tr("In short"), headline.question, "", headline.answer, headline.detail)
    if sheet.recommendation is not None:
        for item, text in recommendation_items(sheet.recommendation):
            yield filled(tr("Recommendation"), item, "", text)
    for table in (sheet.table, sheet.how_many, sheet.costs, sheet.whose):
        yield from _table_lines(table)
    for rule in sheet.trace:
        yield _trace_line(rule)
    for line in _appendix(sheet):
        yield filled(*line)


def _appendix(sheet: Sheet) -> list[tuple[str, ...]]:
    """Return notes, remarks, disputes, sources and foot: section, item, unit, texts."""
    notes = [(tr("Notes"), str(note.number), "", note.text) for note in sheet.notes]
    remarks = [(sheet.how_many.title, remark.subject, "", remark.text) for remark in sheet.sizing]
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


def _table_lines(table: Table) -> Iterable[list[str]]:
    for group in table.groups:
        for row in group.rows:
            yield _row_line(group.title or table.title, row)


def recommendation_items(found: Recommendation) -> list[tuple[str, str]]:
    """Return the verdict, why, how firm it is, and what there is to say of it: item and text."""
    items = [(tr("Verdict"), found.verdict), (tr("Why"), found.reason), (tr("How firm"), found.firm)]
    if found.shares:
        items.append((tr("Draws won, of 100"), found.shares_said))
    return [*items, *((line.subject, line.text) for line in found.lines)]


def _trace_line(rule: TraceRow) -> list[str]:
    section = tr("Trace: {strength}", strength=rule.strength)
    label = f"{rule.rule} {rule.row.label}; {rule.row.detail}"
    line = [section, label, rule.row.unit or ""]
    for cell, effect in zip(rule.row.cells, rule.effects, strict=True):
        line += [*_cell_texts(cell)[:3], effect_text(effect)]
    return line


def _row_line(section: str, row: Row) -> list[str]:
    line = [section, row.label, row.unit or ""]
    for cell in row.cells:
        line += _cell_texts(cell)
    return line


def _cell_texts(cell: Cell) -> tuple[str, str, str, str]:
    text = "" if cell.text == UNKNOWN else cell.text
    return text, cell.low or "", cell.high or "", mark_text(cell)


def mark_text(cell: Cell) -> str:
    """Return what distinguishes a cell, its second line and the numbers of its notes."""
    marks = [cell.mark.value] if cell.mark is not None else []
    if cell.detail:
        marks.append(cell.detail)
    if cell.notes:
        marks.append(tr("notes {numbers}", numbers=" ".join(map(str, cell.notes))))
    return "; ".join(marks)
