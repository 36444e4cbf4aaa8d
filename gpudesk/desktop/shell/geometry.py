"""Where a window stands: kept when it closes, taken again when it opens, sane where a monitor is gone."""

from __future__ import annotations

from PySide6.QtCore import QByteArray
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.session.settings import Settings

_GEOMETRY = "window.geometry"
_USUAL = (1440, 900)
#: How much of a title bar has to be on a screen, in pixels, so that it can be caught with the mouse.
_CATCH = 40


def restore_place(window: QWidget, settings: Settings) -> None:
    """Take the place that the last window had, else the middle of the screen."""
    kept = QByteArray.fromBase64(settings.get(_GEOMETRY, "").encode())
    if not kept.isEmpty() and window.restoreGeometry(kept) and _is_reachable(window):
        return
    room = window.screen().availableGeometry()
    window.resize(min(_USUAL[0], room.width()), min(_USUAL[1], room.height()))
    frame = window.frameGeometry()
    frame.moveCenter(room.center())
    window.move(frame.topLeft())


def keep_place(window: QWidget, settings: Settings) -> None:
    """Keep the place for the next window."""
    settings.put(_GEOMETRY, bytes(window.saveGeometry().toBase64().data()).decode())


def _is_reachable(window: QWidget) -> bool:
    bar = window.frameGeometry().adjusted(_CATCH, 0, -_CATCH, 0)
    bar.setHeight(_CATCH)
    return any(screen.availableGeometry().intersects(bar) for screen in QGuiApplication.screens())
