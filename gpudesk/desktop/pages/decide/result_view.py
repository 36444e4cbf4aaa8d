"""The view Result: the verdict and how firm it is, why, the trace behind it, and what would change it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

from gpudesk.desktop.charts.figures_table import FiguresTable
from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.pages.decide.flips_block import FlipsBlock
from gpudesk.desktop.pages.decide.result_delivers import delivered, selection_of
from gpudesk.desktop.pages.decide.result_parts import Said, SaidList
from gpudesk.desktop.pages.decide.result_verdict import VerdictBlock
from gpudesk.desktop.pages.decide.trace_block import TraceBlock
from gpudesk.desktop.pages.decide.views import DecideView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.desktop.widgets.key_names import key_name
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain import decisions
from gpudesk.domain.decisions import Origin, Verdict
from gpudesk.domain.formatting import MACHINE, Formatter
from gpudesk.sheets.decision_words import exclusion_text, pilot_text, reason_text, source_label
from gpudesk.sheets.fact_words import in_sentence
from gpudesk.text import tr

#: What the buttons lead to: the key of the page's view of questions.
QUESTIONS: Final = "questions"
_MARGIN: Final = 16.0
#: Tables reach so far into the margins, so that their texts stand at them.
_OUT: Final = 8.0
_TABLE_OUT: Final = 6.0
_TWO_COLUMNS: Final = 720.0


class ResultView(DecideView):
    """All of one decision on one page, in the order in which it is read."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make the blocks; they say nothing yet."""
        super().__init__(desk, theme, parent)
        self._found: Decided | None = None
        self.answered = Label(theme, font="small", colour="text3", parent=self)
        self.change = Button(theme, tr("Change answers"), parent=self)
        self.change.clicked.connect(lambda: self.view_wanted.emit(QUESTIONS))
        self.print_sheet = Button(
            theme, tr("Print sheet"), icon="printer", kind="primary", key=key_name("Ctrl+P"), parent=self
        )
        self.print_sheet.clicked.connect(self.sheet_wanted)
        self.verdict = VerdictBlock(theme, desk.formatter, self)
        self.pilot = SaidList(theme, parent=self)
        self.delivers = FiguresTable(theme, self)
        self.delivers.chosen.connect(self._select_figure)
        self.reasons = SaidList(theme, tr("Why"), self)
        self.excluded = SaidList(theme, tr("What is out"), self)
        self.trace = TraceBlock(desk, theme, self)
        self.flips = FlipsBlock(desk, theme, self)
        self.advice = SaidList(theme, tr("What to do"), self)
        self.conflicts = SaidList(theme, tr("Where documents disagree"), self)
        self._why = self._pair(self.reasons, self.excluded)
        self._last = self._pair(self.advice, self.conflicts)
        self._lay_out()

    def _pair(self, one: QWidget, other: QWidget) -> QBoxLayout:
        """Return a row of two columns, which stand below one another where room is short."""
        row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.setSpacing(self.theme.px(24))
        row.addWidget(one, 1, Qt.AlignmentFlag.AlignTop)
        row.addWidget(other, 1, Qt.AlignmentFlag.AlignTop)
        return row

    def _lay_out(self) -> None:
        px = self.theme.px
        margin = px(_MARGIN)
        head, last = QHBoxLayout(), QVBoxLayout()
        head.setSpacing(px(8))
        head.addWidget(self.answered, 1)
        head.addWidget(self.change)
        head.addWidget(self.print_sheet)
        last.setSpacing(px(12))
        last.addWidget(Rule(self.theme, self))
        last.addLayout(self._last)
        self._whole = QVBoxLayout(self)
        self._whole.setContentsMargins(0, 0, 0, margin)
        self._whole.setSpacing(0)
        self._hold(head, margin, 2)
        self._hold(self.verdict, margin, 10)
        self._pilot_held = self._hold(self.pilot, margin, 12)
        self._figures_held = self._hold(self.delivers, margin - px(_TABLE_OUT), 8)
        self._why_held = self._hold(self._why, margin, 12)
        self._trace_held = self._hold(self.trace, margin - px(_OUT), 18)
        self._flips_held = self._hold(self.flips, margin, 18)
        self._last_held = self._hold(last, margin, 16)
        self._whole.addStretch(1)

    def _hold(self, block: QWidget | QLayout, side: int, above: int) -> QWidget:
        """Put a block on the page with its margins, in what hides these too where it says nothing."""
        holder = QWidget(self)
        row = QHBoxLayout(holder)
        row.setContentsMargins(side, self.theme.px(above), side, 0)
        if isinstance(block, QWidget):
            row.addWidget(block)
        else:
            row.addLayout(block)
        self._whole.addWidget(holder)
        return holder

    # Showing

    def show_decision(self, found: Decided) -> None:
        """Show a decision."""
        self._found = found
        decision = found.decision
        self.answered.setText(_answered_text(found))
        self.verdict.show_verdict(found)
        self._show_pilot(found)
        figures = delivered(found)
        self._figures_held.setVisible(bool(figures.rows))
        self.delivers.show_figures(figures)
        self.reasons.set_title(_reasons_title(found))
        self.reasons.show_lines(_reasons(found))
        self.excluded.show_lines(
            [
                Said("unfit", "unfit", exclusion_text(each, found.names, found.formatter, decision))
                for each in decision.exclusions
            ]
        )
        self.trace.show_decision(found)
        self.flips.show_decision(found)
        self.advice.show_lines([Said("arrow-right", "text2", each.text) for each in decision.advice])
        rules = {rule.id: rule for rule in self.desk.workbench.decider.rules}
        self.conflicts.show_lines(_conflicts(found, rules))
        self._why_held.setVisible(bool(self.reasons.texts or self.excluded.texts))
        self._last_held.setVisible(bool(decision.advice or decision.conflicts))
        self._order(decision.verdict)

    def _order(self, verdict: Verdict) -> None:
        """Put what would help before the trace where nothing is left, else behind it."""
        helps = verdict is Verdict.NONE_FITS
        trace, flips = (self._whole.indexOf(held) for held in (self._trace_held, self._flips_held))
        if helps is (trace < flips):
            self._whole.insertWidget(min(trace, flips), self._flips_held if helps else self._trace_held)

    def _show_pilot(self, found: Decided) -> None:
        pilot = found.decision.pilot
        said = []
        if pilot is not None:
            text = in_sentence(pilot_text(pilot, found.decision, found.names, found.formatter))
            said.append(Said("flask-conical", "text2", tr("What would settle it: {pilot}", pilot=text)))
        self.pilot.show_lines(said)
        self._pilot_held.setVisible(bool(said))

    def _select_figure(self, key: str, name: str) -> None:
        """Let the panel explain a figure of what is delivered."""
        if self._found is not None:
            selected = selection_of(self._found, key, name)
            if selected is not None:
                self.desk.select(selected)

    # What the page asks

    def copied(self) -> str:
        """Return the verdict, why, and the trace as text."""
        found = self._found
        if found is None:
            return ""
        parts = [self.verdict.title.text(), self.verdict.reason.text, self.verdict.firmness.text()]
        parts += [*self.pilot.texts, *self.reasons.texts, *self.excluded.texts]
        lines = [part for part in parts if part]
        changes = [each.sentence for each in self.flips.shown_flips()]
        if changes:
            lines += ["", self.flips.title.text(), *changes]
        more = [*self.advice.texts, *self.conflicts.texts]
        return "\n".join([*lines, *more, "", self.trace.text(Formatter(MACHINE))])

    def focus_first(self) -> None:
        """Give the focus to the trace."""
        self.trace.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Set lists side by side where there is room."""
        super().resizeEvent(event)
        beside = self.width() >= self.theme.px(_TWO_COLUMNS)
        way = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        for row in (self._why, self._last):
            row.setDirection(way)


def _answered_text(found: Decided) -> str:
    """Return how many of the questions the user answered; the others go by the scenario or a default."""
    origins = [each.origin for each in found.decision.answers.values()]
    yours, scenario = origins.count(Origin.YOURS), origins.count(Origin.SCENARIO)
    count = found.formatter.count
    if not scenario:
        return tr("{n} of {total} answered by you", n=count(yours), total=count(len(origins)))
    return tr(
        "{n} of {total} answered by you, {m} by the scenario",
        n=count(yours),
        total=count(len(origins)),
        m=count(scenario),
    )


def _reasons_title(found: Decided) -> str:
    first = found.decision.recommended
    if first is None or found.decision.verdict is Verdict.WINNER:
        return tr("Why")
    return tr("What speaks for {name}, and what against", name=found.names[first.key])


def _reasons(found: Decided) -> list[Said]:
    """Return the reasons, then the strongest against."""
    decision, names, formatter = found.decision, found.names, found.formatter
    said = [
        Said("arrow-up", "best_text", reason_text(each, decision, names, formatter))
        for each in decision.reasons
    ]
    return said + [
        Said(
            "arrow-down",
            "text2",
            tr("Against: {reason}", reason=reason_text(each, decision, names, formatter)),
        )
        for each in decision.against
    ]


def _conflicts(found: Decided, rules: Mapping[str, decisions.Rule]) -> list[Said]:
    """Return each pair of rules whose documents say otherwise, both with their dates."""
    return [
        Said(
            "disputed",
            "disputed",
            tr(
                "{one}, against {other}",
                one=_dated(rules[each.one]),
                other=in_sentence(_dated(rules[each.other])),
            ),
        )
        for each in found.decision.conflicts
        if each.one in rules and each.other in rules
    ]


def _dated(rule: decisions.Rule) -> str:
    return tr(
        "{title} ({id}, {source}, {date})",
        title=rule.title,
        id=rule.id,
        source=source_label(rule),
        date=rule.dated or tr("not dated"),
    )
