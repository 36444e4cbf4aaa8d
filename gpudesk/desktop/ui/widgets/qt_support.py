"""Small dealings with Qt: accessible roles, key names, rounded menus, calls after the next paint."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleInterface, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QAccessibleWidget, QMenu, QWidget

AccessibleRole = QAccessible.Role


def install_accessible_roles() -> None:
    """Let Qt ask for the roles; once, when the application has been made."""
    QAccessible.installFactory(_interface)


def _interface(class_name: str, thing: QObject | None) -> QAccessibleInterface | None:
    """Return what stands for a widget of ours; None leaves it to Qt."""
    del class_name
    role = getattr(thing, "accessible_role", None)
    if not isinstance(thing, QWidget) or not isinstance(role, AccessibleRole):
        return None
    return QAccessibleWidget(thing, role)


def format_key(key: str) -> str:
    """Return a portable key sequence as the system writes it, with blanks between its keys."""
    native = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
    # The key + itself comes last.
    return f"{native[:-1].replace('+', ' ')}{native[-1:]}"


#: Platforms that always composite, so that a window's corners can be seen through.
_COMPOSITING = frozenset({"wayland", "windows", "cocoa", "offscreen"})


def make_menu(title: str = "", parent: QWidget | None = None) -> QMenu:
    menu = QMenu(title, parent)
    if round_corners(menu):
        menu.setProperty("round", "true")
    return menu


def round_corners(window: QWidget) -> bool:
    """Make a window's corners see-through and say so; where nobody composites they would turn black."""
    if QGuiApplication.platformName() not in _COMPOSITING:
        return False
    hints = Qt.WindowType.FramelessWindowHint | Qt.WindowType.NoDropShadowWindowHint
    window.setWindowFlags(window.windowFlags() | hints)
    window.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
    return True


def call_after_paint(widget: QWidget, act: Callable[[], object]) -> None:
    """Call once the widget, with what it holds, was painted next; never, where it is not painted any more."""
    _PaintWaiter(widget, act)


class _PaintWaiter(QObject):
    """Waits for one paint of its parent."""

    def __init__(self, widget: QWidget, act: Callable[[], object]) -> None:
        super().__init__(widget)
        self._act = act
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the paint; what the widget holds is painted in the same turn of the event loop."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self, self._done)
        return False

    def _done(self) -> None:
        self.deleteLater()
        self._act()
