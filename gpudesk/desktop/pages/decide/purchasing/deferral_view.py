"""The view of buying now or waiting: its form, its result, and the watch list."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from gpudesk.decision.purchasing.plan_inputs import NO_PART, PLAN_INPUTS, find_bought_position, get_launch_months
from gpudesk.decision.purchasing.procurement import forget_signal, note_signal
from gpudesk.desktop.pages.decide.purchasing.deferral_result import DeferralResultBlock, DelayChartData
from gpudesk.desktop.pages.decide.purchasing.plan_view import PlanForm, PlanInputRow, PlanView, describe_removed_part
from gpudesk.desktop.pages.decide.purchasing.watch_list import WatchEntry, WatchListBlock
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.scenario_edits import replace_answer
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.layouts import STRETCH, Hairline, ThemedLabel, make_column, make_row, set_beside
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.cost import COST_INPUTS, CostSettings, UncertainValue
from gpudesk.domain.decision import QUESTIONS
from gpudesk.domain.purchase import NEWEST_ACCELERATOR, DeferralAnalysis
from gpudesk.domain.reference_data import SignalStatus
from gpudesk.domain.reference_data import WatchSignal as WatchedSignal
from gpudesk.domain.sizing import NumberBounds
from gpudesk.domain.user_facts import FactEdit
from gpudesk.paths import MissingFileError
from gpudesk.report.costs import get_input_unit, label_cost_input
from gpudesk.report.decision.buy_or_wait import (
    describe_deferral_origin,
    find_lacking_costs,
    get_deferral_unit,
    label_deferral_input,
)
from gpudesk.report.labels import get_today, shorten_name
from gpudesk.text.formatting import NumberStyle
from gpudesk.text.messages import InputError, capitalize_first, format_input_error, format_message
from gpudesk.text.translation import tr

_MILLION: Final = 1e-6
_LAUNCH: Final = "months_to_launch"
_SLIP: Final = ("slip_low", "slip_likely", "slip_high")
_ROWS: Final = (_LAUNCH, "months_to_next", "slip", "years", "usd_per_month", "tokens_per_month")
#: Missing costs of the next accelerator -> the cost input for them.
_COSTS: Final = {"price": "price_usd", "power": "accelerator_w"}


class DeferralForm(PlanForm):
    """The accelerators to buy and to wait for, and the numbers of the plan."""

    #: Months to the launch, shared with the dialogue; None if unset.
    launch_edited = Signal(object)
    #: A cost input of the next accelerator, by name, and its value or None.
    cost_edited = Signal(str, object)

    def __init__(self, theme: Theme, style: NumberStyle) -> None:
        choices = {name: label_deferral_input(name) for name in ("buy_part", "next_part")}
        super().__init__(theme, tr("Buy or wait inputs"), choices)
        self._slip = UncertainValue.exactly(0.0)
        self.rows = {name: self._make_input_row(name, style) for name in _ROWS}
        self.costs = {name: self._make_cost_row(name, style) for name in _COSTS.values()}
        self._enable_rows(are_known=False)
        self.after = ThemedLabel(theme, font="caption", color="text3", wrap=True, parent=self)
        self.after.setText(tr("Each default value shows its source. Clear a field to use the default."))
        self._lay_out()

    # Construction

    def _make_input_row(self, name: str, style: NumberStyle) -> PlanInputRow:
        if name == "slip":
            names, bounds = [label_deferral_input(each) for each in _SLIP], PLAN_INPUTS[_SLIP[0]].bounds
            label = tr("Slip: low, likely, high")
        else:
            label = label_deferral_input(name)
            names = [label]
            bounds = QUESTIONS[_LAUNCH].bounds if name == _LAUNCH else PLAN_INPUTS[name].bounds
        row = PlanInputRow(self._theme, label, names, bounds or NumberBounds(0.0, 0.0), style, self)
        row.edited.connect(partial(self._edit, name))
        return row

    def _make_cost_row(self, name: str, style: NumberStyle) -> PlanInputRow:
        row = PlanInputRow(self._theme, "", [label_cost_input(name)], COST_INPUTS[name].bounds, style, self)
        row.edited.connect(lambda _place, value, name=name: self.cost_edited.emit(name, value))
        return row

    def _lay_out(self) -> None:
        px = self._theme.px
        for label in self.origin_labels.values():
            label.setContentsMargins(px(8), 0, 0, px(4))
        self.after.setContentsMargins(px(8), 0, 0, 0)
        choices = (
            widget for pair in zip(self.fields.values(), self.origin_labels.values(), strict=True) for widget in pair
        )
        rows = make_column(*self.rows.values(), *self.costs.values(), gap=px(2), margins=(px(8), px(8), 0, px(4)))
        make_column(*choices, rows, self.after, STRETCH, gap=px(2), on=self)

    # Display

    def show_inputs(
        self,
        evaluated: EvaluatedAnswer,
        position: int,
        parts: Sequence[Accelerator],
        analysis: DeferralAnalysis | None,
        following: Accelerator | None,
    ) -> None:
        """Show the inputs of buying the accelerator at a position; with the analysis and the next one, if known."""
        scenario, money = evaluated.answer.scenario, evaluated.money
        plans = scenario.decision.plans
        names = {part.id: shorten_name(part.name) for part in parts}

        def describe_origin(name: str, is_user_value: bool) -> str:
            if analysis is None:
                return ""
            return describe_deferral_origin(name, analysis, is_user_value=is_user_value, names=names)

        own = ChoiceOption("", tr("As recommended"))
        columns = [ChoiceOption(key, name) for key, name in evaluated.names.items()]
        self.fields["buy_part"].set_options([own, *columns] if "buy_part" in plans else columns)
        self.fields["buy_part"].set_value(evaluated.keys[position])
        chosen = scenario.accelerators[position].accelerator
        self._offer_next([part for part in parts if part.id != chosen])
        key = str(plans.get("next_part", NEWEST_ACCELERATOR))
        # The newest one is known only with the plan.
        other = names.get(key, tr("None") if analysis is not None or key == NO_PART else "…")
        self.fields["next_part"].set_value(key, other if following is None else shorten_name(following.name))
        for name, label in self.origin_labels.items():
            removed = describe_removed_part(scenario, name) if name == "buy_part" else ""
            label.setText(removed or describe_origin(name, name in plans))
        months, is_user_value = get_launch_months(scenario)
        unit = get_deferral_unit(_LAUNCH, money)
        self.rows[_LAUNCH].show_values(
            [months], unit, describe_origin(_LAUNCH, is_user_value), is_user_value=is_user_value
        )
        if analysis is None:
            return
        self._enable_rows(are_known=True)
        self._slip = analysis.slip_months
        is_user_value = any(name in plans for name in _SLIP)
        origin = describe_origin("slip_likely", is_user_value)
        self.rows["slip"].show_values(analysis.slip_months, tr("months"), origin, is_user_value=is_user_value)
        next_in = analysis.months_to_next
        # No date is known to the day.
        if next_in is not None and "months_to_next" not in plans:
            next_in = UncertainValue.exactly(round(next_in.likely, 1))
        rate = money.convert_to_currency(1.0)
        for name, value, scale in (
            ("months_to_next", next_in, 1.0),
            ("years", UncertainValue.exactly(analysis.years), 1.0),
            ("usd_per_month", analysis.monthly.without_usd, rate),
            ("tokens_per_month", analysis.tokens_per_month, _MILLION),
        ):
            likely, is_user_value = None if value is None else value.likely, name in plans
            origin, unit = describe_origin(name, is_user_value), get_deferral_unit(name, money)
            self.rows[name].show_values([likely], unit, origin, is_user_value=is_user_value, scale=scale)
        if following is not None:
            self._show_costs(scenario.costs, following, find_lacking_costs(analysis, following.name), rate)
        else:
            for row in self.costs.values():
                row.hide()

    def _offer_next(self, parts: Sequence[Accelerator]) -> None:
        announced, others = tr("Announced"), tr("Other")
        ordered = sorted(parts, key=lambda part: not part.announced)
        self.fields["next_part"].set_provider(
            lambda: (
                ChoiceOption(NEWEST_ACCELERATOR, tr("Newest announced")),
                ChoiceOption(NO_PART, tr("None")),
                *(
                    ChoiceOption(
                        part.id, shorten_name(part.name), (part.vendor,), group=announced if part.announced else others
                    )
                    for part in ordered
                ),
            )
        )

    def _show_costs(self, costs: CostSettings, part: Accelerator, lacking: Collection[str], rate: float) -> None:
        """Show the missing and stated costs of the next accelerator, which has no column with fields."""
        user_costs = costs.get_accelerator_inputs(part.id)
        for kind, name in _COSTS.items():
            row, is_user_value = self.costs[name], name in user_costs
            row.setVisible(kind in lacking or is_user_value)
            row.label.setText(tr("{input}, {name}", input=label_cost_input(name), name=shorten_name(part.name)))
            value = user_costs[name].likely if is_user_value else None
            origin = tr("entered by you") if is_user_value else tr("unknown: enter a value")
            unit, scale = get_input_unit(name, costs.currency), rate if name == "price_usd" else 1.0
            row.show_values([value], unit, origin, is_user_value=is_user_value, scale=scale)

    # Editing

    def name_step(self, name: str) -> str:
        return tr("Accelerator to buy") if name == "buy_part" else tr("Accelerator to wait for")

    def _edit(self, name: str, place: int, value: float | None) -> None:
        if name == _LAUNCH:
            self.launch_edited.emit(value)
        elif name == "slip":
            self._edit_slip(place, value)
        else:
            self.stated.emit({name: value}, label_deferral_input(name))

    def _edit_slip(self, place: int, value: float | None) -> None:
        """State the slip with one number changed; the ends adjust to the likely one, and only to that."""
        step = tr("Slip of the next accelerator")
        if value is None:
            self.stated.emit(dict.fromkeys(_SLIP), step)
            return
        slip = self._slip
        if place == 1:
            slip = UncertainValue(min(slip.low, value), value, max(slip.high, value))
        else:
            slip = slip._replace(**{("low", "likely", "high")[place]: value})
        if slip.in_order:
            self.stated.emit(dict(zip(_SLIP, slip, strict=True)), step)
            return
        self.rows["slip"].edits[place].set_fault(
            tr("Enter at most the likely slip") if place == 0 else tr("Enter at least the likely slip")
        )

    def set_fault(self, name: str, sentence: str) -> None:
        super().set_fault("slip" if name in _SLIP else name, sentence)
        if sentence:
            self._enable_rows(are_known=True)

    def _enable_rows(self, *, are_known: bool) -> None:
        """Enable the numbers, which are unknown before the first plan; the costs are shown with it."""
        for row in self.rows.values():
            row.setEnabled(are_known)
        if not are_known:
            for row in self.costs.values():
                row.hide()


_MARGIN: Final = 16.0
_FORM: Final = 328.0
#: From this width on the form is next to its result.
_BESIDE: Final = 760.0
#: Steps of the user's file that can be undone here.
_WATCH_STEPS: Final = frozenset({"watch.step.note", "watch.step.remove"})


class DeferralView(PlanView[DeferralAnalysis]):
    """The plan of buying now or waiting; notes on the watch list go to the user's own file."""

    form: DeferralForm
    result: DeferralResultBlock

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, tr("Buy or wait"), DeferralForm(theme, desk.formatter.style), parent)
        self._position = 0
        # Tab visits all of it before the result next to it.
        self.form.setProperty("readAsBlock", True)
        self.form.launch_edited.connect(self._state_launch)
        self.form.cost_edited.connect(self._state_cost)
        self.result = DeferralResultBlock(desk, theme, self)
        self.result.hide()
        self.watch = WatchListBlock(theme, desk.formatter, self)
        self.watch.saved.connect(self._note)
        self.watch.removed.connect(self._forget)
        self.watch.undo_requested.connect(self._undo)
        px = self.theme.px
        margin = px(_MARGIN)
        right = make_column(self.working, self.problem, self.result, STRETCH, gap=px(6))
        corner = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft
        # The last column takes the width left by the widest result.
        self._upper = make_row(
            (self.form, 0, corner), (right, 100), STRETCH, gap=px(28), margins=(margin - px(8), 0, margin, px(12))
        )
        lower = make_column(self.watch, margins=(margin, px(12), margin, margin))
        make_column(self._upper, Hairline(self.theme, self), lower, STRETCH, gap=0, on=self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        px = self.theme.px
        beside = event.size().width() >= px(_BESIDE)
        set_beside(self._upper, beside)
        self.form.setMaximumWidth(px(_FORM))
        self.form.setMinimumWidth(min(px(_FORM), max(px(240), event.size().width() - px(40))))

    # Requests

    def refresh(self) -> None:
        evaluated = self.evaluated
        scenario = evaluated.answer.scenario
        recommended = evaluated.decision.recommended
        self._position = find_bought_position(scenario, None if recommended is None else recommended.key)
        self.show_below(self.show_watch_list)
        position, reference, day = self._position, self.desk.service.reference_data, get_today()
        question = (evaluated.answer, position, day)
        self.job.ask(question, lambda: reference.plan_deferral_in_steps(scenario, position, day))
        self.show_known_form()

    def show_result(self, analysis: DeferralAnalysis) -> None:
        by_part = {each.column.choice.accelerator: each.palette_index for each in self.evaluated.columns}
        palette_indexes = (by_part.get(analysis.chosen, 0), by_part.get(analysis.next_part or "", 0))
        names = {part.id: shorten_name(part.name) for part in self.desk.service.catalog.accelerators()}
        self.result.show_plan(DelayChartData(analysis, names, self.evaluated.money, palette_indexes))

    # Display

    def show_form(self) -> None:
        self.form.set_fault("", "")
        parts = self.desk.service.catalog.accelerators()
        self.form.show_inputs(self.evaluated, self._position, parts, self.plan_result, self._find_next_accelerator())

    def _find_next_accelerator(self) -> Accelerator | None:
        if self.plan_result is None or self.plan_result.next_part is None:
            return None
        return self.desk.service.catalog.accelerator(self.plan_result.next_part)

    # Editing the document

    def _state_launch(self, months: float | None) -> None:
        self.desk.apply(replace_answer(self.desk.scenario, "months_to_launch", months), tr("Months to launch"))

    def _state_cost(self, name: str, value: float | None) -> None:
        following = self._find_next_accelerator()
        if following is None:
            return
        scenario = self.desk.scenario
        spread = None if value is None else UncertainValue.exactly(value)
        costs = scenario.costs.with_input(name, spread, following.id)
        self.desk.apply(replace(scenario, costs=costs), tr("Cost input: {name}", name=label_cost_input(name)))

    # The watch list

    def show_watch_list(self) -> None:
        user_catalog = self.desk.service.user_catalog
        try:
            signals = self.desk.service.reference_data.watch_list()
        except (InputError, MissingFileError) as error:
            formatter = self.desk.formatter
            self.watch.show_problem(
                format_input_error(error, formatter) if isinstance(error, InputError) else str(error)
            )
            return
        undo = user_catalog.undo_text
        text = ""
        if undo is not None and undo.id in _WATCH_STEPS:
            text = tr("Undo: {step}", step=format_message(undo, self.desk.formatter))
        signal_sources = tuple((each, self._get_source_title(each)) for each in signals)
        self.watch.show_signals(signal_sources, writable=user_catalog.writable, undo=text)

    def _get_source_title(self, watched: SignalStatus) -> str:
        return "" if watched.known is None else self.desk.service.catalog.source(watched.known.source).title

    def _note(self, signal: str, entry: WatchEntry) -> None:
        if entry.value is None:
            self.watch.tell(signal, "value", entry.fault or tr("Enter a value"))
            return
        value = entry.value
        self._write(
            signal,
            lambda: note_signal(
                self.desk.service.user_catalog.watched,
                self._find_signal(signal),
                value,
                date=entry.date,
                source=entry.source,
                note=entry.note,
            ),
        )

    def _forget(self, signal: str) -> None:
        self._write(signal, lambda: forget_signal(self.desk.service.user_catalog.watched, self._find_signal(signal)))

    def _write(self, signal: str, step: Callable[[], FactEdit]) -> None:
        try:
            self.desk.service.user_catalog.do(step())
        except InputError as error:
            problem = format_message(error.problem, self.desk.formatter)
            is_field = error.where in ("value", "date", "source", "note")
            text = problem if is_field else tr("Not saved: {problem}. Your entries are kept.", problem=problem)
            self.watch.tell(signal, error.where or "", capitalize_first(text))

    def _find_signal(self, signal: str) -> WatchedSignal:
        return next(each for each in self.desk.service.reference_data.signals if each.id == signal)

    def _undo(self) -> None:
        self.watch.show_problem("")
        try:
            self.desk.service.user_catalog.undo()
        except InputError as error:
            problem = format_input_error(error, self.desk.formatter).rstrip(".")
            self.watch.show_problem(tr("No change: {problem}. Your values are unchanged.", problem=problem))

    # Interface for the page

    def copied(self) -> str:
        formatter = self.desk.formatter
        plan = "" if self.plan_result is None else self.result.text(formatter)
        return "\n".join(part for part in (plan, self.watch.text(formatter)) if part)

    def focus_first(self) -> None:
        self.form.fields["buy_part"].setFocus(Qt.FocusReason.OtherFocusReason)
