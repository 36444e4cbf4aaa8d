"""The table of routing plans: accelerators and costs of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterStateGuard, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from gpudesk.desktop.ui.tables.item_model import Index, TableItemModel
from gpudesk.desktop.ui.tables.rows_view import RowsDelegate, RowsView
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import RIGHT, SWATCH_WIDTH, ThemePainter
from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.routing import RoutedPlan, RouteRanking, RoutingResult
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.decision.routing import (
    build_pool_cell,
    describe_impossible_plan,
    find_extra_cost,
    format_routed_plan,
    format_signed_amount,
    format_span,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.translation import tr


@dataclass(frozen=True, slots=True)
class RoutingPlanCell:
    """A figure with a small line below it; `best` is tinted, `level` says that others may be as good.

    `more` is said of it where it is read out, and in its tool tip.
    """

    text: str
    below: str = ""
    more: str = ""
    best: bool = False
    level: bool = False


@dataclass(frozen=True, slots=True)
class RoutingPlanRow:
    """A plan: what it is called on two lines, its cells, or why it cannot be."""

    first: str
    second: str
    cells: tuple[RoutingPlanCell, ...]
    reason: str = ""

    @property
    def name(self) -> str:
        return ", ".join(part for part in (self.first, self.second) if part)


@dataclass(frozen=True, slots=True)
class RoutingPlanHead:
    """A head on two lines; with a palette index above 0 it is that of an accelerator. `under` is the second line."""

    text: str
    below: str = ""
    under: str = ""
    palette_index: int = 0
    is_variant: bool = False

    @property
    def name(self) -> str:
        """The name of the figures: both lines, unless the second is about the figures below."""
        return f"{self.text} {self.below}" if self.below and self.below != self.under else self.text


@dataclass(frozen=True, slots=True)
class RoutingPlanTable:
    """Heads of the figures and the plans."""

    heads: tuple[RoutingPlanHead, ...] = ()
    lines: tuple[RoutingPlanRow, ...] = ()

    def sentence(self, row: int, column: int) -> str:
        """Return what a cell says; column 0 is the plan."""
        line = self.lines[row]
        if column == 0:
            return line.name if not line.reason else f"{line.name}: {line.reason}"
        cell, head = line.cells[column - 1], self.heads[column - 1]
        value = cell.text or tr("not applicable")
        text = tr("{plan}, {head}: {value}", plan=line.name, head=head.name, value=value)
        below = f"{head.under} {cell.below}" if cell.below else ""
        rank = ""
        if cell.best:
            rank = tr("≈ too close to call with the cheapest") if cell.level else tr("cheapest")
        return "; ".join(part for part in (text, below, cell.more, rank) if part)

    def columns(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return all figures by their heads, second lines in columns of their own."""
        plan_columns: list[tuple[str, tuple[str, ...]]] = []
        for number, head in enumerate(self.heads):
            cells = [line.cells[number] for line in self.lines]
            plan_columns.append((head.name, tuple(cell.text for cell in cells)))
            if any(cell.below for cell in cells):
                plan_columns.append((f"{head.name}, {head.under}", tuple(cell.below for cell in cells)))
        return tuple(plan_columns)


def make_routing_plan_table(
    routing: RoutingResult,
    names: Mapping[str, str],
    palette_indexes: Mapping[str, int],
    is_variant: Mapping[str, bool],
    money: MoneyFormatter,
    formatter: Formatter,
) -> RoutingPlanTable:
    """Return the table of a routing, costs in thousands; names, palette indexes and variants are by column keys."""
    ends, reserve = tr("range"), tr("spare")
    heads = (
        *(
            RoutingPlanHead(names[key], "", tr("replicas"), palette_indexes[key], is_variant[key])
            for key in routing.keys
        ),
        RoutingPlanHead(tr("Total"), reserve, reserve),
        RoutingPlanHead(tr("Owned"), "", ends),
        RoutingPlanHead(tr("Extra"), tr("vs. one vendor"), ends),
        RoutingPlanHead(tr("Rented"), "", ends),
        RoutingPlanHead(tr("Extra"), tr("vs. one vendor"), ends),
    )
    lines = tuple(_make_plan_row(plan, routing, names, money, formatter) for plan in routing.plans)
    return RoutingPlanTable(heads, lines)


