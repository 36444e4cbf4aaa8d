"""MLPerf head to head: choices, the results, what documents state of them, and the citation."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.charts.commands import context_menu, menu_position
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.figures_table import FiguresTable
from gpudesk.desktop.pages.performance.mlperf_figures import head_data, head_figures
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.field import ChoiceField
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.options import Option
from gpudesk.desktop.widgets.text_table import TextTable
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import InputError
from gpudesk.domain.mlperf import HeadToHead
from gpudesk.paths import MissingFileError
from gpudesk.sentences import sentence
from gpudesk.sheets.mlperf_words import citation, stated_row, submission_rows, verdict_text
from gpudesk.sheets.names import short_name
from gpudesk.text import tr
from gpudesk.workbench.mlperf import Mlperf

#: Where the scenario's model has no results: what most systems were submitted with.
_USUAL_MODEL = "llama-2-70b"


class MlperfBlock(QWidget):
    """Begins with the newest round that has the scenario's model, and its baseline."""

    #: Round, model and baseline as the user chose them; empty where the program does.
    chosen = Signal(str, str, str)

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make empty tables."""
        super().__init__(parent)
        self._desk = desk
        self.theme, self.formatter = theme, desk.formatter
        self._picked = ("", "", "")
        self._found: HeadToHead | None = None
        self._row = ""
        self.round = ChoiceField(theme, tr("Round"), self)
        self.model = ChoiceField(theme, tr("Model of the benchmark"), self)
        self.baseline = ChoiceField(theme, tr("Ratio to"), self)
        self.said = Label(theme, wrap=True, parent=self)
        self.table = FiguresTable(theme, self)
        self._submissions_title = Label(theme, font="section", parent=self)
        self.submissions = TextTable(
            theme,
            tr("Submissions"),
            [
                tr("Scenario"),
                tr("Each, tok/s"),
                tr("All, tok/s"),
                tr("Accelerators"),
                tr("Submitter and system"),
                tr("With"),
            ],
            numbers=(1, 2, 3),
            giving=(4, 5),
            parent=self,
        )
        self.stated = TextTable(
            theme,
            tr("Ratios that documents state"),
            [tr("What"), tr("Stated"), tr("Results"), tr("Verdict"), tr("Computed by"), tr("Document")],
            numbers=(1, 2),
            giving=(4, 5),
            parent=self,
        )
        self.cited = Label(theme, font="small", colour="text3", wrap=True, parent=self)
        self.copy_citation = Button(theme, tr("Copy the citation"), icon="copy", parent=self)
        self._build()
        self._connect()
        self.setAccessibleName(tr("MLPerf head to head"))

    def _build(self) -> None:
        choices, foot = QHBoxLayout(), QHBoxLayout()
        choices.setSpacing(10)
        for field in (self.round, self.model, self.baseline):
            choices.addWidget(field)
        choices.addStretch(1)
        foot.addWidget(self.copy_citation)
        foot.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(6)
        whole.addLayout(choices)
        whole.addWidget(self.said)
        unit = tr("Output tokens a second of each accelerator, best submission; ratio to the chosen one")
        whole.addWidget(Label(self.theme, unit, font="small", colour="text3", parent=self))
        whole.addWidget(self.table)
        whole.addSpacing(8)
        whole.addWidget(Label(self.theme, tr("Ratios that documents state"), font="section", parent=self))
        whole.addWidget(self.stated)
        whole.addSpacing(8)
        whole.addWidget(self.cited)
        whole.addLayout(foot)
        whole.addSpacing(8)
        whole.addWidget(self._submissions_title)
        whole.addWidget(self.submissions)
        whole.addStretch(1)

    def _connect(self) -> None:
        self.round.chosen.connect(lambda key: self._pick(key, self._picked[1], self._picked[2]))
        self.model.chosen.connect(lambda key: self._pick(self._picked[0], key, self._picked[2]))
        self.baseline.chosen.connect(lambda key: self._pick(self._picked[0], self._picked[1], key))
        self.table.chosen.connect(lambda key, _: self._choose_row(key))
        self.copy_citation.clicked.connect(self._copy_citation)

    # Choosing

    def set_picked(self, picked: tuple[str, str, str]) -> None:
        """Take round, model and baseline; what is empty follows the scenario."""
        self._picked = picked

    def _pick(self, round_name: str, model: str, baseline: str) -> None:
        self._picked = (round_name, model, baseline)
        self.chosen.emit(*self._picked)
        self.refresh()

    def _choose_row(self, key: str) -> None:
        self._row = key
        self._show_chosen()

    # Showing

    def refresh(self) -> None:
        """Show the results of the round and model that are chosen, else of those next to the scenario."""
        try:
            mlperf = self._desk.workbench.mlperf
        except (InputError, MissingFileError) as error:
            self._say_problem(error)
            return
        self._found = self._head_to_head(mlperf)
        found = self._found
        if found is None:
            return
        self._show_tables(visible=True)
        names = self._names()
        self._offer(mlperf, found, names)
        slots = self._slots()
        self.table.show_figures(head_figures(found, names, slots, self.formatter))
        keys = [row.accelerator for row in found.rows]
        if self._row not in keys or self._row == found.baseline:
            own = [key for key in (*slots, *keys) if key in keys and key != found.baseline]
            self._row = own[0] if own else keys[0]
        self._show_chosen()
        self._show_stated(mlperf, names)

    def _say_problem(self, error: InputError | MissingFileError) -> None:
        said = sentence(error.problem, self.formatter) if isinstance(error, InputError) else str(error)
        self.said.setText(said[:1].upper() + said[1:])
        self._show_tables(visible=False)

    def _show_tables(self, *, visible: bool) -> None:
        for widget in (self.table, self.submissions, self.stated, self.copy_citation):
            widget.setVisible(visible)

    def _head_to_head(self, mlperf: Mlperf) -> HeadToHead | None:
        """Return what is asked for, as near to it as there are results."""
        round_name, model, baseline = self._picked
        rounds = mlperf.rounds
        asked = model or self._desk.scenario.model
        if round_name not in rounds:
            round_name = next(
                (each for each in rounds if asked in mlperf.models(each)), rounds[0] if rounds else ""
            )
        models = mlperf.models(round_name)
        if asked not in models:
            asked = _USUAL_MODEL if _USUAL_MODEL in models else next(iter(models), "")
        choices = self._desk.scenario.accelerators
        return mlperf.head_to_head(
            round_name, asked, baseline or (choices[0].accelerator if choices else None)
        )

    def _offer(self, mlperf: Mlperf, found: HeadToHead, names: Mapping[str, str]) -> None:
        catalog = self._desk.workbench.catalog
        self.round.set_options(
            [Option(each, tr("MLPerf Inference {round}", round=each)) for each in mlperf.rounds]
        )
        self.round.set_value(found.round)
        models = mlperf.models(found.round)
        self.model.set_options([Option(each, catalog.model(each).name) for each in models])
        self.model.set_value(found.model)
        self.baseline.set_options([Option(row.accelerator, names[row.accelerator]) for row in found.rows])
        self.baseline.set_value(found.baseline)

    def _show_chosen(self) -> None:
        found = self._found
        if found is None:
            return
        names = self._names()
        self.table.choose_row(self._row)
        self.said.setText(verdict_text(found, self._row, names, self.formatter))
        row = found.row(self._row)
        results = [] if row is None else [each for cell in row.cells.values() for each in cell.results]
        self._submissions_title.setText(tr("Submissions with {name}", name=names[self._row]))
        self.submissions.set_rows(submission_rows(results, self.formatter))
        catalog = self._desk.workbench.catalog
        model, source = catalog.model(found.model).name, catalog.source(found.source)
        self.cited.setText(citation(found, model, source, catalog.data_date))
        self.copy_citation.setText(tr("Copy the citation"))

    def _show_stated(self, mlperf: Mlperf, names: Mapping[str, str]) -> None:
        catalog = self._desk.workbench.catalog
        models = {model.id: model.name for model in catalog.models()}
        rows = [
            stated_row(each, names, models, catalog.source(each.source), self.formatter)
            for each in mlperf.stated
        ]
        self.stated.set_rows(rows)

    def _names(self) -> dict[str, str]:
        return {part.id: short_name(part.name) for part in self._desk.workbench.catalog.accelerators()}

    def _slots(self) -> dict[str, tuple[int, bool]]:
        """Return what the scenario's own accelerators are drawn with."""
        desk = self._desk
        slots: dict[str, tuple[int, bool]] = {}
        if desk.answer is not None:
            for choice, slot in zip(desk.answer.scenario.accelerators, desk.slots, strict=True):
                slots.setdefault(choice.accelerator, (slot, False))
        return slots

    # What every chart can be asked for

    def summary(self) -> str:
        """Return what the head-to-head comes to."""
        return self.said.text()

    def data(self, formatter: Formatter) -> Data:
        """Return all results of the round and model."""
        found = self._found
        model = "" if found is None else self._desk.workbench.catalog.model(found.model).name
        return head_data(found, self._names(), model, formatter)

    def _copy_citation(self) -> None:
        QGuiApplication.clipboard().setText(self.cited.text())
        self.copy_citation.setText(tr("Copied"))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer picture, numbers and table."""
        context_menu(self, self, []).popup(menu_position(event, self))
