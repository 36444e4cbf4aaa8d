"""The fit matrix view: its query, its background job, and the commands on a cell."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QHideEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy

from gpudesk.desktop.pages.memory.fit_matrix import (
    FitMatrixOptions,
    FitModel,
    FitOrder,
    FitTable,
    MatrixFilterRow,
    MatrixQueryRow,
    arrange_fit_table,
    format_parameters,
    list_fit_columns,
    read_matrix_options,
    store_matrix_options,
)
from gpudesk.desktop.pages.memory.matrix_table import FitMatrixTableView
from gpudesk.desktop.pages.page import BackgroundQuery, PageView, QueryState
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import replace_model_and_baseline
from gpudesk.desktop.session.selection import Selection, select_catalog_attribute, select_figure
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.charts.chart_data import ChartData, show_chart_menu
from gpudesk.desktop.ui.tables.text_layer import HATCH, OUTLINE, MarkLegend
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.qt_support import make_delay
from gpudesk.domain.answer import Answer, make_column_keys
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.domain.sizing import CapacityReadingId, FitCell, FitMatrix, FitQuestion
from gpudesk.report.labels import label_precision
from gpudesk.report.sizing import AMPLE, TIGHT, describe_matrix_question, describe_reading, label_reading
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import InputError, message
from gpudesk.text.translation import tr


def list_matrix_marks(reading: str, formatter: Formatter) -> tuple[tuple[str, str], ...]:
    """Return the marks of the legend with their meanings; `reading` is empty for the estimator."""
    per_cent = formatter.per_cent
    none = tr("no count known") if reading else tr("fits on no deployment")
    return (
        ("best", tr("{share} or more of usable memory free", share=per_cent(AMPLE))),
        ("ink4", tr("{low} to {high}", low=per_cent(TIGHT), high=per_cent(AMPLE))),
        ("ink3", tr("less (tight)")),
        (HATCH, f"{MISSING_VALUE_TEXT} {none}"),
        (OUTLINE, tr("in the scenario")),
    )


def format_shown_count(matrix: FitMatrix, table: FitTable, formatter: Formatter) -> str:
    return tr(
        "{models} of {all_models} models, {accelerators} of {all_accelerators} accelerators",
        models=formatter.count(len(table.rows)),
        all_models=formatter.count(len(matrix.models)),
        accelerators=formatter.count(len(table.columns)),
        all_accelerators=formatter.count(len(matrix.accelerators)),
    )


def format_open_step(model: str, accelerator: str, count: int | None, formatter: Formatter) -> str:
    """Return the name of the step that opens a cell; without a count it is left open."""
    if count is None:
        return tr("Open {model} on {accelerator}", model=model, accelerator=accelerator)
    return tr("Open {model} on {n} × {accelerator}", model=model, n=formatter.count(count), accelerator=accelerator)


def select_matrix_cell(cell: FitCell, answer: Answer, reading: str) -> Selection:
    """Return the panel selection of a cell: the scenario's own memory, else that of the accelerator, or its label."""
    if reading:
        return select_catalog_attribute(cell.accelerator, "memory" if cell.count is None else "memory_label")
    choices = answer.scenario.accelerators
    parts = [choice.accelerator for choice in choices]
    if cell.model == answer.scenario.model and cell.accelerator in parts:
        return select_figure(make_column_keys(choices)[parts.index(cell.accelerator)], "memory")
    return select_catalog_attribute(cell.accelerator, "memory")


#: Seconds of computation in the window before the rest becomes a job.
_AT_ONCE_S: Final = 0.06


