"""What is higher than its place, to be scrolled."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QScrollBar, QWidget

#: The thickness of scroll bars, which are the same at every size of letters.
BAR = 10


class ScrollArea(QScrollArea):
    """Shows a widget over its whole width, whether there is something to scroll or not.

    The bars that one sees lie over the margin of what is shown and are no parts of the area: a screen reader
    counts those before it asks for one after the other, and Qt does not look whether the one asked for is
    still there, so that a bar of its own which vanishes meanwhile would end the program.
    """

    def __init__(self, *, sideways: bool = False, parent: QWidget | None = None) -> None:
        """Begin empty; `sideways` lets what is wider than the area be scrolled too."""
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        own = (self.verticalScrollBar(), self.horizontalScrollBar())
        self._bars = {bar: self._over(bar) for bar in own[: 1 + sideways]}

    def show_widget(self, widget: QWidget) -> None:
        """Show a widget, which draws no ground of its own."""
        self.setWidget(widget)
        widget.setAutoFillBackground(False)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the bars at the edges, with the steps of the area's own."""
        super().resizeEvent(event)
        self._place()

    def _over(self, bar: QScrollBar) -> QScrollBar:
        """Return a bar that moves with one of the area's own and is seen while it can be moved."""
        shown = QScrollBar(bar.orientation(), self)

        def take(low: int, high: int) -> None:
            shown.setRange(low, high)
            shown.setVisible(high > low)
            self._place()

        shown.hide()
        bar.rangeChanged.connect(take)
        bar.valueChanged.connect(shown.setValue)
        shown.valueChanged.connect(bar.setValue)
        return shown

    def _place(self) -> None:
        for own, bar in self._bars.items():
            bar.setPageStep(own.pageStep())
            bar.setSingleStep(own.singleStep())
            if bar.orientation() is Qt.Orientation.Vertical:
                bar.setGeometry(self.width() - BAR, 0, BAR, self.height())
            else:
                bar.setGeometry(0, self.height() - BAR, self.width() - BAR, BAR)
            bar.raise_()
