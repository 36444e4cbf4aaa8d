"""The view of export check and contract terms, and saving of the negotiation sheet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QWidget

from gpudesk.desktop.pages.decide.parts import DecideView, MarkedLine, MarkedList, MarkIcon, NoteEdit
from gpudesk.desktop.pages.decide.purchasing.negotiation import NegotiationBlock
from gpudesk.desktop.pages.decide.record_table import (
    CellParagraph,
    RecordCell,
    RecordColumn,
    RecordRow,
    RecordTableView,
)
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.scenario_edits import replace_plan_input
from gpudesk.desktop.session.selection import select_attribute
from gpudesk.desktop.session.settings import UserSettings, get_folder
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.ui.widgets.labels import Hairline, ThemedLabel
from gpudesk.desktop.ui.widgets.layouts import STRETCH, make_column, make_row
from gpudesk.desktop.ui.widgets.qt_support import ask_save_path
from gpudesk.domain.reference_data import ExportCheck, ExportRule, ExportRuleSet, LimitSide
from gpudesk.domain.registry import PEAK_DENSE
from gpudesk.report.decision.advisory import join_lines, list_export_lines
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
from gpudesk.report.labels import shorten_name
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError, format_input_error
from gpudesk.text.translation import tr, translate_data

DESTINATION: Final = "destination_name"
_LONGEST: Final = 200
#: Lines of products that stand in a row; all are in what is copied.
_PRODUCTS: Final = 2


class ExportWarning(QWidget):
    """What has to stand beside every check, on a ground of its own."""

    def __init__(self, theme: Theme, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
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

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            ThemePainter(painter, self._theme).tint(QRectF(self.rect()), "disputed_tint", radius=8)


class ExportCheckBlock(QWidget):
    """A row for each accelerator, the rules below it with the newest first, and the warning above all."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk, self._theme = desk, theme
        self._checks: tuple[ExportCheck, ...] = ()
        self._rules: ExportRuleSet | None = None
        self.destination = NoteEdit(theme, tr("Destination"), _LONGEST, empty=tr("country or region"), parent=self)
        self.destination.edited.connect(self._set_destination)
        self.warning = ExportWarning(theme, get_export_warning(), self)
        self.scores = RecordTableView(theme, tr("Scores and limits by rule"), (), self)
        self.scores.chosen.connect(self._select)
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
        head = QHBoxLayout()
        head.setSpacing(theme.px(8))
        head.addWidget(ThemedLabel(theme, tr("Export check"), font="page", parent=self))
        head.addStretch(1)
        self._head = head
        head.addWidget(ThemedLabel(theme, tr("Destination"), font="small", colour="text2", parent=self))
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

    # Showing

    def show_decision(self, evaluated: EvaluatedAnswer) -> None:
        beside, scenario = self._desk.service.reference_data, evaluated.answer.scenario
        checks, rules = beside.export_checks(scenario), beside.export_rules
        self._checks, self._rules = checks, rules
        self.destination.show_words(str(scenario.decision.plans.get(DESTINATION, "")))
        formatter = evaluated.formatter
        self.scores.set_heads(_make_columns(select_scored_rules(rules)))
        self.scores.show_rows([_make_accelerator_row(each, evaluated, select_scored_rules(rules)) for each in checks])
        self.refused.show_lines(
            [
                MarkedLine("unfit", "unfit", describe_refused_claim(claim, shorten_name(check.name), formatter))
                for check in checks
                for claim in check.refused
            ]
        )
        self.rules.show_rows([_make_rule_row(rule, rules, checks, formatter) for rule in rules.rules])
        self._show_read_in(max(0, self.rules.currentIndex().row()))
        # Repeated below the rules, where the one above the table is out of sight.
        warned = MarkedLine("triangle-alert", "disputed", tr("{warning}.", warning=get_export_warning()))
        notes = (MarkedLine("info", "text3", note) for note in list_check_notes(checks, formatter))
        self.notes.show_lines([warned, *notes])

    def _show_read_in(self, row: int) -> None:
        if self._rules is None or row >= len(self._rules.rules):
            return
        rule = self._rules.rules[row]
        self.read_in.set_title(tr("Sources: {rule}", rule=translate_data(rule.name)))
        self.read_in.show_lines([MarkedLine("book-open", "text3", each) for each in list_rule_publications(rule)])

    def text(self, formatter: Formatter) -> str:
        if self._rules is None:
            return ""
        return join_lines(list_export_lines(self._checks, self._rules, formatter))

    # Acting

    def _set_destination(self, place: str) -> None:
        scenario = replace_plan_input(self._desk.scenario, DESTINATION, place or None)
        self._desk.apply(scenario, tr("Export destination"))

    def _select(self, row: int) -> None:
        selection = self.scores.rows[row].selection
        if selection is not None:
            self._desk.select(selection)


