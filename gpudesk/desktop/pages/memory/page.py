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

from gpudesk.desktop.actions import ActionSpec, Menu
from gpudesk.desktop.charts import commands
from gpudesk.desktop.charts.data_table import DataDialog
from gpudesk.desktop.pages.memory.views import FitView, NeededView, View
from gpudesk.desktop.pages.page import Page, view_actions
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.page_head import PageHead
from gpudesk.desktop.widgets.scroll_area import ScrollArea
from gpudesk.desktop.widgets.states import MissingState, ProblemNote
from gpudesk.sentences import sentence
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
        self.note = ProblemNote(theme)
        self._missing = MissingState(theme)
        self._missing.wanted.connect(self.wanted)
        self._shown = QStackedLayout()
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
        content = QWidget()
        content.setLayout(self._shown)
        self._stack = QStackedLayout()
        whole = QVBoxLayout(self)
        whole.addWidget(self.head)
        whole.addWidget(self.note)
        # First to the page: a stack that belongs to none shows what it is given as a window.
        whole.addLayout(self._stack, 1)
        for widget in (content, self._missing, QWidget()):
            self._stack.addWidget(widget)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)

    def _dress(self) -> None:
        for widget in (self, *(scroll.viewport() for scroll in self.findChildren(ScrollArea))):
            widget.setAutoFillBackground(True)
            palette = widget.palette()
            palette.setColor(widget.backgroundRole(), self.theme.colour("page"))
            widget.setPalette(palette)

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
        problem = "" if desk.problem is None else sentence(desk.problem.problem, desk.formatter)
        self.note.show_text(problem[:1].upper() + problem[1:])
        if desk.missing is not None:
            self._missing.show_missing(desk.missing)
            self._stack.setCurrentIndex(1)
        elif desk.answer is None:
            self._stack.setCurrentIndex(2)
        else:
            self.view.refresh()
            self._stack.setCurrentIndex(0)
        for control in (self.head.segment, self.head.copy):
            control.setVisible(self._usable())

    def _usable(self) -> bool:
        return self._stack.currentIndex() == 0

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
        table = ActionSpec(
            "memory.table",
            tr("Show memory as table"),
            self.show_table,
            Menu.VIEW,
            _SECTION + 1,
            "table-2",
            ("Alt+T",),
            enabled=self._usable,
        )
        copied = ActionSpec(
            "memory.copy",
            tr("Copy memory and fit"),
            self.copy,
            Menu.EDIT,
            _SECTION,
            "copy",
            ("Ctrl+Shift+C",),
            enabled=self._usable,
        )
        return [*views, table, copied]
