"""The view MLPerf: submitted results of one round, side by side for each accelerator."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpudesk.desktop.pages.performance.mlperf_block import MlperfBlock
from gpudesk.desktop.pages.performance.views import View
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme

_MARGIN = 16


class MlperfView(View):
    """One block over the whole page."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make the block."""
        self.block = MlperfBlock(desk, theme)
        super().__init__((self.block,), parent)
        # The focus of the page goes where one begins.
        self.block.setFocusProxy(self.block.round)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(_MARGIN, 0, _MARGIN, _MARGIN)
        whole.addWidget(self.block)
