"""The focus ring: one overlay per window for keyboard focus, and the dialog that has one."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QCheckBox, QDialog, QMenuBar, QRadioButton, QWidget
from shiboken6 import isValid

from gpudesk.desktop.ui.theme.theme import Theme

_WIDTH = 2.0
_OFFSET = 3
_RADIUS = 6.0
#: Space of the overlay around the widget: offset, stroke, and a pixel for antialiasing.
_MARGIN = _OFFSET + 2

_KEYS = frozenset({QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride})
_MOVES = frozenset(
    {QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide, QEvent.Type.LayoutRequest}
)


@runtime_checkable
class FocusRectProvider(Protocol):
    """A widget in which only a part is focused: a cell, a point, a row."""

    def focus_rect(self) -> QRect | None:
        """Return that part in the widget's coordinates; None if the widget shows its focus itself."""


class FocusRing(QWidget):
    """Follows the focus inside one window. Make one for each window and dialog.

    A widget can have the property `ringParent` (its parent is ringed instead) and `ringRadius`. When the part returned
    by `focus_rect` moves, the widget calls `moved`.
    """

    def __init__(self, window: QWidget, theme: Theme) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._target: QWidget | None = None
        self._watched: list[QWidget] = []
        self._by_keyboard = False
        self._radius = _RADIUS
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        window.installEventFilter(self)
        theme.changed.connect(self.refresh)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._focus_changed)

    @staticmethod
    def moved(widget: QWidget) -> None:
        """Update the ring after the focused part of a widget has moved."""
        ring = widget.window().findChild(FocusRing, options=Qt.FindChildOption.FindDirectChildrenOnly)
        if ring is not None:
            ring.refresh()

    def refresh(self) -> None:
        # While the program ends, half-destroyed windows still send events.
        if not isValid(self._window):
            return
        rect = self._find_ring_rect() if self._by_keyboard else None
        if rect is None:
            self.hide()
            return
        self.setGeometry(rect.adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN))
        self.raise_()
        self.show()
        self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind in _KEYS:
            self._by_keyboard = True
        elif kind == QEvent.Type.MouseButtonPress:
            self._by_keyboard = False
        elif kind == QEvent.Type.WinIdChange and watched is self._window:
            self._watch_native()
        elif kind in _MOVES and self._target is not None and self._by_keyboard:
            self.refresh()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(self._theme.color("focus"), _WIDTH))
            radius = self._radius + _OFFSET
            inset = _MARGIN - _OFFSET + _WIDTH / 2
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), radius, radius)

    def _focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:  # noqa: ARG002 - Qt's signal
        for widget in self._watched:
            if isValid(widget):
                widget.removeEventFilter(self)
        self._watched.clear()
        self._target = new if new is not None and new.window() is self._window else None
        if self._target is not None:
            self._watch_native()
            # Watch a widget and its ancestors up to the window: any of them can move it.
            current: QWidget | None = self._target
            while current is not None and current is not self._window:
                current.installEventFilter(self)
                self._watched.append(current)
                current = current.parentWidget()
        self.refresh()

    def _watch_native(self) -> None:
        """Watch native events of the window: mouse presses arrive there first."""
        handle = self._window.windowHandle()
        if handle is not None:
            handle.removeEventFilter(self)
            handle.installEventFilter(self)

    def _find_ring_rect(self) -> QRect | None:
        widget = self._target
        if widget is None or not isValid(widget) or isinstance(widget, QMenuBar):
            # A menu bar highlights its current menu itself.
            return None
        if not widget.isVisible() or widget.visibleRegion().isEmpty():
            return None
        if widget.property("ringParent"):
            widget = widget.parentWidget() or widget
        radius = widget.property("ringRadius")
        self._radius = float(radius) if radius is not None else _RADIUS
        if isinstance(widget, FocusRectProvider):
            part = widget.focus_rect()
            if part is None:
                return None
        else:
            part = _get_content_rect(widget)
        return QRect(widget.mapTo(self._window, part.topLeft()), part.size())


def _get_content_rect(widget: QWidget) -> QRect:
    """Return a widget's rectangle; for check boxes only the drawn part, since they can be stretched."""
    if isinstance(widget, QCheckBox | QRadioButton):
        size = widget.sizeHint().boundedTo(widget.size())
        return QRect(QPoint(0, (widget.height() - size.height()) // 2), size)
    return widget.rect()


#: A dialog leaves part of the screen free.
_MOST_OF_SCREEN = 0.9


def resize_to_fit(dialog: QWidget, width: int, height: int) -> None:
    """Resize, limited to the screen: large text makes a dialog large."""
    room = dialog.screen().availableSize() * _MOST_OF_SCREEN
    dialog.resize(QSize(width, height).boundedTo(room))


class ThemedDialog(QDialog):
    """A dialog with a focus ring; its size, in design lengths, is limited to the screen."""

    def __init__(
        self, theme: Theme, title: str, size: tuple[float, float] | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setWindowTitle(title)
        if size is not None:
            resize_to_fit(self, theme.px(size[0]), theme.px(size[1]))
        self._ring = FocusRing(self, theme)
