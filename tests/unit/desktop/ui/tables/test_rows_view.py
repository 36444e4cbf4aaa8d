"""Text tables: wrapped cells and row heights."""

from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.tables.data_table import FiguresTable, TextTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.report.data_table import DataTable, FigureRow, build_accelerator_table

_LONG = "TP 8 × PP 8; slower than on 32: overhead takes 58% of a step"


def _make_figures(sentence: str) -> DataTable:
    row = FigureRow("a", 1, False, "8 × H200 SXM", ("2,870", "2,060 – 4,370"), sentence)
    return build_accelerator_table("Scaling", ("Total, tok/s", "80% interval"), [row], leading={0}, remarks="Plan")


def test_long_sentence_wraps(theme: Theme, qtbot: QtBot) -> None:
    table = FiguresTable(theme)
    qtbot.addWidget(table)
    table.resize(600, 200)
    table.show()
    table.show_table(_make_figures("TP 1"))
    one_line_height = table.rowHeight(0)
    table.show_table(_make_figures(_LONG))
    assert table.rowHeight(0) >= one_line_height + theme.line("small") / 2
    qtbot.waitUntil(lambda: table.viewport().height() >= table.rowHeight(0))
    table.resize(1200, 200)
    assert table.rowHeight(0) == one_line_height


def test_sentences_have_a_minimum_width(theme: Theme, qtbot: QtBot) -> None:
    table = FiguresTable(theme)
    qtbot.addWidget(table)
    table.resize(200, 200)
    table.show()
    table.show_table(_make_figures(_LONG))
    assert table.columnWidth(3) >= theme.px(180)
    assert table.horizontalScrollBar().maximum() > 0


def test_column_widens_for_long_figures_and_stays_wide(theme: Theme, qtbot: QtBot) -> None:
    table = FiguresTable(theme)
    qtbot.addWidget(table)
    table.resize(800, 200)
    table.show()

    def show_interval(interval: str) -> int:
        row = FigureRow("a", 1, False, "8 × H200 SXM", ("2,870", interval), "TP 1")
        table.show_table(build_accelerator_table("Load", ("tok/s", "80% interval"), [row], leading={0}, remarks="Plan"))
        return table.columnWidth(2)

    first_width = show_interval("20 – 40")
    wide_width = show_interval("2,060,000 – 4,370,000")
    assert wide_width >= QFontMetricsF(theme.font("small")).horizontalAdvance("2,060,000 – 4,370,000") > first_width
    assert show_interval("20 – 40") == wide_width


def test_flexible_columns_wrap(theme: Theme, qtbot: QtBot) -> None:
    table = TextTable(theme, "Claims", ["Value", "Document"], numbers=(0,), giving=(1,))
    qtbot.addWidget(table)
    table.resize(260, 200)
    table.show()
    table.set_rows([("1.00", "short"), ("1.00", _LONG)])
    lines = QFontMetricsF(table.font()).horizontalAdvance(_LONG) / table.columnWidth(1)
    assert lines > 1
    assert table.rowHeight(1) > table.rowHeight(0) == theme.px(table.row_height)
    assert table.viewport().height() >= table.rowHeight(0) + table.rowHeight(1)
