"""The dialogue: nine screens of questions, each answer with what it would do before it is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.decided import Decided, known_decision_if
from gpudesk.desktop.pages.decide.effects import Effects
from gpudesk.desktop.pages.decide.screen_body import ScreenBody
from gpudesk.desktop.pages.decide.steps import Step, StepsColumn
from gpudesk.desktop.pages.decide.views import DecideView
from gpudesk.desktop.session.deciding import with_answer
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import SelectionKind, decision_option
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.desktop.widgets.key_names import key_name
from gpudesk.desktop.widgets.scroll_area import ScrollArea
from gpudesk.domain.decisions import Answered, Origin
from gpudesk.domain.questions import QUESTIONS, AnswerValue, Screen
from gpudesk.sentences import sentence
from gpudesk.sheets.option_words import origin_text, short_answer
from gpudesk.sheets.question_words import answer_text, question_title
from gpudesk.text import tr
from gpudesk.workbench.deciding.answers import answers_of
from gpudesk.workbench.deciding.asking import why_not_asked

_SCREENS: Final = tuple(Screen)
_WIDEST, _MARGIN = 620.0, 40.0
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class QuestionsView(DecideView):
    """Steps at the left, the questions of one screen in the middle, the way on below."""

    scrolls = False

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin with the first screen; its questions follow with a decision."""
        super().__init__(desk, theme, parent)
        self.setAccessibleName(tr("Questions"))
        self.screen_shown = _SCREENS[0]
        self.found: Decided | None = None
        self.effects = Effects(desk, self)
        self.effects.found.connect(self._show_effect)
        self.steps = StepsColumn(theme)
        self.steps.chosen.connect(self.show_screen)
        self.body: ScreenBody | None = None
        self.back = Button(theme, tr("Back"), icon="arrow-left")
        self.recommend = Button(theme, tr("See recommendation now"))
        self.next = Button(theme, tr("Next question"), kind="primary", key=key_name("Enter"))
        self.back.clicked.connect(lambda: self.step(-1))
        self.next.clicked.connect(lambda: self.step(1))
        self.recommend.clicked.connect(lambda: self.view_wanted.emit("result"))
        self._lay_out()
        theme.follow(self._dress)

    def _lay_out(self) -> None:
        self._scroll = ScrollArea()
        self._scroll.setProperty("readAsBlock", True)
        self._foot = QHBoxLayout()
        self._foot.addWidget(self.back)
        self._foot.addStretch(1)
        self._foot.addWidget(self.recommend)
        self._foot.addWidget(self.next)
        foot = QWidget()
        foot.setLayout(self._foot)
        self._foot_box = foot
        middle = QWidget()
        middle.setProperty("readAsBlock", True)
        column = QVBoxLayout(middle)
        column.addWidget(self._scroll, 1)
        column.addWidget(Rule(self.theme))
        column.addWidget(foot)
        beside = QHBoxLayout()
        beside.addWidget(self.steps)
        beside.addWidget(middle, 1)
        whole = QVBoxLayout(self)
        whole.addWidget(Rule(self.theme))
        whole.addLayout(beside, 1)
        for layout in (column, beside, whole):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)

    # What is shown

    def show_decision(self, found: Decided) -> None:
        """Show the answers in force on the screen, and work out what others would do."""
        self.found = found
        if self.body is not None and self.body.asked == self._asked():
            self._fill(found)
            return
        # An answer decides whether others are asked: the screen stays where it is.
        focus, place = self._focused_question(), self._scroll.verticalScrollBar().value()
        self._make_body(found)
        self._fill(found)
        if focus:
            self._focus_question(focus)
        self._scroll.verticalScrollBar().setValue(place)

    def show_screen(self, screen: Screen, *, focus: bool = True) -> None:
        """Show another screen, and give its first question the focus."""
        self.screen_shown = screen
        if self.found is None:
            return
        if self.body is None or self.body.screen_shown is not screen:
            self._make_body(self.found)
        self._fill(self.found)
        self._scroll.verticalScrollBar().setValue(0)
        if focus:
            self.focus_first()
        self._select_first()

    def step(self, by: int) -> None:
        """Go to the next screen (1) or the one before (-1); after the last comes the recommendation."""
        place = _SCREENS.index(self.screen_shown) + by
        if place >= len(_SCREENS):
            self.view_wanted.emit("result")
        elif place >= 0:
            self.show_screen(_SCREENS[place])

    def _asked(self) -> tuple[str, ...]:
        """Return the questions of the screen that matter, or that the user wants to answer all the same."""
        return tuple(name for name, reason in self._questions() if not reason)

    def _questions(self) -> Iterator[tuple[str, str]]:
        """Yield the questions of the screen, each with why it is not asked, empty where it is."""
        found = self.found
        if found is None:
            return
        forced = () if self.body is None else self.body.forced
        for name in QUESTIONS:
            if QUESTIONS[name].screen is self.screen_shown:
                why = why_not_asked(name, found.decision)
                said = "" if why is None or name in forced else sentence(why, found.formatter)
                yield name, said

    def _make_body(self, found: Decided, forced: frozenset[str] = frozenset()) -> None:
        """Ask the questions of the screen anew."""
        if self.body is not None and self.body.screen_shown is self.screen_shown:
            forced |= self.body.forced
        body = ScreenBody(self.theme, self.screen_shown, forced, found.formatter)
        self.body = body
        body.answered.connect(self.answer)
        body.pointed.connect(self._point)
        body.wanted_all_the_same.connect(self._ask_all_the_same)
        body.ask(list(self._questions()))
        former = self._scroll.takeWidget()
        if former is not None:
            # A link of it may be what asked for this.
            former.hide()
            former.deleteLater()
        self._scroll.show_widget(body)

    def _fill(self, found: Decided) -> None:
        """Show what is in force, and what is known of other answers; ask for what is not."""
        assert self.body is not None
        answers = found.decision.answers
        self.steps.show_steps([self._step_of(screen, found) for screen in _SCREENS], self.screen_shown)
        wanted: list[tuple[str, AnswerValue]] = []
        for block in self.body.blocks:
            block.show_answer(answers[block.question], self._fallback(block.question, found))
            for value in block.values:
                known = known_decision_if(self.desk, block.question, value)
                if known is None:
                    wanted.append((block.question, value))
                else:
                    block.show_effect(found, value, known)
        self.effects.want(wanted)
        if not self.isVisible():
            self.effects.rest()
        last = self.screen_shown is _SCREENS[-1]
        self.back.setEnabled(self.screen_shown is not _SCREENS[0])
        self.recommend.setVisible(not last)
        self.next.setText(tr("See recommendation") if last else tr("Next question"))

    def _step_of(self, screen: Screen, found: Decided) -> Step:
        answers = found.decision.answers
        names = [name for name, question in QUESTIONS.items() if question.screen is screen]
        given = [name for name in names if answers[name].origin is Origin.YOURS]
        shown = given[0] if given else names[0]
        answer = short_answer(shown, answers[shown], found.formatter)
        if screen is self.screen_shown and not given:
            answer = tr("answering")
        return Step(screen, question_title(names[0]), answer, done=bool(given))

    @staticmethod
    def _fallback(question: str, found: Decided) -> Answered:
        """Return what is in force once the user's answer is taken back."""
        scenario = found.answer.scenario
        said = {name: value for name, value in scenario.decision.answers.items() if name != question}
        return answers_of(scenario, said, found.answer.model.native_precision)[question]

    def _show_effect(self, question: str, value: AnswerValue, decision: object) -> None:
        del decision
        known = known_decision_if(self.desk, question, value)
        if self.found is None or self.body is None or known is None:
            return
        for block in self.body.blocks:
            if block.question == question:
                block.show_effect(self.found, value, known)

    # Answers

    def answer(self, question: str, value: AnswerValue | None) -> None:
        """Answer a question, or take the answer back with None; one step that can be undone."""
        title = question_title(question)
        text = tr("Back to the default: {question}", question=title)
        if value is not None:
            text = f"{title} {answer_text(question, value, self.desk.formatter)}"
        self.desk.apply(with_answer(self.desk.scenario, question, value), text)
        if value is not None:
            self._point(question, value)

    def _ask_all_the_same(self, question: str) -> None:
        if self.found is not None:
            self._make_body(self.found, frozenset({question}))
            self._fill(self.found)
            self._focus_question(question)

    def _point(self, question: str, value: AnswerValue) -> None:
        """Let the panel show what an answer would do, and bring it in sight where it has the focus."""
        focus: QWidget | None = self.window().focusWidget()
        if self.body is not None and focus is not None and self.body.is_option(focus):
            self._scroll.ensureWidgetVisible(focus, 0, self.theme.px(_MARGIN))
        self.desk.select(decision_option(question, value))

    def _select_first(self) -> None:
        if self.body is not None and self.body.blocks:
            block = self.body.blocks[0]
            self._point(block.question, block.chosen.value)

    # Focus and keys

    def focus_first(self) -> None:
        """Give the focus to the answer in force to the first question."""
        if self.body is not None and self.body.blocks:
            self.body.blocks[0].focus_chosen()
        else:
            self.steps.focus_current()

    def _focused_question(self) -> str:
        """Return the question of which an answer has the focus, empty where none has."""
        blocks = () if self.body is None else self.body.blocks
        return next((each.question for each in blocks if any(o.hasFocus() for o in each.options)), "")

    def _focus_question(self, question: str) -> None:
        if self.body is not None:
            for block in self.body.blocks:
                if block.question == question:
                    block.focus_chosen()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Choose by number, and go on with Enter, unless a field or a button has the focus."""
        focus: QWidget | None = self.window().focusWidget()
        if isinstance(focus, QLineEdit) or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif event.key() in _ENTER:
            self._enter(focus)
        elif Qt.Key.Key_1 <= event.key() <= Qt.Key.Key_9 and self.body is not None:
            if not self.body.choose_number(event.key() - Qt.Key.Key_0):
                super().keyPressEvent(event)
        else:
            super().keyPressEvent(event)

    def _enter(self, focus: QWidget | None) -> None:
        """Press the button that has the focus, else go on."""
        answers = focus is not None and self.body is not None and self.body.is_option(focus)
        if isinstance(focus, QAbstractButton) and not answers:
            focus.click()
        else:
            self.step(1)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Go on working out what answers would do, and let the panel tell of the first question again."""
        super().showEvent(event)
        self.effects.go_on()
        if self.desk.selection is None:
            self._select_first()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Work nothing out that nobody sees, and tell nothing of answers that nobody sees."""
        super().hideEvent(event)
        self.effects.rest()
        chosen = self.desk.selection
        if chosen is not None and chosen.kind is SelectionKind.OPTION and not event.spontaneous():
            self.desk.select(None)

    # Copies and looks

    def copied(self) -> str:
        """Return all answers in force as lines of a text, each with whose it is."""
        if self.found is None:
            return ""
        return "".join(
            f"{question_title(name)} {answer_text(name, each.value, self.found.formatter)}"
            f" ({origin_text(each)})\n"
            for name, each in self.found.decision.answers.items()
        )

    def _dress(self) -> None:
        px = self.theme.px
        self._foot.setContentsMargins(px(_MARGIN), px(12), px(_MARGIN), px(12))
        self._foot.setSpacing(px(10))
        self._foot_box.setMaximumWidth(px(_WIDEST) + 2 * px(_MARGIN))
