"""Paints one bar with its name, its capacity and its verdict."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainterPath, QPen

from gpudesk.desktop.pages.memory.bars import MemoryBar, Part, PartKind, State
from gpudesk.desktop.pages.memory.measures import BAR, BAR_TOP, GLYPH, LINE_APART, SWATCH, Measures
from gpudesk.desktop.theme.pen import CENTRE, Pen

#: Lengths of the design.
_TICK: Final = 5.0
_BAR_RADIUS: Final = 3.0
_INSET: Final = 8.0

_INKS: Final = {
    PartKind.WEIGHTS: ("ink1", "page"),
    PartKind.KV: ("ink2", "text1"),
    PartKind.OTHER: ("ink3", "text1"),
}

#: Glyph with its colour, and colour of the words.
_VERDICTS: Final = {
    State.FITS: ("fits", "best_text", "text1"),
    State.PARTLY: ("partly", "disputed_text", "disputed_text"),
    State.UNFIT: ("unfit", "unfit", "unfit"),
    State.UNKNOWN: ("unfit", "text3", "text2"),
}


def bar_rect(pen: Pen, at: Measures, size: float) -> QRectF:
    """Return where a bar of a number of bytes lies."""
    length = pen.look.length
    return QRectF(at.left, round(length(BAR_TOP)), at.x(size) - at.left, round(length(BAR)))


def part_rect(pen: Pen, at: Measures, part: Part) -> QRectF:
    """Return where a part of a bar lies."""
    whole = bar_rect(pen, at, part.end)
    whole.setLeft(at.x(part.start))
    return whole


def paint_bar(pen: Pen, bar: MemoryBar, at: Measures) -> None:
    """Paint everything of a row but its links."""
    _name(pen, bar, at)
    _parts(pen, bar, at)
    _capacity(pen, bar, at)
    if not bar.parts:
        _why_not(pen, bar, at)
    _verdict(pen, bar, at)


def _name(pen: Pen, bar: MemoryBar, at: Measures) -> None:
    length = pen.look.length
    middle = bar_rect(pen, at, bar.capacity).center().y()
    pen.swatch(0, middle, bar.slot, hollow=bar.hollow)
    left, width = length(SWATCH), at.left - length(SWATCH) - length(_INSET)
    colour = pen.look.slot_label(bar.slot)
    upper, lower = _two_lines(pen, left, width, middle, below=bool(bar.deployment))
    pen.text(upper, bar.name, font="section", colour=colour)
    pen.text(lower, bar.deployment, font="caption", colour="text2")


def _parts(pen: Pen, bar: MemoryBar, at: Measures) -> None:
    painter = pen.painter
    painter.save()
    clip = QPainterPath()
    radius = pen.look.length(_BAR_RADIUS)
    clip.addRoundedRect(bar_rect(pen, at, bar.extent), radius, radius)
    painter.setClipPath(clip, Qt.ClipOperation.IntersectClip)
    painter.fillRect(bar_rect(pen, at, bar.capacity), pen.colour("sunken"))
    for part in bar.parts:
        _part(pen, bar, at, part)
    painter.restore()
    short = bar.part(PartKind.SHORT)
    if short is not None:
        end = max(at.x(short.end), at.x(bar.capacity) if short.end >= bar.capacity * 0.9 else 0.0)
        middle = bar_rect(pen, at, bar.capacity).center().y()
        if at.x(bar.capacity) <= end:
            place = QRectF(end + pen.look.length(_INSET), middle - 10, at.verdict - end, 20)
            pen.text(place, bar.needed_text, font="caption", colour="unfit")


def _part(pen: Pen, bar: MemoryBar, at: Measures, part: Part) -> None:
    rect = part_rect(pen, at, part)
    if part.kind in _INKS:
        ink, text = _INKS[part.kind]
        if bar.usable > 0:
            rect.setRight(min(rect.right(), at.x(bar.usable)))
        if rect.width() <= 0:
            return
        # A gap of a pixel parts the inks, so that they need no edges.
        pen.painter.fillRect(rect.adjusted(0, 0, -1, 0), pen.colour(ink))
        inner = rect.adjusted(pen.look.length(_INSET), 0, -4, 0)
        if pen.width(part.text, "caption_strong") <= inner.width():
            pen.text(inner, part.text, font="caption_strong", colour=text)
    elif part.kind is PartKind.SHORT:
        pen.hatch(rect, "unfit", "unfit_tint")
    elif part.kind is PartKind.KEPT:
        pen.hatch(rect, "strong", "page")


def _capacity(pen: Pen, bar: MemoryBar, at: Measures) -> None:
    length = pen.look.length
    rect = bar_rect(pen, at, bar.capacity)
    x, tick = rect.right(), length(_TICK)
    pen.rule(x - 1, rect.top() - tick, x - 1, rect.bottom() + tick - 1, "text1", 2.0)
    pen.text(
        QPointF(x, rect.top() - tick - length(3)),
        bar.capacity_text,
        font="caption_strong",
        colour="text1",
        align=CENTRE,
    )


def _why_not(pen: Pen, bar: MemoryBar, at: Measures) -> None:
    """Write the reason why there is no estimate beside the capacity, where the bar would be."""
    length = pen.look.length
    rect = bar_rect(pen, at, bar.capacity)
    left, line = rect.right() + length(14), length(LINE_APART)
    lines = pen.lines(bar.reason, max(40.0, at.verdict - left - length(12)), "small", 2)
    top = rect.center().y() - line * len(lines) / 2
    for number, words in enumerate(lines):
        place = QRectF(left, top + number * line, at.verdict - left, line)
        pen.text(place, words, font="small", colour="text2")


def _verdict(pen: Pen, bar: MemoryBar, at: Measures) -> None:
    length = pen.look.length
    glyph, tint, words = _VERDICTS[bar.state]
    left, width = at.verdict + length(GLYPH), at.total - at.verdict - length(GLYPH)
    middle = bar_rect(pen, at, bar.capacity).center().y()
    upper, lower = _two_lines(pen, left, width, middle, below=bool(bar.detail))
    pen.glyph(glyph, at.verdict + length(_INSET), upper.center().y(), tint)
    pen.text(upper, bar.headline, font="section", colour=words)
    pen.text(lower, bar.detail, font="small", colour="text2")


def _two_lines(pen: Pen, left: float, width: float, middle: float, *, below: bool) -> tuple[QRectF, QRectF]:
    """Return the places of a line and one below it, around a level; of a line alone where none is below."""
    line = pen.look.length(LINE_APART)
    top = middle - line if below else middle - line / 2
    return QRectF(left, top, width, line), QRectF(left, top + line, width, line)


def paint_ring(pen: Pen, rect: QRectF) -> None:
    """Draw the ring of what is selected, inside it."""
    pen.painter.setPen(QPen(pen.colour("focus"), 2))
    pen.painter.setBrush(Qt.BrushStyle.NoBrush)
    inner = rect.adjusted(0, 1, -1, -1)
    if inner.width() < 4:
        inner = inner.adjusted(-3, 0, 3, 0)
    pen.painter.drawRoundedRect(inner, 3, 3)
