"""Pictures that screen and paper share: an accelerator to scale, and racks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpudesk.desktop.ui.charts.chart_data import ChartData, show_chart_menu
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTER, PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole
from gpudesk.report.architecture import ArchitectureSketch, SketchedLink
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
from gpudesk.text.units import GIB

_LINE: Final = 1.15
_USUAL_HEIGHT: Final = 340.0


def paint_racks(pen: ThemePainter, left: float, top: float, drawing: RackDrawing) -> None:
    """Paint a drawing with its top left corner at a point of the painter's units."""
    for box in drawing.boxes:
        _paint_box(pen, QRectF(left + box.x, top + box.y, box.width, box.height), box)
    for text in drawing.texts:
        place = QRectF(left + text.x, top + text.y, text.width, drawing.line)
        font, color = ("small_strong", "text1") if text.is_strong else ("small", "text2")
        pen.text(place, text.text, font=font, color=f"slot{text.slot}" if text.slot else color)


def _paint_box(pen: ThemePainter, place: QRectF, box: DrawnBox) -> None:
    thin = pen.look.length(1)
    color = pen.look.mark_color(box.slot)
    if box.kind == "rack":
        pen.frame(place, "control", radius=3, fill="page")
    elif box.kind == "system":
        pen.frame(place, "strong", radius=1, fill="sunken")
    elif box.kind == "scale":
        pen.rule(place.left(), place.top(), place.right(), place.top(), "text2", thin)
        for x in (place.left(), place.right()):
            pen.rule(x, place.top() - 4 * thin, x, place.top() + 4 * thin, "text2", thin)
    elif box.kind == "used":
        pen.tint(place, color, radius=1)
    else:
        pen.frame(place, color, radius=1, fill="page")
        if box.kind == "spare":
            pen.painter.setPen(QPen(color, thin))
            pen.painter.drawLine(place.bottomLeft(), place.topRight())


def measure_line(pen: ThemePainter) -> float:
    """Return the height of a line of a drawing's texts, in the painter's units."""
    return pen.metrics("small").height() * _LINE


class RackPicture(QWidget):
    """Racks of all fleets side by side; each rack has a tooltip, the whole a table as alternative text."""

    accessible_role = AccessibleRole.Graphic

    def __init__(self, theme: Theme, formatter: Formatter) -> None:
        super().__init__()
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

    def _lay_out(self) -> None:
        width, line = max(self.width(), 200), QFontMetricsF(self.theme.font("small")).height() * _LINE
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
        show_chart_menu(self, self, event)


def _list_sentences(sketch: FleetSketch) -> list[str]:
    return [*sketch.texts, *(group.sentence for group in sketch.groups), *([sketch.note] if sketch.note else [])]


#: Width shares: the package, and the area of its outgoing links.
_PACKAGE: Final = 0.64
_OUTSIDE: Final = 0.08
#: The memory, in bytes, whose stacks take this width share on each side of the die.
_LARGEST_MEMORY: Final = 432 * GIB
_LARGEST_COLUMN: Final = 0.11
#: The bandwidth, in bytes/s, whose lines together are as high as the die on each side.
_FULL_BANDWIDTH: Final = 24e12
_LARGEST_GRID: Final = 72
_PAD: Final = 8.0


