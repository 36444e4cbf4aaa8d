"""Where a window stands: kept when it closes, taken again when it opens, sane where a monitor is gone."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QPoint, QRect, QSize
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.session.settings import Settings

_GEOMETRY = "window.geometry"
_USUAL = (1440, 900)
#: How much of a title bar has to be on a screen, in pixels, so that it can be caught with the mouse.
_CATCH = 40
#: What the system puts around a window, its title bar above all; nobody can tell before it is shown.
_AROUND = QSize(4, 40)
#: A dialog leaves something of the screen to see.
_MOST_OF_SCREEN = 0.9
#: How far a further window lies to the right of the former and below it.
_BESIDE = QPoint(24, 24)


def restore_place(window: QWidget, settings: Settings) -> None:
    """Take the place that the last window had, else the middle of the screen."""
    kept = QByteArray.fromBase64(settings.get(_GEOMETRY, "").encode())
    if not kept.isEmpty() and window.restoreGeometry(kept) and _is_reachable(window):
        return
    room = window.screen().availableGeometry()
    window.resize(QSize(*_USUAL).boundedTo(room.size() - _AROUND))
    frame = QRect(QPoint(), window.size() + _AROUND)
    frame.moveCenter(room.center())
    window.move(frame.topLeft())


def place_beside(window: QWidget, former: QWidget) -> None:
    """Take a place beside another window, as large as the screen lets it be there, else a corner.

    It does not take the very place of the other one, which nobody would then know to be there.
    """
    room = former.screen().availableGeometry()
    place = former.pos() + _BESIDE
    left = QRect(place, room.bottomRight()).size() - _AROUND
    least = window.minimumSizeHint().expandedTo(window.minimumSize())
    if room.contains(place) and left == left.expandedTo(least):
        window.resize(window.size().boundedTo(left))
        window.move(place)
    elif (former.pos() - room.topLeft()).manhattanLength() < _CATCH:
        window.move(room.topLeft() + _BESIDE)
    else:
        window.move(room.topLeft())


def take_size(dialog: QWidget, width: int, height: int) -> None:
    """Take a size, or as much of it as the screen has room for: large letters make a dialog large."""
    room = dialog.screen().availableSize() * _MOST_OF_SCREEN
    dialog.resize(QSize(width, height).boundedTo(room))


def keep_place(window: QWidget, settings: Settings) -> None:
    """Keep the place for the next window."""
    settings.put(_GEOMETRY, bytes(window.saveGeometry().toBase64().data()).decode())


def _is_reachable(window: QWidget) -> bool:
    bar = window.frameGeometry().adjusted(_CATCH, 0, -_CATCH, 0)
    bar.setHeight(_CATCH)
    return any(screen.availableGeometry().intersects(bar) for screen in QGuiApplication.screens())
