"""Showing a folder in the system's file manager, which may not be there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication

from gpudesk.desktop.shell.note_bar import Remedy
from gpudesk.text import tr

#: What a frozen program has set for itself: where the loader and Qt find what it carries.
_OURS = ("LD_LIBRARY_PATH", "QT_PLUGIN_PATH", "QML2_IMPORT_PATH")
_FORMER = "_ORIG"


def show_folder(folder: Path, say: Callable[[str, Sequence[Remedy]], object]) -> bool:
    """Show a folder, made where it is missing; where that cannot be, say where it is, and offer its path."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        say(tr("The folder {path} cannot be made: {reason}.", path=folder, reason=reason), [])
        return False
    if QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
        return True
    copy = (tr("Copy path"), lambda: QGuiApplication.clipboard().setText(str(folder)))
    say(tr("No program that shows folders was found. The folder is {path}.", path=folder), [copy])
    return False


def free_children() -> None:
    """Let programs that are started from here find their own libraries, not those that a frozen one carries.

    To be called once Qt has begun, which has read its own share by then.
    """
    if not getattr(sys, "frozen", False):
        return
    for name in _OURS:
        former = os.environ.pop(name + _FORMER, None)
        if former is not None:
            os.environ[name] = former
        else:
            os.environ.pop(name, None)
