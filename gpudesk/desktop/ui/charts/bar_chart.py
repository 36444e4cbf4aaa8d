"""Bars in rows: names on the left, bars against one scale, values on the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpudesk.desktop.ui.charts.chart_data import ChartData, find_menu_position, make_chart_menu
from gpudesk.desktop.ui.charts.scales import LinearScale, format_ticks
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTRE, RIGHT, SWATCH_WIDTH, ThemePainter
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole
from gpudesk.text.formatting import Formatter

#: Heights in pixels of the design.
_GROUP_HEAD: Final = 28
_GROUP_KEY: Final = 22
_ROW: Final = 28
_BAR: Final = 16
_GAP: Final = 18
_VALUE: Final = 96


@dataclass(frozen=True, slots=True)
class BarPiece:
    """A part of a bar: its length as a share of the longest bar, its ink, and the words on it."""

    share: float
    ink: str
    words: str


@dataclass(frozen=True, slots=True)
class AcceleratorBar:
    """An accelerator's bar; without pieces the `note` says why."""

    key: str
    slot: int
    is_variant: bool
    name: str
    pieces: tuple[BarPiece, ...]
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class BarGroup:
    """Bars that share a scale; `inks` is the key: ink and name. `figure` is what a row selects."""

    title: str
    subtitle: str
    figure: str
    inks: tuple[tuple[str, str], ...]
    rows: tuple[AcceleratorBar, ...]


#: In the place of an ink: a frame without a fill.
OUTLINE: Final = "outline"

#: Colour of words on an ink.
_WORDS: Final = {"ink1": "page", "ink2": "text1", "ink3": "text1", "ink4": "text1", OUTLINE: "text1"}


