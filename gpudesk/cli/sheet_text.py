"""A sheet as aligned text for a terminal: the same figures, marked by signs and not by colour alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gpudesk.cli.tables import hanging, padded, text_width, wrapped
from gpudesk.sheets.sheet import Cell, Group, Mark, Row, Sheet
from gpudesk.text import tr

_LEAST_COLUMN = 13
_GAP = 2
#: Room for signs and numbers of notes, right of every figure.
_GUTTER = " " * 5
_INDENT = "  "
#: Signs after a figure.
_SIGNS = {Mark.BEST: "*", Mark.TIED: "≈", Mark.OPEN: "≈", Mark.FAILS: "⊘"}


def sheet_lines(sheet: Sheet, width: int, strong: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines of a sheet at most `width` wide; `strong` makes a text bold where that is possible."""
    yield strong(sheet.title)
    if sheet.note:
        yield from wrapped(sheet.note, width)
    yield ""
    facts = " · ".join(f"{fact.label} {fact.value}" for fact in sheet.assumptions)
    yield from wrapped(facts, width)
    yield ""
    yield from _headlines(sheet, width, strong)
    for start, end in _blocks(sheet, width):
        yield from _block(sheet, start, end, strong)
    yield from wrapped(_key(), width)
    yield from _foot(sheet, width, strong)


def _headlines(sheet: Sheet, width: int, strong: Callable[[str], str]) -> Iterator[str]:
    if not sheet.headlines:
        return
    questions = max(text_width(line.question) for line in sheet.headlines)
    answers = max(text_width(line.answer) for line in sheet.headlines)
    for line in sheet.headlines:
        start = f"{padded(line.question, questions)}  {strong(padded(line.answer, answers))}  "
        indent = " " * (questions + answers + 4)
        first, *following = wrapped(line.detail, max(width - len(indent), 20))
        yield start + first
        yield from (indent + rest for rest in following)
    yield ""


def _label_width(sheet: Sheet) -> int:
    return len(_INDENT) + max(text_width(row.label) for group in sheet.table.groups for row in group.rows)


def _unit_width(sheet: Sheet) -> int:
    return max(text_width(row.unit or "") for group in sheet.table.groups for row in group.rows)


def _column_widths(sheet: Sheet) -> list[int]:
    """Return how wide each accelerator's column is."""
    rows = [row for group in sheet.table.groups for row in group.rows]
    return [
        max(
            _LEAST_COLUMN,
            text_width(head.name + _GUTTER),
            text_width(head.detail + _GUTTER),
            *(text_width(line) for row in rows for line in _cell_lines(row.cells[position])),
        )
        for position, head in enumerate(sheet.heads)
    ]


def _blocks(sheet: Sheet, width: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of columns that fit beside the labels, one at the least."""
    widths = _column_widths(sheet)
    room = width - _label_width(sheet) - _GAP - _unit_width(sheet)
    start, used = 0, 0
    for position, column in enumerate(widths):
        if position > start and used + column + _GAP > room:
            yield start, position
            start, used = position, 0
        used += column + _GAP
    yield start, len(widths)


def _block(sheet: Sheet, start: int, end: int, strong: Callable[[str], str]) -> Iterator[str]:
    widths = _column_widths(sheet)[start:end]
    lead = _label_width(sheet) + _GAP + _unit_width(sheet)
    heads = sheet.heads[start:end]
    yield strong(" " * lead + _joined([head.name + _GUTTER for head in heads], widths)).rstrip()
    yield (" " * lead + _joined([head.detail + _GUTTER for head in heads], widths)).rstrip()
    yield "─" * (lead + sum(widths) + _GAP * len(widths))
    for number, group in enumerate(sheet.table.groups):
        if number:
            yield ""
        yield from _group(sheet, group, (start, end), widths, strong)
    yield ""


def _group(
    sheet: Sheet, group: Group, columns: tuple[int, int], widths: list[int], strong: Callable[[str], str]
) -> Iterator[str]:
    yield strong(group.title)
    for row in group.rows:
        yield from _row(row, columns, widths, _label_width(sheet), _unit_width(sheet))


def _row(row: Row, columns: tuple[int, int], widths: list[int], labels: int, units: int) -> Iterator[str]:
    cells = [_cell_lines(cell) for cell in row.cells[columns[0] : columns[1]]]
    lead = f"{padded(_INDENT + row.label, labels)}{' ' * _GAP}{padded(row.unit or '', units, right=True)}"
    for number in range(max(len(lines) for lines in cells)):
        texts = [lines[number] if number < len(lines) else "" for lines in cells]
        start = lead if number == 0 else " " * text_width(lead)
        yield (start + _joined(texts, widths)).rstrip()


def _joined(texts: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(
        " " * _GAP + padded(text, width, right=True) for text, width in zip(texts, widths, strict=True)
    )


def _cell_lines(cell: Cell) -> list[str]:
    """Return the figure with its signs, then its band or second line; figures end on the same place."""
    sign = " " if cell.mark is None else _SIGNS[cell.mark]
    notes = f"◇{','.join(map(str, cell.notes))}" if cell.notes else ""
    second = [line for line in (cell.band, cell.detail) if line]
    return [f"{cell.text} {sign}{notes:<3}", *(line + _GUTTER for line in second)]


def _key() -> str:
    return " · ".join(
        (
            tr("* best in the row"),
            tr("≈ no winner: within their bands"),
            tr("◇ sources differ, see the notes"),
            tr("below a figure: the band that holds four in five"),
        )
    )


def _foot(sheet: Sheet, width: int, strong: Callable[[str], str]) -> Iterator[str]:
    if sheet.notes:
        yield ""
        yield strong(tr("Notes"))
        for note in sheet.notes:
            yield from hanging(f"{note.number:>2}  ", note.text, width)
    if sheet.remarks:
        yield ""
        yield strong(tr("About these estimates"))
        for remark in sheet.remarks:
            subject = f"{remark.subject}: " if remark.subject else ""
            yield from wrapped(f"{subject}{remark.text}.", width, indent=_INDENT)
    if sheet.sources:
        yield ""
        yield strong(tr("Sources"))
        for source in sheet.sources:
            words = (source.title, source.publisher, source.kind, source.date)
            said = ", ".join(word for word in words if word)
            yield from hanging(f"{f'[{source.number}]':<5}", said, width)
    yield ""
    yield from wrapped(" · ".join(f"{fact.label} {fact.value}" for fact in sheet.foot), width)
