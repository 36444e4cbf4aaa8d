"""Handles uncaught errors: logs them, shows each once, and lets the program continue."""

from __future__ import annotations

import logging
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.faults.crash import (
    CrashLog,
    collect_program_facts,
    collect_session_facts,
    format_report,
    list_crashes,
)
from gpudesk.desktop.window.faults.log import (
    FaultRecord,
    FaultTally,
    LastLines,
    QtMessageHandler,
    Signature,
    make_fault,
    make_signature,
    start_log,
)
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpudesk.desktop.window.document_window import DocumentWindow, ProgramContext
    from gpudesk.desktop.window.faults.dialog import FaultDialog


log = logging.getLogger(__name__)


class FaultReporter(QObject):
    """Listens to the interpreter, its threads, its finalizers, and Qt.

    Errors occur in slots, in Qt's paint calls, in threads, and thousands of times per second. So handling one is short
    and safe everywhere; the user is informed in the next event.
    """

    _found = Signal(FaultRecord)

    def __init__(self, app: QApplication, lines: LastLines, on_fatal: Callable[[str], object]) -> None:
        """Start without errors. Reports end with `lines`; `on_fatal` receives Qt's fatal message."""
        super().__init__(app)
        self._app = app
        self._lines = lines
        self._program: ProgramContext | None = None
        self._dialog: FaultDialog | None = None
        self._messages = QtMessageHandler(on_fatal)
        self._tally = FaultTally()
        self._faults: dict[Signature, FaultRecord] = {}
        self._former: tuple[Any, Any, Any] | None = None
        # Never at once: an error can occur during a paint, or in another thread.
        self._found.connect(self._show_fault, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Replace the interpreter's handlers, which would write to an invisible terminal."""
        self._former = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        sys.excepthook = self._caught
        threading.excepthook = self._caught_in_thread
        sys.unraisablehook = self._unraisable
        self._messages.install()

    def remove(self) -> None:
        """Restore the interpreter's handlers."""
        if self._former is None:
            return
        self._messages.remove()
        sys.excepthook, threading.excepthook, sys.unraisablehook = self._former
        self._former = None
        for key, count in self._tally.ends():
            # Failures in finalizers are counted too, but not reported.
            fault = next((fault for signature, fault in self._faults.items() if signature == key), None)
            log.error("%d times in all: %s", count, fault.place if fault is not None and fault.place else key)
        self._program = None
        if self._dialog is not None and isValid(self._dialog):
            self._dialog.close()
        self.deleteLater()

    def follow(self, program: ProgramContext) -> None:
        self._program = program

    # Handling

    def _caught(self, kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._app.exit(0)
            return
        thread = threading.current_thread()
        self._take(kind, error, trace, "" if thread is threading.main_thread() else thread.name)

    def _caught_in_thread(self, arguments: threading.ExceptHookArgs) -> None:
        if not issubclass(arguments.exc_type, SystemExit):
            name = arguments.thread.name if arguments.thread is not None else "?"
            self._take(arguments.exc_type, arguments.exc_value, arguments.exc_traceback, name)

    def _take(
        self, kind: type[BaseException], error: BaseException | None, trace: TracebackType | None, thread: str
    ) -> None:
        """Log the trace the first time, later only the count; inform the user once."""
        signature = make_signature(kind, trace)
        count = self._tally.count(signature)
        if count == 1:
            fault = self._faults[signature] = make_fault(kind, error, trace, thread)
            log.error("unexpected fault: %s, %s\n%s", fault.kind, fault.place, fault.trace)
            self._found.emit(fault)
            return
        known_fault = self._faults.get(signature)
        if known_fault is not None:
            known_fault.again(count)
            if self._tally.is_worth_a_line(count):
                log.error("unexpected fault, %d times now: %s, %s", count, known_fault.kind, known_fault.place)

    def _unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Log only: a finalizer failed, not an action of the user."""
        kind = unraisable.exc_type
        signature = make_signature(kind, unraisable.exc_traceback)
        if self._tally.count(("ignored", signature)) == 1:
            fault = make_fault(kind, unraisable.exc_value, unraisable.exc_traceback)
            log.warning("%s\n%s", unraisable.err_msg or "fault in a finalizer", fault.trace)

    # Informing

    @Slot(FaultRecord)
    def _show_fault(self, fault: FaultRecord) -> None:
        if self._former is None:
            return
        state_of_work = self._keep()
        facts = [*collect_program_facts(ask_git=True), *collect_session_facts(self._program)]
        self.show(fault, state_of_work, format_report(facts, fault.trace, self._lines.lines))

    def show(self, fault: FaultRecord, state_of_work: str, report: str) -> None:
        """Show an error: in the open dialog, else in a new one."""
        from gpudesk.desktop.window.faults.dialog import FaultDialog, make_fault_message

        fault_message = make_fault_message(fault, state_of_work, report)
        if self._dialog is not None and isValid(self._dialog) and self._dialog.isVisible():
            self._dialog.add(fault_message)
            return
        theme = Theme(self._app) if self._program is None else self._program.theme
        above = QApplication.activeModalWidget() or QApplication.activeWindow()
        self._dialog = FaultDialog(theme, [fault_message], tr("Continue"), above)
        if self._program is None:
            # The program creates its own theme, and two would both style it.
            self._dialog.destroyed.connect(theme.deleteLater)
        self._dialog.present()

    def _keep(self) -> str:
        """Update the recovery files, and list what is saved of the user's work."""
        windows = [] if self._program is None else self._program.windows
        edited = [window.document for window in windows if window.document.edited]
        if not edited:
            return tr("You had no unsaved changes.")
        try:
            # All of them, even after a failure.
            is_kept = not [document for document in edited if not document.keep_now()]
        except Exception:
            log.exception("unsaved changes could not be kept")
            is_kept = False
        if is_kept:
            return tr("Your unsaved changes are backed up. You can continue to work.")
        return tr("Your unsaved changes could not be backed up. Save them now.")


class FaultWatch:
    """Active from before the first window until after the last."""

    def __init__(self, app: QApplication) -> None:
        self._lines = start_log()
        self._crash = CrashLog()
        self._reporter = FaultReporter(app, self._lines, self._crash.note)

    def __enter__(self) -> Self:
        facts = collect_program_facts()
        log.info("started: %s", "; ".join(f"{name} {value}" for name, value in facts))
        self._crash.start(facts)
        self._reporter.install()
        return self

    def follow(self, program: ProgramContext) -> None:
        self._reporter.follow(program)

    def look_back(self, window: DocumentWindow) -> None:
        """After the first window is shown, offer earlier crashes in it, and log open files."""
        log.info("open: %s", "; ".join(f"{name} {value}" for name, value in collect_session_facts(window.program)))
        crashes = list_crashes()
        if crashes:
            from gpudesk.desktop.window.faults.dialog import offer_crashes

            offer_crashes(window, crashes)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            log.info("ended by %s", kind.__name__ if kind is not None else error)
        self._reporter.remove()
        log.info("ended")
        self._crash.end()
