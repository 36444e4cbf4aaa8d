"""The box of the command palette: the line that is typed in, the list, and which keys there are."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListView, QWidget

from gpudesk.desktop.theme.pen import RIGHT, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.text import tr

HEAD, FOOT = 52.0, 36.0
_SIDE, _ICON, _TEXT_X = 20.0, 16.0, 48.0
_RADIUS = 12.0


class _Search(QLineEdit):
    """The line that is typed in: the caret shows where the focus is, so no ring is drawn around it."""

    def focus_rect(self) -> QRect | None:
        """Say that the line shows its focus itself."""
        return None


class PaletteBox(QFrame):
    """What floats: the line that is typed in, the list, and which keys there are."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Lay out the parts; what they do is the palette's."""
        super().__init__(parent)
        self._theme = theme
        self.count = ""
        self.filter = ""
        self.search = _Search(self)
        self.view = QListView(self)
        self.nothing = Label(theme, colour="text2", parent=self)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        theme.follow(self._dress)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the ground, the count, the lines and the keys."""
        painter = QPainter(self)
        try:
            theme, px = self._theme, self._theme.px
            pen = Pen(painter, theme)
            pen.frame(QRectF(self.rect()), radius=_RADIUS, fill="raised")
            head, side = px(HEAD), float(px(_ICON))
            pen.icon("search", px(_SIDE), (head - side) / 2, side)
            room = QRectF(0, 0, self.width() - px(_SIDE), head)
            pen.text(room, self.count, font="small", colour="text2", align=RIGHT)
            pen.hairline(1, head - 1, self.width() - 1, head - 1, "selection_raised")
            level = self.height() - px(FOOT)
            pen.hairline(1, level, self.width() - 1, level, "selection_raised")
            self._draw_keys(pen, level + px(FOOT) / 2)
        finally:
            painter.end()

    def _count_width(self) -> int:
        """Return the room that the count takes."""
        return int(QFontMetricsF(self._theme.font("small")).horizontalAdvance(self.count)) + 1

    def _draw_keys(self, pen: Pen, level: float) -> None:
        px, line = self._theme.px, self._theme.line("small")
        x = float(px(_SIDE))
        keys = (
            ("↑↓", tr("choose")),
            (tr("Enter"), tr("run")),
            (tr("Tab"), tr("filter: {group}", group=self.filter)),
            (tr("Esc"), tr("close")),
        )
        for key, does in keys:
            x += pen.key_hint(x, level, key) + px(7)
            place = QRectF(x, level - line / 2, max(0.0, self.width() - x - px(8)), line)
            x += pen.text(place, does, font="small", colour="text2") + px(16)

    def arrange(self) -> None:
        """Put the parts in their places: style sheets would take a layout's heights away."""
        px, width = self._theme.px, self.width() - 2
        head, foot = px(HEAD), px(FOOT)
        left, right = px(_TEXT_X) - 2, self._count_width() + px(_SIDE) + px(10)
        self.search.setGeometry(left, 1, max(0, width - left - right), head - 2)
        body = QRect(1, head, width, max(0, self.height() - head - foot))
        self.view.setGeometry(body)
        self.nothing.setGeometry(body)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Keep the parts in their places."""
        self.arrange()

    def _dress(self) -> None:
        self.search.setFont(self._theme.font("present_small"))
        self.arrange()
        self.update()
