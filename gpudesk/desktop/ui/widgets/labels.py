"""Labels in the theme's fonts and colors, and hairlines between blocks."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter


class ThemedLabel(QLabel):
    """Plain text that keeps its token through switches of the theme and of the size of letters."""

    def __init__(
        self,
        theme: Theme,
        text: str = "",
        *,
        font: str = "body",
        colour: str = "text1",
        wrap: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._token = font
        self._colour = colour
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        self.setText(text)
        theme.follow(self._dress)

    def set_colour(self, colour: str) -> None:
        if colour != self._colour:
            self._colour = colour
            self._dress()

    def changeEvent(self, event: QEvent) -> None:
        """Keep the colour: a style sheet that is applied anew, as to a new parent, brings an old one back."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and self._is_faded():
            self._dress()

    def _is_faded(self) -> bool:
        return self.palette().color(QPalette.ColorRole.WindowText) != self._theme.colour(self._colour)

    def _dress(self) -> None:
        self.setFont(self._theme.font(self._token))
        palette = self.palette()
        for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive):
            palette.setColor(group, QPalette.ColorRole.WindowText, self._theme.colour(self._colour))
        self.setPalette(palette)


class ElidedLabel(ThemedLabel):
    """A line that is cut where there is no room, and then whole in its tool tip."""

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, *, cut: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        """Begin empty; `cut` says on which side of the text the room is missing."""
        self._whole = ""
        self._side = cut
        super().__init__(theme, font="small", colour="text2", parent=parent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def set_whole(self, text: str) -> None:
        self._whole = text
        self.setAccessibleName(text)
        self._cut()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._cut()

    def _dress(self) -> None:
        super()._dress()
        self._cut()

    def _cut(self) -> None:
        cut = self.fontMetrics().elidedText(self._whole, self._side, self.width())
        self.setText(cut)
        self.setToolTip(self._whole if cut != self._whole else "")


class Hairline(QWidget):
    """A hairline across the page."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedHeight(1)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            ThemePainter(painter, self._theme).hairline(0, 0, self.width(), 0)


def fill_background(widget: QWidget, colour: QColor) -> None:
    widget.setAutoFillBackground(True)
    palette = widget.palette()
    palette.setColor(widget.backgroundRole(), colour)
    widget.setPalette(palette)
