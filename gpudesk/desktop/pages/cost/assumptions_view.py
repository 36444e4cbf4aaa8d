"""The view Assumptions: every input of costs, where it comes from, and what the user says instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.pages.cost.costed import Costed
from gpudesk.desktop.pages.cost.currency_row import CurrencyRow
from gpudesk.desktop.pages.cost.input_row import InputRow
from gpudesk.desktop.pages.cost.views import CostView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.field import ChoiceField
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.options import Option
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.domain.accelerators import PLATFORMS
from gpudesk.domain.cost_inputs import INPUTS, NO_SETTINGS, RENT_TERMS, CostSettings
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.ranges import Range
from gpudesk.sheets.cost_words import group_label, input_label, origin_text, range_text, term_label
from gpudesk.text import tr

_MARGIN: Final = 16
_AROUND: Final = 0.2
_HEADS: Final = ("", "At least", "Likely", "At most", "", "From", "")
_FROM: Final = 5


class Controls(QWidget):
    """What holds for all inputs together."""

    #: What is to change of the settings, by the names of their fields.
    edited = Signal(dict)
    discounts_wanted = Signal()
    reset_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Make the controls."""
        super().__init__(parent)
        terms = [(term, term_label(term).capitalize()) for term in RENT_TERMS]
        self.term = Segment(theme, tr("Rents"), terms, self)
        self.term.chosen.connect(lambda term: self.edited.emit({"rent_term": term}))
        self.runs_on = ChoiceField(theme, tr("Software runs on"), self)
        self.runs_on.set_options([Option(platform, platform) for platform in PLATFORMS])
        self.runs_on.chosen.connect(lambda platform: self.edited.emit({"runs_on": platform}))
        self.around = QCheckBox(tr("Everything ± 20 %"), self)
        self.around.setToolTip(tr("Take every input to be known to 20 % on either side"))
        self.around.clicked.connect(lambda on: self.edited.emit({"around": _AROUND if on else None}))
        self.discounts = Button(theme, tr("Take reported discounts"), parent=self)
        self.discounts.setToolTip(tr("Discounts that unnamed buyers report of some vendors; anecdotal"))
        self.discounts.clicked.connect(self.discounts_wanted)
        self.reset = Button(theme, tr("Back to defaults"), icon="rotate-ccw", parent=self)
        self.reset.clicked.connect(self.reset_wanted)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.px(12))
        for widget in (self.term, self.runs_on, self.around):
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(1)
        row.addWidget(self.discounts)
        row.addWidget(self.reset)

    def show_settings(self, settings: CostSettings) -> None:
        """Show the settings in force."""
        self.term.set_value(settings.rent_term)
        self.runs_on.set_value(settings.runs_on)
        self.around.setChecked(settings.around is not None)
        self.reset.setEnabled(settings != NO_SETTINGS)


