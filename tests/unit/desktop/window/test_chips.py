"""The row of accelerator chips: keys, menus, adding, the baseline, wrapping."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QInputDialog, QMenu
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import remove_accelerator, replace_count
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.accelerator_chips import ChipRow, list_chip_plans
from gpudesk.domain.answer import MAX_ACCELERATORS, AcceleratorChoice

FOUR = ["h200-sxm", "mi325x", "b200-hgx", "mi355x"]


@pytest.fixture
def row(desk: Desk, theme: Theme, qtbot: QtBot) -> ChipRow:
    row = ChipRow(desk, theme)
    qtbot.addWidget(row)
    row.resize(1240, 42)
    row.show()
    row.activateWindow()
    qtbot.waitUntil(row.isActiveWindow)
    return row


def list_accelerators(desk: Desk) -> list[str]:
    return [get_choice.accelerator for get_choice in desk.scenario.accelerators]


def get_choice(desk: Desk, position: int) -> AcceleratorChoice:
    return desk.scenario.accelerators[position]


def press(row: ChipRow, position: int, key: Qt.Key) -> None:
    row.chips[position].setFocus()
    QTest.keyClick(row.chips[position], key)


def find_action(menu: QMenu, *path: str) -> QAction:
    """Return the action of a menu or submenu by its text without shortcut."""
    (action,) = [each for each in menu.actions() if each.text().partition("\t")[0] == path[0]]
    inner = action.menu()
    if len(path) == 1:
        return action
    assert isinstance(inner, QMenu)
    return find_action(inner, *path[1:])


def open_menu(row: ChipRow, position: int) -> QMenu:
    row.chips[position].click()
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def check_one_step(desk: Desk, text: str) -> None:
    assert desk.undo_stack.count() == 1
    assert desk.undo_stack.undoText() == text
    after = desk.scenario
    desk.undo_stack.undo()
    assert desk.scenario != after
    desk.undo_stack.redo()
    assert desk.scenario == after


def test_chip_shows_the_automatic_count(row: ChipRow, desk: Desk) -> None:
    desk.apply(replace_count(desk.scenario, 1, None), "Smallest that fits")
    assert row.chips[1].accessibleName() == "MI325X, automatic count"
    desk.flush()
    assert row.chips[1].accessibleName() == "MI325X, automatic count 1"
    with_count, automatic = row.chips[3].sizeHint().width(), row.chips[1].sizeHint().width()
    assert automatic > with_count, "the chip has room for the count, and for the word that it is automatic"


def test_chip_has_an_accessible_name(row: ChipRow) -> None:
    assert [chip.accessibleName() for chip in row.chips] == [
        "H200 SXM, count 1, baseline",
        "MI325X, count 1",
        "B200 SXM, count 1",
        "MI355X, count 1",
    ]


@pytest.mark.parametrize("key", [Qt.Key.Key_Delete, Qt.Key.Key_Backspace])
def test_delete_key_removes_and_focuses_the_next(row: ChipRow, desk: Desk, key: Qt.Key) -> None:
    press(row, 1, key)
    assert list_accelerators(desk) == ["h200-sxm", "b200-hgx", "mi355x"]
    assert row.chips[1].hasFocus()
    check_one_step(desk, "Remove MI325X")


def test_last_accelerator_can_be_removed(row: ChipRow, desk: Desk) -> None:
    for _ in FOUR:
        press(row, 0, Qt.Key.Key_Delete)
    assert list_accelerators(desk) == []
    assert row.add.hasFocus()
    assert desk.missing == "accelerators"


def test_b_sets_the_baseline_and_keeps_the_focus(row: ChipRow, desk: Desk) -> None:
    press(row, 2, Qt.Key.Key_B)
    assert list_accelerators(desk) == ["b200-hgx", "h200-sxm", "mi325x", "mi355x"]
    assert row.chips[0].hasFocus()
    assert row.chips[0].accessibleName() == "B200 SXM, count 1, baseline"
    check_one_step(desk, "Set B200 SXM as baseline")


def test_b_on_the_baseline_is_no_step(row: ChipRow, desk: Desk) -> None:
    press(row, 0, Qt.Key.Key_B)
    assert desk.undo_stack.count() == 0


def test_arrows_change_the_count(row: ChipRow, desk: Desk) -> None:
    press(row, 1, Qt.Key.Key_Down)
    assert desk.undo_stack.count() == 0
    press(row, 1, Qt.Key.Key_Up)
    assert get_choice(desk, 1).count == 2
    check_one_step(desk, "Change count of MI325X")
    press(row, 1, Qt.Key.Key_Up)
    press(row, 1, Qt.Key.Key_Down)
    assert get_choice(desk, 1).count == 2


def test_left_and_right_move_along_the_row(row: ChipRow) -> None:
    press(row, 0, Qt.Key.Key_Right)
    assert row.chips[1].hasFocus()
    press(row, 1, Qt.Key.Key_Left)
    assert row.chips[0].hasFocus()
    press(row, 0, Qt.Key.Key_Left)
    assert row.chips[0].hasFocus()
    press(row, 3, Qt.Key.Key_Right)
    assert row.add.hasFocus()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Space])
def test_enter_and_space_open_the_menu(row: ChipRow, key: Qt.Key) -> None:
    press(row, 0, key)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    menu.close()


@pytest.mark.parametrize(
    ("path", "fields", "text"),
    [
        (("Count", "× 8"), {"count": 8}, "Change count of MI325X"),
        (("Count", "Smallest that fits"), {"count": None}, "Change count of MI325X"),
        (("Serving engine", "vLLM"), {"serving_engine": "vllm"}, "Change serving engine of MI325X"),
    ],
)
def test_menu_changes_its_own_accelerator(
    row: ChipRow, desk: Desk, path: tuple[str, ...], fields: dict[str, object], text: str
) -> None:
    others = [each for each in desk.scenario.accelerators if each.accelerator != "mi325x"]
    menu = open_menu(row, 1)
    find_action(menu, *path).trigger()
    menu.close()
    changed = get_choice(desk, 1)
    assert {name: getattr(changed, name) for name in fields} == fields
    assert [each for each in desk.scenario.accelerators if each.accelerator != "mi325x"] == others
    check_one_step(desk, text)


def test_menu_sets_and_clears_a_plan(row: ChipRow, desk: Desk) -> None:
    press(row, 1, Qt.Key.Key_Up)
    desk.undo_stack.clear()
    menu = open_menu(row, 1)
    find_action(menu, "Parallel plan", "TP 2").trigger()
    menu.close()
    assert (get_choice(desk, 1).tp, get_choice(desk, 1).pp, get_choice(desk, 1).dp) == (2, 1, 1)
    check_one_step(desk, "Change plan of MI325X")
    menu = open_menu(row, 1)
    assert find_action(menu, "Parallel plan", "TP 2").isChecked()
    find_action(menu, "Parallel plan", "Best for this load").trigger()
    menu.close()
    assert get_choice(desk, 1).tp is None


def test_menu_moves_sets_the_baseline_and_removes(row: ChipRow, desk: Desk) -> None:
    for path, after in (
        ("Move right", ["h200-sxm", "b200-hgx", "mi325x", "mi355x"]),
        ("Move left", ["b200-hgx", "h200-sxm", "mi325x", "mi355x"]),
        ("Set as baseline", ["h200-sxm", "b200-hgx", "mi325x", "mi355x"]),
        ("Remove B200 SXM", ["h200-sxm", "mi325x", "mi355x"]),
    ):
        menu = open_menu(row, 1)
        find_action(menu, path).trigger()
        menu.close()
        assert list_accelerators(desk) == after
    menu = open_menu(row, 0)
    assert not find_action(menu, "Move left").isEnabled()
    assert not find_action(menu, "Set as baseline").isEnabled()
    menu.close()


def test_plans_use_all_accelerators() -> None:
    for count in (1, 2, 6, 8, 64):
        plans = list(list_chip_plans(count))
        assert plans
        assert len(set(plans)) == len(plans)
        assert all(plan.tp * plan.pp * plan.dp == count for plan in plans)
    assert [plan.text for plan in list_chip_plans(2)] == ["TP 2", "DP 2", "PP 2"]


def test_new_accelerator_gets_the_count_of_the_others(row: ChipRow, desk: Desk) -> None:
    row.add.click()
    popup = QApplication.activePopupWidget()
    assert popup is not None
    QTest.keyClicks(popup.focusWidget(), "mi300x")
    QTest.keyClick(popup.focusWidget(), Qt.Key.Key_Return)
    assert list_accelerators(desk) == [*FOUR, "mi300x"]
    assert get_choice(desk, 4).count == 1
    check_one_step(desk, "Add MI300X")


def test_first_accelerator_gets_the_smallest_count_that_fits(row: ChipRow, desk: Desk) -> None:
    desk.apply(replace(desk.scenario, accelerators=(), model="deepseek-r1"), "Empty")
    row.add_accelerator("b200-hgx")
    assert get_choice(desk, 0).count is None
    assert desk.answer is not None
    assert desk.answer.columns[0].estimate is not None
    assert desk.answer.columns[0].estimate.fits


def test_full_comparison_refuses_another(row: ChipRow, desk: Desk) -> None:
    while len(list_accelerators(desk)) < MAX_ACCELERATORS:
        row.add_accelerator("mi300x")
    assert not row.add.isEnabled()
    steps = desk.undo_stack.count()
    row.add_accelerator("mi300x")
    assert desk.undo_stack.count() == steps


def test_baseline_field_sets_the_baseline(row: ChipRow, desk: Desk) -> None:
    assert row.baseline.accessibleName() == "Baseline: H200 SXM"
    row.baseline.open_list()
    popup = row.baseline.popup
    assert popup is not None
    QTest.keyClick(popup.focusWidget(), Qt.Key.Key_Down)
    QTest.keyClick(popup.focusWidget(), Qt.Key.Key_Return)
    assert list_accelerators(desk)[0] == "mi325x"
    assert row.baseline.accessibleName() == "Baseline: MI325X"
    check_one_step(desk, "Set MI325X as baseline")


def test_open_list_of_baselines_closes_when_the_accelerators_change(row: ChipRow, desk: Desk) -> None:
    row.baseline.open_list()
    popup = row.baseline.popup
    assert popup is not None
    assert popup.isVisible()
    desk.apply(remove_accelerator(desk.scenario, 3), "Remove")
    desk.flush()
    assert not popup.isVisible()


def test_removed_baseline_choice_is_ignored(row: ChipRow, desk: Desk) -> None:
    desk.apply(remove_accelerator(desk.scenario, 3), "Remove")
    remaining = list_accelerators(desk)
    row.baseline.chosen.emit("3")
    assert list_accelerators(desk) == remaining


def test_in_a_narrow_window_the_row_wraps_without_overlap(row: ChipRow, desk: Desk) -> None:
    for width in (1240, 700, 400):
        row.resize(width, row.height())
        widgets = [*row.chips, row.add, row.baseline]
        for number, widget in enumerate(widgets):
            assert row.rect().contains(widget.geometry())
            assert not any(widget.geometry().intersects(other.geometry()) for other in widgets[number + 1 :])
    assert row.chips[-1].y() > row.chips[0].y()


def test_click_on_a_chip_opens_its_menu(row: ChipRow) -> None:
    QTest.mouseClick(row.chips[2], Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert find_action(menu, "Remove B200 SXM").isEnabled()
    menu.close()


def test_repeated_accelerator_gets_the_next_count(row: ChipRow, desk: Desk) -> None:
    row.add_accelerator("h200-sxm")
    row.add_accelerator("h200-sxm")
    desk.flush()
    counts = [get_choice.count for get_choice in desk.scenario.accelerators if get_choice.accelerator == "h200-sxm"]
    assert counts == [1, 2, 4]
    assert desk.names[-1] == "H200 SXM × 4"


@pytest.mark.parametrize(("key", "count"), [(Qt.Key.Key_Return, 12), (Qt.Key.Key_Escape, 1)])
def test_any_count_can_be_typed(row: ChipRow, desk: Desk, qtbot: QtBot, key: Qt.Key, count: int) -> None:
    def type_count() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QInputDialog)
        assert dialog.labelText() == "Number of H200 SXM"
        dialog.setIntValue(12)
        QTest.keyClick(dialog, key)

    menu = open_menu(row, 0)
    QTimer.singleShot(50, type_count)
    find_action(menu, "Count", "Other count…").trigger()
    assert get_choice(desk, 0).count == count


def test_whole_scale_up_domain_can_be_chosen(row: ChipRow, desk: Desk) -> None:
    row.add_accelerator("vera-rubin-nvl72")
    menu = open_menu(row, len(row.chips) - 1)
    find_action(menu, "Count", "× 72").trigger()
    menu.close()
    assert get_choice(desk, len(row.chips) - 1).count == 72
