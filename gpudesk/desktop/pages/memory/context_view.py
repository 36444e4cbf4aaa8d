"""The view of KV cache against context length: one request, and how many of them fit, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpudesk.desktop.charts.commands import Shown
from gpudesk.desktop.pages.memory.context_charts import ContextCurves, HeldChart, RequestCacheChart
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme

_MARGIN = 16


class ContextView(QWidget):
    """Two charts on the same axis of tokens."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make empty charts."""
        super().__init__(parent)
        self._theme = theme
        curves = ContextCurves(desk)
        self.request = RequestCacheChart(desk, theme, curves, self)
        self.held = HeldChart(desk, theme, curves, self)
        self.held.say_what_does_not_fit()
        row = QHBoxLayout(self)
        row.setContentsMargins(_MARGIN, 0, _MARGIN, 12)
        row.setSpacing(32)
        row.addWidget(self.request, 46)
        row.addWidget(self.held, 54)

    def refresh(self) -> None:
        """Show the desk's answer."""
        self.request.refresh()
        self.held.refresh()

    @property
    def charts(self) -> Sequence[Shown]:
        """What is shown."""
        return (self.request, self.held)

    def focus_first(self) -> None:
        """Give the focus to the first chart."""
        self.request.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Leave both charts their least room."""
        least = self.request.least_height() + self._theme.px(12)
        return QSize(self._theme.px(560), least)
