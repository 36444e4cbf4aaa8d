"""What a million output tokens cost: owned and rented, each with the band of the throughput."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.rows_chart import RowName, RowsChart
from gpudesk.desktop.pages.cost.costed import Costed
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.costs import CostColumn
from gpudesk.domain.estimates import Banded
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.cost_words import busy_text, missing_text
from gpudesk.text import tr

_DOT, _BAND, _APART = 4.5, 7.0, 11.0
#: How strong a band is beside its dot.
_RENTED_BAND, _OWNED_BAND = 0.38, 0.24
_SPACE: Final = "\N{NO-BREAK SPACE}"


class TokenChart(RowsChart):
    """Two dots for each accelerator: filled where it is rented, open where it is owned."""

    after_width = 64

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        """Begin without costs."""
        super().__init__(theme, formatter, parent)
        self._costed: Costed | None = None

    def show_costs(self, costed: Costed) -> None:
        """Show the costs of a comparison."""
        self._costed = costed
        money = costed.money
        ends = [
            money.in_currency(min(each.high, each.value * 2.5))
            for column in costed.costs.columns
            for each in (_output(column, rented=True), _output(column, rented=False))
            if each is not None
        ]
        if costed.costs.api is not None:
            ends.append(money.in_currency(costed.costs.api.value))
        rows = [
            RowName(part.key, part.name, self._sentence(part.name, column), part.slot, part.hollow)
            for part, column in costed.pairs()
        ]
        busy = busy_text(costed.costs.utilisation, self.formatter)
        self.show_rows(
            tr("Cost per million output tokens"),
            tr("{code} before taxes, {busy}", code=money.code, busy=busy),
            rows,
            0.0,
            max(ends, default=1.0),
        )

    def _sentence(self, name: str, column: CostColumn) -> str:
        said = []
        for rented, words in ((True, tr("rented")), (False, tr("owned"))):
            found = _output(column, rented=rented)
            if found is not None and self._costed is not None:
                said.append(f"{words} {self._costed.money.banded(found)}")
        said += [missing_text(each) for each in column.missing]
        return f"{name}: {'; '.join(said)}."

    # Painting

    def paint_key(self, pen: Pen, place: QRectF) -> None:
        """Draw which dot is which."""
        px, middle = self.theme.px, place.center().y()
        x = place.left() + px(4)
        years = self._years()
        for filled, words in ((True, tr("rented all hours")), (False, years)):
            _dot(pen, x, middle, self.theme.colour("text2"), filled=filled, radius=px(_DOT) - 0.5)
            rest = QRectF(x + px(10), place.top(), place.width(), place.height())
            x = rest.left() + pen.text(rest, words, font="caption", colour="text2") + px(20)
        if self._costed is not None and self._costed.costs.api_missing:
            rest = QRectF(x, place.top(), place.width(), place.height())
            pen.text(rest, tr("API lacks a price"), font="caption", colour="text2")

    def _years(self) -> str:
        tcos = [column.tco for column in self._costed.costs.columns] if self._costed else []
        years = next((tco.years for tco in tcos if tco is not None), None)
        if years is None:
            return tr("owned")
        return tr("owned {years} years", years=self.formatter.stated(years))

    def paint_row(self, pen: Pen, number: int, band: QRectF) -> None:
        """Draw the rented cost above, the owned one below."""
        if self._costed is None:
            return
        column, row = self._costed.costs.columns[number], self.rows[number]
        middle, apart = band.center().y(), min(self.theme.px(_APART), band.height() / 4)
        self._cost(pen, number, _output(column, rented=True), middle - apart, band, rented=True)
        owned = _output(column, rented=False)
        if owned is not None:
            self._cost(pen, number, owned, middle + apart, band, rented=False)
            return
        place = QRectF(band.left() + self.theme.px(8), middle, band.width(), 2 * apart)
        missing = next((each for each in column.missing if each != "rent_usd_per_hour"), "price_usd")
        text = f"— {missing_text(missing)}"
        width = pen.text(place, text, font="small", colour="text2")
        if missing == "price_usd":
            self.paint_link(pen, place.adjusted(width + self.theme.px(10), 0, 0, 0), row.key, tr("Enter one"))

    def _cost(
        self, pen: Pen, number: int, cost: Banded | None, y: float, band: QRectF, *, rented: bool
    ) -> None:
        if cost is None or self._costed is None:
            return
        money, slot = self._costed.money, self.rows[number].slot
        colour = self.theme.slot_mark(slot)
        low, at, high = (self.x_of(money.in_currency(each)) for each in (cost.low, cost.value, cost.high))
        high = min(high, band.right())
        shade = QColor(colour)
        shade.setAlphaF(_RENTED_BAND if rented else _OWNED_BAND)
        thick = self.theme.px(_BAND)
        pen.tint(QRectF(low, y - thick / 2, high - low, thick), shade, _BAND / 2)
        _dot(pen, at, y, colour, filled=rented, radius=self.theme.px(_DOT))
        font, ink = ("small_strong", "text1") if rented else ("small", "text2")
        place = QRectF(high + self.theme.px(8), y - self.theme.px(9), self.theme.px(80), self.theme.px(18))
        pen.text(place, money.small(cost.value), font=font, colour=ink)

    def paint_over(self, pen: Pen, area: QRectF) -> None:
        """Draw what a hosted API charges across all rows."""
        if self._costed is None or self._costed.costs.api is None:
            return
        api = self._costed.costs.api.value
        x = self.x_of(self._costed.money.in_currency(api))
        pen.rule(x, area.top(), x, area.bottom(), "text1", 1.0)
        place = QRectF(
            x + self.theme.px(4), area.top() - self.theme.px(16), self.theme.px(120), self.theme.px(16)
        )
        amount = self._costed.money.small(api)
        pen.text(place, tr("hosted API {amount}", amount=amount), font="caption", colour="text1")

    def data(self, formatter: Formatter) -> Data:
        """Return costs with their bands."""
        heads = [tr("Accelerator")]
        for words in (tr("Rented"), tr("Owned")):
            heads += [words, f"{words}{_SPACE}{tr('low')}", f"{words}{_SPACE}{tr('high')}"]
        rows = []
        for part, column in self._costed.pairs() if self._costed else ():
            cells = [part.name]
            for rented in (True, False):
                found = _output(column, rented=rented)
                figures = (None,) * 3 if found is None else (found.value, found.low, found.high)
                cells += [formatter.estimate(each) for each in figures]
            rows.append(tuple(cells))
        return Data(tr("Cost per million output tokens, USD"), tuple(heads), tuple(rows))


def _output(column: CostColumn, *, rented: bool) -> Banded | None:
    costs = column.rented if rented else column.owned
    return None if costs is None else costs.output


def _dot(pen: Pen, x: float, y: float, colour: QColor, *, filled: bool, radius: float) -> None:
    painter, page = pen.painter, pen.colour("page")
    painter.setPen(QPen(page if filled else colour, 1.4))
    painter.setBrush(colour if filled else page)
    painter.drawEllipse(QRectF(x - radius, y - radius, 2 * radius, 2 * radius))
