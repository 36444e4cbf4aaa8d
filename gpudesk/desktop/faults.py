"""Unexpected faults: logged, shown once for each distinct fault, and the rest of the program works on."""

from __future__ import annotations

import logging
import platform
import sys
import traceback
from logging.handlers import RotatingFileHandler
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, qVersion
from PySide6.QtWidgets import QApplication, QMessageBox

from gpudesk import __version__, paths
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.desktop.app import Program

log = logging.getLogger(__name__)

_MOST_BYTES = 1 << 20
_KEPT = 3


def start_log() -> None:
    """Write the program's log to a file of the user's folder; without one where it cannot be written."""
    root = logging.getLogger("gpudesk")
    if any(isinstance(handler, RotatingFileHandler) for handler in root.handlers):
        return
    try:
        paths.ensure_user_dir()
        folder = paths.logs_dir()
        folder.mkdir(exist_ok=True)
        handler = RotatingFileHandler(
            folder / "gpudesk.log", maxBytes=_MOST_BYTES, backupCount=_KEPT, encoding="utf-8", delay=True
        )
    except OSError:
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root.addHandler(handler)
    root.setLevel(logging.INFO)


class FaultReporter(QObject):
    """Takes what nothing else has caught."""

    def __init__(self, program: Program) -> None:
        """Begin with no faults known."""
        super().__init__(program)
        self._program = program
        self._known: set[str] = set()
        self._showing = False
        self._former = sys.excepthook

    def install(self) -> None:
        """Take over from the interpreter, which would write to a terminal that nobody sees."""
        self._former = sys.excepthook
        sys.excepthook = self._caught

    def remove(self) -> None:
        """Give back to the interpreter."""
        sys.excepthook = self._former

    def _caught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._program.app.exit(0)
            return
        report = "".join(traceback.format_exception(kind, error, trace))
        log.error("unexpected fault\n%s", report)
        signature = "".join(traceback.format_tb(trace)[-3:]) + kind.__name__
        if signature in self._known or self._showing:
            return
        self._known.add(signature)
        self._showing = True
        try:
            for window in self._program.windows:
                window.document.keep_now()
            self._show(report_text(report))
        finally:
            self._showing = False

    @staticmethod
    def _show(report: str) -> None:
        box = QMessageBox(QApplication.activeWindow())
        box.setIcon(QMessageBox.Icon.NoIcon)
        box.setWindowTitle(tr("GPU Desk"))
        box.setText(tr("Something in GPU Desk has failed."))
        box.setInformativeText(
            tr(
                "Your scenario is kept, and the rest works on. The report stays on this computer: {folder}",
                folder=paths.logs_dir(),
            )
        )
        box.setDetailedText(report)
        copy = box.addButton(tr("Copy report"), QMessageBox.ButtonRole.ActionRole)
        go_on = box.addButton(tr("Go on"), QMessageBox.ButtonRole.AcceptRole)
        box.setDefaultButton(go_on)
        box.setEscapeButton(go_on)
        box.exec()
        if box.clickedButton() is copy:
            QApplication.clipboard().setText(report)


def report_text(trace: str) -> str:
    """Return a fault with what is needed to look into it, and nothing of the user's scenario."""
    return (
        f"GPU Desk {__version__}, Python {platform.python_version()}, Qt {qVersion()}, "
        f"{platform.system()} {platform.release()}\n\n{trace}"
    )
