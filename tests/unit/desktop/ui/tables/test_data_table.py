"""The widths of a profile's columns: first lines, then second lines, and what is left by their shares."""

from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.tables.data_table import DataTableView
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.report.data_table import DataCell, DataColumn, DataRow, DataTable

DETAIL = "BF16, 768 × 512, 100 frames, 50 steps"


def test_second_lines_find_the_room_that_other_columns_do_not_need(qtbot: QtBot, theme: Theme) -> None:
    view = DataTableView(theme)
    qtbot.addWidget(view)
    view.resize(theme.px(460), theme.px(200))
    columns = (
        DataColumn("Task", stretch=3),
        DataColumn("Status", stretch=3),
        DataColumn("Model", stretch=5),
        DataColumn("Output", is_figure=True),
    )
    cells = (DataCell("Long video"), DataCell("Native"), DataCell("Wan 2.1", DETAIL), DataCell("289 s"))
    view.show_table(DataTable("capabilities", "Capabilities", "", columns, (DataRow("video", cells, ""),)))
    view.fit_columns()
    widths = [view.columnWidth(column) for column in range(4)]
    assert widths[2] >= view._measure_details(2)
    assert widths[0] < widths[2]
    assert sum(widths) <= view.viewport().width()
