"""Scroll areas: the width stays and screen readers find every part, whether there is much or little."""

from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QScrollBar, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.widgets.layouts import FullWidthScrollArea


def shown(qtbot: QtBot, height: int) -> tuple[FullWidthScrollArea, QWidget]:
    """Return an area of 200 × 100 pixels with a widget of a height."""
    area, widget = FullWidthScrollArea(), QWidget()
    qtbot.addWidget(area)
    widget.setMinimumHeight(height)
    area.show_widget(widget)
    area.resize(200, 100)
    area.show()
    return area, widget


def bar_of(area: FullWidthScrollArea) -> QScrollBar:
    return next(bar for bar in area.findChildren(QScrollBar) if bar.parent() is area)


def test_parts_for_screen_readers_stay_the_same(qtbot: QtBot) -> None:
    """Qt reads beyond the list of parts where one has vanished since they were counted."""
    area, widget = shown(qtbot, 400)
    heard = QAccessible.queryAccessibleInterface(area)
    assert bar_of(area).isVisible()
    assert heard.childCount() == 1
    widget.setMinimumHeight(50)
    qtbot.waitUntil(lambda: not bar_of(area).isVisible())
    assert heard.childCount() == 1
    area.hide()
    assert heard.childCount() == 1


def test_the_width_is_the_same_with_and_without_a_bar(qtbot: QtBot) -> None:
    for height in (400, 50):
        area, widget = shown(qtbot, height)
        assert widget.width() == area.width() == 200


def test_the_bar_that_is_seen_scrolls(qtbot: QtBot) -> None:
    area, widget = shown(qtbot, 400)
    bar = bar_of(area)
    assert bar.geometry().right() == area.rect().right()
    assert (bar.maximum(), bar.pageStep()) == (300, 100)
    bar.setValue(120)
    assert widget.y() == -120
    area.verticalScrollBar().setValue(300)
    assert (widget.y(), bar.value()) == (-300, 300)
