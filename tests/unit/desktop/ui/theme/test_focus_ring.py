"""The focus ring is shown only for the keyboard, around the focused widget, above all others."""

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
    """A widget whose focus is in one cell."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = QRect(10, 10, 40, 20)
        self.setMinimumHeight(60)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def focus_rect(self) -> QRect:
        return self.cell


class Window(QWidget):
    """One widget of each kind, and a ring."""

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
    test_window = Window(theme)
    qtbot.addWidget(test_window)
    test_window.resize(400, 500)
    with qtbot.waitActive(test_window):
        test_window.show()
    test_window.activateWindow()
    test_window.first.setFocus()
    qtbot.waitUntil(test_window.first.hasFocus)
    yield test_window
    test_window.close()


def get_inner_rect(window: Window) -> QRect:
    margin = 5
    return window.ring.geometry().adjusted(margin, margin, -margin, -margin)


def test_tab_shows_the_ring_and_click_hides_it(window: Window, theme: Theme) -> None:
    assert window.ring.isHidden()
    QTest.keyClick(window.first, Qt.Key.Key_Tab)
    assert window.second.hasFocus()
    assert get_inner_rect(window) == window.second.geometry()
    edge = window.second.geometry().topLeft() + QPoint(60, -2)
    assert window.grab().toImage().pixelColor(edge) == theme.color("focus")
    QTest.mouseClick(window.windowHandle(), Qt.MouseButton.LeftButton, pos=window.first.geometry().center())
    assert window.first.hasFocus()
    assert window.ring.isHidden()


def test_ring_is_on_top_and_transparent_for_the_mouse(window: Window) -> None:
    QTest.keyClick(window.first, Qt.Key.Key_Tab)
    assert window.children()[-1] is window.ring
    assert window.childAt(window.ring.geometry().center()) is window.second


def test_ring_of_a_check_box_fits_its_content(window: Window) -> None:
    window.second.setFocus()
    QTest.keyClick(window.second, Qt.Key.Key_Tab)
    assert window.check.hasFocus()
    assert get_inner_rect(window).width() == window.check.sizeHint().width() < window.check.width()


def test_ring_surrounds_a_whole_segmented_control(window: Window) -> None:
    window.check.setFocus()
    QTest.keyClick(window.check, Qt.Key.Key_Tab)
    assert get_inner_rect(window) == window.segment.geometry()


def test_ring_surrounds_the_focus_rect_of_a_view(window: Window) -> None:
    QTest.keyClick(window.first, Qt.Key.Key_Backtab)
    window.grid.setFocus(Qt.FocusReason.TabFocusReason)
    assert get_inner_rect(window) == window.grid.cell.translated(window.grid.pos())
    window.grid.cell = QRect(60, 10, 40, 20)
    FocusRing.moved(window.grid)
    assert get_inner_rect(window) == window.grid.cell.translated(window.grid.pos())


def test_ring_follows_its_widget(window: Window, theme: Theme) -> None:
    QTest.keyClick(window.first, Qt.Key.Key_Tab)
    theme.set_font_percent(150)
    window.layout().activate()  # type: ignore[union-attr]
    assert get_inner_rect(window) == window.second.geometry()


def test_ring_is_hidden_while_its_button_is_scrolled_away(window: Window, qtbot: QtBot) -> None:
    QTest.keyClick(window.first, Qt.Key.Key_Tab)
    window.buttons[0].setFocus(Qt.FocusReason.TabFocusReason)
    assert not window.ring.isHidden()
    bar = window.area.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert window.ring.isHidden()
    bar.setValue(0)
    assert not window.ring.isHidden()
