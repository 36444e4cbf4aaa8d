"""The frozen headers of the fit matrix: accelerators above, models at the left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QTableView, QWidget

from gpudesk.desktop.pages.memory.fit_model import (
    BY_NAME,
    BY_PARAMETERS,
    FitColumn,
    FitModel,
    FitOrder,
    format_parameters,
)
from gpudesk.desktop.ui.tables.painted_table import PaintedHeader, VisibleSection, find_visible_sections
from gpudesk.desktop.ui.tables.text_layer import TextCache, TextLayer
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTRE, RIGHT, ThemePainter
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

#: Side of the arrow of the order, and what is free below the last line.
ARROW: Final = 12.0
FOOT: Final = 6.0
_MOST_LINES: Final = 3

#: Places in the palette of the scenario's accelerators, and whether further ones, by id.
PaletteIndices = Mapping[str, tuple[int, bool]]


class FitMatrixColumnHeader(PaintedHeader):
    """Vendors over their accelerators, names of up to three lines, and the memory of each."""

    #: The number of the column that is to order the rows.
    sort_requested = Signal(int)

    def __init__(self, theme: Theme, model: FitModel, formatter: Formatter, parent: QWidget) -> None:
        super().__init__(theme, tr("Accelerators"), Qt.Orientation.Horizontal, parent)
        self.hovered.connect(self.set_hovered)
        self._model, self._formatter = model, formatter
        self._lines: list[list[str]] = []
        self.order = FitOrder()
        self.slots: PaletteIndices = {}
        self.setSectionsMovable(False)
        self.setSectionsClickable(True)
        self.sectionClicked.connect(self.sort_requested)

    def measure(self, pen: ThemePainter) -> None:
        """Break the names into lines, and take the height of the longest."""
        columns = self._model.table.columns
        gap = self._theme.length(4)
        self._lines = [
            pen.lines(column.name, self.sectionSize(n) - gap, "caption_strong", most=_MOST_LINES)
            for n, column in enumerate(columns)
        ]
        line = self._theme.line("caption")
        most = max((len(lines) for lines in self._lines), default=1)
        self.set_extent((most + 2) * line + self._theme.px(FOOT + ARROW + 6))

    def paint_heads(self, pen: ThemePainter, area: QRect) -> None:
        columns = self._model.table.columns
        if len(self._lines) == len(columns):
            for place in find_visible_sections(self, area.left(), area.right()):
                self._paint_head(pen, place, columns[place.number])
            self._paint_vendors(pen)
        bottom = self.height() - 1
        pen.hairline(0, bottom, self.viewport().width(), bottom, "strong")
        if self.offset() > 0:
            pen.hairline(0, 0, 0, bottom, "strong")

    def _paint_head(self, pen: ThemePainter, place: VisibleSection, column: FitColumn) -> None:
        theme, part = self._theme, column.part
        line = theme.line("caption")
        top = self.height() - theme.px(FOOT) - line
        rect = QRectF(place.start, top, place.size, line)
        slot = self.slots.get(part.id)
        self._paint_below(pen, rect, column, slot)
        active = self.order.by == part.id
        colour = "text1" if active else "text2" if slot is None else theme.name_color(slot[0])
        for words in reversed(self._lines[place.number]):
            rect.translate(0, -line)
            pen.text(rect, words, font="caption_strong", colour=colour, align=CENTRE)
        if active or place.number == self.hovered_section:
            arrow = "arrow-down" if self.order.descending else "arrow-up"
            side = theme.length(ARROW)
            x, y = rect.center().x() - side / 2, rect.top() - side
            pen.icon(arrow if active else "arrow-up-down", x, y, side, "text1" if active else "text3")

    def _paint_below(self, pen: ThemePainter, rect: QRectF, column: FitColumn, slot: tuple[int, bool] | None) -> None:
        """Write what stands below a name: that a part is announced, else its memory and its swatch."""
        theme = self._theme
        if column.part.announced:
            word = tr("Announced")
            pen.tag(rect.center().x() - pen.tag_width(word) / 2, rect.center().y(), word, dashed=True)
            return
        memory = f"{self._formatter.number(column.part.memory_bytes / 2**30)} GiB"
        width = pen.width(memory, "caption")
        left = rect.center().x() - width / 2
        if slot is not None:
            swatch = theme.length(20 + 4)
            left = rect.center().x() - (width + swatch) / 2
            pen.swatch(left, rect.center().y(), slot[0], is_variant=slot[1])
            left += swatch
        pen.text(QRectF(left, rect.y(), width + 1, rect.height()), memory, font="caption", colour="text3")

    def _paint_vendors(self, pen: ThemePainter) -> None:
        columns = self._model.table.columns
        first = 0
        for number, column in enumerate(columns):
            last = number == len(columns) - 1 or columns[number + 1].part.vendor != column.part.vendor
            if not last:
                continue
            gap = self._theme.length(4)
            start = max(0.0, self.sectionViewportPosition(first) + gap)
            end = self.sectionViewportPosition(number) + self.sectionSize(number) - gap
            first = number + 1
            end = min(end, float(self.viewport().width()))
            if end - start > self._theme.length(30):
                line = self._theme.line("caption")
                rect = QRectF(start, self._theme.px(3), end - start, line)
                pen.text(rect, column.part.vendor, font="caption_strong", colour="text3", align=CENTRE)
                pen.hairline(start, rect.bottom() + 1, end, rect.bottom() + 1, "strong")


_MARGIN: Final = 16.0
#: Width of the parameters at the right of the names, and what stands free right of them.
_FIGURES: Final = 58.0
_END: Final = 10.0


class FitMatrixRowHeader(PaintedHeader):
    """Names of the models, and their parameters in billions."""

    def __init__(self, theme: Theme, texts: TextCache, model: FitModel, formatter: Formatter, parent: QWidget) -> None:
        super().__init__(theme, tr("Models"), Qt.Orientation.Vertical, parent)
        self._model, self._formatter = model, formatter
        self._texts = texts
        self._layer = TextLayer(theme, texts)
        #: The id of the scenario's model.
        self.present = ""

    def measure(self, most: int) -> None:
        """Take the width of the longest name, up to `most`."""
        rows = self._model.table.rows
        widest = max((self._texts.width("body_strong", row.model.name) for row in rows), default=0.0)
        room = self._theme.px(_MARGIN + _FIGURES + _END + 8)
        self.set_extent(min(most, max(self._theme.px(190), round(widest) + room)))

    def paint_heads(self, pen: ThemePainter, area: QRect) -> None:
        theme, width = self._theme, self.viewport().width()
        right = width - theme.length(_END)
        left, names = theme.length(_MARGIN), right - theme.length(_FIGURES)
        self._layer.clear()
        for place in find_visible_sections(self, area.top(), area.bottom()):
            row = self._model.row(place.number)
            if place.number == self.hovered_section:
                pen.painter.fillRect(0, place.start, width, place.size, theme.colour("hover"))
            pen.hairline(left, place.end - 1, width, place.end - 1, "grid")
            middle = place.start + place.size / 2
            font = "body_strong" if row.model.id == self.present else "body"
            self._layer.text(font, "text1", row.model.name, left, middle, names - left)
            self._layer.right("caption", "text3", format_parameters(row, self._formatter), names, right, middle)
        self._layer.draw(pen.painter)


class FitMatrixCorner(QWidget):
    """Heads of the names and of the parameters; a click orders by them."""

    #: `BY_NAME` or `BY_PARAMETERS`.
    sort_requested = Signal(str)

    def __init__(self, theme: Theme, view: QTableView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view
        self.order = FitOrder()
        self.setAccessibleName(tr("Order of the models"))
        view.horizontalHeader().installEventFilter(self)
        view.verticalHeader().installEventFilter(self)
        theme.changed.connect(self.update)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: ARG002 - Qt's signature
        if event.type() == QEvent.Type.Resize:
            height = self._view.horizontalHeader().height()
            self.setGeometry(0, 0, self._view.verticalHeader().width(), height)
        return False

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            pen, theme = ThemePainter(painter, self._theme), self._theme
            painter.fillRect(self.rect(), theme.colour("page"))
            bottom, line = self.height() - 1, theme.line("caption")
            pen.hairline(theme.length(_MARGIN), bottom, self.width(), bottom, "strong")
            top = self.height() - theme.px(FOOT) - line
            left, right = theme.length(_MARGIN), self.width() - theme.length(_END)
            for by, text in ((BY_NAME, tr("Model")), (BY_PARAMETERS, tr("Billion parameters"))):
                self._head(pen, QRectF(left, top, right - left, line), by, text)

    def _head(self, pen: ThemePainter, rect: QRectF, by: str, text: str) -> None:
        active = self.order.by == by
        colour = "text1" if active else "text3"
        align = Qt.AlignmentFlag.AlignLeft if by == BY_NAME else RIGHT
        width = pen.text(rect, text, font="caption_strong", colour=colour, align=align)
        if active:
            side = self._theme.length(ARROW)
            x = rect.left() + width + 3 if by == BY_NAME else rect.right() - width - side - 3
            icon = "arrow-down" if self.order.descending else "arrow-up"
            pen.icon(icon, x, rect.center().y() - side / 2, side, "text1")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            right = event.position().x() > self.width() * 0.55
            self.sort_requested.emit(BY_PARAMETERS if right else BY_NAME)
