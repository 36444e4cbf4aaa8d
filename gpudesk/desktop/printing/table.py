"""The table of a sheet in pieces: the heads of the columns, and the rows of each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gpudesk.desktop.printing.ink import SWATCH, Ink
from gpudesk.desktop.printing.letters import (
    Line,
    line_height,
    lines_of,
    widest,
    width,
)
from gpudesk.desktop.printing.paper import MM
from gpudesk.desktop.printing.pieces import Piece, draw_line, first_baseline, rule, stacked
from gpudesk.sheets.sheet import Cell, Group, Head, Mark, Row, Sheet, Table

#: Widths: of the labels with their units, of a swatch, of the white around figures.
_LABELS: Final = 52 * MM
_PAD: Final = 6.0
#: From so many columns on labels take no more than they need, and columns have less white.
_MANY: Final = 4
_NARROW: Final = 75.0
#: Columns are not wider than this, so that figures stay near their labels.
_WIDEST: Final = 64 * MM
#: Columns are tinted over this width at the most, however wide they are.
_WIDEST_TINT: Final = 46 * MM
#: White between a figure and a band beside it, and what the glyph of a fault takes.
_ASIDE: Final = 8.0
_GLYPH: Final = 13.0
_GROUP_COLOUR: Final = "strong"
#: Distance of the lines of a label or of words that take several.
_WRAPPED: Final = 8.6


@dataclass(frozen=True, slots=True)
class Density:
    """Heights of rows: of one line, of each further line, and of a group's title."""

    row: float
    further: float
    group: float


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where things stand from the left edge: labels end at `labels`, columns are `column` wide."""

    room: float
    labels: float
    column: float
    gutter: float
    pad: float

    def right(self, position: int) -> float:
        """Right end of a column."""
        return self.labels + (position + 1) * self.column

    @property
    def inner(self) -> float:
        """Width that a figure with its band may take."""
        return self.column - self.gutter - self.pad


@dataclass(frozen=True, slots=True)
class _SetCell:
    """A cell with its lines broken; the second line may stand beside the figure."""

    cell: Cell
    figure: tuple[Line, ...]
    second: tuple[Line, ...]
    beside: bool

    def height(self, density: Density) -> float:
        """Height of the row that holds it."""
        below = 0 if self.beside else len(self.second) * density.further
        return density.row + (len(self.figure) - 1) * _WRAPPED + below


class SetTable:
    """A table set for a width; the parts are put on pages by whoever has the pages."""

    def __init__(self, heads: Sequence[Head], table: Table, room: float, density: Density) -> None:
        """Measure everything, so that figures end on one place in each column."""
        self._density = density
        self._plan = _planned(len(heads), table, room)
        self.head = self._heads(heads)
        grouped = [self._group(group) for group in table.groups]
        self.groups = tuple(map(stacked, grouped))
        #: Every row by itself, the first of a group below its title: for groups that no page holds.
        self.rows = tuple(row for rows in grouped for row in rows)

    # The heads

    def _heads(self, heads: Sequence[Head]) -> Piece:
        plan = self._plan
        room = plan.column - plan.gutter
        above = any(width(head.name, "head") + SWATCH + 4 > room for head in heads)
        names = [lines_of(head.name, "head", room, f"slot{head.slot}") for head in heads]
        details = [lines_of(head.detail, "small", room, "text3") for head in heads]
        name_lines = max(map(len, names))
        detail_lines = max(map(len, details))
        swatch_height = 9.0 if above else 0.0
        height = swatch_height + name_lines * line_height("head") + detail_lines * line_height("small") + 4

        def draw(ink: Ink, x: float, y: float) -> None:
            for position, (head, name, detail) in enumerate(zip(heads, names, details, strict=True)):
                right = x + plan.right(position) - plan.gutter
                top = y + (name_lines - len(name)) * line_height("head")
                left = right - widest((word.text for line in name for word in line), "head")
                if above:
                    ink.swatch(right - SWATCH, top + 4.5, head.slot, hollow=head.hollow)
                else:
                    ink.swatch(left - SWATCH - 4, top + 6.0, head.slot, hollow=head.hollow)
                top += swatch_height
                top = _right_lines(ink, name, right, top, line_height("head"), "head")
                _right_lines(ink, detail, right, top, line_height("small"), "small")
            rule(plan.room, "text1", 0.8).draw(ink, x, y + height)

        return Piece(height + 0.8, draw)

    # Groups and rows

    def _group(self, group: Group) -> list[Piece]:
        """Return the rows of a group, the first one with the title above it."""
        beside = self._fits_beside(group)
        first, *rest = [self._row(row, beside=beside) for row in group.rows]
        return [stacked([*self._title(group.title), first]), *rest]

    def _title(self, title: str) -> list[Piece]:
        if not title:
            return []
        height = self._density.group
        across = rule(self._plan.room, _GROUP_COLOUR, 0.5)

        def draw(ink: Ink, x: float, y: float) -> None:
            ink.text(x, y + height - 3.5, title, style="group", colour="text1")
            across.draw(ink, x, y + height - 0.5)

        return [Piece(height, draw)]

    def _fits_beside(self, group: Group) -> bool:
        """Whether every figure of a group has room for its band at its side."""
        return all(
            _figure_width(cell) + _ASIDE + width(second, "small") <= self._plan.inner
            for row in group.rows
            for cell in row.cells
            if (second := _second(cell))
        )

    def _row(self, row: Row, *, beside: bool) -> Piece:
        plan, density = self._plan, self._density
        unit = width(row.unit, "small") + _PAD if row.unit else 0.0
        label = lines_of(row.label, "body", plan.labels - unit - _PAD)
        detail = lines_of(row.detail, "small", plan.labels - _PAD, "text3")
        cells = [self._cell(cell, beside=beside) for cell in row.cells]
        said = (len(label) - 1) * _WRAPPED
        labels = density.row + said + len(detail) * density.further
        height = max(labels, *(cell.height(density) for cell in cells))
        across = rule(plan.room, "grid", 0.4)

        def draw(ink: Ink, x: float, y: float) -> None:
            across.draw(ink, x, y + height - 0.4)
            baseline = y + first_baseline("body", density.row)
            for number, line in enumerate(label):
                draw_line(ink, line, x, baseline + number * _WRAPPED)
            for number, line in enumerate(detail):
                draw_line(ink, line, x, baseline + said + (number + 1) * density.further)
            if row.unit:
                ink.text(
                    x + plan.labels - _PAD, baseline, row.unit, style="small", colour="text3", align="right"
                )
            for position, cell in enumerate(cells):
                self._draw_cell(ink, cell, x + plan.right(position), y, height)

        return Piece(height, draw)

    def _cell(self, cell: Cell, *, beside: bool) -> _SetCell:
        room = self._plan.inner
        colour = "unfit" if cell.mark is Mark.FAILS else "text1"
        if cell.mark is Mark.FAILS:
            room -= _GLYPH
        figure = lines_of(cell.text, _style(cell), room, colour) or ((),)
        second = lines_of(_second(cell), "small", self._plan.inner, _second_colour(cell))
        return _SetCell(cell, figure, second, beside and len(figure) == 1 and len(second) == 1)

    def _draw_cell(self, ink: Ink, set_cell: _SetCell, right: float, y: float, height: float) -> None:
        cell, plan, density = set_cell.cell, self._plan, self._density
        if cell.mark in (Mark.BEST, Mark.TIED):
            tint = min(plan.column - 2, _WIDEST_TINT)
            ink.tint(right - tint, y + 0.6, tint, height - 1.6, "best", radius=2.5)
        end = right - plan.gutter
        baseline = y + first_baseline("body", density.row)
        for number, line in enumerate(set_cell.figure):
            _right_line(ink, line, end, baseline + number * _WRAPPED)
        if cell.mark is Mark.FAILS:
            left = end - _line_width(set_cell.figure[0])
            ink.glyph("unfit", left - 7, baseline - 2.9)
        for number, line in enumerate(set_cell.second):
            if set_cell.beside:
                _right_line(ink, line, end - _figure_width(cell) - _ASIDE, baseline)
            else:
                last = baseline + (len(set_cell.figure) - 1) * _WRAPPED
                _right_line(ink, line, end, last + (number + 1) * density.further)
        _draw_gutter(ink, cell, end, baseline)


def _planned(columns: int, table: Table, room: float) -> _Plan:
    rows = [row for group in table.groups for row in group.rows]
    count = max(1, columns)
    labels = _LABELS
    if count >= _MANY:
        needed = (width(row.label, "body") + width(row.unit or "", "small") for row in rows)
        labels = min(_LABELS, max(needed, default=0.0) + 2 * _PAD)
    column = min((room - labels) / count, _WIDEST)
    pad = _PAD if column > _NARROW else 2.0
    raised = max((_gutter_width(cell) for row in rows for cell in row.cells), default=0.0)
    # In narrow columns notes may reach over the white of the next column.
    gutter = max(width("≈", "body") + 3, min(raised + 3, 18.0 if column > _NARROW else 11.0))
    return _Plan(room, labels, column, gutter, pad)


def _style(cell: Cell) -> str:
    return "best" if cell.mark in (Mark.BEST, Mark.TIED, Mark.FAILS) else "body"


def _figure_width(cell: Cell) -> float:
    glyph = _GLYPH if cell.mark is Mark.FAILS else 0.0
    return width(cell.text, _style(cell)) + glyph


def _second(cell: Cell) -> str:
    return cell.band or cell.detail or ""


def _second_colour(cell: Cell) -> str:
    return "best_text" if cell.mark in (Mark.BEST, Mark.TIED) else "text2"


def _raised(cell: Cell) -> str:
    return ",".join(map(str, cell.notes))


def _gutter_width(cell: Cell) -> float:
    tie = width("≈", "body") + 1 if cell.mark in (Mark.TIED, Mark.OPEN) else 0.0
    return tie + width(_raised(cell), "raised")


def _draw_gutter(ink: Ink, cell: Cell, x: float, baseline: float) -> None:
    """Draw what stands right of a figure: ≈ where nobody wins, and the numbers of notes."""
    x += 1.5
    if cell.mark in (Mark.TIED, Mark.OPEN):
        ink.text(x, baseline, "≈", style="body", colour="best_text" if cell.mark is Mark.TIED else "text2")
        x += width("≈", "body") + 1
    if cell.notes:
        ink.text(x, baseline - 2.6, _raised(cell), style="raised", colour="disputed_text")


def _line_width(line: Line) -> float:
    return max((word.x + width(word.text, word.style) for word in line), default=0.0)


def _right_line(ink: Ink, line: Line, right: float, baseline: float) -> None:
    draw_line(ink, line, right - _line_width(line), baseline)


def _right_lines(ink: Ink, lines: Sequence[Line], right: float, top: float, step: float, style: str) -> float:
    """Draw lines that end on one place; return where the next would begin."""
    for number, line in enumerate(lines):
        _right_line(ink, line, right, top + number * step + first_baseline(style, step))
    return top + len(lines) * step


def key_of_marks(sheet: Sheet, room: float) -> Piece:
    """Return what the marks of the table mean, on as few lines as they take."""
    lines: list[list[tuple[float, str]]] = [[]]
    x = 0.0
    for text in sheet.key:
        needed = width(text, "small")
        if lines[-1] and x + needed > room:
            lines.append([])
            x = 0.0
        lines[-1].append((x, text))
        x += needed + 14
    step = line_height("small")

    def draw(ink: Ink, left: float, y: float) -> None:
        for number, line in enumerate(lines):
            for start, text in line:
                baseline = y + 4 + number * step + first_baseline("small", step)
                ink.text(left + start, baseline, text, style="small", colour="text2")

    return Piece(4 + step * len(lines), draw)