class GroupedBarChart(QWidget):
    """Groups of bars; rows are chosen with ↑ ↓ and selected with Enter or a click."""

    accessible_role = AccessibleRole.Chart
    #: The key of a row, and the figure of its group.
    row_selected = Signal(str, str)

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.formatter = formatter
        self.groups: tuple[BarGroup, ...] = ()
        self._current: tuple[int, int] | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    def show_groups(self, groups: tuple[BarGroup, ...]) -> None:
        shape = [len(group.rows) for group in self.groups]
        self.groups = groups
        if shape != [len(group.rows) for group in groups]:
            self._current = None
            self.updateGeometry()
        self.update()

    def data(self, formatter: Formatter) -> ChartData:
        raise NotImplementedError

    # Size

    def sizeHint(self) -> QSize:
        return QSize(self.theme.px(640), sum(self._height(group) for group in self.groups))

    def minimumSizeHint(self) -> QSize:
        return QSize(self.theme.px(360), self.sizeHint().height())

    def _height(self, group: BarGroup) -> int:
        px = self.theme.px
        return px(_GROUP_HEAD) + px(_GROUP_KEY) + len(group.rows) * px(_ROW) + px(_GAP)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        with QPainter(self) as painter:
            pen = ThemePainter(painter, self.theme)
            painter.fillRect(self.rect(), self.theme.colour("page"))
            top = 0.0
            for number, group in enumerate(self.groups):
                self._group(pen, number, group, top)
                top += self._height(group)

    def _group(self, pen: ThemePainter, number: int, group: BarGroup, top: float) -> None:
        px = self.theme.px
        head = QRectF(0, top, self.width(), px(_GROUP_HEAD))
        width = pen.text(head, group.title, font="section")
        rest = QRectF(head.left() + width + px(10), top, self.width() - width - px(10), px(_GROUP_HEAD))
        pen.text(rest, group.subtitle, font="small", colour="text3")
        self._key(pen, group, top + px(_GROUP_HEAD))
        for position, row in enumerate(group.rows):
            self._row(pen, (number, position), row, self._row_rect(group, position, top))

    def _row_rect(self, group: BarGroup, position: int, top: float) -> QRectF:
        px = self.theme.px
        y = top + px(_GROUP_HEAD) + (px(_GROUP_KEY) if group.inks else 0) + position * px(_ROW)
        return QRectF(0, y, self.width(), px(_ROW))

    def _key(self, pen: ThemePainter, group: BarGroup, top: float) -> None:
        px, x = self.theme.px, float(self._bars_left())
        side, middle = px(9), top + px(_GROUP_KEY) / 2
        for ink, words in group.inks:
            _fill_piece(pen, QRectF(x, middle - side / 2, side, side), ink)
            place = QRectF(x + side + px(6), top, self.width(), px(_GROUP_KEY))
            x = place.left() + pen.text(place, words, font="caption", colour="text2") + px(16)

    def _bars_left(self) -> int:
        return self.theme.px(136)

    def _row(self, pen: ThemePainter, place: tuple[int, int], row: AcceleratorBar, rect: QRectF) -> None:
        px, middle = self.theme.px, rect.center().y()
        if place == self._current and self.hasFocus():
            pen.tint(rect.adjusted(-2, 1, 2, -1), "selection", 6.0)
        pen.swatch(px(6), middle, row.slot, is_variant=row.is_variant)
        left = px(6) + px(SWATCH_WIDTH) + px(8)
        name = QRectF(left, rect.top(), self._bars_left() - left - px(6), rect.height())
        pen.text(name, row.name, font="small_strong", colour=self.theme.name_color(row.slot))
        value = QRectF(rect.right() - px(_VALUE), rect.top(), px(_VALUE) - px(6), rect.height())
        pen.text(value, row.value, font="label", align=RIGHT)
        bar = QRectF(self._bars_left(), middle - px(_BAR) / 2, 0, px(_BAR))
        room = rect.right() - px(_VALUE) - bar.left()
        if not row.pieces:
            note = QRectF(bar.left(), rect.top(), room, rect.height())
            pen.text(note, row.note, font="small", colour="text3")
        for piece in row.pieces:
            bar.setWidth(piece.share * room)
            self._piece(pen, bar, piece)
            bar.moveLeft(bar.right())

    def _piece(self, pen: ThemePainter, bar: QRectF, piece: BarPiece) -> None:
        if bar.width() < 0.5:
            return
        _fill_piece(pen, bar.adjusted(0, 0, -1 if bar.width() > 2 else 0, 0), piece.ink)
        if pen.width(piece.words, "caption") + self.theme.px(10) < bar.width():
            inside = bar.adjusted(self.theme.px(5), 0, 0, 0)
            pen.text(inside, piece.words, font="caption", colour=_WORDS[piece.ink])

    # Choosing

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._move(-1 if event.key() == Qt.Key.Key_Up else 1)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._current is not None:
            self._select(self._current)
        else:
            event.ignore()
            return
        event.accept()

    def _move(self, by: int) -> None:
        places = [(n, row) for n, group in enumerate(self.groups) for row in range(len(group.rows))]
        if places:
            at = places.index(self._current) + by if self._current in places else (0 if by > 0 else -1)
            self._current = places[max(0, min(len(places) - 1, at))]
            self.update()

    def _select(self, place: tuple[int, int]) -> None:
        self._current = place
        group = self.groups[place[0]]
        self.row_selected.emit(group.rows[place[1]].key, group.figure)
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self._place_at(event.position().y())
        if event.button() is Qt.MouseButton.LeftButton and place is not None:
            self._select(place)

    def _place_at(self, y: float) -> tuple[int, int] | None:
        top = 0.0
        for number, group in enumerate(self.groups):
            for position in range(len(group.rows)):
                if self._row_rect(group, position, top).contains(1.0, y):
                    return number, position
            top += self._height(group)
        return None

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        make_chart_menu(self, self, []).popup(find_menu_position(event, self))


def _fill_piece(pen: ThemePainter, rect: QRectF, ink: str) -> None:
    if ink == OUTLINE:
        pen.frame(rect, "control", radius=2.5)
    else:
        pen.tint(rect, ink, 2.5)


#: Lengths in pixels of the design: title, key, axis, the least and the most of a row, what a tick takes.
_TITLE_HEIGHT: Final = 26
_KEY_HEIGHT: Final = 24
_AXIS: Final = 24
_LEAST_ROW, _MOST_ROW = 34, 62
_TICK: Final = 44
_LINEAR: Final = LinearScale()


