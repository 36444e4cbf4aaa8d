"""The Memory page: memory use with its bars, fit, and accelerators needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpudesk.desktop.pages.memory.bar_row import (
    LEAST_WIDTH,
    ROW,
    VERDICT_PLACE,
    WHOLE_ROW,
    MemoryBarLayout,
    MemoryBarRow,
    hold_bar_layout,
    lay_out_bars,
)
from gpudesk.desktop.pages.memory.bars import (
    ColumnMemoryBar,
    MemorySegmentKind,
    describe_remedy,
    format_bars_subtitle,
    format_free_share,
    make_memory_bars,
    make_memory_data,
)
from gpudesk.desktop.pages.memory.needed_view import NeededBlock
from gpudesk.desktop.pages.page import ChartsView, MultiViewPage, PageView, PageViewSpec, load_view
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import list_columns
from gpudesk.desktop.session.scenario_edits import apply_remedy
from gpudesk.desktop.session.selection import Selection, select_figure
from gpudesk.desktop.ui.charts.chart_data import ChartData, show_chart_menu
from gpudesk.desktop.ui.charts.scales import round_up_step
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTER, ThemePainter
from gpudesk.desktop.ui.widgets.layouts import STRETCH, FullWidthScrollArea, Hairline, make_column
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole
from gpudesk.domain.sizing import FitRemedy
from gpudesk.report.comparison.verdicts import describe_fit
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr
from gpudesk.text.units import GIB

#: Design lengths.
_TITLE: Final = 26.0
_KEY: Final = 26.0
_AXIS: Final = 34.0
_SQUARE: Final = 10.0
_KEY_GAP: Final = 18.0
#: Maximum intervals between the ticks of the axis.
_INTERVALS: Final = 6

#: The panel selection for each position in a row.
_FIGURES: Final = {VERDICT_PLACE: "max_concurrency"}


class MemoryBarChart(QWidget):
    """Shows the desk's answer; `refresh` updates it."""

    accessible_role = AccessibleRole.List

    #: The user accepted a remedy in a verdict.
    remedied = Signal()

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self.formatter = desk.formatter
        self.theme = theme
        self.bars: tuple[ColumnMemoryBar, ...] = ()
        self._measures: MemoryBarLayout | None = None
        self._extent = 0.0
        self._subtitle = ""
        self._explained: list[tuple[MemorySegmentKind, str]] = []
        self.rows: list[MemoryBarRow] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.title)
        theme.changed.connect(self._dress)
        desk.selection_changed.connect(self._mark_selection)
        desk.gesture_changed.connect(self._gesture_changed)

    @property
    def title(self) -> str:
        return tr("Memory per accelerator")

    def data(self, formatter: Formatter) -> ChartData:
        return make_memory_data(self._desk, formatter, self.title)

    # Display

    def refresh(self) -> None:
        """Show the desk's answer; during a drag the axis does not shrink."""
        answer = self._desk.answer
        before, around = len(self.bars), (self._measures, self._extent, self._explained)
        self.bars = make_memory_bars(self._desk)
        self._explained = self._key()
        self._subtitle = "" if answer is None else format_bars_subtitle(answer, self.formatter)
        widest = max((bar.extent for bar in self.bars), default=GIB) / GIB
        step = round_up_step(widest / _INTERVALS)
        extent = math.ceil(widest / step) * step * GIB
        self._extent = max(extent, self._extent) if self._desk.in_gesture else extent
        while len(self.rows) < len(self.bars):
            number = len(self.rows)
            row = MemoryBarRow(self.theme, self.formatter, self.bars[number], self)
            row.chosen.connect(lambda place, row=row: self._select(row, place))
            row.row_step_requested.connect(lambda by, number=number: self._go(number + by))
            row.remedied.connect(lambda remedy, number=number: self._take(number, remedy))
            self.rows.append(row)
        for number, row in enumerate(self.rows):
            row.setVisible(number < len(self.bars))
        self._lay_out()
        if before != len(self.bars):
            self.updateGeometry()
        if before != len(self.bars) or around != (self._measures, self._extent, self._explained):
            self.update()
        else:
            self.update(self._get_title_area())

    def _lay_out(self) -> None:
        if not self.bars or not self._extent:
            return
        theme, chosen = self.theme, self._desk.selection
        measures = lay_out_bars(self.bars, self._extent, self.width(), theme, self.formatter)
        if self._desk.in_gesture:
            measures = hold_bar_layout(self._measures, measures)
        self._measures = measures
        top, height = theme.px(_TITLE) + theme.px(_KEY), theme.px(ROW)
        for number, (row, bar) in enumerate(zip(self.rows, self.bars, strict=False)):
            row.setGeometry(0, top + number * height, self.width(), height)
            selected = _is_figure_selected(chosen, bar.key)
            row.show_bar(bar, measures, selected=selected, quiet=self._desk.in_gesture)

    def _dress(self) -> None:
        self._lay_out()
        for row in self.rows:
            row.update()
        self.updateGeometry()
        self.update()

    def _gesture_changed(self) -> None:
        if not self._desk.in_gesture and self.isVisible():
            self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def sizeHint(self) -> QSize:
        theme = self.theme
        rows = max(1, len(self.bars)) * theme.px(ROW)
        height = theme.px(_TITLE) + theme.px(_KEY) + rows + theme.px(_AXIS)
        return QSize(theme.px(LEAST_WIDTH), height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    # Selection and keyboard

    def _select(self, row: MemoryBarRow, place: str) -> None:
        row.setFocus(Qt.FocusReason.OtherFocusReason)
        self._desk.select(select_figure(row.bar.key, _FIGURES.get(place, "memory")))

    def _mark_selection(self) -> None:
        chosen = self._desk.selection
        for row in self.rows[: len(self.bars)]:
            fitting = _is_figure_selected(chosen, row.bar.key) and chosen is not None
            if not fitting:
                row.set_place(WHOLE_ROW)
            elif chosen is not None and _FIGURES.get(row.place, "memory") != chosen.name:
                row.set_place(VERDICT_PLACE if chosen.name == _FIGURES[VERDICT_PLACE] else WHOLE_ROW)
        self._lay_out()

    def _go(self, number: int) -> None:
        if not 0 <= number < len(self.bars):
            return
        left = next((row.place for row in self.rows if row.hasFocus()), WHOLE_ROW)
        row = self.rows[number]
        row.set_place(left)
        row.setFocus(Qt.FocusReason.OtherFocusReason)
        self._select(row, row.place)

    def _take(self, number: int, remedy: FitRemedy) -> None:
        answer = self._desk.answer
        if answer is None:
            return
        text = describe_remedy(remedy, self.bars[number], self.formatter)
        vendor = answer.columns[number].accelerator.vendor
        self._desk.apply(apply_remedy(self._desk.scenario, number, remedy, vendor), text)
        self.remedied.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        show_chart_menu(self, self, event)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw title, legend and axis as far as necessary; the rows draw themselves."""
        if self._measures is None or not self.bars:
            return
        region = event.region()
        with QPainter(self) as painter:
            pen = ThemePainter(painter, self.theme)
            if region.intersects(self._get_title_area()):
                height = self.theme.length(_TITLE)
                width = pen.text(QRectF(0, 0, self.width(), height), self.title, font="section")
                left = width + self.theme.length(10)
                pen.text(QRectF(left, 0, self.width() - left, height), self._subtitle, font="small", color="text3")
            if region.intersects(self._get_key_area()):
                self._paint_key(pen, self._measures)
            if region.intersects(self._get_axis_area()):
                at = self._measures
                theme = self.theme
                top = self._get_axis_area().top() + theme.length(2)
                pen.hairline(at.left, top, at.left + at.width + 1, top, "axis")
                whole = self._extent / GIB
                step = round_up_step(whole / _INTERVALS)
                decimals = 0 if step == round(step) else 1
                baseline = top + theme.length(17)
                texts = [self.formatter.number(number * step, decimals) for number in range(round(whole / step) + 1)]
                widest = max(pen.width(text, "caption") for text in texts) + theme.length(10)
                stride = math.ceil(widest / (at.x(step * GIB) - at.left))
                for number, text in list(enumerate(texts))[::stride]:
                    x = at.x(number * step * GIB)
                    pen.hairline(x, top, x, top + theme.length(4), "axis")
                    pen.text(QPointF(x, baseline), text, font="caption", color="text3", align=CENTER)
                right = at.x(self._extent) + pen.width(texts[-1], "caption") / 2 + theme.length(8)
                pen.text(QPointF(right, baseline), tr("GiB"), font="caption_strong", color="text3")

    def _get_title_area(self) -> QRect:
        return QRect(0, 0, self.width(), self.theme.px(_TITLE))

    def _get_key_area(self) -> QRect:
        return QRect(0, self.theme.px(_TITLE), self.width(), self.theme.px(_KEY))

    def _get_axis_area(self) -> QRect:
        top = self._get_key_area().bottom() + 1 + len(self.bars) * self.theme.px(ROW)
        return QRect(0, top, self.width(), self.height() - top)

    def _paint_key(self, pen: ThemePainter, at: MemoryBarLayout) -> None:
        theme = self.theme
        side = theme.length(_SQUARE)
        middle = theme.px(_TITLE) + theme.length(_KEY) / 2 - theme.length(2)
        key = self._explained
        step = side + theme.length(6) + theme.length(_KEY_GAP)
        whole = sum(step + pen.width(words, "small") for _, words in key)
        x = max(0.0, min(at.left, self.width() - whole))
        for kind, words in key:
            square = QRectF(round(x), round(middle - side / 2), round(side), round(side))
            if kind is MemorySegmentKind.SHORT:
                pen.hatch(square, "unfit", "unfit_tint")
            elif kind is MemorySegmentKind.KEPT:
                pen.hatch(square, "strong", "page")
            elif kind is MemorySegmentKind.SPARE:
                pen.frame(square, "strong", radius=2, fill="sunken")
            else:
                inks = {
                    MemorySegmentKind.WEIGHTS: "ink1",
                    MemorySegmentKind.KV: "ink2",
                    MemorySegmentKind.OTHER: "ink3",
                }
                pen.tint(square, inks[kind], radius=2)
            x += side + theme.length(6)
            place = QRectF(x, middle - theme.length(9), pen.width(words, "small") + 1, theme.length(18))
            x += pen.text(place, words, font="small", color="text2") + theme.length(_KEY_GAP)

    def _key(self) -> list[tuple[MemorySegmentKind, str]]:
        share = format_free_share(self.bars, self.formatter)
        reserve_text = tr("Memory reserve: {share}", share=share) if share else tr("Memory reserve")
        words = {
            MemorySegmentKind.WEIGHTS: tr("Weights"),
            MemorySegmentKind.KV: tr("KV cache at this load"),
            MemorySegmentKind.OTHER: tr("Activations and runtime"),
            MemorySegmentKind.SPARE: tr("Free"),
            MemorySegmentKind.KEPT: reserve_text,
            MemorySegmentKind.SHORT: tr("Short"),
        }
        kinds = {part.kind for bar in self.bars for part in bar.parts}
        return [(kind, text) for kind, text in words.items() if kind in kinds]


def _is_figure_selected(selection: Selection | None, key: str) -> bool:
    return selection is not None and selection in (select_figure(key, "memory"), select_figure(key, "max_concurrency"))


_MARGIN = 16


class MemoryFitView(ChartsView):
    """Whether it fits now, and what the load would need."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        self.bars = MemoryBarChart(desk, theme)
        self.needed = NeededBlock(desk, theme, brief=True)
        super().__init__((self.bars, self.needed), parent)
        upper = make_column(self.bars, margins=(_MARGIN, 0, _MARGIN, 6), scaled=theme)
        lower = make_column(self.needed, margins=(_MARGIN, 12, _MARGIN, 0), scaled=theme)
        line = Hairline(theme, self)
        make_column(upper, line, lower, STRETCH, gap=0, margins=(0, 0, 0, _MARGIN), scaled=theme, on=self)

    def focus_first(self) -> None:
        if self.bars.rows:
            self.bars.rows[0].setFocus(Qt.FocusReason.ShortcutFocusReason)


class NeededTableView(ChartsView):
    """How many of each accelerator the model needs, for all requests and for one."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        self.needed = NeededBlock(desk, theme, brief=False)
        super().__init__((self.needed,), parent)
        make_column(self.needed, STRETCH, margins=(_MARGIN, 6, _MARGIN, _MARGIN), scaled=theme, on=self)

    def focus_first(self) -> None:
        self.needed.view.setFocus(Qt.FocusReason.ShortcutFocusReason)


FIT, CONTEXT, NEEDED, MATRIX, SIZE = "fit", "context", "needed", "matrix", "size"


class MemoryPage(MultiViewPage[PageView]):
    """Memory use of the desk's answer, and deployments that would fit."""

    page_id = "memory"
    menu_section = 53
    has_verdict = True

    def title(self) -> str:
        return tr("Memory and fit")

    def view_specs(self) -> Sequence[PageViewSpec[PageView]]:
        """Return the views on fit, needs and sizing; rarely used ones, and the plot library, are loaded on demand."""

        def load(module: str, class_name: str, *arguments: object) -> Callable[[Desk, Theme], PageView]:
            return load_view(f"{__package__}.{module}", class_name, *arguments)

        return (
            PageViewSpec(FIT, tr("Current fit"), MemoryFitView),
            PageViewSpec(CONTEXT, tr("KV cache by context"), load("context_view", "ContextView")),
            PageViewSpec(NEEDED, tr("Minimum to fit"), NeededTableView),
            PageViewSpec(MATRIX, tr("All models"), load("matrix_view", "FitMatrixView", self.settings)),
            PageViewSpec(SIZE, tr("Size for demand"), load("size_view", "SizingView")),
        )

    def make_scroll_area(self, view: PageView) -> FullWidthScrollArea:  # noqa: ARG002 - the same for all
        """Return a scroll area that also scrolls sideways."""
        return FullWidthScrollArea(sideways=True)

    def set_usable(self, *, usable: bool) -> None:
        for control in (self.head.segment, self.head.copy):
            control.setVisible(usable)

    # Commands

    def describe_verdict(self) -> Sequence[str]:
        """Return whether the load fits; the matrix and the sizing have other loads and texts of their own."""
        if self.desk.answer is None or self.view_key in (MATRIX, SIZE):
            return ()
        if isinstance(self.view, NeededTableView):
            return self.view.needed.describe_counts()
        return describe_fit(self.desk.answer, self.desk.formatter)

    def propose_selection(self) -> Selection | None:
        """Return the memory of the first accelerator that cannot run the load, else of the first."""
        columns = list_columns(self.desk.answer) if self.desk.answer is not None else ()
        if not columns or self.view_key not in (FIT, CONTEXT):
            return None
        return select_figure(min(columns, key=lambda column: column.fits).key, "memory")

    def name_chart_commands(self) -> tuple[str, str]:
        return tr("Show memory table"), tr("Copy memory and fit")
