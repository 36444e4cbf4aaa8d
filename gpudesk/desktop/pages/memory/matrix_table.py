"""The table of the fit matrix."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from PySide6.QtCore import QModelIndex, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QTableView, QWidget

from gpudesk.desktop.pages.memory.fit_matrix import (
    BY_NAME,
    BY_PARAMETERS,
    FitColumn,
    FitModel,
    FitOrder,
    format_parameters,
)
from gpudesk.desktop.ui.tables.painted_table import (
    PaintedHeader,
    PaintedTable,
    TableCorner,
    VisibleSection,
    find_visible_sections,
)
from gpudesk.desktop.ui.tables.table_base import Index
from gpudesk.desktop.ui.tables.text_layer import TextCache, TextLayer
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTER, RIGHT, ThemePainter, paint_ring
from gpudesk.domain.sizing import FitCell
from gpudesk.report.sizing import HeadroomLevel, classify_headroom, compute_headroom_share
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.translation import tr

#: Side of the sort arrow, and the space below the last line.
ARROW: Final = 12.0
FOOT: Final = 6.0
_MOST_LINES: Final = 2

#: Palette indexes of the scenario's accelerators, and whether they are variants, by id.
AcceleratorSwatches = Mapping[str, tuple[int, bool]]


class FitMatrixColumnHeader(PaintedHeader):
    """Vendors over their accelerators, names of up to two lines, and the memory of each."""

    #: The column to sort the rows by.
    sort_requested = Signal(int)

    def __init__(self, theme: Theme, model: FitModel, formatter: Formatter, parent: QWidget) -> None:
        super().__init__(theme, tr("Accelerators"), Qt.Orientation.Horizontal, parent)
        self.hovered.connect(self.set_hovered)
        self._model, self._formatter = model, formatter
        self._lines: list[list[str]] = []
        self.order = FitOrder()
        self.swatches: AcceleratorSwatches = {}
        self.setSectionsMovable(False)
        self.setSectionsClickable(True)
        self.sectionClicked.connect(self.sort_requested)

    def measure(self, pen: ThemePainter) -> None:
        """Break the names into lines, and set the height for the longest."""
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
                column = columns[place.number]
                theme, part = self._theme, column.part
                line = theme.line("caption")
                top = self.height() - theme.px(FOOT) - line
                rect = QRectF(place.start, top, place.size, line)
                swatch = self.swatches.get(part.id)
                self._paint_below(pen, rect, column, swatch)
                active = self.order.by == part.id
                color = "text1" if active else "text2" if swatch is None else theme.name_color(swatch[0])
                for words in reversed(self._lines[place.number]):
                    rect.translate(0, -line)
                    pen.text(rect, words, font="caption_strong", color=color, align=CENTER)
                if active or place.number == self.hovered_section:
                    arrow = "arrow-down" if self.order.descending else "arrow-up"
                    side = theme.length(ARROW)
                    x, y = rect.center().x() - side / 2, rect.top() - side
                    pen.icon(arrow if active else "arrow-up-down", x, y, side, "text1" if active else "text3")
            self._paint_vendors(pen)
        bottom = self.height() - 1
        pen.hairline(0, bottom, self.viewport().width(), bottom, "strong")
        if self.offset() > 0:
            pen.hairline(0, 0, 0, bottom, "strong")

    def _paint_below(self, pen: ThemePainter, rect: QRectF, column: FitColumn, swatch: tuple[int, bool] | None) -> None:
        """Write the line below a name: that an accelerator is announced, else its memory and its swatch."""
        theme = self._theme
        if column.part.announced:
            word = tr("Announced")
            pen.tag(rect.center().x() - pen.tag_width(word) / 2, rect.center().y(), word, dashed=True)
            return
        memory = f"{self._formatter.number(column.part.memory_bytes / 2**30)} GiB"
        width = pen.width(memory, "caption")
        left = rect.center().x() - width / 2
        if swatch is not None:
            before = theme.length(20 + 4)
            left = rect.center().x() - (width + before) / 2
            pen.swatch(left, rect.center().y(), swatch[0], is_variant=swatch[1])
            left += before
        pen.text(QRectF(left, rect.y(), width + 1, rect.height()), memory, font="caption", color="text3")

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
                pen.text(rect, column.part.vendor, font="caption_strong", color="text3", align=CENTER)
                pen.hairline(start, rect.bottom() + 1, end, rect.bottom() + 1, "strong")


_MARGIN: Final = 16.0
#: Width of the parameters at the right of the names, and the space right of them.
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
        """Set the width for the longest name, up to `most`."""
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
                pen.painter.fillRect(0, place.start, width, place.size, theme.color("hover"))
            pen.hairline(left, place.end - 1, width, place.end - 1, "grid")
            middle = place.start + place.size / 2
            font = "body_strong" if row.model.id == self.present else "body"
            self._layer.text(font, "text1", row.model.name, left, middle, names - left)
            self._layer.right("caption", "text3", format_parameters(row, self._formatter), names, right, middle)
        self._layer.draw(pen.painter)


class FitMatrixCorner(TableCorner):
    """Heads of the names and of the parameters; a click sorts by them."""

    #: `BY_NAME` or `BY_PARAMETERS`.
    sort_requested = Signal(str)

    def __init__(self, theme: Theme, view: QTableView) -> None:
        super().__init__(theme, view)
        self.order = FitOrder()
        self.setAccessibleName(tr("Sort models by"))

    def paint(self, pen: ThemePainter) -> None:
        theme = self._theme
        pen.painter.fillRect(self.rect(), theme.color("page"))
        bottom, line = self.height() - 1, theme.line("caption")
        pen.hairline(theme.length(_MARGIN), bottom, self.width(), bottom, "strong")
        top = self.height() - theme.px(FOOT) - line
        left, right = theme.length(_MARGIN), self.width() - theme.length(_END)
        for by, text in ((BY_NAME, tr("Model")), (BY_PARAMETERS, tr("Parameters, billion"))):
            rect = QRectF(left, top, right - left, line)
            active = self.order.by == by
            color = "text1" if active else "text3"
            align = Qt.AlignmentFlag.AlignLeft if by == BY_NAME else RIGHT
            width = pen.text(rect, text, font="caption_strong", color=color, align=align)
            if active:
                side = self._theme.length(ARROW)
                x = rect.left() + width + 3 if by == BY_NAME else rect.right() - width - side - 3
                icon = "arrow-down" if self.order.descending else "arrow-up"
                pen.icon(icon, x, rect.center().y() - side / 2, side, "text1")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            right = event.position().x() > self.width() * 0.55
            self.sort_requested.emit(BY_PARAMETERS if right else BY_NAME)


def _measure_name(pen: ThemePainter, name: str) -> float:
    """Return the least width of a name in two lines."""
    words = name.split(" ")
    splits = ((" ".join(words[:place]), " ".join(words[place:])) for place in range(1, len(words) + 1))
    return min(max(pen.width(line, "caption_strong") for line in lines) for lines in splits)


#: Free share -> tint and text color.
TINTS: Final = {
    HeadroomLevel.AMPLE: ("best", "best_text"),
    HeadroomLevel.SOME: ("ink4", "text1"),
    HeadroomLevel.TIGHT: ("ink3", "text1"),
}
_GAP: Final = 3.0
#: End of the count in a cell, as a share of its width, and the gap between it and the free share.
_COUNT_ENDS: Final = 0.42
_BETWEEN: Final = 6.0
_BESIDE_DASH: Final = 5.0
_ROW: Final = 27.0
_COLUMN: Final = 76.0
#: Maximum width share of the labels.
_LABELS: Final = 0.4


class FitMatrixTableView(PaintedTable):
    """Shows a `FitModel`; Enter or a double click opens a cell."""

    #: Another cell is current, or its content changed.
    current_changed = Signal()
    #: Open the current cell.
    opened = Signal()
    #: The sort order of rows: `BY_NAME`, `BY_PARAMETERS` or an accelerator's id.
    sort_requested = Signal(str)

    def __init__(self, theme: Theme, model: FitModel, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._table, self._formatter = model, formatter
        self._most, self._pale = 0, False
        self._present: tuple[str, AbstractSet[str]] = ("", frozenset())
        self._hatches: dict[tuple[int, int, float], QPixmap] = {}
        self._faces: dict[tuple[int, float], tuple[str, str, str, str]] = {}
        self.heads = FitMatrixColumnHeader(theme, model, formatter, self)
        self.labels = FitMatrixRowHeader(theme, self._texts, model, formatter, self)
        self.set_up(model, self.heads, self.labels)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Smallest deployment per model"))
        self.heads.sort_requested.connect(lambda n: self.sort_requested.emit(model.column(n).part.id))
        self.doubleClicked.connect(self.use_current)
        self.selectionModel().currentChanged.connect(self.current_changed)
        model.dataChanged.connect(self._data_changed)
        self.corner = FitMatrixCorner(theme, self)
        self.corner.sort_requested.connect(self.sort_requested)
        theme.changed.connect(self._hatches.clear)
        theme.changed.connect(self.measure)

    # Display

    def set_present(self, model: str, swatches: AcceleratorSwatches) -> None:
        self._present = (model, frozenset(swatches))
        self.labels.present, self.heads.swatches = model, swatches
        self._paint_all()

    def set_order(self, order: FitOrder) -> None:
        """Set the headers' sort order, and which counts are not tinted."""
        self.heads.order = self.corner.order = order
        self._most = order.most
        self._paint_all()
        self.corner.update()

    def set_pale(self, pale: bool) -> None:
        """Remove the tints while the counts belong to a former query."""
        if pale != self._pale:
            self._pale = pale
            self.viewport().update()

    def _paint_all(self) -> None:
        for area in (self.viewport(), self.heads.viewport(), self.labels.viewport()):
            area.update()

    # Geometry

    def measure(self) -> None:
        theme = self._theme
        self.labels.setDefaultSectionSize(theme.px(_ROW))
        self.labels.measure(round(self.width() * _LABELS))
        face = QPixmap(1, 1)
        with QPainter(face) as painter:
            pen = ThemePainter(painter, theme)
            announced = round(pen.tag_width(tr("Announced"))) + theme.px(8)
            for number, column in enumerate(self._table.table.columns):
                name = math.ceil(_measure_name(pen, column.name)) + theme.px(8)
                width = max(theme.px(_COLUMN), name, announced if column.part.announced else 0)
                if self.heads.sectionSize(number) != width:
                    self.heads.resizeSection(number, width)
            self.heads.measure(pen)
        self.updateGeometries()
        self._paint_all()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.labels.measure(round(self.width() * _LABELS))

    # The current cell

    def get_keys(self, index: Index) -> tuple[str, str] | None:
        cell = self._table.cell(index)
        return None if cell is None else (cell.model, cell.accelerator)

    def find_cell(self, row_key: str, column_key: str) -> QModelIndex:
        return self._table.index_of(row_key, column_key)

    def get_current_cell(self) -> FitCell | None:
        return self._table.cell(self.currentIndex())

    def go_to(self, model: str, part: str) -> None:
        """Make the cell of a model and an accelerator current, and center it."""
        index = self._table.index_of(model, part)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def begin_at(self, model: str, part: str) -> None:
        """Make a cell current, and scroll to the first row and column."""
        self.go_to(model, part)
        self.scrollToTop()
        self.horizontalScrollBar().setValue(0)

    def _store_position(self) -> None:
        """Store the position of the current cell, also while nothing is shown."""
        self._kept_keys = self.get_current_keys() or self._kept_keys

    def _restore_position(self) -> None:
        super()._restore_position()
        self.current_changed.emit()

    def _data_changed(self) -> None:
        self.viewport().update()
        self.current_changed.emit()

    def use_current(self) -> None:
        if self.get_current_cell() is not None:
            self.opened.emit()

    def focus_rect(self) -> QRect | None:
        return None if self.currentIndex().isValid() else self.rect()

    # Painting

    def paint_row(self, pen: ThemePainter, row: VisibleSection, columns: Sequence[VisibleSection], area: QRect) -> None:  # noqa: ARG002 - columns say it
        if not columns:
            return
        line, right = self._table.row(row.number), self.heads.length() - self.heads.offset()
        if row.number == self.hovered_row:
            pen.painter.fillRect(0, row.start, right, row.size, self._theme.color("hover"))
        pen.hairline(0, row.end - 1, right, row.end - 1, "grid")
        for column in columns:
            cell, box = line.cells[column.number], self._get_box(row, column)
            if cell.count is None:
                # Hatch both sides of the dash; the strokes are cached by size.
                painter = pen.painter
                ratio = painter.device().devicePixelRatio()
                width = self._texts.width("small", MISSING_VALUE_TEXT)
                side = round((box.width() - width) / 2 - self._theme.length(_BESIDE_DASH))
                key = (side, round(box.height()), ratio)
                picture = self._hatches.get(key)
                if picture is None:
                    picture = QPixmap(round(side * ratio), round(key[1] * ratio))
                    picture.setDevicePixelRatio(ratio)
                    picture.fill(Qt.GlobalColor.transparent)
                    with QPainter(picture) as drawer:
                        ThemePainter(drawer, self._theme).hatch(QRectF(0, 0, side, key[1]), "strong")
                    self._hatches[key] = picture
                for left in (box.left(), box.right() - side):
                    painter.drawPixmap(QPointF(round(left), round(box.top())), picture)
                x, middle = box.center().x() - width / 2, box.center().y()
                self._layer.text("small", "text3", MISSING_VALUE_TEXT, x, middle)
            else:
                self._paint_count(pen, box, cell, cell.count)
            if line.model.id == self._present[0] and self._table.column(column.number).part.id in self._present[1]:
                pen.frame(box, "text1", radius=5.0)

    def _get_box(self, row: VisibleSection, column: VisibleSection) -> QRectF:
        gap = self._theme.length(_GAP)
        return QRectF(column.start + gap, row.start + gap, column.size - 2 * gap, row.size - 1 - 2 * gap)

    def _paint_count(self, pen: ThemePainter, box: QRectF, cell: FitCell, number: int) -> None:
        """Write a count and the free share; counts above the filter, and all while pale, are not tinted."""
        # There are few different ones.
        key = number, round(compute_headroom_share(cell), 2)
        if key not in self._faces:
            texts = self._formatter.count(number), self._formatter.per_cent(key[1])
            self._faces[key] = (*texts, *TINTS[classify_headroom(compute_headroom_share(cell))])
        count, share, tint, color = self._faces[key]
        if self._pale or 0 < self._most < number:
            color = "text3"
        else:
            pen.tint(box, tint)
        end = box.left() + box.width() * _COUNT_ENDS
        self._layer.right("label", color, count, box.left(), end, box.center().y())
        x = end + self._theme.length(_BETWEEN)
        self._layer.text("caption", color, share, x, box.center().y(), box.right() - x)

    def get_ring_box(self, row: VisibleSection, column: VisibleSection) -> QRectF:
        return self._get_box(row, column).adjusted(0, -1, 1, 1)

    def paint_ring(self, pen: ThemePainter, box: QRectF) -> None:
        paint_ring(pen, box)
