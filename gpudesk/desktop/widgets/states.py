"""What the page shows when there is nothing to compare, and when the last edit cannot be answered."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label
from gpudesk.text import tr


class MissingState(QWidget):
    """Says what the scenario lacks, with a button that leads to the field."""

    #: What is lacking: `model` or `accelerators`.
    wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Lack nothing yet."""
        super().__init__(parent)
        self._missing = ""
        self._title = Label(theme, font="verdict")
        self._words = Label(theme, font="body", colour="text2")
        self._button = Button(theme, "", kind="primary")
        self._button.clicked.connect(lambda: self.wanted.emit(self._missing))
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self._button)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.addStretch(2)
        for label in (self._title, self._words):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(label)
        column.addSpacing(theme.px(12))
        column.addLayout(row)
        column.addStretch(3)

    def show_missing(self, missing: str) -> None:
        """Say what is lacking."""
        self._missing = missing
        if missing == "model":
            self._title.setText(tr("No model is chosen"))
            self._words.setText(tr("A comparison is of one model on several accelerators"))
            self._button.setText(tr("Choose a model"))
        else:
            self._title.setText(tr("No accelerator is chosen"))
            self._words.setText(tr("Add up to six; the first is the baseline of all differences"))
            self._button.setText(tr("Add an accelerator"))


class ProblemNote(QWidget):
    """One sentence on a sunken ground: why the table does not show the scenario as it is now."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Say nothing, and take no room."""
        super().__init__(parent)
        self._theme = theme
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.hide()
        theme.changed.connect(self._measure)

    @property
    def text(self) -> str:
        """What is said."""
        return self._text

    def show_text(self, text: str) -> None:
        """Say a sentence; nothing hides the note."""
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self._measure()
        self.setVisible(bool(text))

    def _measure(self) -> None:
        lines = max(1, len(self._lines(self.width() or 600)))
        self.setFixedHeight(lines * self._theme.line("small") + self._theme.px(16 + 8))
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Break the sentence anew."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._measure()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the height of the lines."""
        return QSize(200, self.height())

    def _lines(self, width: int) -> list[str]:
        metrics = QFontMetricsF(self._theme.font("small"))
        room = width - self._theme.px(16 + 16 + 12 + 26)
        lines: list[str] = []
        for word in self._text.split():
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and metrics.horizontalAdvance(longer) <= room:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw ground, icon and sentence."""
        painter = QPainter(self)
        try:
            pen, theme = Pen(painter, self._theme), self._theme
            margin, line = theme.px(16), theme.line("small")
            ground = QRectF(self.rect()).adjusted(margin, 0, -margin, -theme.px(8))
            pen.tint(ground, "unfit_tint", radius=8)
            x, top = ground.left() + theme.px(12), ground.top() + theme.px(8)
            pen.icon("circle-alert", x, top + (line - theme.px(15)) / 2, theme.px(15), "unfit")
            for number, words in enumerate(self._lines(self.width())):
                row = QRectF(x + theme.px(24), top + number * line, ground.right() - x, line)
                pen.text(row, words, font="small")
        finally:
            painter.end()
