"""The view of KV cache against context length: one request, and how many of them fit, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.charts.commands import Shown
from gpudesk.desktop.charts.figures_table import FiguresTable
from gpudesk.desktop.pages.memory.context_charts import ContextCurves, HeldChart, RequestCacheChart
from gpudesk.desktop.pages.memory.context_figures import context_figures
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import figure
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.desktop.widgets.label import Label

_MARGIN = 16


class ContextView(QWidget):
    """Two charts on the same axis of tokens."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make empty charts."""
        super().__init__(parent)
        self._desk = desk
        self._theme = theme
        self._contexts = ContextCurves(desk)
        self.request = RequestCacheChart(desk, theme, self._contexts, self)
        self.held = HeldChart(desk, theme, self._contexts, self)
        self.table = FiguresTable(theme, self)
        self.table.chosen.connect(lambda key, name: desk.select(figure(key, name)))
        self._title = Label(theme, font="section", parent=self)
        self._build()
        desk.selection_changed.connect(self._follow_selection)

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(_MARGIN, 6, _MARGIN, 4)
        row.setSpacing(32)
        row.addWidget(self.request, 1)
        row.addWidget(self.held, 1)
        below = QVBoxLayout()
        below.setContentsMargins(_MARGIN, 10, _MARGIN, 12)
        below.addWidget(self._title)
        below.addWidget(self.table)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(row, 1)
        whole.addWidget(Rule(self._theme, self))
        whole.addLayout(below)

    def refresh(self) -> None:
        """Show the desk's answer."""
        self.request.refresh()
        self.held.refresh()
        figures = context_figures(self._desk, self._contexts)
        self._title.setText(figures.title)
        self.table.show_figures(figures)
        self._follow_selection()

    def _follow_selection(self) -> None:
        chosen = self._desk.selection
        ours = chosen is not None and chosen in (
            figure(chosen.column, "max_concurrency"),
            figure(chosen.column, "memory"),
        )
        self.table.choose_row(chosen.column if chosen is not None and ours else None)

    @property
    def charts(self) -> Sequence[Shown]:
        """What is shown."""
        return (self.request, self.held)

    def focus_first(self) -> None:
        """Give the focus to the first chart."""
        self.request.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Leave both charts their least room."""
        least = self.request.least_height() + self._theme.px(48) + self.table.height()
        return QSize(self._theme.px(560), least)
