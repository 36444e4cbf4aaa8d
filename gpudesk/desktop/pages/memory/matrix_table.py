"""The table of the fit matrix."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QModelIndex, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QWidget

from gpudesk.desktop.pages.memory.fit_model import FitModel, FitOrder
from gpudesk.desktop.pages.memory.matrix_headers import (
    FitMatrixColumnHeader,
    FitMatrixCorner,
    FitMatrixRowHeader,
    PaletteIndices,
)
from gpudesk.desktop.ui.tables.painted_table import Index, PaintedTable, VisibleSection
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter, paint_ring
from gpudesk.domain.sizing import FitCell
from gpudesk.report.sizing import HeadroomLevel, classify_headroom, compute_headroom_share
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.translation import tr

#: Room that is left -> tint and colour of the words on it.
TINTS: Final = {
    HeadroomLevel.AMPLE: ("best", "best_text"),
    HeadroomLevel.SOME: ("ink4", "text1"),
    HeadroomLevel.TIGHT: ("ink3", "text1"),
}
_GAP: Final = 3.0
#: Where in a cell the count ends, as a share of its width, and what lies between it and the share left.
_COUNT_ENDS: Final = 0.42
_BETWEEN: Final = 6.0
_HATCH: Final = 15.0
_ROW: Final = 27.0
_COLUMN: Final = 70.0
#: The labels take no more than this share of the width.
_LABELS: Final = 0.4


@dataclass(frozen=True, slots=True)
class _CellFace:
    """What stands in a cell, and in which colours."""

    count: str
    share: str
    tint: str
    colour: str


class FitMatrixTableView(PaintedTable):
    """Shows a `FitModel`; Enter or a double click opens a cell."""

    #: Another cell is current, or what it shows is another.
    current_changed = Signal()
    #: The user opens the current cell.
    opened = Signal()
    #: Rows are to be in this order: `BY_NAME`, `BY_PARAMETERS` or an accelerator's id.
    sort_requested = Signal(str)

    starts_with_focus = True

    def __init__(self, theme: Theme, model: FitModel, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._table, self._formatter = model, formatter
        self._most, self._pale = 0, False
        self._present: tuple[str, AbstractSet[str]] = ("", frozenset())
        self._hatches: dict[tuple[int, float], QPixmap] = {}
        self._faces: dict[tuple[int, float], _CellFace] = {}
        self.heads = FitMatrixColumnHeader(theme, model, formatter, self)
        self.labels = FitMatrixRowHeader(theme, self._texts, model, formatter, self)
        self.set_up(model, self.heads, self.labels)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Smallest deployments of all models"))
        self.heads.sort_requested.connect(lambda n: self.sort_requested.emit(model.column(n).part.id))
        self.doubleClicked.connect(self.use_current)
        self.selectionModel().currentChanged.connect(self.current_changed)
        model.dataChanged.connect(self._data_changed)
        self.corner = FitMatrixCorner(theme, self)
        self.corner.sort_requested.connect(self.sort_requested)
        theme.changed.connect(self._hatches.clear)
        theme.changed.connect(self.measure)

    # What is shown

    def set_present(self, model: str, slots: PaletteIndices) -> None:
        self._present = (model, frozenset(slots))
        self.labels.present, self.heads.slots = model, slots
        self._paint_all()

    def set_order(self, order: FitOrder) -> None:
        """Say at the heads what the rows are in order of, and which counts are not tinted."""
        self.heads.order = self.corner.order = order
        self._most = order.most
        self._paint_all()
        self.corner.update()

    def set_pale(self, pale: bool) -> None:
        """Take the tints away while the counts are those of a former question."""
        if pale != self._pale:
            self._pale = pale
            self.viewport().update()

    def _paint_all(self) -> None:
        for area in (self.viewport(), self.heads.viewport(), self.labels.viewport()):
            area.update()

    # Measures

    def measure(self) -> None:
        theme = self._theme
        self.labels.setDefaultSectionSize(theme.px(_ROW))
        self.labels.measure(round(self.width() * _LABELS))
        face = QPixmap(1, 1)
        with QPainter(face) as painter:
            pen = ThemePainter(painter, theme)
            announced = round(pen.tag_width(tr("Announced"))) + theme.px(8)
            for number, column in enumerate(self._table.table.columns):
                width = max(theme.px(_COLUMN), announced if column.part.announced else 0)
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

    def current_cell(self) -> FitCell | None:
        return self._table.cell(self.currentIndex())

    def go_to(self, model: str, part: str) -> None:
        """Make the cell of a model and an accelerator current, and bring it to the middle."""
        index = self._table.index_of(model, part)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _store_position(self) -> None:
        """Keep the place of the current cell, also while nothing is shown."""
        self._kept = self.current_keys() or self._kept

    def _restore_position(self) -> None:
        super()._restore_position()
        self.current_changed.emit()

    def _data_changed(self) -> None:
        self.viewport().update()
        self.current_changed.emit()

    def use_current(self) -> None:
        if self.current_cell() is not None:
            self.opened.emit()

    def focus_rect(self) -> QRect | None:
        return None if self.currentIndex().isValid() else self.rect()

    # Painting

    def paint_row(self, pen: ThemePainter, row: VisibleSection, columns: Sequence[VisibleSection], area: QRect) -> None:  # noqa: ARG002 - columns say it
        if not columns:
            return
        line, right = self._table.row(row.number), self.heads.length() - self.heads.offset()
        if row.number == self.hovered_row:
            pen.painter.fillRect(0, row.start, right, row.size, self._theme.colour("hover"))
        pen.hairline(0, row.end - 1, right, row.end - 1, "grid")
        for column in columns:
            cell, box = line.cells[column.number], self._get_box(row, column)
            if cell.count is None:
                self._paint_hatch(pen.painter, box)
                width = self._texts.width("small", MISSING_VALUE_TEXT)
                x, middle = box.center().x() - width / 2, box.center().y()
                self._layer.text("small", "text3", MISSING_VALUE_TEXT, x, middle)
            else:
                self._paint_count(pen, box, self._find_face(cell.count, compute_headroom_share(cell)), cell.count)
            if line.model.id == self._present[0] and self._table.column(column.number).part.id in self._present[1]:
                pen.frame(box, "text1", radius=5.0)

    def _get_box(self, row: VisibleSection, column: VisibleSection) -> QRectF:
        gap = self._theme.length(_GAP)
        return QRectF(column.start + gap, row.start + gap, column.size - 2 * gap, row.size - 1 - 2 * gap)

    def _find_face(self, count: int, share: float) -> _CellFace:
        """Return how a count with a share left looks; there are few different ones."""
        key = count, round(share, 2)
        face = self._faces.get(key)
        if face is None:
            tint, colour = TINTS[classify_headroom(share)]
            face = _CellFace(self._formatter.count(count), self._formatter.per_cent(key[1]), tint, colour)
            self._faces[key] = face
        return face

    def _paint_count(self, pen: ThemePainter, box: QRectF, face: _CellFace, count: int) -> None:
        """Write a count and the share left; counts above the wanted most, and all while pale, are not tinted."""
        is_tinted = not (self._pale or 0 < self._most < count)
        if is_tinted:
            pen.tint(box, face.tint)
        colour = face.colour if is_tinted else "text3"
        end = box.left() + box.width() * _COUNT_ENDS
        self._layer.right("label", colour, face.count, box.left(), end, box.center().y())
        x = end + self._theme.length(_BETWEEN)
        self._layer.text("caption", colour, face.share, x, box.center().y(), box.right() - x)

    def _paint_hatch(self, painter: QPainter, box: QRectF) -> None:
        """Hatch both ends of a cell; the strokes are drawn once for each height."""
        ratio = painter.device().devicePixelRatio()
        key = (round(box.height()), ratio)
        side = self._theme.length(_HATCH)
        picture = self._hatches.get(key)
        if picture is None:
            picture = QPixmap(round(side * ratio), round(key[0] * ratio))
            picture.setDevicePixelRatio(ratio)
            picture.fill(Qt.GlobalColor.transparent)
            with QPainter(picture) as drawer:
                ThemePainter(drawer, self._theme).hatch(QRectF(0, 0, side, key[0]), "strong")
            self._hatches[key] = picture
        for left in (box.left(), box.right() - side):
            painter.drawPixmap(QPointF(round(left), round(box.top())), picture)

    def get_ring_box(self, row: VisibleSection, column: VisibleSection) -> QRectF:
        return self._get_box(row, column).adjusted(0, -1, 1, 1)

    def paint_ring(self, pen: ThemePainter, box: QRectF) -> None:
        paint_ring(pen, box)
