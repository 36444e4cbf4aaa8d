"""The window: title, regions, rail and panel by width, what the bars say, and files that are dropped."""

import gc
import subprocess
import sys
import weakref
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QObject, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from gpudesk.desktop.pages.page import MultiViewPage
from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.session.selection import Selection, select_cost, select_figure
from gpudesk.desktop.window import app, main_window
from gpudesk.desktop.window.action_list import show_more_settings
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.dialogs.more_settings import MoreSettingsDialog
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.sources_panel import SourcesPanel
from gpudesk.domain.estimate import LoadKind
from gpudesk.report.costs import TOTAL


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def region(window: MainWindow) -> str:
    focus = focused()
    assert window.body.panel is not None
    parts = {
        "scenario": window.scenario,
        "accelerators": window.chips,
        "page": window.body.stack,
        "panel": window.body.panel,
    }
    return next(name for name, part in parts.items() if part is focus or part.isAncestorOf(focus))


def test_f6_goes_round_the_regions_and_back(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.body.panel is not None)
    window.scenario.model.setFocus()
    seen = []
    for _ in range(4):
        QTest.keyClick(focused(), Qt.Key.Key_F6)
        seen.append(region(window))
    assert seen == ["accelerators", "page", "panel", "scenario"]
    QTest.keyClick(focused(), Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
    assert region(window) == "panel"


def test_the_title_names_the_document_and_marks_edits(window: MainWindow) -> None:
    assert window.windowTitle() == "Llama 3.1 70B chat, four accelerators compared[*] — GPU Desk"
    window.desk.edit("Change of name", name="A [*] name")
    assert window.windowTitle() == "A  name[*] — GPU Desk"
    assert window.isWindowModified()


def test_undo_and_redo_say_the_step(window: MainWindow) -> None:
    assert not window.undo.isEnabled()
    window.desk.edit("Change of name", name="Other")
    assert window.undo.accessibleName() == "Undo: Change of name"
    window.undo.click()
    assert window.redo.accessibleName() == "Redo: Change of name"
    assert window.desk.scenario.name != "Other"
    window.redo.click()
    assert window.desk.scenario.name == "Other"


def test_a_narrow_window_folds_the_rail_and_lays_the_panel_over_the_page(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.body.panel is not None)
    panel = window.body.panel
    assert panel is not None
    assert panel.isVisible()
    wide = window.rail.width()
    window.resize(1100, 800)
    qtbot.waitUntil(lambda: window.rail.width() < wide)
    assert not panel.isVisible()
    window.panel.toggle()
    assert panel.isVisible()
    assert panel.geometry().right() == window.body.width() - 1
    window.resize(1440, 900)
    qtbot.waitUntil(lambda: window.rail.width() == wide)
    assert panel.isVisible()


@pytest.mark.parametrize("percent", [90, 150])
def test_all_bars_fit_at_every_size_of_text(window: MainWindow, percent: int) -> None:
    window.program.set_font_percent(percent)
    window.resize(1440, 900)
    QApplication.processEvents()
    for bar in (window.top, window.scenario, window.chips, window.status):
        assert bar.isVisible()
        assert bar.width() <= window.width()
    assert window.body.height() > 300
    window.program.set_font_percent(100)


def test_the_field_of_a_missing_price_is_seen_on_a_page_that_opens_for_it(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1280, 800)
    window.show_page("decide")
    assert window.page is not None
    window.page.page_requested.emit("cost", "mi355x")
    assert focused().accessibleName() == "Purchase price, MI355X"
    page = window.page
    assert isinstance(page, MultiViewPage)
    # The texts of the new page take their lines later, and move the field.
    qtbot.waitUntil(lambda: bool(page.verdict.text()) and window.body.panel is not None)
    qtbot.waitUntil(lambda: focused().visibleRegion().boundingRect() == focused().rect())


def test_text_that_is_dragged_over_the_window_is_not_taken(window: MainWindow) -> None:
    for url, taken in ((QUrl("https://example.org/a.gpudesk"), False), (QUrl.fromLocalFile("/a"), True)):
        data = QMimeData()
        data.setUrls([url])
        none = Qt.KeyboardModifier.NoModifier
        enter = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, none)
        enter.ignore()
        QApplication.sendEvent(window, enter)
        assert enter.isAccepted() == taken


