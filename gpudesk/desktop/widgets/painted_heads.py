"""Heads of a table that a page paints by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QHeaderView, QToolTip, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QHelpEvent


class PaintedHeads(QHeaderView):
    """Follows the mouse, and tells in full what a head stands for where the mouse rests."""

    #: The number of the head under the mouse, -1 where it leaves.
    hovered = Signal(int)

    def __init__(self, orientation: Qt.Orientation, parent: QWidget) -> None:
        """Begin with no head under the mouse."""
        super().__init__(orientation, parent)
        self.hovered_number = -1
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)

    def set_hovered(self, number: int) -> None:
        """Mark a head as the one under the mouse, -1 for none."""
        if number != self.hovered_number:
            self.hovered_number = number
            self.viewport().update()

    def number_at(self, place: QPoint) -> int:
        """Return the number of the head at a place, -1 where there is none."""
        return self.logicalIndexAt(place)

    def told(self, number: int, place: QPoint) -> str:  # noqa: ARG002 - for heads of several parts
        """Return what a head stands for, as its model has it; `place` is where in it the mouse rests."""
        said = self.model().headerData(number, self.orientation(), Qt.ItemDataRole.ToolTipRole)
        return str(said or "")

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the mouse."""
        super().mouseMoveEvent(event)
        self.hovered.emit(self.number_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Forget the mouse."""
        super().leaveEvent(event)
        self.hovered.emit(-1)

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Tell in full what a head stands for."""
        if event.type() == QEvent.Type.ToolTip:
            asked = cast("QHelpEvent", event)
            number = self.number_at(asked.pos())
            QToolTip.showText(asked.globalPos(), "" if number < 0 else self.told(number, asked.pos()), self)
            return True
        return super().viewportEvent(event)
