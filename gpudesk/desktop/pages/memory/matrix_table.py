"""The table of the fit matrix: names of models and accelerators stay in sight, everything by keyboard."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final, cast

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QWidget

from gpudesk.desktop.itemmodels.fit_arrangement import FitOrder
from gpudesk.desktop.itemmodels.fit_model import FitModel
from gpudesk.desktop.pages.memory.matrix_heads import PartHeads, Slots
from gpudesk.desktop.pages.memory.matrix_labels import Corner, ModelLabels
from gpudesk.desktop.pages.memory.matrix_painter import MatrixPainter, Shown
from gpudesk.desktop.theme.pen import CENTRE, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.painted_table import Index, PaintedTable, Place, places_between
from gpudesk.desktop.widgets.text_cache import TextCache
from gpudesk.domain.fit_matrix import FitCell
from gpudesk.domain.formatting import Formatter
from gpudesk.text import tr

_ROW: Final = 27.0
_COLUMN: Final = 70.0
#: The labels take no more than this share of the width.
_LABELS: Final = 0.4
_BY_KEY: Final = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class MatrixTable(PaintedTable):
    """Shows a `FitModel`; arrows, Home and End walk over the cells, Enter or a double click opens one."""

    #: Another cell is current, or what it shows is another.
    current_changed = Signal()
    #: The user opens the current cell.
    opened = Signal()
    #: Rows are to be in this order: `BY_NAME`, `BY_PARAMETERS` or an accelerator's id.
    sort_requested = Signal(str)

    def __init__(
        self, theme: Theme, model: FitModel, formatter: Formatter, parent: QWidget | None = None
    ) -> None:
        """Show a model."""
        super().__init__(parent)
        self._theme = theme
        self._table = model
        self._kept: tuple[str, str] | None = None
        self._most, self._pale = 0, False
        self._present: tuple[str, AbstractSet[str]] = ("", frozenset())
        #: What stands in place of the rows where none is shown.
        self.empty_text = ""
        texts = TextCache(theme)
        self._painter = MatrixPainter(theme, texts, model, formatter)
        self.heads = PartHeads(theme, model, formatter, self)
        self.labels = ModelLabels(theme, texts, model, formatter, self)
        self._set_up(model)
        self.corner = Corner(theme, self)
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
        model.modelAboutToBeReset.connect(self._keep_place)
        model.modelReset.connect(self._restore_place)
        model.dataChanged.connect(self._data_changed)

    # What is shown

    def set_present(self, model: str, slots: Slots) -> None:
        """Mark the scenario's own model and accelerators, given by ids."""
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
        """Take heights and widths anew."""
        theme = self._theme
        self.labels.setDefaultSectionSize(theme.px(_ROW))
        self.labels.measure(round(self.width() * _LABELS))
        face = QPixmap(1, 1)
        painter = QPainter(face)
        try:
            pen = Pen(painter, theme)
            announced = round(pen.tag_width(tr("Announced"))) + theme.px(8)
            for number, column in enumerate(self._table.table.columns):
                width = max(theme.px(_COLUMN), announced if column.part.announced else 0)
                if self.heads.sectionSize(number) != width:
                    self.heads.resizeSection(number, width)
            self.heads.measure(pen)
        finally:
            painter.end()
        self.updateGeometries()
        self._paint_all()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Give the labels their share of the new width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.labels.measure(round(self.width() * _LABELS))

    # The current cell

    def current_cell(self) -> FitCell | None:
        """Return the cell that is current."""
        return self._table.cell(self.currentIndex())

    def go_to(self, model: str, part: str) -> None:
        """Make the cell of a model and an accelerator current, and bring it to the middle."""
        index = self._table.index_of(model, part)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _keep_place(self) -> None:
        cell = self.current_cell()
        if cell is not None:
            self._kept = cell.model, cell.accelerator

    def _restore_place(self) -> None:
        """Find the current cell again where it is still shown."""
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

    def currentChanged(self, current: Index, previous: Index) -> None:  # noqa: N802 - Qt's name
        """Say that another cell is current."""
        super().currentChanged(current, previous)
        self.viewport().update()
        self.current_changed.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Begin at the first cell."""
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and event.reason() in _BY_KEY:
            self.setCurrentIndex(self._table.index(0, 0))

    def focus_rect(self) -> QRect | None:
        """Show the focus by itself, around the cell that is current."""
        return None if self.currentIndex().isValid() else self.rect()

    # Keys and mouse

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Open the current cell with Enter; the view itself walks and searches."""
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
        """Return the rows by the names of their models."""
        return [(number, row.model.name) for number, row in enumerate(self._table.table.rows)]

    def hover(self, row: int) -> None:
        """Tint the row under the mouse."""
        if row != self.labels.hovered_number:
            self.labels.set_hovered(row)
            self.viewport().update()

    def sentence_at(self, index: Index) -> str:
        """Return all that a cell shows as a sentence."""
        return self._table.sentence(index)

    # Painting

    def paint(self, painter: QPainter, area: QRect) -> None:
        """Draw everything in sight in one go, or what is said where nothing is."""
        current = self.currentIndex()
        columns = [
            Place(number, self.heads.sectionViewportPosition(number), self.heads.sectionSize(number))
            for number in range(self._table.columnCount())
        ]
        shown = Shown(
            area=area,
            rows=places_between(self.labels, area.top(), area.bottom()),
            columns=[
                place
                for place in columns
                if place.start + place.size > area.left() and place.start <= area.right()
            ],
            hovered=self.labels.hovered_number,
            current=(current.row(), current.column()) if current.isValid() else None,
            present=self._present,
            most=self._most,
            pale=self._pale,
        )
        self._painter.paint(painter, shown)
        pen = Pen(painter, self._theme)
        if self.horizontalScrollBar().value() > 0:
            pen.hairline(0, 0, 0, self.viewport().height(), "strong")
        if not self._table.table.rows and self.empty_text:
            room = self.viewport().rect().toRectF()
            pen.text(room, self.empty_text, font="small", colour="text3", align=CENTRE)
