"""The view of two vendors: routing of requests over two accelerators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from gpudesk.decision.purchasing.plan_inputs import PLAN_INPUTS, find_split_positions, make_request_mix
from gpudesk.decision.purchasing.routing import list_mixing_rules
from gpudesk.desktop.pages.decide.purchasing.plan_view import PlanForm, PlanInputRow, PlanView, describe_removed_part
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.ui.charts.chart_data import ChartData, show_chart_menu
from gpudesk.desktop.ui.tables.data_table import DataTableView, make_chart_data
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.layouts import STRETCH, Hairline, ThemedLabel, make_column, make_row, set_beside
from gpudesk.desktop.ui.widgets.marked_list import MarkedLine, MarkedList
from gpudesk.domain.answer import Scenario, get_accelerator_id
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.domain.routing import RequestKind, RequestRateOrigin, RoutingResult
from gpudesk.domain.sizing import NumberBounds
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.data_table import DataTable
from gpudesk.report.decision.routing import (
    build_routing_table,
    describe_extra_cost,
    describe_ranking,
    describe_request_mix,
    describe_routing_origin,
    format_mixing_line,
    label_request_class,
    label_routing_input,
    list_routing_notes,
    list_shared_pool_lines,
)
from gpudesk.report.labels import format_years, label_precision
from gpudesk.text.formatting import Formatter, NumberStyle
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr, translate_data

_NUMBERS: Final = ("long_share", "requests_per_s", "long_input_tokens", "long_output_tokens")
_PARTS: Final = ("vendor_a", "vendor_b")
_OTHER: Final = ("other_model", "other_model_kind", "other_model_weights")
#: The displayed units of numbers, and their factors.
_UNITS: Final = {
    "long_share": ("%", 100.0),
    "requests_per_s": ("requests/s", 1.0),
    "long_input_tokens": ("tokens", 1.0),
    "long_output_tokens": ("tokens", 1.0),
}
#: The order of inputs in three columns, and in fewer.
_WIDE: Final = ("vendor_a", *_NUMBERS[:2], "vendor_b", *_NUMBERS[2:], *_OTHER)
_NARROW: Final = (*_PARTS, *_NUMBERS, *_OTHER)
#: Minimum width of a form column.
_COLUMN: Final = 266.0
_MOST_COLUMNS: Final = 3
_WIDEST: Final = 1040.0


class VendorsForm(PlanForm):
    """Two accelerators, the numbers of their requests, and another model for some of them."""

    def __init__(self, theme: Theme, style: NumberStyle) -> None:
        choices = {name: label_routing_input(name) for name in (*_PARTS, *_OTHER)}
        super().__init__(theme, tr("Accelerators and request split"), choices)
        self._keys = ("", "")
        self._columns = 0
        self.rows = {name: self._make_input_row(name, style) for name in _NUMBERS}
        self._cells = self._make_cells()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.px(24))
        self._grid.setVerticalSpacing(theme.px(4))
        self._arrange(_MOST_COLUMNS)
        theme.follow(self._dress)

    def _make_input_row(self, name: str, style: NumberStyle) -> PlanInputRow:
        spec = PLAN_INPUTS[name]
        label = label_routing_input(name)
        row = PlanInputRow(
            self._theme, label, [label], spec.bounds or NumberBounds(0.0, 0.0), style, self, whole=spec.whole
        )
        row.edited.connect(lambda _place, value, name=name: self._edit(name, value))
        # This aligns their texts with those of choices.
        row.setContentsMargins(self._theme.px(8), self._theme.px(6), 0, 0)
        return row

    def _make_cells(self) -> dict[str, QWidget]:
        cells: dict[str, QWidget] = dict(self.rows)
        for name, field in self.fields.items():
            holder = QWidget(self)
            self.origin_labels[name].setContentsMargins(self._theme.px(8), 0, 0, 0)
            make_column(field, self.origin_labels[name], STRETCH, gap=0, on=holder)
            cells[name] = holder
        return cells

    def resizeEvent(self, event: QResizeEvent) -> None:
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

    # Display

    def show_inputs(
        self, evaluated: EvaluatedAnswer, keys: tuple[str, str], models: Sequence[Model], routing: RoutingResult | None
    ) -> None:
        """Show the inputs of a scenario, the columns that share its requests, and the result, if any."""
        self._keys = keys
        scenario = evaluated.answer.scenario
        self.fields["other_model"].set_provider(
            lambda: (
                ChoiceOption("", tr("None (one model for all)")),
                *(ChoiceOption(model.id, model.name, (model.organisation,)) for model in models),
            )
        )
        for name, key in zip(_PARTS, keys, strict=True):
            field = self.fields[name]
            field.set_options([ChoiceOption(each, text) for each, text in evaluated.names.items()])
            field.set_value(key)
        mix, _ = make_request_mix(scenario)
        model = mix.model or ""
        name_of = {each.id: each.name for each in models}
        self.fields["other_model"].set_value(model, name_of.get(model, model) or tr("None"))
        self.fields["other_model_kind"].set_options(
            [ChoiceOption(kind.value, label_request_class(kind)) for kind in RequestKind]
        )
        self.fields["other_model_kind"].set_value(mix.model_kind.value)
        weights = self.fields["other_model_weights"]
        weights.set_options(
            [
                ChoiceOption("", tr("From the scenario")),
                *(ChoiceOption(each.value, label_precision(each)) for each in Precision),
            ]
        )
        weights.set_value("" if mix.weights is None else mix.weights.value)
        for name, label in self.origin_labels.items():
            label.setText(_describe_origin(name, scenario, routing))
            is_shown = bool(model) or name not in _OTHER[1:]
            label.setVisible(is_shown)
            self.fields[name].setVisible(is_shown)
        self._show_numbers(scenario, routing)

    def _show_numbers(self, scenario: Scenario, routing: RoutingResult | None) -> None:
        mix, rate = make_request_mix(scenario)
        long = (
            None if routing is None else next((each for each in routing.classes if each.kind is RequestKind.LONG), None)
        )
        values = {
            "long_share": mix.long_share,
            "requests_per_s": rate if routing is None else routing.requests_per_s,
            "long_input_tokens": mix.long_input_tokens if long is None else long.input_tokens,
            "long_output_tokens": mix.long_output_tokens if long is None else long.output_tokens,
        }
        for name, row in self.rows.items():
            unit, scale = _UNITS[name]
            is_user_value, origin = name in scenario.decision.plans, _describe_origin(name, scenario, routing)
            row.show_values([values[name]], tr(unit), origin, is_user_value=is_user_value, scale=scale)
        self.rows["requests_per_s"].edits[0].setEnabled(scenario.demand is None)

    # Editing

    def name_step(self, name: str) -> str:
        return label_routing_input(name)

    def _choose(self, name: str, key: str) -> None:
        if name in _PARTS:
            self._choose_part(name, key)
        else:
            super()._choose(name, key)

    def _choose_part(self, name: str, key: str) -> None:
        """Set a column; if the other has the same accelerator, swap both."""
        own, other = self._keys if name == "vendor_a" else self._keys[::-1]
        rival = "vendor_b" if name == "vendor_a" else "vendor_a"
        chosen: dict[str, str | None] = {name: key}
        if get_accelerator_id(key) == get_accelerator_id(other):
            chosen[rival] = own
        self.stated.emit(chosen, tr("Change accelerators"))

    def _edit(self, name: str, value: float | None) -> None:
        whole = value is not None and PLAN_INPUTS[name].whole
        self.stated.emit({name: round(value) if whole and value is not None else value}, label_routing_input(name))


def _describe_origin(name: str, scenario: Scenario, routing: RoutingResult | None) -> str:
    if name in _PARTS and (removed := describe_removed_part(scenario, name)):
        return removed
    origin = RequestRateOrigin.YOURS if routing is None else routing.rate_origin
    return describe_routing_origin(name, origin, is_user_value=name in scenario.decision.plans)


_MARGIN: Final = 16.0
#: Minimum width of the names of plans, next to columns of figures.
_LEAST_PLAN: Final = 124.0
_BESIDE: Final = 720.0


class VendorsView(PlanView[RoutingResult]):
    """The plans for sharing requests between two vendors, and the documents' statements on mixing."""

    form: VendorsForm

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, tr("Two vendors"), VendorsForm(theme, desk.formatter.style), parent)
        self.formatter = desk.formatter
        self.verdict = ThemedLabel(theme, font="verdict", wrap=True, parent=self)
        self.verdict.hide()
        self.result = QWidget(self)
        self.result.hide()
        self.mix = ThemedLabel(theme, font="small", color="text2", wrap=True, parent=self.result)
        self.title = ThemedLabel(theme, tr("Plans"), font="section", parent=self.result)
        self.subtitle = ThemedLabel(theme, font="small", color="text3", wrap=True, parent=self.result)
        self.table = DataTableView(theme, self.result)
        self.table.least_words = _LEAST_PLAN
        self.beyond = MarkedList(theme, tr("Cost of a split"), self.result)
        self.shared = MarkedList(theme, tr("One shared pool"), self.result)
        self.mixing = MarkedList(theme, tr("Sources on mixing vendors"), self)
        self.notes = MarkedList(theme, tr("Assumptions and notes"), self.result)
        px = self.theme.px
        margin = px(_MARGIN)
        answer = make_column(self.verdict, margins=(margin, 0, margin, px(6)))
        upper = make_column(self.form, margins=(margin - px(8), 0, margin, px(8)))
        head = make_row(self.title, (self.subtitle, 1), gap=px(10))
        top = Qt.AlignmentFlag.AlignTop
        self._pair = make_row((self.beyond, 1, top), (self.shared, 1, top), gap=px(24))
        make_column(head, self.mix, self.table, px(8), self._pair, px(8), self.notes, gap=px(6), on=self.result)
        lower = make_column(
            self.problem,
            self.working,
            self.result,
            px(6),
            self.mixing,
            gap=px(8),
            margins=(margin, px(10), margin, margin),
        )
        make_column(answer, upper, Hairline(self.theme, self), lower, STRETCH, gap=0, on=self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place lists below one another if they do not fit side by side."""
        super().resizeEvent(event)
        beside = event.size().width() >= self.theme.px(_BESIDE)
        set_beside(self._pair, beside)

    # Requests

    def refresh(self) -> None:
        evaluated = self.evaluated
        self._show_mixing()
        scenario, service = evaluated.answer.scenario, self.desk.service
        try:
            self._find_column_keys()
        except InputError as error:
            self.show_failure(error)
            return
        self.job.ask((evaluated.answer,), lambda: service.reference_data.plan_routing_in_steps(scenario))
        self.show_known_form()

    def _find_column_keys(self) -> tuple[str, str]:
        """Return the columns that share the requests; raises `InputError` without two accelerators."""
        decided, catalog = self.evaluated, self.desk.service.catalog
        pair = find_split_positions(decided.answer.scenario, lambda part: catalog.accelerator(part).vendor)
        return decided.keys[pair[0]], decided.keys[pair[1]]

    # Display

    def show_form(self) -> None:
        keys = self._find_column_keys()
        self.form.setEnabled(True)
        self.form.set_fault("", "")
        self.form.show_inputs(self.evaluated, keys, self.desk.service.catalog.models(), self.plan_result)

    def show_result(self, routing: RoutingResult) -> None:
        formatter = self.formatter
        self.subtitle.setText(self._describe_unit(routing))
        self.mix.setText(describe_request_mix(routing, formatter, self._collect_model_names(routing)))
        self.table.show_table(self._build_table(routing, formatter))
        self.verdict.show_text(" ".join(self._list_rankings(routing)))
        self.beyond.show_texts("plus", "text2", self._describe_extra_costs(routing))
        shared = list_shared_pool_lines(routing, formatter)
        marks = ("triangle-alert", "equal")
        self.shared.show_lines([MarkedLine(mark, "text2", text) for mark, text in zip(marks, shared, strict=False)])
        self.notes.show_texts("info", "text2", list_routing_notes(routing, formatter))
        self.result.setAccessibleName(self.verdict.text())

    def show_failure(self, error: InputError) -> None:
        self.verdict.hide()
        super().show_failure(error)

    def _describe_unit(self, routing: RoutingResult) -> str:
        years = format_years(routing.years, self.formatter)
        return tr("accelerators; costs over {years}, thousand {code}", years=years, code=self.evaluated.money.code)

    def _collect_model_names(self, routing: RoutingResult) -> dict[str, str] | None:
        """Return the names of the models, if there is more than one."""
        used = {kind.model for kind in routing.classes}
        if len(used) < len(routing.classes):
            return None
        return {model: self.desk.service.catalog.model(model).name for model in used}

    def _build_table(self, routing: RoutingResult, formatter: Formatter) -> DataTable:
        money = MoneyFormatter(formatter, self.evaluated.answer.scenario.costs.currency)
        looks = {part.key: (part.name, part.palette_index, part.is_variant) for part in self.evaluated.columns}
        return build_routing_table(routing, looks, money, formatter)

    def _list_rankings(self, routing: RoutingResult) -> Iterator[str]:
        for paid, ranking in ((tr("Owned"), routing.owned), (tr("Rented"), routing.rented)):
            yield tr("{paid}: {text}.", paid=paid, text=describe_ranking(ranking, routing, self.evaluated.names))

    def _describe_extra_costs(self, routing: RoutingResult) -> list[str]:
        """Return the extra costs of splits over one vendor: owned, or rented if a price is missing."""
        ranking = routing.owned or routing.rented
        if ranking is None:
            return []
        evaluated = self.evaluated
        paid = tr("Owned") if ranking is routing.owned else tr("Rented")
        texts = [describe_extra_cost(each, routing, evaluated.names, evaluated.money) for each in ranking.beyond]
        return [tr("{paid}: {text}", paid=paid, text=text) for text in texts]

    def _show_mixing(self) -> None:
        service = self.desk.service
        rules = list_mixing_rules(service.decider.rules)
        lines = [MarkedLine("book-open", "text2", text) for text in map(format_mixing_line, rules)]
        disputes = {each for rule in rules for each in rule.disputes}
        lines += [
            MarkedLine("scale", "disputed", tr("Dispute: {verdict}", verdict=translate_data(each.verdict)))
            for each in service.catalog.disputes()
            if each.id in disputes and each.verdict
        ]
        self.mixing.show_lines(lines)

    # Interface for page and charts

    def data(self, formatter: Formatter) -> ChartData:
        title = tr("Plans for two accelerators, thousand {code}", code=self.evaluated.money.code)
        if self.plan_result is None:
            return ChartData(title, (), ())
        return make_chart_data(title, self._build_table(self.plan_result, formatter))

    def copied(self) -> str:
        lines, routing = [], self.plan_result
        if routing is not None:
            lines = [self.data(self.formatter).format_tab_separated(), self.mix.text(), *self._list_rankings(routing)]
            lines += [*self._describe_extra_costs(routing), *list_shared_pool_lines(routing, self.formatter)]
        return "\n".join(line for line in (*lines, *self.mixing.texts) if line)

    def focus_first(self) -> None:
        self.form.fields["vendor_a"].setFocus(Qt.FocusReason.OtherFocusReason)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.plan_result is not None:
            show_chart_menu(self, self, event)
