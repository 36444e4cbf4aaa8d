"""The recommendation view: verdict, figures, reasons, next question, changes that would alter it, next steps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLayout, QWidget

from gpudesk.desktop.pages.decide.flips import FlipsBlock, WaysOutBlock
from gpudesk.desktop.pages.decide.parts import DecideView, VerdictBlock
from gpudesk.desktop.pages.decide.question_block import NextQuestionBlock
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.selection import Selection, select_cost, select_figure
from gpudesk.desktop.ui.tables.data_table import FiguresTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button, LinkButton
from gpudesk.desktop.ui.widgets.layouts import (
    STRETCH,
    Hairline,
    ThemedLabel,
    clear_layout,
    make_column,
    make_row,
    set_beside,
)
from gpudesk.desktop.ui.widgets.marked_list import MarkedList
from gpudesk.desktop.ui.widgets.qt_support import format_key, set_manual_topic
from gpudesk.domain.decision import AnswerOrigin, Decision, ObjectiveName
from gpudesk.report.comparison.estimate_rows import build_plan_cell
from gpudesk.report.costs import OWNED, RENTED, MoneyFormatter
from gpudesk.report.data_table import DataTable, FigureRow, build_accelerator_table
from gpudesk.report.decision.recommendation import (
    describe_pilot,
    list_arguments_against,
    list_decision_assumptions,
    list_memory_fits,
    list_recommendation_lines,
    list_removed_columns,
    list_rent_remarks,
    list_unpriced_candidates,
)
from gpudesk.report.decision.rules import describe_reason
from gpudesk.report.decision.verdict import (
    MOST_NAMED,
    LeadingCandidates,
    describe_missing_value,
    describe_other_payment,
    find_leading_column,
    label_arguments,
)
from gpudesk.report.labels import format_degrees, format_odds, join_names
from gpudesk.text.formatting import MISSING_VALUE_TEXT, IntervalEstimate
from gpudesk.text.translation import tr, translate_data

if TYPE_CHECKING:
    from gpudesk.desktop.pages.decide.trace_table import RuleTraceBlock

_THROUGHPUT, _TTFT, _COST = "output_tokens_per_s", "ttft_ms", "usd_per_million"
#: Objectives that are figures themselves.
_OBJECTIVE_FIGURES: Final = {
    ObjectiveName.COST: _COST,
    ObjectiveName.THROUGHPUT: "output_tokens_per_s_per_accelerator",
    ObjectiveName.LATENCY: "request_s",
}
#: The figure of each table column; for the deployment it is throughput.
_FIGURES: Final = (_THROUGHPUT, _THROUGHPUT, _TTFT, _COST)


def make_delivery_figures(evaluated: EvaluatedAnswer) -> DataTable:
    decision = evaluated.decision
    recommended = decision.recommended
    leaders = [] if recommended is None else LeadingCandidates(decision, recommended.key).named
    keys = dict.fromkeys([each.key for each in leaders[:MOST_NAMED]] + list(filter(None, [decision.runner_up])))
    money = evaluated.money
    heads = (tr("Deployment"), tr("Output, tok/s"), tr("TTFT, ms"), tr("Cost, {code}/M output tokens", code=money.code))
    rows = tuple(_make_delivery_row(evaluated, key, money) for key in keys)
    return build_accelerator_table(tr("Key figures"), heads, rows, leading={1}, figures=_FIGURES, remarks=tr("Odds"))


def _make_delivery_row(evaluated: EvaluatedAnswer, key: str, money: MoneyFormatter) -> FigureRow:
    """Return the figures of the deployment that is decided about, which can be another than that of the column."""
    formatter, decision, place = evaluated.formatter, evaluated.decision, evaluated.place(key)
    candidate, part = decision.candidates[place], decision.parts[place]
    estimate = evaluated.answer.columns[place].estimate
    if estimate is not None and _is_as_shown(evaluated, place):
        plan = build_plan_cell(estimate, formatter)
        deployment = (plan.text, plan.detail)
    else:
        degrees = "" if candidate.plan is None else format_degrees(candidate.plan, formatter)
        deployment = (f"× {formatter.count(candidate.count)}", degrees)
    rate, ttft = (part.get(name) for name in ("tokens_per_s", _TTFT))
    cells = (
        ", ".join(filter(None, deployment)),
        *(
            formatter.estimate_with_interval(each) if isinstance(each, IntervalEstimate) else MISSING_VALUE_TEXT
            for each in (rate, ttft)
        ),
        _format_delivery_cost(decision, place, money),
    )
    return FigureRow(*evaluated.column(key).identity, cells, format_odds(candidate.odds, formatter))


def _is_as_shown(evaluated: EvaluatedAnswer, place: int) -> bool:
    """Whether a decision is about the deployment and the load of a column, whose figures can be explained."""
    estimate, part = evaluated.answer.columns[place].estimate, evaluated.decision.parts[place]
    return (
        estimate is not None
        and estimate.count == evaluated.decision.candidates[place].count
        and estimate.output_tokens_per_s == part.get("tokens_per_s")
    )


def _format_delivery_cost(decision: Decision, place: int, money: MoneyFormatter) -> str:
    """Return the compared cost, or the known one, with its interval and whether it is rented."""
    name = find_cost_figure(decision, place)
    value = None if name is None else decision.parts[place].get(_FACTS[name])
    if not isinstance(value, IntervalEstimate):
        return MISSING_VALUE_TEXT
    tenure = tr("rented") if name == RENTED else tr("owned")
    return tr(
        "{amount} ({interval}), {tenure}", amount=money.small(value.value), interval=money.band(value), tenure=tenure
    )


#: Explainable cost -> its fact in decisions.
_FACTS: Final = {OWNED: "owned_usd_per_million", RENTED: "rented_usd_per_million"}


def find_cost_figure(decision: Decision, place: int) -> str | None:
    """Return the explainable name of a column's cost: owned or rented, as compared."""
    part = decision.parts[place]
    compared = part.get(_COST)
    if compared is not None:
        return RENTED if compared == part.get(_FACTS[RENTED]) else OWNED
    return next((name for name in (RENTED, OWNED) if part.get(_FACTS[name]) is not None), None)


