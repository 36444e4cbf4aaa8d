"""The questions view: the question to answer next, or one screen of all questions, each answer with its effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.decision.facts.answers import explain_skipped_question
from gpudesk.desktop.pages.decide.parts import DecideView
from gpudesk.desktop.pages.decide.question_block import NextQuestionBlock, QuestionBlock
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AlternativeDecisions, EvaluatedAnswer
from gpudesk.desktop.session.selection import SelectionKind, select_decision_option
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedButton, PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button, LinkButton
from gpudesk.desktop.ui.widgets.layouts import (
    STRETCH,
    FullWidthScrollArea,
    Hairline,
    ThemedLabel,
    make_column,
    make_row,
)
from gpudesk.desktop.ui.widgets.qt_support import ArrowKeyGroup, format_key
from gpudesk.domain.decision import QUESTIONS, AnswerOrigin, AnswerValue, DialogueScreen
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.decision.facts import format_answer
from gpudesk.report.decision.questions import format_short_answer, get_question_text, label_question_group
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import format_message
from gpudesk.text.translation import tr

WIDTH: Final = 246.0
_ROW, _PITCH = 40.0, 44.0
_MARK_X, _TEXT_X = 8.0, 30.0
_CHECK: Final = 15.0
_ABOVE: Final = 8.0
_BAR_INSET: Final = 9.0
_PROGRESS: Final = 4.0


@frozen_dataclass
class ScreenEntry:
    """A screen's first question, its answer, and whether the user answered any question of the screen."""

    screen: DialogueScreen | None
    title: str
    answer: str
    is_answered: bool


class _ScreenButton(PaintedButton):
    """One screen: its number, or a check once answered, the question and the answer.

    Without a number it is the question to answer next.
    """

    def __init__(self, theme: Theme, screen: DialogueScreen | None = None, number: int = 0) -> None:
        super().__init__(theme)
        self._number = number
        self.step = ScreenEntry(screen, "", "", is_answered=False)
        self.setCheckable(True)
        # Screen readers then treat it as one of several.
        self.setAutoExclusive(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_step(self, step: ScreenEntry, *, current: bool) -> None:
        if (step, current) == (self.step, self.isChecked()):
            return
        self.step = step
        self.setChecked(current)
        state = tr("answered") if step.is_answered else ""
        numbered = () if step.screen is None else (str(self._number), step.screen.label)
        self.setAccessibleName(", ".join(part for part in (*numbered, step.title, step.answer, state) if part))
        self.setToolTip("" if step.screen is None else f"{step.screen.label}: {step.title}")
        self.update()

    def nextCheckState(self) -> None:
        """The dialogue decides which screen is shown."""

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(120), self._theme.px(_ROW))

    def paint(self, pen: ThemePainter) -> None:
        theme, px, current = self._theme, self._theme.px, self.isChecked()
        pen.list_item(self, px(_BAR_INSET))
        line, below = float(theme.line("small")), float(theme.line("caption"))
        top = (self.height() - line - below) / 2
        self._draw_mark(pen, top, line)
        x = px(_TEXT_X)
        room = self.width() - x - px(6)
        strong = current or self.step.is_answered
        title = QRectF(x, top, room, line)
        font, color = "label" if current else "small", "text1" if strong else "text2"
        # A screen has several questions: its short name covers all of them, and is never cut.
        name = self.step.title if self.step.screen is None else self.step.screen.label
        pen.text(title, name, font=font, color=color)
        quiet = "text2" if current else "text3"
        pen.text(QRectF(x, title.bottom(), room, below), self.step.answer, font="caption", color=quiet)

    def _draw_mark(self, pen: ThemePainter, top: float, line: float) -> None:
        px, current = self._theme.px, self.isChecked()
        checked = self.step.is_answered and not current
        if checked or not self._number:
            side = float(px(_CHECK))
            icon, color = ("check", "best_text") if checked else ("signpost", "text1" if current else "text3")
            pen.icon(icon, px(_MARK_X), top + (line - side) / 2, side, color)
            return
        place = QRectF(px(_MARK_X) + px(3), top, px(16), line)
        color = "text1" if current else "text3"
        pen.text(place, str(self._number), font="label" if current else "small", color=color)