def paint_architecture(pen: ThemePainter, area: QRectF, sketch: ArchitectureSketch) -> None:
    """Paint the package with memory, die and links, their targets, and the scale below."""
    line = pen.metrics("small").height() * 1.15
    pad = pen.look.length(_PAD)
    inner = area.adjusted(0, 0, 0, -line)
    package = QRectF(inner.left(), inner.top(), inner.width() * _PACKAGE, inner.height())
    pen.frame(package, "strong", radius=6)
    head = QRectF(package.left() + pad, package.top() + pad / 2, package.width() - 2 * pad, line)
    speed = pen.width(sketch.memory.text, "small_strong")
    pen.text(head.adjusted(0, 0, -speed - pad, 0), sketch.memory.name, font="small", color="text2")
    pen.text(head.adjusted(head.width() - speed, 0, 1, 0), sketch.memory.text, font="small_strong")
    chip = QRectF(head.left(), head.bottom() + pad / 2, head.width(), package.bottom() - pad - head.bottom() - pad / 2)
    width = area.width()
    gap = pen.look.length(3)
    reach = pen.look.length(18)
    sides = 2 if sketch.stacks is None or sketch.stacks > 1 else 1
    column = _LARGEST_COLUMN * width * sketch.memory_bytes / _LARGEST_MEMORY * (2 / sides)
    column = min(max(column, pen.look.length(5)), chip.width() / 4)
    die = chip.adjusted(column + reach, 0, -(column + reach) if sides == 2 else 0, 0)
    bandwidth = sketch.memory.bandwidth or 0.0
    thick = min(bandwidth / _FULL_BANDWIDTH, 1.0) * chip.height() * (2 / sides)
    for side in range(sides):
        place = QRectF(chip.left() if side == 0 else chip.right() - column, chip.top(), column, chip.height())
        start = place.right() if side == 0 else die.right()
        stacks = list(_divide(place, _count_stacks(sketch.stacks, side, sides), gap))
        for stack in stacks:
            high = max(thick / len(stacks), 1.0)
            middle = stack.center().y()
            pen.painter.fillRect(QRectF(start, middle - high / 2, reach, high), pen.color("ink2"))
            if sketch.stacks is None:
                pen.frame(stack, "control", radius=2, fill="sunken", dashed=True)
            else:
                pen.tint(stack, "ink1", radius=2)
    _paint_die(pen, die, sketch)
    _paint_outside(pen, inner, package, chip.height(), sketch)
    key = QRectF(area.left(), inner.bottom(), area.width(), line)
    words = tr("Memory and links to scale. Dashed: not known")
    pen.text(key, words, font="small", color="text3")


def _count_stacks(stacks: int | None, side: int, sides: int) -> int:
    if stacks is None or sides == 1:
        return 1
    return (stacks + 1) // 2 if side == 0 else stacks // 2


def _divide(place: QRectF, count: int, gap: float) -> Iterator[QRectF]:
    height = (place.height() - gap * (count - 1)) / count
    for number in range(count):
        yield QRectF(place.left(), place.top() + number * (height + gap), place.width(), height)


def _paint_die(pen: ThemePainter, die: QRectF, sketch: ArchitectureSketch) -> None:
    pen.frame(die, "control", radius=4, fill="sunken", dashed=True)
    line, pad = pen.metrics("small").height() * 1.15, pen.look.length(_PAD)
    room = die.adjusted(pad, 0, -pad, 0)
    texts: list[tuple[str, str]] = []
    for number, text in enumerate(sketch.die):
        font = "small" if number == 1 and len(sketch.die) > 2 else "small_strong"
        texts += [(each, font) for each in pen.lines(text, room.width(), font, 3)]
    texts = texts[: max(1, int(die.height() / line))]
    top = die.center().y() - line * len(texts) / 2
    for number, (text, font) in enumerate(texts):
        row = QRectF(room.left(), top + number * line, room.width(), line)
        pen.text(row, text, font=font, color="text1" if font == "small_strong" else "text2", align=CENTER)


