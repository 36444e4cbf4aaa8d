"""What stands where heads and labels of the comparison table meet: how many rows, and what is hidden."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QTableView, QWidget

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import LinkButton
from gpudesk.text import trn


class Corner(QWidget):
    """Lies over the view's own corner."""

    #: The user wants to see the hidden columns.
    columns_wanted = Signal()

    def __init__(self, theme: Theme, view: QTableView) -> None:
        """Lie over a view."""
        super().__init__(view)
        self._theme = theme
        self._view = view
        self._text = ""
        self._link = LinkButton(theme, "", parent=self)
        self._link.clicked.connect(self.columns_wanted)
        self._link.hide()
        view.horizontalHeader().installEventFilter(self)
        view.verticalHeader().installEventFilter(self)
        theme.changed.connect(self.update)

    def show_count(self, text: str, hidden_columns: int) -> None:
        """Say how many rows are shown, and offer the columns that are hidden."""
        self._text = text
        self.setAccessibleName(text)
        self._link.setVisible(hidden_columns > 0)
        if hidden_columns:
            words = trn("Show {n} hidden column", "Show {n} hidden columns", hidden_columns)
            self._link.setText(words)
            self._link.setAccessibleName(words)
        self.place(self._view.verticalHeader().width(), self._view.horizontalHeader().height())
        self.update()

    def place(self, width: int, height: int) -> None:
        """Take the room of the corner."""
        theme = self._theme
        self.setGeometry(0, 0, width, height)
        size = self._link.sizeHint()
        self._link.setGeometry(
            theme.px(16), theme.px(14), min(size.width(), width - theme.px(20)), size.height()
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: ARG002, N802 - Qt's signature
        """Follow the heads and labels."""
        if event.type() == QEvent.Type.Resize:
            self.place(self._view.verticalHeader().width(), self._view.horizontalHeader().height())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the count at the foot, level with the second line of the heads."""
        painter = QPainter(self)
        try:
            pen, theme = Pen(painter, self._theme), self._theme
            painter.fillRect(self.rect(), theme.colour("page"))
            bottom = self.height() - 1
            pen.hairline(0, bottom, self.width(), bottom, "strong")
            line = theme.line("caption")
            place = QRectF(
                theme.px(16), self.height() - theme.px(8) - line, self.width() - theme.px(20), line
            )
            pen.text(place, self._text, font="small", colour="text3")
        finally:
            painter.end()
