"""Aligned text in columns, and the sheet as text for a terminal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Final

from gpudesk.report.comparison.tables import (
    TIES,
    CellMarking,
    ComparisonCell,
    ComparisonRow,
    ComparisonSheet,
    label_tie,
)
from gpudesk.text.translation import tr

_GAP = "  "
#: The width to which the last column of a table can shrink.
_LEAST_LAST: Final = 16
#: Where a line can break: at any space except a no-break one, and except between a number and its unit.
_BREAK: Final = re.compile(
    r"(?<![\d.,])[^\S\xa0]+|(?<=[\d.,])[^\S\xa0]+(?!(?:%|ms|s|µs|tok/s|[KMGT]i?B(?:/s)?)(?:[\s,;:.)]|$))"
)


def measure_text(text: str) -> int:
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text
    )


def pad_text(text: str, width: int, *, right: bool = False) -> str:
    space = " " * max(0, width - measure_text(text))
    return space + text if right else text + space


def wrap_text(text: str, width: int, indent: str = "") -> list[str]:
    """Return the text in lines of at most `width` characters; a longer word is on its own line.

    A number and its unit are one word.
    """
    lines: list[str] = []
    line = ""
    for unbroken in filter(None, _BREAK.split(text.strip())):
        word = unbroken.replace("\N{NO-BREAK SPACE}", " ")
        longer = f"{line} {word}" if line else word
        if line and measure_text(longer) > width - (len(indent) if lines else 0):
            lines.append(line)
            line = word
        else:
            line = longer
    lines.append(line)
    return [lines[0], *(indent + following for following in lines[1:])]


def indent_hanging(lead: str, text: str, width: int) -> list[str]:
    """Return the text after its lead, with further lines indented."""
    first, *rest = wrap_text(text, max(width - measure_text(lead), 20))
    return [lead + first, *(" " * measure_text(lead) + line for line in rest)]


def list_labeled_lines(facts: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    """Yield facts, each next to its label and indented, in lines of at most `width`."""
    labels = max(measure_text(label) for label, _ in facts)
    for label, text in facts:
        first, *rest = wrap_text(text, max(width - labels - 4, 20))
        yield f"{_INDENT}{pad_text(label, labels)}  {first}"
        yield from (f"{_INDENT}{' ' * labels}  {line}" for line in rest)


def align_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    *,
    right: Sequence[int] = (),
    strong: Callable[[str], str] = str,
) -> list[str]:
    """Return a table with a head.

    The last column is wrapped to the width, all heads if that leaves it too narrow, and then the widest columns of
    words; columns in `right` are right-aligned.
    """
    body = [[measure_text(row[column]) for row in rows] for column in range(len(head))]
    widths = [max([measure_text(text), *sizes]) for text, sizes in zip(head, body, strict=True)]
    gaps = len(_GAP) * (len(head) - 1)
    least_widths = [max([*map(measure_text, text.split(" ")), *sizes]) for text, sizes in zip(head, body, strict=True)]
    if sum(widths[:-1]) + gaps + min(widths[-1], 2 * _LEAST_LAST) > width:
        widths[:-1] = least_widths[:-1]
        words = [column for column in range(len(head) - 1) if column not in right]
        for column in sorted(words, key=widths.__getitem__, reverse=True):
            excess = sum(widths[:-1]) + gaps + min(widths[-1], _LEAST_LAST) - width
            longest_word = max(measure_text(word) for row in (head, *rows) for word in row[column].split(" "))
            widths[column] -= max(0, min(excess, widths[column] - max(longest_word, _LEAST_LAST)))
    before = sum(widths[:-1]) + gaps
    widths[-1] = min(widths[-1], max(width - before, min(least_widths[-1], _LEAST_LAST)))
    lines = [strong(line) for line in _write_lines(head, widths, right)]
    lines.append("─" * min(width, before + widths[-1]))
    for row in rows:
        lines += _write_lines(row, widths, right)
    return lines


def _write_lines(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> list[str]:
    cells = [
        [text] if measure_text(text) <= width else wrap_text(text, width)
        for text, width in zip(row[:-1], widths[:-1], strict=True)
    ]
    cells.append(wrap_text(row[-1], widths[-1]))
    return [
        _GAP.join(pad_text(text, widths[column], right=column in right) for column, text in enumerate(across)).rstrip()
        for across in zip_longest(*cells, fillvalue="")
    ]


_LEAST_COLUMN = 13
_COLUMN_GAP = 2
#: With less room next to it, the detail of a headline goes below.
_LEAST_DETAIL = 20
_INDENT = "  "
#: Signs after a figure.
_SIGNS = {CellMarking.BEST: "*", CellMarking.FAILS: "⊘", CellMarking.QUEUES: "△"}


def list_verdict_lines(sentences: Sequence[str], width: int, strong: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines of a verdict, whose first sentence is the answer."""
    answer, *others = sentences
    yield from map(strong, wrap_text(answer, width))
    if others:
        yield from wrap_text(" ".join(others), width)


