"""The window: title, focus regions, rail and panel by width, texts of the bars, and dropped files."""

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
from gpudesk.desktop.ui.widgets.layouts import FullWidthScrollArea, make_column
from gpudesk.desktop.window import app, main_window
from gpudesk.desktop.window.action_list import show_more_settings
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.dialogs.more_settings import MoreSettingsDialog
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.sources_panel import SourcesPanel
from gpudesk.domain.estimate import LoadKind
from gpudesk.report.costs import TOTAL


def get_focused_widget() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def get_focused_region(window: MainWindow) -> str:
    focus = get_focused_widget()
    assert window.body.panel is not None
    widgets = {
        "scenario": window.scenario,
        "accelerators": window.chips,
        "page": window.body.stack,
        "panel": window.body.panel,
    }
    return next(name for name, widget in widgets.items() if widget is focus or widget.isAncestorOf(focus))


def test_f6_cycles_through_the_regions(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.body.panel is not None)
    window.scenario.model.setFocus()
    regions = []
    for _ in range(4):
        QTest.keyClick(get_focused_widget(), Qt.Key.Key_F6)
        regions.append(get_focused_region(window))
    assert regions == ["accelerators", "page", "panel", "scenario"]
    QTest.keyClick(get_focused_widget(), Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
    assert get_focused_region(window) == "panel"


def test_title_names_the_document_and_marks_edits(window: MainWindow) -> None:
    assert window.windowTitle() == "Llama 3.1 70B chat, four accelerators compared[*] — GPU Desk"
    window.desk.edit("Change of name", name="A [*] name")
    assert window.windowTitle() == "A  name[*] — GPU Desk"
    assert window.isWindowModified()


def test_undo_and_redo_name_the_step(window: MainWindow) -> None:
    assert not window.undo.isEnabled()
    window.desk.edit("Change of name", name="Other")
    assert window.undo.accessibleName() == "Undo: Change of name"
    window.undo.click()
    assert window.redo.accessibleName() == "Redo: Change of name"
    assert window.desk.scenario.name != "Other"
    window.redo.click()
    assert window.desk.scenario.name == "Other"


def test_narrow_window_collapses_the_rail_and_overlays_the_panel(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.body.panel is not None)
    panel = window.body.panel
    assert panel is not None
    assert panel.isVisible()
    full_width = window.rail.width()
    window.resize(1100, 800)
    qtbot.waitUntil(lambda: window.rail.width() < full_width)
    assert not panel.isVisible()
    window.panel.toggle()
    assert panel.isVisible()
    assert panel.geometry().right() == window.body.width() - 1
    window.resize(1440, 900)
    qtbot.waitUntil(lambda: window.rail.width() == full_width)
    assert panel.isVisible()


@pytest.mark.parametrize("percent", [90, 150])
def test_all_bars_fit_at_every_text_size(window: MainWindow, percent: int) -> None:
    window.program.set_font_percent(percent)
    window.resize(1440, 900)
    QApplication.processEvents()
    for bar in (window.top, window.scenario, window.chips, window.status):
        assert bar.isVisible()
        assert bar.width() <= window.width()
    assert window.body.height() > 300
    window.program.set_font_percent(100)


def test_field_of_a_missing_price_is_scrolled_into_view(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1280, 800)
    window.show_page("decide")
    assert window.page is not None
    window.page.page_requested.emit("cost", "mi355x")
    assert get_focused_widget().accessibleName() == "Purchase price, MI355X"
    page = window.page
    assert isinstance(page, MultiViewPage)
    # Texts of the new page wrap later, and move the field.
    qtbot.waitUntil(lambda: bool(page.verdict.text()) and window.body.panel is not None)
    qtbot.waitUntil(lambda: get_focused_widget().visibleRegion().boundingRect() == get_focused_widget().rect())


def test_only_files_can_be_dropped(window: MainWindow) -> None:
    for url, is_accepted in ((QUrl("https://example.org/a.gpudesk"), False), (QUrl.fromLocalFile("/a"), True)):
        data = QMimeData()
        data.setUrls([url])
        no_modifier = Qt.KeyboardModifier.NoModifier
        enter = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, no_modifier)
        enter.ignore()
        QApplication.sendEvent(window, enter)
        assert enter.isAccepted() == is_accepted


