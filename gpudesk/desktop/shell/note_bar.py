"""A note below the scenario bar: what could not be opened or saved, what was kept, and what can be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button, IconButton
from gpudesk.desktop.widgets.label import Label
from gpudesk.text import tr

#: What a button of a note says and does.
Remedy = tuple[str, Callable[[], object]]


class NoteBar(QWidget):
    """Shows one sentence with its remedies until it is dealt with or closed; hidden while there is none."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin hidden."""
        super().__init__(parent)
        self._theme = theme
        self._is_fault = True
        self._buttons: list[Button] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.label = Label(theme, "", font="small", colour="text1")
        self.label.setWordWrap(True)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._close = IconButton(theme, "x", tr("Close the note"))
        self._close.clicked.connect(self.clear)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.label, 1)
        self._row.addWidget(self._close)
        theme.follow(self._dress)
        self.hide()

    @property
    def text(self) -> str:
        """What is said, empty while the note is hidden."""
        return self.label.text() if not self.isHidden() else ""

    def show_note(self, text: str, remedies: Sequence[Remedy] = (), *, fault: bool = True) -> None:
        """Say something, in the colour of faults or plainly, with a button for each remedy."""
        self._drop_buttons()
        self._is_fault = fault
        self.label.setText(text)
        self.setAccessibleName(text)
        for title, run in remedies:
            button = Button(self._theme, title, parent=self)
            button.clicked.connect(self.clear)
            button.clicked.connect(run)
            self._row.insertWidget(self._row.count() - 1, button)
            self._buttons.append(button)
        self.show()
        self.update()

    def clear(self) -> None:
        """Hide the note."""
        self.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Close with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.clear()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the ground, the icon and the line below."""
        painter = QPainter(self)
        try:
            pen = Pen(painter, self._theme)
            painter.fillRect(self.rect(), self._theme.colour("unfit_tint" if self._is_fault else "sunken"))
            side = float(self._theme.px(15))
            icon, colour = ("circle-alert", "unfit") if self._is_fault else ("info", "text2")
            rect = QRectF(self.label.geometry())
            pen.icon(icon, self._theme.px(16), rect.center().y() - side / 2, side, colour)
            pen.hairline(0, self.height() - 1, self.width(), self.height() - 1)
        finally:
            painter.end()

    def _drop_buttons(self) -> None:
        for button in self._buttons:
            button.hide()
            button.deleteLater()
        self._buttons = []

    def _dress(self) -> None:
        px = self._theme.px
        self._row.setContentsMargins(px(40), px(6), px(12), px(6))
        self._row.setSpacing(px(8))
        self.update()
