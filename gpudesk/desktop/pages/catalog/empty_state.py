"""What stands in the place of a list that has no rows: why, and what brings some."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label


class EmptyState(QWidget):
    """A sentence with one button."""

    #: The button was pressed.
    wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Say nothing yet."""
        super().__init__(parent)
        self.title = Label(theme, font="option")
        self.words = Label(theme, font="small", colour="text2")
        self.button = Button(theme, "")
        self.button.clicked.connect(self.wanted)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.button)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.addStretch(2)
        for label in (self.title, self.words):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(True)
            column.addWidget(label)
        column.addSpacing(theme.px(10))
        column.addLayout(row)
        column.addStretch(3)

    def say(self, title: str, words: str, button: str) -> None:
        """Say what is missing; without a text there is no button."""
        self.title.setText(title)
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self.setAccessibleName(f"{title}. {words}" if words else title)
