"""The view of export check and contract terms, and their negotiation sheet."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from gpudesk.desktop.pages.decide.parts import DecideView, NoteEdit
from gpudesk.desktop.pages.decide.record_table import (
    CellParagraph,
    RecordCell,
    RecordColumn,
    RecordRow,
    RecordTableView,
)
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.scenario_edits import mark_step_done, replace_plan_input
from gpudesk.desktop.session.selection import select_attribute, select_catalog_dispute, select_catalog_statement
from gpudesk.desktop.session.settings import UserSettings, get_folder
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button, LinkButton, SegmentedControl
from gpudesk.desktop.ui.widgets.layouts import (
    STRETCH,
    FlowLayout,
    Hairline,
    ThemedLabel,
    find_scroll_area,
    make_column,
    make_row,
)
from gpudesk.desktop.ui.widgets.marked_list import MarkedLine, MarkedList, MarkIcon
from gpudesk.desktop.ui.widgets.qt_support import ask_save_path
from gpudesk.domain.purchase import NegotiationSheet, ProcurementFigure, ProcurementStep, ProcurementStepStatus
from gpudesk.domain.reference_data import ExportCheck, ExportRule, ExportRuleSet, LimitSide
from gpudesk.domain.registry import PEAK_DENSE
from gpudesk.report.decision.advisory import (
    format_progress,
    format_step_figure,
    join_lines,
    list_export_lines,
    list_negotiation_lines,
    list_step_remarks,
    summarize_step,
)
from gpudesk.report.decision.export_control import (
    describe_destination,
    describe_refused_claim,
    describe_rule_status,
    format_rule_dates,
    get_export_warning,
    get_score_head,
    list_check_notes,
    list_export_rule_lines,
    list_rule_cell_lines,
    list_rule_publications,
    list_scores,
    select_scored_rules,
)
from gpudesk.report.labels import get_today, label_document, shorten_name
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError, format_input_error
from gpudesk.text.translation import tr, translate_data

LONGEST_NOTE: Final = 2_000
#: Indent of a step's text, next to its check box.
_IN: Final = 22
_NOTE_WIDTH: Final = 300.0
_STATES: Final = {True: "best_text", False: "text3", None: "disputed_text"}


class NotedCheckBox(QWidget):
    """A check box, with a note that can be written once checked."""

    #: The id, and the note if checked, None otherwise.
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

    def show_state(self, note: str, *, is_done: bool) -> None:
        self.box.setChecked(is_done)
        self.note.show_words(note)
        self.note.setVisible(is_done)

    def _dress(self) -> None:
        self.box.setFont(self._theme.font(self._font))
        self.note.setFixedWidth(self._theme.px(_NOTE_WIDTH))
        self.setMinimumHeight(self._theme.px(28))


class NegotiationStepBlock(QWidget):
    """A step with its points; the text is below the title."""

    #: The id of the step or of a point, and the note if done, None otherwise.
    ticked = Signal(str, object)
    #: The id of a statement or of a dispute, and whether it is a dispute.
    evidence_wanted = Signal(str, bool)

    def __init__(
        self, theme: Theme, step: ProcurementStep, formatter: Formatter, parent: QWidget | None = None
    ) -> None:
        """Make the constant content: questions, figures, points, evidence."""
        super().__init__(parent)
        self.step = step
        self._theme, self._formatter = theme, formatter
        self.setAccessibleName(translate_data(step.title))
        self.title = NotedCheckBox(theme, step.id, translate_data(step.title), self, font="option")
        self.state = ThemedLabel(theme, font="small_strong", parent=self)
        make_text = partial(ThemedLabel, theme, wrap=True, selectable=True, parent=self)
        self.remarks = make_text(font="small", color="text2")
        self.ask = make_text(translate_data(step.ask))
        self.why = make_text(translate_data(step.why), font="small", color="text2")
        self.figures = MarkedList(theme, tr("Figures"), self)
        self.figures.show_lines([_format_step_figure(each, formatter) for each in step.figures])
        self.points = [NotedCheckBox(theme, each.id, translate_data(each.text), self) for each in step.points]
        for tick in (self.title, *self.points):
            tick.changed.connect(self.ticked)
        self._lay_out()

    def _lay_out(self) -> None:
        theme = self._theme
        points = make_column(*self.points, gap=0)
        flow = FlowLayout(self._theme.px(10))
        source = tr("{document}, {date}", document=label_document(self.step.source), date=self.step.dated)
        flow.addWidget(ThemedLabel(self._theme, source, font="small", color="text3", parent=self))
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
        parts = (self.state, self.remarks, self.ask, self.why, self.figures, points, flow)
        words = make_column(*parts, gap=5, margins=(_IN, 0, 0, 0), scaled=theme)
        make_column(self.title, words, gap=theme.px(2), margins=(0, theme.px(6), 0, theme.px(6)), on=self)

    def show_line(self, line: ProcurementStepStatus) -> None:
        self.state.setText(summarize_step(line, self._formatter))
        self.state.set_color(_STATES[line.applies])
        remarks = "\n".join(list_step_remarks(line, self._formatter))
        self.remarks.show_text(remarks)
        self.title.show_state(line.note, is_done=line.is_done)
        for tick, point in zip(self.points, line.points, strict=True):
            tick.show_state(point.note, is_done=point.is_done)


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
    """Whether a rival's quote is at hand, then one block per step."""

    save_wanted = Signal()

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk, self._theme = desk, theme
        self.sheet: NegotiationSheet | None = None
        self.steps: list[NegotiationStepBlock] = []
        self.progress = ThemedLabel(theme, font="small", color="text3", parent=self)
        self.quote = SegmentedControl(
            theme,
            tr("Competing quote available"),
            ((_UNANSWERED, tr("Unknown")), ("yes", tr("Yes")), ("no", tr("No"))),
            self,
        )
        self.quote.chosen.connect(self._set_quote)
        self.save = Button(theme, tr("Save negotiation sheet…"), self.save_wanted, icon="file-down", parent=self)
        self.status_label = ThemedLabel(theme, font="small", color="text2", wrap=True, parent=self)
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
        words = ThemedLabel(theme, tr("Competing quote available"), font="small", color="text2", parent=self)
        quote_row = make_row(words, self.quote, STRETCH, gap=theme.px(10))
        self._column = make_column(head, self.status_label, quote_row, gap=theme.px(8), on=self)

    # Display

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
        self.status_label.set_color("unfit" if wrong else "text2")
        self.status_label.show_text(text)

    def text(self, formatter: Formatter) -> str:
        return "" if self.sheet is None else join_lines(list_negotiation_lines(self.sheet, formatter))

    def focus_first(self) -> None:
        if self.steps:
            self.steps[0].title.box.setFocus(Qt.FocusReason.OtherFocusReason)

    # Commands

    def _set_quote(self, answer: str) -> None:
        value = None if answer == _UNANSWERED else answer
        self._desk.apply(replace_plan_input(self._desk.scenario, QUOTE, value), tr("Competing quote available"))

    def _set_done(self, key: str, note: str | None) -> None:
        completion_notes = self._desk.scenario.decision.done
        if note is None:
            text = tr("Reopen purchase step")
        else:
            text = tr("Purchase note") if key in completion_notes else tr("Complete purchase step")
        self._desk.apply(mark_step_done(self._desk.scenario, key, note), text)

    def _show_evidence(self, key: str, disputed: bool) -> None:
        self._desk.select(select_catalog_dispute(key) if disputed else select_catalog_statement(key))