def test_window_geometry_is_saved(window: MainWindow) -> None:
    window.close()
    geometry = window.program.settings.get("window.geometry", "")
    assert geometry


@pytest.mark.parametrize("width", [900, 960, 1100, 1440])
@pytest.mark.parametrize("kind", [LoadKind.CONCURRENCY, LoadKind.LIMITS])
def test_scenario_fields_never_overlap(window: MainWindow, qtbot: QtBot, width: int, kind: LoadKind) -> None:
    window.desk.apply(scenario_edits.replace_load_kind(window.desk.scenario, kind), "Change load type")
    window.resize(width, 640)
    qtbot.waitUntil(lambda: window.width() == width)
    QApplication.processEvents()
    bar = window.scenario
    fields = [bar.model, bar.input_tokens, bar.output_tokens, bar.ttft, bar.load, window.undo, window.redo]
    rects = [field.geometry() for field in fields if field.isVisible()]
    assert all(first.right() < second.left() for first, second in pairwise(rects))
    assert rects[-1].right() < bar.width()


def test_title_follows_the_model_until_named_by_the_user(window: MainWindow, qtbot: QtBot) -> None:
    window.desk.edit("Change model", model="llama-3.1-405b")
    assert window.windowTitle().endswith("Llama 3.1 405B on 4 accelerators[*] — GPU Desk")
    assert "70B" not in window.document.suggested_name
    stored = window.desk.scenario.name

    def apply_name(name: str | None) -> None:
        show_more_settings(window)
        dialog = next(each for each in window.findChildren(MoreSettingsDialog) if each.isVisible())
        assert dialog.name_row.edit.text().endswith("Llama 3.1 405B on 4 accelerators") or name is None
        if name is not None:
            dialog.name_row.edit.setText(name)
        dialog.eager.toggle()
        dialog.accept()

    apply_name(None)
    assert window.desk.scenario.name == stored
    apply_name("For the board")
    window.desk.edit("Change model", model="llama-3.1-8b")
    assert window.windowTitle() == "For the board[*] — GPU Desk"


def get_selection(window: MainWindow) -> Selection | None:
    return window.desk.selection


def test_panel_explains_the_selection_of_the_current_page(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.body.panel is not None)
    panel = window.body.panel
    assert isinstance(panel, SourcesPanel)
    window.show_page("compare")
    figure = select_figure("mi325x", "ttft_ms")
    window.desk.select(figure)
    assert panel.view.accessibleDescription().startswith("Time to first token")
    window.show_page("cost")
    assert get_selection(window) is None
    assert panel.explanation is None
    cost = select_cost("h200-sxm", TOTAL)
    window.desk.select(cost)
    window.show_page("compare")
    assert get_selection(window) == figure
    window.desk.apply(scenario_edits.remove_accelerator(window.desk.scenario, 0), "Remove")
    window.desk.flush()
    window.show_page("cost")
    assert get_selection(window) is None


