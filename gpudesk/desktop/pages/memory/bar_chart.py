"""The bar chart of memory: a title, a key, a row for each column, and the axis that they share."""

from __future__ import annotations

import math
from typing import Final

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpudesk.desktop.charts.commands import context_menu, menu_position
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.scales import round_step
from gpudesk.desktop.pages.memory.bar_row import VERDICT, WHOLE, BarRow
from gpudesk.desktop.pages.memory.bars import (
    MemoryBar,
    PartKind,
    kept_share,
    memory_bars,
    remedy_sentence,
    subtitle,
)
from gpudesk.desktop.pages.memory.bars_data import bars_data
from gpudesk.desktop.pages.memory.measures import LEAST_WIDTH, ROW, Measures, held, measure
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import Selection, figure
from gpudesk.desktop.session.sizing import with_remedy
from gpudesk.desktop.theme.pen import CENTRE, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.roles import Role
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.sizing import Remedy
from gpudesk.domain.units import GIB
from gpudesk.text import tr

#: Lengths of the design.
_TITLE: Final = 26.0
_KEY: Final = 26.0
_AXIS: Final = 34.0
_SQUARE: Final = 10.0
_KEY_GAP: Final = 18.0
#: Stretches between the ticks of the axis, at most.
_INTERVALS: Final = 6

#: What selecting a place of a row selects for the panel.
_FIGURES: Final = {VERDICT: "max_concurrency"}


