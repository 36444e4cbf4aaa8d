"""The answers to one question as cards: what each means, and what it would leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from gpudesk.desktop.theme.pen import RIGHT, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.questions import AnswerValue
from gpudesk.sheets.option_words import Fate
from gpudesk.sheets.question_words import OptionWords
from gpudesk.text import tr

_RADIUS: Final = 8.0
_HEIGHT, _SMALL_HEIGHT = 64.0, 36.0
_RADIO_X, _RADIO = 23.0, 8.0
_TEXT_X, _RIGHT = 46.0, 14.0
#: Where the effect begins, of the width of the card.
_EFFECT_AT: Final = 0.42
_PITCH, _MARKER, _GAP, _BETWEEN = 60.0, 3.6, 12.0, 5.0
_NAME_LINE: Final = 17.0
#: Below this width the effect stands below the words.
_NARROW: Final = 460.0


@dataclass(frozen=True, slots=True)
class Shown:
    """One accelerator on a card: its name and slot, and what becomes of it."""

    name: str
    slot: int
    hollow: bool
    fate: Fate


@dataclass(frozen=True, slots=True)
class Effect:
    """What an answer would do: a line of words, a shorter one, the accelerators, and all of it read out."""

    text: str
    brief: str
    parts: tuple[Shown, ...]
    sentence: str


class Option(QAbstractButton):
    """One answer; it is chosen by a click, Space or its number, and says where the focus is to go."""

    #: The mouse or the focus is on it.
    pointed = Signal()

    def __init__(
        self,
        theme: Theme,
        value: AnswerValue,
        words: OptionWords,
        number: int,
        leave: Callable[[QKeyEvent], bool],
        parent: QWidget | None = None,
    ) -> None:
        """Show an answer in words; `number` chooses it, `leave` acts on keys that go to another one."""
        super().__init__(parent)
        self.theme, self.value, self.words, self.number = theme, value, words, number
        self.effect: Effect | None = None
        self.origin = ""
        self._leave = leave
        self.setCheckable(True)
        # Screen readers take it for one of several then.
        self.setAutoExclusive(True)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setProperty("ringRadius", _RADIUS)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(", ".join(part for part in words if part))
        theme.changed.connect(self.updateGeometry)
        self._describe()

    def show_state(self, origin: str, *, chosen: bool) -> None:
        """Show whether it is in force, and whose answer it is; empty where that need not be said."""
        self.origin = origin
        self.setChecked(chosen)
        self._describe()
        self.update()

    def show_effect(self, effect: Effect) -> None:
        """Show what it would do."""
        if effect != self.effect:
            rows = self.rows
            self.effect = effect
            self._describe()
            if rows != self.rows:
                self.updateGeometry()
            self.update()

    @property
    def rows(self) -> int:
        """How many lines the names of accelerators take."""
        return 1

    def _describe(self) -> None:
        key = tr("key {n}", n=self.number) if self.number else ""
        said = ("" if self.effect is None else self.effect.sentence, self.origin, key)
        text = "; ".join(part for part in said if part)
        self.setAccessibleDescription(text)
        self.setToolTip("" if self.effect is None else self.effect.sentence)

    # What Qt tells

    def nextCheckState(self) -> None:  # noqa: N802 - Qt's name
        """Leave it to the scenario which answer is in force."""

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Let the question act on keys that go to another answer, and the dialogue on Enter."""
        if self._leave(event):
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Say that the mouse is on it."""
        super().enterEvent(event)
        self.pointed.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Say that the focus is on it."""
        super().focusInEvent(event)
        self.pointed.emit()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Take the width there is."""
        return QSize(self.theme.px(240), self.theme.px(_HEIGHT))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Give way in width."""
        return QSize(self.theme.px(160), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Take another height where the width asks for it."""
        super().resizeEvent(event)
        if self.sizeHint().height() != self.height():
            self.updateGeometry()

    def event(self, event: QEvent) -> bool:
        """Draw anew when the mouse comes or goes."""
        if event.type() in (QEvent.Type.HoverEnter, QEvent.Type.HoverLeave):
            self.update()
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw frame, radio and what is in it."""
        painter = QPainter(self)
        try:
            self._draw(Pen(painter, self.theme))
        finally:
            painter.end()

    # Drawing

    def _draw(self, pen: Pen) -> None:
        chosen, hover = self.isChecked(), self.underMouse()
        fill = "selection" if self.isDown() else "hover" if hover and not chosen else "page"
        pen.frame(
            QRectF(self.rect()),
            "text1" if chosen else "control" if hover else "strong",
            radius=_RADIUS,
            fill=fill,
            width=1.5 if chosen else 1.0,
        )
        self._draw_content(pen)

    def _draw_content(self, pen: Pen) -> None:
        raise NotImplementedError

    def _draw_radio(self, pen: Pen, x: float, y: float, radius: float) -> None:
        """Draw the mark of a choice of one, around a point."""
        length, painter = self.theme.length, pen.painter
        colour = pen.colour("text1" if self.isChecked() else "control")
        painter.setPen(QPen(colour, length(1.5)))
        painter.setBrush(pen.colour("page"))
        painter.drawEllipse(QPointF(x, y), length(radius), length(radius))
        if self.isChecked():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(QPointF(x, y), length(radius / 2), length(radius / 2))


class OptionCard(Option):
    """A large card: radio, title and use, at the right what it leaves and the accelerators by name."""

    @property
    def narrow(self) -> bool:
        """Whether the effect stands below the words."""
        return self.width() < self.theme.px(_NARROW)

    @property
    def rows(self) -> int:
        """How many lines the names of accelerators take."""
        return 1 + max((row for row, _, _ in self._places()), default=0)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Take the lines that the effect needs."""
        px = self.theme.px
        lines = self.rows - 1 + (2 if self.narrow else 0)
        return QSize(px(240), px(_HEIGHT) + lines * px(_NAME_LINE) + (px(8) if self.narrow else 0))

    def _effect_x(self) -> float:
        px = self.theme.px
        return float(px(_TEXT_X)) if self.narrow else max(px(200), self.width() * _EFFECT_AT)

    def _right_end(self) -> float:
        key = self.theme.px(30) if self.number else 0
        return self.width() - self.theme.px(_RIGHT) - key

    def _places(self) -> list[tuple[int, float, float]]:
        """Return row, left end and width of each accelerator: the same on all cards, undecided or not."""
        if self.effect is None:
            return []
        px, metrics = self.theme.px, QFontMetricsF(self.theme.font("caption"))
        room = self._right_end() - self._effect_x()
        widths = [
            max(px(_PITCH), metrics.horizontalAdvance(f"{part.name} ?") + px(_GAP + _BETWEEN))
            for part in self.effect.parts
        ]
        if sum(widths) - px(_BETWEEN) <= room:
            starts = [sum(widths[:place]) for place in range(len(widths))]
            return [(0, start, width) for start, width in zip(starts, widths, strict=True)]
        pitch = max(widths)
        columns = max(1, int((room + px(_BETWEEN)) // pitch))
        return [(place // columns, place % columns * pitch, pitch) for place in range(len(widths))]

    def _draw_content(self, pen: Pen) -> None:
        theme = self.theme
        px, height = theme.px, float(theme.px(_HEIGHT))
        middle = height / 2
        self._draw_radio(pen, px(_RADIO_X), middle, _RADIO)
        x, at = float(px(_TEXT_X)), self._effect_x()
        room = self._right_end() - x if self.narrow else at - px(_GAP) - x
        uses = pen.lines(self.words.use, room, "small", 1 if self.narrow else 2)
        top = middle - px(21)
        title = QRectF(x, top - px(7) * (len(uses) - 1), room, theme.line("option"))
        width = pen.text(title, self.words.title, font="option")
        if self.origin and width + pen.width(self.origin, "caption") + px(8) <= room:
            place = QRectF(x + width + px(8), title.top(), room - width - px(8), title.height())
            pen.text(place, self.origin, font="caption", colour="text3")
        use = QRectF(x, title.bottom() + px(2 if len(uses) == 1 else 0), room, theme.line("small"))
        for words in uses:
            pen.text(use, words, font="small", colour="text2")
            use.translate(0, use.height())
        if self.number:
            text = str(self.number)
            pen.key_hint(self.width() - px(_RIGHT) - pen.tag_width(text), middle, text)
        if self.effect is not None:
            self._draw_effect(pen, self.effect, at, use.top() + px(2) if self.narrow else top)

    def _draw_effect(self, pen: Pen, effect: Effect, x: float, top: float) -> None:
        theme = self.theme
        px, line = theme.px, float(theme.line("small"))
        room = self._right_end() - x
        pen.text(QRectF(x, top, room, line + px(2)), effect.text, font="small_strong", colour="text1")
        first = top + line + px(5)
        for part, (row, start, width) in zip(effect.parts, self._places(), strict=True):
            self._draw_part(pen, part, x + start, first + row * px(_NAME_LINE), width - px(_BETWEEN))

    def _draw_part(self, pen: Pen, part: Shown, x: float, top: float, room: float) -> None:
        theme, line = self.theme, float(self.theme.line("small"))
        inner = x + theme.px(_GAP)
        place = QRectF(inner, top, room - theme.px(_GAP), line)
        middle = place.center().y()
        if part.fate is Fate.REMOVED:
            width = pen.text(QRectF(x, top, room, line), part.name, font="caption", colour="text3")
            pen.hairline(x, round(middle), x + width, round(middle), "text3")
            return
        undecided = part.fate is Fate.UNDECIDED
        pen.marker(
            x + theme.px(4),
            middle,
            part.slot,
            radius=_MARKER + 0.6 * undecided,
            hollow=undecided or part.hollow,
        )
        text = tr("{name} ?", name=part.name) if undecided else part.name
        pen.text(place, text, font="caption", colour=theme.slot_label(part.slot))


class SmallOption(Option):
    """A small card: radio and title, at the right what it leaves in a line."""

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Take one line."""
        return QSize(self.theme.px(200), self.theme.px(_SMALL_HEIGHT))

    def _draw_content(self, pen: Pen) -> None:
        theme, height = self.theme, float(self.height())
        px = theme.px
        self._draw_radio(pen, px(17), height / 2, 6.5)
        x, right = float(px(33)), self.width() - px(10)
        effect = "" if self.effect is None else self.effect.brief
        title = min(pen.width(self.words.title, "body_strong"), right - x)
        pen.text(QRectF(x, 0, title + 1, height), self.words.title, font="body_strong")
        left = x + title + px(10)
        if effect and right - left >= min(pen.width(effect, "caption"), px(60)):
            place = QRectF(left, 0, right - left, height)
            pen.text(place, effect, font="caption", colour="text3", align=RIGHT)


def next_of(options: Sequence[Option], event: QKeyEvent) -> Option | None:
    """Return the answer that an arrow key goes to from the one with the focus; None for other keys."""
    steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_Left: -1}
    ends = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: -1}
    key = Qt.Key(event.key())
    if event.modifiers() & Qt.KeyboardModifier.AltModifier:
        return None
    if key in ends:
        return options[ends[key]]
    if key not in steps:
        return None
    now = next((place for place, option in enumerate(options) if option.hasFocus()), 0)
    return options[(now + steps[key]) % len(options)]
