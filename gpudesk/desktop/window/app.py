"""The program with a window: one application, its windows, what they share, and start-up timing."""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSocketNotifier, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication, QDialog
from shiboken6 import isValid

from gpudesk import __version__, paths
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.session.settings import LANGUAGE, UserSettings, place_beside
from gpudesk.desktop.session.single_instance import DesktopApplication, ProgramInstance, split_files
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.note_bar import free_child_library_path, show_folder
from gpudesk.desktop.ui.widgets.qt_support import (
    call_after_paint,
    collect_garbage,
    install_accessible_roles,
    make_delay,
)
from gpudesk.desktop.window.document_window import DocumentWindow, PageModuleLoader
from gpudesk.desktop.window.faults.log import start_log
from gpudesk.desktop.window.faults.reporter import FaultWatch
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.menus import DialogHelpKeys
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import list_available_languages, set_language

if TYPE_CHECKING:
    from gpudesk.desktop.window.manual_window import ManualWindow

log = logging.getLogger(__name__)

_THEME, _FONT = "theme", "font_percent"
#: Platforms whose clipboard ends with the program, so that clearing it loses nothing.
_PRIVATE_CLIPBOARDS = frozenset({"offscreen", "minimal"})
#: Delay of the cleanup after the last answer.
_PAUSE_MS = 3_000
#: Time in which a replaced window is painted before its predecessor is freed.
_FREE_AFTER_MS = 500
#: Thresholds of garbage collection without the oldest generation, whose pauses would be noticeable.
_GC_THRESHOLDS = (700, 10, 1_000)
#: The option of glibc's `mallopt` for the number of its arenas.
_M_ARENA_MAX, _M_MMAP_THRESHOLD = -8, -3
#: Larger blocks, such as pictures, are returned to the system as soon as they are freed.
_LARGE_BYTES = 1 << 17
#: With this variable set, the program reports its first paint, and ends: for measurements.
_TIMING = "GPUDESK_TIMING"


