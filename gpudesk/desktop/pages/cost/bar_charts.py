"""Cost charts with a row per accelerator or input: per token, over all years, sensitivity."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.ui.charts.bar_chart import ChartRow, RowChart
from gpudesk.desktop.ui.charts.chart_data import ChartData
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTRE, RIGHT, ThemePainter
from gpudesk.domain.cost import CostColumn, CostSensitivity, TotalCostOfOwnership
from gpudesk.report.costs import (
    COST_PARTS,
    describe_missing_input,
    describe_utilization,
    format_input_amount,
    get_input_unit,
    label_cost_input,
    label_cost_line,
)
from gpudesk.text.formatting import Formatter, IntervalEstimate
from gpudesk.text.translation import tr

_DOT, _INTERVAL_HEIGHT, _APART = 4.5, 7.0, 11.0
#: How strong a band is beside its dot.
_RENTED_BAND, _OWNED_BAND = 0.38, 0.24
_SPACE: Final = "\N{NO-BREAK SPACE}"


class TokenCostChart(RowChart):
    """Two dots for each accelerator: filled where it is rented, open where it is owned."""

    right_margin_width = 64

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(theme, formatter, parent)
        self._costed: EvaluatedAnswer | None = None

    def show_costs(self, costed: EvaluatedAnswer) -> None:
        self._costed = costed
        money = costed.money
        ends = [
            money.in_currency(min(each.high, each.value * 2.5))
            for column in costed.costs.columns
            for each in (_describe_output(column, rented=True), _describe_output(column, rented=False))
            if each is not None
        ]
        if costed.costs.api is not None:
            ends.append(money.in_currency(costed.costs.api.value))
        rows = [
            ChartRow(part.key, part.name, self._sentence(part.name, column), part.palette_index, part.is_variant)
            for part, column in costed.column_costs()
        ]
        busy = describe_utilization(costed.costs.utilisation, self.formatter)
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
            found = _describe_output(column, rented=rented)
            if found is not None and self._costed is not None:
                said.append(f"{words} {self._costed.money.banded(found)}")
        said += [describe_missing_input(each) for each in column.missing]
        return f"{name}: {'; '.join(said)}."

    # Painting

    def paint_key(self, pen: ThemePainter, place: QRectF) -> None:
        px, middle = self.theme.px, place.center().y()
        x = place.left() + px(4)
        years = self._years()
        for filled, words in ((True, tr("rented all hours")), (False, years)):
            _paint_dot(pen, x, middle, self.theme.colour("text2"), filled=filled, radius=px(_DOT) - 0.5)
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

    def paint_row(self, pen: ThemePainter, number: int, band: QRectF) -> None:
        if self._costed is None:
            return
        column, row = self._costed.costs.columns[number], self.rows[number]
        middle, apart = band.center().y(), min(self.theme.px(_APART), band.height() / 4)
        self._cost(pen, number, _describe_output(column, rented=True), middle - apart, band, rented=True)
        owned = _describe_output(column, rented=False)
        if owned is not None:
            self._cost(pen, number, owned, middle + apart, band, rented=False)
            return
        place = QRectF(band.left() + self.theme.px(8), middle, band.width(), 2 * apart)
        missing = next((each for each in column.missing if each != "rent_usd_per_hour"), "price_usd")
        text = f"— {describe_missing_input(missing)}"
        width = pen.text(place, text, font="small", colour="text2")
        if missing == "price_usd":
            self.paint_link(pen, place.adjusted(width + self.theme.px(10), 0, 0, 0), row.key, tr("Enter one"))

    def _cost(
        self, pen: ThemePainter, number: int, cost: IntervalEstimate | None, y: float, band: QRectF, *, rented: bool
    ) -> None:
        if cost is None or self._costed is None:
            return
        money, slot = self._costed.money, self.rows[number].slot
        colour = self.theme.mark_color(slot)
        low, at, high = (self.x_of(money.in_currency(each)) for each in (cost.low, cost.value, cost.high))
        high = min(high, band.right())
        shade = QColor(colour)
        shade.setAlphaF(_RENTED_BAND if rented else _OWNED_BAND)
        thick = self.theme.px(_INTERVAL_HEIGHT)
        pen.tint(QRectF(low, y - thick / 2, high - low, thick), shade, _INTERVAL_HEIGHT / 2)
        _paint_dot(pen, at, y, colour, filled=rented, radius=self.theme.px(_DOT))
        font, ink = ("small_strong", "text1") if rented else ("small", "text2")
        place = QRectF(high + self.theme.px(8), y - self.theme.px(9), self.theme.px(80), self.theme.px(18))
        pen.text(place, money.small(cost.value), font=font, colour=ink)

    def paint_over(self, pen: ThemePainter, area: QRectF) -> None:
        """Draw what a hosted API charges across all rows."""
        if self._costed is None or self._costed.costs.api is None:
            return
        api = self._costed.costs.api.value
        x = self.x_of(self._costed.money.in_currency(api))
        pen.rule(x, area.top(), x, area.bottom(), "text1", 1.0)
        place = QRectF(x + self.theme.px(4), area.top() - self.theme.px(16), self.theme.px(120), self.theme.px(16))
        amount = self._costed.money.small(api)
        pen.text(place, tr("hosted API {amount}", amount=amount), font="caption", colour="text1")

    def data(self, formatter: Formatter) -> ChartData:
        heads = [tr("Accelerator")]
        for words in (tr("Rented"), tr("Owned")):
            heads += [words, f"{words}{_SPACE}{tr('low')}", f"{words}{_SPACE}{tr('high')}"]
        rows = []
        for part, column in self._costed.column_costs() if self._costed else ():
            cells = [part.name]
            for rented in (True, False):
                found = _describe_output(column, rented=rented)
                figures = (None,) * 3 if found is None else (found.value, found.low, found.high)
                cells += [formatter.estimate(each) for each in figures]
            rows.append(tuple(cells))
        return ChartData(tr("Cost per million output tokens, USD"), tuple(heads), tuple(rows))


def _describe_output(column: CostColumn, *, rented: bool) -> IntervalEstimate | None:
    costs = column.rented if rented else column.owned
    return None if costs is None else costs.output


def _paint_dot(pen: ThemePainter, x: float, y: float, colour: QColor, *, filled: bool, radius: float) -> None:
    painter, page = pen.painter, pen.colour("page")
    painter.setPen(QPen(page if filled else colour, 1.4))
    painter.setBrush(colour if filled else page)
    painter.drawEllipse(QRectF(x - radius, y - radius, 2 * radius, 2 * radius))


_YEARS_BAR: Final = 24
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


class OwnershipCostChart(RowChart):
    """Stacked bars; what the hardware is still worth at the end is taken off at the right."""

    right_margin_width = 64

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(theme, formatter, parent)
        self._costed: EvaluatedAnswer | None = None

    def show_costs(self, costed: EvaluatedAnswer) -> None:
        self._costed = costed
        tcos = [column.tco for column in costed.costs.columns if column.tco is not None]
        counts = {column.count for column in costed.costs.columns if column.count is not None}
        years = self.formatter.stated(tcos[0].years) if tcos else ""
        title = tr("Cost of {years} years", years=years) if tcos else tr("Cost of owning")
        unit = tr("thousand {code}", code=costed.money.code)
        subtitle = unit if counts == {1} else tr("{unit}, whole deployment", unit=unit)
        rows = [
            ChartRow(part.key, part.name, self._sentence(part.name, column), part.palette_index, part.is_variant)
            for part, column in costed.column_costs()
        ]
        most = max((costed.money.in_currency(_sum_gross(tco)) / _THOUSAND for tco in tcos), default=1.0)
        self.show_rows(title, subtitle, rows, 0.0, most)

    def _sentence(self, name: str, column: CostColumn) -> str:
        if column.tco is None or self._costed is None:
            return f"{name}: {'; '.join(describe_missing_input(each) for each in column.missing)}."
        money = self._costed.money
        lines = ", ".join(
            f"{label_cost_line(line.name)} {money.whole(line.usd)}" for line in column.tco.lines if line.usd
        )
        total = tr("{amount} {code} in all", amount=money.whole(column.tco.total_usd), code=money.code)
        return f"{name}: {total}. {lines}."

    # Painting

    def paint_key(self, pen: ThemePainter, place: QRectF) -> None:
        px, x, side = self.theme.px, 0.0, self.theme.px(9)
        for (name, _), (ink, _) in zip(COST_PARTS.items(), _LOOKS, strict=True):
            words = tr(name)
            if x + side + px(6) + pen.width(words, "caption") > self.width():
                return
            self._fill(pen, QRectF(x, place.center().y() - side / 2, side, side), ink)
            rest = QRectF(x + side + px(6), place.top(), self.width(), place.height())
            x = rest.left() + pen.text(rest, words, font="caption", colour="text2") + px(12)

    def paint_row(self, pen: ThemePainter, number: int, band: QRectF) -> None:
        if self._costed is None:
            return
        column, px = self._costed.costs.columns[number], self.theme.px
        bar = QRectF(band.left(), band.center().y() - px(_YEARS_BAR) / 2, 0, px(_YEARS_BAR))
        if column.tco is None:
            self._missing(pen, column, bar)
            return
        money = self._costed.money
        at = 0.0
        for usd, (ink, words) in zip(_list_cost_parts(column.tco), _LOOKS, strict=True):
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

    def _missing(self, pen: ThemePainter, column: CostColumn, bar: QRectF) -> None:
        px = self.theme.px
        missing = next((each for each in column.missing if each != "rent_usd_per_hour"), "price_usd")
        text = describe_missing_input(missing)
        text = text[:1].upper() + text[1:]
        frame = QRectF(bar.left() + 1, bar.top(), pen.width(text, "small") + px(20), bar.height())
        pen.frame(frame, "strong", radius=4.0, dashed=True)
        pen.text(frame, text, font="small", colour="text2", align=CENTRE)
        if missing == "price_usd":
            place = QRectF(frame.right() + px(10), bar.top(), px(120), bar.height())
            self.paint_link(pen, place, column.key, tr("Enter one"))

    def _fill(self, pen: ThemePainter, place: QRectF, ink: str) -> None:
        if ink:
            pen.tint(place, ink, 2.0)
        else:
            pen.hatch(place, "text2")

    def data(self, formatter: Formatter) -> ChartData:
        owned = [(part, column.tco) for part, column in self._costed.column_costs()] if self._costed else []
        names = next(([line.name for line in tco.lines] for _, tco in owned if tco is not None), [])
        heads = (tr("Accelerator"), *(label_cost_line(name) for name in names), tr("Total"))
        rows = []
        for part, tco in owned:
            amounts = ["—"] * (len(names) + 1)
            if tco is not None:
                amounts = [formatter.number(line.usd) for line in tco.lines] + [formatter.number(tco.total_usd)]
            rows.append((part.name, *amounts))
        return ChartData(tr("Cost of owning, USD"), heads, tuple(rows))


def _list_cost_parts(tco: TotalCostOfOwnership) -> list[float]:
    """Return the lines that one looks at together, each at least 0."""
    by_name = {line.name: line.usd for line in tco.lines}
    return [sum(by_name[name] for name in names) for names in COST_PARTS.values()]


def _sum_gross(tco: TotalCostOfOwnership) -> float:
    """Return the total before the value at the end is taken off."""
    return sum(_list_cost_parts(tco))


_INFLUENCE_BAR: Final = 18
#: How strong the cheaper side of a bar is beside the dearer one.
_CHEAPER: Final = 0.45
_MOST_INFLUENCES: Final = 8


class SensitivityChart(RowChart):
    """Bars around the likely cost, the widest first."""

    name_column_width = 176
    right_margin_width = 72

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(theme, formatter, parent)
        self._found: tuple[CostSensitivity, ...] = ()
        self._costed: EvaluatedAnswer | None = None
        self._now = 0.0
        self._slot = 1

    def show_influences(
        self,
        costed: EvaluatedAnswer,
        place: int,
        found: tuple[CostSensitivity, ...],
        now: float | None,
        *,
        rented: bool,
    ) -> None:
        """Show what moves the cost of one accelerator, which is `now` dollars."""
        self._costed, self._found = costed, found[:_MOST_INFLUENCES]
        part = costed.columns[place]
        self._slot, self._now = part.palette_index, now or 0.0
        currency = costed.money.in_currency
        ends = [currency(each) for row in self._found for each in (row.at_low, row.at_high)]
        words = tr("{name} rented", name=part.name) if rented else tr("{name} owned", name=part.name)
        code = costed.money.code
        self.show_rows(
            tr("What moves it"),
            tr("{words}, {code} per million output tokens", words=words, code=code),
            [ChartRow(row.name, label_cost_input(row.name), self._sentence(row)) for row in self._found],
            0.0,
            max(ends, default=1.0),
            tr("Without a price there is no cost to move."),
        )

    def _sentence(self, row: CostSensitivity) -> str:
        if self._costed is None:
            return ""
        money = self._costed.money
        return tr(
            "{name}: {low} to {high} {unit} makes it {at_low} to {at_high} {code}.",
            name=label_cost_input(row.name),
            low=self._amount(row.name, row.low),
            high=self._amount(row.name, row.high),
            unit=get_input_unit(row.name),
            at_low=money.small(row.at_low),
            at_high=money.small(row.at_high),
            code=money.code,
        )

    def _amount(self, name: str, value: float) -> str:
        text = format_input_amount(name, value, self.formatter)
        return f"{text}\N{NO-BREAK SPACE}%" if get_input_unit(name) == "%" else text

    # Painting

    def paint_row(self, pen: ThemePainter, number: int, band: QRectF) -> None:
        if self._costed is None:
            return
        row, px, currency = self._found[number], self.theme.px, self._costed.money.in_currency
        ends = sorted(((row.at_low, row.low), (row.at_high, row.high)))
        (low, low_input), (high, high_input) = ends
        left, now, right = (self.x_of(currency(each)) for each in (low, self._now, high))
        top = band.center().y() - px(_INFLUENCE_BAR) / 2
        strong = self.theme.mark_color(self._slot)
        weak = QColor(strong)
        weak.setAlphaF(_CHEAPER)
        pen.tint(QRectF(min(left, now), top, max(now - left, 0.0), px(_INFLUENCE_BAR)), weak, 1.5)
        pen.tint(QRectF(now, top, max(right - now, 0.0), px(_INFLUENCE_BAR)), strong, 1.5)
        before = QRectF(left - px(86), band.top(), px(80), band.height())
        after = QRectF(max(right, now) + px(6), band.top(), px(80), band.height())
        pen.text(before, self._amount(row.name, low_input), font="caption", colour="text2", align=RIGHT)
        pen.text(after, self._amount(row.name, high_input), font="caption", colour="text2")

    def paint_over(self, pen: ThemePainter, area: QRectF) -> None:
        """Draw the likely cost across all rows."""
        if self._costed is None:
            return
        x = self.x_of(self._costed.money.in_currency(self._now))
        pen.rule(x, area.top(), x, area.bottom(), "text1", 1.0)
        place = QRectF(x - self.theme.px(60), area.top() - self.theme.px(20), self.theme.px(120), self.theme.px(18))
        now = tr("{amount} now", amount=self._costed.money.small(self._now))
        pen.text(place, now, font="caption_strong", align=CENTRE)

    def data(self, formatter: Formatter) -> ChartData:
        heads = (tr("Input"), tr("Low"), tr("High"), tr("Unit"), tr("Cost at low, USD"), tr("Cost at high, USD"))
        rows = [
            (
                label_cost_input(row.name),
                format_input_amount(row.name, row.low, formatter),
                format_input_amount(row.name, row.high, formatter),
                get_input_unit(row.name),
                formatter.estimate(row.at_low),
                formatter.estimate(row.at_high),
            )
            for row in self._found
        ]
        return ChartData(tr("What moves it"), heads, tuple(rows))