def test_the_place_of_the_window_is_kept(window: MainWindow) -> None:
    window.close()
    kept = window.program.settings.get("window.geometry", "")
    assert kept


@pytest.mark.parametrize("width", [900, 960, 1100, 1440])
@pytest.mark.parametrize("kind", [LoadKind.CONCURRENCY, LoadKind.LIMITS])
def test_the_fields_of_the_scenario_stand_apart_at_any_width(
    window: MainWindow, qtbot: QtBot, width: int, kind: LoadKind
) -> None:
    window.desk.apply(scenario_edits.replace_load_kind(window.desk.scenario, kind), "Change load type")
    window.resize(width, 640)
    qtbot.waitUntil(lambda: window.width() == width)
    QApplication.processEvents()
    bar = window.scenario
    fields = [bar.model, bar.input_tokens, bar.output_tokens, bar.ttft, bar.load, window.undo, window.redo]
    places = [field.geometry() for field in fields if field.isVisible()]
    assert all(one.right() < other.left() for one, other in pairwise(places))
    assert places[-1].right() < bar.width()


def test_the_title_follows_the_model_until_the_user_writes_one(window: MainWindow, qtbot: QtBot) -> None:
    window.desk.edit("Change model", model="llama-3.1-405b")
    assert window.windowTitle().endswith("for Llama 3.1 405B[*] — GPU Desk")
    assert "70B" not in window.document.suggested_name
    stored = window.desk.scenario.name

    def answer(name: str | None) -> None:
        show_more_settings(window)
        dialog = next(each for each in window.findChildren(MoreSettingsDialog) if each.isVisible())
        assert dialog.name.text().endswith("for Llama 3.1 405B") or name is None
        if name is not None:
            dialog.name.setText(name)
        dialog.eager.toggle()
        dialog.accept()

    answer(None)
    assert window.desk.scenario.name == stored
    answer("For the board")
    window.desk.edit("Change model", model="llama-3.1-8b")
    assert window.windowTitle() == "For the board[*] — GPU Desk"


def selected(window: MainWindow) -> Selection | None:
    return window.desk.selection


def test_the_panel_explains_what_is_selected_on_the_page_that_is_shown(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.body.panel is not None)
    panel = window.body.panel
    assert isinstance(panel, SourcesPanel)
    window.show_page("compare")
    figure = select_figure("mi325x", "ttft_ms")
    window.desk.select(figure)
    assert panel.view.accessibleDescription().startswith("Time to first token")
    window.show_page("cost")
    assert selected(window) is None
    assert panel.explanation is None
    cost = select_cost("h200-sxm", TOTAL)
    window.desk.select(cost)
    window.show_page("compare")
    assert selected(window) == figure
    window.desk.apply(scenario_edits.remove_accelerator(window.desk.scenario, 0), "Remove")
    window.desk.flush()
    window.show_page("cost")
    assert selected(window) is None


