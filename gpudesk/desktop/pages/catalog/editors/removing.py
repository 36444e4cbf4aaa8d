"""Asking before something of the user's is removed."""

from __future__ import annotations

from PySide6.QtWidgets import QMessageBox, QWidget

from gpudesk.text import tr


def may_remove(parent: QWidget, question: str, verb: str, more: str = "") -> bool:
    """Ask whether something is to go, and say that it can be brought back; return whether it is."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(tr("GPU Desk"))
    box.setText(question)
    box.setInformativeText(f"{more} {tr('It can be undone until you quit.')}".strip())
    remove = box.addButton(verb, QMessageBox.ButtonRole.DestructiveRole)
    keep = box.addButton(tr("Keep"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(keep)
    box.setEscapeButton(keep)
    box.exec()
    return box.clickedButton() is remove
