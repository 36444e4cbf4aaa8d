"""Choices of the user that outlive the session: theme, geometry, hidden rows, recent files.

One JSON file in the user's folder. What cannot be read is kept aside and begun anew; what cannot be written
is kept for the session. Scenarios never lie here.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from gpudesk.domain.messages import InputError
from gpudesk.workbench.files import write_atomically
from gpudesk.workbench.settings_file import Plain, read_settings, setting, settings_path

log = logging.getLogger(__name__)

_WRITE_AFTER_MS = 400


class Settings(QObject):
    """Named values of JSON types. A value of another type than its default counts as absent."""

    #: The name of the value that changed.
    changed = Signal(str)

    def __init__(self, path: Path | None = None, parent: QObject | None = None) -> None:
        """Read the file; a broken one is set aside as `settings.json.bad`."""
        super().__init__(parent)
        self._path = path or settings_path()
        self._values: dict[str, Any] = self._read()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_WRITE_AFTER_MS)
        self._timer.timeout.connect(self.write)

    @property
    def values(self) -> Mapping[str, Any]:
        """All values by their names, as they are now."""
        return MappingProxyType(self._values)

    def get(self, name: str, default: Plain) -> Plain:
        """Return a value, or the default where there is none of the default's type."""
        return setting(self._values, name, default)

    def put(self, name: str, value: object) -> None:
        """Set a value; the file follows a little later."""
        if self._values.get(name) == value and name in self._values:
            return
        self._values[name] = value
        self.changed.emit(name)
        self._timer.start()

    def write(self) -> None:
        """Write the file now. Where that fails, the values hold until the program ends."""
        self._timer.stop()
        text = json.dumps(self._values, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Paths may hold bytes that are no text; what stands for those is an escape to whoever reads JSON.
            write_atomically(self._path, text.encode(errors="backslashreplace"))
        except (OSError, InputError):
            log.info("settings cannot be written to %s", self._path)

    def _read(self) -> dict[str, Any]:
        values = read_settings(self._path)
        if values is not None:
            return values
        with contextlib.suppress(OSError):
            self._path.replace(self._path.with_suffix(".json.bad"))
        log.info("settings in %s could not be read and begin anew", self._path)
        return {}
