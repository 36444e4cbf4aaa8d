"""Paints the lines of the panel, and says how high they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QLineEdit, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gpudesk.desktop.panel.blocks import Blocks, State
from gpudesk.desktop.panel.model import Line, PanelModel
from gpudesk.desktop.panel.node import Kind
from gpudesk.desktop.panel.pieces import Layout, Measure
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme

if TYPE_CHECKING:
    from gpudesk.desktop.panel.view import PanelView

Index = QModelIndex | QPersistentModelIndex

_INSET: Final = 8.0
_RADIUS: Final = 6.0
#: Lines that have a selection of their own look, or none.
_UNFILLED: Final = frozenset({Kind.HEAD, Kind.NOTE, Kind.EMPTY, Kind.SECTION, Kind.BAR, Kind.RULE})
#: Lines that stand further in, the deeper they lie.
_INDENTED: Final = frozenset({Kind.TERM, Kind.PLAN})


class PanelDelegate(QStyledItemDelegate):
    """Draws each line by its layout."""

    def __init__(self, theme: Theme, view: PanelView) -> None:
        """Draw for a view."""
        super().__init__(view)
        self._theme = theme
        self._view = view
        self._measure = Measure(theme)
        self._blocks = Blocks(self._measure)

    def layout(self, line: Line, index: Index) -> Layout:
        """Return the layout of a line at the view's width."""
        node = line.node
        foldable = node.has_children
        state = State(
            width=self._view.width(),
            edge=self._view.box_edge(),
            depth=line.depth if node.kind in _INDENTED else 0,
            foldable=foldable,
            expanded=foldable and self._view.isExpanded(index),
            current=index == self._view.currentIndex(),
        )
        return self._blocks.layout(node, state)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802, ARG002 - Qt's
        """Return the height of a line."""
        line = self._model().line(index)
        return QSize(0, 0) if line is None else QSize(0, math.ceil(self.layout(line, index).height))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a line."""
        line = self._model().line(index)
        if line is None:
            return
        rect = QRectF(option.rect)
        painter.save()
        try:
            pen = Pen(painter, self._theme)
            fill = self._fill(line, index)
            if fill is not None:
                rect.setLeft(self._theme.px(_INSET))
                rect.setRight(self._view.box_edge())
                pen.tint(rect, fill, radius=_RADIUS)
            self.layout(line, index).draw(pen, self._measure, rect.y())
        finally:
            painter.restore()

    def _fill(self, line: Line, index: Index) -> str | None:
        if line.node.kind in _UNFILLED:
            return None
        if index == self._view.currentIndex():
            return "selection"
        return "hover" if line is self._view.hovered else None

    def createEditor(  # noqa: N802 - Qt's name
        self,
        parent: QWidget,
        option: QStyleOptionViewItem,  # noqa: ARG002
        index: Index,
    ) -> QWidget:
        """Return a field in which an address can be selected as text, but not changed."""
        field = QLineEdit(parent)
        field.setReadOnly(True)
        field.setAccessibleName(str(index.data()))
        return field

    def setModelData(self, editor: QWidget, model: object, index: Index) -> None:  # noqa: N802
        """Change nothing: the field is there to read."""

    def _model(self) -> PanelModel:
        model = self._view.model()
        assert isinstance(model, PanelModel)
        return model
