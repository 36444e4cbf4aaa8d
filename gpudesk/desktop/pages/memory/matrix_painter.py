"""Paints the cells of the fit matrix: counts tinted by the room they leave; what nothing holds, hatched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap

from gpudesk.desktop.itemmodels.fit_model import FitModel
from gpudesk.desktop.pages.memory.bar_painter import paint_ring
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.painted_table import Place
from gpudesk.desktop.widgets.text_cache import TextCache
from gpudesk.desktop.widgets.text_layer import TextLayer
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.sheets.fit_words import Room, room_of, share_left

#: Room that is left -> tint and colour of the words on it.
TINTS: Final = {
    Room.AMPLE: ("best", "best_text"),
    Room.SOME: ("ink4", "text1"),
    Room.TIGHT: ("ink3", "text1"),
}
_GAP: Final = 3.0
_RADIUS: Final = 5.0
#: Where in a cell the count ends, as a share of its width, and what lies between it and the share left.
_COUNT_ENDS: Final = 0.42
_BETWEEN: Final = 6.0
_HATCH: Final = 15.0


@dataclass(frozen=True, slots=True)
class Shown:
    """What a paint is about.

    `present` is the scenario's model with its accelerators, by ids. Counts above `most`, where that is above
    0, and all where `pale`, are not tinted.
    """

    area: QRect
    rows: Sequence[Place]
    columns: Sequence[Place]
    hovered: int
    current: tuple[int, int] | None
    present: tuple[str, AbstractSet[str]]
    most: int
    pale: bool


@dataclass(frozen=True, slots=True)
class _Face:
    """What stands in a cell, and in which colours."""

    count: str
    share: str
    tint: str
    colour: str


class MatrixPainter:
    """Paints everything but heads and labels."""

    def __init__(self, theme: Theme, texts: TextCache, model: FitModel, formatter: Formatter) -> None:
        """Keep what to look up and what has been laid out."""
        self._theme, self._model, self._formatter = theme, model, formatter
        self._layer = TextLayer(theme, texts)
        self._texts = texts
        self._hatches: dict[tuple[int, float], QPixmap] = {}
        self._faces: dict[tuple[int, float], _Face] = {}
        theme.changed.connect(self._hatches.clear)

    def paint(self, painter: QPainter, shown: Shown) -> None:
        """Paint what is in sight."""
        theme = self._theme
        pen = Pen(painter, theme)
        painter.fillRect(shown.area, theme.colour("page"))
        if shown.columns:
            right = shown.columns[-1].start + shown.columns[-1].size
            for row in shown.rows:
                if row.number == shown.hovered:
                    painter.fillRect(0, row.start, right, row.size, theme.colour("hover"))
                pen.hairline(0, row.start + row.size - 1, right, row.start + row.size - 1, "grid")
        self._cells(pen, shown)
        for row in shown.rows:
            if self._model.row(row.number).model.id == shown.present[0]:
                for column in shown.columns:
                    if self._model.column(column.number).part.id in shown.present[1]:
                        pen.frame(self._box(row, column), "text1", radius=_RADIUS)
        if shown.current is not None:
            self._ring(pen, shown, *shown.current)

    def _box(self, row: Place, column: Place) -> QRectF:
        gap = self._theme.length(_GAP)
        return QRectF(column.start + gap, row.start + gap, column.size - 2 * gap, row.size - 1 - 2 * gap)

    def _cells(self, pen: Pen, shown: Shown) -> None:
        painter, layer = pen.painter, self._layer
        layer.clear()
        tinted: defaultdict[str, list[QRectF]] = defaultdict(list)
        hatched: list[QRectF] = []
        for row in shown.rows:
            cells = self._model.row(row.number).cells
            for column in shown.columns:
                cell, box = cells[column.number], self._box(row, column)
                if cell.count is None:
                    hatched.append(box)
                    self._none(box)
                    continue
                face = self._face(cell.count, share_left(cell))
                if shown.pale or 0 < shown.most < cell.count:
                    self._words(box, face, "text3")
                else:
                    tinted[face.tint].append(box)
                    self._words(box, face, face.colour)
        painter.setPen(Qt.PenStyle.NoPen)
        radius = self._theme.length(_RADIUS)
        for tint, boxes in tinted.items():
            painter.setBrush(self._theme.colour(tint))
            for box in boxes:
                painter.drawRoundedRect(box, radius, radius)
        for box in hatched:
            self._hatch(painter, box)
        layer.draw(painter)

    def _face(self, count: int, share: float) -> _Face:
        """Return how a count with a share left looks; there are few different ones."""
        key = count, round(share, 2)
        found = self._faces.get(key)
        if found is None:
            tint, colour = TINTS[room_of(share)]
            per_cent = self._formatter.per_cent(key[1])
            found = self._faces[key] = _Face(self._formatter.count(count), per_cent, tint, colour)
        return found

    def _words(self, box: QRectF, face: _Face, colour: str) -> None:
        middle, width = box.center().y(), box.width()
        left = box.left()
        end = left + width * _COUNT_ENDS
        self._layer.right("label", colour, face.count, left, end, middle)
        x = end + self._theme.length(_BETWEEN)
        self._layer.text("caption", colour, face.share, x, middle, left + width - x)

    def _none(self, box: QRectF) -> None:
        width = self._texts.width("small", UNKNOWN)
        self._layer.text("small", "text3", UNKNOWN, box.center().x() - width / 2, box.center().y())

    def _hatch(self, painter: QPainter, box: QRectF) -> None:
        """Hatch both ends of a cell; the strokes are drawn once for each height."""
        ratio = painter.device().devicePixelRatio()
        key = (round(box.height()), ratio)
        found = self._hatches.get(key)
        side = self._theme.length(_HATCH)
        if found is None:
            found = QPixmap(round(side * ratio), round(key[0] * ratio))
            found.setDevicePixelRatio(ratio)
            found.fill(Qt.GlobalColor.transparent)
            drawer = QPainter(found)
            try:
                Pen(drawer, self._theme).hatch(QRectF(0, 0, side, key[0]), "strong")
            finally:
                drawer.end()
            self._hatches[key] = found
        painter.drawPixmap(QPointF(round(box.left()), round(box.top())), found)
        painter.drawPixmap(QPointF(round(box.right() - side), round(box.top())), found)

    def _ring(self, pen: Pen, shown: Shown, row: int, column: int) -> None:
        level = next((place for place in shown.rows if place.number == row), None)
        place = next((place for place in shown.columns if place.number == column), None)
        if level is not None and place is not None:
            paint_ring(pen, self._box(level, place).adjusted(0, -1, 1, 1))
