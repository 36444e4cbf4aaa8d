"""A list of lines, each after an icon or a glyph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from gpudesk.desktop.ui.theme.glyphs import GLYPHS
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.layouts import STRETCH, ThemedLabel, make_column

_SIDE: Final = 14.0


class MarkIcon(PaintedWidget):
    """An icon or a glyph in a color, as high as a line of small text."""

    def __init__(self, theme: Theme, name: str = "", color: str = "text2", parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._name, self._color = name, color
        theme.follow(self._dress)

    def show_mark(self, name: str, color: str) -> None:
        if (name, color) != (self._name, self._color):
            self._name, self._color = name, color
            self.update()

    def _dress(self) -> None:
        self.setFixedSize(self._theme.px(_SIDE), self._theme.line("small"))
        self.update()

    def paint(self, pen: ThemePainter) -> None:
        middle = self.height() / 2
        if self._name in GLYPHS:
            pen.glyph(self._name, self.width() / 2, middle, self._color)
        else:
            pen.icon(self._name, 0, middle - self.width() / 2, self.width(), self._color)


class MarkedLine(NamedTuple):
    """One line of a list: an icon or a glyph, its color, and the text."""

    mark: str
    color: str
    text: str


class MarkedList(QWidget):
    """Lines, each after its mark, below a title if there is one; hidden if empty."""

    def __init__(self, theme: Theme, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._lines: tuple[MarkedLine, ...] = ()
        self._rows: list[tuple[MarkIcon, ThemedLabel]] = []
        self.title = ThemedLabel(theme, font="section", parent=self)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(theme.px(6))
        self._grid.setVerticalSpacing(theme.px(3))
        self._grid.setColumnStretch(1, 1)
        make_column(self.title, self._grid, STRETCH, gap=theme.px(4), on=self)
        self.set_title(title)
        self.hide()

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(each.text for each in self._lines)

    def set_title(self, title: str) -> None:
        self.title.show_text(title)
        self.setAccessibleName(title)

    def show_texts(self, mark: str, color: str, texts: Iterable[str]) -> None:
        """Replace the lines by texts with the same mark."""
        self.show_lines([MarkedLine(mark, color, text) for text in texts])

    def show_lines(self, lines: Sequence[MarkedLine]) -> None:
        """Replace the lines; their widgets are reused."""
        if tuple(lines) != self._lines:
            self._lines = tuple(lines)
            for _ in range(len(self._rows), len(lines)):
                self._add_row()
            for (icon, text), line in zip(self._rows, lines, strict=False):
                icon.show_mark(line.mark, line.color)
                text.setText(line.text)
            for number, row in enumerate(self._rows):
                for widget in row:
                    widget.setVisible(number < len(lines))
        self.setVisible(bool(lines))

    def _add_row(self) -> None:
        icon = MarkIcon(self._theme, parent=self)
        text = ThemedLabel(self._theme, font="small", color="text1", wrap=True, parent=self, selectable=True)
        self._grid.addWidget(icon, len(self._rows), 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(text, len(self._rows), 1)
        self._rows.append((icon, text))
