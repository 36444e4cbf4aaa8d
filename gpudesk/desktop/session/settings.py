"""The user's settings across sessions, including window geometry and recent files."""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QByteArray, QObject, QPoint, QRect, QSize, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from gpudesk import paths
from gpudesk.documents.settings_file import PlainSetting, get_setting, get_settings_path, read_settings
from gpudesk.files import write_atomically
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr

log = logging.getLogger(__name__)

#: The code of the chosen language; empty for the system's.
LANGUAGE = "language"
_WRITE_AFTER_MS = 400


class UserSettings(QObject):
    """Named values of JSON types. A value of another type than its default counts as absent."""

    #: The name of the changed value.
    changed = Signal(str)

    def __init__(self, path: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path or get_settings_path()
        #: A message about a damaged file, to show once; empty if the file is intact.
        self.problem = ""
        stored = read_settings(self._path)
        bad_path = self._path.with_suffix(".json.bad")
        if stored.fault is not None:
            self.problem = tr("Your settings could not be read and were reset. The old file is {file}.", file=bad_path)
        elif stored.dropped:
            names = ", ".join(name.encode("ascii", "backslashreplace").decode() for name in stored.dropped)
            self.problem = tr(
                "Invalid settings were reset: {names}. The old file is {file}.", names=names, file=bad_path
            )
        if self.problem:
            log.info("%s (%s)", self.problem, stored.fault)
            # Moved rather than copied, because it can be anything.
            with contextlib.suppress(OSError):
                self._path.replace(bad_path)
        self._values: dict[str, Any] = stored.values
        self._timer = QTimer(self, singleShot=True, interval=_WRITE_AFTER_MS)
        self._timer.timeout.connect(self.write)

    @property
    def values(self) -> Mapping[str, Any]:
        return MappingProxyType(self._values)

    def get(self, name: str, default: PlainSetting) -> PlainSetting:
        return get_setting(self._values, name, default)

    def put(self, name: str, value: object) -> None:
        """Set a value; the file is written after a short delay."""
        if self._values.get(name) == value and name in self._values:
            return
        self._values[name] = value
        self.changed.emit(name)
        self._timer.start()

    def write(self) -> None:
        """Write the file now. If that fails, the values last until the program ends."""
        self._timer.stop()
        text = json.dumps(self._values, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Paths can contain invalid text, which JSON stores as an escape.
            write_atomically(self._path, text.encode(errors="backslashreplace"), private=True)
        except (OSError, InputError):
            log.info("settings cannot be written to %s", self._path)


def get_folder(settings: UserSettings, name: str, fallback: Path | None = None) -> Path:
    """Return the last used folder for a purpose if it exists, else `fallback`, else the user's home."""
    last = settings.get(name, "")
    # A path that the system cannot use, such as one that is too long, raises OSError.
    with contextlib.suppress(OSError, ValueError):
        if last and Path(last).is_dir():
            return Path(last)
    return fallback or paths.get_home_dir()


_NAME = "recent_files"
_MOST = 10


def list_recent_files(settings: UserSettings) -> list[Path]:
    stored: list[object] = settings.get(_NAME, [])
    # An absolute path stays unchanged.
    paths = [_get_base_path() / text for text in stored if isinstance(text, str)]
    return [path for path in paths if os.path.isfile(path)]  # noqa: PTH113 - a path that is too long is none


def note_recent(settings: UserSettings, path: Path) -> None:
    """Put a document first."""
    path = path.absolute()
    others = [each for each in list_recent_files(settings) if each != path]
    settings.put(_NAME, [_encode_path(each) for each in [path, *others][:_MOST]])


def clear_recent(settings: UserSettings) -> None:
    settings.put(_NAME, [])


def _get_base_path() -> Path:
    """Return the folder of the program and the user's files, which differs between machines for a portable program."""
    return paths.get_user_dir().parent


def _encode_path(path: Path) -> str:
    """Return a path for storage: on the program's removable drive, relative to it."""
    if paths.is_portable() and path.is_relative_to(_get_base_path()):
        return path.relative_to(_get_base_path()).as_posix()
    return str(path)


_GEOMETRY = "window.geometry"
_USUAL = (1440, 900)
#: Minimum part of a title bar on a screen, in pixels, so that it can be dragged.
_CATCH = 40
#: Size of the system's window decoration, mainly the title bar; unknown before the window is shown.
_AROUND = QSize(4, 40)
#: Offset of a further window from the previous one, to the right and down.
_BESIDE = QPoint(24, 24)


def restore_place(window: QWidget, settings: UserSettings) -> None:
    """Restore the geometry of the last window, else center it on the screen."""
    geometry = QByteArray.fromBase64(settings.get(_GEOMETRY, "").encode("ascii", "ignore"))
    if not geometry.isEmpty() and window.restoreGeometry(geometry) and _is_reachable(window):
        return
    room = window.screen().availableGeometry()
    window.resize(QSize(*_USUAL).boundedTo(room.size() - _AROUND))
    frame = QRect(QPoint(), window.size() + _AROUND)
    frame.moveCenter(room.center())
    window.move(frame.topLeft())


def place_beside(window: QWidget, former: QWidget) -> None:
    """Place a window next to another, as large as the screen allows there, else in a corner.

    It never has exactly the same position, where it would hide the other one.
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


def save_place(window: QWidget, settings: UserSettings) -> None:
    settings.put(_GEOMETRY, bytes(window.saveGeometry().toBase64().data()).decode())


def _is_reachable(window: QWidget) -> bool:
    bar = window.frameGeometry().adjusted(_CATCH, 0, -_CATCH, 0)
    bar.setHeight(_CATCH)
    return any(screen.availableGeometry().intersects(bar) for screen in QGuiApplication.screens())
