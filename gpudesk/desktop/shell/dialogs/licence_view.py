"""The terms of one work, to read in full."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from gpudesk.desktop.shell.dialogs.parts_list import described
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import IconButton
from gpudesk.desktop.widgets.label import Label
from gpudesk.parts import Part, licence_text
from gpudesk.text import tr

_TEXT, _MARGIN = 12.0, 8.0


class LicenceView(QWidget):
    """Shows whose a work is and its licence; links are text, since the program opens no network."""

    #: The list is asked for again.
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin empty."""
        super().__init__(parent)
        self._theme = theme
        self.back = IconButton(theme, "arrow-left", tr("Back to the list"), key="Esc")
        self.back.clicked.connect(self.left)
        self.title = Label(theme, font="page", wrap=True)
        self.facts = Label(theme, font="small", colour="text2", wrap=True)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        reachable = (
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setTextInteractionFlags(reachable)
        self.facts.setTextInteractionFlags(reachable)
        self.facts.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        head = QHBoxLayout()
        head.setSpacing(theme.px(8))
        head.addWidget(self.back, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self.title, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(8))
        column.addLayout(head)
        column.addWidget(self.facts)
        column.addWidget(self.text, 1)
        theme.follow(self._dress)

    def show_part(self, part: Part) -> None:
        """Show the terms of a work from their beginning."""
        self.title.setText(described(part))
        facts = [(tr("Licence"), part.licence), (tr("Author"), part.author), (tr("Home"), part.home)]
        self.facts.setText("\n".join(f"{name}: {value}" for name, value in facts if value))
        missing = tr("The text of this licence does not come with the package. Its name says which it is.")
        self.text.setPlainText(licence_text(part) or missing)
        self.text.setAccessibleName(tr("Licence of {work}", work=part.work))
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def terms(self) -> str:
        """What is read here, as plain text."""
        return f"{self.title.text()}\n{self.facts.text()}\n\n{self.text.toPlainText()}"

    def _dress(self) -> None:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(self._theme.px(_TEXT))
        self.text.setFont(font)
        self.text.document().setDocumentMargin(self._theme.px(_MARGIN))
