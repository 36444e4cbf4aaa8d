"""Rows against one scale: names at the left, what is drawn in the middle, an axis with its ticks below."""

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

from gpudesk.desktop.charts.commands import context_menu, menu_position
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.scales import Linear, tick_texts
from gpudesk.desktop.theme.pen import CENTRE, SWATCH_WIDTH, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.roles import Role
from gpudesk.domain.formatting import Formatter

#: Lengths in pixels of the design: title, key, axis, the least and the most of a row, what a tick takes.
_HEAD: Final = 26
_KEY: Final = 24
_AXIS: Final = 24
_LEAST_ROW, _MOST_ROW = 34, 62
_TICK: Final = 44
_LINEAR: Final = Linear()


@dataclass(frozen=True, slots=True)
class RowName:
    """What a row is about; a slot of 0 has no swatch. `sentence` tells all of the row."""

    key: str
    name: str
    sentence: str
    slot: int = 0
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """Words in the chart that can be pressed, and whom they are about."""

    place: QRectF
    key: str
    text: str


class RowsChart(QWidget):
    """Draws rows. Subclasses draw one of them, and say what the chart is in words and numbers."""

    accessible_role = Role.Chart
    #: The key of a row that was clicked, or chosen with Enter.
    row_selected = Signal(str)
    #: The key of the row whose link was pressed.
    link_pressed = Signal(str)

    #: Width of the names, and of what is kept free at the right, in pixels of the design.
    names_width = 108
    after_width = 16

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        """Begin without rows."""
        super().__init__(parent)
        self.theme, self.formatter = theme, formatter
        self.title, self.subtitle, self.note = "", "", ""
        self.rows: tuple[RowName, ...] = ()
        self.current = -1
        #: Where in its height the row was pressed, of 1; the keyboard means the lower end.
        self.pressed_at = 1.0
        self._ends, self._low, self._high = (0.0, 1.0), 0.0, 1.0
        self._area: QRectF | None = None
        self._links: list[Link] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self._fit)
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    # What subclasses say

    def paint_row(self, pen: Pen, number: int, band: QRectF) -> None:
        """Draw a row within its band, whose left and right ends are those of the scale."""
        raise NotImplementedError

    def paint_key(self, pen: Pen, place: QRectF) -> None:
        """Draw the key of what rows show."""
        del pen, place

    def paint_over(self, pen: Pen, area: QRectF) -> None:
        """Draw what lies over all rows."""
        del pen, area

    def data(self, formatter: Formatter) -> Data:
        """Return the chart's numbers."""
        raise NotImplementedError

    # Showing

    def show_rows(
        self, title: str, subtitle: str, rows: Sequence[RowName], low: float, high: float, note: str = ""
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

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Set as many ticks as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self._area = None
        self._low, self._high = _LINEAR.fitted(*self._ends, self._most_ticks())

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the height of comfortable rows."""
        return QSize(self.theme.px(420), self._height(46))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the height of close rows."""
        return QSize(self.theme.px(300), self._height(_LEAST_ROW))

    def _height(self, row: int) -> int:
        px = self.theme.px
        return px(_HEAD) + px(_KEY) + px(_AXIS) + max(len(self.rows), 2) * px(row) + px(4)

    # Where things lie

    @property
    def area(self) -> QRectF:
        """The rectangle of all rows between the ends of the scale."""
        if self._area is None:
            self._area = self._measured()
        return self._area

    def _measured(self) -> QRectF:
        px = self.theme.px
        top = px(_HEAD) + px(_KEY)
        left, right = px(self.names_width), self.width() - px(self.after_width)
        height = min(self.height() - top - px(_AXIS), max(len(self.rows), 1) * px(_MOST_ROW))
        return QRectF(left, top, max(right - left, 1), max(height, 1))

    def x_of(self, value: float) -> float:
        """Return where a value lies."""
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

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint title, key, rows and axis."""
        painter = QPainter(self)
        try:
            pen = Pen(painter, self.theme)
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
        finally:
            painter.end()

    def _paint_head(self, pen: Pen) -> None:
        px = self.theme.px
        head = QRectF(0, 0, self.width(), px(_HEAD))
        width = pen.text(head, self.title, font="section")
        rest = head.adjusted(width + px(10), 0, 0, 0)
        pen.text(rest, self.subtitle, font="small", colour="text2")
        self.paint_key(pen, QRectF(px(self.names_width), px(_HEAD), self.area.width(), px(_KEY)))

    def _paint_axis(self, pen: Pen, area: QRectF) -> None:
        ticks = _LINEAR.ticks(self._low, self._high, self._most_ticks())
        for tick, text in zip(ticks, tick_texts(_LINEAR, ticks, self.formatter), strict=True):
            x = self.x_of(tick)
            pen.hairline(x, area.top(), x, area.bottom(), "strong" if tick == 0.0 else "grid")
            place = QRectF(
                x - self.theme.px(_TICK) / 2, area.bottom(), self.theme.px(_TICK), self.theme.px(_AXIS)
            )
            pen.text(place, text, font="caption", colour="text2", align=CENTRE)

    def _paint_name(self, pen: Pen, number: int, row: RowName) -> None:
        px, band = self.theme.px, self.band(number)
        place = QRectF(0, band.top(), px(self.names_width) - px(8), band.height())
        if number == self.current and self.hasFocus():
            pen.tint(place.united(band).adjusted(-2, 2, 2, -2), "selection", 6.0)
        if row.slot:
            pen.swatch(0.0, band.center().y(), row.slot, hollow=row.hollow)
            name = place.adjusted(px(SWATCH_WIDTH) + px(8), 0, 0, 0)
            pen.text(name, row.name, font="small_strong", colour=self.theme.slot_label(row.slot))
        else:
            pen.text(place, row.name, font="small")

    def paint_link(self, pen: Pen, place: QRectF, key: str, text: str) -> float:
        """Write words that can be pressed, and return their width."""
        width = pen.text(place, text, font="small", colour="link")
        self._links.append(Link(QRectF(place.left(), place.top(), width, place.height()), key, text))
        return width

    # Mouse and keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Choose a row; Enter selects it, or presses its link."""
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
        self.pressed_at = 1.0
        linked = any(link.key == key for link in self._links)
        (self.link_pressed if linked else self.row_selected).emit(key)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Press the link under the mouse, or select its row."""
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
            self.pressed_at = (event.position().y() - band.top()) / band.height()
            self.row_selected.emit(self.rows[number].key)
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Show what can be pressed."""
        over = self._link_at(event.position()) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def _link_at(self, place: QPointF) -> Link | None:
        return next((link for link in self._links if link.place.contains(place)), None)

    def _row_at(self, place: QPointF) -> int:
        area = self.area
        if not self.rows or not area.top() <= place.y() < area.bottom():
            return -1
        return int((place.y() - area.top()) / (area.height() / len(self.rows)))

    def event(self, event: QEvent) -> bool:
        """Tell all of the row under the mouse."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            number = self._row_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), "" if number < 0 else self.rows[number].sentence, self)
            return True
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Show which row the keyboard is at."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Show no row any more."""
        super().focusOutEvent(event)
        self.update()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer what the chart can be asked for."""
        context_menu(self, self, []).popup(menu_position(event, self))
