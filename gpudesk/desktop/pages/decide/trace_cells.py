"""Row heights, column widths and cell painting of the rule trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from gpudesk.desktop.pages.decide.trace_model import (
    ANSWER,
    FIRST,
    RULE,
    WEIGHT,
    TraceFold,
    TraceGroup,
    TraceRuleRow,
    TraceTableCell,
    TraceTableLine,
)
from gpudesk.desktop.ui.tables.painted_table import VisibleSection
from gpudesk.desktop.ui.tables.text_layer import TextCache, TextLayer
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.domain.decision import DecisionRule, RuleEffect
from gpudesk.text.formatting import Formatter

#: Left of the first text, so that the ring of a cell has room; rules end so far from the edges too.
PAD: Final = 8.0
#: Between a text and what follows it in its line, a mark with its room, and right of answers and weights.
GAP: Final = 8.0
MARK: Final = 14.0
END: Final = 12.0

_ROW: Final = 29.0
_TALL: Final = 42.0
_GROUP: Final = 36.0
_SILENT: Final = 25.0
_WEIGHT: Final = 54.0
_CELL: Final = (84.0, 150.0)
_ANSWER: Final = (72.0, 250.0)
_LEAST_RULE: Final = 180.0
#: The cells of accelerators take no more than this share of the width.
_CELLS: Final = 0.52
#: Rows have a second line where ids of more than this share of them have no room in the first.
_CUT: Final = 0.25


@dataclass(frozen=True, slots=True)
class RuleTraceWidths:
    """Widths of the columns in pixels; all accelerators have the same.

    `tall` rows have a second line for ids and answers; what they are about then has both columns' room.
    """

    rule: int
    answer: int
    weight: int
    cell: int
    tall: bool

    def of(self, column: int) -> int:
        return (self.rule, self.answer, self.weight)[column] if column < FIRST else self.cell


class RuleTraceLayout:
    """Measures lines by their texts."""

    def __init__(self, theme: Theme, texts: TextCache) -> None:
        self._theme, self._texts = theme, texts

    def widths(self, room: int, accelerators: int, rows: Sequence[TraceRuleRow]) -> RuleTraceWidths:
        """Share the room: cells and weights first, answers as they need, and rules what is left."""
        px, count = self._theme.px, max(1, accelerators)
        weight = px(_WEIGHT)
        cell = min(max(int(room * _CELLS / count), px(_CELL[0])), px(_CELL[1]))
        cell = min(cell, max(px(_CELL[0]) // 2, (room - weight - px(_LEAST_RULE + _ANSWER[0])) // count))
        left = max(0, room - weight - cell * count)
        wanted = max((self._texts.width("caption", row.answer) for row in rows), default=0.0)
        most = min(px(_ANSWER[1]), max(px(_ANSWER[0]), left - px(_LEAST_RULE) * 3 // 2))
        answer = min(max(round(wanted) + px(END + 6), px(_ANSWER[0])), most, left)
        rule = left - answer
        cut = sum(self._needed(row) > rule for row in rows)
        return RuleTraceWidths(rule, answer, weight, cell, cut > _CUT * len(rows))

    def _needed(self, row: TraceRuleRow) -> float:
        """Return the width of a rule with unit, marks and ids in one line."""
        length, width = self._theme.length, self._texts.width
        needed = length(PAD + 4) + width("body", row.title) + length(GAP) + width("caption", row.ids)
        needed += length(MARK) * (row.refuted + row.disputed)
        return needed + (width("caption", row.unit) + length(GAP) if row.unit else 0.0)

    def height(self, line: TraceTableLine, *, tall: bool) -> int:
        px = self._theme.px
        match line:
            case TraceGroup():
                return px(_GROUP)
            case TraceRuleRow():
                return px(_TALL if tall else _ROW)
            case TraceFold():
                return px(_ROW)
        return px(_SILENT)

    @property
    def row(self) -> int:
        return self._theme.px(_ROW)


_ICON: Final = 14.0
#: A rule's ids are left out where they would have less room.
_LEAST_IDS: Final = 40.0
#: From the middle of a row with two lines to the middle of each.
_LINE: Final = 8.0

#: Effect -> icon, its colour, font and colour of the figure, colour of the word.
_LOOKS: Final = {
    RuleEffect.FAVOURS: ("arrow-up", "best_text", "label", "text1", "best_text"),
    RuleEffect.PASSES: ("check", "text2", "small", "text2", "text3"),
    RuleEffect.NONE: ("minus", "text3", "small", "text2", "text3"),
    RuleEffect.REMOVES: ("", "unfit", "label", "unfit", "unfit"),
    RuleEffect.UNDECIDED: ("circle-help", "disputed", "label", "disputed_text", "disputed_text"),
}


@dataclass(frozen=True, slots=True)
class RuleTracePaintState:
    """What is to be painted, and the state of the view that it depends on."""

    area: QRect
    lines: Sequence[TraceTableLine]
    rows: Sequence[VisibleSection]
    columns: Sequence[VisibleSection]
    hovered: int
    current: tuple[int, int] | None
    tall: bool

    @property
    def width(self) -> int:
        return max((place.start + place.size for place in self.columns), default=0)


class RuleTracePainter:
    """Paints all lines and cells in sight."""

    def __init__(self, theme: Theme, texts: TextCache, formatter: Formatter) -> None:
        self._theme = theme
        self._texts = texts
        self._formatter = formatter
        self._layer = TextLayer(theme, texts)

    def paint(self, painter: QPainter, shown: RuleTracePaintState) -> None:
        self._layer.clear()
        pen = ThemePainter(painter, self._theme)
        painter.fillRect(shown.area, self._theme.colour("page"))
        for row in shown.rows:
            line = shown.lines[row.number]
            if row.number == shown.hovered and not isinstance(line, TraceGroup):
                painter.fillRect(shown.area.left(), row.start, shown.area.width(), row.size, pen.colour("hover"))
            self._line(pen, line, row, shown)
            if not isinstance(line, TraceGroup):
                level, pad = row.start + row.size - 1, self._theme.px(PAD)
                pen.hairline(pad, level, shown.width - pad, level, "grid")
        self._layer.draw(painter)
        self._ring(pen, shown)

    def _line(self, pen: ThemePainter, line: TraceTableLine, row: VisibleSection, shown: RuleTracePaintState) -> None:
        first = next((place for place in shown.columns if place.number == RULE), None)
        middle = row.start + row.size / 2
        match line:
            case TraceRuleRow():
                for column in shown.columns:
                    self._column(pen, line, row, column, shown)
            case TraceGroup() if first is not None:
                low = row.start + row.size - self._theme.line("label") / 2 - self._theme.length(5)
                self._layer.text("label", "text2", line.title, first.start + self._theme.length(PAD), low)
            case TraceFold() if first is not None:
                self._fold(pen, line, first, middle)
            case DecisionRule() if first is not None:
                self._silent(line, first, shown, middle)

    def _fold(self, pen: ThemePainter, fold: TraceFold, first: VisibleSection, middle: float) -> None:
        side, left = self._theme.length(_ICON), first.start + self._theme.length(PAD)
        pen.icon("chevron-down" if fold.opened else "chevron-right", left, middle - side / 2, side, "text2")
        self._layer.text("small_strong", "text2", fold.title, left + side + self._theme.length(4), middle)

    def _silent(self, rule: DecisionRule, first: VisibleSection, shown: RuleTracePaintState, middle: float) -> None:
        """Write a rule that says nothing over all columns, which it has no cells in."""
        left = first.start + self._theme.length(PAD)
        right = shown.width
        left += self._layer.text("small", "text3", rule.title, left, middle, right - left)
        left += self._theme.length(GAP)
        if right - left > self._theme.length(_LEAST_IDS):
            self._layer.text("caption", "text3", rule.id, left, middle, right - left)

    # Cells

    def _column(
        self,
        pen: ThemePainter,
        line: TraceRuleRow,
        row: VisibleSection,
        column: VisibleSection,
        shown: RuleTracePaintState,
    ) -> None:
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

    def _title(self, line: TraceRuleRow, start: float, right: float, level: float) -> float:
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

    def _in_one_line(self, line: TraceRuleRow, column: VisibleSection, middle: float) -> None:
        """Write the ids behind what the rule is about, where they have room."""
        half, right = self._theme.length(GAP / 2), column.start + column.size - self._theme.length(4)
        x = self._title(line, column.start, right, middle) + half
        if right - x > self._theme.length(_LEAST_IDS):
            self._layer.text("caption", "text3", line.ids, x, middle, right - x)

    def _ids_and_answer(self, line: TraceRuleRow, start: float, right: float, level: float) -> None:
        """Write ids at the left of a line and the answer at the right; both cut where there is no room."""
        left, gap = start + self._theme.length(PAD), self._theme.length(GAP)
        answer = self._texts.width("caption", line.answer)
        most = max((right - left) / 2, right - left - answer - gap)
        left += self._layer.text("caption", "text3", line.ids, left, level, most) + gap
        self._layer.right("caption", "text3", line.answer, left, right, level)

    def _weight(self, line: TraceRuleRow, column: VisibleSection, right: float, middle: float) -> None:
        if line.weight is None:
            return
        token, colour = ("label", "text1") if line.changed else ("small", "text3")
        width = self._layer.right(token, colour, self._formatter.stated(line.weight), column.start, right, middle)
        if line.changed:
            self._layer.mark("own", "link", right - width - self._theme.length(9), middle)

    def _cell(self, pen: ThemePainter, cell: TraceTableCell, row: VisibleSection, column: VisibleSection) -> None:
        """Draw what a rule does: glyph and figure, or the word where there is no figure."""
        icon, tint, font, colour, quiet = _LOOKS[cell.effect]
        length = self._theme.length
        box = self._box(row, column)
        if cell.effect is RuleEffect.FAVOURS:
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
        told = cell.effect in (RuleEffect.REMOVES, RuleEffect.UNDECIDED)
        if told and self._texts.width("caption", cell.word) <= box.right() - length(4) - x:
            self._layer.text("caption", quiet, cell.word, x, middle)

    def _box(self, row: VisibleSection, column: VisibleSection) -> QRectF:
        return QRectF(column.start, row.start, column.size, row.size).adjusted(2, 2, -self._theme.length(8), -3)

    def _ring(self, pen: ThemePainter, shown: RuleTracePaintState) -> None:
        """Draw the ring of the current cell; the fold and silent rules have one for the whole line."""
        if shown.current is None:
            return
        row = next((place for place in shown.rows if place.number == shown.current[0]), None)
        column = next((place for place in shown.columns if place.number == shown.current[1]), None)
        if row is None or column is None:
            return
        if isinstance(shown.lines[row.number], TraceRuleRow):
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