class FitMatrixQuery(BackgroundQuery[FitMatrix]):
    """The last matrix."""

    def __init__(self, desk: Desk, parent: QObject) -> None:
        super().__init__(desk, parent)
        self._parameters: tuple[object, Mapping[str, float]] | None = None
        self.reading = ""

    def ask(self, question: FitQuestion, reading: str) -> bool:
        """Compute the matrix of a question, by the estimator or by a reading of the memory label.

        Return False if it was the last query; else the state changes.
        """
        service = self._desk.service
        query = (question, reading, service.fit if not reading else None, service.catalog)
        if query == self._key:
            return False
        self._key = query
        # Not waited for: its results belong to another question.
        self._jobs.cancel()
        if reading:
            self._done(query, self._compute_reading(question, reading))
        else:
            self._find(query, self._compute_matrix(question))
        return True

    def _find(self, query: tuple[object, ...], steps: ProgressSteps[FitMatrix]) -> None:
        """Compute briefly in the window, then leave the rest to a background job."""
        # At first no caches would make it fast.
        end = time.perf_counter() + (0.0 if self.result is None else _AT_ONCE_S)
        try:
            next(steps)
            while time.perf_counter() < end:
                next(steps)
        except StopIteration as done:
            self._done(query, done.value)
            return
        except InputError as error:
            self._failed(query, error)
            return
        self._start("fit", query, steps)

    def rest(self) -> None:
        """Stop the job while the view is hidden; the next query resumes from its results."""
        if self.state is QueryState.WORKING:
            super().rest()

    def again(self) -> None:
        self._key = None

    def parameters(self) -> Mapping[str, float]:
        from gpudesk.estimation.sizing.fit_matrix import count_model_parameters

        catalog = self._desk.service.catalog
        if self._parameters is None or self._parameters[0] is not catalog:
            self._parameters = catalog, count_model_parameters(catalog, catalog.models())
        return self._parameters[1]

    def _compute_matrix(self, question: FitQuestion) -> ProgressSteps[FitMatrix]:
        service = self._desk.service
        parts, models = service.catalog.accelerators(), service.catalog.models()
        rows: Iterator[tuple[FitCell, ...]] = service.fit.rows(question, parts, models)
        cells: list[tuple[FitCell, ...]] = []
        for row in rows:
            cells.append(row)
            yield JobProgress(message("fit.finding", "Searching for deployments"), len(cells), len(models))
        return FitMatrix(question, parts, models, tuple(cells))

    def _compute_reading(self, question: FitQuestion, reading: str) -> FitMatrix:
        from gpudesk.estimation.sizing.fit_matrix import compute_reading_matrix

        catalog = self._desk.service.catalog
        parts, models = catalog.accelerators(), catalog.models()
        return compute_reading_matrix(CapacityReadingId(reading), question, parts, models, self.parameters())

    def _done(self, key: tuple[object, ...], matrix: FitMatrix) -> None:
        if key is self._key:
            self.reading = str(key[1])
        super()._done(key, matrix)


_MARGIN = 16
#: Delay of the matrix during a drag, in milliseconds.
_REST = 120
#: Delay before the current cell is selected for the panel, in milliseconds.
_DWELL = 150


