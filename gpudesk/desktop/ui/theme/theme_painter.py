"""The painter's helper: text, rules, tints, hatches, swatches and glyphs by token name; texts measured and cut.

Shared by screen and paper, with different looks. Positions are in painter units, lengths of marks scale with the look.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QAbstractButton, QDialog, QWidget

from gpudesk.desktop.ui.theme.glyphs import (
    FLAT,
    GLYPHS,
    GlyphPainter,
    draw_icon,
    make_marker_at,
    render_icon,
    split_dashes_from_center,
)
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.tokens import PaintStyle
from gpudesk.text.formatting import bind_units

_ELLIPSIS = Qt.TextElideMode
#: Maximum cached widths and broken texts.
_MOST_KEPT: Final = 1024


class TextMeasure:
    """Measures texts in the theme's fonts, and caches the results until the theme changes."""

    #: The methods with caches.
    cached_methods: tuple[str, ...] = ("metrics", "width", "lines")

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        for name in self.cached_methods:
            setattr(self, name, lru_cache(_MOST_KEPT)(getattr(self, name)))
        theme.changed.connect(self.clear)

    def clear(self) -> None:
        """Clear all caches."""
        for name in self.cached_methods:
            getattr(self, name).cache_clear()

    def metrics(self, font: str) -> QFontMetricsF:
        return QFontMetricsF(self.theme.font(font))

    def width(self, text: str, font: str) -> float:
        return self.metrics(font).horizontalAdvance(text)

    def elide_text(self, text: str, font: str, width: float, *, middle: bool = False) -> str:
        mode = _ELLIPSIS.ElideMiddle if middle else _ELLIPSIS.ElideRight
        if self.width(text, font) <= width:
            return text
        return self.metrics(font).elidedText(text, mode, width)

    def lines(self, text: str, font: str, width: float, most: int = 0) -> tuple[str, ...]:
        """Break a text at spaces, a word that is too wide anywhere; beyond `most` lines the last is cut.

        Figures stay with their units, and counts with their names.
        """
        if self.width(text, font) <= width:
            return (text,)
        metrics = self.metrics(font)
        lines: list[str] = []
        current = ""
        for word in bind_units(text).split(" "):
            longer = f"{current} {word}" if current else word
            if current and metrics.horizontalAdvance(longer) > width:
                lines.append(current)
                longer = word
            while metrics.horizontalAdvance(longer) > width and len(longer) > 1:
                head, high = 1, len(longer)
                while head < high:
                    middle = (head + high + 1) // 2
                    if metrics.horizontalAdvance(longer[:middle]) <= width:
                        head = middle
                    else:
                        high = middle - 1
                lines.append(longer[:head])
                longer = longer[head:]
            current = longer
        lines.append(current)
        if most and len(lines) > most:
            rest = " ".join(lines[most - 1 :])
            lines = [*lines[: most - 1], metrics.elidedText(rest, _ELLIPSIS.ElideRight, width)]
        return tuple(lines)


#: Space for the halo around text on a plot.
_HALO: Final = 4.0
#: Offsets at which text is first written in page color; that is faster than stroking its outline and looks the same.
_AROUND: Final = tuple((2.0 * math.cos(turn * math.pi / 6), 2.0 * math.sin(turn * math.pi / 6)) for turn in range(12))
#: Cached pictures; a chart shows about a dozen texts at a time.
_MOST_PICTURES: Final = 200


class TextPainter(TextMeasure):
    """Measures and draws text by token; clears its caches when the theme changes."""

    cached_methods = (*TextMeasure.cached_methods, "middle", "_ascent")

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._pictures: dict[tuple[str, str, int, float], QPixmap] = {}

    def clear(self) -> None:
        super().clear()
        self._pictures.clear()

    def middle(self, token: str, middle: float) -> float:
        """Return the base line of a text whose capital letters are vertically centered at a y."""
        return round(middle + self.metrics(token).capHeight() / 2)

    def draw(self, painter: QPainter, x: float, baseline: float, text: str, token: str, color: QColor) -> None:
        painter.setFont(self.theme.font(token))
        painter.setPen(color)
        painter.drawText(QPointF(x, baseline), text)

    def draw_right(
        self, painter: QPainter, right: float, baseline: float, text: str, token: str, color: QColor
    ) -> None:
        self.draw(painter, right - self.width(text, token), baseline, text, token, color)

    def draw_haloed(self, painter: QPainter, x: float, baseline: float, text: str, token: str, color: QColor) -> None:
        ratio = painter.device().devicePixelRatio()
        key = (text, token, color.rgba(), ratio)
        picture = self._pictures.get(key)
        if picture is None:
            if len(self._pictures) > _MOST_PICTURES:
                self._pictures.clear()
            picture = self._pictures[key] = self._render_haloed_text(text, token, color, ratio)
        painter.drawPixmap(QPointF(round(x) - _HALO, round(baseline) - self._ascent(token)), picture)

    def _ascent(self, token: str) -> float:
        return math.ceil(self.metrics(token).ascent()) + _HALO

    def _render_haloed_text(self, text: str, token: str, color: QColor, ratio: float) -> QPixmap:
        width = math.ceil(self.width(text, token)) + 2 * _HALO
        height = self._ascent(token) + math.ceil(self.metrics(token).descent()) + _HALO
        picture = QPixmap(math.ceil(width * ratio), math.ceil(height * ratio))
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        with QPainter(picture) as painter:
            painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
            baseline = self._ascent(token)
            for right, down in _AROUND:
                self.draw(painter, _HALO + right, baseline + down, text, token, self.theme.color("page"))
            self.draw(painter, _HALO, baseline, text, token, color)
        return picture


