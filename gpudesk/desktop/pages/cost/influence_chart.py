"""What moves a cost: each input at its low and at its high end, all others likely."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.rows_chart import RowName, RowsChart
from gpudesk.desktop.pages.cost.costed import Costed
from gpudesk.desktop.theme.pen import CENTRE, RIGHT, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.costs import Influence
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.cost_words import amount_text, input_label, input_unit
from gpudesk.text import tr

_BAR: Final = 18
#: How strong the cheaper side of a bar is beside the dearer one.
_CHEAPER: Final = 0.45
_MOST: Final = 8


class InfluenceChart(RowsChart):
    """Bars around the likely cost, the widest first."""

    names_width = 176
    after_width = 72

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        """Begin without costs."""
        super().__init__(theme, formatter, parent)
        self._found: tuple[Influence, ...] = ()
        self._costed: Costed | None = None
        self._now = 0.0
        self._slot = 1

    def show_influences(
        self, costed: Costed, place: int, found: tuple[Influence, ...], now: float | None, *, rented: bool
    ) -> None:
        """Show what moves the cost of one accelerator, which is `now` dollars."""
        self._costed, self._found = costed, found[:_MOST]
        part = costed.parts[place]
        self._slot, self._now = part.slot, now or 0.0
        currency = costed.money.in_currency
        ends = [currency(each) for row in self._found for each in (row.at_low, row.at_high)]
        words = tr("{name} rented", name=part.name) if rented else tr("{name} owned", name=part.name)
        code = costed.money.code
        self.show_rows(
            tr("What moves it"),
            tr("{words}, {code} per million output tokens", words=words, code=code),
            [RowName(row.name, input_label(row.name), self._sentence(row)) for row in self._found],
            0.0,
            max(ends, default=1.0),
            tr("Without a price there is no cost to move."),
        )

    def _sentence(self, row: Influence) -> str:
        if self._costed is None:
            return ""
        money = self._costed.money
        return tr(
            "{name}: {low} to {high} {unit} makes it {at_low} to {at_high} {code}.",
            name=input_label(row.name),
            low=self._amount(row.name, row.low),
            high=self._amount(row.name, row.high),
            unit=input_unit(row.name),
            at_low=money.small(row.at_low),
            at_high=money.small(row.at_high),
            code=money.code,
        )

    def _amount(self, name: str, value: float) -> str:
        text = amount_text(name, value, self.formatter)
        return f"{text}\N{NO-BREAK SPACE}%" if input_unit(name) == "%" else text

    # Painting

    def paint_row(self, pen: Pen, number: int, band: QRectF) -> None:
        """Draw the bar from the cheapest to the dearest, with the input at both ends."""
        if self._costed is None:
            return
        row, px, currency = self._found[number], self.theme.px, self._costed.money.in_currency
        ends = sorted(((row.at_low, row.low), (row.at_high, row.high)))
        (low, low_input), (high, high_input) = ends
        left, now, right = (self.x_of(currency(each)) for each in (low, self._now, high))
        top = band.center().y() - px(_BAR) / 2
        strong = self.theme.slot_mark(self._slot)
        weak = QColor(strong)
        weak.setAlphaF(_CHEAPER)
        pen.tint(QRectF(min(left, now), top, max(now - left, 0.0), px(_BAR)), weak, 1.5)
        pen.tint(QRectF(now, top, max(right - now, 0.0), px(_BAR)), strong, 1.5)
        before = QRectF(left - px(86), band.top(), px(80), band.height())
        after = QRectF(max(right, now) + px(6), band.top(), px(80), band.height())
        pen.text(before, self._amount(row.name, low_input), font="caption", colour="text2", align=RIGHT)
        pen.text(after, self._amount(row.name, high_input), font="caption", colour="text2")

    def paint_over(self, pen: Pen, area: QRectF) -> None:
        """Draw the likely cost across all rows."""
        if self._costed is None:
            return
        x = self.x_of(self._costed.money.in_currency(self._now))
        pen.rule(x, area.top(), x, area.bottom(), "text1", 1.0)
        place = QRectF(
            x - self.theme.px(60), area.top() - self.theme.px(20), self.theme.px(120), self.theme.px(18)
        )
        now = tr("{amount} now", amount=self._costed.money.small(self._now))
        pen.text(place, now, font="caption_strong", align=CENTRE)

    def data(self, formatter: Formatter) -> Data:
        """Return inputs and costs at both ends."""
        heads = (
            tr("Input"),
            tr("Low"),
            tr("High"),
            tr("Unit"),
            tr("Cost at low, USD"),
            tr("Cost at high, USD"),
        )
        rows = [
            (
                input_label(row.name),
                amount_text(row.name, row.low, formatter),
                amount_text(row.name, row.high, formatter),
                input_unit(row.name),
                formatter.estimate(row.at_low),
                formatter.estimate(row.at_high),
            )
            for row in self._found
        ]
        return Data(tr("What moves it"), heads, tuple(rows))
