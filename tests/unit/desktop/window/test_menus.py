"""Actions: in the menus and the command palette, with unique shortcuts; letter keys do nothing while typing."""

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


def list_actions(menu: QMenu) -> list[QAction]:
    menu.aboutToShow.emit()
    actions = []
    for action in menu.actions():
        inner = action.menu()
        actions += list_actions(inner) if isinstance(inner, QMenu) else [action]
    return [action for action in actions if not action.isSeparator()]


def map_menu_actions(window: MainWindow) -> dict[str, QAction]:
    """Return the actions of all menus by their text without shortcut."""
    actions: dict[str, QAction] = {}
    for action in window.top.menus.actions():
        menu = action.menu()
        assert isinstance(menu, QMenu)
        for entry in list_actions(menu):
            actions[entry.text().partition("\t")[0].replace("&&", "&")] = entry
    return actions


def list_specs(window: MainWindow) -> list[ActionSpec]:
    return window.list_window_actions()


@pytest.mark.parametrize("page", PAGES)
def test_every_action_is_in_a_menu_and_the_palette(window: MainWindow, page: str) -> None:
    window.show_page(page)
    menu_actions = map_menu_actions(window)
    palette_titles = {entry.title for entry in list_palette_entries(window)}
    assert [spec.id for spec in list_specs(window) if spec.text not in menu_actions] == []
    assert [
        spec.id
        for spec in list_specs(window)
        if (spec.palette or spec.text) not in palette_titles and spec.id != "help.palette"
    ] == []


@pytest.mark.parametrize("page", PAGES)
def test_shortcuts_and_ids_are_unique(window: MainWindow, page: str) -> None:
    window.show_page(page)
    keys = Counter(QKeySequence(key).toString() for spec in list_specs(window) for key in spec.shortcuts)
    assert [key for key, times in keys.items() if times > 1] == []
    assert "" not in keys
    ids = Counter(spec.id for spec in list_specs(window))
    assert [each for each, times in ids.items() if times > 1] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_shortcut_is_bound(window: MainWindow, page: str) -> None:
    window.show_page(page)
    bound = {shortcut.key().toString() for shortcut, _ in window.menus._shortcuts}
    expected = {QKeySequence(key).toString() for spec in list_specs(window) for key in spec.shortcuts}
    assert bound == expected


def test_menus_follow_the_state(window: MainWindow) -> None:
    menu_actions = map_menu_actions(window)
    assert not menu_actions["Undo"].isEnabled()
    assert menu_actions["Compare"].isChecked()
    assert not menu_actions["Unpin result"].isEnabled()
    window.desk.edit("Change of name", name="Other")
    window.show_page("memory")
    menu_actions = map_menu_actions(window)
    assert menu_actions["Undo: Change of name"].isEnabled()
    assert menu_actions["Memory and fit"].isChecked()
    menu_actions["Undo: Change of name"].trigger()
    assert window.desk.scenario.name != "Other"


def test_menu_actions_pin_and_unpin(window: MainWindow) -> None:
    map_menu_actions(window)["Pin result"].trigger()
    assert window.desk.ghost is not None
    map_menu_actions(window)["Unpin result"].trigger()
    assert window.desk.ghost is None


def test_current_theme_and_text_size_are_checked(window: MainWindow) -> None:
    map_menu_actions(window)["Dark"].trigger()
    menu_actions = map_menu_actions(window)
    assert [name for name in ("System", "Light", "Dark") if menu_actions[name].isChecked()] == ["Dark"]
    assert window.theme.dark
    map_menu_actions(window)["125%"].trigger()
    assert [name for name, entry in map_menu_actions(window).items() if entry.isChecked() and "%" in name] == ["125%"]
    map_menu_actions(window)["Light"].trigger()
    map_menu_actions(window)["100%"].trigger()


def test_letter_keys_do_nothing_while_typing(window: MainWindow, qtbot: QtBot) -> None:
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


def test_letters_filter_an_open_list(window: MainWindow) -> None:
    window.choose_model()
    popup = QApplication.activePopupWidget()
    assert popup is not None
    line = popup.focusWidget()
    QTest.keyClicks(line, "ma")
    assert QApplication.activePopupWidget() is popup
    assert popup.accessibleName() == "Model"
    popup.hide()


def test_clear_recent_files_is_disabled_without_any(window: MainWindow) -> None:
    assert not map_menu_actions(window)["Clear recent files"].isEnabled()


def test_only_about_and_quit_have_menu_roles(window: MainWindow) -> None:
    role = QAction.MenuRole
    roles = {name: entry.menuRole() for name, entry in map_menu_actions(window).items()}
    roles = {name: menu_role for name, menu_role in roles.items() if menu_role != role.NoRole}
    assert roles == {"About GPU Desk": role.AboutRole, "Quit": role.QuitRole}


class NativeBar(QMenuBar):
    """A menu bar of the system, as on macOS."""

    def isNativeMenuBar(self) -> bool:
        return True


def test_native_menu_bar_is_filled_before_it_opens(window: MainWindow, qtbot: QtBot) -> None:
    bar = NativeBar(window)
    WindowMenus(bar, window.theme, window.list_window_actions, window)
    file = bar.actions()[0].menu()
    assert isinstance(file, QMenu)
    qtbot.waitUntil(lambda: len(file.actions()) > 0)
    file_actions = {entry.text(): entry for entry in file.actions()}
    assert file_actions["Save"].shortcut() == QKeySequence("Ctrl+S")
    scenario = bar.actions()[3].menu()
    assert isinstance(scenario, QMenu)
    add_accelerator = {entry.text(): entry for entry in scenario.actions()}["Add accelerator…"]
    assert add_accelerator.shortcut().isEmpty(), "a letter key would not reach the text field"
    pin_result = {entry.text(): entry for entry in scenario.actions()}["Pin result"]
    pin_result.trigger()
    assert window.desk.ghost is not None
