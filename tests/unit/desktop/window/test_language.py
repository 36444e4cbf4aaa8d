"""The language is chosen in the menu: all windows go on in it at once, and nothing that was entered is lost."""

import gc
import time
from weakref import ref

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from gpudesk.desktop.pages.memory.page import MemoryPage
from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.document import find_recovery_dir, list_files
from gpudesk.desktop.session.settings import LANGUAGE
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.manual_window import ManualWindow
from gpudesk.desktop.window.sheet_preview import SheetPreview
from gpudesk.documents.scenario_file import SAMPLE_TEMPLATE
from gpudesk.text.translation import PSEUDO, get_language


@pytest.fixture(autouse=True)
def _english_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDESK_LANGUAGE", "en")


def choose(window: MainWindow, code: str) -> MainWindow:
    """Choose a language in the menu of a window; return the window that takes its place."""
    place = list(window.program.windows).index(window)
    next(each for each in window.list_window_actions() if each.id == f"view.language.{code}").run()
    made = window.program.windows[place]
    assert isinstance(made, MainWindow)
    return made


def test_windows_go_on_in_the_chosen_language(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("memory")
    before = window.desk.scenario
    edited = scenario_edits.replace_workload(before, input_tokens=777)
    window.desk.apply(edited, "Change of input")
    window.desk.flush()
    window.program.set_language(PSEUDO)
    made = window.program.windows[0]
    assert isinstance(made, MainWindow)
    assert made is not window
    assert made.isVisible()
    assert not window.isVisible()
    assert made.is_page("memory")
    assert (made.desk.scenario, made.document.edited) == (edited, True)
    assert made.scenario.model.accessibleName().startswith("⟦")
    assert [spec.title[0] for spec in made.page_specs] == ["⟦"] * len(made.page_specs)
    made.desk.undo_stack.undo()
    assert (made.desk.scenario, made.document.edited) == (before, False)
    made.desk.undo_stack.redo()
    made.document.keep_now()
    assert len(list_files(find_recovery_dir(), "*.gpudesk")) <= 1
    back = choose(made, "en")
    assert back.desk.scenario == edited
    assert get_language() == "en"


def list_main_windows() -> list[MainWindow]:
    """Return all main windows that are in memory, garbage included, and what is excluded from collections."""
    gc.unfreeze()
    return [each for each in gc.get_objects() if isinstance(each, MainWindow)]


def test_windows_are_replaced_one_after_the_other(window: MainWindow, qtbot: QtBot) -> None:
    """All pages of all windows at once, in both languages, would take several times the memory."""
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


def test_what_is_left_of_a_window_is_freed(window: MainWindow, qtbot: QtBot) -> None:
    gc.unfreeze()
    gc.collect()
    before = len(list_main_windows())
    window.program.set_language(PSEUDO)
    assert len(list_main_windows()) == before + 1
    other = window.program.open_new_window()
    is_there = ref(other)
    # As the first window, which is there when collections begin to exclude what was loaded.
    gc.freeze()
    other.close()
    del other
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    qtbot.waitUntil(lambda: is_there() is None)
    assert len(list_main_windows()) == before + 1


def test_the_choice_is_kept_for_the_next_start(window: MainWindow) -> None:
    made = choose(window, "en")
    assert window.settings.get(LANGUAGE, "") == "en"
    choose(made, "system")
    assert window.settings.get(LANGUAGE, "") == ""


def test_a_change_takes_little_time(window: MainWindow) -> None:
    for page in ("compare", "performance", "memory", "decide"):
        window.show_page(page)
    window.program.set_language(PSEUDO)
    begun = time.thread_time()
    window.program.set_language("en")
    assert time.thread_time() - begun < 0.6, "with room for machines that do much else; the benchmark has the bar"


def test_a_sheet_can_be_in_another_language_than_the_window(window: MainWindow, qtbot: QtBot) -> None:
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


def test_the_window_is_german_with_german_numbers(window: MainWindow) -> None:
    made = choose(window, "de")
    titles = [spec.title for spec in made.page_specs]
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
    assert made.scenario.input_tokens.edit.text() == "4.000"
    assert made.desk.formatter.number(1234.5, 1) == "1.234,5"


def test_an_open_manual_follows(window: MainWindow) -> None:
    window.program.show_manual("first-steps")
    choose(window, "de")
    (manual,) = [each for each in QApplication.topLevelWidgets() if isinstance(each, ManualWindow) and each.isVisible()]
    assert (manual.windowTitle(), manual.topic) == ("Handbuch von GPU Desk", "first-steps")
    assert "Erste Schritte" in manual.view.toPlainText()
    manual.show_topic("cost")
    assert "nur auf Englisch" in manual.view.toPlainText()


def test_a_manual_that_gave_way_no_longer_follows_the_theme(window: MainWindow, theme: Theme) -> None:
    window.program.show_manual("first-steps")
    choose(window, "de")
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    theme.set_preference("dark")
