"""MLPerf results of one round side by side, with the citation."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.charts.chart_data import ChartData, find_menu_position, make_chart_menu
from gpudesk.desktop.ui.tables.data_table import FiguresTable, TextTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import ChoiceField
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel, make_column
from gpudesk.domain.published_run import MlperfHeadToHead, MlperfRow, MlperfScenario
from gpudesk.estimation.mlperf_comparison import MlperfComparison
from gpudesk.paths import MissingFileError
from gpudesk.report.data_table import DataTable, FigureRow, build_accelerator_table
from gpudesk.report.labels import shorten_name
from gpudesk.report.mlperf import (
    build_stated_ratio_row,
    build_submission_rows,
    cite_mlperf_result,
    describe_mlperf_result,
    describe_mlperf_verdict,
    format_ratio,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import InputError, capitalize_first, format_message
from gpudesk.text.translation import tr


def make_mlperf_figures(
    head_to_head: MlperfHeadToHead,
    names: Mapping[str, str],
    slots: Mapping[str, tuple[int, bool]],
    formatter: Formatter,
) -> DataTable:
    """Return the accelerators side by side; `slots` are those of the scenario's own, the others have none."""
    heads = tuple(
        head for scenario in MlperfScenario for head in (tr("{scenario}, tok/s", scenario=scenario.label), tr("Ratio"))
    )
    return build_accelerator_table(
        title=tr("MLPerf results per accelerator, output tokens per second"),
        heads=heads,
        leading={0, 2, 4},
        figures=("output_tokens_per_s",) * len(heads),
        rows=tuple(
            FigureRow(
                row.accelerator,
                *slots.get(row.accelerator, (0, False)),
                names[row.accelerator],
                tuple(text for scenario in MlperfScenario for text in _make_mlperf_cells(row, scenario, formatter)),
                _format_system(row, formatter),
            )
            for row in head_to_head.rows
        ),
        remarks=tr("Best submission"),
    )


def _make_mlperf_cells(row: MlperfRow, scenario: MlperfScenario, formatter: Formatter) -> tuple[str, str]:
    cell = row.cells.get(scenario)
    if cell is None:
        return MISSING_VALUE_TEXT, MISSING_VALUE_TEXT
    return formatter.count(round(cell.best.per_accelerator)), format_ratio(cell.ratio, formatter)


def _format_system(row: MlperfRow, formatter: Formatter) -> str:
    best = next(iter(row.cells.values())).best
    return describe_mlperf_result(best, formatter)


#: Fallback if the scenario's model has no results: the model with most submissions.
_DEFAULT_MODEL = "llama-2-70b"