class _ProgressBar(PaintedWidget):
    """The position of the screen, and a bar of the answered ones."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._text, self._share = "", 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_progress(self, text: str, share: float, progress_text: str) -> None:
        """Show a text and a share of 1."""
        if (text, share, progress_text) == (self._text, self._share, self.accessibleName()):
            return
        self._text, self._share = text, share
        self.setAccessibleName(progress_text)
        self.setToolTip(progress_text)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(120), self._theme.line("label"))

    def paint(self, pen: ThemePainter) -> None:
        px = self._theme.px
        x, thick = px(_MARK_X), px(_PROGRESS)
        place = QRectF(x, 0, self.width() - x, self.height())
        left = x + pen.text(place, self._text, font="label") + px(14)
        bar = QRectF(left, (self.height() - thick) / 2, self.width() - left - px(8), thick)
        pen.tint(bar, "sunken", 2.0)
        if self._share > 0.0:
            pen.tint(bar.adjusted(0, 0, -bar.width() * (1.0 - self._share), 0), "text1", 2.0)


class ScreenList(PaintedWidget):
    """Lists the screens in their groups. ↑ ↓ Home End move the focus, Enter opens; a single tab stop."""

    #: The user wants to see a screen, or with None the question to answer next.
    chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.setAccessibleName(tr("Steps"))
        self.setProperty("readAsBlock", True)
        self.progress = _ProgressBar(theme)
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.addWidget(self.progress)
        self.rows: list[_ScreenButton] = []
        self._keys = ArrowKeyGroup(self)
        self.next_row = _ScreenButton(theme)
        self.next_row.clicked.connect(lambda: self.chosen.emit(None))
        self._keys.add(self.next_row)
        self._column.addWidget(self.next_row)
        self._heads: list[ThemedLabel] = []
        group = None
        for number, screen in enumerate(DialogueScreen, start=1):
            if screen.strength is not group:
                group = screen.strength
                head = ThemedLabel(theme, label_question_group(group), font="caption_strong", color="text3")
                self._heads.append(head)
                self._column.addSpacing(theme.px(_ABOVE))
                self._column.addWidget(head)
            row = _ScreenButton(theme, screen, number)
            row.clicked.connect(lambda _on, screen=screen: self.chosen.emit(screen))
            self.rows.append(row)
            self._keys.add(row)
            self._column.addWidget(row)
        self._column.addStretch(1)
        scroll = FullWidthScrollArea()
        scroll.show_widget(inner)
        make_column(scroll, on=self)
        theme.follow(self._dress)

    def show_steps(
        self, steps: Sequence[ScreenEntry], current: DialogueScreen | None, answered: int, questions: int
    ) -> None:
        """Show the screens, the open one, and how many questions the user answered."""
        entry = ScreenEntry(None, tr("Next question"), tr("most important question"), is_answered=False)
        self.next_row.show_step(entry, current=current is None)
        for row, step in zip(self.rows, steps, strict=True):
            row.show_step(step, current=step.screen is current)
        if current is None:
            text = progress_text = tr("{n} of {total} answered", n=answered, total=questions)
            next_row = self.next_row
        else:
            place = list(DialogueScreen).index(current)
            text = tr("{n} of {total}", n=place + 1, total=len(steps))
            progress_text = tr("Step {n} of {total}, {done} answered", n=place + 1, total=len(steps), done=answered)
            next_row = self.rows[place]
        self.progress.show_progress(text, answered / questions, progress_text)
        self._keys.set_tab_stop(next_row)

    def focus_current(self) -> None:
        row = next((row for row in self.rows if row.isChecked()), self.next_row)
        row.setFocus(Qt.FocusReason.TabFocusReason)

    def _dress(self) -> None:
        px = self._theme.px
        self.setFixedWidth(px(WIDTH))
        self._column.setContentsMargins(px(8), px(14), px(9), px(10))
        self._column.setSpacing(px(_PITCH) - px(_ROW))
        for head in self._heads:
            head.setIndent(px(8))
        self.update()

    def paint(self, pen: ThemePainter) -> None:
        pen.hairline(self.width() - 1, 0, self.width() - 1, self.height())


_WIDEST, _MARGIN = 620.0, 40


class _StageTag(PaintedWidget):
    """The section of the dialogue that a screen belongs to."""

    def __init__(self, theme: Theme, text: str) -> None:
        super().__init__(theme)
        self._text = text
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(120), self._theme.px(18))

    def paint(self, pen: ThemePainter) -> None:
        pen.tag(0, self.height() / 2, self._text)


class _SkippedQuestion(QWidget):
    """A question that cannot matter: its title, the reason, and a link to answer it anyway."""

    def __init__(self, theme: Theme, question: str, reason: str) -> None:
        super().__init__()
        title = get_question_text(question)
        reason_text = tr("Skipped: {reason}.", reason=reason)
        self.link = LinkButton(theme, tr("Ask anyway"))
        self.link.setAccessibleName(tr("Ask anyway: {question}", question=title))
        self.link.setAccessibleDescription(reason_text)
        row = make_row(
            (ThemedLabel(theme, reason_text, font="small", color="text3", wrap=True), 1), self.link, gap=theme.px(12)
        )
        make_column(ThemedLabel(theme, title, font="section", color="text3", wrap=True), row, gap=theme.px(2), on=self)


class QuestionsBody(QWidget):
    """Questions below one another, in a readable width."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        inner = QWidget()
        self._inner = inner
        self._column = make_column(gap=14, margins=(_MARGIN, 20, _MARGIN, 12), scaled=theme, on=inner)
        make_row((inner, 1000), STRETCH, on=self)
        theme.follow(self._dress)

    @property
    def blocks(self) -> list[QuestionBlock]:
        raise NotImplementedError

    def choose_number(self, number: int) -> bool:
        """Answer the focused question, else the first, by a number key; return whether it was answered."""
        block = next((each for each in self.blocks if any(o.hasFocus() for o in each.options)), None)
        block = block or (self.blocks[0] if self.blocks else None)
        return block is not None and block.choose_number(number)

    def is_option(self, widget: QWidget) -> bool:
        return any(widget is option for block in self.blocks for option in block.options)

    def _dress(self) -> None:
        px = self._theme.px
        self._inner.setMaximumWidth(px(_WIDEST) + 2 * px(_MARGIN))


