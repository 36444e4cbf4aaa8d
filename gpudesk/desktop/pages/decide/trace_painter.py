"""Paints the lines of a trace: what each rule is about, the answer, the weight, and what it does to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from gpudesk.desktop.itemmodels.trace_model import ANSWER, FIRST, RULE, WEIGHT, Line
from gpudesk.desktop.itemmodels.trace_rows import ShownCell, TraceFold, TraceGroup, TraceRow
from gpudesk.desktop.pages.decide.trace_measures import END, GAP, MARK, PAD
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.painted_table import Place
from gpudesk.desktop.widgets.text_cache import TextCache
from gpudesk.desktop.widgets.text_layer import TextLayer
from gpudesk.domain.decisions import Effect, Rule
from gpudesk.domain.formatting import Formatter

_ICON: Final = 14.0
#: A rule's ids are left out where they would have less room.
_LEAST_IDS: Final = 40.0
#: From the middle of a row with two lines to the middle of each.
_LINE: Final = 8.0

#: Effect -> icon, its colour, font and colour of the figure, colour of the word.
_LOOKS: Final = {
    Effect.FAVOURS: ("arrow-up", "best_text", "label", "text1", "best_text"),
    Effect.PASSES: ("check", "text2", "small", "text2", "text3"),
    Effect.NONE: ("minus", "text3", "small", "text2", "text3"),
    Effect.REMOVES: ("", "unfit", "label", "unfit", "unfit"),
    Effect.UNDECIDED: ("circle-help", "disputed", "label", "disputed_text", "disputed_text"),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What is to be painted, and the state of the view that it depends on."""

    area: QRect
    lines: Sequence[Line]
    rows: Sequence[Place]
    columns: Sequence[Place]
    hovered: int
    current: tuple[int, int] | None
    tall: bool

    @property
    def width(self) -> int:
        """How far the columns reach."""
        return max((place.start + place.size for place in self.columns), default=0)


