"""Tab goes through the window as it is read, independent of the page made last."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.window.main_window import MainWindow


def around(window: MainWindow, key: Qt.Key) -> list[QWidget]:
    """Return what has the focus, from the model on until it comes back there."""
    window.scenario.model.setFocus(Qt.FocusReason.TabFocusReason)
    met: list[QWidget] = []
    for _ in range(80):
        focused = QApplication.focusWidget()
        assert focused is not None
        if met and focused is window.scenario.model:
            return met
        met.append(focused)
        QTest.keyClick(focused, key)
    raise AssertionError("Tab does not come back")


@pytest.mark.parametrize("page", ["compare", "performance", "memory"])
def test_tab_goes_from_the_scenario_to_the_page_to_the_panel(window: MainWindow, qtbot: QtBot, page: str) -> None:
    for each in ("compare", "performance", "memory", page):
        window.show_page(each)
    qtbot.waitUntil(lambda: window.body.panel is not None and window.body.panel.isVisible())
    panel = window.body.panel
    assert panel is not None
    regions = (window.scenario, window.chips, window.body.stack, panel, window.top, window.rail)

    def places(key: Qt.Key) -> list[int]:
        met = around(window, key)
        return [next(n for n, region in enumerate(regions) if region.isAncestorOf(each)) for each in met]

    there = places(Qt.Key.Key_Tab)
    assert there == sorted(there)
    assert set(there) == set(range(len(regions)))
    _model, *back = places(Qt.Key.Key_Backtab)
    assert back == sorted(back, reverse=True)


def test_headlines_come_before_the_table_below_them(window: MainWindow) -> None:
    met = around(window, Qt.Key.Key_Tab)
    page = window.page
    assert page is not None
    names = [each.accessibleName() for each in met if page.isAncestorOf(each)]
    assert names[0] == "Filter rows"
    assert names[-2].startswith("Max concurrency, ")
    assert names[-1] == "Comparison"
