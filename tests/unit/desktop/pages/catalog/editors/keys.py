"""Key presses for tests of forms."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gpudesk.desktop.pages.catalog.editors.form import FormDialog

Show = Callable[[FormDialog], None]


def get_focused_widget() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def type_text(text: str) -> None:
    QTest.keyClicks(get_focused_widget(), text)


def press_tab(times: int = 1) -> None:
    for _ in range(times):
        QTest.keyClick(get_focused_widget(), Qt.Key.Key_Tab)


def press_key(pressed_key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(get_focused_widget(), pressed_key, modifier)