class TracePainter:
    """Paints all lines and cells in sight."""

    def __init__(self, theme: Theme, texts: TextCache, formatter: Formatter) -> None:
        """Keep what to look up and what has been laid out."""
        self._theme = theme
        self._texts = texts
        self._formatter = formatter
        self._layer = TextLayer(theme, texts)

    def paint(self, painter: QPainter, shown: Shown) -> None:
        """Paint the lines and columns of `shown`."""
        self._layer.clear()
        pen = Pen(painter, self._theme)
        painter.fillRect(shown.area, self._theme.colour("page"))
        for row in shown.rows:
            line = shown.lines[row.number]
            if row.number == shown.hovered and not isinstance(line, TraceGroup):
                painter.fillRect(
                    shown.area.left(), row.start, shown.area.width(), row.size, pen.colour("hover")
                )
            self._line(pen, line, row, shown)
            if not isinstance(line, TraceGroup):
                level, pad = row.start + row.size - 1, self._theme.px(PAD)
                pen.hairline(pad, level, shown.width - pad, level, "grid")
        self._layer.draw(painter)
        self._ring(pen, shown)

    def _line(self, pen: Pen, line: Line, row: Place, shown: Shown) -> None:
        first = next((place for place in shown.columns if place.number == RULE), None)
        middle = row.start + row.size / 2
        match line:
            case TraceRow():
                for column in shown.columns:
                    self._column(pen, line, row, column, shown)
            case TraceGroup() if first is not None:
                low = row.start + row.size - self._theme.line("label") / 2 - self._theme.length(5)
                self._layer.text("label", "text2", line.title, first.start + self._theme.length(PAD), low)
            case TraceFold() if first is not None:
                self._fold(pen, line, first, middle)
            case Rule() if first is not None:
                self._silent(line, first, shown, middle)

    def _fold(self, pen: Pen, fold: TraceFold, first: Place, middle: float) -> None:
        side, left = self._theme.length(_ICON), first.start + self._theme.length(PAD)
        pen.icon("chevron-down" if fold.opened else "chevron-right", left, middle - side / 2, side, "text2")
        self._layer.text("small_strong", "text2", fold.title, left + side + self._theme.length(4), middle)

    def _silent(self, rule: Rule, first: Place, shown: Shown, middle: float) -> None:
        """Write a rule that says nothing over all columns, which it has no cells in."""
        left = first.start + self._theme.length(PAD)
        right = shown.width
        left += self._layer.text("small", "text3", rule.title, left, middle, right - left)
        left += self._theme.length(GAP)
        if right - left > self._theme.length(_LEAST_IDS):
            self._layer.text("caption", "text3", rule.id, left, middle, right - left)

    # Cells

    def _column(self, pen: Pen, line: TraceRow, row: Place, column: Place, shown: Shown) -> None:
        middle, end = row.start + row.size / 2, self._theme.length(END)
        right = column.start + column.size - end
        if column.number == RULE:
            answers = next((place.size for place in shown.columns if place.number == ANSWER), 0)
            if shown.tall:
                both = column.start + column.size + answers - end
                self._title(line, column.start, both, middle - self._theme.length(_LINE))
                self._ids_and_answer(line, column.start, both, middle + self._theme.length(_LINE + 1))
            else:
                self._in_one_line(line, column, middle)
        elif column.number == ANSWER and not shown.tall:
            self._layer.right("caption", "text3", line.answer, column.start, right, middle)
        elif column.number == WEIGHT:
            self._weight(line, column, right, middle)
        elif column.number >= FIRST:
            self._cell(pen, line.cells[column.number - FIRST], row, column)

    def _title(self, line: TraceRow, start: float, right: float, level: float) -> float:
        """Write what a rule is about, its unit and its marks, as far as there is room; return the end."""
        length, gap = self._theme.length, self._theme.length(GAP)
        x = start + length(PAD)
        marks = [("unfit", "unfit")] if line.refuted else []
        marks += [("disputed", "disputed")] if line.disputed else []
        room = right - length(MARK) * len(marks)
        x += self._layer.text("body", "text1", line.title, x, level, max(1.0, room - x)) + gap
        if line.unit and x + self._texts.width("caption", line.unit) <= room:
            x += self._layer.text("caption", "text3", line.unit, x, level) + gap
        x = min(x, room)
        for name, colour in marks:
            self._layer.mark(name, colour, x + length(MARK) / 2 - 2, level)
            x += length(MARK)
        return x

    def _in_one_line(self, line: TraceRow, column: Place, middle: float) -> None:
        """Write the ids behind what the rule is about, where they have room."""
        half, right = self._theme.length(GAP / 2), column.start + column.size - self._theme.length(4)
        x = self._title(line, column.start, right, middle) + half
        if right - x > self._theme.length(_LEAST_IDS):
            self._layer.text("caption", "text3", line.ids, x, middle, right - x)

    def _ids_and_answer(self, line: TraceRow, start: float, right: float, level: float) -> None:
        """Write ids at the left of a line and the answer at the right; both cut where there is no room."""
        left, gap = start + self._theme.length(PAD), self._theme.length(GAP)
        answer = self._texts.width("caption", line.answer)
        most = max((right - left) / 2, right - left - answer - gap)
        left += self._layer.text("caption", "text3", line.ids, left, level, most) + gap
        self._layer.right("caption", "text3", line.answer, left, right, level)

    def _weight(self, line: TraceRow, column: Place, right: float, middle: float) -> None:
        if line.weight is None:
            return
        token, colour = ("label", "text1") if line.changed else ("small", "text3")
        width = self._layer.right(
            token, colour, self._formatter.stated(line.weight), column.start, right, middle
        )
        if line.changed:
            self._layer.mark("own", "link", right - width - self._theme.length(9), middle)

    def _cell(self, pen: Pen, cell: ShownCell, row: Place, column: Place) -> None:
        """Draw what a rule does: glyph and figure, or the word where there is no figure."""
        icon, tint, font, colour, quiet = _LOOKS[cell.effect]
        length = self._theme.length
        box = self._box(row, column)
        if cell.effect is Effect.FAVOURS:
            pen.tint(box, "best")
        middle, side = row.start + row.size / 2, length(_ICON)
        x = box.left() + length(7)
        if icon:
            pen.icon(icon, x, middle - side / 2, side, tint)
        else:
            self._layer.mark("unfit", tint, x + side / 2, middle)
        x += side + length(5)
        room = box.right() - length(4) - x
        if not cell.figure:
            self._layer.text("small", quiet, cell.word, x, middle, max(1.0, room))
            return
        x += self._layer.text(font, colour, cell.figure, x, middle, max(1.0, room)) + length(6)
        told = cell.effect in (Effect.REMOVES, Effect.UNDECIDED)
        if told and self._texts.width("caption", cell.word) <= box.right() - length(4) - x:
            self._layer.text("caption", quiet, cell.word, x, middle)

    def _box(self, row: Place, column: Place) -> QRectF:
        """Return what of a cell is tinted."""
        return QRectF(column.start, row.start, column.size, row.size).adjusted(
            2, 2, -self._theme.length(8), -3
        )

    def _ring(self, pen: Pen, shown: Shown) -> None:
        """Draw the ring of the current cell; the fold and silent rules have one for the whole line."""
        if shown.current is None:
            return
        row = next((place for place in shown.rows if place.number == shown.current[0]), None)
        column = next((place for place in shown.columns if place.number == shown.current[1]), None)
        if row is None or column is None:
            return
        if isinstance(shown.lines[row.number], TraceRow):
            box = QRectF(column.start, row.start, column.size, row.size).adjusted(2, 1, -3, -2)
            box = self._box(row, column).adjusted(0, -1, 0, 1) if column.number >= FIRST else box
        else:
            last = shown.columns[-1]
            box = QRectF(column.start, row.start, last.start + last.size - column.start, row.size)
            box = box.adjusted(2, 1, -4, -2)
        pen.painter.setPen(QPen(pen.colour("focus"), 2))
        pen.painter.setBrush(Qt.BrushStyle.NoBrush)
        radius = self._theme.length(5)
        pen.painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), radius, radius)
