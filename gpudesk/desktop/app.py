"""The program with a window: one application, its windows, and what they share."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QLocale, QObject, QSocketNotifier, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QIcon
from PySide6.QtWidgets import QApplication

from gpudesk import __version__, paths
from gpudesk.desktop.faults import FaultReporter, start_log
from gpudesk.desktop.main_window import MainWindow
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.session.single_instance import Instance, hand_over
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.formatting import Formatter, style_for
from gpudesk.workbench.workbench import Workbench

log = logging.getLogger(__name__)

_THEME, _FONT = "theme", "font_percent"
#: With this variable set, the program says when it was first painted, and ends: for measurements.
_TIMING = "GPUDESK_TIMING"


class Program(QObject):
    """What all windows share: catalog, theme, settings; and the list of the windows."""

    def __init__(self, app: QApplication, workbench: Workbench) -> None:
        """Read the user's choices and dress the application."""
        super().__init__(app)
        self.app = app
        self.workbench = workbench
        self.settings = Settings(parent=self)
        self.formatter = Formatter(style_for(QLocale().name()))
        self.theme = Theme(app, self.settings.get(_THEME, "system"), self.settings.get(_FONT, 100))
        self.windows: list[MainWindow] = []
        self.instance: Instance | None = None

    def new_window(self, files: Sequence[Path] = ()) -> MainWindow:
        """Open a window on the first of these files, the others beside it; without any, on the start page."""
        window = MainWindow(self)
        if self.windows:
            window.move(self.windows[-1].pos() + window.rect().topLeft().__class__(24, 24))
        self.windows.append(window)
        for file in files:
            window.open_path(file)
        if window.page is None:
            window.show_start()
        window.show()
        return window

    def window_closed(self, window: MainWindow) -> None:
        """Forget a window."""
        if window in self.windows:
            self.windows.remove(window)

    def open_files(self, files: Sequence[Path]) -> None:
        """Open files that were given at the start or by a later start, and come to the front."""
        window = self.active_window() or self.new_window()
        for file in files:
            window.open_path(file)
        window = self.active_window() or window
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.raise_()
        window.activateWindow()

    def active_window(self) -> MainWindow | None:
        """Return the window that the user works in."""
        active = self.app.activeWindow()
        if isinstance(active, MainWindow):
            return active
        return self.windows[-1] if self.windows else None

    def listen(self) -> None:
        """Take the files of later starts."""
        self.instance = Instance(self)
        self.instance.asked.connect(self.open_files)

    def set_theme(self, preference: str) -> None:
        """Choose light, dark, or what the system has."""
        self.settings.put(_THEME, preference)
        self.theme.set_preference(preference)

    def set_font_percent(self, percent: int) -> None:
        """Choose the size of text."""
        self.settings.put(_FONT, percent)
        self.theme.set_font_percent(percent)

    def open_logs(self) -> None:
        """Show the folder of logs in the system's file manager."""
        folder = paths.user_dir() / "logs"
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def quit(self) -> None:
        """Close all windows, each of which may ask; stop where the user wants to keep editing."""
        for window in list(self.windows):
            if not window.close():
                return


def run(files: Sequence[str] = ()) -> int:
    """Open the window, with these files in it, and return the exit code when the last window has closed.

    Where the program runs already, it is asked to open them, and this start ends.
    """
    app = _application()
    start_log()
    if hand_over(files):
        return 0
    with Workbench.open() as workbench:
        program = Program(app, workbench)
        reporter = FaultReporter(program)
        reporter.install()
        try:
            _start(program, [Path(file) for file in files])
            return app.exec()
        finally:
            reporter.remove()
            program.settings.write()
            if program.instance is not None:
                program.instance.close()


def _application() -> QApplication:
    """Return the application, made once a process."""
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    QApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
    app = QApplication([sys.argv[0]])
    app.setApplicationName("gpudesk")
    app.setApplicationDisplayName("GPU Desk")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("gpudesk")
    app.setWindowIcon(QIcon(str(paths.resource("icons/gpudesk.svg"))))
    return app


def _start(program: Program, files: Sequence[Path]) -> None:
    """Show the first window, and do after it what the user does not wait for."""
    program.listen()
    window = program.new_window(files)
    _end_on_signals(program)
    if os.environ.get(_TIMING):
        from gpudesk.desktop.timing import report_times

        report_times(window)


def _end_on_signals(program: Program) -> None:
    """End cleanly on Ctrl-C and on a request to end; edits stay in the recovery file."""
    if not hasattr(signal, "set_wakeup_fd") or sys.platform == "win32":
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        signal.set_wakeup_fd(writing)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
    except ValueError:
        # Not in the main thread: whoever started us handles signals.
        os.close(reading)
        os.close(writing)
        return
    notifier = QSocketNotifier(reading, QSocketNotifier.Type.Read, program)

    def end() -> None:
        os.read(reading, 64)
        for window in program.windows:
            window.document.keep_now()
        QTimer.singleShot(0, program.app.quit)

    notifier.activated.connect(end)
