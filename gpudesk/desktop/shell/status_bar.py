"""The status bar: which catalog, whether all is saved, how long the last answer took; and always: offline."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.text import tr

_HEIGHT = 24.0
_MESSAGE_MS = 8000


class StatusBar(QWidget):
    """Short statements in one line; a passing message takes the place of the catalog's for a while."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin with the promise alone."""
        super().__init__(parent)
        self._theme = theme
        self._catalog_text = ""
        self.setAccessibleName(tr("Status"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.left = Label(theme, "", font="caption", colour="text2")
        self.left.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.saved = Label(theme, "", font="caption", colour="text2")
        self.elapsed = Label(theme, "", font="caption", colour="text2")
        self.offline = Label(theme, tr("Offline"), font="caption", colour="text2")
        self.offline.setToolTip(tr("GPU Desk opens no network connection."))
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.left, 1)
        for label in (self.saved, self.elapsed, self.offline):
            self._row.addWidget(label)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._message_over)
        theme.follow(self._dress)

    @property
    def message(self) -> str:
        """The passing message, empty when there is none."""
        return self.left.text() if self._timer.isActive() else ""

    def set_catalog(self, text: str) -> None:
        """Say which catalog is open."""
        self._catalog_text = text
        if not self._timer.isActive():
            self.left.setText(text)

    def set_saved(self, text: str) -> None:
        """Say whether the document is saved."""
        self.saved.setText(text)
        self.saved.setVisible(bool(text))

    def set_elapsed(self, text: str) -> None:
        """Say how long the last answer took."""
        self.elapsed.setText(text)
        self.elapsed.setVisible(bool(text))

    def show_message(self, text: str) -> None:
        """Say something for some seconds, also to those who listen."""
        self.left.setText(text)
        self._timer.start(_MESSAGE_MS)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the ground, the line above and the sign of the catalog."""
        painter = QPainter(self)
        try:
            pen = Pen(painter, self._theme)
            painter.fillRect(self.rect(), self._theme.colour("chrome"))
            pen.hairline(0, 0, self.width(), 0)
            side = float(self._theme.px(13))
            level = QRectF(self.rect()).center().y()
            pen.icon("database", self._theme.px(12), level - side / 2, side, "text3")
        finally:
            painter.end()

    def _message_over(self) -> None:
        self.left.setText(self._catalog_text)

    def _dress(self) -> None:
        px = self._theme.px
        self._row.setContentsMargins(px(31), 0, px(16), 0)
        self._row.setSpacing(px(20))
        self.setFixedHeight(px(_HEIGHT))
        self.update()
