"""Notes below the scenario bar: what could not be opened or saved, what was kept, and what can be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button, IconButton
from gpudesk.desktop.widgets.label import Label
from gpudesk.text import tr

#: What a button of a note says and does.
Remedy = tuple[str, Callable[[], object]]


class NoteBar(QWidget):
    """Shows one note at a time until it is dealt with or closed, and offers, which no note takes away.

    Hidden while there is neither.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin hidden."""
        super().__init__(parent)
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._offers: list[_Note] = []
        self._note = _Note(theme)
        self._note.closed.connect(self.clear)
        self._note.hide()
        self._column.addWidget(self._note)
        self.hide()

    @property
    def text(self) -> str:
        """What the note says, empty while there is none."""
        return self._note.text if not self._note.isHidden() else ""

    @property
    def offers(self) -> list[str]:
        """What is offered, from above."""
        return [offer.text for offer in self._offers]

    def show_note(self, text: str, remedies: Sequence[Remedy] = (), *, fault: bool = True) -> None:
        """Say something, in the colour of faults or plainly, with a button for each remedy."""
        self._note.say(text, remedies, fault=fault)
        self.setAccessibleName(text)
        self._note.show()
        self.show()

    def offer(self, text: str, remedies: Sequence[Remedy]) -> None:
        """Say plainly, above the note, what is there to be dealt with; it stays until it is, or closed."""
        offer = _Note(self._theme)
        offer.say(text, remedies, fault=False)
        offer.closed.connect(lambda: self._drop(offer))
        self._column.insertWidget(len(self._offers), offer)
        self._offers.append(offer)
        offer.show()
        self.show()

    def clear(self) -> None:
        """Take the note away; offers stay."""
        self._note.hide()
        self.setVisible(bool(self._offers))

    def _drop(self, offer: _Note) -> None:
        self._offers.remove(offer)
        offer.hide()
        offer.deleteLater()
        self.setVisible(bool(self._offers) or not self._note.isHidden())


class _Note(QWidget):
    """One sentence with its remedies."""

    #: A remedy was taken, or the note was closed by hand.
    closed = Signal()

    def __init__(self, theme: Theme) -> None:
        """Say nothing yet."""
        super().__init__()
        self._theme = theme
        self._is_fault = True
        self._buttons: list[Button] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self._label = Label(theme, "", font="small", colour="text1")
        self._label.setWordWrap(True)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        close = IconButton(theme, "x", tr("Close the note"))
        close.clicked.connect(self.closed)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._label, 1)
        self._row.addWidget(close)
        theme.follow(self._dress)

    @property
    def text(self) -> str:
        """What is said."""
        return self._label.text()

    def say(self, text: str, remedies: Sequence[Remedy], *, fault: bool) -> None:
        """Say something else."""
        self._drop_buttons()
        self._is_fault = fault
        self._label.setText(text)
        self.setAccessibleName(text)
        for title, run in remedies:
            button = Button(self._theme, title, parent=self)
            button.clicked.connect(self.closed)
            button.clicked.connect(run)
            self._row.insertWidget(self._row.count() - 1, button)
            self._buttons.append(button)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Close with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
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
            rect = QRectF(self._label.geometry())
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