DESTINATION: Final = "destination_name"
_LONGEST: Final = 200
#: Maximum score lines shown in a row; copies contain all.
_PRODUCTS: Final = 2


class ExportWarning(PaintedWidget):
    """The warning next to every check, with its own background."""

    def __init__(self, theme: Theme, text: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.label = ThemedLabel(theme, text, font="body_strong", wrap=True, parent=self)
        self.setAccessibleName(text)
        make_row(
            (MarkIcon(theme, "triangle-alert", "disputed", self), 0, Qt.AlignmentFlag.AlignVCenter),
            (self.label, 1),
            gap=theme.px(8),
            margins=(theme.px(12), theme.px(7), theme.px(12), theme.px(7)),
            on=self,
        )
        theme.changed.connect(self.update)

    def paint(self, pen: ThemePainter) -> None:
        pen.tint(QRectF(self.rect()), "disputed_tint", radius=8)


class ExportCheckBlock(QWidget):
    """A row per accelerator, the rules below it with the newest first, and the warning above all."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk, self._theme = desk, theme
        self._checks: tuple[ExportCheck, ...] = ()
        self._rules: ExportRuleSet | None = None
        self.destination = NoteEdit(theme, tr("Destination"), _LONGEST, empty=tr("country or region"), parent=self)
        self.destination.edited.connect(self._set_destination)
        self.warning = ExportWarning(theme, get_export_warning(), self)
        self.scores = RecordTableView(theme, tr("Scores and limits by rule"), (), self)
        self.scores.explained.connect(desk.select)
        self.refused = MarkedList(theme, tr("Refuted statements"), self)
        self.rules = RecordTableView(
            theme,
            tr("Rules, newest first"),
            (RecordColumn(tr("Rules, newest first"), 190), RecordColumn(tr("Criteria and notes"), 300, 1.0)),
            self,
        )
        self.rules.current_row.connect(self._show_read_in)
        self.rules.chosen.connect(self._show_read_in)
        self.read_in = MarkedList(theme, "", self)
        self.notes = MarkedList(theme, tr("Notes"), self)
        self._lay_out()

    def _lay_out(self) -> None:
        theme = self._theme
        self.destination.setFixedWidth(theme.px(220))
        head = make_row(ThemedLabel(theme, tr("Export check"), font="page", parent=self), STRETCH, gap=theme.px(8))
        self._head = head
        head.addWidget(ThemedLabel(theme, tr("Destination"), font="small", color="text2", parent=self))
        head.addWidget(self.destination)
        make_column(
            head,
            self.warning,
            self.scores,
            self.refused,
            self.rules,
            self.read_in,
            self.notes,
            gap=theme.px(10),
            on=self,
        )

    def add_to_head(self, widget: QWidget) -> None:
        self._head.insertWidget(1, widget)

    # Display

    def show_decision(self, evaluated: EvaluatedAnswer) -> None:
        reference, scenario = self._desk.service.reference_data, evaluated.answer.scenario
        checks, rules = reference.export_checks(scenario), reference.export_rules
        self._checks, self._rules = checks, rules
        self.destination.show_words(str(scenario.decision.plans.get(DESTINATION, "")))
        formatter = evaluated.formatter
        self.scores.set_heads(_make_columns(select_scored_rules(rules)))
        self.scores.show_rows([_make_accelerator_row(each, evaluated, select_scored_rules(rules)) for each in checks])
        refused = (
            describe_refused_claim(claim, shorten_name(check.name), formatter)
            for check in checks
            for claim in check.refused
        )
        self.refused.show_texts("unfit", "unfit", refused)
        self.rules.show_rows([_make_rule_row(rule, rules, checks, formatter) for rule in rules.rules])
        self._show_read_in(max(0, self.rules.currentIndex().row()))
        # Repeated below the rules, in case the one above the table is scrolled out.
        warned = MarkedLine("triangle-alert", "disputed", tr("{warning}.", warning=get_export_warning()))
        notes = (MarkedLine("info", "text3", note) for note in list_check_notes(checks, formatter))
        self.notes.show_lines([warned, *notes])

    def _show_read_in(self, row: int) -> None:
        if self._rules is None or row >= len(self._rules.rules):
            return
        rule = self._rules.rules[row]
        self.read_in.set_title(tr("Sources: {rule}", rule=translate_data(rule.name)))
        self.read_in.show_texts("book-open", "text3", list_rule_publications(rule))

    def text(self, formatter: Formatter) -> str:
        if self._rules is None:
            return ""
        return join_lines(list_export_lines(self._checks, self._rules, formatter))

    # Commands

    def _set_destination(self, place: str) -> None:
        scenario = replace_plan_input(self._desk.scenario, DESTINATION, place or None)
        self._desk.apply(scenario, tr("Export destination"))


def _make_columns(rules: tuple[ExportRule, ...]) -> tuple[RecordColumn, ...]:
    checks = (RecordColumn(translate_data(rule.name), 170, 1.0) for rule in rules)
    return (RecordColumn(tr("Accelerator"), 130), RecordColumn(get_score_head(), 170, 1.0), *checks)


def _make_accelerator_row(check: ExportCheck, evaluated: EvaluatedAnswer, rules: tuple[ExportRule, ...]) -> RecordRow:
    """Return the row of an accelerator: its largest scores, and its result by each rule."""
    formatter = evaluated.formatter
    part = next(each for each in evaluated.columns if each.column.accelerator.id == check.accelerator)
    name = RecordCell(
        (CellParagraph(shorten_name(check.name), "small_strong"),), swatch=(part.palette_index, part.is_variant)
    )
    products = list_scores(check, formatter)[:_PRODUCTS]
    score = RecordCell(tuple(_list_extra_lines(products)))
    standings = (_make_rule_cell(check, rule, formatter) for rule in rules)
    best = next((each for each in check.scores if each.tpp is not None), None)
    selection = None if best is None else select_attribute(part.key, f"{PEAK_DENSE}{best.precision}")
    return RecordRow((name, score, *standings), selection)


def _list_extra_lines(lines: tuple[str, ...]) -> Iterator[CellParagraph]:
    for number, line in enumerate(lines):
        yield CellParagraph(line, "small" if number else "small_strong", "text3" if number else "text1")


def _make_rule_cell(check: ExportCheck, rule: ExportRule, formatter: Formatter) -> RecordCell:
    rule_check = next(each for each in check.rules if each.rule.id == rule.id)
    *figures, outcome = list_rule_cell_lines(rule_check, formatter)
    unknown = rule_check.met is None
    paras = [CellParagraph(line, "small_strong" if not number else "small") for number, line in enumerate(figures)]
    threshold = rule_check.threshold
    doubtful = threshold is None or threshold.standing is LimitSide.UNKNOWN
    paras.append(CellParagraph(outcome, "small", "disputed_text" if unknown or doubtful else "text2"))
    return RecordCell(tuple(paras))


def _make_rule_row(
    rule: ExportRule, rules: ExportRuleSet, checks: tuple[ExportCheck, ...], formatter: Formatter
) -> RecordRow:
    about = [
        CellParagraph(translate_data(rule.name), "small_strong"),
        CellParagraph(format_rule_dates(rule), "caption", "text2"),
    ]
    if rule.reference is not None:
        about.append(CellParagraph(rule.reference, "caption", "text3"))
    destination = describe_destination(rule, checks[0]) if checks else None
    later = describe_rule_status(rule, rules) is not None
    lines = [
        CellParagraph(line, color="text2" if number or not later else "disputed_text")
        for number, line in enumerate(list_export_rule_lines(rule, rules, formatter))
    ]
    if destination is not None:
        lines.append(CellParagraph(destination, "small_strong"))
    return RecordRow((RecordCell(tuple(about)), RecordCell(tuple(lines))))


_MARGIN: Final = 16
_FOLDER: Final = "decide.folder"


class TermsView(DecideView):
    """The export check above, the negotiation sheet below."""

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, parent)
        self._settings = settings
        self.export = ExportCheckBlock(desk, theme, self)
        self.steps = NegotiationBlock(desk, theme, self)
        self.steps.save_wanted.connect(self.ask_and_save)
        self.to_steps = LinkButton(theme, tr("Go to negotiation sheet"), self.show_steps, parent=self)
        self.export.add_to_head(self.to_steps)
        make_column(
            self.export,
            Hairline(theme, self),
            self.steps,
            STRETCH,
            gap=theme.px(14),
            margins=(theme.px(_MARGIN), theme.px(4), theme.px(_MARGIN), theme.px(_MARGIN)),
            on=self,
        )

    def refresh(self) -> None:
        evaluated = self.evaluated
        self.export.show_decision(evaluated)
        self.show_below(lambda: self.steps.show_decision(evaluated))

    def show_steps(self) -> None:
        area = find_scroll_area(self)
        if area is not None:
            area.verticalScrollBar().setValue(self.steps.y())
        self.steps.focus_first()

    def copied(self) -> str:
        formatter = self.desk.formatter
        return "\n\n".join((self.export.text(formatter), self.steps.text(formatter)))

    def focus_first(self) -> None:
        self.export.scores.setFocus(Qt.FocusReason.OtherFocusReason)

    # Saving the negotiation sheet

    def ask_and_save(self) -> None:
        proposed = get_folder(self._settings, _FOLDER) / "negotiation.html"
        types = [(tr("Web page"), ".html"), (tr("Markdown"), ".md")]
        target = ask_save_path(self, tr("Save negotiation sheet"), proposed, types)
        if target is not None:
            self.save_to(target)

    def save_to(self, target: Path) -> None:
        from gpudesk.documents.scenario_file import make_title
        from gpudesk.files import write_atomically
        from gpudesk.report.decision.advisory import NegotiationDocument, write_negotiation_file

        evaluated, formatter = self.evaluated, self.desk.formatter
        scenario, service = evaluated.answer.scenario, self.desk.service
        sheet = service.reference_data.negotiation(scenario, evaluated.decision, get_today())
        documents = dict.fromkeys(line.step.source for line in sheet.lines)
        paper = NegotiationDocument(
            title=make_title(scenario, service.catalog),
            decision=evaluated.decision,
            names=evaluated.names,
            sheet=sheet,
            checks=service.reference_data.export_checks(scenario),
            rules=service.reference_data.export_rules,
            sources={each: service.catalog.source(each) for each in documents},
            made_on=get_today(),
            revision=evaluated.answer.catalog_revision[:8],
            formatter=formatter,
        )
        try:
            write_atomically(target, write_negotiation_file(paper, target.suffix))
        except InputError as error:
            self.steps.show_status(format_input_error(error, formatter), wrong=True)
            return
        self._settings.put(_FOLDER, str(target.absolute().parent))
        self.steps.show_status(tr("Saved: {file}", file=str(target)))
