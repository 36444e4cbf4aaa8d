"""The form of two parts and their requests: which columns, how many requests are long, and how long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.plan_row import PlanRow
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.field import ChoiceField
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.options import Option
from gpudesk.domain.comparison import part_of
from gpudesk.domain.demand import Bounds
from gpudesk.domain.formatting import NumberStyle
from gpudesk.domain.models import Model
from gpudesk.domain.precision import Precision
from gpudesk.domain.routing import RateOrigin, RequestKind, Routing
from gpudesk.domain.scenarios import Scenario
from gpudesk.sheets.labels import precision_name
from gpudesk.sheets.routing_words import kind_label, routing_label, routing_origin
from gpudesk.text import tr
from gpudesk.workbench.deciding.plan_inputs import PLAN_INPUTS, gone, request_mix

_NUMBERS: Final = ("long_share", "requests_per_s", "long_input_tokens", "long_output_tokens")
_PARTS: Final = ("vendor_a", "vendor_b")
_OTHER: Final = ("other_model", "other_model_kind", "other_model_weights")
#: The units that numbers are shown in, and what they are multiplied by for that.
_UNITS: Final = {
    "long_share": ("%", 100.0),
    "requests_per_s": ("requests/s", 1.0),
    "long_input_tokens": ("tokens", 1.0),
    "long_output_tokens": ("tokens", 1.0),
}
#: The order of inputs in three columns, and in fewer.
_WIDE: Final = ("vendor_a", *_NUMBERS[:2], "vendor_b", *_NUMBERS[2:], *_OTHER)
_NARROW: Final = (*_PARTS, *_NUMBERS, *_OTHER)
#: A column of the form needs so much width.
_COLUMN: Final = 266.0
_MOST_COLUMNS: Final = 3
_WIDEST: Final = 1040.0


@dataclass(frozen=True, slots=True)
class VendorFacts:
    """What the form shows: the scenario, the columns that share its requests, names, and what was found."""

    scenario: Scenario
    keys: tuple[str, str]
    columns: Mapping[str, str]
    models: Mapping[str, str]
    found: Routing | None


class VendorsForm(QWidget):
    """Shows inputs as they are in force; each change is asked for by the names of the inputs."""

    #: Inputs of plans by name, None for those that are left to the program; and what the step is called.
    stated = Signal(dict, str)

    def __init__(self, theme: Theme, style: NumberStyle, parent: QWidget | None = None) -> None:
        """Make the fields."""
        super().__init__(parent)
        self._theme = theme
        self._facts: VendorFacts | None = None
        self._columns = 0
        self.setAccessibleName(tr("Two parts and their requests"))
        self.fields = {name: self._field(name) for name in (*_PARTS, *_OTHER)}
        self.said = {
            name: Label(theme, font="caption", colour="text3", wrap=True, parent=self) for name in self.fields
        }
        self.rows = {name: self._row(name, style) for name in _NUMBERS}
        self._cells = self._made_cells()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.px(24))
        self._grid.setVerticalSpacing(theme.px(4))
        self._arrange(_MOST_COLUMNS)
        theme.follow(self._dress)

    def _field(self, name: str) -> ChoiceField:
        field = ChoiceField(self._theme, routing_label(name), self)
        field.chosen.connect(partial(self._choose, name))
        return field

    def _row(self, name: str, style: NumberStyle) -> PlanRow:
        spec = PLAN_INPUTS[name]
        label = routing_label(name)
        row = PlanRow(
            self._theme, label, [label], spec.bounds or Bounds(0.0, 0.0), style, self, whole=spec.whole
        )
        row.edited.connect(lambda _place, value, name=name: self._edit(name, value))
        # Their texts then stand where those of choices do.
        row.setContentsMargins(self._theme.px(8), self._theme.px(6), 0, 0)
        return row

    def _made_cells(self) -> dict[str, QWidget]:
        """Return the cells of the form by the names of their inputs."""
        cells: dict[str, QWidget] = dict(self.rows)
        for name, field in self.fields.items():
            holder = QWidget(self)
            column = QVBoxLayout(holder)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(0)
            column.addWidget(field)
            self.said[name].setContentsMargins(self._theme.px(8), 0, 0, 0)
            column.addWidget(self.said[name])
            column.addStretch(1)
            cells[name] = holder
        return cells

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Set as many columns as there is room for."""
        super().resizeEvent(event)
        room = event.size().width() // self._theme.px(_COLUMN)
        self._arrange(min(max(room, 1), _MOST_COLUMNS))

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for place, name in enumerate(_WIDE if columns == _MOST_COLUMNS else _NARROW):
            top = Qt.AlignmentFlag.AlignTop
            self._grid.addWidget(self._cells[name], place // columns, place % columns, top)
        for column in range(_MOST_COLUMNS):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def _dress(self) -> None:
        self.setMaximumWidth(self._theme.px(_WIDEST))

    # Showing

    def set_models(self, models: Sequence[Model]) -> None:
        """Offer models that one kind of requests may go to."""
        self.fields["other_model"].set_provider(
            lambda: (
                Option("", tr("None: one model for all")),
                *(Option(model.id, model.name, (model.organisation,)) for model in models),
            )
        )

    def show_facts(self, facts: VendorFacts) -> None:
        """Show the inputs in force."""
        self._facts = facts
        for name, key in zip(_PARTS, facts.keys, strict=True):
            field = self.fields[name]
            field.set_options([Option(each, text) for each, text in facts.columns.items()])
            field.set_value(key)
            self.said[name].setText(self._said(name, facts))
        self._show_other(facts)
        self._show_numbers(facts)

    def _said(self, name: str, facts: VendorFacts) -> str:
        if name in _PARTS and (key := gone(facts.scenario, name)) is not None:
            return tr("{part}, which you chose, is not compared any more", part=key)
        stated = name in facts.scenario.decision.plans
        origin = RateOrigin.YOURS if facts.found is None else facts.found.rate_origin
        return routing_origin(name, origin, stated=stated)

    def _show_other(self, facts: VendorFacts) -> None:
        mix, _ = request_mix(facts.scenario)
        model = mix.model or ""
        self.fields["other_model"].set_value(model, facts.models.get(model, model) or tr("None"))
        self.fields["other_model_kind"].set_options(
            [Option(kind.value, kind_label(kind)) for kind in RequestKind]
        )
        self.fields["other_model_kind"].set_value(mix.model_kind.value)
        weights = self.fields["other_model_weights"]
        weights.set_options(
            [
                Option("", tr("As in the scenario")),
                *(Option(each.value, precision_name(each)) for each in Precision),
            ]
        )
        weights.set_value("" if mix.weights is None else mix.weights.value)
        for name in _OTHER:
            self.said[name].setText(self._said(name, facts))
            self.said[name].setVisible(bool(model) or name == "other_model")
            self.fields[name].setVisible(bool(model) or name == "other_model")

    def _show_numbers(self, facts: VendorFacts) -> None:
        mix, rate = request_mix(facts.scenario)
        found = facts.found
        long = (
            None
            if found is None
            else next((each for each in found.classes if each.kind is RequestKind.LONG), None)
        )
        values = {
            "long_share": mix.long_share,
            "requests_per_s": rate if found is None else found.requests_per_s,
            "long_input_tokens": mix.long_input_tokens if long is None else long.input_tokens,
            "long_output_tokens": mix.long_output_tokens if long is None else long.output_tokens,
        }
        for name, row in self.rows.items():
            unit, scale = _UNITS[name]
            stated = name in facts.scenario.decision.plans
            row.show_values([values[name]], tr(unit), self._said(name, facts), stated=stated, scale=scale)
        demanded = facts.scenario.demand is not None
        self.rows["requests_per_s"].edits[0].setEnabled(not demanded)

    # Editing

    def _choose(self, name: str, key: str) -> None:
        if name in _PARTS:
            self._choose_part(name, key)
        else:
            default = PLAN_INPUTS[name].default
            self.stated.emit({name: None if key in ("", default) else key}, routing_label(name))

    def _choose_part(self, name: str, key: str) -> None:
        """Take a column; where the other one is of the same part, both change places."""
        facts = self._facts
        if facts is None:
            return
        own, other = facts.keys if name == "vendor_a" else facts.keys[::-1]
        rival = "vendor_b" if name == "vendor_a" else "vendor_a"
        chosen: dict[str, str | None] = {name: key}
        if part_of(key) == part_of(other):
            chosen[rival] = own
        self.stated.emit(chosen, tr("Two parts for the requests"))

    def _edit(self, name: str, value: float | None) -> None:
        whole = value is not None and PLAN_INPUTS[name].whole
        self.stated.emit({name: round(value) if whole and value is not None else value}, routing_label(name))

    def set_fault(self, name: str, sentence: str) -> bool:
        """Say at an input what is wrong with it; return whether there is one of the name."""
        for each, field in self.fields.items():
            field.set_fault(sentence if each == name else "")
        if name in self.rows:
            self.rows[name].set_fault(sentence)
        return name in self.fields or name in self.rows
