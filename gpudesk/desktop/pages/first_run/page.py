"""The page that a window opens with. It knows neither files nor desk: it shows what it is given and asks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.pages.first_run.entries import (
    QuestionRow,
    RecentFile,
    RecentRow,
    RecoveredFile,
    RecoveredNote,
)
from gpudesk.desktop.pages.first_run.questions import SAMPLE, questions
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.scroll_area import ScrollArea
from gpudesk.text import tr

#: The template behind the main button.
SAMPLE_TEMPLATE = SAMPLE

_WIDTH = 680.0
_MARGIN = 24.0
#: Longer lines are hard to follow.
_WORDS = 640.0
_BUTTON = 32.0
#: Digits of the block at the right of the keyboard count too.
_KEYPAD = Qt.KeyboardModifier.KeypadModifier


class _TallButton(Button):
    """A button of the height that this page has for its two."""

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Be somewhat higher than elsewhere."""
        return QSize(super().sizeHint().width(), self._theme.px(_BUTTON))


class FirstRunPage(QWidget):
    """One sentence, one main button, questions to begin from, recent files and what a crash left.

    Enter opens the sample unless another control has the focus; the digits open the questions.
    """

    open_sample = Signal()
    start_empty = Signal()
    #: The path of a recent document.
    open_file = Signal(str)
    #: The id of a template.
    open_template = Signal(str)
    #: The keys of what a crash left.
    open_recovered = Signal(str)
    discard_recovered = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin without recent files and with nothing to recover."""
        super().__init__(parent)
        self._theme = theme
        self.setAccessibleName(tr("Start"))
        self._column = QVBoxLayout()
        self._recovered = QVBoxLayout()
        self._recent = QVBoxLayout()
        self._questions: list[QuestionRow] = []
        self._make_head()
        self._make_questions()
        self._column.addWidget(Label(theme, tr("Recent"), font="section"))
        self._column.addLayout(self._recent)
        self._lay_out()
        self.set_recent(())
        theme.follow(self._dress)

    def set_recent(self, files: Sequence[RecentFile]) -> None:
        """Offer the documents that were used before, the newest first."""
        _empty(self._recent)
        for file in files:
            row = RecentRow(self._theme, file)
            row.clicked.connect(lambda _on, path=file.path: self.open_file.emit(path))
            self._recent.addWidget(row)
        if not files:
            none = tr("None yet. Scenarios you save appear here.")
            self._recent.addWidget(Label(self._theme, none, font="small", colour="text2"))
        self._order()

    def set_recovered(self, files: Sequence[RecoveredFile]) -> None:
        """Offer what a crash left."""
        _empty(self._recovered)
        for file in files:
            note = RecoveredNote(self._theme, file)
            note.open.clicked.connect(lambda _on, key=file.key: self.open_recovered.emit(key))
            note.discard.clicked.connect(lambda _on, key=file.key: self.discard_recovered.emit(key))
            self._recovered.addWidget(note)
        # Only what is there may keep a distance to the heading.
        margin = self._theme.px(_MARGIN) if files else 0
        self._recovered.setContentsMargins(0, 0, 0, margin)
        self._order()

    def focus_content(self) -> None:
        """Give the main button the focus."""
        self.sample.setFocus(Qt.FocusReason.TabFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Open with Enter what has the focus, else the sample; a question with its digit."""
        focus = self.focusWidget()
        digit = int(event.text()) if event.text().isdecimal() else 0
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            button = focus if isinstance(focus, QAbstractButton) and focus.hasFocus() else self.sample
            button.click()
        elif 1 <= digit <= len(self._questions) and not event.modifiers() & ~_KEYPAD:
            self._questions[digit - 1].click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the ground."""
        painter = QPainter(self)
        try:
            painter.fillRect(self.rect(), self._theme.colour("page"))
        finally:
            painter.end()

    def _order(self) -> None:
        """Let Tab go as the eye does, whatever was added last."""
        notes = [note for note in _widgets(self._recovered) if isinstance(note, RecoveredNote)]
        stops: list[QWidget] = [button for note in notes for button in (note.open, note.discard)]
        stops += [self.sample, self.empty, *self._questions, *_widgets(self._recent)]
        for before, after in pairwise(stops):
            QWidget.setTabOrder(before, after)

    def _make_head(self) -> None:
        theme = self._theme
        self._column.addLayout(self._recovered)
        self._column.addWidget(
            Label(theme, tr("Compare accelerators for one workload"), font="figure", wrap=True)
        )
        words = tr(
            "Choose a model and a load above, then add up to six accelerators. Every figure shows its band, "
            "its source and its working. Nothing leaves this computer."
        )
        self._words = Label(theme, font="present_small", colour="text2", wrap=True)
        self._words.setTextFormat(Qt.TextFormat.RichText)
        self._words.setText(f'<p style="line-height: 115%">{escape(words)}</p>')
        self._words.setAccessibleName(words)
        self._column.addWidget(self._words)
        self.sample = _TallButton(
            theme, tr("Open the sample: 70B chat on four parts"), kind="primary", key=tr("Enter")
        )
        self.sample.clicked.connect(self.open_sample)
        self.empty = _TallButton(theme, tr("Start empty"))
        self.empty.clicked.connect(self.start_empty)
        self._buttons = QHBoxLayout()
        self._buttons.addWidget(self.sample)
        self._buttons.addWidget(self.empty)
        self._buttons.addStretch(1)
        self._column.addLayout(self._buttons)

    def _make_questions(self) -> None:
        self._column.addWidget(Label(self._theme, tr("Or start from a question"), font="section"))
        self._rows = QVBoxLayout()
        for position, question in enumerate(questions(), 1):
            row = QuestionRow(self._theme, question, str(position))
            row.clicked.connect(lambda _on, template=question.template: self.open_template.emit(template))
            self._rows.addWidget(row)
            self._questions.append(row)
        self._column.addLayout(self._rows)

    def _lay_out(self) -> None:
        self._body = QWidget()
        self._body.setLayout(self._column)
        content = QWidget()
        upright = QVBoxLayout(content)
        upright.addStretch(2)
        level = QHBoxLayout()
        level.addStretch(1)
        level.addWidget(self._body, 1000)
        level.addStretch(1)
        upright.addLayout(level)
        upright.addStretch(3)
        # The page draws the ground.
        self._area = ScrollArea(parent=self)
        self._area.show_widget(content)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._area)

    def _dress(self) -> None:
        px = self._theme.px
        self._body.setMaximumWidth(px(_WIDTH) + 2 * px(_MARGIN))
        self._column.setContentsMargins(px(_MARGIN), px(_MARGIN), px(_MARGIN), px(_MARGIN))
        self._column.setSpacing(px(8))
        self._buttons.setSpacing(px(14))
        self._buttons.setContentsMargins(0, px(12), 0, px(26))
        self._rows.setSpacing(px(8))
        self._rows.setContentsMargins(0, px(2), 0, px(10))
        self._recent.setSpacing(0)
        self._recovered.setSpacing(px(8))
        self._words.setMaximumWidth(px(_WORDS))
        self.update()


def _widgets(layout: QVBoxLayout) -> list[QWidget]:
    items = (layout.itemAt(position) for position in range(layout.count()))
    widgets = (item.widget() for item in items if item is not None)
    return [widget for widget in widgets if widget is not None]


def _empty(layout: QVBoxLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