def _make_columns(rules: tuple[ExportRule, ...]) -> tuple[RecordColumn, ...]:
    beside = (RecordColumn(translate_data(rule.name), 170, 1.0) for rule in rules)
    return (RecordColumn(tr("Accelerator"), 130), RecordColumn(get_score_head(), 170, 1.0), *beside)


def _make_accelerator_row(check: ExportCheck, evaluated: EvaluatedAnswer, rules: tuple[ExportRule, ...]) -> RecordRow:
    """Return the row of an accelerator: its largest products, and its result by each rule."""
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
        CellParagraph(line, colour="text2" if number or not later else "disputed_text")
        for number, line in enumerate(list_export_rule_lines(rule, rules, formatter))
    ]
    if destination is not None:
        lines.append(CellParagraph(destination, "small_strong"))
    return RecordRow((RecordCell(tuple(about)), RecordCell(tuple(lines))))


_MARGIN: Final = 16


class TermsView(DecideView):
    """The export check above, the negotiation sheet below."""

    #: The negotiation sheet is to be saved.
    save_wanted = Signal()

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, parent)
        self.evaluated: EvaluatedAnswer | None = None
        self.export = ExportCheckBlock(desk, theme, self)
        self.steps = NegotiationBlock(desk, theme, self)
        self.steps.save_wanted.connect(self.save_wanted)
        self.to_steps = LinkButton(theme, tr("Go to negotiation sheet"), parent=self)
        self.to_steps.clicked.connect(self.show_steps)
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

    def show_decision(self, evaluated: EvaluatedAnswer) -> None:
        self.evaluated = evaluated
        self.export.show_decision(evaluated)
        self.show_below(lambda: self.steps.show_decision(evaluated))

    def show_steps(self) -> None:
        area = self.parentWidget()
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parentWidget()
        if area is not None:
            area.verticalScrollBar().setValue(self.steps.y())
        self.steps.focus_first()

    def copied(self) -> str:
        formatter = self.desk.formatter
        return "\n\n".join((self.export.text(formatter), self.steps.text(formatter)))

    def focus_first(self) -> None:
        self.export.scores.setFocus(Qt.FocusReason.OtherFocusReason)


_FOLDER: Final = "decide.folder"


def save_negotiation(view: DecideView, settings: UserSettings) -> None:
    if not isinstance(view, TermsView):
        return
    proposed = get_folder(settings, _FOLDER) / "negotiation.html"
    types = [(tr("Web page"), ".html"), (tr("Markdown"), ".md")]
    target = ask_save_path(view, tr("Save negotiation sheet"), proposed, types)
    if target is not None:
        write_negotiation(view, target, settings)


def write_negotiation(view: TermsView, target: Path, settings: UserSettings) -> None:
    from gpudesk.documents.scenario_file import make_title
    from gpudesk.files import write_atomically
    from gpudesk.report.decision.negotiation import NegotiationDocument, write_negotiation_file
    from gpudesk.report.labels import get_today

    evaluated, formatter = view.evaluated, view.desk.formatter
    if evaluated is None:
        return
    scenario, service = evaluated.answer.scenario, view.desk.service
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
        view.steps.show_status(format_input_error(error, formatter), wrong=True)
        return
    settings.put(_FOLDER, str(target.absolute().parent))
    view.steps.show_status(tr("Saved: {file}", file=str(target)))


def connect_saving(view: DecideView, settings: UserSettings) -> None:
    if isinstance(view, TermsView):
        view.save_wanted.connect(lambda: save_negotiation(view, settings))
