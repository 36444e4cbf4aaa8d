"""Times of the start, for measurements: when table and charts were painted, and the memory they took.

With GPUDESK_TIMING set, each line on standard output is a word and the seconds of the system's monotonic
clock at that moment, the last one `memory` with the bytes that are resident once every page was opened.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from gpudesk.desktop.after_paint import after_paint

if TYPE_CHECKING:
    from gpudesk.desktop.main_window import MainWindow

_PAGE_SIZE = 4096
#: The pages that are opened, and what is said once each has been painted.
_STEPS = (
    ("compare", "table"),
    ("performance", "charts"),
    ("memory", "memory_page"),
    ("catalog", "catalog_page"),
)


def report_times(window: MainWindow) -> None:
    """Open one page after the other, say when each was painted, and end the program."""
    _Walk(window)


class _Walk(QObject):
    """Waits for the paint of one page, then opens the next."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._steps = iter(_STEPS)
        self._word = ""
        self._next()

    def _next(self) -> None:
        step = next(self._steps, None)
        if step is None:
            # The next start opens the page that was shown last: let it be the same at every start.
            self._window.show_page(_STEPS[0][0])
            self._end()
            return
        page, self._word = step
        self._window.show_page(page)
        shown = self._window.page
        if shown is not None:
            after_paint(shown, self._painted)
            shown.update()

    def _painted(self) -> None:
        sys.stdout.write(f"{self._word} {time.monotonic():.6f}\n")
        sys.stdout.flush()
        self._next()

    def _end(self) -> None:
        statm = Path("/proc/self/statm")
        if statm.exists():
            resident = int(statm.read_text().split()[1]) * _PAGE_SIZE
            sys.stdout.write(f"memory {resident}\n")
            sys.stdout.flush()
        QApplication.quit()
