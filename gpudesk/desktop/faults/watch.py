"""All that looks out for faults while the program runs: its log, the file of a crash, what is reported."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import TYPE_CHECKING, Self

from PySide6.QtWidgets import QApplication

from gpudesk.desktop.faults.crash import CrashLog, left_crashes
from gpudesk.desktop.faults.log import start_log
from gpudesk.desktop.faults.report import program_facts, session_facts
from gpudesk.desktop.faults.reporter import FaultReporter

if TYPE_CHECKING:
    from gpudesk.desktop.app import Program
    from gpudesk.desktop.main_window import MainWindow

log = logging.getLogger(__name__)


class Watch:
    """Stands around the program from before its first window until after its last."""

    def __init__(self, app: QApplication) -> None:
        """Look out for nothing yet."""
        self._lines = start_log()
        self._crash = CrashLog()
        self._reporter = FaultReporter(app, self._lines, self._crash.note)

    def __enter__(self) -> Self:
        """Begin."""
        facts = program_facts()
        log.info("started: %s", "; ".join(f"{name} {value}" for name, value in facts))
        self._crash.start(facts)
        self._reporter.install()
        return self

    def follow(self, program: Program) -> None:
        """Keep the scenarios of this program when a fault comes."""
        self._reporter.follow(program)

    def look_back(self, window: MainWindow) -> None:
        """Once the first window is seen, offer in it what earlier crashes left, and log what is open."""
        log.info("open: %s", "; ".join(f"{name} {value}" for name, value in session_facts(window.program)))
        crashes = left_crashes()
        if crashes:
            from gpudesk.desktop.shell.crash_offer import offer_crashes

            offer_crashes(window, crashes)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End; a fault that ends the program is in the log before."""
        if error is not None:
            log.info("ended by %s", kind.__name__ if kind is not None else error)
        self._reporter.remove()
        log.info("ended")
        self._crash.end()