def _make_plan_row(
    plan: RoutedPlan, routing: RoutingResult, names: Mapping[str, str], money: MoneyFormatter, formatter: Formatter
) -> RoutingPlanRow:
    title = format_routed_plan(plan.plan, routing, names)
    pools = [build_pool_cell(plan, key, formatter) for key in routing.keys]
    spare = "" if plan.spare is None else formatter.count(plan.spare)
    cells = (
        *(RoutingPlanCell(cell.total, cell.replicas, cell.spare) for cell in pools),
        RoutingPlanCell(formatter.count(plan.count), spare),
        _make_cost_cell(plan, plan.owned_usd, routing.owned, money),
        _explain_overload(plan, routing.owned, money),
        _make_cost_cell(plan, plan.rented_usd, routing.rented, money),
        _explain_overload(plan, routing.rented, money),
    )
    return RoutingPlanRow(title.first, title.second, cells, describe_impossible_plan(plan, formatter))


def _make_cost_cell(
    plan: RoutedPlan, usd: UncertainValue | None, ranking: RouteRanking | None, money: MoneyFormatter
) -> RoutingPlanCell:
    if usd is None:
        return RoutingPlanCell(MISSING_VALUE_TEXT)
    level = ranking is not None and not ranking.decided
    best = ranking is not None and (plan.plan is ranking.cheapest or plan.plan in ranking.level)
    text = money.rounded_thousands
    return RoutingPlanCell(text(usd.likely), format_span(usd, text), best=best, level=best and level)


def _explain_overload(plan: RoutedPlan, ranking: RouteRanking | None, money: MoneyFormatter) -> RoutingPlanCell:
    surcharge = find_extra_cost(ranking, plan.plan)
    if surcharge is None:
        return RoutingPlanCell("" if not plan.plan.is_split else MISSING_VALUE_TEXT)
    text = money.rounded_thousands
    return RoutingPlanCell(format_signed_amount(surcharge.usd.likely, text), format_span(surcharge.usd, text))


#: Lengths of the design: the gutter for ≈ at the right of figures, around texts.
_GUTTER, _SIDE = 20.0, 3.0
_LEAST, _WIDEST = 62.0, 116.0


