"""Filters of lists: the search field, and facets as pills."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QMenu, QSizePolicy

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedButton, ThemePainter
from gpudesk.desktop.ui.widgets.buttons import IconButton
from gpudesk.desktop.ui.widgets.qt_support import make_menu, pop_up
from gpudesk.text.translation import tr

_LEAST = 60.0
_FIELD_ICON = 14.0
#: Space left of the magnifier, without and with a frame.
_BARE, _FRAMED = 1.0, 9.0


class FilterField(QLineEdit):
    """Esc clears it, and leaves it when empty; ↓ and Enter leave it."""

    changed = Signal(str)
    #: The user leaves the field.
    left = Signal()

    def __init__(self, theme: Theme, name: str, tip: str, *, framed: bool = False, width: float = 144.0) -> None:
        """Start empty; `name` describes the filtered list, `width` is the preferred width."""
        super().__init__()
        self._theme = theme
        self._width = width
        self._inset = _FRAMED if framed else _BARE
        if not framed:
            self.setProperty("kind", "bare")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setPlaceholderText(name)
        self.setAccessibleName(name)
        self.setToolTip(tip)
        self._clear = IconButton(theme, "x", tr("Clear filter"), self.clear, size=14.0, parent=self)
        self._clear.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._clear.setCursor(Qt.CursorShape.ArrowCursor)
        self._clear.hide()
        self.textChanged.connect(self._changed)
        theme.follow(self._dress)

    def _dress(self) -> None:
        self.setFixedHeight(self._theme.px(28))
        self.setMinimumWidth(self._theme.px(_LEAST))
        self.updateGeometry()
        self._leave_room()

    def _leave_room(self) -> None:
        before = _FIELD_ICON + 8 if self._inset == _BARE else _FIELD_ICON + 9
        after = 22 if self.text() or self._inset == _BARE else 0
        self.setTextMargins(self._theme.px(before), 0, self._theme.px(after), 0)

    def sizeHint(self) -> QSize:
        margins = self.textMargins()
        needed = self.fontMetrics().horizontalAdvance(self.placeholderText()) + margins.left() + margins.right()
        return QSize(max(self._theme.px(self._width), needed + self._theme.px(8)), self._theme.px(28))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        side = self.height()
        self._clear.setGeometry(self.width() - side, 0, side, side)

    def set_text(self, text: str) -> None:
        if text != self.text():
            self.setText(text)

    def _changed(self, text: str) -> None:
        self._clear.setVisible(bool(text))
        self._leave_room()
        self.changed.emit(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        with QPainter(self) as painter:
            side = self._theme.px(_FIELD_ICON)
            ThemePainter(painter, self._theme).icon(
                "search", self._theme.px(self._inset), (self.height() - side) / 2, side, "text2"
            )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear, or move to the rows; in a dialog Esc on an empty field closes that."""
        key = event.key()
        if key == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif key == Qt.Key.Key_Escape and isinstance(self.window(), QDialog):
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Escape, Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.left.emit()
        else:
            super().keyPressEvent(event)


_PILL_PADDING = 11.0
_PILL_ICON = 12.0
_PILL_GAP = 5.0


class FilterPill(PaintedButton):
    """Shows a filter and its value. With `fill` it opens a menu filled by this function; else it is a toggle."""

    #: The pill was toggled.
    switched = Signal()
    #: The pill's × was pressed, or Delete.
    cleared = Signal()

    def __init__(self, theme: Theme, text: str, fill: Callable[[QMenu], object] | None = None) -> None:
        super().__init__(theme)
        self._fill = fill
        self.on = False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setProperty("ringRadius", 14.0)
        self.clicked.connect(self._pressed)
        self.show_text(text, on=False)
        theme.changed.connect(self.updateGeometry)

    def show_text(self, text: str, *, on: bool) -> None:
        if text == self.text() and on == self.on:
            return
        self.on = on
        self.setText(text)
        self.setAccessibleName(tr("{facet}, active", facet=text) if on else text)
        self.setAccessibleDescription(tr("Press Delete to clear") if on else "")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        theme = self._theme
        width = QFontMetricsF(theme.font("small_strong")).horizontalAdvance(self.text())
        sign = theme.px(_PILL_ICON + _PILL_GAP) if self._has_sign() else 0
        return QSize(round(width) + sign + 2 * theme.px(_PILL_PADDING), theme.px(28))

    def _has_sign(self) -> bool:
        return self.on or self._fill is not None

    def paint(self, pen: ThemePainter) -> None:
        theme = self._theme
        rect = QRectF(self.rect())
        ground = "selection" if self.on or self.isDown() else "hover" if self.underMouse() else "page"
        radius = self.height() / 2 / max(theme.length(1.0), 0.01)
        pen.frame(rect, "strong", radius=radius, fill=ground)
        left = theme.px(_PILL_PADDING)
        width = pen.text(
            QRectF(left, 0, self.width() - left, self.height()),
            self.text(),
            font="small_strong",
            color="text1" if self.on else "text2",
        )
        if self._has_sign():
            side = theme.px(_PILL_ICON)
            icon = "x" if self.on else "chevron-down"
            pen.icon(icon, left + width + theme.px(_PILL_GAP), (self.height() - side) / 2, side, "text2")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        on_sign = self.on and event.position().x() > self.width() - self._theme.px(_PILL_PADDING + _PILL_ICON + 2)
        if on_sign and self.isDown() and event.button() == Qt.MouseButton.LeftButton:
            self.setDown(False)
            self.cleared.emit()
            return
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self.on:
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
        pop_up(menu, self.mapToGlobal(QPoint(0, self.height() + 4)))
