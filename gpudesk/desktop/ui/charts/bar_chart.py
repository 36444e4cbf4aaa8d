"""Horizontal bars in rows, described by data: stacked bars or intervals on one scale, in one group or several."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpudesk.desktop.ui.charts.chart_data import ChartData, show_chart_menu
from gpudesk.desktop.ui.charts.scales import LinearScale, format_ticks
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTER, RIGHT, SWATCH_WIDTH, ThemePainter
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import Formatter

#: Fills other than inks: hatching; a frame without a fill; in a legend also a filled and an open dot, and a line.
HATCH: Final = "hatch"
OUTLINE: Final = "outline"
DOT: Final = "dot"
RING: Final = "ring"
LINE: Final = "line"

#: Text color on an ink; elsewhere it is the normal text color.
_WORDS: Final = {"ink1": "page", "text1": "page"}
_RADIUS: Final = 2.0
_DOT_RADIUS, _INTERVAL_HEIGHT, _APART = 4.5, 7.0, 11.0
#: Opacity of an interval relative to its filled or open dot.
_FILLED_ALPHA, _OPEN_ALPHA = 0.38, 0.24
#: Height of an axis tick, in design lengths.
_TICK: Final = 44
_LINEAR: Final = LinearScale()
#: Longer names of accelerators are cut.
_MOST_NAMES: Final = 160


@frozen_dataclass
class BarSegment:
    """A segment of a bar between two values, its fill, and its label if it fits.

    With a `palette_index` its fill is the color of that accelerator, with opacity `alpha`.
    """

    start: float
    end: float
    ink: str = ""
    words: str = ""
    palette_index: int = 0
    alpha: float = 1.0

    @property
    def length(self) -> float:
        return self.end - self.start


@frozen_dataclass
class StackedBar:
    """Segments, the value and a detail after them, and texts at both ends."""

    segments: tuple[BarSegment, ...]
    value: str = ""
    detail: str = ""
    before: str = ""
    after: str = ""


@frozen_dataclass
class BarInterval:
    """A dot at a value with an interval around it, in the color of the row's accelerator."""

    low: float
    value: float
    high: float
    words: str
    is_filled: bool


@frozen_dataclass
class BarNote:
    """A text instead of a bar, in a frame if that replaces the bar, and a link after it."""

    words: str
    framed: bool = False
    color: str = "text2"
    link: str = ""


BarLane = StackedBar | BarInterval | BarNote | None


@frozen_dataclass
class BarRow:
    """A row and its lanes from the top; `sentence` has all its values, `value` is shown at the right.

    A `palette_index` of 0 has no swatch.
    """

    key: str
    name: str
    lanes: tuple[BarLane, ...]
    sentence: str = ""
    palette_index: int = 0
    is_variant: bool = False
    value: str = ""

    @property
    def segments(self) -> tuple[BarSegment, ...]:
        return tuple(segment for lane in self.lanes if isinstance(lane, StackedBar) for segment in lane.segments)

    @property
    def note(self) -> str:
        return next((lane.words for lane in self.lanes if isinstance(lane, BarNote)), "")


@frozen_dataclass
class BarMark:
    """A line across all rows at a value, labeled above unless the legend has it."""

    value: float
    words: str = ""


@frozen_dataclass
class BarGroup:
    """Rows that share a scale between two values, with their legend: fill (or none) and text.

    `figure` is selected by a row; `note` is shown without rows.
    """

    title: str
    subtitle: str
    rows: tuple[BarRow, ...]
    low: float = 0.0
    high: float = 1.0
    key: tuple[tuple[str, str], ...] = ()
    mark: BarMark | None = None
    figure: str = ""
    note: str = ""


@frozen_dataclass
class BarChartStyle:
    """Design lengths: the least column of names, the one of values, bars, rows, and margins.

    Without an `axis` the scale of a group is its own, and values are in the right column. `width` is the preferred and
    the minimum width.
    """

    names: float = 108
    right: float = 16
    bar: float = 24
    rows: tuple[float, float, float] = (34, 46, 62)
    head: float = 26
    key: float = 24
    axis: float = 24
    below: float = 4
    width: tuple[float, float] = (420, 300)
    key_below_names: bool = False
    subtitle: str = "text2"


