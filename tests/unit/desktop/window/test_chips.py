"""The row of accelerators: keys of a chip, its menu, the list to add from, the baseline, wrapping."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QInputDialog, QMenu
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import remove_accelerator
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.accelerator_chips import ChipRow, list_chip_plans
from gpudesk.domain.answer import MAX_ACCELERATORS, AcceleratorChoice

FOUR = ["h200-sxm", "mi325x", "b200-hgx", "mi355x"]


@pytest.fixture
def row(desk: Desk, theme: Theme, qtbot: QtBot) -> ChipRow:
    made = ChipRow(desk, theme)
    qtbot.addWidget(made)
    made.resize(1240, 42)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def parts(desk: Desk) -> list[str]:
    return [choice.accelerator for choice in desk.scenario.accelerators]


def choice(desk: Desk, position: int) -> AcceleratorChoice:
    return desk.scenario.accelerators[position]


def press(row: ChipRow, position: int, key: Qt.Key) -> None:
    row.chips[position].setFocus()
    QTest.keyClick(row.chips[position], key)


def entry(menu: QMenu, *path: str) -> QAction:
    """Return the entry of a menu, or of menus in it, by its text without key."""
    (action,) = [each for each in menu.actions() if each.text().partition("\t")[0] == path[0]]
    inner = action.menu()
    if len(path) == 1:
        return action
    assert isinstance(inner, QMenu)
    return entry(inner, *path[1:])


def menu_of(row: ChipRow, position: int) -> QMenu:
    row.chips[position].click()
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def one_step(desk: Desk, text: str) -> None:
    assert desk.undo_stack.count() == 1
    assert desk.undo_stack.undoText() == text
    after = desk.scenario
    desk.undo_stack.undo()
    assert desk.scenario != after
    desk.undo_stack.redo()
    assert desk.scenario == after


def test_a_chip_says_what_it_stands_for(row: ChipRow) -> None:
    assert [chip.accessibleName() for chip in row.chips] == [
        "H200 SXM, count 1, baseline",
        "MI325X, count 1",
        "B200 SXM, count 1",
        "MI355X, count 1",
    ]


@pytest.mark.parametrize("key", [Qt.Key.Key_Delete, Qt.Key.Key_Backspace])
def test_del_removes_and_the_focus_goes_to_the_next(row: ChipRow, desk: Desk, key: Qt.Key) -> None:
    press(row, 1, key)
    assert parts(desk) == ["h200-sxm", "b200-hgx", "mi355x"]
    assert row.chips[1].hasFocus()
    one_step(desk, "Remove MI325X")


def test_the_last_one_can_be_removed_too(row: ChipRow, desk: Desk) -> None:
    for _ in FOUR:
        press(row, 0, Qt.Key.Key_Delete)
    assert parts(desk) == []
    assert row.add.hasFocus()
    assert desk.missing == "accelerators"


def test_b_makes_the_baseline_and_keeps_the_focus_with_it(row: ChipRow, desk: Desk) -> None:
    press(row, 2, Qt.Key.Key_B)
    assert parts(desk) == ["b200-hgx", "h200-sxm", "mi325x", "mi355x"]
    assert row.chips[0].hasFocus()
    assert row.chips[0].accessibleName() == "B200 SXM, count 1, baseline"
    one_step(desk, "Set B200 SXM as baseline")


def test_b_on_the_baseline_is_no_step(row: ChipRow, desk: Desk) -> None:
    press(row, 0, Qt.Key.Key_B)
    assert desk.undo_stack.count() == 0


def test_arrows_change_the_count(row: ChipRow, desk: Desk) -> None:
    press(row, 1, Qt.Key.Key_Down)
    assert desk.undo_stack.count() == 0
    press(row, 1, Qt.Key.Key_Up)
    assert choice(desk, 1).count == 2
    one_step(desk, "Change count of MI325X")
    press(row, 1, Qt.Key.Key_Up)
    press(row, 1, Qt.Key.Key_Down)
    assert choice(desk, 1).count == 2


def test_left_and_right_go_along_the_row(row: ChipRow) -> None:
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
def test_the_menu_changes_its_own_accelerator(
    row: ChipRow, desk: Desk, path: tuple[str, ...], fields: dict[str, object], text: str
) -> None:
    others = [each for each in desk.scenario.accelerators if each.accelerator != "mi325x"]
    menu = menu_of(row, 1)
    entry(menu, *path).trigger()
    menu.close()
    changed = choice(desk, 1)
    assert {name: getattr(changed, name) for name in fields} == fields
    assert [each for each in desk.scenario.accelerators if each.accelerator != "mi325x"] == others
    one_step(desk, text)


def test_the_menu_sets_a_plan_and_lets_it_go(row: ChipRow, desk: Desk) -> None:
    press(row, 1, Qt.Key.Key_Up)
    desk.undo_stack.clear()
    menu = menu_of(row, 1)
    entry(menu, "Parallel plan", "TP 2").trigger()
    menu.close()
    assert (choice(desk, 1).tp, choice(desk, 1).pp, choice(desk, 1).dp) == (2, 1, 1)
    one_step(desk, "Change plan of MI325X")
    menu = menu_of(row, 1)
    assert entry(menu, "Parallel plan", "TP 2").isChecked()
    entry(menu, "Parallel plan", "Best for this load").trigger()
    menu.close()
    assert choice(desk, 1).tp is None


def test_the_menu_moves_sets_the_baseline_and_removes(row: ChipRow, desk: Desk) -> None:
    for path, after in (
        ("Move right", ["h200-sxm", "b200-hgx", "mi325x", "mi355x"]),
        ("Move left", ["b200-hgx", "h200-sxm", "mi325x", "mi355x"]),
        ("Set as baseline", ["h200-sxm", "b200-hgx", "mi325x", "mi355x"]),
        ("Remove B200 SXM", ["h200-sxm", "mi325x", "mi355x"]),
    ):
        menu = menu_of(row, 1)
        entry(menu, path).trigger()
        menu.close()
        assert parts(desk) == after
    menu = menu_of(row, 0)
    assert not entry(menu, "Move left").isEnabled()
    assert not entry(menu, "Set as baseline").isEnabled()
    menu.close()


def test_plans_multiply_up_to_their_count() -> None:
    for count in (1, 2, 6, 8, 64):
        found = list(list_chip_plans(count))
        assert found
        assert len(set(found)) == len(found)
        assert all(plan.tp * plan.pp * plan.dp == count for plan in found)
    assert [plan.text for plan in list_chip_plans(2)] == ["TP 2", "DP 2", "PP 2"]


def test_the_list_adds_an_accelerator_with_the_count_of_the_others(row: ChipRow, desk: Desk) -> None:
    row.add.click()
    popup = QApplication.activePopupWidget()
    assert popup is not None
    QTest.keyClicks(popup.focusWidget(), "mi300x")
    QTest.keyClick(popup.focusWidget(), Qt.Key.Key_Return)
    assert parts(desk) == [*FOUR, "mi300x"]
    assert choice(desk, 4).count == 1
    one_step(desk, "Add MI300X")


def test_the_first_accelerator_comes_in_the_smallest_number_that_fits(row: ChipRow, desk: Desk) -> None:
    desk.apply(replace(desk.scenario, accelerators=(), model="deepseek-r1"), "Empty")
    row.add_accelerator("b200-hgx")
    assert choice(desk, 0).count is None
    assert desk.answer is not None
    assert desk.answer.columns[0].estimate is not None
    assert desk.answer.columns[0].estimate.fits


def test_a_full_comparison_takes_no_more(row: ChipRow, desk: Desk) -> None:
    while len(parts(desk)) < MAX_ACCELERATORS:
        row.add_accelerator("mi300x")
    assert not row.add.isEnabled()
    steps = desk.undo_stack.count()
    row.add_accelerator("mi300x")
    assert desk.undo_stack.count() == steps


def test_the_baseline_is_chosen_at_the_right(row: ChipRow, desk: Desk) -> None:
    assert row.baseline.accessibleName() == "Baseline: H200 SXM"
    row.baseline.open_list()
    popup = row.baseline.popup
    assert popup is not None
    QTest.keyClick(popup.focusWidget(), Qt.Key.Key_Down)
    QTest.keyClick(popup.focusWidget(), Qt.Key.Key_Return)
    assert parts(desk)[0] == "mi325x"
    assert row.baseline.accessibleName() == "Baseline: MI325X"
    one_step(desk, "Set MI325X as baseline")


def test_an_open_list_of_baselines_closes_when_the_accelerators_change(row: ChipRow, desk: Desk) -> None:
    row.baseline.open_list()
    popup = row.baseline.popup
    assert popup is not None
    assert popup.isVisible()
    desk.apply(remove_accelerator(desk.scenario, 3), "Remove")
    desk.flush()
    assert not popup.isVisible()


def test_a_baseline_that_has_gone_meanwhile_is_not_set(row: ChipRow, desk: Desk) -> None:
    desk.apply(remove_accelerator(desk.scenario, 3), "Remove")
    left = parts(desk)
    row.baseline.chosen.emit("3")
    assert parts(desk) == left


def test_in_a_narrow_window_the_row_wraps_without_overlap(row: ChipRow, desk: Desk) -> None:
    for width in (1240, 700, 400):
        row.resize(width, row.height())
        widgets = [*row.chips, row.add, row.baseline]
        for n, one in enumerate(widgets):
            assert row.rect().contains(one.geometry())
            assert not any(one.geometry().intersects(other.geometry()) for other in widgets[n + 1 :])
    assert row.chips[-1].y() > row.chips[0].y()


def test_a_click_on_a_chip_opens_its_menu(row: ChipRow) -> None:
    QTest.mouseClick(row.chips[2], Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert entry(menu, "Remove B200 SXM").isEnabled()
    menu.close()


def test_a_part_that_is_there_already_comes_with_the_next_count(row: ChipRow, desk: Desk) -> None:
    row.add_accelerator("h200-sxm")
    row.add_accelerator("h200-sxm")
    desk.flush()
    counts = [choice.count for choice in desk.scenario.accelerators if choice.accelerator == "h200-sxm"]
    assert counts == [1, 2, 4]
    assert desk.names[-1] == "H200 SXM × 4"


@pytest.mark.parametrize(("key", "count"), [(Qt.Key.Key_Return, 12), (Qt.Key.Key_Escape, 1)])
def test_any_count_can_be_typed(row: ChipRow, desk: Desk, qtbot: QtBot, key: Qt.Key, count: int) -> None:
    def type_it() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QInputDialog)
        assert dialog.labelText() == "Number of H200 SXM"
        dialog.setIntValue(12)
        QTest.keyClick(dialog, key)

    menu = menu_of(row, 0)
    QTimer.singleShot(50, type_it)
    entry(menu, "Count", "Other count…").trigger()
    assert choice(desk, 0).count == count


def test_all_of_a_scale_up_domain_can_be_chosen(row: ChipRow, desk: Desk) -> None:
    row.add_accelerator("vera-rubin-nvl72")
    menu = menu_of(row, len(row.chips) - 1)
    entry(menu, "Count", "× 72").trigger()
    menu.close()
    assert choice(desk, len(row.chips) - 1).count == 72