Align = Qt.AlignmentFlag
Color = str | QColor

LEFT = Align.AlignLeft
RIGHT = Align.AlignRight
CENTER = Align.AlignHCenter

#: Half the length of a swatch and the radius of its marker, in design lengths.
SWATCH_WIDTH = 20.0
_SWATCH_PEN = 2.0
_MARKER_RADIUS = 4.0
_EDGE = 1.2


class ThemePainter:
    """Paints by token name with a painter and a look.

    The painter stays the caller's, which must end it in a `finally`.
    """

    def __init__(self, painter: QPainter, look: PaintStyle) -> None:
        self.painter = painter
        self.look = look
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        self._snaps = look.snaps
        self._ratio = painter.device().devicePixelRatio() if self._snaps else 1.0
        self._faces: dict[str, tuple[QFont, QFontMetricsF, float]] = {}
        self._colors: dict[str, QColor] = {}

    # Lookup

    def color(self, color: Color) -> QColor:
        """Return the color of a token, not to be changed; `slot3` is that of the third accelerator's name."""
        if isinstance(color, QColor):
            return color
        if color not in self._colors:
            look = self.look
            self._colors[color] = look.name_color(int(color[4:])) if color.startswith("slot") else look.color(color)
        return self._colors[color]

    def metrics(self, font: str | QFont) -> QFontMetricsF:
        return self._get_face(font)[1]

    def width(self, text: str, font: str | QFont = "body") -> float:
        return self.metrics(font).horizontalAdvance(text)

    # Text

    def text(
        self,
        where: QRectF | QPointF,
        text: str,
        *,
        font: str | QFont = "body",
        color: Color = "text1",
        align: Align = LEFT,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> float:
        """Write one line and return its width.

        In a rectangle the line is vertically centered and cut with an ellipsis if too wide. At a point it starts, ends
        or is centered there, on its base line.
        """
        face, metrics, cap_height = self._get_face(font)
        width = metrics.horizontalAdvance(text)
        if isinstance(where, QRectF):
            if width > where.width() + 0.5:
                text = metrics.elidedText(text, elide, where.width())
                width = metrics.horizontalAdvance(text)
            x = where.left() if align is LEFT else where.right() if align is RIGHT else where.center().x()
            baseline = where.y() + (where.height() + cap_height) / 2
        else:
            x, baseline = where.x(), where.y()
        if align is not LEFT:
            x -= width if align is RIGHT else width / 2
        self.painter.setFont(face)
        self.painter.setPen(self.color(color))
        self.painter.drawText(QPointF(x, self._on_pixel(baseline)), text)
        return width

    def lines(self, text: str, width: float, font: str | QFont = "body", most: int = 0) -> list[str]:
        """Break a text into lines at spaces; beyond `most` the last is cut with an ellipsis."""
        metrics = self.metrics(font)
        lines: list[str] = []
        for paragraph in text.split("\n"):
            lines += break_words(paragraph, width, metrics)
        if most and len(lines) > most:
            rest = " ".join(lines[most - 1 :])
            lines = [*lines[: most - 1], metrics.elidedText(rest, Qt.TextElideMode.ElideRight, width)]
        return lines

    # Rules and areas

    def hairline(self, x1: float, y1: float, x2: float, y2: float, color: Color = "hair") -> None:
        self.rule(x1, y1, x2, y2, color, 1.0)

    def rule(self, x1: float, y1: float, x2: float, y2: float, color: Color, width: float) -> None:
        """Draw a vertical or horizontal line of a width in painter units."""
        if not self._snaps:
            self.painter.setPen(QPen(self.color(color), width, Qt.PenStyle.SolidLine, FLAT))
            self.painter.drawLine(QLineF(x1, y1, x2, y2))
            return
        thick = max(1, round(width * self._ratio)) / self._ratio
        left, right = sorted((x1, x2))
        top, bottom = sorted((y1, y2))
        if top == bottom:
            area = QRectF(left, self._on_pixel(top), right - left, thick)
        else:
            area = QRectF(self._on_pixel(left), top, thick, bottom - top)
        self.painter.fillRect(area, self.color(color))

    def tint(self, rect: QRectF, color: Color, radius: float = 5.0) -> None:
        """Fill a rectangle with round corners; the radius is a design length."""
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(self.color(color))
        r = self.look.length(radius)
        self.painter.drawRoundedRect(rect, r, r)

    def list_item(self, button: QAbstractButton, inset: int) -> None:
        """Fill the ground of a button of a list; the current one has a bar at its left, `inset` from its ends."""
        if button.isChecked() or button.isDown():
            self.tint(QRectF(button.rect()), "selection", 6.0)
        elif button.underMouse():
            self.tint(QRectF(button.rect()), "hover", 6.0)
        if button.isChecked():
            self.tint(QRectF(0, inset, 3.0, button.height() - 2 * inset), "selection_bar", 1.5)

    def odds_bar(self, rect: QRectF, odds: Iterable[tuple[int, float]]) -> None:
        """Draw odds, which add up to 1, as segments of one bar in the colors of their palette indexes."""
        x, gap = rect.left(), self.look.length(1)
        for index, share in odds:
            width = share * rect.width()
            piece = QRectF(x, rect.top(), max(self.look.length(1), width - gap), rect.height())
            self.tint(piece, self.look.mark_color(index), radius=1.5)
            x += width

    def frame(
        self,
        rect: QRectF,
        color: Color = "strong",
        *,
        radius: float = 6.0,
        fill: Color | None = None,
        width: float = 1.0,
        dashed: bool = False,
    ) -> None:
        """Draw a border inside a rectangle, `width` thick; radius and width are design lengths."""
        thick = width if self._snaps else self.look.length(width)
        pen = QPen(self.color(color), thick)
        if dashed:
            pen.setDashPattern([3, 2])
        self.painter.setPen(pen)
        self.painter.setBrush(self.color(fill) if fill is not None else Qt.BrushStyle.NoBrush)
        half = thick / 2
        r = max(0.0, self.look.length(radius) - half)
        self.painter.drawRoundedRect(rect.adjusted(half, half, -half, -half), r, r)

    def hatch(self, rect: QRectF, color: Color = "strong", fill: Color | None = None) -> None:
        """Draw slanting strokes over a rectangle: for missing content, or a misfit."""
        painter = self.painter
        painter.save()
        painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
        if fill is not None:
            painter.fillRect(rect, self.color(fill))
        pitch, height = self.look.length(5.0), rect.height()
        painter.setPen(QPen(self.color(color), self.look.length(1.0), Qt.PenStyle.SolidLine, FLAT))
        # One raster for the whole picture, so that neighboring hatches meet.
        start = (rect.left() + rect.bottom()) // pitch * pitch - rect.bottom()
        steps = int((rect.width() + height) / pitch) + 2
        lines = [
            QLineF(x, rect.bottom(), x + height, rect.top())
            for x in (start + step * pitch - height for step in range(steps))
        ]
        painter.drawLines(lines)
        painter.restore()

    # Accelerators

    def swatch(self, x: float, y: float, slot: int, *, is_variant: bool = False) -> float:
        """Draw an accelerator's swatch with its left end at `x`, around the height `y`; return its width."""
        width = self.look.length(SWATCH_WIDTH)
        thick = self.look.length(_SWATCH_PEN)
        center = x + width / 2
        color = self.look.mark_color(slot)
        gap = self.look.length(_MARKER_RADIUS)
        self.painter.setPen(QPen(color, thick, Qt.PenStyle.SolidLine, FLAT))
        for start, end in split_dashes_from_center(tuple(self.look.dash_pattern(slot)), thick, width / 2):
            near = max(start, gap)
            if end > near:
                self.painter.drawLine(QLineF(center + near, y, center + end, y))
                self.painter.drawLine(QLineF(center - near, y, center - end, y))
        self.marker(center, y, slot, is_variant=is_variant)
        return width

    def marker(
        self, x: float, y: float, slot: int, *, radius: float = _MARKER_RADIUS, is_variant: bool = False
    ) -> None:
        """Draw a slot's marker around a point: filled with an edge in page color, or hollow for a variant."""
        length = self.look.length
        color, page = self.look.mark_color(slot), self.look.color("page")
        name = self.look.marker_name(slot)
        if is_variant:
            outline = make_marker_at(name, x, y, length(radius - 0.6))
            self.painter.setPen(QPen(color, length(1.4)))
            self.painter.setBrush(page)
        else:
            outline = make_marker_at(name, x, y, length(radius))
            self.painter.setPen(QPen(page, length(_EDGE)))
            self.painter.setBrush(color)
        self.painter.drawPath(outline)

    # Glyphs and labels

    def glyph(self, name: str, x: float, y: float, color: Color | None = None) -> None:
        """Draw a glyph around a point, in the glyph's own color unless another is given.

        `best overlap disputed measured calibrated estimated uncalibrated exact fits partly unfit own`. A refusal has
        the mark of a misfit.
        """
        draw, token = GLYPHS[name]
        draw(GlyphPainter(self.painter, self.look, self.color(color or token)), x, y)

    def icon(self, name: str, x: float, y: float, size: float = 16.0, color: Color = "text2") -> None:
        """Draw an icon with its top left corner at a point; `size` is in painter units."""
        tint = self.color(color)
        if self._snaps:
            pixmap = render_icon(name, tint, size, self._ratio)
            self.painter.drawPixmap(QPointF(self._on_pixel(x), self._on_pixel(y)), pixmap)
        else:
            draw_icon(self.painter, name, tint, QRectF(x, y, size, size))

    def tag_width(self, text: str) -> float:
        return self.width(text, "caption_strong") + 2 * self.look.length(6.0)

    def tag(self, x: float, y: float, text: str, *, color: Color = "text2", dashed: bool = False) -> float:
        """Draw a tag with its left edge at `x`, around the height `y`; return its width."""
        height = self.look.length(18.0)
        rect = QRectF(x, self._on_pixel(y - height / 2), self.tag_width(text), height)
        self.frame(rect, "strong", radius=4.0, dashed=dashed)
        self.text(rect, text, font="caption_strong", color=color, align=CENTER)
        return rect.width()

    def key_hint(self, x: float, y: float, text: str) -> float:
        return self.tag(x, y, text, color="text3")

    def _get_face(self, font: str | QFont) -> tuple[QFont, QFontMetricsF, float]:
        """Return a font with its metrics and the height of its capitals, cached for this painting."""
        if isinstance(font, QFont):
            metrics = QFontMetricsF(font, self.painter.device())
            return font, metrics, metrics.capHeight()
        face = self._faces.get(font)
        if face is None:
            face = self._faces[font] = self._get_face(self.look.font(font))
        return face

    def _on_pixel(self, position: float) -> float:
        """Return the nearest device pixel on screen, the same position on paper.

        Halves are always rounded in one direction, unlike with `round`: rows of an odd height must look alike.
        """
        return math.floor(position * self._ratio + 0.5) / self._ratio if self._snaps else position


def break_words(text: str, room: float, metrics: QFontMetricsF) -> list[str]:
    """Return lines of at most that width, unless a single word is wider; figures stay with their units."""
    lines: list[str] = []
    for word in bind_units(text).split(" "):
        longer = f"{lines[-1]} {word}" if lines and lines[-1] else word
        if lines and (not lines[-1] or metrics.horizontalAdvance(longer) <= room):
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def paint_ring(pen: ThemePainter, rect: QRectF) -> None:
    pen.painter.setPen(QPen(pen.color("focus"), 2))
    pen.painter.setBrush(Qt.BrushStyle.NoBrush)
    inner = rect.adjusted(0, 1, -1, -1)
    if inner.width() < 4:
        inner = inner.adjusted(-3, 0, 3, 0)
    pen.painter.drawRoundedRect(inner, 3, 3)


class PaintedWidget(QWidget):
    """A widget that paints itself with the theme; subclasses implement `paint`."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, pen: ThemePainter) -> None:
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            self.paint(ThemePainter(painter, self._theme))


class PaintedButton(QAbstractButton):
    """A button that paints itself with the theme; subclasses implement `paint`."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle Enter as Space, outside dialogs with a default button."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not isinstance(self.window(), QDialog):
            self.click()
        else:
            super().keyPressEvent(event)

    def paint(self, pen: ThemePainter) -> None:
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            self.paint(ThemePainter(painter, self._theme))
