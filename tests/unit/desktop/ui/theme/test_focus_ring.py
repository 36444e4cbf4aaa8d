"""The focus ring shows for the keyboard only, around what has the focus, above all else."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QLineEdit, QPushButton, QScrollArea, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.focus_ring import FocusRing
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import SegmentedControl


class Grid(QWidget):
    """Has the focus in one cell only."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = QRect(10, 10, 40, 20)
        self.setMinimumHeight(60)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def focus_rect(self) -> QRect:
        return self.cell


class Window(QWidget):
    """Something of everything, and a ring."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.first = QLineEdit()
        self.second = QPushButton("Second")
        self.check = QCheckBox("Check")
        self.segment = SegmentedControl(theme, "View", [("a", "Overview"), ("b", "Pareto")])
        self.grid = Grid()
        self.area = QScrollArea()
        inside = QWidget()
        column = QVBoxLayout(inside)
        self.buttons = [QPushButton(str(number)) for number in range(12)]
        for button in self.buttons:
            column.addWidget(button)
        self.area.setWidget(inside)
        self.area.setFixedHeight(100)
        outer = QVBoxLayout(self)
        for widget in (self.first, self.second, self.check, self.segment, self.grid, self.area):
            outer.addWidget(widget)
        self.ring = FocusRing(self, theme)


@pytest.fixture
def window(theme: Theme, qtbot: QtBot) -> Iterator[Window]:
    shown = Window(theme)
    qtbot.addWidget(shown)
    shown.resize(400, 500)
    with qtbot.waitActive(shown):
        shown.show()
    shown.activateWindow()
    shown.first.setFocus()
    qtbot.waitUntil(shown.first.hasFocus)
    yield shown
    shown.close()


def ringed(window: Window) -> QRect:
    margin = 5
    return window.ring.geometry().adjusted(margin, margin, -margin, -margin)


def test_tab_shows_the_ring_and_a_click_hides_it(window: Window, theme: Theme) -> None:
    assert window.ring.isHidden()
    QTest.keyClick(window.first, Qt.Key.Key_Tab)
    assert window.second.hasFocus()
    assert ringed(window) == window.second.geometry()
    edge = window.second.geometry().topLeft() + QPoint(60, -2)
    assert window.grab().toImage().pixelColor(edge) == theme.color("focus")
    QTest.mouseClick(window.windowHandle(), Qt.MouseButton.LeftButton, pos=window.first.geometry().center())
    assert window.first.hasFocus()
    assert window.ring.isHidden()


def test_the_ring_lies_above_everything_and_lets_the_mouse_through(window: Window) -> None:
    QTest.keyClick(window.first, Qt.Key.Key_Tab)
    assert window.children()[-1] is window.ring
    assert window.childAt(window.ring.geometry().center()) is window.second


def test_ticks_are_ringed_as_they_are_drawn(window: Window) -> None:
    window.second.setFocus()
    QTest.keyClick(window.second, Qt.Key.Key_Tab)
    assert window.check.hasFocus()
    assert ringed(window).width() == window.check.sizeHint().width() < window.check.width()


def test_a_segmented_choice_is_ringed_as_a_whole(window: Window) -> None:
    window.check.setFocus()
    QTest.keyClick(window.check, Qt.Key.Key_Tab)
    assert ringed(window) == window.segment.geometry()


def test_a_view_says_which_part_has_the_focus(window: Window) -> None:
    QTest.keyClick(window.first, Qt.Key.Key_Backtab)
    window.grid.setFocus(Qt.FocusReason.TabFocusReason)
    assert ringed(window) == window.grid.cell.translated(window.grid.pos())
    window.grid.cell = QRect(60, 10, 40, 20)
    FocusRing.moved(window.grid)
    assert ringed(window) == window.grid.cell.translated(window.grid.pos())


def test_the_ring_follows_what_it_rings(window: Window, theme: Theme) -> None:
    QTest.keyClick(window.first, Qt.Key.Key_Tab)
    theme.set_font_percent(150)
    window.layout().activate()  # type: ignore[union-attr]
    assert ringed(window) == window.second.geometry()


def test_the_ring_goes_with_a_button_that_is_scrolled_away(window: Window, qtbot: QtBot) -> None:
    QTest.keyClick(window.first, Qt.Key.Key_Tab)
    window.buttons[0].setFocus(Qt.FocusReason.TabFocusReason)
    assert not window.ring.isHidden()
    bar = window.area.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert window.ring.isHidden()
    bar.setValue(0)
    assert not window.ring.isHidden()
