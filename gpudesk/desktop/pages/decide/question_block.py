"""One question on its screen: what is asked and why, the answers as cards, and what else can be answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.pages.decide.options import Effect, Option, OptionCard, Shown, SmallOption, next_of
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import LinkButton
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.number_edit import NumberEdit
from gpudesk.desktop.widgets.numbers import NumberFormat
from gpudesk.domain.decisions import Answered, Decision, Origin
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.questions import QUESTIONS, AnswerValue
from gpudesk.sheets.option_words import (
    brief_text,
    fate_of,
    option_sentence,
    option_text,
    origin_text,
    shown_values,
)
from gpudesk.sheets.question_words import answer_text, option_words, question_title, question_why
from gpudesk.text import tr

_DECIMALS: Final = 3
#: The smallest number above nothing that the field takes.
_LEAST: Final = 0.001
_NINE: Final = 9
_COLUMNS: Final = 2


class QuestionBlock(QWidget):
    """The first question of a screen on large cards, or a further one on small ones."""

    #: An answer was given: the question and what is answered, None for the default.
    answered = Signal(str, object)
    #: The mouse or the focus is on an answer: the question and the answer.
    pointed = Signal(str, object)

    def __init__(
        self, theme: Theme, question: str, formatter: Formatter, *, first: bool, parent: QWidget | None = None
    ) -> None:
        """Ask a question; the cards follow when it is known what is in force."""
        super().__init__(parent)
        self.question, self.first = question, first
        self.options: list[Option] = []
        self._theme, self._formatter = theme, formatter
        title, why = question_title(question), question_why(question)
        self.setAccessibleName(title)
        self.setAccessibleDescription(why)
        self.title = Label(theme, title, font="verdict" if first else "section", wrap=True)
        self.why = Label(theme, why, font="body" if first else "small", colour="text2", wrap=True)
        self._cards = QGridLayout()
        self._links = QHBoxLayout()
        self._whole = QVBoxLayout(self)
        for label in (self.title, self.why):
            self._whole.addWidget(label)
        self._whole.addLayout(self._cards)
        self._whole.addLayout(self._links)
        self._make_links()
        theme.follow(self._dress)

    def _make_links(self) -> None:
        theme = self._theme
        self.other = LinkButton(theme, _other_text(self.question), parent=self)
        self.other.clicked.connect(self.ask_for_number)
        self.field: NumberEdit | None = None
        self.unit: Label | None = None
        self._number_taken = False
        self.reset = LinkButton(theme, "", parent=self)
        self.reset.clicked.connect(lambda: self.answered.emit(self.question, None))
        for link in (self.other, self.reset):
            self._links.addWidget(link)
        self._links.addStretch(1)
        self.other.setVisible(QUESTIONS[self.question].takes_number)

    # What is shown

    @property
    def values(self) -> tuple[AnswerValue, ...]:
        """What is offered."""
        return tuple(option.value for option in self.options)

    @property
    def chosen(self) -> Option:
        """The answer in force."""
        return next((option for option in self.options if option.isChecked()), self.options[0])

    def show_answer(self, answered: Answered, default: Answered) -> None:
        """Show which answer is in force, and what it falls back to."""
        values = shown_values(self.question, answered.value)
        if values != self.values:
            self._make_options(values)
        origin = "" if answered.origin is Origin.YOURS else origin_text(answered)
        for option in self.options:
            chosen = option.value == answered.value
            option.show_state(origin if chosen else "", chosen=chosen)
        back = answer_text(self.question, default.value, self._formatter)
        word = tr("Back to the scenario: {answer}", answer=back)
        if default.origin is Origin.DEFAULT:
            word = tr("Back to the default: {answer}", answer=back)
        self.reset.setText(word)
        self.reset.setAccessibleName(f"{question_title(self.question)} {word}")
        self.reset.setVisible(answered.origin is Origin.YOURS)
        self._set_tab_stop(self._focused or self.chosen)
        if self._number_taken:
            self._close_field()

    def show_effect(self, found: Decided, value: AnswerValue, decision: Decision) -> None:
        """Show what an answer would do."""
        option = next((each for each in self.options if each.value == value), None)
        if option is not None:
            option.show_effect(_effect(self.question, found, decision))

    def _make_options(self, values: tuple[AnswerValue, ...]) -> None:
        """Offer other answers; what was known of those that stay is kept."""
        former: Mapping[AnswerValue, Effect | None] = {each.value: each.effect for each in self.options}
        focus = None if self._focused is None else self._focused.value
        for option in self.options:
            self._cards.removeWidget(option)
            option.hide()
            option.deleteLater()
        made = OptionCard if self.first else SmallOption
        self.options = []
        for place, value in enumerate(values):
            words = option_words(self.question, value, self._formatter)
            number = place + 1 if place < _NINE else 0
            option = made(self._theme, value, words, number, self._act_on_key, self)
            option.clicked.connect(lambda _on, value=value: self.answered.emit(self.question, value))
            option.pointed.connect(lambda value=value: self.pointed.emit(self.question, value))
            effect = former.get(value)
            if effect is not None:
                option.show_effect(effect)
            columns = 1 if self.first else _COLUMNS
            self._cards.addWidget(option, place // columns, place % columns)
            option.show()
            self.options.append(option)
            if focus is not None and value == focus:
                option.setFocus(Qt.FocusReason.OtherFocusReason)

    # Choosing

    @property
    def _focused(self) -> Option | None:
        return next((option for option in self.options if option.hasFocus()), None)

    def focus_chosen(self, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        """Give the focus to the answer in force."""
        self.chosen.setFocus(reason)

    def choose_number(self, number: int) -> bool:
        """Answer with the option of a number key; say whether there is one."""
        option = next((each for each in self.options if each.number == number), None)
        if option is None:
            return False
        self._set_tab_stop(option)
        option.setFocus(Qt.FocusReason.OtherFocusReason)
        option.click()
        return True

    def ask_for_number(self) -> None:
        """Show a field for a number of the user's own."""
        if self.field is None:
            self.field = self._make_field()
            unit = QUESTIONS[self.question].unit or ""
            self.unit = Label(self._theme, unit, font="small", colour="text2", parent=self)
            for place, widget in enumerate((self.field, self.unit), start=1):
                self._links.insertWidget(place, widget)
        for shown in (self.field, self.unit):
            if shown is not None:
                shown.show()
        now = self.chosen.value
        presets = QUESTIONS[self.question].presets
        self.field.set_value(presets[0] if isinstance(now, str) else now)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.field.selectAll()

    def _make_field(self) -> NumberEdit:
        bounds = QUESTIONS[self.question].bounds
        assert bounds is not None
        shape = NumberFormat(
            _LEAST if bounds.above else bounds.low, bounds.high, _DECIMALS, self._formatter.style
        )
        field = NumberEdit(self._theme, question_title(self.question), shape, self)
        field.setFixedWidth(self._theme.px(110))
        field.edited.connect(self._take_number)
        return field

    def _take_number(self, value: float) -> None:
        """Answer with a number of the user's own."""
        self._number_taken = True
        self.answered.emit(self.question, float(value))

    def _close_field(self) -> None:
        """Let the card of the number take the place of the field, and of its focus."""
        self._number_taken = False
        self.focus_chosen()
        for widget in (self.field, self.unit):
            if widget is not None:
                widget.hide()

    def _act_on_key(self, event: QKeyEvent) -> bool:
        """Go to another answer; say whether the key was one that does."""
        option = next_of(self.options, event)
        if option is None:
            return False
        self._set_tab_stop(option)
        option.setFocus(Qt.FocusReason.TabFocusReason)
        return True

    def _set_tab_stop(self, only: Option) -> None:
        """Let Tab reach one answer; arrows go to the others."""
        for option in self.options:
            reach = Qt.FocusPolicy.StrongFocus if option is only else Qt.FocusPolicy.ClickFocus
            option.setFocusPolicy(reach)

    def _dress(self) -> None:
        px = self._theme.px
        self._whole.setContentsMargins(0, 0, 0, 0)
        self._whole.setSpacing(px(6) if self.first else px(3))
        self._cards.setContentsMargins(0, px(10) if self.first else px(5), 0, px(4))
        self._cards.setHorizontalSpacing(px(10))
        self._cards.setVerticalSpacing(px(12) if self.first else px(8))
        self._links.setSpacing(px(18) if self.first else px(14))


def _other_text(question: str) -> str:
    unit = QUESTIONS[question].unit
    if unit == "ms":
        return tr("Another limit…")
    return tr("Another amount…") if unit == "USD" else tr("Another number…")


def _effect(question: str, found: Decided, decision: Decision) -> Effect:
    """Return what an answer would do, with the accelerators as they are drawn."""
    parts = tuple(
        Shown(found.names[each.key], found.slots[each.key], found.hollow[each.key], fate_of(each))
        for each in decision.standings
    )
    names = found.names
    return Effect(
        option_text(question, decision, names),
        brief_text(question, decision, names),
        parts,
        option_sentence(decision, names),
    )
