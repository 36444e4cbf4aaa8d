"""One of several claims to choose from, with all that tells whether to believe it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from gpudesk.desktop.panel.pieces import Measure
from gpudesk.desktop.theme.pen import RIGHT, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.claims import AGREES, Claim, Stance
from gpudesk.sheets.explanation import ClaimLine
from gpudesk.text import tr

_SIDE, _TOP = 14.0, 10.0
_RADIO, _DOT = 16.0, 4.0
_GAP = 12.0
#: Where the value stands, and how wide the column is.
_FIGURE = 148.0
_GLYPHS = {Stance.DIFFERS: "disputed", Stance.REFUSED: "unfit"}
_ARROWS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_Left: -1}


@dataclass(frozen=True, slots=True)
class ChoiceText:
    """A claim in words. `figure_notes` stand below the value, `remarks` below who states it.

    `printed` is how source documents put it.
    """

    claim: Claim
    line: ClaimLine
    figure_notes: tuple[str, ...]
    remarks: tuple[str, ...]
    printed: tuple[str, ...]
    stance: str

    @property
    def spoken(self) -> str:
        """All of it as one sentence."""
        unit = f" {self.line.unit}" if self.line.unit else ""
        parts = (f"{self.line.value}{unit}", self.stance, self.line.title, self.line.origin)
        return ", ".join((*parts, *self.figure_notes, *self.remarks, *self.printed))


class ClaimOption(QAbstractButton):
    """A box with a radio mark; the arrow keys go from one to the next and choose it."""

    def __init__(self, theme: Theme, text: ChoiceText, measure: Measure) -> None:
        """Show a claim."""
        super().__init__()
        self._theme = theme
        self._measure = measure
        self.choice = text
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setProperty("ringRadius", 8.0)
        self.setAccessibleName(text.spoken)
        theme.changed.connect(self._settle)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the height of all lines at the present width."""
        width = self.width() or self._theme.px(520)
        return QSize(self._theme.px(420), self._height(width))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Break the lines anew."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._settle()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Go to the neighbour and choose it."""
        step = _ARROWS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        options = _siblings(self)
        place = options.index(self) + step
        if 0 <= place < len(options):
            options[place].setFocus(Qt.FocusReason.TabFocusReason)
            options[place].click()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw box, mark and texts."""
        painter = QPainter(self)
        try:
            pen = Pen(painter, self._theme)
            self._draw_box(pen)
            self._draw_texts(pen)
        finally:
            painter.end()

    def _draw_box(self, pen: Pen) -> None:
        theme, rect = self._theme, QRectF(self.rect())
        fill = "hover" if self.underMouse() and self.isEnabled() and not self.isChecked() else "page"
        if self.isChecked():
            pen.frame(rect, "text1", radius=8.0, fill=fill, width=2.0)
        else:
            pen.frame(rect, "strong", radius=8.0, fill=fill)
        side = theme.length(_RADIO)
        centre = QPointF(theme.px(_SIDE) + side / 2, theme.px(_TOP) + theme.line("option") / 2)
        painter = pen.painter
        painter.setPen(QPen(theme.colour("text1" if self.isChecked() else "control"), theme.length(1.5)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(centre, side / 2 - 1, side / 2 - 1)
        if self.isChecked():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("text1"))
            dot = theme.length(_DOT)
            painter.drawEllipse(centre, dot, dot)

    def _draw_texts(self, pen: Pen) -> None:
        left, middle, right = self._columns(self.width())
        top = self._theme.px(_TOP)
        self._draw_figure(pen, left, top, middle - left - self._theme.px(_GAP))
        self._draw_stance(pen, right, top)
        height = self._theme.line("option")
        room = right - middle - self._stance_width() - self._theme.px(_GAP)
        pen.text(QRectF(middle, top, room, height), self.choice.line.title, font="body_strong")
        area = QRectF(middle, top + height, right - middle, 0)
        area.setTop(self._draw_lines(pen, area, "small", "text2", (self.choice.line.origin,)))
        area.setTop(self._draw_lines(pen, area, "small", "text1", self.choice.remarks))
        self._draw_lines(pen, area, "caption", "text3", self.choice.printed)

    def _draw_figure(self, pen: Pen, left: float, top: float, room: float) -> None:
        theme, line = self._theme, self.choice.line
        first = QRectF(left, top, room, theme.line("option"))
        width = pen.text(first, line.value, font="option")
        if line.unit:
            unit = first.adjusted(width + theme.px(4), 0, 0, 0)
            pen.text(unit, line.unit, font="small", colour="text2")
        below = QRectF(left, first.bottom(), room, 0)
        self._draw_lines(pen, below, "caption", "text3", self.choice.figure_notes)

    def _draw_lines(self, pen: Pen, area: QRectF, font: str, colour: str, texts: tuple[str, ...]) -> float:
        """Write texts from the top of an area in its width; return where they end."""
        height, y = self._theme.line(font), area.top()
        for line in self._lines(texts, font, area.width()):
            pen.text(QRectF(area.left(), y, area.width(), height), line, font=font, colour=colour)
            y += height
        return y

    def _draw_stance(self, pen: Pen, right: float, top: float) -> None:
        theme, stance = self._theme, self.choice.line.stance
        height = theme.line("option")
        where = QRectF(right - self._stance_width(), top, self._stance_width(), height)
        pen.text(where, self.choice.stance, font="caption", colour="text3", align=RIGHT)
        if stance in _GLYPHS:
            pen.glyph(_GLYPHS[stance], where.left() + theme.px(6), top + height / 2)
        elif stance is Stance.TAKEN:
            side = theme.px(13)
            pen.icon("check", where.left(), top + (height - side) / 2, side, "text1")

    def _stance_width(self) -> float:
        mark = self._theme.px(18) if self.choice.line.stance is not Stance.AGREES else 0
        return self._measure.width(self.choice.stance, "caption") + mark + 1

    def _columns(self, width: int) -> tuple[float, float, float]:
        """Return where the figure, the words and the right end stand."""
        px = self._theme.px
        left = px(_SIDE) + px(_RADIO) + px(_GAP)
        return left, left + px(_FIGURE), width - px(_SIDE)

    def _lines(self, texts: tuple[str, ...], font: str, width: float) -> list[str]:
        return [line for text in texts for line in self._measure.lines(text, font, width)]

    def _height(self, width: int) -> int:
        theme = self._theme
        left, middle, right = self._columns(width)
        notes = self._lines(self.choice.figure_notes, "caption", middle - left - theme.px(_GAP))
        remarks = self._lines(self.choice.remarks, "small", right - middle)
        printed = self._lines(self.choice.printed, "caption", right - middle)
        figure = len(notes) * theme.line("caption")
        words = theme.line("small") * (1 + len(remarks)) + theme.line("caption") * len(printed)
        return 2 * theme.px(_TOP) + theme.line("option") + max(figure, words)

    def _settle(self) -> None:
        height = self._height(self.width())
        if height != self.height():
            self.setFixedHeight(height)
        self.update()


def _siblings(option: QWidget) -> list[ClaimOption]:
    """Return the options of one choice, from top to bottom."""
    parent = option.parentWidget()
    found = [] if parent is None else parent.findChildren(ClaimOption)
    return sorted(found, key=lambda each: each.y())


def choice_text(claim: Claim, line: ClaimLine, stance: str, printed: tuple[str, ...]) -> ChoiceText:
    """Return a claim in words; `printed` is what the source documents print."""
    published = claim.published
    shown = f"{line.value} {line.unit}" if line.unit else line.value
    notes = [tr("published as {text}", text=published)] if published and published != shown else []
    verdict = (
        None if line.stance is Stance.AGREES and (claim.verdict or "").strip() == AGREES else claim.verdict
    )
    remarks = [_capital(text) for text in (verdict, claim.conditions, claim.note) if text]
    return ChoiceText(claim, line, tuple(notes), tuple(remarks), printed, stance)


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
