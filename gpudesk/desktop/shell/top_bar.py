"""The top bar: menus, the document's title, the way to every command, the sheet and the panel."""

from __future__ import annotations

import sys

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QMenuBar, QSizePolicy, QWidget

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button, IconButton
from gpudesk.desktop.widgets.cut_label import CutLabel
from gpudesk.desktop.widgets.key_names import key_name
from gpudesk.text import tr

_HEIGHT = 34.0
_SEARCH = 272.0
_SEARCH_KEY = "Ctrl+K"


class SearchButton(Button):
    """Looks like a field, opens the command palette."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Show what can be searched."""
        super().__init__(
            theme,
            tr("Search or run a command"),
            icon="search",
            kind="search",
            key=key_name(_SEARCH_KEY),
            parent=parent,
        )
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Be as wide as a search field where there is room."""
        least = super().sizeHint()
        return QSize(max(least.width(), self._theme.px(_SEARCH)), self._theme.px(26))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Let the words be cut before anything else in the bar is."""
        return QSize(self._theme.px(90), self._theme.px(26))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw a field with an icon and words at the left and the key at the right."""
        painter = QPainter(self)
        try:
            theme, level = self._theme, self.height() / 2
            pen = Pen(painter, theme)
            rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            pen.frame(rect, "control" if self.underMouse() else "strong", radius=6.0, fill="page")
            side = float(theme.px(14))
            pen.icon("search", theme.px(10), level - side / 2, side, "text2")
            key = key_name(_SEARCH_KEY)
            key_x = self.width() - pen.tag_width(key) - theme.px(4)
            x = theme.px(10) + side + theme.px(8)
            pen.text(QRectF(x, 0, key_x - x - theme.px(4), self.height()), self.text(), colour="text2")
            pen.key_hint(key_x, level, key)
        finally:
            painter.end()


class TopBar(QWidget):
    """Menu bar, title and tools in one line, set as the window's menu widget."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Make the tools; the menus are filled from the list of actions."""
        super().__init__(parent)
        self._theme = theme
        self.menus = QMenuBar(self)
        self.menus.setAccessibleName(tr("Menus"))
        # Where the system has a menu bar of its own, users look for menus nowhere else.
        self.menus.setNativeMenuBar(sys.platform == "darwin")
        self.menus.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self.title = CutLabel(theme, cut=Qt.TextElideMode.ElideMiddle)
        self.title.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.search = SearchButton(theme, self)
        self.print = IconButton(theme, "printer", tr("Preview the sheet"), key="Ctrl+P")
        self.panel = IconButton(theme, "panel-right", tr("Show or hide sources and working"), key="Ctrl+I")
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.menus, 0, Qt.AlignmentFlag.AlignVCenter)
        self._row.addWidget(self.title, 1)
        self._row.addWidget(self.search)
        self._row.addWidget(self.print)
        self._row.addWidget(self.panel)
        theme.follow(self._dress)

    def set_title(self, title: str) -> None:
        """Show the document's name, cut in the middle where there is no room."""
        self.title.set_whole(title)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the ground and the line below."""
        painter = QPainter(self)
        try:
            painter.fillRect(self.rect(), self._theme.colour("chrome"))
            Pen(painter, self._theme).hairline(0, self.height() - 1, self.width(), self.height() - 1)
        finally:
            painter.end()

    def _dress(self) -> None:
        px = self._theme.px
        self._row.setContentsMargins(px(8), 0, px(12), 0)
        self._row.setSpacing(px(8))
        self.setFixedHeight(px(_HEIGHT))
        self.update()
