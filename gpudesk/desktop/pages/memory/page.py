"""The page Memory and fit: does it fit, what fills the memory, how many are needed."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QApplication,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from gpudesk.desktop.actions import ActionSpec
from gpudesk.desktop.charts import commands
from gpudesk.desktop.charts.data_table import DataDialog
from gpudesk.desktop.pages.memory.views import FitView, NeededView, View
from gpudesk.desktop.pages.page import Page, chart_actions, view_actions
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.answer_stack import AnswerStack
from gpudesk.desktop.widgets.ground import fill
from gpudesk.desktop.widgets.page_head import PageHead
from gpudesk.desktop.widgets.scroll_area import ScrollArea
from gpudesk.text import tr

FIT, CONTEXT, NEEDED, MATRIX, SIZE = "fit", "context", "needed", "matrix", "size"

_SECTION: Final = 53
_VIEW: Final = "memory.view"


class MemoryPage(Page):
    """Shows the view that was chosen last; the others are made when they are asked for."""

    page_id = "memory"

    #: The user wants to fill in what is missing: `model` or `accelerators`.
    wanted = Signal(str)

    def __init__(self, desk: Desk, theme: Theme, settings: Settings, parent: QWidget | None = None) -> None:
        """Show nothing until there is an answer."""
        super().__init__(desk, theme, settings, parent)
        self.setAccessibleName(tr("Memory and fit"))
        self._views: dict[str, QWidget] = {}
        self.head = PageHead(theme, tr("Memory and fit"), self._segments())
        self.head.copy.setToolTip(tr("Copy a picture, and the numbers for a spreadsheet"))
        self.head.segment.chosen.connect(self.choose_view)
        self.head.copy.clicked.connect(self.copy)
        content = QWidget()
        self._shown = QStackedLayout(content)
        self.body = AnswerStack(theme, content)
        self.body.wanted.connect(self.wanted)
        self._build()
        theme.follow(self._dress)
        chosen = settings.get(_VIEW, FIT)
        self.choose_view(chosen if chosen in dict(self._segments()) else FIT)

    @staticmethod
    def _segments() -> tuple[tuple[str, str], ...]:
        return (
            (FIT, tr("Fit now")),
            (CONTEXT, tr("KV against context")),
            (NEEDED, tr("Accelerators needed")),
            (MATRIX, tr("All models")),
            (SIZE, tr("Size from users")),
        )

    def _build(self) -> None:
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.head)
        whole.addWidget(self.body, 1)

    def _dress(self) -> None:
        for widget in (self, *(scroll.viewport() for scroll in self.findChildren(ScrollArea))):
            fill(widget, self.theme.colour("page"))

    # Views

    @property
    def view(self) -> View:
        """The view that is shown."""
        view: View = self._views[self._chosen]  # type: ignore[assignment]
        return view

    def choose_view(self, key: str) -> None:
        """Show a view, and begin with it the next time."""
        self._chosen = key
        self.settings.put(_VIEW, key)
        self.head.segment.set_value(key)
        if key not in self._views:
            view = self._views[key] = self._made(key)
            scroll = ScrollArea(sideways=True)
            scroll.show_widget(view)
            self._shown.addWidget(scroll)
            self._dress()
        self._shown.setCurrentIndex(list(self._views).index(key))
        if self.isVisible():
            self.refresh()

    def _made(self, key: str) -> QWidget:
        if key == FIT:
            return FitView(self.desk, self.theme)
        if key == NEEDED:
            return NeededView(self.desk, self.theme)
        if key == MATRIX:
            from gpudesk.desktop.pages.memory.matrix_view import MatrixView

            return MatrixView(self.desk, self.theme, self.settings)
        if key == SIZE:
            from gpudesk.desktop.pages.memory.size_view import SizeView

            return SizeView(self.desk, self.theme)
        # The plot library is not loaded before somebody asks for a plot.
        from gpudesk.desktop.pages.memory.context_view import ContextView

        return ContextView(self.desk, self.theme)

    # Showing

    def refresh(self) -> None:
        """Show the desk's answer, or what is missing."""
        desk = self.desk
        if self.body.show_state(self.problem_text, desk.missing, answered=desk.answer is not None):
            self.view.refresh()
        for control in (self.head.segment, self.head.copy):
            control.setVisible(self.body.usable)

    # Commands

    def copy(self) -> None:
        """Copy the view as a picture, and its numbers for what takes text."""
        commands.copy(list(self.view.charts), self._views[self._chosen].grab())

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
        views = view_actions("memory", tr("Memory and fit"), self._segments(), self.choose_view, _SECTION)
        table = (tr("Show memory as table"), self.show_table)
        copied = (tr("Copy memory and fit"), self.copy)
        return [*views, *chart_actions("memory", _SECTION, table, copied, lambda: self.body.usable)]
