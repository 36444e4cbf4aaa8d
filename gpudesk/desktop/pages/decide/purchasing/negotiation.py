"""The negotiation sheet: steps of a purchase with check boxes and notes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from gpudesk.desktop.pages.decide.parts import MarkedLine, MarkedList, NoteEdit
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.scenario_edits import mark_step_done, replace_plan_input
from gpudesk.desktop.session.selection import select_catalog_dispute, select_catalog_statement
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button, LinkButton, SegmentedControl
from gpudesk.desktop.ui.widgets.labels import Hairline, ThemedLabel
from gpudesk.desktop.ui.widgets.layouts import STRETCH, FlowLayout, make_column, make_row
from gpudesk.domain.purchase import NegotiationSheet, ProcurementFigure, ProcurementStep, ProcurementStepStatus
from gpudesk.report.decision.advisory import (
    format_progress,
    format_step_figure,
    join_lines,
    list_negotiation_lines,
    list_step_remarks,
    summarize_step,
)
from gpudesk.report.labels import get_today, label_document
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr, translate_data

LONGEST_NOTE: Final = 2_000
#: Where the words of a step begin, beside its tick.
_IN: Final = 22.0
_NOTE_WIDTH: Final = 300.0
_STATES: Final = {True: "best_text", False: "text3", None: "disputed_text"}


class NotedCheckBox(QWidget):
    """What can be ticked, with a note that can be written once it is."""

    #: The id, and the note of what is done, None for what is not.
    changed = Signal(str, object)

    def __init__(
        self, theme: Theme, key: str, text: str, parent: QWidget | None = None, *, font: str = "small"
    ) -> None:
        super().__init__(parent)
        self.key = key
        self._theme, self._font = theme, font
        self.note = NoteEdit(theme, tr("Note on: {what}", what=text), LONGEST_NOTE, empty=tr("Add a note"), parent=self)
        self.note.edited.connect(lambda words: self.changed.emit(key, words))
        self.box = QCheckBox(text, self)
        self.box.setAccessibleName(text)
        self.box.clicked.connect(lambda on: self.changed.emit(key, self.note.words if on else None))
        make_row(self.box, STRETCH, self.note, gap=theme.px(12), on=self)
        theme.follow(self._dress)

    def show_state(self, note: str, *, done: bool) -> None:
        self.box.setChecked(done)
        self.note.show_words(note)
        self.note.setVisible(done)

    def _dress(self) -> None:
        self.box.setFont(self._theme.font(self._font))
        self.note.setFixedWidth(self._theme.px(_NOTE_WIDTH))
        self.setMinimumHeight(self._theme.px(28))


class NegotiationStepBlock(QWidget):
    """A step with its points; the words stand under the title."""

    #: The id of the step or of a point, and the note of what is done, None for what is not.
    ticked = Signal(str, object)
    #: The id of a statement or of a dispute, and whether it is a dispute.
    evidence_wanted = Signal(str, bool)

    def __init__(
        self, theme: Theme, step: ProcurementStep, formatter: Formatter, parent: QWidget | None = None
    ) -> None:
        """Make what does not change: what to ask, figures, points, what it rests on."""
        super().__init__(parent)
        self.step = step
        self._theme, self._formatter = theme, formatter
        self.setAccessibleName(translate_data(step.title))
        self.title = NotedCheckBox(theme, step.id, translate_data(step.title), self, font="option")
        self.state = ThemedLabel(theme, font="small_strong", parent=self)
        self.remarks = ThemedLabel(theme, font="small", colour="text2", wrap=True, parent=self)
        self.ask = ThemedLabel(theme, translate_data(step.ask), wrap=True, parent=self)
        self.why = ThemedLabel(theme, translate_data(step.why), font="small", colour="text2", wrap=True, parent=self)
        for label in (self.ask, self.why, self.remarks):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.figures = MarkedList(theme, tr("Figures"), self)
        self.figures.show_lines([_format_step_figure(each, formatter) for each in step.figures])
        self.points = [NotedCheckBox(theme, each.id, translate_data(each.text), self) for each in step.points]
        for tick in (self.title, *self.points):
            tick.changed.connect(self.ticked)
        self._lay_out()

    def _lay_out(self) -> None:
        theme = self._theme
        points = make_column(*self.points, gap=0)
        self._words = make_column(
            self.state, self.remarks, self.ask, self.why, self.figures, points, self._evidence(), gap=theme.px(5)
        )
        make_column(self.title, self._words, gap=theme.px(2), margins=(0, theme.px(6), 0, theme.px(6)), on=self)
        theme.follow(self._dress)

    def _evidence(self) -> FlowLayout:
        flow = FlowLayout(self._theme.px(10))
        source = tr("{document}, {date}", document=label_document(self.step.source), date=self.step.dated)
        flow.addWidget(ThemedLabel(self._theme, source, font="small", colour="text3", parent=self))
        numbers = {True: count(1), False: count(1)}
        for key, disputed in _list_evidence(self.step):
            number = self._formatter.count(next(numbers[disputed]))
            text = tr("Dispute {n}", n=number) if disputed else tr("Statement {n}", n=number)
            link = LinkButton(self._theme, text, parent=self)
            name = tr("Show dispute {id}", id=key) if disputed else tr("Show statement {id}", id=key)
            link.setAccessibleName(name)
            link.setToolTip(name)
            link.clicked.connect(lambda _=False, k=key, d=disputed: self.evidence_wanted.emit(k, d))
            flow.addWidget(link)
        return flow

    def show_line(self, line: ProcurementStepStatus) -> None:
        self.state.setText(summarize_step(line, self._formatter))
        self.state.set_colour(_STATES[line.applies])
        remarks = "\n".join(list_step_remarks(line, self._formatter))
        self.remarks.setText(remarks)
        self.remarks.setVisible(bool(remarks))
        self.title.show_state(line.note, done=line.done)
        for tick, point in zip(self.points, line.points, strict=True):
            tick.show_state(point.note, done=point.done)

    def _dress(self) -> None:
        self._words.setContentsMargins(self._theme.px(_IN), 0, 0, 0)


def _format_step_figure(figure: ProcurementFigure, formatter: Formatter) -> MarkedLine:
    """Return a figure after its mark: disputed, anecdotal, or published."""
    text = format_step_figure(figure, formatter)
    if figure.disputes:
        return MarkedLine("disputed", "disputed", text)
    return MarkedLine("circle-help", "disputed_text", text) if figure.anecdotal else MarkedLine("dot", "text3", text)


def _list_evidence(step: ProcurementStep) -> Iterator[tuple[str, bool]]:
    """Yield the ids of statements, then of disputes, of a step and its figures, each once."""
    for disputed, name in ((False, "statements"), (True, "disputes")):
        ids = (getattr(each, name) for each in (step, *step.figures))
        yield from ((key, disputed) for key in dict.fromkeys(each for group in ids for each in group))


QUOTE: Final = "competing_quote"
_UNANSWERED: Final = "unsaid"


class NegotiationBlock(QWidget):
    """Whether a rival's quote is at hand, then one block for each step."""

    save_wanted = Signal()

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk, self._theme = desk, theme
        self.sheet: NegotiationSheet | None = None
        self.steps: list[NegotiationStepBlock] = []
        self.progress = ThemedLabel(theme, font="small", colour="text3", parent=self)
        self.quote = SegmentedControl(
            theme,
            tr("Competing quote available"),
            ((_UNANSWERED, tr("Unknown")), ("yes", tr("Yes")), ("no", tr("No"))),
            self,
        )
        self.quote.chosen.connect(self._set_quote)
        self.save = Button(theme, tr("Save negotiation sheet…"), icon="file-down", parent=self)
        self.save.clicked.connect(self.save_wanted)
        self.status_label = ThemedLabel(theme, font="small", colour="text2", wrap=True, parent=self)
        self.status_label.hide()
        self._lay_out()

    def _lay_out(self) -> None:
        theme = self._theme
        head = make_row(
            ThemedLabel(theme, tr("Negotiation sheet"), font="page", parent=self),
            self.progress,
            STRETCH,
            self.save,
            gap=theme.px(10),
        )
        words = ThemedLabel(theme, tr("Competing quote available"), font="small", colour="text2", parent=self)
        quote_row = make_row(words, self.quote, STRETCH, gap=theme.px(10))
        self._column = make_column(head, self.status_label, quote_row, gap=theme.px(8), on=self)

    # Showing

    def show_decision(self, evaluated: EvaluatedAnswer) -> None:
        scenario = evaluated.answer.scenario
        sheet = self._desk.service.reference_data.negotiation(scenario, evaluated.decision, get_today())
        self.sheet = sheet
        if [block.step for block in self.steps] != [line.step for line in sheet.lines]:
            self._make_steps(sheet, evaluated.formatter)
        self.quote.set_value(str(scenario.decision.plans.get(QUOTE, _UNANSWERED)))
        self.progress.setText(format_progress(sheet, evaluated.formatter))
        for block, line in zip(self.steps, sheet.lines, strict=True):
            block.show_line(line)

    def _make_steps(self, sheet: NegotiationSheet, formatter: Formatter) -> None:
        for line in sheet.lines:
            block = NegotiationStepBlock(self._theme, line.step, formatter, self)
            block.ticked.connect(self._set_done)
            block.evidence_wanted.connect(self._show_evidence)
            self._column.addWidget(Hairline(self._theme, self))
            self._column.addWidget(block)
            self.steps.append(block)

    def show_status(self, text: str, *, wrong: bool = False) -> None:
        self.status_label.set_colour("unfit" if wrong else "text2")
        self.status_label.setText(text)
        self.status_label.setVisible(bool(text))

    def text(self, formatter: Formatter) -> str:
        return "" if self.sheet is None else join_lines(list_negotiation_lines(self.sheet, formatter))

    def focus_first(self) -> None:
        if self.steps:
            self.steps[0].title.box.setFocus(Qt.FocusReason.OtherFocusReason)

    # Acting

    def _set_quote(self, answer: str) -> None:
        value = None if answer == _UNANSWERED else answer
        self._desk.apply(replace_plan_input(self._desk.scenario, QUOTE, value), tr("Competing quote available"))

    def _set_done(self, key: str, note: str | None) -> None:
        done = self._desk.scenario.decision.done
        if note is None:
            text = tr("Reopen purchase step")
        else:
            text = tr("Purchase note") if key in done else tr("Complete purchase step")
        self._desk.apply(mark_step_done(self._desk.scenario, key, note), text)

    def _show_evidence(self, key: str, disputed: bool) -> None:
        self._desk.select(select_catalog_dispute(key) if disputed else select_catalog_statement(key))
