"""Column widths of data tables, and the legend of their marks."""

from functools import partial

from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.tables.data_table import DataTableSection, DataTableView, FiguresTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.report.data_table import DataCell, DataColumn, DataRow, DataTable, explain_cell_marks
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter

DETAIL = "BF16, 768 × 512, 100 frames, 50 steps"


def test_second_lines_get_the_width_left_by_other_columns(qtbot: QtBot, theme: Theme) -> None:
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


def test_narrow_figures_fit_a_narrow_table(qtbot: QtBot, theme: Theme) -> None:
    view = FiguresTable(theme)
    qtbot.addWidget(view)
    view.resize(theme.px(400), theme.px(200))
    columns = (*(DataColumn(head, is_figure=True) for head in ("A", "B", "C")), DataColumn("Replica", stretch=1))
    cells = (*map(DataCell, "123"), DataCell("TP 1, vLLM"))
    view.show_table(DataTable("candidates", "Candidates", "", columns, (DataRow("one", cells, ""),)))
    view.fit_columns()
    assert sum(view.columnWidth(column) for column in range(4)) == view.viewport().width()


def test_texts_stay_near_their_figures_in_a_wide_table(qtbot: QtBot, theme: Theme) -> None:
    view = FiguresTable(theme)
    qtbot.addWidget(view)
    view.resize(theme.px(1600), theme.px(200))
    columns = (DataColumn("Provider", stretch=1), DataColumn("Price", is_figure=True), DataColumn("Date"))
    row = DataRow("one", (DataCell("TensorWave"), DataCell("1.95"), DataCell("2026-05-18")), "")
    view.show_table(DataTable("rents", "Rents", "", columns, (row,)))
    view.fit_columns()
    assert view.columnWidth(0) < theme.px(200)
    assert sum(view.columnWidth(column) for column in range(3)) == view.viewport().width()


def test_figures_share_what_a_text_leaves(qtbot: QtBot, theme: Theme) -> None:
    view = DataTableView(theme)
    qtbot.addWidget(view)
    view.resize(theme.px(1600), theme.px(200))
    columns = (DataColumn("Attribute", stretch=1), *(DataColumn(head, is_figure=True) for head in "ABC"))
    row = DataRow("one", (DataCell("Capacity"), *map(DataCell, "123")), "")
    view.show_table(DataTable("peers", "Peers", "", columns, (row,)))
    view.fit_columns()
    widths = [view.columnWidth(column) for column in range(4)]
    assert sum(widths) == view.viewport().width()
    assert max(widths[1:]) - min(widths[1:]) <= theme.px(10)


def test_table_that_does_not_fit_can_be_scrolled(qtbot: QtBot, theme: Theme) -> None:
    view = DataTableView(theme)
    qtbot.addWidget(view)
    view.resize(theme.px(120), theme.px(200))
    columns = tuple(DataColumn(head, is_figure=True) for head in ("Throughput", "Latency", "Cost"))
    view.show_table(DataTable("wide", "Wide", "", columns, (DataRow("one", tuple(map(DataCell, "123")), ""),)))
    view.show()
    qtbot.waitUntil(view.horizontalScrollBar().isVisible)


def test_heads_end_with_their_figures(qtbot: QtBot, theme: Theme) -> None:
    view = DataTableView(theme)
    qtbot.addWidget(view)
    view.resize(theme.px(400), theme.px(200))
    columns = (DataColumn("Rate", is_figure=True), DataColumn("Cost", is_figure=True), DataColumn("Note", stretch=1))
    row = DataRow("one", (DataCell("1", mark="estimated"), DataCell("2"), DataCell("")), "")
    view.show_table(DataTable("heads", "Heads", "", columns, (row,)))
    view.show()
    rows = view.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    head, body = theme.px(view.head_height), theme.px(view.row_height)
    for column in range(2):
        left, width = view.columnViewportPosition(column), view.columnWidth(column) - theme.px(20) + 1
        ends = []
        for top, height in ((4, head - 8), (head + 4, body - 8)):
            inked = [
                x
                for x in range(left, left + width)
                if any(rows.pixelColor(x, y).lightness() < 150 for y in range(top, top + height))
            ]
            ends.append(max(inked))
        assert abs(ends[0] - ends[1]) <= theme.px(1)


def _return_table(table: DataTable, _formatter: Formatter) -> DataTable:
    return table


def test_legend_explains_visible_marks(qtbot: QtBot, theme: Theme) -> None:
    section = DataTableSection(theme, Formatter(ENGLISH_NUMBERS))
    qtbot.addWidget(section)
    columns = (DataColumn("Task"), DataColumn("Time", is_figure=True))
    marked_row, plain_row = (
        DataRow(mark, (DataCell("Image"), DataCell("4 s", mark=mark)), "") for mark in ("uncalibrated", "")
    )
    for rows, is_hidden in (((marked_row, plain_row), False), ((plain_row,), True)):
        table = DataTable("capabilities", "Capabilities", "", columns, rows)
        section.show_table(partial(_return_table, table))
        assert section.legend.isHidden() == is_hidden
    assert explain_cell_marks((marked_row, plain_row)) == (("uncalibrated", "Uncalibrated"),)