class MlperfBlock(QWidget):
    """Starts with the newest round of the scenario's model, and its baseline."""

    #: The user's round, model and baseline; empty for the program's choice.
    chosen = Signal(str, str, str)

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__()
        self._desk = desk
        self.theme, self.formatter = theme, desk.formatter
        self._selection = ("", "", "")
        self._comparison: MlperfHeadToHead | None = None
        self._row = ""
        self.round = ChoiceField(theme, tr("Round"), self)
        self.model = ChoiceField(theme, tr("Benchmark model"), self)
        self.baseline = ChoiceField(theme, tr("Baseline"), self)
        self.status_label = ThemedLabel(theme, font="page", wrap=True, parent=self)
        self.table = FiguresTable(theme, self)
        self._submissions_title = ThemedLabel(theme, font="section", parent=self)
        self.submissions = TextTable(
            theme,
            tr("Submissions"),
            [
                tr("Scenario"),
                tr("Per accelerator, tok/s"),
                tr("Total, tok/s"),
                tr("Accelerators"),
                tr("Submitter and system"),
                tr("Software"),
            ],
            numbers=(1, 2, 3),
            giving=(4, 5),
            parent=self,
        )
        self.ratio_table = TextTable(
            theme,
            tr("Published ratios"),
            [tr("Claim"), tr("Published"), tr("MLPerf ratio"), tr("Check"), tr("Computed by"), tr("Document")],
            numbers=(1, 2),
            giving=(0, 4, 5),
            parent=self,
        )
        self.cited = ThemedLabel(theme, font="small", color="text3", wrap=True, parent=self)
        self.copy_citation = Button(theme, tr("Copy citation"), icon="copy", parent=self)
        self._build()
        self._connect()
        self.setAccessibleName(tr("MLPerf comparison"))

    def _build(self) -> None:
        choices, foot = QHBoxLayout(), QHBoxLayout()
        choices.setSpacing(10)
        for field in (self.round, self.model, self.baseline):
            choices.addWidget(field)
        choices.addStretch(1)
        foot.addWidget(self.copy_citation)
        foot.addStretch(1)
        whole = make_column(choices, self.status_label, gap=6, on=self)
        unit = tr("Output tokens per second per accelerator (best submission), and ratio to the baseline")
        whole.addWidget(ThemedLabel(self.theme, unit, font="small", color="text3", parent=self))
        whole.addWidget(self.table)
        whole.addSpacing(8)
        whole.addWidget(ThemedLabel(self.theme, tr("Published ratios"), font="section", parent=self))
        whole.addWidget(self.ratio_table)
        whole.addSpacing(8)
        whole.addWidget(self.cited)
        whole.addLayout(foot)
        whole.addSpacing(8)
        whole.addWidget(self._submissions_title)
        whole.addWidget(self.submissions)
        whole.addStretch(1)

    def _connect(self) -> None:
        self.round.chosen.connect(lambda key: self._pick(key, self._selection[1], self._selection[2]))
        self.model.chosen.connect(lambda key: self._pick(self._selection[0], key, self._selection[2]))
        self.baseline.chosen.connect(lambda key: self._pick(self._selection[0], self._selection[1], key))
        self.table.chosen.connect(lambda key, _: self._choose_row(key))
        self.copy_citation.clicked.connect(self._copy_citation)

    # Choosing

    def set_picked(self, selection: tuple[str, str, str]) -> None:
        """Set round, model and baseline; empty values follow the scenario."""
        self._selection = selection

    def _pick(self, round_name: str, model: str, baseline: str) -> None:
        self._selection = (round_name, model, baseline)
        self.chosen.emit(*self._selection)
        self.refresh()

    def _choose_row(self, key: str) -> None:
        self._row = key
        self._show_chosen()

    # Showing

    def refresh(self) -> None:
        """Show the results of the chosen round and model, else of those nearest to the scenario."""
        try:
            mlperf = self._desk.service.mlperf
        except (InputError, MissingFileError) as error:
            problem = format_message(error.problem, self.formatter) if isinstance(error, InputError) else str(error)
            self.status_label.setText(capitalize_first(problem))
            self._show_tables(visible=False)
            return
        self._comparison = self._compare_head_to_head(mlperf)
        head_to_head = self._comparison
        if head_to_head is None:
            return
        self._show_tables(visible=True)
        names = self._collect_names()
        catalog = self._desk.service.catalog
        self.round.set_options(
            [ChoiceOption(each, tr("MLPerf Inference {round}", round=each)) for each in mlperf.rounds]
        )
        self.round.set_value(head_to_head.round)
        models = mlperf.models(head_to_head.round)
        self.model.set_options([ChoiceOption(each, catalog.model(each).name) for each in models])
        self.model.set_value(head_to_head.model)
        self.baseline.set_options([ChoiceOption(row.accelerator, names[row.accelerator]) for row in head_to_head.rows])
        self.baseline.set_value(head_to_head.baseline)
        slots: dict[str, tuple[int, bool]] = {}
        for each in self._desk.columns:
            slots.setdefault(each.column.accelerator.id, (each.palette_index, False))
        self.table.show_table(make_mlperf_figures(head_to_head, names, slots, self.formatter))
        keys = [row.accelerator for row in head_to_head.rows]
        if self._row not in keys or self._row == head_to_head.baseline:
            own = [key for key in (*slots, *keys) if key in keys and key != head_to_head.baseline]
            self._row = own[0] if own else keys[0]
        self._show_chosen()
        self._show_stated(mlperf, names)

    def _show_tables(self, *, visible: bool) -> None:
        for widget in (self.table, self.submissions, self.ratio_table, self.copy_citation):
            widget.setVisible(visible)

    def _compare_head_to_head(self, mlperf: MlperfComparison) -> MlperfHeadToHead | None:
        round_name, model, baseline = self._selection
        rounds = mlperf.rounds
        model_id = model or self._desk.scenario.model
        if round_name not in rounds:
            round_name = next((each for each in rounds if model_id in mlperf.models(each)), rounds[0] if rounds else "")
        models = mlperf.models(round_name)
        if model_id not in models:
            model_id = _DEFAULT_MODEL if _DEFAULT_MODEL in models else next(iter(models), "")
        choices = self._desk.scenario.accelerators
        return mlperf.head_to_head(round_name, model_id, baseline or (choices[0].accelerator if choices else None))

    def _show_chosen(self) -> None:
        head_to_head = self._comparison
        if head_to_head is None:
            return
        names = self._collect_names()
        self.table.choose_row(self._row)
        self.status_label.setText(describe_mlperf_verdict(head_to_head, self._row, names, self.formatter))
        row = head_to_head.row(self._row)
        results = [] if row is None else [each for cell in row.cells.values() for each in cell.results]
        self._submissions_title.setText(tr("Submissions with {name}", name=names[self._row]))
        self.submissions.set_rows(build_submission_rows(results, self.formatter))
        catalog = self._desk.service.catalog
        model, source = catalog.model(head_to_head.model).name, catalog.source(head_to_head.source)
        self.cited.setText(cite_mlperf_result(head_to_head, model, source, catalog.data_date))
        self.copy_citation.setText(tr("Copy citation"))

    def _show_stated(self, mlperf: MlperfComparison, names: Mapping[str, str]) -> None:
        catalog = self._desk.service.catalog
        models = {model.id: model.name for model in catalog.models()}
        rows = [
            build_stated_ratio_row(each, names, models, catalog.source(each.source), self.formatter)
            for each in mlperf.published_ratios
        ]
        self.ratio_table.set_rows(rows)

    def _collect_names(self) -> dict[str, str]:
        return {part.id: shorten_name(part.name) for part in self._desk.service.catalog.accelerators()}

    # Interface for charts

    def summary(self) -> str:
        return self.status_label.text()

    def data(self, formatter: Formatter) -> ChartData:
        head_to_head = self._comparison
        model = "" if head_to_head is None else self._desk.service.catalog.model(head_to_head.model).name
        names = self._collect_names()
        heads = (
            tr("Accelerator"),
            tr("MLPerf scenario"),
            tr("Submitter"),
            tr("System"),
            tr("Accelerators"),
            tr("Output tok/s"),
            tr("Per accelerator, tok/s"),
            tr("Ratio to baseline"),
        )
        if head_to_head is None:
            return ChartData(title=tr("MLPerf Inference"), heads=heads, rows=(), first_number=4)
        rows = tuple(
            (
                names[row.accelerator],
                scenario.label,
                result.submitter,
                result.system,
                formatter.count(result.count),
                formatter.stated(result.output_tokens_per_s),
                formatter.count(round(result.per_accelerator)),
                format_ratio(cell.ratio, formatter) if result is cell.best else "",
            )
            for row in head_to_head.rows
            for scenario, cell in row.cells.items()
            for result in cell.results
        )
        title = tr("MLPerf {round}, {model}", round=head_to_head.round, model=model)
        return ChartData(title=title, heads=heads, rows=rows, first_number=4)

    def _copy_citation(self) -> None:
        QGuiApplication.clipboard().setText(self.cited.text())
        self.copy_citation.setText(tr("Copied"))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        make_chart_menu(self, self, []).popup(find_menu_position(event, self))
