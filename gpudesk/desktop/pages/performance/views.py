"""The views of the page: all charts at once, or one with its table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.charts.chart import Chart
from gpudesk.desktop.charts.figure_charts import LatencyChart, ThroughputChart
from gpudesk.desktop.charts.figures_table import Figures, FiguresTable
from gpudesk.desktop.charts.pareto import ParetoChart
from gpudesk.desktop.charts.roofline import RooflineChart
from gpudesk.desktop.charts.split import SplitChart
from gpudesk.desktop.pages.performance import figures
from gpudesk.desktop.pages.performance.mlperf_block import MlperfBlock
from gpudesk.desktop.pages.performance.scaling_blocks import ComparisonBlock
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import SelectionKind, figure
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.desktop.widgets.label import Label

_MARGIN = 16
#: Heights of the upper and lower half of the overview, and widths of the two charts in the lower.
_HALVES = (63, 37)
_LOWER = (54, 46)
#: What a view shows, and can be copied and read as a table.
PageChart = Chart | SplitChart | ComparisonBlock | MlperfBlock


class View(QWidget):
    """What one segment shows; `charts` in reading order."""

    def __init__(self, charts: Sequence[PageChart], parent: QWidget | None = None) -> None:
        """Keep the charts."""
        super().__init__(parent)
        self.charts = tuple(charts)

    def refresh(self) -> None:
        """Show the desk's answer."""
        for chart in self.charts:
            chart.refresh()

    def set_bands(self, wanted: bool) -> None:
        """Shade bands, or none."""
        for chart in self.charts:
            if isinstance(chart, Chart):
                chart.set_bands_wanted(wanted)

    def current_chart(self) -> PageChart:
        """Return the chart that has the focus, else the first."""
        return next((chart for chart in self.charts if chart.hasFocus()), self.charts[0])


class Overview(View):
    """Throughput with its limiters, below speed against throughput and time to first token."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make three charts."""
        self.throughput = ThroughputChart(desk, theme)
        self.throughput.say_what_does_not_fit()
        self.pareto = ParetoChart(desk, theme)
        self.first_token = LatencyChart(desk, theme, "ttft_ms")
        super().__init__((self.throughput, self.pareto, self.first_token), parent)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        upper = QHBoxLayout()
        upper.setContentsMargins(_MARGIN, 0, _MARGIN, 0)
        upper.addWidget(self.throughput)
        lower = QHBoxLayout()
        lower.setContentsMargins(_MARGIN, 8, _MARGIN, 4)
        lower.setSpacing(32)
        lower.addWidget(self.pareto, _LOWER[0])
        lower.addWidget(self.first_token, _LOWER[1])
        whole.addLayout(upper, _HALVES[0])
        whole.addWidget(Rule(theme))
        whole.addLayout(lower, _HALVES[1])


class OneView(View):
    """One chart, or two of a kind, over the whole page, with the figures at this load below."""

    def __init__(
        self,
        desk: Desk,
        theme: Theme,
        charts: Sequence[Chart | SplitChart],
        made: Callable[[], Figures] | None,
        parent: QWidget | None = None,
    ) -> None:
        """Take the charts, and what makes the table's figures; a chart of bars has its figures in it."""
        super().__init__(charts, parent)
        self._desk = desk
        self._made = made
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(8)
        row = QHBoxLayout()
        row.setContentsMargins(_MARGIN, 0, _MARGIN, 4)
        row.setSpacing(32)
        for chart in self.charts:
            row.addWidget(chart, 1)
        whole.addLayout(row, 1)
        self.table = FiguresTable(theme, self)
        self._title = Label(theme, font="section", parent=self)
        if made is not None:
            whole.addWidget(Rule(theme))
            below = QVBoxLayout()
            below.setContentsMargins(_MARGIN, 6, _MARGIN, 12)
            below.addWidget(self._title)
            below.addWidget(self.table)
            whole.addLayout(below)
        self.table.setVisible(made is not None)
        self._title.setVisible(made is not None)
        self.table.chosen.connect(lambda key, name: desk.select(figure(key, name)))
        desk.selection_changed.connect(self._follow_selection)

    def refresh(self) -> None:
        """Show the desk's answer in charts and table."""
        super().refresh()
        if self._made is not None:
            shown = self._made()
            self._title.setText(shown.title)
            self.table.show_figures(shown)
            self._follow_selection()

    def _follow_selection(self) -> None:
        chosen = self._desk.selection
        is_figure = chosen is not None and chosen.kind is SelectionKind.FIGURE
        self.table.choose_row(chosen.column if chosen is not None and is_figure else None)


def throughput_view(desk: Desk, theme: Theme) -> View:
    """Return throughput alone."""
    chart = ThroughputChart(desk, theme)
    chart.say_what_does_not_fit()
    chart.docked = False
    return OneView(desk, theme, [chart], lambda: figures.of_figures(desk, ("output_tokens_per_s",)))


def pareto_view(desk: Desk, theme: Theme) -> View:
    """Return speed against throughput alone."""
    chart = ParetoChart(desk, theme)
    chart.labelled = True
    chart.say_what_does_not_fit()
    return OneView(desk, theme, [chart], lambda: figures.of_pareto(desk, chart))


def latency_view(desk: Desk, theme: Theme) -> View:
    """Return both times."""
    charts = [LatencyChart(desk, theme, name) for name in ("ttft_ms", "tpot_ms")]
    charts[0].say_what_does_not_fit()
    return OneView(desk, theme, charts, lambda: figures.of_figures(desk, ("ttft_ms", "tpot_ms")))


def roofline_view(desk: Desk, theme: Theme) -> View:
    """Return the rooflines."""
    chart = RooflineChart(desk, theme)
    chart.say_what_does_not_fit()
    return OneView(desk, theme, [chart], lambda: figures.of_roofline(desk, chart))


def split_view(desk: Desk, theme: Theme) -> View:
    """Return where the time of requests and steps goes."""
    view = OneView(desk, theme, [SplitChart(desk, theme)], None)
    layout = view.layout()
    if layout is not None:
        layout.setAlignment(Qt.AlignmentFlag.AlignTop)
    return view
