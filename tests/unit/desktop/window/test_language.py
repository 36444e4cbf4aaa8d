"""Changing the language in the menu: every window is rebuilt in it, and keeps its edits."""

import gc
import time
from weakref import ref

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from gpudesk.desktop.pages.memory.page import MemoryPage
from gpudesk.desktop.pages.profile.page import ProfilePage
from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.document import find_recovery_dir, list_files
from gpudesk.desktop.session.settings import LANGUAGE
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.manual_window import ManualWindow
from gpudesk.desktop.window.sheet_preview import ProfilePreview, SheetPreview
from gpudesk.documents.scenario_file import SAMPLE_TEMPLATE
from gpudesk.text.translation import PSEUDO, get_language


@pytest.fixture(autouse=True)
def _reset_to_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDESK_LANGUAGE", "en")


def choose(window: MainWindow, code: str) -> MainWindow:
    """Choose a language in the menu of a window; return the window that replaces it."""
    position = list(window.program.windows).index(window)
    next(each for each in window.list_window_actions() if each.id == f"view.language.{code}").run()
    new_window = window.program.windows[position]
    assert isinstance(new_window, MainWindow)
    return new_window


def test_windows_switch_to_the_chosen_language(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("memory")
    before = window.desk.scenario
    edited = scenario_edits.replace_workload(before, input_tokens=777)
    window.desk.apply(edited, "Change of input")
    window.desk.flush()
    window.program.set_language(PSEUDO)
    new_window = window.program.windows[0]
    assert isinstance(new_window, MainWindow)
    assert new_window is not window
    assert new_window.isVisible()
    assert not window.isVisible()
    assert new_window.is_page("memory")
    assert (new_window.desk.scenario, new_window.document.edited) == (edited, True)
    assert new_window.scenario.model.accessibleName().startswith("⟦")
    assert [spec.title[0] for spec in new_window.page_specs] == ["⟦"] * len(new_window.page_specs)
    new_window.desk.undo_stack.undo()
    assert (new_window.desk.scenario, new_window.document.edited) == (before, False)
    new_window.desk.undo_stack.redo()
    new_window.document.keep_now()
    assert len(list_files(find_recovery_dir(), "*.gpudesk")) <= 1
    english_window = choose(new_window, "en")
    assert english_window.desk.scenario == edited
    assert get_language() == "en"


def list_main_windows() -> list[MainWindow]:
    """Return all main windows in memory, including garbage and frozen objects."""
    gc.unfreeze()
    return [each for each in gc.get_objects() if isinstance(each, MainWindow)]


def test_windows_are_replaced_one_after_the_other(window: MainWindow, qtbot: QtBot) -> None:
    """Rebuilding all windows at once would need several times the memory."""
    other = window.program.open_new_window()
    assert isinstance(other, MainWindow)
    other.open_template(SAMPLE_TEMPLATE)
    for page_id in ("memory", "compare"):
        other.show_page(page_id)
    hidden = other.findChildren(MemoryPage)
    other.come_to_front()
    window.program.set_language(PSEUDO)
    assert not any(isValid(page) for page in hidden)
    assert sum(each in (window, other) for each in window.program.windows) == 1, "the active one comes first"
    del other, hidden
    qtbot.waitUntil(lambda: window not in window.program.windows)


def test_replaced_windows_are_freed(window: MainWindow, qtbot: QtBot) -> None:
    gc.unfreeze()
    gc.collect()
    before = len(list_main_windows())
    window.program.set_language(PSEUDO)
    assert len(list_main_windows()) == before + 1
    other = window.program.open_new_window()
    reference = ref(other)
    # The first window exists when `gc.freeze` excludes everything from collections.
    gc.freeze()
    other.close()
    del other
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    qtbot.waitUntil(lambda: reference() is None)
    assert len(list_main_windows()) == before + 1


def test_choice_is_saved(window: MainWindow) -> None:
    new_window = choose(window, "en")
    assert window.settings.get(LANGUAGE, "") == "en"
    choose(new_window, "system")
    assert window.settings.get(LANGUAGE, "") == ""


def test_change_is_fast(window: MainWindow) -> None:
    for page in ("compare", "performance", "memory", "decide"):
        window.show_page(page)
    window.program.set_language(PSEUDO)
    start = time.thread_time()
    window.program.set_language("en")
    assert time.thread_time() - start < 0.6, "a wide limit for busy machines; the benchmark has the real one"


def test_sheet_has_its_own_language(window: MainWindow, qtbot: QtBot) -> None:
    window.preview()
    dialog = window.findChild(SheetPreview)
    assert dialog is not None
    english = dialog.windowTitle()
    dialog.set_language(PSEUDO)
    assert all(row.label.startswith("⟦") for row in dialog.sheet.table.rows if row.key.startswith("memory."))
    assert (dialog.windowTitle(), get_language()) == (english, "en")
    dialog.set_language("en")
    assert not any("⟦" in row.label for row in dialog.sheet.table.rows)
    dialog.close()


def test_open_preview_stays_open(window: MainWindow, qtbot: QtBot) -> None:
    window.preview()
    new_window = choose(window, "de")
    dialog = new_window.findChild(SheetPreview)
    assert dialog is not None
    assert dialog.isVisible()
    assert dialog.windowTitle() == "Vergleichsblatt"
    assert any(row.label == "Kapazität" for row in dialog.sheet.table.rows)
    dialog.close()
    new_window.show_page("profile")
    page = new_window.page
    assert isinstance(page, ProfilePage)
    qtbot.waitUntil(page.print_button.isEnabled, timeout=90_000)
    page.print_profile()
    new_window = choose(new_window, "en")
    profile = new_window.findChild(ProfilePreview)
    assert profile is not None
    assert profile.isVisible()
    assert profile.windowTitle() == "Accelerator profile"
    profile.close()


def test_german_window_has_german_numbers(window: MainWindow) -> None:
    new_window = choose(window, "de")
    titles = [spec.title for spec in new_window.page_specs]
    assert titles == [
        "Vergleichen",
        "Leistung",
        "Speicherbelegung",
        "Profil",
        "Kosten",
        "Entscheiden",
        "Flotte",
        "Katalog",
    ]
    assert new_window.scenario.input_tokens.edit.text() == "4.000"
    assert new_window.desk.formatter.number(1234.5, 1) == "1.234,5"


def test_open_manual_changes_its_language(window: MainWindow) -> None:
    window.program.show_manual("first-steps")
    choose(window, "de")
    (manual,) = [each for each in QApplication.topLevelWidgets() if isinstance(each, ManualWindow) and each.isVisible()]
    assert (manual.windowTitle(), manual.topic) == ("Handbuch von GPU Desk", "first-steps")
    assert "Erste Schritte" in manual.view.toPlainText()
    manual.show_topic("cost")
    assert "nur auf Englisch" in manual.view.toPlainText()


def test_replaced_manual_ignores_theme_changes(window: MainWindow, theme: Theme) -> None:
    window.program.show_manual("first-steps")
    choose(window, "de")
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    theme.set_preference("dark")
