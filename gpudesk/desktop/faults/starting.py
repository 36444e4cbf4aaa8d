"""A start that led to no window, told in one all the same: who starts by an icon has no terminal."""

from __future__ import annotations

import contextlib
import sys

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox

from gpudesk.desktop.faults.records import fault_of
from gpudesk.desktop.faults.report import program_facts, report_text
from gpudesk.text import tr

#: Platforms of Qt whose windows nobody sees: there a dialog would wait for ever.
_UNSEEN = frozenset({"offscreen", "minimal", "vnc"})


def tell_no_start(text: str, error: BaseException) -> None:
    """Say why the program ends, and wait until that was read; say nothing where nobody could."""
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
    from gpudesk.desktop.faults.dialog import FaultDialog, Told
    from gpudesk.desktop.theme.theme import Theme

    facts = program_facts()
    with contextlib.suppress(Exception):
        facts = program_facts(ask_git=True)
    trace = fault_of(type(error), error, error.__traceback__).trace
    kept = tr("What you have saved is as it was.")
    told = Told(tr("GPU Desk cannot go on"), _sentence(text), kept, report_text(facts, trace, []))
    return FaultDialog(Theme(app), [told], tr("Close"))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."
