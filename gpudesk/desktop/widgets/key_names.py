"""What keys are called in tool tips, lists and buttons."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence


def key_name(key: str) -> str:
    """Return a portable key sequence as the system writes it, with blanks between its keys."""
    native = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
    # The key + itself comes last.
    return f"{native[:-1].replace('+', ' ')}{native[-1:]}"
