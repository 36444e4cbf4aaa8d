"""A facet of a list as a pill: pressed or chosen from a menu, filled while it narrows, cleared by its ×."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QMenu, QSizePolicy, QWidget

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.menu import make_menu
from gpudesk.text import tr

_PADDING = 11.0
_ICON = 12.0
_GAP = 5.0


class Pill(QAbstractButton):
    """Says what it narrows by. With a `fill` it opens a menu that this fills; else it is a switch."""

    #: The pill was pressed as a switch.
    switched = Signal()
    #: The pill's × was pressed, or Delete.
    cleared = Signal()

    def __init__(
        self,
        theme: Theme,
        text: str,
        fill: Callable[[QMenu], object] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Begin without narrowing anything."""
        super().__init__(parent)
        self._theme = theme
        self._fill = fill
        self._on = False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setProperty("ringRadius", 14.0)
        self.clicked.connect(self._pressed)
        self.show_text(text, on=False)
        theme.changed.connect(self.updateGeometry)

    @property
    def on(self) -> bool:
        """Whether it narrows."""
        return self._on

    def show_text(self, text: str, *, on: bool) -> None:
        """Say what it narrows by, or would."""
        if text == self.text() and on == self._on:
            return
        self._on = on
        self.setText(text)
        self.setAccessibleName(tr("{facet}, in force", facet=text) if on else text)
        self.setAccessibleDescription(tr("Delete clears it") if on else "")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the room of text and sign."""
        theme = self._theme
        width = QFontMetricsF(theme.font("small_strong")).horizontalAdvance(self.text())
        sign = theme.px(_ICON + _GAP) if self._has_sign() else 0
        return QSize(round(width) + sign + 2 * theme.px(_PADDING), theme.px(28))

    def _has_sign(self) -> bool:
        return self._on or self._fill is not None

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the pill."""
        painter = QPainter(self)
        try:
            pen, theme = Pen(painter, self._theme), self._theme
            rect = QRectF(self.rect())
            ground = "selection" if self._on or self.isDown() else "hover" if self.underMouse() else "page"
            radius = self.height() / 2 / max(theme.length(1.0), 0.01)
            pen.frame(rect, "strong", radius=radius, fill=ground)
            left = theme.px(_PADDING)
            width = pen.text(
                QRectF(left, 0, self.width() - left, self.height()),
                self.text(),
                font="small_strong",
                colour="text1" if self._on else "text2",
            )
            if self._has_sign():
                side = theme.px(_ICON)
                icon = "x" if self._on else "chevron-down"
                pen.icon(icon, left + width + theme.px(_GAP), (self.height() - side) / 2, side, "text2")
        finally:
            painter.end()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Clear where the × is pressed."""
        on_sign = self._on and event.position().x() > self.width() - self._theme.px(_PADDING + _ICON + 2)
        if on_sign and self.isDown() and event.button() == Qt.MouseButton.LeftButton:
            self.setDown(False)
            self.cleared.emit()
            return
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Clear with Delete, press with Enter or Space, open with ↓."""
        key = event.key()
        if key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self._on:
            self.cleared.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or (key == Qt.Key.Key_Down and self._fill):
            self.click()
        else:
            super().keyPressEvent(event)

    def _pressed(self) -> None:
        if self._fill is None:
            self.switched.emit()
            return
        menu = make_menu(parent=self)
        self._fill(menu)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.mapToGlobal(QPoint(0, self.height() + 4)))
