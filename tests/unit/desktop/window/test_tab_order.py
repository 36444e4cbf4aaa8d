"""Tab follows the reading order of the window, independent of the order in which pages were created."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.window.main_window import MainWindow


def walk_focus(window: MainWindow, key: Qt.Key) -> list[QWidget]:
    """Return the widgets that Tab reaches, from the model until the focus returns there."""
    window.scenario.model.setFocus(Qt.FocusReason.TabFocusReason)
    reached: list[QWidget] = []
    for _ in range(80):
        focused = QApplication.focusWidget()
        assert focused is not None
        if reached and focused is window.scenario.model:
            return reached
        reached.append(focused)
        QTest.keyClick(focused, key)
    raise AssertionError("Tab does not return to the model")


@pytest.mark.parametrize("page", ["compare", "performance", "memory"])
def test_tab_goes_from_the_scenario_to_the_page_to_the_panel(window: MainWindow, qtbot: QtBot, page: str) -> None:
    for each in ("compare", "performance", "memory", page):
        window.show_page(each)
    qtbot.waitUntil(lambda: window.body.panel is not None and window.body.panel.isVisible())
    panel = window.body.panel
    assert panel is not None
    regions = (window.scenario, window.chips, window.body.stack, panel, window.top, window.rail)

    def list_regions(key: Qt.Key) -> list[int]:
        reached = walk_focus(window, key)
        return [next(n for n, region in enumerate(regions) if region.isAncestorOf(each)) for each in reached]

    forward = list_regions(Qt.Key.Key_Tab)
    assert forward == sorted(forward)
    assert set(forward) == set(range(len(regions)))
    _model, *backward = list_regions(Qt.Key.Key_Backtab)
    assert backward == sorted(backward, reverse=True)


def test_headlines_come_before_the_table_below_them(window: MainWindow) -> None:
    reached = walk_focus(window, Qt.Key.Key_Tab)
    page = window.page
    assert page is not None
    names = [each.accessibleName() for each in reached if page.isAncestorOf(each)]
    assert names[0] == "Filter rows"
    assert names[-2].startswith("Max concurrency, ")
    assert names[-1] == "Comparison"