@dataclass(frozen=True, slots=True)
class ChartRow:
    """What a row is about; a slot of 0 has no swatch. `sentence` tells all of the row."""

    key: str
    name: str
    sentence: str
    slot: int = 0
    is_variant: bool = False


@dataclass(frozen=True, slots=True)
class ChartLink:
    """Words in the chart that can be pressed, and whom they are about."""

    place: QRectF
    key: str
    text: str


class RowChart(QWidget):
    """Draws rows. Subclasses draw one of them, and say what the chart is in words and numbers."""

    accessible_role = AccessibleRole.Chart
    #: The key of a row that was clicked, or chosen with Enter.
    row_selected = Signal(str)
    #: The key of the row whose link was pressed.
    link_pressed = Signal(str)

    #: Width of the names, and of what is kept free at the right, in pixels of the design.
    name_column_width = 108
    right_margin_width = 16

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme, self.formatter = theme, formatter
        self.title, self.subtitle, self.note = "", "", ""
        self.rows: tuple[ChartRow, ...] = ()
        self.current = -1
        #: Where in its height the row was pressed, of 1; the keyboard means the lower end.
        self.press_height_share = 1.0
        self._ends, self._low, self._high = (0.0, 1.0), 0.0, 1.0
        self._area: QRectF | None = None
        self._links: list[ChartLink] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self._fit)
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    # What subclasses say

    def paint_row(self, pen: ThemePainter, number: int, band: QRectF) -> None:
        """Draw a row within its band, whose left and right ends are those of the scale."""
        raise NotImplementedError

    def paint_key(self, pen: ThemePainter, place: QRectF) -> None:
        del pen, place

    def paint_over(self, pen: ThemePainter, area: QRectF) -> None:
        del pen, area

    def data(self, formatter: Formatter) -> ChartData:
        raise NotImplementedError

    # Showing

    def show_rows(
        self, title: str, subtitle: str, rows: Sequence[ChartRow], low: float, high: float, note: str = ""
    ) -> None:
        """Show other rows on a scale between two values; `note` stands there where there are none."""
        kept = self.rows[self.current].key if 0 <= self.current < len(self.rows) else ""
        before = len(self.rows)
        self.title, self.subtitle, self.note = title, subtitle, note
        self.rows = tuple(rows)
        self._ends = (low, high)
        self._fit()
        self.current = next((n for n, row in enumerate(rows) if row.key == kept), -1)
        self.setAccessibleName(title)
        self.setAccessibleDescription(" ".join(row.sentence for row in rows) or note)
        if len(rows) != before:
            self.updateGeometry()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self._area = None
        self._low, self._high = _LINEAR.fitted(*self._ends, self._most_ticks())

    def sizeHint(self) -> QSize:
        return QSize(self.theme.px(420), self._height(46))

    def minimumSizeHint(self) -> QSize:
        return QSize(self.theme.px(300), self._height(_LEAST_ROW))

    def _height(self, row: int) -> int:
        px = self.theme.px
        return px(_TITLE_HEIGHT) + px(_KEY_HEIGHT) + px(_AXIS) + max(len(self.rows), 2) * px(row) + px(4)

    # Where things lie

    @property
    def area(self) -> QRectF:
        """The rectangle of all rows between the ends of the scale."""
        if self._area is None:
            self._area = self._measured()
        return self._area

    def _measured(self) -> QRectF:
        px = self.theme.px
        top = px(_TITLE_HEIGHT) + px(_KEY_HEIGHT)
        left, right = px(self.name_column_width), self.width() - px(self.right_margin_width)
        height = min(self.height() - top - px(_AXIS), max(len(self.rows), 1) * px(_MOST_ROW))
        return QRectF(left, top, max(right - left, 1), max(height, 1))

    def x_of(self, value: float) -> float:
        area, span = self.area, self._high - self._low
        return area.left() + (value - self._low) / span * area.width()

    def band(self, number: int) -> QRectF:
        """Return the rectangle of a row between the ends of the scale."""
        area = self.area
        height = area.height() / max(len(self.rows), 1)
        return QRectF(area.left(), area.top() + number * height, area.width(), height)

    def _most_ticks(self) -> int:
        return max(2, int(self.area.width() / self.theme.px(_TICK)))

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            pen = ThemePainter(painter, self.theme)
            painter.fillRect(event.rect(), self.theme.colour("page"))
            self._links = []
            self._paint_head(pen)
            area = self.area
            if not self.rows:
                pen.text(area, self.note, font="small", colour="text3")
                return
            self._paint_axis(pen, area)
            for number, row in enumerate(self.rows):
                self._paint_name(pen, number, row)
                self.paint_row(pen, number, self.band(number))
            self.paint_over(pen, area)

    def _paint_head(self, pen: ThemePainter) -> None:
        px = self.theme.px
        head = QRectF(0, 0, self.width(), px(_TITLE_HEIGHT))
        width = pen.text(head, self.title, font="section")
        rest = head.adjusted(width + px(10), 0, 0, 0)
        pen.text(rest, self.subtitle, font="small", colour="text2")
        self.paint_key(pen, QRectF(px(self.name_column_width), px(_TITLE_HEIGHT), self.area.width(), px(_KEY_HEIGHT)))

    def _paint_axis(self, pen: ThemePainter, area: QRectF) -> None:
        ticks = _LINEAR.ticks(self._low, self._high, self._most_ticks())
        for tick, text in zip(ticks, format_ticks(_LINEAR, ticks, self.formatter), strict=True):
            x = self.x_of(tick)
            pen.hairline(x, area.top(), x, area.bottom(), "strong" if tick == 0.0 else "grid")
            place = QRectF(x - self.theme.px(_TICK) / 2, area.bottom(), self.theme.px(_TICK), self.theme.px(_AXIS))
            pen.text(place, text, font="caption", colour="text2", align=CENTRE)

    def _paint_name(self, pen: ThemePainter, number: int, row: ChartRow) -> None:
        px, band = self.theme.px, self.band(number)
        place = QRectF(0, band.top(), px(self.name_column_width) - px(8), band.height())
        if number == self.current and self.hasFocus():
            pen.tint(place.united(band).adjusted(-2, 2, 2, -2), "selection", 6.0)
        if row.slot:
            pen.swatch(0.0, band.center().y(), row.slot, is_variant=row.is_variant)
            name = place.adjusted(px(SWATCH_WIDTH) + px(8), 0, 0, 0)
            pen.text(name, row.name, font="small_strong", colour=self.theme.name_color(row.slot))
        else:
            pen.text(place, row.name, font="small")

    def paint_link(self, pen: ThemePainter, place: QRectF, key: str, text: str) -> float:
        width = pen.text(place, text, font="small", colour="link")
        self._links.append(ChartLink(QRectF(place.left(), place.top(), width, place.height()), key, text))
        return width

    # Mouse and keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and self.rows:
            step = -1 if key == Qt.Key.Key_Up else 1
            start = self.current if self.current >= 0 else (len(self.rows) if step < 0 else -1)
            self.current = max(0, min(len(self.rows) - 1, start + step))
            self.setAccessibleDescription(self.rows[self.current].sentence)
            self.update()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current >= 0:
            self._press(self.rows[self.current].key)
        else:
            event.ignore()
            return
        event.accept()

    def _press(self, key: str) -> None:
        self.press_height_share = 1.0
        linked = any(link.key == key for link in self._links)
        (self.link_pressed if linked else self.row_selected).emit(key)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        link = self._link_at(event.position())
        if link is not None:
            self.link_pressed.emit(link.key)
            return
        number = self._row_at(event.position())
        if number >= 0:
            self.current = number
            band = self.band(number)
            self.press_height_share = (event.position().y() - band.top()) / band.height()
            self.row_selected.emit(self.rows[number].key)
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        over = self._link_at(event.position()) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def _link_at(self, place: QPointF) -> ChartLink | None:
        return next((link for link in self._links if link.place.contains(place)), None)

    def _row_at(self, place: QPointF) -> int:
        area = self.area
        if not self.rows or not area.top() <= place.y() < area.bottom():
            return -1
        return int((place.y() - area.top()) / (area.height() / len(self.rows)))

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            number = self._row_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), "" if number < 0 else self.rows[number].sentence, self)
            return True
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        make_chart_menu(self, self, []).popup(find_menu_position(event, self))