class DesktopProgram(QObject):
    """Shared by all windows: catalog, theme, settings; and the list of windows."""

    def __init__(self, app: QApplication, service: GpuDeskService) -> None:
        super().__init__(app)
        _load_allocator()
        self.app = app
        self.service = service
        self.settings = UserSettings(parent=self)
        activate_language(self.settings.get(LANGUAGE, ""))
        self.formatter = Formatter()
        self.theme = Theme(app, self.settings.get(_THEME, "system"), self.settings.get(_FONT, 100))
        self.windows: list[MainWindow] = []
        self.instance: ProgramInstance | None = None
        self.handlers = SignalHandlers(self)
        self._manual: ManualWindow | None = None
        DialogHelpKeys(app, self).asked.connect(self.show_manual)
        #: Cleans up once the user pauses: during a drag it would be noticeable.
        self._pause = make_delay(self, _PAUSE_MS, self._clean_up)
        #: Whether views or windows were deleted since the last cleanup.
        self._has_deleted = False
        #: Windows in the former language, the next to be replaced last: two of each would take twice the memory.
        self._outdated: list[MainWindow] = []
        self._turn = make_delay(self, 0, self._free_former_window)

    def open_new_window(self, files: Sequence[Path] = ()) -> MainWindow:
        """Open a window on the first of these files, with the others; without any, on the start page.

        Files other than scenarios are searched for facts, in a dialog over the window.
        """
        window = self._make_window()
        if self.windows:
            place_beside(window, self.windows[-1])
        self.windows.append(window)
        documents, facts = split_files(files)
        for file in documents:
            window.open_path(file)
        if window.page is None:
            window.show_start()
        window.show()
        if facts:
            window.catalog.import_files(facts)
        return window

    def _make_window(self) -> MainWindow:
        window = MainWindow(self)
        window.desk.answered.connect(self._pause.start)
        return window

    def clean_up_later(self) -> None:
        """Free memory once the user pauses, with the reference cycles of deleted views and windows."""
        self._has_deleted = True
        self._pause.start()

    def _clean_up(self) -> None:
        if Jobs.any_running():
            self._pause.start()
        else:
            # Searching frozen objects, which these views can be, takes 90 ms instead of 20.
            _give_memory_back(thoroughly=self._has_deleted)
            self._has_deleted = False

    def window_closed(self, window: DocumentWindow) -> None:
        self.windows[:] = [each for each in self.windows if each is not window]
        self._turn.start()
        self.clean_up_later()
        if not self.windows and self._manual is not None:
            self._manual.close()

    def open_files(self, files: Sequence[Path]) -> None:
        """Open the files of a later start or of the system, and bring the last one to the front."""
        window = self.find_active_window() or self.open_new_window()
        last: MainWindow | None = None
        documents, facts = split_files(files)
        for file in documents:
            # A sheet's scenario has no file: its window is the new one.
            before = set(self.windows)
            window.open_path(file)
            new_windows = [each for each in self.windows if each not in before]
            last = new_windows[-1] if new_windows else self.find_window(file)
        last = last or window
        last.come_to_front()
        if facts:
            last.catalog.import_files(facts)

    def find_window(self, path: Path) -> MainWindow | None:
        for window in self.windows:
            if window.document.path is not None and _same_file(window.document.path, path):
                return window
        return None

    def find_active_window(self) -> MainWindow | None:
        active = self.app.activeWindow()
        if isinstance(active, MainWindow):
            return active
        return self.windows[-1] if self.windows else None

    def listen(self, instance: ProgramInstance) -> None:
        self.instance = instance
        instance.asked.connect(self.open_files)
        instance.listen()

    def set_theme(self, preference: str) -> None:
        self.settings.put(_THEME, preference)
        self.theme.set_preference(preference)

    def set_font_percent(self, percent: int) -> None:
        self.settings.put(_FONT, percent)
        self.theme.set_font_percent(percent)

    def set_language(self, code: str) -> None:
        """Activate a language, or with an empty code the system's, and show all windows in it, the active one first."""
        self.settings.put(LANGUAGE, code)
        activate_language(code)
        self.formatter = Formatter()
        self._replace_manual()
        active = self.find_active_window()
        self._outdated = sorted(self.windows, key=lambda window: window is active)
        for former in self._outdated:
            former.drop_hidden_pages()
        self._replace_next()

    def _replace_next(self) -> None:
        if self._outdated:
            former = self._outdated.pop()
            if former in self.windows:
                self._replace(former)
            # The last one is freed in a pause after the switch.
            self._turn.start(0 if self._outdated else _FREE_AFTER_MS)

    def _free_former_window(self) -> None:
        """Free what a window leaves, and then replace the next, each in a turn of its own."""
        collect_garbage()
        if self._outdated:
            QTimer.singleShot(0, self, self._replace_next)

    def _replace_manual(self) -> None:
        """Replace an open manual by one in the active language, on the same page."""
        former, self._manual = self._manual, None
        if former is None:
            return
        if former.isVisible():
            self._manual = self._make_manual()
            self._manual.setGeometry(former.geometry())
            self._manual.show_topic(former.topic)
        former.close()

    def _replace(self, former: MainWindow) -> None:
        """Replace a window by another, with the same document on the same page."""
        is_active = former is self.find_active_window()
        window = self._make_window()
        window.go_on_from(former)
        self.windows[self.windows.index(former)] = window
        window.show()
        if is_active:
            window.come_to_front()
        window.go_on_with_preview(former)
        former.jobs.stop()
        former.hide()
        former.deleteLater()

    def open_logs(self) -> None:
        window = self.find_active_window()
        if window is not None:
            show_folder(paths.get_logs_dir(), window.note.show_note)

    def end(self) -> None:
        """Close everything; unsaved edits of open windows are kept for the next start."""
        self.handlers.remove()
        if isinstance(self.app, DesktopApplication):
            self.app.give_files_to(None)
        if self.instance is not None:
            self.instance.close()
        for window in self.windows:
            window.jobs.stop()
            for dialog in window.findChildren(QDialog):
                # A focused field would otherwise be checked when it is deleted.
                dialog.hide()
            window.document.leave()
            window.deleteLater()
        if self._manual is not None:
            self._manual.deleteLater()
        self.settings.write()
        self.theme.deleteLater()
        self.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        if QGuiApplication.platformName() in _PRIVATE_CLIPBOARDS:
            # PySide destroys it after Python, but the copied data belongs to Python.
            QGuiApplication.clipboard().clear()

    def show_manual(self, topic: str) -> None:
        """Show a page or a section of the manual in its window, which is freed when it is closed."""
        if self._manual is None:
            self._manual = self._make_manual()
        self._manual.show_topic(topic)

    def _make_manual(self) -> ManualWindow:
        from gpudesk.desktop.window.manual_window import ManualWindow

        manual = ManualWindow(self.theme)
        # The longest page takes 19 MB, of which the allocator would keep 14 when another is shown.
        manual.view.sourceChanged.connect(lambda _: self._pause.start())
        manual.destroyed.connect(self._forget_manual)
        return manual

    def _forget_manual(self) -> None:
        if self._manual is not None and not isValid(self._manual):
            self._manual = None
            self.clean_up_later()

    def quit(self) -> None:
        """Close all windows, each of which can ask; stop if the user wants to continue editing."""
        for window in list(self.windows):
            if not window.close():
                return


def activate_language(code: str) -> None:
    """Activate a language by its code; the system's if the code is empty or no longer has translations."""
    set_language(code if code in list_available_languages() else None)


def run_window(files: Sequence[str] = ()) -> int:
    """Open the window, with these files, and return the exit code when the last window has closed.

    If the program is already running, it opens them, and this start ends.
    """
    start_log()
    instance = ProgramInstance()
    try:
        return 0 if instance.hand_over(files) else _open(files, instance)
    finally:
        # Not before everything that the next start reads is written.
        instance.release()


