"""Shows why a start led to no window, for those who start by an icon."""

from __future__ import annotations

import contextlib
import sys

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox

from gpudesk.desktop.window.faults.crash import collect_program_facts, format_report
from gpudesk.desktop.window.faults.log import make_fault
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr

#: Platforms of Qt whose windows nobody sees: there a dialog would wait for ever.
_UNSEEN = frozenset({"offscreen", "minimal", "vnc"})


def show_startup_failure(text: str, error: BaseException) -> None:
    """Show why the program ends, and wait until the dialog is closed; do nothing without a display."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    if not isinstance(app, QApplication):
        return
    if sys.__stderr__ is not None and QGuiApplication.platformName() in _UNSEEN:
        return
    try:
        dialog = _dialog(app, text, error)
    except Exception:  # noqa: BLE001 - an installation that lacks a part may lack what the dialog needs
        box = QMessageBox()
        box.setWindowTitle(tr("GPU Desk"))
        box.setText(text)
        dialog = box
    dialog.exec()


def _dialog(app: QApplication, text: str, error: BaseException) -> QDialog:
    from gpudesk.desktop.ui.theme.theme import Theme
    from gpudesk.desktop.window.faults.dialog import FaultDialog, FaultMessage

    facts = collect_program_facts()
    with contextlib.suppress(Exception):
        facts = collect_program_facts(ask_git=True)
    trace = make_fault(type(error), error, error.__traceback__).trace
    state_of_work = tr("Your saved files are unchanged.")
    fault_message = FaultMessage(
        tr("GPU Desk could not start"), _sentence(text), state_of_work, format_report(facts, trace, [])
    )
    return FaultDialog(Theme(app), [fault_message], tr("Close"))


def _sentence(text: str) -> str:
    return capitalize_first(text).rstrip(".") + "."
