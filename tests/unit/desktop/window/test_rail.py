"""The page list at the left edge of the window."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.bars import PageRail, RailItem

PAGES = (
    RailItem("compare", "Compare", "columns-3", "1"),
    RailItem("performance", "Performance", "chart-spline", "2"),
    RailItem("memory", "Memory and fit", "memory-stick", "3"),
)


@pytest.fixture
def rail(theme: Theme, qtbot: QtBot) -> PageRail:
    page_rail = PageRail(theme, PAGES)
    qtbot.addWidget(page_rail)
    page_rail.resize(page_rail.width(), 600)
    page_rail.show()
    qtbot.waitExposed(page_rail)
    return page_rail


def find_item(rail: PageRail, name: str) -> QAbstractButton:
    return next(button for button in rail.findChildren(QAbstractButton) if button.accessibleName() == name)


def test_click_opens_a_page(rail: PageRail, qtbot: QtBot) -> None:
    with qtbot.waitSignal(rail.chosen) as signal:
        QTest.mouseClick(find_item(rail, "Performance"), Qt.MouseButton.LeftButton)
    assert signal.args == ["performance"]
    assert rail.page == "performance"


def test_arrow_keys_move_and_enter_opens(rail: PageRail, qtbot: QtBot) -> None:
    first, last = find_item(rail, "Compare"), find_item(rail, "Memory and fit")
    first.setFocus()
    for name in ("Compare", "Performance", "Memory and fit"):
        QTest.keyClick(find_item(rail, name), Qt.Key.Key_Down)
    assert last.hasFocus()
    assert rail.page == ""
    with qtbot.waitSignal(rail.chosen) as signal:
        QTest.keyClick(last, Qt.Key.Key_Return)
    assert signal.args == ["memory"]
    QTest.keyClick(last, Qt.Key.Key_Home)
    assert first.hasFocus()


def test_tab_stops_at_the_open_page_and_the_collapse_button(rail: PageRail) -> None:
    rail.set_page("performance")
    stops = [
        button.accessibleName()
        for button in rail.findChildren(QAbstractButton)
        if button.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]
    assert stops == ["Performance", "Collapse sidebar"]


def test_no_page_may_be_selected(rail: PageRail) -> None:
    rail.set_page("memory")
    rail.set_page("")
    assert rail.page == ""


def test_collapsing_emits_a_signal(rail: PageRail, qtbot: QtBot) -> None:
    full_width = rail.width()
    assert full_width == 184
    with qtbot.waitSignal(rail.collapsed_changed) as signal:
        QTest.mouseClick(rail.fold_button, Qt.MouseButton.LeftButton)
    assert signal.args == [True]
    assert rail.width() == 48
    assert find_item(rail, "Memory and fit").toolTip() == "Memory and fit  Ctrl 3"
    assert rail.fold_button.accessibleName() == "Expand sidebar"


def test_narrow_window_collapses_the_rail_temporarily(rail: PageRail, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(rail.collapsed_changed):
        widths = [rail.width()]
        rail.set_narrow(True)
        widths.append(rail.width())
        rail.toggle()
        widths.append(rail.width())
        for narrow in (False, True, False):
            rail.set_narrow(narrow)
            widths.append(rail.width())
    assert widths == [184, 48, 184, 184, 48, 184]


def test_rail_grows_with_the_text(rail: PageRail, theme: Theme) -> None:
    height = find_item(rail, "Compare").sizeHint().height()
    theme.set_font_percent(150)
    assert rail.width() == 276
    assert find_item(rail, "Compare").sizeHint().height() == height * 1.5
