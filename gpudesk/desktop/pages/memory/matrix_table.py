"""The table of the fit matrix and the painting of its cells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, cast

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QWidget

from gpudesk.desktop.pages.memory.fit_model import FitModel, FitOrder
from gpudesk.desktop.pages.memory.matrix_headers import (
    FitMatrixColumnHeader,
    FitMatrixCorner,
    FitMatrixRowHeader,
    PaletteIndices,
)
from gpudesk.desktop.ui.tables.painted_table import Index, PaintedTable, VisibleSection, find_visible_sections
from gpudesk.desktop.ui.tables.text_layer import TextCache, TextLayer
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTRE, ThemePainter, paint_ring
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
_RADIUS: Final = 5.0
#: Where in a cell the count ends, as a share of its width, and what lies between it and the share left.
_COUNT_ENDS: Final = 0.42
_BETWEEN: Final = 6.0
_HATCH: Final = 15.0


@dataclass(frozen=True, slots=True)
class FitMatrixPaintState:
    """What a paint is about.

    `present` is the scenario's model with its accelerators, by ids. Counts above `most`, where that is above
    0, and all where `pale`, are not tinted.
    """

    area: QRect
    rows: Sequence[VisibleSection]
    columns: Sequence[VisibleSection]
    hovered: int
    current: tuple[int, int] | None
    present: tuple[str, AbstractSet[str]]
    most: int
    pale: bool


@dataclass(frozen=True, slots=True)
class _CellFace:
    """What stands in a cell, and in which colours."""

    count: str
    share: str
    tint: str
    colour: str


class FitMatrixPainter:
    """Paints everything but heads and labels."""

    def __init__(self, theme: Theme, texts: TextCache, model: FitModel, formatter: Formatter) -> None:
        self._theme, self._model, self._formatter = theme, model, formatter
        self._layer = TextLayer(theme, texts)
        self._texts = texts
        self._hatches: dict[tuple[int, float], QPixmap] = {}
        self._faces: dict[tuple[int, float], _CellFace] = {}
        theme.changed.connect(self._hatches.clear)

    def paint(self, painter: QPainter, shown: FitMatrixPaintState) -> None:
        theme = self._theme
        pen = ThemePainter(painter, theme)
        painter.fillRect(shown.area, theme.colour("page"))
        if shown.columns:
            right = shown.columns[-1].start + shown.columns[-1].size
            for row in shown.rows:
                if row.number == shown.hovered:
                    painter.fillRect(0, row.start, right, row.size, theme.colour("hover"))
                pen.hairline(0, row.start + row.size - 1, right, row.start + row.size - 1, "grid")
        self._cells(pen, shown)
        for row in shown.rows:
            if self._model.row(row.number).model.id == shown.present[0]:
                for column in shown.columns:
                    if self._model.column(column.number).part.id in shown.present[1]:
                        pen.frame(self._box(row, column), "text1", radius=_RADIUS)
        if shown.current is not None:
            self._ring(pen, shown, *shown.current)

    def _box(self, row: VisibleSection, column: VisibleSection) -> QRectF:
        gap = self._theme.length(_GAP)
        return QRectF(column.start + gap, row.start + gap, column.size - 2 * gap, row.size - 1 - 2 * gap)

    def _cells(self, pen: ThemePainter, shown: FitMatrixPaintState) -> None:
        painter, layer = pen.painter, self._layer
        layer.clear()
        tinted: defaultdict[str, list[QRectF]] = defaultdict(list)
        hatched: list[QRectF] = []
        for row in shown.rows:
            cells = self._model.row(row.number).cells
            for column in shown.columns:
                cell, box = cells[column.number], self._box(row, column)
                if cell.count is None:
                    hatched.append(box)
                    self._none(box)
                    continue
                face = self._face(cell.count, compute_headroom_share(cell))
                if shown.pale or 0 < shown.most < cell.count:
                    self._words(box, face, "text3")
                else:
                    tinted[face.tint].append(box)
                    self._words(box, face, face.colour)
        painter.setPen(Qt.PenStyle.NoPen)
        radius = self._theme.length(_RADIUS)
        for tint, boxes in tinted.items():
            painter.setBrush(self._theme.colour(tint))
            for box in boxes:
                painter.drawRoundedRect(box, radius, radius)
        for box in hatched:
            self._hatch(painter, box)
        layer.draw(painter)

    def _face(self, count: int, share: float) -> _CellFace:
        """Return how a count with a share left looks; there are few different ones."""
        key = count, round(share, 2)
        found = self._faces.get(key)
        if found is None:
            tint, colour = TINTS[classify_headroom(share)]
            per_cent = self._formatter.per_cent(key[1])
            found = self._faces[key] = _CellFace(self._formatter.count(count), per_cent, tint, colour)
        return found

    def _words(self, box: QRectF, face: _CellFace, colour: str) -> None:
        middle, width = box.center().y(), box.width()
        left = box.left()
        end = left + width * _COUNT_ENDS
        self._layer.right("label", colour, face.count, left, end, middle)
        x = end + self._theme.length(_BETWEEN)
        self._layer.text("caption", colour, face.share, x, middle, left + width - x)

    def _none(self, box: QRectF) -> None:
        width = self._texts.width("small", MISSING_VALUE_TEXT)
        self._layer.text("small", "text3", MISSING_VALUE_TEXT, box.center().x() - width / 2, box.center().y())

    def _hatch(self, painter: QPainter, box: QRectF) -> None:
        """Hatch both ends of a cell; the strokes are drawn once for each height."""
        ratio = painter.device().devicePixelRatio()
        key = (round(box.height()), ratio)
        found = self._hatches.get(key)
        side = self._theme.length(_HATCH)
        if found is None:
            found = QPixmap(round(side * ratio), round(key[0] * ratio))
            found.setDevicePixelRatio(ratio)
            found.fill(Qt.GlobalColor.transparent)
            with QPainter(found) as drawer:
                ThemePainter(drawer, self._theme).hatch(QRectF(0, 0, side, key[0]), "strong")
            self._hatches[key] = found
        painter.drawPixmap(QPointF(round(box.left()), round(box.top())), found)
        painter.drawPixmap(QPointF(round(box.right() - side), round(box.top())), found)

    def _ring(self, pen: ThemePainter, shown: FitMatrixPaintState, row: int, column: int) -> None:
        level = next((place for place in shown.rows if place.number == row), None)
        place = next((place for place in shown.columns if place.number == column), None)
        if level is not None and place is not None:
            paint_ring(pen, self._box(level, place).adjusted(0, -1, 1, 1))


_ROW: Final = 27.0
_COLUMN: Final = 70.0
#: The labels take no more than this share of the width.
_LABELS: Final = 0.4
_BY_KEY: Final = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class FitMatrixTableView(PaintedTable):
    """Shows a `FitModel`; arrows, Home and End walk over the cells, Enter or a double click opens one."""

    #: Another cell is current, or what it shows is another.
    current_changed = Signal()
    #: The user opens the current cell.
    opened = Signal()
    #: Rows are to be in this order: `BY_NAME`, `BY_PARAMETERS` or an accelerator's id.
    sort_requested = Signal(str)

    def __init__(self, theme: Theme, model: FitModel, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._table = model
        self._kept: tuple[str, str] | None = None
        self._most, self._pale = 0, False
        self._present: tuple[str, AbstractSet[str]] = ("", frozenset())
        #: What stands in place of the rows where none is shown.
        self.empty_text = ""
        texts = TextCache(theme)
        self._painter = FitMatrixPainter(theme, texts, model, formatter)
        self.heads = FitMatrixColumnHeader(theme, model, formatter, self)
        self.labels = FitMatrixRowHeader(theme, texts, model, formatter, self)
        self._set_up(model)
        self.corner = FitMatrixCorner(theme, self)
        self.corner.sort_requested.connect(self.sort_requested)
        theme.changed.connect(self.measure)

    def _set_up(self, model: FitModel) -> None:
        self.setHorizontalHeader(self.heads)
        self.setVerticalHeader(self.labels)
        self.set_up(model)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Smallest deployments of all models"))
        self.heads.sort_requested.connect(lambda n: self.sort_requested.emit(model.column(n).part.id))
        self.labels.hovered.connect(self.hover)
        self.doubleClicked.connect(self._open)
        model.modelAboutToBeReset.connect(self._store_position)
        model.modelReset.connect(self._restore_position)
        model.dataChanged.connect(self._data_changed)

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

    def current_cell(self) -> FitCell | None:
        return self._table.cell(self.currentIndex())

    def go_to(self, model: str, part: str) -> None:
        """Make the cell of a model and an accelerator current, and bring it to the middle."""
        index = self._table.index_of(model, part)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _store_position(self) -> None:
        cell = self.current_cell()
        if cell is not None:
            self._kept = cell.model, cell.accelerator

    def _restore_position(self) -> None:
        self.hover(-1)
        self.measure()
        if self._kept is not None:
            index = self._table.index_of(*self._kept)
            if index.isValid():
                self.setCurrentIndex(index)
        self.current_changed.emit()

    def _data_changed(self) -> None:
        self.viewport().update()
        self.current_changed.emit()

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.viewport().update()
        self.current_changed.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and event.reason() in _BY_KEY:
            self.setCurrentIndex(self._table.index(0, 0))

    def focus_rect(self) -> QRect | None:
        return None if self.currentIndex().isValid() else self.rect()

    # Keys and mouse

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Keep letters from being shortcuts while a name is being typed."""
        if event.type() == QEvent.Type.ShortcutOverride and self._typed.active:
            text = cast("QKeyEvent", event).text()
            if text and text.isprintable():
                event.accept()
                return True
        return super().event(event)

    def _open(self) -> None:
        if self.current_cell() is not None:
            self.opened.emit()

    def named_rows(self) -> list[tuple[int, str]]:
        return [(number, row.model.name) for number, row in enumerate(self._table.table.rows)]

    def hover(self, row: int) -> None:
        if row != self.labels.hovered_section:
            self.labels.set_hovered(row)
            self.viewport().update()

    def sentence_at(self, index: Index) -> str:
        return self._table.sentence(index)

    # Painting

    def paint(self, painter: QPainter, area: QRect) -> None:
        current = self.currentIndex()
        columns = [
            VisibleSection(number, self.heads.sectionViewportPosition(number), self.heads.sectionSize(number))
            for number in range(self._table.columnCount())
        ]
        shown = FitMatrixPaintState(
            area=area,
            rows=find_visible_sections(self.labels, area.top(), area.bottom()),
            columns=[
                place for place in columns if place.start + place.size > area.left() and place.start <= area.right()
            ],
            hovered=self.labels.hovered_section,
            current=(current.row(), current.column()) if current.isValid() else None,
            present=self._present,
            most=self._most,
            pale=self._pale,
        )
        self._painter.paint(painter, shown)
        pen = ThemePainter(painter, self._theme)
        if self.horizontalScrollBar().value() > 0:
            pen.hairline(0, 0, 0, self.viewport().height(), "strong")
        if not self._table.table.rows and self.empty_text:
            room = self.viewport().rect().toRectF()
            pen.text(room, self.empty_text, font="small", colour="text3", align=CENTRE)
