"""The questions of one screen below each other: the first large, the others small, those not asked named."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.question_block import QuestionBlock
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import LinkButton
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.questions import Screen
from gpudesk.sheets.question_words import group_title, question_title
from gpudesk.text import tr

_WIDEST, _MARGIN = 620.0, 40.0


class _Tag(QWidget):
    """The part of the dialogue that a screen stands in."""

    def __init__(self, theme: Theme, text: str) -> None:
        super().__init__()
        self._theme, self._text = theme, text
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Take one line."""
        return QSize(self._theme.px(120), self._theme.px(18))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the tag."""
        painter = QPainter(self)
        try:
            Pen(painter, self._theme).tag(0, self.height() / 2, self._text)
        finally:
            painter.end()


class _NotAsked(QWidget):
    """A question that cannot matter: its title, why, and a link that asks it all the same."""

    def __init__(self, theme: Theme, question: str, reason: str) -> None:
        super().__init__()
        title = question_title(question)
        said = tr("Not asked: {reason}.", reason=reason)
        self.link = LinkButton(theme, tr("Ask it all the same"))
        self.link.setAccessibleName(tr("Ask all the same: {question}", question=title))
        self.link.setAccessibleDescription(said)
        row = QHBoxLayout()
        row.addWidget(Label(theme, said, font="small", colour="text3", wrap=True), 1)
        row.addWidget(self.link)
        row.setSpacing(theme.px(12))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(theme.px(2))
        whole.addWidget(Label(theme, title, font="section", colour="text3", wrap=True))
        whole.addLayout(row)


class ScreenBody(QWidget):
    """One screen. `forced` are questions that the user wants to answer although they cannot matter."""

    #: An answer was given: the question and what is answered, None for the default.
    answered = Signal(str, object)
    #: The mouse or the focus is on an answer.
    pointed = Signal(str, object)
    #: A question that is not asked is wanted.
    wanted_all_the_same = Signal(str)

    def __init__(self, theme: Theme, screen: Screen, forced: frozenset[str], formatter: Formatter) -> None:
        """Ask nothing yet."""
        super().__init__()
        self._theme, self._formatter = theme, formatter
        self.screen_shown, self.forced = screen, forced
        self.blocks: list[QuestionBlock] = []
        self.not_asked: list[_NotAsked] = []
        inner = QWidget()
        self._inner = inner
        self._column = QVBoxLayout(inner)
        self._column.addWidget(_Tag(theme, group_title(screen.strength)))
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(inner, 1000)
        whole.addStretch(1)
        theme.follow(self._dress)

    @property
    def asked(self) -> tuple[str, ...]:
        """The questions that are asked."""
        return tuple(block.question for block in self.blocks)

    def ask(self, questions: Sequence[tuple[str, str]]) -> None:
        """Ask questions, each given with why it is not asked, empty where it is; those that are first."""
        for name, reason in sorted(questions, key=lambda each: bool(each[1])):
            if self.blocks or self.not_asked:
                self._column.addWidget(Rule(self._theme))
            if reason:
                self._leave_out(name, reason)
                continue
            block = QuestionBlock(self._theme, name, self._formatter, first=not self.blocks)
            block.answered.connect(self.answered)
            block.pointed.connect(self.pointed)
            self.blocks.append(block)
            self._column.addWidget(block)
        self._column.addStretch(1)

    def _leave_out(self, name: str, reason: str) -> None:
        left_out = _NotAsked(self._theme, name, reason)
        left_out.link.clicked.connect(lambda: self.wanted_all_the_same.emit(name))
        self.not_asked.append(left_out)
        self._column.addWidget(left_out)

    def choose_number(self, number: int) -> bool:
        """Answer by a number key the question that has the focus, else the first; say whether that worked."""
        block = next((each for each in self.blocks if any(o.hasFocus() for o in each.options)), None)
        block = block or (self.blocks[0] if self.blocks else None)
        return block is not None and block.choose_number(number)

    def is_option(self, widget: QWidget) -> bool:
        """Whether a widget is an answer of this screen."""
        return any(widget is option for block in self.blocks for option in block.options)

    def _dress(self) -> None:
        px = self._theme.px
        self._column.setContentsMargins(px(_MARGIN), px(28), px(_MARGIN), px(24))
        self._column.setSpacing(px(14))
        self._inner.setMaximumWidth(px(_WIDEST) + 2 * px(_MARGIN))
