"""The view Record: software by platform, reference deployments, loading times, and their tables."""

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
from tests.unit.desktop.pages.decide.view_helpers import show_view


@pytest.fixture
def view(desk: Desk, theme: Theme, qtbot: QtBot) -> RecordView:
    return show_view(RecordView(desk, theme), desk, qtbot)


def compare_accelerators(desk: Desk, *accelerators: tuple[str, int]) -> None:
    desk.edit("Other", accelerators=tuple(AcceleratorChoice(*accelerator) for accelerator in accelerators))
    desk.flush()


def type_number(view: RecordView, text: str) -> None:
    edit = view.loading.storage
    edit.setFocus()
    edit.selectAll()
    QTest.keyClick(edit, Qt.Key.Key_Delete)
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)


# Software and deployments


def test_each_compared_platform_has_a_block(view: RecordView) -> None:
    assert [block.platform for block in view.platforms] == ["CUDA", "ROCm"]
    assert view.platforms[0].parts.text() == "H200 SXM, B200 SXM"
    rows = view.platforms[1].table.texts()
    assert len(rows) == len(view.desk.service.reference_data.support.support("ROCm"))
    vllm = next(position for position, row in enumerate(rows) if row[0] == "vLLM")
    assert rows[vllm][1:5] == ("works", "Works on ROCm 7", "2026-05-15", "B200 vs MI355X, Hostrunway")
    assert [row[0] for row in rows[vllm + 1 :]] == [""] * 5, "older entries follow the newest"
    assert [row[3] for row in rows[vllm + 1 :]] == ["2026-03", "2026-03", "2026-02-27", "2024-01", "undated"]


def test_all_platforms_and_deployments(view: RecordView, desk: Desk) -> None:
    compare_accelerators(desk, ("h200-sxm", 1))
    assert [block.platform for block in view.platforms] == ["CUDA"]
    assert view.references.nothing.isVisible()
    assert not view.references.table.isVisible()
    view.extent._buttons["all"].click()
    assert [block.platform for block in view.platforms] == ["CUDA", "ROCm"]
    assert len(view.references.table.rows) == len(desk.service.reference_data.references)
    view.extent._buttons["compared"].click()
    assert [block.platform for block in view.platforms] == ["CUDA"]


def test_platform_without_records_has_a_note(view: RecordView, desk: Desk) -> None:
    compare_accelerators(desk, ("trainium2", 1), ("h200-sxm", 1))
    block = next(block for block in view.platforms if block.platform == "Neuron SDK")
    assert not block.nothing.isHidden()
    assert block.table.isHidden()
    assert "describes software support on Neuron SDK" in view.copied()


def test_deployments_name_operator_count_and_source(view: RecordView, desk: Desk) -> None:
    compare_accelerators(desk, ("mi300x", 1))
    rows = {row[0].splitlines()[0]: row for row in view.references.table.texts()}
    assert rows["A European sovereign cloud operator"][0].endswith("unnamed company")
    assert rows["A European sovereign cloud operator"][2:4] == ("640 accelerators", "2023-12")
    assert rows["A European sovereign cloud operator"][5] == "2 disputes"
    assert rows["A few hyperscale buyers"][2] == "count not published"


def test_enter_on_a_row_selects_its_dispute(view: RecordView, desk: Desk) -> None:
    view.focus_first()
    table = view.platforms[0].table
    assert table.hasFocus()
    assert table.currentIndex().row() == 0
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert desk.selection == select_catalog_dispute("D-053")


# Loading


def test_loading_times_have_formulas(view: RecordView) -> None:
    row = view.loading.table.texts()[0]
    assert row[:2] == ("H200 SXM", "67.7 GiB (72.7 GB)")
    assert row[2].splitlines()[0] == "1.15 s"
    assert "72.7\u00a0GB ÷ 63.0\u00a0GB/s = 1.15\u00a0s" in row[2]
    assert row[3] == "1.15 s, 1 per host\nsame calculation as for one accelerator"
    assert row[4].startswith("At the 64.0\u00a0GB/s")
    assert view.loading.table.texts()[2][4] == "not published"


def test_storage_rate_is_entered_and_cleared(view: RecordView, desk: Desk) -> None:
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


def test_unknown_times_have_a_reason(view: RecordView, desk: Desk) -> None:
    compare_accelerators(desk, ("gb200-nvl72", 8), ("trainium2", 1), ("l4", 1))
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


def test_all_tables_are_copied(view: RecordView) -> None:
    text = view.copied()
    for words in ("Software on CUDA", "Software on ROCm", "Reference deployments", "Weight loading time"):
        assert words in text


def test_view_is_painted_in_both_themes(view: RecordView, theme: Theme) -> None:
    light = view.grab().toImage()
    theme.set_preference(DARK)
    assert view.grab().toImage() != light


# The table


@pytest.fixture
def table(theme: Theme, qtbot: QtBot) -> RecordTableView:
    record_table = RecordTableView(theme, "Records", (RecordColumn("Name", 60), RecordColumn("Scope", 80, 1.0)))
    qtbot.addWidget(record_table)
    record_table.resize(300, 200)
    long_text = " ".join(["word"] * 40)
    record_table.show_rows(
        [
            RecordRow((make_cell("A"), make_cell("short"))),
            RecordRow(
                (
                    RecordCell((CellParagraph("B", "small_strong"), CellParagraph("below", "caption"))),
                    make_cell(long_text),
                ),
                begins=False,
            ),
        ]
    )
    record_table.show()
    return record_table


def test_row_height_follows_the_text(table: RecordTableView) -> None:
    assert table.rowHeight(1) > 3 * table.rowHeight(0)
    narrow = table.rowHeight(1)
    table.resize(900, table.height())
    assert table.rowHeight(1) < narrow
    assert table.height() >= sum(table.rowHeight(row) for row in range(2))
    assert sum(table.columnWidth(column) for column in range(2)) <= table.viewport().width()


def test_columns_shrink_together(table: RecordTableView) -> None:
    table.resize(90, table.height())
    assert sum(table.columnWidth(column) for column in range(2)) <= table.viewport().width()
    table.grab()


def test_new_heads_clear_the_rows(table: RecordTableView) -> None:
    assert table.texts()[1][0] == "B\nbelow"
    table.set_heads((RecordColumn("One", 50),))
    assert (table.model().columnCount(), table.model().rowCount(), table.texts()) == (1, 0, [])


def test_page_scrolls_to_the_current_row(view: RecordView) -> None:
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


def test_every_cell_has_an_accessible_text(view: RecordView) -> None:
    table = view.platforms[1].table
    assert any(not row[0] for row in table.texts())
    for row in range(table.model().rowCount()):
        for column in range(table.model().columnCount()):
            index = table.model().index(row, column)
            assert index.data(Qt.ItemDataRole.AccessibleTextRole), (row, column)
