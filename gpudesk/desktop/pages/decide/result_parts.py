"""Small pieces that views of a decision are made of: marks, swatches, short paragraphs, lists of reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.theme.glyphs import GLYPHS
from gpudesk.desktop.theme.pen import SWATCH_WIDTH, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.roles import Role

_SIDE: Final = 14.0
_GAP: Final = 6.0


class Mark(QWidget):
    """An icon or a glyph in a colour, as high as a line of small text."""

    def __init__(self, theme: Theme, name: str, colour: str, parent: QWidget | None = None) -> None:
        """Show an icon by its name, or a glyph by its."""
        super().__init__(parent)
        self._theme, self._name, self._colour = theme, name, colour
        theme.follow(self._dress)

    def _dress(self) -> None:
        self.setFixedSize(self._theme.px(_SIDE), self._theme.line("small"))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw it in the middle."""
        painter = QPainter(self)
        try:
            pen, middle = Pen(painter, self._theme), self.height() / 2
            if self._name in GLYPHS:
                pen.glyph(self._name, self.width() / 2, middle, self._colour)
            else:
                pen.icon(self._name, 0, middle - self.width() / 2, self.width(), self._colour)
        finally:
            painter.end()


class Look(NamedTuple):
    """How a column is drawn."""

    slot: int
    hollow: bool


class Swatches(QWidget):
    """The keys of accelerators side by side, in the middle of a line; the mark of a fault without any."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, line: str = "verdict") -> None:
        """Begin without any; `line` is the font token of the text that they stand before."""
        super().__init__(parent)
        self._theme, self._line = theme, line
        self._looks: tuple[Look, ...] = ()
        theme.follow(self._dress)

    def show_looks(self, looks: Sequence[Look]) -> None:
        """Show the keys of these."""
        self._looks = tuple(looks)
        self._dress()

    def _dress(self) -> None:
        count = max(1, len(self._looks))
        px = self._theme.px
        self.setFixedSize(count * px(SWATCH_WIDTH) + (count - 1) * px(_GAP), self._theme.line(self._line))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw them."""
        painter = QPainter(self)
        try:
            pen, middle, x = Pen(painter, self._theme), self.height() / 2, 0.0
            if not self._looks:
                pen.glyph("unfit", self.width() / 2, middle)
            for look in self._looks:
                pen.swatch(x, middle, look.slot, hollow=look.hollow)
                x += self._theme.px(SWATCH_WIDTH) + self._theme.px(_GAP)
        finally:
            painter.end()


class Paragraph(QWidget):
    """A text on so many lines at most; the last one is cut where there are more, and then whole in a tip."""

    accessible_role = Role.StaticText

    def __init__(
        self,
        theme: Theme,
        *,
        font: str = "body",
        colour: str = "text2",
        most: int = 2,
        parent: QWidget | None = None,
    ) -> None:
        """Begin empty; `font` and `colour` are tokens."""
        super().__init__(parent)
        self._theme, self._font, self._colour, self._most = theme, font, colour, most
        self._text = ""
        self._lines: list[str] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.follow(self._measure)

    @property
    def text(self) -> str:
        """The whole text."""
        return self._text

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that are shown."""
        return tuple(self._lines)

    def set_text(self, text: str) -> None:
        """Show a text."""
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self._measure()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the height of the lines."""
        return QSize(self._theme.px(240), self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Break the text anew."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._measure()

    def _measure(self) -> None:
        metrics = QFontMetricsF(self._theme.font(self._font))
        lines: list[str] = []
        room = max(1, self.width())
        for word in self._text.split():
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and metrics.horizontalAdvance(longer) <= room:
                lines[-1] = longer
            else:
                lines.append(word)
        cut = len(lines) > self._most
        if cut:
            rest = " ".join(lines[self._most - 1 :])
            lines = lines[: self._most - 1]
            lines.append(metrics.elidedText(rest, Qt.TextElideMode.ElideRight, room))
        self._lines = lines
        self.setToolTip(self._text if cut else "")
        self.setFixedHeight(max(1, len(lines)) * self._theme.line(self._font))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the lines."""
        painter = QPainter(self)
        try:
            pen, high = Pen(painter, self._theme), self._theme.line(self._font)
            for number, line in enumerate(self._lines):
                row = QRectF(0, number * high, self.width(), high)
                pen.text(row, line, font=self._font, colour=self._colour)
        finally:
            painter.end()


class Said(NamedTuple):
    """One line of a list: an icon or a glyph, its colour, and what is said."""

    mark: str
    colour: str
    text: str


class SaidList(QWidget):
    """Lines, each behind its mark, under a title if there is one; hidden where there are none."""

    def __init__(self, theme: Theme, title: str = "", parent: QWidget | None = None) -> None:
        """Begin without lines, hidden."""
        super().__init__(parent)
        self._theme = theme
        self._said: tuple[Said, ...] = ()
        self.title = Label(theme, font="section", parent=self)
        self._holder: QWidget | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.px(4))
        self._column.addWidget(self.title)
        self._column.addStretch(1)
        self.set_title(title)
        self.hide()

    @property
    def texts(self) -> tuple[str, ...]:
        """What the lines say."""
        return tuple(each.text for each in self._said)

    def set_title(self, title: str) -> None:
        """Say something else above the lines."""
        self.title.setText(title)
        self.title.setVisible(bool(title))
        self.setAccessibleName(title)

    def show_lines(self, said: Sequence[Said]) -> None:
        """Show other lines."""
        if tuple(said) != self._said:
            self._said = tuple(said)
            if self._holder is not None:
                self._holder.hide()
                self._holder.deleteLater()
            self._holder = self._made()
            self._column.insertWidget(1, self._holder)
        self.setVisible(bool(said))

    def _made(self) -> QWidget:
        holder = QWidget(self)
        grid = QGridLayout(holder)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(self._theme.px(6))
        grid.setVerticalSpacing(self._theme.px(3))
        grid.setColumnStretch(1, 1)
        for row, each in enumerate(self._said):
            grid.addWidget(
                Mark(self._theme, each.mark, each.colour, holder), row, 0, Qt.AlignmentFlag.AlignTop
            )
            text = Label(self._theme, each.text, font="small", colour="text1", wrap=True, parent=holder)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(text, row, 1)
        return holder