def select_delivery_figure(evaluated: EvaluatedAnswer, key: str, name: str) -> Selection | None:
    """Return the selection for a click on a row's figure, None without an explanation."""
    if not _is_as_shown(evaluated, evaluated.place(key)):
        return None
    if name != _COST:
        return select_figure(key, name)
    cost_figure = find_cost_figure(evaluated.decision, evaluated.place(key))
    return None if cost_figure is None else select_cost(key, cost_figure)


#: The button's target: the key of the page's view of questions.
QUESTIONS: Final = "questions"
_MARGIN: Final = 16.0
#: How far the table of rules extends into the margins, in design lengths, so that its texts align.
_OUT: Final = 8.0
_TWO_COLUMNS: Final = 720.0


#: A missing price -> the page to enter it; and the page on memory fit.
_PRICES: Final = ("price_usd", "rent_usd_per_hour")
_COST_PAGE, _MEMORY_PAGE, _COMPARE_PAGE = "cost", "memory", "compare"


class LinkedLines(QWidget):
    """Sentences, each with a link to a page for action; hidden if empty."""

    #: The page, and the key of the column concerned, if any.
    followed = Signal(str, str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.texts: tuple[str, ...] = ()
        self._lines: tuple[tuple[str, str, str, str], ...] = ()
        self.links: list[LinkButton] = []
        self._column = make_column(gap=theme.px(4), on=self)
        self.hide()

    def show_lines(self, lines: Sequence[tuple[str, str, str, str]]) -> None:
        """Show lines of a sentence, the text of its link (empty for none), a page, and a column's key."""
        if tuple(lines) == self._lines:
            return
        self._lines = tuple(lines)
        clear_layout(self._column)
        self.texts, self.links = tuple(line[0] for line in lines), []
        for sentence, text, page, key in lines:
            words = ThemedLabel(
                self._theme, sentence, font="small", color="text1", wrap=True, parent=self, selectable=True
            )
            if not text:
                self._column.addWidget(words)
                continue
            row = QWidget(self)
            link = LinkButton(self._theme, text, parent=row)
            link.setAccessibleName(tr("{link}: {sentence}", link=text, sentence=sentence))
            link.clicked.connect(partial(self.followed.emit, page, key))
            self.links.append(link)
            # The link follows a sentence that fits into a line.
            words.setMaximumWidth(words.fontMetrics().horizontalAdvance(words.text()) + self._theme.px(4))
            make_row((words, 100), link, STRETCH, gap=self._theme.px(8), on=row)
            self._column.addWidget(row)
        self.setVisible(bool(lines))


class ResultView(DecideView):
    """The whole decision on one page, in reading order; the rules on request."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, parent)
        self.answered = ThemedLabel(theme, font="small", color="text3", parent=self)
        self.change = Button(theme, tr("Change answers"), lambda: self.view_requested.emit(QUESTIONS), parent=self)
        self.print_sheet = Button(
            theme,
            tr("Print sheet"),
            self.sheet_requested,
            icon="printer",
            kind="primary",
            key=format_key("Ctrl+P"),
            parent=self,
        )
        set_manual_topic("sheet", self.print_sheet)
        self.verdict = VerdictBlock(theme, self)
        self.next_question = NextQuestionBlock(desk, theme, large=False, parent=self)
        self.next_question.answered.connect(self.answer)
        self.unknown = LinkedLines(theme, self)
        self.unknown.followed.connect(self.page_requested)
        self.ways_out = WaysOutBlock(desk, theme, self)
        self.ways_out.found.connect(self.verdict.show_verdict)
        self.delivers = FiguresTable(theme, self)
        self.delivers.chosen.connect(self._select_figure)
        self.reasons = MarkedList(theme, parent=self)
        self.against = MarkedList(theme, parent=self)
        self.flips = FlipsBlock(desk, theme, self)
        self.pilot = MarkedList(theme, tr("Measure next"), self)
        self.advice = MarkedList(theme, tr("Next steps"), self)
        self.excluded = MarkedList(theme, tr("Ruled out"), self)
        self.rents = MarkedList(theme, tr("Rental price"), self)
        self.assumptions = MarkedList(theme, tr("Assumptions"), self)
        self.rules_link = LinkButton(
            theme, tr("Show all rules"), lambda: self.show_rules(is_visible=self._rules_held.isHidden()), parent=self
        )
        self._rules_held: QWidget = QWidget(self)
        self._why = self._make_column_pair(self.reasons, self.against)
        self._next = self._make_column_pair(self.pilot, self.advice)
        self._basis = self._make_column_pair(self.rents, self.assumptions)
        self._lay_out()

    def _make_column_pair(self, one: QWidget, other: QWidget) -> QBoxLayout:
        """Return a row of two columns, placed below one another in narrow windows."""
        top = Qt.AlignmentFlag.AlignTop
        return make_row((one, 1, top), (other, 1, top), gap=self.theme.px(24))

    def _lay_out(self) -> None:
        px = self.theme.px
        margin = px(_MARGIN)
        head = make_row((self.answered, 1), self.change, self.print_sheet, gap=px(8))
        self._unknown_held = self._hold(self.unknown, margin, 10)
        self._ways_held = self._hold(self.ways_out, margin, 14)
        self._next_question_held = self._hold(self.next_question, margin, 18)
        self._figures_held = self._hold(self.delivers, margin, 10)
        self._why_held = self._hold(self._why, margin, 14)
        self._flips_held = self._hold(self.flips, margin, 18)
        self._next_held = self._hold(self._next, margin, 18)
        self._excluded_held = self._hold(self.excluded, margin, 18)
        self._basis_held = self._hold(self._basis, margin, 18)
        link = make_column(Hairline(self.theme, self), make_row(self.rules_link, STRETCH), gap=px(8))
        make_row(margins=(margin - px(_OUT), px(8), margin - px(_OUT), 0), on=self._rules_held)
        self._rules_held.hide()
        make_column(
            self._hold(head, margin, 2),
            self._hold(self.verdict, margin, 10),
            self._unknown_held,
            self._ways_held,
            self._figures_held,
            self._why_held,
            self._next_question_held,
            self._flips_held,
            self._next_held,
            self._excluded_held,
            self._basis_held,
            self._hold(link, margin, 18),
            self._rules_held,
            STRETCH,
            gap=0,
            margins=(0, 0, 0, margin),
            on=self,
        )

    def _hold(self, block: QWidget | QLayout, side: int, above: int) -> QWidget:
        """Wrap a block and its margins in a widget, to hide both."""
        holder = QWidget(self)
        make_row(block, margins=(side, self.theme.px(above), side, 0), on=holder)
        return holder

    # Display

    def refresh(self) -> None:
        evaluated = self.evaluated
        decision, names, formatter = evaluated.decision, evaluated.names, evaluated.formatter
        self.answered.setText(_format_answered_count(evaluated))
        self.verdict.show_verdict(evaluated)
        self.unknown.show_lines(_list_unknown(evaluated))
        self._unknown_held.setVisible(bool(self.unknown.texts))
        # Shown first: only a visible block searches.
        self._ways_held.setVisible(decision.lacks_ways_out)
        if decision.lacks_ways_out:
            self.ways_out.show_decision(evaluated)
        figures = make_delivery_figures(evaluated)
        self._figures_held.setVisible(bool(figures.rows))
        self.delivers.show_table(figures)
        for arguments, title in zip((self.reasons, self.against), label_arguments(decision, names), strict=True):
            arguments.set_title(title)
        reasons = (describe_reason(each, names, formatter) for each in decision.reasons)
        self.reasons.show_texts("plus", "best_text", reasons)
        against = list(list_arguments_against(decision, names, formatter, evaluated.decision_costs))
        self.against.show_texts("minus", "text2", against)
        self._why_held.setVisible(bool(decision.reasons or against))
        self.next_question.show_decision(evaluated)
        self._next_question_held.setVisible(decision.scope.answered)
        self.flips.show_decision(evaluated)
        self._flips_held.setVisible(decision.scope.answered)
        pilots = [] if decision.pilot is None else [describe_pilot(decision.pilot, names, formatter)]
        self.pilot.show_texts("flask-conical", "text2", pilots)
        self.advice.show_texts("arrow-right", "text2", (translate_data(each.text) for each in decision.advice))
        self._next_held.setVisible(bool(pilots or decision.advice))
        self.excluded.show_texts("unfit", "unfit", list_removed_columns(decision, names, formatter))
        self._excluded_held.setVisible(bool(decision.exclusions))
        rents = list_rent_remarks(decision, evaluated.decision_costs, names, formatter)
        self.rents.show_texts("coins", "text2", rents)
        assumptions = list_decision_assumptions(decision, names, formatter, evaluated.decision_costs)
        self.assumptions.show_texts("info", "text2", assumptions)
        self._basis_held.setVisible(bool(self.rents.texts or self.assumptions.texts))
        if not self._rules_held.isHidden():
            self.trace.show_decision(evaluated)

    @cached_property
    def trace(self) -> RuleTraceBlock:
        """The rules, created on demand."""
        from gpudesk.desktop.pages.decide.trace_table import RuleTraceBlock

        trace_block = RuleTraceBlock(self.desk, self.theme, self._rules_held)
        trace_block.show_decision(self.evaluated)
        rules_layout = self._rules_held.layout()
        assert rules_layout is not None
        rules_layout.addWidget(trace_block)
        return trace_block

    def show_rules(self, *, is_visible: bool) -> None:
        """Show every rule that applies with its effect, or hide them."""
        if is_visible:
            self.trace.show_decision(self.evaluated)
        self._rules_held.setVisible(is_visible)
        self.rules_link.setText(tr("Hide all rules") if is_visible else tr("Show all rules"))

    def propose_selection(self) -> Selection | None:
        """Return the figure by which the recommended accelerator, or the best one of a tie, leads."""
        evaluated = self._evaluated
        key = None if evaluated is None else find_leading_column(evaluated.decision)
        if evaluated is None or key is None:
            return None
        objective = evaluated.decision.objective.name
        return select_delivery_figure(evaluated, key, _OBJECTIVE_FIGURES.get(objective, _THROUGHPUT))

    def _select_figure(self, key: str, name: str) -> None:
        selected = select_delivery_figure(self.evaluated, key, name)
        if selected is not None:
            self.desk.select(selected)

    # Interface for the page

    def copied(self) -> str:
        evaluated = self.evaluated
        names, formatter = evaluated.names, evaluated.formatter
        labels = (self.verdict.title, self.verdict.reason, self.verdict.terms)
        lines = [label.text() for label in labels if label.text()]
        recommendation = list_recommendation_lines(
            evaluated.decision, self.flips.flips or (), names, formatter, evaluated.decision_costs
        )
        for subject, remarks in groupby(recommendation, key=lambda line: line.subject):
            lines += ["", subject, *(f"{each.text}." for each in remarks)]
        if not self._rules_held.isHidden():
            lines += ["", self.trace.text(formatter)]
        return "\n".join(lines)

    def focus_first(self) -> None:
        self.change.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = self.width() >= self.theme.px(_TWO_COLUMNS)
        for row in (self._why, self._next, self._basis):
            set_beside(row, beside)


def _list_unknown(evaluated: EvaluatedAnswer) -> list[tuple[str, str, str, str]]:
    """Return the missing values of an answer, each with a link to the page for entering it, and the other payment."""
    if not evaluated.decision.scope.answered:
        memory = list_memory_fits(evaluated.decision, evaluated.names, evaluated.formatter)
        # The memory page is about the model of the scenario.
        is_media = bool(evaluated.decision.media_fits)
        link = ("", "", "") if is_media else (tr("Show memory and fit"), _MEMORY_PAGE, "")
        return [(f"{line}.", *link) for line in memory[:1]] + [(f"{line}.", "", "", "") for line in memory[1:]]
    missing = [
        (
            f"{describe_missing_value(each, evaluated.names, evaluated.formatter)}.",
            tr("Enter price") if each.missing in _PRICES else "",
            _COST_PAGE,
            each.key,
        )
        for each in list_unpriced_candidates(evaluated.decision)
    ]
    if (other_payment := describe_other_payment(evaluated.decision, evaluated.names, evaluated.formatter)) is not None:
        missing.append((f"{other_payment}.", "", "", ""))
    if evaluated.decision.recommended is not None and (counts := evaluated.list_counted_names()):
        shown_text = tr("Compare shows other counts: {deployments}.", deployments=join_names(counts))
        missing.append((shown_text, tr("Open Compare"), _COMPARE_PAGE, ""))
    return missing


def _format_answered_count(evaluated: EvaluatedAnswer) -> str:
    """Return how many questions the user answered; the others follow the scenario or a default."""
    origins = [each.origin for each in evaluated.decision.answers.values()]
    yours, scenario = origins.count(AnswerOrigin.YOURS), origins.count(AnswerOrigin.SCENARIO)
    count = evaluated.formatter.count
    if not scenario:
        return tr("You have answered {n} of {total} questions", n=count(yours), total=count(len(origins)))
    return tr(
        "You have answered {n} of {total} questions; {m} come from the scenario",
        n=count(yours),
        total=count(len(origins)),
        m=count(scenario),
    )
