"""What can be clicked is large enough to hit, and shows that it can be clicked."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QCheckBox, QSlider, QWidget

from gpudesk.desktop.pages.page import MultiViewPage
from gpudesk.desktop.ui.theme.theme_painter import PaintedButton
from gpudesk.desktop.ui.theme.tokens import LEAST_TARGET
from gpudesk.desktop.ui.widgets.load_slider import CaptionButton
from gpudesk.desktop.window.main_window import MainWindow

PAGES = ["compare", "performance", "memory", "profile", "cost", "decide", "fleet", "catalog"]


def list_controls(window: MainWindow) -> Iterator[QWidget]:
    """Yield the visible controls; the corner of a table is covered by the table's own."""
    for kind in (QAbstractButton, QSlider):
        for each in window.findChildren(kind):
            if each.isVisible() and not each.visibleRegion().isEmpty() and type(each) is not QAbstractButton:
                yield each


@pytest.mark.parametrize("page", PAGES)
def test_controls_are_large_enough(window: MainWindow, page: str) -> None:
    window.show_page(page)
    QApplication.processEvents()
    page_view = window.page
    views = page_view.view_keys if isinstance(page_view, MultiViewPage) else ("",)
    small = set()
    for view in views:
        if isinstance(page_view, MultiViewPage):
            page_view.choose_view(view)
            QApplication.processEvents()
        for each in list_controls(window):
            # The caption of the load is above its slider, which is as large.
            if each.height() < LEAST_TARGET and not isinstance(each, CaptionButton):
                small.add((view, type(each).__name__, each.accessibleName(), each.height()))
    assert small == set()


@pytest.mark.parametrize("page", ["compare", "profile"])
def test_painted_buttons_change_under_the_mouse(window: MainWindow, page: str) -> None:
    window.show_page(page)
    QApplication.processEvents()
    unchanged = []
    for each in window.findChildren(PaintedButton):
        # The current page is marked already.
        if not each.isVisible() or not each.isEnabled() or each.isChecked() or each.visibleRegion().isEmpty():
            continue
        before = each.grab().toImage()
        each.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
        QApplication.sendEvent(each, QEnterEvent(QPointF(2, 2), QPointF(2, 2), QPointF(2, 2)))
        if each.grab().toImage() == before:
            unchanged.append((type(each).__name__, each.accessibleName()))
        each.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, on=False)
        QApplication.sendEvent(each, QEvent(QEvent.Type.Leave))
    assert unchanged == []


def test_check_box_changes_under_the_mouse(window: MainWindow) -> None:
    window.show_page("performance")
    QApplication.processEvents()
    box = next(each for each in window.findChildren(QCheckBox) if each.isVisible())
    box.setChecked(False)
    before = box.grab().toImage()
    box.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    QApplication.sendEvent(box, QEnterEvent(QPointF(4, 12), QPointF(4, 12), QPointF(4, 12)))
    assert box.grab().toImage() != before
