"""The picture of fleets in their racks, on screen and on paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpudesk.desktop.ui.charts.chart_data import ChartData, find_menu_position, make_chart_menu
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole
from gpudesk.report.rack_drawing import (
    DrawnBox,
    FleetSketch,
    RackDrawing,
    lay_out_racks,
    list_rack_heads,
    list_rack_rows,
)
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

_LINE: Final = 1.15
_USUAL_HEIGHT: Final = 340.0


def paint_racks(pen: ThemePainter, left: float, top: float, drawing: RackDrawing) -> None:
    """Paint a drawing with its top left corner at a point of the painter's units."""
    for box in drawing.boxes:
        _paint_box(pen, QRectF(left + box.x, top + box.y, box.width, box.height), box)
    for text in drawing.texts:
        place = QRectF(left + text.x, top + text.y, text.width, drawing.line)
        font, colour = ("small_strong", "text1") if text.is_strong else ("small", "text2")
        pen.text(place, text.text, font=font, colour=f"slot{text.slot}" if text.slot else colour)


def _paint_box(pen: ThemePainter, place: QRectF, box: DrawnBox) -> None:
    thin = pen.look.length(1)
    colour = pen.look.mark_color(box.slot)
    if box.kind == "rack":
        pen.frame(place, "control", radius=3, fill="page")
    elif box.kind == "system":
        pen.frame(place, "strong", radius=1, fill="sunken")
    elif box.kind == "scale":
        pen.rule(place.left(), place.top(), place.right(), place.top(), "text2", thin)
        for x in (place.left(), place.right()):
            pen.rule(x, place.top() - 4 * thin, x, place.top() + 4 * thin, "text2", thin)
    elif box.kind == "used":
        pen.tint(place, colour, radius=1)
    else:
        pen.frame(place, colour, radius=1, fill="page")
        if box.kind == "spare":
            pen.painter.setPen(QPen(colour, thin))
            pen.painter.drawLine(place.bottomLeft(), place.topRight())


def measure_line(pen: ThemePainter) -> float:
    """Return the height of a line of a drawing's texts, in the painter's units."""
    return pen.metrics("small").height() * _LINE


class RackPicture(QWidget):
    """Racks of all fleets side by side; each rack has a tool tip, the whole a table as alternative."""

    accessible_role = AccessibleRole.Graphic

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme, self.formatter = theme, formatter
        self._sketches: Sequence[FleetSketch] = ()
        self._drawing: RackDrawing | None = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(tr("Racks"))
        theme.follow(self._lay_out)

    def show_fleets(self, sketches: Sequence[FleetSketch]) -> None:
        self._sketches = tuple(sketches)
        sentences = [f"{each.name}: {'. '.join(_list_sentences(each))}." for each in sketches]
        self.setAccessibleDescription(" ".join(sentences))
        self.setToolTip("\n".join(sentences))
        self._lay_out()

    def data(self, formatter: Formatter) -> ChartData:
        rows = tuple(list_rack_rows(self._sketches, formatter))
        return ChartData(tr("Racks"), list_rack_heads(), rows, first_number=2)

    def _line(self) -> float:
        return QFontMetricsF(self.theme.font("small")).height() * _LINE

    def _lay_out(self) -> None:
        width, line = max(self.width(), 200), self._line()
        self._drawing = lay_out_racks(self._sketches, width, self.height(), line)
        self.setMinimumHeight(round(lay_out_racks(self._sketches, width, 0, line).height))
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def sizeHint(self) -> QSize:
        return QSize(self.theme.px(_USUAL_HEIGHT), self.theme.px(_USUAL_HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            if self._drawing is not None:
                paint_racks(ThemePainter(painter, self.theme), 0, 0, self._drawing)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and self._drawing is not None:
            place = event.pos()
            regions = self._drawing.regions
            hit = (text for box, text in regions if QRectF(box.x, box.y, box.width, box.height).contains(place))
            QToolTip.showText(event.globalPos(), next(hit, self.toolTip()), self)
            return True
        return super().event(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        make_chart_menu(self, self, []).popup(find_menu_position(event, self))


def _list_sentences(sketch: FleetSketch) -> list[str]:
    return [*sketch.texts, *(group.sentence for group in sketch.groups), *([sketch.note] if sketch.note else [])]
