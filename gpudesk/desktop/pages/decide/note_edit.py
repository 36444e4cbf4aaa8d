"""A line for words of the user's own, which are taken over by Enter or when the focus leaves."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QWidget

from gpudesk.desktop.theme.theme import Theme


class NoteEdit(QLineEdit):
    """Esc brings back the words in force; what steers a screen is left out of them."""

    #: The words that the user gave, on one line.
    edited = Signal(str)

    def __init__(
        self, theme: Theme, name: str, longest: int, *, empty: str = "", parent: QWidget | None = None
    ) -> None:
        """Begin empty; `name` says what the words are, `empty` is shown as long as there are none."""
        super().__init__(parent)
        self._theme = theme
        self._words = ""
        self.setAccessibleName(name)
        self.setMaxLength(longest)
        self.setPlaceholderText(empty)
        self.editingFinished.connect(self.commit)

    @property
    def words(self) -> str:
        """The words in force."""
        return self._words

    def show_words(self, words: str) -> None:
        """Show words as those in force; what is being typed stays while they are the same."""
        if words == self._words and self.isModified():
            return
        self._words = words
        self._show()

    def commit(self) -> None:
        """Take over what was typed."""
        if not self.isModified():
            return
        typed = _plain(self.text())
        changed = typed != self._words
        self._words = typed
        self._show()
        if changed:
            self.edited.emit(typed)

    def event(self, event: QEvent) -> bool:
        """Leave undo and redo to the window unless there is something typed to take back."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            undo, redo = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo
            if not self.isModified() and (event.matches(undo) or event.matches(redo)):
                event.ignore()
                return False
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Bring back the words in force on Esc."""
        if event.key() == Qt.Key.Key_Escape and self.isModified():
            self._show()
            self.selectAll()
        else:
            super().keyPressEvent(event)

    def _show(self) -> None:
        self.setText(" ".join(self._words.split()))
        self.setModified(False)
        self.setCursorPosition(0)


def _plain(text: str) -> str:
    """Return a text on one line without what is not printed: controls, and what turns its direction."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())
