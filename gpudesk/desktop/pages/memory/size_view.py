"""The view that sizes a service: candidates side by side, and one of them in full."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QHideEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.demand_form import DemandForm, DemandStart, make_default_demand
from gpudesk.desktop.pages.page import PageView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.session.scenario_edits import apply_candidate
from gpudesk.desktop.ui.charts.chart_data import ChartData, show_chart_menu
from gpudesk.desktop.ui.tables.data_table import DataTableView, FiguresTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button, CopyButton
from gpudesk.desktop.ui.widgets.fields import FIELD_SIDE
from gpudesk.desktop.ui.widgets.layouts import STRETCH, Hairline, ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.qt_support import make_delay
from gpudesk.domain.answer import Answer, Scenario
from gpudesk.domain.estimate import format_plan
from gpudesk.domain.sizing import Demand, DemandKind, SizingOption, SizingResult
from gpudesk.report.data_table import (
    CellSeverity,
    DataCell,
    DataColumn,
    DataRow,
    DataTable,
    FigureRow,
    build_accelerator_table,
)
from gpudesk.report.labels import label_estimate_basis, label_serving_engine
from gpudesk.report.sizing import (
    describe_bound,
    describe_counts,
    describe_demand,
    describe_peak,
    describe_sizing,
    describe_sizing_with_notes,
    format_max_power,
    format_sizing_factor,
    label_sizing_factor,
    list_bound_lines,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import InputError, capitalize_first, format_message, lower_for_sentence
from gpudesk.text.translation import tr

ColumnCandidates = tuple[tuple[AcceleratorColumn, SizingOption], ...]


def make_candidate_figures(pairs: ColumnCandidates, formatter: Formatter, *, wide: bool) -> DataTable:
    """Return the candidates side by side; in a narrow table the most important columns."""
    heads = (
        tr("Accelerators"),
        tr("Active"),
        tr("Spare"),
        tr("Hosts"),
        *((tr("Concurrency per replica"),) if wide else ()),
        tr("Concurrency, total"),
        tr("Max throughput, tok/s"),
        *((tr("80% interval"),) if wide else ()),
        tr("Power, max, kW"),
    )
    return build_accelerator_table(
        title=tr("Candidates"),
        heads=heads,
        leading={0},
        figures=("count",) * len(heads),
        rows=tuple(
            FigureRow(
                part.key,
                part.palette_index,
                part.is_variant,
                part.name.partition(" × ")[0],
                _make_candidate_cells(candidate, formatter, wide=wide),
                _format_candidate_remark(candidate, formatter),
                severity=CellSeverity.FAULT if candidate.count is None else CellSeverity.NONE,
            )
            for part, candidate in pairs
        ),
        remarks=tr("Replica"),
    )


def _make_candidate_cells(candidate: SizingOption, formatter: Formatter, *, wide: bool) -> tuple[str, ...]:
    if candidate.count is None:
        return (MISSING_VALUE_TEXT,) * (9 if wide else 7)
    rate = candidate.output_tokens_per_s
    return (
        formatter.count(candidate.count),
        formatter.count(candidate.count - candidate.spare),
        formatter.count(candidate.spare),
        formatter.count(candidate.nodes),
        *((formatter.count(candidate.concurrency_per_replica),) if wide else ()),
        formatter.count(candidate.concurrency),
        MISSING_VALUE_TEXT if rate is None else formatter.estimate(rate.value),
        *((formatter.band(rate),) if wide else ()),
        format_max_power(candidate, formatter)[0],
    )


def _format_candidate_remark(candidate: SizingOption, formatter: Formatter) -> str:
    if candidate.count is None:
        reason = "" if candidate.reason is None else format_message(candidate.reason, formatter)
        return capitalize_first(reason)
    estimate = candidate.estimate
    if estimate is None:
        return format_plan(candidate.plan)
    engine, basis = label_serving_engine(estimate.serving_engine), lower_for_sentence(label_estimate_basis(estimate))
    return tr("{plan}, {engine}, {basis}", plan=format_plan(candidate.plan), engine=engine, basis=basis)


def find_best_candidate(pairs: ColumnCandidates) -> str | None:
    """Return the candidate with the fewest accelerators, the first on ties; None without any."""
    counts = [(candidate.count, place) for place, (_, candidate) in enumerate(pairs) if candidate.count]
    return pairs[min(counts)[1]][0].key if counts else None


#: Minimum and maximum width of the table of factors.
_FACTORS = (300.0, 340.0)


class CandidateBlock(QWidget):
    """Shows given texts; Copy copies the sentence, Use requests the deployment."""

    used = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.title_label = ThemedLabel(theme, font="section", wrap=True, parent=self, selectable=True)
        self.bound_title = ThemedLabel(
            theme, tr("Lower bound check"), font="caption_strong", color="text3", parent=self
        )
        self.bound = ThemedLabel(theme, font="small", color="text2", wrap=True, parent=self)
        self.copy = CopyButton(theme, tr("Copy summary"), self.title_label.text, self)
        self.use = Button(theme, tr("Use this deployment"), self.used, parent=self)
        self.table = DataTableView(theme, self)
        self._title = ThemedLabel(self._theme, tr("Calculation of the count"), font="section", parent=self)
        buttons = make_row(self.copy, self.use, STRETCH)
        texts = (self.title_label, buttons, 8, self.bound_title, self.bound, STRETCH)
        left = make_column(self._title, self.table, STRETCH, gap=8, scaled=theme)
        make_row((left, 1), (make_column(*texts, gap=8, scaled=theme), 1), gap=32, scaled=theme, on=self)
        theme.follow(self._dress)

    def show_candidate(self, sentence: str, bound: str, factors: list[tuple[str, str]], use: str) -> None:
        """Show a candidate; an empty `use` hides the button that applies its deployment."""
        if sentence != self.title_label.text():
            self.title_label.setText(sentence)
            self.copy.reset()
        self.bound.setText(bound)
        for label in (self.bound, self.bound_title):
            label.setVisible(bool(bound))
        self.use.setVisible(bool(use))
        self.use.setText(use)
        self._title.setVisible(bool(factors))
        self.table.setVisible(bool(factors))
        # The factors of a count; the last line is their product.
        rows = []
        for number, (factor, amount) in enumerate(factors, start=1):
            cells = (DataCell(text, is_strong=number == len(factors)) for text in (factor, amount))
            rows.append(DataRow(factor, tuple(cells), f"{factor}: {amount}"))
        columns = (DataColumn(tr("Factor"), stretch=1), DataColumn(tr("Value"), is_figure=True))
        self.table.show_table(DataTable("factors", tr("Factors of the count"), "", columns, tuple(rows)))

    def _dress(self) -> None:
        least, most = map(self._theme.px, _FACTORS)
        self.table.setMinimumWidth(least)
        self.table.setMaximumWidth(most)


_MARGIN = 16
#: From this width on, in design pixels, the table has all columns.
_WIDE = 1180
#: Delay of the counts during a drag, in milliseconds.
_REST = 120


class SizingView(PageView):
    """A form, the candidates side by side, and one of them in full; an initial offer without a demand."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__()
        self._desk = desk
        self.theme, self.formatter = theme, desk.formatter
        self.charts = (self,)
        self._answer: Answer | None = None
        self._sizing: SizingResult | None = None
        self._pairs: ColumnCandidates = ()
        self._chosen = ""
        #: Whether the user chose that candidate; by default it is the one with the fewest.
        self._is_user_choice = False
        self.form = DemandForm(theme, desk.formatter.style, self)
        self.verdict = ThemedLabel(theme, font="page", wrap=True, parent=self)
        self.demand_label = ThemedLabel(theme, font="small", color="text2", wrap=True, parent=self)
        self.problem = ThemedLabel(theme, color="unfit", wrap=True, parent=self)
        self.table = FiguresTable(theme, self)
        self.candidate = CandidateBlock(theme, self)
        self._rest = make_delay(self, _REST, self._size)
        self.setAccessibleName(self.title)
        self._build()
        self.form.edited.connect(self._edit)
        self.table.chosen.connect(lambda key, _: self._choose(key))
        self.candidate.used.connect(self._use)
        desk.gesture_changed.connect(self._gesture_changed)

    def _build(self) -> None:
        self.start = DemandStart(
            self.theme,
            tr("How many accelerators do you need?"),
            tr("Describe the traffic. Peaks, latency limits and spares are included."),
            self,
        )
        self.start.begun.connect(self._begin)
        full = self._full = QWidget(self)
        make_column(self.start, full, gap=0, on=self)
        answer = make_column(self.verdict, margins=(_MARGIN, 2, _MARGIN, 8), scaled=self.theme)
        upper = make_column(self.form, margins=(_MARGIN - FIELD_SIDE, 0, _MARGIN, 8), scaled=self.theme)
        lower = make_column(
            ThemedLabel(self.theme, tr("Candidates"), font="section", parent=full),
            self.demand_label,
            self.problem,
            self.table,
            10,
            self.candidate,
            STRETCH,
            gap=6,
            margins=(_MARGIN, 10, _MARGIN, _MARGIN),
            scaled=self.theme,
        )
        make_column(answer, upper, Hairline(self.theme, full), (lower, 1), gap=0, on=full)

    @property
    def title(self) -> str:
        return tr("Accelerators for this demand")

    # Requests

    def _begin(self, kind: DemandKind) -> None:
        self._edit(make_default_demand(kind), tr("Enter demand"))
        self.form.amounts[kind].setFocus(Qt.FocusReason.TabFocusReason)

    def _edit(self, demand: Demand | None, text: str) -> None:
        self._desk.apply(replace(self._desk.scenario, demand=demand), text)
        self._show_form()

    def refresh(self) -> None:
        """Show the desk's answer; during a drag, after a pause."""
        self._show_form()
        if self._desk.in_gesture:
            self._rest.start()
        else:
            self._size()

    def _show_form(self) -> None:
        demand = self._desk.scenario.demand
        self.start.setVisible(demand is None)
        self._full.setVisible(demand is not None)
        if demand is not None:
            self.form.show_demand(demand)

    def _size(self) -> None:
        """Size the demand of the visible answer, once per answer."""
        self._rest.stop()
        answer = self._desk.answer
        if answer is None or answer.scenario.demand is None:
            self._answer, self._sizing, self._pairs = None, None, ()
            return
        if answer is not self._answer:
            self._answer = answer
            self._find(answer)
        self._show()

    def _find(self, answer: Answer) -> None:
        self._sizing, self._pairs = None, ()
        try:
            sizing = self._desk.service.size(answer.scenario)
        except InputError as error:
            problem = format_message(error.problem, self.formatter)
            self.problem.setText(capitalize_first(problem))
            return
        self._sizing = sizing
        self._pairs = tuple(zip(self._desk.columns, sizing.candidates, strict=True))

    def _gesture_changed(self) -> None:
        if not self._desk.in_gesture and self.isVisible():
            self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._rest.stop()

    # Display

    def _show(self) -> None:
        sizing, is_sized = self._sizing, self._sizing is not None
        self.problem.setVisible(not is_sized)
        self.table.setVisible(is_sized)
        self.candidate.setVisible(is_sized)
        if sizing is None:
            self.verdict.show_text("")
            self.demand_label.setText("")
            return
        names = [part.name.partition(" × ")[0] for part, _ in self._pairs]
        self.verdict.show_text(describe_counts(sizing, names, self.formatter))
        self.demand_label.setText(self._describe_request(sizing))
        keys = [part.key for part, _ in self._pairs]
        if not self._is_user_choice or self._chosen not in keys:
            self._is_user_choice = False
            self._chosen = find_best_candidate(self._pairs) or keys[0]
        self.table.show_table(make_candidate_figures(self._pairs, self.formatter, wide=self._is_wide()))
        self.table.choose_row(self._chosen)
        self._show_candidate(sizing)

    def _describe_request(self, sizing: SizingResult) -> str:
        demand, peak = describe_demand(sizing.demand, self.formatter), describe_peak(sizing, self.formatter)
        return tr("{demand}: {peak}", demand=demand, peak=peak) if peak else demand

    def _show_candidate(self, sizing: SizingResult) -> None:
        _, name, candidate = self._get_chosen_option()
        sentence = describe_sizing(sizing, candidate, name, self.formatter)
        if candidate.count is None:
            self.candidate.show_candidate(sentence, "", [], "")
            return
        count = self.formatter.count(candidate.count - candidate.spare)
        use = tr("Use {n} {name}, without spares", n=count, name=name)
        is_used = self._desk.scenario == self._deploy_candidate(sizing)
        formatter = self.formatter
        rows = [
            (label_sizing_factor(factor), f"{'× ' if place else ''}{format_sizing_factor(factor, formatter)}")
            for place, factor in enumerate(candidate.factors)
        ]
        factors = [*rows, (tr("Accelerators"), f"= {formatter.count(candidate.count)}")]
        notes = [format_message(note, self.formatter) for note in candidate.notes]
        bound = "\n".join([*list_bound_lines(candidate, self.formatter), *notes])
        self.candidate.show_candidate(sentence, bound, factors, "" if is_used else use)

    def _get_chosen_option(self) -> tuple[int, str, SizingOption]:
        keys = [part.key for part, _ in self._pairs]
        position = keys.index(self._chosen)
        part, candidate = self._pairs[position]
        return position, part.name.partition(" × ")[0], candidate

    def _choose(self, key: str) -> None:
        if self._sizing is not None:
            self._chosen, self._is_user_choice = key, True
            self._show_candidate(self._sizing)

    def _deploy_candidate(self, sizing: SizingResult) -> Scenario:
        position, _, candidate = self._get_chosen_option()
        return apply_candidate(self._desk.scenario, position, candidate, sizing.peak_load)

    def _use(self) -> None:
        if self._sizing is not None:
            self._desk.apply(self._deploy_candidate(self._sizing), self.candidate.use.text())

    def _is_wide(self) -> bool:
        return self.width() >= self.theme.px(_WIDE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        before = event.oldSize().width() >= self.theme.px(_WIDE)
        if before != self._is_wide() and self._sizing is not None:
            self._show()

    # Interface for charts

    def data(self, formatter: Formatter) -> ChartData:
        sizing = self._sizing
        pairs = self._pairs
        title = tr("Accelerators for this demand")
        if sizing is None:
            return ChartData(title=title, heads=(tr("Figure"),), rows=())
        names = [part.name.partition(" × ")[0] for part, _ in pairs]
        table = make_candidate_figures(pairs, formatter, wide=True)
        facts = [
            (column.head, [row.cells[place].text for row in table.rows])
            for place, column in enumerate(table.columns)
            if place
        ]
        longest = max((each.factors for _, each in pairs), key=len, default=())
        facts += [
            (
                tr("Factor: {name}", name=label_sizing_factor(factor)),
                [
                    format_sizing_factor(each.factors[place], formatter)
                    if place < len(each.factors)
                    else MISSING_VALUE_TEXT
                    for _, each in pairs
                ],
            )
            for place, factor in enumerate(longest)
        ]
        facts.append(
            (tr("Lower bound check"), [describe_bound(each, formatter) or MISSING_VALUE_TEXT for _, each in pairs])
        )
        sentences = [
            describe_sizing_with_notes(sizing, each, name, formatter)
            for (_, each), name in zip(pairs, names, strict=True)
        ]
        facts.append((tr("Summary"), sentences))
        rows = ((label, *texts) for label, texts in facts)
        return ChartData(
            title=f"{title}: {describe_demand(sizing.demand, formatter)}",
            heads=(tr("Figure"), *names),
            rows=tuple(rows),
        )

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self._sizing is not None:
            show_chart_menu(self, self, event)

    def focus_first(self) -> None:
        demand = self._desk.scenario.demand
        first = self.start.offers[DemandKind.USERS] if demand is None else self.form.amounts[demand.kind]
        first.setFocus(Qt.FocusReason.ShortcutFocusReason)