class AssumptionsView(CostView):
    """One grid of inputs: those of each accelerator first, then those of all by what they are about."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make the lines of all; those of accelerators come with the costs."""
        super().__init__(theme, (), parent)
        self._desk, self.formatter = desk, desk.formatter
        self._costed: Costed | None = None
        self._parts: tuple[str, ...] = ()
        self.rows: dict[tuple[str | None, str], InputRow] = {}
        self.controls = Controls(theme, self)
        self.controls.edited.connect(self._change)
        self.controls.reset_wanted.connect(lambda: self._apply(NO_SETTINGS, tr("Costs back to defaults")))
        self.controls.discounts_wanted.connect(self._take_discounts)
        self.currency = CurrencyRow(theme, desk.formatter.style, self)
        self.currency.edited.connect(lambda currency: self._change({"currency": currency}))
        self.said = Label(
            theme,
            tr("What is stated by nobody is assumed, and says why. An empty field leaves it to the program."),
            font="small",
            colour="text2",
            wrap=True,
            parent=self,
        )
        self._grids = QVBoxLayout()
        self._own: QWidget | None = None
        self._shared = self._grid(None, "", [name for name, spec in INPUTS.items() if not spec.each])
        whole = QVBoxLayout(self)
        whole.setContentsMargins(_MARGIN, 0, _MARGIN, _MARGIN)
        whole.setSpacing(theme.px(12))
        whole.addWidget(self.controls)
        whole.addWidget(self.currency)
        whole.addWidget(self.said)
        whole.addLayout(self._grids)
        self._grids.addWidget(self._shared)
        whole.addStretch(1)
        self.charts = (self,)

    # Making it

    def _grid(self, accelerator: str | None, name: str, inputs: list[str]) -> QWidget:
        """Return a grid of inputs, under the accelerator's name or the names of their groups."""
        holder = QWidget(self)
        grid = QGridLayout(holder)
        grid.setContentsMargins(0, 0, 0, self.theme.px(8))
        grid.setHorizontalSpacing(self.theme.px(10))
        grid.setVerticalSpacing(self.theme.px(4))
        grid.setColumnStretch(_FROM, 1)
        grid.setColumnMinimumWidth(0, self.theme.px(210))
        line, group = 0, None
        for each in inputs:
            spec = INPUTS[each]
            if (accelerator is None and spec.group is not group) or line == 0:
                group = spec.group
                self._heads(grid, line, name or group_label(spec.group))
                line += 1
            row = InputRow(self.theme, each, self.formatter.style, holder, accelerator, name)
            row.edited.connect(self._edit)
            row.add_to(grid, line)
            self.rows[accelerator, each] = row
            line += 1
        return holder

    def _heads(self, grid: QGridLayout, line: int, title: str) -> None:
        for column, words in enumerate(_HEADS):
            text, font = (title, "section") if column == 0 else (tr(words) if words else "", "caption")
            head = Label(self.theme, text, font=font, colour="text1" if column == 0 else "text3", parent=self)
            if column in (1, 2, 3):
                head.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom)
            grid.addWidget(head, line, column)

    def _make_parts(self, costed: Costed) -> None:
        """Make the lines of accelerators anew where others are compared."""
        parts = {column.accelerator: part.name for part, column in costed.pairs()}
        if tuple(parts) == self._parts:
            return
        self._parts = tuple(parts)
        if self._own is not None:
            self._own.deleteLater()
            self._own.hide()
        self.rows = {place: row for place, row in self.rows.items() if place[0] is None}
        self._own = QWidget(self)
        column = QVBoxLayout(self._own)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        each = [name for name, spec in INPUTS.items() if spec.each]
        for part, name in parts.items():
            column.addWidget(self._grid(part, name, each))
        self._grids.insertWidget(0, self._own)

    # Showing

    def show_costs(self, costed: Costed) -> None:
        """Show all inputs as they are in force."""
        answer = self._desk.answer
        if answer is None:
            return
        self._costed = costed
        self._make_parts(costed)
        settings = self._desk.scenario.costs
        self.controls.show_settings(settings)
        self.currency.show_currency(settings.currency)
        inputs = {column.accelerator: column.inputs for column in costed.costs.columns}
        first = next(iter(inputs.values()), {})
        revision = answer.catalog_revision[:8]
        for (part, name), row in self.rows.items():
            found = first if part is None else inputs.get(part, {})
            if name in found:
                lacking = name in costed.costs.api_missing
                row.show_input(found[name], settings.currency, revision, lacking=lacking)

    def focus_price(self, accelerator: str) -> None:
        """Go to the price of an accelerator."""
        row = self.rows.get((accelerator, "price_usd"))
        if row is not None:
            row.edits[1].setFocus(Qt.FocusReason.OtherFocusReason)
            row.edits[1].selectAll()

    # Editing

    def _edit(self, name: str, accelerator: str | None, spread: Range | None) -> None:
        settings = self._desk.scenario.costs.with_input(name, spread, accelerator)
        self._apply(settings, tr("{name} of costs", name=input_label(name)))

    def _change(self, changes: dict[str, Any]) -> None:
        self._apply(replace(self._desk.scenario.costs, **changes), tr("Change of costs"))

    def _apply(self, settings: CostSettings, step: str) -> None:
        self._desk.apply(replace(self._desk.scenario, costs=settings), step)

    def _take_discounts(self) -> None:
        scenario = self._desk.scenario
        settings = self._desk.workbench.costing.with_reported(scenario.costs, scenario)
        self._apply(settings, tr("Take reported discounts"))

    # In words and numbers

    def data(self, formatter: Formatter) -> Data:
        """Return every input with its range and where it comes from."""
        rows = []
        columns: Mapping[str, str] = {} if self._costed is None else self._costed.names
        for column in () if self._costed is None else self._costed.costs.columns:
            for name, found in column.inputs.items():
                who = columns[column.key] if INPUTS[name].each else tr("all")
                if INPUTS[name].each or column is self._costed.costs.columns[0]:  # type: ignore[union-attr]
                    text = range_text(name, found.spread, formatter)
                    rows.append((input_label(name), who, text, origin_text(found, "")))
        heads = (tr("Input"), tr("Accelerator"), tr("Value"), tr("From"))
        return Data(tr("Assumptions"), heads, tuple(rows), len(heads))