class MemoryBars(QWidget):
    """Shows the desk's answer; `refresh` brings it up to date."""

    accessible_role = Role.List

    #: The user took one of the ways out that a verdict offers.
    remedied = Signal()

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make an empty chart."""
        super().__init__(parent)
        self._desk = desk
        self.formatter = desk.formatter
        self.theme = theme
        self._bars: tuple[MemoryBar, ...] = ()
        self._measures: Measures | None = None
        self._extent = 0.0
        self._subtitle = ""
        self._explained: list[tuple[PartKind, str]] = []
        self.rows: list[BarRow] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.title)
        theme.changed.connect(self._dress)
        desk.selection_changed.connect(self._mark_selection)
        desk.gesture_changed.connect(self._gesture_changed)

    @property
    def title(self) -> str:
        """What the chart is called."""
        return tr("Memory of each accelerator")

    @property
    def bars(self) -> tuple[MemoryBar, ...]:
        """What is shown."""
        return self._bars

    def data(self, formatter: Formatter) -> Data:
        """Return the numbers of all bars."""
        return bars_data(self._desk, formatter, self.title)

    # Showing

    def refresh(self) -> None:
        """Show the desk's answer; while something is dragged the axis does not shrink."""
        answer = self._desk.answer
        before, around = len(self._bars), (self._measures, self._extent, self._explained)
        self._bars = memory_bars(self._desk)
        self._explained = self._key()
        self._subtitle = "" if answer is None else subtitle(answer, self.formatter)
        widest = max((bar.extent for bar in self._bars), default=GIB) / GIB
        step = round_step(widest / _INTERVALS)
        extent = math.ceil(widest / step) * step * GIB
        self._extent = max(extent, self._extent) if self._desk.in_gesture else extent
        self._make_rows()
        self._lay_out()
        if before != len(self._bars):
            self.updateGeometry()
        if before != len(self._bars) or around != (self._measures, self._extent, self._explained):
            self.update()
        else:
            self.update(self._title_area())

    def _make_rows(self) -> None:
        while len(self.rows) < len(self._bars):
            number = len(self.rows)
            row = BarRow(self.theme, self.formatter, self._bars[number], self)
            row.chosen.connect(lambda place, row=row: self._select(row, place))
            row.left_for.connect(lambda by, number=number: self._go(number + by))
            row.remedied.connect(lambda remedy, number=number: self._take(number, remedy))
            self.rows.append(row)
        for number, row in enumerate(self.rows):
            row.setVisible(number < len(self._bars))

    def _lay_out(self) -> None:
        if not self._bars or not self._extent:
            return
        theme, chosen = self.theme, self._desk.selection
        measures = measure(self._bars, self._extent, self.width(), theme, self.formatter)
        if self._desk.in_gesture:
            measures = held(self._measures, measures)
        self._measures = measures
        top, height = theme.px(_TITLE) + theme.px(_KEY), theme.px(ROW)
        for number, (row, bar) in enumerate(zip(self.rows, self._bars, strict=False)):
            row.setGeometry(0, top + number * height, self.width(), height)
            selected = _selects(chosen, bar.key)
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

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Give the rows the new width."""
        super().resizeEvent(event)
        self._lay_out()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Take as much height as the rows need."""
        theme = self.theme
        rows = max(1, len(self._bars)) * theme.px(ROW)
        height = theme.px(_TITLE) + theme.px(_KEY) + rows + theme.px(_AXIS)
        return QSize(theme.px(LEAST_WIDTH), height)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Leave bars and verdicts their least room."""
        return self.sizeHint()

    # Selection and keyboard

    def _select(self, row: BarRow, place: str) -> None:
        row.setFocus(Qt.FocusReason.OtherFocusReason)
        self._desk.select(figure(row.bar.key, _FIGURES.get(place, "memory")))

    def _mark_selection(self) -> None:
        """Show the place of a selection that was made elsewhere."""
        chosen = self._desk.selection
        for row in self.rows[: len(self._bars)]:
            fitting = _selects(chosen, row.bar.key) and chosen is not None
            if not fitting:
                row.set_place(WHOLE)
            elif chosen is not None and _FIGURES.get(row.place, "memory") != chosen.name:
                row.set_place(VERDICT if chosen.name == _FIGURES[VERDICT] else WHOLE)
        self._lay_out()

    def _go(self, number: int) -> None:
        """Go to another row, to the place of the same name."""
        if not 0 <= number < len(self._bars):
            return
        left = next((row.place for row in self.rows if row.hasFocus()), WHOLE)
        row = self.rows[number]
        row.set_place(left)
        row.setFocus(Qt.FocusReason.OtherFocusReason)
        self._select(row, row.place)

    def _take(self, number: int, remedy: Remedy) -> None:
        answer = self._desk.answer
        if answer is None:
            return
        text = remedy_sentence(remedy, self._bars[number], self.formatter)
        vendor = answer.columns[number].accelerator.vendor
        self._desk.apply(with_remedy(self._desk.scenario, number, remedy, vendor), text)
        self.remedied.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer picture, numbers and table."""
        context_menu(self, self, []).popup(menu_position(event, self))

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw what is asked for of title, key and axis; the rows draw themselves."""
        if self._measures is None or not self._bars:
            return
        asked = event.region()
        painter = QPainter(self)
        try:
            pen = Pen(painter, self.theme)
            if asked.intersects(self._title_area()):
                self._paint_title(pen)
            if asked.intersects(self._key_area()):
                self._paint_key(pen, self._measures)
            if asked.intersects(self._axis_area()):
                self._paint_axis(pen, self._measures)
        finally:
            painter.end()

    def _title_area(self) -> QRect:
        return QRect(0, 0, self.width(), self.theme.px(_TITLE))

    def _key_area(self) -> QRect:
        return QRect(0, self.theme.px(_TITLE), self.width(), self.theme.px(_KEY))

    def _axis_area(self) -> QRect:
        top = self._key_area().bottom() + 1 + len(self._bars) * self.theme.px(ROW)
        return QRect(0, top, self.width(), self.height() - top)

    def _paint_title(self, pen: Pen) -> None:
        height = self.theme.length(_TITLE)
        width = pen.text(QRectF(0, 0, self.width(), height), self.title, font="section")
        left = width + self.theme.length(10)
        pen.text(QRectF(left, 0, self.width() - left, height), self._subtitle, font="small", colour="text3")

    def _paint_key(self, pen: Pen, at: Measures) -> None:
        theme = self.theme
        side = theme.length(_SQUARE)
        middle = theme.px(_TITLE) + theme.length(_KEY) / 2 - theme.length(2)
        key = self._explained
        step = side + theme.length(6) + theme.length(_KEY_GAP)
        whole = sum(step + pen.width(words, "small") for _, words in key)
        x = max(0.0, min(at.left, self.width() - whole))
        for kind, words in key:
            square = QRectF(round(x), round(middle - side / 2), round(side), round(side))
            paint_sample(pen, kind, square)
            x += side + theme.length(6)
            place = QRectF(x, middle - theme.length(9), pen.width(words, "small") + 1, theme.length(18))
            x += pen.text(place, words, font="small", colour="text2") + theme.length(_KEY_GAP)

    def _key(self) -> list[tuple[PartKind, str]]:
        """Return what is to be explained, with its words."""
        share = kept_share(self._bars, self.formatter)
        kept = tr("Kept free, {share}", share=share) if share else tr("Kept free")
        words = {
            PartKind.WEIGHTS: tr("Weights"),
            PartKind.KV: tr("KV cache of this load"),
            PartKind.OTHER: tr("Activations and runtime"),
            PartKind.SPARE: tr("Free"),
            PartKind.KEPT: kept,
            PartKind.SHORT: tr("Short"),
        }
        met = {part.kind for bar in self._bars for part in bar.parts}
        return [(kind, text) for kind, text in words.items() if kind in met]

    def _paint_axis(self, pen: Pen, at: Measures) -> None:
        theme = self.theme
        top = self._axis_area().top() + theme.length(2)
        pen.hairline(at.left, top, at.left + at.width + 1, top, "axis")
        whole = self._extent / GIB
        step = round_step(whole / _INTERVALS)
        decimals = 0 if step == round(step) else 1
        baseline = top + theme.length(17)
        texts = [self.formatter.number(number * step, decimals) for number in range(round(whole / step) + 1)]
        widest = max(pen.width(text, "caption") for text in texts) + theme.length(10)
        stride = math.ceil(widest / (at.x(step * GIB) - at.left))
        for number, text in list(enumerate(texts))[::stride]:
            x = at.x(number * step * GIB)
            pen.hairline(x, top, x, top + theme.length(4), "axis")
            pen.text(QPointF(x, baseline), text, font="caption", colour="text3", align=CENTRE)
        right = at.x(self._extent) + pen.width(texts[-1], "caption") / 2 + theme.length(8)
        pen.text(QPointF(right, baseline), tr("GiB"), font="caption_strong", colour="text3")


def _selects(selection: Selection | None, key: str) -> bool:
    """Whether a figure of this chart is selected in the column of this key."""
    return selection is not None and selection in (figure(key, "memory"), figure(key, "max_concurrency"))


def paint_sample(pen: Pen, kind: PartKind, square: QRectF) -> None:
    """Draw the square that stands for a part in the key."""
    if kind is PartKind.SHORT:
        pen.hatch(square, "unfit", "unfit_tint")
    elif kind is PartKind.KEPT:
        pen.hatch(square, "strong", "page")
    elif kind is PartKind.SPARE:
        pen.frame(square, "strong", radius=2, fill="sunken")
    else:
        inks = {PartKind.WEIGHTS: "ink1", PartKind.KV: "ink2", PartKind.OTHER: "ink3"}
        pen.tint(square, inks[kind], radius=2)
