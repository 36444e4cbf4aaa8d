"""The page Memory and fit: does it fit, what fills the memory, how many are needed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QWidget

from gpudesk.desktop.actions import ActionSpec
from gpudesk.desktop.charts import commands
from gpudesk.desktop.charts.data_table import DataDialog
from gpudesk.desktop.pages.memory.views import FitView, NeededView
from gpudesk.desktop.pages.page import chart_actions
from gpudesk.desktop.pages.views_page import ViewsPage, ViewSpec
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.scroll_area import ScrollArea
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.desktop.pages.memory.context_view import ContextView
    from gpudesk.desktop.pages.memory.matrix_view import MatrixView
    from gpudesk.desktop.pages.memory.size_view import SizeView

    MemoryView = FitView | ContextView | NeededView | MatrixView | SizeView

FIT, CONTEXT, NEEDED, MATRIX, SIZE = "fit", "context", "needed", "matrix", "size"


class MemoryPage(ViewsPage["MemoryView"]):
    """What the memory of the desk's answer holds, and what would hold it."""

    page_id = "memory"
    menu_section = 53

    def __init__(self, desk: Desk, theme: Theme, settings: Settings, parent: QWidget | None = None) -> None:
        """Show nothing until there is an answer."""
        super().__init__(desk, theme, settings, parent)
        self.head.copy.setToolTip(tr("Copy a picture, and the numbers for a spreadsheet"))
        self.head.copy.clicked.connect(self.copy)

    def title(self) -> str:
        """Return what the page is called."""
        return tr("Memory and fit")

    def view_specs(self) -> Sequence[ViewSpec[MemoryView]]:
        """Return what fits now, what would, and what is needed; what few ask for is loaded when they do."""
        return (
            ViewSpec(FIT, tr("Fit now"), FitView),
            ViewSpec(CONTEXT, tr("KV against context"), _context_view),
            ViewSpec(NEEDED, tr("Accelerators needed"), NeededView),
            ViewSpec(MATRIX, tr("All models"), partial(_matrix_view, self.settings)),
            ViewSpec(SIZE, tr("Size from users"), _size_view),
        )

    def framed(self, view: MemoryView) -> QWidget:
        """Return a scroll area in which what is too wide can be scrolled too."""
        scroll = ScrollArea(sideways=True)
        scroll.show_widget(view)
        return scroll

    def show_view(self) -> None:
        """Show the desk's answer."""
        self.view.refresh()

    def set_usable(self, *, usable: bool) -> None:
        """Show the controls while there is an answer."""
        for control in (self.head.segment, self.head.copy):
            control.setVisible(usable)

    # Commands

    def copy(self) -> None:
        """Copy the view as a picture, and its numbers for what takes text."""
        commands.copy(list(self.view.charts), self.view.grab())

    def show_table(self) -> DataDialog:
        """Show the numbers of the chart that has the focus, else of the first, in a table."""
        focused = QApplication.focusWidget()
        charts = [chart for chart in self.view.charts if isinstance(chart, QWidget)]
        at = next(
            (chart for chart in charts if focused and (chart is focused or chart.isAncestorOf(focused))), None
        )
        return commands.show_table(at or self.view.charts[0])

    def focus_content(self) -> None:
        """Give the focus to what the view is about."""
        self.view.focus_first()

    def actions_of_page(self) -> list[ActionSpec]:
        """Return the page's commands: each view, and what it can be asked for."""
        table = (tr("Show memory as table"), self.show_table)
        copied = (tr("Copy memory and fit"), self.copy)
        charts = chart_actions(self.page_id, self.menu_section, table, copied, lambda: self.body.usable)
        return [*super().actions_of_page(), *charts]


def _context_view(desk: Desk, theme: Theme) -> ContextView:
    # The plot library is not loaded before somebody asks for a plot.
    from gpudesk.desktop.pages.memory.context_view import ContextView

    return ContextView(desk, theme)


def _matrix_view(settings: Settings, desk: Desk, theme: Theme) -> MatrixView:
    from gpudesk.desktop.pages.memory.matrix_view import MatrixView

    return MatrixView(desk, theme, settings)


def _size_view(desk: Desk, theme: Theme) -> SizeView:
    from gpudesk.desktop.pages.memory.size_view import SizeView

    return SizeView(desk, theme)