def _paint_outside(
    pen: ThemePainter, inner: QRectF, package: QRectF, chip_height: float, sketch: ArchitectureSketch
) -> None:
    """Paint the outgoing links of the package, and at their ends the scale-up domain and the host."""
    left = package.right() + inner.width() * _OUTSIDE
    room = QRectF(left, inner.top(), inner.right() - left, inner.height())
    line = pen.metrics("small").height() * 1.15
    pad = pen.look.length(_PAD)
    upper = room.adjusted(0, 0, 0, -(2 * line + 2 * pad))
    lower = QRectF(room.left(), room.bottom() - 2 * line - pad, room.width(), 2 * line + pad)
    scale = chip_height / _FULL_BANDWIDTH * 2
    if sketch.scale_up is None:
        _paint_lines(pen, upper, tr("No scale-up link"), "text3")
    else:
        used = _paint_link_text(pen, upper, sketch.scale_up)
        grid = upper.adjusted(0, used + pad / 2, 0, 0)
        _paint_domain(pen, grid, sketch.domain)
        _paint_link(pen, package.right(), room.left() - pad / 2, grid.top() + pad, sketch.scale_up, scale)
    _paint_link_text(pen, lower, sketch.host)
    _paint_link(pen, package.right(), room.left() - pad / 2, lower.top() + line / 2, sketch.host, scale)


def _paint_link_text(pen: ThemePainter, place: QRectF, link: SketchedLink) -> float:
    """Write the target of a link and its rate below; return the height used."""
    line, y = pen.metrics("small").height() * 1.15, _paint_lines(pen, place, link.name, "text2")
    font, color = ("small", "text3") if link.bandwidth is None else ("small_strong", "text1")
    pen.text(QRectF(place.left(), y, place.width(), line), link.text, font=font, color=color)
    return y + line - place.top()


def _paint_lines(pen: ThemePainter, place: QRectF, text: str, color: str) -> float:
    """Write a text in at most two lines; return the y of the next one."""
    line, y = pen.metrics("small").height() * 1.15, place.top()
    for words in pen.lines(text, place.width(), "small", 2):
        pen.text(QRectF(place.left(), y, place.width(), line), words, font="small", color=color)
        y += line
    return y


def _paint_link(pen: ThemePainter, start: float, end: float, y: float, link: SketchedLink, scale: float) -> None:
    if link.bandwidth is None:
        dash = pen.look.length(4)
        x = start
        while x < end:
            pen.rule(x, y, min(x + dash, end), y, "control", pen.look.length(1))
            x += 2 * dash
        return
    high = max(link.bandwidth * scale, pen.look.length(1))
    pen.painter.fillRect(QRectF(start, y - high / 2, end - start, high), pen.color("ink2"))


def _paint_domain(pen: ThemePainter, room: QRectF, domain: int | None) -> None:
    """Paint a square per accelerator of the domain, the first filled; of a large domain as many as fit.

    In a narrow room the squares are smaller, so that a row holds a host of eight.
    """
    if domain is None or room.height() < pen.look.length(6):
        return
    count = min(domain, _LARGEST_GRID)
    side, gap = pen.look.length(8 if count <= 16 else 5), pen.look.length(2)
    columns = 8 if count <= 16 else 12
    side = max(min(side, (room.width() + gap) / columns - gap), pen.look.length(4))
    columns = max(1, min(columns, int((room.width() + gap) / (side + gap) + 1e-6)))
    for number in range(count):
        row, column = divmod(number, columns)
        top = room.top() + row * (side + gap)
        if top + side > room.bottom():
            return
        place = QRectF(room.left() + column * (side + gap), top, side, side)
        if number == 0:
            pen.tint(place, "text1", radius=1)
        else:
            pen.frame(place, "control", radius=1)


class ArchitecturePanel(PaintedWidget):
    """Shows the drawing; its text is the accessible description and the tooltip."""

    accessible_role = AccessibleRole.Graphic

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._sketch: ArchitectureSketch | None = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Architecture"))
        theme.follow(self._dress)

    def show_sketch(self, sketch: ArchitectureSketch) -> None:
        self._sketch = sketch
        self.setAccessibleDescription(sketch.sentence)
        self.setToolTip(sketch.sentence)
        self.update()

    def _dress(self) -> None:
        self.setFixedHeight(self._theme.px(160))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(340), self._theme.px(160))

    def paint(self, pen: ThemePainter) -> None:
        if self._sketch is not None:
            paint_architecture(pen, QRectF(self.rect()), self._sketch)
