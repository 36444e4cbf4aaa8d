"""The heads of a catalog list: a click orders the rows, a drag moves the column or changes its width."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHeaderView, QWidget

from gpudesk.desktop.itemmodels.catalog_model import CatalogModel
from gpudesk.desktop.itemmodels.catalog_query import Sorting
from gpudesk.desktop.pages.catalog.measures import GUTTER, MARGIN, SWATCH, WORD_END, Measures
from gpudesk.desktop.theme.pen import CENTRE, RIGHT, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.painted_heads import PaintedHeads
from gpudesk.domain.catalog_tables import ColumnKind, Section
from gpudesk.sheets.catalog_cells import FIGURES
from gpudesk.sheets.catalog_words import column_head, column_meaning, group_head
from gpudesk.text import tr

_ARROW: Final = 12.0


class CatalogHeads(PaintedHeads):
    """Paints what stands over each column, and over several that share it; the first does not scroll."""

    #: The number of the column that is to order the rows.
    sort_requested = Signal(int)

    def __init__(self, theme: Theme, measures: Measures, model: CatalogModel, parent: QWidget) -> None:
        """Paint the heads of a model."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.hovered.connect(self.set_hovered)
        self._theme = theme
        self._measures = measures
        self._model = model
        self.sorting: Sorting | None = None
        self._height = 1
        self.setSectionsMovable(True)
        self.setFirstSectionMovable(False)
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.setMinimumSectionSize(theme.px(24))
        self.setAccessibleName(tr("Columns"))
        self.sectionClicked.connect(self.sort_requested)

    def take_height(self) -> None:
        """Take the height that the shown columns need."""
        grouped = any(
            self._model.column(number).group for number in self.shown() if number < self._model.columnCount()
        )
        self._height = self._measures.head_height(grouped=grouped)
        self.setFixedHeight(self._height)
        self.viewport().update()

    def shown(self) -> list[int]:
        """Return the columns that are shown, from left to right."""
        order = (self.logicalIndex(place) for place in range(self.count()))
        return [number for number in order if not self.isSectionHidden(number)]

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the height that was measured."""
        return QSize(super().sizeHint().width(), self._height)

    def start_of(self, number: int) -> int:
        """Return where a column begins on the screen; the first stays where it is."""
        return 0 if number == 0 else self.sectionViewportPosition(number)

    @property
    def frozen_width(self) -> int:
        """Width of the column that does not scroll."""
        return self.sectionSize(0) if self.count() else 0

    def number_at(self, place: QPoint) -> int:
        """Return the column under a place, -1 for none."""
        return 0 if 0 <= place.x() < self.frozen_width else super().number_at(place)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw all heads and the rule below them."""
        painter = QPainter(self.viewport())
        try:
            pen = Pen(painter, self._theme)
            painter.fillRect(event.rect(), self._theme.colour("page"))
            edge = self.frozen_width
            painter.save()
            painter.setClipRect(QRect(edge, 0, max(0, self.width() - edge), self.height()))
            shown = self.shown()
            for number in shown:
                if number:
                    self._head(pen, number)
            self._groups(pen, shown)
            painter.restore()
            if shown and shown[0] == 0:
                self._head(pen, 0)
            bottom, margin = self.height() - 1, self._theme.px(MARGIN)
            width = self.viewport().width()
            right = width - margin if self.length() <= width else width
            pen.hairline(margin, bottom, right, bottom, "strong")
            if self.offset() > 0:
                pen.hairline(edge - 1, 0, edge - 1, bottom, "strong")
        finally:
            painter.end()

    def _head(self, pen: Pen, number: int) -> None:
        theme, column = self._theme, self._model.column(number)
        length = theme.length
        start, size = self.start_of(number), self.sectionSize(number)
        line = theme.line("caption")
        top = self.height() - theme.px(7) - line
        text = column_head(self._model.table.section, column)
        active = self.sorting is not None and self.sorting.column == column.key
        colour = "text1" if active else "text3"
        arrow = self._arrow(number, active=active)
        side = length(_ARROW)
        if column.kind in FIGURES:
            right = start + size - self._measures.gutter(self._model, number)
            pen.text(QRectF(start, top, right - start, line), text, font="caption_strong", colour=colour,
                     align=RIGHT)  # fmt: skip
            x = right + length(3)
        else:
            x = start + (length(MARGIN) if column.kind is ColumnKind.NAME else 0.0)
            if column.kind is ColumnKind.NAME and self._model.table.section is Section.ACCELERATORS:
                x += length(SWATCH)
            room = start + size - x - (side + 3 if arrow else length(WORD_END) / 2)
            x += pen.text(QRectF(x, top, max(1.0, room), line), text, font="caption_strong", colour=colour)
            x += length(3)
        if arrow:
            pen.icon(arrow, x, top + (line - side) / 2, side, "text1" if active else "text3")

    def _arrow(self, number: int, *, active: bool) -> str:
        if active and self.sorting is not None:
            return "arrow-down" if self.sorting.descending else "arrow-up"
        return "arrow-up-down" if number == self.hovered_number else ""

    def _groups(self, pen: Pen, shown: list[int]) -> None:
        """Draw what neighbouring columns have in common over them, with a line as wide as they are."""
        place = 0
        while place < len(shown):
            group = self._model.column(shown[place]).group
            last = place
            while group and last + 1 < len(shown) and self._model.column(shown[last + 1]).group == group:
                last += 1
            if group:
                self._group(pen, group, shown[place], shown[last])
            place = last + 1

    def _group(self, pen: Pen, group: str, first: int, last: int) -> None:
        theme = self._theme
        start = self.start_of(first) + theme.length(10)
        end = self.start_of(last) + self.sectionSize(last) - theme.length(GUTTER - 4)
        # Of columns that are scrolled out of sight in part, over those in sight.
        start, end = max(start, self.frozen_width), min(end, self.width())
        if end - start < theme.length(40):
            return
        line = theme.line("caption")
        top = self.height() - theme.px(7) - 2 * line - theme.px(4)
        pen.text(QRectF(start, top, end - start, line), group_head(group), font="caption_strong",
                 colour="text3", align=CENTRE)  # fmt: skip
        pen.hairline(start, top + line + 1, end, top + line + 1, "strong")

    # The mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Order by the first column where it lies over another; else click, move or resize."""
        if self._over_frozen(event.position().toPoint()) and event.button() == Qt.MouseButton.LeftButton:
            self.sort_requested.emit(0)
            return
        super().mousePressEvent(event)

    def _over_frozen(self, place: QPoint) -> bool:
        return self.offset() > 0 and place.x() < self.frozen_width

    def told(self, number: int, place: QPoint) -> str:  # noqa: ARG002 - a head has one part
        """Return in full what a column holds."""
        if number >= self._model.columnCount():
            return ""
        return column_meaning(self._model.table.section, self._model.column(number))
