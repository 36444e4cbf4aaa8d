"""The Cost page: token costs, their drivers, and the assumptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.pages.cost.views import (
    CostOverview,
    CostView,
    PublishedCasesView,
    RentOrBuyView,
    SimulationView,
    TokenCostView,
    select_cheapest,
)
from gpudesk.desktop.pages.page import MultiViewPage, PageViewSpec
from gpudesk.desktop.session.actions import ActionSpec, MenuId
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.selection import Selection
from gpudesk.desktop.session.settings import UserSettings, get_folder
from gpudesk.desktop.ui.charts.chart_data import ChartData
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button, LinkButton
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import FIELD_SIDE, ChoiceField, align_with_fields
from gpudesk.desktop.ui.widgets.layouts import STRETCH, FlowLayout, ThemedLabel, make_column, make_row, scroll_into_view
from gpudesk.desktop.ui.widgets.number_edit import LEFT_OPEN, NO_VALUE, NumberEdit, NumberFormat, ValueEdit
from gpudesk.desktop.ui.widgets.page_frame import PageHeader
from gpudesk.desktop.ui.widgets.qt_support import ask_save_path, make_delay
from gpudesk.domain.accelerator import SOFTWARE_PLATFORMS
from gpudesk.domain.answer import get_accelerator_id
from gpudesk.domain.claim import ProviderClass
from gpudesk.domain.cost import (
    COMPARED_CLASSES,
    COST_INPUTS,
    NO_COST_SETTINGS,
    RENT_TERMS,
    CostInputOrigin,
    CostSettings,
    DisplayCurrency,
    ResolvedCostInput,
    UncertainValue,
)
from gpudesk.report.comparison.verdicts import (
    describe_cost_terms,
    describe_payback,
    describe_price_doubts,
    describe_token_cost,
)
from gpudesk.report.costs import (
    describe_input_source,
    format_input_range,
    get_input_unit,
    is_share_input,
    label_cost_input,
)
from gpudesk.report.labels import get_today, label_price_word
from gpudesk.text.formatting import Formatter, NumberStyle
from gpudesk.text.messages import InputError, capitalize_first, format_input_error
from gpudesk.text.translation import tr

_INPUT_DECIMALS: Final = 4
_EDIT: Final = 92
_ENDS: Final = 3
_RESET_COLUMN: Final = 6


def _round_default(value: float) -> float:
    """Return a default as a user would enter it: a median of prices can have many decimals."""
    return float(f"{value:.3g}") if abs(value) < 1.0 else round(value, 2)


class CostInputRow(QObject):
    """The widgets of an input in the rows of a grid."""

    #: The input's name, the accelerator or None, and the new range, None to reset it.
    edited = Signal(str, object, object)

    def __init__(
        self,
        theme: Theme,
        name: str,
        style: NumberStyle,
        parent: QWidget,
        accelerator: str | None = None,
        whose: str = "",
    ) -> None:
        """Make the fields of an input, of one accelerator, called `whose`, or of all."""
        super().__init__(parent)
        self.name, self.accelerator = name, accelerator
        self._style, self._scale = style, 1.0
        self._spread: UncertainValue | None = None
        label = label_cost_input(name)
        self.label = ThemedLabel(theme, label, parent=parent)
        input_name = tr("{input}, {name}", input=label, name=whose) if whose else label
        ends = (tr("{name}, low", name=input_name), input_name, tr("{name}, high", name=input_name))
        self.edits = tuple(NumberEdit(theme, each, self._format(), parent) for each in ends)
        for place, edit in enumerate(self.edits):
            edit.setFixedWidth(theme.px(_EDIT))
            edit.setAlignment(Qt.AlignmentFlag.AlignRight)
            edit.edited.connect(lambda value, place=place: self._edit(place, value))
        self.unit = ThemedLabel(theme, font="small", color="text2", parent=parent)
        self.origin = ThemedLabel(theme, font="small", color="text2", wrap=True, parent=parent)
        self.origin.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        #: Created when first needed, because few rows have it.
        self.reset: LinkButton | None = None
        self._make_reset = partial(LinkButton, theme, tr("Reset"), parent=parent)
        self._reset_name = tr("Reset {name}", name=input_name)
        self._place: tuple[QGridLayout, int] | None = None

    def add_to(self, grid: QGridLayout, line: int) -> None:
        widgets = (self.label, *self.edits, self.unit, self.origin)
        for column, widget in enumerate(widgets):
            grid.addWidget(widget, line, column)
        self._place = grid, line

    def show_input(self, cost_input: ResolvedCostInput, currency: DisplayCurrency | None, *, lacking: bool) -> None:
        """Show the current value, in the currency of the scenario for money.

        `lacking` marks a missing value without which another input is useless.
        """
        money = (COST_INPUTS[self.name].unit or "").startswith("USD") and currency is not None
        self._scale = currency.per_usd if money and currency is not None else 1.0
        self._scale *= 100.0 if is_share_input(self.name) else 1.0
        self._spread = cost_input.spread
        value_texts = (
            [NO_VALUE] * _ENDS if cost_input.spread is None else [each * self._scale for each in cost_input.spread]
        )
        for edit, value in zip(self.edits, value_texts, strict=True):
            edit.set_format(self._format())
            edit.set_fault("")
            is_exact = value == NO_VALUE or cost_input.origin is CostInputOrigin.YOURS
            edit.set_value(float(f"{value:.9g}") if is_exact else _round_default(value))
        self.unit.setText(get_input_unit(self.name, currency))
        self.origin.setText(tr("Enter both prices") if lacking else capitalize_first(describe_input_source(cost_input)))
        is_visible = cost_input.origin is CostInputOrigin.YOURS
        if self.reset is None and is_visible and self._place is not None:
            self.reset = self._make_reset()
            self.reset.setAccessibleName(self._reset_name)
            self.reset.clicked.connect(lambda: self.edited.emit(self.name, self.accelerator, None))
            grid, line = self._place
            grid.addWidget(self.reset, line, _RESET_COLUMN)
        if self.reset is not None:
            self.reset.setVisible(is_visible)

    def _format(self) -> NumberFormat:
        return NumberFormat.within(COST_INPUTS[self.name].bounds, _INPUT_DECIMALS, self._style, self._scale, LEFT_OPEN)

    def _edit(self, place: int, typed: float) -> None:
        """State a range with one number changed; the others adjust to the likely one, and only to that."""
        if typed == NO_VALUE:
            self.edited.emit(self.name, self.accelerator, None)
            return
        value = typed / self._scale
        spread = self._spread
        if spread is None or (spread.is_known and place == 1):
            new_spread = UncertainValue.exactly(value)
        elif place == 1:
            new_spread = UncertainValue(min(spread.low, value), value, max(spread.high, value))
        else:
            new_spread = spread._replace(**{("low", "likely", "high")[place]: value})
        if not new_spread.in_order:
            likely = self._format().text(new_spread.likely * self._scale)
            if place == 0:
                problem = tr("Enter at most the likely value, {value}", value=likely)
            else:
                problem = tr("Enter at least the likely value, {value}", value=likely)
            self.edits[place].set_fault(problem)
            return
        self.edited.emit(self.name, self.accelerator, new_spread)


_LONGEST_CODE: Final = 8
_LEAST_RATE, _MOST_RATE, _RATE_DECIMALS = 0.000001, 1_000_000_000.0, 6
_USD: Final = "USD"


class CurrencyRow(QWidget):
    """Code, rate and day; without a code, or with USD, amounts are dollars."""

    #: The stated currency, None for dollars.
    edited = Signal(object)

    def __init__(self, theme: Theme, style: NumberStyle, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        px = theme.px
        self.code, self.day = ValueEdit(self), ValueEdit(self)
        rates = NumberFormat(_LEAST_RATE, _MOST_RATE, _RATE_DECIMALS, style)
        self.rate = NumberEdit(theme, tr("Currency units per US dollar"), rates, self)
        self.code.setAccessibleName(tr("Currency"))
        self.code.setMaxLength(_LONGEST_CODE)
        self.code.setPlaceholderText(_USD)
        self.day.setAccessibleName(tr("Date of the rate"))
        self.fault = ThemedLabel(theme, font="small", color="unfit", parent=self)
        row = make_row(gap=px(8), on=self)
        for words, edit, width in (
            (tr("Currency"), self.code, 72),
            (tr("Units per USD"), self.rate, 92),
            (tr("Rate date"), self.day, 104),
        ):
            row.addWidget(ThemedLabel(theme, words, font="small", color="text2", parent=self))
            edit.setFixedWidth(px(width))
            row.addWidget(edit)
        row.addWidget(self.fault)
        row.addStretch(1)
        self.code.editingFinished.connect(self._edit)
        self.day.editingFinished.connect(self._edit)
        self.rate.edited.connect(lambda _: self._edit())

    def show_currency(self, currency: DisplayCurrency | None) -> None:
        self.fault.setText("")
        self.code.setText("" if currency is None else currency.code)
        self.day.setText(get_today() if currency is None else currency.date)
        self.rate.set_value(1.0 if currency is None else currency.per_usd)

    def _edit(self) -> None:
        code, day = self.code.text().strip().upper(), self.day.text().strip()
        if code in ("", _USD):
            self.edited.emit(None)
            if self.rate.value != 1.0 or day != get_today():
                self.fault.setText(tr("Enter the currency first, such as EUR"))
        elif not day:
            self.fault.setText(tr("Enter the date of the rate"))
        else:
            self.edited.emit(DisplayCurrency(code, float(self.rate.value), day))


_MARGIN: Final = 16
_AROUND: Final = 0.2
_HEADS: Final = ("", "Low", "Likely", "High", "", "Source", "")
_ORIGIN_COLUMN: Final = 5
#: Grids created at once, enough to fill a window; the others follow in the event loop.
_FIRST_GRIDS: Final = 2


class AssumptionControls(QWidget):
    """Settings for all inputs together."""

    #: Changed settings, by field name.
    edited = Signal(dict)
    discounts_wanted = Signal()
    reset_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.term = ChoiceField(theme, tr("Rent term"), self)
        self.term.set_options([ChoiceOption(term, capitalize_first(label_price_word(term))) for term in RENT_TERMS])
        self.provider_class = ChoiceField(theme, tr("Kind of provider"), self)
        first = ChoiceOption("", tr("Automatic"))
        classes = [ChoiceOption(each, capitalize_first(label_price_word(each))) for each in COMPARED_CLASSES]
        self.provider_class.set_options([first, *classes])
        self.provider_class.setToolTip(tr("Specialized clouds come first, then hyperscalers, then marketplaces."))
        self.provider_class.chosen.connect(
            lambda name: self.edited.emit({"provider_class": ProviderClass(name) if name else None})
        )
        self.term.chosen.connect(lambda term: self.edited.emit({"rent_term": term}))
        self.runs_on = ChoiceField(theme, tr("Software platform"), self)
        unstated = ChoiceOption("", tr("Not set"))
        self.runs_on.set_options([unstated, *(ChoiceOption(platform, platform) for platform in SOFTWARE_PLATFORMS)])
        self.runs_on.chosen.connect(lambda platform: self.edited.emit({"runs_on": platform or None}))
        self.around = QCheckBox(tr("All inputs ± 20%"), self)
        self.around.setToolTip(tr("Use a range of ± 20% for every input."))
        self.around.clicked.connect(lambda on: self.edited.emit({"around": _AROUND if on else None}))
        self.single = QCheckBox(tr("Single accelerators"), self)
        self.single.setToolTip(tr("Pay only for accelerators in use, not for whole systems."))
        self.single.clicked.connect(lambda on: self.edited.emit({"single_accelerators": on}))
        self.discounts = Button(theme, tr("Use reported discounts"), self.discounts_wanted, parent=self)
        self.discounts.setToolTip(tr("Discounts that unnamed buyers report for some vendors (anecdotal)."))
        self.reset = Button(theme, tr("Reset to defaults"), self.reset_requested, icon="rotate-ccw", parent=self)
        middle = Qt.AlignmentFlag.AlignVCenter
        settings, commands, gap, side = QWidget(self), QWidget(self), theme.px(12), theme.px(FIELD_SIDE)
        make_row(
            *((each, 0, middle) for each in (self.term, self.provider_class, self.runs_on, self.around, self.single)),
            gap=gap,
            on=settings,
        )
        buttons = ((each, 0, middle) for each in (self.discounts, self.reset))
        make_row(*buttons, gap=gap, margins=(side, 0, 0, 0), on=commands)
        row = FlowLayout(gap, self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(settings)
        row.addWidget(commands)

    def show_settings(self, settings: CostSettings) -> None:
        self.term.set_value(settings.rent_term)
        self.provider_class.set_value(settings.provider_class or "")
        self.runs_on.set_value(settings.runs_on or "")
        self.around.setChecked(settings.around is not None)
        self.single.setChecked(settings.single_accelerators)
        self.reset.setEnabled(settings != NO_COST_SETTINGS)


class AssumptionsView(CostView):
    """One grid of inputs: those of each accelerator first, then the common ones by subject."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, (), parent)
        self._desk, self.formatter = desk, desk.formatter
        self._costed: EvaluatedAnswer | None = None
        self._parts: tuple[str, ...] = ()
        self._rows: dict[tuple[str | None, str], CostInputRow] = {}
        #: The grids still to be created, by id and name of an accelerator; the last is the common one.
        self._waiting: list[tuple[str | None, str]] = [(None, "")]
        self._later = make_delay(self, 0, self._make_later)
        self.controls = AssumptionControls(theme, self)
        self.controls.edited.connect(self._change)
        self.controls.reset_requested.connect(lambda: self._apply(NO_COST_SETTINGS, tr("Reset costs")))
        self.controls.discounts_wanted.connect(self._take_discounts)
        self.currency = CurrencyRow(theme, desk.formatter.style, self)
        self.currency.edited.connect(lambda currency: self._change({"currency": currency}))
        self.note_label = ThemedLabel(theme, font="small", color="text2", wrap=True, parent=self)
        self._grids = QVBoxLayout()
        self._own, self._own_grids = self._make_own()
        rows = align_with_fields(theme, self.currency, self.note_label, self._grids, STRETCH, gap=12)
        around = (_MARGIN - FIELD_SIDE, 0, _MARGIN, _MARGIN)
        make_column(self.controls, rows, gap=12, margins=around, scaled=theme, on=self)
        self.charts = (self,)
        # The focus of the page goes where one begins.
        self.setFocusProxy(self.controls.term)

    # Construction

    @property
    def rows(self) -> Mapping[tuple[str | None, str], CostInputRow]:
        """All rows by accelerator, None for common ones, and input."""
        while self._waiting:
            self._make_next()
        return self._rows

    def _make_later(self) -> None:
        if self._waiting:
            self._make_next()
            self._later.start()

    def _make_next(self) -> None:
        accelerator, name = self._waiting.pop(0)
        inputs = [each for each, spec in COST_INPUTS.items() if spec.each is (accelerator is not None)]
        layout, holder = (self._grids, self) if accelerator is None else (self._own_grids, self._own)
        grid = self._make_grid(holder, accelerator, name, inputs)
        layout.addWidget(grid)
        # At once: a layout alone would wait for the next event, too late for a field to be focused.
        grid.show()
        self._show_inputs({place: row for place, row in self._rows.items() if place[0] == accelerator})

    def _make_grid(self, parent: QWidget, accelerator: str | None, name: str, inputs: list[str]) -> QWidget:
        holder = QWidget(parent)
        grid = QGridLayout(holder)
        grid.setContentsMargins(0, 0, 0, self.theme.px(8))
        grid.setHorizontalSpacing(self.theme.px(10))
        grid.setVerticalSpacing(self.theme.px(4))
        grid.setColumnStretch(_ORIGIN_COLUMN, 1)
        grid.setColumnMinimumWidth(0, self.theme.px(210))
        line, group = 0, None
        for each in inputs:
            spec = COST_INPUTS[each]
            if (accelerator is None and spec.group is not group) or line == 0:
                group = spec.group
                title = name or spec.group.label
                for column, words in enumerate(_HEADS):
                    if column and not words:
                        continue
                    text, font = (title, "section") if column == 0 else (tr(words), "caption")
                    head = ThemedLabel(
                        self.theme,
                        text,
                        font=font,
                        color="text1" if column == 0 else "text3",
                        parent=grid.parentWidget(),
                    )
                    if column in (1, 2, 3):
                        head.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom)
                        # It ends where the figures in the fields end.
                        head.setContentsMargins(0, 0, self.theme.px(8) + 3, 0)
                    grid.addWidget(head, line, column)
                line += 1
            row = CostInputRow(self.theme, each, self.formatter.style, holder, accelerator, name)
            row.edited.connect(self._edit)
            row.add_to(grid, line)
            self._rows[accelerator, each] = row
            line += 1
        return holder

    def _make_own(self) -> tuple[QWidget, QBoxLayout]:
        own = QWidget(self)
        self._grids.insertWidget(0, own)
        own.show()
        return own, make_column(gap=0, on=own)

    # Display

    def show_costs(self, costed: EvaluatedAnswer) -> None:
        self._costed = costed
        settings = self._desk.scenario.costs
        self.controls.show_settings(settings)
        self.currency.show_currency(settings.currency)
        note = tr("Values without a source are defaults with a reason. Clear a field to use its default.")
        self.note_label.setText(f"{note} {describe_price_doubts(costed.answer_with_costs, self.formatter)}".rstrip())
        self._show_inputs(self._rows)
        parts = {column.accelerator: part.name for part, column in costed.pair_column_costs()}
        if tuple(parts) == self._parts:
            return
        self._parts = tuple(parts)
        self._own.deleteLater()
        self._own.hide()
        self._rows = {place: row for place, row in self._rows.items() if place[0] is None}
        self._own, self._own_grids = self._make_own()
        self._waiting = list(parts.items())
        if not self._rows:
            self._waiting.append((None, ""))
        for _ in self._waiting[:_FIRST_GRIDS]:
            self._make_next()
        self._later.start()

    def _show_inputs(self, rows: Mapping[tuple[str | None, str], CostInputRow]) -> None:
        costed, settings = self._costed, self._desk.scenario.costs
        if costed is None:
            return
        inputs = {column.accelerator: column.inputs for column in costed.costs.columns}
        first = next(iter(inputs.values()), {})
        for (part, name), row in rows.items():
            inputs_to_show = first if part is None else inputs.get(part, {})
            if name in inputs_to_show:
                lacking = name in costed.costs.api_missing
                row.show_input(inputs_to_show[name], settings.currency, lacking=lacking)

    def focus_price(self, accelerator: str) -> None:
        row = self.rows.get((accelerator, "price_usd"))
        if row is not None:
            row.edits[1].setFocus(Qt.FocusReason.OtherFocusReason)
            scroll_into_view(row.edits[1])

    # Editing

    def _edit(self, name: str, accelerator: str | None, spread: UncertainValue | None) -> None:
        settings = self._desk.scenario.costs.with_input(name, spread, accelerator)
        self._apply(settings, tr("Cost input: {name}", name=label_cost_input(name)))

    def _change(self, changes: dict[str, Any]) -> None:
        self._apply(replace(self._desk.scenario.costs, **changes), tr("Change cost settings"))

    def _apply(self, settings: CostSettings, step: str) -> None:
        self._desk.apply(replace(self._desk.scenario, costs=settings), step)

    def _take_discounts(self) -> None:
        scenario = self._desk.scenario
        settings = self._desk.service.costing.add_reported_discounts(scenario.costs, scenario)
        self._apply(settings, tr("Use reported discounts"))

    # Texts and numbers

    def data(self, formatter: Formatter) -> ChartData:
        rows = []
        columns: Mapping[str, str] = {} if self._costed is None else self._costed.names
        for column in () if self._costed is None else self._costed.costs.columns:
            for name, cost_input in column.inputs.items():
                who = columns[column.key] if COST_INPUTS[name].each else tr("all")
                if COST_INPUTS[name].each or column is self._costed.costs.columns[0]:  # type: ignore[union-attr]
                    text = format_input_range(name, cost_input.spread, formatter)
                    rows.append((label_cost_input(name), who, text, describe_input_source(cost_input)))
        heads = (tr("Input"), tr("Accelerator"), tr("Value"), tr("Source"))
        return ChartData(tr("Assumptions"), heads, tuple(rows), len(heads))


