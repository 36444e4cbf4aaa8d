"""The form of a service's demand: users, requests and limits; and its initial offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button, LinkButton, SegmentedControl
from gpudesk.desktop.ui.widgets.fields import NumberField
from gpudesk.desktop.ui.widgets.layouts import STRETCH, FlowLayout, ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.number_edit import NumberFormat
from gpudesk.domain.sizing import DEMAND_BOUNDS, Demand, DemandKind
from gpudesk.text.formatting import NumberStyle
from gpudesk.text.translation import tr

#: Initial demand by kind: a service of medium size.
FIRST_AMOUNTS: Final = {
    DemandKind.USERS: 500.0,
    DemandKind.REQUEST_RATE: 2.0,
    DemandKind.TOKENS_PER_DAY: 100_000_000.0,
    DemandKind.CONCURRENCY: 64.0,
}
_PER_CENT: Final = 100.0
#: Digits kept of a typed number, and the smallest positive number.
_DECIMALS, _LEAST = 3, 0.001
#: Steps of the arrow keys for limits, in milliseconds; the first is none.
_STEPS: Final = {
    "ttft_ms": (0.0, 100.0, 200.0, 300.0, 500.0, 1000.0, 2000.0, 3000.0, 5000.0, 10_000.0),
    "tpot_ms": (0.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 75.0, 100.0, 200.0),
}


def make_default_demand(kind: DemandKind) -> Demand:
    return Demand(kind, FIRST_AMOUNTS[kind])


@dataclass(frozen=True, slots=True)
class MillisecondLimitFormat(NumberFormat):
    """A number of milliseconds; empty, zero and `none` mean no limit."""

    def text(self, value: float) -> str:
        return NumberFormat.text(self, value) if value else tr("none")

    def parse(self, text: str) -> float:
        typed = text.strip().casefold()
        return 0.0 if typed in ("", "0", "-", "—", tr("none")) else NumberFormat.parse(self, text)


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
        self.remove = LinkButton(theme, tr("Remove demand"), parent=self)
        self.remove.clicked.connect(lambda: self.edited.emit(None, tr("Remove demand")))
        self._make_fields(style)
        flow = FlowLayout(theme.px(10))
        for field in (*self.amounts.values(), *self.fields.values(), *more):
            flow.addWidget(field)
        head = make_row(self.kind, STRETCH, self.remove, margins=(theme.px(6), 0, 0, 0))
        make_column(head, flow, gap=theme.px(4), on=self)

    def _make_fields(self, style: NumberStyle) -> None:
        def number(caption: str, name: str, scale: float = 1.0, decimals: int = _DECIMALS) -> NumberField:
            bounds = DEMAND_BOUNDS[name]
            least = _LEAST if bounds.above else bounds.low * scale
            return NumberField(self._theme, caption, NumberFormat(least, bounds.high * scale, decimals, style), self)

        def limit(caption: str, name: str) -> NumberField:
            number_format = MillisecondLimitFormat(_LEAST, DEMAND_BOUNDS[name].high, _DECIMALS, style)
            return NumberField(self._theme, caption, number_format, self)

        self.amounts = {
            DemandKind.USERS: number(tr("Users, daily average"), "amount"),
            DemandKind.REQUEST_RATE: number(tr("Requests per second"), "amount"),
            DemandKind.TOKENS_PER_DAY: number(tr("Output tokens per day"), "amount"),
            DemandKind.CONCURRENCY: number(tr("Requests in flight"), "amount"),
        }
        self.fields = {
            "requests_per_user_hour": number(tr("Requests per user-hour"), "requests_per_user_hour"),
            "peak_factor": number(tr("Peak ÷ average"), "peak_factor"),
            "ttft_ms": limit(tr("TTFT limit, p99, ms"), "ttft_ms"),
            "tpot_ms": limit(tr("TPOT limit, p99, ms"), "tpot_ms"),
            "utilisation_cap": number(tr("Max replica load, %"), "utilisation_cap", _PER_CENT),
            "spare_replicas": number(tr("Spare replicas (N+1)"), "spare_replicas", decimals=0),
        }
        for name, steps in _STEPS.items():
            self.fields[name].edit.set_steps(steps)
        for amount in self.amounts.values():
            amount.edited.connect(lambda value: self._edit("amount", value))
        for name, field in self.fields.items():
            field.edited.connect(lambda value, name=name: self._edit(name, value))
        self._explain()

    def _explain(self) -> None:
        tips = {
            "requests_per_user_hour": tr("Average number of requests per active user and hour."),
            "peak_factor": tr("Peak request rate divided by the average rate."),
            "ttft_ms": tr("99% of requests get their first token within this time. Leave empty for no limit."),
            "tpot_ms": tr("99% of requests take at most this time per output token. Leave empty for no limit."),
            "utilisation_cap": tr("Highest load of a replica at peak, as a share of its maximum throughput."),
            "spare_replicas": tr("Extra replicas that replace failed ones (N+1)."),
        }
        for name, tip in tips.items():
            self.fields[name].setToolTip(tip)
        self.amounts[DemandKind.USERS].setToolTip(tr("Average number of users active at the same time."))
        self.amounts[DemandKind.REQUEST_RATE].setToolTip(tr("Average rate, not peak."))
        self.amounts[DemandKind.TOKENS_PER_DAY].setToolTip(tr("Tokens generated per day."))
        self.amounts[DemandKind.CONCURRENCY].setToolTip(tr("Requests in flight at peak."))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        needed = self.kind.width_in_one_line() + self.remove.sizeHint().width() + self._theme.px(16)
        self.kind.set_lines(1 if needed <= event.size().width() else 2)

    def show_demand(self, demand: Demand) -> None:
        self._demand = demand
        self.kind.set_value(demand.kind.value)
        for kind, amount in self.amounts.items():
            amount.setVisible(kind is demand.kind)
        self.amounts[demand.kind].set_value(demand.amount)
        for name, field in self.fields.items():
            value = getattr(demand, name)
            field.set_value(self._typed(name, 0.0 if value is None else value))
        self.fields["requests_per_user_hour"].setVisible(demand.kind is DemandKind.USERS)
        self.fields["peak_factor"].setVisible(self._with_peak and demand.kind is not DemandKind.CONCURRENCY)

    def _choose_kind(self, key: str) -> None:
        kind = DemandKind(key)
        self.edited.emit(replace(self._demand, kind=kind, amount=FIRST_AMOUNTS[kind]), tr("Change demand type"))

    def _edit(self, name: str, typed: float) -> None:
        value: float | int | None = typed / (_PER_CENT if name == "utilisation_cap" else 1.0)
        if name == "spare_replicas":
            value = int(typed)
        elif name in ("ttft_ms", "tpot_ms") and not typed:
            value = None
        fields: dict[str, Any] = {name: value}
        changed = replace(self._demand, **fields)
        if changed != self._demand:
            self.edited.emit(changed, tr("Change demand"))

    @staticmethod
    def _typed(name: str, value: float) -> float:
        return round(value * _PER_CENT, 9) if name == "utilisation_cap" else value


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
