"""The program with a window: one application, its windows, and what they share."""

from __future__ import annotations

import gc
import linecache
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QObject, QSocketNotifier, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QDialog

from gpudesk import __version__, paths
from gpudesk.desktop.after_paint import after_paint
from gpudesk.desktop.faults.log import start_log
from gpudesk.desktop.faults.watch import Watch
from gpudesk.desktop.main_window import MainWindow
from gpudesk.desktop.opened_by_system import Application, documents_and_facts
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.session.single_instance import Instance
from gpudesk.desktop.shell.geometry import place_beside
from gpudesk.desktop.shell.opening import free_children, show_folder
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.roles import install_roles
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
        self.handlers = SignalHandlers(self)

    def new_window(self, files: Sequence[Path] = ()) -> MainWindow:
        """Open a window on the first of these files, the others beside it; without any, on the start page.

        A file that is no scenario is looked through for facts, over the window.
        """
        window = MainWindow(self)
        if self.windows:
            place_beside(window, self.windows[-1])
        self.windows.append(window)
        documents, facts = documents_and_facts(files)
        for file in documents:
            window.open_path(file)
        if window.page is None:
            window.show_start()
        window.show()
        if facts:
            window.catalog.import_files(facts)
        return window

    def window_closed(self, window: MainWindow) -> None:
        """Forget a window."""
        if window in self.windows:
            self.windows.remove(window)

    def open_files(self, files: Sequence[Path]) -> None:
        """Open the files of a later start or of the system, and come to the front with the last of them."""
        window = self.active_window() or self.new_window()
        last: MainWindow | None = None
        documents, facts = documents_and_facts(files)
        for file in documents:
            # A sheet's scenario has no file: its window is the one that came with it.
            before = set(self.windows)
            window.open_path(file)
            made = [each for each in self.windows if each not in before]
            last = made[-1] if made else self.window_of(file)
        last = last or window
        last.come_to_front()
        if facts:
            last.catalog.import_files(facts)

    def window_of(self, path: Path) -> MainWindow | None:
        """Return the window in which a file is open."""
        for window in self.windows:
            if window.document.path is not None and _same_file(window.document.path, path):
                return window
        return None

    def active_window(self) -> MainWindow | None:
        """Return the window that the user works in."""
        active = self.app.activeWindow()
        if isinstance(active, MainWindow):
            return active
        return self.windows[-1] if self.windows else None

    def listen(self, instance: Instance) -> None:
        """Take the files of later starts."""
        self.instance = instance
        instance.asked.connect(self.open_files)
        instance.listen()

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
        window = self.active_window()
        if window is not None:
            show_folder(paths.logs_dir(), window.note.show_note)

    def end(self) -> None:
        """Let everything go; the unsaved edits of windows that are still open are kept for the next start."""
        self.handlers.remove()
        if isinstance(self.app, Application):
            self.app.give_files_to(None)
        if self.instance is not None:
            self.instance.close()
        for window in self.windows:
            window.jobs.stop()
            for dialog in window.findChildren(QDialog):
                # A field that loses the focus when it is deleted would still be checked.
                dialog.hide()
            window.document.leave()
            window.deleteLater()
        self.settings.write()
        self.theme.deleteLater()
        self.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    def quit(self) -> None:
        """Close all windows, each of which may ask; stop where the user wants to keep editing."""
        for window in list(self.windows):
            if not window.close():
                return


def run(files: Sequence[str] = ()) -> int:
    """Open the window, with these files in it, and return the exit code when the last window has closed.

    Where the program runs already, it is asked to open them, and this start ends.
    """
    start_log()
    instance = Instance()
    try:
        return 0 if instance.hand_over(files) else _open(files, instance)
    finally:
        # Not before all is written that the next start reads.
        instance.release()


def _open(files: Sequence[str], instance: Instance) -> int:
    """Open the window, and return the exit code when the last one has closed."""
    app = _application()
    free_children()
    with Watch(app) as watch:
        # Without constants a window has nothing to show; that is said here, where it takes one line.
        paths.calibration_path()
        with Workbench.open() as workbench:
            program = Program(app, workbench)
            watch.follow(program)
            try:
                program.listen(instance)
                window = _start(program, [Path(file) for file in files])
                after_paint(window.page or window.start, lambda: watch.look_back(window))
                return app.exec()
            finally:
                program.end()


def _application() -> QApplication:
    """Return the application, made once a process."""
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    QApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
    app = Application([sys.argv[0]])
    install_roles()
    app.setApplicationName("gpudesk")
    app.setApplicationDisplayName("GPU Desk")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("gpudesk")
    app.setWindowIcon(QIcon(str(paths.resource("icons/gpudesk.svg"))))
    return app


def _start(program: Program, files: Sequence[Path]) -> MainWindow:
    """Show the first window, and do after it what the user does not wait for."""
    window = program.new_window(files)
    after_paint(window.page or window.start, _settle)
    program.handlers.install()
    if isinstance(program.app, Application):
        program.app.give_files_to(program.open_files)
    from gpudesk.desktop.shell.start import offer_left, say_what_is_not_kept

    if window.page is not None:
        offer_left(window)
    if not window.note.text:
        say_what_is_not_kept(window)
    if os.environ.get(_TIMING):
        from gpudesk.desktop.timing import report_times

        report_times(window)
    return window


def _settle() -> None:
    """Look for garbage from here on, where that was put off, and not among what the start has made."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
    # Qt's bindings read the source of every module that they see loaded, and leave it there.
    linecache.clearcache()


class SignalHandlers(QObject):
    """Ends the program's loop on Ctrl-C and on a request to end, with no question to answer."""

    def __init__(self, program: Program) -> None:
        """Begin with what the interpreter does."""
        super().__init__(program)
        self._program = program
        self._pipe: tuple[int, int] | None = None
        self._former: dict[int, Any] = {}
        self._notifier: QSocketNotifier | None = None

    def install(self) -> None:
        """Wake the loop by a pipe, since Python's own handlers run only once Python code does."""
        if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
            return
        self._pipe = os.pipe()
        reading, writing = self._pipe
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            self._former[number] = signal.signal(number, lambda *_: None)
        self._notifier = QSocketNotifier(reading, QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._end)

    def remove(self) -> None:
        """Give back to the interpreter."""
        if self._pipe is None:
            return
        if self._notifier is not None:
            self._notifier.setEnabled(False)
        signal.set_wakeup_fd(-1)
        for number, former in self._former.items():
            signal.signal(number, former)
        for end in self._pipe:
            os.close(end)
        self._pipe = None

    def _end(self) -> None:
        if self._pipe is not None:
            os.read(self._pipe[0], 64)
        # Not quit(), which would close the windows first, and they would ask.
        self._program.app.exit(0)


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return one.absolute() == other.absolute()
