"""The factor table: how each accelerator does by its figure, beside what documents say of it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QSizePolicy, QWidget

from gpudesk.desktop.itemmodels.factors_model import FACTOR, FIRST, FactorRow, FactorsModel, ShownLevel
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.painted_heads import PaintedHeads
from gpudesk.desktop.widgets.painted_table import Index, PaintedTable, places_between
from gpudesk.desktop.widgets.text_cache import TextCache
from gpudesk.desktop.widgets.text_layer import TextLayer
from gpudesk.domain.decisions import Level
from gpudesk.text import tr

_HEAD: Final = 34.0
_ROW: Final = 56.0
_PAD: Final = 8.0
#: From the middle of a row to the middle of each of its lines.
_LINE: Final = 8.5
_FACTOR: Final = (120.0, 250.0)
#: What documents say takes so many lines at most.
_SAID: Final = 2
_CELL: Final = (80.0, 132.0)
_CELLS: Final = 0.44
_BY_KEY: Final = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class _Heads(PaintedHeads):
    """Names of accelerators in their colours, and of the other two columns."""

    def __init__(self, theme: Theme, model: FactorsModel, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme, self._model = theme, model
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(1)
        self.setHighlightSections(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Accelerators"))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw all heads and the rule below them."""
        painter = QPainter(self.viewport())
        try:
            pen = Pen(painter, self._theme)
            painter.fillRect(event.rect(), pen.colour("page"))
            swatches = self._has_room_for_swatches(pen)
            for column in range(self.count()):
                self._head(pen, column, swatch=swatches)
            bottom, pad = self.height() - 1, self._theme.px(_PAD)
            pen.hairline(pad, bottom, self.viewport().width() - pad, bottom, "strong")
        finally:
            painter.end()

    def _has_room_for_swatches(self, pen: Pen) -> bool:
        """Whether all names have room behind their swatches; else none has one."""
        before = self._theme.length(_PAD + 25) + 2
        return all(
            before + pen.width(head.name, "label") <= self.sectionSize(FIRST + place)
            for place, head in enumerate(self._model.heads)
        )

    def _head(self, pen: Pen, column: int, *, swatch: bool) -> None:
        theme, height, head = self._theme, self.height() - 1, self._model.head(column)
        x = self.sectionViewportPosition(column) + theme.length(_PAD)
        right = self.sectionViewportPosition(column) + self.sectionSize(column) - 2
        if head is None:
            text = str(self._model.headerData(column, Qt.Orientation.Horizontal) or "")
            place = QRectF(x, 0, max(1.0, right - x), height)
            pen.text(place, text, font="caption_strong", colour="text3")
            return
        if swatch:
            x += pen.swatch(x, height / 2, head.slot, hollow=head.hollow) + theme.length(5)
        place = QRectF(x, 0, max(1.0, right - x), height)
        pen.text(place, head.name, font="label", colour=theme.slot_label(head.slot))


