"""The page Memory and fit: views, states, copying, and refreshing."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.memory.page import CONTEXT, FIT, NEEDED, SIZE, MemoryPage
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import replace_load_value
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.charts.chart_data import ChartDataDialog
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.answer import AcceleratorChoice


def test_view_is_saved(page: MemoryPage, desk: Desk, theme: Theme, settings: UserSettings) -> None:
    page.choose_view(NEEDED)
    other = MemoryPage(desk, theme, settings)
    assert other.head.segment.value == NEEDED


def test_views_are_chosen_by_keyboard(page: MemoryPage, qtbot: QtBot) -> None:
    buttons = page.head.segment.findChildren(QPushButton)
    buttons[0].setFocus()
    QTest.keyClick(buttons[0], Qt.Key.Key_Right)
    assert page.settings.get("memory.view", "") == CONTEXT


def test_missing_accelerators_have_a_link(page: MemoryPage, desk: Desk, qtbot: QtBot) -> None:
    desk.edit("None", accelerators=())
    desk.flush()
    assert not page.head.copy.isVisible()
    button = next(button for button in page.findChildren(QPushButton) if button.isVisible())
    with qtbot.waitSignal(page.wanted) as signal:
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert signal.args == ["accelerators"]


def test_problem_is_shown_above_the_last_answer(page: MemoryPage, desk: Desk) -> None:
    desk.edit("Unknown", model="no-such-model")
    desk.flush()
    assert "no-such-model" in page.body.note.text
    assert page.head.copy.isVisible()
    desk.undo_stack.undo()
    desk.flush()
    assert page.body.note.text == ""


@pytest.mark.parametrize(
    ("view", "title", "row"),
    [
        (FIT, "Memory per accelerator", "H200 SXM\tTP 2\tdoes not fit on 2, needs 4\t2\t191.0"),
        (CONTEXT, "KV cache per request", "5,000\t1.20"),
        (NEEDED, "Accelerators needed", "One request of 5,000 tokens\tFP8 weights\t4 (TP 4)\t2 (TP 2)\t2 (TP 2)"),
    ],
)
def test_copy_has_an_image_and_data(page: MemoryPage, view: str, title: str, row: str) -> None:
    page.choose_view(view)
    page.copy()
    mime = QGuiApplication.clipboard().mimeData()
    assert mime.hasImage()
    assert mime.text().startswith(title)
    assert row in mime.text()


def test_table_dialog_shows_the_focused_chart(page: MemoryPage, qtbot: QtBot) -> None:
    page.choose_view(CONTEXT)
    charts = [chart for chart in page.view.charts if isinstance(chart, QWidget)]
    page.activateWindow()
    with qtbot.waitExposed(page):
        charts[1].setFocus()
    dialog = page.show_table()
    assert isinstance(dialog, ChartDataDialog)
    assert dialog.windowTitle() == "Max concurrency"
    dialog.close()


def test_actions_run(page: MemoryPage) -> None:
    actions = {action.id: action for action in page.list_page_actions()}
    assert actions["memory.table"].shortcuts == ("Alt+T",)
    actions["memory.context"].run()
    assert page.head.segment.value == CONTEXT


def test_focusable_widgets_are_named(page: MemoryPage) -> None:
    for view in (FIT, CONTEXT, NEEDED):
        page.choose_view(view)
        QApplication.processEvents()
        nameless = [
            widget
            for widget in page.findChildren(QWidget)
            if widget.isVisible()
            and widget.focusProxy() is None
            and widget.focusPolicy() != Qt.FocusPolicy.NoFocus
            and not (widget.accessibleName() or getattr(widget, "text", str)())
        ]
        assert nameless == []


def test_hidden_page_is_refreshed_when_shown(page: MemoryPage, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    page.hide()
    refreshed: list[int] = []
    monkeypatch.setattr(page, "refresh", lambda: refreshed.append(1))
    desk.apply(replace_load_value(desk.scenario, 20), "Load")
    desk.flush()
    assert refreshed == []
    page.show()
    assert refreshed == [1]


def test_narrow_page_wraps_its_head(page: MemoryPage, theme: Theme) -> None:
    theme.set_font_percent(150)
    page.resize(700, 600)
    QApplication.processEvents()
    assert page.head.segment.geometry().top() > page.head.copy.geometry().bottom() - 4
    assert page.width() == 700


def test_single_accelerator_without_count_is_painted(page: MemoryPage, desk: Desk) -> None:
    desk.edit("One", accelerators=(AcceleratorChoice("mi355x"),))
    desk.flush()
    QApplication.processEvents()
    assert not page.grab().isNull()


def test_size_view_has_no_verdict(page: MemoryPage) -> None:
    page.choose_view(FIT)
    assert "requests in memory" in page.describe_verdict()[0]
    page.choose_view(SIZE)
    assert not page.describe_verdict()
