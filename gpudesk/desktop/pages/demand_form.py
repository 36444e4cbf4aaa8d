"""The form of a service's demand: users, requests and limits; and its initial offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button, LinkButton, SegmentedControl
from gpudesk.desktop.ui.widgets.fields import FIELD_SIDE, NumberField
from gpudesk.desktop.ui.widgets.layouts import STRETCH, FlowLayout, ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.number_edit import NO_VALUE, NumberFormat
from gpudesk.domain.sizing import DEMAND_BOUNDS, Demand, DemandKind, NumberBounds
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import MISSING_VALUE_TEXT, NumberStyle
from gpudesk.text.translation import tr

#: Initial demand by kind: a service of medium size.
FIRST_AMOUNTS: Final = {
    DemandKind.USERS: 500.0,
    DemandKind.REQUEST_RATE: 2.0,
    DemandKind.TOKENS_PER_DAY: 100_000_000.0,
    DemandKind.CONCURRENCY: 64.0,
}
PER_CENT: Final = 100.0
#: Steps of the arrow keys for limits, in milliseconds; the first is none.
_STEPS: Final = {
    "ttft_ms": (NO_VALUE, 100.0, 200.0, 300.0, 500.0, 1000.0, 2000.0, 3000.0, 5000.0, 10_000.0),
    "tpot_ms": (NO_VALUE, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 75.0, 100.0, 200.0),
}


def make_default_demand(kind: DemandKind) -> Demand:
    return Demand(kind, FIRST_AMOUNTS[kind])


@frozen_dataclass
class RecordField:
    """The field of a number in a record, shown times `scale`; with a text for `empty` it can have no value."""

    caption: str
    tip: str
    decimals: int = 3
    scale: float = 1.0
    empty: str = ""

    def make(self, theme: Theme, bounds: NumberBounds, style: NumberStyle, parent: QWidget) -> NumberField:
        empty = (self.empty, "", "0", "-", MISSING_VALUE_TEXT) if self.empty else ()
        shape = NumberFormat.within(bounds, self.decimals, style, self.scale, empty)
        field = NumberField(theme, self.caption, shape, parent)
        field.setToolTip(self.tip)
        return field

    def to_field(self, value: float | None) -> float:
        return NO_VALUE if value is None else round(value * self.scale, 9)

    def to_record(self, typed: float) -> float | int | None:
        if self.empty and typed == NO_VALUE:
            return None
        return typed / self.scale if self.decimals else int(typed)


class DemandForm(QWidget):
    """Shows a demand; emits each change with the name of its step. Errors are at their fields.

    `more` are further fields after its own. With a load curve there is no field for the peak factor.
    """

    #: Another demand, None for none, and the name of the step.
    edited = Signal(object, str)

    def __init__(
        self,
        theme: Theme,
        style: NumberStyle,
        parent: QWidget | None = None,
        *,
        more: Sequence[QWidget] = (),
        with_peak: bool = True,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._with_peak = with_peak
        self._demand = make_default_demand(DemandKind.USERS)
        self.setAccessibleName(tr("Demand"))
        kinds = (
            (DemandKind.USERS.value, tr("Users")),
            (DemandKind.REQUEST_RATE.value, tr("Requests per second")),
            (DemandKind.TOKENS_PER_DAY.value, tr("Output tokens per day")),
            (DemandKind.CONCURRENCY.value, tr("Concurrency")),
        )
        self.kind = SegmentedControl(theme, tr("Demand type"), kinds, self)
        self.kind.chosen.connect(self._choose_kind)
        self.remove = LinkButton(
            theme, tr("Remove demand"), lambda: self.edited.emit(None, tr("Remove demand")), parent=self
        )
        self._make_fields(style)
        flow = FlowLayout(theme.px(10), is_even=True)
        for field in (*self.amounts.values(), *self.fields.values(), *more):
            flow.addWidget(field)
        head = make_row(self.kind, STRETCH, self.remove, margins=(FIELD_SIDE, 0, 0, 0), scaled=theme)
        make_column(head, flow, gap=4, scaled=theme, on=self)

    def _make_fields(self, style: NumberStyle) -> None:
        amounts = {
            DemandKind.USERS: (tr("Users, daily average"), tr("Average number of users active at the same time.")),
            DemandKind.REQUEST_RATE: (tr("Requests per second"), tr("Average rate, not peak.")),
            DemandKind.TOKENS_PER_DAY: (tr("Output tokens per day"), tr("Tokens generated per day.")),
            DemandKind.CONCURRENCY: (tr("Requests in flight"), tr("Requests in flight at peak.")),
        }
        self._specs = {
            "requests_per_user_hour": RecordField(
                tr("Requests per user-hour"), tr("Average number of requests per active user and hour.")
            ),
            "peak_factor": RecordField(tr("Peak ÷ average"), tr("Peak request rate divided by the average rate.")),
            "ttft_ms": RecordField(
                tr("TTFT limit, p99, ms"),
                tr("99% of requests get their first token within this time. Leave empty for no limit."),
                empty=tr("none"),
            ),
            "tpot_ms": RecordField(
                tr("TPOT limit, p99, ms"),
                tr("99% of requests take at most this time per output token. Leave empty for no limit."),
                empty=tr("none"),
            ),
            "utilisation_cap": RecordField(
                tr("Max replica load, %"),
                tr("Highest load of a replica at peak, as a share of its maximum throughput."),
                scale=PER_CENT,
            ),
            "spare_replicas": RecordField(
                tr("Spare replicas (N+1)"), tr("Extra replicas that replace failed ones (N+1)."), decimals=0
            ),
        }
        theme, bounds = self._theme, DEMAND_BOUNDS
        self.amounts = {
            kind: RecordField(*texts).make(theme, bounds["amount"], style, self) for kind, texts in amounts.items()
        }
        self.fields = {name: spec.make(theme, bounds[name], style, self) for name, spec in self._specs.items()}
        for name, steps in _STEPS.items():
            self.fields[name].edit.set_steps(steps)
        for amount in self.amounts.values():
            amount.edited.connect(partial(self._edit, "amount"))
        for name, field in self.fields.items():
            field.edited.connect(partial(self._edit, name))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        needed = self.kind.measure_one_line_width() + self.remove.sizeHint().width() + self._theme.px(16)
        self.kind.set_lines(1 if needed <= event.size().width() else 2)

    def show_demand(self, demand: Demand) -> None:
        self._demand = demand
        self.kind.set_value(demand.kind.value)
        for kind, amount in self.amounts.items():
            amount.setVisible(kind is demand.kind)
        self.amounts[demand.kind].set_value(demand.amount)
        for name, field in self.fields.items():
            field.set_value(self._specs[name].to_field(getattr(demand, name)))
        self.fields["requests_per_user_hour"].setVisible(demand.kind is DemandKind.USERS)
        self.fields["peak_factor"].setVisible(self._with_peak and demand.kind is not DemandKind.CONCURRENCY)

    def _choose_kind(self, key: str) -> None:
        kind = DemandKind(key)
        self.edited.emit(replace(self._demand, kind=kind, amount=FIRST_AMOUNTS[kind]), tr("Change demand type"))

    def _edit(self, name: str, typed: float) -> None:
        fields: dict[str, Any] = {name: self._specs[name].to_record(typed) if name in self._specs else typed}
        changed = replace(self._demand, **fields)
        if changed != self._demand:
            self.edited.emit(changed, tr("Change demand"))


class DemandStart(QWidget):
    """Shown without a demand: a question, and ways to start."""

    #: The kind of the demand.
    begun = Signal(object)

    def __init__(self, theme: Theme, title: str, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        labels = (
            ThemedLabel(theme, title, font="verdict", parent=self),
            ThemedLabel(theme, words, color="text2", wrap=True, parent=self),
        )
        for label in labels:
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        offers = (
            (DemandKind.USERS, tr("From users")),
            (DemandKind.REQUEST_RATE, tr("From requests per second")),
            (DemandKind.TOKENS_PER_DAY, tr("From output tokens per day")),
            (DemandKind.CONCURRENCY, tr("From concurrency")),
        )
        self.offers: dict[DemandKind, Button] = {}
        for kind, text in offers:
            offer = Button(theme, text, kind="primary" if kind is DemandKind.USERS else "plain", parent=self)
            offer.clicked.connect(partial(self.begun.emit, kind))
            self.offers[kind] = offer
        row = make_row(STRETCH, *self.offers.values(), STRETCH, gap=theme.px(8))
        make_column(STRETCH, STRETCH, *labels, 12, row, STRETCH, STRETCH, STRETCH, on=self)
