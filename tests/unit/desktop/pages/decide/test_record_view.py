"""The view Record: software by platform, deployments, times to load, and how their table is read."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QScrollArea
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.record_table import (
    CellParagraph,
    RecordCell,
    RecordColumn,
    RecordRow,
    RecordTableView,
    make_cell,
)
from gpudesk.desktop.pages.decide.record_view import RecordView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_attribute, select_catalog_dispute
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.domain.answer import AcceleratorChoice
from tests.unit.desktop.pages.decide.views_of import shown


@pytest.fixture
def view(desk: Desk, theme: Theme, qtbot: QtBot) -> RecordView:
    return shown(RecordView(desk, theme), desk, qtbot)


def compare(desk: Desk, *parts: tuple[str, int]) -> None:
    desk.edit("Other", accelerators=tuple(AcceleratorChoice(*part) for part in parts))
    desk.flush()


def type_number(view: RecordView, text: str) -> None:
    edit = view.loading.storage
    edit.setFocus()
    edit.selectAll()
    QTest.keyClick(edit, Qt.Key.Key_Delete)
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)


# Software and deployments


def test_each_platform_that_is_compared_has_a_block(view: RecordView) -> None:
    assert [block.platform for block in view.platforms] == ["CUDA", "ROCm"]
    assert view.platforms[0].parts.text() == "H200 SXM, B200 SXM"
    rows = view.platforms[1].table.texts()
    assert len(rows) == len(view.desk.service.reference_data.support.support("ROCm"))
    vllm = next(place for place, row in enumerate(rows) if row[0] == "vLLM")
    assert rows[vllm][1:5] == ("works", "Works on ROCm 7", "2026-05-15", "B200 vs MI355X, Hostrunway")
    assert [row[0] for row in rows[vllm + 1 :]] == [""] * 5, "older entries stand below the newest"
    assert [row[3] for row in rows[vllm + 1 :]] == ["2026-03", "2026-03", "2026-02-27", "2024-01", "undated"]


def test_all_platforms_and_deployments_can_be_shown(view: RecordView, desk: Desk) -> None:
    compare(desk, ("h200-sxm", 1))
    assert [block.platform for block in view.platforms] == ["CUDA"]
    assert view.references.nothing.isVisible()
    assert not view.references.table.isVisible()
    view.extent._buttons["all"].click()
    assert [block.platform for block in view.platforms] == ["CUDA", "ROCm"]
    assert len(view.references.table.rows) == len(desk.service.reference_data.references)
    view.extent._buttons["compared"].click()
    assert [block.platform for block in view.platforms] == ["CUDA"]


def test_a_platform_without_a_record_says_so(view: RecordView, desk: Desk) -> None:
    compare(desk, ("trainium2", 1), ("h200-sxm", 1))
    block = next(block for block in view.platforms if block.platform == "Neuron SDK")
    assert not block.nothing.isHidden()
    assert block.table.isHidden()
    assert "describes software support on Neuron SDK" in view.copied()


def test_deployments_say_who_how_many_and_whose_word(view: RecordView, desk: Desk) -> None:
    compare(desk, ("mi300x", 1))
    rows = {row[0].splitlines()[0]: row for row in view.references.table.texts()}
    assert rows["A European sovereign cloud operator"][0].endswith("unnamed company")
    assert rows["A European sovereign cloud operator"][2:4] == ("640 accelerators", "2023-12")
    assert rows["A European sovereign cloud operator"][5] == "2 disputes"
    assert rows["A few hyperscale buyers"][2] == "count not published"


def test_a_row_leads_to_its_dispute_in_the_panel(view: RecordView, desk: Desk) -> None:
    view.focus_first()
    table = view.platforms[0].table
    assert table.hasFocus()
    assert table.currentIndex().row() == 0
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert desk.selection == select_catalog_dispute("D-053")


# Loading


def test_times_stand_beside_their_formulas(view: RecordView) -> None:
    row = view.loading.table.texts()[0]
    assert row[:2] == ("H200 SXM", "67.7 GiB (72.7 GB)")
    assert row[2].splitlines()[0] == "1.15 s"
    assert "72.7\u00a0GB ÷ 63.0\u00a0GB/s = 1.15\u00a0s" in row[2]
    assert row[3] == "1.15 s, 1 per host\nsame calculation as for one accelerator"
    assert row[4].startswith("At the 64.0\u00a0GB/s")
    assert view.loading.table.texts()[2][4] == "not published"


def test_a_rate_of_storage_is_stated_and_taken_back(view: RecordView, desk: Desk) -> None:
    type_number(view, "14")
    desk.flush()
    assert desk.scenario.decision.plans["storage_gb_s"] == 14.0
    assert view.loading.table.texts()[0][2].splitlines()[0] == "5.19 s"
    assert "The slower of the two sets the time." in view.loading.table.texts()[0][2]
    type_number(view, "0")
    assert view.loading.fault.text()
    assert desk.scenario.decision.plans["storage_gb_s"] == 14.0
    type_number(view, " ")
    desk.flush()
    assert "storage_gb_s" not in desk.scenario.decision.plans
    assert view.loading.fault.text() == ""
    desk.undo_stack.undo()
    desk.flush()
    assert view.loading.storage.text() == "14"


def test_what_is_not_known_says_why(view: RecordView, desk: Desk) -> None:
    compare(desk, ("gb200-nvl72", 8), ("trainium2", 1), ("l4", 1))
    gb200, trainium, l4 = view.loading.table.texts()
    assert gb200[3].splitlines()[0] == "unknown"
    assert "per host is unknown" in gb200[3]
    assert trainium[2].splitlines()[0] == "unknown"
    assert l4[1] == "—"
    assert l4[2].startswith("unknown: The weights do not fit")
    QTest.mouseClick(
        view.loading.table.viewport(),
        Qt.MouseButton.LeftButton,
        pos=view.loading.table.visualRect(view.loading.table.model().index(0, 0)).center(),
    )
    assert desk.selection == select_attribute("gb200-nvl72", "pcie_bandwidth")


def test_all_of_it_is_copied(view: RecordView) -> None:
    text = view.copied()
    for words in ("Software on CUDA", "Software on ROCm", "Reference deployments", "Weight loading time"):
        assert words in text


def test_it_is_drawn_in_both_themes(view: RecordView, theme: Theme) -> None:
    light = view.grab().toImage()
    theme.set_preference(DARK)
    assert view.grab().toImage() != light


# The table


@pytest.fixture
def table(theme: Theme, qtbot: QtBot) -> RecordTableView:
    made = RecordTableView(theme, "Things", (RecordColumn("Thing", 60), RecordColumn("Scope", 80, 1.0)))
    qtbot.addWidget(made)
    made.resize(300, 200)
    long = " ".join(["word"] * 40)
    made.show_rows(
        [
            RecordRow((make_cell("A"), make_cell("short"))),
            RecordRow(
                (RecordCell((CellParagraph("B", "small_strong"), CellParagraph("below", "caption"))), make_cell(long)),
                begins=False,
            ),
        ]
    )
    made.show()
    return made


def test_rows_are_as_high_as_their_lines(table: RecordTableView) -> None:
    assert table.rowHeight(1) > 3 * table.rowHeight(0)
    narrow = table.rowHeight(1)
    table.resize(900, table.height())
    assert table.rowHeight(1) < narrow
    assert table.height() >= sum(table.rowHeight(row) for row in range(2))
    assert sum(table.columnWidth(column) for column in range(2)) <= table.viewport().width()


def test_columns_give_way_together_where_there_is_no_room(table: RecordTableView) -> None:
    table.resize(90, table.height())
    assert sum(table.columnWidth(column) for column in range(2)) <= table.viewport().width()
    table.grab()


def test_other_heads_take_the_rows_away(table: RecordTableView) -> None:
    assert table.texts()[1][0] == "B\nbelow"
    table.set_heads((RecordColumn("One", 50),))
    assert (table.model().columnCount(), table.model().rowCount(), table.texts()) == (1, 0, [])


def test_the_page_follows_the_current_row(view: RecordView) -> None:
    table = view.platforms[1].table
    area: object = view
    while not isinstance(area, QScrollArea):
        assert area is not None
        area = area.parentWidget()  # type: ignore[attr-defined]
    table.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(len(table.rows)):
        QTest.keyClick(table, Qt.Key.Key_Down)
    last = table.visualRect(table.model().index(len(table.rows) - 1, 0))
    level = table.viewport().mapTo(area.viewport(), last.center()).y()
    assert 0 <= level <= area.viewport().height()


def test_a_name_that_stands_once_is_read_in_every_row(view: RecordView) -> None:
    table = view.platforms[1].table
    assert any(not row[0] for row in table.texts())
    for row in range(table.model().rowCount()):
        for column in range(table.model().columnCount()):
            index = table.model().index(row, column)
            assert index.data(Qt.ItemDataRole.AccessibleTextRole), (row, column)
