"""The views of the page: bars with what is needed below, KV cache against context, all that is needed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpudesk.desktop.charts.commands import Shown
from gpudesk.desktop.pages.memory.bar_chart import MemoryBars
from gpudesk.desktop.pages.memory.needed_block import NeededBlock
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.ground import Rule

_MARGIN = 16


class FitView(QWidget):
    """Does it fit now, and what would the load take."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make empty charts."""
        super().__init__(parent)
        self.bars = MemoryBars(desk, theme, self)
        self.needed = NeededBlock(desk, theme, brief=True, parent=self)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, _MARGIN)
        whole.setSpacing(0)
        upper, lower = QVBoxLayout(), QVBoxLayout()
        upper.setContentsMargins(_MARGIN, 0, _MARGIN, 6)
        upper.addWidget(self.bars)
        lower.setContentsMargins(_MARGIN, 12, _MARGIN, 0)
        lower.addWidget(self.needed)
        whole.addLayout(upper)
        whole.addWidget(Rule(theme, self))
        whole.addLayout(lower)
        whole.addStretch(1)

    def refresh(self) -> None:
        """Show the desk's answer."""
        self.bars.refresh()
        self.needed.refresh()

    @property
    def charts(self) -> Sequence[Shown]:
        """What is shown, the main things first."""
        return (self.bars, self.needed)

    def focus_first(self) -> None:
        """Give the focus to the first bar."""
        if self.bars.rows:
            self.bars.rows[0].setFocus(Qt.FocusReason.ShortcutFocusReason)


class NeededView(QWidget):
    """How many of each accelerator the model takes, for all requests and for one."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make an empty table."""
        super().__init__(parent)
        self.needed = NeededBlock(desk, theme, brief=False, parent=self)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(_MARGIN, 6, _MARGIN, _MARGIN)
        whole.addWidget(self.needed)
        whole.addStretch(1)

    def refresh(self) -> None:
        """Show the desk's answer."""
        self.needed.refresh()

    @property
    def charts(self) -> Sequence[Shown]:
        """What is shown."""
        return (self.needed,)

    def focus_first(self) -> None:
        """Give the focus to the table."""
        self.needed.view.setFocus(Qt.FocusReason.ShortcutFocusReason)
