"""What a page shows of an answer: its content, what is missing, and why it is that of a former scenario."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.states import MissingState, ProblemNote

_CONTENT, _MISSING, _NOTHING = range(3)


class AnswerStack(QWidget):
    """Shows the content, or what the scenario lacks, below a note where the last edit cannot be answered."""

    #: What is lacking and is to be filled in: `model` or `accelerators`.
    wanted = Signal(str)

    def __init__(self, theme: Theme, content: QWidget, parent: QWidget | None = None) -> None:
        """Show nothing until there is an answer."""
        super().__init__(parent)
        self.note = ProblemNote(theme)
        self.missing = MissingState(theme)
        self.missing.wanted.connect(self.wanted)
        self._stack = QStackedLayout()
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.note)
        # First to the page: a stack that belongs to none shows what it is given as a window.
        whole.addLayout(self._stack, 1)
        for widget in (content, self.missing, QWidget()):
            self._stack.addWidget(widget)
        self._stack.setCurrentIndex(_NOTHING)

    @property
    def usable(self) -> bool:
        """Whether the content is shown."""
        return self._stack.currentIndex() == _CONTENT

    def show_state(self, problem: str, missing: str | None, *, answered: bool) -> bool:
        """Say what is wrong and what is missing; return whether there is an answer whose content is shown."""
        self.note.show_text(problem[:1].upper() + problem[1:])
        if missing is not None:
            self.missing.show_missing(missing)
            self._stack.setCurrentIndex(_MISSING)
        else:
            self._stack.setCurrentIndex(_CONTENT if answered else _NOTHING)
        return self.usable