class RoutingPlanModel(TableItemModel):
    """The plans as an item model: the plan first, then its figures."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.table = RoutingPlanTable()

    def show(self, table: RoutingPlanTable) -> None:
        self.beginResetModel()
        self.table = table
        self.endResetModel()

    def count_rows(self) -> int:
        return len(self.table.lines)

    def count_columns(self) -> int:
        return len(self.table.heads) + 1

    def get_text(self, row: int, column: int) -> str:
        line = self.table.lines[row]
        return line.name if column == 0 else line.cells[column - 1].text

    def sentence(self, row: int, column: int) -> str:
        return self.table.sentence(row, column)

    def get_head(self, section: int, *, spoken: bool) -> str | None:
        if spoken:
            return None
        return tr("Plan") if section == 0 else self.table.heads[section - 1].name


class _RoutingPlanHeader(QHeaderView):
    """Heads on two lines, those of accelerators with their swatch."""

    def __init__(self, theme: Theme, model: RoutingPlanModel) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme, self._plans = theme, model

    def paintSection(self, painter: QPainter, rect: Any, section: int) -> None:  # noqa: ANN401 - Qt's
        with QPainterStateGuard(painter):
            pen, px = ThemePainter(painter, self._theme), self._theme.px
            area = QRectF(rect)
            painter.fillRect(area, pen.colour("page"))
            pen.hairline(area.left(), area.bottom() - 1, area.right() + 1, area.bottom() - 1, "strong")
            heads = self._plans.table.heads
            if section == 0:
                place = QRectF(area.left() + px(_SIDE), area.bottom() - px(20), area.width(), px(18))
                pen.text(place, tr("Plan"), font="caption_strong", colour="text3")
            elif section <= len(heads):
                self._head(pen, heads[section - 1], area)

    def _head(self, pen: ThemePainter, head: RoutingPlanHead, area: QRectF) -> None:
        px = self._theme.px
        right = area.right() - px(_GUTTER)
        upper = QRectF(area.left(), area.top() + px(2), right - area.left(), px(19))
        lower = QRectF(area.left(), area.bottom() - px(20), right - area.left(), px(18))
        if not head.below:
            upper = lower
        if head.palette_index:
            width = min(pen.width(head.text, "section"), upper.width() - px(SWATCH_WIDTH + 6))
            pen.swatch(
                right - width - px(SWATCH_WIDTH + 6), upper.center().y(), head.palette_index, is_variant=head.is_variant
            )
            name = QRectF(right - width - 1, upper.top(), width + 1, upper.height())
            pen.text(name, head.text, font="section", colour=self._theme.name_color(head.palette_index))
        else:
            pen.text(upper, head.text, font="caption_strong", colour="text3", align=RIGHT)
        pen.text(lower, head.below, font="caption", colour="text3", align=RIGHT)


class _RoutingPlanDelegate(RowsDelegate):
    """Paints the plan at the left, figures at the right with a small line below them."""

    def paint_cell(self, pen: ThemePainter, rect: QRectF, index: Index) -> None:
        model = index.model()
        if not isinstance(model, RoutingPlanModel):
            return
        line, column = model.table.lines[index.row()], index.column()
        if column == 0:
            self._plan(pen, line, rect)
        elif line.reason:
            self._reason(pen, line, rect)
        else:
            self._cell(pen, line.cells[column - 1], rect)

    def _lines(self, rect: QRectF, *, two: bool) -> tuple[QRectF, QRectF]:
        """Return the places of the upper and the lower line; one alone is in the middle."""
        px, height = self._theme.px, self._theme.line("body")
        top = rect.top() + px(5) if two else rect.center().y() - height / 2
        upper = QRectF(rect.left(), top, rect.width(), height)
        lower = QRectF(rect.left(), upper.bottom() - px(1), rect.width(), self._theme.line("caption"))
        return upper, lower

    def _plan(self, pen: ThemePainter, line: RoutingPlanRow, rect: QRectF) -> None:
        upper, lower = self._lines(rect.adjusted(self._theme.px(_SIDE), 0, -4, 0), two=bool(line.second))
        pen.text(upper, line.first, font="body_strong")
        if line.second:
            pen.text(lower, line.second, font="small", colour="text2")

    def _reason(self, pen: ThemePainter, line: RoutingPlanRow, rect: QRectF) -> None:
        """Paint the reason for missing figures across all cells of the row; each cell paints its section."""
        view = self.parent()
        if not isinstance(view, QTableView):
            return
        px, left = self._theme.px, view.columnViewportPosition(1)
        end = view.columnViewportPosition(view.model().columnCount() - 1)
        end += view.columnWidth(view.model().columnCount() - 1)
        pen.painter.setClipRect(rect.adjusted(0, 0, 0, -1))
        pen.glyph("unfit", left + px(12), rect.center().y())
        whole = QRectF(left + px(24), rect.top(), end - left - px(28), rect.height())
        pen.text(whole, line.reason, font="small", colour="unfit")

    def _cell(self, pen: ThemePainter, cell: RoutingPlanCell, rect: QRectF) -> None:
        px = self._theme.px
        if cell.best:
            pen.tint(rect.adjusted(px(6), px(4), -px(4), -px(4)), "best")
        upper, lower = self._lines(rect.adjusted(4, 0, -px(_GUTTER), 0), two=bool(cell.below))
        pen.text(upper, cell.text, font="section" if cell.best else "body", align=RIGHT)
        if cell.below:
            colour = "best_text" if cell.best else "text3"
            pen.text(lower, cell.below, font="caption", colour=colour, align=RIGHT)
        if cell.level:
            pen.glyph("overlap", rect.right() - px(_GUTTER / 2 + 1), upper.center().y())


class RoutingPlanTableView(RowsView):
    """Plans with their figures."""

    row_height, head_height = 44.0, 40.0

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.plans = RoutingPlanModel()
        super().__init__(theme, self.plans, _RoutingPlanHeader(theme, self.plans), parent)
        self.plans.setParent(self)
        self.setAccessibleName(tr("Plans"))
        self.setItemDelegate(_RoutingPlanDelegate(theme, self))
        self.setMouseTracking(True)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        theme.follow(self.measure)

    def show_table(self, table: RoutingPlanTable) -> None:
        self.show_anew(lambda: self.plans.show(table))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()

    def fit_columns(self) -> None:
        """Give figures what they need, and plans what is left of the width, but no less than their names."""
        px, table = self._theme.px, self.plans.table
        fonts = {name: QFontMetricsF(self._theme.font(name)) for name in ("section", "caption", "caption_strong")}
        strong = QFontMetricsF(self._theme.font("body_strong"))
        used_width = 0
        for number, head in enumerate(table.heads):
            cells = [line.cells[number] for line in table.lines if not line.reason]
            name = fonts["section" if head.palette_index else "caption_strong"].horizontalAdvance(head.text)
            name += px(SWATCH_WIDTH + 6) if head.palette_index else 0
            texts = [fonts["section"].horizontalAdvance(cell.text) for cell in cells]
            texts += [fonts["caption"].horizontalAdvance(cell.below) for cell in cells]
            texts += [fonts["caption"].horizontalAdvance(head.below), name, float(px(_LEAST) - px(_GUTTER))]
            # What is said of replicas may be cut: all of it is in the tool tip.
            most = px(_WIDEST) if head.palette_index else max(texts)
            width = int(max(min(max(texts), most), name)) + px(_GUTTER) + px(14)
            self.setColumnWidth(number + 1, width)
            used_width += width
        least = max((strong.horizontalAdvance(line.first) for line in table.lines), default=0.0)
        room = self.viewport().width() - used_width
        self.setColumnWidth(0, max(int(least) + px(20), min(room, px(280))))
