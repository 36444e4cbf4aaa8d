"""Text in one of the theme's fonts and colours."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel, QWidget

from gpudesk.desktop.theme.theme import Theme


class Label(QLabel):
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
        """Show a text; `font` and `colour` are tokens."""
        super().__init__(parent)
        self._theme = theme
        self._token = font
        self._colour = colour
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        self.setText(text)
        theme.follow(self._dress)

    def set_colour(self, colour: str) -> None:
        """Take another colour, by token."""
        if colour != self._colour:
            self._colour = colour
            self._dress()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
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