def _open(files: Sequence[str], instance: ProgramInstance) -> int:
    app = _get_application()
    free_child_library_path()
    with FaultWatch(app) as watch:
        # Without constants a window has nothing to show; here the error takes one line.
        paths.get_data_path("calibration.json")
        with GpuDeskService.open() as service:
            program = DesktopProgram(app, service)
            watch.follow(program)
            try:
                program.listen(instance)
                _show_first_window(program, watch, files)
                return app.exec()
            finally:
                program.end()


def _show_first_window(program: DesktopProgram, watch: FaultWatch, files: Sequence[str]) -> None:
    """Keep no reference: the window can be closed or replaced long before the program ends."""
    window = _start(program, [Path(file) for file in files])
    call_after_paint(window.page or window.start, partial(watch.look_back, window))


def _get_application() -> QApplication:
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    QApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
    app = DesktopApplication([sys.argv[0]])
    install_accessible_roles()
    app.setApplicationName("gpudesk")
    app.setApplicationDisplayName("GPU Desk")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("gpudesk")
    app.setWindowIcon(QIcon(str(paths.resource("icons/gpudesk.svg"))))
    return app


def _start(program: DesktopProgram, files: Sequence[Path]) -> MainWindow:
    """Show the first window, then do everything that the user does not wait for."""
    window = program.open_new_window(files)
    call_after_paint(window.page or window.start, partial(_settle, window))
    program.handlers.install()
    if isinstance(program.app, DesktopApplication):
        program.app.give_files_to(program.open_files)
    from gpudesk.desktop.window.start_page import FirstHints, offer_recovered, warn_unsaved_storage

    if window.page is not None:
        offer_recovered(window)
    if not window.note.text:
        warn_unsaved_storage(window)
    if program.settings.problem:
        window.note.offer(program.settings.problem, [])
    if os.environ.get(_TIMING):
        _TimedWalk(window)
    else:
        call_after_paint(window.page or window.start, FirstHints(window).show_next)
    return window


@cache
def _load_allocator() -> ctypes.CDLL | None:
    """Return the C library if it is glibc, whose allocator retains freed memory. Its threads then share one arena."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if library is None or not hasattr(library, "malloc_trim"):
        return None
    library.mallopt(_M_ARENA_MAX, 1)
    library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
    return library


def _give_memory_back(*, thoroughly: bool) -> None:
    """Collect garbage, thoroughly what was frozen too, and return free memory to the system."""
    (collect_garbage if thoroughly else gc.collect)()
    allocator = _load_allocator()
    if allocator is not None:
        allocator.malloc_trim(0)


def _settle(window: MainWindow) -> None:
    """Resume garbage collection, excluding objects created at startup.

    Data for the first scenario is loaded meanwhile, and then the pages.
    """
    if not gc.isenabled() and not Jobs.any_running():
        gc.freeze()
        gc.set_threshold(*_GC_THRESHOLDS)
        gc.enable()
    # A window closed right after its first paint takes its jobs with it.
    if window in window.program.windows:
        load_pages = partial(_load_pages, window)
        window.jobs.start("load", window.desk.service.load_steps(), load_pages, load_pages)


def _load_pages(window: MainWindow, _result: object) -> None:
    """Load the pages; ignore errors of loading data, which are raised on use."""
    PageModuleLoader(window).loaded.connect(_exclude_loaded)


def _exclude_loaded() -> None:
    """Exclude what is loaded from garbage collection."""
    gc.freeze()


class SignalHandlers(QObject):
    """Ends the program's loop on Ctrl-C and on a termination request, without questions."""

    def __init__(self, program: DesktopProgram) -> None:
        super().__init__(program)
        self._program = program
        self._pipe: tuple[int, int] | None = None
        self._former: dict[int, Any] = {}
        self._notifier: QSocketNotifier | None = None

    def install(self) -> None:
        """Wake the loop by a pipe, since Python's own handlers run only with Python code."""
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


_PAGE_SIZE = 4096
#: The texts printed once these pages have been painted; after others it is their id and `_page`.
_PAINTED = {"compare": "table", "performance": "charts"}


class _TimedWalk(QObject):
    """Opens one page after the other, each once the former has been painted."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._pages = iter([spec.id for spec in window.page_specs])
        self._word = ""
        self._next()

    def _next(self) -> None:
        page = next(self._pages, None)
        if page is None:
            # The next start opens the last page: always the same one.
            self._window.show_page(self._window.page_specs[0].id)
            statm = Path("/proc/self/statm")
            if statm.exists():
                resident = int(statm.read_text().split()[1]) * _PAGE_SIZE
                sys.stdout.write(f"memory {resident}\n")
                sys.stdout.flush()
            QApplication.quit()
            return
        self._word = _PAINTED.get(page, f"{page}_page")
        self._window.show_page(page)
        visible_page = self._window.page
        if visible_page is not None:
            call_after_paint(visible_page, self._painted)
            visible_page.update()

    def _painted(self) -> None:
        sys.stdout.write(f"{self._word} {time.monotonic():.6f}\n")
        sys.stdout.flush()
        self._next()