_FOLDER: Final = "cost.folder"
#: The view with the chart of costs against interactivity, and the one whose answer rests on prices alone.
_TOKENS, _RENT_OR_BUY = "tokens", "rent"


class CostPage(MultiViewPage[CostView]):
    """The costs of the desk's answer: an overview, or one question."""

    page_id = "cost"
    menu_section = 54
    has_verdict = True

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, parent: QWidget | None = None) -> None:
        self.cash_flow = Button(theme, tr("Cash flow…"), icon="file-down")
        super().__init__(desk, theme, settings, parent)
        self.needs_curves = self.view_key == _TOKENS
        self.cash_flow.setToolTip(tr("Save monthly costs as a spreadsheet with formulas"))
        self.cash_flow.clicked.connect(self.save_cash_flow)
        self.status_label = ThemedLabel(theme, font="small", color="text2")
        self.status_label.hide()
        self.head.add_below(self.status_label)

    def title(self) -> str:
        return tr("Cost")

    def view_specs(self) -> Sequence[PageViewSpec[CostView]]:
        return (
            PageViewSpec("overview", tr("Overview"), CostOverview),
            PageViewSpec(_TOKENS, tr("Per token"), TokenCostView),
            PageViewSpec(_RENT_OR_BUY, tr("Rent or buy"), RentOrBuyView),
            PageViewSpec("draws", tr("Monte Carlo"), SimulationView),
            PageViewSpec("cases", tr("Published cases"), PublishedCasesView),
            PageViewSpec("assumptions", tr("Assumptions"), AssumptionsView),
        )

    def make_head(self, views: Sequence[tuple[str, str]]) -> PageHeader:
        return PageHeader(self.theme, self.title(), views, (self.cash_flow,))

    def set_usable(self, *, usable: bool) -> None:
        super().set_usable(usable=usable)
        self.cash_flow.setEnabled(usable)

    # Views

    def make_view(self, key: str, theme: Theme) -> CostView:
        view = super().make_view(key, theme)
        view.chosen.connect(self._choose)
        view.price_wanted.connect(self._ask_for_price)
        return view

    def choose_view(self, key: str) -> None:
        self.needs_curves = key == _TOKENS
        self.want_curves()
        super().choose_view(key)

    def show_view(self) -> None:
        if self.desk.evaluated is not None:
            self.view.show_costs(self.desk.evaluated)

    def describe_verdict(self) -> Sequence[str]:
        evaluated = self._find_evaluated()
        if evaluated is None:
            return ()
        describe = describe_payback if self.view_key == _RENT_OR_BUY else describe_token_cost
        return describe(evaluated.answer_with_costs, self.desk.formatter)

    def propose_selection(self) -> Selection | None:
        evaluated = self._find_evaluated()
        return None if evaluated is None or isinstance(self.view, AssumptionsView) else select_cheapest(evaluated)

    def _find_evaluated(self) -> EvaluatedAnswer | None:
        """Return the subject of the verdict; published cases are not about the scenario, and need none."""
        return None if isinstance(self.view, PublishedCasesView) else self.desk.evaluated

    def describe_terms(self) -> str:
        evaluated = self._find_evaluated()
        # The assumptions are the terms.
        if evaluated is None or isinstance(self.view, AssumptionsView):
            return ""
        return describe_cost_terms(evaluated.answer_with_costs, self.desk.formatter)

    def _choose(self, key: str) -> None:
        self.view.choose(key)
        self.refresh()

    def focus_column(self, key: str) -> None:
        self._ask_for_price(key)

    def _ask_for_price(self, key: str) -> None:
        self.choose_view("assumptions")
        if isinstance(self.view, AssumptionsView):
            self.view.focus_price(get_accelerator_id(key))

    # Commands

    def name_chart_commands(self) -> tuple[str, str]:
        return tr("Show cost table"), tr("Copy costs")

    def save_cash_flow(self) -> None:
        if self.desk.answer is None:
            return
        proposed = get_folder(self.settings, _FOLDER) / "cash-flow.xlsx"
        target = ask_save_path(self, tr("Save cash flow"), proposed, [(tr("Excel workbook"), ".xlsx")])
        if target is not None:
            self.write_cash_flow(target)

    def write_cash_flow(self, target: Path) -> None:
        from gpudesk.documents.scenario_file import make_title
        from gpudesk.files import write_atomically
        from gpudesk.report.cash_flow import build_cash_flow_workbook
        from gpudesk.report.labels import get_today

        evaluated = self.desk.evaluated
        if evaluated is None:
            return
        answer = evaluated.answer
        title = make_title(answer.scenario, self.desk.service.catalog)
        revision = answer.catalog_revision[:8]
        book = build_cash_flow_workbook(
            evaluated.full_costs, evaluated.names, title=title, revision=revision, made_on=get_today()
        )
        try:
            write_atomically(target, book)
        except InputError as error:
            text = format_input_error(error, self.desk.formatter)
            self.status_label.set_color("unfit")
        else:
            self.settings.put(_FOLDER, str(target.absolute().parent))
            text = tr("Saved: {file}", file=str(target))
            self.status_label.set_color("text2")
        self.status_label.setText(text)
        self.status_label.show()

    def list_page_actions(self) -> list[ActionSpec]:
        text, enabled = tr("Save cash flow…"), lambda: self.body.usable
        saved = ActionSpec(
            "cost.cash_flow", text, self.save_cash_flow, "file-down", menu=MenuId.FILE, section=2, enabled=enabled
        )
        return [*super().list_page_actions(), saved]