def list_sheet_lines(sheet: ComparisonSheet, width: int, strong: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines of a sheet at most `width` wide; `strong` makes a text bold if possible."""
    yield strong(sheet.title)
    if sheet.note:
        yield from wrap_text(sheet.note, width)
    yield ""
    facts = " · ".join(f"{fact.label} {fact.value}" for fact in sheet.assumptions)
    yield from wrap_text(facts, width)
    yield ""
    if sheet.verdict:
        yield from list_verdict_lines(sheet.verdict, width, strong)
        yield ""
    yield from _list_headline_lines(sheet, width, strong)
    for start, end in _group_columns(sheet, width):
        widths = _measure_columns(sheet)[start:end]
        lead = _measure_label_width(sheet) + _COLUMN_GAP + _measure_units(sheet)
        heads = sheet.heads[start:end]
        yield strong(" " * lead + _join_cells([head.name + _make_gutter() for head in heads], widths)).rstrip()
        yield (" " * lead + _join_cells([head.detail + _make_gutter() for head in heads], widths)).rstrip()
        yield "─" * (lead + sum(widths) + _COLUMN_GAP * len(widths))
        for number, group in enumerate(sheet.table.groups):
            if number:
                yield ""
            yield strong(group.title)
            for row in group.rows:
                yield from _list_row_lines(
                    row, (start, end), widths, _measure_label_width(sheet), _measure_units(sheet)
                )
        yield ""
    yield from wrap_text(_write_key(), width)
    yield from _write_foot(sheet, width, strong)


def _list_headline_lines(sheet: ComparisonSheet, width: int, strong: Callable[[str], str]) -> Iterator[str]:
    if not sheet.headlines:
        return
    questions = max(measure_text(line.label) for line in sheet.headlines)
    answers = max(measure_text(line.text) for line in sheet.headlines)
    for line in sheet.headlines:
        start = f"{pad_text(line.label, questions)}  {strong(pad_text(line.text, answers))}  "
        indent = " " * (questions + answers + 4)
        if width - len(indent) < _LEAST_DETAIL:
            yield start.rstrip()
            yield from wrap_text(line.detail, width, indent=_INDENT)
            continue
        first, *following = wrap_text(line.detail, width - len(indent))
        yield start + first
        yield from (indent + rest for rest in following)
    yield ""


def _measure_label_width(sheet: ComparisonSheet) -> int:
    return len(_INDENT) + max(measure_text(row.label) for group in sheet.table.groups for row in group.rows)


def _measure_units(sheet: ComparisonSheet) -> int:
    return max(measure_text(row.unit or "") for group in sheet.table.groups for row in group.rows)


def _measure_columns(sheet: ComparisonSheet) -> list[int]:
    rows = [row for group in sheet.table.groups for row in group.rows]
    return [
        max(
            _LEAST_COLUMN,
            measure_text(head.name + _make_gutter()),
            measure_text(head.detail + _make_gutter()),
            *(measure_text(line) for row in rows for line in _list_cell_lines(row.cells[position])),
        )
        for position, head in enumerate(sheet.heads)
    ]


def _group_columns(sheet: ComparisonSheet, width: int) -> Iterator[tuple[int, int]]:
    widths = _measure_columns(sheet)
    room = width - _measure_label_width(sheet) - _COLUMN_GAP - _measure_units(sheet)
    start, used = 0, 0
    for position, column in enumerate(widths):
        if position > start and used + column + _COLUMN_GAP > room:
            yield start, position
            start, used = position, 0
        used += column + _COLUMN_GAP
    yield start, len(widths)


def _list_row_lines(
    row: ComparisonRow, columns: tuple[int, int], widths: list[int], labels: int, units: int
) -> Iterator[str]:
    cells = [_list_cell_lines(cell) for cell in row.cells[columns[0] : columns[1]]]
    lead = f"{pad_text(_INDENT + row.label, labels)}{' ' * _COLUMN_GAP}{pad_text(row.unit or '', units, right=True)}"
    for number in range(max(len(lines) for lines in cells)):
        texts = [lines[number] if number < len(lines) else "" for lines in cells]
        start = lead if number == 0 else " " * measure_text(lead)
        yield (start + _join_cells(texts, widths)).rstrip()


def _join_cells(texts: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(
        " " * _COLUMN_GAP + pad_text(text, width, right=True) for text, width in zip(texts, widths, strict=True)
    )


def _list_cell_lines(cell: ComparisonCell) -> list[str]:
    """Return the figure with its signs, then its interval or second line; figures are right-aligned."""
    sign = label_tie() if cell.mark in TIES else "" if cell.mark is None else _SIGNS[cell.mark]
    notes = f"◇{','.join(map(str, cell.notes))}" if cell.notes else ""
    second = [line for line in (cell.band, cell.detail) if line]
    gutter = _make_gutter()
    return [f"{cell.text} {pad_text(sign + notes, measure_text(gutter) - 1)}", *(line + gutter for line in second)]


def _make_gutter() -> str:
    """Return the room right of every figure, for its sign and the numbers of notes."""
    return " " * (measure_text(label_tie()) + 2)


def _write_key() -> str:
    return " · ".join(
        (
            tr("* best in row"),
            tr("{tie}: too close to call", tie=label_tie()),
            tr("△ requests queue"),
            tr("◇ sources disagree, see notes"),
            tr("below a figure: 80% interval"),
        )
    )


def _write_foot(sheet: ComparisonSheet, width: int, strong: Callable[[str], str]) -> Iterator[str]:
    if sheet.notes:
        yield ""
        yield strong(tr("Notes"))
        for note in sheet.notes:
            yield from indent_hanging(f"{note.number:>2}  ", note.text, width)
    if sheet.remarks:
        yield ""
        yield strong(tr("About these estimates"))
        for remark in sheet.remarks:
            subject = f"{remark.subject}: " if remark.subject else ""
            yield from wrap_text(f"{subject}{remark.text}.", width, indent=_INDENT)
    if sheet.sources:
        yield ""
        yield strong(tr("Sources"))
        for source in sheet.sources:
            words = (source.title, source.publisher, source.kind, source.date)
            words_text = ", ".join(word for word in words if word)
            yield from indent_hanging(f"{f'[{source.number}]':<5}", words_text, width)
    yield ""
    yield from wrap_text(" · ".join(f"{fact.label} {fact.value}" for fact in sheet.foot), width)
