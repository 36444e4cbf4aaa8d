"""The block Export check: scores of what is compared beside dated rules, and what they are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.pages.decide.note_edit import NoteEdit
from gpudesk.desktop.pages.decide.record_table import Cell, Head, Para, RecordRow, RecordTable
from gpudesk.desktop.pages.decide.result_parts import Look, Mark, Said, SaidList
from gpudesk.desktop.session.deciding import with_plan
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import attribute
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.export_control import ExportCheck, ExportRule, ExportRules, Standing
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.beside_lines import as_text, export_lines
from gpudesk.sheets.export_words import (
    cell_lines,
    destination_text,
    export_warning,
    note_lines,
    read_in_lines,
    refusal_text,
    rule_days,
    rule_lines,
    rule_status,
    score_head,
    score_lines,
    with_figures,
)
from gpudesk.sheets.names import short_name
from gpudesk.text import tr

DESTINATION: Final = "destination_name"
_LONGEST: Final = 200
#: Lines of products that stand in a row; all are in what is copied.
_PRODUCTS: Final = 2
_PEAK: Final = "peak_dense_"


class WarningLine(QWidget):
    """What has to stand beside every check, on a ground of its own."""

    def __init__(self, theme: Theme, text: str, parent: QWidget | None = None) -> None:
        """Say it."""
        super().__init__(parent)
        self._theme = theme
        self.label = Label(theme, text, font="body_strong", wrap=True, parent=self)
        self.setAccessibleName(text)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.px(12), theme.px(7), theme.px(12), theme.px(7))
        row.setSpacing(theme.px(8))
        row.addWidget(Mark(theme, "triangle-alert", "disputed", self), 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.label, 1)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the ground."""
        painter = QPainter(self)
        try:
            Pen(painter, self._theme).tint(QRectF(self.rect()), "disputed_tint", radius=8)
        finally:
            painter.end()


class ExportBlock(QWidget):
    """A row for each accelerator, the rules below it with the newest first, and the warning above all."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make the tables; they are empty yet."""
        super().__init__(parent)
        self._desk, self._theme = desk, theme
        self._checks: tuple[ExportCheck, ...] = ()
        self._rules: ExportRules | None = None
        self.destination = NoteEdit(
            theme, tr("Destination"), _LONGEST, empty=tr("a country or a region"), parent=self
        )
        self.destination.edited.connect(self._set_destination)
        self.warning = WarningLine(theme, export_warning(), self)
        self.scores = RecordTable(theme, tr("Scores beside the figures of rules"), (), self)
        self.scores.chosen.connect(self._select)
        self.refused = SaidList(theme, tr("What does not hold"), self)
        self.rules = RecordTable(
            theme,
            tr("Rules, the newest first"),
            (
                Head(tr("Rules, the newest first"), 190),
                Head(tr("What they count, and what is to be said of them"), 300, 1.0),
            ),
            self,
        )
        self.rules.current_row.connect(self._show_read_in)
        self.rules.chosen.connect(self._show_read_in)
        self.read_in = SaidList(theme, "", self)
        self.notes = SaidList(theme, tr("Notes"), self)
        self._lay_out()

    def _lay_out(self) -> None:
        theme = self._theme
        self.destination.setFixedWidth(theme.px(220))
        head = QHBoxLayout()
        head.setSpacing(theme.px(8))
        head.addWidget(Label(theme, tr("Export check"), font="page", parent=self))
        head.addStretch(1)
        self._head = head
        head.addWidget(Label(theme, tr("Destination"), font="small", colour="text2", parent=self))
        head.addWidget(self.destination)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(theme.px(10))
        whole.addLayout(head)
        for widget in (self.warning, self.scores, self.refused, self.rules, self.read_in, self.notes):
            whole.addWidget(widget)

    def add_to_head(self, widget: QWidget) -> None:
        """Set a widget beside the title."""
        self._head.insertWidget(1, widget)

    # Showing

    def show_decision(self, found: Decided) -> None:
        """Show the checks of what is compared."""
        beside, scenario = self._desk.workbench.beside, found.answer.scenario
        checks, rules = beside.export_checks(scenario), beside.export_rules
        self._checks, self._rules = checks, rules
        self.destination.show_words(str(scenario.decision.plans.get(DESTINATION, "")))
        formatter = found.formatter
        self.scores.set_heads(_heads(with_figures(rules)))
        self.scores.show_rows([_row(each, found, with_figures(rules)) for each in checks])
        self.refused.show_lines(
            [
                Said("unfit", "unfit", refusal_text(claim, short_name(check.name), formatter))
                for check in checks
                for claim in check.refused
            ]
        )
        self.rules.show_rows([_rule_row(rule, rules, checks, formatter) for rule in rules.rules])
        self._show_read_in(max(0, self.rules.currentRow()))
        # Repeated below the rules, where the one above the table is out of sight.
        warned = Said("triangle-alert", "disputed", tr("{warning}.", warning=export_warning()))
        notes = (Said("info", "text3", note) for note in note_lines(checks, formatter))
        self.notes.show_lines([warned, *notes])

    def _show_read_in(self, row: int) -> None:
        """Show where the rule of a row was read."""
        if self._rules is None or row >= len(self._rules.rules):
            return
        rule = self._rules.rules[row]
        self.read_in.set_title(tr("{rule} was read in", rule=rule.name))
        self.read_in.show_lines([Said("book-open", "text3", each) for each in read_in_lines(rule)])

    def text(self, formatter: Formatter) -> str:
        """Return all of it as text."""
        if self._rules is None:
            return ""
        return as_text(export_lines(self._checks, self._rules, formatter))

    # Acting

    def _set_destination(self, place: str) -> None:
        scenario = with_plan(self._desk.scenario, DESTINATION, place or None)
        self._desk.apply(scenario, tr("Destination of the export check"))

    def _select(self, row: int) -> None:
        selection = self.scores.rows[row].selection
        if selection is not None:
            self._desk.select(selection)


