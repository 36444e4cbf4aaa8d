"""What is wrong with a field, said just below it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme

_WIDEST = 360.0
_PADDING = 8.0
_GAP = 4

_FOLLOWED = frozenset({QEvent.Type.Move, QEvent.Type.Resize})
_ENTERED = frozenset({QEvent.Type.Enter, QEvent.Type.FocusIn})
_LEFT = frozenset({QEvent.Type.Leave, QEvent.Type.FocusOut})


class FaultNote(QWidget):
    """Floats in the window below a field at fault, above what lies there, and lets the mouse through.

    It shows when the fault appears and while the field has the focus or the mouse over it; then it gives way.
    """

    def __init__(self, field: QWidget, theme: Theme) -> None:
        """Belong to a field; hidden until there is a fault."""
        super().__init__(field)
        self._field = field
        self._theme = theme
        self._text = ""
        self._lines: list[str] = []
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        field.installEventFilter(self)
        field.destroyed.connect(self.deleteLater)
        theme.changed.connect(self._settle)

    @property
    def text(self) -> str:
        """The fault, empty where there is none."""
        return self._text

    def set_text(self, text: str) -> None:
        """Say what is wrong and what to do; nothing hides the note."""
        if text == self._text:
            return
        self._text = text
        self.setVisible(bool(text) and self._field.isVisible())
        self._settle()

    def watch(self, part: QWidget) -> None:
        """Show while this part of the field has the focus, too."""
        part.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Follow the field; show when it is turned to."""
        kind = event.type()
        if self._text and watched is not self:
            if kind in _ENTERED:
                self.show()
                self._settle()
            elif kind in _LEFT:
                self.setVisible(self._turned_to(kind))
            elif watched is self._field and kind == QEvent.Type.Hide:
                self.hide()
            elif watched is self._field and kind in _FOLLOWED:
                self._settle()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the sentence."""
        painter = QPainter(self)
        try:
            pen = Pen(painter, self._theme)
            pen.frame(QRectF(self.rect()), "unfit", fill="raised")
            padding, line = self._theme.px(_PADDING), self._theme.line("small")
            for number, words in enumerate(self._lines):
                row = QRectF(padding, padding - 2 + number * line, self.width() - padding, line)
                pen.text(row, words, font="small", colour="unfit")
        finally:
            painter.end()

    def _turned_to(self, left_by: QEvent.Type) -> bool:
        """Say whether the field has the focus, where the mouse left, or the mouse, where the focus did."""
        if left_by == QEvent.Type.Leave:
            focus: QWidget | None = QApplication.focusWidget()
            return focus is not None and (focus is self._field or self._field.isAncestorOf(focus))
        return self._field.underMouse()

    def _settle(self) -> None:
        """Take the size of the sentence and the place below the field, within the window."""
        if not self._text or not isValid(self._field):
            return
        theme, window = self._theme, self._field.window()
        if self.parentWidget() is not window:
            visible = not self.isHidden()
            self.setParent(window)
            self.setVisible(visible)
        metrics = QFontMetricsF(theme.font("small"))
        padding = theme.px(_PADDING)
        room = min(theme.px(_WIDEST), window.width() - 16) - 2 * padding
        self._lines = _broken(self._text, metrics, room)
        width = max(metrics.horizontalAdvance(line) for line in self._lines) + 2 * padding + 2
        height = len(self._lines) * theme.line("small") + 2 * padding - 4
        self.resize(int(width) + 1, height)
        place = self._field.mapTo(window, QPoint(0, self._field.height() + _GAP))
        self.move(max(8, min(place.x(), window.width() - self.width() - 8)), place.y())
        self.raise_()
        self.update()


def _broken(text: str, metrics: QFontMetricsF, room: float) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and metrics.horizontalAdvance(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