def test_link_focuses_a_field_of_another_page(window: MainWindow, qtbot: QtBot) -> None:
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
    """Return the number of objects that Qt has destroyed and Python still holds."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    return sum(isinstance(each, QObject) and not isValid(each) for each in gc.get_objects())


def test_closed_window_leaves_no_objects(window: MainWindow) -> None:
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


def test_window_closed_after_its_first_paint_starts_no_job(window: MainWindow) -> None:
    jobs = window.jobs
    window.close()
    app._settle(window)
    started = jobs.running
    jobs.stop()
    assert not started


#: Opens a window in a new process, waits until all pages are imported, and prints the modules that threads imported.
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


def test_threads_import_no_qt_classes(user_home: Path) -> None:
    """The window's thread reads the bindings' table of classes without a lock."""
    completed = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, check=True, timeout=60)
    imported = completed.stdout.splitlines()[-1].split()
    assert "gpudesk.estimation.estimator" in imported, "imports of the thread were not recorded"
    assert [name for name in imported if name.startswith(("PySide6", "pyqtgraph", "gpudesk.desktop"))] == []


@pytest.mark.parametrize("action", ["sheet.preview", "scenario.settings", "compare.rows"])
def test_popups_fit_a_small_screen_at_large_text(window: MainWindow, action: str) -> None:
    window.theme.set_font_percent(150)
    window.show_page("compare")
    next(each for each in window.list_window_actions() if each.id == action).run()
    (popup,) = [each for each in QApplication.topLevelWidgets() if each.isVisible() and each is not window]
    available = popup.screen().availableGeometry()
    assert popup.height() <= available.height()
    assert action != "compare.rows" or popup.geometry().bottom() <= available.bottom()
    popup.close()


def test_recent_views_are_retained(window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
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


def test_old_views_are_dropped_during_continuous_use(
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


def test_memory_is_released_once_no_job_runs(window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
    program = cast("DesktopProgram", window.program)
    releases: list[bool] = []
    running = [True]
    monkeypatch.setattr(Jobs, "any_running", lambda: running[0])
    monkeypatch.setattr(app, "_give_memory_back", lambda **_: releases.append(True))
    program._pause.setInterval(1)
    program._pause.start()
    qtbot.wait(20)
    assert releases == []
    running[0] = False
    qtbot.waitUntil(lambda: releases == [True])
    qtbot.wait(20)
    assert releases == [True]


def test_memory_is_released_after_another_page_of_the_manual_and_its_end(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    program = cast("DesktopProgram", window.program)
    releases: list[bool] = []
    monkeypatch.setattr(Jobs, "any_running", lambda: False)
    monkeypatch.setattr(app, "_give_memory_back", lambda *, thoroughly: releases.append(thoroughly))
    program._pause.setInterval(1)
    program.show_manual("accuracy")
    program.show_manual("contents")
    qtbot.waitUntil(lambda: releases == [False])
    assert program._manual is not None
    program._manual.close()
    qtbot.waitUntil(lambda: releases == [False, True])


def test_release_is_thorough_once_after_views_were_dropped(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    program = cast("DesktopProgram", window.program)
    releases: list[bool] = []
    monkeypatch.setattr(Jobs, "any_running", lambda: False)
    monkeypatch.setattr(app, "_give_memory_back", lambda *, thoroughly: releases.append(thoroughly))
    monkeypatch.setattr(main_window, "_MOST_VIEWS", 1)
    program._pause.setInterval(1)
    qtbot.waitUntil(lambda: not program._pause.isActive())
    program._has_deleted = False
    releases.clear()
    window._drop_old_views()
    window.desk.answered.emit()
    qtbot.waitUntil(lambda: bool(releases))
    assert not any(releases)
    window.show_page("performance")
    assert isinstance(window.page, MultiViewPage)
    for key in window.page.view_keys[:2]:
        window.page.choose_view(key)
    window._drop_old_views()
    qtbot.waitUntil(lambda: True in releases)
    releases.clear()
    window.desk.answered.emit()
    qtbot.waitUntil(lambda: bool(releases))
    assert not any(releases)


class Node:
    """An object in a reference cycle."""

    def __init__(self) -> None:
        self.itself = self


def test_thorough_release_frees_frozen_garbage() -> None:
    node = Node()
    reference = weakref.ref(node)
    gc.freeze()
    del node
    gc.collect()
    assert reference() is not None
    app._give_memory_back(thoroughly=False)
    assert reference() is not None
    app._give_memory_back(thoroughly=True)
    assert reference() is None


class PaintedHeights(QObject):
    """The heights at which a widget was painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.heights: list[int] = []
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and isinstance(watched, QWidget):
            self.heights.append(watched.height())
        return False


def test_nested_layouts_settle_before_a_paint(window: MainWindow, qtbot: QtBot) -> None:
    """Otherwise a page that grows below the fold is painted once with its parts over one another."""
    area = FullWidthScrollArea(parent=window)
    innermost = QWidget()
    content = innermost
    for _ in range(4):
        child, content = content, QWidget()
        make_column(child, on=content)
    area.show_widget(content)
    area.setGeometry(0, 0, 300, 200)
    part = QWidget()
    make_column(part, on=innermost)
    area.show()
    watch = PaintedHeights(content)
    qtbot.waitUntil(lambda: bool(watch.heights))
    watch.heights.clear()
    part.setMinimumHeight(900)
    content.update()
    qtbot.waitUntil(lambda: bool(watch.heights))
    assert min(watch.heights) >= 900
