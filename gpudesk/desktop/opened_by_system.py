"""What the system knows of the program, and the files that it asks the running program to open."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from gpudesk.workbench.scenario_file import SUFFIX

#: The name under which Windows gathers the program's windows, and its shortcut, on the taskbar.
APPLICATION_ID: Final = "io.github.gpudesk.GPUDesk"
#: Files that a window opens as a scenario; all others may hold facts.
_DOCUMENTS: Final = (SUFFIX, ".pdf")


class Application(QApplication):
    """The application. It is told of files by an event where a double click does not start it anew.

    macOS does so, also for the double click that starts the program. What comes before there is a window is
    kept until somebody takes it.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        """Make the application; the first of the arguments is the program's own name."""
        name_to_windows()
        super().__init__(list(arguments))
        self._waiting: list[Path] = []
        self._open: Callable[[Sequence[Path]], object] | None = None

    def give_files_to(self, open_files: Callable[[Sequence[Path]], object] | None) -> None:
        """Hand on every file that the system asks for, and those that have waited; to nobody with None."""
        self._open = open_files
        self._hand_on()

    def event(self, event: QEvent) -> bool:
        """Take files; everything else is Qt's own."""
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        if not event.file():
            # An address, of which the program knows none.
            return False
        self._waiting.append(Path(event.file()))
        # Of several files that were chosen each comes by itself; they are opened together.
        QTimer.singleShot(0, self, self._hand_on)
        return True

    def _hand_on(self) -> None:
        if self._open is not None and self._waiting:
            waiting, self._waiting = self._waiting, []
            self._open(waiting)


def name_to_windows() -> None:
    """Tell Windows the program's name, before there is a window; else Windows takes the executable's."""
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID(APPLICATION_ID)


def documents_and_facts(files: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return which files are opened in a window, and which are looked through for facts to import."""
    documents = [file for file in files if file.suffix.lower() in _DOCUMENTS]
    return documents, [file for file in files if file not in documents]
