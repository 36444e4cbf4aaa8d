"""The field that filters rows as one types."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QSizePolicy, QWidget

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import IconButton
from gpudesk.text import tr

_LEAST = 60.0
_ICON = 14.0
#: Left of the glass, without and with a frame.
_BARE, _FRAMED = 1.0, 9.0


class FilterField(QLineEdit):
    """Esc clears it, and leaves it when it is empty; ↓ and Enter leave it."""

    changed = Signal(str)
    #: The user is done with the field.
    left = Signal()

    def __init__(
        self,
        theme: Theme,
        name: str,
        tip: str,
        *,
        framed: bool = False,
        width: float = 144.0,
        parent: QWidget | None = None,
    ) -> None:
        """Begin empty; `name` says what is filtered, `width` is what it takes where there is room."""
        super().__init__(parent)
        self._theme = theme
        self._width = width
        self._inset = _FRAMED if framed else _BARE
        if not framed:
            self.setProperty("kind", "bare")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setPlaceholderText(name)
        self.setAccessibleName(name)
        self.setToolTip(tip)
        self._clear = IconButton(theme, "x", tr("Clear the filter"), size=14.0, parent=self)
        self._clear.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._clear.setCursor(Qt.CursorShape.ArrowCursor)
        self._clear.clicked.connect(self.clear)
        self._clear.hide()
        self.textChanged.connect(self._changed)
        theme.follow(self._dress)

    def _dress(self) -> None:
        self.setFixedHeight(self._theme.px(28))
        self.setMinimumWidth(self._theme.px(_LEAST))
        self.updateGeometry()
        self._leave_room()

    def _leave_room(self) -> None:
        """Keep the text off the glass, and off the button that clears while there is one."""
        before = _ICON + 8 if self._inset == _BARE else _ICON + 9
        after = 22 if self.text() or self._inset == _BARE else 0
        self.setTextMargins(self._theme.px(before), 0, self._theme.px(after), 0)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the width that it has where there is room."""
        return QSize(self._theme.px(self._width), self._theme.px(28))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the button that clears at the right end."""
        super().resizeEvent(event)
        side = self.height()
        self._clear.setGeometry(self.width() - side, 0, side, side)

    def set_text(self, text: str) -> None:
        """Show a filter that was set elsewhere."""
        if text != self.text():
            self.setText(text)

    def _changed(self, text: str) -> None:
        self._clear.setVisible(bool(text))
        self._leave_room()
        self.changed.emit(text)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the glass before the text."""
        super().paintEvent(event)
        painter = QPainter(self)
        try:
            side = self._theme.px(_ICON)
            Pen(painter, self._theme).icon(
                "search", self._theme.px(self._inset), (self.height() - side) / 2, side, "text2"
            )
        finally:
            painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Clear, or go on to the rows; in a dialog an empty field leaves Esc to that."""
        key = event.key()
        if key == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif key == Qt.Key.Key_Escape and isinstance(self.window(), QDialog):
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Escape, Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.left.emit()
        else:
            super().keyPressEvent(event)