def _heads(rules: tuple[ExportRule, ...]) -> tuple[Head, ...]:
    beside = (Head(rule.name, 170, 1.0) for rule in rules)
    return (Head(tr("Accelerator"), 130), Head(score_head(), 170, 1.0), *beside)


def _row(check: ExportCheck, found: Decided, rules: tuple[ExportRule, ...]) -> RecordRow:
    """Return the row of an accelerator: its largest products, and how it stands to each rule."""
    formatter = found.formatter
    part = next(each for each in found.parts if each.column.accelerator.id == check.accelerator)
    name = Cell((Para(short_name(check.name), "small_strong"),), look=Look(part.slot, part.hollow))
    products = score_lines(check, formatter)[:_PRODUCTS]
    score = Cell(tuple(_below(products)))
    standings = (_standing(check, rule, formatter) for rule in rules)
    best = next((each for each in check.scores if each.tpp is not None), None)
    selection = None if best is None else attribute(part.key, f"{_PEAK}{best.precision}")
    return RecordRow((name, score, *standings), selection)


def _below(lines: tuple[str, ...]) -> Iterator[Para]:
    """Yield the first line as what counts, further ones as what stands beside it."""
    for number, line in enumerate(lines):
        yield Para(line, "small" if number else "small_strong", "text3" if number else "text1")


def _standing(check: ExportCheck, rule: ExportRule, formatter: Formatter) -> Cell:
    found = next(each for each in check.rules if each.rule.id == rule.id)
    *figures, outcome = cell_lines(found, formatter)
    unknown = found.met is None
    paras = [Para(line, "small_strong" if not number else "small") for number, line in enumerate(figures)]
    threshold = found.threshold
    doubtful = threshold is None or threshold.standing is Standing.UNKNOWN
    paras.append(Para(outcome, "small", "disputed_text" if unknown or doubtful else "text2"))
    return Cell(tuple(paras))


def _rule_row(
    rule: ExportRule, rules: ExportRules, checks: tuple[ExportCheck, ...], formatter: Formatter
) -> RecordRow:
    about = [Para(rule.name, "small_strong"), Para(rule_days(rule), "caption", "text2")]
    if rule.reference is not None:
        about.append(Para(rule.reference, "caption", "text3"))
    named = destination_text(rule, checks[0]) if checks else None
    later = rule_status(rule, rules) is not None
    lines = [
        Para(line, colour="text2" if number or not later else "disputed_text")
        for number, line in enumerate(rule_lines(rule, rules, formatter))
    ]
    if named is not None:
        lines.append(Para(named, "small_strong"))
    return RecordRow((Cell(tuple(about)), Cell(tuple(lines))))
