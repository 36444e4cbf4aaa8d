"""The view Scaling: what more accelerators bring, and what spreading a model over them costs."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.pages.performance.scaling_blocks import ComparisonBlock, CountsBlock
from gpudesk.desktop.pages.performance.scaling_chart import BANDWIDTH, THROUGHPUT, ScalingChart
from gpudesk.desktop.pages.performance.scaling_found import ScalingFound
from gpudesk.desktop.pages.performance.views import PageChart, View
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.domain.topology import ScalingRule
from gpudesk.text import tr

_MARGIN = 16
#: While something is dragged, the tables wait until it rests for this long, in milliseconds.
_REST = 120


class ScalingView(View):
    """A chart of all parts, the rows of the selected one, and two deployments against each other."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make an empty chart and empty tables."""
        found = ScalingFound(desk)
        self._desk = desk
        self.chart = ScalingChart(desk, theme, found)
        self.counts = CountsBlock(desk, theme, found)
        self.comparison = ComparisonBlock(desk, theme, found)
        super().__init__((self.chart, self.comparison), parent)
        options = ((THROUGHPUT, tr("Throughput")), (BANDWIDTH, tr("Memory bandwidth")))
        self.quantity = Segment(theme, tr("Chart of"), options, self)
        self.quantity.chosen.connect(self.chart.set_quantity)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST)
        self._rest.timeout.connect(self._show_tables)
        self._build(theme)
        self.counts.rule_chosen.connect(self._choose_rule)
        desk.selection_changed.connect(self._follow_selection)
        desk.gesture_changed.connect(self._gesture_changed)

    def _build(self, theme: Theme) -> None:
        upper, lower = QVBoxLayout(), QVBoxLayout()
        upper.setContentsMargins(_MARGIN, 0, _MARGIN, 4)
        choice = QHBoxLayout()
        choice.addWidget(self.quantity)
        choice.addStretch(1)
        upper.addLayout(choice)
        upper.addWidget(self.chart, 1)
        lower.setContentsMargins(_MARGIN, 4, _MARGIN, 12)
        lower.setSpacing(10)
        lower.addWidget(self.counts)
        lower.addWidget(self.comparison)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(upper, 1)
        whole.addWidget(Rule(theme))
        whole.addLayout(lower)

    def refresh(self) -> None:
        """Show the desk's answer; the tables when what is dragged rests."""
        self.chart.refresh()
        if self._desk.in_gesture:
            self._rest.start()
        else:
            self._show_tables()

    def _show_tables(self) -> None:
        self._rest.stop()
        if self._desk.answer is not None:
            self.counts.refresh()
            self.comparison.refresh()

    def _gesture_changed(self) -> None:
        if not self._desk.in_gesture and self.isVisible():
            self.refresh()

    def _follow_selection(self) -> None:
        if self.isVisible():
            self.refresh()

    def _choose_rule(self, key: str) -> None:
        self.chart.rule = ScalingRule(key)
        self.chart.refresh()

    def current_chart(self) -> PageChart:
        """Return the comparison while the focus is in it, else the chart, which has the numbers of all."""
        focused = QApplication.focusWidget()
        inside = focused is not None and self.comparison.isAncestorOf(focused)
        return self.comparison if inside else self.chart