class NextQuestionBody(QuestionsBody):
    """Only the question to answer next."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__(theme)
        self.next_question = NextQuestionBlock(desk, theme, large=True)
        self._column.addWidget(self.next_question)
        self._column.addStretch(1)

    @property
    def blocks(self) -> list[QuestionBlock]:
        return self.next_question.blocks


class QuestionScreenBody(QuestionsBody):
    """One screen. `forced` are questions that the user wants to answer although they cannot matter."""

    #: A question and its answer, None for the default.
    answered = Signal(str, object)
    #: The hovered or focused answer.
    pointed = Signal(str, object)
    #: The user wants to answer a skipped question.
    wanted_all_the_same = Signal(str)

    def __init__(self, theme: Theme, screen: DialogueScreen, forced: frozenset[str], formatter: Formatter) -> None:
        super().__init__(theme)
        self._formatter = formatter
        self.screen_shown, self.forced = screen, forced
        self._blocks: list[QuestionBlock] = []
        self.not_asked: list[_SkippedQuestion] = []
        self._column.addWidget(_StageTag(theme, label_question_group(screen.strength)))

    @property
    def blocks(self) -> list[QuestionBlock]:
        return self._blocks

    @property
    def question_ids(self) -> tuple[str, ...]:
        return tuple(block.question for block in self.blocks)

    def ask(self, questions: Sequence[tuple[str, str]]) -> None:
        """Ask questions, each with the reason to skip it, if any; only the first ones at once."""
        for name, reason in sorted(questions, key=lambda each: bool(each[1])):
            if self.blocks or self.not_asked:
                self._column.addWidget(Hairline(self._theme))
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
        left_out = _SkippedQuestion(self._theme, name, reason)
        left_out.link.clicked.connect(lambda: self.wanted_all_the_same.emit(name))
        self.not_asked.append(left_out)
        self._column.addWidget(left_out)


_SCREENS: Final = tuple(DialogueScreen)
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class QuestionsView(DecideView):
    """Steps at the left, the next question or a screen in the middle, navigation below.

    `screen_shown` is None for the next question.
    """

    scrolls = False

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, parent)
        self.setAccessibleName(tr("Questions"))
        self.screen_shown: DialogueScreen | None = None
        self.effects = AlternativeDecisions(self)
        self.effects.computed.connect(self._show_effect)
        self.steps = ScreenList(theme)
        self.steps.chosen.connect(self.show_screen)
        self.body: QuestionsBody | None = None
        self.back = Button(theme, tr("Back"), lambda: self.step(-1), icon="arrow-left")
        self.recommend = Button(theme, tr("See recommendation now"), lambda: self.view_requested.emit("result"))
        self.next = Button(theme, tr("Next question"), self._go_on, kind="primary", key=format_key("Enter"))
        self._scroll = FullWidthScrollArea()
        self._scroll.setProperty("readAsBlock", True)
        foot = self._foot_box = QWidget()
        around = (_MARGIN, 12, _MARGIN, 12)
        make_row(self.back, STRETCH, self.recommend, self.next, gap=10, margins=around, scaled=theme, on=foot)
        middle = QWidget()
        middle.setProperty("readAsBlock", True)
        make_column((self._scroll, 1), Hairline(self.theme), foot, gap=0, on=middle)
        make_column(Hairline(self.theme), (make_row(self.steps, (middle, 1), gap=0), 1), gap=0, on=self)
        theme.follow(self._dress)

    # Display

    def refresh(self) -> None:
        body = self.body
        same = body.question_ids == self._list_questions() if isinstance(body, QuestionScreenBody) else body is not None
        if same:
            self._fill()
            return
        # Answers decide whether others are asked: the screen stays.
        focus, place = self._find_focused_question(), self._scroll.verticalScrollBar().value()
        self._make_body()
        self._fill()
        if focus:
            self._focus_question(focus)
        self._scroll.verticalScrollBar().setValue(place)

    def show_screen(self, screen: DialogueScreen | None, *, focus: bool = True) -> None:
        """Show another screen, or with None the next question; focus its first question."""
        before, self.screen_shown = self.screen_shown, screen
        if self.body is None or before is not screen:
            self._make_body()
        self._fill()
        self._scroll.verticalScrollBar().setValue(0)
        if focus:
            self.focus_first()
        self._select_first()

    def step(self, by: int) -> None:
        """Go to the next screen (1) or the previous one (-1); the recommendation follows the last.

        In the next-question view, go to the following question that can change the recommendation.
        """
        if isinstance(self.body, NextQuestionBody):
            if by > 0:
                self.body.next_question.skip()
        elif self.screen_shown is not None:
            place = _SCREENS.index(self.screen_shown) + by
            if place >= len(_SCREENS):
                self.view_requested.emit("result")
            elif place >= 0:
                self.show_screen(_SCREENS[place])

    def _go_on(self) -> None:
        """Run the action of the primary button."""
        if self.screen_shown is None:
            self.view_requested.emit("result")
        else:
            self.step(1)

    def _list_questions(self) -> tuple[str, ...]:
        """Return the questions of the screen that matter, or that the user wants to answer anyway."""
        return tuple(name for name, reason in self._list_screen_questions() if not reason)

    def _list_screen_questions(self) -> Iterator[tuple[str, str]]:
        """Yield the questions of the screen, each with the reason to skip it, if any."""
        forced = self.body.forced if isinstance(self.body, QuestionScreenBody) else ()
        for name in QUESTIONS:
            if QUESTIONS[name].screen is self.screen_shown:
                why = explain_skipped_question(name, self.evaluated.decision)
                yield name, "" if why is None or name in forced else format_message(why, self.desk.formatter)

    def _make_body(self, forced: frozenset[str] = frozenset()) -> None:
        former = self.body
        if self.screen_shown is None:
            next_body = NextQuestionBody(self.desk, self.theme)
            next_body.next_question.answered.connect(self.answer)
            next_body.next_question.pointed.connect(self._point)
            self.body = next_body
        else:
            if isinstance(former, QuestionScreenBody) and former.screen_shown is self.screen_shown:
                forced |= former.forced
            self.body = body = QuestionScreenBody(self.theme, self.screen_shown, forced, self.desk.formatter)
            body.answered.connect(self.answer)
            body.pointed.connect(self._point)
            body.wanted_all_the_same.connect(self._ask_anyway)
            body.ask(list(self._list_screen_questions()))
        if former is not None:
            self._scroll.takeWidget()
            # The signal can come from one of its links.
            former.hide()
            former.deleteLater()
        self._scroll.show_widget(self.body)

    def _fill(self) -> None:
        """Show the current answers and the known effects of others; request the missing effects."""
        evaluated = self.evaluated
        origins = [each.origin for each in evaluated.decision.answers.values()]
        steps = [self._make_screen_entry(screen, evaluated) for screen in _SCREENS]
        self.steps.show_steps(steps, self.screen_shown, origins.count(AnswerOrigin.YOURS), len(origins))
        requests: list[tuple[str, AnswerValue]] = []
        if isinstance(self.body, NextQuestionBody):
            self.body.next_question.show_decision(evaluated)
        elif self.body is not None:
            requests = [(each.question, value) for each in self.body.blocks for value in each.show_decision(evaluated)]
        self.effects.request(evaluated, requests)
        if not self.isVisible():
            self.effects.pause()
        last = self.screen_shown in (None, _SCREENS[-1])
        self.back.setEnabled(self.screen_shown not in (None, _SCREENS[0]))
        self.recommend.setVisible(not last)
        self.next.setText(tr("See recommendation") if last else tr("Next question"))

    def _make_screen_entry(self, screen: DialogueScreen, evaluated: EvaluatedAnswer) -> ScreenEntry:
        answers = evaluated.decision.answers
        names = [name for name, question in QUESTIONS.items() if question.screen is screen]
        user_answered = [name for name in names if answers[name].origin is AnswerOrigin.YOURS]
        shown_name = user_answered[0] if user_answered else names[0]
        answer = format_short_answer(shown_name, answers[shown_name], evaluated.formatter)
        if screen is self.screen_shown and not user_answered:
            answer = tr("current question")
        return ScreenEntry(screen, get_question_text(names[0]), answer, is_answered=bool(user_answered))

    def _show_effect(self, question: str, value: AnswerValue) -> None:
        alternative = self.evaluated.find_alternative(question, value)
        for block in () if self.body is None else self.body.blocks:
            if block.question == question and alternative is not None:
                block.show_effect(self.evaluated, value, alternative)

    # Answers

    def answer(self, question: str, value: AnswerValue | None) -> None:
        super().answer(question, value)
        if value is not None:
            self._point(question, value)

    def _ask_anyway(self, question: str) -> None:
        self._make_body(frozenset({question}))
        self._fill()
        self._focus_question(question)

    def _point(self, question: str, value: AnswerValue) -> None:
        """Show the effect of an answer in the panel, and scroll to it if focused."""
        focus: QWidget | None = self.window().focusWidget()
        if self.body is not None and focus is not None and self.body.is_option(focus):
            self._scroll.ensureWidgetVisible(focus, 0, self.theme.px(_MARGIN))
        self.desk.select(select_decision_option(question, value))

    def _select_first(self) -> None:
        if self.body is not None and self.body.blocks:
            block = self.body.blocks[0]
            self._point(block.question, block.chosen.value)

    # Focus and keys

    def focus_first(self) -> None:
        if self.body is not None and self.body.blocks:
            self.body.blocks[0].focus_chosen()
        else:
            self.steps.focus_current()

    def _find_focused_question(self) -> str:
        """Return the question with the focused answer, empty without one."""
        blocks = () if self.body is None else self.body.blocks
        return next((each.question for each in blocks if any(o.hasFocus() for o in each.options)), "")

    def _focus_question(self, question: str) -> None:
        if self.body is not None:
            for block in self.body.blocks:
                if block.question == question:
                    block.focus_chosen()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose by number, and continue with Enter, unless a field or a button is focused."""
        focus: QWidget | None = self.window().focusWidget()
        if isinstance(focus, QLineEdit) or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif event.key() in _ENTER:
            answers = focus is not None and self.body is not None and self.body.is_option(focus)
            if isinstance(focus, QAbstractButton) and not answers:
                focus.click()
            else:
                self._go_on()
        elif Qt.Key.Key_1 <= event.key() <= Qt.Key.Key_9 and self.body is not None:
            if not self.body.choose_number(event.key() - Qt.Key.Key_0):
                super().keyPressEvent(event)
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Resume computing the effects of answers, and show the first question in the panel again."""
        super().showEvent(event)
        self.effects.resume()
        if self.desk.selection is None:
            self._select_first()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop computing effects, and clear the panel's answer, while the view is hidden."""
        super().hideEvent(event)
        self.effects.pause()
        chosen = self.desk.selection
        if chosen is not None and chosen.kind is SelectionKind.OPTION and not event.spontaneous():
            self.desk.select(None)

    # Copying and theme

    def copied(self) -> str:
        return "".join(
            f"{get_question_text(name)} {format_answer(name, each.value, self.desk.formatter)} ({each.origin.label})\n"
            for name, each in self.evaluated.decision.answers.items()
        )

    def _dress(self) -> None:
        px = self.theme.px
        self._foot_box.setMaximumWidth(px(_WIDEST) + 2 * px(_MARGIN))
