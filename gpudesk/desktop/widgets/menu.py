"""Menus and other windows that float, with round corners where the platform can show them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

#: Platforms that always composite, so that a window's corners can be seen through.
_COMPOSITING = frozenset({"wayland", "windows", "cocoa", "offscreen"})


def make_menu(title: str = "", parent: QWidget | None = None) -> QMenu:
    """Return a menu."""
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
