"""The buttons Undo and Redo, named after the step that they take."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoStack

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import IconButton
from gpudesk.text import tr

_UNDO, _REDO = "Ctrl+Z", "Ctrl+Shift+Z"


class StepButtons(QObject):
    """Keeps two buttons in step with an undo stack."""

    def __init__(self, theme: Theme, stack: QUndoStack, parent: QObject) -> None:
        """Make the buttons."""
        super().__init__(parent)
        self._stack = stack
        self.undo = IconButton(theme, "undo-2", tr("Undo"), key=_UNDO)
        self.redo = IconButton(theme, "redo-2", tr("Redo"), key=_REDO)
        self.undo.clicked.connect(stack.undo)
        self.redo.clicked.connect(stack.redo)
        for signal in (
            stack.canUndoChanged,
            stack.canRedoChanged,
            stack.undoTextChanged,
            stack.redoTextChanged,
        ):
            signal.connect(self._show)
        self._show()

    def _show(self) -> None:
        stack = self._stack
        undo, redo = stack.undoText(), stack.redoText()
        self.undo.setEnabled(stack.canUndo())
        self.redo.setEnabled(stack.canRedo())
        self.undo.set_name(tr("Undo: {step}", step=undo) if undo else tr("Undo"), _UNDO)
        self.redo.set_name(tr("Redo: {step}", step=redo) if redo else tr("Redo"), _REDO)