class FactorsTable(PaintedTable):
    """As high as its rows; arrows walk over the cells, each of which has a sentence."""

    #: Number of the row and key of the column (empty for factor and documents) that became current.
    cell_chosen = Signal(int, str)

    def __init__(self, theme: Theme, model: FactorsModel, parent: QWidget | None = None) -> None:
        """Show a model."""
        super().__init__(parent)
        self._theme, self._table = theme, model
        self._hovered = -1
        self._texts = TextCache(theme)
        self._layer = TextLayer(theme, self._texts)
        self._heads = _Heads(theme, model, self)
        self.setHorizontalHeader(self._heads)
        self.set_up(model)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(1)
        self.setAccessibleName(tr("Factors"))
        model.modelReset.connect(self.measure)
        model.dataChanged.connect(self.viewport().update)
        theme.follow(self.measure)

    # Measures

    def measure(self) -> None:
        """Take heights and widths anew."""
        self.verticalHeader().setDefaultSectionSize(self._theme.px(_ROW))
        self._heads.setFixedHeight(self._theme.px(_HEAD))
        self.setFixedHeight(self._whole_height())
        self._fit_columns()
        self.viewport().update()
        self._heads.viewport().update()

    def _whole_height(self) -> int:
        return self._theme.px(_HEAD) + len(self._table.rows) * self._theme.px(_ROW) + 2

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the height of all rows."""
        return QSize(self._theme.px(600), self._whole_height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Leave the width to the page."""
        return QSize(self._theme.px(320), self._whole_height())

    def _fit_columns(self) -> None:
        px, room, count = self._theme.px, self.viewport().width(), max(1, len(self._table.heads))
        cell = min(max(int(room * _CELLS / count), px(_CELL[0])), px(_CELL[1]))
        left = max(0, room - cell * len(self._table.heads))
        wanted = max((self._texts.width("body", row.name) for row in self._table.rows), default=0.0)
        about = max((self._texts.width("caption", row.measure) for row in self._table.rows), default=0.0)
        factor = min(round(max(wanted, about)) + px(2 * _PAD), px(_FACTOR[1]), max(px(_FACTOR[0]), left // 2))
        widths = [factor, *(cell for _ in self._table.heads), max(1, left - factor)]
        for column, width in enumerate(widths[: self._table.columnCount()]):
            self._heads.resizeSection(column, width)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Share the new room."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit_columns()

    # The current cell

    def currentChanged(self, current: Index, previous: Index) -> None:  # noqa: N802 - Qt's name
        """Say which cell is current now."""
        super().currentChanged(current, previous)
        self.viewport().update()
        if current.isValid():
            head = self._table.head(current.column())
            self.cell_chosen.emit(current.row(), "" if head is None else head.key)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Begin at the first factor."""
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and event.reason() in _BY_KEY:
            self.setCurrentIndex(self._table.index(0, FACTOR))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Select the current cell anew with Enter; the view itself walks and searches."""
        index = self.currentIndex()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
            head = self._table.head(index.column())
            self.cell_chosen.emit(index.row(), "" if head is None else head.key)
        else:
            super().keyPressEvent(event)

    def named_rows(self) -> list[tuple[int, str]]:
        """Return the rows by their factors."""
        return [(number, row.name) for number, row in enumerate(self._table.rows)]

    def hover(self, row: int) -> None:
        """Tint the row under the mouse."""
        if row != self._hovered:
            self._hovered = row
            self.viewport().update()

    def sentence_at(self, index: QModelIndex) -> str:
        """Return all that a cell says."""
        return self._table.sentence(index.row(), index.column())

    # Painting

    def paint(self, painter: QPainter, area: QRect) -> None:
        """Draw everything in sight in one go."""
        self._layer.clear()
        pen, width, pad = Pen(painter, self._theme), self.viewport().width(), self._theme.px(_PAD)
        painter.fillRect(area, pen.colour("page"))
        for row in places_between(self.verticalHeader(), area.top(), area.bottom()):
            if row.number == self._hovered:
                painter.fillRect(0, row.start, width, row.size, pen.colour("hover"))
            for column in range(self._table.columnCount()):
                place = QRectF(
                    self._heads.sectionViewportPosition(column),
                    row.start,
                    self._heads.sectionSize(column),
                    row.size,
                )
                self._column(pen, row.number, column, place)
            level = row.start + row.size - 1
            pen.hairline(pad, level, width - pad, level, "grid")
        self._layer.draw(painter)
        self._ring(pen)

    def _column(self, pen: Pen, row: int, column: int, place: QRectF) -> None:
        factor, cell = self._table.rows[row], self._table.cell(row, column)
        if cell is not None:
            self._cell(pen, cell, place)
        elif column < FIRST:
            self._two_lines(place, (factor.name, "body", "text1"), (factor.measure, "caption", "text3"))
        else:
            self._documents(pen, factor, place)

    def _cell(self, pen: Pen, cell: ShownLevel, place: QRectF) -> None:
        best = cell.level is Level.PREFERRED
        if best:
            pen.tint(self._box(place), "best")
        unknown = cell.level in (Level.UNKNOWN, Level.LACKS)
        upper = (
            cell.word,
            "label" if best else "small",
            "best_text" if best else "text3" if unknown else "text1",
        )
        self._two_lines(place, upper, (cell.figure, "caption", "best_text" if best else "text3"))

    def _documents(self, pen: Pen, factor: FactorRow, place: QRectF) -> None:
        """Write which documents have a factor, and below what they say, in up to two lines."""
        if not factor.rules:
            return
        left, room = place.left() + self._theme.length(_PAD), place.width() - self._theme.length(2 * _PAD)
        lines = pen.lines(factor.said, max(1.0, room), "caption", _SAID)
        step = self._theme.line("caption")
        level = place.center().y() - step * len(lines) / 2
        self._layer.text("caption", "text3", factor.sources, left, level, max(1.0, room))
        for number, line in enumerate(lines, 1):
            self._layer.text("caption", "text2", line, left, level + number * step, max(1.0, room))

    def _two_lines(self, place: QRectF, upper: tuple[str, str, str], lower: tuple[str, str, str]) -> None:
        """Write two texts below one another, given with font and colour; one alone in the middle."""
        step = self._theme.length(_LINE) if lower[0] else 0.0
        left, room = place.left() + self._theme.length(_PAD), place.width() - self._theme.length(2 * _PAD)
        for (text, font, colour), way in ((upper, -1), (lower, 1)):
            if text:
                self._layer.text(font, colour, text, left, place.center().y() + way * step, max(1.0, room))

    def _box(self, place: QRectF) -> QRectF:
        return place.adjusted(1, 3, -self._theme.length(6), -4)

    def _ring(self, pen: Pen) -> None:
        index = self.currentIndex()
        if index.isValid():
            pen.painter.setPen(QPen(pen.colour("focus"), 2))
            pen.painter.setBrush(Qt.BrushStyle.NoBrush)
            box = self._box(QRectF(self.visualRect(index))).adjusted(0, -1, 1, 1)
            radius = self._theme.length(5)
            pen.painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), radius, radius)
