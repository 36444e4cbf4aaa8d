"""Asking where a file goes, so that none is replaced without the user's word."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from gpudesk.desktop.ui.widgets.qt_support import ask_question
from gpudesk.text.translation import tr

#: What a type of file is called, and its suffix.
FileType = tuple[str, str]


def ask_save_path(parent: QWidget, title: str, proposed: Path, types: Sequence[FileType]) -> Path | None:
    """Return the file to write, which has a suffix of these types; None where the user gave up.

    The dialog asks before it replaces the file of the name as typed. It does not know the suffix that such a name
    still gets, so the question for that file is asked here.
    """
    filters = ";;".join(f"{label} (*{suffix})" for label, suffix in types)
    while True:
        typed, chosen_type = QFileDialog.getSaveFileName(parent, title, str(proposed), filters)
        if not typed:
            return None
        proposed = _add_suffix(Path(typed), chosen_type, types)
        if proposed == Path(typed) or not os.path.lexists(proposed) or _may_replace(parent, proposed):
            return proposed


def _add_suffix(path: Path, chosen_type: str, types: Sequence[FileType]) -> Path:
    """Return a path as it is where its suffix is known, else with the suffix of the chosen type behind its name."""
    if path.suffix.lower() in [suffix for _, suffix in types]:
        return path
    suffix = next((suffix for label, suffix in types if chosen_type.startswith(f"{label} (")), types[0][1])
    return path.with_name(path.name + suffix)


def _may_replace(parent: QWidget, path: Path) -> bool:
    return ask_question(
        parent,
        tr("GPU Desk"),
        tr("Replace “{file}”?", file=path.name),
        tr("A file of that name is in the folder already."),
        tr("Replace"),
        tr("Choose another name"),
    )
