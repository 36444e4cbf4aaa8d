"""The list of pages at the left edge."""

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
    made = PageRail(theme, PAGES)
    qtbot.addWidget(made)
    made.resize(made.width(), 600)
    made.show()
    qtbot.waitExposed(made)
    return made


def item(rail: PageRail, name: str) -> QAbstractButton:
    return next(button for button in rail.findChildren(QAbstractButton) if button.accessibleName() == name)


def test_a_click_opens_a_page_and_shows_it_as_open(rail: PageRail, qtbot: QtBot) -> None:
    with qtbot.waitSignal(rail.chosen) as chosen:
        QTest.mouseClick(item(rail, "Performance"), Qt.MouseButton.LeftButton)
    assert chosen.args == ["performance"]
    assert rail.page == "performance"


def test_arrow_keys_move_and_enter_opens(rail: PageRail, qtbot: QtBot) -> None:
    first, last = item(rail, "Compare"), item(rail, "Memory and fit")
    first.setFocus()
    for name in ("Compare", "Performance", "Memory and fit"):
        QTest.keyClick(item(rail, name), Qt.Key.Key_Down)
    assert last.hasFocus()
    assert rail.page == ""
    with qtbot.waitSignal(rail.chosen) as chosen:
        QTest.keyClick(last, Qt.Key.Key_Return)
    assert chosen.args == ["memory"]
    QTest.keyClick(last, Qt.Key.Key_Home)
    assert first.hasFocus()


def test_tab_stops_once_at_the_open_page_and_then_at_the_button(rail: PageRail) -> None:
    rail.set_page("performance")
    stops = [
        button.accessibleName()
        for button in rail.findChildren(QAbstractButton)
        if button.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]
    assert stops == ["Performance", "Collapse sidebar"]


def test_no_page_can_be_open(rail: PageRail) -> None:
    rail.set_page("memory")
    rail.set_page("")
    assert rail.page == ""


def test_the_user_folds_it_and_it_says_so(rail: PageRail, qtbot: QtBot) -> None:
    wide = rail.width()
    assert wide == 184
    with qtbot.waitSignal(rail.collapsed_changed) as changed:
        QTest.mouseClick(rail.fold_button, Qt.MouseButton.LeftButton)
    assert changed.args == [True]
    assert rail.width() == 48
    assert item(rail, "Memory and fit").toolTip() == "Memory and fit  Ctrl 3"
    assert rail.fold_button.accessibleName() == "Expand sidebar"


def test_a_narrow_window_folds_it_without_changing_what_the_user_keeps(rail: PageRail, qtbot: QtBot) -> None:
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


def test_it_grows_with_the_letters(rail: PageRail, theme: Theme) -> None:
    height = item(rail, "Compare").sizeHint().height()
    theme.set_font_percent(150)
    assert rail.width() == 276
    assert item(rail, "Compare").sizeHint().height() == height * 1.5