@frozen_dataclass
class BarLink:
    """A link in the chart, and the accelerator that it is about."""

    place: QRectF
    key: str
    text: str


class BarChart(QWidget):
    """Shows groups of rows; ↑ ↓ or a click selects one, Enter presses its link."""

    accessible_role = AccessibleRole.Chart
    #: The key of a row that was clicked or chosen by key, and the figure of its group.
    row_selected = Signal(str, str)
    #: The key of the row whose link was pressed.
    link_pressed = Signal(str)

    def __init__(self, theme: Theme, formatter: Formatter, style: BarChartStyle) -> None:
        super().__init__()
        self.theme, self.formatter = theme, formatter
        self.groups: tuple[BarGroup, ...] = ()
        self.rows: tuple[BarRow, ...] = ()
        self.current = -1
        #: The relative height at which the row was pressed; the keyboard means the lower end.
        self.press_height_share = 1.0
        self._style = style
        self._scales: list[tuple[float, float]] = []
        self._areas: list[QRectF] = []
        self._links: list[BarLink] = []
        self._heads: list[tuple[QRectF, str]] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        policy = QSizePolicy.Policy.Expanding
        self.setSizePolicy(policy, policy if style.axis else QSizePolicy.Policy.MinimumExpanding)
        theme.changed.connect(self._fit)
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    def data(self, formatter: Formatter) -> ChartData:
        raise NotImplementedError

    @property
    def title(self) -> str:
        return self.groups[0].title if self.groups else ""

    @property
    def subtitle(self) -> str:
        return self.groups[0].subtitle if self.groups else ""

    # Display

    def show_groups(self, *groups: BarGroup) -> None:
        """Show other groups; the current row stays if it still exists. Equal groups are not repainted."""
        if groups == self.groups:
            return
        before = [(group.figure, row.key) for group in self.groups for row in group.rows]
        current_key = before[self.current] if 0 <= self.current < len(before) else None
        self.groups = groups
        self.rows = tuple(row for group in groups for row in group.rows)
        places = [(group.figure, row.key) for group in groups for row in group.rows]
        self.current = places.index(current_key) if current_key in places else -1
        self._fit()
        self.setAccessibleName(self.title)
        self.setAccessibleDescription(" ".join(row.sentence for row in self.rows) or groups[0].note)
        if len(places) != len(before):
            self.updateGeometry()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        most = self._count_max_ticks()
        self._scales = [
            _LINEAR.fitted(group.low, group.high, most) if self._style.axis else (group.low, group.high)
            for group in self.groups
        ]
        # Place the rectangle of each group's rows between the ends of the scale.
        px, style, height, around = (
            self.theme.px,
            self._style,
            self._compute_row_height(),
            self._measure_group_margins(),
        )
        left, head = self._measure_names(), px(style.head) + px(style.key)
        width, top = max(self.width() - px(style.right) - left, 1), 0.0
        self._areas = []
        for group in self.groups:
            self._areas.append(QRectF(left, top + head, width, max(len(group.rows), 1) * height))
            top += len(group.rows) * height + around

    def sizeHint(self) -> QSize:
        return QSize(self.theme.px(self._style.width[0]), self._compute_height(self._style.rows[1]))

    def minimumSizeHint(self) -> QSize:
        return QSize(self.theme.px(self._style.width[1]), self._compute_height(self._style.rows[0]))

    def measure_tallest(self) -> int:
        """Return the height with the highest rows; beyond it the chart stays empty."""
        return self._compute_height(self._style.rows[2])

    def _compute_height(self, row: float) -> int:
        px = self.theme.px
        least = 2 if self._style.axis else 0
        return sum(self._measure_group_margins() + max(len(group.rows), least) * px(row) for group in self.groups)

    def _measure_group_margins(self) -> int:
        """Return the height above and below the rows of a group."""
        style = self._style
        return sum(self.theme.px(each) for each in (style.head, style.key, style.axis, style.below))

    # Geometry

    def _measure_names(self) -> int:
        """Return the width of the column of names: more than that of the style for long names, within limits."""
        px, letters = self.theme.px, QFontMetricsF(self.theme.font("small_strong"))
        widest = max((letters.horizontalAdvance(row.name) for row in self.rows if row.palette_index), default=0.0)
        needed = min(px(SWATCH_WIDTH) + px(8) + widest + px(8) + 1, px(_MOST_NAMES))
        return max(px(self._style.names), int(needed))

    def _compute_row_height(self) -> float:
        least, _, most = self._style.rows
        px, around = self.theme.px, self._measure_group_margins() - self.theme.px(self._style.below)
        free = self.height() - around * len(self.groups)
        return min(max(free / max(len(self.rows), 1), 1.0), px(most)) if most > least else float(px(least))

    def band(self, number: int) -> QRectF:
        """Return the rectangle of a row, counted over all groups, between the ends of the scale."""
        group, place = self._place_of(number)
        area = self._areas[group]
        height = area.height() / max(len(self.groups[group].rows), 1)
        return QRectF(area.left(), area.top() + place * height, area.width(), height)

    def _place_of(self, number: int) -> tuple[int, int]:
        for group, each in enumerate(self.groups):
            if number < len(each.rows):
                return group, number
            number -= len(each.rows)
        raise IndexError(number)

    def _map_to_x(self, group: int, value: float) -> float:
        area, (low, high) = self._areas[group], self._scales[group]
        return area.left() + (value - low) / (high - low) * area.width()

    def _count_max_ticks(self) -> int:
        room = self.width() - self._measure_names() - self.theme.px(self._style.right)
        return max(2, int(max(room, 1) / self.theme.px(_TICK)))

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            pen = ThemePainter(painter, self.theme)
            painter.fillRect(event.rect(), self.theme.color("page"))
            self._links, self._heads = [], []
            number = 0
            for place, group in enumerate(self.groups):
                self._paint_group(pen, place, group, number)
                number += len(group.rows)

    def _paint_group(self, pen: ThemePainter, place: int, group: BarGroup, first: int) -> None:
        px, style, area = self.theme.px, self._style, self._areas[place]
        head = QRectF(0, area.top() - px(style.key) - px(style.head), self.width(), px(style.head))
        explanation = "\n".join((group.subtitle, *(words for _, words in group.key)))
        self._heads.append((head.adjusted(0, 0, 0, px(style.key)), explanation))
        # As high as the title of a plot next to it.
        head.setHeight(self.theme.line("section"))
        width = pen.text(head, group.title, font="section")
        pen.text(head.adjusted(width + px(10), 0, 0, 0), group.subtitle, font="small", color=style.subtitle)
        widths = [(px(9) if ink else 0) + px(6) + pen.width(words, "caption") for ink, words in group.key]
        has_room = area.left() + sum(widths) + px(4) * len(widths) <= self.width()
        left = area.left() if has_room and not style.key_below_names else 0.0
        key = QRectF(left, area.top() - px(style.key), self.width() - left, px(style.key))
        self._paint_key(pen, key, group, widths)
        if not group.rows:
            pen.text(area, group.note, font="small", color="text3")
            return
        if style.axis:
            ticks = _LINEAR.ticks(*self._scales[place], self._count_max_ticks())
            for tick, text in zip(ticks, format_ticks(_LINEAR, ticks, self.formatter), strict=True):
                x = self._map_to_x(place, tick)
                pen.hairline(x, area.top(), x, area.bottom(), "strong" if tick == 0.0 else "grid")
                below = QRectF(x - self.theme.px(_TICK) / 2, area.bottom(), self.theme.px(_TICK), self.theme.px(24))
                pen.text(below, text, font="caption", color="text2", align=CENTER)
        for number, row in enumerate(group.rows, first):
            self._paint_name(pen, number, row)
            self._paint_row(pen, place, row, self.band(number), "selection" if self._is_marked(number) else "page")
        if group.mark is not None:
            self._paint_mark(pen, place, group.mark, area)

    def _paint_key(self, pen: ThemePainter, place: QRectF, group: BarGroup, widths: list[float]) -> None:
        """Paint the legend, more compact in a narrow chart, and else in two lines, up to the title."""
        px, line = self.theme.px, self.theme.line("caption")
        spare = (place.width() - sum(widths)) / max(len(widths) - 1, 1)
        gap = min(spare, px(12)) if spare >= px(4) else px(8)
        x = place.left()
        if spare < px(4):
            place = QRectF(x, place.bottom() - 2 * line, place.width(), line)
        for (ink, words), width in zip(group.key, widths, strict=True):
            side = px(9) if ink else 0
            if x + width > place.right() + 1:
                place, x = place.translated(0, line), place.left()
            middle = place.center().y()
            if ink in (DOT, RING):
                dot, color = x + px(4), self.theme.color("text2")
                _paint_dot(pen, dot, middle, color, is_filled=ink == DOT, radius=px(_DOT_RADIUS) - 0.5)
            elif ink == LINE:
                pen.rule(x + px(4), middle - side / 2, x + px(4), middle + side / 2, "text1", 1.0)
            elif ink:
                _fill(pen, QRectF(x, middle - side / 2, side, side), ink)
            rest = QRectF(x + side + px(6), place.top(), self.width(), place.height())
            x = rest.left() + pen.text(rest, words, font="caption", color="text2") + gap

    def _paint_name(self, pen: ThemePainter, number: int, row: BarRow) -> None:
        px, band = self.theme.px, self.band(number)
        place = QRectF(0, band.top(), band.left() - px(8), band.height())
        if self._is_marked(number):
            pen.tint(place.united(band).adjusted(-2, 2, 2, -2), "selection", 6.0)
        if row.value:
            value = QRectF(band.right(), band.top(), self.width() - band.right(), band.height())
            pen.text(value, row.value, font="label", align=RIGHT)
        if row.palette_index:
            pen.swatch(place.left(), band.center().y(), row.palette_index, is_variant=row.is_variant)
            name = place.adjusted(px(SWATCH_WIDTH) + px(8), 0, 0, 0)
            pen.text(name, row.name, font="small_strong", color=self.theme.name_color(row.palette_index))
        else:
            pen.text(place, row.name, font="small")

    def _is_marked(self, number: int) -> bool:
        return number == self.current and self.hasFocus()

    def _paint_row(self, pen: ThemePainter, group: int, row: BarRow, band: QRectF, background: str) -> None:
        apart = min(self.theme.px(_APART), band.height() / 4)
        for number, lane in enumerate(row.lanes):
            middle = band.center().y() + (2 * number - len(row.lanes) + 1) * apart
            height = self.theme.px(self._style.bar) if len(row.lanes) == 1 else 2 * apart
            place = QRectF(band.left(), middle - height / 2, band.width(), height)
            if isinstance(lane, StackedBar):
                self._paint_stack(pen, group, lane, place, background)
            elif isinstance(lane, BarInterval):
                self._paint_interval(pen, group, lane, row, place)
            elif lane is not None:
                self._paint_note(pen, group, lane, row, place)

    def _paint_stack(self, pen: ThemePainter, group: int, bar: StackedBar, place: QRectF, background: str) -> None:
        px = self.theme.px
        left, right = place.left(), place.left()
        if bar.segments:
            left, right = (self._map_to_x(group, each) for each in (bar.segments[0].start, bar.segments[-1].end))
        for segment in bar.segments:
            start, end = self._map_to_x(group, segment.start), self._map_to_x(group, segment.end)
            self._paint_segment(pen, segment, QRectF(start, place.top(), end - start, place.height()))
        if bar.before:
            width = pen.width(bar.before, "caption")
            before = QRectF(left - px(6) - width, place.top(), width, place.height())
            _paint_end(pen, before, bar.before, background)
        if bar.after:
            after = QRectF(right + px(6), place.top(), pen.width(bar.after, "caption"), place.height())
            _paint_end(pen, after, bar.after, background)
        if bar.value:
            value = QRectF(right + px(8), place.top(), px(80), place.height())
            x = value.left() + pen.text(value, bar.value, font="small_strong") + px(6)
            if bar.detail and self._has_room_for_details(pen):
                rest = QRectF(x, place.top(), self.width(), place.height())
                pen.text(rest, bar.detail, font="caption", color="text3")

    def _has_room_for_details(self, pen: ThemePainter) -> bool:
        """Return whether the details of all bars fit: with some alone, the others would seem to have none."""
        gaps = self.theme.px(8) + self.theme.px(6)
        return all(
            self._map_to_x(group, bar.segments[-1].end)
            + gaps
            + pen.width(bar.value, "small_strong")
            + pen.width(bar.detail, "caption")
            < self.width()
            for group, each in enumerate(self.groups)
            for row in each.rows
            for bar in row.lanes
            if isinstance(bar, StackedBar) and bar.detail and bar.segments
        )

    def _paint_segment(self, pen: ThemePainter, segment: BarSegment, place: QRectF) -> None:
        if segment.palette_index:
            color = QColor(self.theme.mark_color(segment.palette_index))
            color.setAlphaF(segment.alpha)
            pen.tint(place, color, _RADIUS)
            return
        if place.width() < 0.5:
            return
        if place.width() > 2:
            # A gap of a pixel separates the fills; thinner segments would vanish.
            place.setRight(place.right() - 1)
        _fill(pen, place, segment.ink)
        pad = self.theme.px(4)
        if segment.words and pen.width(segment.words, "caption") + 2 * pad < place.width():
            inside = place.adjusted(pad, 0, 0, 0)
            pen.text(inside, segment.words, font="caption", color=_WORDS.get(segment.ink, "text1"))

    def _paint_interval(self, pen: ThemePainter, group: int, cost: BarInterval, row: BarRow, place: QRectF) -> None:
        px, middle = self.theme.px, place.center().y()
        color = self.theme.mark_color(row.palette_index)
        low, at, high = (self._map_to_x(group, each) for each in (cost.low, cost.value, cost.high))
        high = min(high, place.right())
        shade = QColor(color)
        shade.setAlphaF(_FILLED_ALPHA if cost.is_filled else _OPEN_ALPHA)
        thick = px(_INTERVAL_HEIGHT)
        pen.tint(QRectF(low, middle - thick / 2, high - low, thick), shade, _INTERVAL_HEIGHT / 2)
        _paint_dot(pen, at, middle, color, is_filled=cost.is_filled, radius=px(_DOT_RADIUS))
        font, ink = ("small_strong", "text1") if cost.is_filled else ("small", "text2")
        left = self._clear_mark(group, high + px(8), pen.width(cost.words, font))
        pen.text(QRectF(left, middle - px(9), px(80), px(18)), cost.words, font=font, color=ink)

    def _clear_mark(self, group: int, left: float, width: float) -> float:
        """Return where a text begins so that the line of the mark does not strike it through."""
        mark = self.groups[group].mark
        if mark is None:
            return left
        x, gap = self._map_to_x(group, mark.value), self.theme.px(6)
        return x + gap if left - gap < x < left + width + gap else left

    def _paint_note(self, pen: ThemePainter, group: int, note: BarNote, row: BarRow, place: QRectF) -> None:
        px = self.theme.px
        if note.framed:
            frame = QRectF(place.left() + 1, place.top(), pen.width(note.words, "small") + px(20), place.height())
            pen.frame(frame, "strong", radius=4.0, dashed=True)
            pen.text(frame, note.words, font="small", color=note.color, align=CENTER)
            end = frame.right()
        else:
            start = place.left() + (px(8) if self._style.axis else 0)
            place.setLeft(self._clear_mark(group, start, pen.width(note.words, "small")))
            end = place.left() + pen.text(place, note.words, font="small", color=note.color)
        if note.link:
            start = self._clear_mark(group, end + px(10), pen.width(note.link, "small"))
            link = QRectF(start, place.top(), px(120), place.height())
            width = pen.text(link, note.link, font="small", color="link")
            pressed = QRectF(link.left(), link.top(), width, link.height())
            self._links.append(BarLink(pressed, row.key, note.link))

    def _paint_mark(self, pen: ThemePainter, place: int, mark: BarMark, area: QRectF) -> None:
        px, x = self.theme.px, self._map_to_x(place, mark.value)
        pen.rule(x, area.top(), x, area.bottom(), "text1", 1.0)
        words = QRectF(x - px(60), area.top() - px(20), px(120), px(18))
        pen.text(words, mark.words, font="caption_strong", align=CENTER)

    # Mouse and keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and self.rows:
            step = -1 if key == Qt.Key.Key_Up else 1
            start = self.current if self.current >= 0 else (len(self.rows) if step < 0 else -1)
            self.current = max(0, min(len(self.rows) - 1, start + step))
            if self.rows[self.current].sentence:
                self.setAccessibleDescription(self.rows[self.current].sentence)
            self.press_height_share = 1.0
            self._select()
            self.update()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current >= 0:
            self._press()
        else:
            event.ignore()
            return
        event.accept()

    def _press(self) -> None:
        self.press_height_share = 1.0
        key = self.rows[self.current].key
        if any(link.key == key for link in self._links):
            self.link_pressed.emit(key)
        else:
            self._select()

    def _select(self) -> None:
        group, _ = self._place_of(self.current)
        self.row_selected.emit(self.rows[self.current].key, self.groups[group].figure)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        link = self._link_at(event.position())
        if link is not None:
            self.link_pressed.emit(link.key)
            return
        number = self._find_row_at(event.position())
        if number >= 0:
            self.current = number
            band = self.band(number)
            self.press_height_share = (event.position().y() - band.top()) / band.height()
            self._select()
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        over = self._link_at(event.position()) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def _link_at(self, place: QPointF) -> BarLink | None:
        return next((link for link in self._links if link.place.contains(place)), None)

    def _find_row_at(self, place: QPointF) -> int:
        bands = (self.band(number) for number in range(len(self.rows)))
        return next((number for number, band in enumerate(bands) if band.top() <= place.y() < band.bottom()), -1)

    def event(self, event: QEvent) -> bool:
        """Show the full text of the row, or of subtitle and legend, which can be cut, as a tooltip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            place = QPointF(event.pos())
            number = self._find_row_at(place)
            subtitle = next((subtitle for head, subtitle in self._heads if head.contains(place)), "")
            QToolTip.showText(event.globalPos(), subtitle if number < 0 else self.rows[number].sentence, self)
            return True
        return super().event(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        show_chart_menu(self, self, event)


def _paint_end(pen: ThemePainter, place: QRectF, words: str, background: str) -> None:
    """Write the text at the end of a bar; lines of the scale do not strike it through."""
    pen.painter.fillRect(place.adjusted(-2, 0, 2, 0), pen.color(background))
    pen.text(place, words, font="caption", color="text2")


def _fill(pen: ThemePainter, place: QRectF, ink: str) -> None:
    if ink == HATCH:
        pen.hatch(place, "text2")
    elif ink == OUTLINE:
        pen.frame(place, "control", radius=_RADIUS)
    else:
        pen.tint(place, ink, _RADIUS)


def _paint_dot(pen: ThemePainter, x: float, y: float, color: QColor, *, is_filled: bool, radius: float) -> None:
    painter, page = pen.painter, pen.color("page")
    painter.setPen(QPen(page if is_filled else color, 1.4))
    painter.setBrush(color if is_filled else page)
    painter.drawEllipse(QRectF(x - radius, y - radius, 2 * radius, 2 * radius))
