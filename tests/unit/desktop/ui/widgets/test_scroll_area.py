"""Scroll areas: constant width and accessible children, with and without a scroll bar."""

from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QPushButton, QScrollBar, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.widgets.layouts import FullWidthScrollArea


def show_area(qtbot: QtBot, height: int) -> tuple[FullWidthScrollArea, QWidget]:
    """Return an area of 200 × 100 px with a widget of `height` px."""
    area, widget = FullWidthScrollArea(), QWidget()
    qtbot.addWidget(area)
    widget.setMinimumHeight(height)
    area.show_widget(widget)
    area.resize(200, 100)
    area.show()
    return area, widget


def get_scroll_bar(area: FullWidthScrollArea) -> QScrollBar:
    return next(bar for bar in area.findChildren(QScrollBar) if bar.parent() is area)


def test_accessible_children_are_constant(qtbot: QtBot) -> None:
    """Qt reads beyond the list of children if one vanishes after they were counted."""
    area, widget = show_area(qtbot, 400)
    interface = QAccessible.queryAccessibleInterface(area)
    assert get_scroll_bar(area).isVisible()
    assert interface.childCount() == 1
    widget.setMinimumHeight(50)
    qtbot.waitUntil(lambda: not get_scroll_bar(area).isVisible())
    assert interface.childCount() == 1
    area.hide()
    assert interface.childCount() == 1


def test_width_is_independent_of_the_scroll_bar(qtbot: QtBot) -> None:
    for height in (400, 50):
        area, widget = show_area(qtbot, height)
        assert widget.width() == area.width() == 200


def test_visible_scroll_bar_scrolls(qtbot: QtBot) -> None:
    area, widget = show_area(qtbot, 400)
    bar = get_scroll_bar(area)
    assert bar.geometry().right() == area.rect().right()
    assert (bar.maximum(), bar.pageStep()) == (300, 100)
    bar.setValue(120)
    assert widget.y() == -120
    area.verticalScrollBar().setValue(300)
    assert (widget.y(), bar.value()) == (-300, 300)


def test_focus_that_enters_scrolls_to_it(qtbot: QtBot) -> None:
    area, widget = show_area(qtbot, 400)
    button = QPushButton("First", widget)
    button.show()
    outside = QPushButton("Outside")
    qtbot.addWidget(outside)
    outside.show()
    get_scroll_bar(area).setValue(300)
    area._show_focused(outside, button)
    assert get_scroll_bar(area).value() < button.height()
    get_scroll_bar(area).setValue(10)
    area._show_focused(outside, button)
    assert get_scroll_bar(area).value() == 10, "what is partly visible stays"
