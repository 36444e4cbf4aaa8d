"""One change that changes the answer: what, what it is now, and what the answer becomes; a click makes it."""

from __future__ import annotations

from typing import Final, NamedTuple

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QEnterEvent, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from gpudesk.desktop.pages.decide.result_parts import Look
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.decisions import Flip
from gpudesk.text import tr

_PAD: Final = 14.0
_ABOVE: Final = 9.0
_ICON: Final = 14.0
_MOST_LINES: Final = 2


class ShownFlip(NamedTuple):
    """A change in words, with how what then leads is drawn."""

    flip: Flip
    change: str
    now: str
    becomes: str
    looks: tuple[Look, ...]

    @property
    def sentence(self) -> str:
        """All of it, as it is read out."""
        return tr("{change}, {now}; then {becomes}", change=self.change, now=self.now, becomes=self.becomes)


class FlipBox(QAbstractButton):
    """A button as large as its three lines; the change takes two where one has no room."""

    def __init__(self, theme: Theme, shown: ShownFlip, parent: QWidget | None = None) -> None:
        """Show a change."""
        super().__init__(parent)
        self._theme = theme
        self.shown = shown
        self._lines = 1
        self.setText(shown.change)
        self.setAccessibleName(shown.sentence)
        self.setAccessibleDescription(tr("Makes this change; it can be undone"))
        self.setToolTip(tr("{sentence}. A click makes this change", sentence=shown.sentence))
        self.setProperty("ringRadius", 8.0)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.follow(self._dress)

    def lines_in(self, width: int) -> int:
        """Return how many lines the change takes in a box of a width, at most two."""
        metrics = QFontMetricsF(self._theme.font("body_strong"))
        room = width - 2 * self._theme.px(_PAD)
        return 1 if metrics.horizontalAdvance(self.shown.change) <= room else _MOST_LINES

    def set_lines(self, lines: int) -> None:
        """Keep room for so many lines of the change."""
        self._lines = lines
        self._dress()

    def _dress(self) -> None:
        line, px = self._theme.line, self._theme.px
        text = self._lines * line("body_strong") + line("small") + line("label") + px(2)
        self.setFixedHeight(text + 2 * px(_ABOVE))
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Leave the width to the block."""
        return QSize(self._theme.px(240), self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Enter makes the change too."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Show that the mouse is over it."""
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Show that it is no longer."""
        super().leaveEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the box and its lines."""
        painter = QPainter(self)
        try:
            pen, theme = Pen(painter, self._theme), self._theme
            live = self.isEnabled()
            fill = "selection" if self.isDown() else "hover" if self.underMouse() and live else "page"
            pen.frame(QRectF(self.rect()), "hair", radius=8.0, fill=fill)
            pad, y = theme.px(_PAD), float(theme.px(_ABOVE))
            width, high = self.width() - 2 * pad, theme.line("body_strong")
            for words in pen.lines(self.shown.change, width, "body_strong", self._lines):
                place = QRectF(pad, y, width, high)
                pen.text(place, words, font="body_strong", colour="text1" if live else "text3")
                y += high
            y = float(theme.px(_ABOVE) + self._lines * high)
            pen.text(QRectF(pad, y, width, theme.line("small")), self.shown.now, font="small", colour="text3")
            y += theme.line("small") + theme.px(2)
            self._becomes(pen, QRectF(pad, y, width, theme.line("label")), live=live)
        finally:
            painter.end()

    def _becomes(self, pen: Pen, place: QRectF, *, live: bool) -> None:
        theme, middle = self._theme, place.center().y()
        side = theme.px(_ICON)
        pen.icon("corner-down-right", place.left(), middle - side / 2, side, "text2")
        x = place.left() + side + theme.px(8)
        for look in self.shown.looks:
            x += pen.swatch(x, middle, look.slot, hollow=look.hollow) + theme.px(5)
        rest = QRectF(x, place.top(), max(1.0, place.right() - x), place.height())
        pen.text(rest, self.shown.becomes, font="label", colour="text1" if live else "text3")
