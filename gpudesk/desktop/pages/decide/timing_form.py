"""The form of buying now or waiting: parts, months, slip, years, and what a month without them is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.plan_row import PlanRow
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.field import ChoiceField
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.options import Option
from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.buying import NEWEST, BuyOrWait
from gpudesk.domain.cost_inputs import INPUTS
from gpudesk.domain.demand import Bounds
from gpudesk.domain.formatting import NumberStyle
from gpudesk.domain.questions import QUESTIONS, AnswerValue
from gpudesk.domain.ranges import Range
from gpudesk.domain.scenarios import Scenario
from gpudesk.sheets.cost_words import input_label, input_unit
from gpudesk.sheets.money import Money
from gpudesk.sheets.names import short_name
from gpudesk.sheets.waiting_words import lacking_of, waiting_label, waiting_origin, waiting_unit
from gpudesk.text import tr
from gpudesk.workbench.deciding.plan_inputs import NO_PART, PLAN_INPUTS, InputFrom, gone, launch_of

_MILLION: Final = 1e-6
_LAUNCH: Final = "months_to_launch"
_SLIP: Final = ("slip_low", "slip_likely", "slip_high")
_ROWS: Final = (_LAUNCH, "months_to_next", "slip", "years", "usd_per_month", "tokens_per_month")
#: What costs of the next part may lack -> the input of costs that says it.
_COSTS: Final = {"price": "price_usd", "power": "accelerator_w"}


@dataclass(frozen=True, slots=True)
class TimingFacts:
    """What the form shows: the scenario, what was found of it, if anything, and its parts.

    `key` is that of the column whose part would be bought, `columns` are the names of all by their keys;
    `following` is the next part, if there is one.
    """

    scenario: Scenario
    found: BuyOrWait | None
    key: str
    columns: Mapping[str, str]
    names: Mapping[str, str]
    following: Accelerator | None
    money: Money


class TimingForm(QWidget):
    """Shows inputs as they are in force; each change is asked for by the names of the inputs."""

    #: Inputs of plans by name, None for those that are left to the program; and what the step is called.
    stated = Signal(dict, str)
    #: Months to the launch, which the dialogue asks for too; None where nothing is said.
    launch_stated = Signal(object)
    #: An input of costs of the next part, by name, and its value or None.
    cost_stated = Signal(str, object)

    def __init__(self, theme: Theme, style: NumberStyle, parent: QWidget | None = None) -> None:
        """Make the fields."""
        super().__init__(parent)
        self._theme = theme
        self._slip = Range.exactly(0.0)
        self.setAccessibleName(tr("Inputs of buying or waiting"))
        self.parts = {
            name: ChoiceField(theme, waiting_label(name), self) for name in ("buy_part", "next_part")
        }
        for name, field in self.parts.items():
            field.chosen.connect(partial(self._choose, name))
        self.said = {
            name: Label(theme, font="caption", colour="text3", wrap=True, parent=self) for name in self.parts
        }
        self.rows = {name: self._row(name, style) for name in _ROWS}
        self.costs = {name: self._cost_row(name, style) for name in _COSTS.values()}
        self.after = Label(theme, font="caption", colour="text3", wrap=True, parent=self)
        self.after.setText(
            tr("What is not stated is found as it says there. An empty field leaves it to the program.")
        )
        self._lay_out()

    # Making it

    def _row(self, name: str, style: NumberStyle) -> PlanRow:
        if name == "slip":
            names, bounds = [waiting_label(each) for each in _SLIP], PLAN_INPUTS[_SLIP[0]].bounds
            label = tr("Slip: from, likely, to")
        else:
            label = waiting_label(name)
            names = [label]
            bounds = QUESTIONS[_LAUNCH].bounds if name == _LAUNCH else PLAN_INPUTS[name].bounds
        row = PlanRow(self._theme, label, names, bounds or Bounds(0.0, 0.0), style, self)
        row.edited.connect(partial(self._edit, name))
        return row

    def _cost_row(self, name: str, style: NumberStyle) -> PlanRow:
        row = PlanRow(self._theme, "", [input_label(name)], INPUTS[name].bounds, style, self)
        row.edited.connect(lambda _place, value, name=name: self.cost_stated.emit(name, value))
        return row

    def _lay_out(self) -> None:
        px = self._theme.px
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(px(2))
        for name, field in self.parts.items():
            whole.addWidget(field)
            whole.addWidget(self.said[name])
            self.said[name].setContentsMargins(px(8), 0, 0, px(4))
        rows = QVBoxLayout()
        rows.setContentsMargins(px(8), px(8), 0, px(4))
        rows.setSpacing(px(2))
        for row in (*self.rows.values(), *self.costs.values()):
            rows.addWidget(row)
        whole.addLayout(rows)
        self.after.setContentsMargins(px(8), 0, 0, 0)
        whole.addWidget(self.after)
        whole.addStretch(1)

    # Showing

    def set_parts(self, parts: Sequence[Accelerator]) -> None:
        """Offer accelerators to wait for, announced ones first."""
        announced, others = tr("Announced"), tr("Others")
        ordered = sorted(parts, key=lambda part: not part.announced)
        self.parts["next_part"].set_provider(
            lambda: (
                Option(NEWEST, tr("The newest announced one")),
                Option(NO_PART, tr("None: go on without")),
                *(
                    Option(
                        part.id,
                        short_name(part.name),
                        (part.vendor,),
                        group=announced if part.announced else others,
                    )
                    for part in ordered
                ),
            )
        )

    def show_facts(self, facts: TimingFacts) -> None:
        """Show the inputs in force."""
        plans = facts.scenario.decision.plans
        own = Option("", tr("As recommended"))
        columns = [Option(key, name) for key, name in facts.columns.items()]
        self.parts["buy_part"].set_options([own, *columns] if "buy_part" in plans else columns)
        self.parts["buy_part"].set_value(facts.key)
        self._show_next(facts, plans)
        found = facts.found
        for name in self.parts:
            self.said[name].setText(self._said(name, facts, plans))
        self._show_launch(facts)
        if found is None:
            return
        self._slip = found.slip_months
        self._show(facts, "months_to_next", found.months_to_next)
        stated = any(name in plans for name in _SLIP)
        origin = waiting_origin("slip_likely", found, stated=stated, names=facts.names)
        self.rows["slip"].show_values(found.slip_months, tr("months"), origin, stated=stated)
        self._show(facts, "years", Range.exactly(found.years))
        money = facts.money
        self._show(facts, "usd_per_month", found.monthly.without_usd, money.in_currency(1.0))
        self._show(facts, "tokens_per_month", found.tokens_per_month, _MILLION)
        self._show_costs(facts)

    def _said(self, name: str, facts: TimingFacts, plans: Mapping[str, AnswerValue]) -> str:
        if name == "buy_part" and (key := gone(facts.scenario, name)) is not None:
            return tr("{part}, which you chose, is not compared any more", part=key)
        if facts.found is None:
            return ""
        return waiting_origin(name, facts.found, stated=name in plans, names=facts.names)

    def _show_next(self, facts: TimingFacts, plans: Mapping[str, AnswerValue]) -> None:
        key = str(plans.get("next_part", NEWEST))
        if facts.following is not None:
            text = short_name(facts.following.name)
        else:
            # Which one is the newest is known with the plan.
            text = facts.names.get(key, tr("None") if facts.found is not None or key == NO_PART else "…")
        self.parts["next_part"].set_value(key, text)

    def _show_launch(self, facts: TimingFacts) -> None:
        months, comes_from = launch_of(facts.scenario)
        said = comes_from is InputFrom.DIALOGUE
        origin = "" if facts.found is None else waiting_origin(_LAUNCH, facts.found, stated=said, names={})
        self.rows[_LAUNCH].show_values([months], waiting_unit(_LAUNCH, facts.money), origin, stated=said)

    def _show(self, facts: TimingFacts, name: str, value: Range | None, scale: float = 1.0) -> None:
        if facts.found is None:
            return
        stated = name in facts.scenario.decision.plans
        origin = waiting_origin(name, facts.found, stated=stated, names=facts.names)
        shown = None if value is None else value.likely
        unit = waiting_unit(name, facts.money)
        self.rows[name].show_values([shown], unit, origin, stated=stated, scale=scale)

    def _show_costs(self, facts: TimingFacts) -> None:
        """Show what costs of the next part lack, and what is stated of them; it is no column with a field."""
        part, found = facts.following, facts.found
        lacking = frozenset[str]() if part is None or found is None else lacking_of(found, part.name)
        stated = {} if part is None else facts.scenario.costs.of_part(part.id)
        for kind, name in _COSTS.items():
            row = self.costs[name]
            row.setVisible(part is not None and (kind in lacking or name in stated))
            if part is None:
                continue
            row.label.setText(tr("{input}, {name}", input=input_label(name), name=short_name(part.name)))
            value = stated[name].likely if name in stated else None
            origin = tr("stated by you") if name in stated else tr("not on record: state it")
            currency = facts.scenario.costs.currency
            scale = facts.money.in_currency(1.0) if name == "price_usd" else 1.0
            row.show_values([value], input_unit(name, currency), origin, stated=name in stated, scale=scale)

    # Editing

    def _choose(self, name: str, key: str) -> None:
        default = PLAN_INPUTS[name].default
        step = tr("Part to buy") if name == "buy_part" else tr("Part to wait for")
        self.stated.emit({name: None if key in ("", default) else key}, step)

    def _edit(self, name: str, place: int, value: float | None) -> None:
        if name == _LAUNCH:
            self.launch_stated.emit(value)
        elif name == "slip":
            self._edit_slip(place, value)
        else:
            self.stated.emit({name: value}, waiting_label(name))

    def _edit_slip(self, place: int, value: float | None) -> None:
        """State the slip with one number changed; the ends give way to a likely one, and only to that."""
        step = tr("Slip of the next part")
        if value is None:
            self.stated.emit(dict.fromkeys(_SLIP), step)
            return
        slip = self._slip
        if place == 1:
            slip = Range(min(slip.low, value), value, max(slip.high, value))
        else:
            slip = slip._replace(**{("low", "likely", "high")[place]: value})
        if slip.in_order:
            self.stated.emit(dict(zip(_SLIP, slip, strict=True)), step)
            return
        self.rows["slip"].edits[place].set_fault(
            tr("No more than the likely slip") if place == 0 else tr("No less than the likely slip")
        )

    def set_fault(self, name: str, sentence: str) -> bool:
        """Say at an input of plans what is wrong with it; return whether there is one of the name."""
        for each, field in self.parts.items():
            field.set_fault(sentence if each == name else "")
        if name in self.parts:
            return True
        row = self.rows.get("slip" if name in _SLIP else name)
        if row is not None:
            row.set_fault(sentence)
        return row is not None
