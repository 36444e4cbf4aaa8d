"""The Memory page: memory use, fit, and accelerators needed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.memory.bar_chart import MemoryBarChart
from gpudesk.desktop.pages.memory.needed_view import NeededBlock
from gpudesk.desktop.pages.page import MultiViewPage, PageViewSpec
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.charts.chart_data import CopyableChart
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.layouts import STRETCH, FullWidthScrollArea, Hairline, make_column
from gpudesk.report.comparison.verdicts import describe_fit
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.desktop.pages.memory.context_view import ContextView
    from gpudesk.desktop.pages.memory.matrix_view import FitMatrixView
    from gpudesk.desktop.pages.memory.size_view import SizingView


_MARGIN = 16


class MemoryFitView(QWidget):
    """Whether it fits now, and what the load would need."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars = MemoryBarChart(desk, theme, self)
        self.needed = NeededBlock(desk, theme, brief=True, parent=self)
        upper = make_column(self.bars, margins=(_MARGIN, 0, _MARGIN, 6), scaled=theme)
        lower = make_column(self.needed, margins=(_MARGIN, 12, _MARGIN, 0), scaled=theme)
        line = Hairline(theme, self)
        make_column(upper, line, lower, STRETCH, gap=0, margins=(0, 0, 0, _MARGIN), scaled=theme, on=self)

    def refresh(self) -> None:
        self.bars.refresh()
        self.needed.refresh()

    @property
    def charts(self) -> Sequence[CopyableChart]:
        return (self.bars, self.needed)

    def focus_first(self) -> None:
        if self.bars.rows:
            self.bars.rows[0].setFocus(Qt.FocusReason.ShortcutFocusReason)


class NeededTableView(QWidget):
    """How many of each accelerator the model needs, for all requests and for one."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.needed = NeededBlock(desk, theme, brief=False, parent=self)
        make_column(self.needed, STRETCH, margins=(_MARGIN, 6, _MARGIN, _MARGIN), scaled=theme, on=self)

    def refresh(self) -> None:
        self.needed.refresh()

    @property
    def charts(self) -> Sequence[CopyableChart]:
        return (self.needed,)

    def focus_first(self) -> None:
        self.needed.view.setFocus(Qt.FocusReason.ShortcutFocusReason)


if TYPE_CHECKING:
    MemoryView = MemoryFitView | ContextView | NeededTableView | FitMatrixView | SizingView

FIT, CONTEXT, NEEDED, MATRIX, SIZE = "fit", "context", "needed", "matrix", "size"


class MemoryPage(MultiViewPage["MemoryView"]):
    """Memory use of the desk's answer, and deployments that would fit."""

    page_id = "memory"
    menu_section = 53
    has_verdict = True

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, settings, parent)
        self.head.copy.setToolTip(tr("Copy as picture and as spreadsheet data"))
        self.head.copy.clicked.connect(self.copy)

    def title(self) -> str:
        return tr("Memory and fit")

    def view_specs(self) -> Sequence[PageViewSpec[MemoryView]]:
        """Return the views on fit, needs and sizing; rarely used ones are loaded on demand."""
        return (
            PageViewSpec(FIT, tr("Current fit"), MemoryFitView),
            PageViewSpec(CONTEXT, tr("KV cache by context"), _make_context_view),
            PageViewSpec(NEEDED, tr("Minimum to fit"), NeededTableView),
            PageViewSpec(MATRIX, tr("All models"), partial(_make_matrix_view, self.settings)),
            PageViewSpec(SIZE, tr("Size for demand"), _make_size_view),
        )

    def make_scroll_area(self, view: MemoryView) -> FullWidthScrollArea:  # noqa: ARG002 - the same for all
        """Return a scroll area that also scrolls sideways."""
        return FullWidthScrollArea(sideways=True)

    def show_view(self) -> None:
        self.view.refresh()

    def set_usable(self, *, usable: bool) -> None:
        for control in (self.head.segment, self.head.copy):
            control.setVisible(usable)

    # Commands

    def describe_verdict(self) -> str:
        """Return whether the load fits; the matrix and the sizing have other loads and texts of their own."""
        if self.desk.answer is None or self.view_key in (MATRIX, SIZE):
            return ""
        return describe_fit(self.desk.answer, self.desk.formatter)

    def name_chart_commands(self) -> tuple[str, str]:
        return tr("Show memory table"), tr("Copy memory and fit")

    def focus_content(self) -> None:
        self.view.focus_first()


def _make_context_view(desk: Desk, theme: Theme) -> ContextView:
    # The plot library is loaded with the first plot.
    from gpudesk.desktop.pages.memory.context_view import ContextView

    return ContextView(desk, theme)


def _make_matrix_view(settings: UserSettings, desk: Desk, theme: Theme) -> FitMatrixView:
    from gpudesk.desktop.pages.memory.matrix_view import FitMatrixView

    return FitMatrixView(desk, theme, settings)


def _make_size_view(desk: Desk, theme: Theme) -> SizingView:
    from gpudesk.desktop.pages.memory.size_view import SizingView

    return SizingView(desk, theme)
