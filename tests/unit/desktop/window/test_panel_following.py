"""The panel follows the current cell on every page: by arrow keys, and by Tab into a table or chart."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gpudesk.desktop.pages.cost.charts import CostCurveChart
from gpudesk.desktop.pages.desk_chart import DeskChart
from gpudesk.desktop.pages.page import MultiViewPage
from gpudesk.desktop.ui.charts.bar_chart import BarChart
from gpudesk.desktop.ui.tables.data_table import FiguresTable
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.sources_panel import SourcesPanel

_KEYS = (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up)


@pytest.mark.parametrize(
    ("page", "view", "kind", "name"),
    [
        ("performance", "throughput", DeskChart, "output_tokens_per_s"),
        ("performance", "throughput", FiguresTable, "output_tokens_per_s"),
        ("performance", "split", BarChart, "request_s"),
        ("cost", "overview", BarChart, "usd_owned"),
        ("cost", "tokens", CostCurveChart, "usd_owned"),
        ("cost", "tokens", FiguresTable, "usd_owned"),
    ],
)
def test_panel_follows_arrow_keys(window: MainWindow, page: str, view: str, kind: type[QWidget], name: str) -> None:
    widget = _show(window, page, view, kind)
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    panel = window.findChildren(SourcesPanel)[0]
    titles = []
    for key in _KEYS:
        QTest.keyClick(widget, key)
        selection, explanation = window.desk.selection, panel.explanation
        assert selection is not None
        assert selection.name == name
        assert explanation is not None
        titles.append(f"{explanation.what} {explanation.conditions}")
    # The second step leaves the first row, the third goes back to it; the table starts in its first row.
    assert len(set(titles)) == 2


def test_left_and_right_move_the_panel_from_figure_to_figure(window: MainWindow) -> None:
    table = _show(window, "performance", "latency", FiguresTable)
    table.setFocus(Qt.FocusReason.TabFocusReason)
    names = []
    for key in (*[Qt.Key.Key_Right] * 4, *[Qt.Key.Key_Left] * 4):
        QTest.keyClick(table, key)
        names.append(window.desk.selection and window.desk.selection.name)
    assert names[0] == names[-1] == "ttft_ms"
    assert "tpot_ms" in names


def test_tab_into_a_table_shows_its_current_cell_again(window: MainWindow) -> None:
    table = _show(window, "performance", "throughput", FiguresTable)
    chart = _show(window, "performance", "throughput", DeskChart)
    table.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(table, Qt.Key.Key_Down)
    table_selection = window.desk.selection
    chart.setFocus(Qt.FocusReason.TabFocusReason)
    while window.desk.selection == table_selection:
        QTest.keyClick(chart, Qt.Key.Key_Down)
    chart_selection = window.desk.selection
    assert chart_selection is not None
    table.setFocus(Qt.FocusReason.TabFocusReason)
    assert window.desk.selection == chart_selection


def _show(window: MainWindow, page_id: str, view: str, kind: type[QWidget]) -> QWidget:
    window.show_page(page_id)
    page = window.page
    assert isinstance(page, MultiViewPage)
    page.choose_view(view)
    QApplication.processEvents()
    widget: QWidget = next(each for each in page.view.findChildren(kind) if each.isVisible())
    return widget
