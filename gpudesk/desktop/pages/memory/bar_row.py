"""One row of the memory chart: name, bar, verdict and remedies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from gpudesk.desktop.pages.memory.bars import (
    ColumnFitState,
    ColumnMemoryBar,
    MemorySegment,
    MemorySegmentKind,
    describe_remedy,
    format_remedy,
)
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTER, ThemePainter, paint_ring
from gpudesk.desktop.ui.theme.tokens import PaintStyle
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import Formatter

#: Design lengths: a row, its bar, and two lines of text next to it.
ROW: Final = 54.0
BAR_TOP: Final = 19.0
BAR: Final = 26.0
LINE_APART: Final = 16.0
SWATCH: Final = 28.0
GLYPH: Final = 23.0
LINK_GAP: Final = 10.0
_COLUMN_GAP: Final = 16.0
_MOST_NAME: Final = 190.0
_LEAST_NAME: Final = 112.0
_LEAST_VERDICT: Final = 180.0
_LEAST_BAR: Final = 180.0
#: Minimum width of the chart.
LEAST_WIDTH: Final = 560.0
#: Space for the figure after the end of the longest bar.
_TAIL: Final = 8.0


@frozen_dataclass
class MemoryBarLayout:
    """Pixels: the bars start at `left` with `width` for `extent` bytes; the verdicts start at `verdict`."""

    left: float
    width: float
    verdict: float
    total: float
    extent: float

    def x(self, size: float) -> float:
        """Return the x of a number of bytes from the left end."""
        return self.left + self.width * size / self.extent


def lay_out_bars(
    bars: Sequence[ColumnMemoryBar], extent: float, total: float, theme: Theme, formatter: Formatter
) -> MemoryBarLayout:
    """Divide `total` pixels among names, bars of up to `extent` bytes, and verdicts."""
    section = QFontMetricsF(theme.font("section"))
    small, caption = QFontMetricsF(theme.font("small")), QFontMetricsF(theme.font("caption"))
    names = max(
        (max(section.horizontalAdvance(b.name), caption.horizontalAdvance(b.deployment)) for b in bars), default=0.0
    )
    left = theme.length(SWATCH) + min(max(names, theme.length(_LEAST_NAME - SWATCH)), theme.length(_MOST_NAME))
    left += theme.length(_COLUMN_GAP)
    verdict = theme.length(_LEAST_VERDICT)
    for bar in bars:
        below = small.horizontalAdvance(bar.detail) if bar.parts else 0.0
        for way in bar.remedies:
            below += theme.length(LINK_GAP) + small.horizontalAdvance(format_remedy(way, formatter)) + 4
        widest = max(section.horizontalAdvance(bar.headline), below)
        verdict = max(verdict, theme.length(GLYPH) + widest + 2)
    width = max(theme.length(_LEAST_BAR), total - left - verdict - theme.length(_COLUMN_GAP))
    # The figure "237 needed" is after the end of its bar and must fit before the verdict.
    tail = max((caption.horizontalAdvance(b.needed_text) for b in bars if b.needed > b.usable > 0), default=0.0)
    longest = max((b.needed for b in bars if b.needed > b.usable > 0), default=0)
    if longest:
        beyond = width * longest / extent + tail + theme.length(_TAIL) * 2 - width
        width -= max(0.0, beyond)
    return MemoryBarLayout(left, width, total - verdict, total, extent)


def hold_bar_layout(before: MemoryBarLayout | None, now: MemoryBarLayout) -> MemoryBarLayout:
    """Return a layout in which nothing moves back and forth during a drag: spaces only shrink."""
    if before is None or (before.total, before.extent) != (now.total, now.extent):
        return now
    return replace(
        now,
        left=max(before.left, now.left),
        width=min(before.width, now.width),
        verdict=min(before.verdict, now.verdict),
    )


#: Design lengths.
_TICK: Final = 5.0
_BAR_RADIUS: Final = 3.0
_INSET: Final = 8.0

_INKS: Final = {
    MemorySegmentKind.WEIGHTS: ("ink1", "page"),
    MemorySegmentKind.KV: ("ink2", "text1"),
    MemorySegmentKind.OTHER: ("ink3", "text1"),
}

#: Glyph with its color, and text color.
_VERDICTS: Final = {
    ColumnFitState.FITS: ("fits", "best_text", "text1"),
    ColumnFitState.PARTLY: ("partly", "disputed_text", "disputed_text"),
    ColumnFitState.UNFIT: ("unfit", "unfit", "unfit"),
    ColumnFitState.UNKNOWN: ("unfit", "text3", "text2"),
}


def locate_bar(look: PaintStyle, at: MemoryBarLayout, size: float) -> QRectF:
    """Return the rectangle of a bar of a number of bytes."""
    return QRectF(at.left, round(look.length(BAR_TOP)), at.x(size) - at.left, round(look.length(BAR)))


def _paint_name(pen: ThemePainter, bar: ColumnMemoryBar, at: MemoryBarLayout) -> None:
    length = pen.look.length
    middle = locate_bar(pen.look, at, bar.capacity).center().y()
    pen.swatch(0, middle, bar.slot, is_variant=bar.is_variant)
    left, width = length(SWATCH), at.left - length(SWATCH) - length(_INSET)
    color = pen.look.name_color(bar.slot)
    upper, lower = _split_lines(pen, left, width, middle, below=bool(bar.deployment))
    pen.text(upper, bar.name, font="section", color=color)
    pen.text(lower, bar.deployment, font="caption", color="text2")


def _paint_segments(pen: ThemePainter, bar: ColumnMemoryBar, at: MemoryBarLayout) -> None:
    painter = pen.painter
    painter.save()
    clip = QPainterPath()
    radius = pen.look.length(_BAR_RADIUS)
    clip.addRoundedRect(locate_bar(pen.look, at, bar.extent), radius, radius)
    painter.setClipPath(clip, Qt.ClipOperation.IntersectClip)
    painter.fillRect(locate_bar(pen.look, at, bar.capacity), pen.color("sunken"))
    for part in bar.parts:
        _paint_segment(pen, bar, at, part)
    painter.restore()
    short = bar.part(MemorySegmentKind.SHORT)
    if short is not None:
        end = max(at.x(short.end), at.x(bar.capacity) if short.end >= bar.capacity * 0.9 else 0.0)
        middle = locate_bar(pen.look, at, bar.capacity).center().y()
        if at.x(bar.capacity) <= end:
            place = QRectF(end + pen.look.length(_INSET), middle - 10, at.verdict - end, 20)
            pen.text(place, bar.needed_text, font="caption", color="unfit")


def _paint_segment(pen: ThemePainter, bar: ColumnMemoryBar, at: MemoryBarLayout, part: MemorySegment) -> None:
    rect = locate_bar(pen.look, at, part.end)
    rect.setLeft(at.x(part.start))
    if part.kind in _INKS:
        ink, text = _INKS[part.kind]
        if bar.usable > 0:
            rect.setRight(min(rect.right(), at.x(bar.usable)))
        if rect.width() <= 0:
            return
        # A gap of a pixel separates the fills, so that they need no borders.
        pen.painter.fillRect(rect.adjusted(0, 0, -1, 0), pen.color(ink))
        inner = rect.adjusted(pen.look.length(_INSET), 0, -4, 0)
        if pen.width(part.text, "caption_strong") <= inner.width():
            pen.text(inner, part.text, font="caption_strong", color=text)
    elif part.kind is MemorySegmentKind.SPARE:
        inner = rect.adjusted(pen.look.length(_INSET), 0, -2, 0)
        if pen.width(part.text, "caption_strong") <= inner.width():
            pen.text(inner, part.text, font="caption_strong", color="text2")
    elif part.kind is MemorySegmentKind.SHORT:
        pen.hatch(rect, "unfit", "unfit_tint")
    elif part.kind is MemorySegmentKind.KEPT:
        pen.hatch(rect, "strong", "page")


def _paint_reason(pen: ThemePainter, bar: ColumnMemoryBar, at: MemoryBarLayout) -> None:
    """Write the reason for a missing estimate next to the capacity, in place of the bar."""
    length = pen.look.length
    rect = locate_bar(pen.look, at, bar.capacity)
    left, line = rect.right() + length(14), length(LINE_APART)
    lines = pen.lines(bar.reason, max(40.0, at.verdict - left - length(12)), "small", 2)
    top = rect.center().y() - line * len(lines) / 2
    for number, words in enumerate(lines):
        place = QRectF(left, top + number * line, at.verdict - left, line)
        pen.text(place, words, font="small", color="text2")


def _paint_verdict(pen: ThemePainter, bar: ColumnMemoryBar, at: MemoryBarLayout) -> None:
    length = pen.look.length
    glyph, tint, words = _VERDICTS[bar.state]
    left, width = at.verdict + length(GLYPH), at.total - at.verdict - length(GLYPH)
    middle = locate_bar(pen.look, at, bar.capacity).center().y()
    upper, lower = _split_lines(pen, left, width, middle, below=bool(bar.detail))
    pen.glyph(glyph, at.verdict + length(_INSET), upper.center().y(), tint)
    pen.text(upper, bar.headline, font="section", color=words)
    pen.text(lower, bar.detail, font="small", color="text2")


def _split_lines(pen: ThemePainter, left: float, width: float, middle: float, *, below: bool) -> tuple[QRectF, QRectF]:
    """Return the y of a line and of one below it, around a center; of a single line if nothing is below."""
    line = pen.look.length(LINE_APART)
    top = middle - line if below else middle - line / 2
    return QRectF(left, top, width, line), QRectF(left, top + line, width, line)


_Key = Qt.Key
_ARROWS = (_Key.Key_Left, _Key.Key_Right, _Key.Key_Home, _Key.Key_End)

#: A position in a row: the whole bar, one of its segments, or the verdict.
WHOLE_ROW = "whole"
VERDICT_PLACE = "verdict"


class MemoryBarRow(QWidget):
    """Arrow keys move along the positions of the row and, through `row_step_requested`, between rows."""

    accessible_role = AccessibleRole.ListItem

    #: The user chose a position.
    chosen = Signal(str)
    #: Up or down was pressed: the number of rows.
    row_step_requested = Signal(int)
    #: The user accepted a remedy.
    remedied = Signal(object)

    def __init__(self, theme: Theme, formatter: Formatter, bar: ColumnMemoryBar, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._formatter = formatter
        self._measures: MemoryBarLayout | None = None
        self._links: list[LinkButton] = []
        self._selected = False
        self.bar = bar
        self.place = WHOLE_ROW
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._offer_links()

    def focus_rect(self) -> QRect | None:
        return None

    # Display

    def show_bar(self, bar: ColumnMemoryBar, measures: MemoryBarLayout, *, selected: bool, quiet: bool) -> None:
        """Show another state; `quiet` keeps the accessible text."""
        changed = (bar, measures, selected) != (self.bar, self._measures, self._selected)
        offers_changed = (bar.remedies, bar.name) != (self.bar.remedies, self.bar.name)
        self.bar, self._measures, self._selected = bar, measures, selected
        if self.place not in self.places():
            self.place = WHOLE_ROW
        if offers_changed:
            self._offer_links()
        if changed:
            self._place_links()
            self.update()
        if not quiet:
            self.setAccessibleName(bar.sentence)
            self.setAccessibleDescription(self.describe_place(self.place))

    def set_place(self, place: str) -> None:
        self.place = place if place in self.places() else WHOLE_ROW
        self.setAccessibleDescription(self.describe_place(self.place))
        self.update()

    def places(self) -> Sequence[str]:
        return (WHOLE_ROW, *(part.kind.value for part in self.bar.parts), VERDICT_PLACE)

    def describe_place(self, place: str) -> str:
        """Return the sentence on a position; empty for the whole bar, which has a name."""
        if place == VERDICT_PLACE:
            return " ".join(each for each in (f"{self.bar.headline}.", self.bar.reason) if each)
        part = self._find_segment(place)
        return "" if part is None else part.sentence

    def _find_segment(self, place: str) -> MemorySegment | None:
        return next((part for part in self.bar.parts if part.kind.value == place), None)

    # Remedies

    @property
    def links(self) -> list[LinkButton]:
        return self._links[: len(self.bar.remedies)]

    def _offer_links(self) -> None:
        """Offer the bar's remedies; existing buttons are reused."""
        while len(self._links) < len(self.bar.remedies):
            number = len(self._links)
            link = LinkButton(self._theme, "", parent=self)
            link.clicked.connect(lambda _=False, number=number: self.remedied.emit(self.bar.remedies[number]))
            self._links.append(link)
        for link, remedy in zip(self.links, self.bar.remedies, strict=True):
            text = describe_remedy(remedy, self.bar, self._formatter)
            link.setText(format_remedy(remedy, self._formatter))
            link.setAccessibleName(text)
            link.setToolTip(text)
        for number, link in enumerate(self._links):
            link.setVisible(number < len(self.bar.remedies))

    def _place_links(self) -> None:
        if self._measures is None or not self.links:
            return
        theme, small = self._theme, QFontMetricsF(self._theme.font("small"))
        x = self._measures.verdict + theme.length(GLYPH) + small.horizontalAdvance(self.bar.detail)
        middle = self._compute_bar_rect().center().y() + theme.length(LINE_APART) / 2
        for link in self.links:
            x += theme.length(LINK_GAP)
            width, height = round(small.horizontalAdvance(link.text())) + 2, link.sizeHint().height()
            link.setGeometry(round(x), round(middle - height / 2), width, height)
            x += width

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_links()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        if self._measures is None:
            return
        with QPainter(self) as painter:
            pen = ThemePainter(painter, self._theme)
            bar = self.bar
            at = self._measures
            _paint_name(pen, bar, at)
            _paint_segments(pen, bar, at)
            length = pen.look.length
            rect = locate_bar(pen.look, at, bar.capacity)
            x, tick = rect.right(), length(_TICK)
            pen.rule(x - 1, rect.top() - tick, x - 1, rect.bottom() + tick - 1, "text1", 2.0)
            pen.text(
                QPointF(x, rect.top() - tick - length(3)),
                bar.capacity_text,
                font="caption_strong",
                color="text1",
                align=CENTER,
            )
            if not bar.parts:
                _paint_reason(pen, bar, at)
            _paint_verdict(pen, bar, at)
            if self._selected or self.hasFocus():
                paint_ring(pen, self.compute_place_rect(self.place))

    def _compute_bar_rect(self) -> QRectF:
        return QRectF() if self._measures is None else locate_bar(self._theme, self._measures, self.bar.extent)

    def compute_place_rect(self, place: str) -> QRectF:
        rect = self._compute_bar_rect()
        at, part = self._measures, self._find_segment(place)
        if at is None:
            return rect
        if place == VERDICT_PLACE:
            return QRectF(at.verdict - 2, rect.top() - 6, self.width() - at.verdict + 1, rect.height() + 12)
        if part is not None:
            rect.setLeft(at.x(part.start))
            rect.setRight(at.x(part.end))
        return rect

    def place_at(self, position: QPointF) -> str:
        """Return the position at a point: the visible segment, the verdict, or the whole bar."""
        at = self._measures
        if at is None:
            return WHOLE_ROW
        if position.x() >= at.verdict:
            return VERDICT_PLACE
        # The shortage covers the segments that cause it.
        kinds = [part.kind for part in self.bar.parts if at.x(part.start) <= position.x() < at.x(part.end)]
        inside = self._compute_bar_rect().adjusted(0, -6, 0, 6).contains(position)
        if not kinds or not inside:
            return WHOLE_ROW
        return MemorySegmentKind.SHORT.value if MemorySegmentKind.SHORT in kinds else kinds[0].value

    # Mouse and keyboard

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._choose(self.place_at(event.position()))

    def _choose(self, place: str) -> None:
        self.set_place(place)
        self.chosen.emit(self.place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = _Key(event.key())
        if key in (_Key.Key_Up, _Key.Key_Down):
            self.row_step_requested.emit(1 if key is _Key.Key_Down else -1)
        elif key in _ARROWS:
            places = self.places()
            last, at = len(places) - 1, places.index(self.place)
            target = {_Key.Key_Left: at - 1, _Key.Key_Right: at + 1, _Key.Key_Home: 0, _Key.Key_End: last}[key]
            self._choose(places[min(max(target, 0), last)])
        elif key in (_Key.Key_Return, _Key.Key_Enter, _Key.Key_Space):
            self._choose(self.place)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            place = self.place_at(QPointF(event.pos()))
            text = self.bar.sentence if place == WHOLE_ROW else self.describe_place(place)
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)
