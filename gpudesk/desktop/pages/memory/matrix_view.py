"""The view of all models: how many of each accelerator hold each model, and the way to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.charts.commands import Command, Shown, context_menu, menu_position
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.itemmodels.fit_arrangement import FitOrder, arranged, columns_of
from gpudesk.desktop.itemmodels.fit_model import FitModel
from gpudesk.desktop.pages.memory.matrix_choices import MatrixChoices, keep_choices, read_choices
from gpudesk.desktop.pages.memory.matrix_controls import NarrowRow, QuestionRow
from gpudesk.desktop.pages.memory.matrix_found import MatrixFound, State
from gpudesk.desktop.pages.memory.matrix_table import MatrixTable
from gpudesk.desktop.pages.memory.matrix_words import (
    marks,
    matrix_data,
    opening_text,
    selection_of,
    shown_text,
)
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.session.sizing import with_pair
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.mark_legend import MarkLegend
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.fit_words import reading_note
from gpudesk.text import tr

_MARGIN = 16
#: While something is dragged, the matrix waits until it rests for this long, in milliseconds.
_REST = 120
#: A cell that is dwelt on for this long is selected for the panel, in milliseconds.
_DWELL = 150


class MatrixView(QWidget):
    """Accelerators against models. What is asked begins as the scenario has it."""

    def __init__(self, desk: Desk, theme: Theme, settings: Settings, parent: QWidget | None = None) -> None:
        """Make an empty table."""
        super().__init__(parent)
        self._desk, self.theme, self._settings = desk, theme, settings
        self.formatter = desk.formatter
        #: What is asked and how it is shown.
        self.choices = read_choices(settings)
        self._words = ("", "")
        self._placed = False
        #: Whether the work lasts long enough that the former counts are shown as such.
        self._waits = False
        self.found = MatrixFound(desk, self)
        self.question = QuestionRow(theme, self.formatter, self)
        self.narrow = NarrowRow(theme, self)
        self.note = Label(theme, font="small_strong", colour="disputed_text", wrap=True, parent=self)
        self.model = FitModel(self.formatter, self)
        self.table = MatrixTable(theme, self.model, self.formatter, self)
        self.remark = Label(theme, font="small", colour="text1", wrap=True, parent=self)
        self.action = Button(theme, tr("Open as scenario"), parent=self)
        self.legend = MarkLegend(theme, self)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST)
        self._rest.timeout.connect(self._ask)
        self._dwell = QTimer(self)
        self._dwell.setSingleShot(True)
        self._dwell.setInterval(_DWELL)
        self._dwell.timeout.connect(self._select)
        self.setAccessibleName(self.title)
        self._build()
        self._connect()

    def _build(self) -> None:
        self.remark.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.remark.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        above, below = self._above, self._below = QHBoxLayout(), QHBoxLayout()
        above.addWidget(self.note)
        below.addWidget(self.remark, 1)
        below.addWidget(self.action)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.question)
        whole.addWidget(self.narrow)
        whole.addLayout(above)
        whole.addWidget(self.table, 1)
        whole.addLayout(below)
        whole.addWidget(self.legend)
        self.theme.follow(self._dress)

    def _connect(self) -> None:
        self.question.chosen.connect(self._choose)
        self.narrow.words_changed.connect(self._filter)
        self.narrow.most_changed.connect(lambda most: self._choose(replace(self.choices, most=most)))
        self.narrow.left.connect(self.focus_first)
        self.table.sort_requested.connect(self._order_by)
        self.table.current_changed.connect(self._walked)
        self.table.opened.connect(self._open)
        self.action.clicked.connect(self._act)
        self.found.changed.connect(self._show)
        self.found.working.connect(self._say_working)
        self._desk.gesture_changed.connect(self._gesture_changed)

    def _dress(self) -> None:
        margin, gap = self.theme.px(_MARGIN), self.theme.px(6)
        self._above.setContentsMargins(margin, 0, margin, gap)
        self._below.setContentsMargins(margin, gap, margin, gap)
        self._below.setSpacing(margin)
        # Two lines, so that nothing moves from cell to cell.
        self.remark.setFixedHeight(2 * self.theme.line("small") + 2)

    @property
    def title(self) -> str:
        """What the view is called."""
        return tr("Smallest deployments of all models")

    # Asking

    def refresh(self) -> None:
        """Show the desk's answer; while something is dragged, when it rests."""
        self._show_controls()
        self._show_present()
        if self._desk.in_gesture:
            self._rest.start()
        else:
            self._ask()

    def _ask(self) -> bool:
        """Ask for the matrix; return whether that is another question than before."""
        self._rest.stop()
        return self.found.ask(self.choices.question(self._desk.scenario), self.choices.reading)

    def _choose(self, choices: MatrixChoices) -> None:
        if choices != self.choices:
            self.choices = choices
            keep_choices(self._settings, choices)
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

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Go on where it was left."""
        super().showEvent(event)
        if self._desk.answer is not None:
            self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Leave nothing running."""
        super().hideEvent(event)
        self._rest.stop()
        self._dwell.stop()
        self.found.rest()

    # Showing

    def _show_controls(self) -> None:
        scenario = self._desk.scenario
        question = self.choices.question(scenario)
        parts = columns_of(self._desk.workbench.catalog.accelerators())
        self.question.show_choices(self.choices, question, (scenario.weights, scenario.kv), parts)
        self.narrow.show_most(self.choices.most)
        self.note.setVisible(bool(self.choices.reading))
        if self.choices.reading:
            self.note.setText(reading_note(self.choices.reading))

    def _order(self) -> FitOrder:
        choices = self.choices
        return FitOrder(*self._words, choices.most, choices.by, choices.descending)

    def _show_present(self) -> None:
        desk = self._desk
        slots: dict[str, tuple[int, bool]] = {}
        if desk.answer is not None:
            choices = desk.answer.scenario.accelerators
            for choice, slot, hollow in zip(choices, desk.slots, desk.hollow, strict=True):
                slots.setdefault(choice.accelerator, (slot, hollow))
        self.table.set_present(desk.scenario.model, slots)

    def _show(self) -> None:
        matrix, order = self.found.matrix, self._order()
        self._waits = self._waits and self.found.state is State.WORKING
        self.table.set_pale(self._waits or self.found.state in (State.STOPPED, State.FAILED))
        self.table.set_order(order)
        self.table.empty_text = self._state_words()
        if matrix is not None:
            self.table.empty_text = tr("Nothing has these words and counts. Clear a filter to see more")
            self.model.show(arranged(matrix, self.found.parameters(), order, self.found.reading))
            self.narrow.show_count(shown_text(matrix, self.model.table, self.formatter))
        scenario = self._desk.scenario
        if self._ready and not self._placed and scenario.accelerators:
            self._placed = True
            self.table.go_to(scenario.model, scenario.accelerators[0].accelerator)
        self.legend.explain(marks(self.found.reading, self.formatter))
        self._tell()
        self.table.viewport().update()

    @property
    def _ready(self) -> bool:
        return self.found.state is State.READY

    # The cell that is current, or how far the work is

    def _state_words(self) -> str:
        stopped = tr("Stopped before all models were looked at")
        if self.found.matrix is not None:
            stopped = tr("{stopped}. The counts are those of the former question", stopped=stopped)
        return {
            State.WORKING: tr("Looking for the smallest deployments"),
            State.STOPPED: stopped,
            State.FAILED: self.found.problem,
        }.get(self.found.state, "")

    def _say_working(self, text: str, can_cancel: bool) -> None:
        if text and self.found.state is State.WORKING:
            self._waits = True
            self.table.set_pale(True)
            self._say(text, tr("Cancel") if can_cancel else "")

    def _tell(self) -> None:
        state, cell = self.found.state, self.table.current_cell()
        if state is State.WORKING:
            # What is soon over is not worth a word.
            if self.found.matrix is None:
                self._say(self._state_words(), "")
        elif state in (State.STOPPED, State.FAILED):
            self._say(self._state_words(), tr("Go on") if state is State.STOPPED else tr("Try again"))
        elif cell is None:
            self._say(tr("Choose a cell to read all that it says"), "")
        else:
            self._say(
                self.model.sentence(self.table.currentIndex()), tr("Open as scenario") if cell.fits else ""
            )

    def _say(self, words: str, action: str) -> None:
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
        cell = self.table.current_cell()
        if cell is not None and self._desk.answer is not None:
            self._desk.select(selection_of(cell, self._desk.answer, self.found.reading))

    def _act(self) -> None:
        if self.found.state is State.WORKING:
            self.found.stop()
        elif self._ready:
            self._open()
        else:
            self.found.again()
            self._ask()

    def _open(self) -> None:
        """Give the scenario the model, the formats and the deployment of the current cell."""
        cell, matrix = self.table.current_cell(), self.found.matrix
        if cell is None or matrix is None or not cell.fits or not self._ready:
            return
        index = self.table.currentIndex()
        names = self.model.row(index.row()).model.name, self.model.column(index.column()).name
        # What a reading counts is no deployment: how many are needed is left to the estimator.
        count = None if self.found.reading else cell.count
        scenario = with_pair(
            self._desk.scenario,
            cell.model,
            matrix.question.weights,
            matrix.question.kv,
            cell.accelerator,
            count,
        )
        self._desk.apply(scenario, opening_text(*names, count, self.formatter))

    # What every chart can be asked for

    @property
    def charts(self) -> Sequence[Shown]:
        """What is shown."""
        return (self,)

    def data(self, formatter: Formatter) -> Data:
        """Return the counts that are shown."""
        return matrix_data(self.title, self.model.table, formatter)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer picture, numbers and table, and to open the current cell."""
        cell = self.table.current_cell()
        can_open = cell is not None and cell.fits and self._ready
        more: list[tuple[Command, bool]] = [((tr("Open as scenario"), self._open), can_open)]
        context_menu(self, self, more).popup(menu_position(event, self))

    def focus_first(self) -> None:
        """Give the focus to the table."""
        self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Leave the table some rows."""
        return QSize(self.theme.px(480), self.theme.px(330))
