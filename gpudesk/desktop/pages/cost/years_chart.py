"""What owning costs over all years, each accelerator one bar of its lines."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.rows_chart import RowName, RowsChart
from gpudesk.desktop.pages.cost.costed import Costed
from gpudesk.desktop.theme.pen import CENTRE, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.costs import CostColumn, Tco
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.cost_words import PARTS, line_label, missing_text
from gpudesk.text import tr

_BAR: Final = 24
_THOUSAND: Final = 1000.0
#: How each part of a bar is filled, and the colour of the words on it; software is hatched.
_LOOKS: Final = (
    ("ink1", "page"),
    ("ink2", "text1"),
    ("ink3", "text1"),
    ("ink4", "text1"),
    ("ink3", "text1"),
    ("ink4", "text1"),
    ("", "text1"),
)


class YearsChart(RowsChart):
    """Stacked bars; what the hardware is still worth at the end is taken off at the right."""

    after_width = 64

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        """Begin without costs."""
        super().__init__(theme, formatter, parent)
        self._costed: Costed | None = None

    def show_costs(self, costed: Costed) -> None:
        """Show the costs of a comparison."""
        self._costed = costed
        tcos = [column.tco for column in costed.costs.columns if column.tco is not None]
        counts = {column.count for column in costed.costs.columns if column.count is not None}
        years = self.formatter.stated(tcos[0].years) if tcos else ""
        title = tr("Cost of {years} years", years=years) if tcos else tr("Cost of owning")
        unit = tr("thousand {code}", code=costed.money.code)
        subtitle = unit if counts == {1} else tr("{unit}, whole deployment", unit=unit)
        rows = [
            RowName(part.key, part.name, self._sentence(part.name, column), part.slot, part.hollow)
            for part, column in costed.pairs()
        ]
        most = max((costed.money.in_currency(_gross(tco)) / _THOUSAND for tco in tcos), default=1.0)
        self.show_rows(title, subtitle, rows, 0.0, most)

    def _sentence(self, name: str, column: CostColumn) -> str:
        if column.tco is None or self._costed is None:
            return f"{name}: {'; '.join(missing_text(each) for each in column.missing)}."
        money = self._costed.money
        lines = ", ".join(
            f"{line_label(line.name)} {money.whole(line.usd)}" for line in column.tco.lines if line.usd
        )
        total = tr("{amount} {code} in all", amount=money.whole(column.tco.total_usd), code=money.code)
        return f"{name}: {total}. {lines}."

    # Painting

    def paint_key(self, pen: Pen, place: QRectF) -> None:
        """Draw which fill is which, as far as there is room."""
        px, x, side = self.theme.px, 0.0, self.theme.px(9)
        for (name, _), (ink, _) in zip(PARTS.items(), _LOOKS, strict=True):
            words = tr(name)
            if x + side + px(6) + pen.width(words, "caption") > self.width():
                return
            self._fill(pen, QRectF(x, place.center().y() - side / 2, side, side), ink)
            rest = QRectF(x + side + px(6), place.top(), self.width(), place.height())
            x = rest.left() + pen.text(rest, words, font="caption", colour="text2") + px(12)

    def paint_row(self, pen: Pen, number: int, band: QRectF) -> None:
        """Draw one bar with the total behind it, or what is missing."""
        if self._costed is None:
            return
        column, px = self._costed.costs.columns[number], self.theme.px
        bar = QRectF(band.left(), band.center().y() - px(_BAR) / 2, 0, px(_BAR))
        if column.tco is None:
            self._missing(pen, column, bar)
            return
        money = self._costed.money
        at = 0.0
        for usd, (ink, words) in zip(_parts(column.tco), _LOOKS, strict=True):
            start, end = (self.x_of(money.in_currency(each) / _THOUSAND) for each in (at, at + usd))
            at += usd
            piece = QRectF(start, bar.top(), end - start - 1, bar.height())
            if piece.width() < 1:
                continue
            self._fill(pen, piece, ink)
            text = money.thousands(usd)
            if ink and pen.width(text, "caption") + px(8) < piece.width():
                pen.text(piece.adjusted(px(4), 0, 0, 0), text, font="caption", colour=words)
        right = self.x_of(money.in_currency(at) / _THOUSAND)
        place = QRectF(right + px(8), band.top(), px(80), band.height())
        width = pen.text(place, money.thousands(column.tco.total_usd), font="small_strong")
        worth = next((line.usd for line in column.tco.lines if line.name == "residual"), 0.0)
        if worth:
            said = tr("{amount} at the end", amount=money.thousands(worth))
            rest = QRectF(place.left() + width + px(6), band.top(), self.width(), band.height())
            if rest.left() + pen.width(said, "caption") < self.width():
                pen.text(rest, said, font="caption", colour="text3")

    def _missing(self, pen: Pen, column: CostColumn, bar: QRectF) -> None:
        """Draw an empty frame that says what is missing, with the way to state it."""
        px = self.theme.px
        missing = next((each for each in column.missing if each != "rent_usd_per_hour"), "price_usd")
        text = missing_text(missing)
        text = text[:1].upper() + text[1:]
        frame = QRectF(bar.left() + 1, bar.top(), pen.width(text, "small") + px(20), bar.height())
        pen.frame(frame, "strong", radius=4.0, dashed=True)
        pen.text(frame, text, font="small", colour="text2", align=CENTRE)
        if missing == "price_usd":
            place = QRectF(frame.right() + px(10), bar.top(), px(120), bar.height())
            self.paint_link(pen, place, column.key, tr("Enter one"))

    def _fill(self, pen: Pen, place: QRectF, ink: str) -> None:
        if ink:
            pen.tint(place, ink, 2.0)
        else:
            pen.hatch(place, "text2")

    def data(self, formatter: Formatter) -> Data:
        """Return every line of every total."""
        owned = [(part, column.tco) for part, column in self._costed.pairs()] if self._costed else []
        names = next(([line.name for line in tco.lines] for _, tco in owned if tco is not None), [])
        heads = (tr("Accelerator"), *(line_label(name) for name in names), tr("Total"))
        rows = []
        for part, tco in owned:
            amounts = ["—"] * (len(names) + 1)
            if tco is not None:
                amounts = [formatter.number(line.usd) for line in tco.lines] + [
                    formatter.number(tco.total_usd)
                ]
            rows.append((part.name, *amounts))
        return Data(tr("Cost of owning, USD"), heads, tuple(rows))


def _parts(tco: Tco) -> list[float]:
    """Return the lines that one looks at together, each at least 0."""
    by_name = {line.name: line.usd for line in tco.lines}
    return [sum(by_name[name] for name in names) for names in PARTS.values()]


def _gross(tco: Tco) -> float:
    """Return the total before the value at the end is taken off."""
    return sum(_parts(tco))
