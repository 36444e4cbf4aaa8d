"""Bars in rows like a table: names at the left, values at the right, words on the pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpudesk.desktop.charts.commands import context_menu, menu_position
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.theme.pen import RIGHT, SWATCH_WIDTH, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.roles import Role
from gpudesk.domain.formatting import Formatter

#: Heights in pixels of the design.
_HEAD: Final = 28
_KEY: Final = 22
_ROW: Final = 28
_BAR: Final = 16
_GAP: Final = 18
_VALUE: Final = 96


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a bar: its length as a share of the longest bar, its ink, and the words on it."""

    share: float
    ink: str
    words: str


@dataclass(frozen=True, slots=True)
class Row:
    """An accelerator's bar; without pieces the `note` says why."""

    key: str
    slot: int
    hollow: bool
    name: str
    pieces: tuple[Piece, ...]
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Bars that share a scale; `inks` is the key: ink and name. `figure` is what a row selects."""

    title: str
    subtitle: str
    figure: str
    inks: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]


#: In the place of an ink: a frame without a fill.
OUTLINE: Final = "outline"

#: Colour of words on an ink.
_WORDS: Final = {"ink1": "page", "ink2": "text1", "ink3": "text1", "ink4": "text1", OUTLINE: "text1"}


class BarsChart(QWidget):
    """Groups of bars; rows are chosen with ↑ ↓ and selected with Enter or a click."""

    accessible_role = Role.Chart
    #: The key of a row, and the figure of its group.
    row_selected = Signal(str, str)

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        """Begin without bars."""
        super().__init__(parent)
        self.theme = theme
        self.formatter = formatter
        self.groups: tuple[Group, ...] = ()
        self._current: tuple[int, int] | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    def show_groups(self, groups: tuple[Group, ...]) -> None:
        """Show other bars."""
        shape = [len(group.rows) for group in self.groups]
        self.groups = groups
        if shape != [len(group.rows) for group in groups]:
            self._current = None
            self.updateGeometry()
        self.update()

    def data(self, formatter: Formatter) -> Data:
        """Return the numbers behind the bars."""
        raise NotImplementedError

    # Size

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the height of all groups."""
        return QSize(self.theme.px(640), sum(self._height(group) for group in self.groups))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the height of all groups; bars may be short."""
        return QSize(self.theme.px(360), self.sizeHint().height())

    def _height(self, group: Group) -> int:
        px = self.theme.px
        return px(_HEAD) + px(_KEY) + len(group.rows) * px(_ROW) + px(_GAP)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint all groups."""
        del event
        painter = QPainter(self)
        try:
            pen = Pen(painter, self.theme)
            painter.fillRect(self.rect(), self.theme.colour("page"))
            top = 0.0
            for number, group in enumerate(self.groups):
                self._group(pen, number, group, top)
                top += self._height(group)
        finally:
            painter.end()

    def _group(self, pen: Pen, number: int, group: Group, top: float) -> None:
        px = self.theme.px
        head = QRectF(0, top, self.width(), px(_HEAD))
        width = pen.text(head, group.title, font="section")
        rest = QRectF(head.left() + width + px(10), top, self.width() - width - px(10), px(_HEAD))
        pen.text(rest, group.subtitle, font="small", colour="text3")
        self._key(pen, group, top + px(_HEAD))
        for position, row in enumerate(group.rows):
            self._row(pen, (number, position), row, self._row_rect(group, position, top))

    def _row_rect(self, group: Group, position: int, top: float) -> QRectF:
        px = self.theme.px
        y = top + px(_HEAD) + (px(_KEY) if group.inks else 0) + position * px(_ROW)
        return QRectF(0, y, self.width(), px(_ROW))

    def _key(self, pen: Pen, group: Group, top: float) -> None:
        px, x = self.theme.px, float(self._bars_left())
        side, middle = px(9), top + px(_KEY) / 2
        for ink, words in group.inks:
            _fill(pen, QRectF(x, middle - side / 2, side, side), ink)
            place = QRectF(x + side + px(6), top, self.width(), px(_KEY))
            x = place.left() + pen.text(place, words, font="caption", colour="text2") + px(16)

    def _bars_left(self) -> int:
        return self.theme.px(136)

    def _row(self, pen: Pen, place: tuple[int, int], row: Row, rect: QRectF) -> None:
        px, middle = self.theme.px, rect.center().y()
        if place == self._current and self.hasFocus():
            pen.tint(rect.adjusted(-2, 1, 2, -1), "selection", 6.0)
        pen.swatch(px(6), middle, row.slot, hollow=row.hollow)
        left = px(6) + px(SWATCH_WIDTH) + px(8)
        name = QRectF(left, rect.top(), self._bars_left() - left - px(6), rect.height())
        pen.text(name, row.name, font="small_strong", colour=self.theme.slot_label(row.slot))
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

    def _piece(self, pen: Pen, bar: QRectF, piece: Piece) -> None:
        if bar.width() < 0.5:
            return
        _fill(pen, bar.adjusted(0, 0, -1 if bar.width() > 2 else 0, 0), piece.ink)
        if pen.width(piece.words, "caption") + self.theme.px(10) < bar.width():
            inside = bar.adjusted(self.theme.px(5), 0, 0, 0)
            pen.text(inside, piece.words, font="caption", colour=_WORDS[piece.ink])

    # Choosing

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Choose a row, or select it."""
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

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Select the row under the mouse."""
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


def _fill(pen: Pen, rect: QRectF, ink: str) -> None:
    if ink == OUTLINE:
        pen.frame(rect, "control", radius=2.5)
    else:
        pen.tint(rect, ink, 2.5)