def test_a_link_of_a_page_leads_to_the_field_of_another(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("decide")
    assert window.page is not None
    window.page.page_requested.emit("cost", "mi355x")
    assert window.is_page("cost")
    focus = window.focusWidget()
    assert focus is not None
    assert focus.accessibleName().startswith("Purchase price, MI355X")
    window.page.page_requested.emit("memory", "")
    assert window.is_page("memory")


def count_destroyed() -> int:
    """Return how many objects that Qt has destroyed are still known to Python."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    return sum(isinstance(each, QObject) and not isValid(each) for each in gc.get_objects())


def test_a_window_that_is_closed_leaves_nothing_behind(window: MainWindow) -> None:
    before = count_destroyed()
    other = window.program.open_new_window()
    assert isinstance(other, MainWindow)
    other.open_template("70b-chat-on-four")
    for page in [spec.id for spec in other.page_specs]:
        other.show_page(page)
        QApplication.processEvents()
    other.desk.begin_gesture("drag")
    for load in (10, 11, 12):
        other.desk.apply(scenario_edits.replace_load_value(other.desk.scenario, load), "Load")
    other.desk.end_gesture()
    other.desk.undo_stack.setClean()
    other.close()
    del other
    assert count_destroyed() == before


def test_a_window_that_is_closed_right_after_its_first_paint_loads_nothing(window: MainWindow) -> None:
    """A thread that still ran when the window was deleted would end the program."""
    jobs = window.jobs
    window.close()
    app._settle(window)
    started = jobs.running
    jobs.stop()
    assert not started


#: Opens a window in a new program, waits until all pages are loaded, and prints what a thread imported meanwhile.
LOADING = """
import sys, threading
from PySide6.QtTest import QTest
from gpudesk.desktop.window import app
from gpudesk.desktop.window.document_window import list_page_modules
from gpudesk.service import GpuDeskService

by_thread = []

class Watch:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if threading.current_thread() is not threading.main_thread():
            by_thread.append(name)

sys.meta_path.insert(0, Watch)
with GpuDeskService.open() as service:
    program = app.DesktopProgram(app._get_application(), service)
    app._start(program, [])
    while not sys.modules.keys() >= set(list_page_modules()):
        QTest.qWait(10)
    program.end()
print(*by_thread)
"""


def test_classes_of_qt_are_not_made_in_a_thread(user_home: Path) -> None:
    """The bindings' table of classes is read by the window's thread without a lock."""
    done = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, check=True, timeout=60)
    imported = done.stdout.splitlines()[-1].split()
    assert "gpudesk.estimation.estimator" in imported, "the thread was not watched"
    assert [name for name in imported if name.startswith(("PySide6", "pyqtgraph", "gpudesk.desktop"))] == []


@pytest.mark.parametrize("action", ["sheet.preview", "scenario.settings", "compare.rows"])
def test_what_opens_at_large_letters_has_room_on_a_small_screen(window: MainWindow, action: str) -> None:
    window.theme.set_font_percent(150)
    window.show_page("compare")
    next(each for each in window.list_window_actions() if each.id == action).run()
    (opened,) = [each for each in QApplication.topLevelWidgets() if each.isVisible() and each is not window]
    room = opened.screen().availableGeometry()
    assert opened.height() <= room.height()
    assert action != "compare.rows" or opened.geometry().bottom() <= room.bottom()
    opened.close()


def test_a_window_retains_the_views_that_were_shown_last(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    cleaned_up: list[bool] = []
    monkeypatch.setattr(main_window, "_MOST_VIEWS", 3)
    monkeypatch.setattr(DesktopProgram, "clean_up_later", lambda _: cleaned_up.append(True))
    window.show_page("cost")
    page = window.page
    assert isinstance(page, MultiViewPage)
    for key in page.view_keys[1:4]:
        page.choose_view(key)
    with qtbot.waitSignal(page.views[page.view_keys[1]].destroyed):
        window.show_page("performance")
    assert isinstance(window.page, MultiViewPage)
    assert window.page.view.isVisible()
    assert list(page.views) == list(page.view_keys[2:4])
    assert cleaned_up


def test_old_views_are_dropped_while_ever_more_are_created(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(main_window, "_MOST_VIEWS", 1)
    window._view_limit.setInterval(800)
    window.show_page("performance")
    page = window.page
    assert isinstance(page, MultiViewPage)
    for key in page.view_keys:
        page.choose_view(key)
        qtbot.wait(200)
    assert len(page.views) < len(page.view_keys) - 1


def test_memory_is_given_back_once_no_job_runs_any_more(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    program = cast("DesktopProgram", window.program)
    given_back: list[bool] = []
    running = [True]
    monkeypatch.setattr(Jobs, "any_running", lambda: running[0])
    monkeypatch.setattr(app, "_give_memory_back", lambda **_: given_back.append(True))
    program._pause.setInterval(1)
    program._pause.start()
    qtbot.wait(20)
    assert given_back == []
    running[0] = False
    qtbot.waitUntil(lambda: given_back == [True])
    qtbot.wait(20)
    assert given_back == [True]


class Node:
    """Refers to itself."""

    def __init__(self) -> None:
        self.itself = self


def test_a_pause_frees_what_was_frozen_before_it_became_garbage() -> None:
    node = Node()
    gone = weakref.ref(node)
    gc.freeze()
    del node
    gc.collect()
    assert gone() is not None
    app._give_memory_back(thoroughly=False)
    assert gone() is not None
    app._give_memory_back(thoroughly=True)
    assert gone() is None
