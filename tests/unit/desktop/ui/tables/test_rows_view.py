"""Tables of text: what has no room in a line is wrapped, and the row grows with it."""

from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.tables.data_table import FiguresTable, TextTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.report.data_table import DataTable, FigureRow, build_accelerator_table

_LONG = "TP 8 × PP 8; slower than on 32: overhead takes 58% of a step"


def _make_figures(sentence: str) -> DataTable:
    row = FigureRow("a", 1, False, "8 × H200 SXM", ("2,870", "2,060 – 4,370"), sentence)
    return build_accelerator_table("Scaling", ("Total, tok/s", "80% interval"), [row], leading={0}, remarks="Plan")


def test_a_long_sentence_makes_its_row_higher(theme: Theme, qtbot: QtBot) -> None:
    table = FiguresTable(theme)
    qtbot.addWidget(table)
    table.resize(600, 200)
    table.show()
    table.show_table(_make_figures("TP 1"))
    low = table.rowHeight(0)
    table.show_table(_make_figures(_LONG))
    assert table.rowHeight(0) >= low + theme.line("small") / 2
    qtbot.waitUntil(lambda: table.viewport().height() >= table.rowHeight(0))
    table.resize(1200, 200)
    assert table.rowHeight(0) == low


def test_sentences_keep_a_width_where_figures_leave_none(theme: Theme, qtbot: QtBot) -> None:
    table = FiguresTable(theme)
    qtbot.addWidget(table)
    table.resize(200, 200)
    table.show()
    table.show_table(_make_figures(_LONG))
    assert table.columnWidth(3) >= theme.px(180)
    assert table.horizontalScrollBar().maximum() > 0


def test_figures_that_grow_are_not_cut_and_others_keep_their_place(theme: Theme, qtbot: QtBot) -> None:
    table = FiguresTable(theme)
    qtbot.addWidget(table)
    table.resize(800, 200)
    table.show()

    def show(interval: str) -> int:
        row = FigureRow("a", 1, False, "8 × H200 SXM", ("2,870", interval), "TP 1")
        table.show_table(build_accelerator_table("Load", ("tok/s", "80% interval"), [row], leading={0}, remarks="Plan"))
        return table.columnWidth(2)

    first = show("20 – 40")
    wide = show("2,060,000 – 4,370,000")
    assert wide >= QFontMetricsF(theme.font("small")).horizontalAdvance("2,060,000 – 4,370,000") > first
    assert show("20 – 40") == wide


def test_columns_that_give_way_wrap(theme: Theme, qtbot: QtBot) -> None:
    table = TextTable(theme, "Claims", ["Value", "Document"], numbers=(0,), giving=(1,))
    qtbot.addWidget(table)
    table.resize(260, 200)
    table.show()
    table.set_rows([("1.00", "short"), ("1.00", _LONG)])
    lines = QFontMetricsF(table.font()).horizontalAdvance(_LONG) / table.columnWidth(1)
    assert lines > 1
    assert table.rowHeight(1) > table.rowHeight(0) == theme.px(table.row_height)
    assert table.viewport().height() >= table.rowHeight(0) + table.rowHeight(1)