class FitMatrixView(PageView):
    """The matrix of accelerators and models; its query starts with the scenario's values."""

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings) -> None:
        super().__init__()
        self._desk, self.theme, self._settings = desk, theme, settings
        self.charts = (self,)
        self.formatter = desk.formatter
        #: Query and display options.
        self.choices = read_matrix_options(settings)
        self._words = ("", "")
        self._is_positioned = False
        #: Whether the job lasts long enough to mark the former counts.
        self._waits = False
        self.query = FitMatrixQuery(desk, self)
        self.question = MatrixQueryRow(theme, self.formatter, self)
        self.narrow = MatrixFilterRow(theme, self)
        self.note = ThemedLabel(theme, font="small_strong", color="disputed_text", wrap=True, parent=self)
        self.model = FitModel(self.formatter, self)
        self.table = FitMatrixTableView(theme, self.model, self.formatter, self)
        self.remark = ThemedLabel(theme, font="small", color="text1", wrap=True, parent=self)
        self.action = Button(theme, tr("Open as scenario"), parent=self)
        self.legend = MarkLegend(theme, self)
        self._rest = make_delay(self, _REST, self._ask)
        self._dwell = make_delay(self, _DWELL, self._select)
        self.setAccessibleName(self.title)
        self.remark.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.remark.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        above = make_row(self.note, margins=(_MARGIN, 0, _MARGIN, 6), scaled=theme)
        around = (_MARGIN, 6, _MARGIN, 6)
        below = make_row((self.remark, 1), self.action, gap=_MARGIN, margins=around, scaled=theme)
        make_column(self.question, self.narrow, above, (self.table, 1), below, self.legend, gap=0, on=self)
        self.theme.follow(self._dress)
        self.question.chosen.connect(self._choose)
        self.narrow.words_changed.connect(self._filter)
        self.narrow.most_changed.connect(lambda most: self._choose(replace(self.choices, most=most)))
        self.narrow.left.connect(self.focus_first)
        self.table.sort_requested.connect(self._order_by)
        self.table.current_changed.connect(self._walked)
        self.table.opened.connect(self._open)
        self.action.clicked.connect(self._act)
        self.query.changed.connect(self._show)
        self.query.working.connect(self._show_progress)
        self._desk.gesture_changed.connect(self._gesture_changed)

    def _dress(self) -> None:
        # Always two lines, so that nothing moves from cell to cell.
        self.remark.setFixedHeight(2 * self.theme.line("small") + 2)

    @property
    def title(self) -> str:
        return tr("Smallest deployment per model")

    # Requests

    def refresh(self) -> None:
        """Show the desk's answer; during a drag, after a pause."""
        self._show_controls()
        swatches: dict[str, tuple[int, bool]] = {}
        for each in self._desk.columns:
            swatches.setdefault(each.column.accelerator.id, (each.palette_index, each.is_variant))
        self.table.set_present(self._desk.scenario.model, swatches)
        if self._desk.in_gesture:
            self._rest.start()
        else:
            self._ask()

    def _ask(self) -> bool:
        """Request the matrix; return whether the question changed."""
        self._rest.stop()
        return self.query.ask(self.choices.question(self._desk.scenario), self.choices.reading)

    def _choose(self, choices: FitMatrixOptions) -> None:
        if choices != self.choices:
            self.choices = choices
            store_matrix_options(self._settings, choices)
            self._show_controls()
            if not self._ask():
                self._show()

    def _filter(self, models: str, parts: str) -> None:
        self._words = (models, parts)
        self._show()

    def _order_by(self, by: str) -> None:
        same = self.choices.by == by
        self._choose(replace(self.choices, by=by, descending=same and not self.choices.descending))

    def _gesture_changed(self) -> None:
        if not self._desk.in_gesture and self.isVisible() and self._desk.answer is not None:
            self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._desk.answer is not None:
            self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._rest.stop()
        self._dwell.stop()
        self.query.rest()
        self._desk.service.drop_old_fits()

    # Display

    def _show_controls(self) -> None:
        scenario = self._desk.scenario
        question = self.choices.question(scenario)
        parts = list_fit_columns(self._desk.service.catalog.accelerators())
        self.question.show_choices(self.choices, question, (scenario.weights, scenario.kv), parts)
        self.narrow.show_most(self.choices.most)
        self.note.setVisible(bool(self.choices.reading))
        if self.choices.reading:
            self.note.setText(describe_reading(self.choices.reading))

    def _show(self) -> None:
        choices = self.choices
        matrix, order = self.query.result, FitOrder(*self._words, choices.most, choices.by, choices.descending)
        self._waits = self._waits and self.query.state is QueryState.WORKING
        self.table.set_pale(self._waits or self.query.state in (QueryState.STOPPED, QueryState.FAILED))
        self.table.set_order(order)
        if matrix is not None:
            self.table.empty_text = tr("No match. Clear a filter to see more.")
            self.model.show(arrange_fit_table(matrix, self.query.parameters(), order, self.query.reading))
            self.narrow.show_count(format_shown_count(matrix, self.model.table, self.formatter))
        scenario = self._desk.scenario
        if self._ready and not self._is_positioned and scenario.accelerators:
            self._is_positioned = True
            self.table.begin_at(scenario.model, scenario.accelerators[0].accelerator)
        self.legend.explain(list_matrix_marks(self.query.reading, self.formatter))
        self._tell()
        self.table.viewport().update()

    @property
    def _ready(self) -> bool:
        return self.query.state is QueryState.READY

    # Current cell, or progress

    def _describe_state(self) -> str:
        stopped = tr("Stopped before all models were checked")
        if self.query.result is not None:
            stopped = tr("{stopped}. The counts are from the previous settings", stopped=stopped)
        return {
            QueryState.WORKING: tr("Searching for deployments"),
            QueryState.STOPPED: stopped,
            QueryState.FAILED: self.query.problem,
        }.get(self.query.state, "")

    def _show_progress(self, text: str, can_cancel: bool) -> None:
        if text and self.query.state is QueryState.WORKING:
            self._waits = True
            self.table.set_pale(True)
            self._show_notice(text, tr("Cancel") if can_cancel else "")

    def _tell(self) -> None:
        state, cell = self.query.state, self.table.get_current_cell()
        if state is QueryState.WORKING:
            # Short jobs show no progress.
            if self.query.result is None:
                self._show_notice(self._describe_state(), "")
        elif state in (QueryState.STOPPED, QueryState.FAILED):
            self._show_notice(
                self._describe_state(), tr("Continue") if state is QueryState.STOPPED else tr("Try again")
            )
        elif cell is None:
            self._show_notice(tr("Choose a cell to see details"), "")
        else:
            self._show_notice(
                self.table.describe_cell(self.table.currentIndex()), tr("Open as scenario") if cell.fits else ""
            )

    def _show_notice(self, words: str, action: str) -> None:
        """Show a text below the table, or in the middle if there is no matrix yet."""
        if self.query.result is None:
            self.table.empty_text, words = words, ""
            self.table.viewport().update()
        if words != self.remark.text():
            self.remark.setText(words)
        if action:
            self.action.setText(action)
        self.action.setVisible(bool(action))

    def _walked(self) -> None:
        self._tell()
        if self.table.hasFocus():
            self._dwell.start()

    def _select(self) -> None:
        cell = self.table.get_current_cell()
        if cell is not None and self._desk.answer is not None:
            self._desk.select(select_matrix_cell(cell, self._desk.answer, self.query.reading))

    def _act(self) -> None:
        if self.query.state is QueryState.WORKING:
            self.query.stop()
        elif self._ready:
            self._open()
        else:
            self.query.again()
            self._ask()

    def _open(self) -> None:
        cell, matrix = self.table.get_current_cell(), self.query.result
        if cell is None or matrix is None or not cell.fits or not self._ready:
            return
        index = self.table.currentIndex()
        names = self.model.row(index.row()).model.name, self.model.column(index.column()).name
        # The counts of a reading are not deployments: the estimator decides how many are needed.
        count = None if self.query.reading else cell.count
        scenario = replace_model_and_baseline(
            self._desk.scenario, cell.model, matrix.question.weights, matrix.question.kv, cell.accelerator, count
        )
        self._desk.apply(scenario, format_open_step(*names, count, self.formatter))

    # Interface for charts

    def data(self, formatter: Formatter) -> ChartData:
        title = self.title
        table = self.model.table
        heads = (tr("Model"), tr("Parameters, billion"), *(column.name for column in table.columns))
        rows = tuple(
            (row.model.name, format_parameters(row, formatter), *(formatter.count(cell.count) for cell in row.cells))
            for row in table.rows
        )
        if table.question is not None:
            weights = label_precision(table.question.weights)
            question = describe_matrix_question(table.question, formatter)
            title = f"{title}: {f'{label_reading(table.reading)}, {weights}' if table.reading else question}"
        return ChartData(title=title, heads=heads, rows=rows)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        cell = self.table.get_current_cell()
        can_open = cell is not None and cell.fits and self._ready
        show_chart_menu(self, self, event, (tr("Open as scenario"), self._open, can_open))

    def focus_first(self) -> None:
        self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.theme.px(480), self.theme.px(330))
