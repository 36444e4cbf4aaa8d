"""What crashes of earlier runs left: their reports, offered in the first window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpudesk.desktop.faults.crash import Crash
from gpudesk.text import tr, trn

if TYPE_CHECKING:
    from gpudesk.desktop.main_window import MainWindow


def offer_crashes(window: MainWindow, crashes: Sequence[Crash]) -> None:
    """Offer the reports, the newest first; what was closed without an answer is offered at the next start."""

    def show() -> None:
        show_crashes(window, crashes)

    def discard() -> None:
        for crash in crashes:
            crash.discard()

    times = len(crashes)
    text = trn(
        "GPU Desk ended unexpectedly on {when}.",
        "GPU Desk ended unexpectedly {n} times, last on {when}.",
        times,
        when=_when(crashes[0]),
    )
    show_title = trn("Show report", "Show reports", times)
    window.note.offer(text, [(show_title, show), (tr("Discard"), discard)])


def show_crashes(window: MainWindow, crashes: Sequence[Crash]) -> None:
    """Show the reports; they stay in the folder of logs, and are not offered again."""
    from gpudesk.desktop.faults.dialog import FaultDialog, Told

    title = tr("GPU Desk ended unexpectedly")
    kept = tr("Edits that were not saved then are offered at the start, where there were any.")
    told = []
    for crash in crashes:
        crash.shown()
        told.append(Told(title, tr("That was on {when}.", when=_when(crash)), kept, crash.report))
    FaultDialog(window.theme, told, tr("Close"), window).present()


def _when(crash: Crash) -> str:
    return f"{crash.ended:%Y-%m-%d %H:%M}"
