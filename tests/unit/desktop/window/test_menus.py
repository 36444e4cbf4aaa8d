"""Actions: each is reachable by menu and palette, none shares a key, and letters rest while one types."""

from collections import Counter

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QMenuBar
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.actions import ActionSpec
from gpudesk.desktop.window.command_palette import list_palette_entries
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.menus import WindowMenus

PAGES = ["compare", "performance", "memory"]


def entries(menu: QMenu) -> list[QAction]:
    menu.aboutToShow.emit()
    found = []
    for action in menu.actions():
        inner = action.menu()
        found += entries(inner) if isinstance(inner, QMenu) else [action]
    return [action for action in found if not action.isSeparator()]


def in_menus(window: MainWindow) -> dict[str, QAction]:
    """Return the entries of all menus by their text without key."""
    found: dict[str, QAction] = {}
    for action in window.top.menus.actions():
        menu = action.menu()
        assert isinstance(menu, QMenu)
        for entry in entries(menu):
            found[entry.text().partition("\t")[0].replace("&&", "&")] = entry
    return found


def specs(window: MainWindow) -> list[ActionSpec]:
    return window.list_window_actions()


@pytest.mark.parametrize("page", PAGES)
def test_every_action_stands_in_a_menu_and_in_the_palette(window: MainWindow, page: str) -> None:
    window.show_page(page)
    shown = in_menus(window)
    offered = {entry.title for entry in list_palette_entries(window)}
    assert [spec.id for spec in specs(window) if spec.text not in shown] == []
    assert [
        spec.id for spec in specs(window) if (spec.palette or spec.text) not in offered and spec.id != "help.palette"
    ] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_key_does_two_things_and_no_id_is_there_twice(window: MainWindow, page: str) -> None:
    window.show_page(page)
    keys = Counter(QKeySequence(key).toString() for spec in specs(window) for key in spec.shortcuts)
    assert [key for key, times in keys.items() if times > 1] == []
    assert "" not in keys
    ids = Counter(spec.id for spec in specs(window))
    assert [each for each, times in ids.items() if times > 1] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_key_that_a_menu_shows_runs_its_action(window: MainWindow, page: str) -> None:
    window.show_page(page)
    bound = {shortcut.key().toString() for shortcut, _ in window.menus._shortcuts}
    wanted = {QKeySequence(key).toString() for spec in specs(window) for key in spec.shortcuts}
    assert bound == wanted


def test_menus_show_what_can_be_done_now(window: MainWindow) -> None:
    shown = in_menus(window)
    assert not shown["Undo"].isEnabled()
    assert shown["Compare"].isChecked()
    assert not shown["Unpin result"].isEnabled()
    window.desk.edit("Change of name", name="Other")
    window.show_page("memory")
    shown = in_menus(window)
    assert shown["Undo: Change of name"].isEnabled()
    assert shown["Memory and fit"].isChecked()
    shown["Undo: Change of name"].trigger()
    assert window.desk.scenario.name != "Other"


def test_an_entry_of_a_menu_does_what_it_says(window: MainWindow) -> None:
    in_menus(window)["Pin result"].trigger()
    assert window.desk.ghost is not None
    in_menus(window)["Unpin result"].trigger()
    assert window.desk.ghost is None


def test_one_of_the_themes_and_sizes_is_ticked(window: MainWindow) -> None:
    in_menus(window)["Dark"].trigger()
    shown = in_menus(window)
    assert [name for name in ("System", "Light", "Dark") if shown[name].isChecked()] == ["Dark"]
    assert window.theme.dark
    in_menus(window)["125%"].trigger()
    assert [name for name, entry in in_menus(window).items() if entry.isChecked() and "%" in name] == ["125%"]
    in_menus(window)["Light"].trigger()
    in_menus(window)["100%"].trigger()


def test_letters_rest_while_one_types(window: MainWindow, qtbot: QtBot) -> None:
    field = window.scenario.input_tokens.edit
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_A)
    QTest.keyClick(field, Qt.Key.Key_Slash)
    assert QApplication.activePopupWidget() is None
    assert QApplication.focusWidget() is field
    field.undo()
    window.chips.chips[0].setFocus()
    QTest.keyClick(window.chips.chips[0], Qt.Key.Key_A)
    popup = QApplication.activePopupWidget()
    assert popup is not None
    assert popup.accessibleName() == "Add accelerator"
    popup.hide()


def test_letters_in_a_list_that_dropped_narrow_it(window: MainWindow) -> None:
    window.choose_model()
    popup = QApplication.activePopupWidget()
    assert popup is not None
    line = popup.focusWidget()
    QTest.keyClicks(line, "ma")
    assert QApplication.activePopupWidget() is popup
    assert popup.accessibleName() == "Model"
    popup.hide()


def test_recent_files_can_be_forgotten(window: MainWindow) -> None:
    assert not in_menus(window)["Clear recent files"].isEnabled()


def test_only_about_and_quit_move_to_the_menu_that_bears_the_programs_name(window: MainWindow) -> None:
    role = QAction.MenuRole
    moved = {name: entry.menuRole() for name, entry in in_menus(window).items()}
    moved = {name: where for name, where in moved.items() if where != role.NoRole}
    assert moved == {"About GPU Desk": role.AboutRole, "Quit": role.QuitRole}


class NativeBar(QMenuBar):
    """What a window has on macOS, where the bar is the system's."""

    def isNativeMenuBar(self) -> bool:
        return True


def test_the_systems_own_menu_bar_knows_entries_and_keys_before_it_is_opened(window: MainWindow, qtbot: QtBot) -> None:
    bar = NativeBar(window)
    WindowMenus(bar, window.theme, window.list_window_actions, window)
    file = bar.actions()[0].menu()
    assert isinstance(file, QMenu)
    qtbot.waitUntil(lambda: len(file.actions()) > 0)
    shown = {entry.text(): entry for entry in file.actions()}
    assert shown["Save"].shortcut() == QKeySequence("Ctrl+S")
    scenario = bar.actions()[3].menu()
    assert isinstance(scenario, QMenu)
    letters = {entry.text(): entry for entry in scenario.actions()}["Add accelerator…"]
    assert letters.shortcut().isEmpty(), "a letter would be taken out of the text that one types"
    entered = {entry.text(): entry for entry in scenario.actions()}["Pin result"]
    entered.trigger()
    assert window.desk.ghost is not None
