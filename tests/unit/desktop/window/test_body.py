"""The body of the window: the panel is shown after the page's first paint, in space reserved for it."""

import pytest
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.qt_support import call_after_paint
from gpudesk.desktop.window.document_window import WindowBody


class Page(QWidget):
    """Records the widths at which it is laid out."""

    def __init__(self) -> None:
        super().__init__()
        self.widths: list[int] = []

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.widths.append(event.size().width())


@pytest.fixture
def body(theme: Theme, settings: UserSettings, qtbot: QtBot) -> WindowBody:
    body = WindowBody(theme, settings)
    qtbot.addWidget(body)
    body.resize(1440, 800)
    return body


def test_page_is_laid_out_once(body: WindowBody, qtbot: QtBot) -> None:
    page = Page()
    body.stack.addWidget(page)
    body.hold_place()
    body.show()
    qtbot.waitExposed(body)
    page.widths.clear()
    panel = QWidget()
    body.set_panel(panel)
    qtbot.waitUntil(panel.isVisible)
    qtbot.wait(0)
    assert page.widths == []
    assert panel.geometry().left() > page.geometry().right()
    assert panel.width() >= 280


def test_hidden_panel_reserves_no_space(body: WindowBody, qtbot: QtBot) -> None:
    body.show_panel(is_visible=False)
    page = Page()
    body.stack.addWidget(page)
    body.hold_place()
    body.show()
    qtbot.waitExposed(body)
    assert page.width() == body.width()
    panel = QWidget()
    body.set_panel(panel)
    assert panel.isHidden()
    body.show_panel(is_visible=True)
    qtbot.waitUntil(lambda: panel.isVisible() and page.width() < body.width())


def test_panel_without_reserved_space_is_added(body: WindowBody, qtbot: QtBot) -> None:
    body.show()
    panel = QWidget()
    body.set_panel(panel)
    qtbot.waitUntil(panel.isVisible)
    assert body.stack.width() < body.width()


def test_call_after_paint_runs_once(body: WindowBody, qtbot: QtBot) -> None:
    calls: list[bool] = []
    call_after_paint(body.stack, lambda: calls.append(body.stack.isVisible()))
    qtbot.wait(0)
    assert calls == []
    body.show()
    qtbot.waitUntil(lambda: calls == [True])
    body.stack.repaint()
    qtbot.wait(0)
    assert calls == [True]


def test_panel_widens_with_the_text(body: WindowBody, theme: Theme, qtbot: QtBot) -> None:
    theme.set_font_percent(150)
    body.resize(1920, 1080)
    body.show()
    panel = QWidget()
    body.set_panel(panel)
    qtbot.waitUntil(panel.isVisible)
    qtbot.waitUntil(lambda: panel.width() == 468)
    theme.set_font_percent(100)
    qtbot.waitUntil(lambda: panel.maximumWidth() == 480)
