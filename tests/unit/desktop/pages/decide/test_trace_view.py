"""The table of rules: navigation, weights, the fold, and the sticky heads."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QScrollArea
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.result_view import ResultView
from gpudesk.desktop.pages.decide.trace_model import ANSWER, FIRST, RULE, WEIGHT, TraceGroup
from gpudesk.desktop.pages.decide.trace_table import RuleTraceBlock, RuleTraceTableView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_trace_row
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.number_edit import NumberEdit
from tests.unit.desktop.pages.decide.view_helpers import set_answers, show_view

_TAB = Qt.FocusReason.TabFocusReason


@pytest.fixture
def block(desk: Desk, theme: Theme, qtbot: QtBot) -> RuleTraceBlock:
    """Return the rule trace with one limit and one weight in effect."""
    set_answers(desk, ttft_limit_ms=2000.0, priority="cost")
    view = show_view(ResultView(desk, theme), desk, qtbot)
    view.show_rules(is_visible=True)
    return view.trace


@pytest.fixture
def view(block: RuleTraceBlock) -> RuleTraceTableView:
    return block.view


def get_scroll_area(view: RuleTraceTableView) -> QScrollArea:
    widget = view.parentWidget()
    while widget is not None and not isinstance(widget, QScrollArea):
        widget = widget.parentWidget()
    assert isinstance(widget, QScrollArea)
    return widget


def go_to(view: RuleTraceTableView, block: RuleTraceBlock, rule: str, column: int) -> None:
    view.setFocus(_TAB)
    view.setCurrentIndex(block.model.index(block.model.row_of(rule), column))


def press_keys(view: RuleTraceTableView, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(view, key)


def test_table_shows_all_rows_in_the_width_of_the_page(view: RuleTraceTableView, block: RuleTraceBlock) -> None:
    rows = sum(view.rowHeight(row) for row in range(block.model.rowCount()))
    assert view.height() == view.heads.height() + rows + 2
    columns = sum(view.columnWidth(column) for column in range(block.model.columnCount()))
    assert columns == view.viewport().width()
    assert not view.verticalScrollBar().isVisible()


def test_ids_wrap_in_a_narrow_view(view: RuleTraceTableView, block: RuleTraceBlock, theme: Theme) -> None:
    row = block.model.row_of("L-01")
    assert view.rowHeight(row) == theme.px(42)
    get_scroll_area(view).resize(1700, 640)
    assert view.rowHeight(row) == theme.px(29)


def test_arrow_keys_skip_headings(view: RuleTraceTableView, block: RuleTraceBlock) -> None:
    view.setFocus(_TAB)
    first = view.currentIndex()
    assert (first.row(), first.column()) == (1, RULE)
    visited_rows = []
    for _ in range(12):
        press_keys(view, Qt.Key.Key_Down)
        visited_rows.append(view.currentIndex().row())
    assert visited_rows == sorted(set(visited_rows))
    assert not any(isinstance(block.model.lines[row], TraceGroup) for row in visited_rows)
    press_keys(view, Qt.Key.Key_End)
    assert view.currentIndex().column() == block.model.columnCount() - 1
    press_keys(view, Qt.Key.Key_Home)
    assert view.currentIndex().column() == RULE


def test_control_home_and_end_go_to_the_ends(view: RuleTraceTableView, block: RuleTraceBlock) -> None:
    view.setFocus(_TAB)
    QTest.keyClick(view, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    assert view.currentIndex().row() == block.model.rowCount() - 1
    press_keys(view, Qt.Key.Key_PageUp)
    assert view.currentIndex().row() < block.model.rowCount() - 1
    QTest.keyClick(view, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    assert view.currentIndex().row() == 1


def test_current_cell_is_the_selection_of_the_desk(view: RuleTraceTableView, block: RuleTraceBlock, desk: Desk) -> None:
    go_to(view, block, "L-01", RULE)
    assert desk.selection == select_trace_row("L-01")
    press_keys(view, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right)
    assert desk.selection == select_trace_row("L-01", "h200-sxm")
    position = view.visualRect(block.model.index(block.model.row_of("L-01"), FIRST + 2)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=position)
    assert desk.selection == select_trace_row("L-01", "b200-hgx")


def test_click_selects_the_current_cell_again(view: RuleTraceTableView, block: RuleTraceBlock, desk: Desk) -> None:
    go_to(view, block, "L-01", FIRST)
    desk.select(None)
    position = view.visualRect(view.currentIndex()).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=position)
    assert desk.selection == select_trace_row("L-01", "h200-sxm")
    desk.select(None)
    press_keys(view, Qt.Key.Key_Return)
    assert desk.selection == select_trace_row("L-01", "h200-sxm")


def test_answer_and_weight_cells_select_their_rule(view: RuleTraceTableView, block: RuleTraceBlock, desk: Desk) -> None:
    go_to(view, block, "D000-02", ANSWER)
    assert desk.selection == select_trace_row("D000-02")
    assert view.currentIndex().column() == ANSWER


def test_typing_finds_a_rule(view: RuleTraceTableView, block: RuleTraceBlock) -> None:
    view.setFocus(_TAB)
    QTest.keyClicks(view, "cost")
    line = block.model.find_rule_row(view.currentIndex().row())
    assert line is not None
    assert line.title.lower().startswith("cost")


def test_fold_toggles_by_enter_and_click(view: RuleTraceTableView, block: RuleTraceBlock) -> None:
    view.setFocus(_TAB)
    QTest.keyClick(view, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    row_count, height = block.model.rowCount(), view.height()
    press_keys(view, Qt.Key.Key_Return)
    assert block.model.rowCount() > row_count
    assert view.height() > height
    assert view.currentIndex().row() == block.model.row_of("fold")
    position = view.visualRect(block.model.index(block.model.row_of("fold"), RULE)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=position)
    assert block.model.rowCount() == row_count


def test_rules_without_effect_can_be_selected(view: RuleTraceTableView, block: RuleTraceBlock, desk: Desk) -> None:
    block.model.set_opened(True)
    view.setFocus(_TAB)
    view.setCurrentIndex(block.model.index(block.model.row_of("fold") + 1, RULE))
    assert desk.selection == select_trace_row(block.model.table.silent[0].id)


# Weights


def get_editor(view: RuleTraceTableView) -> NumberEdit:
    focus = QApplication.focusWidget()
    assert isinstance(focus, NumberEdit)
    assert view.isAncestorOf(focus)
    return focus


def test_weight_is_edited_and_reset(view: RuleTraceTableView, block: RuleTraceBlock, desk: Desk, qtbot: QtBot) -> None:
    go_to(view, block, "D000-02", RULE)
    default_weight = block.model.index(view.currentIndex().row(), WEIGHT).data()
    press_keys(view, Qt.Key.Key_F2)
    edit = get_editor(view)
    assert edit.accessibleName().startswith("Weight of Cost per token comes first")
    QTest.keyClicks(edit, "7.5")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: desk.scenario.decision.weights == {"D000-02": 7.5})
    desk.flush()
    row = block.model.find_rule_row(block.model.row_of("D000-02"))
    assert row is not None
    assert (row.changed, row.weight) == (True, 7.5)
    assert block.usual.isVisible()
    go_to(view, block, "D000-02", WEIGHT)
    press_keys(view, Qt.Key.Key_Delete)
    desk.flush()
    assert desk.scenario.decision.weights == {}
    assert block.model.index(block.model.row_of("D000-02"), WEIGHT).data() == default_weight
    assert not block.usual.isVisible()


def test_double_click_opens_the_field(view: RuleTraceTableView, block: RuleTraceBlock) -> None:
    position = view.visualRect(block.model.index(block.model.row_of("D000-02"), WEIGHT)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=position)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=position)
    assert get_editor(view).value == float(block.model.index(block.model.row_of("D000-02"), WEIGHT).data())


def test_invalid_weight_keeps_its_field_open(view: RuleTraceTableView, block: RuleTraceBlock, desk: Desk) -> None:
    go_to(view, block, "D000-02", WEIGHT)
    press_keys(view, Qt.Key.Key_F2)
    edit = get_editor(view)
    QTest.keyClicks(edit, "400")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.fault == "Maximum: 100"
    assert get_editor(view) is edit
    QTest.keyClick(edit, Qt.Key.Key_Escape)
    assert desk.scenario.decision.weights == {}


def test_excluding_rule_has_no_weight_field(view: RuleTraceTableView, block: RuleTraceBlock) -> None:
    go_to(view, block, "L-01", WEIGHT)
    press_keys(view, Qt.Key.Key_F2)
    assert QApplication.focusWidget() is view


def test_lower_weight_applies_to_combined_rules(block: RuleTraceBlock, desk: Desk) -> None:
    row = next(row for row in block.model.table.rows if row.also and row.weight)
    block.weigh(row.key, 0.25)
    weights = desk.scenario.decision.weights
    assert weights[row.key] == 0.25
    for line in row.also:
        assert (line.rule.id in weights) is (line.weight > 0.25)
    desk.flush()
    changed_row = block.model.find_rule_row(block.model.find_line_of_rule(row.key))
    assert changed_row is not None
    assert changed_row.weight == 0.25
    assert desk.undo_stack.count() == 2
    block.reset_all()
    assert desk.scenario.decision.weights == {}


# The page


def test_heads_stay_visible_while_the_page_scrolls(view: RuleTraceTableView, theme: Theme) -> None:
    area = get_scroll_area(view)
    bar = area.verticalScrollBar()
    page = area.widget()
    assert page is not None
    bar.setValue(view.mapTo(page, QPoint(0, 0)).y() + 200)
    assert view.heads.mapTo(area.viewport(), QPoint(0, 0)).y() == 0
    bar.setValue(0)
    assert view.heads.y() == 0


def test_keys_scroll_to_the_current_row(view: RuleTraceTableView, block: RuleTraceBlock) -> None:
    area = get_scroll_area(view)
    view.setFocus(_TAB)
    QTest.keyClick(view, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    rect = view.visualRect(view.currentIndex())
    top = view.viewport().mapTo(area.viewport(), rect.topLeft()).y()
    assert 0 <= top <= area.viewport().height() - rect.height()
    QTest.keyClick(view, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    rect = view.visualRect(view.currentIndex())
    top = view.viewport().mapTo(area.viewport(), rect.topLeft()).y()
    assert view.heads.height() <= top < area.viewport().height()


def test_context_menu_resets_a_weight(view: RuleTraceTableView, block: RuleTraceBlock, desk: Desk) -> None:
    block.weigh("D000-02", 9.0)
    desk.flush()
    view.menu_requested.emit(block.model.row_of("D000-02"), RULE, view.mapToGlobal(QPoint(5, 5)))
    menu = next(each for each in block.findChildren(QMenu) if each.isVisible())
    texts = {action.text(): action for action in menu.actions()}
    assert texts["Edit weight"].isEnabled()
    texts["Reset weight"].trigger()
    menu.close()
    assert desk.scenario.decision.weights == {}


def test_trace_is_copied_as_text(block: RuleTraceBlock, qtbot: QtBot) -> None:
    with qtbot.waitSignal(block.copied):
        QTest.mouseClick(block.copy_link, Qt.MouseButton.LeftButton)
    text = QGuiApplication.clipboard().text()
    assert "L-01" in text
    assert "H200 SXM" in text
