"""One question with its answers as cards, each with its effect; the question to answer next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QFontMetricsF, QKeyEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from gpudesk.decision.facts.answers import resolve_answers
from gpudesk.decision.outcome.search import OptionDecisions
from gpudesk.desktop.pages.decide.parts import SearchBlock
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn, EvaluatedAnswer
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import RIGHT, PaintedButton, ThemePainter
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.number_edit import NumberEdit, NumberFormat
from gpudesk.desktop.ui.widgets.qt_support import ArrowKeyGroup
from gpudesk.domain.decision import QUESTIONS, AnswerOrigin, AnswerValue, Decision, QuestionAnswer
from gpudesk.domain.progress import ProgressSteps
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.decision.facts import OptionTexts, format_answer, get_option_texts
from gpudesk.report.decision.questions import (
    ColumnOutcome,
    describe_option_briefly,
    describe_option_effect,
    describe_option_fully,
    find_column_outcome,
    get_question_reason,
    get_question_text,
    list_offered_values,
)
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr, trn

_CARD_RADIUS: Final = 8.0
_HEIGHT, _SMALL_HEIGHT = 64.0, 36.0
_RADIO_X, _RADIO = 23.0, 8.0
_TEXT_X, _RIGHT = 46.0, 14.0
#: Start of the effect, as a share of the card's width.
_EFFECT_AT: Final = 0.42
_PITCH, _MARKER, _CARD_GAP, _BETWEEN = 60.0, 3.6, 12.0, 5.0
_NAME_LINE: Final = 17.0
#: Below this width the effect is placed below the text.
_NARROW: Final = 460.0
#: Opacity of an effect under a former decision.
_DIMMED: Final = 0.45


@frozen_dataclass
class OptionEffect:
    """The effect of an answer: a text, a shorter one, the outcome of each column, the spoken text."""

    text: str
    brief: str
    parts: tuple[tuple[AcceleratorColumn, ColumnOutcome], ...]
    sentence: str


class OptionButton(PaintedButton):
    """One answer; chosen by a click, Space or its number; emits focus moves."""

    #: It is hovered or focused.
    pointed = Signal()

    def __init__(
        self, theme: Theme, value: AnswerValue, words: OptionTexts, number: int, parent: QWidget | None = None
    ) -> None:
        """Show an answer's text; `number` chooses it."""
        super().__init__(theme, parent)
        self.value, self.words, self.number = value, words, number
        self.effect: OptionEffect | None = None
        self.is_stale = False
        self.origin = ""
        self.setCheckable(True)
        # Screen readers then treat it as one of several.
        self.setAutoExclusive(True)
        self.setProperty("ringRadius", _CARD_RADIUS)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(", ".join(part for part in words if part))
        theme.changed.connect(self.updateGeometry)
        self._describe()

    def show_state(self, origin: str, *, chosen: bool) -> None:
        """Show whether it is the current answer, and its origin, if that is not obvious."""
        if (origin, chosen) == (self.origin, self.isChecked()):
            return
        self.origin = origin
        self.setChecked(chosen)
        self._describe()
        self.update()

    def dim_effect(self) -> None:
        """Show that the effect belongs to a former decision."""
        self.is_stale = True
        self.update()

    def show_effect(self, effect: OptionEffect) -> None:
        if effect != self.effect or self.is_stale:
            rows = self.rows
            self.effect, self.is_stale = effect, False
            self._describe()
            if rows != self.rows:
                self.updateGeometry()
            self.update()

    @property
    def rows(self) -> int:
        return 1

    def _describe(self) -> None:
        key = tr("key {n}", n=self.number) if self.number else ""
        descriptions = ("" if self.effect is None else self.effect.sentence, self.origin, key)
        text = "; ".join(part for part in descriptions if part)
        self.setAccessibleDescription(text)
        self.setToolTip("" if self.effect is None else self.effect.sentence)

    # Qt overrides

    def nextCheckState(self) -> None:
        """The scenario decides which answer is current."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.pointed.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.pointed.emit()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(240), self._theme.px(_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(160), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.sizeHint().height() != self.height():
            self.updateGeometry()

    # Drawing

    def paint(self, pen: ThemePainter) -> None:
        chosen, hover = self.isChecked(), self.underMouse()
        fill = "selection" if self.isDown() else "hover" if hover and not chosen else "page"
        pen.frame(
            QRectF(self.rect()),
            "text1" if chosen else "control" if hover else "strong",
            radius=_CARD_RADIUS,
            fill=fill,
            width=1.5 if chosen else 1.0,
        )
        self._draw_content(pen)

    def _draw_content(self, pen: ThemePainter) -> None:
        raise NotImplementedError

    def _draw_radio(self, pen: ThemePainter, x: float, y: float, radius: float) -> None:
        length, painter = self._theme.length, pen.painter
        color = pen.color("text1" if self.isChecked() else "control")
        painter.setPen(QPen(color, length(1.5)))
        painter.setBrush(pen.color("page"))
        painter.drawEllipse(QPointF(x, y), length(radius), length(radius))
        if self.isChecked():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(QPointF(x, y), length(radius / 2), length(radius / 2))


class OptionCard(OptionButton):
    """A large card: radio, title and use, at the right the effect and the accelerators by name."""

    @property
    def narrow(self) -> bool:
        return self.width() < self._theme.px(_NARROW)

    @property
    def rows(self) -> int:
        return 1 + max((row for row, _, _ in self._arrange_accelerators()), default=0)

    def sizeHint(self) -> QSize:
        px = self._theme.px
        lines = self.rows - 1 + (2 if self.narrow else 0)
        return QSize(px(240), px(_HEIGHT) + lines * px(_NAME_LINE) + (px(8) if self.narrow else 0))

    def _compute_effect_x(self) -> float:
        px = self._theme.px
        return float(px(_TEXT_X)) if self.narrow else max(px(200), self.width() * _EFFECT_AT)

    def _compute_right_end(self) -> float:
        key = self._theme.px(30) if self.number else 0
        return self.width() - self._theme.px(_RIGHT) - key

    def _arrange_accelerators(self) -> list[tuple[int, float, float]]:
        """Return row, left end and width of each accelerator: the same on all cards, undecided or not."""
        if self.effect is None:
            return []
        px, metrics = self._theme.px, QFontMetricsF(self._theme.font("caption"))
        room = self._compute_right_end() - self._compute_effect_x()
        widths = [
            max(px(_PITCH), metrics.horizontalAdvance(f"{part.name} ?") + px(_CARD_GAP + _BETWEEN))
            for part, _ in self.effect.parts
        ]
        if sum(widths) - px(_BETWEEN) <= room:
            starts = [sum(widths[:place]) for place in range(len(widths))]
            return [(0, start, width) for start, width in zip(starts, widths, strict=True)]
        pitch = max(widths)
        columns = max(1, int((room + px(_BETWEEN)) // pitch))
        return [(place // columns, place % columns * pitch, pitch) for place in range(len(widths))]

    def _draw_content(self, pen: ThemePainter) -> None:
        theme = self._theme
        px, height = theme.px, float(theme.px(_HEIGHT))
        middle = height / 2
        self._draw_radio(pen, px(_RADIO_X), middle, _RADIO)
        x, at = float(px(_TEXT_X)), self._compute_effect_x()
        room = self._compute_right_end() - x if self.narrow else at - px(_CARD_GAP) - x
        uses = pen.lines(self.words.use, room, "small", 1 if self.narrow else 2)
        top = middle - px(21)
        title = QRectF(x, top - px(7) * (len(uses) - 1), room, theme.line("option"))
        width = pen.text(title, self.words.title, font="option")
        if self.origin and width + pen.width(self.origin, "caption") + px(8) <= room:
            place = QRectF(x + width + px(8), title.top(), room - width - px(8), title.height())
            pen.text(place, self.origin, font="caption", color="text3")
        use = QRectF(x, title.bottom() + px(2 if len(uses) == 1 else 0), room, theme.line("small"))
        for words in uses:
            pen.text(use, words, font="small", color="text2")
            use.translate(0, use.height())
        if self.number:
            text = str(self.number)
            pen.key_hint(self.width() - px(_RIGHT) - pen.tag_width(text), middle, text)
        if self.effect is not None:
            pen.painter.setOpacity(_DIMMED if self.is_stale else 1.0)
            self._draw_effect(pen, self.effect, at, use.top() + px(2) if self.narrow else top)

    def _draw_effect(self, pen: ThemePainter, effect: OptionEffect, x: float, top: float) -> None:
        theme = self._theme
        px, line = theme.px, float(theme.line("small"))
        room = self._compute_right_end() - x
        text = effect.text if pen.width(effect.text, "small_strong") <= room else effect.brief
        pen.text(QRectF(x, top, room, line + px(2)), text, font="small_strong", color="text1")
        first = top + line + px(5)
        for (part, fate), (row, start, width) in zip(effect.parts, self._arrange_accelerators(), strict=True):
            self._draw_part(pen, part, fate, x + start, first + row * px(_NAME_LINE), width - px(_BETWEEN))

    def _draw_part(
        self, pen: ThemePainter, part: AcceleratorColumn, fate: ColumnOutcome, x: float, top: float, room: float
    ) -> None:
        theme, line = self._theme, float(self._theme.line("small"))
        inner = x + theme.px(_CARD_GAP)
        place = QRectF(inner, top, room - theme.px(_CARD_GAP), line)
        middle = place.center().y()
        if fate is ColumnOutcome.REMOVED:
            width = pen.text(QRectF(x, top, room, line), part.name, font="caption", color="text3")
            pen.hairline(x, round(middle), x + width, round(middle), "text3")
            return
        undecided = fate is ColumnOutcome.UNDECIDED
        pen.marker(
            x + theme.px(4),
            middle,
            part.palette_index,
            radius=_MARKER + 0.6 * undecided,
            is_variant=undecided or part.is_variant,
        )
        text = tr("{name}?", name=part.name) if undecided else part.name
        pen.text(place, text, font="caption", color=theme.name_color(part.palette_index))


class SmallOptionCard(OptionButton):
    """A small card: radio and title, at the right the effect in a line."""

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(200), self._theme.px(_SMALL_HEIGHT))

    def _draw_content(self, pen: ThemePainter) -> None:
        theme, height = self._theme, float(self.height())
        px = theme.px
        self._draw_radio(pen, px(17), height / 2, 6.5)
        x, right = float(px(33)), self.width() - px(10)
        effect = "" if self.effect is None else self.effect.brief
        title = min(pen.width(self.words.title, "body_strong"), right - x)
        pen.text(QRectF(x, 0, title + 1, height), self.words.title, font="body_strong")
        left = x + title + px(10)
        if effect and right - left >= min(pen.width(effect, "caption"), px(60)):
            place = QRectF(left, 0, right - left, height)
            pen.painter.setOpacity(_DIMMED if self.is_stale else 1.0)
            pen.text(place, effect, font="caption", color="text3", align=RIGHT)


_DECIMALS: Final = 3
_NINE: Final = 9
_CARD_COLUMNS: Final = 2


class QuestionBlock(QWidget):
    """The first question of a screen on large cards, or a further one on small ones."""

    #: A question and its answer, None for the default.
    answered = Signal(str, object)
    #: The hovered or focused answer: the question and the answer.
    pointed = Signal(str, object)

    def __init__(
        self, theme: Theme, question: str, formatter: Formatter, *, first: bool, parent: QWidget | None = None
    ) -> None:
        """Ask a question; the cards follow when the current answer is known."""
        super().__init__(parent)
        self.question, self.first = question, first
        self.options: list[OptionButton] = []
        self._keys = ArrowKeyGroup(self, sideways=True, wraps=True)
        self._theme, self._formatter = theme, formatter
        title, why = get_question_text(question), get_question_reason(question)
        self.setAccessibleName(title)
        self.setAccessibleDescription(why)
        self.title = ThemedLabel(theme, title, font="verdict" if first else "section", wrap=True)
        self.why = ThemedLabel(theme, why, font="body" if first else "small", color="text2", wrap=True)
        self._cards = QGridLayout()
        self._links = make_row(gap=18 if first else 14, scaled=theme)
        make_column(self.title, self.why, self._cards, self._links, gap=6 if first else 3, scaled=theme, on=self)
        self._make_links()
        theme.follow(self._dress)

    def _make_links(self) -> None:
        theme = self._theme
        self.other = LinkButton(theme, _format_other_value(self.question), self.ask_for_number, parent=self)
        self.field: NumberEdit | None = None
        self.unit: ThemedLabel | None = None
        self._number_taken = False
        self.reset = LinkButton(theme, "", lambda: self.answered.emit(self.question, None), parent=self)
        for link in (self.other, self.reset):
            self._links.addWidget(link)
        self._links.addStretch(1)
        self.other.setVisible(QUESTIONS[self.question].takes_number)

    # Display

    @property
    def values(self) -> tuple[AnswerValue, ...]:
        return tuple(option.value for option in self.options)

    @property
    def chosen(self) -> OptionButton:
        return next((option for option in self.options if option.isChecked()), self.options[0])

    def show_decision(self, evaluated: EvaluatedAnswer) -> list[AnswerValue]:
        """Show the current answer, and the known effects of others; return those with unknown effects."""
        self.show_answer(evaluated.decision.answers[self.question], _find_fallback(self.question, evaluated))
        unknown = []
        for option in self.options:
            alternative = evaluated.find_alternative(self.question, option.value)
            if alternative is None:
                option.dim_effect()
                unknown.append(option.value)
            else:
                option.show_effect(_make_option_effect(self.question, evaluated, alternative))
        return unknown

    def show_answer(self, answered: QuestionAnswer, default: QuestionAnswer) -> None:
        values = list_offered_values(self.question, answered.value)
        if values != self.values:
            self._make_options(values)
        origin = "" if answered.origin is AnswerOrigin.YOURS else answered.origin.label
        for option in self.options:
            chosen = option.value == answered.value
            option.show_state(origin if chosen else "", chosen=chosen)
        back = format_answer(self.question, default.value, self._formatter)
        word = tr("Use scenario value: {answer}", answer=back)
        if default.origin is AnswerOrigin.DEFAULT:
            word = tr("Reset to default: {answer}", answer=back)
        self.reset.setText(word)
        self.reset.setAccessibleName(f"{get_question_text(self.question)} {word}")
        self.reset.setVisible(answered.origin is AnswerOrigin.YOURS)
        self._keys.set_tab_stop(self._focused or self.chosen)
        if self._number_taken:
            self._number_taken = False
            self.focus_chosen()
            for widget in (self.field, self.unit):
                if widget is not None:
                    widget.hide()

    def show_effect(self, evaluated: EvaluatedAnswer, value: AnswerValue, decision: Decision) -> None:
        option = next((each for each in self.options if each.value == value), None)
        if option is not None:
            option.show_effect(_make_option_effect(self.question, evaluated, decision))

    def _make_options(self, values: tuple[AnswerValue, ...]) -> None:
        """Replace the answers; known effects of remaining ones are kept."""
        former: Mapping[AnswerValue, OptionEffect | None] = {each.value: each.effect for each in self.options}
        focus = None if self._focused is None else self._focused.value
        for option in self.options:
            self._cards.removeWidget(option)
            option.hide()
            option.deleteLater()
        option_class = OptionCard if self.first else SmallOptionCard
        self.options = []
        self._keys.clear()
        for place, value in enumerate(values):
            words = get_option_texts(self.question, value, self._formatter)
            number = place + 1 if place < _NINE else 0
            option = option_class(self._theme, value, words, number, self)
            option.clicked.connect(lambda _on, value=value: self.answered.emit(self.question, value))
            option.pointed.connect(lambda value=value: self.pointed.emit(self.question, value))
            effect = former.get(value)
            if effect is not None:
                option.show_effect(effect)
            columns = 1 if self.first else _CARD_COLUMNS
            self._cards.addWidget(option, place // columns, place % columns)
            option.show()
            self.options.append(option)
            self._keys.add(option)
            if focus is not None and value == focus:
                option.setFocus(Qt.FocusReason.OtherFocusReason)

    # Choosing

    @property
    def _focused(self) -> OptionButton | None:
        return next((option for option in self.options if option.hasFocus()), None)

    def focus_chosen(self) -> None:
        self.chosen.setFocus(Qt.FocusReason.OtherFocusReason)

    def choose_number(self, number: int) -> bool:
        """Answer with the option of a number key; return whether there is one."""
        option = next((each for each in self.options if each.number == number), None)
        if option is None:
            return False
        self._keys.set_tab_stop(option)
        option.setFocus(Qt.FocusReason.OtherFocusReason)
        option.click()
        return True

    def ask_for_number(self) -> None:
        if self.field is None:
            bounds = QUESTIONS[self.question].bounds
            assert bounds is not None
            shape = NumberFormat.within(bounds, _DECIMALS, self._formatter.style)
            field = NumberEdit(self._theme, get_question_text(self.question), shape, self)
            field.setFixedWidth(self._theme.px(110))
            field.edited.connect(self._take_number)
            self.field = field
            unit = QUESTIONS[self.question].unit or ""
            self.unit = ThemedLabel(self._theme, unit, font="small", color="text2", parent=self)
            for place, widget in enumerate((self.field, self.unit), start=1):
                self._links.insertWidget(place, widget)
        for part in (self.field, self.unit):
            if part is not None:
                part.show()
        now = self.chosen.value
        presets = QUESTIONS[self.question].presets
        self.field.set_value(presets[0] if isinstance(now, str) else now)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.field.selectAll()

    def _take_number(self, value: float) -> None:
        self._number_taken = True
        self.answered.emit(self.question, float(value))

    def _dress(self) -> None:
        px = self._theme.px
        self._cards.setContentsMargins(0, px(8) if self.first else px(5), 0, px(4))
        self._cards.setHorizontalSpacing(px(10))
        self._cards.setVerticalSpacing(px(10) if self.first else px(8))


def _find_fallback(question: str, evaluated: EvaluatedAnswer) -> QuestionAnswer:
    """Return the answer after a reset of the user's."""
    scenario = evaluated.answer.scenario
    other_answers = {name: value for name, value in scenario.decision.answers.items() if name != question}
    return resolve_answers(scenario, other_answers, evaluated.answer.model.native_precision)[question]


