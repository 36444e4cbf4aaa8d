"""Help me choose: a few questions, a search of the whole catalog, and the recommendation as a new scenario."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.session.scenario_edits import replace_answers
from gpudesk.desktop.ui.theme.focus_ring import ThemedDialog, resize_to_fit
from gpudesk.desktop.ui.widgets.buttons import Button, SegmentedControl
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import FIELD_SIDE, ChoiceField, NumberField, align_with_fields
from gpudesk.desktop.ui.widgets.layouts import STRETCH, ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.number_edit import NumberFormat
from gpudesk.domain.answer import Scenario
from gpudesk.domain.decision import UNKNOWN_ANSWER, AnswerValue
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.estimation.sizing.demand import list_demand_factors
from gpudesk.text.messages import InputError, capitalize_first, format_message
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.desktop.session.desk import Desk
    from gpudesk.desktop.ui.theme.theme import Theme

_WIDTH: Final = 560.0
#: Above the price of any fleet for the most users that the dialog accepts.
_MOST_USD: Final = 10_000_000_000


#: Initial number of users or requests.
_FIRST_AMOUNTS: Final = {DemandKind.USERS: 200, DemandKind.CONCURRENCY: 64}


class UseCase(NamedTuple):
    """A model in a widely supported format, the tokens of its requests, and suggested limits in ms."""

    id: str
    text: str
    model: str
    weights: Precision
    input_tokens: int
    output_tokens: int
    ttft_ms: int
    tpot_ms: int


def list_use_cases() -> tuple[UseCase, ...]:
    fp8 = Precision.FP8
    return (
        UseCase("chat", tr("Chat, Llama 3.3 70B"), "llama-3.3-70b", fp8, 1000, 500, 2000, 50),
        UseCase("assistant", tr("Small assistant, Llama 3.1 8B"), "llama-3.1-8b", fp8, 800, 300, 2000, 50),
        UseCase("documents", tr("Long documents, Llama 3.3 70B"), "llama-3.3-70b", fp8, 16_000, 500, 10_000, 50),
        UseCase("code", tr("Coding agent, gpt-oss-120b"), "gpt-oss-120b", Precision.MXFP4, 16_000, 800, 5000, 30),
        UseCase("reasoning", tr("Reasoning, DeepSeek R1"), "deepseek-r1", fp8, 1000, 2000, 5000, 50),
        UseCase("frontier", tr("Large model, Llama 3.1 405B"), "llama-3.1-405b", fp8, 2000, 500, 6000, 100),
    )


#: An offered option for no answer.
_OPEN: Final = "undecided"


class ChooserDialog(ThemedDialog):
    """Asks for use case, load, limits, payment and platform; then searches the catalog in the background."""

    manual_topic = "decide#chooser"

    #: The scenario with the best accelerators as its columns.
    found = Signal(object)

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Help me choose"), parent=parent)
        self._desk = desk
        self._cases = {each.id: each for each in list_use_cases()}
        self._jobs = Jobs(desk.formatter, self)
        self._jobs.shown.connect(self._show_progress)
        style = desk.formatter.style
        self.use_case = ChoiceField(theme, tr("Use case"), self)
        self.use_case.set_options([ChoiceOption(each.id, each.text) for each in self._cases.values()])
        self.use_case.chosen.connect(self.choose_use_case)
        load_kinds = [(DemandKind.USERS, tr("Users")), (DemandKind.CONCURRENCY, tr("Requests in flight"))]
        self.load_kind = SegmentedControl(theme, tr("Load"), load_kinds, self)
        self.load_kind.chosen.connect(self._show_load_kind)
        captions = {DemandKind.USERS: tr("Active users"), DemandKind.CONCURRENCY: tr("Requests in flight")}
        self.amounts = {
            kind: NumberField(theme, caption, NumberFormat(1, 100_000, 0, style), self)
            for kind, caption in captions.items()
        }
        for kind, amount in self.amounts.items():
            amount.set_value(_FIRST_AMOUNTS[kind])
        self.amounts[DemandKind.USERS].setToolTip(tr("Average number of users active at the same time."))
        limit = NumberFormat(0, 3_600_000, 0, style)
        self.ttft = NumberField(theme, tr("TTFT limit, ms"), limit, self)
        self.tpot = NumberField(theme, tr("TPOT limit, ms"), limit, self)
        self.budget = NumberField(theme, tr("Up-front budget, USD"), NumberFormat(0, _MOST_USD, 0, style), self)
        self.budget.setToolTip(tr("Limits what is paid at once. Rent has no up-front cost."))
        payments = [(_OPEN, tr("Undecided")), ("own", tr("Buy")), ("rent", tr("Rent"))]
        self.payment = SegmentedControl(theme, tr("Buy or rent"), payments, self)
        self.payment.chosen.connect(self._show_budget)
        self.platform = SegmentedControl(
            theme,
            tr("Current platform"),
            [(UNKNOWN_ANSWER, tr("Not sure")), ("CUDA", "CUDA"), ("ROCm", "ROCm"), ("none", tr("None yet"))],
            self,
        )
        self.note = ThemedLabel(theme, font="small", color="text2", wrap=True, parent=self)
        self.note.hide()
        self.leave = Button(theme, tr("Cancel"), self.reject, parent=self)
        self.search = Button(theme, tr("Find accelerators"), self.start, kind="primary", parent=self)
        self._lay_out()
        self.setMinimumWidth(theme.px(_WIDTH))
        self.choose_use_case(next(iter(self._cases)))
        self._show_load_kind()
        # Qt opens a dialog at two thirds of the screen at most, which would cut its rows in large text.
        resize_to_fit(self, theme.px(_WIDTH), self.heightForWidth(theme.px(_WIDTH)))
        self.use_case.setFocus(Qt.FocusReason.OtherFocusReason)

    def _lay_out(self) -> None:
        px, theme = self._theme.px, self._theme
        about = tr(
            "Searches the whole catalog and recommends up to six accelerators. For limits and budget, 0 means no limit."
        )
        load_kind, payment, platform = (
            align_with_fields(theme, ThemedLabel(theme, caption, font="caption", color="text3"), control, gap=4)
            for caption, control in (
                (tr("Load"), self.load_kind),
                (tr("Buy or rent"), self.payment),
                (tr("Current platform"), self.platform),
            )
        )
        make_column(
            align_with_fields(theme, ThemedLabel(theme, about, color="text2", wrap=True, parent=self)),
            make_row((self.use_case, 1)),
            make_row(load_kind, STRETCH),
            make_row(*self.amounts.values(), self.ttft, self.tpot, self.budget, STRETCH, gap=px(12)),
            make_row(payment, STRETCH),
            make_row(platform, STRETCH),
            align_with_fields(theme, self.note),
            STRETCH,
            make_row(STRETCH, self.leave, self.search, gap=px(8), margins=(0, 0, px(FIELD_SIDE), 0)),
            gap=px(16),
            margins=(px(24 - FIELD_SIDE), px(20), px(24 - FIELD_SIDE), px(16)),
            on=self,
        )

    @property
    def busy(self) -> bool:
        return self._jobs.running

    def choose_use_case(self, key: str) -> None:
        """Choose a use case, with its suggested limits unless the user typed others."""
        former = self._cases.get(self.use_case.value)
        case = self._cases[key]
        self.use_case.set_value(key)
        for field, name in ((self.ttft, "ttft_ms"), (self.tpot, "tpot_ms")):
            if former is None or field.value == getattr(former, name):
                field.set_value(getattr(case, name))

    def _show_load_kind(self) -> None:
        for kind, amount in self.amounts.items():
            amount.setVisible(kind == self.load_kind.value)

    def _show_budget(self) -> None:
        """Show the budget unless everything is rented."""
        self.budget.setVisible(self.payment.value != "rent")

    @property
    def amount(self) -> NumberField:
        """The number of users, or requests in flight."""
        return self.amounts[DemandKind(self.load_kind.value)]

    def make_scenario(self) -> Scenario:
        """Return the scenario of the answers, without accelerators yet. Users are also its demand, for the fleet."""
        case = self._cases[self.use_case.value]
        demand = Demand(
            DemandKind(self.load_kind.value),
            self.amount.value,
            ttft_ms=self.ttft.value or None,
            tpot_ms=self.tpot.value or None,
        )
        peak = math.prod(factor.value for factor in list_demand_factors(demand, case.output_tokens))
        if demand.kind is DemandKind.USERS:
            load = Load(LoadKind.REQUEST_RATE, request_rate=peak)
        else:
            load = Load(LoadKind.CONCURRENCY, concurrency=int(peak))
        answers: dict[str, AnswerValue] = {
            name: float(field.value)
            for name, field in (("ttft_limit_ms", self.ttft), ("tpot_limit_ms", self.tpot))
            if field.value > 0
        }
        if self.payment.value != _OPEN:
            answers["acquisition"] = self.payment.value
        if self.payment.value != "rent" and self.budget.value > 0:
            answers["budget_usd"] = float(self.budget.value)
        if self.platform.value != UNKNOWN_ANSWER:
            answers["current_platform"] = self.platform.value
        scenario = Scenario(
            name=case.text,
            model=case.model,
            weights=case.weights,
            kv=Precision.FP8,
            workload=Workload(case.input_tokens, case.output_tokens, load),
            accelerators=(),
            demand=demand if demand.kind is DemandKind.USERS else None,
        )
        return replace_answers(scenario, answers)

    def start(self) -> None:
        """Start the search; an invalid number stays for correction."""
        if any(field.fault for field in (self.amount, self.ttft, self.tpot, self.budget)):
            return
        self.search.setEnabled(False)
        self._show_state("")
        steps = self._desk.service.shortlist_in_steps(self.make_scenario())
        self._jobs.start("shortlist", steps, self._done, self._failed)

    def _done(self, scenario: Scenario) -> None:
        self.found.emit(scenario)
        self.accept()

    def _failed(self, error: InputError) -> None:
        self.search.setEnabled(True)
        self._show_state(f"{capitalize_first(format_message(error.problem, self._desk.formatter))}.", fault=True)

    def _show_progress(self, text: str, can_stop: bool) -> None:
        del can_stop
        if text:
            self._show_state(text)

    def _show_state(self, text: str, *, fault: bool = False) -> None:
        self.note.setText(text)
        self.note.set_color("unfit" if fault else "text2")
        self.note.setVisible(bool(text))

    def reject(self) -> None:
        self._jobs.stop()
        super().reject()