def _format_other_value(question: str) -> str:
    unit = QUESTIONS[question].unit
    if unit == "ms":
        return tr("Other limit…")
    return tr("Other amount…") if unit == "USD" else tr("Other number…")


def _make_option_effect(question: str, evaluated: EvaluatedAnswer, decision: Decision) -> OptionEffect:
    parts = tuple((evaluated.column(each.key), find_column_outcome(each)) for each in decision.candidates)
    names = evaluated.names
    return OptionEffect(
        describe_option_effect(question, decision, names, evaluated.formatter),
        describe_option_briefly(question, decision, names, evaluated.formatter),
        parts,
        describe_option_fully(decision, names, evaluated.formatter),
    )


class NextQuestionBlock(SearchBlock[Mapping[str, OptionDecisions]]):
    """The first question that can still change the recommendation, and the number of others.

    Once answered, it is replaced by the next one, with the focus.
    """

    #: A question and its answer, None for the default.
    answered = Signal(str, object)
    #: The hovered or focused answer: the question and the answer.
    pointed = Signal(str, object)

    def __init__(self, desk: Desk, theme: Theme, *, large: bool, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, tr("Next question"), parent)
        self._large = large
        self._skipped: set[str] = set()
        self.block: QuestionBlock | None = None
        self.skip_link = LinkButton(theme, tr("Skip question"), self.skip, parent=self)
        self.skip_link.hide()
        head = make_row(self.title, (self.status_label, 1), self.skip_link, gap=theme.px(10))
        self._column = make_column(head, gap=theme.px(10), on=self)

    @property
    def blocks(self) -> list[QuestionBlock]:
        return [] if self.block is None else [self.block]

    # Searching

    def get_result(self, evaluated: EvaluatedAnswer) -> Mapping[str, OptionDecisions] | None:
        return evaluated.next_questions

    def start_search(self, evaluated: EvaluatedAnswer) -> ProgressSteps[Mapping[str, OptionDecisions]]:
        return self.desk.service.find_questions_in_steps(evaluated.answer)

    def keep_result(self, evaluated: EvaluatedAnswer, result: Mapping[str, OptionDecisions]) -> None:
        evaluated.keep_questions(result)

    def dim(self) -> None:
        self.skip_link.hide()
        if self.block is not None and self._evaluated is not None:
            self.block.show_decision(self._evaluated)

    def show_result(self, evaluated: EvaluatedAnswer) -> None:
        """Ask the first question that was not skipped; if all were, start again."""
        names = list(evaluated.next_questions or ())
        if self._skipped.issuperset(names):
            self._skipped.clear()
        remaining = [name for name in names if name not in self._skipped]
        self._ask(remaining[0] if remaining else None, evaluated)
        self.status_label.setText(_describe_next(len(names), evaluated.decision))
        self.skip_link.setVisible(len(names) > 1)

    def _ask(self, question: str | None, evaluated: EvaluatedAnswer) -> None:
        focus: QWidget | None = self.window().focusWidget()
        had_focus = focus is not None and self.block is not None and self.block.isAncestorOf(focus)
        if self.block is not None and self.block.question != question:
            self.block.hide()
            self.block.deleteLater()
            self.block = None
        if question is None:
            return
        if self.block is None:
            self.block = QuestionBlock(self.theme, question, evaluated.formatter, first=self._large, parent=self)
            self.block.answered.connect(self.answered)
            self.block.pointed.connect(self.pointed)
            self._column.addWidget(self.block)
        self.block.show_decision(evaluated)
        if had_focus:
            self.block.focus_chosen()

    def skip(self) -> None:
        """Skip to the next question that can change the recommendation; cyclic."""
        if self.block is not None and self._searching_for is not None:
            self._skipped.add(self.block.question)
            self.show_result(self._searching_for)


def _describe_next(count: int, decision: Decision) -> str:
    if count > 1:
        return trn("{n} more question can change the result", "{n} more questions can change the result", count - 1)
    if count:
        return tr("no other question can change the result")
    if decision.recommended is None:
        return tr("Further answers cannot lead to a recommendation.")
    return tr("Further answers cannot change this recommendation.")
